"""Tables with named columns: CSV files with a header row, and Parquet files.

They are not labelled text, so they are not read into a corpus: :class:`corate.rate.Counts` counts their rows.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from corate.display import counted
from corate.errors import Argument, DataError
from corate.formats.reading import SkippedWarning, check_separator
from corate.io.streams import Source, load, name_of

__all__ = ["read_columns", "read_rows", "read_table", "separator_of"]

#: The separators of CSV files that are recognised in the header row; if there are none, it is one column.
_SEPARATORS = ",;\t"

Row = tuple[int, list[Any]]


def read_table(
    source: Source,
    columns: Sequence[str],
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    skip_bad: bool = False,
) -> dict[str, list[Any]]:
    """Some columns of a table, as a dict of lists.

    The values of a CSV file are texts; its ``separator`` is a comma, a semicolon or a tab by default, whichever the
    header row has most of. A row with an empty cell in one of the columns is an error; ``skip_bad`` leaves it out.

    >>> read_table(b"day,sky,ground\\n1,sun,dry\\n2,rain,wet\\n", ["sky", "ground"])
    {'sky': ['sun', 'rain'], 'ground': ['dry', 'wet']}
    """
    name = name_of(source)
    if separator:
        check_separator(separator)
    if separator == '"':
        raise DataError("the separator of a table cannot be a quotation mark; it encloses values")
    if _is_parquet(source):
        rows, place = _parquet_rows(os.fspath(source), columns), "row"  # type: ignore[arg-type]
    else:
        rows, place = _csv_rows(load(source, encoding).decode(), name, columns, separator, skip_bad), "line"
    return _complete(rows, name, place, columns, skip_bad)


def read_columns(
    source: Source, columns: Sequence[str] | None = None, *, encoding: str = "utf-8", separator: str | None = None
) -> Any:
    """Some columns of a table, or all: a dict of lists of texts, or an Arrow table of a Parquet file.

    A cell without a value is an empty text, or null in an Arrow table.

    >>> read_columns(b"day,sky\\n1,sun\\n2,\\n")
    {'day': ['1', '2'], 'sky': ['sun', '']}
    """
    name = name_of(source)
    if separator:
        check_separator(separator)
    if _is_parquet(source):
        return _parquet_table(os.fspath(source), columns)  # type: ignore[arg-type]
    text = load(source, encoding).decode()
    chosen = columns if columns is not None else next(_fields(text, name, separator))[1]
    rows = [values for _, values in _csv_rows(text, name, chosen, separator, False)]
    return dict(zip(chosen, map(list, zip(*rows, strict=True)), strict=True)) if rows else {key: [] for key in chosen}


def read_rows(
    source: Source, *, encoding: str = "utf-8", separator: str | None = None
) -> tuple[list[str], list[int], list[list[str]]]:
    """The header row of a CSV file, the line number of each row after it, and the values of each column.

    >>> read_rows(b"day,sky\\n1,sun\\n\\n2,rain\\n")
    (['day', 'sky'], [2, 4], [['1', '2'], ['sun', 'rain']])
    """
    name = name_of(source)
    if separator:
        check_separator(separator)
    text = load(source, encoding).decode()
    header = next(_fields(text, name, separator))[1]
    _places(header, header, name)
    lines: list[int] = []
    columns: list[list[str]] = [[] for _ in header]
    rows = _csv_rows(text, name, header, separator, False)
    while piece := list(itertools.islice(rows, 1000)):  # few rows at a time, as lists cost more than their texts
        lines.extend(line for line, _ in piece)
        for column, values in zip(columns, zip(*(values for _, values in piece), strict=True), strict=True):
            column.extend(values)
    return header, lines, columns


def _complete(
    rows: Iterable[Row], name: str, place: str, columns: Sequence[str], skip_bad: bool
) -> dict[str, list[Any]]:
    """The values of all rows, column by column; rows with a missing value are an error or left out."""
    kept: list[list[Any]] = []
    skipped: list[int] = []
    for number, values in rows:
        if missing := [i for i, value in enumerate(values) if value is None or value == "" or value != value]:
            if not skip_bad:
                raise DataError(
                    f"{name}, {place} {number}: column {columns[missing[0]]!r} has no value",
                    f"fill it in, or leave such rows out with {Argument('skip_bad', True)}",
                )
            skipped.append(number)
        else:
            kept.append(values)
    if skipped:
        warnings.warn(SkippedWarning(name, len(skipped), skipped[0]), stacklevel=3)
    if not kept:
        raise DataError(f"there are no rows to count{' without a missing value' if skipped else ''}", file=name)
    return dict(zip(columns, map(list, zip(*kept, strict=True)), strict=True))


def _csv_rows(text: str, name: str, columns: Sequence[str], separator: str | None, skip_bad: bool) -> Iterator[Row]:
    """The line number and the chosen values of each row. A row of another width has no values if ``skip_bad``."""
    rows = _fields(text, name, separator)
    _, header = next(rows)
    at = _places(columns, header, name)
    for line, fields in rows:
        if len(fields) == len(header):
            yield line, [fields[i] for i in at]
        elif skip_bad:
            yield line, [None] * len(at)
        else:
            raise DataError(
                f"the row has {counted(len(fields), 'field')}, and the header row has {len(header)}",
                f"correct the row, or leave such rows out with {Argument('skip_bad', True)}",
                file=name,
                line=line,
            )


def _fields(text: str, name: str, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """The line number and the fields of the header row, and of all rows after it that are not blank."""
    between = separator or separator_of(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=between, skipinitialspace=between != " ")
    empty = True
    try:
        for fields in filter(None, lines):
            yield lines.line_num, fields
            empty = False
    except csv.Error as error:
        raise DataError(f"{error}", file=name, line=lines.line_num) from None
    if empty:
        raise DataError(f"{name} is empty; a table needs a header row with the names of its columns")


def separator_of(text: str) -> str:
    """The separator that the header row of a CSV file has most of."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(_SEPARATORS, key=header.count)


def _places(columns: Sequence[str], header: Sequence[str], name: str) -> list[int]:
    for column in columns:
        if column not in header:
            raise DataError(f"{name} has no column {column!r}; it has {', '.join(map(repr, header))}")
        if header.count(column) > 1:
            raise DataError(f"{name} has {header.count(column)} columns named {column!r}; rename all but one")
    return [header.index(column) for column in columns]


def _is_parquet(source: Source) -> bool:
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return False
    with open(source, "rb") as file:
        return file.read(4) == b"PAR1"


def _parquet_rows(path: str, columns: Sequence[str]) -> Iterator[Row]:
    """The number (from 1) and the chosen values of each row."""
    table = _parquet_table(path, columns)
    lists = [table.column(column).to_pylist() for column in columns]
    yield from ((number, list(values)) for number, values in enumerate(zip(*lists, strict=True), start=1))


def _parquet_table(path: str, columns: Sequence[str] | None) -> Any:
    """The chosen columns as an Arrow table."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"{path} is a Parquet file; install support with: pip install corate[parquet]") from None
    try:
        file = parquet.ParquetFile(path)
        chosen = file.schema_arrow.names if columns is None else columns
        _places(chosen, file.schema_arrow.names, path)
        return file.read(columns=list(chosen))
    except pyarrow.ArrowException as error:
        raise DataError(f"{path} cannot be read as a Parquet file: {error}") from None
