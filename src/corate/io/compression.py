"""Compressed files: gzip, bzip2, xz and, where the package is installed, zstandard."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any

from corate.errors import DataError

__all__ = ["SUFFIXES", "compressed", "compression_of", "decompress", "undecided"]

#: The suffix of each kind of compression.
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstandard"}

# What a bzip2 file begins with is text up to the digit, so the block after it (pi) or the end (its square root) counts.
_BEGINNINGS = {
    b"\x1f\x8b\x08": "gzip",
    **{b"BZh%d%b" % (size, block): "bzip2" for size in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
}


def compression_of(name: str, first: bytes = b"") -> str | None:
    """How a file is compressed, by its suffix or else by its first bytes; None for plain text.

    >>> compression_of("train.conll.gz"), compression_of("train.conll"), compression_of("-", bytes.fromhex("1f8b08"))
    ('gzip', None, 'gzip')
    >>> compression_of("notes", b"BZh is how bzip2 files begin")
    """
    by_suffix = SUFFIXES.get(PurePath(name).suffix.lower())
    return by_suffix or next((kind for start, kind in _BEGINNINGS.items() if first.startswith(start)), None)


def undecided(first: bytes) -> bool:
    """Whether more bytes are needed to tell a compressed file from text.

    >>> undecided(b"BZ"), undecided(b"BZz"), undecided(b"the")
    (True, False, False)
    """
    return any(len(first) < len(start) and start.startswith(first) for start in _BEGINNINGS)


def decompress(blocks: Iterable[bytes], compression: str, name: str) -> Iterator[bytes]:
    """The text of a compressed file, block by block. A file may hold several streams, one after the other.

    Raises DataError, which names the file, where it is damaged or cut short.
    """
    start, errors = _decompressor(compression, name)
    stream = None
    try:
        for block in blocks:
            left = block if stream else block.lstrip(b"\0")  # zeros may pad the file after each stream
            while left:
                stream = stream or start()
                yield stream.decompress(left)
                left = stream.unused_data.lstrip(b"\0") if stream.eof else b""
                stream = None if stream.eof else stream
    except errors as error:
        raise _damaged(name, compression, error) from error
    if stream is not None:
        raise _damaged(name, compression, "it ends too soon")


def _decompressor(compression: str, name: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """What starts to decompress a stream, and the errors it raises on damaged data."""
    if compression == "gzip":
        return lambda: zlib.decompressobj(wbits=31), (zlib.error,)
    if compression == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError,)
    if compression == "xz":
        import lzma

        return lzma.LZMADecompressor, (lzma.LZMAError,)
    zstandard = _zstandard(name)
    return lambda: zstandard.ZstdDecompressor().decompressobj(), (zstandard.ZstdError,)


@contextmanager
def compressed(raw: IO[bytes], compression: str | None, name: str) -> Iterator[IO[bytes]]:
    """A stream that compresses into another; the other itself without a compression.

    Gzip files get no time stamp, so the same text gives the same file.
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
        raise DataError(f"{name} is a zstandard file; to use it, type: pip install corate[zstd]") from None
    return zstandard


def _damaged(name: str, compression: str, why: object) -> DataError:
    return DataError(f"{name} is not a whole {compression} file ({why}); fetch it or compress it again")
