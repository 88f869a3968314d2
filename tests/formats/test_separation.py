"""Column text that is split row by row, while only its beginning is known."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import corate
import corate.formats
from corate.errors import DataError
from corate.formats.columns import Separation
from corate.formats.rows import RowFormat

ROWS = ["a\tb", "a b", "a b\tc", "a\tb c", "a\tb\tc", "a\t\tb", "a b c", "a", "a ", "\ta"]


def _split(pieces: list[list[list[str]]]) -> tuple[list[list[str]], str]:
    """The cells of the rows of a text, which comes in pieces of sentences of rows, and the error that ends it."""
    separation, line, cells = Separation("text", None), 1, list[list[str]]()
    for piece in pieces:
        text = "".join("\n".join([*sentence, "", ""]) for sentence in piece)
        try:
            separator = separation.separator(text.encode(), line)
        except DataError as error:
            return cells, str(error)
        line += text.count("\n")
        cells += [RowFormat((), separator, "").cells(row) for sentence in piece for row in sentence]
    return cells, ""


def _texts() -> list[list[list[str]]]:
    """All texts of three rows, in one sentence or more."""
    texts = list[list[list[str]]]()
    for a, b, c in product(ROWS, repeat=3):
        texts += [[[a, b, c]], [[a, b], [c]], [[a], [b, c]], [[a], [b], [c]]]
    return texts


def test_the_same_text_is_split_alike_wherever_it_is_cut() -> None:
    for text in _texts():
        whole, error = _split([text])
        apart, other = _split([[sentence] for sentence in text])
        assert error == other
        assert error or whole == apart


def _in_doubt(text: list[list[str]]) -> bool:
    """Whether all rows have two columns by tabs, and three by white space."""
    return all(row in ("a b\tc", "a\tb c") for sentence in text for row in sentence)


def _data(text: list[list[str]]) -> bytes:
    return "".join("\n".join([*sentence, "", ""]) for sentence in text).encode()


def _read(text: list[list[str]]) -> list[list[str]] | None:
    """The rows of a text as the reader splits them; None if it refuses the text."""
    try:
        corpus = corate.read(_data(text), format="columns", labelled=False)
    except DataError:
        return None
    return [list(row) for s in range(len(corpus)) for row in corpus.rows(s)]


def test_a_text_is_split_as_the_reader_splits_it_if_neither_refuses_it() -> None:
    """The reader knows the whole text, which matters only if tabs and white space both fit all rows."""
    texts = [(text, *_split([[sentence] for sentence in text])) for text in _texts()[::3] if not _in_doubt(text)]
    both = [(cells, rows) for text, cells, error in texts if not error and (rows := _read(text)) is not None]
    assert len(both) > 100
    assert all(cells == rows for cells, rows in both)


def test_a_text_read_in_pieces_is_split_as_a_whole_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corate.io.chunks.BLOCK_BYTES", 1)
    path, both = tmp_path / "text", 0
    for text in _texts()[::13]:
        rows = _read(text)
        path.write_bytes(_data(text))
        try:
            pieces = list(corate.formats.read_pieces(str(path), format="columns", labelled=False))
        except DataError:
            continue
        if rows is not None and not _in_doubt(text):
            assert [list(row) for piece in pieces for s in range(len(piece)) for row in piece.rows(s)] == rows
            both += 1
    assert both > 20
