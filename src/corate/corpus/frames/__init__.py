"""Data frames of pandas and polars, and Arrow tables: from their columns to numbered strings, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from corate.errors import DataError

if TYPE_CHECKING:
    from corate.corpus.frames.tables import Numbered, Table
    from corate.strings import StringTable
    from corate.types import F64, Ids, Offsets

__all__ = ["read", "table_of", "with_columns"]


def table_of(frame: Any) -> Table:
    """The table of a data frame. Raises DataError if it is of no known kind, or if pyarrow is not installed."""
    try:
        from corate.corpus.frames.tables import Table
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise DataError("data frames need the package pyarrow; install it with: pip install corate[frames]") from None
    return Table.of(frame)


def read(
    frame: Any, columns: Mapping[str, str], sentence: str | Sequence[str] | None = None
) -> tuple[Numbered, Offsets]:
    """The columns of a data frame, each by a new name, as distinct strings and ids, and the offsets of sentences.

    A missing value of the column ``label`` has the id -1; other columns have no missing values.
    """
    table = table_of(frame)
    from corate.corpus.frames.tables import read_table

    return read_table(table, columns, sentence)


def with_columns(
    table: Table, new: Mapping[str, tuple[Ids, StringTable] | F64], sentences: Offsets | None = None
) -> Any:
    """The frame with further columns, of strings or numbers; of lists if the offsets of ``sentences`` are given."""
    import pyarrow

    from corate.corpus.frames.arrow import decoded

    arrays = {name: decoded(*own) if isinstance(own, tuple) else pyarrow.array(own) for name, own in new.items()}
    if sentences is not None:
        ends = pyarrow.array(sentences)
        arrays = {name: pyarrow.LargeListArray.from_arrays(ends, array) for name, array in arrays.items()}
    return table.with_columns(arrays)
