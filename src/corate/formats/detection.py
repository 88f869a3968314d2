"""Recognise the format of a text, from the suffix of its file or else from its first lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from corate.errors import Argument, DataError
from corate.formats.format import Head, Kind
from corate.formats.reading import comment_hint
from corate.formats.registry import FORMATS, format_of

__all__ = ["by_suffix", "detect", "head_of", "recognised"]

_HEAD_BYTES = 1 << 16


def recognised(
    blocks: Iterator[bytes], name: str, suffix: str, kind: Kind, comment: str | None = None
) -> tuple[str, Iterator[bytes]]:
    """The format of a text, and the whole text again, in blocks. Raises DataError as `detect` does.

    >>> format, blocks = recognised(iter([b"a X", b"\\n"]), "x", ".conll", "labelled")
    >>> format, list(blocks)
    ('columns', [b'a X', b'\\n'])
    """
    head, blocks = head_of(blocks)
    return by_suffix(suffix) or detect(head, name, comment=comment, kind=kind), blocks


def head_of(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first blocks of a text, as much as detection needs, and the whole text again, in blocks.

    >>> head, text = head_of(iter([b"a X", b"\\n"]))
    >>> head, list(text)
    (b'a X\\n', [b'a X', b'\\n'])
    """
    held, size = list[bytes](), 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size > _HEAD_BYTES:
            break
    return b"".join(held), chain(held, blocks)


def by_suffix(suffix: str) -> str | None:
    """The format of a suffix, None if the suffix does not determine it (``.txt``, ``.train``).

    >>> by_suffix(".conll"), by_suffix(".txt")
    ('columns', None)
    """
    return next((name for name in FORMATS if suffix in format_of(name).suffixes), None)


def detect(data: bytes, name: str, *, comment: str | None = None, kind: Kind = "labelled") -> str:
    """The format of a text, from its first lines. Raises DataError if they do not determine it.

    Text that is read for its words only is ``"text"``, unless it is clearly in another format.

    >>> detect(b"the/at jury/nn said/vbd", "brown")
    'slashed'
    >>> detect(b"the DT B-NP", "chunks")
    'columns'
    >>> detect(b"the dog sleeps\\na cat", "pets", kind="unlabelled")
    'text'
    >>> detect(b"the jury said", "", kind="words"), detect(b"the DT\\njury NN\\n\\nit PRP\\n", "", kind="words")
    ('text', 'columns')
    """
    head = data[:_HEAD_BYTES]
    if len(data) > _HEAD_BYTES and b"\n" in head:
        head = head[: head.rfind(b"\n")]  # an incomplete line is ignored
    lines = [line.strip(" \r") for line in head.decode(errors="replace").split("\n")]
    rows = [line for line in lines if line.strip(" \t\r") and not (comment and line.startswith(comment))]
    if not rows:
        return "text" if kind == "words" else "columns"  # its reader reports the problem
    beginning = Head(data[:_HEAD_BYTES], lines, rows, kind)
    for format in sorted(map(format_of, FORMATS), key=lambda format: format.plain):
        if format.fits is not None and format.fits(beginning):
            return format.name
    raise DataError(
        "cannot detect the format from the first lines",
        f"name it with {Argument('format')}: {', '.join(FORMATS)}"
        + f"; if commas separate the columns, also set {Argument('separator', ',')}" * all("," in row for row in rows)
        + comment_hint(*(row.encode() for row in rows), comment=comment),
        file=name,
    )
