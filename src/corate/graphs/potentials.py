"""Factors as users give them, checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from corate.display import counted
from corate.errors import DataError
from corate.graphs.variables import States
from corate.inference.trees import Factor
from corate.rate import Graph
from corate.types import F64

__all__ = ["checked_factors"]


def checked_factors(
    factors: Iterable[tuple[str | Sequence[str], Any]], states: Mapping[str, Sequence[Hashable]], graph: Graph | None
) -> tuple[Graph, dict[str, States], list[Factor]]:
    """The graph of some factors, the states of its nodes, and the factors with the numbers of their variables."""
    listed = [_checked(number, *_pair(number, factor)) for number, factor in enumerate(factors)]
    names = list(dict.fromkeys([*(graph.nodes if graph else ()), *(name for scope, _ in listed for name in scope)]))
    if not names:
        raise DataError("there is no variable; pass factors such as (['A', 'B'], table)")
    known: dict[str, States] = {name: _states(name, states[name]) for name in names if name in states}
    for scope, table in listed:
        for name, size in zip(scope, table.shape, strict=True):
            if len(known.setdefault(name, tuple(range(size)))) != size:
                raise DataError(
                    f"the factor of {', '.join(scope)} has {counted(size, 'state')} of {name}, "
                    f"which has {len(known[name])} elsewhere"
                )
    if absent := [name for name in names if name not in known]:
        raise DataError(f"{absent[0]} is in no factor, so its states are unknown; give them with states")
    pairs = ((a, b) for scope, _ in listed for i, a in enumerate(scope) for b in scope[i + 1 :])
    edges = {frozenset(pair): pair for pair in [*(graph.edges if graph else ()), *pairs]}
    place = {name: i for i, name in enumerate(names)}
    tables = [(tuple(place[name] for name in scope), table) for scope, table in listed]
    return Graph(tuple(names), tuple(edges.values())), known, tables


def _pair(number: int, factor: Any) -> tuple[Any, Any]:
    try:
        scope, table = factor
    except (TypeError, ValueError):
        raise DataError(
            f"factor {number} must be a pair of variables and a table, such as (['A', 'B'], table)"
        ) from None
    return scope, table


def _checked(number: int, scope: str | Sequence[str], values: Any) -> tuple[tuple[str, ...], F64]:
    names = (scope,) if isinstance(scope, str) else tuple(map(str, scope))
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"factor {number}, of {', '.join(names)}, is not a table of numbers") from None
    where = f"factor {number}, of {', '.join(names)},"
    if len(set(names)) != len(names):
        raise DataError(f"{where} names a variable twice")
    if table.ndim != len(names) or 0 in table.shape:
        raise DataError(f"{where} has a table of shape {table.shape}; it needs an axis for each variable, none empty")
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(f"{where} has a number that is negative or not finite")
    if not (table > 0).any():
        raise DataError(f"{where} is zero everywhere, so no states are possible")
    return names, table


def _states(name: str, states: Sequence[Hashable]) -> States:
    found = tuple(states)
    if not found or len(set(found)) != len(found):
        raise DataError(f"{name} needs at least one state, and no state twice")
    return found
