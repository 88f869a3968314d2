"""Encodings: text in any encoding to valid UTF-8 and back, in chunks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

from corate.errors import Argument, DataError

__all__ = ["check_encoding", "encoded", "is_model", "utf8"]

#: The first bytes of files that are not text: what they are, and what to do.
_NOT_TEXT = {
    b"PAR1": "a Parquet file, not text; read it with pandas or pyarrow, then use Corpus.from_frame",
    b"PK\x03\x04": "a ZIP archive or an Office document, not text; unpack it, or save it as text",
    b"%PDF-": "a PDF document, not text; extract its text first",
}
_MODEL = re.compile(rb'.{8}\{"__metadata__":\{"format":"corate"|lCRF.{4}FOMC', re.DOTALL)


def check_encoding(encoding: str) -> str:
    """The standard name of a text encoding; raises DataError if the name is unknown.

    >>> check_encoding("UTF8"), check_encoding("latin-1")
    ('utf-8', 'iso8859-1')
    >>> check_encoding("rot13")
    Traceback (most recent call last):
    corate.errors.DataError: 'rot13' is not a text encoding; try utf-8, latin-1, cp1252 or utf-16
    """
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        problem = f"unknown encoding {encoding!r}"
    else:
        with suppress(LookupError, UnicodeError):  # not text: rot13, base64, undefined
            "a".encode(encoding)
            if codec.incrementaldecoder is not None:
                return codec.name
        problem = f"{encoding!r} is not a text encoding"
    raise DataError(problem, "try utf-8, latin-1, cp1252 or utf-16", option="encoding")


def is_model(first: bytes) -> bool:
    """Whether these are the first bytes of a model, of Corate or of CRFsuite."""
    return _MODEL.match(first) is not None


def utf8(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """The blocks as valid UTF-8 without a byte order mark. Each block ends between two characters.

    Raises DataError, which names the file, the line and the remedy, for bytes that are invalid in the encoding.

    >>> list(utf8([b"Zo", b"\\xeb"], "latin-1", "names"))
    [b'Zo', b'\\xc3\\xab']
    """
    is_utf8 = check_encoding(encoding) == "utf-8"
    decoder = codecs.getincrementaldecoder(encoding)()
    position = _Position(name, encoding)
    first = True
    for block in chain(blocks, [None]):  # None: the end
        if first and block and is_model(block):
            program = "CRFsuite" if block.startswith(b"lCRF") else "Corate"
            raise DataError(
                f"{name} is a {program} model, not text",
                f"pass it as the model, or train it further with {Argument('init')}",
            )
        for magic, kind in _NOT_TEXT.items():
            if first and block and block.startswith(magic):
                raise DataError(f"{name} is {kind}")
        text = _to_utf8(decoder, block, is_utf8, position)
        if text or block:
            yield text.removeprefix(codecs.BOM_UTF8) if first else text
        first = first and not text
        position.advance(block or b"")


def _to_utf8(decoder: codecs.IncrementalDecoder, block: bytes | None, is_utf8: bool, position: _Position) -> bytes:
    pending = decoder.getstate()[0]
    is_utf8 = is_utf8 and not pending
    if block and is_utf8 and block.isascii():
        return block
    try:
        text = decoder.decode(block or b"", final=block is None)
        return block if block and is_utf8 and not decoder.getstate()[0] else text.encode()
    except UnicodeDecodeError as error:
        raise position.wrong_byte(error, pending) from None
    except UnicodeError as error:  # e.g. UTF-16 without a byte order mark
        wide = check_encoding(position.encoding) in ("utf-16", "utf-32")
        remedy = "use utf-16-le or utf-16-be" if wide else f"name its encoding with {Argument('encoding')}"
        raise DataError(f"{position.name} is not {position.encoding} text ({error})", remedy) from None


class _Position:
    """The current position in a text, for error messages."""

    def __init__(self, name: str, encoding: str) -> None:
        self.name, self.encoding = name, encoding
        self.line, self.column = 1, 0  # line number; bytes of this line that were already read
        self.beginning = b""

    def advance(self, block: bytes) -> None:
        self.beginning = self.beginning or block[:2]
        self.line += block.count(b"\n")
        newline = block.rfind(b"\n")
        self.column = len(block) - newline - 1 if newline >= 0 else self.column + len(block)

    def wrong_byte(self, error: UnicodeDecodeError, pending: bytes) -> DataError:
        """``error.object`` is ``pending``, which `advance` has already counted, and then the block."""
        data, at = error.object, error.start
        line = self.line - pending.count(b"\n") + data.count(b"\n", 0, at)
        newline = data.rfind(b"\n", 0, at)
        column = at - newline if newline >= 0 else self.column - len(pending) + at + 1
        wide = (self.beginning or data[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        likely = "utf-16" if wide else "latin-1"
        if check_encoding(self.encoding) in (likely, "iso8859-1"):
            likely = "utf-8"
        return DataError(
            f"byte 0x{data[at]:02x} (number {column} of the line) is not {self.encoding} text",
            f"name the file's encoding, for example {Argument('encoding', likely)}",
            file=self.name,
            line=line,
        )


def encoded(texts: Iterable[str], encoding: str, name: str) -> Iterator[bytes]:
    """Encode pieces of a text. Raises DataError for a character that the encoding cannot represent.

    >>> list(encoded(["Zoë"], "latin-1", "names"))
    [b'Zo\\xeb', b'']
    """
    encoder = codecs.getincrementalencoder(check_encoding(encoding))()
    line = 1
    for text in texts:
        try:
            yield encoder.encode(text)
        except UnicodeEncodeError as error:
            line += text.count("\n", 0, error.start)
            raise DataError(
                f"{text[error.start]!r} cannot be written in {encoding}",
                f"use {Argument('encoding', 'utf-8')}",
                file=name,
                line=line,
            ) from None
        line += text.count("\n")
    yield encoder.encode("", final=True)
