"""Read a corpus in pieces of whole sentences, for files larger than memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace

from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import columns, detection
from corate.formats.reading import NoSentenceError, Options, SkippedWarning, check_options, nothing_error
from corate.formats.sentence_limit import limited
from corate.io.chunks import cut_at_blank_lines, cut_at_lines, open_blocks
from corate.io.encodings import utf8

__all__ = ["read"]

Reader = Callable[[bytes, str, Options], Corpus]

#: The formats whose sentences end with a blank line; the other formats have a sentence on each line.
_BLANK_LINES = ("columns", "conllu", "items")


def read(
    path: str,
    name: str,
    format: str | None,
    encoding: str,
    options: Options,
    readers: Mapping[str, Reader],
    progress: Callable[[float | None], None],
) -> Iterator[Corpus]:
    """The pieces of a file, ``-`` for standard input. Without a format, detect it from the first block of text."""
    with open_blocks(path) as blocks:
        text = utf8(_reported(blocks, progress), encoding, name)
        head, text = detection.head_of(text)
        format = format or detection.detect(head, name, comment=options.comment, labelled=options.labelled)
        check_options(format, options)
        cut = cut_at_blank_lines if format in _BLANK_LINES else cut_at_lines
        text = limited(text, name, format, options.max_sentence, options.comment)
        yield from _parsed(cut(text), name, format, options, readers[format])


def _reported(
    blocks: Iterable[tuple[bytes, float | None]], progress: Callable[[float | None], None]
) -> Iterator[bytes]:
    for block, done in blocks:
        yield block
        progress(done)


def _parsed(chunks: Iterable[bytes], name: str, format: str, options: Options, read_chunk: Reader) -> Iterator[Corpus]:
    """The corpus of each chunk of text. Chunks without a sentence are omitted."""
    lines, found = 0, False
    for chunk in chunks:
        if format == "columns" and options.separator is None and columns.first_row(chunk, options.comment):
            options = replace(options, separator=columns.separator_of(chunk, options) or None)
        try:
            corpus, skipped = _read_chunk(chunk, name, options, read_chunk)
        except DataError as error:
            error.line = None if error.line is None else error.line + lines
            raise
        for warning in skipped:
            warnings.warn(SkippedWarning(name, warning.count, warning.line + lines), stacklevel=2)
        lines += chunk.count(b"\n")
        if corpus is None:
            continue
        if format == "columns":
            options = replace(options, width=len(corpus.layout), layout=corpus.layout)
        found = True
        yield corpus
    if not found:
        raise nothing_error(name, b"\n" * min(lines, 1))


def _read_chunk(chunk: bytes, name: str, options: Options, read: Reader) -> tuple[Corpus | None, list[SkippedWarning]]:
    """The corpus of a chunk, None if it has no sentence, and the warnings that count the lines of the chunk."""
    with warnings.catch_warnings(record=True) if options.skip_bad else nullcontext([]) as caught:
        if options.skip_bad:
            warnings.simplefilter("always")
        try:
            corpus = read(chunk, name, options)
        except NoSentenceError:
            corpus = None
    return corpus, [w.message for w in caught if isinstance(w.message, SkippedWarning)]
