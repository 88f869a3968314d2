"""Typed edges between the nodes of graphs.

Each :class:`EdgeSet` has the edges of one type, for all graphs of a corpus. A sentence needs none: its edges join
neighbouring tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.rows import Ragged, owners_of
from corate.types import F32, Ids, Offsets

__all__ = ["EdgeSet", "joined_edges"]


@dataclass(frozen=True, eq=False)
class EdgeSet(Ragged):
    """The edges of one type: row ``i`` has those of graph ``i``.

    Attributes:
        offsets: where the edges of each graph begin, ``(graphs + 1,)``.
        left, right: the two ends of each edge, ``(edges,)`` int32, counted from 0 in each graph.
        attributes: numeric features of edges, ``(edges, d)`` float32; None without any.
        type: the name of the type, such as ``"cites"``.
        symmetric: whether the order of the two ends has no meaning.

    >>> edges = EdgeSet(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1, 2, 1]), type="next")
    >>> edges
    EdgeSet('next', 3 edges in 2 graphs)
    >>> edges.ends(np.array([0, 3, 5])).tolist()
    [[0, 1], [1, 2], [3, 4]]
    """

    offsets: Offsets
    left: Ids
    right: Ids
    attributes: F32 | None = None
    type: str = field(default="edge", kw_only=True)
    symmetric: bool = field(default=False, kw_only=True)

    ENTRIES: ClassVar[tuple[str, ...]] = ("left", "right", "attributes")

    def __repr__(self) -> str:
        return f"EdgeSet({self.type!r}, {len(self.left)} edges in {len(self)} graphs)"

    def ends(self, nodes: Offsets) -> NDArray[np.int32]:
        """The ends of all edges, ``(edges, 2)``, counted over all graphs. ``nodes`` are the offsets of the graphs."""
        starts = nodes[owners_of(self.offsets)]
        return np.stack([self.left + starts, self.right + starts], axis=1).astype(np.int32)


def joined_edges(pieces: Sequence[tuple[Sequence[EdgeSet], int]]) -> tuple[EdgeSet, ...]:
    """The edges of several corpora, each with its number of graphs. A type that a corpus lacks has no edges there.

    Raises DataError if a type is symmetric, or has features, in one corpus and not in another.
    """
    kinds: dict[str, EdgeSet] = {}
    for own, _ in pieces:
        for edges in own:
            if edges.type not in kinds or not len(kinds[edges.type].left):
                kinds[edges.type] = edges
    joined = []
    for name, first in kinds.items():
        parts = []
        for own, graphs in pieces:
            nothing = _without_edges(first, graphs)
            found = next((edges for edges in own if edges.type == name and len(edges.left)), nothing)
            for what, ours, theirs in (
                ("is symmetric", first.symmetric, found.symmetric),
                ("has features", _width(first), _width(found)),
            ):
                if ours != theirs:
                    raise DataError(f"the type {name!r} of edges {what} in one corpus, and differs in another")
            parts.append(found)
        joined.append(EdgeSet.joined(parts))
    return tuple(joined)


def _without_edges(like: EdgeSet, graphs: int) -> EdgeSet:
    nothing = np.zeros(0, np.int64)
    attributes = None if like.attributes is None else like.attributes[nothing]
    none = like.left[nothing]
    return replace(like, offsets=np.zeros(graphs + 1, np.int64), left=none, right=none, attributes=attributes)


def _width(edges: EdgeSet) -> int | None:
    return None if edges.attributes is None else edges.attributes.shape[1]
