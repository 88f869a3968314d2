"""Graphs as people give them, as the arrays of a corpus: features of nodes, labels and log-probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus.attributes import LARGEST_VALUE, Attributes
from corate.corpus.graph_edges import Place, checked_numbers, edge_sets, is_many, place_of, refused_number
from corate.display import counted
from corate.edges import EdgeSet
from corate.errors import DataError, FeatureError
from corate.rows import offsets_of
from corate.strings import StringTable
from corate.types import F32, F64, Ids, Offsets

__all__ = ["GraphArrays", "arrays_of_graphs"]

#: What ``x`` may have when it is a mapping.
_PARTS = ("features", "vectors", "columns")
#: How far the probabilities of a node may be from 1 in sum: of clipped or rounded ones.
_SUM_SLACK = 0.01


@dataclass(frozen=True)
class GraphArrays:
    """The fields of a corpus of graphs. Columns and labels are ids and their distinct strings."""

    columns: dict[str, tuple[Ids, StringTable]]
    offsets: Offsets
    labels: tuple[Ids, StringTable] | None
    attributes: Attributes | None
    edges: tuple[EdgeSet, ...]
    vectors: F32 | None
    node_log_probs: F64 | None


def arrays_of_graphs(
    x: Any,
    y: Any,
    edges: Any,
    edge_features: Any = None,
    symmetric: Iterable[str] = (),
    node_log_probs: Any = None,
    labels: Sequence[str | int] | None = None,
) -> GraphArrays:
    """The arrays of graphs given as `Corpus.from_graphs` takes them.

    >>> arrays = arrays_of_graphs([["red"], ["blue"]], [3, -1], np.array([[0, 1]]))
    >>> arrays.offsets.tolist(), arrays.attributes.names.to_list(), arrays.labels[0].tolist()
    ([0, 2], ['red', 'blue'], [0, -1])
    """
    many = is_many(edges)
    each = {"x": x, "y": y, "edge_features": edge_features, "node_log_probs": node_log_probs}
    graphs = {name: _each_graph(given, edges, name) if many else [given] for name, given in each.items()}
    places = [place_of(graph, many) for graph in range(len(graphs["x"]))]
    nodes = [_Nodes.of(given, place) for given, place in zip(graphs["x"], places, strict=True)]
    log_probs = [_log_probs(given, place) for given, place in zip(graphs["node_log_probs"], places, strict=True)]
    known = [_label_values(given, place) for given, place in zip(graphs["y"], places, strict=True)]
    sizes = [
        _size({**own.sizes(), "y": _length(values), "node_log_probs": _length(rows)}, place)
        for own, values, rows, place in zip(nodes, known, log_probs, places, strict=True)
    ]
    offsets = offsets_of(np.array(sizes, np.int64))
    found = _labels(known, sizes, labels, many)
    joined = _joined_arrays(log_probs, "node_log_probs")
    if joined is not None and found is not None and len(found[1]) not in (0, joined.shape[1]):
        raise DataError(
            f"node_log_probs has {counted(joined.shape[1], 'column')}, and there are {counted(len(found[1]), 'label')}",
            "name the columns with labels=, such as labels=classifier.classes_",
        )
    sets = edge_sets(list(edges) if many else [edges], graphs["edge_features"], symmetric, offsets, numbered=many)
    return GraphArrays(
        _columns(nodes),
        offsets,
        found,
        _attributes(nodes, many),
        sets,
        _joined_arrays([own.vectors for own in nodes], "x"),
        joined,
    )


def _each_graph(given: Any, edges: Sequence[Any], name: str) -> list[Any]:
    """What is given for each of many graphs."""
    if given is None:
        return [None] * len(edges)
    said = f"edges is a {type(edges).__name__}, which has the edges of many graphs"
    one = "for one graph, edges must be an array such as np.array(edges), or a mapping; without edges, {}"
    if isinstance(given, Mapping | str | bytes) or not hasattr(given, "__len__") or getattr(given, "ndim", 1) == 0:
        raise DataError(f"{said}, so {name} must be a list, too, not a {type(given).__name__}; {one}")
    n = given.shape[0] if hasattr(given, "shape") else len(given)
    if n != len(edges):
        raise DataError(f"{said}: {len(edges)}, but {name} has {n}; {one}")
    return list(given)


def _length(values: Any) -> int | None:
    return None if values is None else len(values)


def _size(sizes: Mapping[str, int | None], place: Place) -> int:
    """The number of nodes of a graph, which all that is given must agree on."""
    known = {name: size for name, size in sizes.items() if size is not None}
    if not known:
        raise DataError("neither x nor y nor node_log_probs says how many nodes there are", **place)
    (first, size), *others = known.items()
    for name, other in others:
        if other != size:
            raise DataError(f"{first} has {counted(size, 'node')}, and {name} has {other}", **place)
    if not size:
        raise DataError("the graph has no nodes; leave it out", **place)
    return size


# -- features of nodes -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Nodes:
    """What ``x`` has for one graph: a list or a sparse matrix of features, an array, and columns of texts."""

    features: Any = None
    vectors: F32 | None = None
    columns: Mapping[str, list[str]] | None = None

    @classmethod
    def of(cls, x: Any, place: Place) -> _Nodes:
        """The parts of ``x``, told by its type."""
        if x is None:
            return cls()
        if isinstance(x, Mapping):
            if not x.keys() <= set(_PARTS):
                extra = next(name for name in x if name not in _PARTS)
                raise DataError(
                    f"x is a mapping, so it may have {', '.join(map(repr, _PARTS))}, not {extra!r}; a graph is a list "
                    "of nodes",
                    **place,
                )
            vectors = x.get("vectors")
            return cls(
                None if x.get("features") is None else _features(x["features"], place),
                None if vectors is None else checked_numbers(vectors, "vectors", "node", **place),
                None if x.get("columns") is None else _texts(x["columns"], place),
            )
        if _is_sparse(x) or not _is_array(x):
            return cls(features=_features(x, place))
        array = np.asarray(x)
        if array.dtype.kind == "O" and array.ndim == 1:
            return cls(features=_features(array.tolist(), place))
        return cls(vectors=checked_numbers(array, "x", "node", **place))

    def sizes(self) -> dict[str, int | None]:
        """The numbers of nodes, by where they come from."""
        features = None if self.features is None else _rows(self.features)
        columns = {f"column {name!r}": len(values) for name, values in (self.columns or {}).items()}
        return {"x": features, "vectors": _length(self.vectors), **columns}


def _is_sparse(x: Any) -> bool:
    return hasattr(x, "tocsr") or all(hasattr(x, name) for name in ("indptr", "indices", "data", "shape"))


def _is_array(x: Any) -> bool:
    return hasattr(x, "__array__") and hasattr(x, "shape")


def _rows(features: Any) -> int:
    return int(features.shape[0]) if _is_sparse(features) else len(features)


def _features(given: Any, place: Place) -> Any:
    """Features of nodes: a list, or a sparse matrix in rows."""
    if _is_sparse(given):
        return given.tocsr() if hasattr(given, "tocsr") else given
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise DataError(f"x must be a list with the features of each node, not a {type(given).__name__}", **place)
    nodes = list(given)
    first = nodes[0] if nodes else None
    if isinstance(first, list | tuple) and first and isinstance(first[0], int | float | np.number | list | tuple):
        raise DataError(
            f"the features of a node are {first!r:.60}: a list has names of features; give numbers as an array, such "
            "as np.array(x)",
            **place,
            node=0,
        )
    return nodes


def _texts(given: Any, place: Place) -> dict[str, list[str]]:
    if not isinstance(given, Mapping):
        raise DataError("columns must be a mapping from names to lists of texts", **place)
    columns = {str(name): list(values) for name, values in given.items()}
    for name, values in columns.items():
        wrong = next((node for node, value in enumerate(values) if not isinstance(value, str)), None)
        if wrong is not None:
            value = values[wrong]
            raise DataError(f"column {name!r} has {value!r}; every value must be a text", **place, node=wrong)
        if name == "label":
            raise DataError("a column cannot have the name 'label'; give labels as y", **place)
    return columns


def _columns(nodes: list[_Nodes]) -> dict[str, tuple[Ids, StringTable]]:
    """The columns of all graphs."""
    names = [list(own.columns or ()) for own in nodes]
    for graph, own in enumerate(names):
        if set(own) != set(names[0]):
            raise DataError(f"the columns are {own}, and those of graph 0 are {names[0]}", graph=graph)
    columns = {}
    for name in names[0] if names else ():
        table, ids = StringTable.intern([value for own in nodes for value in (own.columns or {})[name]])
        columns[name] = (ids, table)
    return columns


def _attributes(nodes: list[_Nodes], many: bool) -> Attributes | None:
    """The sparse features of all graphs; None without any."""
    given = [own.features for own in nodes]
    kinds = ["none" if own is None else "sparse matrix" if _is_sparse(own) else "list" for own in given]
    for graph, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise DataError(f"the features are a {kind}, and those of graph 0 a {kinds[0]}", graph=graph)
    if not kinds or kinds[0] == "none":
        return None
    if kinds[0] == "list":
        with _as_nodes(many):
            return Attributes.of_sentences(given)[1]
    return _of_matrices(given, many)


@contextmanager
def _as_nodes(many: bool) -> Iterator[None]:
    """Errors of features name the graph and the node in place of the sentence and the token."""
    try:
        yield
    except FeatureError as error:
        place = place_of(error.sentence or 0, many)
        raise type(error)(error.problem, error.remedy, **place, node=error.token) from None


def _of_matrices(matrices: list[Any], many: bool) -> Attributes:
    """The entries of sparse matrices, a row for each node, as features with the names "0", "1", ..."""
    widths = [int(matrix.shape[1]) for matrix in matrices]
    starts, ids, values = [], [], []
    for graph, matrix in enumerate(matrices):
        place = place_of(graph, many)
        if widths[graph] != widths[0]:
            raise DataError(f"x has {widths[graph]} columns, and that of graph 0 has {widths[0]}", **place)
        offsets, columns = np.asarray(matrix.indptr, np.int64), np.asarray(matrix.indices, np.int32)
        data = np.asarray(matrix.data)
        if len(offsets) != matrix.shape[0] + 1 or not offsets[-1] == len(columns) == len(data):
            raise DataError("x must be a sparse matrix in rows (CSR), whose arrays agree", **place)
        if len(columns) and not 0 <= columns.min() <= columns.max() < widths[0]:
            raise DataError(f"x has an entry outside of its {counted(widths[0], 'column')}", **place)
        wrong = np.flatnonzero(~(np.abs(data) <= LARGEST_VALUE))
        if len(wrong):
            node = int(np.searchsorted(offsets, wrong[0], side="right")) - 1
            raise refused_number(data[wrong[0]], "x", int(columns[wrong[0]]), **place, node=node)
        starts.append(np.diff(offsets))
        ids.append(columns)
        values.append(data.astype(np.float32))
    names, _ = StringTable.intern(map(str, range(widths[0])))
    numbers = np.concatenate(values)
    plain = bool((numbers == 1).all())
    return Attributes(offsets_of(np.concatenate(starts)), np.concatenate(ids), names, None if plain else numbers)


def _joined_arrays(arrays: Sequence[NDArray[Any] | None], name: str) -> Any:
    """The rows of all graphs; None if none has any. Raises DataError if they differ in width."""
    if not arrays or arrays[0] is None:
        wrong = next((graph for graph, own in enumerate(arrays) if own is not None), None)
    else:
        width = arrays[0].shape[1]
        wrong = next((g for g, own in enumerate(arrays) if own is None or own.shape[1] != width), None)
    if wrong is not None:
        have = ["none" if own is None else own.shape[1] for own in (arrays[0], arrays[wrong])]
        raise DataError(f"columns of {name}: {have[1]}, and of graph 0: {have[0]}", graph=wrong)
    return np.concatenate([own for own in arrays if own is not None]) if arrays and arrays[0] is not None else None


# -- labels ----------------------------------------------------------------------------------------------------------


def _label_values(y: Any, place: Place) -> list[Any] | None:
    """The labels of a graph: texts, whole numbers, None for unknown ones, and floats, which are checked later."""
    if y is None:
        return None
    if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
        raise DataError(f"y must be a list with a label for each node, not {_kind(y)}", **place)
    if _is_array(y):
        array = np.asarray(y)
        if array.ndim != 1:
            remedy = "y.ravel()" if array.ndim == 2 and array.shape[1] == 1 else "y.argmax(axis=1)"
            raise DataError(f"y must have one label for each node, not the shape {array.shape}; try {remedy}", **place)
        if array.dtype.kind in "iu":
            return [None if value == -1 else value for value in array.tolist()]
        values = array.tolist()
    else:
        values = list(y)
    return [_label(value, node, place) for node, value in enumerate(values)]


def _label(value: Any, node: int, place: Place) -> Any:
    if isinstance(value, str):
        return str(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return None if value == -1 else int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    what = _kind(value)
    raise DataError(
        f"the label is {what}; a label is a text or a whole number, or None if it is unknown", **place, node=node
    )


def _kind(value: Any) -> str:
    return f"the {type(value).__name__} {value!r:.60}"


def _labels(
    values: list[list[Any] | None], sizes: list[int], names: Sequence[str | int] | None, many: bool
) -> tuple[Ids, StringTable] | None:
    """The ids and the distinct labels, in the order of ``names``, or else sorted; None without any labels."""
    if names is None and all(own is None for own in values):
        return None
    with_nan = any(value != value for own in values for value in own or ())
    given = [
        [None] * size if own is None else _without_floats(own, with_nan, place_of(graph, many))
        for graph, (own, size) in enumerate(zip(values, sizes, strict=True))
    ]
    found = {value for own in given for value in own} - {None}
    if names is None:
        order = list(dict.fromkeys(map(str, sorted(found, key=lambda label: (isinstance(label, str), label)))))
    else:
        order = [_name(name) for name in names]
        if len(set(order)) < len(order):
            raise DataError(f"labels has a label twice: {next(name for name in order if order.count(name) > 1)!r}")
    ids: dict[Any, int] = {name: i for i, name in enumerate(order)}
    for graph, own in enumerate(given):
        unknown = next((node for node, value in enumerate(own) if value is not None and str(value) not in ids), None)
        if unknown is not None:
            place = place_of(graph, many)
            have = ", ".join(map(repr, order))
            raise DataError(f"the label {own[unknown]!r} is not in labels ({have})", **place, node=unknown)
    ids.update({value: ids[str(value)] for value in found})
    ids[None] = -1
    table, _ = StringTable.intern(order)
    return np.array([ids[value] for own in given for value in own], np.int32), table


def _name(name: Any) -> str:
    if not isinstance(name, str | int | np.integer) or isinstance(name, bool):
        raise DataError(f"labels must have texts or whole numbers, not {_kind(name)}")
    return str(name)


def _without_floats(own: list[Any], with_nan: bool, place: Place) -> list[Any]:
    """Labels without floats: NaN is unknown, and whole numbers beside NaN, which makes floats of them, are whole."""
    if not any(isinstance(value, float) for value in own):
        return own
    result = []
    for node, value in enumerate(own):
        if not isinstance(value, float):
            result.append(value)
        elif value != value or value == -1:
            result.append(None)
        elif with_nan and value.is_integer():
            result.append(int(value))
        else:
            raise DataError(
                f"the label {value} is a float; a label is a text or a whole number",
                "convert labels with .astype(int); None, -1 and NaN stand for unknown ones",
                **place,
                node=node,
            )
    return result


# -- log-probabilities -----------------------------------------------------------------------------------------------


def _log_probs(given: Any, place: Place) -> F64 | None:
    """Log-probabilities of labels, ``(n, labels)``. Raises DataError if a node has none, or others."""
    if given is None:
        return None
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"node_log_probs must be an array with a row for each node: {error}", **place) from None
    if array.ndim != 2:
        raise DataError(f"node_log_probs must have a row for each node, not the shape {array.shape}", **place)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        node = int(np.argmin(finite))
        value = array[node][~np.isfinite(array[node])][0]
        remedy = "give no label the probability 0, as with np.log(np.maximum(probabilities, 1e-9))"
        raise DataError(f"a log-probability is {value}", remedy, **place, node=node)
    if len(array) and array.shape[1]:
        off = np.abs(np.exp(np.minimum(array, 1.0)).sum(axis=1) - 1) > _SUM_SLACK
        if off.any():
            node = int(np.argmax(off))
            row = ", ".join(f"{value:.3g}" for value in array[node, :4].tolist())
            positive = bool((array[node] >= 0).all())
            raise DataError(
                f"the log-probabilities {row}{', ...' * (array.shape[1] > 4)} are not those of probabilities whose "
                "sum is 1",
                "take np.log of probabilities" if positive else "subtract np.log(np.exp(scores).sum(axis=1))",
                **place,
                node=node,
            )
    return array
