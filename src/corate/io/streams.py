"""Read text from and write it to paths, standard streams and open files."""

from __future__ import annotations

import io
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from corate.errors import DataError
from corate.io.atomic import buffered, descriptor_of, named, replacing
from corate.io.compression import SUFFIXES, compressed, compression_of, decompress, undecided
from corate.io.encodings import check_encoding, encoded, utf8

__all__ = [
    "NamedBytes",
    "Source",
    "Target",
    "bare_suffix",
    "joined",
    "load",
    "name_of",
    "open_output",
    "opened",
    "read_in_blocks",
    "save",
    "standard_input",
    "standard_output",
    "text_blocks",
]

#: What a corpus may be read from: a path, ``"-"`` for standard input, the bytes themselves, or an open file.
Source = str | os.PathLike[str] | bytes | IO[bytes] | IO[str]
#: What a corpus may be written to: a path, ``"-"`` for standard output, or an open file.
Target = str | os.PathLike[str] | IO[bytes] | IO[str]

_CHUNK = 1 << 18


class NamedBytes(io.BytesIO):
    """Bytes in memory with the name of the file that they came from."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def name_of(place: Source | Target, standard: str = "standard input") -> str:
    """The name of a source or a target in messages.

    >>> name_of("train.conll"), name_of("-"), name_of(b"a X")
    ('train.conll', 'standard input', 'the given bytes')
    """
    if isinstance(place, bytes):
        return "the given bytes"
    if isinstance(place, str | os.PathLike):
        path = os.fspath(place)
        return standard if path == "-" else path
    name = getattr(place, "name", None)
    return name if isinstance(name, str) else "the given file"


def bare_suffix(place: Source | Target) -> str:
    """The last suffix of a path in lower case, without a compression suffix; empty if it is not a path.

    >>> bare_suffix("train.conll.gz"), bare_suffix("-"), bare_suffix("notes")
    ('.conll', '', '')
    """
    if not isinstance(place, str | os.PathLike):
        return ""
    path = Path(place)
    if path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    return path.suffix.lower()


# -- reading ---------------------------------------------------------------------------------------------------------


def load(source: Source, encoding: str = "utf-8") -> bytes:
    """The whole text of a source as valid UTF-8 bytes, decompressed and without a byte order mark.

    >>> load("Zoë".encode("latin-1"), encoding="latin-1").decode()
    'Zoë'
    """
    return joined(text_blocks(source, encoding))


def joined(blocks: Iterable[bytes]) -> bytes:
    """One text of blocks, which are not kept in memory beside it."""
    text = io.BytesIO()
    for block in blocks:
        text.write(block)
    return text.getvalue()


def text_blocks(source: Source, encoding: str = "utf-8") -> Iterator[bytes]:
    """The text of a source as `load` returns it, in blocks of some megabytes at most, each of whole characters."""
    name = name_of(source)
    check_encoding(encoding)
    blocks = _source_blocks(source, name)
    first = next(blocks, b"")
    while isinstance(first, bytes) and undecided(first) and (more := next(blocks, b"")):
        first += more  # type: ignore[operator]
    if isinstance(first, str):
        yield from encoded(chain([first.removeprefix("\ufeff")], blocks), "utf-8", name)  # type: ignore[arg-type]
        return
    # An open file may already decompress, so its name is ignored.
    compression = compression_of(name if isinstance(source, str | os.PathLike) else "", first)
    data: Iterator[bytes] = chain([first] if first else [], blocks)  # type: ignore[arg-type]
    yield from utf8(data if compression is None else decompress(data, compression, name), encoding, name)


def _source_blocks(source: Source, name: str) -> Iterator[bytes | str]:
    given: Any = source
    if isinstance(given, bytes):
        yield from (given[start : start + _CHUNK] for start in range(0, len(given), _CHUNK))
    elif isinstance(given, str | os.PathLike):
        with opened(given) as file:
            yield from read_in_blocks(file.read, _CHUNK, name)
    elif hasattr(given, "read"):
        try:
            yield from read_in_blocks(given.read, _CHUNK, name)
        except UnicodeDecodeError as error:  # a file opened in text mode
            raise DataError(f"{error}", "open it in binary mode and name its encoding", file=name) from error
    else:
        several = "; read each file, and join them with Corpus.joined" * isinstance(given, list | tuple)
        raise DataError(
            "the source must be a path, '-' for standard input, bytes or an open file, not "
            f"{reprlib.repr(given)}{several}"
        )


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to read, or standard input for ``-``. Raises DataError if it cannot be opened."""
    name = name_of(path)
    if os.fspath(path) == "-":
        yield standard_input()
        return
    if os.path.isdir(path):
        raise DataError(f"{name} is a directory; name a file in it")
    try:
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        if "\n" in name:
            raise DataError("no file has such a name; if it is the text itself, give it as bytes") from None
        raise DataError(f"no such file: {name}") from None
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}") from error
    with file:
        yield file


def read_in_blocks(read: Callable[[int], Any], size: int, name: str) -> Iterator[Any]:
    """What ``read`` returns for this size, until there is no more. Raises DataError if it fails."""
    try:
        while block := read(size):
            yield block
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}") from error


def standard_input() -> IO[bytes]:
    """Standard input as a binary stream; raises DataError if it is closed."""
    if sys.stdin is None:
        raise DataError("standard input is closed; name a file to read, or pipe the text in")
    return sys.stdin.buffer if hasattr(sys.stdin, "buffer") else io.BytesIO(sys.stdin.read().encode())


# -- writing ---------------------------------------------------------------------------------------------------------


def save(text: str, target: Target, encoding: str = "utf-8") -> None:
    """Write text to a path, as `open_output` does, or to an open file in binary or text mode."""
    name = name_of(target, "standard output")
    if text.startswith("\ufeff"):
        raise DataError("the first token begins with U+FEFF, which would read back as a byte order mark", file=name)
    data = b"".join(encoded([text], encoding, name))
    if not isinstance(target, str | os.PathLike):
        if not hasattr(target, "write"):
            accepted = "a path, '-' for standard output or an open file"
            raise DataError(f"the target must be {accepted}, not {reprlib.repr(target)}")
        _write_to(buffered(target.fileno(), name) if isinstance(target, io.FileIO) else target, data, text)
        return
    if os.fspath(target) == "-":
        _write_to(standard_output(), data, text)
        return
    try:
        with open_output(os.fspath(target)) as stream:
            stream.write(data)
    except OSError as error:
        raise DataError(f"cannot write {name}: {error.strerror or error}") from error


def _write_to(file: Any, data: bytes, text: str) -> None:
    try:
        file.write(data)
    except TypeError:  # a file in text mode
        file.write(text)
    file.flush()


@contextmanager
def open_output(path: str | None) -> Iterator[IO[bytes]]:
    """Standard output for None or ``-``; otherwise a file written atomically by `atomic.replacing`.

    A path that ends in .gz, .bz2, .xz or .zst is compressed. Devices and pipes are written to directly. What has been
    written to an open file, such as ``/dev/stdout`` after ``>> log``, stays.
    """
    path = "-" if path is None else path
    descriptor = 1 if path == "-" else descriptor_of(path)
    if descriptor is not None:
        stream = standard_output() if descriptor == 1 else buffered(descriptor, path)
        yield stream
        stream.flush()
        return
    special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    file = open(path, "wb") if special else replacing(path)  # noqa: SIM115
    with named(path), file as raw, compressed(raw, compression_of(path), path) as stream:
        yield stream


def standard_output() -> Any:
    """Standard output as a buffered binary stream; raises DataError if it is closed."""
    if sys.stdout is None:
        raise DataError("standard output is closed; name a file to write to, or open it")
    stream = getattr(sys.stdout, "buffer", sys.stdout)
    return buffered(stream.fileno(), "standard output") if isinstance(stream, io.FileIO) else stream
