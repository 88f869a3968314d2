"""Graphs of NetworkX and PyTorch Geometric, and images, as the arguments of `Corpus.from_graphs`.

The objects are read by their attributes, so that neither package is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus.graph_edges import UNTYPED, Place, place_of
from corate.display import counted
from corate.errors import Argument, ConfigError, DataError

__all__ = ["of_images", "of_networkx", "of_pyg"]

Arguments = dict[str, Any]


def of_networkx(
    graphs: Any,
    features: str | Sequence[str] | None,
    label: str | None,
    type: str | None,
    edge_features: str | None,
    symmetric: Iterable[str],
) -> Arguments:
    """The arguments for a graph of NetworkX, or for a list of graphs."""
    many = isinstance(graphs, list | tuple)
    given = list(graphs) if many else [graphs]
    for graph in given:
        if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
            raise DataError(f"a graph of NetworkX, or a list of graphs, is needed, not a {_kind(graph)}")
    directed = {graph.is_directed() for graph in given}
    if len(directed) > 1:
        raise DataError("some of the graphs are directed, and others are not; convert them with .to_undirected()")
    read = [_of_networkx(graph, features, label, place_of(i, many)) for i, graph in enumerate(given)]
    edges = [_typed_edges(graph, type, edge_features, place_of(i, many)) for i, graph in enumerate(given)]
    types = {name for own, _ in edges for name in own}
    labelled = any(value is not None for _, y in read for value in y)
    return {
        "x": _one_or_all([x for x, _ in read], many),
        "y": _one_or_all([y for _, y in read], many) if labelled else None,
        "edges": _one_or_all([own for own, _ in edges], many),
        "edge_features": _one_or_all([own for _, own in edges], many),
        "symmetric": symmetric if directed == {True} else types,
    }


def of_pyg(data: Any, mask: Any, symmetric: bool | None) -> Arguments:
    """The arguments for a ``Data`` object of PyTorch Geometric, or for a list of them."""
    many = isinstance(data, list | tuple)
    given = list(data) if many else [data]
    places = [place_of(i, many) for i in range(len(given))]
    read = [_of_data(own, mask, place) for own, place in zip(given, places, strict=True)]
    found = {name for own in read for name in own["edges"]}
    if symmetric is None:
        found = {name for name in found if all(_both_directions(own, name) for own in read)}
    return {
        **{name: _one_or_all([own[name] for own in read], many) for name in ("x", "edges", "edge_features")},
        "y": None if all(own["y"] is None for own in read) else _one_or_all([own["y"] for own in read], many),
        "symmetric": found if symmetric is not False else (),
    }


def of_images(images: Any, labels: Any, neighbours: int) -> Arguments:
    """The arguments for a sequence of images, whose pixels are nodes."""
    if neighbours not in (4, 8):
        raise ConfigError(f"{Argument('neighbours')} must be 4 or 8, not {neighbours!r}")
    one = "an image has the shape (height, width) or (height, width, channels); for a single one, write [image]"
    if not hasattr(images, "__len__") or getattr(images, "ndim", 3) < 3:
        raise DataError(f"the images must be a list or an array of images; {one}")
    if labels is not None and (not hasattr(labels, "__len__") or len(labels) != len(images)):
        have = len(labels) if hasattr(labels, "__len__") else "none"
        raise DataError(f"there are {counted(len(images), 'image')}, and labels for {have}; {one}")
    x, y, edges = [], [], []
    for i, image in enumerate(images):
        pixels = np.asarray(image)
        if pixels.ndim not in (2, 3):
            raise DataError(f"the image has the shape {pixels.shape}; {one}", graph=i)
        height, width = pixels.shape[:2]
        x.append(pixels.reshape(height * width, -1 if pixels.size else 1))
        edges.append(_grid(height, width, neighbours))
        own = None if labels is None or labels[i] is None else np.asarray(labels[i])
        if own is not None and own.shape != (height, width):
            raise DataError(f"the image has {height} x {width} pixels, and its labels the shape {own.shape}", graph=i)
        y.append(None if own is None else own.ravel())
    return {"x": x, "y": None if labels is None else y, "edges": edges}


def _one_or_all(values: list[Any], many: bool) -> Any:
    return values if many else values[0]


def _kind(value: Any) -> str:
    return type(value).__name__


# -- NetworkX --------------------------------------------------------------------------------------------------------


def _of_networkx(
    graph: Any, features: str | Sequence[str] | None, label: str | None, place: Place
) -> tuple[dict[str, Any], list[Any]]:
    """What `Corpus.from_graphs` takes as ``x``, and the labels, of one graph."""
    x: dict[str, Any] = {"columns": {"node": [str(name) for name in graph.nodes]}}
    if isinstance(features, str):
        found = [data.get(features) for data in graph.nodes.values()]
        missing = next((name for name, value in zip(graph.nodes, found, strict=True) if value is None), None)
        if missing is not None:
            raise DataError(
                f"it has no attribute {features!r}; name the attribute of the features with features=, or write "
                "features=None if nodes have no features",
                **place,
                node=repr(missing),
            )
        if all(isinstance(value, int | float | np.number) or _is_numeric(value) for value in found):
            x["vectors"] = _stacked(found, list(map(repr, graph.nodes)), place)
        else:
            x["features"] = [{features: value} if isinstance(value, str) else value for value in found]
    elif features is not None:
        own = [{name: data[name] for name in features if name in data} for data in graph.nodes.values()]
        if own and not any(own):
            raise DataError(f"no node has an attribute named {' or '.join(map(repr, features))}", **place)
        x["features"] = own
    return x, [None if label is None else data.get(label) for data in graph.nodes.values()]


def _is_numeric(value: Any) -> bool:
    """Whether the features of a node are numbers: an array, or a list of numbers."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(number, int | float | np.number) for number in value)
    return hasattr(value, "__array__")


def _stacked(values: list[Any], names: list[str], place: Place) -> NDArray[Any]:
    """The numbers of nodes or edges as rows."""
    rows = [np.atleast_1d(np.asarray(value)) for value in values]
    for name, row in zip(names, rows, strict=True):
        if row.shape != rows[0].shape or row.ndim != 1:
            raise DataError(f"{name} has features of the shape {row.shape}, and {names[0]} {rows[0].shape}", **place)
    return np.stack(rows) if rows else np.zeros((0, 1))


def _typed_edges(
    graph: Any, type: str | None, features: str | None, place: Place
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[Any]] | None]:
    """The edges of one graph by type, and their features."""
    numbers = {name: i for i, name in enumerate(graph.nodes)}
    pairs: dict[str, list[tuple[int, int]]] = {}
    values: dict[str, list[Any]] = {}
    names: dict[str, list[str]] = {}
    edges = list(graph.edges(data=True))
    typed = type is not None and any(type in data for _, _, data in edges)
    for left, right, data in edges:
        said = f"the edge from {left!r} to {right!r}"
        if left == right:
            raise DataError(
                f"{said}: leave out edges from a node to itself, as with "
                "graph.remove_edges_from(list(networkx.selfloop_edges(graph)))",
                **place,
            )
        if typed and data.get(type) is None:
            raise DataError(f"{said} has no attribute {type!r}, which is the type of others", **place)
        if features is not None and data.get(features) is None:
            raise DataError(f"{said} has no attribute {features!r}", **place)
        name = str(data[type]) if typed else UNTYPED
        pairs.setdefault(name, []).append((numbers[left], numbers[right]))
        names.setdefault(name, []).append(said)
        if features is not None:
            values.setdefault(name, []).append(data[features])
    rows = {name: _stacked(own, names[name], place) for name, own in values.items()}
    return {name: np.array(own) for name, own in pairs.items()}, rows or None


# -- PyTorch Geometric -----------------------------------------------------------------------------------------------


def _of_data(data: Any, mask: Any, place: Place) -> Arguments:
    """The arguments for one ``Data`` object."""
    if len(getattr(data, "node_types", ())) or not hasattr(data, "edge_index"):
        raise DataError(
            f"a Data object of PyTorch Geometric with one kind of nodes is needed, not a {_kind(data)}",
            "use data.to_homogeneous()" if hasattr(data, "node_types") else "",
            **place,
        )
    if getattr(data, "batch", None) is not None:
        raise DataError("the graphs are in one batch; give batch.to_data_list()", **place)
    ends = _array(data.edge_index)
    if ends.ndim != 2 or len(ends) != 2:
        raise DataError(f"edge_index must have the shape (2, m), not {ends.shape}", **place)
    features = None if getattr(data, "edge_attr", None) is None else _array(data.edge_attr)
    if features is not None and features.ndim == 1:
        features = features[:, None]
    kinds = None if getattr(data, "edge_type", None) is None else _array(data.edge_type)
    chosen = {UNTYPED: np.full(ends.shape[1], True)}
    if kinds is not None:
        chosen = {str(kind): kinds == kind for kind in sorted(set(kinds.tolist()))}
    return {
        "x": None if getattr(data, "x", None) is None else _array(data.x),
        "y": None if getattr(data, "y", None) is None else _masked(_array(data.y), data, mask, place),
        "edges": {name: ends.T[own] for name, own in chosen.items()},
        "edge_features": None if features is None else {name: features[own] for name, own in chosen.items()},
    }


def _array(tensor: Any) -> NDArray[Any]:
    """A tensor as an array."""
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _masked(y: NDArray[Any], data: Any, mask: Any, place: Place) -> NDArray[Any]:
    """The labels, with -1 for those outside of the mask."""
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if isinstance(mask, str):
        name, mask = mask, getattr(data, mask, None)
        if mask is None and name != "train_mask":
            raise DataError(f"the data has no mask {name!r}", **place)
    if mask is None:
        return y
    known = _array(mask)
    if known.dtype != bool or known.shape != y.shape[:1]:
        raise DataError(
            f"the mask must have True or False for each of {counted(len(y), 'node')}, not {known.dtype} of the shape "
            f"{known.shape}; of several masks, give one, as in mask=data.train_mask[:, 0]",
            **place,
        )
    if y.dtype.kind not in "iu":
        raise DataError(f"y must have whole numbers, not values of the type {y.dtype}", **place)
    return np.where(known, y.astype(np.int64), -1)


def _both_directions(data: Arguments, name: str) -> bool:
    """Whether each edge of a type is there in both directions, with the same features."""
    pairs, features = data["edges"].get(name), data["edge_features"]
    if pairs is None or not len(pairs):
        return True
    size = int(pairs.max()) + 1
    forwards, backwards = pairs @ np.array([size, 1]), pairs @ np.array([1, size])
    one, other = np.argsort(forwards, kind="stable"), np.argsort(backwards, kind="stable")
    if not np.array_equal(forwards[one], backwards[other]):
        return False
    return features is None or np.array_equal(features[name][one], features[name][other])


# -- images ----------------------------------------------------------------------------------------------------------


def _grid(height: int, width: int, neighbours: int) -> dict[str, NDArray[np.int64]]:
    """The edges between the pixels of an image, which are numbered row by row.

    >>> {name: pairs.tolist() for name, pairs in _grid(2, 2, 8).items()}
    {'right': [[0, 1], [2, 3]], 'down': [[0, 2], [1, 3]], 'down-right': [[0, 3]], 'down-left': [[1, 2]]}
    """
    pixels = np.arange(height * width).reshape(height, width)
    ends = {"right": (pixels[:, :-1], pixels[:, 1:]), "down": (pixels[:-1], pixels[1:])}
    if neighbours == 8:
        ends["down-right"] = (pixels[:-1, :-1], pixels[1:, 1:])
        ends["down-left"] = (pixels[:-1, 1:], pixels[1:, :-1])
    return {name: np.stack([left.ravel(), right.ravel()], axis=1) for name, (left, right) in ends.items()}
