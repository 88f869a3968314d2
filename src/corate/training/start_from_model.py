"""Initial weights from a saved model, which is trained further on a corpus."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.counting.backoff import BackoffTables
from corate.counting.counts import Counts, PairCounts, Table, Tokens, count_features
from corate.counting.held_out import held_out_tokens
from corate.counting.pooling import Candidates
from corate.counting.triples import relabelled
from corate.errors import DataError, FeatureError
from corate.label_pairs import ChainWeights, EdgeScores, LabelPairs
from corate.label_parts import LabelParts
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.rows import LabelRows, SparseRows, rows_of_keys
from corate.training.source import MemorySource
from corate.training.start import HeldOutSet, InitialScores, with_bias
from corate.types import F32

__all__ = ["InitialScoresFromModel"]


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
            attributes = replace(attributes, ids=renumbered, names=merged, heads=None)
            self.vocabulary = replace(self.vocabulary, attributes=merged, heads=None)
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
