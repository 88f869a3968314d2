"""Graph models in the model file: numbers in tensors, names and states in the header."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate.errors import CorateError, ModelError, placed
from corate.graphs.bins import range_names
from corate.graphs.estimation import ScopeCounts
from corate.graphs.potentials import checked_factors
from corate.graphs.triangulation import plan_of
from corate.inference.tables import flat, split
from corate.inference.triangulation import pairs_of, triangulate
from corate.io import tensor_file
from corate.rate import Graph
from corate.types import F64

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["load_model", "save_model"]

_MEMBERS = {"kind", "variables", "edges", "states", "factors", "counts", "total", "record"}


def save_model(model: GraphModel, path: str | os.PathLike[str]) -> int:
    """Write a model, all or nothing, and return its size in bytes."""
    place = {name: i for i, name in enumerate(model.variables)}
    for name, states in model.states.items():
        for state in states:
            if type(state) not in (str, int, float, bool) or state != state:
                raise ModelError(
                    f"the state {state!r} of {name} cannot be saved; states must be texts, numbers, True or False"
                )
    counts = model._counts
    header = {
        "kind": "graph",
        "variables": list(model.variables),
        "edges": [[place[a], place[b]] for a, b in model.graph.edges],
        "states": [list(model.states[name]) for name in model.variables],
        "factors": [list(scope) for scope, _ in model._distribution.factors],
        "counts": None if counts is None else [list(scope) for scope in counts.scopes],
        "total": None if counts is None else counts.total,
        "record": model.record,
    }
    tensors = {"factors": flat([table for _, table in model._distribution.factors])}
    if counts is not None:
        tensors["counts"] = flat(counts.tables)
    return tensor_file.write(path, tensors, header)


def load_model(cls: type[GraphModel], path: str | os.PathLike[str], memory: int) -> GraphModel:
    """Read a model. Raises ModelError if the file is damaged, or is not a graph model."""
    tensors, header = tensor_file.read(path)
    shown = os.fspath(path)
    if header.get("kind") != "graph":
        raise ModelError("this is not a graph model", "load a tagger with corate.load")
    try:
        with placed(file=shown):
            return _model(cls, tensors, header, memory)
    except CorateError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelError(
            f"the file contains no graph model that corate can use ({type(error).__name__}: {error})", "fit it again"
        ) from None


def _model(cls: type[GraphModel], tensors: dict[str, Any], header: dict[str, Any], memory: int) -> GraphModel:
    if unknown := sorted((header.keys() - _MEMBERS) | (tensors.keys() - {"factors", "counts"})):
        raise ModelError(
            f"the model has parts that this version of corate does not know ({unknown[0]}); upgrade corate"
        )
    variables = tuple(header["variables"])
    if not variables or len(set(variables)) != len(variables) or not all(isinstance(name, str) for name in variables):
        raise ModelError("the variables have no different names")
    states = {name: tuple(of) for name, of in zip(variables, header["states"], strict=True)}
    sizes = [len(of) for of in states.values()]
    pairs = [(variables[a], variables[b]) for a, b in _ids(header["edges"], len(variables))]
    scopes = _ids(header["factors"], len(variables))
    tables = _tables(tensors["factors"], scopes, sizes)
    named = [(tuple(variables[v] for v in scope), table) for scope, table in zip(scopes, tables, strict=True)]
    graph = Graph(variables, tuple(pairs))
    _, known, factors = checked_factors(named, states, graph)
    counts = None
    if header["counts"] is not None:
        counted = _ids(header["counts"], len(variables))
        counts = ScopeCounts(tuple(counted), tuple(_tables(tensors["counts"], counted, sizes)), float(header["total"]))
        if not math.isfinite(counts.total) or not all((table >= 0).all() for table in counts.tables):
            raise ModelError("the counts are negative or not finite")
    record = dict(header["record"])
    for name, edges in dict(record.get("bins", {})).items():
        if states[name] != range_names(edges):
            raise ModelError(f"the ranges of {name} do not fit its states")
    tree = triangulate(sizes, pairs_of([*map(tuple, scopes), *_ids(header["edges"], len(variables))]))
    plan_of(tree, variables, sum(table.size for table in tables)).check(memory)
    return cls(graph, known, factors, tree, counts=counts, record=record, memory=memory)


def _ids(lists: Any, n: int) -> list[tuple[int, ...]]:
    found = [tuple(scope) for scope in lists]
    for scope in found:
        if any(type(v) is not int or not 0 <= v < n for v in scope) or len(set(scope)) != len(scope):
            raise ModelError("a scope or an edge has variables that are not there, or one twice")
    return found


def _tables(numbers: NDArray[Any], scopes: Sequence[tuple[int, ...]], sizes: Sequence[int]) -> list[F64]:
    cells = sum(math.prod(sizes[v] for v in scope) for scope in scopes)
    if numbers.dtype != np.float64 or numbers.shape != (cells,):
        raise ModelError("the tables do not fit their variables")
    return [np.array(table) for table in split(numbers, scopes, sizes)]
