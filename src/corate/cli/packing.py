"""Compressed streams: gzip, bzip2, xz and, where the package is installed, zstandard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Literal

from corate.errors import DataError

__all__ = ["packed", "suffix_of"]

_FIRST_BYTES = {b"\x1f\x8b\x08": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


def suffix_of(first: bytes) -> str:
    """The suffix that a packed file with these first bytes should have; empty for plain text.

    >>> suffix_of(bytes.fromhex("1f8b0800")), suffix_of(b"the/at jury/nn")
    ('.gz', '')
    """
    return next((suffix for magic, suffix in _FIRST_BYTES.items() if first.startswith(magic)), "")


@contextmanager
def packed(raw: Any, suffix: str, mode: Literal["rb", "wb"]) -> Iterator[IO[bytes]]:
    """A stream that packs into (``"wb"``) or unpacks from (``"rb"``) another; the other itself for other suffixes."""
    stream: Any = raw
    if suffix == ".gz":
        import gzip

        stream = gzip.GzipFile(filename="", mode=mode, fileobj=raw, compresslevel=6, mtime=0)
    elif suffix == ".bz2":
        import bz2

        stream = bz2.open(raw, mode)  # noqa: SIM115
    elif suffix == ".xz":
        import lzma

        stream = lzma.LZMAFile(raw, mode)  # noqa: SIM115
    elif suffix == ".zst":
        stream = _zstandard(raw, mode)
    try:
        yield stream
    finally:
        if stream is not raw:
            stream.close()


def _zstandard(raw: Any, mode: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise DataError("to read and write zstandard files, type: pip install corate[zstd]") from None
    return zstandard.open(raw, mode, closefd=False)
