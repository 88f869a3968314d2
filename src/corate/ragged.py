"""Ragged arrays: rows of different lengths in one array of values, with the offset where each row begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.types import Offsets

__all__ = ["distinct", "offsets_of", "take_rows"]


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values, ascending: ``np.unique``, which imports a module of NumPy that takes time to load.

    >>> distinct(np.array([[3, 1], [3, 0]])).tolist()
    [0, 1, 3]
    """
    found = np.sort(values, axis=None)
    return np.asarray(found[np.append(True, found[1:] != found[:-1])[: len(found)]])


def offsets_of(lengths: NDArray[np.integer[Any]] | NDArray[np.bool_]) -> Offsets:
    """The offsets of rows of these lengths.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def take_rows(offsets: Offsets, rows: NDArray[np.integer[Any]]) -> tuple[Offsets, NDArray[np.int64]]:
    """Some rows of a ragged array, in the given order: their offsets, and the indices of their values in the old array.

    >>> offsets, places = take_rows(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> offsets.tolist(), places.tolist()
    ([0, 3, 5], [2, 3, 4, 0, 1])
    """
    lengths = offsets[rows + 1] - offsets[rows]
    taken = offsets_of(lengths)
    return taken, np.repeat(offsets[rows] - taken[:-1], lengths) + np.arange(taken[-1])
