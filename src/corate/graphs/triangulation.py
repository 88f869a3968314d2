"""What inference on a graph costs, and the triangulation of a graph with names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_whole
from corate.display import counted
from corate.errors import ConfigError
from corate.inference.triangulation import Triangulation, pairs_of, triangulate
from corate.rate import Graph

__all__ = ["MEMORY", "Plan", "edges_of", "plan_of", "sizes_of", "triangulated"]

#: The default memory budget in bytes.
MEMORY = 4 << 30
#: Measured: seconds that a cell takes on its way up and down, and that a clique takes besides.
_CELL, _CLIQUE = 1.4e-8, 5e-6
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


def plan_of(tree: Triangulation, variables: Sequence[str], table_cells: int | None = None) -> Plan:
    """The costs of questions; ``table_cells`` are those of the stored tables."""
    cells = tree.clique_cells
    most = max(range(len(cells)), key=cells.__getitem__)
    return Plan(
        treewidth=max(map(len, tree.cliques)) - 1,
        cliques=len(cells),
        cells=sum(cells),
        largest=tuple(variables[v] for v in sorted(tree.cliques[most])),
        largest_cells=cells[most],
        added_edges=tree.added,
        bytes=tree.memory(table_cells),
        seconds=sum(cells) * _CELL + len(cells) * _CLIQUE,
    )


def edges_of(graph: Graph) -> NDArray[np.int32]:
    """The edges of a graph, by the numbers of its nodes."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    return pairs_of([(place[a], place[b]) for a, b in graph.edges])


def triangulated(
    graph: Graph, sizes: Sequence[int], memory: int, seed: int, table_cells: int | None = None
) -> Triangulation:
    """A triangulation of a graph. Raises ConfigError if its tables need more than ``memory`` bytes."""
    tree = triangulate(sizes, edges_of(graph), seed=seed)
    plan_of(tree, graph.nodes, table_cells).check(memory)
    return tree


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
