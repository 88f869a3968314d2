"""Separate training (SP2 of the paper, section "Exponential Functions"): each factor is a maximum entropy model of its own.

    P(y | x) = softmax(base + W f)                                 one convex problem over the nodes
    P(y, y' | x) proportional to P(y | x) P(y' | x) exp T(y, y')   another over the pairs, given the nodes

so that the labelling with the best product of co-occurrence rates and node probabilities maximises
sum W f + base + sum T. The nodes that the pairs are fitted on have not seen the sentence they are asked about: two
halves of the corpus judge each other. Those honest nodes also say how many passes to make and how far to trust T.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.counts import Counts, PairCounts, Table, Tokens
from corate.features.templates import Template
from corate.model import ChainModel, EdgeScores, SparseRows
from corate.training.build import FEW_LABELS, FLOOR, ladder_model
from corate.training.empirical import Empirical
from corate.training.folds import take
from corate.training.ladder import DEFAULT, PAPER, LadderParameters, LadderTables
from corate.training.optimize import AdaGrad
from corate.training.pooling import Candidates, Features, fit_edges

__all__ = ["Separate"]

Ids = NDArray[np.int32]
F32 = NDArray[np.float32]


@dataclass(frozen=True)
class SeparateParameters:
    """What separate training can be tuned by."""

    sigma2: float = 10.0  # variance of the Gaussian prior of the weights
    rate: float = 0.25  # first step of AdaGrad
    passes: int = 4  # at most
    temper: float = 0.4  # weight of the empirical scores that the nodes start from
    cutoff: int = 1  # features seen less often are left out
    edge_k: float = 0.5
    edge_rounds: int = 4


class Separate:
    """Node factors, then pair factors given them, on one counted corpus."""

    def __init__(
        self,
        corpus: Corpus,
        templates: Sequence[Template],
        *,
        base: str = "default",
        parameters: SeparateParameters = SeparateParameters(),  # noqa: B008
        held_out: Corpus | None = None,
        seed: int = 0,
        threads: int = 1,
        all_labels: bool = False,
        progress: Callable[[str, float], None] = lambda stage, done: None,
    ) -> None:
        self.p, self.base, self.seed, self.threads, self.progress = parameters, base, seed, threads, progress
        self.preset = DEFAULT if base == "default" else PAPER
        self.counted = Empirical(
            corpus, templates, ladder="pooled" if base == "default" else "paper-pooled", held_out=held_out, seed=seed, all_labels=all_labels, progress=progress
        )
        self.counts, self.tokens = self.counted.counts, self.counted.tokens
        self.n_labels = self.counted.n_labels
        self.few = self.n_labels <= FEW_LABELS and base == "default"
        self.ladder_p, _ = self.counted.tune(self.preset)
        if base == "default":
            self.ladder_p = replace(self.ladder_p, threshold=1e-6 if self.few else 1e-4, cap=FEW_LABELS if self.few else 12)
        self.slots = _with_bias(self.counts.table, self.n_labels)

    # -- problems ------------------------------------------------------------------------------------------------

    def candidates(self, tokens: Tokens, tables: LadderTables, left_out: Ids | None) -> Candidates:
        parts = tables.parts(self.ladder_p, tokens, left_out)
        temper = 0.0 if self.base == "none" else self.p.temper
        found = Candidates(parts.offsets, parts.labels, np.float32(temper) * parts.scores(self.ladder_p))
        if self.few:
            return found.spread(self.n_labels, temper * FLOOR)
        return found if left_out is None else _with_gold(found, left_out, temper * FLOOR)

    def problem(self, tokens: Tokens, candidates: Candidates) -> _native.Nodes:
        features = Features.of(tokens, self.counts.vocabulary.bases)
        kept = self.kept[features.ids]
        offsets, ids = features.arrays()
        if not kept.all():
            owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[kept]
            ids = ids[kept]
            offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(offsets) - 1))]).astype(np.int64)
        n = len(tokens.labels)
        offsets, ids = _add_bias(offsets, ids, len(self.slots) - 1)
        gold = candidates.find(tokens.labels) - candidates.offsets[:-1]
        counted = (np.arange(n + 1, dtype=np.int64), np.maximum(gold, 0).astype(np.int32), np.ones(n, np.float32))
        return _native.Nodes((self.slots.offsets, self.slots.labels), self.n_labels, (offsets, ids), None, candidates.arrays(), candidates.ladder, counted)

    @property
    def kept(self) -> NDArray[np.bool_]:
        return self.counts.table.totals() >= self.p.cutoff
