"""Compressed files: gzip, bzip2, xz and, where the package is installed, zstandard."""

from __future__ import annotations

import zlib
from pathlib import PurePath
from typing import Any

from corate.errors import DataError

__all__ = ["SUFFIXES", "pack", "packing_of", "unpack"]

#: The suffix of each way of packing a file.
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstandard"}


def packing_of(name: str, data: bytes = b"") -> str | None:
    """How a file is packed, by its suffix or else by its first bytes; None for plain text.

    >>> packing_of("train.conll.gz"), packing_of("train.conll"), packing_of("-", bytes.fromhex("1f8b08"))
    ('gzip', None, 'gzip')
    """
    by_suffix = SUFFIXES.get(PurePath(name).suffix.lower())
    if by_suffix is not None:
        return by_suffix
    if data[:3] == b"\x1f\x8b\x08":
        return "gzip"
    if data[:3] == b"BZh" and data[4:10] == b"1AY&SY":
        return "bzip2"
    if data[:6] == b"\xfd7zXZ\x00":
        return "xz"
    return "zstandard" if data[:4] == b"\x28\xb5\x2f\xfd" else None


def unpack(data: bytes, packing: str, name: str) -> bytes:
    """The bytes that were packed; an error that names the file if they are damaged or cut short."""
    if not data:
        return data
    if packing == "zstandard":
        return _unpack_zstandard(data, name)
    import bz2
    import gzip
    import lzma

    unpackers = {"gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress}
    try:
        return unpackers[packing](data)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise _damaged(name, packing, error) from error


def pack(data: bytes, packing: str, name: str) -> bytes:
    """Pack bytes; gzip without a time stamp, so that the same text gives the same file."""
    if packing == "zstandard":
        packed: bytes = _zstandard(name).ZstdCompressor().compress(data)
        return packed
    import bz2
    import gzip
    import lzma

    if packing == "gzip":
        return gzip.compress(data, compresslevel=6, mtime=0)
    return bz2.compress(data) if packing == "bzip2" else lzma.compress(data)


def _unpack_zstandard(data: bytes, name: str) -> bytes:
    zstandard = _zstandard(name)
    parts: list[bytes] = []
    while data:  # a file may hold several frames, one after the other
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            parts.append(frame.decompress(data))
        except zstandard.ZstdError as error:
            raise _damaged(name, "zstandard", error) from error
        if not frame.eof:
            raise _damaged(name, "zstandard", "it ends too soon")
        data = frame.unused_data
    return b"".join(parts)


def _zstandard(name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise DataError(f"{name} is a zstandard file; to use it, type: pip install corate[zstd]") from None
    return zstandard


def _damaged(name: str, packing: str, why: object) -> DataError:
    return DataError(f"{name} is not a whole {packing} file ({why}); fetch it or pack it again")
