"""Where corpora come from and go to: paths, standard streams, packed files, encodings, atomic writing."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import read, write
from corate.io.compression import compressed

TEXT = "Zoë B-PER\nslaapt O\n"
CORPUS = Corpus.from_sentences([[("Zoë", "B-PER"), ("slaapt", "O")]])
PACKINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstandard"}


def pack(data: bytes, compression: str) -> bytes:
    file = io.BytesIO()
    with compressed(file, compression, "") as stream:
        stream.write(data)
    return file.getvalue()


def same(corpus: Corpus) -> bool:
    return corpus.tokens(0) == ["Zoë", "slaapt"] and corpus.labels_of(0) == ["B-PER", "O"]


class StandardStream(io.TextIOWrapper):
    def __init__(self, data: bytes = b"") -> None:
        super().__init__(io.BytesIO(data), encoding="ascii")


# -- reading ---------------------------------------------------------------------------------------------------------


def test_paths_bytes_and_files(tmp_path: Path) -> None:
    path = tmp_path / "train"
    path.write_bytes(TEXT.encode())
    assert same(read(path))
    assert same(read(str(path)))
    assert same(read(TEXT.encode()))
    assert same(read(io.BytesIO(TEXT.encode())))
    assert same(read(io.StringIO(TEXT)))
    with path.open("rb") as file:
        assert same(read(file))


@pytest.mark.parametrize("wrong", [5, None, {"a": 1}, bytearray(b"Ann NAME"), CORPUS])
def test_other_objects_are_no_files(wrong: Any) -> None:
    with pytest.raises(DataError, match="must be a path, '-' for standard input, bytes or an open file, not"):
        read(wrong)
    with pytest.raises(DataError, match="must be a path, '-' for standard output or an open file, not"):
        write(CORPUS, wrong)


def test_a_list_of_paths_is_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "train"
    path.write_bytes(TEXT.encode())
    with pytest.raises(DataError, match=r"not \[.*\]; read each file, and join them with Corpus.joined"):
        read([path, path])  # type: ignore[arg-type]
    assert len(Corpus.joined([read(path), read(path)])) == 2


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StandardStream(TEXT.encode()))
    assert same(read("-"))
    monkeypatch.setattr(sys, "stdin", StandardStream(b"\xff\n"))
    with pytest.raises(DataError, match="standard input, line 1"):
        read("-")


@pytest.mark.parametrize("suffix", PACKINGS)
def test_packed_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"train.tsv{suffix}"
    write(CORPUS, path)
    assert path.read_bytes() != TEXT.encode()
    assert same(read(path))
    assert same(read(path.read_bytes()))  # known by its first bytes
    path.write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        read(path)


@pytest.mark.parametrize("suffix", PACKINGS)
def test_damaged_packed_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"train{suffix}"
    packed = pack(TEXT.encode() * 100, PACKINGS[suffix])
    for damaged in (packed[:-5], TEXT.encode(), packed[:12]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=f"is not a complete {PACKINGS[suffix]} file"):
            read(path)


@pytest.mark.parametrize("suffix", PACKINGS)
def test_packed_files_one_after_the_other(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"train{suffix}"
    path.write_bytes(2 * pack(TEXT.encode(), PACKINGS[suffix]))
    assert read(path).n_tokens == 4


def test_zstandard_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "train.zst"
    with pytest.raises(DataError, match=r"pip install corate\[zstd\]"):
        write(CORPUS, path)
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(DataError, match=r"pip install corate\[zstd\]"):
        read(path)


def test_a_file_that_decompresses_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "train.gz"
    write(CORPUS, path)
    with gzip.open(path) as file:  # its name still ends in .gz
        assert same(read(file))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-8-sig", "cp1252", "UTF8"])
def test_encodings(encoding: str) -> None:
    assert same(read(TEXT.encode(encoding), encoding=encoding))


def test_a_wrong_encoding_is_placed_and_mended() -> None:
    message = r"the given bytes, line 2: byte 0xeb \(number 3 of the line\) is not utf-8 text; .*encoding='latin-1'"
    with pytest.raises(DataError, match=message):
        read(b"a X\n" + TEXT.encode("latin-1"))
    with pytest.raises(DataError, match="encoding='utf-16'"):
        read(TEXT.encode("utf-16"))
    with pytest.raises(DataError, match="line 1: byte 0xc3"):
        read(TEXT.encode(), encoding="ascii")
    with pytest.raises(DataError, match="unknown encoding 'utf-9'"):
        read(TEXT.encode(), encoding="utf-9")


@pytest.mark.parametrize("before", [(1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 21) - 1])
def test_a_wrong_byte_is_found_in_large_text(before: int) -> None:
    good = b"x" * (before - 3) + "é".encode() + b"\n"
    with pytest.raises(DataError, match="line 2: byte 0xff"):
        read(good + b"\xff X\n", format="columns")
    with pytest.raises(DataError, match="line 2: byte 0xc3"):
        read(good + b"\xc3", format="columns")
    assert read(good, format="columns").n_tokens == 1


def test_utf_16_without_a_byte_order_mark_is_asked_for_the_order_of_bytes() -> None:
    with pytest.raises(DataError, match="utf-16-le or utf-16-be"):
        read(TEXT.encode("utf-16-be"), encoding="utf-16")


@pytest.mark.parametrize("codec", ["rot13", "hex", "base64", "zlib"])
def test_codecs_that_are_no_encodings_of_text(codec: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"'{codec}' is not a text encoding"):
        read(TEXT.encode(), encoding=codec)
    with pytest.raises(DataError, match=f"'{codec}' is not a text encoding"):
        write(CORPUS, tmp_path / "train", encoding=codec)
    assert not list(tmp_path.iterdir())


def test_characters_that_utf_8_does_not_have() -> None:
    with pytest.raises(DataError, match="the given bytes is not utf-7 text"):
        read(b"+2AA- X", encoding="utf-7")


def test_a_model_is_no_text(tmp_path: Path) -> None:
    corate.train(CORPUS, "empirical").save(tmp_path / "model")
    with pytest.raises(DataError, match=r"model is a Corate model, not text; .*init="):
        read(tmp_path / "model")


def test_closed_standard_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(DataError, match="standard input is closed"):
        read("-")
    with pytest.raises(DataError, match="standard output is closed"):
        write(CORPUS, "-")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such file: .*absent"):
        read(tmp_path / "absent")
    with pytest.raises(DataError, match="is a directory"):
        read(tmp_path)


# -- writing ---------------------------------------------------------------------------------------------------------


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StandardStream()
    monkeypatch.setattr(sys, "stdout", stream)
    write(CORPUS, "-", separator=" ")
    assert stream.buffer.getvalue().decode() == TEXT + "\n"  # type: ignore[attr-defined]


def test_writing_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "train.conll"
    write(CORPUS, path, encoding="latin-1")
    assert same(read(path, encoding="latin-1"))
    with pytest.raises(DataError, match=r"line 1: 'ë' cannot be written in ascii"):
        write(CORPUS, path, encoding="ascii")
    assert same(read(path, encoding="latin-1"))


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.conll"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"cannot write .*No space left"):
        write(CORPUS, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["train.conll"]


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot write"):
        write(CORPUS, tmp_path / "absent" / "train")
    with pytest.raises(DataError, match="cannot write"):
        write(CORPUS, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write(CORPUS, link)
    assert link.is_symlink()
    assert same(read(real))


def test_same_text_same_packed_bytes(tmp_path: Path) -> None:
    write(CORPUS, tmp_path / "a.gz")
    write(CORPUS, tmp_path / "b.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
