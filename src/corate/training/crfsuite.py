"""Training as CRFsuite trains: its model, its objectives, its algorithms and their parameters.

    score(y | x) = sum_j sum over attributes a of token j of value * W(a, y_j) + sum_i T(y_i, y_i+1)

There are weights W for the pairs of an attribute and a label that are seen, and T for the pairs of labels that are
seen. Labels by themselves and the ends of a sentence have none, so a CRFsuite file can hold the model. The algorithms:

    lbfgs                 sum of log Z(x) - score(y), + c1 |w|_1 + c2 |w|^2, to its minimum
    l2sgd                 the same with c1 = 0, by stochastic steps (AdaGrad)
    averaged-perceptron   for each wrong sentence, w += f(gold) - f(best); the result is the average of all w
    passive-aggressive    the same, with a step size that depends on the loss (Crammer et al. 2006)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_seed, check_threads
from corate.attributes import JOINER
from corate.corpus import Attributes, Corpus, StringTable
from corate.errors import DataError
from corate.features.vocabulary import Vocabulary
from corate.label_scores import EdgeScores, SparseRows
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.optimize.lbfgs import Search, Step, lbfgs
from corate.optimize.stochastic import AdaGrad, AveragedPerceptron, CorrectMistakes
from corate.ragged import offsets_of
from corate.training.checks import check_corpus, refuse_too_large_values, refuse_too_many_labels
from corate.training.crfsuite_options import UNLIMITED, algorithm_named, checked
from corate.types import F32, F64, Csr, Ids

__all__ = ["GeneratedFeatures", "Iteration", "train_as_crfsuite"]

SEARCHES: dict[str, Search] = {
    "MoreThuente": "interpolation",
    "Backtracking": "weak backtracking",
    "StrongBacktracking": "backtracking",
}


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
    sum of the costs of passive-aggressive. ``held_out`` has the best label of each held-out token.
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
        algorithm: ``lbfgs``, ``l2sgd``, ``ap`` (or ``averaged-perceptron``), ``pa`` (or ``passive-aggressive``).
        params: parameters of the algorithm, by CRFsuite's names. Those not given have CRFsuite's defaults.
        held_out: sentences that are labelled after every iteration, for ``on_iteration``.
        on_features: called before the first iteration.
        on_iteration: called after every iteration.
        seed: for the order of sentences. ``lbfgs`` does not need it.
        threads: number of threads of ``lbfgs`` and ``l2sgd``.

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
    loss = "likelihood" if name in ("lbfgs", "l2sgd") else "perceptron"
    problem = _Problem.of(corpus, loss, p, threads)
    if on_features is not None:
        on_features(problem.generated(time.perf_counter() - started))
    labels_of = None if held_out is None or on_iteration is None else problem.labeller(held_out)
    report = _Report(problem, on_iteration, labels_of)
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
    refuse_too_many_labels(corpus, "crfsuite", many_labels=True)
    refuse_too_large_values(corpus)
    if corpus.n_tokens == 0:
        raise DataError("the corpus has no tokens to train on")


# -- features ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Problem:
    """The weights of a model, and the sentences to train them on."""

    names: StringTable
    labels: StringTable
    joiner: str
    slots: Csr  # the labels of each attribute that have a weight
    free: NDArray[np.uint8]  # the label pairs that have a weight, (K + 1) x (K + 1)
    sentences: NDArray[np.int64]  # those that have tokens
    offsets: NDArray[np.int64]
    features: Csr
    chains: _native.Chains
    threads: int

    @classmethod
    def of(cls, corpus: Corpus, loss: str, p: Mapping[str, Any], threads: int) -> _Problem:
        """The features that CRFsuite generates for a corpus."""
        attributes, column = corpus.attributes, corpus.require_labels()
        assert attributes is not None
        k, gold = len(column.strings), column.ids
        slots = _slots(attributes, gold, k, p["feature.minfreq"], all_labels=p["feature.possible_states"])
        free = _free_pairs(corpus.offsets, gold, k, p["feature.minfreq"], all_pairs=p["feature.possible_transitions"])
        if not len(slots[1]) and not free.any():
            raise DataError("no feature is left to train; give features, or lower feature.minfreq")
        features, values = _without_zeros(attributes)
        chains = _chains(loss, k, corpus.offsets, slots, features, values, gold, free)
        sentences = np.flatnonzero(np.diff(corpus.offsets) > 0)
        joiner = JOINER
        return cls(
            attributes.names, column.strings, joiner, slots, free, sentences, corpus.offsets, features, chains, threads
        )

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
            ready = _renamed(ready, self.names)
        features, values = _without_zeros(ready)
        gold = np.zeros(corpus.n_tokens, np.int32)
        chains = _chains("perceptron", self.n_labels, corpus.offsets, self.slots, features, values, gold, self.free)
        return lambda weights: chains.best(weights, self.threads)

    def tagger(self, weights: F32, record: dict[str, Any]) -> Tagger:
        """The tagger of trained weights, without weights of zero and attributes without weights."""
        size = self.n_labels + 1
        table, node = np.split(weights, [size * size])
        rows = SparseRows(*self.slots, np.ascontiguousarray(node)).compacted()
        used = np.flatnonzero(np.diff(rows.offsets))
        vocabulary = replace(Vocabulary.of([]), attributes=self.names.take(used), joiner=self.joiner)
        edges = EdgeScores.of_dense(table.reshape(size, size))
        model = ChainModel(self.labels, edges, rows.take(used), np.zeros(size - 1, np.float32), all_labels=True)
        record["features"] = len(used)
        return Tagger(vocabulary, model, record, ())


def _chains(
    loss: str,
    k: int,
    offsets: NDArray[np.int64],
    slots: Csr,
    features: Csr,
    values: F32 | None,
    gold: Ids,
    free: NDArray[np.uint8],
) -> _native.Chains:
    return _native.Chains(loss, k, offsets, (slots, features), values, None, None, gold, None, None, free.ravel())


def _slots(attributes: Attributes, gold: Ids, k: int, least: float, *, all_labels: bool) -> Csr:
    """The labels of each attribute that have a weight: those whose summed values reach ``least``."""
    n, of_tokens = len(attributes.names), np.repeat(gold, np.diff(attributes.offsets))
    offsets, labels, counts = _native.count_table(attributes.ids, of_tokens, n, k)
    sums, values = counts.astype(np.float64), attributes.values
    if values is not None and (least > 0 or (values < 0).any()):
        rows = np.repeat(np.arange(n), np.diff(offsets))
        places = np.searchsorted(rows * k + labels, attributes.ids.astype(np.int64) * k + of_tokens)
        sums = np.bincount(places, values, minlength=len(labels)).astype(np.float64)
    if all_labels and least <= 0:
        seen = np.diff(offsets) > 0
        complete = np.ones((n, k), bool)
        complete[~seen] = False
        complete[np.repeat(np.arange(n), np.diff(offsets)), labels] = sums >= least
        return offsets_of(complete.sum(axis=1)), np.nonzero(complete)[1].astype(np.int32)
    kept = sums >= least
    return offsets_of(kept)[offsets], labels[kept]


def _free_pairs(offsets: NDArray[np.int64], gold: Ids, k: int, least: float, *, all_pairs: bool) -> NDArray[np.uint8]:
    """Which label pairs have a weight: those seen at least ``least`` times, (K + 1) x (K + 1)."""
    inside = np.ones(len(gold), bool)
    inside[offsets[:-1][offsets[:-1] < len(gold)]] = False
    after = np.flatnonzero(inside)
    counts = np.bincount(gold[after - 1].astype(np.int64) * k + gold[after], minlength=k * k).reshape(k, k)
    free = np.zeros((k + 1, k + 1), np.uint8)
    free[:k, :k] = (counts >= least) & (all_pairs | (counts > 0))
    return free


def _without_zeros(attributes: Attributes) -> tuple[Csr, F32 | None]:
    """The attributes of tokens whose value is not zero, and their values; None if all are 1."""
    values, places, ids = attributes.values, attributes.offsets, attributes.ids
    if values is None:
        return (places, ids), None
    kept = values != 0
    if not kept.all():
        places, ids, values = offsets_of(kept)[places], ids[kept], values[kept]
    return (places, ids), None if (values == 1).all() else values


def _renamed(attributes: Attributes, names: StringTable) -> Attributes:
    """The attributes by their ids in another table, without those that it does not contain."""
    ids = names.find(attributes.names)[attributes.ids]
    known = ids >= 0
    values = None if attributes.values is None else attributes.values[known]
    return replace(
        attributes, offsets=offsets_of(known)[attributes.offsets], ids=ids[known], names=names, values=values
    )


# -- algorithms --------------------------------------------------------------------------------------------------------


@dataclass
class _Report:
    """Tells about iterations."""

    problem: _Problem
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
        norm = float(np.linalg.norm(weights.astype(np.float64, copy=False)))
        if "error_norm" in numbers:
            numbers["active_features"] = int(np.count_nonzero(weights))
        held_out = None if self.labels_of is None else self.labels_of(weights.astype(np.float32, copy=False))
        self.on_iteration(Iteration(self.number, loss, norm, seconds, held_out=held_out, **numbers))
        self.begun = time.perf_counter()


def _fit_lbfgs(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    def progress(step: Step) -> bool:
        search = {"linesearch_trials": step.trials, "linesearch_step": step.scale}
        report(step.value, step.weights, error_norm=step.gradient_norm, **search)
        return True

    found = lbfgs(
        lambda weights: problem.chains.objective(weights, 2.0 * p["c2"], problem.threads),
        np.zeros(problem.chains.size),
        c1=p["c1"],
        iterations=p["max_iterations"] or UNLIMITED,
        tolerance=p["delta"],
        period=p["period"],
        epsilon=p["epsilon"],
        memory=p["num_memories"],
        search=SEARCHES[p["linesearch"]],
        trials=p["max_linesearch"],
        progress=progress,
    )
    report.loss = found.value
    reasons = {"gradient": "convergence", "improvement": "criterion"}
    return found.weights.astype(np.float32), reasons.get(found.stopped, found.stopped)


#: One pass: its loss, the weights after it, and what else is told about it.
_Pass = Callable[[], tuple[float, F32, dict[str, Any]]]


def _fit_passes(
    problem: _Problem, one_pass: _Pass, passes: int, enough: Callable[[float], bool], report: _Report
) -> tuple[F32, str]:
    """Make passes until the loss of one is enough. Ctrl-C keeps the weights of the last complete pass."""
    weights = np.zeros(problem.chains.size, np.float32)
    try:
        while report.number < passes:
            loss, weights, numbers = one_pass()
            report(loss, weights, **numbers)
            if enough(loss):
                return weights, "criterion"
    except KeyboardInterrupt:
        if report.number == 0:
            raise
        return weights, "interrupted"
    return weights, "iterations"


def _fit_l2sgd(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    n, c2, period = len(problem.sentences), p["c2"], p["period"]
    visits = np.maximum(_native.occurrences(problem.features[1], len(problem.slots[0]) - 1), 1)
    decay = np.concatenate([[2.0 * c2 / n], 2.0 * c2 / visits]).astype(np.float32)

    def fresh(sentences: NDArray[np.int64], rate: float, averaging: bool) -> AdaGrad:
        threads = problem.threads
        return AdaGrad.of(problem.chains, decay, sentences, rate=rate, threads=threads, seed=seed, averaging=averaging)

    run = fresh(problem.sentences, _calibrated_rate(problem, p, seed, fresh), True)
    losses: list[float] = []

    def one_pass() -> tuple[float, F32, dict[str, Any]]:
        loss = run.pass_once() * n
        weights = run.weights
        loss += c2 * float(weights.astype(np.float64) @ weights)
        losses.append(loss)
        numbers = {"learning_rate": run.rate, "updates": run.passes * n}
        if len(losses) > period:
            numbers["improvement"] = (losses[-1 - period] - loss) / loss
        return loss, weights, numbers

    def enough(loss: float) -> bool:
        return len(losses) > period and bool(losses[-1 - period] - loss < p["delta"] * loss)

    return _fit_passes(problem, one_pass, p["max_iterations"], enough, report)


def _calibrated_rate(
    problem: _Problem, p: Mapping[str, Any], seed: int, fresh: Callable[[NDArray[np.int64], float, bool], AdaGrad]
) -> float:
    """The step size with the lowest loss in a pass over some sentences."""
    some = max(1, int(p["calibration.samples"]))
    sample = np.random.default_rng(seed).permutation(problem.sentences)[:some]
    initial = fresh(sample, 0.0, False).pass_once()
    best, tried, candidates = (np.inf, p["calibration.eta"]), 0, 0
    for factor, rate in ((p["calibration.rate"], p["calibration.eta"]), (1 / p["calibration.rate"], None)):
        rate = rate or p["calibration.eta"] * factor
        while tried < p["calibration.max_trials"] and candidates < p["calibration.candidates"]:
            loss = fresh(sample, rate, False).pass_once()
            useful, better = loss < initial, loss < best[0]
            tried, candidates = tried + 1, candidates + useful
            best = min(best, (loss, rate)) if np.isfinite(loss) else best
            if not better and (useful or factor > 1):
                break
            rate *= factor
    return float(best[1])


def _fit_perceptron(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    lengths = np.diff(problem.offsets).astype(np.float32)

    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.perceptron(state, order, time, step) / lengths[order]

    return _fit_mistakes(problem, p, steps, seed, report)


def _fit_passive_aggressive(problem: _Problem, p: Mapping[str, Any], seed: int, report: _Report) -> tuple[F32, str]:
    rule = p["type"], p["c"], p["error_sensitive"]

    def steps(state: F32, order: NDArray[np.int64], time: float, step: float) -> F32:
        return problem.chains.passive_aggressive(state, order, time, step, *rule)

    return _fit_mistakes(problem, p, steps, seed, report)


def _fit_mistakes(
    problem: _Problem, p: Mapping[str, Any], steps: CorrectMistakes, seed: int, report: _Report
) -> tuple[F32, str]:
    n = len(problem.sentences)
    run = AveragedPerceptron.of(steps, problem.sentences, np.zeros(problem.chains.size, np.float32), seed, skip=False)

    def one_pass() -> tuple[float, F32, dict[str, Any]]:
        loss = run.pass_once() * n
        return loss, run.weights if p.get("averaging", True) else run.state[::2].copy(), {}

    return _fit_passes(problem, one_pass, p["max_iterations"], lambda loss: loss < p["epsilon"] * n, report)


_FITS: dict[str, Callable[[_Problem, Mapping[str, Any], int, _Report], tuple[F32, str]]] = {
    "lbfgs": _fit_lbfgs,
    "l2sgd": _fit_l2sgd,
    "averaged-perceptron": _fit_perceptron,
    "passive-aggressive": _fit_passive_aggressive,
}
