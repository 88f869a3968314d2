"""Edge scores from counted label pairs: the logarithm of their co-occurrence rate (definition 1 of the paper).

    CR(y; y') = P(y, y') / (P(y) P(y')) = n(y, y') / e(y, y'),    e(y, y') = n(y, .) n(., y') / n

n(y, y') was observed and e(y, y') is what independent labels would give. A constant k added to both draws the rate to 1
where there is little to go by, and makes a pair never seen repulsive only as far as it was expected:

    edge(y, y') = weight * log((n(y, y') + k) / (e(y, y') + k))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.training.counts import PairCounts

__all__ = ["DENSE_LABELS", "EdgeScores"]

#: Up to so many labels the edge scores are expanded into one table when a model is made ready.
DENSE_LABELS = 1024

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class EdgeScores:
    """Scores of label pairs, sparse; row K is the start symbol and column K the end symbol.

    A pair that is not stored scores ``-weight * log(1 + row[y] * col[y'])``.
    """

    offsets: NDArray[np.int64]
    to: NDArray[np.int32]
    scores: F32
    row: F32
    col: F32
    weight: float = 1.0

    @classmethod
    def of_counts(cls, pairs: PairCounts, n_labels: int, k: float, weight: float = 1.0) -> EdgeScores:
        """Weighted log co-occurrence rates, smoothed with ``k``.

        >>> labels, offsets = np.array([0, 1, 0, 1], dtype=np.int32), np.array([0, 2, 4])
        >>> pairs = PairCounts(*_native.count_pairs(labels, offsets, 2))
        >>> edges = EdgeScores.of_counts(pairs, 2, k=0.5)
        >>> bool(edges.dense()[0, 1] > 0 > edges.dense()[1, 0])
        True
        """
        size = n_labels + 1
        row = np.bincount(pairs.origin, weights=pairs.counts, minlength=size)
        col = np.bincount(pairs.to, weights=pairs.counts, minlength=size)
        total = max(float(row.sum()), 1.0)
        expected = row[pairs.origin] * col[pairs.to] / total
        scores = weight * np.log((pairs.counts + k) / (expected + k))
        offsets = np.searchsorted(pairs.origin, np.arange(size + 1))
        scale = np.sqrt(total * k)
        return cls(
            offsets.astype(np.int64),
            pairs.to,
            scores.astype(np.float32),
            (row / scale).astype(np.float32),
            (col / scale).astype(np.float32),
            weight,
        )

    @classmethod
    def of_dense(cls, scores: F32) -> EdgeScores:
        """All pairs stored, from a (K + 1, K + 1) array."""
        size = len(scores)
        return cls(
            np.arange(size + 1, dtype=np.int64) * size,
            np.tile(np.arange(size, dtype=np.int32), size),
            np.ascontiguousarray(scores, dtype=np.float32).ravel(),
            np.zeros(size, np.float32),
            np.zeros(size, np.float32),
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
        if self.n_labels <= DENSE_LABELS:
            return _native.Edges.dense(self.dense())
        return _native.Edges.sparse(self.offsets, self.to, self.scores, self.row, self.col, self.weight)
