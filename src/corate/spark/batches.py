"""From Arrow batches to corpora, and from labels to Arrow arrays, without a Python string for each token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.corpus.frames.arrow import Lists, decoded
from corate.errors import DataError
from corate.rows import offsets_of
from corate.types import Offsets

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


def read_batch(batch: Any, columns: Mapping[str, str], labels: str | None = None) -> Batch:
    """The sentences of an Arrow batch. ``columns`` are the names in the corpus, each with the column of the batch.

    A row is null if its first column is null. It is bad if another column is null, if a token is null or is not UTF-8,
    if a label is empty, or if the columns differ in length.
    """
    names = {**columns, **({} if labels is None else {"label": labels})}
    read = {name: Lists.of(batch.column(source)) for name, source in names.items()}
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
    if labels is not None:
        refuse(read["label"].with_empty(), labels, "has an empty label; give it a name")
    for source, lists in zip(list(names.values())[1:], others, strict=True):
        refuse(first.lengths != lists.lengths, source, f"and {names[next(iter(names))]} differ in length")
    kept = np.flatnonzero(good)
    built = []
    for name, lists in read.items():
        table, ids = lists.interned(kept)
        built.append(Column(name, ids, table))
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
