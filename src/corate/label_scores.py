"""Sparse scores of labels and of label pairs. Counting derives them, models store them, training changes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable
from corate.ragged import offsets_of, take_rows
from corate.types import F32, Ids

__all__ = [
    "DENSE_LABELS",
    "FORBIDDEN",
    "EdgeScores",
    "FeatureWeight",
    "LabelPair",
    "SparseRows",
    "extremes",
    "rate_scale",
]

#: With at most this many labels, edge scores become one dense table when a model is loaded or built.
DENSE_LABELS = 1024
#: The score of a label pair that a scheme forbids. Other scores of a labelling cannot make up for it.
FORBIDDEN = -1e4


class LabelPair(NamedTuple):
    """Two neighbouring labels with the weight of the pair in a model.

    ``rate`` is the co-occurrence rate: how many times more often than by chance the second label follows the first. It
    is None in models whose weights are fitted, because words explain a part of it there.
    """

    left: str
    right: str
    weight: float
    rate: float | None = None


class FeatureWeight(NamedTuple):
    """A feature, a label, and the weight of the feature for the label."""

    feature: str
    label: str
    weight: float


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of (label, score): row ``i`` is from ``offsets[i]`` to ``offsets[i + 1]``, with ascending labels."""

    offsets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    labels: Ids = field(default_factory=lambda: np.zeros(0, np.int32))
    scores: F32 = field(default_factory=lambda: np.zeros(0, np.float32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def arrays(self) -> tuple[NDArray[np.int64], Ids, F32]:
        """The arrays that the native code takes."""
        return self.offsets, self.labels, self.scores

    def scaled(self, factor: float) -> SparseRows:
        """The same rows with their scores multiplied."""
        return SparseRows(self.offsets, self.labels, self.scores * np.float32(factor))

    def padded(self, rows: int) -> SparseRows:
        """The rows with empty ones added at the end, up to ``rows``."""
        tail = np.full(rows - len(self), self.offsets[-1], dtype=np.int64)
        return SparseRows(np.concatenate([self.offsets, tail]), self.labels, self.scores)

    def take(self, rows: NDArray[np.int64]) -> SparseRows:
        """Some of the rows, in the given order."""
        offsets, where = take_rows(self.offsets, rows)
        return SparseRows(offsets, self.labels[where], self.scores[where])

    def plus(self, other: SparseRows) -> SparseRows:
        """The sum of two sets of rows of the same number.

        >>> a = SparseRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0], np.float32))
        >>> b = SparseRows(np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
        >>> a.plus(b).scores.tolist()
        [1.0, 2.5]
        """
        return SparseRows(*_native.add_sparse_rows(self.arrays(), other.arrays()))

    def compacted(self) -> SparseRows:
        """The rows without the entries whose score is zero.

        >>> rows = SparseRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([0.0, 2.0], np.float32))
        >>> rows.compacted().labels.tolist()
        [1]
        """
        return self.where(self.scores != 0)

    def where(self, kept: NDArray[np.bool_]) -> SparseRows:
        """The rows with only the entries that are marked."""
        return SparseRows(offsets_of(kept)[self.offsets], self.labels[kept], self.scores[kept])

    @staticmethod
    def joined(parts: list[SparseRows]) -> SparseRows:
        """The rows of all parts, one part after another."""
        starts = np.cumsum([0, *(len(p.labels) for p in parts)])
        offsets = [p.offsets[1:] + start for p, start in zip(parts, starts, strict=False)]
        return SparseRows(
            np.concatenate([np.zeros(1, np.int64), *offsets]),
            np.concatenate([np.zeros(0, np.int32), *(p.labels for p in parts)]),
            np.concatenate([np.zeros(0, np.float32), *(p.scores for p in parts)]),
        )

    @staticmethod
    def empty(rows: int) -> SparseRows:
        """This many empty rows."""
        return SparseRows(np.zeros(rows + 1, np.int64))


@dataclass(frozen=True, eq=False)
class EdgeScores:
    """Sparse scores of label pairs; row K is the start symbol and column K the end symbol.

    A pair that is not stored scores ``-weight * log(1 + row[y] * col[y'])``, the smoothed log co-occurrence rate of a
    pair that was never observed. This is zero if ``row`` and ``col`` are zero. In models of the second order,
    ``triples`` has a row for each first label y (and the boundary); its labels are the pairs ``y' * (K + 1) + y''``
    after y. A triple that is not stored scores zero.
    """

    offsets: NDArray[np.int64]
    to: Ids
    scores: F32
    row: F32
    col: F32
    weight: float = 1.0
    local: bool = False  # scores are normalised over the next label, as in a maximum entropy Markov model
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

    def scaled(self, factor: float) -> EdgeScores:
        """The same pairs and triples with their scores multiplied."""
        return replace(
            self,
            scores=self.scores * np.float32(factor),
            weight=self.weight * factor,
            triples=self.triples.scaled(factor),
        )

    @property
    def n_labels(self) -> int:
        """K, without the boundary symbol."""
        return len(self.row) - 1

    def dense(self) -> F32:
        """The (K + 1, K + 1) table."""
        product = np.outer(self.row, self.col).astype(np.float32)
        # log(1 + product) as in native/chain/lattice.h
        logs = np.where(product < 1.5e-8, product, portable.log(1.0 + product.astype(np.float64)))
        table = -np.float32(self.weight) * logs.astype(np.float32)
        origin = np.repeat(np.arange(len(self.row)), np.diff(self.offsets))
        table[origin, self.to] = self.scores
        return np.asarray(table, dtype=np.float32)

    def native(self) -> _native.Edges:
        """The edges of the decoder: a dense table for few labels, else sparse rows."""
        triples = self.triples.arrays() if len(self.triples) else None
        if self.n_labels <= DENSE_LABELS:
            return _native.Edges.dense(self.dense(), self.local, triples)
        arrays = (self.offsets, self.to, self.scores, self.row, self.col)
        return _native.Edges.sparse(*arrays, self.weight, self.local, triples)


def extremes(values: NDArray[np.float32], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the ``n`` highest positive and the ``n`` lowest negative values, the most extreme first.

    >>> [found.tolist() for found in extremes(np.array([0.5, -1, 0, 2, 1], np.float32), 2)]
    [[3, 4], [1]]
    """

    def lowest(of: NDArray[np.float32]) -> NDArray[np.int64]:
        some = np.argpartition(of, n)[:n] if n < len(of) else np.arange(len(of))
        some = some[of[some] < 0]
        return np.asarray(some[np.lexsort((some, of[some]))], dtype=np.int64)

    return lowest(-values), lowest(values)


def rate_scale(record: Mapping[str, Any]) -> float | None:
    """What the logarithms of counted rates were multiplied by to give a model's edge scores; None if they were fitted.

    ``record`` is the record of the model.

    >>> rate_scale({"method": "empirical", "settings": {"edge": 0.5}}), rate_scale({"method": "polish"})
    (0.5, None)
    """
    settings = record.get("settings")
    if record["method"] != "empirical" or record.get("ladder") == "pooled" or not isinstance(settings, dict):
        return None
    scale = settings.get("edge")
    temperature = record.get("temperature", 1.0)
    return float(scale) / temperature if isinstance(scale, int | float) and 0 < scale < np.inf else None
