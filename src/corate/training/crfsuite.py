"""Training as CRFsuite trains: its model, its objectives, its algorithms and their parameters.

    score(y | x) = sum_j sum over attributes a of token j of value * W(a, y_j) + sum_i T(y_i, y_i+1)

There are weights W for the pairs of an attribute and a label that are seen, and T for the pairs of labels that are
seen. Labels by themselves and the ends of a sentence have none, so a CRFsuite file can hold the model. The algorithms:

    lbfgs                 sum of log Z(x) - score(y), + c1 |w|_1 + c2 |w|^2, to its minimum
    l2sgd                 the same with c1 = 0, by stochastic gradient descent
    averaged-perceptron   for each wrong sentence, w += f(gold) - f(best); the result is the average of all w
    passive-aggressive    the same, with a step size that depends on the loss (Crammer et al. 2006)
    arow                  the same without the average; each weight has a variance, which its steps are proportional to,
                          and which they make smaller (Crammer, Kulesza and Dredze 2009)
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.arguments import check_seed, check_threads
from corate.corpus import Attributes, Corpus, StringTable, check_corpus
from corate.errors import ConfigError, DataError
from corate.features.ready_made import refuse_too_large_values
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import ChainWeights, EdgeScores, LabelPairs
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.optimize.lbfgs import Search, Step, lbfgs
from corate.optimize.passes import make_passes
from corate.optimize.penalty import L2
from corate.optimize.stochastic import AveragedPerceptron, CorrectMistakes, GradientDescent, Run
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows, offsets_of
from corate.training.choices import refuse_too_many_labels
from corate.training.options import Option
from corate.training.source import MemorySource
from corate.types import F32, F64, Csr, Ids

__all__ = ["ALGORITHMS", "GeneratedFeatures", "Iteration", "algorithm_named", "checked", "train_as_crfsuite"]


@dataclass(frozen=True)
class GeneratedFeatures:
    """The size of a model before it is trained. ``features`` counts the weights of attributes and of label pairs."""

    attributes: int
    labels: int
    features: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Iteration:
    """An iteration of an algorithm. What the algorithm does not have is None.

    ``loss`` is the objective of lbfgs and l2sgd, the sum of the shares of wrong labels of averaged-perceptron, and the
    sum of the costs of passive-aggressive and arow. ``held_out`` has the best label of each held-out token.
    """

    number: int
    loss: float
    feature_norm: float
    seconds: float
    error_norm: float | None = None
    active_features: int | None = None
    linesearch_trials: int | None = None
    linesearch_step: float | None = None
    improvement: float | None = None
    learning_rate: float | None = None
    updates: int | None = None
    held_out: Ids | None = None


def train_as_crfsuite(
    corpus: Corpus,
    algorithm: str = "lbfgs",
    params: Mapping[str, Any] | None = None,
    *,
    held_out: Corpus | None = None,
    on_features: Callable[[GeneratedFeatures], None] | None = None,
    on_iteration: Callable[[Iteration], None] | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Tagger:
    """Train a model as CRFsuite does, on a corpus of ready-made features.

    Args:
        corpus: ready-made features and labels. All labels of its table are labels of the model, also unseen ones.
        algorithm: ``lbfgs``, ``l2sgd``, ``ap`` (or ``averaged-perceptron``), ``pa`` (or ``passive-aggressive``), or
            ``arow``.
        params: parameters of the algorithm, by CRFsuite's names. Those not given have CRFsuite's defaults.
        held_out: sentences that are labelled after every iteration, for ``on_iteration``.
        on_features: called before the first iteration.
        on_iteration: called after every iteration.
        seed: for the order of sentences. ``lbfgs`` does not need it.
        threads: number of threads of ``lbfgs``.

    Ctrl-C ends training after the last complete iteration; before the first one it raises KeyboardInterrupt. The record
    of the tagger says why training ended, in ``stopped``: ``convergence`` (of the gradient), ``criterion`` (the gain
    or the loss is small enough), ``iterations`` (the maximum), ``search`` (no better step was found) or
    ``interrupted``. Raises ConfigError, DataError.

    >>> corpus = Corpus.from_features([[{"w": "the"}, {"w": "dog"}]], [["DET", "NOUN"]])
    >>> tagger = train_as_crfsuite(corpus, "lbfgs", {"c2": 0.1})
    >>> tagger.tag([{"w": "dog"}]), tagger.record["stopped"]
    (['NOUN'], 'convergence')
    """
    started = time.perf_counter()
    name = algorithm_named(algorithm)
    p = checked(name, params or {})
    seed, threads = check_seed(seed), check_threads(threads)
    _check(corpus)
    problem = _Problem.of(corpus, "likelihood" if name in ("lbfgs", "l2sgd") else "perceptron", p, threads)
    if on_features is not None:
        on_features(problem.generated(time.perf_counter() - started))
    labels_of = None if held_out is None or on_iteration is None else problem.labeller(held_out)
    report = _Report(on_iteration, labels_of)
    weights, stopped = _FITS[name](problem, p, seed, report)
    record = {
        "method": "crfsuite",
        "algorithm": name,
        "settings": p,
        "sentences": len(corpus),
        "tokens": corpus.n_tokens,
        "labels": problem.n_labels,
        "loss": report.loss,
        "iterations": report.number,
        "stopped": stopped,
        "interrupted": stopped == "interrupted",
        "seed": seed,
    }
    tagger = problem.tagger(weights, record)
    record["seconds"] = round(time.perf_counter() - started, 4)
    return tagger


def _check(corpus: Corpus) -> None:
    check_corpus(corpus)
    if corpus.attributes is None or corpus.columns:
        raise DataError("training as CRFsuite needs ready-made features; make the corpus with Corpus.from_features")
    corpus.require_every_label("training as CRFsuite")
    refuse_too_many_labels(MemorySource(corpus), "crfsuite", many_labels=True)
    refuse_too_large_values(corpus)
    if corpus.n_tokens == 0:
        raise DataError("the corpus has no tokens to train on")


# -- parameters -------------------------------------------------------------------------------------------------------

#: As many iterations as it takes.
_UNLIMITED = 2**31 - 1


def _number(default: float, help: str, least: float = 0.0) -> Option:
    return Option(help, "number", range=(least, 1e9), default=default)


def _integer(default: int, help: str, least: int = 0, most: int = _UNLIMITED) -> Option:
    return Option(help, "integer", range=(least, most), default=default)


def _flag(default: bool, help: str) -> Option:
    return Option(help, "flag", default=default)


_SEARCHES: dict[str, Search] = {
    "MoreThuente": "More-Thuente",
    "Backtracking": "weak backtracking",
    "StrongBacktracking": "backtracking",
}
_FEATURES = {
    "feature.minfreq": _number(0.0, "Leave out features that occur fewer times."),
    "feature.possible_states": _flag(
        False, "Give every attribute a weight for every label, also for labels unseen with it."
    ),
    "feature.possible_transitions": _flag(False, "Give every pair of labels a weight, even pairs that are not seen."),
}
_MISTAKES = {
    "max_iterations": _integer(100, "Maximum number of passes."),
    "epsilon": _number(0.0, "Stop if the mean loss of a sequence in a pass is smaller than this."),
}
_OWN: Mapping[str, Mapping[str, Option]] = {
    "lbfgs": {
        "c1": _number(0.0, "The weight of the L1 prior."),
        "c2": _number(1.0, "The weight of the L2 prior."),
        "max_iterations": _integer(_UNLIMITED, "Maximum number of iterations."),
        "num_memories": _integer(6, "The number of past steps that estimate the curvature.", least=1, most=10_000),
        "epsilon": _number(1e-5, "Stop if the norm of the gradient, relative to that of the weights, is smaller."),
        "period": _integer(10, "The number of iterations over which the gain is compared with delta."),
        "delta": _number(1e-5, "Stop if the gain of the last iterations, relative to the loss, is smaller."),
        "linesearch": Option(
            "How the length of a step is found.", "choice", choices=tuple(_SEARCHES), default="MoreThuente"
        ),
        "max_linesearch": _integer(20, "Maximum number of evaluations in a line search.", least=1),
    },
    "l2sgd": {
        "c2": _number(1.0, "The weight of the L2 prior."),
        "max_iterations": _integer(1000, "Maximum number of passes."),
        "period": _integer(10, "The number of passes over which the gain is compared with delta.", least=1),
        "delta": _number(1e-6, "Stop if the gain of the last passes, relative to the loss, is smaller."),
        "calibration.eta": _number(0.1, "The first step size that is tried."),
        "calibration.rate": _number(2.0, "The factor between the step sizes that are tried.", least=1.001),
        "calibration.samples": _number(1000.0, "The number of sequences that step sizes are tried on."),
        "calibration.candidates": _integer(
            10, "The number of step sizes, among those that lower the loss, to compare."
        ),
        "calibration.max_trials": _integer(20, "One more than the maximum number of step sizes that are tried.", 1),
    },
    "averaged-perceptron": _MISTAKES,
    "passive-aggressive": {
        "type": _integer(1, "How the step size is limited: not (0), by c (1), or by a penalty 1 / (2 c) (2).", most=2),
        "c": _number(1.0, "The limit of the step size.", least=1e-12),
        "error_sensitive": _flag(True, "Add the square root of the number of wrong labels to the loss, not 1."),
        "averaging": _flag(True, "Average the weights over all steps."),
        **_MISTAKES,
    },
    "arow": {
        "variance": _number(1.0, "The variance of each weight before the first step.", least=1e-12),
        "gamma": _number(1.0, "How little steps change weights and variances.", least=1e-12),
        **_MISTAKES,
    },
}
#: The parameters of each algorithm.
ALGORITHMS: Mapping[str, Mapping[str, Option]] = {
    algorithm: {name: replace(option, name=name) for name, option in (_FEATURES | dict(own)).items()}
    for algorithm, own in _OWN.items()
}
_SHORT = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def algorithm_named(name: str) -> str:
    """The full name of an algorithm. Raises ConfigError for an unknown one.

    >>> algorithm_named("ap")
    'averaged-perceptron'
    """
    full = _SHORT.get(name, name)
    if full not in ALGORITHMS:
        known = ", ".join([*ALGORITHMS, *_SHORT])
        raise ConfigError(f"unknown algorithm {name!r}; there are {known}", option="algorithm")
    return full


def checked(algorithm: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all parameters of an algorithm. Raises ConfigError for an unknown one or an invalid value.

    >>> checked("averaged-perceptron", {"max_iterations": 5})["max_iterations"]
    5
    """
    options = ALGORITHMS[algorithm]
    values = {name: option.default for name, option in options.items()}
    for name, value in params.items():
        if name not in options:
            raise ConfigError(f"{algorithm} has no parameter {name!r}; it has {', '.join(options)}", option=name)
        if options[name].kind == "flag" and value in (0, 1):
            value = bool(value)
        values[name] = options[name].check(value)
    return values


# -- features ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Problem:
    """The weights of a model, and the sentences to train them on."""

    names: StringTable
    labels: StringTable
    slots: Csr  # the labels of each attribute that have a weight
    free: NDArray[np.uint8]  # the label pairs that have a weight, (K + 1) x (K + 1)
    sentences: NDArray[np.int64]  # those that have tokens
    lengths: NDArray[np.int64]
    chains: _native.Chains
    threads: int

    @classmethod
    def of(cls, corpus: Corpus, loss: str, p: Mapping[str, Any], threads: int) -> _Problem:
        """The features that CRFsuite generates for a corpus."""
        attributes, column = corpus.attributes, corpus.require_labels()
        assert attributes is not None
        k, gold, least = len(column.strings), column.ids, p["feature.minfreq"]
        slots = _slots(attributes, gold, k, least, all_labels=p["feature.possible_states"])
        free = _free_pairs(corpus.offsets, gold, k, least, all_pairs=p["feature.possible_transitions"])
        if not len(slots[1]) and not free.any():
            raise DataError("no feature is left to train; give features, or lower feature.minfreq")
        chains = _chains(loss, corpus.offsets, attributes, slots, gold, free)
        lengths = np.diff(corpus.offsets)
        sentences = np.flatnonzero(lengths > 0)
        return cls(attributes.names, column.strings, slots, free, sentences, lengths, chains, threads)

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.labels)

    def generated(self, seconds: float) -> GeneratedFeatures:
        """The numbers of attributes, labels and weights."""
        weights = len(self.slots[1]) + int(np.count_nonzero(self.free))
        return GeneratedFeatures(len(self.names), self.n_labels, weights, seconds)

    def labeller(self, corpus: Corpus) -> Callable[[F32], Ids]:
        """A function that returns the best labels of another corpus."""
        ready = corpus.attributes
        if ready is None:
            raise DataError("the held-out corpus has no ready-made features; make it with Corpus.from_features")
        if ready.names is not self.names:
            ids = self.names.find(ready.names)[ready.ids]
            ready = replace(ready, ids=ids, names=self.names).where(ids >= 0)
        gold = np.zeros(corpus.n_tokens, np.int32)
        chains = _chains("perceptron", corpus.offsets, ready, self.slots, gold, self.free)
        return lambda weights: chains.best(weights, self.threads)

    def tagger(self, weights: F32, record: dict[str, Any]) -> Tagger:
        """The tagger of trained weights, without weights of zero and attributes without weights."""
        layout = ChainWeights(self.free.astype(np.float32), nodes=np.zeros(len(self.slots[1]), np.float32))
        fitted = layout.of(weights)
        rows = SparseRows(*self.slots, np.ascontiguousarray(fitted.nodes)).compacted()
        used = np.flatnonzero(rows.lengths)
        vocabulary = replace(Vocabulary.of([]), attributes=self.names.take(used))
        edges = EdgeScores.of_dense(fitted.edges)
        model = ChainModel(self.labels, edges, rows.take(used), np.zeros(self.n_labels, np.float32), all_labels=True)
        record["features"] = len(used)
        return Tagger(vocabulary, model, record, ())


def _chains(
    loss: str, offsets: NDArray[np.int64], attributes: Attributes, slots: Csr, gold: Ids, free: NDArray[np.uint8]
) -> _native.Chains:
    """The items of sentences, without attributes whose value is zero."""
    values = attributes.values
    if values is not None and not values.all():
        attributes = attributes.where(values != 0)
        values = attributes.values
    features = attributes.offsets, attributes.ids
    if values is not None and (values == 1).all():
        values = None
    k = len(free) - 1
    return _native.Chains(loss, k, offsets, (slots, features), values, None, None, gold, None, None, free.ravel())


def _slots(attributes: Attributes, gold: Ids, k: int, least: float, *, all_labels: bool) -> Csr:
    """The labels of each attribute that have a weight: those whose summed values reach ``least``."""
    n, of_tokens = len(attributes.names), np.repeat(gold, attributes.lengths)
    offsets, labels, counts = _native.count_table(attributes.ids, of_tokens, n, k)
    slots = LabelRows(offsets, labels)
    sums, values = counts.astype(np.float64), attributes.values
    if values is not None and (least > 0 or (values < 0).any()):
        places = np.searchsorted(slots.keys(k), attributes.ids.astype(np.int64) * k + of_tokens)
        sums = np.bincount(places, values, minlength=len(labels)).astype(np.float64)
    if all_labels and least <= 0:
        complete = np.ones((n, k), bool)
        complete[slots.lengths == 0] = False
        complete[slots.owners, labels] = sums >= least
        return offsets_of(complete.sum(axis=1)), np.nonzero(complete)[1].astype(np.int32)
    return slots.where(sums >= least).csr


def _free_pairs(offsets: NDArray[np.int64], gold: Ids, k: int, least: float, *, all_pairs: bool) -> NDArray[np.uint8]:
    """Which label pairs have a weight: those seen at least ``least`` times, (K + 1) x (K + 1)."""
    inside = np.ones(len(gold), bool)
    inside[offsets[:-1][offsets[:-1] < len(gold)]] = False
    after = np.flatnonzero(inside)
    counts = np.bincount(gold[after - 1].astype(np.int64) * k + gold[after], minlength=k * k).reshape(k, k)
    free = np.zeros(LabelPairs(k).shape, np.uint8)
    free[:k, :k] = (counts >= least) & (all_pairs | (counts > 0))
    return free


# -- algorithms -------------------------------------------------------------------------------------------------------


@dataclass
class _Report:
    """Tells about iterations."""

    on_iteration: Callable[[Iteration], None] | None
    labels_of: Callable[[F32], Ids] | None
    number: int = 0
    loss: float = 0.0
    begun: float = field(default_factory=time.perf_counter)

    def __call__(self, loss: float, weights: F32 | F64, **numbers: Any) -> None:
        """An iteration is done."""
        self.number, self.loss = self.number + 1, loss
        if self.on_iteration is None:
            return
        seconds = time.perf_counter() - self.begun
        norm = math.sqrt(portable_math.dot(weights, weights))
        if "error_norm" in numbers:
            numbers["active_features"] = int(np.count_nonzero(weights))
        held_out = None if self.labels_of is None else self.labels_of(weights.astype(np.float32, copy=False))
        self.on_iteration(Iteration(self.number, loss, norm, seconds, held_out=held_out, **numbers))
        self.begun = time.perf_counter()


#: If this many iterations of L-BFGS together gain less than LEAST_GAIN of the loss, single precision is exhausted.
_STALL, _LEAST_GAIN = 10, 1e-6
#: Up to so many label pairs at all tokens, double precision takes little time: about a millisecond for each evaluation.
_FEW_PAIRS = 100_000


def _fit_lbfgs(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    """Minimise the objective in single precision and, if that is not enough to stop, from there in double precision.

    A small problem is in double precision from the beginning, so the weights are those of CRFsuite.
    """
    small = int(problem.lengths.sum()) * problem.n_labels**2 <= _FEW_PAIRS
    weights, limit, penalty = np.zeros(problem.chains.size), p["max_iterations"] or _UNLIMITED, L2(2.0 * p["c2"])
    for exact in (True,) if small else (False, True):
        losses: list[float] = []

        def objective(weights: F64, exact: bool = exact) -> tuple[float, F64]:
            return problem.chains.objective(weights, penalty.strength, problem.threads, exact)

        def progress(step: Step, exact: bool = exact, losses: list[float] = losses) -> bool:
            losses.append(step.value)
            search = {"linesearch_trials": step.trials, "linesearch_step": step.scale}
            report(step.value, step.weights, error_norm=step.gradient_norm, **search)
            return exact or len(losses) <= _STALL or losses[-1 - _STALL] - step.value > _LEAST_GAIN * step.value

        found = lbfgs(
            objective,
            weights,
            c1=p["c1"],
            iterations=limit - report.number,
            tolerance=p["delta"],
            period=p["period"],
            epsilon=p["epsilon"],
            memory=p["num_memories"],
            search=_SEARCHES[p["linesearch"]],
            trials=p["max_linesearch"],
            longest=math.inf,
            progress=progress,
        )
        weights, report.loss = found.weights, found.value
        if found.stopped not in ("progress", "search"):
            break
    reasons = {"gradient": "convergence", "improvement": "criterion"}
    return weights.astype(np.float32), reasons.get(found.stopped, found.stopped)


def _fit_passes(
    run: Run,
    passes: int,
    enough: Callable[[float], bool],
    report: _Report,
    numbers_of: Callable[[float], dict[str, Any]] = lambda loss: {},
) -> tuple[F32, str]:
    """Make passes until the sum of the losses of one is enough; returns the weights and why passes ended.

    ``numbers_of`` takes that sum, and returns what else is reported of the pass.
    """
    n = len(run.items)

    def progress(event: ProgressEvent) -> None:
        if event.loss is not None:
            loss = event.loss * n
            report(loss, run.weights, **numbers_of(loss))

    fitted = make_passes(run, passes, "training", progress, enough=lambda loss: enough(loss * n))
    if fitted.stopped:
        return fitted.weights, "interrupted"
    return fitted.weights, "criterion" if run.passes and enough(report.loss) else "iterations"


def _fit_l2sgd(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    """The weights after the pass with the lowest loss."""
    period, losses = p["period"], list[float]()
    shrink = float(L2(2.0 * p["c2"]).per_visit(len(problem.sentences)))

    def descent(sentences: NDArray[np.int64], rate: float) -> GradientDescent:
        state = np.zeros(2 * problem.chains.size, np.float32)
        return GradientDescent(
            steps=problem.chains.descend, items=sentences, state=state, seed=seed, rate=rate, shrink=shrink
        )

    sample = np.random.default_rng(seed).permutation(problem.sentences)[: max(1, int(p["calibration.samples"]))]
    run = descent(problem.sentences, _calibrated_rate(p, lambda rate: descent(sample, rate).pass_once()))
    best = np.inf, run.weights

    def numbers_of(loss: float) -> dict[str, Any]:
        nonlocal best
        losses.append(loss)
        best = (loss, run.weights) if loss < best[0] else best
        numbers = {"learning_rate": run.last_rate, "updates": run.done}
        return numbers | ({"improvement": (losses[-1 - period] - loss) / loss} if len(losses) > period else {})

    def enough(loss: float) -> bool:
        return len(losses) > period and bool(losses[-1 - period] - loss < p["delta"] * loss)

    _, stopped = _fit_passes(run, p["max_iterations"], enough, report, numbers_of)
    report.loss = best[0]
    return best[1], stopped


def _calibrated_rate(p: Mapping[str, Any], loss_of: Callable[[float], float]) -> float:
    """The step size with the lowest loss.

    A candidate has a lower loss than no step at all. The step size grows until one is no candidate, and then shrinks.
    As CRFsuite counts them, the last of ``calibration.max_trials`` is not made.
    """
    first, factor, trials = p["calibration.eta"], p["calibration.rate"], max(1, p["calibration.max_trials"] - 1)
    initial, best = loss_of(0.0), (np.inf, first)
    for rate, change in ((first, factor), (first / factor, 1 / factor)):
        candidates = p["calibration.candidates"]
        while trials > 0 and candidates > 0:
            loss, trials = loss_of(rate), trials - 1
            best = min(best, (loss, rate))
            if loss < initial:
                candidates -= 1
            elif change > 1:
                break
            rate *= change
    return float(best[1])


def _fit_perceptron(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    lengths = problem.lengths.astype(np.float32)

    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.perceptron(state, order, time, step) / lengths[order]

    return _fit_mistakes(problem, p, steps, seed, report)


def _fit_passive_aggressive(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    rule = p["type"], p["c"], p["error_sensitive"]

    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.passive_aggressive(state, order, time, step, *rule)

    return _fit_mistakes(problem, p, steps, seed, report, averaging=p["averaging"])


def _fit_arow(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.arow(state, order, p["gamma"])

    return _fit_mistakes(problem, p, steps, seed, report, averaging=False, beside=p["variance"], small=operator.le)


def _fit_mistakes(
    problem: _Problem,
    p: Mapping[str, Any],
    steps: CorrectMistakes,
    seed: int,
    report: _Report,
    *,
    averaging: bool = True,
    beside: float = 0.0,
    small: Callable[[float, float], bool] = operator.lt,
) -> tuple[F32, str]:
    """``beside`` is what the state has beside each weight at first; ``small`` compares the mean loss with epsilon."""
    n, state = len(problem.sentences), np.zeros(2 * problem.chains.size, np.float32)
    state[1::2] = beside
    run = AveragedPerceptron(
        steps=steps, items=problem.sentences, state=state, seed=seed, skip=False, begins=True, averaging=averaging
    )

    def enough(loss: float) -> bool:
        return small(loss, p["epsilon"] * n)

    return _fit_passes(run, p["max_iterations"], enough, report)


_FITS: dict[str, Callable[[_Problem, Mapping[str, Any], int, _Report], tuple[F32, str]]] = {
    "lbfgs": _fit_lbfgs,
    "l2sgd": _fit_l2sgd,
    "averaged-perceptron": _fit_perceptron,
    "passive-aggressive": _fit_passive_aggressive,
    "arow": _fit_arow,
}
