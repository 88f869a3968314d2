"""Arrow arrays of strings: to tables of distinct strings and back, without a Python string for each value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from corate.rows import take_rows
from corate.strings import StringTable
from corate.types import Ids, Offsets

__all__ = ["Lists", "decoded", "interned", "is_utf8"]


def interned(array: Any) -> tuple[StringTable, Ids]:
    """The distinct strings of an Arrow array, and their ids, from its buffers. The id of a null is -1.

    >>> table, ids = interned(pa.array(["to", None, "be", "to"]))
    >>> table.to_list(), ids.tolist()
    (['to', 'be'], [0, -1, 1, 0])
    """
    if array.null_count:
        present = array.is_valid().to_numpy(zero_copy_only=False)
        table, found = interned(array.drop_null())
        all_ids = np.full(len(array), -1, np.int32)
        all_ids[present] = found
        return table, all_ids
    _, ends, data = array.buffers()
    wide = pa.types.is_large_string(array.type)
    own = slice(array.offset, array.offset + len(array) + 1)
    places = np.zeros(1, np.int64)
    if ends is not None and len(array):
        places = np.frombuffer(ends, np.int64 if wide else np.int32)[own].astype(np.int64)
    blob = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return StringTable.intern_buffer(blob[places[0] : places[-1]], places - places[0])


def decoded(ids: Ids, strings: StringTable) -> Any:
    """An Arrow array of strings, from ids and their table.

    >>> decoded(np.array([1, 0], np.int32), StringTable.intern(["to", "be"])[0]).to_pylist()
    ['be', 'to']
    """
    return pa.DictionaryArray.from_arrays(pa.array(ids), pa.array(strings.to_list(), pa.string())).dictionary_decode()


def is_utf8(array: Any) -> bool:
    """Whether all strings of an Arrow array are UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Lists:
    """An Arrow array of lists of strings: where the rows begin in ``flat``, and which rows are not null."""

    flat: Any
    offsets: Offsets
    present: NDArray[np.bool_]
    with_null: NDArray[np.bool_]

    @classmethod
    def of(cls, array: Any) -> Lists:
        """The lists of an Arrow array."""
        offsets = array.offsets.to_numpy().astype(np.int64)
        flat = array.values.slice(offsets[0], offsets[-1] - offsets[0])
        offsets = offsets - offsets[0]
        present = np.ones(len(array), dtype=bool)
        if array.null_count:
            present = array.is_valid().to_numpy(zero_copy_only=False)
        with_null = np.zeros(len(array), dtype=bool)
        if flat.null_count:
            nulls = np.flatnonzero(flat.is_null().to_numpy(zero_copy_only=False))
            with_null[np.searchsorted(offsets, nulls, side="right") - 1] = True
        return cls(flat, offsets, present, with_null)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The lengths of the rows."""
        return np.diff(self.offsets)

    def not_utf8(self) -> NDArray[np.bool_]:
        """The rows with a string that is not UTF-8."""
        found = np.zeros(len(self.present), dtype=bool)
        if not is_utf8(self.flat):
            ends = self.offsets.tolist()
            found[:] = [not is_utf8(self.flat.slice(a, b - a)) for a, b in pairwise(ends)]
        return found

    def with_empty(self) -> NDArray[np.bool_]:
        """The rows with an empty string.

        >>> Lists.of(pa.array([["a"], ["b", ""], []])).with_empty().tolist()
        [False, True, False]
        """
        found = np.zeros(len(self.present), dtype=bool)
        empty = np.flatnonzero(np.asarray(pc.binary_length(self.flat).fill_null(1)) == 0)
        found[np.searchsorted(self.offsets, empty, side="right") - 1] = True
        return found

    def interned(self, rows: NDArray[np.int64]) -> tuple[StringTable, Ids]:
        """The distinct strings of all rows, and the ids of those of some rows."""
        table, ids = interned(self.flat)
        return table, ids if len(rows) == len(self.present) else ids[take_rows(self.offsets, rows)[1]]
