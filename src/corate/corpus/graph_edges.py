"""The edges of graphs as people give them: pairs of nodes by type, checked, without duplicates, as `EdgeSet`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus.attributes import LARGEST_VALUE
from corate.display import counted
from corate.edges import EdgeSet
from corate.errors import DataError
from corate.rows import offsets_of, owners_of
from corate.types import F32, Offsets

__all__ = ["UNTYPED", "checked_numbers", "edge_sets", "is_many", "place_of", "refused_number"]

#: The type of edges that are given without one.
UNTYPED = "edge"

Pairs = NDArray[np.int64]
Place = dict[str, Any]


def is_many(edges: Any) -> bool:
    """Whether edges are those of many graphs: a list or a tuple. An array or a mapping has those of one graph."""
    return isinstance(edges, list | tuple)


def place_of(graph: int, numbered: bool) -> Place:
    """The place of errors about a graph: its number, if there are many."""
    return {"graph": graph} if numbered else {}


def edge_sets(
    edges: Sequence[Any], features: Sequence[Any], symmetric: Iterable[str], nodes: Offsets, *, numbered: bool
) -> tuple[EdgeSet, ...]:
    """The edges of all graphs, a set for each type, in the order in which the types appear.

    Args:
        edges: for each graph an ``(m, 2)`` array, or a mapping from types to such arrays.
        features: for each graph an ``(m, d)`` array, a mapping from types to such arrays, or None.
        symmetric: the types whose edges have no direction. Their ends are stored in ascending order.
        nodes: the offsets of the graphs.
        numbered: whether messages name the graph.

    Raises DataError, which names the graph, the type and the edge.

    >>> sets = edge_sets([np.array([[1, 0], [1, 2], [0, 1]])], [None], {"edge"}, np.array([0, 3]), numbered=False)
    >>> sets, sets[0].left.tolist(), sets[0].right.tolist()
    ((EdgeSet('edge', 2 edges in 1 graphs),), [0, 1], [1, 2])
    """
    own = [_by_type(given, place_of(graph, numbered)) for graph, given in enumerate(edges)]
    types = list(dict.fromkeys(name for given in own for name in given))
    undirected = _known(symmetric, types, "symmetric") if len(own) else set()
    attributes = []
    for graph, (given, pairs) in enumerate(zip(features, edges, strict=True)):
        place = place_of(graph, numbered)
        attributes.append(_features_by_type(given, isinstance(pairs, Mapping), list(own[graph]), place))
    return tuple(
        _Given.of(name, own, attributes, nodes, numbered=numbered).edge_set(name in undirected) for name in types
    )


def checked_numbers(given: Any, what: str, rows: str, **place: Any) -> F32:
    """Numeric features of nodes or edges, ``(n, d)`` float32. ``rows`` is what has a row: ``"node"`` or ``"edge"``.

    Raises DataError for other shapes and types, and for values that are not finite or too large.

    >>> checked_numbers([[1, 2]], "vectors", "node").tolist()
    [[1.0, 2.0]]
    """
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be an array with a row for each {rows}: {error}", **place) from None
    if array.dtype.kind not in "fiub":
        raise DataError(
            f"{what} must have numbers, not values of the type {array.dtype}",
            "give texts as columns or names of features" if rows == "node" else "",
            **place,
        )
    if array.ndim != 2:
        remedy = f"; write {what}.reshape(-1, 1) for one number for each {rows}" if array.ndim == 1 else ""
        raise DataError(f"{what} must have a row for each {rows}, not the shape {array.shape}{remedy}", **place)
    with np.errstate(invalid="ignore"):
        fits = np.abs(array) <= LARGEST_VALUE
    if not fits.all():
        row, column = np.argwhere(~fits)[0].tolist()
        raise refused_number(array[row, column], what, column, **place, **{rows: row})
    return np.ascontiguousarray(array, np.float32)


def refused_number(value: Any, what: str, column: int, **place: Any) -> DataError:
    """The error about a value that is not finite or too large."""
    return DataError(
        f"{what} has the value {value} in column {column}",
        f"values go from {-LARGEST_VALUE:g} to {LARGEST_VALUE:g}: fill in unknown ones, and scale large ones",
        **place,
    )


# -- one graph -------------------------------------------------------------------------------------------------------


def _by_type(given: Any, place: Place) -> dict[str, Pairs]:
    """The pairs of one graph, by type."""
    if given is None or isinstance(given, str | bytes) or hasattr(given, "tocoo") or hasattr(given, "adj"):
        raise DataError(f"edges must be an array of pairs of nodes, not {_shown(given)}; {_remedy(given)}", **place)
    if not isinstance(given, Mapping):
        return {UNTYPED: _pairs(given, place)}
    for name in given:
        if not isinstance(name, str) or not name:
            raise DataError(f"the type of edges must be a name, not {name!r}", **place)
    return {name: _pairs(pairs, {**place, "type": name}) for name, pairs in given.items()}


def _remedy(given: Any) -> str:
    if given is None:
        return "for a graph without edges, write {}"
    if hasattr(given, "tocoo"):
        return "of a matrix of neighbours, take np.stack(matrix.nonzero(), axis=1)"
    return "use Corpus.from_networkx" if hasattr(given, "adj") else "use corate.read_graph for files"


def _shown(given: Any) -> str:
    text = repr(given)
    return text if len(text) < 40 else f"a {type(given).__name__}"


def _pairs(given: Any, place: Place) -> Pairs:
    """Pairs of nodes as an ``(m, 2)`` array."""
    try:
        pairs = np.asarray(given)
    except (TypeError, ValueError):  # lists of different lengths
        raise DataError("edges must be pairs of nodes: an (m, 2) array", **place) from None
    if pairs.size == 0 and pairs.ndim in (1, 2):
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DataError(f"edges must have the shape (m, 2), not {pairs.shape}; {_shape_remedy(pairs)}", **place)
    if pairs.dtype.kind not in "iu":
        kind = "names" if pairs.dtype.kind in "OUS" else str(pairs.dtype)
        remedy = "number the nodes first" if kind == "names" else "convert them with .astype(int)"
        raise DataError(f"the ends of edges must be whole numbers, not {kind}; {remedy}", **place)
    return pairs.astype(np.int64, copy=False)


def _shape_remedy(pairs: NDArray[Any]) -> str:
    if pairs.ndim == 2 and pairs.shape[0] == 2:
        return "transpose it: edges.T"
    if pairs.ndim == 2 and pairs.shape[0] == pairs.shape[1]:
        return "of a matrix of neighbours, take np.argwhere(matrix)"
    if pairs.ndim == 1 and len(pairs) == 2:
        return "a list has the edges of many graphs; for the pairs of one graph, write np.array(edges)"
    return "it needs a row for each edge, with the numbers of its two nodes"


def _features_by_type(given: Any, typed: bool, types: list[str], place: Place) -> dict[str, F32]:
    """The features of the edges of one graph, by type. Types without features are left out."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        _known(given, types, "edge_features", **place)
        found = {name: array for name, array in given.items() if array is not None}
    elif typed:
        raise DataError("edge_features must be a mapping from types to arrays, as edges are", **place)
    else:
        found = {UNTYPED: given}
    return {name: checked_numbers(array, "edge_features", "edge", **place, type=name) for name, array in found.items()}


def _known(names: Any, types: list[str], argument: str, **place: Any) -> set[str]:
    """The names, each of which must be a type."""
    if isinstance(names, bool) or not isinstance(names, Iterable):
        raise DataError(f"{argument} must have names of types, such as {{{UNTYPED!r}}}, not {names!r}", **place)
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if name not in types:
            have = ", ".join(map(repr, types)) or "none"
            raise DataError(f"{argument} names the type {name!r}, and no edges have it; the types are {have}", **place)
    return set(given)


# -- one type --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Given:
    """The edges of one type in all graphs, as given: their ends from 0 in each graph, and the offsets of graphs."""

    type: str
    pairs: Pairs
    offsets: Offsets
    nodes: Offsets
    attributes: F32 | None
    numbered: bool

    @classmethod
    def of(
        cls, name: str, edges: list[dict[str, Pairs]], features: list[dict[str, F32]], nodes: Offsets, *, numbered: bool
    ) -> _Given:
        none = np.zeros((0, 2), np.int64)
        pairs = [own.get(name, none) for own in edges]
        found = [own.get(name) for own in features]
        for graph, (ends, own) in enumerate(zip(pairs, found, strict=True)):
            if own is not None and len(own) != len(ends):
                place = place_of(graph, numbered)
                raise DataError(f"{counted(len(ends), 'edge')}, but edge_features for {len(own)}", **place, type=name)
        offsets = offsets_of(np.array([len(ends) for ends in pairs], np.int64))
        joined = _joined_features(name, pairs, found)
        return cls(name, np.concatenate([none, *pairs]), offsets, nodes, joined, numbered)

    def edge_set(self, symmetric: bool) -> EdgeSet:
        """The edges, checked and each once."""
        owners = owners_of(self.offsets)
        sizes = np.diff(self.nodes)[owners]
        self._refuse(((self.pairs < 0) | (self.pairs >= sizes[:, None])).any(axis=1), self._outside)
        self._refuse(self.pairs[:, 0] == self.pairs[:, 1], self._loop)
        pairs = np.sort(self.pairs, axis=1) if symmetric else self.pairs
        kept = self._first_of_each(pairs + self.nodes[:-1][owners][:, None])
        offsets, attributes = self.offsets, self.attributes
        if kept is not None:
            offsets, pairs = offsets_of(kept)[offsets], pairs[kept]
            attributes = None if attributes is None else attributes[kept]
        left, right = np.ascontiguousarray(pairs.T, np.int32)
        return EdgeSet(offsets, left, right, attributes, type=self.type, symmetric=symmetric)

    def _first_of_each(self, pairs: Pairs) -> NDArray[np.bool_] | None:
        """Marks the first of equal edges, whose ends are counted over all graphs; None if all edges differ."""
        keys = pairs[:, 0] * self.nodes[-1] + pairs[:, 1]
        if (keys[1:] > keys[:-1]).all():
            return None
        order = np.argsort(keys, kind="stable")
        again = np.append(False, keys[order][1:] == keys[order][:-1])
        if not again.any():
            return None
        if self.attributes is not None:
            starts = np.flatnonzero(~again)
            first = order[starts[np.cumsum(~again) - 1]]
            differs = np.zeros(len(keys), bool)
            differs[order] = (self.attributes[order] != self.attributes[first]).any(axis=1)
            original = np.zeros(len(keys), np.int64)
            original[order] = first
            self._refuse(differs, lambda edge: self._differs(edge, int(original[edge])))
        kept = np.ones(len(keys), bool)
        kept[order[again]] = False
        return kept

    def _refuse(self, bad: Any, message: Callable[[int], str]) -> None:
        """Raise DataError about the first edge that is marked."""
        if bad.any():
            edge = int(np.argmax(bad))
            graph = self._graph(edge)
            place = place_of(graph, self.numbered)
            raise DataError(message(edge), **place, type=self.type, edge=edge - int(self.offsets[graph]))

    def _graph(self, edge: int) -> int:
        return int(np.searchsorted(self.offsets, edge, side="right")) - 1

    def _outside(self, edge: int) -> str:
        graph = self._graph(edge)
        n = int(self.nodes[graph + 1] - self.nodes[graph])
        end = next(end for end in self.pairs[edge].tolist() if not 0 <= end < n)
        return f"an end is node {end}, but the graph has {counted(n, 'node')}, counted from 0"

    def _loop(self, edge: int) -> str:
        return f"both ends are node {self.pairs[edge, 0]}; leave out edges from a node to itself"

    def _differs(self, edge: int, original: int) -> str:
        left, right = self.pairs[edge].tolist()
        number = original - int(self.offsets[self._graph(edge)])
        return (
            f"it joins nodes {left} and {right}, as edge {number} does, and has other features; leave one out, or give "
            f"them two types"
        )


def _joined_features(name: str, pairs: list[Pairs], features: list[F32 | None]) -> F32 | None:
    """The features of the edges of all graphs; None without any."""
    widths = {own.shape[1]: graph for graph, own in enumerate(features) if own is not None}
    if not widths:
        return None
    if len(widths) > 1:
        (one, first), (other, second) = list(widths.items())[:2]
        raise DataError(f"edge_features have {one} columns in graph {first}, and {other} in graph {second}", type=name)
    (width,) = widths
    for graph, (ends, own) in enumerate(zip(pairs, features, strict=True)):
        if own is None and len(ends):
            raise DataError("the edges of other graphs have edge_features, and these have none", graph=graph, type=name)
    nothing = np.zeros((0, width), np.float32)
    return np.concatenate([nothing if own is None else own for own in features])
