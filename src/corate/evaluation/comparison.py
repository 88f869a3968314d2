"""Comparison of methods: each is trained on one corpus and evaluated on another, with its times and scores.

Without a corpus to evaluate on, the corpus is divided into folds (cross-validation). :func:`differences` tests whether
the methods differ by more than chance.
"""

from __future__ import annotations

import inspect
import itertools
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_threads, check_whole
from corate.corpus import Corpus
from corate.display import counted, percent, size
from corate.errors import ConfigError, DataError
from corate.evaluation.report import Report, compare_labels
from corate.evaluation.significance import Difference, paired_test, sentence_counts
from corate.features import FeatureSource
from corate.model.tagger import Tagger
from corate.pages.tables import Table, tables_html
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.training.methods import METHODS, Method, resolve_method
from corate.training.train import train, train_completely

__all__ = [
    *("HEADER", "ORDER", "Comparison", "MethodDifference", "Row", "Run", "compare", "difference_table", "differences"),
    "in_order",
]

#: Arguments of ``train`` that are not options of a method.
_ARGUMENTS = frozenset(inspect.signature(train).parameters) - {"options"}
#: Those that ``compare`` sets for all methods.
_COMMON = frozenset({"corpus", "method", "features", "held_out", "threads", "seed", "progress"})
#: Usually from the fastest to the slowest.
ORDER = tuple(sorted(METHODS, key=lambda name: METHODS[name].rank))
#: The header of `Row.cells`.
HEADER = ("method", "accuracy", "known", "OOV", "F1", "training", "ratio", "size")


@dataclass(frozen=True)
class Run:
    """One training run, and its evaluation.

    Attributes:
        seed: the random seed of training.
        seconds: the training time in seconds, from a corpus in memory to a tagger.
        bytes: the size of the model file.
        tokens_per_second: the speed of tagging the test corpus.
        report: the report on the test corpus, or on the part that was held out.
        fold: the number of that part in cross-validation, from 0; None with a test corpus.
        counts: for ``"accuracy"`` and, if the labels mark spans, for ``"f1"``: an array of shape (sentences, 2) with
            the numerator and the denominator of the score for each test sentence.
    """

    seed: int
    seconds: float
    bytes: int
    tokens_per_second: float
    report: Report
    fold: int | None = None
    counts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Row:
    """The results of one method.

    Attributes:
        method: the name of the method.
        features: the templates of its features.
        runs: a :class:`Run` for each seed and fold.
    """

    method: str
    features: tuple[str, ...]
    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        """Mean training time in seconds, from a corpus in memory to a tagger."""
        return fmean(run.seconds for run in self.runs)

    @property
    def bytes(self) -> int:
        """Mean size of the model file in bytes."""
        return round(fmean(run.bytes for run in self.runs))

    @property
    def tokens_per_second(self) -> float:
        """Mean speed of tagging the test corpus."""
        return fmean(run.tokens_per_second for run in self.runs)

    def mean(self, score: str) -> float | None:
        """The mean of a score over the runs, as a fraction; None if a report does not have the score.

        ``score`` is the name of an attribute of :class:`corate.Report`, such as ``"accuracy"`` or ``"f1"``.
        """
        values = [getattr(run.report, score) for run in self.runs]
        return None if any(value is None for value in values) else fmean(values)

    def spread(self, score: str) -> float | None:
        """The standard deviation of a score over the runs; None if there is one run, or if :meth:`mean` is None."""
        values = [getattr(run.report, score) for run in self.runs]
        return None if len(values) < 2 or any(value is None for value in values) else stdev(values)

    def sentence_counts(self, score: str) -> NDArray[np.float64] | None:
        """The ``counts`` of the runs for a score, summed over the seeds: an array of shape (sentences, 2).

        With folds, the sentences are in the order of the folds. None if a run does not have the score.
        """
        if any(score not in run.counts for run in self.runs):
            return None
        folds = sorted({run.fold or 0 for run in self.runs})
        summed = (sum(run.counts[score] for run in self.runs if (run.fold or 0) == fold) for fold in folds)
        return np.concatenate([np.asarray(counts) for counts in summed])

    def cells(self, fastest: float) -> list[str]:
        """The row of a table with `HEADER`; ``fastest`` is the least training time of all methods, in seconds.

        With several seeds, the standard deviation stands beside the accuracy and F1.
        """
        several = len({run.seed for run in self.runs}) > 1
        scores = ("accuracy", "accuracy_known", "accuracy_oov", "f1")
        spreads = [self.spread(name) if several and name in ("accuracy", "f1") else None for name in scores]
        return [
            self.method,
            *(
                percent(self.mean(name)) + ("" if spread is None else f" ±{100 * spread:.2f}")
                for name, spread in zip(scores, spreads, strict=True)
            ),
            f"{self.seconds:.2f} s",
            f"{self.seconds / max(fastest, 1e-9):.1f}x",
            size(self.bytes),
        ]

    def _repr_html_(self) -> str:
        return Comparison([self])._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """All values as a dict that can be written as JSON."""
        scores = ("accuracy", "accuracy_known", "accuracy_oov", "precision", "recall", "f1")
        return {
            "method": self.method,
            **{name: self.mean(name) for name in scores},
            "spread": {name: self.spread(name) for name in ("accuracy", "f1")},
            "seconds": self.seconds,
            "tokens_per_second": self.tokens_per_second,
            "bytes": self.bytes,
            "features": list(self.features),
            "runs": [
                {
                    "seed": r.seed,
                    **({} if r.fold is None else {"fold": r.fold}),
                    "seconds": r.seconds,
                    "accuracy": r.report.accuracy,
                    "f1": r.report.f1,
                }
                for r in self.runs
            ],
        }


def in_order(methods: Sequence[str]) -> list[str]:
    """Methods without repetitions, the fast ones first.

    >>> in_order(["standard", "polish", "polish", "empirical"])
    ['empirical', 'polish', 'standard']
    >>> in_order(["magic"])
    Traceback (most recent call last):
    corate.errors.ConfigError: unknown method 'magic'; there are polish, empirical, ...
    """
    _check_methods(methods, "methods")
    if not methods:
        raise ConfigError(f"no method to compare; there are {', '.join(METHODS)}", option="methods")
    return sorted(set(methods), key=ORDER.index)


def compare(
    corpus: Corpus,
    test: Corpus | None = None,
    methods: Sequence[str] = tuple(METHODS),
    *,
    folds: int | None = None,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    seeds: int = 1,
    threads: int = 1,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: OnProgress = ignore_progress,
) -> Iterator[Row]:
    """Train methods on one corpus and evaluate them on another. Yields a :class:`Row` for each method, fast ones first.

    Give either ``test`` or ``folds``.

    Args:
        corpus: the sentences to train on.
        test: the sentences to evaluate on.
        methods: the names of the methods. By default, all methods.
        folds: the number of parts for cross-validation, at least 2. The sentences are divided at random. Each part is
            the test corpus once, and the other parts are trained on. The parts are the same for all methods and seeds.
        features: the features of all methods, as in :func:`corate.train`. By default, those of each method.
        held_out: sentences for tuning and early stopping, as in :func:`corate.train`.
        seeds: how often each method is trained: with the seeds 0, 1 and so on.
        threads: the number of threads for training and tagging.
        options: further arguments of :func:`corate.train`: a mapping from methods to arguments, such as
            ``{"standard": {"c2": 0.1}}``. Those of methods that are not compared are not used.
        progress: a function that is called with a :class:`corate.ProgressEvent` during training.

    Raises ConfigError for an unknown method or option, and DataError for a corpus without labels, or if there is
    neither ``test`` nor ``folds``, or both. Training starts when the first row is requested. After Ctrl-C, the method
    that was interrupted yields a row of its finished runs, and then KeyboardInterrupt is raised.

    >>> from corate import Corpus
    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    >>> [(row.method, row.mean("accuracy")) for row in compare(corpus, corpus, ["standard", "empirical"])]
    [('empirical', 1.0), ('standard', 1.0)]
    """
    if (test is None) == (folds is None):
        raise DataError("give either test data or a number of folds to compare on")
    for labelled in (corpus, held_out, test):
        if labelled is not None:
            labelled.require_labels()
    if test is not None and not test.n_tokens:
        raise DataError("the test data has no tokens; give some to compare on")
    splits = [(None, corpus, test)] if test is not None else _folds(corpus, folds)
    threads, seeds = check_threads(threads), check_whole("seeds", seeds, 1)
    further = options or {}
    _check_methods(further, "options")
    chosen = [_resolved(method, further.get(method, {})) for method in in_order(methods)]
    return _rows(chosen, splits, features, held_out, seeds, threads, progress)


def _check_methods(names: Iterable[str], option: str) -> None:
    for name in names:
        if name not in METHODS:
            raise ConfigError(f"unknown method {name!r}; there are {', '.join(METHODS)}", option=option)


def _resolved(method: str, given: Mapping[str, Any]) -> tuple[Method, dict[str, Any]]:
    """A method with its options, and the other arguments of ``train``."""
    if name := next((name for name in given if name in _COMMON), None):
        raise ConfigError(f"{name} cannot be an option of a single method; it is the same for all", option="options")
    arguments = {name: value for name, value in given.items() if name in _ARGUMENTS}
    return resolve_method(method, {name: value for name, value in given.items() if name not in arguments}), arguments


def _rows(
    methods: Sequence[tuple[Method, Mapping[str, Any]]],
    splits: Sequence[tuple[int | None, Corpus, Corpus]],
    features: FeatureSource,
    held_out: Corpus | None,
    seeds: int,
    threads: int,
    progress: OnProgress,
) -> Iterator[Row]:
    """Train and evaluate each method on each split with each seed."""
    for method, arguments in methods:
        runs: list[Run] = []
        stopped: KeyboardInterrupt | None = None
        templates: tuple[str, ...] = ()
        try:
            for seed, (fold, trained, tested) in itertools.product(range(seeds), splits):

                def report(event: ProgressEvent, method: str = method.name, seed: int = seed) -> None:
                    progress(replace(event, method=method, seed=seed if seeds > 1 else None))

                tagger = train_completely(
                    trained,
                    method,
                    features=features,
                    held_out=held_out,
                    threads=threads,
                    seed=seed,
                    progress=report,
                    **arguments,
                )
                report(ProgressEvent("testing"))
                templates = tuple(tagger.features)
                runs.append(replace(_evaluate(tagger, tested, threads, seed), fold=fold))
        except KeyboardInterrupt as interrupt:
            stopped = interrupt
        if runs:
            yield Row(method.name, templates, tuple(runs))
        if stopped is not None:
            raise stopped


@dataclass(frozen=True)
class MethodDifference:
    """How much the score of a method differs from that of the best method, and whether by more than chance.

    Attributes:
        method: the name of the method.
        best: the name of the best method.
        score: ``"accuracy"`` or ``"f1"``.
        result: a :class:`corate.evaluation.significance.Difference`: the score of the method minus that of the best one
            (``difference``), the 95% interval (``low``, ``high``), the ``p_value``, and the number of test
            ``sentences``. Scores are fractions.
    """

    method: str
    best: str
    score: str
    result: Difference

    def to_dict(self) -> dict[str, Any]:
        """All values as a dict that can be written as JSON."""
        return {"method": self.method, "best": self.best, "score": self.score, **self.result.to_dict()}


def differences(
    rows: Sequence[Row], score: str | None = None, *, samples: int = 10_000, seed: int = 0
) -> list[MethodDifference]:
    """Compare each method with the best one: the difference of their scores, its 95% interval and a p-value.

    The interval is that of a bootstrap over the test sentences. The p-value is that of a two-sided paired permutation
    test: small if the difference is more than chance. Methods with other seeds or folds than the best one, because the
    comparison was interrupted, are left out.

    Args:
        rows: the rows of :func:`compare`.
        score: ``"f1"`` or ``"accuracy"``. By default, ``"f1"`` if the labels mark spans, else ``"accuracy"``.
        samples: the number of random permutations, and of bootstrap samples.
        seed: the random seed.

    >>> from corate import Corpus
    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    >>> rows = list(compare(corpus, methods=["standard", "empirical"], folds=5))
    >>> [(d.method, d.result.difference, d.result.p_value) for d in differences(rows)]
    [('standard', 0.0, 1.0)]
    """
    if score is None:
        score = "f1" if rows and all(row.sentence_counts("f1") is not None for row in rows) else "accuracy"
    if score not in ("accuracy", "f1"):
        raise DataError(f"the score must be 'accuracy' or 'f1', not {score!r}")
    counts = {row.method: row.sentence_counts(score) for row in rows}
    runs = {row.method: [(run.seed, run.fold) for run in row.runs] for row in rows}
    totals = {method: _ratio(found) for method, found in counts.items() if found is not None}
    if not totals:
        return []
    complete = max(len(runs[method]) for method in totals)
    best = max((method for method in totals if len(runs[method]) == complete), key=lambda method: totals[method])
    return [
        MethodDifference(method, best, score, paired_test(found, reference, samples=samples, seed=seed))
        for method, found in counts.items()
        if method != best
        and found is not None
        and runs[method] == runs[best]
        and (reference := counts[best]) is not None
    ]


class Comparison(list[Row]):
    """A list of rows. A notebook shows it as a table, with the differences between the methods.

    >>> from corate import Corpus
    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    >>> found = Comparison(compare(corpus, corpus, ["standard", "empirical"]))
    >>> [row.method for row in found], "<td" in found._repr_html_()
    (['empirical', 'standard'], True)
    """

    def _repr_html_(self) -> str:
        fastest = min((row.seconds for row in self), default=0.0)
        tables = [Table([row.cells(fastest) for row in self], HEADER)]
        if found := differences(self):
            tables.append(difference_table(found))
        return tables_html(tables)


def difference_table(compared: Sequence[MethodDifference]) -> Table:
    """How each method differs from the best one, in percentage points."""
    score, sentences = {"f1": "F1"}.get(compared[0].score, compared[0].score), compared[0].result.sentences
    title = f"{score} compared with {compared[0].best}, over {counted(sentences, 'sentence')}:"
    rows = []
    for one in compared:
        found = one.result
        interval = f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"
        rows.append([one.method, f"{100 * found.difference:+.2f}", interval, f"{found.p_value:.4f}"])
    return Table(rows, ("method", "difference", "95% interval", "p-value"), title)


def _ratio(counts: NDArray[np.float64]) -> float:
    numerator, denominator = counts.sum(axis=0).tolist()
    return float(numerator / denominator) if denominator else 0.0


def _folds(corpus: Corpus, folds: int | None) -> list[tuple[int | None, Corpus, Corpus]]:
    """The number of each fold, the sentences to train on and those to test on. A test part has at least one token."""
    count = check_whole("folds", folds, 2)
    corpus.require_labels()
    filled = np.flatnonzero(np.diff(corpus.offsets))
    if count > len(filled):
        raise DataError(
            f"{counted(len(filled), 'sentence')} cannot be divided into {count} folds; take fewer folds, or more text"
        )
    parts = np.array_split(np.random.default_rng(0).permutation(filled), count)
    return [
        (number, corpus.take(np.setdiff1d(filled, part)), corpus.take(np.sort(part)))
        for number, part in enumerate(parts)
    ]


def _evaluate(tagger: Tagger, test: Corpus, threads: int, seed: int) -> Run:
    started = time.perf_counter()
    predicted = tagger.tag_corpus(test, threads=threads)
    seconds = max(time.perf_counter() - started, 1e-9)
    known = tagger.words if len(tagger.words) else None
    with tempfile.TemporaryDirectory() as folder:
        n_bytes = tagger.save(os.path.join(folder, "model"))
    report = compare_labels(test, predicted, known)
    speed = test.n_tokens / seconds
    counts = sentence_counts(test, predicted)
    return Run(seed, float(tagger.record["seconds"]), n_bytes, speed, report, counts=counts)
