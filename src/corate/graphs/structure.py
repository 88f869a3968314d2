"""Learning the graph from complete data: the best tree, chordal graphs of bounded width, and tests of independence.

The best tree (Chow and Liu) is the maximum spanning tree of the mutual information of pairs, the expected logarithm of
their co-occurrence rate. A chordal graph starts without edges, and grows by the edge with the largest gain

    n I(a; b | S)    S: the separator of the two cliques that the edge joins

as long as the gain pays for the parameters: under BIC, or by a G-squared test at a level that is divided by the number
of pairs. The graph stays triangulated, so its estimate has a closed form, and no clique has more than ``width`` + 1
variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.arguments import check_whole
from corate.errors import ConfigError, DataError
from corate.graphs.variables import DataRows
from corate.inference.triangulation import Triangulation
from corate.rate import Graph
from corate.rate.independence import IndependenceTest, chi_squared_tail
from corate.types import F64

if TYPE_CHECKING:
    from corate.graphs.fitting import FitOptions

__all__ = ["Chordal", "Tree", "free_parameters", "independence_tests", "mutual_information"]


@dataclass(frozen=True)
class Tree:
    """Learns the tree with the highest likelihood (Chow and Liu), as ``structure`` of :meth:`corate.GraphModel.fit`.

    Args:
        forest: whether to leave out edges that do not improve BIC. The result may then have several trees.

    >>> from corate.graphs import GraphModel
    >>> rows = {"A": [0, 0, 1, 1] * 9, "B": [0, 0, 1, 1] * 9, "C": [0, 1, 0, 1] * 9}
    >>> GraphModel.fit(rows, structure=Tree(forest=True)).graph
    Graph("A-B C")
    """

    forest: bool = False

    def learn(self, rows: DataRows, options: FitOptions) -> Graph:
        """Learn the graph of some rows; :meth:`corate.GraphModel.fit` calls this method."""
        names = tuple(rows.columns)
        scores = mutual_information(rows, options.threads)
        if self.forest:
            free = np.array([len(rows.states[name]) - 1 for name in names])
            scores = scores - np.outer(free, free) * float(portable_math.log(max(rows.total, 2.0))) / 2
        return Graph(names, tuple((names[a], names[b]) for a, b in _spanning_tree(scores, forest=self.forest)))


@dataclass(frozen=True)
class Chordal:
    """Learns a triangulated (chordal) graph, as ``structure`` of :meth:`corate.GraphModel.fit`.

    It starts without edges. As long as an edge satisfies the criterion and keeps the graph triangulated, the best such
    edge is added.

    Args:
        width: the largest treewidth, at least 1: cliques have at most ``width + 1`` variables.
        criterion: ``"bic"`` adds an edge if it improves BIC; ``"test"`` adds it if a G-squared test rejects that its
            variables are independent given their common neighbours.
        level: the significance level of ``"test"``, between 0 and 1. It is divided by the number of pairs of variables.

    Raises ConfigError for a value that is out of range.

    >>> from corate.graphs import GraphModel
    >>> rows = {"A": [0, 0, 1, 1] * 9, "B": [0, 0, 1, 1] * 9, "C": [0, 1, 0, 1] * 9}
    >>> GraphModel.fit(rows, structure=Chordal(width=2)).graph
    Graph("A-B C")
    """

    width: int = 3
    criterion: str = "bic"
    level: float = 0.05

    def __post_init__(self) -> None:
        check_whole("width", self.width, 1)
        if self.criterion not in ("bic", "test"):
            raise ConfigError(f"criterion must be 'bic' or 'test', not {self.criterion!r}", option="criterion")
        if not 0 < self.level < 1:
            raise ConfigError(f"level must be between 0 and 1, not {self.level}", option="level")

    def learn(self, rows: DataRows, options: FitOptions) -> Graph:
        """Learn the graph of some rows; :meth:`corate.GraphModel.fit` calls this method."""
        return _Growth(self, rows, options).run()


class _Growth:
    """A chordal graph that grows by one edge at a time.

    An edge between a and b keeps the graph chordal if and only if their common neighbours separate them. What it is
    worth depends on these neighbours alone, so it is computed again only when they change.
    """

    def __init__(self, options: Chordal, rows: DataRows, fit: FitOptions) -> None:
        self.options, self.rows, self.memory = options, rows, fit.memory
        self.names = tuple(rows.columns)
        self.sizes = [len(rows.states[name]) for name in self.names]
        self.columns = [np.asarray(rows.columns[name], dtype=np.int64) for name in self.names]
        self.near: list[set[int]] = [set() for _ in self.names]
        self.entropies: dict[frozenset[int], float] = {}
        information = mutual_information(rows, fit.threads).tolist()
        pairs = combinations(range(len(self.names)), 2)
        self.worth = {(a, b): self._worth(2 * information[a][b], a, b, frozenset()) for a, b in pairs}

    def run(self) -> Graph:
        """Add the best edge until none is worth it."""
        while True:
            ranked = sorted((pair for pair, worth in self.worth.items() if worth > 0), key=self.worth.__getitem__)
            best = next((pair for pair in reversed(ranked) if self._separated(*pair)), None)
            if best is None:
                break
            self._add(*best)
        edges = [(self.names[a], self.names[b]) for a in range(len(self.names)) for b in sorted(self.near[a]) if a < b]
        return Graph(self.names, tuple(edges))

    def _add(self, a: int, b: int) -> None:
        del self.worth[a, b]
        self.near[a].add(b)
        self.near[b].add(a)
        for one, other in ((a, b), (b, a)):  # they have another common neighbour with these
            for v in self.near[other] - self.near[one] - {one}:
                pair = min(one, v), max(one, v)
                self.worth[pair] = self._with_neighbours(*pair)

    def _with_neighbours(self, a: int, b: int) -> float:
        """What an edge is worth given the common neighbours, 0 if the clique would be too large."""
        between = frozenset(self.near[a] & self.near[b])
        cells = math.prod(self.sizes[v] for v in {a, b, *between})
        if len(between) + 2 > self.options.width + 1 or cells * 8 > self.memory:
            return 0.0
        whole, left, right, given = (self._n_entropy(between | extra) for extra in ({a, b}, {a}, {b}, set()))
        return self._worth(2 * (left + right - whole - given), a, b, between)

    def _worth(self, statistic: float, a: int, b: int, between: frozenset[int]) -> float:
        degrees = (self.sizes[a] - 1) * (self.sizes[b] - 1) * math.prod(self.sizes[v] for v in between)
        if self.options.criterion == "bic":
            return (statistic - degrees * float(portable_math.log(max(self.rows.total, 2.0)))) / 2
        n = len(self.names)
        p = chi_squared_tail(statistic, degrees) if degrees else 1.0
        return statistic if p < self.options.level / (n * (n - 1) / 2) else 0.0

    def _n_entropy(self, scope: frozenset[int]) -> float:
        """Rows times the entropy of some variables."""
        if scope not in self.entropies:
            code = np.zeros(len(self.rows), dtype=np.int64)
            for v in sorted(scope):
                code = code * self.sizes[v] + self.columns[v]
            self.entropies[scope] = _n_entropy(code, self.rows.weights, self.rows.total)
        return self.entropies[scope]

    def _separated(self, a: int, b: int) -> bool:
        """Whether there is no path from a to b that avoids their common neighbours."""
        reached, waiting = {a, *(self.near[a] & self.near[b])}, [a]
        while waiting:
            fresh = self.near[waiting.pop()] - reached
            if b in fresh:
                return False
            reached |= fresh
            waiting += fresh
        return True


def _n_entropy(codes: NDArray[np.int64], weights: F64 | None, total: float) -> float:
    """Rows times the entropy of some codes."""
    counts = np.bincount(codes, weights=weights)
    seen = np.append(counts[counts > 0].astype(np.float64), total)
    terms = seen * portable_math.log(seen)
    return float(terms[-1] - terms[:-1].sum())


def mutual_information(rows: DataRows, threads: int) -> F64:
    """Rows times the mutual information of all pairs of variables in nats; the diagonal has the entropies."""
    sizes = np.array([len(states) for states in rows.states.values()], dtype=np.int64)
    columns = list(rows.columns.values())
    if rows.weights is not None:
        return _weighted(columns, sizes, rows.weights)
    dtype = np.uint8 if all(column.dtype == np.uint8 for column in columns) else np.int32
    return _native.mutual_information([np.ascontiguousarray(c, dtype=dtype) for c in columns], sizes, threads)


def _weighted(columns: Sequence[NDArray[np.integer]], sizes: NDArray[np.int64], weights: F64) -> F64:
    n, total = len(columns), float(weights.sum())
    codes = [np.asarray(column, dtype=np.int64) for column in columns]
    found = np.diag([_n_entropy(code, weights, total) for code in codes])
    for a, b in combinations(range(n), 2):
        joint = _n_entropy(codes[a] * int(sizes[b]) + codes[b], weights, total)
        found[a, b] = found[b, a] = max(0.0, found[a, a] + found[b, b] - joint)
    return found


def _spanning_tree(scores: F64, *, forest: bool) -> list[tuple[int, int]]:
    """The maximum spanning tree, by Prim's algorithm; a forest of positive scores if ``forest``."""
    n = len(scores)
    best, source = scores[0].copy(), np.zeros(n, dtype=np.int64)
    left = np.ones(n, dtype=bool)
    left[0] = False
    edges = []
    for _ in range(n - 1):
        v = int(np.where(left, best, -np.inf).argmax())
        if not forest or best[v] > 0:
            edges.append((min(v, int(source[v])), max(v, int(source[v]))))
        left[v] = False
        nearer = scores[v] > best
        best[nearer], source[nearer] = scores[v][nearer], v
    return sorted(edges)


def free_parameters(graph: Graph, tree: Triangulation) -> int:
    """The number of free parameters of a graph: of its interactions, one for each complete set of nodes.

    A set with the sizes s_1, s_2, ... has (s_1 - 1) (s_2 - 1) ... of them. If the graph is triangulated, these are the
    cells of the cliques minus those of the separators.
    """
    if tree.added == 0:
        return sum(tree.clique_cells) - sum(tree.separator_cells)
    free = {name: int(size) - 1 for name, size in zip(graph.nodes, tree.sizes, strict=True)}
    complete = {
        frozenset(part)
        for clique in graph.cliques()
        for size in range(1, len(clique) + 1)
        for part in combinations(clique, size)
    }
    return sum(math.prod(free[name] for name in part) for part in complete)


def independence_tests(rows: DataRows, graph: Graph, level: float) -> list[tuple[IndependenceTest, bool]]:
    """G-squared tests of the independences that a graph claims, and whether each is rejected (Holm's correction).

    For every pair without an edge: the two are independent given the neighbours of the one that has fewer.
    """
    from corate.rate import Counts

    if not 0 < level < 1:
        raise ConfigError(f"level must be between 0 and 1, not {level}", option="level")
    states = {name: rows.states[name] for name in graph.nodes}
    table = np.stack([np.asarray(rows.columns[name], dtype=np.int64) for name in graph.nodes], axis=1)
    if (table < 0).any():
        raise DataError("the data has missing values; drop these rows before testing")
    counts = Counts(table, graph.nodes, states, rows.weights)
    found = []
    for a, b in combinations(graph.nodes, 2):
        if b not in graph.neighbours[a]:
            given = min((graph.neighbours[a], graph.neighbours[b]), key=len)
            result = counts.test(a, b, graph.ordered(given))
            found.append(result)
    ranked = sorted(range(len(found)), key=lambda i: found[i].p_value)
    rejected = [False] * len(found)
    for rank, i in enumerate(ranked):
        if found[i].p_value > level / (len(found) - rank):
            break
        rejected[i] = True
    return list(zip(found, rejected, strict=True))
