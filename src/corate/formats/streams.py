"""Opening what a corpus is read from or written to: paths, standard streams, open files, encodings."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import IO, Any

from corate.errors import DataError
from corate.formats.packing import SUFFIXES, pack, packing_of, unpack

__all__ = ["Source", "Target", "bare_suffix", "load", "name_of", "save"]

#: What a corpus may be read from: a path, ``"-"`` for standard input, the bytes themselves, or an open file.
Source = str | os.PathLike[str] | bytes | IO[bytes] | IO[str]
#: What a corpus may be written to: a path, ``"-"`` for standard output, or an open file.
Target = str | os.PathLike[str] | IO[bytes] | IO[str]

_CHUNK = 1 << 20


def name_of(place: Source | Target, standard: str = "standard input") -> str:
    """What messages call a source or a target.

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
    """The last suffix of a path in lower case, compression aside; empty for what is no path.

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
    """The whole text of a source as valid UTF-8 bytes, unpacked and without a byte order mark.

    >>> load("Zoë".encode("latin-1"), encoding="latin-1").decode()
    'Zoë'
    """
    name = name_of(source)
    data = _read_all(source, name)
    if isinstance(data, str):
        return _encode(data.removeprefix("\ufeff"), "utf-8", name)
    packing = packing_of(name, data)
    return _to_utf8(unpack(data, packing, name) if packing else data, encoding, name)


def _read_all(source: Source, name: str) -> bytes | str:
    if isinstance(source, bytes):
        return source
    try:
        if not isinstance(source, str | os.PathLike):
            return source.read()
        if os.fspath(source) == "-":
            return sys.stdin.buffer.read() if hasattr(sys.stdin, "buffer") else sys.stdin.read()
        if os.path.isdir(source):
            raise DataError(f"{name} is a directory; name a file in it")
        return Path(source).read_bytes()
    except FileNotFoundError:
        raise DataError(f"no such file: {name}") from None
    except UnicodeDecodeError as error:  # a file opened as text
        raise DataError(f"{name}: {error}; open it as bytes, and name its encoding") from error
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}") from error


def _to_utf8(data: bytes, encoding: str, name: str) -> bytes:
    try:
        codec = codecs.lookup(encoding).name
        if codec not in ("utf-8", "ascii"):
            return data.decode(encoding).removeprefix("\ufeff").encode()
        _check(data, codec)
    except LookupError:
        raise DataError(f"unknown encoding {encoding!r}; try utf-8, latin-1, cp1252 or utf-16") from None
    except UnicodeDecodeError as error:
        raise _wrong_encoding(data, error, encoding, name) from None
    except UnicodeError as error:
        raise DataError(f"{name} is not {encoding} text ({error}); name its encoding with --encoding") from None
    return data.removeprefix(codecs.BOM_UTF8)


def _check(data: bytes, codec: str) -> None:
    """Decode piece by piece, so that no second copy of a large file is held."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder(codec)()
    for start in range(0, len(data), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            at = start - pending + error.start
            raise UnicodeDecodeError(codec, data, at, at + 1, error.reason) from None


def _wrong_encoding(data: bytes, error: UnicodeDecodeError, encoding: str, name: str) -> DataError:
    line = data.count(b"\n", 0, error.start) + 1
    start = data.rfind(b"\n", 0, error.start) + 1
    likely = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
    if codecs.lookup(encoding).name in (likely, "iso8859-1"):
        likely = "utf-8"
    return DataError(
        f"{name}, line {line}: byte 0x{data[error.start]:02x} (number {error.start - start + 1} of the line) is not "
        f"{encoding} text; name the file's encoding, say with --encoding {likely}"
    )


# -- writing ---------------------------------------------------------------------------------------------------------


def save(text: str, target: Target, encoding: str = "utf-8") -> None:
    """Write a text: to a path under a temporary name that is then renamed, packed as its suffix says.

    Whoever looks at the path sees the old file or the whole new one. An open file gets bytes, or text if it is one
    for text.
    """
    name = name_of(target, "standard output")
    if text.startswith("\ufeff"):
        raise DataError(f"{name}: the first token begins with U+FEFF, which would read back as a byte order mark")
    data = _encode(text, encoding, name)
    if not isinstance(target, str | os.PathLike):
        _write_to(target, data, text)
    elif os.fspath(target) == "-":
        _write_to(getattr(sys.stdout, "buffer", sys.stdout), data, text)
    else:
        packing = packing_of(name)
        try:
            _replace(Path(target), pack(data, packing, name) if packing else data)
        except OSError as error:
            raise DataError(f"cannot write {name}: {error.strerror or error}") from error


def _write_to(file: Any, data: bytes, text: str) -> None:
    try:
        file.write(data)
    except TypeError:  # a file for text, which encodes by itself
        file.write(text)
    file.flush()


def _replace(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced, only written to
        path.write_bytes(data)
        return
    path = path.resolve()  # a link stays a link
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _encode(text: str, encoding: str, name: str) -> bytes:
    try:
        return text.encode(encoding)
    except LookupError:
        raise DataError(f"unknown encoding {encoding!r}; try utf-8, latin-1, cp1252 or utf-16") from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: {text[error.start]!r} cannot be said in {encoding}; use --encoding utf-8"
        ) from None
