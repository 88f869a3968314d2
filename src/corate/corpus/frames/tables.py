"""Data frames of pandas and polars, and Arrow tables: columns as numbered strings, and frames with new columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corate.corpus.frames.arrow import Lists, interned, is_utf8
from corate.display import counted
from corate.errors import DataError
from corate.strings import StringTable
from corate.types import Ids, Offsets

__all__ = ["Numbered", "Table", "read_table"]

#: How a column becomes text, by the kind of frame.
_AS_TEXT = {"pandas": ".astype(str)", "polars": ".cast(pl.String)", "arrow": ".cast(pa.string())"}
_MISSING = "the value is missing"
#: How the rows of a sentence get the value of its first row.
_FILL = {"pandas": ".ffill()", "polars": ".forward_fill()", "arrow": "pyarrow.compute.fill_null_forward"}

Numbered = dict[str, tuple[StringTable, Ids]]


@dataclass(frozen=True)
class Table:
    """A data frame, and its kind: ``"pandas"``, ``"polars"`` or ``"arrow"``.

    >>> table = Table.of(pa.table({"word": ["Ann", "sings"]}))
    >>> table.kind, len(table), table.column("word").to_pylist()
    ('arrow', 2, ['Ann', 'sings'])
    >>> table.with_columns({"label": pa.array(["NAME", "VERB"])}).column_names
    ['word', 'label']
    """

    frame: Any
    kind: str

    @classmethod
    def of(cls, frame: Any) -> Table:
        """The table of a frame. Raises DataError if it is of no known kind."""
        pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
        if pandas is not None and isinstance(frame, pandas.DataFrame):
            return cls(frame, "pandas")
        if polars is not None and isinstance(frame, polars.LazyFrame):
            raise DataError("the frame is a polars LazyFrame, whose rows are not known yet; call .collect() first")
        if polars is not None and isinstance(frame, polars.DataFrame):
            return cls(frame, "polars")
        if isinstance(frame, pa.Table | pa.RecordBatch):
            return cls(frame, "arrow")
        if hasattr(frame, "__arrow_c_stream__"):
            return cls(pa.table(frame), "arrow")
        hint = "; use corate.spark for it" if type(frame).__module__.startswith("pyspark") else ""
        raise DataError(
            f"a data frame of pandas or polars or an Arrow table is needed, not {type(frame).__name__}{hint}"
        )

    def __len__(self) -> int:
        return int(self.frame.num_rows) if self.kind == "arrow" else len(self.frame)

    def names(self) -> list[Any]:
        """The names of the columns."""
        return list(self.frame.schema.names) if self.kind == "arrow" else list(self.frame.columns)

    def as_text(self) -> str:
        """How a column of this kind of frame becomes text."""
        return _AS_TEXT[self.kind]

    def place(self, row: int) -> str:
        """The name of a row in messages: its number from 0, and its label in the index if that differs."""
        index = self.frame.index[row] if self.kind == "pandas" else row
        return f"row {row}" if index == row else f"row {row} (index {index!r})"

    def column(self, name: str) -> Any:
        """A column as one Arrow array. Raises DataError if there is not one, or if its values differ in type."""
        names = self.names()
        if names.count(name) != 1:
            known = ", ".join(map(repr, names)) or "none"
            index = self.kind == "pandas" and name in self.frame.index.names
            raise DataError(
                f"the frame has {names.count(name) or 'no'} column{'s' * (name in names)} {name!r}; its columns are "
                f"{known}" + "; it is in the index, so call .reset_index() first" * index
            )
        if self.kind == "pandas":
            column = self._pandas_column(name)
        else:
            column = self.frame[name].to_arrow() if self.kind == "polars" else self.frame.column(name)
        if isinstance(column, pa.ChunkedArray):
            column = _one_array(column)
        return column if len(column) else pa.nulls(0)  # a column without values may have any type

    def _pandas_column(self, name: str) -> Any:
        values = self.frame[name]
        try:
            return pa.Array.from_pandas(values)
        except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
            first = next((type(v) for v in values if isinstance(v, str | list)), None)
            for row, value in enumerate(values):
                if not _fits(value, first):
                    raise DataError(
                        f"column {name!r}, {self.place(row)}: {_shown(value)} is not text; convert it, or leave such "
                        "rows out"
                    ) from None
            raise DataError(f"column {name!r} cannot be read: {error}; convert it to text first") from None

    def with_columns(self, new: Mapping[str, Any]) -> Any:
        """A frame of the same kind with further columns, from Arrow arrays. The index of a pandas frame is kept."""
        if self.kind == "polars":
            import polars

            return self.frame.with_columns(polars.DataFrame(pa.table(new)).get_columns())
        if self.kind == "pandas":
            return self.frame.assign(**{name: self._values(array) for name, array in new.items()})
        schema = self.frame.schema
        for name, array in new.items():
            schema = schema.append(pa.field(name, array.type))
        return type(self.frame).from_arrays([*self.frame.columns, *new.values()], schema=schema)

    def _values(self, array: Any) -> Any:
        """The values of an array for a column of pandas, without an index."""
        import pandas

        if pa.types.is_large_list(array.type):
            return pandas.Series(array.to_pylist(), dtype=object).array
        return array.to_pandas().array


def _one_array(column: Any) -> Any:
    """The chunks of a column as one array. Long strings need wide offsets, or they do not fit one array."""
    wide = {pa.string(): pa.large_string(), pa.list_(pa.string()): pa.large_list(pa.large_string())}
    return column.cast(wide.get(column.type, column.type)).combine_chunks()


def _fits(value: Any, first: type | None) -> bool:
    """Whether a value of a column is missing or like the first one: text, or a list of texts."""
    if value is None or (isinstance(value, float) and value != value):
        return True
    texts = value if first is not str and not isinstance(value, str | bytes) and hasattr(value, "__iter__") else [value]
    return all(text is None or (isinstance(text, str) and _encodes(text)) for text in texts)


def _encodes(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"the {type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


# -- reading ---------------------------------------------------------------------------------------------------------


def read_table(
    table: Table, columns: Mapping[str, str], sentence: str | Sequence[str] | None
) -> tuple[Numbered, Offsets]:
    """The distinct strings and the ids of columns, by new name, and the offsets of sentences.

    ``columns`` has a column of the frame for each new name. There is a row for each token, or, without ``sentence``, a
    row for each sentence with a list in each column.

    >>> table = Table.of(pa.table({"id": [1, 1, 2], "form": ["Ann", "sings", "Ann"]}))
    >>> read, offsets = read_table(table, {"word": "form"}, "id")
    >>> read["word"][0].to_list(), read["word"][1].tolist(), offsets.tolist()
    (['Ann', 'sings'], [0, 1, 0], [0, 2, 3])
    """
    arrays = {name: table.column(column) for name, column in columns.items()}
    if sentence is not None:
        read = {name: interned(_texts(table, columns[name], array, name)) for name, array in arrays.items()}
        return read, _sentence_offsets(table, [sentence] if isinstance(sentence, str) else list(sentence))
    lists = {name: _lists(table, columns[name], array, name) for name, array in arrays.items()}
    first, *others = lists
    for name in others:
        differ = np.flatnonzero(lists[name].lengths != lists[first].lengths)
        if len(differ):
            row = int(differ[0])
            raise DataError(
                f"{table.place(row)}: {counted(lists[first].lengths[row], 'value')} in column {columns[first]!r}, but "
                f"{lists[name].lengths[row]} in column {columns[name]!r}; each token needs one of each"
            )
    rows = np.arange(len(table))
    return {name: own.interned(rows) for name, own in lists.items()}, lists[first].offsets


def _texts(table: Table, column: str, array: Any, name: str) -> Any:
    """The strings of a column with a row for each token."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if _is_list(kind):
        raise DataError(
            f"column {column!r} has a list in each row; omit sentence= if each row is a sentence, or make a row of "
            "each token with .explode()"
        )
    if array.null_count == len(array):
        array = pa.nulls(len(array))  # pandas makes numbers of them
    elif not _is_text(kind):
        raise DataError(f"column {column!r} has values of the type {kind}, not text; convert it with {table.as_text()}")
    texts = array.cast(pa.large_string())  # a dictionary may have a null
    _refuse_nulls(table, column, texts.is_null(), name)
    if not is_utf8(texts):
        row = next(row for row in range(len(texts)) if not is_utf8(texts.slice(row, 1)))
        raise DataError(f"column {column!r}, {table.place(row)}: the text is not UTF-8; decode it first")
    return texts


def _lists(table: Table, column: str, array: Any, name: str) -> Lists:
    """The lists of a column with a row for each sentence."""
    if not _is_list(array.type) and not pa.types.is_null(array.type):
        raise DataError(
            f"column {column!r} has values of the type {array.type}, not lists; if each row is a token, name the "
            "column of the sentences with sentence=; if each row is a text, split it into tokens first"
        )
    inner = array.type.value_type if _is_list(array.type) else array.type
    if not _is_text(inner) and not pa.types.is_null(inner):
        raise DataError(f"column {column!r} has lists of the type {inner}, not lists of text; convert them first")
    _refuse_nulls(table, column, array.is_null(), "")
    lists = Lists.of(array.cast(pa.large_list(pa.large_string())))
    _refuse_nulls(table, column, lists.with_null, name, "a value of the list is missing")
    bad = np.flatnonzero(lists.not_utf8())
    if len(bad):
        raise DataError(f"column {column!r}, {table.place(int(bad[0]))}: a text is not UTF-8; decode it first")
    return lists


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _refuse_nulls(table: Table, column: str, missing: Any, name: str, what: str = _MISSING) -> None:
    """Raise DataError if a value is missing, other than a label; ``name`` is the name of the column in the corpus."""
    found = np.flatnonzero(np.asarray(missing))
    if not len(found) or name == "label":
        return
    hint = "fill it in, or leave such rows out"
    if table.kind == "pandas" and what == _MISSING:
        hint += "; if it was a word such as 'null' or 'NA' in a CSV file, read that with keep_default_na=False"
    raise DataError(f"column {column!r}, {table.place(int(found[0]))}: {what}; {hint}")


def _sentence_offsets(table: Table, columns: list[str]) -> Offsets:
    """Where sentences begin: a change in any of the columns. Raises DataError if a sentence is in several pieces."""
    codes: NDArray[np.int64] = np.zeros(len(table), np.int64)
    arrays = [table.column(column) for column in columns]
    for column, array in zip(columns, arrays, strict=True):
        missing = np.flatnonzero(np.asarray(array.is_null()))
        if len(missing):
            raise DataError(
                f"column {column!r}, {table.place(int(missing[0]))}: the sentence is missing; if only the first row of "
                f"a sentence names it, fill the others with {_FILL[table.kind]}"
            )
        own = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        numbers = np.asarray(own.indices).astype(np.int64)
        both = codes * (1 + numbers.max(initial=0)) + numbers
        codes = both if len(columns) == 1 else np.unique(both, return_inverse=True)[1]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])[: len(codes)])
    first = np.unique(codes[starts], return_index=True)[1]
    if len(first) < len(starts):
        again = int(starts[np.setdiff1d(np.arange(len(starts)), first)[0]])
        value = ", ".join(f"{column} = {array[again].as_py()!r}" for column, array in zip(columns, arrays, strict=True))
        raise DataError(
            f"{table.place(again)}: the sentence with {value} comes back after other sentences; if numbers "
            f"begin again in each document, name both columns, as in sentence=['document', {columns[-1]!r}]; if the "
            "rows of one sentence are scattered, sort the frame"
        )
    return np.append(starts, len(codes)).astype(np.int64)
