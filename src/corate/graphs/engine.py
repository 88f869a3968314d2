"""A product of factors on a triangulation, ready for questions: the native clique tree with state numbers around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.graphs.triangulation import Plan, Triangulation, triangulate
from corate.rate import Graph
from corate.types import F64, Ids

__all__ = ["NOTHING", "Engine", "Factor", "Given", "edges_of", "pairs_of"]

#: The variables of a factor, as numbers, and its table with an axis for each.
Factor = tuple[tuple[int, ...], F64]
#: Evidence: the variables, as numbers, and their states, ``(rows, variables)``, -1 where one is not observed.
Given = tuple[Ids, NDArray[np.int32]]
#: No evidence.
NOTHING: Given = (np.zeros(0, dtype=np.int32), np.zeros((1, 0), dtype=np.int32))


def pairs_of(scopes: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    """All pairs of variables that share a scope, ``(pairs, 2)``."""
    found = {(min(a, b), max(a, b)) for scope in scopes for i, a in enumerate(scope) for b in scope[i + 1 :]}
    return np.array(sorted(found), dtype=np.int32).reshape(-1, 2)


def edges_of(graph: Graph) -> NDArray[np.int32]:
    """The edges of a graph, by the numbers of its nodes."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    return pairs_of((place[a], place[b]) for a, b in graph.edges)


class Engine:
    """score(x) = prod of factors, on a clique tree that covers all of them.

    The tables must have no negative number, and at least one above zero.
    """

    def __init__(self, factors: Sequence[Factor], triangulation: Triangulation) -> None:
        self.factors = factors
        self.triangulation = triangulation
        place = triangulation.place.tolist()
        variables, values = [], []
        for scope, table in factors:
            ordered = sorted(scope, key=place.__getitem__)
            moved = table if ordered == list(scope) else table.transpose([scope.index(v) for v in ordered])
            variables.append(ordered)
            values.append(np.ascontiguousarray(moved, dtype=np.float64).reshape(-1))
        self._native = _native.CliqueTree(
            triangulation.sizes,
            (triangulation.offsets, triangulation.members, triangulation.parents, triangulation.home),
            _starts(map(len, variables)),
            np.array([v for scope in variables for v in scope], dtype=np.int32),
            _starts(map(len, values)),
            np.concatenate(values) if values else np.zeros(0),
        )

    def weighted(self, factors: Sequence[Factor]) -> Engine:
        """The product with further factors of single variables."""
        return Engine([*self.factors, *factors], self.triangulation)

    def plan(self) -> Plan:
        """What a question costs."""
        return self.triangulation.plan(sum(table.size for _, table in self.factors))

    def log_sums(self, given: Given, threads: int) -> F64:
        """log of the sum of the scores that agree with each row; minus infinity if there is none."""
        return self._native.log_sums(*given, threads)

    def margins(self, given: Given, threads: int) -> tuple[F64, F64]:
        """The log sums, and the probabilities of all states of all variables, ``(rows, states)``."""
        return self._native.margins(*given, threads)

    def most_likely(self, given: Given, threads: int) -> tuple[F64, NDArray[np.int32]]:
        """The log of the best score, and its states, ``(rows, variables)``."""
        return self._native.most_likely(*given, threads)

    def draw(self, given: Given, n: int, seed: int) -> tuple[F64, NDArray[np.int32]]:
        """The log sum of the one row, and ``n`` draws, ``(n, variables)``."""
        return self._native.draw(*given, n, seed)

    def expected(self, given: Given, weights: F64) -> tuple[F64, list[F64]]:
        """The log sums, and for each clique the sum over rows of weight times probability, by cell.

        A clique's table has an axis for each of its variables in their order of elimination.
        """
        logs, flat = self._native.expected(*given, weights)
        tables, start = [], 0
        shape = self.triangulation.sizes.tolist()
        for clique, cells in zip(self.triangulation.cliques, self.triangulation.clique_cells, strict=True):
            tables.append(flat[start : start + cells].reshape([shape[v] for v in clique]))
            start += cells
        return logs, tables

    def entropy(self, given: Given) -> float:
        """The entropy of all variables given one row."""
        return self._native.entropy(*given)

    def joint(self, variables: Sequence[int], given: Given, threads: int) -> tuple[F64, F64]:
        """The log sums, and the joint probabilities of some variables, an axis for each after that of the rows."""
        joined = self.joined(variables)
        logs, cells = joined._native.first_clique(*given, threads)
        order = joined.triangulation.cliques[0]
        shaped = cells.reshape(-1, *(int(joined.triangulation.sizes[v]) for v in order))
        summed = tuple(k + 1 for k, v in enumerate(order) if v not in variables)
        left = [v for v in order if v in variables]
        return logs, shaped.sum(axis=summed).transpose([0, *(1 + left.index(v) for v in variables)])

    def joined(self, variables: Sequence[int]) -> Engine:
        """The same factors on a tree whose first clique has all of some variables."""
        if set(variables) <= set(self.triangulation.cliques[0]):
            return self
        own = self.triangulation
        edges = pairs_of(scope for scope, _ in self.factors)
        return Engine(self.factors, triangulate(own.variables, own.sizes, edges, last=variables, tries=8))


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64), dtype=np.int64)]).astype(np.int64)
