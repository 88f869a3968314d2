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
from corate.formats.rows import BLANK_LINE, doubtful, fields_of, first_row, misfits, sentence_at
from corate.formats.writing import check_values, has_values, rows_to_text

__all__ = ["COLUMNS", "Separation", "read", "separator_of", "unwritable_label", "width_of", "write"]


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
    """The options for all pieces of a text: its separator, once a piece tells. ``options.width`` is 0 for the first.

    Rows that tabs and white space split alike do not tell, if the first row of the text has a tab.
    """
    row = first_row(piece, options.comment)
    if options.separator is not None or not row:
        return options
    if (options.width or _has_tab(row)) and not any(first_row(text, options.comment) for _, text in doubtful(piece)):
        return options
    return replace(options, separator=separator_of(piece, options))


class Separation:
    """How the rows of a text are split of which only the pieces so far are known, wherever they are cut.

    The first sentence that tabs and white space split differently determines the separator. The rows after it must
    not contradict it.
    """

    def __init__(self, name: str, comment: str | None) -> None:
        self._name, self._first = name, b""
        self._options = Options(comment=comment, labelled=False)
        self._widths: tuple[int, int] | None = None  # of the first row, with the separator and with the other one

    def separator(self, piece: bytes, line: int) -> str:
        """The separator of a piece of whole sentences, empty for white space; ``line`` is the number of its first line.

        Raises DataError for a row that contradicts the rows before.

        >>> news = Separation("news", None)
        >>> news.separator(b"Ann\\tB\\n\\n", 1), news.separator(b"New York\\tB\\n\\n", 3)
        ('', '\\t')
        >>> news.separator(b"Ann B\\n\\n", 5)
        Traceback (most recent call last):
        corate.errors.DataError: news, line 5: 1 column, but the first row has 2; fix the line, ...
        """
        if not self._first:
            self._begin(first_row(piece, self._options.comment))
        if self._first and self._options.separator is None:
            self._settle(piece)
        if self._widths is not None:
            self._check(piece, line, *self._widths)
        return self._options.separator or ""

    def _begin(self, row: bytes) -> None:
        clear = next(doubtful(row), None) is None
        width = width_of(row, None) if clear else 0
        self._first = row
        self._options = replace(self._options, separator=None if _has_tab(row) else "", width=width)

    def _settle(self, piece: bytes) -> None:
        comment = self._options.comment
        place = next((place for place, text in doubtful(piece) if first_row(text, comment)), None)
        if place is not None:
            separator = separator_of(sentence_at(piece, place), self._options)
            self._options = replace(self._options, separator=separator)
            self._widths = width_of(self._first, separator), width_of(self._first, "" if separator else "\t")

    def _check(self, piece: bytes, line: int, width: int, other: int) -> None:
        separator = self._options.separator or ""
        for place, text in misfits(piece, separator, width, other):
            row = first_row(text, self._options.comment)
            found = width_of(row, separator)
            if row and found != width:  # also if the row ends with white space
                raise DataError(
                    f"{counted(found, 'column')}, but the first row has {width}",
                    "fix the line, or use --separator tab if tabs separate the columns",
                    file=self._name,
                    line=line + piece.count(b"\n", 0, place),
                )


def _has_tab(row: bytes) -> bool:
    """Whether a row has a tab between its columns."""
    return b"\t" in row.lstrip(b" \t\r")


def _parse(data: bytes, options: Options) -> tuple[str, Parsed]:
    def parse(separator: str) -> tuple[str, Parsed]:
        width = len(options.columns or ()) or options.width
        comment = options.comment or ""
        return separator, _native.parse_columns(
            data, separator, comment, width, options.skip_bad, options.drop_docstart
        )

    if options.separator is not None:
        return parse(options.separator)
    if not options.width and not _has_tab(first_row(data, options.comment)):
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
