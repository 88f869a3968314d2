"""Encodings: any text to checked UTF-8 and back, chunk by chunk."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from corate.errors import DataError

__all__ = ["check_encoding", "encoded", "is_model", "utf8"]

_MODEL = re.compile(rb'.{8}\{"__metadata__":\{"format":"corate"', re.DOTALL)


def check_encoding(encoding: str) -> str:
    """The usual name of a text encoding; DataError where there is none of that name.

    >>> check_encoding("UTF8"), check_encoding("latin-1")
    ('utf-8', 'iso8859-1')
    >>> check_encoding("rot13")
    Traceback (most recent call last):
    corate.errors.DataError: 'rot13' is no encoding of text; try utf-8, latin-1, cp1252 or utf-16
    """
    try:
        codec = codecs.lookup(encoding)
        if codec._is_text_encoding and codec.incrementaldecoder is not None:
            return codec.name
        what = f"{encoding!r} is no encoding of text"
    except (LookupError, ValueError):
        what = f"unknown encoding {encoding!r}"
    raise DataError(f"{what}; try utf-8, latin-1, cp1252 or utf-16")


def is_model(first: bytes) -> bool:
    """Whether these are the first bytes of a Corate model."""
    return _MODEL.match(first) is not None


def utf8(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """The blocks as valid UTF-8 that ends between characters, without a byte order mark.

    Raises DataError, which names the file, the line and the remedy, for what is no text in that encoding.

    >>> list(utf8([b"Zo", b"\\xeb"], "latin-1", "names"))
    [b'Zo', b'\\xc3\\xab']
    """
    as_it_is = check_encoding(encoding) == "utf-8"
    decoder = codecs.getincrementaldecoder(encoding)()
    place = _Place(name, encoding)
    first = True
    for block in chain(blocks, [None]):  # None: the end
        if first and block and is_model(block):
            raise DataError(
                f"{name} is a Corate model, not text; give it where a model is asked for, or train it with init="
            )
        text = _converted(decoder, block, as_it_is, place)
        if text or block:
            yield text.removeprefix(codecs.BOM_UTF8) if first else text
        first = first and not text
        place.pass_over(block or b"")


def _converted(decoder: codecs.IncrementalDecoder, block: bytes | None, as_it_is: bool, place: _Place) -> bytes:
    pending = decoder.getstate()[0]
    as_it_is = as_it_is and not pending
    if block and as_it_is and block.isascii():
        return block
    try:
        text = decoder.decode(block or b"", final=block is None)
        return block if block and as_it_is and not decoder.getstate()[0] else text.encode()
    except UnicodeDecodeError as error:
        raise place.wrong_byte(error, pending) from None
    except UnicodeError as error:  # UTF-16 without a byte order mark, for one
        remedy = "say utf-16-le or utf-16-be" if "BOM" in str(error) else "name its encoding with encoding="
        raise DataError(f"{place.name} is not {place.encoding} text ({error}); {remedy}") from None


class _Place:
    """How far a text was read: for errors."""

    def __init__(self, name: str, encoding: str) -> None:
        self.name, self.encoding = name, encoding
        self.line, self.column = 1, 0  # complete lines before, plus one; bytes of the line so far
        self.beginning = b""

    def pass_over(self, block: bytes) -> None:
        self.beginning = self.beginning or block[:2]
        self.line += block.count(b"\n")
        newline = block.rfind(b"\n")
        self.column = len(block) - newline - 1 if newline >= 0 else self.column + len(block)

    def wrong_byte(self, error: UnicodeDecodeError, pending: bytes) -> DataError:
        """``error.object`` is a block, with bytes before it that were passed over already."""
        data, at = error.object, error.start
        line = self.line - pending.count(b"\n") + data.count(b"\n", 0, at)
        newline = data.rfind(b"\n", 0, at)
        column = at - newline if newline >= 0 else self.column - len(pending) + at + 1
        wide = (self.beginning or data[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        likely = "utf-16" if wide else "latin-1"
        if check_encoding(self.encoding) in (likely, "iso8859-1"):
            likely = "utf-8"
        return DataError(
            f"{self.name}, line {line}: byte 0x{data[at]:02x} (number {column} of the line) is not {self.encoding} "
            f"text; name the file's encoding, say with encoding={likely!r}"
        )


def encoded(texts: Iterable[str], encoding: str, name: str) -> Iterator[bytes]:
    """Pieces of a text in an encoding. Raises DataError for a character that the encoding does not have.

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
                f"{name}, line {line}: {text[error.start]!r} cannot be written in {encoding}; use encoding='utf-8'"
            ) from None
        line += text.count("\n")
    yield encoder.encode("", final=True)
