"""Numbers as states of variables: ranges that have about equally many rows.

A variable with the inner edges e_1 < e_2 < ... has the states x < e_1, e_1 <= x < e_2, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_whole
from corate.errors import ConfigError
from corate.rate.samples import column_array, numbers_of
from corate.types import F64

__all__ = ["Edges", "check_bins", "continuous", "quantile_edges", "range_names", "range_numbers"]

#: The inner edges of the ranges of each variable.
Edges = Mapping[str, Sequence[float]]
#: A column with more different numbers that are not integers is no variable with states.
MOST_DISTINCT = 50


def check_bins(bins: Any) -> int | dict[str, int] | None:
    """Raise ConfigError unless it is a number of ranges, or one for each of some columns."""
    if isinstance(bins, Mapping):
        return {str(name): check_whole(f"bins of {name}", n, 1) for name, n in bins.items()}
    if isinstance(bins, str):
        raise ConfigError(f"bins must be a whole number, or a dict of columns and numbers, not {bins!r}", option="bins")
    return None if bins is None else check_whole("bins", bins, 1)


def continuous(labels: Sequence[Any], most: int = MOST_DISTINCT) -> bool:
    """Whether states are more than so many numbers, of which one is not an integer, or numbers of type float."""
    if len(labels) <= most:
        return False
    if all(isinstance(label, str) for label in labels):
        try:
            numbers = [float(label) for label in labels]
        except ValueError:
            return False
        return any(number % 1 != 0 for number in numbers)
    return all(isinstance(label, float) for label in labels)


def quantile_edges(numbers: F64, bins: int) -> list[float]:
    """The inner edges of ranges with equally many of some numbers; fewer ranges if many numbers are equal.

    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0]), 2), quantile_edges(np.array([1.0, 1.0, 1.0, 4.0]), 2)
    ([2.5], [])
    """
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return []
    edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
    return [float(edge) for edge in edges if edge > known.min()]


def range_names(edges: Sequence[float]) -> tuple[str, ...]:
    """The states of a variable with ranges.

    >>> range_names([0.5, 2.0]), range_names([])
    (('below 0.5', '0.5 to 2', '2 or above'), ('any number',))
    """
    if not len(edges):
        return ("any number",)
    digits = next(d for d in range(4, 18) if d == 17 or len({f"{edge:.{d}g}" for edge in edges}) == len(edges))
    shown = [f"{edge:.{digits}g}" for edge in edges]
    inner = [f"{a} to {b}" for a, b in pairwise(shown)]
    return (f"below {shown[0]}", *inner, f"{shown[-1]} or above")


def range_numbers(values: Any, name: str, edges: Sequence[float]) -> NDArray[np.int32]:
    """The number of the range of each value, a number or the name of a range; -1 where one is missing."""
    array, places = column_array(values), {label: i for i, label in enumerate(range_names(edges))}
    named = [places.get(value, -1) for value in array.tolist()] if array.dtype.kind in "OU" else [-1] * len(array)
    ids = np.array(named, dtype=np.int32)
    if (ids >= 0).any():
        array = array.astype(object)
        array[ids >= 0] = None
    numbers = numbers_of(array, name)
    found = np.searchsorted(np.asarray(edges, dtype=np.float64), numbers, side="right").astype(np.int32)
    found[np.isnan(numbers)] = -1
    return np.where(ids >= 0, ids, found)
