"""Pairs of neighbouring labels: each as one number, their scores, and their place among the weights of a chain model.

The native twins are ``native/core/label_pairs.h`` and ``native/chain/weight_layout.h``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.rows import Ragged, SparseRows
from corate.types import F32, Ids

__all__ = ["DENSE_LABELS", "FORBIDDEN", "ChainWeights", "EdgeScores", "LabelPairs"]

#: With at most this many labels, edge scores become one dense table when a model is loaded or built.
DENSE_LABELS = 1024
#: The score of a label pair that a scheme forbids. Other scores of a labelling cannot make up for it.
FORBIDDEN = -1e4

Int64 = NDArray[np.int64]
Labels = NDArray[np.integer[Any]] | int


@dataclass(frozen=True)
class LabelPairs:
    """Pairs (y, y') of K labels and the boundary symbol, as the numbers y * (K + 1) + y'.

    The boundary has the id K. As y it is the start of a sentence, as y' its end. A triple (y, y', y'') is the pair of
    (y, y') and y'', so `ids` and `split` also make and take apart triples.

    >>> pairs = LabelPairs(2)
    >>> pairs.ids(np.array([0, 2]), np.array([1, 0])).tolist(), len(pairs), pairs.shape
    ([1, 6], 9, (3, 3))
    >>> [ends.tolist() for ends in pairs.split(np.array([1, 6]))]
    [[0, 2], [1, 0]]
    """

    n_labels: int

    def __len__(self) -> int:
        return (self.n_labels + 1) ** 2

    @property
    def boundary(self) -> int:
        """The id of the boundary symbol, K."""
        return self.n_labels

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a table of all pairs."""
        return self.n_labels + 1, self.n_labels + 1

    def ids(self, left: Labels, right: Labels) -> Int64:
        """The numbers of pairs."""
        return np.asarray(np.multiply(left, self.n_labels + 1, dtype=np.int64) + right, np.int64)

    def split(self, ids: NDArray[np.integer[Any]]) -> tuple[Int64, Int64]:
        """The labels of pairs: y, y'."""
        left, right = np.divmod(ids.astype(np.int64), self.n_labels + 1)
        return left, right

    def along(self, labels: Ids, offsets: Int64) -> Ids:
        """The pair of each token: the label before it (the boundary at a start) and its own; -1 if one is unknown.

        >>> LabelPairs(2).along(np.array([0, 1, -1, 1], np.int32), np.array([0, 3, 4])).tolist()
        [6, 1, -1, 7]
        """
        before = np.roll(labels, 1).astype(np.int64)
        before[offsets[:-1][np.diff(offsets) > 0]] = self.boundary
        return np.where((before < 0) | (labels < 0), -1, self.ids(before, labels)).astype(np.int32)

    def offsets(self, left: NDArray[np.integer[Any]]) -> Int64:
        """Where the pairs of each left label begin, for ascending left labels: (K + 2,) offsets."""
        return np.searchsorted(left, np.arange(self.n_labels + 2)).astype(np.int64)

    def grown(self, table: F32, n_labels: int) -> F32:
        """A (K + 1, K + 1) table with new labels between the old ones and the boundary; their pairs have zeros."""
        wider = np.zeros(LabelPairs(n_labels).shape, table.dtype)
        places = self.places(n_labels)
        wider[np.ix_(places, places)] = table
        return wider

    def places(self, n_labels: int) -> Int64:
        """The new ids of the labels and of the boundary, if labels are added to make ``n_labels``."""
        return np.append(np.arange(self.n_labels), n_labels)


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """The weights of a chain in training. In one vector, they stand in the order of these attributes.

    ``edges`` are T, (K + 1, K + 1), of label pairs; ``extra`` are U, of label pairs by edge feature; ``nodes`` are W,
    in slots of node features and labels; ``triples`` are S.
    """

    edges: F32
    extra: SparseRows = field(default_factory=SparseRows)
    nodes: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    triples: SparseRows = field(default_factory=SparseRows)

    def vector(self) -> F32:
        """All weights in one vector."""
        parts = (self.edges.ravel(), self.extra.scores, self.nodes, self.triples.scores)
        return np.concatenate(parts).astype(np.float32)

    def of(self, vector: F32) -> ChainWeights:
        """Other weights in the same places, from one vector."""
        cuts = np.cumsum([self.edges.size, len(self.extra.scores), len(self.nodes)])
        edges, extra, nodes, triples = np.split(vector, cuts)
        return ChainWeights(
            edges.reshape(self.edges.shape),
            replace(self.extra, scores=extra),
            nodes,
            replace(self.triples, scores=triples),
        )


@dataclass(frozen=True, eq=False)
class EdgeScores(Ragged):
    """Sparse scores of label pairs; row K is the start symbol and column K the end symbol.

    A pair that is not stored scores ``-weight * log(1 + row[y] * col[y'])``, the smoothed log co-occurrence rate of a
    pair that was never observed. This is zero if ``row`` and ``col`` are zero. In models of the second order,
    ``triples`` has a row for each first label y (and the boundary); its labels are the pairs (y', y'')
    after y. A triple that is not stored scores zero.
    """

    to: Ids
    scores: F32
    row: F32
    col: F32
    weight: float = 1.0
    local: bool = False  # scores are normalised over the next label, as in a maximum entropy Markov model
    triples: SparseRows = field(default_factory=SparseRows)

    ENTRIES: ClassVar[tuple[str, ...]] = ("to", "scores")

    @classmethod
    def of_dense(cls, scores: F32, *, local: bool = False) -> EdgeScores:
        """From a (K + 1, K + 1) array; zeros are not stored."""
        size = len(scores)
        origin, to = np.nonzero(scores)
        return cls(
            LabelPairs(size - 1).offsets(origin),
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
        logs = np.where(product < 1.5e-8, product, portable_math.log(1.0 + product.astype(np.float64)))
        table = -np.float32(self.weight) * logs.astype(np.float32)
        table[self.owners, self.to] = self.scores
        return np.asarray(table, dtype=np.float32)

    def native(self) -> _native.Edges:
        """The edges of the decoder: a dense table for few labels, else sparse rows."""
        triples = self.triples.arrays() if len(self.triples) else None
        if self.n_labels <= DENSE_LABELS:
            return _native.Edges.dense(self.dense(), self.local, triples)
        arrays = (self.offsets, self.to, self.scores, self.row, self.col)
        return _native.Edges.sparse(*arrays, self.weight, self.local, triples)
