"""Triangulations of graphs: elimination orders, their cliques, and what they cost.

The cliques of a triangulated graph form a tree. Each clique shares its separator with its parent, so

    P(x) = prod over cliques of P(clique) / P(separator)

Orders are searched natively: min-fill, weighted min-fill, smallest table and min-degree, then with random ties, and the
order with the fewest cells is kept. A graph that is triangulated already is recognised, and gets no new edge.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_whole
from corate.display import counted
from corate.errors import ConfigError
from corate.rate import Graph
from corate.types import Ids, Offsets

__all__ = ["MEMORY", "Plan", "Triangulation", "sizes_of", "triangulate"]

#: The default memory budget in bytes.
MEMORY = 4 << 30
#: Measured: seconds that a cell takes on its way up and down, and that a clique takes besides.
_CELL, _CLIQUE = 1.4e-8, 5e-6
_TRIES = 128
_MOST_STATES = 2**31 - 1


@dataclass(frozen=True)
class Plan:
    """The cost of inference on a graph, which :meth:`corate.GraphModel.plan` estimates without allocating tables.

    Attributes:
        treewidth: the treewidth of the triangulation that was found. The treewidth of the graph is at most this.
        cliques: the number of maximal cliques of the triangulation.
        cells: the number of cells of the tables of all cliques.
        largest: the variables of the clique with the most cells.
        largest_cells: the number of cells of that clique.
        added_edges: the number of edges that the triangulation added to the graph.
        bytes: the memory of the tables and of a query, in bytes.
        seconds: a rough estimate of the time for all marginals on one thread, in seconds.

    >>> from corate.graphs import GraphModel
    >>> plan = GraphModel.plan("A-B B-C C-D D-A", states=3)
    >>> plan.treewidth, plan.cliques, plan.cells, plan.added_edges
    (2, 2, 54, 1)
    """

    treewidth: int
    cliques: int
    cells: int
    largest: tuple[str, ...]
    largest_cells: int
    added_edges: int
    bytes: int
    seconds: float

    def check(self, memory: int) -> None:
        """Raise ConfigError if ``bytes`` is more than ``memory``."""
        if self.bytes <= memory:
            return
        shown = ", ".join(self.largest[:8]) + (f" and {len(self.largest) - 8} more" if len(self.largest) > 8 else "")
        raise ConfigError(
            f"the graph needs {_bytes(self.bytes)}, more than the budget of {_bytes(memory)}: its triangulation has "
            f"treewidth {self.treewidth} and {counted(self.cells, 'cell')}, of which {self.largest_cells:,} are in the "
            f"clique of {shown}. Remove edges, merge states, condition on a cutset (from_factors and read can), or "
            "allow more with memory",
            option="memory",
        )


@dataclass(frozen=True, eq=False)
class Triangulation:
    """The tree of maximal cliques of an elimination order; parents come first.

    Clique ``i`` has the variables ``members[offsets[i]:offsets[i + 1]]``, in the order of their elimination, so those
    that are not in its separator come first. ``home`` is the clique in which each variable is not in the separator.
    """

    variables: tuple[str, ...]
    sizes: NDArray[np.int64]
    offsets: Offsets
    members: Ids
    parents: Ids
    home: Ids
    order: Ids
    added: int

    @cached_property
    def cliques(self) -> list[list[int]]:
        """The variables of each clique."""
        listed, at = self.members.tolist(), self.offsets.tolist()
        return [listed[at[i] : at[i + 1]] for i in range(len(self.parents))]

    @cached_property
    def residuals(self) -> list[int]:
        """How many variables of each clique are not in its separator."""
        home = self.home.tolist()
        return [sum(home[v] == i for v in clique) for i, clique in enumerate(self.cliques)]

    @cached_property
    def clique_cells(self) -> list[int]:
        """The number of cells of each clique, exactly."""
        sizes = self.sizes.tolist()
        return [math.prod(sizes[v] for v in clique) for clique in self.cliques]

    @cached_property
    def separator_cells(self) -> list[int]:
        """The number of cells of each separator."""
        sizes = self.sizes.tolist()
        pairs = zip(self.cliques, self.residuals, strict=True)
        return [math.prod(sizes[v] for v in clique[n:]) for clique, n in pairs]

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The place of each variable in the elimination order."""
        found = np.empty(len(self.order), dtype=np.int64)
        found[self.order] = np.arange(len(self.order))
        return found

    def plan(self, table_cells: int | None = None) -> Plan:
        """The costs; ``table_cells`` are those of the stored tables, by default a count and a number for every cell."""
        cells = self.clique_cells
        most = max(range(len(cells)), key=cells.__getitem__)
        stored = 2 * sum(cells) if table_cells is None else table_cells
        return Plan(
            treewidth=max(map(len, self.cliques)) - 1,
            cliques=len(cells),
            cells=sum(cells),
            largest=tuple(self.variables[v] for v in sorted(self.cliques[most])),
            largest_cells=cells[most],
            added_edges=self.added,
            bytes=8 * (stored + cells[most] + 2 * sum(self.separator_cells)),
            seconds=sum(cells) * _CELL + len(cells) * _CLIQUE,
        )


def triangulate(
    variables: Sequence[str],
    sizes: Sequence[int] | NDArray[np.int64],
    edges: NDArray[np.int32],
    *,
    last: Iterable[int] = (),
    tries: int = _TRIES,
    seed: int = 0,
) -> Triangulation:
    """The best triangulation found; the variables ``last`` are connected, and are the first clique.

    >>> found = triangulate("ABCD", [2] * 4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]], dtype=np.int32))
    >>> found.plan().treewidth, found.added
    (2, 1)
    """
    flags = np.zeros(len(variables), dtype=np.uint8)
    kept = sorted(last)
    flags[kept] = 1
    pairs = [(a, b) for i, a in enumerate(kept) for b in kept[i + 1 :]]
    joined = np.concatenate([edges.reshape(-1, 2), np.array(pairs, dtype=np.int32).reshape(-1, 2)])
    whole = np.asarray(sizes, dtype=np.int64)
    tree, order, _, added = _native.eliminate(whole, np.ascontiguousarray(joined), flags, tries, seed)
    return Triangulation(tuple(variables), whole, *tree, order, added)


def sizes_of(graph: Graph, states: int | Mapping[str, int | Sequence[Hashable]]) -> list[int]:
    """The number of states of each node, from one number for all, or numbers or states by node."""
    if not isinstance(states, Mapping):
        return [check_whole("states", states, 1, _MOST_STATES)] * len(graph.nodes)
    found = []
    for name in graph.nodes:
        if name not in states:
            raise ConfigError(f"states has no number of states for {name}", option="states")
        own = states[name]
        found.append(check_whole(f"states of {name}", own if isinstance(own, int) else len(own), 1, _MOST_STATES))
    return found


def _bytes(n: int) -> str:
    """Bytes as text: 1.5 GB."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= size:
            return f"{n / size:,.3g} {unit}" if n < 1000 * size else f"{n / size:,.0f} {unit}"
    return counted(n, "byte")
