"""Text in chunks that end between sentences, for files larger than memory and endless pipes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

from corate.errors import Argument, DataError
from corate.io.compression import compression_of, decompress, undecided
from corate.io.streams import name_of, opened, read_in_blocks

__all__ = ["cut_at_blank_lines", "cut_at_lines", "open_blocks", "refuse_nul"]

#: Approximate size of the text that is tagged at a time.
BLOCK_BYTES = 8 << 20
#: How much of a compressed file is read at a time.
_COMPRESSED_BYTES = 1 << 18


@contextmanager
def open_blocks(path: str) -> Iterator[Iterator[tuple[bytes, float | None]]]:
    """The decompressed bytes of a file in blocks, each with the fraction of the file read so far.

    ``-`` is standard input: blocks are returned as they arrive, and the fraction is None.
    """
    stream: Any
    with opened(path) as stream:
        size = 0 if path == "-" else os.fstat(stream.fileno()).st_size
        yield _blocks(stream, name_of(path), stream.read if path != "-" else stream.read1, size)


def _blocks(
    stream: IO[bytes], name: str, read: Callable[[int], bytes], size: int
) -> Iterator[tuple[bytes, float | None]]:
    first = b""
    for block in read_in_blocks(read, min(_COMPRESSED_BYTES, BLOCK_BYTES), name):
        first += block
        if not undecided(first):
            break
    compression = compression_of(name, first)
    if compression is None:
        blocks = read_in_blocks(read, BLOCK_BYTES, name)
        if first and size:  # a file: the first block is as large as the others, while a pipe is answered at once
            first += next(read_in_blocks(read, max(1, BLOCK_BYTES - len(first)), name), b"")
        if first:
            yield first, _fraction(stream, size)
    else:
        rest = chain([first], read_in_blocks(stream.read, _COMPRESSED_BYTES, name))
        blocks = _joined(decompress(rest, compression, name))
    for block in blocks:
        yield block, _fraction(stream, size)


def _fraction(stream: IO[bytes], size: int) -> float | None:
    return stream.tell() / size if size else None


def _joined(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Join small blocks into large ones."""
    held, size = list[bytes](), 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size >= BLOCK_BYTES:
            yield b"".join(held)
            held, size = [], 0
    if size:
        yield b"".join(held)


def refuse_nul(blocks: Iterable[bytes], name: str, line: int = 1) -> Iterator[bytes]:
    """Yield the blocks. A NUL byte raises DataError with the file and the line; ``line`` is the number of the first."""
    for block in blocks:
        if (place := block.find(0)) >= 0:
            line += block.count(b"\n", 0, place)
            raise DataError(
                "a NUL byte",
                f"is this a text file, or one that needs {Argument('encoding', 'utf-16')}?",
                file=name,
                line=line,
            )
        line += block.count(b"\n")
        yield block


def cut_at_blank_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Column text in chunks that end with a blank line, so that no sentence is split.

    >>> list(cut_at_blank_lines([b"a\nb\n", b"\nc\n\nd", b"\n"]))
    [b'a\nb\n\nc\n\n', b'd\n']
    """
    return _cut(blocks, b"\n\n", b"\n\r\n")


def cut_at_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Text in chunks of whole lines.

    >>> list(cut_at_lines([b"a b\nc", b" d\ne"]))
    [b'a b\n', b'c d\n', b'e']
    """
    return _cut(blocks, b"\n")


def _cut(blocks: Iterable[bytes], *ends: bytes) -> Iterator[bytes]:
    held = bytearray()
    overlap = max(map(len, ends)) - 1  # an end may span two blocks
    for block in blocks:
        seen = max(0, len(held) - overlap)
        held += block
        places = ((held.rfind(end, seen), len(end)) for end in ends)
        if cut := max(place + length if place >= 0 else 0 for place, length in places):
            yield bytes(memoryview(held)[:cut])
            del held[:cut]
    if held:
        yield bytes(held)
