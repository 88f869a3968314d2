"""Scores by label and by pair of labels, sparse: what counting derives, what models hold, what training changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.ragged import offsets_of, take_rows
from corate.types import F32, Ids

__all__ = ["DENSE_LABELS", "EdgeScores", "SparseRows"]

#: Up to so many labels the edge scores are expanded into one table when a model is made ready.
DENSE_LABELS = 1024


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
        offsets, where = take_rows(self.offsets, rows)
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
        offsets = offsets_of(kept)[self.offsets]
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
