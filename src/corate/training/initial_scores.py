"""Base scores and initial weights of a training run: the interface of its two implementations.

    node_j(y) = base_j(y) + W f_j        edge(y, y') = T(y, y') + U g(y, y')

:class:`~corate.training.initial_scores.InitialScoresFromCounts` counts a corpus. Its base scores are empirical scores,
or zero. :class:`~corate.training.initial_scores.InitialScoresFromModel` trains a saved model further: its base scores
are the counted rows of the model, and its initial weights are the weights of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.counting.backoff import DEFAULT, FLOOR, PAPER, BackoffParameters, BackoffPreset, BackoffTables
from corate.counting.backoff_tuning import tune_backoff
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.counts import Counts, PairCounts, Table, Tokens, TokenStore, count_features
from corate.counting.held_out import held_out_tokens
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
from corate.counting.triples import relabelled
from corate.errors import DataError, FeatureError
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import ChainWeights, EdgeScores, LabelPairs
from corate.label_parts import LabelParts
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows, distinct, rows_of_keys
from corate.training.choices import SUPPORT, LatticeCosts, choose_start
from corate.training.empirical import backoff_model
from corate.training.methods import FittedMethod
from corate.training.source import MemorySource, RunContext, TrainingData
from corate.types import F32, Csr, Ids

__all__ = ["HeldOutSet", "InitialScores", "InitialScoresFromCounts", "InitialScoresFromModel", "preset_of", "with_bias"]


@dataclass(frozen=True, eq=False)
class HeldOutSet:
    """Held-out tokens, and the tables for their candidates."""

    tokens: Tokens
    tables: BackoffTables | None


class InitialScores(ABC):
    """Base scores and initial weights, from a counted corpus or from a model."""

    fresh: bool  # whether weights are trained from counts, and not those of a model further
    base: str  # the kind of the base scores, "none" for a model
    unexplained: float = 1.0  # the share of the entropy of left-out labels that the base pooled does not explain
    full: bool  # whether all labels are candidates everywhere
    costs: LatticeCosts | None = None  # the costs that this was chosen by, if it was
    word: str | None  # the column that holds the words
    labels: StringTable
    vocabulary: Vocabulary
    tokens: TokenStore
    pairs: PairCounts
    totals: NDArray[np.int64]  # how often each feature was seen
    node_templates: NDArray[np.bool_]
    edge_templates: NDArray[np.bool_]

    parts: LabelParts | None  # the parts of labels that have weights

    def frequent_slots(self, cutoff: int) -> LabelRows | None:
        """The slots without those of features seen less than ``cutoff`` times, which training does not use."""
        return None

    @property
    @abstractmethod
    def slots(self) -> LabelRows:
        """The (feature, column) pairs that have a weight; the last row is the bias, with one for every column."""

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """The number of columns of weights: labels, then parts."""
        return self.n_labels + (0 if self.parts is None else len(self.parts))

    def node_and_bias(self, weights: SparseRows) -> tuple[SparseRows, F32]:
        """The weights of features, and the bias of each label, from the weights of slots."""
        n = len(weights.labels) - self.n_columns
        bias = weights.scores[n:]
        node = SparseRows(weights.offsets[:-1], weights.labels[:n], weights.scores[:n])
        return node, bias if self.parts is None else self.parts.folded(bias)

    def features(self, tokens: Tokens, cutoff: int = 1) -> tuple[Csr, F32 | None]:
        """Node features of tokens that were seen at least ``cutoff`` times, and the bias."""
        bias = len(self.totals)  # the last row of the slots
        found = Features.of(tokens, self.vocabulary.bases, self.node_templates, kept=self.kept(cutoff), last=bias)
        return found.arrays(), found.values

    def kept(self, cutoff: int) -> NDArray[np.bool_] | None:
        """Which features were seen at least ``cutoff`` times; None for all."""
        return self.totals >= cutoff if cutoff > 1 else None

    def weighted(
        self, label_weights: Mapping[str, float] | None, sentence_weights: Sequence[float] | None
    ) -> TokenStore:
        """The tokens with weights: the weight of a token is that of its sentence times that of its label."""
        if label_weights is None and sentence_weights is None:
            return self.tokens
        assert isinstance(self.tokens, Tokens)  # tokens on disk have no weights
        of_labels = self.label_weights(label_weights)
        lengths, labels = np.diff(self.tokens.offsets), self.tokens.labels
        of_sentences = np.ones(len(lengths)) if sentence_weights is None else np.asarray(sentence_weights, dtype=float)
        if of_sentences.shape != lengths.shape:
            raise DataError(f"{len(lengths)} sentences but {of_sentences.size} sentence weights")
        found = np.where(labels < 0, 1.0, of_labels[labels]) * np.repeat(of_sentences, lengths)
        if not np.isfinite(found).all() or (found < 0).any() or not (found > 0).any():
            raise DataError("weights of labels and sentences must be finite and not negative, and at least one above 0")
        given = None if sentence_weights is None else of_sentences.astype(np.float32)
        return replace(self.tokens, weights=found.astype(np.float32), sentence_weights=given)

    def label_weights(self, given: Mapping[str, float] | None) -> NDArray[np.float64]:
        """The weight of each label, 1 for those not named."""
        weights = np.ones(self.n_labels)
        names = {name: i for i, name in enumerate(self.labels.to_list())}
        for label, weight in (given or {}).items():
            if label not in names:
                raise DataError(f"there is no label {label!r} to weight; there are {', '.join(list(names)[:20])}")
            weights[names[label]] = weight
        return weights

    def sample(self, tokens: TokenStore, size: int) -> NDArray[np.int64]:
        """Sentences of about ``size`` tokens, in blocks spread over the corpus, without sentences of weight 0."""
        every = tokens.filled()
        want = size / max(1, int(tokens.offsets[-1])) * (len(tokens.offsets) - 1)
        if want >= len(every):
            return every
        blocks = 100
        starts = (np.arange(blocks) / blocks * len(every)).astype(np.int64)
        return every[distinct((starts[:, None] + np.arange(max(1, round(want / blocks)))) % len(every))]

    @abstractmethod
    def tables(self) -> BackoffTables | None:
        """The tables for the base scores."""

    def forget_tables(self) -> None:
        """Free the memory of the tables, which are made again if they are needed."""
        return

    @abstractmethod
    def held_out_set(self) -> HeldOutSet | None:
        """The held-out sentences that the user gave, None without any."""

    @abstractmethod
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
        """The candidate labels of tokens with their base scores times ``temper``.

        In ``training`` a token is left out of its own counts, and its label is a candidate. Features seen less than
        ``cutoff`` times are left out.
        """

    @abstractmethod
    def initial_weights(self, temper: float, edge: float) -> ChainWeights:
        """The weights that training starts from."""

    @abstractmethod
    def model(
        self, temper: float, weights: SparseRows, edges: F32, extra: SparseRows, *, full: bool = False
    ) -> ChainModel:
        """The chain model of trained weights, including the base scores. ``weights`` has those of the slots."""


def with_bias(rows: Csr, n_columns: int) -> LabelRows:
    """Slots for rows of columns, and one for each column for the bias, which is the last feature."""
    bias = LabelRows(np.array([0, n_columns]), np.arange(n_columns, dtype=np.int32))
    return LabelRows.joined([LabelRows(*rows), bias])


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


class InitialScoresFromModel(InitialScores):
    """A saved model to train further on a corpus: its templates and weights, its labels and new ones."""

    fresh = False
    tokens: Tokens

    def __init__(self, tagger: Tagger, source: MemorySource, *, held_out: Corpus | None = None) -> None:
        self.base, corpus = "none", source.corpus
        if corpus.n_tokens == 0:
            raise DataError("there are no tokens to train on")
        old = tagger.vocabulary
        if tagger.model.locally_normalised:
            raise DataError(
                "a model of the method 'memm' normalises locally and cannot be trained further; train it again on all "
                "the text, or start from a model of another method"
            )
        if tagger.model.word_pairs is not None:
            raise DataError(
                "a model with the pairs 'words' cannot be trained further; add counts to it with update, or start from "
                "another model"
            )
        if (old.attributes is None) != (corpus.attributes is None):
            raise FeatureError("the model and the corpus must both have ready-made features, or neither")
        self.word = tagger.record.get("word")
        self.labels, both = StringTable.intern([*tagger.model.labels.to_list(), *source.names.to_list()])
        renamed = np.append(both[len(tagger.model.labels) :], -1).astype(np.int32)
        self.vocabulary = old.copy()
        features, strings = self.vocabulary.fit(corpus)
        attributes = corpus.attributes
        if attributes is not None and old.attributes is not None:
            merged, places = StringTable.intern([*old.attributes.to_list(), *attributes.names.to_list()])
            renumbered = places[len(old.attributes) :][attributes.ids].astype(np.int32)
            attributes = replace(attributes, ids=renumbered, names=merged, key_lengths=None)
            self.vocabulary = replace(self.vocabulary, attributes=merged, key_lengths=None)
        words = strings.get(self.word) if self.word is not None else None
        self.tokens = Tokens(features, words, renamed[source.ids], corpus.offsets, attributes)
        self.pairs = PairCounts(*_native.count_pairs(self.tokens.labels, corpus.offsets, self.n_labels))
        self.old, self.corpus, self.held_out = tagger, corpus, held_out
        self.full = tagger.model.all_labels or tagger.model.by_features
        self.edge_templates = np.array([t.edge for t in self.vocabulary.templates], dtype=bool)
        self.node_templates = ~self.edge_templates
        old_parts = tagger.model.parts
        self.parts = None if old_parts is None else LabelParts.of(self.labels.to_list(), old_parts.names.to_list())
        self._grow()

    def _grow(self) -> None:
        """Move the model's weights into the larger vocabulary, and add slots for new features and labels."""
        table = count_features(self.tokens, self.vocabulary, self.n_labels)
        self.totals = table.totals()
        model, bases = self.old.model, self.vocabulary.bases
        columns = table.csr if self.parts is None else self.parts.with_columns(*table.csr)
        node = self._placed(self._with_new_columns(model.weights)).plus(SparseRows.zeros(columns))
        self._slots = with_bias(node.csr, self.n_columns)
        bias = np.zeros(self.n_columns, np.float32)
        bias[: len(model.bias)] = model.bias
        old, new = LabelPairs(len(model.labels)), LabelPairs(self.n_labels)
        places = old.places(self.n_labels)
        edges = old.grown(model.edges.dense(), self.n_labels)
        extra = self._placed(model.edge_weights) if len(model.edge_weights) else SparseRows.empty(int(bases[-1]))
        if old != new and len(extra.labels):
            origin, to = old.split(extra.labels)
            extra = replace(extra, labels=new.ids(places[origin], places[to]).astype(np.int32))
        triples = model.edges.triples
        if len(triples):
            triples = relabelled(triples, places, self.n_labels)
        self._initial = ChainWeights(edges, extra, np.concatenate([node.scores, bias]).astype(np.float32), triples)

    def _with_new_columns(self, rows: SparseRows) -> SparseRows:
        """Rows of the model's weights, with the parts moved behind the new labels."""
        k = len(self.old.model.labels)
        moved = np.where(rows.labels >= k, rows.labels + (self.n_labels - k), rows.labels)
        return replace(rows, labels=moved.astype(np.int32))

    def _placed(self, rows: SparseRows) -> SparseRows:
        """Rows of the model's features, in the order of the larger vocabulary."""
        old, new = self.old.vocabulary, self.vocabulary
        rows = rows.padded(int(old.bases[-1]))
        starts = [0, *old.bases[:-1].tolist(), int(old.bases[-1])]
        sizes = [new.n_attributes, *np.diff(new.bases).tolist()]
        blocks = [np.arange(a, b) for a, b in pairwise(starts)]
        return SparseRows.joined([rows.take(b).padded(n) for b, n in zip(blocks, sizes, strict=True)])

    @property
    def slots(self) -> LabelRows:
        """The (feature, column) pairs that have a weight."""
        return self._slots

    def tables(self) -> None:
        """None: a model has its base scores in its rows."""
        return None

    def held_out_set(self) -> HeldOutSet | None:
        """The held-out sentences that the user gave, None without any."""
        if self.held_out is None:
            return None
        if self.held_out.n_tokens == 0:
            raise DataError("there are no held-out tokens to evaluate on; give some, or omit held_out")
        counts = Counts(self.vocabulary, self.labels, Table.empty(), self.pairs, 0, 0)
        tokens, _ = held_out_tokens(counts, self.held_out, self.word)
        return HeldOutSet(tokens, None)

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
        """The candidates of the model, with the scores of its counted rows."""
        corpus = self.corpus if training else self.held_out
        assert corpus is not None
        found = self._candidates_of(corpus)
        if self.full or full:
            return found.spread(self.n_labels, float(self.old.model.floor) if len(self.old.model.rows) else 0.0)
        return found.including(tokens.labels, float(self.old.model.floor)) if training else found

    def _candidates_of(self, corpus: Corpus) -> Candidates:
        """The candidates from the model's rows, with their scores."""
        rows_only = replace(
            self.old.model,
            weights=SparseRows.empty(len(self.old.model.weights)),
            bias=np.zeros_like(self.old.model.bias),
            edge_weights=SparseRows(),
            parts=None,
        )
        lattice = replace(self.old, model=rows_only).lattice(corpus)
        return Candidates(lattice.offsets, lattice.labels, lattice.scores)

    def initial_weights(self, temper: float, edge: float = 0.75) -> ChainWeights:
        """The model's own weights."""
        return self._initial

    def model(
        self, temper: float, weights: SparseRows, edges: F32, extra: SparseRows, *, full: bool = False
    ) -> ChainModel:
        """The model with its weights trained further."""
        old = self.old.model
        node, bias = self.node_and_bias(weights)
        rows, bases = old.rows, np.array(old.level_bases, dtype=np.int64)
        if len(rows):
            words = len(self.vocabulary.strings(self.vocabulary.columns[old.word_column]))
            known, rest = np.arange(bases[0]), np.arange(bases[0], len(rows))
            own = rows.take(known).padded(words)
            rows = SparseRows.joined([own if full or self.full else self._with_seen(own), rows.take(rest)])
            bases = bases + (words - bases[0])
        return replace(
            old,
            labels=self.labels,
            edges=EdgeScores.of_dense(edges),
            weights=node,
            bias=bias,
            rows=rows,
            level_bases=tuple(bases.tolist()),
            all_labels=full or self.full,
            by_features=False,
            edge_weights=extra if len(extra.labels) else SparseRows(),
            parts=self.parts,
        )

    def _with_seen(self, rows: SparseRows) -> SparseRows:
        """Rows of words, with the labels that the corpus has for them added."""
        assert self.tokens.words is not None
        before = self._candidates_of(self.corpus)
        found = before.including(self.tokens.labels, float(self.old.model.floor))
        grown = found.lengths > before.lengths
        words = np.unique(self.tokens.words[grown])
        # All tokens of a word have the same candidates except for their own labels.
        every = np.isin(self.tokens.words, words)
        owner = np.repeat(self.tokens.words, found.lengths)
        here = np.repeat(every, found.lengths)
        keys, places = np.unique(owner[here].astype(np.int64) * self.n_labels + found.labels[here], return_index=True)
        added = SparseRows(*rows_of_keys(keys, len(rows), self.n_labels), found.backoff[here][places])
        both = SparseRows.joined([rows, added])
        source = np.arange(len(rows))
        source[words] += len(rows)
        return both.take(source)
