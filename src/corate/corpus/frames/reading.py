"""The columns of a data frame as numbered strings with the offsets of its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corate.corpus.frames import UNKNOWN_LABELS
from corate.corpus.frames.arrow import Lists, interned, is_utf8
from corate.corpus.frames.tables import Table
from corate.display import counted
from corate.errors import DataError
from corate.strings import StringTable
from corate.types import Ids, Offsets

__all__ = ["read_table"]

_MISSING = "the value is missing"
#: How the rows of a sentence get the value of its first row.
_FILL = {"pandas": ".ffill()", "polars": ".forward_fill()", "arrow": "pyarrow.compute.fill_null_forward"}

Numbered = dict[str, tuple[StringTable, Ids]]


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
    if not _is_text(kind) and not pa.types.is_null(kind):
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
    _refuse_nulls(table, column, array.is_null(), name)
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
    """Raise DataError if a value is missing; ``name`` is what the column is called in the corpus."""
    found = np.flatnonzero(np.asarray(missing))
    if not len(found):
        return
    hint = UNKNOWN_LABELS if name == "label" else "fill it in, or leave such rows out"
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
