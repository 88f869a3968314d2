"""Columns of values as states of variables: from dicts, pandas, polars, Arrow, CSV and Parquet files, and counts.

A column becomes an array of state numbers, -1 where the value is missing (None, NaN, an empty cell).
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.errors import Argument, DataError
from corate.graphs.bins import Edges, continuous, range_names, range_numbers
from corate.rate import Counts
from corate.rate.counted import check_lengths, column_names
from corate.rate.graphs import node_name
from corate.rate.samples import numbers_of

__all__ = ["DataRows", "States", "code_column", "names_of", "opened", "rows_of", "state_numbers"]

States = tuple[Hashable, ...]
Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class DataRows:
    """Coded rows: an array of state numbers for each variable, uint8 where nothing is missing and int32 else."""

    columns: dict[str, Codes]
    states: dict[str, States]
    weights: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    @property
    def total(self) -> float:
        """The number of rows, or their weight."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    def missing(self) -> str | None:
        """The first variable with a missing value, if any."""
        return next(
            (name for name, codes in self.columns.items() if codes.dtype != np.uint8 and (codes < 0).any()), None
        )


def opened(data: Any) -> Any:
    """The data as something with named columns: files are read, Counts and others are left as they are."""
    if not isinstance(data, str | os.PathLike):
        return data
    from corate.formats.tables import read_columns

    return read_columns(data)


def names_of(data: Any) -> dict[str, Any]:
    """The names of the columns as texts, each with the name that the data has. Raises DataError if two are the same."""
    names = data.variables if isinstance(data, Counts) else column_names(data)
    found = {str(name): name for name in names}
    if len(found) != len(names):
        listed = list(map(str, names))
        raise DataError(f"two columns have the name {next(n for n in listed if listed.count(n) > 1)!r}; rename one")
    return found


def rows_of(
    data: Any,
    names: Sequence[str],
    states: Mapping[str, Sequence[Hashable]] | None = None,
    *,
    bins: Edges = MappingProxyType({}),
    weights: Any = None,
) -> DataRows:
    """The states of some variables; ``states`` are those that are known already, ``bins`` the edges of ranges.

    ``weights`` are a number for each row, or the name of the column that has them.
    """
    if isinstance(data, Counts):
        if weights is not None:
            raise DataError("Counts have weights already; make them with Counts.of_frame(frame, weights=...)")
        return _counted(data, names, states or {})
    have = names_of(data)
    for name, given in list(have.items()):
        if not isinstance(given, str):  # the graph calls the node 3 X3
            have.setdefault(node_name(given, name), given)
    if absent := [name for name in names if name not in have]:
        shown = ", ".join(map(repr, list(have)[:12])) + (", ..." if len(have) > 12 else "")
        raise DataError(
            f"no column {absent[0]!r} in the data (columns: {shown}); add it, remove it from the graph, or declare it "
            "as hidden"
        )
    columns, found = {}, {}
    for name in names:
        known = (states or {}).get(name)
        columns[name], found[name] = code_column(data[have[name]], name, known, bins.get(name))
        if known is None and continuous(found[name]):
            raise DataError(
                f"column {name!r} has {len(found[name]):,} different numbers, too many for states",
                f"divide them into ranges with {Argument('bins')}, or give its states",
            )
    check_lengths(columns)
    if not columns or not len(next(iter(columns.values()))):
        raise DataError("the data has no rows")
    rows = DataRows(columns, found, None)
    return rows if weights is None else replace(rows, weights=_weights(data, weights, have, len(rows)))


def _weights(data: Any, weights: Any, have: Mapping[str, Any], n: int) -> NDArray[np.float64]:
    if isinstance(weights, str):
        if weights not in have:
            raise DataError(f"no column {weights!r} in the data, which should have the weights of the rows")
        found = numbers_of(data[have[weights]], weights)
    else:
        found = np.asarray(list(weights), dtype=np.float64)
    if found.shape != (n,):
        raise DataError(f"there must be {n:,} weights, one for each row, not {found.size:,}")
    if not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
        what = f"row {wrong[0]} has {found[wrong[0]]}" if len(wrong) else "all of them are zero"
        raise DataError(f"weights must be numbers that are not negative, and not all zero; {what}")
    return found


def _counted(data: Counts, names: Sequence[str], states: Mapping[str, Sequence[Hashable]]) -> DataRows:
    data.require(names)
    columns, found = {}, {}
    for name in names:
        own = data.states[name]
        known = states.get(name)
        codes = np.asarray(data.rows[:, data.variables.index(name)], dtype=np.int32)
        columns[name] = codes if known is None else state_numbers(list(own), name, tuple(known))[codes]
        found[name] = tuple(own if known is None else known)
    return DataRows({name: _narrow(codes, len(found[name])) for name, codes in columns.items()}, found, data.weights)


def code_column(
    values: Any, name: str, states: Sequence[Hashable] | None = None, edges: Sequence[float] | None = None
) -> tuple[Codes, States]:
    """The state of every value, and the states: those given, or all values in order (as they come if they have none).

    With ``edges``, the values are numbers, and the states are ranges.

    >>> codes, states = code_column(["b", "a", None], "x")
    >>> codes.tolist(), states
    ([1, 0, -1], ('a', 'b'))
    """
    if edges is not None:
        ranges = range_names(edges)
        return _narrow(range_numbers(values, name, edges), len(ranges)), ranges
    codes, labels = _distinct(values, name)
    if states is None:
        order = _order(labels)
        known: States = tuple(labels[i] for i in order)
        lookup = np.empty(len(labels), dtype=np.int32)
        lookup[order] = np.arange(len(labels), dtype=np.int32)
    else:
        known = tuple(states)
        lookup = state_numbers(labels, name, known)
    if not known:
        raise DataError(f"column {name!r} has no values; fill some in, or give its states")
    if not np.array_equal(lookup, np.arange(len(lookup))):
        codes = np.append(lookup, np.int32(-1))[codes] if codes.dtype.kind == "i" else lookup[codes]
    return _narrow(codes, len(known)), known


def state_numbers(labels: Sequence[Hashable], name: str, states: States) -> NDArray[np.int32]:
    """The number of each label among the states. Raises DataError for a label that is none of them."""
    place = {state: i for i, state in enumerate(states)}
    try:
        return np.array([place[label] for label in labels], dtype=np.int32)
    except KeyError as unknown:
        label = unknown.args[0]
    alike = {str(state): i for i, state in enumerate(states)}  # the text "1" of a file, and the number 1
    if len(alike) == len(states) and all(str(each) in alike for each in labels):
        return np.array([alike[str(each)] for each in labels], dtype=np.int32)
    some = ", ".join(map(repr, states[:8])) + (", ..." if len(states) > 8 else "")
    raise DataError(f"{name} has no state {label!r}; it has {some}")


def _narrow(codes: Codes, states: int) -> Codes:
    if codes.dtype == np.uint8:
        return codes
    if states <= 256 and (not len(codes) or codes.min() >= 0):
        return codes.view(np.uint8) if codes.dtype == np.int8 and codes.flags.c_contiguous else codes.astype(np.uint8)
    return np.ascontiguousarray(codes, dtype=np.int32)


def _order(labels: Sequence[Hashable]) -> NDArray[np.int64]:
    try:
        return np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.int64)  # type: ignore[arg-type]
    except TypeError:
        return np.arange(len(labels))


def _distinct(values: Any, name: str) -> tuple[Codes, list[Hashable]]:
    """A code for every value, and the value of each code; a negative code is a missing value."""
    kind = str(getattr(values, "dtype", ""))
    if kind == "category":  # pandas
        inner = getattr(values, "array", values)
        return np.asarray(inner.codes), list(inner.categories)
    package = type(values).__module__.partition(".")[0]
    if package in ("polars", "pyarrow"):
        return _arrow(values.to_arrow() if package == "polars" else values)
    array = values if isinstance(values, np.ndarray) else _array(values)
    if array.ndim != 1:
        raise DataError(f"column {name!r} has {array.ndim} dimensions; a column has one")
    if array.dtype.kind in "bui":
        return _integers(array)
    if array.dtype.kind in "fMmUS":
        return _sorted(array)
    return _objects(array.tolist(), name)


def _array(values: Any) -> NDArray[Any]:
    if hasattr(values, "to_numpy"):  # pandas
        return np.asarray(values.to_numpy())
    listed = list(values)
    if all(type(value) is int for value in listed) or all(type(value) is float for value in listed):
        array = np.array(listed)
        if array.dtype.kind in "if":
            return array
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


def _integers(array: NDArray[Any]) -> tuple[Codes, list[Hashable]]:
    if not len(array):
        return np.zeros(0, dtype=np.uint8), []
    least = 0
    packed = _native.pack_bytes(np.ascontiguousarray(array)) if array.dtype == np.int64 else None
    if packed is not None:
        bytes_ = packed
    elif array.dtype.itemsize == 1:
        bytes_ = np.ascontiguousarray(array).view(np.uint8)
    else:
        least = int(array.min())
        if int(array.max()) - least > 255:
            labels, codes = np.unique(array, return_inverse=True)
            return codes.astype(np.int32), labels.tolist()
        bytes_ = (array - least).astype(np.uint8)
    seen = np.flatnonzero(_native.count_bytes(bytes_))
    named = [_label(array.dtype, int(code), least) for code in seen]
    if seen[-1] + 1 == len(seen):
        return bytes_, named
    lookup = np.zeros(256, dtype=np.uint8)
    lookup[seen] = np.arange(len(seen), dtype=np.uint8)
    return lookup[bytes_], named


def _label(dtype: np.dtype[Any], code: int, least: int) -> Hashable:
    if dtype.kind == "b":
        return bool(code)
    return code - 256 if dtype == np.int8 and code > 127 else code + least


def _sorted(array: NDArray[Any]) -> tuple[Codes, list[Hashable]]:
    missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array) if array.dtype.kind in "Mm" else None
    if missing is None or not missing.any():
        labels, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int32), labels.tolist()
    found = np.full(len(array), -1, dtype=np.int32)
    labels, codes = np.unique(array[~missing], return_inverse=True)
    found[~missing] = codes
    return found, labels.tolist()


def _objects(values: list[Any], name: str) -> tuple[Codes, list[Hashable]]:
    ids: dict[Hashable, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for i, value in enumerate(values):
        try:
            missing = value is None or type(value).__name__ == "NAType" or value == "" or bool(value != value)
            codes[i] = -1 if missing else ids.setdefault(value, len(ids))
        except TypeError:
            raise DataError(f"column {name!r}, row {i}: {value!r} cannot be a state; use numbers or text") from None
    return codes, list(ids)


def _arrow(values: Any) -> tuple[Codes, list[Hashable]]:
    import pyarrow as pa

    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(whole, pa.ChunkedArray):  # no chunks, or too long for one
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    if whole.null_count == 0 and pa.types.is_integer(whole.type):
        return _integers(whole.to_numpy(zero_copy_only=False))
    if pa.types.is_floating(whole.type):
        return _sorted(whole.to_numpy(zero_copy_only=False))
    coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    labels = coded.dictionary.to_pylist()
    if "" not in labels:
        return codes, labels
    empty = labels.index("")  # an empty cell
    lookup = np.arange(len(labels) + 1, dtype=np.int32)
    lookup[empty + 1 :] -= 1
    lookup[[empty, -1]] = -1
    return lookup[codes], labels[:empty] + labels[empty + 1 :]
