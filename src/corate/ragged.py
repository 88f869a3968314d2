"""Ragged arrays: rows of different lengths in one array of values, with the offset where each row begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.types import Offsets

__all__ = ["offsets_of", "take_rows"]


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
