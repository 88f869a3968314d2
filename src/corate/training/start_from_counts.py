"""Initial weights from counts, with base scores from a back-off or from pooled features, or none.

A training token is left out of its own counts, so that its base scores are those of a new token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corate.counting.backoff import DEFAULT, FLOOR, PAPER, BackoffParameters, BackoffPreset, BackoffTables
from corate.counting.backoff_tuning import tune_backoff
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.counts import Tokens
from corate.counting.pooling import (
    Candidates,
    Features,
    PooledExperts,
    countable_features,
    experts,
    fit_weights,
    label_prior,
    unrecovered_labels,
    with_evidence,
)
from corate.counting.rates import edge_scores
from corate.features.templates import Template
from corate.label_pairs import ChainWeights, EdgeScores
from corate.label_parts import LabelParts
from corate.model.chain import ChainModel
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows
from corate.training.defaults import choose_start
from corate.training.empirical_model import backoff_model
from corate.training.lattice_costs import SUPPORT, LatticeCosts
from corate.training.options import FittedMethod
from corate.training.prepared import TrainingData
from corate.training.start import HeldOutSet, InitialScores, RunContext, with_bias
from corate.types import F32, Ids

__all__ = ["InitialScoresFromCounts", "preset_of"]

#: The parameters that limit the candidate labels of a token, by base. With the paper's back-off, rare words may also
#: have labels that are likely for their spelling. Without a base, candidates are the labels seen, as in the paper.
SUPPORTS: dict[str, dict[str, float]] = {
    "default": SUPPORT,
    "pooled": SUPPORT,
    "paper": {"threshold": 1e-3, "cap": 12, "word_k": 0.2},
    "none": {},
}
#: With weights of parts, words have at least this many candidates: parts tell apart labels that are rarely seen.
PARTS_CAP = 24
#: Trained weights score the neighbours of unseen words, too: the base has this share of the weight tuned without them.
CONTEXT_SHARE = 0.5
#: The weights of the pool are fitted on this share of the tokens, but on at least and at most these numbers of them.
#: With few tokens, the weights depend on which sentences these are.
POOL_SHARE, LEAST_POOL_TOKENS, MOST_POOL_TOKENS = 0.16, 8_000, 32_000
#: In a full lattice, labels less probable than this share of the best label have the same low score.
FULL_THRESHOLD = 1e-6


def preset_of(base: str) -> BackoffPreset:
    """The back-off of a base."""
    return DEFAULT if base in ("default", "pooled") else PAPER


class InitialScoresFromCounts(InitialScores):
    """A counted corpus, with base scores or without."""

    fresh = True
    _tables: BackoffTables | None = None
    _slots: LabelRows | None = None

    @classmethod
    def of(
        cls, method: FittedMethod, data: TrainingData, context: RunContext, parts: LabelParts | None = None
    ) -> InitialScoresFromCounts:
        """Choose the edge templates and the base of a method, and count the corpus."""
        costs = data.source.costs(method.order)
        templates, base = choose_start(method, data.source, data.templates, costs)
        context.progress(ProgressEvent("counting"))
        counted = data.source.count(templates, (preset_of(base),), context, data.held_out)
        return cls(
            counted, templates, base=base, all_labels=method.all_labels, parts=parts, costs=costs, context=context
        )

    def __init__(
        self,
        counted: CountedCorpus,
        templates: Sequence[Template],
        *,
        base: str = "default",
        all_labels: bool = False,
        parts: LabelParts | None = None,
        costs: LatticeCosts | None = None,
        context: RunContext | None = None,
        fitted: tuple[BackoffParameters, PooledExperts | None] | None = None,
    ) -> None:
        """``fitted`` are the parameters of the back-off and the pool, if they were tuned and fitted before."""
        self.base, self.context, self.counted, self.preset = base, context or RunContext(), counted, preset_of(base)
        self.counts, self.tokens, self.word = counted.counts, counted.tokens, counted.word
        self.labels, self.vocabulary, self.pairs = self.counts.labels, self.counts.vocabulary, self.counts.pairs
        self.costs = costs if self.preset is DEFAULT else None
        self.few = self.costs is not None and self.costs.choose_full
        self.full = self.few or all_labels or self.word is None  # without words, every label is a candidate
        self.parts = parts
        self.totals = self.counts.table.totals()
        wanted = set(templates)
        own = self.vocabulary.templates
        edges = np.array([t.edge for t in own], dtype=bool)
        asked = np.array([t in wanted for t in own], dtype=bool)
        self.node_templates, self.edge_templates = asked & ~edges, asked & edges
        self.countable = countable_features(self.tokens.attributes, int(self.vocabulary.bases[-1]))
        expert_of, names = experts(self.vocabulary)
        self.expert_of = np.where(self.countable, expert_of, len(names)).astype(np.int32)
        self._fitted: tuple[BackoffParameters, PooledExperts | None] | None = fitted
        self.pool = self._fit_pool() if base == "pooled" and fitted is None else None
        if fitted is not None:
            self.pool = fitted[1]
        self.unexplained = 1.0 if self.pool is None else self.pool.unexplained

    @property
    def slots(self) -> LabelRows:
        """The columns by feature that have a weight."""
        if self._slots is None:
            self._slots = self._with_columns(LabelRows(*self.counts.table.csr))
        return self._slots

    def frequent_slots(self, cutoff: int) -> LabelRows | None:
        """The slots without those of features seen less than ``cutoff`` times, which training does not use."""
        if cutoff <= 1:
            return None
        table = self.counts.table
        return self._with_columns(LabelRows(*table.csr).where(np.repeat(self.totals >= cutoff, table.lengths)))

    def _with_columns(self, rows: LabelRows) -> LabelRows:
        """Slots for the labels of features, for their parts, and for the bias."""
        columns = rows.csr if self.parts is None else self.parts.with_columns(*rows.csr)
        return with_bias(columns, self.n_columns)

    def with_rare(self, slots: LabelRows, weights: F32) -> SparseRows:
        """The weights of slots with those of rare features, which are zero."""
        if len(slots.labels) == len(self.slots.labels):
            return SparseRows(*slots.csr, weights)
        scores = np.zeros(len(self.slots.labels), np.float32)
        scores[np.repeat(slots.lengths > 0, self.slots.lengths)] = weights
        return SparseRows(*self.slots.csr, scores)

    @cached_property
    def backoff(self) -> BackoffParameters:
        """The parameters of the base's back-off, tuned on first use. In a pool they are not tuned."""
        if self._fitted is not None:
            return self._fitted[0]
        tuned = BackoffParameters.of(self.preset)
        if self.base != "pooled":
            tuned = tune_backoff(self.counted, self.preset, {}, self.context.progress).parameters
            tuned = replace(tuned, context=CONTEXT_SHARE * tuned.context)
        support = {"threshold": FULL_THRESHOLD, "cap": self.n_labels} if self.few else SUPPORTS[self.base]
        if self.parts is not None and "cap" in support:
            support = support | {"cap": max(PARTS_CAP, support["cap"])}
        return replace(tuned, **support)  # type: ignore[arg-type]

    def _fit_pool(self) -> PooledExperts:
        """Fit the weights of the experts as in pooled empirical training.

        Edge templates and numeric features get the weight 0. A label that is never recovered has half of its
        evidence: the passes learn the rest.
        """
        tokens = int(np.clip(POOL_SHARE * self.counts.tokens, LEAST_POOL_TOKENS, MOST_POOL_TOKENS))
        sample = self.counted.sample(tokens)
        _, names = experts(self.vocabulary)
        possible = self._possible(sample, self.tables(), sample.labels, full=False)
        evidence = self.counts.table, label_prior(self.counts), self._node_features(sample), self.expert_of, possible
        pool = fit_weights(
            *evidence,
            sample.labels,
            with_evidence(sample, self.counts),
            has_backoff=self.word is not None,
            progress=lambda done: self.context.progress(ProgressEvent("fitting the expert weights", done)),
        )
        scores = pool.scores(*evidence, sample.labels, self.context.threads)
        weights = pool.experts.copy()
        edges = np.flatnonzero(self.edge_templates) + len(names) - len(self.edge_templates)
        weights[edges[edges < len(weights)]] = 0.0  # the last templates may have no features yet, and so no experts
        weights[len(names) :] = 0.0
        return replace(pool, experts=weights, doubtful=unrecovered_labels(scores, possible, sample.labels, self.counts))

    def _node_features(self, tokens: Tokens, cutoff: int = 1) -> Features:
        kept = self.kept(cutoff)
        kept = self.countable if kept is None else kept & self.countable
        return Features.of(tokens, self.vocabulary.bases, ~self.edge_templates, kept=kept)

    def tables(self) -> BackoffTables | None:
        """The tables for the base scores."""
        if self.word is None:
            return None
        if self._tables is None:
            self._tables = self.counted.tables(self.preset, self.counts.vocabulary, self.counts.table)
        return self._tables

    def forget_tables(self) -> None:
        """Free the memory of tables and slots, which are made again if needed, and of what tuned the back-off."""
        self._tables = self._slots = None
        if not self.counted.given:
            self.counted.held_out.clear()

    def held_out_set(self) -> HeldOutSet | None:
        """The held-out sentences that the user gave, None without any."""
        if not self.counted.given or not self.counted.held_out:
            return None
        held_out = self.counted.held_out[0]
        tables = None
        if self.word is not None:
            tables = self.counted.tables(self.preset, held_out.vocabulary, held_out.table)
        return HeldOutSet(held_out.tokens, tables)

    def candidates(
        self,
        tokens: Tokens,
        tables: BackoffTables | None,
        temper: float,
        *,
        training: bool,
        full: bool = False,
        cutoff: int = 1,
    ) -> Candidates:
        """The candidates of the back-off, with scores of the back-off or of the pool."""
        left_out = tokens.labels if training else None
        found = self._possible(self._without_rare_pairs(tokens, cutoff), tables, left_out, full=full)
        scores = found.backoff
        if self.pool is not None:
            features = self._node_features(tokens, cutoff)
            scores = self.pool.scores(
                self.counts.table,
                label_prior(self.counts),
                features,
                self.expert_of,
                found,
                left_out,
                self.context.threads,
            )
        return replace(found, backoff=np.float32(temper) * scores)

    def _without_rare_pairs(self, tokens: Tokens, cutoff: int) -> Tokens:
        """Tokens without rare features of the back-off's neighbour templates."""
        kept = self.kept(cutoff)
        if kept is None or not self.preset.neighbours or self.word is None:
            return tokens
        features, bases = tokens.features.copy(), self.vocabulary.bases
        for t in (1, 2):
            seen = np.append(kept[bases[t] : bases[t + 1]], True)  # the last entry: features that were not counted
            features[t] = np.where(seen[np.minimum(features[t], len(seen) - 1)], features[t], -1)
        return replace(tokens, features=features)

    def _possible(
        self, tokens: Tokens, tables: BackoffTables | None, left_out: Ids | None, *, full: bool
    ) -> Candidates:
        """The candidate labels of tokens, with the back-off's scores."""
        if tables is None:
            return Candidates.all_labels(len(tokens.labels), self.n_labels)
        parts = tables.parts(self.backoff, tokens, left_out)
        found = Candidates(parts.offsets, parts.labels, parts.scores(self.backoff))
        if self.full or full:
            return found.spread(self.n_labels, FLOOR)
        if left_out is None:
            return found
        return replace(found.including(left_out, FLOOR), pruned_gold=_pruned_gold(found, left_out, parts.known))

    def initial_weights(self, temper: float, edge: float = 0.75) -> ChainWeights:
        """The weighted co-occurrence rates of labels; all other weights are zero."""
        rates = edge_scores(self.pairs, self.n_labels, k=0.5, weight=edge * temper).dense()
        return ChainWeights(rates, SparseRows(), np.zeros(len(self.slots.labels), np.float32))

    def model(
        self,
        temper: float,
        weights: SparseRows,
        edges: F32,
        extra: SparseRows,
        *,
        full: bool = False,
        by_features: bool = False,
    ) -> ChainModel:
        """The chain model of trained weights, added to the weighted back-off.

        With ``by_features``, it has no back-off, and its candidates come from its weights.
        """
        table = self.counts.table
        node, bias = self.node_and_bias(weights)
        scored = EdgeScores.of_dense(edges)
        every = full or self.full
        backoff_weight = temper
        if self.pool is not None:
            pooled = self.pool.compiled(table, label_prior(self.counts), self.expert_of).scaled(temper)
            node = node.plus(pooled)
            bias = bias + (temper * self.pool.bias).astype(np.float32)
            backoff_weight = temper * self.pool.backoff
        if self.word is None or by_features or (every and temper == 0):
            model = ChainModel(self.labels, scored, node, bias, edge_weights=extra, parts=self.parts)
            return replace(model, by_features=True, floor=0.0) if by_features else replace(model, all_labels=True)
        backoff = backoff_model(self.counts, self.preset, self.backoff, self.word, every, self.tables())
        rows = int(self.vocabulary.bases[-1])
        return replace(
            backoff.with_row_weight(backoff_weight),
            edges=scored,
            bias=bias,
            weights=node.padded(rows).plus(backoff.weights.scaled(backoff_weight)),
            floor=FLOOR * backoff_weight,
            edge_weights=extra.padded(rows) if len(extra) else extra,
            parts=self.parts,
        )


def _pruned_gold(found: Candidates, labels: Ids, seen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many known labels are no candidates, and how many there are: of all words, and of unseen words.

    A word is unseen if only its own token has it.
    """
    known = labels >= 0
    pruned_gold = known & (found.find(labels) < 0)
    unseen = known & ~seen
    return np.array([pruned_gold.sum(), known.sum(), (pruned_gold & unseen).sum(), unseen.sum()])
