"""Compressed files: gzip, bzip2, xz and, if its package is installed, zstandard."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any

from corate.errors import DataError

__all__ = ["SUFFIXES", "compressed", "compression_of", "decompress", "undecided"]

#: The suffix of each kind of compression.
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstandard"}

# The bzip2 signature ("BZh" and a digit) could be plain text, so the next 6 bytes are part of it: the first block (pi)
# or the end of the stream (square root of pi).
_BEGINNINGS = {
    b"\x1f\x8b\x08": "gzip",
    **{b"BZh%d%b" % (size, block): "bzip2" for size in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
}


#: The most text that is decompressed at a time: a small file can contain a thousand times as much text. Pieces that
#: stay in the cache of the processor are a quarter faster than pieces of 8 MB.
PIECE_BYTES = 1 << 20
#: Zstandard's decompressor takes no limit. Each block, of 4 bytes or more, contains at most 128 kB of text, so that
#: this many bytes contain at most 32 MB.
_ZSTANDARD_BYTES = 1 << 10


def compression_of(name: str, first: bytes = b"") -> str | None:
    """The compression of a file, from its suffix or else from its first bytes; None for plain text.

    >>> compression_of("train.conll.gz"), compression_of("train.conll"), compression_of("-", bytes.fromhex("1f8b08"))
    ('gzip', None, 'gzip')
    >>> compression_of("notes", b"BZh is how bzip2 files begin")
    """
    by_suffix = SUFFIXES.get(PurePath(name).suffix.lower())
    return by_suffix or next((kind for start, kind in _BEGINNINGS.items() if first.startswith(start)), None)


def undecided(first: bytes) -> bool:
    """Whether more bytes are needed to distinguish a compressed file from text.

    >>> undecided(b"BZ"), undecided(b"BZz"), undecided(b"the")
    (True, False, False)
    """
    return any(len(first) < len(start) and start.startswith(first) for start in _BEGINNINGS)


def decompress(blocks: Iterable[bytes], compression: str, name: str) -> Iterator[bytes]:
    """The text of a compressed file in pieces of limited size. A file may contain several consecutive streams.

    Raises DataError, which names the file, if the file is damaged or incomplete.
    """
    start, pieces, errors = _decompressor(compression, name)
    stream = None
    try:
        for block in blocks:
            left = block if stream else block.lstrip(b"\0")  # zeros may follow each stream as padding
            while left:
                stream = stream or start()
                left = (yield from pieces(stream, left)).lstrip(b"\0")
                stream = None if stream.eof else stream
    except errors as error:
        raise _damaged(name, compression, error) from error
    if stream is not None:
        raise _damaged(name, compression, "it ends too early")


#: The text of some compressed bytes, in pieces. Returns the bytes after the end of the stream, if it ends.
_Pieces = Generator[bytes, None, bytes]


def _gzip_pieces(stream: Any, data: bytes) -> _Pieces:
    full = False
    while data or full:  # after a full piece, more text may be waiting
        piece = stream.decompress(data, PIECE_BYTES)
        data, full = stream.unconsumed_tail, len(piece) == PIECE_BYTES
        yield piece
    return bytes(stream.unused_data)


def _pieces(stream: Any, data: bytes) -> _Pieces:
    """The pieces of bzip2 and xz."""
    yield stream.decompress(data, PIECE_BYTES)
    while not (stream.eof or stream.needs_input):
        yield stream.decompress(b"", PIECE_BYTES)
    return bytes(stream.unused_data)


def _zstandard_pieces(stream: Any, data: bytes) -> _Pieces:
    for at in range(0, len(data), _ZSTANDARD_BYTES):
        yield stream.decompress(data[at : at + _ZSTANDARD_BYTES])
        if stream.eof:
            return bytes(stream.unused_data) + data[at + _ZSTANDARD_BYTES :]
    return b""


def _decompressor(
    compression: str, name: str
) -> tuple[Callable[[], Any], Callable[[Any, bytes], _Pieces], tuple[type[Exception], ...]]:
    """A function that returns a new decompressor, the function for its pieces, and the errors for damaged data."""
    if compression == "gzip":
        return lambda: zlib.decompressobj(wbits=31), _gzip_pieces, (zlib.error,)
    if compression == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, _pieces, (OSError,)
    if compression == "xz":
        import lzma

        return lzma.LZMADecompressor, _pieces, (lzma.LZMAError,)
    zstandard = _zstandard(name)
    small = 1 << 14  # the decompressor reserves this much for each call
    return (
        lambda: zstandard.ZstdDecompressor().decompressobj(write_size=small),
        _zstandard_pieces,
        (zstandard.ZstdError,),
    )


@contextmanager
def compressed(raw: IO[bytes], compression: str | None, name: str) -> Iterator[IO[bytes]]:
    """A stream that writes compressed bytes to ``raw``, or ``raw`` itself if ``compression`` is None.

    Gzip files get no time stamp, so that the same text gives the same file.
    """
    stream: Any = raw
    if compression == "gzip":
        import gzip

        stream = gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)
    elif compression == "bzip2":
        import bz2

        stream = bz2.BZ2File(raw, "wb")
    elif compression == "xz":
        import lzma

        stream = lzma.LZMAFile(raw, "wb")  # noqa: SIM115
    elif compression == "zstandard":
        stream = _zstandard(name).ZstdCompressor(write_checksum=True).stream_writer(raw, closefd=False)
    try:
        yield stream
    finally:
        if stream is not raw:
            stream.close()


def _zstandard(name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise DataError(f"{name} is a zstandard file; install support with: pip install corate[zstd]") from None
    return zstandard


def _damaged(name: str, compression: str, reason: object) -> DataError:
    return DataError(
        f"{name} is not a complete {compression} file ({reason}); download or compress it again, "
        "or rename it if it is not compressed"
    )
