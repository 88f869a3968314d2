"""Comparison of methods: each is trained on one corpus and evaluated on another, with its times and scores."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

from corate.arguments import check_threads, check_whole
from corate.corpus import Corpus
from corate.errors import DataError
from corate.evaluation.report import Report, compare_labels
from corate.features import FeatureSource
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.training.api import train
from corate.training.options import METHODS

__all__ = ["ORDER", "Row", "Run", "compare", "in_order"]

#: Usually from the fastest to the slowest.
ORDER = ("empirical", "perceptron", "polish", "separate", "standard", "piecewise", "memm")


@dataclass(frozen=True)
class Run:
    """One training run: its time, the size of the model file, and the report on the test corpus."""

    seed: int
    seconds: float
    bytes: int
    tokens_per_second: float
    report: Report


@dataclass(frozen=True)
class Row:
    """A method and its runs, one for each seed. Scores are means, None if there is nothing to measure."""

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
        """The standard deviation of a score over the seeds, None with one seed."""
        values = [getattr(run.report, score) for run in self.runs]
        return None if len(values) < 2 or any(value is None for value in values) else stdev(values)

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
                {"seed": r.seed, "seconds": r.seconds, "accuracy": r.report.accuracy, "f1": r.report.f1}
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
    test: Corpus,
    methods: Sequence[str] = tuple(METHODS),
    *,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    seeds: int = 1,
    threads: int = 1,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: OnProgress = ignore_progress,
) -> Iterator[Row]:
    """Train methods on a corpus and evaluate them on another. Yields a row for each method, the fast ones first.

    ``features`` are for all methods; without any, each method has its default features. ``options`` are further
    arguments of :func:`corate.train` by method. Each method is trained once for each of the ``seeds`` 0, 1, ...
    Ctrl-C raises KeyboardInterrupt, after a row of the seeds that are finished.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]] * 5)
    >>> [(row.method, row.mean("accuracy")) for row in compare(corpus, corpus, ["standard", "empirical"])]
    [('empirical', 1.0), ('standard', 1.0)]
    """
    test.require_labels()
    if not test.n_tokens:
        raise DataError("the test data has no tokens; give some to compare on")
    threads, seeds = check_threads(threads), check_whole("seeds", seeds, 1)
    chosen = in_order(methods)
    further = options or {}
    for method in chosen:
        runs: list[Run] = []
        stopped: KeyboardInterrupt | None = None
        templates: tuple[str, ...] = ()
        try:
            for seed in range(seeds):

                def report(event: ProgressEvent, method: str = method, seed: int = seed) -> None:
                    progress(replace(event, method=method, seed=seed if seeds > 1 else None))

                tagger = train(
                    corpus,
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
                runs.append(_evaluate(tagger, test, threads, seed))
        except KeyboardInterrupt as interrupt:
            stopped = interrupt
        if runs:
            yield Row(method, templates, tuple(runs))
        if stopped is not None:
            raise stopped


def _evaluate(tagger: Tagger, test: Corpus, threads: int, seed: int) -> Run:
    started = time.perf_counter()
    predicted = tagger.tag_corpus(test, threads=threads)
    seconds = max(time.perf_counter() - started, 1e-9)
    known = tagger.words if len(tagger.words) else None
    with tempfile.TemporaryDirectory() as folder:
        n_bytes = tagger.save(os.path.join(folder, "model"))
    report = compare_labels(test, predicted, known)
    return Run(seed, float(tagger.record["seconds"]), n_bytes, test.n_tokens / seconds, report)
