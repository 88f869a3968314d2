"""Comparison of methods: each is trained on one corpus and evaluated on another, with its times and scores.

Without a corpus to evaluate on, the corpus is divided into folds (cross-validation). :func:`differences` tests whether
the methods differ by more than chance.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_threads, check_whole
from corate.corpus import Corpus
from corate.display import counted, percent
from corate.errors import DataError
from corate.evaluation.report import Report, compare_labels
from corate.evaluation.significance import Difference, paired_test, sentence_counts
from corate.features import FeatureSource
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.training.api import train
from corate.training.options import METHODS

__all__ = ["ORDER", "Comparison", "MethodDifference", "Row", "Run", "compare", "differences", "in_order"]

#: Usually from the fastest to the slowest.
ORDER = ("empirical", "perceptron", "polish", "separate", "standard", "piecewise", "memm")


@dataclass(frozen=True)
class Run:
    """One training run: its time, the size of the model file, and the report on the test corpus or fold.

    ``counts`` has the counts of each test sentence for ``"accuracy"`` and, if labels are spans, ``"f1"``.
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
    """A method and its runs, one for each seed and fold. Scores are means, None if there is nothing to measure."""

    method: str
    features: tuple[str, ...]
    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        """Mean training time, from a corpus in memory to a tagger."""
        return fmean(run.seconds for run in self.runs)

    @property
    def bytes(self) -> int:
        """Mean size of the model file."""
        return round(fmean(run.bytes for run in self.runs))

    @property
    def tokens_per_second(self) -> float:
        """Mean speed of tagging the test corpus."""
        return fmean(run.tokens_per_second for run in self.runs)

    def mean(self, score: str) -> float | None:
        """The mean of a score of the reports, such as ``"accuracy"`` or ``"f1"``."""
        values = [getattr(run.report, score) for run in self.runs]
        return None if any(value is None for value in values) else fmean(values)

    def spread(self, score: str) -> float | None:
        """The standard deviation of a score over the runs, None with one run."""
        values = [getattr(run.report, score) for run in self.runs]
        return None if len(values) < 2 or any(value is None for value in values) else stdev(values)

    def sentence_counts(self, score: str) -> NDArray[np.float64] | None:
        """The counts of all test sentences for a score, summed over the seeds; None if a run does not have it."""
        if any(score not in run.counts for run in self.runs):
            return None
        folds = sorted({run.fold or 0 for run in self.runs})
        summed = (sum(run.counts[score] for run in self.runs if (run.fold or 0) == fold) for fold in folds)
        return np.concatenate([np.asarray(counts) for counts in summed])

    def _repr_html_(self) -> str:
        return Comparison([self])._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
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
    corate.errors.DataError: unknown method 'magic'; there are polish, empirical, ...
    """
    for method in methods:
        if method not in METHODS:
            raise DataError(f"unknown method {method!r}; there are {', '.join(METHODS)}")
    if not methods:
        raise DataError(f"no method to compare; there are {', '.join(METHODS)}")
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
    """Train methods on a corpus and evaluate them on another. Yields a row for each method, the fast ones first.

    With ``folds`` instead of ``test``, the sentences are divided at random into this many parts. Each part is the test
    corpus once, and the others are trained on. The parts are the same for all methods and seeds.

    ``features`` are for all methods; without any, each method has its default features. ``options`` are further
    arguments of :func:`corate.train` by method. Each method is trained once for each of the ``seeds`` 0, 1, ...
    Ctrl-C raises KeyboardInterrupt, after a row of the seeds that are finished.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    >>> [(row.method, row.mean("accuracy")) for row in compare(corpus, corpus, ["standard", "empirical"])]
    [('empirical', 1.0), ('standard', 1.0)]
    """
    if (test is None) == (folds is None):
        raise DataError("give either test data or a number of folds to compare on")
    if test is not None:
        test.require_labels()
        if not test.n_tokens:
            raise DataError("the test data has no tokens; give some to compare on")
    splits = [(None, corpus, test)] if test is not None else _folds(corpus, folds)
    threads, seeds = check_threads(threads), check_whole("seeds", seeds, 1)
    chosen = in_order(methods)
    further = options or {}
    for method in chosen:
        runs: list[Run] = []
        stopped: KeyboardInterrupt | None = None
        templates: tuple[str, ...] = ()
        try:
            for seed, (fold, trained, tested) in itertools.product(range(seeds), splits):

                def report(event: ProgressEvent, method: str = method, seed: int = seed) -> None:
                    progress(replace(event, method=method, seed=seed if seeds > 1 else None))

                tagger = train(
                    trained,
                    method,
                    features=features,
                    held_out=held_out,
                    threads=threads,
                    seed=seed,
                    progress=report,
                    **further.get(method, {}),
                )
                if tagger.record.get("interrupted"):
                    raise KeyboardInterrupt
                report(ProgressEvent("testing"))
                templates = tuple(tagger.features)
                runs.append(replace(_evaluate(tagger, tested, threads, seed), fold=fold))
        except KeyboardInterrupt as interrupt:
            stopped = interrupt
        if runs:
            yield Row(method, templates, tuple(runs))
        if stopped is not None:
            raise stopped


@dataclass(frozen=True)
class MethodDifference:
    """How much the score of a method differs from that of the best method, and whether by more than chance."""

    method: str
    best: str
    score: str
    result: Difference

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return {"method": self.method, "best": self.best, "score": self.score, **self.result.to_dict()}


def differences(
    rows: Sequence[Row], score: str | None = None, *, samples: int = 10_000, seed: int = 0
) -> list[MethodDifference]:
    """Compare each method with the best one: the difference, its interval and a p-value, over the test sentences.

    ``score`` is ``"f1"`` or ``"accuracy"``; by default ``"f1"`` if the labels are spans. Methods whose runs are not
    those of the best (because the comparison was interrupted) are left out. See :mod:`corate.evaluation.significance`.

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
    """Rows that a notebook shows as a table, with the differences between the methods.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    >>> found = Comparison(compare(corpus, corpus, ["standard", "empirical"]))
    >>> [row.method for row in found], "<td" in found._repr_html_()
    (['empirical', 'standard'], True)
    """

    def _repr_html_(self) -> str:
        from corate.pages.page import fragment

        scores = {"accuracy": "accuracy", "known": "accuracy_known", "OOV": "accuracy_oov", "F1": "f1"}
        rows = [
            [row.method, *(percent(row.mean(name)) for name in scores.values()), f"{row.seconds:.2f} s"] for row in self
        ]
        tables: list[tuple[list[str], list[list[str]]]] = [(["method", *scores, "training"], rows)]
        if found := differences(self):
            what = {"f1": "F1"}.get(found[0].score, found[0].score)
            header = [f"{what} compared with {found[0].best}", "difference", "95% interval", "p-value"]
            tables.append((header, [_difference_row(one) for one in found]))
        return fragment("tables.html", title="", tables=tables)


def _difference_row(found: MethodDifference) -> list[str]:
    result = found.result
    interval = f"{100 * result.low:+.2f} to {100 * result.high:+.2f}"
    return [found.method, f"{100 * result.difference:+.2f}", interval, f"{result.p_value:.4f}"]


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
