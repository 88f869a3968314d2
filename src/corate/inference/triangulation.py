"""Triangulations of graphs: elimination orders and their cliques. Nodes are numbers.

The cliques of a triangulated graph form a tree. Each clique shares its separator with its parent, so

    P(x) = prod over cliques of P(clique) / P(separator)

Orders are searched natively: min-fill, weighted min-fill, smallest table and min-degree, then with random ties, and the
order with the fewest cells is kept. A graph that is triangulated already is recognised, and gets no new edge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.types import Ids, Offsets

__all__ = ["Triangulation", "pairs_of", "triangulate"]

_TRIES = 128


@dataclass(frozen=True, eq=False)
class Triangulation:
    """The tree of maximal cliques of an elimination order; parents come first.

    Clique ``i`` has the nodes ``members[offsets[i]:offsets[i + 1]]``, in the order of their elimination, so those that
    are not in its separator come first. ``home`` is the clique in which each node is not in the separator. ``sizes``
    are the numbers of states.
    """

    sizes: NDArray[np.int64]
    offsets: Offsets
    members: Ids
    parents: Ids
    home: Ids
    order: Ids
    added: int

    @cached_property
    def cliques(self) -> list[list[int]]:
        """The nodes of each clique."""
        listed, at = self.members.tolist(), self.offsets.tolist()
        return [listed[at[i] : at[i + 1]] for i in range(len(self.parents))]

    @cached_property
    def residuals(self) -> list[int]:
        """How many nodes of each clique are not in its separator."""
        home = self.home.tolist()
        return [sum(home[v] == i for v in clique) for i, clique in enumerate(self.cliques)]

    @cached_property
    def clique_cells(self) -> list[int]:
        """The number of cells of each clique, exactly."""
        return [self._cells(clique) for clique in self.cliques]

    @cached_property
    def separator_cells(self) -> list[int]:
        """The number of cells of each separator."""
        return [self._cells(clique[n:]) for clique, n in zip(self.cliques, self.residuals, strict=True)]

    def _cells(self, nodes: Sequence[int]) -> int:
        return math.prod(int(self.sizes[v]) for v in nodes)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The place of each node in the elimination order."""
        found = np.empty(len(self.order), dtype=np.int64)
        found[self.order] = np.arange(len(self.order))
        return found

    def memory(self, table_cells: int | None = None) -> int:
        """The bytes of tables and of a query; ``table_cells`` are by default two numbers for every cell of cliques."""
        stored = 2 * sum(self.clique_cells) if table_cells is None else table_cells
        return 8 * (stored + max(self.clique_cells) + 2 * sum(self.separator_cells))


def pairs_of(scopes: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    """All pairs of nodes that share a scope, ``(pairs, 2)``.

    >>> pairs_of([(2, 0), (0, 1, 2)]).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    found = {(min(a, b), max(a, b)) for scope in scopes for i, a in enumerate(scope) for b in scope[i + 1 :]}
    return np.array(sorted(found), dtype=np.int32).reshape(-1, 2)


def triangulate(
    sizes: Sequence[int] | NDArray[np.int64],
    edges: NDArray[np.int32],
    *,
    last: Iterable[int] = (),
    tries: int = _TRIES,
    seed: int = 0,
) -> Triangulation:
    """The best triangulation found; the nodes ``last`` are connected, and are the first clique.

    >>> found = triangulate([2] * 4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]], dtype=np.int32))
    >>> found.cliques, found.added
    ([[1, 2, 3], [0, 1, 3]], 1)
    """
    whole = np.asarray(sizes, dtype=np.int64)
    flags = np.zeros(len(whole), dtype=np.uint8)
    kept = sorted(last)
    flags[kept] = 1
    joined = np.concatenate([edges.reshape(-1, 2), pairs_of([kept])]).astype(np.int32)
    tree, order, _, added = _native.eliminate(whole, np.ascontiguousarray(joined), flags, tries, seed)
    return Triangulation(whole, *tree, order, added)
