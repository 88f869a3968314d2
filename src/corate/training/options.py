"""The options of every training method: one frozen dataclass per method.

Each option is defined here once, with its default, its range and its help text. The command line and
``docs/options.md`` are derived from these classes.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, Literal

from corate.errors import ConfigError

__all__ = [
    "MEMM",
    "METHODS",
    "OPTION_METHODS",
    "ChainMethod",
    "Empirical",
    "FittedMethod",
    "Method",
    "MethodName",
    "OptimizedMethod",
    "Option",
    "Perceptron",
    "Piecewise",
    "Polish",
    "Separate",
    "Standard",
    "options_of",
]

MethodName = Literal["polish", "empirical", "separate", "standard", "piecewise", "memm", "perceptron"]

#: The kinds of values. The command line takes weights in another form than Python.
Kind = Literal["flag", "integer", "number", "choice", "text", "file", "label weights", "sentence weights"]

_MANY = 1_000_000
_INT_MAX = 2**31 - 1
_LARGE = 1e9

_LATTICE = (
    "Which labels training considers for a token. full: all labels. pruned: only the labels that are likely for the "
    "word, or all labels if an estimate says that this takes about the same time."
)
_BATCH = "Mini-batch size of AdaGrad, in sentences. 0: a share of the corpus, from 16 to 256 sentences."
_OPTIMIZER = "The optimiser. adagrad: stochastic passes with AdaGrad. lbfgs: iterations of L-BFGS."


@dataclass(frozen=True)
class Option:
    """An option: its help text, and the values that it can have."""

    help: str
    kind: Kind
    choices: tuple[Any, ...] = ()
    range: tuple[float, float] | None = None
    default: Any = None  # may differ from the default of the field, which is None if tuning may change the option
    unset: str = ""  # what None means, if that depends on the corpus

    def check(self, name: str, value: Any) -> Any:
        """The value, converted to the type of the option; raises ConfigError for an invalid value."""
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
        return value if self.range is None else self._number(name, value, *self.range)

    def _number(self, name: str, value: Any, least: float, most: float) -> float:
        whole = self.kind == "integer"
        numeric: bool = isinstance(value, Real) and not isinstance(value, bool)
        if not numeric or not least <= value <= most or (whole and value != int(value)):
            kind = "an integer" if whole else "a number"
            # The command line reads every number as a float, so 0 must not become 0.0 in the message.
            given = repr(float(value)).removesuffix(".0") if isinstance(value, float) else repr(value)
            raise ConfigError(f"{name} must be {kind} from {least:.10g} to {most:.10g}, not {given}", option=name)
        return int(value) if whole else float(value)


def _option(value: Any, help: str, kind: Kind, usual: Any = None, **more: Any) -> Any:
    default = value if usual is None else usual
    return field(default=value, metadata={"option": Option(help, kind, default=default, **more)})


def _other(help: str, kind: Kind) -> Any:
    return _option(None, help, kind)


def _flag(help: str, *, default: bool = False) -> Any:
    return _option(default, help, "flag")


def _choice(default: Any, choices: tuple[Any, ...], help: str, unset: str = "") -> Any:
    return _option(default, help, "choice", choices=choices, unset=unset)


def _integer(default: int | None, least: int, most: int, help: str, unset: str = "", usual: int | None = None) -> Any:
    return _option(default, help, "integer", range=(least, most), unset=unset, usual=usual)


def _number(
    default: float | None, least: float, most: float, help: str, unset: str = "", usual: float | None = None
) -> Any:
    return _option(default, help, "number", range=(least, most), unset=unset, usual=usual)


@dataclass(frozen=True, kw_only=True)
class Method:
    """Options of all methods. Each method has a subclass, which :func:`corate.train` takes."""

    name: ClassVar[MethodName]
    takes_init: ClassVar[bool] = False  # whether the method can train a model further

    all_labels: bool = _flag(
        "Every label is a candidate for every word, in training and in tagging, not only the labels that are likely "
        "for the word."
    )
    many_labels: bool = _flag("Train even if the number of labels suggests that the label column is wrong.")

    def __post_init__(self) -> None:
        for name, option in options_of(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, option.check(name, value))
            elif _field(type(self), name).default is not None:
                raise ConfigError(f"{name} must have a value, not None", option=name)

    def tunable(self, steps: Mapping[str, float]) -> dict[str, float]:
        """The steps of the options that tuning may change. Options with a given value keep it."""
        return {name: step for name, step in steps.items() if getattr(self, name, step) is None}


@dataclass(frozen=True, kw_only=True)
class Empirical(Method):
    """Every factor is estimated by counting (SP1 of the paper). Options that are "tuned" are chosen on held-out tokens.

    >>> Empirical(ladder="paper").ladder
    'paper'
    """

    name: ClassVar[MethodName] = "empirical"

    ladder: str | None = _choice(
        None,
        ("default", "paper", "pooled"),
        "How node scores are counted. default: by a back-off ladder, from the word to its more general forms. paper: "
        "by the ladder of the paper. pooled: over all features.",
        "the most accurate on held-out tokens",
    )
    pairs: str = _choice(
        "labels",
        ("labels", "words"),
        "What the scores of label pairs depend on. labels: only the labels. words: also both words, as in the paper; "
        "this uses the ladder paper, and tunes nothing.",
    )
    word_k: float | None = _number(
        None, 0, _LARGE, "Weight of the back-off scores relative to a word's own counts, in tokens.", "tuned"
    )
    lower_k: float | None = _number(
        None,
        0,
        _LARGE,
        "Weight of the more general back-off scores relative to those of the lower-case form, in distinct words.",
        "tuned",
    )
    rung_k: float | None = _number(
        None,
        0,
        _LARGE,
        "Weight of the more general back-off scores relative to those of any other rung (back-off level), in distinct "
        "words.",
        "tuned",
    )
    rare: int | None = _integer(
        None,
        0,
        _INT_MAX,
        "Only words that occur at most this many times are counted in the rungs that are more general than the "
        "lower-case form.",
        "10",
    )
    pair_k: float | None = _number(None, 1e-9, _LARGE, "Smoothing of the counts of pairs of neighbouring words.", "2")
    class_k: float | None = _number(None, 1e-9, _LARGE, "Smoothing of the counts of neighbours of unseen words.", "4")
    neighbour: float | None = _number(None, 0, 1000, "Weight of pairs of neighbouring words.", "tuned")
    context: float | None = _number(None, 0, 1000, "Weight of the neighbours of unseen words.", "tuned")
    oov: float | None = _number(None, 0, 1000, "Exponent of the probabilities of unseen words.", "tuned")
    oov_constant: float | None = _number(
        None,
        1e-9,
        _LARGE,
        "Constant factor of the probabilities of unseen words, as in the paper. It does not change labels.",
        "1",
    )
    edge: float | None = _number(None, 0, 1000, "Weight of the scores of label pairs.", "tuned")
    edge_k: float | None = _number(None, 1e-9, _LARGE, "Smoothing of the co-occurrence rates.", "0.5")
    threshold: float | None = _number(
        None,
        0,
        1,
        "A label is a candidate for a word if its probability is at least this fraction of that of the best label.",
        "0.0001",
    )
    cap: int | None = _integer(
        None,
        1,
        _INT_MAX,
        "Maximum number of candidate labels of a word, besides the labels it was seen with.",
        "48 (1000 for the pairs words)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs == "words":
            if self.ladder not in (None, "paper"):
                raise ConfigError(
                    f"the pairs 'words' use the ladder 'paper', not {self.ladder!r}; leave ladder unset",
                    option="ladder",
                )
            object.__setattr__(self, "ladder", "paper")


@dataclass(frozen=True, kw_only=True)
class FittedMethod(Method):
    """Options of the methods that fit weights: all except ``empirical``."""

    tune: bool = _flag(
        "Search for the best priors, cutoff and weight of the base scores, on a part of the corpus. Options that are "
        "given are not changed."
    )
    checkpoint: str | os.PathLike[str] | None = _other(
        "Write this file after every stochastic pass, and continue from it if it exists.", "file"
    )
    label_weights: Mapping[str, float] | None = _other(
        "Weights of labels in training, such as 0.5 for O. The weight of other labels is 1.",
        "label weights",
    )
    sentence_weights: Sequence[float] | None = _other(
        "A weight for each sentence of the corpus. Sentences with the weight 0 are left out.", "sentence weights"
    )
    cutoff: int | None = _integer(None, 0, _INT_MAX, "Leave out features that occur fewer times than this.", usual=1)


@dataclass(frozen=True, kw_only=True)
class Separate(FittedMethod):
    """Every factor is a maximum entropy model, fitted separately (SP2 of the paper).

    >>> Separate(sigma2=0.5).sigma2
    0.5
    """

    name: ClassVar[MethodName] = "separate"

    base: str = _choice(
        "default",
        ("default", "pooled", "paper", "none"),
        "How the initial node scores (base scores) are computed from counts: as by the ladder of the method empirical "
        "of the same name. none: they are zero.",
    )
    coupling: str = _choice(
        "given-nodes",
        ("given-nodes", "joint"),
        "How label pairs are fitted. given-nodes: given the fitted nodes. joint: separately, as in the paper.",
    )
    space: str = _choice(
        "word",
        ("word", "features"),
        "The labels that a token can have in the coupling joint. word: those seen with its word or, for rare words, "
        "with its spelling. features: those seen with any of its features.",
    )
    optimizer: str = _choice("adagrad", ("adagrad", "lbfgs"), _OPTIMIZER)
    iterations: int = _integer(100, 0, _MANY, "Maximum number of L-BFGS iterations.")
    sigma2: float | None = _number(None, 1e-9, _LARGE, "Variance of the Gaussian prior of node weights.", usual=1.0)
    edge_sigma2: float | None = _number(
        None, 1e-9, _LARGE, "Variance of the Gaussian prior of edge weights.", usual=1.0
    )
    rate: float = _number(0.15, 0, _LARGE, "Initial step size of AdaGrad.")
    passes: int | None = _integer(
        None, 1, _MANY, "Number of stochastic passes over the nodes.", "3 (up to 9 for a small corpus)"
    )
    half_passes: int | None = _integer(
        None,
        1,
        _MANY,
        "Number of passes over the nodes of each half of the corpus, before the label pairs are fitted.",
        "2 (up to 6 for a small corpus)",
    )
    pair_passes: int | None = _integer(
        None, 1, _MANY, "Number of passes over the label pairs.", "3 (up to 9 for a small corpus)"
    )
    temper: float | None = _number(
        None, 0, 1000, "Weight of the base scores.", "0.4 (0.7 for the bases pooled and paper)"
    )
    coupling_weight: float | None = _number(None, 0, 1000, "Weight of the edge scores.", "tuned")

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_optimizer(self.optimizer, self.checkpoint)
        if self.space == "features" and self.coupling != "joint":
            raise ConfigError(
                f"the space 'features' is for the coupling 'joint', not {self.coupling!r}", option="space"
            )
        if self.space == "features" and self.all_labels:
            raise ConfigError("with all_labels, every token can have every label; leave space unset", option="space")


@dataclass(frozen=True, kw_only=True)
class ChainMethod(FittedMethod):
    """Options of the methods that train on whole sentences: all except ``empirical`` and ``separate``."""

    lattice: str = _choice("full", ("full", "pruned"), _LATTICE)
    transitions: str = _choice(
        "all", ("all", "seen"), "Which label pairs have a weight. seen: only those that occur in training."
    )
    boundaries: bool = _flag("Use weights for the start and the end of a sentence.", default=True)
    parts: bool | None = _option(
        None,
        "Use weights not only for whole labels, but also for parts that labels share, such as Case=Gen, or PER in "
        "B-PER and I-PER.",
        "flag",
        unset="yes for polish if most labels consist of a few parts, else no",
    )


@dataclass(frozen=True, kw_only=True)
class _LikelihoodMethod(ChainMethod):
    """Options of the methods that maximise the likelihood."""

    order: int | None = _choice(
        None,
        (1, 2),
        "1: weights for label pairs. 2: also weights for three labels in a row.",
        "2 for polish with a pruned lattice and without parts, else 1",
    )
    unknown: str | None = _other(
        "A label that stands for an unknown label, such as ?. For these tokens, training sums over all other labels.",
        "text",
    )


@dataclass(frozen=True, kw_only=True)
class Polish(_LikelihoodMethod):
    """A conditional random field (CRF), trained in a few stochastic passes from counted scores. The default method.

    >>> Polish(passes=2).passes
    2
    """

    name: ClassVar[MethodName] = "polish"
    takes_init: ClassVar[bool] = True

    lattice: str = _choice("pruned", ("full", "pruned"), _LATTICE)
    base: str | None = _choice(
        None,
        ("default", "pooled", "paper", "none", "separate"),
        "How the initial node scores (base scores) are computed from counts: as by the ladder of the method empirical "
        "of the same name. none: they are zero. separate: they come from a model of the method separate, which is "
        "trained first.",
        "pooled with a full lattice, for spans or without words, else default",
    )
    optimizer: str = _choice("adagrad", ("adagrad",), _OPTIMIZER)
    c2: float | None = _number(
        None, 0, _LARGE, "Weight of the sum of squared weights (L2).", "0.5 (1 for the base pooled, 2 with parts)"
    )
    rate: float | None = _number(
        None,
        0,
        _LARGE,
        "Initial step size of AdaGrad.",
        "0.06 to 0.12; 0.15 without words and for the bases paper, none and separate",
    )
    passes: int | None = _integer(
        None, 1, _MANY, "Number of stochastic passes.", "2 or 3 (3 to 9 for the bases paper, none and separate)"
    )
    batch: int = _integer(16, 0, _MANY, _BATCH)
    temper: float | None = _number(
        None,
        0,
        1000,
        "Weight of the base scores.",
        "0.55 (0.4 to 0.8 for the base pooled, 0.6 without words; 0.7 for paper)",
    )
    edge: float = _number(
        0.75, 0, 1000, "Weight of the counted scores of label pairs (co-occurrence rates), relative to the base scores."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parts and self.base == "separate":
            raise ConfigError("a separate model has no weights of parts; choose another base", option="parts")


@dataclass(frozen=True, kw_only=True)
class OptimizedMethod(ChainMethod):
    """Options of the methods that minimise a smooth objective over whole sentences."""

    optimizer: str = _choice("lbfgs", ("lbfgs", "adagrad"), _OPTIMIZER)
    c1: float = _number(0.0, 0, _LARGE, "Weight of the sum of absolute weights (L1), for sparse models; L-BFGS only.")
    c2: float | None = _number(None, 0, _LARGE, "Weight of the sum of squared weights (L2).", usual=0.5)
    iterations: int = _integer(100, 0, _MANY, "Maximum number of L-BFGS iterations.")
    rate: float = _number(0.15, 0, _LARGE, "Initial step size of AdaGrad.")
    passes: int = _integer(10, 1, _MANY, "Number of stochastic passes of AdaGrad.")
    batch: int = _integer(16, 0, _MANY, _BATCH)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_optimizer(self.optimizer, self.checkpoint)
        if self.c1 > 0 and self.optimizer != "lbfgs":
            raise ConfigError(f"c1 is for the optimizer 'lbfgs', not for {self.optimizer!r}", option="c1")


@dataclass(frozen=True, kw_only=True)
class Standard(OptimizedMethod, _LikelihoodMethod):
    """A conditional random field (CRF), trained to convergence by L-BFGS, or in stochastic passes by AdaGrad.

    >>> Standard(c2=0.1).optimizer
    'lbfgs'
    """

    name: ClassVar[MethodName] = "standard"
    takes_init: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Piecewise(OptimizedMethod):
    """Piecewise training: each pair of neighbouring labels is normalised by itself (Sutton and McCallum 2005).

    >>> Piecewise(c2=1.0).c2
    1.0
    """

    name: ClassVar[MethodName] = "piecewise"
    takes_init: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class MEMM(OptimizedMethod):
    """A maximum entropy Markov model: P(label | previous label, words), normalised at every position.

    >>> MEMM(c2=0.1).c2
    0.1
    """

    name: ClassVar[MethodName] = "memm"

    c2: float | None = _number(None, 0, _LARGE, "Weight of the sum of squared weights (L2).", usual=0.01)


@dataclass(frozen=True, kw_only=True)
class Perceptron(ChainMethod):
    """The averaged structured perceptron (Collins 2002).

    >>> Perceptron().passes
    10
    """

    name: ClassVar[MethodName] = "perceptron"
    takes_init: ClassVar[bool] = True
    optimizer: ClassVar[str] = "perceptron"

    passes: int = _integer(10, 1, _MANY, "Number of stochastic passes.")


_CLASSES: tuple[type[Method], ...] = (Polish, Empirical, Separate, Standard, Piecewise, MEMM, Perceptron)
#: The class of each method by its name; the default method is the first.
METHODS: dict[str, type[Method]] = {method.name: method for method in _CLASSES}


def options_of(method: type[Method]) -> dict[str, Option]:
    """The options of a method by name.

    >>> options_of(Perceptron)["passes"].help
    'Number of stochastic passes.'
    """
    return {f.name: f.metadata["option"] for f in fields(method)}


def _field(method: type[Method], name: str) -> Field[Any]:
    return method.__dataclass_fields__[name]


def _document(method: type[Method]) -> None:
    """Add the options of a method to its docstring, for ``help``."""
    lines = ["Options:"]
    for name, option in options_of(method).items():
        default = option.unset if option.default is None else repr(option.default)
        lines.append(f"    {name}: {option.help}" + (f" Default: {default}." if default else ""))
    method.__doc__ = f"{inspect.cleandoc(method.__doc__ or '')}\n\n" + "\n".join(lines)


for _method in _CLASSES:
    _document(_method)

#: The methods that have each option.
OPTION_METHODS: dict[str, tuple[str, ...]] = {}
for _method in _CLASSES:
    for _name in options_of(_method):
        OPTION_METHODS[_name] = (*OPTION_METHODS.get(_name, ()), _method.name)


def _check_optimizer(optimizer: str, checkpoint: object) -> None:
    if checkpoint is not None and optimizer == "lbfgs":
        raise ConfigError(
            "checkpoints are written between stochastic passes, and the optimizer 'lbfgs' makes none; use 'adagrad'",
            option="checkpoint",
        )
