"""Data frames of pandas and polars, and Arrow tables: their columns as Arrow arrays, and frames with new columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from corate.errors import DataError

__all__ = ["Table"]

#: How a column becomes text, by the kind of frame.
_AS_TEXT = {"pandas": ".astype(str)", "polars": ".cast(pl.String)", "arrow": ".cast(pa.string())"}


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
