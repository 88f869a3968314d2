"""Streams to open descriptors that lose no bytes."""

from __future__ import annotations

import io
import os
from typing import Any

from corate.io.atomic import named

__all__ = ["buffered"]


def buffered(descriptor: int, name: str) -> io.BufferedWriter:
    """A stream that writes every byte to an open descriptor, or raises OSError with ``name`` as its filename.

    Python's own streams lose bytes without an error if they are unbuffered, and fail if the descriptor does not block.
    This one waits until the descriptor takes more. The descriptor stays open when the stream is closed.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     with buffered(file.fileno(), "a file") as stream:
    ...         size = stream.write(b"hello")
    ...     _ = file.seek(0)
    ...     file.read()
    b'hello'
    """
    with named(name):
        os.fstat(descriptor)
    return io.BufferedWriter(_Descriptor(descriptor, name))


class _Descriptor(io.FileIO):
    """An open descriptor. A write may be short, but writes at least one byte."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.name = name

    def write(self, data: Any) -> int:
        with named(self.name):
            while (written := self._write(data)) is None:
                import select

                select.select((), (self,), ())
        return written

    def _write(self, data: Any) -> int | None:
        """The number of bytes written; None if the descriptor takes none now."""
        return super().write(data)
