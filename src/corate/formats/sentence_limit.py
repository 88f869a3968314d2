"""A limit for the length of a sentence, checked while text is read, before a long sentence takes much memory.

Many formats end a sentence with a blank line or the end of a line. If the blank lines are missing, or if the format is
wrong, the whole text is one sentence. A small compressed file can contain gigabytes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from corate.arguments import MOST_TOKENS
from corate.errors import Argument, DataError
from corate.formats.format import Format
from corate.formats.registry import format_of
from corate.formats.rows import FIELD

__all__ = ["check_tokens", "limited"]

#: The most bytes of a sentence of so many tokens; fewer tokens may have as many bytes.
MOST_BYTES = 64_000_000
#: Text is looked at in windows of about this size.
_WINDOW = 1 << 20


def limited(
    blocks: Iterable[bytes], name: str, format: str, most: int = MOST_TOKENS, comment: str | None = None
) -> Iterator[bytes]:
    r"""Yield blocks of text. A sentence of too many tokens or bytes raises DataError, which names its first line.

    The limit of bytes is the larger one of 64 MB, and 64 bytes for each token of the limit ``most``. In formats of one
    token per line, the lines count that are no comments. Of a document such as Label Studio's JSON, only the bytes of a
    text are limited here; the reader counts its tokens.

    >>> list(limited([b"a\nb\n\nc\n", b"d\ne\n"], "news", "columns", most=2))
    Traceback (most recent call last):
    corate.errors.DataError: news, line 4: a sentence of more than 2 tokens; ...
    """
    found = format_of(format)
    if found.whole:
        yield from _limited_texts(blocks, name, _most_bytes(most))
        return
    sentences = _Lines(name, found, most, comment) if found.blank_line is None else _Rows(name, found, most, comment)
    for block in blocks:
        sentences.add(block)
        yield block
    sentences.end()


def check_tokens(n: int, most: int) -> None:
    """Raise DataError for a sentence of too many tokens; the reader adds its place."""
    if n > most:
        raise DataError(
            f"a sentence of more than {most:,} tokens",
            f"split it, or allow longer ones with {Argument('max_sentence')}",
        )


def _most_bytes(most: int) -> int:
    return MOST_BYTES * max(1, most // MOST_TOKENS)


def _limited_texts(blocks: Iterable[bytes], name: str, most: int) -> Iterator[bytes]:
    """Yield blocks of JSON. More than ``most`` bytes between two quotation marks raise DataError."""
    line, size = 1, 0
    for block in blocks:
        first = block.find(b'"')
        size += len(block) if first < 0 else first
        if size > most:
            raise DataError(
                f"a text of more than {most / 1000000.0:,.0f} MB",
                f"split it, or allow longer ones with {Argument('max_sentence')}",
                file=name,
                line=line,
            )
        if first >= 0:
            size = len(block) - block.rfind(b'"') - 1
        line += _line_feeds(block, 0, len(block))
        yield block


def _line_feeds(data: bytes, start: int, stop: int) -> int:
    """The number of line feeds in ``data[start:stop]``: many times as fast as ``data.count``, as there are many."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8, stop - start, start) == ord("\n"))) if start < stop else 0


class _Sentences:
    """The place in a text that is read in blocks, and the beginning of its last line."""

    def __init__(self, name: str, format: Format, most: int, comment: str | None) -> None:
        self.name, self.format, self.most = name, format, most
        self.most_bytes = _most_bytes(most)
        self.comment = (format.comment or comment or "").encode()
        self.line = 1
        self.unfinished = bytearray()

    def add(self, block: bytes) -> None:
        """Check the lines that a block completes, and the beginning of the one after them."""
        first = block.find(b"\n") + 1
        self.unfinished += block[:first] if first else block
        if first:
            self._lines(bytes(self.unfinished), 0, len(self.unfinished))
            last = block.rfind(b"\n") + 1
            while first < last:
                stop = block.rfind(b"\n", first, first + _WINDOW) + 1 or block.find(b"\n", first) + 1
                self._lines(block, first, stop)
                first = stop
            self.unfinished = bytearray(memoryview(block)[last:])
        if len(self.unfinished) > self.most_bytes:
            raise self._too_long(self._first_line(), tokens=False)

    def end(self) -> None:
        """Check the last line if no line feed ends it."""
        if self.unfinished:
            self._lines(bytes(self.unfinished) + b"\n", 0, len(self.unfinished) + 1)

    def _lines(self, data: bytes, start: int, stop: int) -> None:
        """Check ``data[start:stop]``, which are whole lines."""
        raise NotImplementedError

    def _first_line(self) -> int:
        """The first line of the sentence at the current place."""
        return self.line

    def _too_long(self, line: int, *, tokens: bool) -> DataError:
        most = f"{self.most:,} token{'s' * (self.most != 1)}" if tokens else f"{self.most_bytes / 1e6:,.0f} MB"
        ends = "a line feed" if self.format.blank_line is None else "a blank line"
        return DataError(
            f"a sentence of more than {most}",
            f"if this is not one sentence, end each with {ends} or name the format with "
            f"{Argument('format')}, otherwise allow longer ones with {Argument('max_sentence')}",
            file=self.name,
            line=line,
        )


class _Rows(_Sentences):
    """One token per line, and blank lines between sentences."""

    def __init__(self, name: str, format: Format, most: int, comment: str | None) -> None:
        super().__init__(name, format, most, comment)
        self.first, self.rows, self.size = 1, 0, 0  # of the sentence: its first line, and what was read of it

    def _lines(self, data: bytes, start: int, stop: int) -> None:
        lines = _line_feeds(data, start, stop)
        if self.rows + lines <= self.most and self.size + stop - start <= self.most_bytes:
            # No sentence is too long yet, so only the last one matters: the text before a blank line is skipped.
            skipped = data.rfind(b"\n\n", start, stop) + 1
            skipped = max(skipped, data.rfind(b"\n\r\n", skipped or start, stop) + 1)
            if skipped:
                self.line += lines - _line_feeds(data, skipped, stop)
                start = skipped
        assert self.format.blank_line is not None
        for blank in self.format.blank_line.finditer(data, start, stop):
            self._grow(data, start, blank.start())
            start = blank.end()
            self.line += 1
            self.first, self.rows, self.size = self.line, 0, 0
        self._grow(data, start, stop)

    def _grow(self, data: bytes, start: int, stop: int) -> None:
        lines = _line_feeds(data, start, stop)
        self.line += lines
        self.rows += lines - self._comments(data, start, stop)
        self.size += stop - start
        if self.rows > self.most:
            raise self._too_long(self.first, tokens=True)
        if self.size > self.most_bytes:
            raise self._too_long(self.first, tokens=False)

    def _comments(self, data: bytes, start: int, stop: int) -> int:
        if not self.comment or start == stop:
            return 0
        first = data.startswith(self.comment, start, stop)
        return first + data.count(b"\n" + self.comment, start, stop)

    def _first_line(self) -> int:
        return self.first


class _Lines(_Sentences):
    """One sentence per line."""

    def _lines(self, data: bytes, start: int, stop: int) -> None:
        by_bytes = self.format.counts_tokens
        enough = self.most_bytes if by_bytes else min(2 * self.most, self.most_bytes)  # each token needs two bytes
        if stop - start <= enough + 1:
            self.line += _line_feeds(data, start, stop)
            return
        while start < stop:
            end = data.find(b"\n", start, stop)
            if end - start > enough and not (self.comment and data.startswith(self.comment, start)):
                self._check(data, start, end, count=not by_bytes)
            self.line += 1
            start = end + 1

    def _check(self, data: bytes, start: int, end: int, *, count: bool) -> None:
        if count and next(islice(FIELD.finditer(data, start, end), self.most, None), None) is not None:
            raise self._too_long(self.line, tokens=True)
        if end - start > self.most_bytes:
            raise self._too_long(self.line, tokens=False)
