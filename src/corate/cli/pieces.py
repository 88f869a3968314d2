"""Text in pieces: files larger than memory and pipes that never end, cut where a sentence ends."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from corate.cli.packing import packed, suffix_of
from corate.errors import DataError

__all__ = ["Held", "blocks_of", "cut_at_blank_lines", "cut_at_lines", "encoded", "utf8"]

#: About how much text is tagged at a time.
PIECE_BYTES = 8 << 20


class Held(io.BytesIO):
    """Bytes in memory that know the name of the file they came from."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


@contextmanager
def blocks_of(path: str) -> Iterator[Iterator[tuple[bytes, float | None]]]:
    """The bytes of a file, unpacked, block by block, each with the fraction of the file read so far.

    ``-`` is standard input, whose blocks come as they arrive and whose fraction is None.
    """
    if path == "-":
        yield _blocks(sys.stdin.buffer, "standard input")
        return
    if os.path.isdir(path):
        raise DataError(f"{path} is a directory; name a file in it")
    try:
        raw = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise DataError(f"no such file: {path}") from None
    with raw:
        yield _blocks(raw, path)


def _blocks(raw: Any, name: str) -> Iterator[tuple[bytes, float | None]]:
    standard = raw is sys.stdin.buffer
    total = 0 if standard else os.fstat(raw.fileno()).st_size
    suffix = suffix_of(raw.peek(6)[:6])
    try:
        with packed(raw, suffix, "rb") as stream:
            read = raw.read1 if standard and not suffix else stream.read
            while block := read(PIECE_BYTES):
                yield block, raw.tell() / total if total else None
    except _damages(suffix) as error:
        raise DataError(f"{name} is not a whole {suffix} file ({error}); fetch it or pack it again") from error


def _damages(suffix: str) -> tuple[type[Exception], ...]:
    """What the unpackers raise on damaged data."""
    damages: list[type[Exception]] = [EOFError]
    if suffix == ".gz":
        import gzip
        import zlib

        damages += [gzip.BadGzipFile, zlib.error]
    elif suffix == ".xz":
        import lzma

        damages.append(lzma.LZMAError)
    elif suffix == ".zst":
        import zstandard

        damages.append(zstandard.ZstdError)
    return tuple(damages)


def utf8(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """The blocks as valid UTF-8 that ends between characters, without a byte order mark.

    >>> list(utf8([b"Zo", b"\\xeb"], "latin-1", "names"))
    [b'Zo', b'\\xc3\\xab']
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        as_it_is = codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        raise DataError(f"unknown encoding {encoding!r}; try utf-8, latin-1, cp1252 or utf-16") from None
    line, first = 1, True
    for block in blocks:
        whole = as_it_is and not first and not decoder.getstate()[0]
        text = "" if whole and block.isascii() else _decoded(decoder, block, False, encoding, name, line)
        _refuse_nul(block if whole else text.encode(), name, line)
        if whole and not decoder.getstate()[0]:
            yield block
        else:
            yield (text.removeprefix("\ufeff") if first else text).encode()
            first = first and not text
        line += block.count(b"\n")
    _decoded(decoder, b"", True, encoding, name, line)


def _decoded(decoder: Any, block: bytes, final: bool, encoding: str, name: str, line: int) -> str:
    try:
        text: str = decoder.decode(block, final)
        return text
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            line += error.object.count(b"\n", 0, error.start)
        raise DataError(
            f"{name}, line {line}: this is not {encoding} text ({error}); name the file's encoding, "
            f"say with --encoding {'latin-1' if encoding != 'latin-1' else 'utf-8'}"
        ) from None


def _refuse_nul(block: bytes, name: str, line: int) -> None:
    if (place := block.find(0)) >= 0:
        line += block.count(b"\n", 0, place)
        raise DataError(f"{name}, line {line}: a NUL byte; is this a text file, or one that needs --encoding utf-16?")


def encoded(pieces: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """UTF-8 pieces in another encoding.

    >>> list(encoded(["Zoë".encode()], "latin-1", "names"))
    [b'Zo\\xeb']
    """
    if codecs.lookup(encoding).name == "utf-8":
        yield from pieces
        return
    encoder = codecs.getincrementalencoder(encoding)()
    try:
        for piece in pieces:
            yield encoder.encode(piece.decode())
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise DataError(f"{name}: {character!r} cannot be written in {encoding}; use --encoding utf-8") from None


def cut_at_blank_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Column text in pieces that end with a blank line, so that no sentence is cut in two.

    >>> list(cut_at_blank_lines([b"a\nb\n", b"\nc\n\nd", b"\n"]))
    [b'a\nb\n\nc\n\n', b'd\n']
    """
    return _cut(blocks, b"\n\n", b"\n\r\n")


def cut_at_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Text in pieces of whole lines.

    >>> list(cut_at_lines([b"a b\nc", b" d\ne"]))
    [b'a b\n', b'c d\n', b'e']
    """
    return _cut(blocks, b"\n")


def _cut(blocks: Iterable[bytes], *ends: bytes) -> Iterator[bytes]:
    held = bytearray()
    overlap = max(map(len, ends)) - 1  # an end may straddle two blocks
    for block in blocks:
        seen = max(0, len(held) - overlap)
        held += block
        places = ((held.rfind(end, seen), len(end)) for end in ends)
        if cut := max(place + length if place >= 0 else 0 for place, length in places):
            yield bytes(memoryview(held)[:cut])
            del held[:cut]
    if held:
        yield bytes(held)
