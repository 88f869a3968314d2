"""Tuning of a back-off on held-out tokens.

Settings are chosen by accuracy, except for ``lower_k``. It matters for few tokens, those of unseen words whose
lower-case form was seen, and is chosen by the log-probability of the labels of unseen words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.counting.backoff import PAPER, BackoffParameters, BackoffPreset, BackoffTables, NodeParts
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.counts import PairCounts, Tokens
from corate.counting.pooling import Candidates
from corate.counting.rates import edge_scores
from corate.optimize.tuning import coordinate_search
from corate.progress import OnProgress, ProgressEvent
from corate.types import Ids

__all__ = ["TunedBackoff", "measure_candidates", "tune_backoff"]

#: The settings that are tuned, and the factor that each is multiplied and divided by.
_BACKOFF_STEPS = {
    "edge": 1.2,
    "context": 1.4,
    "neighbour": 1.3,
    "oov": 1.2,
    "word_k": 2.0,
    "rung_k": 2.0,
}
#: The values of lower_k that are tried, from the first on, while the next is better.
_LOWER_K = [0.25 * 2.0**i for i in range(8)]
_PAPER_STEPS = {"oov": 1.25, "edge": 1.2}


@dataclass(frozen=True)
class TunedBackoff:
    """The chosen settings; accuracy and mean -log P(correct label) on the held-out tokens, None without any."""

    parameters: BackoffParameters
    accuracy: float | None
    log_loss: float | None


def tune_backoff(
    counted: CountedCorpus,
    preset: BackoffPreset,
    settings: Mapping[str, Any],
    progress: OnProgress,
) -> TunedBackoff:
    """Tune a back-off on the held-out tokens. The given ``settings`` are not changed."""
    start = replace(BackoffParameters.of(preset), **settings)
    folds = [(h.tokens, counted.held_out_tables(preset, h)) for h in counted.held_out]
    if not folds:
        return TunedBackoff(start, None, None)
    usual = _PAPER_STEPS if preset is PAPER else _BACKOFF_STEPS
    steps = {name: step for name, step in usual.items() if name not in settings}
    trial = _Trial(folds, counted.counts.pairs, counted.n_labels)
    stage = f"tuning the {preset.name} back-off"
    parameters, _ = coordinate_search(trial, start, steps, lambda done: progress(ProgressEvent(stage, done)))
    if preset is not PAPER and "lower_k" not in settings:
        parameters = trial.best_lower(parameters)
    return TunedBackoff(parameters, *trial.measure(parameters))


class _Trial:
    """Finds the held-out tokens that a back-off labels correctly. Reuses score parts if only weights change."""

    def __init__(self, folds: list[tuple[Tokens, BackoffTables]], pairs: PairCounts, n_labels: int) -> None:
        self.folds, self.pairs, self.n_labels = folds, pairs, n_labels
        self._key: tuple[float, ...] | None = None
        self._parts: list[NodeParts] = []

    def parts(self, p: BackoffParameters) -> list[NodeParts]:
        key = (p.word_k, p.lower_k, p.rung_k, p.pair_k, p.class_k, p.rare, p.threshold, p.cap)
        if key != self._key:
            self._key, self._parts = key, [tables.parts(p, tokens) for tokens, tables in self.folds]
        return self._parts

    def __call__(self, p: BackoffParameters) -> NDArray[np.bool_]:
        edges = edge_scores(self.pairs, self.n_labels, p.edge_k, p.edge).native()
        correct = []
        for (tokens, _), parts in zip(self.folds, self.parts(p), strict=True):
            best, _ = _native.viterbi(tokens.offsets, parts.offsets, parts.labels, parts.scores(p), edges)
            correct.append(best == tokens.labels)
        return np.concatenate(correct)

    def measured(self, p: BackoffParameters) -> list[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
        """Which tokens of each fold are correct, and -log P(correct label) of each."""
        edges = edge_scores(self.pairs, self.n_labels, p.edge_k, p.edge).native()
        return [
            measure_candidates(tokens, parts.offsets, parts.labels, parts.scores(p), edges)
            for (tokens, _), parts in zip(self.folds, self.parts(p), strict=True)
        ]

    def best_lower(self, p: BackoffParameters) -> BackoffParameters:
        """The parameters with the best weight of lower-case forms."""
        best, least = p, np.inf
        for lower_k in _LOWER_K:
            tried = replace(p, lower_k=lower_k)
            loss = self._loss_of_unseen(tried)
            if loss >= least:
                break
            best, least = tried, loss
        return best

    def _loss_of_unseen(self, p: BackoffParameters) -> float:
        """The sum of -log P(correct label) over the unseen words."""
        folds = zip(self.measured(p), self.parts(p), strict=True)
        return sum(float(loss[~parts.known].sum()) for (_, loss), parts in folds)

    def measure(self, p: BackoffParameters) -> tuple[float, float]:
        """Accuracy, and the mean negative log-probability of the correct label."""
        correct, losses = (np.concatenate(of_folds) for of_folds in zip(*self.measured(p), strict=True))
        return float(correct.mean()), float(losses.mean())


def measure_candidates(
    tokens: Tokens, offsets: NDArray[np.int64], labels: Ids, scores: NDArray[np.float32], edges: _native.Edges
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which tokens are correct, and -log P(correct label) of each, with P at least 1e-5."""
    best, _ = _native.viterbi(tokens.offsets, offsets, labels, scores, edges)
    _, marginals, _ = _native.forward_backward(tokens.offsets, offsets, labels, scores, edges)
    gold = Candidates(offsets, labels, scores).find(tokens.labels)
    p = np.where(gold >= 0, marginals[gold], 0.0)
    return best == tokens.labels, -portable_math.log(np.maximum(p, 1e-5))
