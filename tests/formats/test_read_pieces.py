"""A file that is read in pieces gives the same sentences as one that is read at once, and the same errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import SkippedWarning, read, read_pieces
from corate.io import chunks
from small_corpora import corpus_of, random_sentences

SENTENCES = random_sentences(60)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 200)


@pytest.mark.parametrize("format", ["columns", "slashed", "jsonl", "conllu"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_pieces_are_the_whole(tmp_path: Path, format: str, suffix: str) -> None:
    path = str(tmp_path / f"text.{format}{suffix}")
    corate.write(corpus_of(SENTENCES), path, format=format)
    pieces = list(read_pieces(path, format=format))
    assert len(pieces) > 3 or suffix
    whole, joined = read(path, format=format), Corpus.joined(pieces)
    assert list(joined) == list(whole)
    assert [joined.labels_of(s) for s in range(len(joined))] == [whole.labels_of(s) for s in range(len(whole))]
    assert joined.layout == whole.layout
    assert joined.label_source == whole.label_source


def test_the_format_and_the_columns_are_those_of_the_first_piece(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("\n".join("The DT B-NP\ndog NN I-NP\n" for _ in range(40)), encoding="utf-8")
    pieces = list(read_pieces(str(path)))
    assert {tuple(c.name for c in piece.columns) for piece in pieces} == {("word", "pos")}
    assert sum(map(len, pieces)) == 40


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    good = "dog\tN\nbarks\tV\n\n"
    path.write_text(good * 50 + "only-a-word\n\n" + good * 5, encoding="utf-8")
    with pytest.raises(DataError, match=r"text.tsv, line 151: 1 column"):
        list(read_pieces(str(path)))
    with pytest.warns(SkippedWarning, match="line 151"):
        assert sum(map(len, read_pieces(str(path), skip_bad=True))) == 55


def test_a_bad_row_that_is_a_piece_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    path.write_text("dog\tN\nbarks\tV\n\n" * 50 + "only-a-word\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"text.tsv, line 151: 1 column, but the rows before have 2"):
        list(read_pieces(str(path)))
    with pytest.warns(SkippedWarning, match="skipped 1 malformed row, .* line 151"):
        assert sum(map(len, read_pieces(str(path), skip_bad=True))) == 50


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("\n\n\n", "only blank lines")])
def test_nothing_to_read(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "text.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_pieces(str(path)))


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    path = tmp_path / "text.tsv"
    corate.write(corpus_of(SENTENCES), path)
    seen: list[Any] = []
    list(read_pieces(str(path), progress=seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.parquet"
    path.write_bytes(b"PAR1\x15\x04")
    with pytest.raises(DataError, match=r"is a Parquet file, not text; .*from_frame"):
        read(path)


def test_names_of_integer_labels_in_the_first_line_are_for_all_pieces(tmp_path: Path) -> None:
    path = tmp_path / "text.jsonl"
    sentence = '{"tokens": ["Ann", "sings"], "ner_tags": [1, 0]}\n'
    path.write_text('{"label_names": ["O", "B-PER"]}\n' + sentence * 40, encoding="utf-8")
    pieces = list(read_pieces(str(path)))
    assert len(pieces) > 3
    assert all(piece.labels_of(s) == ["B-PER", "O"] for piece in pieces for s in range(len(piece)))


def test_a_document_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    corate.write(corpus_of([[("Ann", "B-PER"), ("sings", "O")]] * 40), str(path), format="labelstudio")
    (piece,) = read_pieces(str(path))
    assert list(piece) == list(read(path))
