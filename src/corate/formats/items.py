r"""CRFsuite item files: ``label<TAB>attribute[:value]...`` per token, a blank line between sentences.

In names and labels ``\:`` stands for a colon and ``\\`` for a backslash. Every line has a label field; it may be
empty if the labels are unknown.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Attributes, Column, Corpus
from corate.errors import Argument, DataError
from corate.formats.format import Format, Head, Options, Writing
from corate.formats.reading import check_parsed, columns_of, warn_skipped
from corate.formats.writing import check_values, rows_to_text

__all__ = ["ITEMS", "read", "write"]

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_UNWRITABLE = r"[\t\r\n\0]"
_UNWRITABLE_LABEL = rf"\A *\Z|{_UNWRITABLE}"


def read(data: bytes, name: str, options: Options) -> Corpus:
    """Read UTF-8 bytes; ``name`` is their name in messages.

    >>> corpus = read(b"B\\tw=to\\tlength:2\\nI\\tw=a\\\\:b\\n", "items", Options())
    >>> corpus.attributes.names.to_list(), corpus.attributes.values.tolist(), corpus.labels_of(0)
    (['w=to', 'length', 'w=a:b'], [1.0, 2.0, 1.0], ['B', 'I'])
    """
    if options.columns is not None:
        raise DataError(
            "an item file has a label and attributes, and no columns to name",
            f"do not set {Argument('columns')}",
            file=name,
        )
    parsed, ends, lines = _native.parse_items(data, options.comment or "")
    check_parsed(parsed, data, name, options)
    labels, names, texts = columns_of(parsed, ["label", "attribute", "value"])
    with np.errstate(over="ignore"):  # a too large value becomes infinite, which is an error
        numbers = np.asarray([_number(text) for text in texts.strings.to_list()]).astype(np.float32)
    values = numbers[texts.ids]
    bad = _bad_tokens(labels, names, values, ends, options.labelled)
    if bad.any():
        first = int(np.argmax(bad))
        if not options.skip_bad or bad.all():
            raise _bad_error(options.place(name, int(lines[first])), first, labels, names, texts, values, ends)
        warn_skipped(name, int(bad.sum()), int(lines[first]) + options.lines_before)
    plain = bool(np.all(values == 1.0))
    attributes = Attributes(ends, names.ids, names.strings, None if plain else values)
    corpus = Corpus((), parsed[1], labels if options.labelled else None, attributes)
    return _without(corpus, bad) if bad.any() else corpus


def _number(text: str) -> float:
    """The number in a value text, which is empty or starts with a colon; NaN if it is not a number."""
    if not text:
        return 1.0
    if not _NUMBER.fullmatch(text, 1):
        return math.nan
    return float(text[1:])


def _bad_tokens(
    labels: Column, names: Column, values: NDArray[np.float32], ends: NDArray[np.int64], labelled: bool
) -> NDArray[np.bool_]:
    """Whether each token has no label, an attribute without a name, or a value that is not a finite number."""
    bad_attribute = ~np.isfinite(values) | (names.ids == _id_of_empty(names))
    counts = np.concatenate([[0], np.cumsum(bad_attribute)])
    bad: NDArray[np.bool_] = counts[ends[1:]] > counts[ends[:-1]]
    return bad | (labels.ids == _id_of_empty(labels)) if labelled else bad


def _id_of_empty(column: Column) -> int:
    empty = np.flatnonzero(np.diff(column.strings.offsets) == 0)
    return int(empty[0]) if len(empty) else -1


def _bad_error(
    place: dict[str, Any],
    token: int,
    labels: Column,
    names: Column,
    texts: Column,
    values: NDArray[np.float32],
    ends: NDArray[np.int64],
) -> DataError:
    for i in range(int(ends[token]), int(ends[token + 1])):
        attribute, text = names.values(i, i + 1)[0], texts.values(i, i + 1)[0]
        if not attribute:
            return DataError(f"an attribute without a name ({text[:40]!r})", **place)
        if not np.isfinite(values[i]):
            return DataError(
                f"the attribute {attribute[:40]!r} has the value {text[1:41]!r}, which is not a finite number",
                "write a colon that is part of the name as \\:",
                **place,
            )
    remedy = f"if the data has no labels, use {Argument('labelled', False)}"
    return DataError("no label before the first tab", remedy, option="labelled", **place)


def _without(corpus: Corpus, bad: NDArray[np.bool_]) -> Corpus:
    """The corpus without the bad tokens and without sentences that have no other tokens."""
    kept = np.flatnonzero(~bad)
    counts = np.concatenate([[0], np.cumsum(~bad)])
    offsets = np.unique(counts[corpus.offsets]).astype(np.int64)
    attributes = None if corpus.attributes is None else corpus.attributes.take(kept)
    labels = None if corpus.labels is None else corpus.labels.take(kept)
    return replace(corpus, offsets=offsets, labels=labels, attributes=attributes)


# -- writing ---------------------------------------------------------------------------------------------------------


def write(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    r"""The attributes of a corpus with its labels; sentences without tokens are omitted.

    >>> write(Corpus.from_features([[{"w": "a:b", "length": 3}, ["w=c"]]], [["X", "Y"]]), None, Writing())
    '\tw\\:a\\:b\tlength:3.0\n\tw=c\n\n'
    """
    attributes = corpus.attributes
    if attributes is None:
        raise DataError(
            "the corpus has no ready-made features to write as items",
            f"use {Argument('format', 'columns', of_output=True)}",
        )
    names = Column("attribute", attributes.ids, attributes.names)
    check_values(names, rf"\A\Z|{_UNWRITABLE}", "attributes")
    fields = _escaped(names)
    if attributes.values is not None:
        values = attributes.values
        fields = [f if v == 1.0 else f"{f}:{v!s}" for f, v in zip(fields, values, strict=True)]
    firsts = [""] * corpus.n_tokens
    if labels is not None:
        check_values(labels, _UNWRITABLE_LABEL, "labels")
        firsts = _escaped(labels)
    ends = attributes.offsets.tolist()
    rows = ["\t".join([firsts[t], *fields[a:b]]) for t, (a, b) in enumerate(itertools.pairwise(ends))]
    return rows_to_text(corpus, [row or "\t" for row in rows])


def _escaped(column: Column) -> list[str]:
    strings = [s.replace("\\", "\\\\").replace(":", "\\:") for s in column.strings.to_list()]
    return [strings[i] for i in column.ids.tolist()]


# -- the format ------------------------------------------------------------------------------------------------------


def _fits(head: Head) -> bool:
    """Whether rows are a label and attributes. Most attributes contain = or :; all do if the rows have one width."""
    fields = [row.split("\t") for row in head.rows]
    widths = {len(row) for row in fields}
    attributes = [field for row in fields for field in row[1:] if field]
    named = sum("=" in field or ":" in field for field in attributes)
    if len(widths) > 1:
        return 2 * named > len(attributes)
    return max(widths) > 2 and named == len(attributes)


ITEMS = Format(
    "items",
    "a line with a label and features",
    read,
    write,
    _fits,
    suffixes=(".items", ".crfsuite"),
    blank_line=re.compile(rb"^[ \r]*\n", re.MULTILINE),
    unwritable=_UNWRITABLE_LABEL,
)
