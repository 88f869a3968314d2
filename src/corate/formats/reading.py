"""Turn the result of the native parsers into a corpus, or into an error that names the file and the line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus, StringTable, default_names, word_column
from corate.display import counted
from corate.errors import Argument, DataError
from corate.formats.format import Options

__all__ = [
    "Interned",
    "NoSentenceError",
    "Parsed",
    "SkippedWarning",
    "check_parsed",
    "check_separator",
    "columns_of",
    "comment_hint",
    "corpus_of",
    "labels_apart",
    "names_of",
    "nothing_error",
    "warn_skipped",
    "word_of",
]

Interned = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]
Parsed = tuple[list[Interned], NDArray[np.int64], int, int, int]


class SkippedWarning(UserWarning):
    """Malformed data was omitted: ``count`` is the number of rows, ``line`` the line (or task) of the first one.

    >>> SkippedWarning("train.tsv", 2, 17)
    SkippedWarning('train.tsv: skipped 2 malformed rows, the first in line 17')
    """

    def __init__(self, name: str, count: int, line: int, what: str = "row", place: str = "line") -> None:
        super().__init__(f"{name}: skipped {counted(count, f'malformed {what}')}, the first in {place} {line}")
        self.count = count
        self.line = line


def check_separator(separator: str) -> None:
    """Raise DataError if a text cannot separate columns."""
    if len(separator) != 1 or not separator.isascii() or separator in "\r\n\0":
        raise DataError(f"the separator must be one ASCII character, such as a tab, not {separator!r}")


def comment_hint(*rows: bytes, comment: str | None) -> str:
    """A hint for an error message, if one of the rows looks like a comment and ``comment`` is not set.

    >>> print(DataError("a bad row", "fix it" + comment_hint(b"# sent_id = 7", comment=None)))
    a bad row; fix it; if lines that begin with '#' are comments, skip them with comment='#'
    """
    if comment or not any(row.startswith(b"#") for row in rows):
        return ""
    return f"; if lines that begin with '#' are comments, skip them with {Argument('comment', '#')}"


def names_of(width: int, options: Options) -> tuple[str, ...]:
    """The names of this many columns: ``options.columns``, else the layout if it fits, else the default names.

    A layout fits data of the same width. Without ``labelled``, it also fits data that has no label column. A layout
    of the default names gives way to the default names for another width; any other layout raises DataError.

    >>> names_of(3, Options()), names_of(2, Options(layout=("label", "form")))
    (('word', 'pos', 'label'), ('label', 'form'))
    >>> names_of(1, Options(layout=("label", "form"), labelled=False))
    ('form',)
    """
    if options.columns is not None:
        return options.columns
    layout, labelled = options.layout, options.labelled
    if width == len(layout):
        return layout if labelled else tuple("_" if name == "label" else name for name in layout)
    observed = tuple(name for name in layout if name != "label")
    if not labelled and layout[-1:] == ("label",) and width >= len(observed):
        return observed + tuple(f"column{i}" for i in range(len(observed), width))
    if not labelled and width == len(observed):
        return observed
    if layout and list(layout) != default_names(len(layout), labelled=True):
        raise DataError(
            f"{counted(width, 'column')}, but the training data had {len(layout)} ({', '.join(layout)})",
            f"name the columns with {Argument('columns')}",
        )
    return tuple(default_names(width, labelled=labelled))


def word_of(layout: tuple[str, ...]) -> str:
    """The name of the word column in a layout: ``word`` if there is such a column, else the first observed one.

    >>> word_of(()), word_of(("label", "_", "form"))
    ('word', 'form')
    """
    observed = [name for name in layout if name not in ("label", "_")]
    return word_column(observed) if observed else "word"


def corpus_of(parsed: Parsed, names: list[str]) -> Corpus:
    """A corpus with named columns. The column ``label``, in any position, gives the labels; ``_`` is omitted."""
    observed, label = labels_apart(column for column in columns_of(parsed, names) if column.name != "_")
    return Corpus(observed, parsed[1], label, layout=tuple(names))


def columns_of(parsed: Parsed, names: Iterable[str]) -> list[Column]:
    """The columns that a parser found, with names."""
    columns = zip(names, parsed[0], strict=True)
    return [Column(name, ids, StringTable(data, offsets)) for name, (ids, data, offsets) in columns]


def labels_apart(columns: Iterable[Column]) -> tuple[tuple[Column, ...], Column | None]:
    """The columns except ``label``, and that one, or None."""
    by_name = {column.name: column for column in columns}
    label = by_name.pop("label", None)
    return tuple(by_name.values()), label


def check_parsed(
    parsed: Parsed,
    data: bytes,
    name: str,
    options: Options,
    bad: Callable[[int, int], DataError] = lambda line, width: DataError("a malformed row"),
    what: str = "row",
) -> None:
    """Raise DataError, or warn with ``skip_bad``, for what the parser found wrong, and for text without a sentence.

    ``bad`` makes the error of the first malformed row, from its line in the data and its number of columns.
    """
    sentences, line, width, skipped = parsed[1:]
    empty = len(sentences) == 1
    if line >= 0 and width < 0:
        remedy = f"is this a text file, or one that needs {Argument('encoding', 'utf-16')}?"
        raise DataError("a NUL byte", remedy, **options.place(name, line))
    if line >= 0 and not (options.skip_bad and (options.width or not empty)):
        raise bad(line, width)
    if skipped:
        warnings.warn(SkippedWarning(name, skipped, line + options.lines_before, what), stacklevel=4)
    if empty:
        raise nothing_error(name, data)


class NoSentenceError(DataError):
    """The data contains no sentence."""


def nothing_error(name: str, data: bytes) -> NoSentenceError:
    """The error for a file without a sentence."""
    if not data:
        return NoSentenceError(f"{name} is empty; it must contain at least one sentence")
    if not data.strip():
        return NoSentenceError(f"{name} contains only blank lines; it must contain at least one sentence")
    return NoSentenceError(f"{name} contains no sentence; all its lines are comments or omitted")


def warn_skipped(name: str, count: int, line: int, what: str = "row", place: str = "line") -> None:
    """Warn the caller of ``corate.formats.read`` if anything was skipped."""
    if count:
        warnings.warn(SkippedWarning(name, count, line, what, place), stacklevel=4)
