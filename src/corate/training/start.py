"""Where the weights of a method begin: from counts, or from a saved model.

    node_j(y) = base_j(y) + W f_j        edge(y, y') = T(y, y') + U g(y, y')

:class:`StartFromCounts` counts a corpus. Its base scores are empirical scores, of a ladder or pooled over all features,
times a temper, or nothing; each training token is left out of its own counts. :class:`StartFromModel` trains a saved
model further: its base scores are the counted rows of the model, and its initial weights those of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.counts import Counts, PairCounts, Table, Tokens, label_ids
from corate.counting.held_out import held_out_tokens
from corate.counting.ladder import DEFAULT, FLOOR, PAPER, LadderParameters, LadderTables
from corate.counting.ladder_tuning import tune_ladder
from corate.counting.pooling import Candidates, Features, Pool, experts, fit_weights, label_prior
from corate.counting.rates import edge_scores
from corate.counting.triples import relabelled
from corate.errors import DataError, FeatureError
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.label_scores import EdgeScores, SparseRows
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.training.empirical_model import ladder_model
from corate.training.problem import Progress
from corate.types import F32, Csr, Ids

__all__ = ["BASES", "FULL_LATTICE_LABELS", "HeldOutSet", "InitialWeights", "Start", "StartFromCounts", "StartFromModel"]

BASES = ("default", "pooled", "paper", "none")

#: The candidate labels of a token: those its ladder finds within a threshold of the best, and at most so many. With the
#: paper's ladder as base, rare words may also take labels that their spelling makes likely; without a base the support
#: is what was seen, as the paper says.
SUPPORTS: dict[str, dict[str, float]] = {
    "default": {"threshold": 1e-4, "cap": 12},
    "pooled": {"threshold": 1e-4, "cap": 12},
    "paper": {"threshold": 1e-3, "cap": 12, "word_k": 0.2},
    "none": {},
}
#: Tokens that the pool is weighed on.
POOL_TOKENS = 8_000
#: With at most so many labels all are candidates everywhere; the cost of a pair grows with their square.
FULL_LATTICE_LABELS = 24
FEW_SUPPORT: dict[str, float] = {"threshold": 1e-6, "cap": FULL_LATTICE_LABELS}


@dataclass(frozen=True, eq=False)
class HeldOutSet:
    """Held-out tokens, and the tables that their candidates come from."""

    tokens: Tokens
    tables: LadderTables | None


@dataclass(frozen=True, eq=False)
class InitialWeights:
    """Weights to begin with: T, (K + 1, K + 1); U, by edge feature and label pair; W, by slot; S, by label triple."""

    edges: F32
    extra: SparseRows
    weights: F32
    triples: SparseRows = field(default_factory=SparseRows)


class Start:
    """What both kinds have in common: labels, tokens, slots of weights, and the features that fill them."""

    labels: StringTable
    vocabulary: Vocabulary
    tokens: Tokens
    pairs: PairCounts
    slots: Table  # (feature, label) pairs that have a weight, and last the bias, which has one for every label
    totals: NDArray[np.int64]  # how often each feature was seen
    node_templates: NDArray[np.bool_]
    edge_templates: NDArray[np.bool_]

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.labels)

    def features(self, tokens: Tokens, cutoff: int = 1) -> tuple[Csr, F32 | None]:
        """Node features of tokens, those seen less than ``cutoff`` times left out, and the bias, which all have."""
        bias = len(self.slots) - 1
        found = Features.of(tokens, self.vocabulary.bases, self.node_templates, kept=self.kept(cutoff), last=bias)
        return found.arrays(), found.values

    def kept(self, cutoff: int) -> NDArray[np.bool_] | None:
        """Which features were seen at least ``cutoff`` times, None where all were."""
        return self.totals >= cutoff if cutoff > 1 else None

    def token_weights(
        self, label_weights: Mapping[str, float] | None, sentence_weights: Sequence[float] | None
    ) -> F32 | None:
        """How much each token counts: as its sentence, times as its label; None where all count the same."""
        if label_weights is None and sentence_weights is None:
            return None
        of_labels = self.label_weights(label_weights)
        lengths = np.diff(self.tokens.offsets)
        of_sentences = np.ones(len(lengths)) if sentence_weights is None else np.asarray(sentence_weights, dtype=float)
        if of_sentences.shape != lengths.shape:
            raise DataError(f"{len(lengths)} sentences but {of_sentences.size} weights for them")
        found = np.where(self.tokens.labels < 0, 1.0, of_labels[self.tokens.labels]) * np.repeat(of_sentences, lengths)
        if not np.isfinite(found).all() or (found < 0).any() or not (found > 0).any():
            raise DataError("weights of labels and sentences must be finite and not negative, and some above 0")
        return found.astype(np.float32)

    def label_weights(self, given: Mapping[str, float] | None) -> NDArray[np.float64]:
        """The weight of each label, 1 for those not named."""
        weights = np.ones(self.n_labels)
        names = {name: i for i, name in enumerate(self.labels.to_list())}
        for label, weight in (given or {}).items():
            if label not in names:
                raise DataError(f"there is no label {label!r} to weigh; there are {', '.join(list(names)[:20])}")
            weights[names[label]] = weight
        return weights

    def sample(self, tokens: Tokens, size: int) -> NDArray[np.int64]:
        """Sentences that count, in blocks spread over the corpus, about ``size`` tokens of them."""
        every = np.arange(len(tokens.offsets) - 1)
        if tokens.weights is not None:
            sums = np.concatenate([[0.0], np.cumsum(tokens.weights, dtype=np.float64)])
            every = every[sums[tokens.offsets[1:]] > sums[tokens.offsets[:-1]]]
        want = size / max(1, int(tokens.offsets[-1])) * (len(tokens.offsets) - 1)
        if want >= len(every):
            return every
        blocks = 100
        starts = (np.arange(blocks) / blocks * len(every)).astype(np.int64)
        return every[np.unique((starts[:, None] + np.arange(max(1, round(want / blocks)))) % len(every))]


class StartFromCounts(Start):
    """A corpus counted afresh, with an empirical ladder as base, or none."""

    def __init__(
        self,
        corpus: Corpus,
        templates: Sequence[Template],
        *,
        base: str = "default",
        held_out: Corpus | None = None,
        seed: int = 0,
        all_labels: bool = False,
        unknown: str | None = None,
        threads: int = 1,
        progress: Progress = lambda stage, done: None,
    ) -> None:
        if base not in BASES:
            raise DataError(f"unknown base {base!r}; there are {', '.join(BASES)}")
        self.base, self.given, self.threads, self.progress = base, held_out is not None, threads, progress
        self.preset = DEFAULT if base in ("default", "pooled") else PAPER
        progress("counting", 0.0)
        self.counted = CountedCorpus(
            corpus,
            templates,
            presets=(self.preset,),
            held_out=held_out,
            seed=seed,
            unknown=unknown,
            threads=threads,
        )
        self.counts, self.tokens, self.word = self.counted.counts, self.counted.tokens, self.counted.word
        self.labels, self.vocabulary, self.pairs = self.counts.labels, self.counts.vocabulary, self.counts.pairs
        self.few = self.n_labels <= FULL_LATTICE_LABELS and (self.preset is DEFAULT or self.word is None)
        self.full = self.few or all_labels
        self.slots = _with_bias(self.counts.table, self.n_labels)
        self.totals = self.counts.table.totals()
        wanted = set(templates)
        counted = self.vocabulary.templates
        edges = np.array([t.edge for t in counted], dtype=bool)
        asked = np.array([t in wanted for t in counted], dtype=bool)
        self.node_templates, self.edge_templates = asked & ~edges, asked & edges
        self.pool = self._fit_pool(progress) if base == "pooled" else None

    @cached_property
    def ladder(self) -> LadderParameters:
        """The ladder behind the base, tuned when it is first needed; a pool weighs it as it is."""
        tuned = LadderParameters.of(self.preset)
        if self.base != "pooled":
            tuned = tune_ladder(self.counted, self.preset, {}, self.progress).parameters
        support = FEW_SUPPORT if self.few else SUPPORTS[self.base]
        return replace(tuned, **support)  # type: ignore[arg-type]

    def _fit_pool(self, progress: Progress) -> Pool:
        """How far to believe what was counted of each template, as pooled empirical training weighs it."""
        sample = self.counted.sample(POOL_TOKENS)
        self.expert_of, names = experts(self.vocabulary)
        pool = fit_weights(
            self.counts.table,
            label_prior(self.counts),
            self._node_features(sample),
            self.expert_of,
            self._possible(sample, self.tables(), sample.labels, full=False),
            sample.labels,
            has_ladder=self.word is not None,
            progress=lambda done: progress("weighing the experts", done),
        )
        believed = pool.experts.copy()
        edges = np.flatnonzero(self.edge_templates) + len(names) - len(self.edge_templates)
        believed[edges[edges < len(believed)]] = 0.0  # the last templates may have no features, and so no experts, yet
        return replace(pool, experts=believed)

    def _node_features(self, tokens: Tokens, cutoff: int = 1) -> Features:
        return Features.of(tokens, self.vocabulary.bases, ~self.edge_templates, kept=self.kept(cutoff))

    def tables(self) -> LadderTables | None:
        """What the base reads of the counts."""
        return self._tables

    @cached_property
    def _tables(self) -> LadderTables | None:
        if self.word is None:
            return None
        return self.counted.tables(self.preset, self.counts.vocabulary, self.counts.table)

    def held_out_set(self) -> HeldOutSet | None:
        """The held-out sentences that the user gave, None without any."""
        if not self.given or not self.counted.held_out:
            return None
        held_out = self.counted.held_out[0]
        tables = None
        if self.word is not None:
            tables = self.counted.tables(self.preset, held_out.vocabulary, held_out.table)
        return HeldOutSet(held_out.tokens, tables)

    def candidates(
        self,
        tokens: Tokens,
        tables: LadderTables | None,
        temper: float,
        *,
        training: bool,
        full: bool = False,
        cutoff: int = 1,
    ) -> Candidates:
        """The labels a token may take, with the tempered base; in training its own count is forgotten.

        Features seen less than ``cutoff`` times, pairs of neighbours too, say nothing.
        """
        left_out = tokens.labels if training else None
        found = self._possible(self._without_rare_pairs(tokens, cutoff), tables, left_out, full=full)
        scores = found.ladder
        if self.pool is not None:
            features = self._node_features(tokens, cutoff)
            scores = self.pool.scores(
                self.counts.table, label_prior(self.counts), features, self.expert_of, found, left_out, self.threads
            )
        return Candidates(found.offsets, found.labels, np.float32(temper) * scores)

    def _without_rare_pairs(self, tokens: Tokens, cutoff: int) -> Tokens:
        """Tokens without the features that the ladder looks at, where they are rare: the word and each neighbour."""
        kept = self.kept(cutoff)
        if kept is None or not self.preset.neighbours or self.word is None:
            return tokens
        features, bases = tokens.features.copy(), self.vocabulary.bases
        for t in (1, 2):
            seen = np.append(kept[bases[t] : bases[t + 1]], True)  # what was not counted is none of them
            features[t] = np.where(seen[np.minimum(features[t], len(seen) - 1)], features[t], -1)
        return replace(tokens, features=features)

    def _possible(self, tokens: Tokens, tables: LadderTables | None, left_out: Ids | None, *, full: bool) -> Candidates:
        """The labels a token may take, and what the ladder says of them."""
        if tables is None:
            return Candidates.all_labels(len(tokens.labels), self.n_labels)
        parts = tables.parts(self.ladder, tokens, left_out)
        found = Candidates(parts.offsets, parts.labels, parts.scores(self.ladder))
        if self.full or full:
            return found.spread(self.n_labels, FLOOR)
        return found if left_out is None else found.including(left_out, FLOOR)

    def initial_weights(self, temper: float, edge: float = 0.75) -> InitialWeights:
        """Nothing but the tempered co-occurrence rates of labels."""
        rates = edge_scores(self.pairs, self.n_labels, k=0.5, weight=edge * temper).dense()
        return InitialWeights(rates, SparseRows(), np.zeros(len(self.slots.labels), np.float32))

    def model(self, temper: float, weights: F32, edges: F32, extra: SparseRows, *, full: bool = False) -> ChainModel:
        """The chain model of trained weights: they are added to the tempered ladder."""
        table = self.counts.table
        node = SparseRows(table.offsets, table.labels, weights[: len(table.labels)])
        bias = weights[len(table.labels) :]
        scored = EdgeScores.of_dense(edges)
        every = full or self.full
        ladder_temper = temper
        if self.pool is not None:
            pooled = self.pool.compiled(table, label_prior(self.counts), self.expert_of).scaled(temper)
            node = replace(node, scores=node.scores + pooled.scores)
            bias = bias + (temper * self.pool.bias).astype(np.float32)
            ladder_temper = temper * self.pool.ladder
        if self.word is None or (every and temper == 0):
            return ChainModel(self.labels, scored, node, bias, all_labels=True, edge_weights=extra)
        ladder = ladder_model(self.counts, self.preset, self.ladder, self.word, every, self.tables())
        rows = int(self.vocabulary.bases[-1])
        return replace(
            ladder,
            edges=scored,
            bias=bias,
            weights=node.padded(rows).plus(ladder.weights.scaled(ladder_temper)),
            rows=ladder.rows.scaled(ladder_temper),
            floor=FLOOR * ladder_temper,
            edge_weights=extra.padded(rows) if len(extra) else extra,
        )


class StartFromModel(Start):
    """A saved model, to be trained further on a corpus: its templates, its weights, its labels and any new ones."""

    def __init__(
        self, tagger: Tagger, corpus: Corpus, *, held_out: Corpus | None = None, unknown: str | None = None
    ) -> None:
        if corpus.n_tokens == 0:
            raise DataError("there are no tokens to train on")
        old = tagger.vocabulary
        if tagger.model.locally_normalised:
            raise DataError(
                "a model of the method 'memm' normalises locally and cannot be trained further; train it again on all "
                "the text, or start from a model of another method"
            )
        if (old.attributes is None) != (corpus.attributes is None):
            raise FeatureError("the model and the corpus must both have ready-made features, or both none")
        self.word = tagger.record.get("word")
        names, ids = label_ids(corpus, unknown)
        self.labels, both = StringTable.intern([*tagger.model.labels.to_list(), *names.to_list()])
        renamed = np.append(both[len(tagger.model.labels) :], -1).astype(np.int32)
        self.vocabulary = old.copy()
        features, strings = self.vocabulary.fit(corpus)
        attributes = corpus.attributes
        if attributes is not None and old.attributes is not None:
            merged, places = StringTable.intern([*old.attributes.to_list(), *attributes.names.to_list()])
            renumbered = places[len(old.attributes) :][attributes.ids].astype(np.int32)
            attributes = replace(attributes, ids=renumbered, names=merged)
            self.vocabulary = replace(self.vocabulary, attributes=merged)
        words = strings.get(self.word) if self.word is not None else None
        self.tokens = Tokens(features, words, renamed[ids], corpus.offsets, attributes)
        self.pairs = PairCounts(*_native.count_pairs(self.tokens.labels, corpus.offsets, self.n_labels))
        self.old, self.corpus, self.held_out = tagger, corpus, held_out
        self.full = tagger.model.all_labels
        self.edge_templates = np.array([t.edge for t in self.vocabulary.templates], dtype=bool)
        self.node_templates = ~self.edge_templates
        self._grow()

    def _grow(self) -> None:
        """The model's weights where the grown vocabulary has them, with slots for what the corpus has besides."""
        counts = Counts(self.vocabulary, self.labels, *_counted(self), len(self.corpus), self.corpus.n_tokens)
        self.totals = counts.table.totals()
        model, bases = self.old.model, self.vocabulary.bases
        seen = SparseRows(counts.table.offsets, counts.table.labels, np.zeros(len(counts.table.labels), np.float32))
        node = self._placed(model.weights).plus(seen)
        self.slots = _with_bias(Table(node.offsets, node.labels, np.zeros(0, np.int32)), self.n_labels)
        bias = np.zeros(self.n_labels, np.float32)
        bias[: len(model.bias)] = model.bias
        k, size = len(model.labels), self.n_labels + 1
        edges = np.zeros((size, size), np.float32)
        places = np.append(np.arange(k), self.n_labels)
        edges[np.ix_(places, places)] = model.edges.dense()
        extra = self._placed(model.edge_weights) if len(model.edge_weights) else SparseRows.empty(int(bases[-1]))
        if k != self.n_labels and len(extra.labels):
            origin, to = np.divmod(extra.labels, k + 1)
            extra = replace(extra, labels=(places[origin] * size + places[to]).astype(np.int32))
        triples = model.edges.triples
        if len(triples):
            triples = relabelled(triples, places, self.n_labels)
        self._initial = InitialWeights(edges, extra, np.concatenate([node.scores, bias]).astype(np.float32), triples)

    def _placed(self, rows: SparseRows) -> SparseRows:
        """Rows of the model's features where the grown vocabulary numbers them."""
        old, new = self.old.vocabulary, self.vocabulary
        rows = rows.padded(int(old.bases[-1]))
        starts = [0, *old.bases[:-1].tolist(), int(old.bases[-1])]
        sizes = [new.n_attributes, *np.diff(new.bases).tolist()]
        blocks = [np.arange(a, b) for a, b in pairwise(starts)]
        return SparseRows.joined([rows.take(b).padded(n) for b, n in zip(blocks, sizes, strict=True)])

    def tables(self) -> None:
        """A loaded model has its base in its rows."""
        return None

    def held_out_set(self) -> HeldOutSet | None:
        """The held-out sentences that the user gave, None without any."""
        if self.held_out is None:
            return None
        if self.held_out.n_tokens == 0:
            raise DataError("there are no held-out tokens to judge by; give some, or leave held_out away")
        table = Table(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        counts = Counts(self.vocabulary, self.labels, table, self.pairs, 0, 0)
        tokens, _ = held_out_tokens(counts, self.held_out, self.word)
        return HeldOutSet(tokens, None)

    def candidates(
        self,
        tokens: Tokens,
        tables: LadderTables | None,
        temper: float,
        *,
        training: bool,
        full: bool = False,
        cutoff: int = 1,
    ) -> Candidates:
        """The candidates of the model, and what its counted rows say of them."""
        corpus = self.corpus if training else self.held_out
        assert corpus is not None
        found = self._candidates_of(corpus)
        if self.full or full:
            return found.spread(self.n_labels, float(self.old.model.floor) if len(self.old.model.rows) else 0.0)
        return found.including(tokens.labels, float(self.old.model.floor)) if training else found

    def _candidates_of(self, corpus: Corpus) -> Candidates:
        """What the model's rows make possible."""
        rows_only = replace(
            self.old.model,
            weights=SparseRows.empty(len(self.old.model.weights)),
            bias=np.zeros_like(self.old.model.bias),
            edge_weights=SparseRows(),
        )
        lattice = replace(self.old, model=rows_only).lattice(corpus)
        return Candidates(lattice.offsets, lattice.labels, lattice.scores)

    def initial_weights(self, temper: float, edge: float = 0.75) -> InitialWeights:
        """The model's own weights."""
        return self._initial

    def model(self, temper: float, weights: F32, edges: F32, extra: SparseRows, *, full: bool = False) -> ChainModel:
        """The model with its weights trained further."""
        old, n = self.old.model, len(self.slots.labels) - self.n_labels
        node = SparseRows(self.slots.offsets[:-1], self.slots.labels[:n], weights[:n])
        rows, bases = old.rows, np.array(old.rung_bases, dtype=np.int64)
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
            bias=weights[n:],
            rows=rows,
            rung_bases=tuple(bases.tolist()),
            all_labels=full or self.full,
            edge_weights=extra if len(extra.labels) else SparseRows(),
        )

    def _with_seen(self, rows: SparseRows) -> SparseRows:
        """Rows of words, with the labels that the corpus has for them and the model did not think of."""
        assert self.tokens.words is not None
        before = self._candidates_of(self.corpus)
        found = before.including(self.tokens.labels, float(self.old.model.floor))
        grown = np.diff(found.offsets) > np.diff(before.offsets)
        words = np.unique(self.tokens.words[grown])
        # All tokens of a word have the same candidates but for their own labels.
        every = np.isin(self.tokens.words, words)
        owner = np.repeat(self.tokens.words, np.diff(found.offsets))
        here = np.repeat(every, np.diff(found.offsets))
        keys, places = np.unique(owner[here].astype(np.int64) * self.n_labels + found.labels[here], return_index=True)
        offsets = np.searchsorted(keys, np.arange(len(rows) + 1, dtype=np.int64) * self.n_labels).astype(np.int64)
        met = SparseRows(offsets, (keys % self.n_labels).astype(np.int32), found.ladder[here][places])
        both = SparseRows.joined([rows, met])
        source = np.arange(len(rows))
        source[words] += len(rows)
        return both.take(source)


def _counted(start: Start) -> tuple[Table, PairCounts]:
    """How often each feature was seen with each label, and each pair of labels."""
    from corate.counting.counts import count_features

    tokens = start.tokens
    return count_features(tokens, start.vocabulary, start.n_labels), start.pairs


def _with_bias(table: Table, n_labels: int) -> Table:
    """The slots of a table, and one more feature with a slot for every label."""
    return Table(
        np.append(table.offsets, table.offsets[-1] + n_labels),
        np.append(table.labels, np.arange(n_labels, dtype=np.int32)),
        table.counts,
    )
