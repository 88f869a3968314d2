"""The errors that Corate raises on purpose. Each says what is wrong, where, and what to do, in fields and as text.

No code reads the text of an error. Who knows more of the place adds it with `CorateError.at` or `placed`, and the
command line writes arguments as its options (`CorateError.worded`). Messages quote values of any length, so they are
shortened here: at most `MOST_QUOTED` characters of a value are shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Argument",
    "ConfigError",
    "CorateError",
    "CorateWarning",
    "DataError",
    "Excerpt",
    "FeatureError",
    "FeatureTypeError",
    "InterruptedWarning",
    "ModelError",
    "placed",
    "shortened",
]

#: The most characters of one value in a message, and of a message. Of a longer one, the beginning and the end are kept.
MOST_QUOTED, MOST_SHOWN, BEGINNING, END = 200, 1000, 250, 350
#: Long values: between quotation marks, or without spaces.
_LONG = re.compile(
    rf"(?<!\w)'[^'\n]{{{MOST_QUOTED},}}'(?!\w)|(?<!\w)\"[^\"\n]{{{MOST_QUOTED},}}\"(?!\w)|\S{{{MOST_QUOTED + 1},}}"
)
#: The parts of a place, in the order in which a message names them.
_PLACES = ("file", "line", "template", "task", "sentence", "token", "graph", "node", "type", "edge")


def shortened(message: str) -> str:
    """A message with the middle of long values left out.

    >>> message = shortened("no such file: " + 1000 * "a" + ".tsv; give another")
    >>> message == "no such file: " + 99 * "a" + "..." + 93 * "a" + ".tsv; give another"
    True
    """
    if len(message) <= MOST_QUOTED:
        return message
    message = _LONG.sub(lambda found: f"{found[0][:99]}...{found[0][-98:]}", message)
    return message if len(message) <= MOST_SHOWN else f"{message[:BEGINNING]}...{message[-END:]}"


#: Marks an argument in the text of a message; quoted values never contain it, as control characters are escaped.
_MARK = "\x1f"
_ARGUMENT = re.compile(rf"{_MARK}(>?)(\w+)=([^{_MARK}]*){_MARK}")


@dataclass(frozen=True)
class Argument:
    """An argument that a message names, with a value or without. The command line writes it as its option.

    In an f-string it is marked, so that `CorateError.worded` finds it. ``of_output`` tells an argument for what is
    written from one of the same name for what is read.

    >>> print(DataError("a bad line", f"omit such lines with {Argument('skip_bad', True)}"))
    a bad line; omit such lines with skip_bad=True
    """

    name: str
    value: str | bool | None = None
    of_output: bool = False

    def __str__(self) -> str:
        value = "" if self.value is None else repr(self.value)
        return f"the {self.name} {value}" if self.of_output else f"{self.name}={value}"

    def __format__(self, form: str) -> str:
        value = "" if self.value is None else repr(self.value)
        return f"{_MARK}{'>' if self.of_output else ''}{self.name}={value}{_MARK}"

    @classmethod
    def of_mark(cls, mark: re.Match[str]) -> Argument:
        """The argument of a mark."""
        return cls(mark[2], ast.literal_eval(mark[3]) if mark[3] else None, bool(mark[1]))


def _worded(text: str, word: Callable[[Argument], str]) -> str:
    return _ARGUMENT.sub(lambda mark: word(Argument.of_mark(mark)), text)


@dataclass(frozen=True)
class Excerpt:
    """The text that an error is about, shown below the message, and the position of the error if it is known."""

    text: str
    at: int | None = None

    def __str__(self) -> str:
        text, at = self.text.expandtabs(1), self.at
        if len(text) <= MOST_QUOTED or at is None:
            return f"  {shortened(text)}" + (f"\n  {' ' * at}^" if at is not None else "")
        start = max(0, min(at - MOST_QUOTED // 4, len(text) - MOST_QUOTED // 2))
        part = text[start : start + MOST_QUOTED // 2].strip()
        before = "  " + "..." * (start > 0)
        after = "..." * (start + MOST_QUOTED // 2 < len(text))
        return f"{before}{part}{after}\n{' ' * (len(before) + at - text.index(part, start))}^"


class CorateError(Exception):
    """The base class of the errors that Corate raises for input that it cannot use.

    Attributes:
        problem: what is wrong; arguments in it are marked (see `Argument`).
        remedy: what to do about it; empty if nobody knows, or the problem says it.
        option: the name of the argument that is wrong; None if the error is not about a single one.
        file, line, template, task, sentence, token, graph, node, type, edge: the place, as far as it is known.
        excerpt: the text that cannot be used, and the position of the error in it.

    >>> import corate
    >>> try:
    ...     corate.read(b"Ann NAME\\nsleeps\\n")
    ... except corate.CorateError as error:
    ...     print(error.file, error.line)
    the given bytes 2
    """

    problem: str = ""
    remedy: str = ""
    option: str | None = None
    file: str | None = None
    line: int | None = None
    template: int | None = None
    task: str | int | None = None
    sentence: int | None = None
    token: int | None = None
    graph: str | int | None = None
    node: str | int | None = None
    type: str | None = None
    edge: int | None = None
    excerpt: Excerpt | None = None

    def __init__(
        self,
        problem: str = "",
        remedy: str = "",
        *,
        option: str | None = None,
        excerpt: Excerpt | None = None,
        **place: Any,
    ) -> None:
        super().__init__(problem, remedy)
        self.problem, self.remedy, self.option, self.excerpt = problem, remedy, option, excerpt
        self.at(**place)

    def at(self, **place: Any) -> CorateError:
        """This error with more of its place: the file, or the line or the task in the file. What is known stays.

        >>> error = DataError("no label", line=3)
        >>> print(error.at(file="train.tsv"), error.at(file="other.tsv", line=1), sep=" | ")
        train.tsv, line 3: no label | train.tsv, line 3: no label
        """
        if self.file is None:
            for name, value in place.items():
                if name not in _PLACES:
                    raise TypeError(f"a place has no {name!r}")
                if getattr(self, name) is None:
                    setattr(self, name, value)
        return self

    def worded(self, word: Callable[[Argument], str] = str) -> str:
        """The message without the excerpt, with arguments as ``word`` writes them."""
        text = "; ".join(filter(None, (self.problem, self.remedy)))
        text = _worded(text, word)
        known = [(name, value) for name in _PLACES if (value := getattr(self, name)) is not None]
        where = ", ".join(str(value) if name == "file" else f"{name} {value}" for name, value in known)
        return shortened(f"{where}: {text}" if where else text)

    def __str__(self) -> str:
        return self.worded() if self.excerpt is None else f"{self.worded()}\n{self.excerpt}"


@contextmanager
def placed(**place: Any) -> Iterator[None]:
    """Errors of the body with more of their place, as in `CorateError.at`.

    >>> with placed(file="train.tsv"):
    ...     raise DataError("no labels")
    Traceback (most recent call last):
    corate.errors.DataError: train.tsv: no labels
    """
    try:
        yield
    except CorateError as error:
        raise error.at(**place) from None


class DataError(CorateError, ValueError):
    """The data cannot be used as it is. The message names the file, the line, the value and a remedy, where they apply.

    >>> import corate
    >>> corate.read(b"Ann NAME\\nsleeps\\n")
    Traceback (most recent call last):
    corate.errors.DataError: the given bytes, line 2: 1 column, but the rows before have 2; ...
    """


class ConfigError(DataError):
    """An argument or an option is unknown, is out of its range, or does not apply to the method. The message names it.

    >>> import corate
    >>> corate.Polish(passes=0)
    Traceback (most recent call last):
    corate.errors.ConfigError: passes must be ...
    """


class FeatureError(CorateError, ValueError):
    """A template, or the name or value of a feature, cannot be used as it is.

    >>> import corate
    >>> corate.train(corate.read(b"Ann NAME\\n"), features=["sufix(word[0], 3)"])
    Traceback (most recent call last):
    corate.errors.FeatureError: unknown function 'sufix'; did you mean 'suffix'? ...
    """


class FeatureTypeError(FeatureError, TypeError):
    """A ready-made feature has a name or a value of the wrong type, such as None or a tuple."""


class ModelError(CorateError, ValueError):
    """A model file cannot be read or written, or a model cannot do what was asked.

    A file cannot be read if it is missing, damaged, written by a newer version, or not a model.

    >>> import corate
    >>> corate.train(corate.read(b"Ann NAME\\n")).entities(["Ann"])
    Traceback (most recent call last):
    corate.errors.ModelError: ...
    """


class CorateWarning(UserWarning):
    """A warning that names arguments (see `Argument`)."""

    def worded(self, word: Callable[[Argument], str] = str) -> str:
        """The message, with arguments as ``word`` writes them."""
        return _worded(str(self.args[0]), word)

    def __str__(self) -> str:
        return self.worded()


class InterruptedWarning(UserWarning):
    """Ctrl-C ended training early. The tagger has what was learned until then."""
