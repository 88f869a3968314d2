"""Column files: one token per line, columns separated by tabs or spaces, a blank line between sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from corate import _native
from corate.corpus import Column, Corpus
from corate.display import counted
from corate.errors import Argument, DataError, placed
from corate.formats.format import Format, Head, Options, Writing
from corate.formats.reading import (
    Interned,
    Parsed,
    check_parsed,
    comment_hint,
    corpus_of,
    names_of,
)
from corate.formats.rows import BLANK_LINE, fields_of, first_row, misfits
from corate.formats.writing import check_values, has_values, rows_to_text

__all__ = ["COLUMNS", "check_rows", "read", "separator_of", "unwritable_label", "width_of", "write"]


def read(data: bytes, name: str, options: Options) -> Corpus:
    """Read UTF-8 bytes; ``name`` is their name in messages.

    Without a separator, try tabs first if the first row has one, then any run of spaces and tabs.

    >>> read(b"New York\\tB-LOC\\nsleeps\\tO\\n", "news", Options())
    Corpus(1 sentence, 2 tokens, columns: word, 2 labels)
    """
    _, parsed = _parse(data, options)
    check_parsed(parsed, data, name, options, partial(_ragged_error, data, name, parsed[0], options))
    with placed(file=name):
        return corpus_of(parsed, list(names_of(len(parsed[0]), options)))


def width_of(row: bytes, separator: str | None) -> int:
    """The number of columns of one row. Without a separator, runs of white space separate columns.

    >>> width_of(b"New York\\tB-LOC", "\\t"), width_of(b"New York\\tB-LOC", None)
    (2, 3)
    """
    return len(_native.parse_columns(row, separator or "", "", 0, False, False)[0])


def separator_of(data: bytes, options: Options) -> str:
    """The separator of the columns of a text: ``options.separator``, a tab, or empty for runs of white space.

    >>> separator_of(b"New York\\tB-LOC\\nsleeps\\tO", Options()) == "\\t"
    True
    >>> separator_of(b"New\\tB-LOC\\nYork O", Options())
    ''
    """
    return _parse(data, options)[0]


def _settled(piece: bytes, options: Options) -> Options:
    """The options for all pieces of a text: the separator of the first one."""
    if options.separator is not None or not first_row(piece, options.comment):
        return options
    return replace(options, separator=separator_of(piece, options) or None)


def check_rows(piece: bytes, separator: str, width: int, comment: str | None, name: str, line: int) -> None:
    """Raise DataError for a row of another width, if the separator was chosen from the first rows and may be wrong.

    ``line`` is the number of the first line.
    """
    for place, text in misfits(piece, separator, width):
        row = first_row(text, comment)
        found = width_of(row, separator)
        if row and found != width:  # also if the row ends with white space
            line += piece.count(b"\n", 0, place)
            raise DataError(
                f"{counted(found, 'column')}, but the first row has {width}",
                "fix the line, or use --separator tab if tabs separate the columns",
                file=name,
                line=line,
            )


def _parse(data: bytes, options: Options) -> tuple[str, Parsed]:
    def parse(separator: str) -> tuple[str, Parsed]:
        width = len(options.columns or ()) or options.width
        comment = options.comment or ""
        return separator, _native.parse_columns(
            data, separator, comment, width, options.skip_bad, options.drop_docstart
        )

    if options.separator is not None:
        return parse(options.separator)
    if b"\t" not in first_row(data, options.comment).lstrip(b" \t\r"):
        return parse("")
    by_tabs = parse("\t")
    if by_tabs[1][3] < 0 or (by_tabs[1][4] == 0 and not _spaced(by_tabs[1])):
        return by_tabs
    by_space = parse("")
    return by_space if by_space[1][4] <= by_tabs[1][4] else by_tabs


def _spaced(parsed: Parsed) -> bool:
    """Whether a value of the last column contains a space, as in a file that mixes tabs and spaces."""
    columns = parsed[0]
    return bool(columns) and bool(np.any(columns[-1][1] == ord(" ")))


def _ragged_error(
    data: bytes, name: str, before: Sequence[Interned], options: Options, line: int, found: int
) -> DataError:
    """The error about a row of another width than the columns ``before`` it."""
    width, first = len(before), not before or len(before[0][0]) == 0
    rows = first_row(data, options.comment), data.split(b"\n", line)[line - 1]
    hint = comment_hint(*rows, comment=options.comment)
    columns = counted(found, "column")
    if options.columns is not None and first:
        return DataError(
            f"{columns}, but {Argument('columns')} has {counted(width, 'name')} ({', '.join(options.columns)})",
            f"name each column, and use _ for columns to omit{hint}",
            **options.place(name, line),
        )
    return DataError(
        f"{columns}, but the rows before have {width}",
        f"fix the line, or omit such lines with {Argument('skip_bad', True)}{hint}",
        **options.place(name, line),
    )


# -- writing ---------------------------------------------------------------------------------------------------------


def _unwritable(separator: str) -> str:
    """A pattern of the values that rows with this separator cannot represent."""
    return r"[\t\r\n\0]" if separator == "\t" else r"\A\Z|[ \t\r\n\0]|" + re.escape(separator)


def unwritable_label(separator: str) -> str:
    """A pattern of the labels that cannot be appended to rows with this separator."""
    return _unwritable(separator) + r"|\A\Z|\A | \Z"


def write(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    """The text of a corpus, with labels in the last column; sentences without tokens are omitted.

    >>> print(write(Corpus.from_sentences([["Ann", "sleeps"], ["Bob"]]), None, Writing()), end="")
    Ann
    sleeps
    <BLANKLINE>
    Bob
    <BLANKLINE>
    """
    separator = options.separator
    columns = [*corpus.columns, *([labels] if labels is not None else [])]
    if not columns:
        raise DataError(
            "the corpus has no columns to write",
            f"write ready-made features with {Argument('format', 'items', of_output=True)}",
        )
    for column in columns:
        check_values(column, _unwritable(separator), "column")
    check_values(columns[-1], r"\A\Z| \Z", "last column")
    rows = list(map(separator.join, zip(*(c.values() for c in columns), strict=True)))
    text = rows_to_text(corpus, rows)
    ambiguous = r"\A\Z| "  # with these values, a reader may split rows at spaces or lose an empty first column
    if separator == "\t" and any(has_values(column, ambiguous) for column in columns):
        read_as = separator_of(text.encode(errors="surrogatepass"), Options())
        if len(columns) == 1 or read_as != separator:
            for column in columns:
                check_values(column, ambiguous, "column")
    return text


# -- the format ------------------------------------------------------------------------------------------------------


def _fits(head: Head) -> bool:
    """Whether most rows have the same number of columns. The parser reports the others."""
    if all("\t" in row for row in head.rows):
        return True
    widths = Counter(len(fields_of(row)) for row in head.rows)
    width, count = widths.most_common(1)[0]
    if head.kind == "words":
        return len(widths) == 1 and head.has_blank_lines()
    if width == 1:
        return count == len(head.rows) and head.has_blank_lines()
    if head.kind == "labelled":
        return 2 * count >= len(head.rows)
    return 10 * count >= 9 * len(head.rows) and len(head.rows) > 1  # sentences of words differ in length


COLUMNS = Format(
    "columns",
    "a line",
    read,
    write,
    _fits,
    plain=True,
    suffixes=(".tsv", ".conll", ".bio", ".iob"),
    blank_line=BLANK_LINE,
    unwritable=unwritable_label("\t"),
    settled=_settled,
)
