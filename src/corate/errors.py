"""The errors corate raises on purpose. Each says what is wrong, where, and what to do.

Messages quote values of any length, so they are shortened here: at most `MOST_QUOTED` characters of a value are shown.
"""

from __future__ import annotations

import re

__all__ = [
    "ConfigError",
    "CorateError",
    "DataError",
    "FeatureError",
    "FeatureTypeError",
    "InterruptedWarning",
    "ModelError",
    "shortened",
]

#: The most characters of one value in a message, and of a message. Of a longer one, the beginning and the end are kept.
MOST_QUOTED, MOST_SHOWN, BEGINNING, END = 200, 1000, 250, 350
#: Long values: between quotation marks, or without spaces.
_LONG = re.compile(
    rf"(?<!\w)'[^'\n]{{{MOST_QUOTED},}}'(?!\w)|(?<!\w)\"[^\"\n]{{{MOST_QUOTED},}}\"(?!\w)|\S{{{MOST_QUOTED + 1},}}"
)


def shortened(message: str) -> str:
    """A message with the middle of long values left out.

    If a caret below the last line points at a place in it, the text around the place is kept.

    >>> message = shortened("no such file: " + 1000 * "a" + ".tsv; give another")
    >>> message == "no such file: " + 99 * "a" + "..." + 93 * "a" + ".tsv; give another"
    True
    """
    if len(message) <= MOST_QUOTED:
        return message
    lines = message.split("\n")
    if len(lines) > 2 and lines[-1].strip() == "^":
        lines[-2:] = _around(lines[-2], len(lines[-1]) - 1)
    message = _LONG.sub(lambda found: f"{found[0][:99]}...{found[0][-98:]}", "\n".join(lines))
    return message if len(message) <= MOST_SHOWN else f"{message[:BEGINNING]}...{message[-END:]}"


def _around(text: str, at: int) -> list[str]:
    """The part of a line around a place, and a line with a caret below the place."""
    if len(text) <= MOST_QUOTED:
        return [text, " " * at + "^"]
    start = max(0, min(at - MOST_QUOTED // 4, len(text) - MOST_QUOTED // 2))
    part = text[start : start + MOST_QUOTED // 2].strip()
    before = "  " + "..." * (start > 0)
    after = "..." * (start + MOST_QUOTED // 2 < len(text))
    place = at - text.index(part, start)
    return [before + part + after, " " * (len(before) + place) + "^"]


class CorateError(Exception):
    """The base class of the errors that Corate raises for input that it cannot use.

    >>> import corate
    >>> try:
    ...     corate.read("no-such-file.tsv")
    ... except corate.CorateError as error:
    ...     print(error)
    no such file: no-such-file.tsv
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


class DataError(CorateError, ValueError):
    """The data cannot be used as it is. The message names the file, the line, the value and a remedy, where they apply.

    >>> import corate
    >>> corate.read(b"Ann NAME\\nsleeps\\n")
    Traceback (most recent call last):
    corate.errors.DataError: the given bytes, line 2: 1 column, but the rows before have 2; ...
    """


class ConfigError(DataError):
    """An argument or an option is unknown, is out of its range, or does not apply to the method. The message names it.

    Attributes:
        option: the name of the argument; None if the error is not about a single one.

    >>> import corate
    >>> corate.Polish(passes=0)
    Traceback (most recent call last):
    corate.errors.ConfigError: passes must be ...
    """

    def __init__(self, message: str, *, option: str | None = None) -> None:
        super().__init__(message)
        self.option = option


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


class InterruptedWarning(UserWarning):
    """Ctrl-C ended training early. The tagger has what was learned until then."""
