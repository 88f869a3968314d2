"""From Arrow batches to corpora, and from labels to Arrow arrays, without a Python string for each token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.errors import DataError
from corate.ragged import offsets_of, take_rows
from corate.strings import StringTable
from corate.types import Ids, Offsets

__all__ = ["Batch", "read_batch"]

#: The number of characters of a bad row that a message shows.
_SHOWN = 200


@dataclass(frozen=True, eq=False)
class Batch:
    """The sentences of an Arrow batch.

    ``corpus`` has the rows ``kept``. The others are null, or bad: ``errors`` has a message for each bad row.
    """

    corpus: Corpus
    rows: int
    kept: NDArray[np.int64]
    errors: dict[int, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise DataError for the first bad row."""
        for message in self.errors.values():
            raise DataError(message)

    def lists(self, offsets: Offsets, values: Any) -> Any:
        """An Arrow array of lists for all rows: null for those that are not in the corpus."""
        lengths, missing = np.zeros(self.rows, np.int64), np.ones(self.rows, dtype=bool)
        lengths[self.kept], missing[self.kept] = np.diff(offsets), False
        ends = pa.array(offsets_of(lengths).astype(np.int32))
        return pa.ListArray.from_arrays(ends, values, mask=pa.array(missing) if missing.any() else None)

    def labels(self, column: Column) -> Any:
        """The labels of the corpus as an Arrow array of lists."""
        return self.lists(self.corpus.offsets, decoded(column.ids, column.strings))

    def messages(self) -> Any:
        """The message of each bad row, null for the others."""
        return pa.array([self.errors.get(row) for row in range(self.rows)], pa.string())


def decoded(ids: Ids, strings: StringTable) -> Any:
    """An Arrow array of strings, from ids and their table."""
    return pa.DictionaryArray.from_arrays(pa.array(ids), pa.array(strings.to_list(), pa.string())).dictionary_decode()


def read_batch(batch: Any, columns: Mapping[str, str], labels: str | None = None) -> Batch:
    """The sentences of an Arrow batch. ``columns`` are the names in the corpus, each with the column of the batch.

    A row is null if its first column is null. It is bad if another column is null, if a token is null or is not UTF-8,
    or if the columns differ in length.
    """
    names = {**columns, **({} if labels is None else {"label": labels})}
    read = {name: _Lists.of(batch.column(source)) for name, source in names.items()}
    first, *others = read.values()
    good, errors = first.present.copy(), dict[int, str]()

    def refuse(rows: NDArray[np.bool_], source: str, what: str) -> None:
        for row in np.flatnonzero(rows & good).tolist():
            errors[row] = f"the row with {_shown(batch, names, row)}: {source} {what}"
            good[row] = False

    for source, lists in zip(names.values(), read.values(), strict=True):
        refuse(~lists.present, source, "is null")
        refuse(lists.with_null, source, "has a null; remove it, or replace it with a string")
        refuse(lists.not_utf8(), source, "is not UTF-8; decode it with the right encoding")
    for source, lists in zip(list(names.values())[1:], others, strict=True):
        refuse(first.lengths != lists.lengths, source, f"and {names[next(iter(names))]} differ in length")
    kept = np.flatnonzero(good)
    built = [lists.column(name, kept) for name, lists in read.items()]
    offsets = offsets_of(first.lengths[kept])
    corpus = Corpus(tuple(built[: len(columns)]), offsets, None if labels is None else built[-1])
    return Batch(corpus, batch.num_rows, kept, dict(sorted(errors.items())))


def _shown(batch: Any, names: Mapping[str, str], row: int) -> str:
    """The content of a row, shortened."""
    try:
        parts = [f"{source} = {batch.column(source)[row].as_py()!r}" for source in names.values()]
    except UnicodeDecodeError as error:
        parts = [f"the bytes {error.object!r}"]
    text = ", ".join(parts)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


@dataclass(frozen=True, eq=False)
class _Lists:
    """An Arrow array of lists of strings: where the rows begin in ``flat``, and which rows are not null."""

    flat: Any
    offsets: Offsets
    present: NDArray[np.bool_]
    with_null: NDArray[np.bool_]

    @classmethod
    def of(cls, array: Any) -> _Lists:
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
        return np.diff(self.offsets)

    def not_utf8(self) -> NDArray[np.bool_]:
        """The rows with a string that is not UTF-8."""
        found = np.zeros(len(self.present), dtype=bool)
        if not _is_utf8(self.flat):
            ends = self.offsets.tolist()
            found[:] = [not _is_utf8(self.flat.slice(a, b - a)) for a, b in pairwise(ends)]
        return found

    def column(self, name: str, rows: NDArray[np.int64]) -> Column:
        """The strings of some rows, interned from the Arrow buffers."""
        _, ends, data = self.flat.buffers()
        wide = pa.types.is_large_string(self.flat.type)
        own = slice(self.flat.offset, self.flat.offset + len(self.flat) + 1)
        places = np.zeros(1, np.int64)
        if ends is not None and len(self.flat):
            places = np.frombuffer(ends, np.int64 if wide else np.int32)[own].astype(np.int64)
        blob = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        table, ids = StringTable.intern_buffer(blob[places[0] : places[-1]], places - places[0])
        if len(rows) < len(self.present):
            ids = ids[take_rows(self.offsets, rows)[1]]
        return Column(name, ids, table)


def _is_utf8(array: Any) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
