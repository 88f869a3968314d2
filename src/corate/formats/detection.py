"""Detect the format of a file from its suffix or else from its first lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from corate.errors import Argument, DataError
from corate.formats.reading import comment_hint, fields_of

__all__ = ["FORMATS", "by_suffix", "detect", "detect_unlabelled", "head_of"]

#: The names of the formats that are detected and written. Raw text is neither.
FORMATS = ("columns", "conllu", "slashed", "items", "jsonl", "labelstudio", "text")

_SUFFIXES = {
    ".bio": "columns",
    ".conll": "columns",
    ".conllu": "conllu",
    ".crfsuite": "items",
    ".iob": "columns",
    ".items": "items",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "columns",
}
_HEAD_BYTES = 1 << 16
_JSON_OBJECTS = re.compile(rb"\s*\[\s*\{")
_TASK_MEMBER = re.compile(rb'"(?:data|annotations|predictions|completions)"\s*:')
_CONLLU_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?\t")


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
    return _SUFFIXES.get(suffix)


def detect(data: bytes, name: str, *, comment: str | None = None, labelled: bool = True) -> str:
    """The format of a text, from its first lines. Raises DataError if they do not determine it.

    >>> detect(b"the/at jury/nn said/vbd", "brown")
    'slashed'
    >>> detect(b"the DT B-NP", "chunks")
    'columns'
    >>> detect(b"the dog sleeps\\na cat", "pets", labelled=False)
    'text'
    """
    if _is_labelstudio(data):
        return "labelstudio"
    lines = _first_lines(data)
    rows = [line for line in lines if line.strip(" \t\r") and not (comment and line.startswith(comment))]
    if not rows:
        return "columns"  # its reader reports the problem
    if _is_conllu(rows):
        return "conllu"
    if _is_jsonl(rows):
        return "jsonl"
    if _is_slashed(rows):
        return "slashed"
    if _is_items(rows):
        return "items"
    if _is_columns(rows, "" in lines[:-1], labelled):
        return "columns"
    if not labelled and _is_text(rows):
        return "text"
    raise DataError(
        "cannot detect the format from the first lines",
        f"name it with {Argument('format')}: {', '.join(FORMATS)}, raw"
        + f"; if commas separate the columns, also set {Argument('separator', ',')}" * all("," in row for row in rows)
        + comment_hint(*(row.encode() for row in rows), comment=comment),
        file=name,
    )


def _is_conllu(rows: list[str]) -> bool:
    """Whether most rows have ten columns and an ID first. The parser reports the others."""
    rows = [row for row in rows if not row.startswith("#")]
    fitting = sum(row.count("\t") == 9 and _CONLLU_ID.match(row) is not None for row in rows)
    return 10 * fitting > 9 * len(rows)


def detect_unlabelled(data: bytes) -> str:
    """The format of text that is read for its words only: ``"text"``, unless it is clearly in another format.

    Rows are columns if each has a tab, or if all are of one width and blank lines stand between them.

    >>> detect_unlabelled(b"the jury said"), detect_unlabelled(b"the DT\\njury NN\\n\\nit PRP\\n")
    ('text', 'columns')
    """
    lines = _first_lines(data)
    rows = [line for line in lines if line.strip(" \t\r")]
    if not rows:
        return "text"  # its reader reports the problem
    if _is_labelstudio(data):
        return "labelstudio"
    for format, fits in (("jsonl", _is_jsonl), ("conllu", _is_conllu), ("slashed", _is_slashed), ("items", _is_items)):
        if fits(rows):
            return format
    tabs = all("\t" in row for row in rows)
    blank_lines = any(not line for line in lines[:-1])
    return "columns" if tabs or (blank_lines and len({len(fields_of(row)) for row in rows}) == 1) else "text"


def _first_lines(data: bytes) -> list[str]:
    """The first lines, without spaces around them; an incomplete line is ignored."""
    head = data[:_HEAD_BYTES]
    if len(data) > _HEAD_BYTES and b"\n" in head:
        head = head[: head.rfind(b"\n")]
    return [line.strip(" \r") for line in head.decode(errors="replace").split("\n")]


def _is_labelstudio(data: bytes) -> bool:
    """Whether the text is a JSON list of objects with a member of tasks. JSON lines have no lists of objects."""
    head = data[:_HEAD_BYTES]
    return _JSON_OBJECTS.match(head) is not None and _TASK_MEMBER.search(head) is not None


def _is_jsonl(rows: list[str]) -> bool:
    try:
        return all(isinstance(json.loads(row), dict | list) for row in rows)
    except (ValueError, RecursionError):
        return False


def _is_slashed(rows: list[str]) -> bool:
    """Whether at least 90% of the tokens contain a slash. The parser reports the others."""
    tokens = [token for row in rows for token in fields_of(row)]
    slashed = sum(0 < token.rfind("/") < len(token) - 1 for token in tokens)
    return 10 * slashed >= 9 * len(tokens)


def _is_items(rows: list[str]) -> bool:
    """Whether rows are a label and attributes. Most attributes contain = or :; all do if the rows have one width."""
    fields = [row.split("\t") for row in rows]
    widths = {len(row) for row in fields}
    attributes = [field for row in fields for field in row[1:] if field]
    named = sum("=" in field or ":" in field for field in attributes)
    if len(widths) > 1:
        return 2 * named > len(attributes)
    return max(widths) > 2 and named == len(attributes)


def _is_columns(rows: list[str], blank_lines: bool, labelled: bool) -> bool:
    """Whether most rows have the same number of columns. The parser reports the others."""
    if all("\t" in row for row in rows):
        return True
    widths = Counter(len(fields_of(row)) for row in rows)
    width, count = widths.most_common(1)[0]
    if width == 1:
        return count == len(rows) and blank_lines
    if labelled:
        return 2 * count >= len(rows)
    return 10 * count >= 9 * len(rows) and len(rows) > 1  # sentences of words differ in length


def _is_text(rows: list[str]) -> bool:
    """Whether there are no tabs and not only one word per line, which may be a column file of one sentence."""
    return not any("\t" in row for row in rows) and (len(rows) == 1 or any(len(fields_of(row)) > 1 for row in rows))
