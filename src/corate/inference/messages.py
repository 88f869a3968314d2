"""Marginals and best labels of a pairwise field on any graph, by messages: exact on forests, approximate on loops.

    P(y) = 1 / Z exp( sum over nodes i of node_i(y_i) + sum over edges e = (i, j) of table_e(y_i, y_j) )

`native/inference/messages.h` has the equations of the messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.arguments import check_threads, check_whole
from corate.errors import ConfigError
from corate.types import F64

__all__ = ["Messages", "PairwiseField", "loop_weights"]

I32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PairwiseField:
    """Scores of labels and of pairs of labels on a graph. Edges share tables, for example one for each type of edge.

    Attributes:
        nodes: the scores of labels, ``(nodes, labels)``. Minus infinity forbids a label.
        edges: the two ends of each edge, ``(edges, 2)``.
        types: the table of each edge, ``(edges,)``.
        tables: the scores of pairs of labels, ``(tables, labels, labels)``, by the label of the first end and then by
            that of the second. Minus infinity forbids a pair.
        weights: the weight of each table where its edges are on loops, above 0 and at most 1; see :func:`loop_weights`.
            By default, 1: belief propagation.

    >>> same = np.log([[[3.0, 1.0], [1.0, 3.0]]])
    >>> chain = PairwiseField(np.log([[1, 1], [1, 1], [4, 1]]), [[0, 1], [1, 2]], [0, 0], same)
    >>> found = chain.pass_messages(log_z=True)
    >>> found.marginals.round(3).tolist(), round(float(found.log_z.sum()), 6) == round(float(np.log(4 * 4 * 5)), 6)
    ([[0.575, 0.425], [0.65, 0.35], [0.8, 0.2]], True)
    """

    nodes: F64
    edges: I32
    types: I32
    tables: F64
    weights: F64 | None = None

    def __post_init__(self) -> None:
        for name, kind, axes in (("nodes", np.float64, 2), ("edges", np.int32, 2), ("types", np.int32, 1)):
            array = np.ascontiguousarray(getattr(self, name), dtype=kind)
            object.__setattr__(self, name, array.reshape(-1, 2) if name == "edges" else array)
            if getattr(self, name).ndim != axes:
                raise ValueError(f"{name} must have {axes} axes, not {array.ndim}")
        tables = np.ascontiguousarray(self.tables, dtype=np.float64)
        object.__setattr__(self, "tables", tables)
        weights = np.ones(len(tables)) if self.weights is None else np.ascontiguousarray(self.weights, dtype=np.float64)
        object.__setattr__(self, "weights", weights)
        if tables.ndim != 3 or tables.shape[1:] != (self.n_labels, self.n_labels):
            raise ValueError(
                f"tables must have the shape (tables, {self.n_labels}, {self.n_labels}), not {tables.shape}"
            )

    @property
    def n_labels(self) -> int:
        """The number of labels of each node."""
        return int(self.nodes.shape[1])

    @cached_property
    def arrays(self) -> tuple[F64, I32, I32, I32, F64, F64]:
        """The arguments of the native kernels."""
        left, right = np.ascontiguousarray(self.edges.T)
        assert self.weights is not None
        return self.nodes, left, right, self.types, self.tables.reshape(-1, self.n_labels**2), self.weights

    def pass_messages(
        self,
        *,
        maximum: bool = False,
        begin: Messages | None = None,
        damping: float = 0.0,
        tolerance: float = 1e-6,
        sweeps: int = 200,
        labels: bool = False,
        log_z: bool = False,
        threads: int = 1,
    ) -> Messages:
        """Pass messages until none changes by more than ``tolerance``; on a tree one sweep is exact.

        Args:
            maximum: look for the best labels; the marginals are then those of maxima.
            begin: messages to begin with, of a field with the same graph.
            damping: the share of the old message in the new one, from 0 to less than 1. It helps where messages
                oscillate.
            tolerance: the largest change of a probability that counts as none.
            sweeps: how many sweeps over a component are made at most.
            labels: whether to choose labels, each the best given those before it. They are exact with ``maximum`` on a
                forest.
            log_z: whether to compute the logarithm of Z of each component: that of Bethe where there are loops. With
                ``maximum``, the score of the labels.
            threads: the number of threads. Results do not depend on it.

        Raises ValueError for arrays that do not fit together, and if the scores forbid all labels.
        """
        if not 0 <= damping < 1:
            raise ConfigError(f"damping must be a number from 0 to less than 1, not {damping!r}", option="damping")
        found = _native.pass_messages(
            self.arrays,
            None if begin is None else begin.logs.ravel(),
            maximum,
            damping,
            tolerance,
            check_whole("sweeps", sweeps, 1, 2**31 - 1),
            labels,
            log_z,
            check_threads(threads),
        )
        marginals, logs, best, log_zs, counts, change, components, on_loop = found
        return Messages(
            self,
            marginals.reshape(self.nodes.shape),
            logs.reshape(len(self.edges), 2, self.n_labels),
            best if labels or maximum else None,
            log_zs,
            counts,
            change,
            components,
            on_loop,
            tolerance,
        )


@dataclass(frozen=True, eq=False)
class Messages:
    """What messages found. Arrays by component have an entry for each connected part of the graph.

    Attributes:
        field: the field.
        log_marginals: the logarithms of the probabilities of labels, ``(nodes, labels)``.
        logs: the logarithms of the messages, ``(edges, 2, labels)``: to the second end, and to the first.
        labels: the label of each node; None if they were not asked for.
        log_z: the logarithm of Z, by component; zeros if it was not asked for.
        sweeps: the number of sweeps, by component.
        change: the largest change of a message in the last sweep, by component; 0 for trees.
        components: the component of each node.
        on_loop: whether each edge is in a component with a loop, 0 or 1.
        tolerance: the change that counts as none.
    """

    field: PairwiseField
    log_marginals: F64
    logs: F64
    labels: I32 | None
    log_z: F64
    sweeps: I32
    change: F64
    components: I32
    on_loop: NDArray[np.uint8]
    tolerance: float

    @cached_property
    def marginals(self) -> F64:
        """The probabilities of labels, ``(nodes, labels)``."""
        return portable_math.exp(self.log_marginals)

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether the messages converged, by component."""
        return self.change < self.tolerance

    @cached_property
    def coupling(self) -> float:
        """How much of a message comes back on loops: above 1, the marginals may be far from the truth.

        It is the number of other edges of a node on a loop, averaged over edges, times the correlation that their
        tables leave between two labels (:func:`loop_weights` has its definition). On forests it is 0.
        """
        edges, types = self.field.edges[self.on_loop > 0], self.field.types[self.on_loop > 0]
        if not len(edges):
            return 0.0
        correlation = np.array([_correlation(table) for table in self.field.tables])[types]
        degree = np.bincount(edges.ravel())
        total = np.bincount(edges.ravel(), weights=np.repeat(correlation, 2))
        return float(((degree - 1) * total).sum() / degree.sum())

    @property
    def _arrays(self) -> tuple[Any, F64, F64, NDArray[np.uint8]]:
        return self.field.arrays, self.log_marginals, self.logs.ravel(), self.on_loop

    def edge_marginals(self, edges: I32 | None = None, *, threads: int = 1) -> F64:
        """The probabilities of pairs of labels, ``(edges, labels, labels)``, of some edges; by default, of all."""
        chosen = (
            np.arange(len(self.field.edges), dtype=np.int32) if edges is None else np.asarray(edges, dtype=np.int32)
        )
        found = _native.edge_marginals(*self._arrays, chosen, check_threads(threads))
        return found.reshape(len(chosen), self.field.n_labels, self.field.n_labels)

    def edge_sums(self, weights: F64 | None = None, *, threads: int = 1) -> F64:
        """The same, added up over the edges of each table: ``(tables, labels, labels)``. Edges may have weights."""
        given = np.ones(len(self.field.edges)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        found = _native.edge_sums(*self._arrays, given, check_threads(threads))
        return found.reshape(self.field.tables.shape)


def loop_weights(edges: I32, types: I32, tables: F64, *, most: int = 1000, seed: int = 0) -> F64:
    """Weights of tables that make up for short loops: ``(tables,)``, for :class:`PairwiseField`.

    The message along an edge of a loop of n edges comes back around the loop, weakened by a factor of each other edge,
    which is the correlation c that its table leaves between the two labels. It counts as evidence for the second time.
    So an edge on k triangles and q squares has the weight

        1 / (1 + k c + q c^2)

    which is averaged over the edges of a table. Loops of more than four edges are left out. At most ``most`` edges of
    a table are looked at, which ``seed`` chooses.

    >>> same = np.log([[[2.0, 1.0], [1.0, 2.0]]])  # the labels are the same with probability 2 / 3: correlation 1 / 3
    >>> loop_weights(np.array([[0, 1], [1, 2], [2, 3]]), np.zeros(3, int), same).tolist()
    [1.0]
    >>> loop_weights(np.array([[0, 1], [1, 2], [0, 2]]), np.zeros(3, int), same).round(6).tolist()
    [0.75]
    """
    if not len(edges):
        return np.ones(len(tables))
    near = _neighbours(np.asarray(edges))
    rng = np.random.default_rng(seed)
    found = np.ones(len(tables))
    for t, table in enumerate(tables):
        own = np.flatnonzero(np.asarray(types) == t)
        if not len(own):
            continue
        c = _correlation(table)
        chosen = own if len(own) <= most else rng.choice(own, most, replace=False)
        loops = [_short_loops(near, int(i), int(j)) for i, j in np.asarray(edges)[chosen]]
        found[t] = np.mean([1 / (1 + triangles * c + squares * c**2) for triangles, squares in loops])
    return found


def _neighbours(edges: I32) -> tuple[NDArray[np.int64], I32]:
    """The neighbours of each node, ascending: offsets and nodes."""
    both = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    counts = np.bincount(both[:, 0])
    return np.concatenate([[0], np.cumsum(counts)]), both[order, 1]


def _short_loops(near: tuple[NDArray[np.int64], I32], i: int, j: int) -> tuple[int, int]:
    """How many triangles and squares an edge is on. Of nodes with many neighbours, the first hundred are looked at."""
    offsets, nodes = near

    def around(node: int) -> set[int]:
        return set(nodes[offsets[node] : min(offsets[node + 1], offsets[node] + 100)].tolist())

    left, right = around(i) - {j}, around(j) - {i}
    squares = sum(len(around(node) & right - {node, i}) for node in left)
    return len(left & right), squares


def _correlation(table: F64) -> float:
    """The largest correlation of functions of two labels whose joint probabilities are proportional to exp(table)."""
    joint = np.exp(table - table.max())
    joint /= joint.sum()
    scale = np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    values = np.linalg.svd(np.divide(joint, scale, out=np.zeros_like(joint), where=scale > 0), compute_uv=False)
    return float(min(values[1], 1.0)) if len(values) > 1 else 0.0
