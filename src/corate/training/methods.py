"""The training methods, one frozen dataclass each: its options, what it can do and needs, and the module that fits it.

A new method is a class here and a module with a function ``fit`` beside this one: see ``docs/add-method.md``.

Each option is declared here once, with its default, its range and its help text (see :mod:`corate.training.options`).
The command line, the parameters of the scikit-learn estimator and ``docs/options.md`` are derived from these classes.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

from corate.errors import Argument, ConfigError
from corate.training.options import SET, Option, Place, SharedOption, option, options_of, shared_options, usually

__all__ = [
    "FORMER",
    "MEMM",
    "METHODS",
    "OPTIONS",
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
    "Refusal",
    "Separate",
    "Standard",
    "check_init",
    "options_from_settings",
    "options_of",
    "refuse_on_graphs",
    "renamed",
    "resolve_method",
    "warn_renamed",
]


MethodName = Literal["polish", "empirical", "separate", "standard", "piecewise", "memm", "perceptron"]
_MANY = 1_000_000
_INT_MAX = 2**31 - 1
_LARGE = 1e9
_POSITIVE = (1e-9, _LARGE)
_WEIGHT = (0, 1000)


@dataclass(frozen=True)
class Refusal:
    """What a way of training cannot do.

    Attributes:
        what: the option or the value, such as ``"the optimizer 'lbfgs'"``.
        option: the name of the option, or of the argument of ``train``.
        remedy: what to do.
        because: the reason, if the model is trained further.
    """

    what: str
    option: str
    remedy: str
    because: str = ""

    @property
    def as_argument(self) -> str:
        """Like ``what``, for a message: the command line writes the name as its option."""
        return f"{Argument(self.what)}" if self.what == self.option else self.what


@dataclass(frozen=True, kw_only=True)
class Method:
    """Options of all methods. Each method has a subclass, which :func:`corate.train` takes."""

    name: ClassVar[MethodName]
    #: The part of the help that has the options of a class.
    section: ClassVar[str] = ""
    #: What it does, in a few words.
    summary: ClassVar[str]
    #: The ways to train besides a whole training in memory.
    places: ClassVar[frozenset[Place]] = frozenset({"disk"})
    #: Whether it trains random fields on graphs.
    on_graphs: ClassVar[bool] = False
    #: The rank of its usual training time; 1 is the fastest.
    rank: ClassVar[int]
    #: The module with the function ``fit`` that trains it.
    trainer: ClassVar[str]
    #: Whether it counts only, and fits no weights.
    counts_only: ClassVar[bool] = False
    #: Whether it is fitted to whole sentences.
    on_sentences: ClassVar[bool] = False
    #: Whether it starts from counted scores, and chooses what else depends on them.
    refines_counts: ClassVar[bool] = False
    #: Whether it learns from sentences with unknown labels.
    learns_unknown: ClassVar[bool] = False

    all_labels: bool = option(
        "flag",
        "Every label is a candidate for every word, in training and in tagging, not only the labels that are likely "
        "for the word.",
        default=False,
        refused={"init": SET},
        because="has its own candidate labels; use the lattice 'full' for all of them",
    )
    many_labels: bool = option(
        "flag", "Train even if the number of labels suggests that the label column is wrong.", default=False
    )

    def __post_init__(self) -> None:
        for name, known in options_of(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, known.check(value))
            elif type(self).__dataclass_fields__[name].default is not None:
                raise ConfigError(f"{name} must have a value, not None", option=name)

    def __getattr__(self, name: str) -> Any:
        """Options by their former names."""
        if name not in FORMER or not self.has(FORMER[name]):
            raise AttributeError(f"the method {self.name!r} has no option {name!r}", name=name, obj=self)
        warn_renamed(name, 3)
        return getattr(self, FORMER[name])

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore a pickle, which may have former names."""
        vars(self).update({FORMER.get(name, name): value for name, value in state.items()})

    @property
    def unknown(self) -> str | None:
        """The label that stands for an unknown label, None if all labels are known."""
        return None

    @property
    def order(self) -> int | None:
        """The number of labels before each that weights depend on, None if it is not chosen yet."""
        return None

    @property
    def base(self) -> str | None:
        """How the initial node scores are computed from counts, None if it is not chosen yet."""
        return "none"

    @property
    def sentence_weights(self) -> Sequence[float] | None:
        """A weight for each sentence of the corpus, None for equal weights."""
        return None

    @property
    def in_passes(self) -> bool:
        """Whether it makes stochastic passes over the sentences."""
        return False

    def has(self, name: str) -> bool:
        """Whether the method has an option."""
        return name in options_of(type(self))

    def changed(self, **options: Any) -> Method:
        """The method with other values of options; those that it does not have are left out."""
        return replace(self, **{name: value for name, value in options.items() if self.has(name)})

    def given(self) -> dict[str, Any]:
        """The options, by name, with the default of those that have one where the value is None."""
        values = ((known, getattr(self, name)) for name, known in options_of(type(self)).items())
        return {known.name: known.default if value is None else value for known, value in values}

    def numbers(self) -> dict[str, Any]:
        """The options whose values are numbers, as `given`. Those that users ask for most come first."""
        given, numeric = self.given(), ("number", "integer")
        names = [name for name, known in options_of(type(self)).items() if known.kind in numeric]
        first = [name for name in ("c2", "sigma2", "edge_sigma2", "rate", "passes") if name in names]
        return {name: given[name] for name in dict.fromkeys([*first, *names])}

    def switches(self) -> dict[str, Any]:
        """The flags and choices by name, except those that a rule may choose.

        >>> Empirical(all_labels=True).switches()
        {'all_labels': True, 'many_labels': False, 'pairs': 'labels'}
        """
        known, ruled = options_of(type(self)), {f.name for f in fields(self) if f.default is None}
        names = [name for name, option in known.items() if option.kind in ("flag", "choice") and name not in ruled]
        return {name: getattr(self, name) for name in names}

    def tunable(self, steps: Mapping[str, float]) -> dict[str, float]:
        """The steps of the options that tuning may change. Options with a given value keep it."""
        return {name: step for name, step in steps.items() if self.has(name) and getattr(self, name) is None}

    def refused(self, place: Place, **arguments: object) -> Refusal | None:
        """The first of its options that a way of training refuses, None if it takes them all.

        The answer may also depend on ``arguments`` of :func:`corate.train`, such as ``features`` and ``held_out``.

        >>> Standard().refused("disk")
        Refusal(what="the optimizer 'lbfgs'", option='optimizer', remedy="use the optimizer 'adagrad'", because='')
        >>> Standard(optimizer="adagrad").refused("disk")
        """
        for known in options_of(type(self)).values():
            value, wrong = getattr(self, known.name), known.refused.get(place)
            if wrong is SET and value is not None and value != known.default:
                return Refusal(known.name, known.name, f"leave {known.name} unset", known.because)
            if wrong is not None and value == wrong:
                others = " or ".join(repr(choice) for choice in known.choices if choice != wrong)
                return Refusal(f"the {known.name} {value!r}", known.name, f"use the {known.name} {others}")
        return None


@dataclass(frozen=True, kw_only=True)
class _EdgeScores(Method):
    """The option of the methods that weigh counted scores of label pairs."""

    edge: float | None = option(
        "number",
        "Weight of the counted scores of label pairs (co-occurrence rates), relative to the node scores.",
        range=_WEIGHT,
        unset="tuned",
        expert=True,
    )


@dataclass(frozen=True, kw_only=True)
class Empirical(_EdgeScores):
    """Every factor is estimated by counting (SP1 of the paper). Options that are "tuned" are chosen on held-out tokens.

    >>> Empirical(backoff="paper").backoff
    'paper'
    """

    name: ClassVar[MethodName] = "empirical"
    summary: ClassVar[str] = "only counts"
    section: ClassVar[str] = "Counting"
    places: ClassVar[frozenset[Place]] = frozenset({"disk", "spark", "partial_fit"})
    rank: ClassVar[int] = 1
    trainer: ClassVar[str] = "corate.training.empirical"
    counts_only: ClassVar[bool] = True

    backoff: str | None = option(
        "choice",
        "How node scores are counted. default: by a back-off, from the word to its more general forms. paper: "
        "by the back-off of the paper. pooled: over all features.",
        choices=("default", "paper", "pooled"),
        unset="the most accurate on held-out tokens",
        formerly="ladder",
    )
    pairs: str = option(
        "choice",
        "What the scores of label pairs depend on. labels: only the labels. words: also both words, as in the paper; "
        "this uses the back-off paper, and tunes nothing.",
        "labels",
        choices=("labels", "words"),
        refused={"spark": SET},
    )
    word_k: float | None = option(
        "number",
        "Weight of the back-off scores relative to a word's own counts, in tokens.",
        range=(0, _LARGE),
        unset="tuned",
        expert=True,
    )
    lower_k: float | None = option(
        "number",
        "Weight of the more general back-off scores relative to those of the lower-case form, in distinct words.",
        range=(0, _LARGE),
        unset="tuned",
        expert=True,
    )
    level_k: float | None = option(
        "number",
        "Weight of the more general back-off scores relative to those of any other level, in distinct words.",
        range=(0, _LARGE),
        unset="tuned",
        expert=True,
        formerly="rung_k",
    )
    rare: int | None = option(
        "integer",
        "Only words that occur at most this many times are counted in the levels that are more general than the "
        "lower-case form.",
        range=(0, _INT_MAX),
        unset="10",
        expert=True,
    )
    pair_k: float | None = option(
        "number",
        "Smoothing of the counts of pairs of neighbouring words.",
        range=_POSITIVE,
        unset="2",
        expert=True,
    )
    class_k: float | None = option(
        "number",
        "Smoothing of the counts of neighbours of unseen words.",
        range=_POSITIVE,
        unset="4",
        expert=True,
    )
    neighbour: float | None = option(
        "number", "Weight of pairs of neighbouring words.", range=_WEIGHT, unset="tuned", expert=True
    )
    context: float | None = option(
        "number", "Weight of the neighbours of unseen words.", range=_WEIGHT, unset="tuned", expert=True
    )
    oov: float | None = option(
        "number", "Exponent of the probabilities of unseen words.", range=_WEIGHT, unset="tuned", expert=True
    )
    oov_constant: float | None = option(
        "number",
        "Constant factor of the probabilities of unseen words, as in the paper. It does not change labels.",
        range=_POSITIVE,
        unset="1",
        expert=True,
    )
    edge_k: float | None = option(
        "number", "Smoothing of the co-occurrence rates.", range=_POSITIVE, unset="0.5", expert=True
    )
    threshold: float | None = option(
        "number",
        "A label is a candidate for a word if its probability is at least this fraction of that of the best label.",
        range=(0, 1),
        unset="0.0001",
        expert=True,
    )
    cap: int | None = option(
        "integer",
        "Maximum number of candidate labels of a word, besides the labels it was seen with.",
        range=(1, _INT_MAX),
        unset="48 (1000 for the pairs words)",
        expert=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs == "words":
            if self.backoff not in (None, "paper"):
                raise ConfigError(
                    f"the pairs 'words' use the back-off 'paper', not {self.backoff!r}; leave backoff unset",
                    option="backoff",
                )
            object.__setattr__(self, "backoff", "paper")

    def refused(self, place: Place, **arguments: object) -> Refusal | None:
        """Like that of all methods. On disk, features, pairs of words and held-out text cannot be counted."""
        if place == "disk" and (arguments.get("features") is not None or self.backoff == "pooled"):
            return Refusal("empirical training with features", "features", "leave features unset")
        if place == "disk" and self.pairs == "words":
            return Refusal("empirical training with the pairs 'words'", "pairs", "use the pairs 'labels'")
        if place == "disk" and arguments.get("held_out") is not None:
            return Refusal("empirical training with held-out text", "held_out", "leave held_out unset")
        return super().refused(place)


@dataclass(frozen=True, kw_only=True)
class FittedMethod(Method):
    """Options of the methods that fit weights: all except ``empirical``."""

    section: ClassVar[str] = "Fitting weights"

    tune: bool = option(
        "flag",
        "Search for the best priors, cutoff and weight of the base scores, on a part of the corpus. Options that are "
        "given are not changed.",
        default=False,
        refused={"spark": SET, "init": SET},
        because="is not tuned",
    )
    checkpoint: str | os.PathLike[str] | None = option(
        "file",
        "Write this file after every stochastic pass, and continue from it if it exists.",
        refused={"spark": SET},
    )
    label_weights: Mapping[str, float] | None = option(
        "label weights",
        "Weights of labels in training, such as 0.5 for O. The weight of other labels is 1.",
        switch="--label-weight",
        refused={"disk": SET, "spark": SET},
    )
    sentence_weights: Sequence[float] | None = option(
        "sentence weights",
        "A weight for each sentence of the corpus. Sentences with the weight 0 are left out.",
        refused={"disk": SET, "spark": SET},
    )
    cutoff: int | None = option(
        "integer", "Leave out features that occur fewer times than this.", usual=1, range=(0, _INT_MAX)
    )
    passes: int | None = option("integer", "Number of stochastic passes.", range=(1, _MANY))

    @property
    def optimizer(self) -> str:
        """The optimiser."""
        raise NotImplementedError

    @property
    def edges_given_nodes(self) -> bool:
        """Whether label pairs are fitted to the scores of fitted nodes."""
        return False

    @property
    def in_passes(self) -> bool:
        """Whether it makes stochastic passes over the sentences, and not iterations of L-BFGS."""
        return self.optimizer != "lbfgs"


@dataclass(frozen=True, kw_only=True)
class _GradientMethod(FittedMethod):
    """Options of the methods that follow gradients: all that fit weights except ``perceptron``."""

    optimizer: str = option(
        "choice",
        "The optimiser. adagrad: stochastic passes with AdaGrad. lbfgs: iterations of L-BFGS.",
        "adagrad",
        choices=("adagrad", "lbfgs"),
        refused={"disk": "lbfgs", "partial_fit": "lbfgs"},
    )
    rate: float | None = option("number", "Initial step size of AdaGrad.", range=(0, _LARGE))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None and not self.in_passes:
            raise ConfigError(
                "checkpoints are written between stochastic passes, and the optimizer 'lbfgs' makes none; "
                "use 'adagrad'",
                option="checkpoint",
            )


@dataclass(frozen=True, kw_only=True)
class _IteratedMethod(_GradientMethod):
    """Options of the methods that L-BFGS can fit."""

    iterations: int = option("integer", "Maximum number of L-BFGS iterations.", 100, range=(0, _MANY))


@dataclass(frozen=True, kw_only=True)
class _CountedBase(FittedMethod):
    """Options of the methods whose node scores have a part that is counted, the base scores."""

    base: str | None = option(
        "choice",
        "How the initial node scores (base scores) are computed from counts: as by the back-off of the same name of "
        "the method empirical. none: they are zero. separate, for polish: they come from a model of the method "
        "separate, which is trained first.",
        choices=("default", "pooled", "paper", "none", "separate"),
        refused={"disk": "separate", "spark": "separate", "init": SET},
        because="is its own base",
    )
    base_weight: float | None = option(
        "number", "Weight of the base scores.", range=_WEIGHT, expert=True, formerly="temper"
    )


@dataclass(frozen=True, kw_only=True)
class Separate(_CountedBase, _IteratedMethod):
    """Every factor is a maximum entropy model, fitted separately (SP2 of the paper).

    >>> Separate(sigma2=0.5).sigma2
    0.5
    """

    name: ClassVar[MethodName] = "separate"
    summary: ClassVar[str] = "fits each factor separately"
    on_graphs: ClassVar[bool] = True
    rank: ClassVar[int] = 4
    trainer: ClassVar[str] = "corate.training.separate"

    base: str = usually("default", choices=("default", "pooled", "paper", "none"))
    coupling: str = option(
        "choice",
        "How label pairs are fitted. given-nodes: given the fitted nodes. joint: separately, as in the paper.",
        "given-nodes",
        choices=("given-nodes", "joint"),
        refused={"disk": "joint"},
    )
    space: str = option(
        "choice",
        "The labels that a token can have in the coupling joint. word: those seen with its word or, for rare words, "
        "with its spelling. features: those seen with any of its features.",
        "word",
        choices=("word", "features"),
    )
    sigma2: float | None = option(
        "number", "Variance of the Gaussian prior of node weights.", usual=1.0, range=_POSITIVE
    )
    edge_sigma2: float | None = option(
        "number", "Variance of the Gaussian prior of edge weights.", usual=1.0, range=_POSITIVE, expert=True
    )
    rate: float = usually(0.15)
    passes: int | None = usually(unset="3 (up to 9 for a small corpus)")
    half_passes: int | None = option(
        "integer",
        "Number of passes over the nodes of each half of the corpus, before the label pairs are fitted.",
        range=(1, _MANY),
        unset="2 (up to 6 for a small corpus)",
        expert=True,
    )
    pair_passes: int | None = option(
        "integer",
        "Number of passes over the label pairs.",
        range=(1, _MANY),
        unset="3 (up to 9 for a small corpus)",
        expert=True,
    )
    base_weight: float | None = usually(unset="0.4 (0.7 for the bases pooled and paper)")
    coupling_weight: float | None = option("number", "Weight of the edge scores.", range=_WEIGHT, unset="tuned")

    @property
    def edges_given_nodes(self) -> bool:
        """Whether label pairs are fitted to the scores of fitted nodes."""
        return self.coupling == "given-nodes"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.space == "features" and self.coupling != "joint":
            raise ConfigError(
                f"the space 'features' is for the coupling 'joint', not {self.coupling!r}", option="space"
            )
        if self.space == "features" and self.all_labels:
            raise ConfigError("with all_labels, every token can have every label; leave space unset", option="space")


@dataclass(frozen=True, kw_only=True)
class ChainMethod(FittedMethod):
    """Options of the methods that train on whole sentences: all except ``empirical`` and ``separate``."""

    summary: ClassVar[str] = "other losses"
    section: ClassVar[str] = "Training on whole sentences"
    trainer: ClassVar[str] = "corate.training.chains"
    on_sentences: ClassVar[bool] = True
    #: The loss of a sentence.
    loss: ClassVar[str]

    lattice: str = option(
        "choice",
        "Which labels training considers for a token. full: all labels. pruned: only the labels that are likely for "
        "the word, or all labels if an estimate says that this takes about the same time.",
        "full",
        choices=("full", "pruned"),
    )
    transitions: str = option(
        "choice",
        "Which label pairs have a weight. seen: only those that occur in training.",
        "all",
        choices=("all", "seen"),
    )
    boundaries: bool = option(
        "flag",
        "Use weights for the start and the end of a sentence.",
        default=True,
        switch="--no-boundaries",
        off="Use no weights for the start and the end of a sentence.",
    )
    parts: bool | None = option(
        "flag",
        "Use weights not only for whole labels, but also for parts that labels share, such as Case=Gen, or PER in "
        "B-PER and I-PER.",
        unset="yes for polish if most labels consist of a few parts, else no",
        refused={"init": SET},
        because="keeps the parts of its labels",
    )


@dataclass(frozen=True, kw_only=True)
class _LikelihoodMethod(ChainMethod):
    """Options of the methods that maximise the likelihood."""

    loss: ClassVar[str] = "likelihood"
    learns_unknown: ClassVar[bool] = True

    order: int | None = option(
        "choice",
        "1: weights for label pairs. 2: also weights for three labels in a row.",
        choices=(1, 2),
        unset="2 for polish with a pruned lattice and without parts, else 1",
    )
    unknown: str | None = option(
        "text",
        "A label that stands for an unknown label, such as ?. For these tokens, training sums over all other labels.",
        refused={"spark": SET},
    )


@dataclass(frozen=True, kw_only=True)
class _PenalisedMethod(ChainMethod, _GradientMethod):
    """Options of the methods that minimise a smooth loss of whole sentences, with a penalty."""

    c2: float | None = option("number", "Weight of the sum of squared weights (L2).", range=(0, _LARGE))
    batch: int = option(
        "integer",
        "Mini-batch size of AdaGrad, in sentences. 0: a share of the corpus, from 16 to 256 sentences.",
        16,
        range=(0, _MANY),
        expert=True,
    )


@dataclass(frozen=True, kw_only=True)
class Polish(_LikelihoodMethod, _PenalisedMethod, _CountedBase, _EdgeScores):
    """A conditional random field (CRF), trained in a few stochastic passes from counted scores. The default method.

    >>> Polish(passes=2).passes
    2
    """

    name: ClassVar[MethodName] = "polish"
    summary: ClassVar[str] = "counts, then trains a CRF in a few passes"
    places: ClassVar[frozenset[Place]] = frozenset({"disk", "spark", "init", "partial_fit"})
    on_graphs: ClassVar[bool] = True
    rank: ClassVar[int] = 3
    refines_counts: ClassVar[bool] = True

    lattice: str = usually("pruned")
    base: str | None = usually(unset="pooled with a full lattice, for spans or without words, else default")
    optimizer: str = usually("adagrad", choices=("adagrad",))
    c2: float | None = usually(unset="0.5 (1 for the base pooled, 2 with parts)")
    rate: float | None = usually(unset="0.06 to 0.12; 0.15 without words and for the bases paper, none and separate")
    passes: int | None = usually(unset="2 or 3 (3 to 9 for the bases paper, none and separate)")
    base_weight: float | None = usually(unset="0.55 (0.4 to 0.8 for the base pooled, 0.6 without words; 0.7 for paper)")
    edge: float = usually(0.75)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parts and self.base == "separate":
            raise ConfigError("a separate model has no weights of parts; choose another base", option="parts")


@dataclass(frozen=True, kw_only=True)
class OptimizedMethod(_PenalisedMethod, _IteratedMethod):
    """Options of the methods that minimise a smooth objective over whole sentences."""

    optimizer: str = usually("lbfgs")
    c1: float = option(
        "number",
        "Weight of the sum of absolute weights (L1), for sparse models; L-BFGS only.",
        0.0,
        range=(0, _LARGE),
    )
    c2: float | None = usually(usual=0.5)
    rate: float = usually(0.15)
    passes: int = usually(10)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.c1 > 0 and self.in_passes:
            raise ConfigError(f"c1 is for the optimizer 'lbfgs', not for {self.optimizer!r}", option="c1")


@dataclass(frozen=True, kw_only=True)
class Standard(OptimizedMethod, _LikelihoodMethod):
    """A conditional random field (CRF), trained to convergence by L-BFGS, or in stochastic passes by AdaGrad.

    >>> Standard(c2=0.1).optimizer
    'lbfgs'
    """

    name: ClassVar[MethodName] = "standard"
    summary: ClassVar[str] = "trains a CRF to convergence"
    places: ClassVar[frozenset[Place]] = frozenset({"disk", "spark", "init", "partial_fit"})
    on_graphs: ClassVar[bool] = True
    rank: ClassVar[int] = 5

    optimizer: str = usually("lbfgs", refused={"disk": "lbfgs", "partial_fit": "lbfgs", "spark": "adagrad"})


@dataclass(frozen=True, kw_only=True)
class Piecewise(OptimizedMethod):
    """Piecewise training: each pair of neighbouring labels is normalised by itself (Sutton and McCallum 2005).

    >>> Piecewise(c2=1.0).c2
    1.0
    """

    name: ClassVar[MethodName] = "piecewise"
    places: ClassVar[frozenset[Place]] = frozenset({"disk", "init", "partial_fit"})
    rank: ClassVar[int] = 6
    loss: ClassVar[str] = "piecewise"


@dataclass(frozen=True, kw_only=True)
class MEMM(OptimizedMethod):
    """A maximum entropy Markov model: P(label | previous label, words), normalised at every position.

    >>> MEMM(c2=0.1).c2
    0.1
    """

    name: ClassVar[MethodName] = "memm"
    rank: ClassVar[int] = 7
    loss: ClassVar[str] = "memm"

    c2: float | None = usually(usual=0.01)


@dataclass(frozen=True, kw_only=True)
class Perceptron(ChainMethod):
    """The averaged structured perceptron (Collins 2002).

    >>> Perceptron().passes
    10
    """

    name: ClassVar[MethodName] = "perceptron"
    places: ClassVar[frozenset[Place]] = frozenset({"disk", "init", "partial_fit"})
    rank: ClassVar[int] = 2
    loss: ClassVar[str] = "perceptron"

    passes: int = usually(10)

    @property
    def optimizer(self) -> str:
        """The optimiser."""
        return "perceptron"


_CLASSES: tuple[type[Method], ...] = (Polish, Empirical, Separate, Standard, Piecewise, MEMM, Perceptron)

#: The class of each method by its name; the default method is the first.
METHODS: dict[str, type[Method]] = {method.name: method for method in _CLASSES}

#: All options by name, each with what it is for the methods that have it.
OPTIONS: dict[str, SharedOption] = shared_options(METHODS)

#: The options that had another name, by that name.
FORMER: dict[str, str] = {known.formerly: name for name, known in OPTIONS.items() if known.formerly}

#: The methods that have each option.
OPTION_METHODS: dict[str, tuple[str, ...]] = {name: known.methods for name, known in OPTIONS.items()}


def _document(method: type[Method]) -> None:
    """Add the options of a method to its docstring, for ``help``."""
    lines = ["Options:"]
    for name, known in options_of(method).items():
        default = known.unset if known.default is None else repr(known.default)
        lines.append(f"    {name}: {known.help}" + (f" Default: {default}." if default else ""))
    method.__doc__ = f"{inspect.cleandoc(method.__doc__ or '')}\n\n" + "\n".join(lines)


def renamed(options: Mapping[str, Any], stacklevel: int = 4) -> dict[str, Any]:
    """Options by their names, with a warning for former ones; ``stacklevel`` is that of the user's code.

    >>> renamed({"backoff": "paper"})
    {'backoff': 'paper'}
    """
    found = {name: value for name, value in options.items() if name not in FORMER}
    for name in options.keys() & FORMER.keys():
        if found.setdefault(FORMER[name], options[name]) is not options[name]:
            raise ConfigError(f"{name} is the former name of {FORMER[name]}; give only {FORMER[name]}", option=name)
        warn_renamed(name, stacklevel + 1)
    return found


def warn_renamed(name: str, stacklevel: int) -> None:
    """Warn that an option has another name now."""
    warnings.warn(
        f"{name} is deprecated, and will be removed in version 0.4; its name is {FORMER[name]}",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def _take_former_names(method: type[Method]) -> None:
    """Let the constructor take former names of options."""
    construct = method.__init__

    @functools.wraps(construct)
    def take(self: Method, **options: Any) -> None:
        construct(self, **renamed(options, stacklevel=3))

    method.__init__ = take  # type: ignore[method-assign]


for _method in _CLASSES:
    _document(_method)
    _take_former_names(_method)


def resolve_method(method: str | Method, options: Mapping[str, Any]) -> Method:
    """The options of a method that is given by name, or by an object without further options.

    An option that is None counts as not given. Options that few users need are given with ``expert=``.

    >>> resolve_method("standard", {"c2": 0.1}).c2
    0.1
    >>> resolve_method("standard", {"expert": {"batch": 4}}).batch
    4
    >>> resolve_method("standard", {"c3": 0.1})
    Traceback (most recent call last):
    corate.errors.ConfigError: unknown option 'c3' of the method 'standard'; did you mean 'c2'?
    >>> resolve_method("standard", {"backoff": "paper"})
    Traceback (most recent call last):
    corate.errors.ConfigError: backoff is an option of the method 'empirical', not of 'standard'
    >>> from corate import Standard
    >>> resolve_method(Standard(), {"c2": 0.1})
    Traceback (most recent call last):
    corate.errors.ConfigError: c2 is an option of the method: give it to Standard(...), not to train
    """
    if isinstance(method, Method):
        if options:
            name = next(iter(options))
            raise ConfigError(
                f"{name} is an option of the method: give it to {type(method).__name__}(...), not to train", option=name
            )
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise ConfigError(f"unknown method {method!r}; {_hint(method, METHODS)}", option="method")
    given = renamed(options)
    settings, expert = given.pop("settings", None), given.pop("expert", None) or {}
    if settings is not None:
        warnings.warn(
            "settings= is deprecated, and will be removed in version 0.3; give its values as options, such as "
            "train(corpus, passes=5)",
            FutureWarning,
            stacklevel=3,
        )
        given = options_from_settings(method, settings) | given
    given = {name: value for name, value in given.items() if value is not None or name not in OPTIONS}
    for name in given if settings is None else ():
        if name in OPTIONS and OPTIONS[name].expert:
            warnings.warn(
                f"{name}= is deprecated, and will be removed in version 0.4; give expert={{{name!r}: ...}}",
                DeprecationWarning,
                stacklevel=3,
            )
    expert = _expert(expert)
    for name in given.keys() & expert.keys():
        raise ConfigError(f"{name} is given twice; leave it out of expert", option=name)
    given |= expert
    for name in given:
        _check_known(method, name)
    return METHODS[method](**given)


def _expert(options: Any) -> dict[str, Any]:
    """The options that are given with ``expert=``."""
    if not isinstance(options, Mapping):
        raise ConfigError(f"expert is a mapping of options, such as {{'batch': 4}}, not {options!r}", option="expert")
    named = renamed(options, stacklevel=5).items()
    return {str(name): value for name, value in named if value is not None or name not in OPTIONS}


def _check_known(method: str, name: str) -> None:
    known = options_of(METHODS[method])
    if name in known:
        return
    if name in OPTIONS:
        owners = " or ".join(map(repr, OPTIONS[name].methods))
        raise ConfigError(f"{name} is an option of the method {owners}, not of {method!r}", option=name)
    raise ConfigError(f"unknown option {name!r} of the method {method!r}; {_hint(name, known)}", option=name)


def _hint(name: object, known: Iterable[str]) -> str:
    """A hint with the most similar known name, or with all known names."""
    near = difflib.get_close_matches(str(name), known, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


#: The options that training on graphs follows.
_GRAPH_OPTIONS = ("c2", "sigma2", "iterations", "unknown", "many_labels")


def refuse_on_graphs(method: Method, arguments: Mapping[str, object]) -> None:
    """Raise ConfigError for a method, an option or an argument of ``train`` that is for sentences only."""
    if not method.on_graphs:
        others = ", ".join(repr(name) for name, own in METHODS.items() if own.on_graphs)
        raise ConfigError(
            f"the method {method.name!r} labels sentences, and the corpus has graphs; use one of {others}",
            option="method",
        )
    given = {name: (getattr(method, name), known.default) for name, known in options_of(type(method)).items()}
    plain = type(method)()
    changed = [name for name, (value, _) in given.items() if value != getattr(plain, name)]
    named = [name for name in changed if name not in _GRAPH_OPTIONS]
    named.extend(name for name, value in arguments.items() if value not in (None, False))
    if named:
        raise ConfigError(f"{named[0]} has no effect on graphs", f"leave {Argument(named[0])} unset", option=named[0])


def check_init(method: Method, features: object, raw: object = None) -> None:
    """Raise ConfigError for a method or options that cannot be combined with ``init=``."""
    if "init" not in method.places:
        others = " or ".join(repr(name) for name, other in METHODS.items() if "init" in other.places)
        raise ConfigError(f"init is for the method {others}, not for {method.name!r}", option="init")
    for name, argument in (("features", features), ("raw", raw)):
        if argument is not None:
            raise ConfigError(f"a model that is trained further keeps its features; leave {name} unset", option=name)
    refused = method.refused("init")
    if refused is not None:
        raise ConfigError(
            f"a model that is trained further {refused.because}; leave {refused.option} unset", option=refused.option
        )


# -- settings of version 0.1 -----------------------------------------------------------------------------------------

#: Version 0.1 took these settings for all methods on whole sentences, and ignored those that a method does not use.
_UNUSED = ("c1", "c2", "rate", "passes", "iterations", "batch", "base_weight", "edge")


def options_from_settings(method: str, settings: Any) -> dict[str, Any]:
    """The options that are equivalent to ``settings=`` of version 0.1.

    >>> options_from_settings("separate", {"coupling": 0.5, "passes": 0})
    {'coupling_weight': 0.5}
    """
    if not isinstance(settings, Mapping):
        raise ConfigError(f"settings are given by name, such as {{'rate': 0.1}}, not as {settings!r}")
    names = {"coupling": "coupling_weight", **FORMER}
    found = {str(names.get(name, name)): value for name, value in settings.items()}
    unset = {name for name, value in found.items() if name.endswith("passes") and value == 0}
    if METHODS[method].on_sentences:
        unset |= {name for name in found if name in _UNUSED and name not in options_of(METHODS[method])}
    return {name: value for name, value in found.items() if name not in unset}
