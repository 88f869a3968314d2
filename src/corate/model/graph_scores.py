"""The scores of a model of graphs: what nodes and typed edges add to the score of a labelling.

    score(y) = sum over nodes v of (W f_v)(y_v) + sum over edges (u, v) of types t of (T_t + sum_k z_k U_tk)(y_u, y_v)

f_v are the features of a node, names and numbers. T_t are the logarithms of co-occurrence rates of a type, and z the
features of an edge. An edge of a type that training did not have has the rate 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.display import counted
from corate.edges import EdgeSet
from corate.errors import DataError
from corate.rows import offsets_of, owners_of, take_rows
from corate.types import F32, F64, Csr, Ids, Offsets

__all__ = [
    "EdgeTable",
    "GraphField",
    "GraphScores",
    "NodeClassifier",
    "NodeFeatures",
    "check_graphs",
    "given_scores",
    "joined_features",
]


class NodeClassifier(Protocol):
    """Gives the log-probabilities of the labels of nodes, in place of the model's own weights."""

    def with_scores(self, corpus: Corpus, names: Sequence[str]) -> F64:
        """The log-probabilities of the nodes of a corpus, ``(nodes, labels)``."""
        ...


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The scores of the edges of a type, by the label of the first end and then by that of the second.

    Attributes:
        type: the name of the type.
        symmetric: whether the order of the two ends has no meaning.
        table: T, ``(labels, labels)``.
        weights: U, ``(d, labels, labels)``; d is 0 for edges without features.
    """

    type: str
    symmetric: bool
    table: F32
    weights: F32

    def of_edges(self, edges: EdgeSet) -> F64:
        """The tables of edges: one for all, or one for each edge if they have features."""
        width = 0 if edges.attributes is None else edges.attributes.shape[1]
        if width != len(self.weights):
            raise DataError(
                f"the type {edges.type!r} has {counted(width, 'edge feature')}, but {len(self.weights)} in training"
            )
        if edges.attributes is None or not width:
            return self.table[None].astype(np.float64)
        # not by a product of matrices, whose order of additions depends on the processor: training decides by this
        found = np.tile(self.table.astype(np.float64), (len(edges.attributes), 1, 1))
        for column, weights in zip(edges.attributes.T.astype(np.float64), self.weights.astype(np.float64), strict=True):
            found += column[:, None, None] * weights
        return found


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """The features of nodes: names with values, as rows of ids below ``n_names``, and numbers, ``(nodes, d)``."""

    rows: Csr
    values: F32 | None
    n_names: int
    vectors: F32 | None = None

    @classmethod
    def given(cls, log_probs: F64) -> NodeFeatures:
        """Log-probabilities of labels as the only features of nodes."""
        nothing = (np.zeros(len(log_probs) + 1, np.int64), np.zeros(0, np.int32))
        return cls(nothing, None, 0, log_probs.astype(np.float32))

    def take(self, nodes: NDArray[np.int64]) -> NodeFeatures:
        """The features of some nodes."""
        offsets, places = take_rows(self.rows[0], nodes)
        values = None if self.values is None else self.values[places]
        vectors = None if self.vectors is None else self.vectors[nodes]
        return NodeFeatures((offsets, self.rows[1][places]), values, self.n_names, vectors)

    def model(self, n_labels: int) -> _native.LogLinear:
        """The native regression of labels on these features."""
        return self.regression(np.arange(n_labels, dtype=np.int32), None)

    def regression(self, columns: Ids, ends: tuple[F32, Ids, Ids] | None) -> _native.LogLinear:
        """The native regression of outcomes with these columns; ``ends`` are as in ``native/training/losses``."""
        vectors = None if self.vectors is None else np.ascontiguousarray(self.vectors, dtype=np.float32)
        if vectors is None or np.count_nonzero(vectors) > vectors.size // 2:
            return _native.LogLinear(self.rows, self.values, self.n_names, vectors, columns, ends)
        row, column = np.nonzero(vectors)  # mostly zeros: only the other numbers are visited
        starts = offsets_of(np.bincount(row, minlength=len(vectors)))
        numbers = (starts, (column + self.n_names).astype(np.int32)), vectors[row, column]
        rows, values = joined_features([(self.rows, self.values), numbers], len(vectors))
        return _native.LogLinear(rows, values, self.n_names + vectors.shape[1], None, columns, ends)


@dataclass(frozen=True, eq=False)
class GraphScores:
    """What a model of graphs has besides the weights of named features.

    Attributes:
        edges: the scores of each type of edges.
        vectors: the weights of the columns of ``Corpus.vectors``, ``(d, labels)``.
        given: whether the columns are those of ``Corpus.node_log_probs``, which nodes have in place of other features.
    """

    edges: tuple[EdgeTable, ...]
    vectors: F32
    given: bool = False

    def tables_of(self, sets: Sequence[EdgeSet], n_labels: int) -> list[F64]:
        """The tables of each type, as of `EdgeTable.of_edges`. A warning names the types that training did not have."""
        known = {own.type: own for own in self.edges}
        unknown = [edges.type for edges in sets if edges.type not in known]
        if unknown:
            names, more = ", ".join(map(repr, unknown[:5])), ", ..." * (len(unknown) > 5)
            have, others = ", ".join(map(repr, list(known)[:5])) or "none", ", ..." * (len(known) > 5)
            warnings.warn(
                f"the model was trained without edges of the type {names}{more}, so they have the rate 1; "
                f"its types are {have}{others}",
                stacklevel=6,
            )
        tables = []
        for edges in sets:
            width = 0 if edges.attributes is None else edges.attributes.shape[1]
            zeros = np.zeros((width + 1, n_labels, n_labels), np.float32)
            tables.append(known.get(edges.type, EdgeTable(edges.type, False, zeros[0], zeros[1:])).of_edges(edges))
        return tables


@dataclass(frozen=True, eq=False)
class GraphField:
    """The scores of some graphs, as inference takes them.

    Attributes:
        offsets: the offsets of the graphs, in nodes.
        nodes: the scores of labels, ``(nodes, labels)``.
        ends: the two ends of each edge, ``(edges, 2)``, counted over all graphs.
        kinds: the table of each edge, ``(edges,)``.
        tables: ``(tables, labels, labels)``.
        types: for each type, its name and the range of its edges.
    """

    offsets: Offsets
    nodes: F64
    ends: NDArray[np.int32]
    kinds: NDArray[np.int32]
    tables: F64
    types: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, offsets: Offsets, sets: Sequence[EdgeSet], nodes: F64, scores: Sequence[F64]) -> GraphField:
        """The field of some graphs. ``scores`` are the tables of each type of edges: one, or one for each edge."""
        n_labels = nodes.shape[1]
        ends, kinds, types, edge, table = [np.zeros((0, 2), np.int32)], [np.zeros(0, np.int32)], [], 0, 0
        for edges, own in zip(sets, scores, strict=True):
            m = len(edges.left)
            ends.append(edges.ends(offsets))
            one = len(own) == 1
            kinds.append(np.full(m, table, np.int32) if one else np.arange(table, table + m, dtype=np.int32))
            types.append((edges.type, edge, edge + m))
            edge, table = edge + m, table + len(own)
        tables = np.concatenate([np.zeros((0, n_labels, n_labels)), *scores])
        return cls(offsets, nodes, np.concatenate(ends), np.concatenate(kinds), tables, tuple(types))

    def graph(self, g: int) -> GraphField:
        """One of the graphs."""
        a, b = int(self.offsets[g]), int(self.offsets[g + 1])
        own = np.flatnonzero((self.ends[:, 0] >= a) & (self.ends[:, 0] < b))
        used, kinds = np.unique(self.kinds[own], return_inverse=True)
        types = []
        for name, start, stop in self.types:
            first, last = np.searchsorted(own, (start, stop)).tolist()
            types.append((name, first, last))
        ends = (self.ends[own] - a).astype(np.int32)
        offsets = np.array([0, b - a], np.int64)
        return GraphField(offsets, self.nodes[a:b], ends, kinds.astype(np.int32), self.tables[used], tuple(types))

    def score(self, labels: NDArray[Any]) -> float:
        """The score of a labelling, before normalising."""
        left, right = labels[self.ends[:, 0]], labels[self.ends[:, 1]]
        nodes = self.nodes[np.arange(len(labels)), labels].sum()
        return float(nodes + self.tables[self.kinds, left, right].sum())


def joined_features(parts: Sequence[tuple[Csr, F32 | None]], n: int) -> tuple[Csr, F32 | None]:
    """The features of several sources, row by row; an id of -1 is left out."""
    owners = np.concatenate([owners_of(offsets) for (offsets, _), _ in parts])
    ids = np.concatenate([ids for (_, ids), _ in parts])
    values = None
    if any(own is not None for _, own in parts):
        each = [np.ones(len(rows[1]), np.float32) if own is None else own for rows, own in parts]
        values = np.concatenate(each).astype(np.float32)
    known = np.flatnonzero(ids >= 0)
    order = known[np.argsort(owners[known], kind="stable")] if len(parts) > 1 else known
    offsets = offsets_of(np.bincount(owners[known], minlength=n))
    return (offsets, ids[order].astype(np.int32)), None if values is None else values[order]


def check_graphs(given: object) -> Corpus:
    """The corpus. Raises DataError, with the remedy, if it is not one of graphs."""
    if not isinstance(given, Corpus) or given.edges is None:
        what = "a corpus of sentences" if isinstance(given, Corpus) else f"a {type(given).__name__}"
        raise DataError(
            f"the model labels the nodes of graphs, and this is {what}",
            "make a corpus with Corpus.from_graphs, or read one with corate.read(..., edges=...)",
        )
    return given


def given_scores(corpus: Corpus, labels: Sequence[str]) -> F64:
    """The log-probabilities of labels that another model gave. Raises DataError if there are none, or others.

    The columns are in the order of the labels of the corpus, if it has labels, and else in that of the model.
    """
    found = corpus.node_log_probs
    if found is None or found.shape[1] != len(labels):
        have = "none" if found is None else f"those of {found.shape[1]}"
        raise DataError(
            f"the model takes log-probabilities of {counted(len(labels), 'label')} for each node; there are {have}",
            "give them to Corpus.from_graphs as node_log_probs",
        )
    own = [] if corpus.labels is None else corpus.labels.strings.to_list()
    if len(own) == len(labels) and own != list(labels):
        if set(own) != set(labels):
            other = next(name for name in own if name not in set(labels))
            raise DataError(f"node_log_probs has a column for the label {other!r}, which the model does not know")
        found = found[:, [own.index(name) for name in labels]]
    return np.asarray(found, np.float64)
