"""Answers of pairwise fields: every node has the same labels, and edges share tables of scores.

    P(y) = 1 / Z exp( sum over nodes i of node_i(y_i) + sum over edges e = (i, j) of table_e(y_i, y_j) )

A graph is answered by connected component. Trees take two passes of messages, which are exact. Components with loops
need a clique tree for exact answers; those with the same shape share one, and are answered together. A component whose
clique tree would be too large is answered by messages, which are approximate there. Many graphs are one graph with many
components.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.display import counted, size
from corate.errors import ConfigError
from corate.inference.messages import Messages, PairwiseField
from corate.inference.trees import CliqueTree, Distribution
from corate.inference.triangulation import triangulate
from corate.types import F64

__all__ = ["FieldPlan", "FieldResult"]

I32 = NDArray[np.int32]
#: Numbers of scores that are passed to a clique tree at a time.
_CELLS = 1 << 23
#: The most nodes of a component whose clique tree is searched for, if messages can take its place.
_SEARCHED = 2_000


@dataclass(frozen=True, eq=False)
class FieldResult:
    """What :meth:`FieldPlan.expectations` found.

    Attributes:
        log_z: log Z of each component.
        nodes: the probabilities of labels, ``(nodes, labels)``.
        edges: the probabilities of pairs of labels, ``(edges, labels, labels)``, or their sums over the edges of each
            table, ``(tables, labels, labels)``.
        messages: the messages of the components that are not on clique trees; None if there are none.
    """

    log_z: F64
    nodes: F64
    edges: F64
    messages: Messages | None = None


@dataclass(frozen=True, eq=False)
class _Shape:
    """Components with the same edges between their nodes, in order: a row of each array is one component."""

    tree: CliqueTree
    components: NDArray[np.intp]
    nodes: NDArray[np.intp]
    edges: NDArray[np.intp]


class FieldPlan:
    """How a graph is answered: its components, and a clique tree for each shape that has loops.

    Args:
        n_nodes: the number of nodes.
        n_labels: the number of labels of every node.
        edges: the two ends of each edge, ``(edges, 2)``. Two nodes may have several edges.
        memory: the most bytes that the tables of one component may need.
        seed: the seed of the search for good triangulations.
        approximate: whether components that need more than ``memory`` bytes are answered by messages.

    Attributes:
        component: the connected component of each node; components are in the order of their first nodes.
        is_tree: whether each component has no loop.
        exact: whether the answers of each component are exact.
        treewidth: the largest treewidth of a triangulation that was found.
        bytes_needed: what the tables of the largest component need.

    Raises ConfigError if a component needs more than ``memory`` bytes and ``approximate`` is False, and ValueError for
    edges that cannot be.

    >>> square = FieldPlan(4, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> same = np.log([[[2.0, 1.0], [1.0, 2.0]]])
    >>> found = square.expectations(np.zeros((4, 2)), np.zeros(4, int), same)
    >>> round(float(np.exp(found.log_z[0])), 6), found.edges[0].round(3).tolist()
    (82.0, [[0.341, 0.159], [0.159, 0.341]])
    >>> labels, scores = square.best(np.array([[0, 1], [0, 0], [0, 0], [0, 0]]), np.zeros(4, int), same)
    >>> labels.tolist()
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        n_nodes: int,
        n_labels: int,
        edges: Any,
        *,
        memory: int = 4 << 30,
        seed: int = 0,
        approximate: bool = False,
    ) -> None:
        self.n_nodes, self.n_labels = n_nodes, n_labels
        self.edges: I32 = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
        left, right = np.ascontiguousarray(self.edges.T)
        self.component, tree = _native.components(n_nodes, left, right)
        self.is_tree = tree.astype(bool)
        self.exact = np.ones(len(tree), dtype=bool)
        self._seed = seed
        self.treewidth, self.bytes_needed = int(len(self.edges) > 0), 0
        self._shapes = list(self._found_shapes(memory, approximate))
        self._is_passed = self.is_tree | ~self.exact
        on_passed = self._is_passed[self.component] if n_nodes else np.zeros(0, dtype=bool)
        self._passed_nodes = np.flatnonzero(on_passed)
        self._passed_edges = np.flatnonzero(on_passed[left]) if len(left) else np.zeros(0, dtype=np.intp)
        renumbered = np.zeros(n_nodes, dtype=np.int32)
        renumbered[self._passed_nodes] = np.arange(len(self._passed_nodes))
        self._passed_ends = renumbered[self.edges[self._passed_edges]]

    @property
    def is_forest(self) -> bool:
        """Whether the graph has no loop."""
        return bool(self.is_tree.all())

    def expectations(
        self,
        nodes: F64,
        types: Any,
        tables: F64,
        *,
        sums: bool = False,
        begin: Messages | None = None,
        tolerance: float = 1e-6,
        sweeps: int = 200,
        threads: int = 1,
    ) -> FieldResult:
        """log Z and all marginals: the derivatives of log Z by the scores.

        Args:
            nodes: the scores of labels, ``(nodes, labels)``. Minus infinity forbids a label.
            types: the table of each edge, ``(edges,)``.
            tables: the scores of pairs of labels, ``(tables, labels, labels)``, by the label of the first end and then
                by that of the second. Minus infinity forbids a pair.
            sums: add the probabilities of pairs up over the edges of each table, for graphs with many edges.
            begin: the messages of an earlier result, to begin with.
            tolerance, sweeps: when messages on loops stop, as in :meth:`PairwiseField.pass_messages`.
            threads: the number of threads. Results do not depend on it.

        Raises ValueError if scores do not fit the plan, and if they forbid all labels.
        """
        nodes, kinds, tables = self._checked(nodes, types, tables)
        log_z, passed = np.zeros(len(self.is_tree)), None
        found, pairs = np.zeros(nodes.shape), np.zeros((len(tables if sums else kinds), *tables.shape[1:]))
        if len(self._passed_nodes):
            passed = self._passed(nodes, kinds, tables, begin, tolerance=tolerance, sweeps=sweeps, threads=threads)
            log_z[self._is_passed] = passed.log_z
            found[self._passed_nodes] = passed.marginals
            if sums and 2 * len(tables) < len(kinds):
                pairs += passed.edge_sums(threads=threads)
            else:  # one by one, which is quicker where most edges have a table of their own
                _add(pairs, kinds if sums else None, self._passed_edges, passed.edge_marginals(threads=threads))
        for shape, rows, logs in self._batches(nodes, kinds, tables):
            log_z[shape.components[rows]], cells = shape.tree.expectations(logs, threads=threads)
            if np.isneginf(log_z[shape.components[rows]]).any():
                raise ValueError("no labels are possible: the scores forbid all of them")
            split = shape.nodes.shape[1] * self.n_labels
            found[shape.nodes[rows]] = cells[:, :split].reshape(-1, shape.nodes.shape[1], self.n_labels)
            edges = shape.edges[rows].reshape(-1)
            of_edges = cells[:, split:].reshape(-1, *pairs.shape[1:])
            _add(pairs, kinds if sums else None, edges, of_edges)
        return FieldResult(log_z, found, pairs, passed)

    def best(self, nodes: F64, types: Any, tables: F64, *, threads: int = 1) -> tuple[I32, F64]:
        """The best label of each node, and the score of the labels of each component. Arguments as above.

        Where messages are approximate, so are the labels; the score is that of these labels.
        """
        nodes, kinds, tables = self._checked(nodes, types, tables)
        labels, scores = np.zeros(self.n_nodes, dtype=np.int32), np.zeros(len(self.is_tree))
        if len(self._passed_nodes):
            passed = self._passed(nodes, kinds, tables, maximum=True, threads=threads)
            assert passed.labels is not None
            labels[self._passed_nodes], scores[self._is_passed] = passed.labels, passed.log_z
        for shape, rows, logs in self._batches(nodes, kinds, tables):
            scores[shape.components[rows]], found = shape.tree.most_likely(logs, threads=threads)
            if np.isneginf(scores[shape.components[rows]]).any():
                raise ValueError("no labels are possible: the scores forbid all of them")
            labels[shape.nodes[rows]] = found
        return labels, scores

    def distribution(self, nodes: F64, types: Any, tables: F64) -> Distribution:
        """The joint distribution of all nodes, for draws, for :func:`corate.inference.best.n_best` and for evidence."""
        nodes, kinds, tables = self._checked(nodes, types, tables)
        factors = [((i,), row) for i, row in enumerate(nodes)]
        pairs = zip(self.edges.tolist(), kinds.tolist(), strict=True)
        joint = [*factors, *(((i, j), tables[kind]) for (i, j), kind in pairs)]
        sizes = [self.n_labels] * self.n_nodes
        return Distribution(joint, triangulate(sizes, self.edges, tries=8, seed=self._seed), logs=True)

    def _checked(self, nodes: F64, types: Any, tables: F64) -> tuple[F64, I32, F64]:
        field = PairwiseField(nodes, self.edges, types, tables)
        if field.nodes.shape != (self.n_nodes, self.n_labels) or field.types.shape != (len(self.edges),):
            raise ValueError(
                f"the plan has {counted(self.n_nodes, 'node')}, {counted(self.n_labels, 'label')} and "
                f"{counted(len(self.edges), 'edge')}; the scores have the shapes {field.nodes.shape} and "
                f"{field.types.shape}"
            )
        if len(field.types) and not 0 <= field.types.min() <= field.types.max() < len(field.tables):
            raise ValueError("an edge has an unknown table")
        return field.nodes, field.types, field.tables

    def _passed(self, nodes: F64, types: I32, tables: F64, begin: Messages | None = None, **options: Any) -> Messages:
        """Messages on trees and on components without a clique tree. Where they oscillate, they are damped."""
        field = PairwiseField(nodes[self._passed_nodes], self._passed_ends, types[self._passed_edges], tables)
        found = field.pass_messages(begin=begin, log_z=True, **options)
        if found.converged.all():
            return found
        return field.pass_messages(begin=found, damping=0.5, log_z=True, **options)

    def _batches(self, nodes: F64, types: I32, tables: F64) -> Iterator[tuple[_Shape, slice, F64]]:
        """The scores of components with loops, some of a shape at a time: the rows of the shape, and their scores."""
        for shape in self._shapes:
            step = max(1, _CELLS // shape.tree.cells)
            for start in range(0, len(shape.nodes), step):
                rows = slice(start, start + step)
                n = len(shape.nodes[rows])
                of_nodes = nodes[shape.nodes[rows]].reshape(n, -1)
                yield shape, rows, np.concatenate([of_nodes, tables[types[shape.edges[rows]]].reshape(n, -1)], axis=1)

    def _found_shapes(self, memory: int, approximate: bool) -> Iterator[_Shape]:
        """The components with loops whose answers are exact, by shape."""
        alike: dict[tuple[int, bytes], list[tuple[int, NDArray[np.intp], NDArray[np.intp]]]] = {}
        of_edges = self.component[self.edges[:, 0]]
        node_order, edge_order = (np.argsort(of, kind="stable") for of in (self.component, of_edges))
        node_stops, edge_stops = (
            np.searchsorted(of[order], np.arange(len(self.is_tree) + 1))
            for of, order in ((self.component, node_order), (of_edges, edge_order))
        )
        local = np.zeros(self.n_nodes, dtype=np.int32)
        for c in np.flatnonzero(~self.is_tree).tolist():
            own = node_order[node_stops[c] : node_stops[c + 1]]
            edges = edge_order[edge_stops[c] : edge_stops[c + 1]]
            local[own] = np.arange(len(own))
            alike.setdefault((len(own), local[self.edges[edges]].tobytes()), []).append((c, own, edges))
        for (n, key), found in alike.items():
            components, nodes, edges_of = zip(*found, strict=True)
            if approximate and n > _SEARCHED:
                self.exact[list(components)] = False
                continue
            pairs = np.frombuffer(key, dtype=np.int32).reshape(-1, 2)
            sizes = [self.n_labels] * n
            tree = triangulate(sizes, pairs, tries=8, seed=self._seed)
            needed = tree.memory(n * self.n_labels + len(pairs) * self.n_labels**2)
            self.treewidth = max(self.treewidth, *(len(clique) - 1 for clique in tree.cliques))
            self.bytes_needed = max(self.bytes_needed, needed)
            if needed > memory:
                if not approximate:
                    raise ConfigError(self._too_large(n, memory), option="memory")
                self.exact[list(components)] = False
                continue
            scopes = [*((i,) for i in range(n)), *map(tuple, pairs.tolist())]
            yield _Shape(CliqueTree(scopes, tree), np.array(components), np.stack(nodes), np.stack(edges_of))

    def _too_large(self, nodes: int, memory: int) -> str:
        return (
            f"exact answers need {size(self.bytes_needed)} for a component of {counted(nodes, 'node')}, more than the "
            f"budget of {size(memory)}: its triangulation has treewidth {self.treewidth}; allow more with memory, or "
            "pass messages"
        )


def _add(pairs: F64, kinds: I32 | None, edges: NDArray[np.intp], found: F64) -> None:
    """Add the probabilities of edges to those of their tables, or store them by edge."""
    if kinds is None:
        pairs[edges] = found
        return
    tables = kinds[edges]
    if len(pairs) >= len(kinds) and np.bincount(tables).max(initial=0) <= 1:
        pairs[tables] += found
    else:
        np.add.at(pairs, tables, found)
