"""The chain model: a sum of score sources, whatever trained them.

    score(y | x) = start(y_1) + sum_j node_j(y_j) + sum_i edge(y_i, y_i+1) + end(y_n)

and in models of the second order also scores of three labels in a row.

Node scores are the sum of a counted row chosen by the word (its own, or that of the most specific rung of a back-off
ladder), a bias per label, and sparse weights of features. Edge scores are sparse too. Methods differ in how they fill
these in; decoding, storage and everything after are the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import StringTable
from corate.errors import ModelError
from corate.features.vocabulary import Vocabulary

__all__ = ["DENSE_LABELS", "ChainModel", "EdgeScores", "SparseRows"]

#: Up to so many labels the edge scores are expanded into one table when a model is made ready.
DENSE_LABELS = 1024

Ids = NDArray[np.int32]
F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of (label, score): row ``i`` stands from ``offsets[i]`` to ``offsets[i + 1]``, labels rising."""

    offsets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    labels: Ids = field(default_factory=lambda: np.zeros(0, np.int32))
    scores: F32 = field(default_factory=lambda: np.zeros(0, np.float32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def arrays(self) -> tuple[NDArray[np.int64], Ids, F32]:
        """As the native code takes them."""
        return self.offsets, self.labels, self.scores

    def scaled(self, factor: float) -> SparseRows:
        """The same rows with their scores multiplied."""
        return SparseRows(self.offsets, self.labels, self.scores * np.float32(factor))

    def padded(self, rows: int) -> SparseRows:
        """With empty rows added at the end, up to ``rows``."""
        tail = np.full(rows - len(self), self.offsets[-1], dtype=np.int64)
        return SparseRows(np.concatenate([self.offsets, tail]), self.labels, self.scores)

    def take(self, rows: NDArray[np.int64]) -> SparseRows:
        """Some of the rows, in the given order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        where = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return SparseRows(offsets, self.labels[where], self.scores[where])

    def plus(self, other: SparseRows) -> SparseRows:
        """The sum of two sets of as many rows.

        >>> a = SparseRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0], np.float32))
        >>> b = SparseRows(np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
        >>> a.plus(b).scores.tolist()
        [1.0, 2.5]
        """
        return SparseRows(*_native.add_sparse_rows(self.arrays(), other.arrays()))

    def compacted(self) -> SparseRows:
        """Without the entries whose score is zero.

        >>> rows = SparseRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([0.0, 2.0], np.float32))
        >>> rows.compacted().labels.tolist()
        [1]
        """
        kept = self.scores != 0
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets].astype(np.int64)
        return SparseRows(offsets, self.labels[kept], self.scores[kept])

    @staticmethod
    def joined(parts: list[SparseRows]) -> SparseRows:
        """All rows of several, one after another."""
        starts = np.cumsum([0, *(len(p.labels) for p in parts)])
        offsets = [p.offsets[1:] + start for p, start in zip(parts, starts, strict=False)]
        return SparseRows(
            np.concatenate([np.zeros(1, np.int64), *offsets]),
            np.concatenate([np.zeros(0, np.int32), *(p.labels for p in parts)]),
            np.concatenate([np.zeros(0, np.float32), *(p.scores for p in parts)]),
        )

    @staticmethod
    def empty(rows: int) -> SparseRows:
        """So many rows with nothing in them."""
        return SparseRows(np.zeros(rows + 1, np.int64))


@dataclass(frozen=True, eq=False)
class EdgeScores:
    """Scores of label pairs, sparse; row K is the start symbol and column K the end symbol.

    A pair that is not stored scores ``-weight * log(1 + row[y] * col[y'])``, the logarithm of a smoothed co-occurrence
    rate of which nothing was observed; with ``row`` and ``col`` zero it is a plain zero. In models of the second order
    ``triples`` has a row for each label two back (and the boundary), whose labels are the pairs after it,
    ``y' * (K + 1) + y''``; a triple that is not stored scores zero.
    """

    offsets: NDArray[np.int64]
    to: Ids
    scores: F32
    row: F32
    col: F32
    weight: float = 1.0
    local: bool = False  # each edge normalises over the labels it may lead to, as in a maximum entropy Markov model
    triples: SparseRows = field(default_factory=SparseRows)

    @classmethod
    def of_dense(cls, scores: F32, *, local: bool = False) -> EdgeScores:
        """From a (K + 1, K + 1) array; zeros are not stored."""
        size = len(scores)
        origin, to = np.nonzero(scores)
        return cls(
            np.searchsorted(origin, np.arange(size + 1)).astype(np.int64),
            to.astype(np.int32),
            np.ascontiguousarray(scores[origin, to], dtype=np.float32),
            np.zeros(size, np.float32),
            np.zeros(size, np.float32),
            local=local,
        )

    @property
    def n_labels(self) -> int:
        """K, the boundary symbol not counted."""
        return len(self.row) - 1

    def dense(self) -> F32:
        """The (K + 1, K + 1) table."""
        table = -self.weight * np.log1p(np.outer(self.row, self.col))
        origin = np.repeat(np.arange(len(self.row)), np.diff(self.offsets))
        table[origin, self.to] = self.scores
        return table.astype(np.float32)

    def native(self) -> _native.Edges:
        """As the decoder takes it: one table where labels are few, else looked up pair by pair."""
        triples = self.triples.arrays() if len(self.triples) else None
        if self.n_labels <= DENSE_LABELS:
            return _native.Edges.dense(self.dense(), self.local, triples)
        arrays = (self.offsets, self.to, self.scores, self.row, self.col)
        return _native.Edges.sparse(*arrays, self.weight, self.local, triples)


@dataclass(frozen=True, eq=False)
class ChainModel:
    """Everything a chain model scores with, in terms of a vocabulary's ids.

    ``rows`` holds a row for each known word, then for each context of each rung (starting at ``rung_bases``), and last
    the prior; without rows every label is a candidate everywhere. ``weights`` has a row for each feature, and so has
    ``edge_weights`` where edges depend on the observation: its labels are pairs, ``y * (K + 1) + y'``.
    """

    labels: StringTable
    edges: EdgeScores
    weights: SparseRows
    bias: F32
    rows: SparseRows = field(default_factory=SparseRows)
    rungs: tuple[int, ...] = ()
    rung_bases: tuple[int, ...] = ()
    word_column: int = 0
    all_labels: bool = False
    floor: float = -12.0
    edge_weights: SparseRows = field(default_factory=SparseRows)

    @property
    def locally_normalised(self) -> bool:
        """Whether scores are those of a maximum entropy Markov model: log P(y' | y, x)."""
        return self.edges.local

    @property
    def order(self) -> int:
        """How many labels before it the score of a label may depend on."""
        return 2 if len(self.edges.triples) else 1

    def engine(self, vocabulary: Vocabulary) -> _native.Engine:
        """The model made ready to tag; raises ModelError where its parts do not fit together."""
        finite = (
            self.bias,
            self.rows.scores,
            self.weights.scores,
            self.edge_weights.scores,
            self.edges.scores,
            self.edges.triples.scores,
            self.edges.row,
            self.edges.col,
        )
        if not all(np.isfinite(values).all() for values in finite):
            raise ModelError("the model holds scores that are not finite; train it again")
        row, col = self.edges.row.astype(np.float64), self.edges.col.astype(np.float64)
        highest = row.max(initial=0) * col.max(initial=0)
        if min(row.min(initial=0), col.min(initial=0)) < 0 or highest > float(np.finfo(np.float32).max):
            raise ModelError("the model's rates of label pairs are out of range; train it again")
        features = int(vocabulary.bases[-1])
        if len(self.weights) != features or len(self.edge_weights) not in (0, features):
            raise ModelError("the model's weights are not those of its features; train it again")
        if not vocabulary.columns and vocabulary.attributes is None:
            raise ModelError("the model reads neither columns nor ready-made features; train it again")
        if self.edges.n_labels != len(self.labels) or not (np.abs([self.floor, self.edges.weight]) < 1e9).all():
            raise ModelError("the model's labels and edge scores do not fit together; train it again")
        try:
            return _native.Engine(
                vocabulary.map,
                self.edges.native(),
                self.bias,
                self.word_column,
                self.rows.arrays(),
                list(self.rungs),
                list(self.rung_bases),
                self.weights.arrays(),
                self.edge_weights.arrays(),
                vocabulary.n_attributes,
                self.all_labels,
                self.floor,
            )
        except (ValueError, IndexError) as error:
            raise ModelError(f"the model's parts do not fit together: {error}; train it again") from None
