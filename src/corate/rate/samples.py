"""Columns of numbers: those of a data frame, of Arrow, or lists of numbers and texts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.rate.counted import chosen_columns
from corate.types import F64

__all__ = ["column_array", "numbers_of", "points_of"]


def column_array(values: Any) -> NDArray[Any]:
    """A column as an array."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    return np.asarray(array if isinstance(array, np.ndarray) else list(array))


def numbers_of(values: Any, name: str) -> F64:
    """A column as numbers, NaN where one is missing."""
    array = column_array(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    return np.array([_number(value, name) for value in array.tolist()], dtype=np.float64)


def points_of(frame: Any, columns: Iterable[Hashable] | None) -> tuple[list[str], F64]:
    """The names of some columns of a data frame, and their numbers, ``(rows, columns)``. None may be missing."""
    chosen = chosen_columns(frame, columns)
    found = [numbers_of(values, str(name)) for name, values in chosen]
    for (name, _), numbers in zip(chosen, found, strict=True):
        if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
            raise DataError(f"column {str(name)!r}, row {wrong[0]}: the number is missing or not finite; omit that row")
    if len({len(numbers) for numbers in found}) > 1 or not len(found[0]):
        lengths = ", ".join(f"{name} {len(n)}" for (name, _), n in zip(chosen, found, strict=True))
        raise DataError(f"the columns must have equally many numbers, and at least one; they have: {lengths}")
    return [str(name) for name, _ in chosen], np.stack(found, axis=1)


def _number(value: Any, name: str) -> float:
    if value is None or value == "" or type(value).__name__ == "NAType":
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"{name}: {value!r} is not a number") from None
