"""Compressed files: known for what they are, read whole or in blocks with the same result."""

import bz2
import gzip
import io
import lzma

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corate.errors import DataError
from corate.io import chunks, compression
from corate.io.chunks import open_blocks
from corate.io.compression import SUFFIXES, compressed, compression_of, decompress, undecided
from corate.io.streams import load

#: What other programs make.
OTHERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor(write_checksum=True).compress,
}
TEXT = "".join(f"token{i}\tLABEL\n" for i in range(2000)).encode()
kinds = pytest.mark.parametrize(("suffix", "kind"), SUFFIXES.items())


def in_blocks(path):
    with open_blocks(str(path)) as blocks:
        return b"".join(block for block, _ in blocks)


@kinds
def test_what_other_programs_made(tmp_path, suffix, kind):
    for name in ("named" + suffix, "unnamed"):
        path = tmp_path / name
        path.write_bytes(OTHERS[kind](TEXT))
        assert load(path) == in_blocks(path) == TEXT


@kinds
def test_what_is_written_comes_back(suffix, kind):
    file = io.BytesIO()
    with compressed(file, kind, "x") as stream:
        stream.write(TEXT[:1000])
        stream.write(TEXT[1000:])
    assert b"".join(decompress([file.getvalue()], kind, "x")) == TEXT
    assert compression_of("x", file.getvalue()) == kind


@pytest.mark.parametrize("kind", OTHERS)
@given(data=st.data())
def test_blocks_of_any_size_and_several_streams(kind, data):
    parts = data.draw(st.lists(st.binary(max_size=40), max_size=3))
    content = b"".join(map(OTHERS[kind], parts)) + b"\0" * data.draw(st.integers(0, 5))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    blocks = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    assert b"".join(decompress(blocks, kind, "x")) == b"".join(parts)


@kinds
def test_damage_names_the_file(tmp_path, suffix, kind):
    path = tmp_path / ("text" + suffix)
    content = OTHERS[kind](TEXT)
    for damaged in (content[:-5], content[:12], TEXT, content[:60] + b"????????" + content[68:], content + b"tail"):
        path.write_bytes(damaged)
        for reader in (load, in_blocks):
            with pytest.raises(DataError, match=rf"text\{suffix} is not a complete {kind} file \(.+\); download"):
                reader(path)


@pytest.mark.parametrize("text", [b"BZh\tNOUN\n", b"BZh9\tNOUN\n", b"BZh91AY&SZ\n", b"BZ", b"\x28\n", b""])
def test_text_that_begins_like_a_compressed_file(tmp_path, text):
    path = tmp_path / "text"
    path.write_bytes(text)
    assert load(path) == in_blocks(path) == text


def test_an_empty_bzip2_file_is_known_by_its_end(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(bz2.compress(b""))
    assert load(path) == in_blocks(path) == b""


@pytest.mark.parametrize("kind", OTHERS)
def test_a_pipe_may_bring_the_first_bytes_one_by_one(kind):
    content = OTHERS[kind](TEXT)
    for n in range(1, 10):
        assert undecided(content[:n]) or compression_of("-", content[:n]) == kind


@kinds
def test_large_text_comes_in_several_blocks(tmp_path, suffix, kind, monkeypatch):
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 5000)
    monkeypatch.setattr(chunks, "_COMPRESSED_BYTES", 100)
    path = tmp_path / ("text" + suffix)
    path.write_bytes(3 * OTHERS[kind](TEXT))
    with open_blocks(str(path)) as blocks:
        read = list(blocks)
    assert b"".join(block for block, _ in read) == 3 * TEXT
    assert len(read) > 1
    fractions = [fraction for _, fraction in read]
    assert fractions == sorted(fractions)
    assert 0.9 < fractions[-1] <= 1.0


@pytest.mark.parametrize("kind", OTHERS)
def test_small_files_with_much_text_come_in_small_pieces(kind, monkeypatch):
    monkeypatch.setattr(compression, "PIECE_BYTES", 1 << 16)
    text = b"a\tX\n" * 10_000_000
    content = OTHERS[kind](text)
    assert len(content) < len(text) / 250
    pieces = list(decompress([content, content], kind, "x"))
    most = 32 << 20 if kind == "zstandard" else 1 << 16
    assert max(map(len, pieces)) <= most
    assert b"".join(pieces) == 2 * text


def test_pieces_of_zstandard_are_bounded_for_the_densest_blocks():
    block = (1 | (1 << 1) | (131_072 << 3)).to_bytes(3, "little")  # the last one: a byte, repeated
    blocks = [(int.from_bytes(block, "little") & ~1).to_bytes(3, "little") + b"a"] * 600 + [block + b"a"]
    frame = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(17 - 10) << 3]) + b"".join(blocks)
    pieces = list(decompress([frame], "zstandard", "x"))
    assert sum(map(len, pieces)) == 601 * 131_072
    assert max(map(len, pieces)) <= 32 << 20
