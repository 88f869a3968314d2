"""How an option of a training method is declared, and what front ends show of it: help text, range and default.

An option is declared once, as a field of a class in :mod:`corate.training.methods`: `option` has its type, range, help
text and the rest. A subclass that has another default says only that, with `usually`. All else is derived: the command
line, the parameters of the scikit-learn estimator, the documentation and the contract tests.

A front end iterates over ``OPTIONS``, which has each option once, with what it is for each method:

>>> from corate.training.methods import OPTIONS
>>> for option in OPTIONS.values():
...     if option.kind == "number" and not option.expert and "standard" in option.methods:
...         print(option.flag, option.metavar, "-", option.help)
--rate X - Initial step size of AdaGrad.
--c2 X - Weight of the sum of squared weights (L2).
--c1 X - Weight of the sum of absolute weights (L1), for sparse models; L-BFGS only.

``section`` is the part of the help that an option is in, and ``full_help`` also names its methods and defaults. A flag
with a help text in ``off`` turns its option off; one whose ``default`` is None has a second flag, ``--no-...``. An
option without a ``flag`` exists only in Python. Few users need an ``expert`` option: these are set by
``expert={"batch": 4}`` in Python and ``--set batch=4`` on the command line. ``parse`` reads a value from text:

>>> OPTIONS["c2"].section
'Training on whole sentences (all except empirical and separate)'
>>> OPTIONS["c2"].full_help
'Weight of the sum of squared weights (L2). For all except ... polish: 0.5 (1 for the base ...); memm: 0.01.'
>>> OPTIONS["batch"].expert, OPTIONS["batch"].parse("4"), OPTIONS["label_weights"].parse("O=0.5, B-X=2")
(True, 4, {'O': 0.5, 'B-X': 2.0})
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from corate.display import in_words
from corate.errors import ConfigError

__all__ = [
    "SET",
    "Kind",
    "Option",
    "Place",
    "SharedOption",
    "name_methods",
    "option",
    "options_of",
    "shared_options",
    "usually",
]

#: The kinds of values.
Kind = Literal["flag", "integer", "number", "choice", "text", "file", "label weights", "sentence weights"]
#: The ways of training besides a whole training in memory: from disk, on Spark, from a model (``init=``), and with the
#: sentences of a further call of ``partial_fit``.
Place = Literal["disk", "spark", "init", "partial_fit"]

#: Any value but the default; see `Option.refused`.
SET = object()

_METAVARS: dict[str, str] = {
    "integer": "N",
    "number": "X",
    "file": "FILE",
    "text": "LABEL",
    "label weights": "LABEL=WEIGHT",
}


@dataclass(frozen=True)
class Option:
    """An option of a method: its help text, the values that it can have, and its default.

    Attributes:
        help: the help text.
        kind: the kind of its values.
        choices: the values of a choice.
        range: the least and the greatest number.
        default: the default. It may differ from that of the field, which is None if tuning may change the option.
        unset: the rule that chooses the default, in words, if it depends on the corpus.
        expert: whether most users need not know the option.
        switch: the flag of the command line, if it is not the name.
        off: the help text of the flag that turns the option off, if it is on by default.
        refused: the places that refuse the option, each with the choice that it refuses, or `SET`.
        because: why a model that is trained further does not take the option.
        formerly: its name before, which front ends take with a warning, and which model files keep.
        name: the name, which is that of the field.
    """

    help: str
    kind: Kind
    choices: tuple[Any, ...] = ()
    range: tuple[float, float] | None = None
    default: Any = None
    unset: str = ""
    expert: bool = False
    switch: str = ""
    off: str = ""
    refused: Mapping[Place, Any] = field(default_factory=dict)
    because: str = ""
    formerly: str = ""
    name: str = ""

    @property
    def flag(self) -> str:
        """The flag of the command line; empty if the option exists only in Python. Those of experts are deprecated.

        >>> Option("", "number", name="edge_sigma2").flag
        '--edge-sigma2'
        """
        if self.kind == "sentence weights":
            return ""
        return self.switch or f"--{(self.key if self.expert else self.name).replace('_', '-')}"

    @property
    def key(self) -> str:
        """The name in model files."""
        return self.formerly or self.name

    @property
    def metavar(self) -> str:
        """What stands for the value in help texts; empty for flags."""
        return f"<{'|'.join(map(str, self.choices))}>" if self.choices else _METAVARS.get(self.kind, "")

    @property
    def values(self) -> str:
        """What the option can be, in words."""
        if self.choices:
            return ", ".join(f"`{choice}`" for choice in self.choices)
        if self.range is not None:
            kind = "integer" if self.kind == "integer" else "number"
            return f"{kind} from {self.range[0]:.10g} to {self.range[1]:.10g}"
        return {
            "flag": "`True` or `False`",
            "file": "path of a file",
            "text": "a label",
            "label weights": "mapping from labels to numbers",
            "sentence weights": "list of numbers",
        }[self.kind]

    def check(self, value: Any) -> Any:
        """The value, converted to the type of the option; raises ConfigError for an invalid value."""
        name = self.name
        if self.choices and value not in self.choices:
            raise ConfigError(f"unknown {name} {value!r}; there are {', '.join(map(str, self.choices))}", option=name)
        if self.kind == "flag" and not isinstance(value, bool):
            raise ConfigError(f"{name} must be True or False, not {value!r}", option=name)
        if self.kind == "text" and not isinstance(value, str):
            raise ConfigError(f"{name} must be a string, not {value!r}", option=name)
        if self.kind == "file" and not isinstance(value, str | os.PathLike):
            raise ConfigError(f"{name} must be the name of a file, not {value!r}", option=name)
        if self.kind == "label weights" and not isinstance(value, Mapping):
            raise ConfigError(f"{name} must be weights by label, such as {{'O': 0.5}}, not {value!r}", option=name)
        return value if self.range is None else self._number(value, *self.range)

    def _number(self, value: Any, least: float, most: float) -> float:
        whole = self.kind == "integer"
        numeric: bool = isinstance(value, Real) and not isinstance(value, bool)
        if not numeric or not least <= value <= most or (whole and value != int(value)):
            kind = "an integer" if whole else "a number"
            # The command line reads every number as a float, so 0 must not become 0.0 in the message.
            given = repr(float(value)).removesuffix(".0") if isinstance(value, float) else repr(value)
            raise ConfigError(
                f"{self.name} must be {kind} from {least:.10g} to {most:.10g}, not {given}", option=self.name
            )
        return int(value) if whole else float(value)

    def parse(self, text: str) -> Any:
        """The value that a text stands for; raises ConfigError for a text that stands for none."""
        text = text.strip()
        if self.kind == "flag":
            known = {"true": True, "yes": True, "false": False, "no": False}
            if text.lower() not in known:
                raise ConfigError(f"{self.name} must be true or false, not {text!r}", option=self.name)
            return known[text.lower()]
        if self.choices:
            return self.check({str(choice): choice for choice in self.choices}.get(text, text))
        if self.kind == "label weights":
            return dict(self._weight(part) for part in text.split(","))
        if self.kind == "sentence weights":
            return [self._float(part) for part in text.split(",")]
        return text if self.range is None else self.check(self._float(text))

    def _float(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"{self.name} must be a number, not {text!r}", option=self.name) from None

    def _weight(self, text: str) -> tuple[str, float]:
        label, _, written = text.strip().rpartition("=")
        if not label:
            raise ConfigError(f"{text!r} is no LABEL=WEIGHT, such as O=0.5", option=self.name)
        return label, self._float(written)


# -- declaring ---------------------------------------------------------------------------------------------------------


def option(kind: Kind, help: str, default: Any = None, *, usual: Any = None, **more: Any) -> Any:
    """A field of a dataclass that is an option.

    ``default`` is the default of the field. If tuning may change the option, it is None, and ``usual`` is the value
    that is used without tuning. For ``more``, see `Option`.
    """
    shown = default if usual is None else usual
    return field(default=default, metadata={"option": Option(help, kind, default=shown, **more)})


def usually(default: Any = None, unset: str = "", *, usual: Any = None, **more: Any) -> Any:
    """A field for an option that a base class has declared: only its default, and what ``more`` names, differ."""
    changed = {"default": default if usual is None else usual, "unset": unset, **more}
    return field(default=default, metadata={"changed": changed})


def options_of(method: type[Any]) -> dict[str, Option]:
    """The options of a method by name.

    >>> from corate import Perceptron
    >>> options_of(Perceptron)["passes"].help
    'Number of stochastic passes.'
    """
    found = {}
    for f in fields(method):
        declared = _declaring(method, f.name).__dataclass_fields__[f.name].metadata["option"]
        found[f.name] = replace(declared, name=f.name, **f.metadata.get("changed", {}))
    return found


def _declaring(method: type[Any], name: str) -> Any:
    """The class that declares an option: the last that has it, in the order of inheritance."""
    return [base for base in method.__mro__ if is_dataclass(base) and name in (f.name for f in fields(base))][-1]


# -- what front ends show ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SharedOption(Option):
    """An option as all methods together have it: what a command line or an estimator shows.

    Attributes:
        of: what the option is for each method that has it, by the name of the method. Only the default and the choices
            differ. ``choices`` are those of all methods.
        section: the title of the part of the help that it is in, with its methods; empty for general options.
        default_help: its default in words, for each method if they differ; empty if it has none.
        owners: the methods that have it, in words.
    """

    of: Mapping[str, Option]
    section: str
    default_help: str
    owners: str

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods that have it."""
        return tuple(self.of)

    @property
    def full_help(self) -> str:
        """The help text with the default, and with the methods that have the option if the section has others."""
        text = self.off or self.help
        if not self.section.endswith(f"({self.owners})") and self.owners != "all":
            text += f" For {self.owners}."
        said = self.kind != "flag" or self.default is None
        return text + (f" Default: {self.default_help}." if said and self.default_help else "")


def shared_options(methods: Mapping[str, type[Any]]) -> dict[str, SharedOption]:
    """The options of all methods, each once, by name."""
    of: dict[str, dict[str, Option]] = {}
    for name, method in methods.items():
        for option in options_of(method).values():
            of.setdefault(option.name, {})[name] = option
    return {name: _shared(name, by_method, methods) for name, by_method in of.items()}


def _shared(name: str, of: Mapping[str, Option], methods: Mapping[str, type[Any]]) -> SharedOption:
    first = next(iter(of.values()))
    about = {f.name: getattr(first, f.name) for f in fields(Option)}
    about["choices"] = tuple(dict.fromkeys(choice for option in of.values() for choice in option.choices))
    declaring = _declaring(methods[next(iter(of))], name)
    section = next((base for base in declaring.__mro__ if vars(base).get("section")), None)
    inside = [] if section is None else [one for one, method in methods.items() if issubclass(method, section)]
    return SharedOption(
        **about,
        of=of,
        section="" if section is None else f"{section.section} ({name_methods(inside, list(methods))})",
        default_help=_describe_defaults(of, list(methods)),
        owners=name_methods(list(of), list(methods)),
    )


def name_methods(some: Sequence[str], every: Sequence[str]) -> str:
    """Methods in words. If most are meant, only the others are named.

    >>> every = ["polish", "empirical", "separate"]
    >>> name_methods(["polish", "separate"], every), name_methods(["separate"], every), name_methods(every, every)
    ('all except empirical', 'separate', 'all')
    """
    others = [method for method in every if method not in some]
    if not others:
        return "all"
    named = others if len(others) < len(some) else list(some)
    listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    return f"all except {listed}" if named is others else listed


def _describe_defaults(of: Mapping[str, Option], every: Sequence[str]) -> str:
    """The default of an option, for each method if they differ; empty if it has none."""
    methods_of: dict[str, list[str]] = {}
    for method, option in of.items():
        text = option.unset if option.default is None else in_words(option.default)
        methods_of.setdefault(text, []).append(method)
    usual = max(methods_of, key=lambda text: len(methods_of[text]))
    named = {text: f"{name_methods(methods, every)}: {text}" for text, methods in methods_of.items()}
    if len(methods_of[usual]) == 1 < len(methods_of):
        return "; ".join(named.values())
    return "; ".join([usual, *(line for text, line in named.items() if text != usual)])


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The classes of methods: pickles of version 0.2 name this module."""
        from corate.training import methods

        if name in methods.__all__:
            return getattr(methods, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
