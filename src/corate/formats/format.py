"""What a format is: one object, in a module of its own, which :mod:`corate.formats.registry` names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from corate.arguments import MOST_TOKENS
from corate.corpus import Column, Corpus
from corate.corpus.tokenizer import Tokenizer
from corate.formats.edges import EdgeSource
from corate.io.chunks import cut_at_blank_lines, cut_at_lines

__all__ = ["Format", "Head", "Kind", "Options", "Writing"]

#: What a text is: labelled, with or without labels, or read for its words only.
Kind = Literal["labelled", "unlabelled", "words"]


@dataclass(frozen=True)
class Options:
    """The arguments of ``corate.formats.read``, except source, format and encoding."""

    columns: tuple[str, ...] | None = None
    separator: str | None = None
    comment: str | None = None
    drop_docstart: bool = False
    skip_bad: bool = False
    labelled: bool = True
    layout: tuple[str, ...] = ()
    label: str | None = None
    label_names: tuple[str, ...] | None = None
    label_source: str = ""
    tokenize: Tokenizer | None = None
    widen_spans: bool = False
    max_sentence: int = MOST_TOKENS
    edges: EdgeSource | None = None
    width: int = 0  # the number of columns of the pieces before, if a text is read in pieces; 0 for the first one
    lines_before: int = 0  # the lines of the pieces before

    def place(self, name: str, line: int) -> dict[str, Any]:
        """The name of a text and a line of a piece of it, for an error.

        >>> Options(lines_before=1000).place("big.tsv", 3)
        {'file': 'big.tsv', 'line': 1003}
        """
        return {"file": name, "line": line + self.lines_before}


@dataclass(frozen=True)
class Writing:
    """The arguments of ``corate.formats.write``, except target, format and encoding."""

    separator: str = "\t"
    label: str | None = None
    label_names: tuple[str, ...] | None = None
    scores: Sequence[Sequence[float]] | None = None
    predicted: bool = False  # whether the labels are given, and not those of the corpus


@dataclass(frozen=True)
class Head:
    """The beginning of a text, from which its format is recognised: bytes, lines, and rows, which have content."""

    data: bytes
    lines: list[str]
    rows: list[str]
    kind: Kind

    def has_blank_lines(self) -> bool:
        """Whether there are blank lines, except at the end."""
        return "" in self.lines[:-1]


@dataclass(frozen=True)
class Format:
    """A format of text: how it is recognised, read, cut and written.

    Attributes:
        name: its name, as in the registry.
        token: what a token is, for the documentation.
        read: a corpus from UTF-8 bytes, their name in messages, and the options. In its ``layout``, the label comes
            last, unless rows are columns: ``corate tag`` expects the columns of other files in this order.
        write: the text of a corpus with labels, which may be None; None if the format is only read.
        fits: whether the beginning of a text is in the format; None if that cannot be recognised, so that the format is
            read only if it is named, or if the suffix tells.
        plain: whether other formats also have such rows, so that ``fits`` is asked after those of other formats.
        suffixes: the suffixes of files in the format.
        takes: the arguments of ``read`` and ``write`` that are for some formats only.
        blank_line: the blank lines that end a sentence, with the white space that they may contain; None if each line
            is a sentence. If something else ends a sentence, the text is ``whole``.
        whole: whether the text is one document, which cannot be cut.
        words: the words of a line, in a format of one sentence a line without labels, whose words are tagged as rows;
            None in other formats.
        counts_tokens: whether ``read`` counts the tokens of a sentence, because its lines do not tell.
        comment: how lines begin that are comments without ``comment=``.
        unwritable: a pattern of labels that the format cannot represent; None if it can represent any label.
        unknown: whether the format can represent labels that are not known.
        settled: the options for all pieces of a text, from the first one.
    """

    name: str
    token: str
    read: Callable[[bytes, str, Options], Corpus]
    write: Callable[[Corpus, Column | None, Writing], str] | None = None
    fits: Callable[[Head], bool] | None = None
    plain: bool = False
    suffixes: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    blank_line: re.Pattern[bytes] | None = None
    whole: bool = False
    words: Callable[[bytes], list[bytes]] | None = None
    counts_tokens: bool = False
    comment: str = ""
    unwritable: str | None = None
    unknown: bool = False
    settled: Callable[[bytes, Options], Options] = field(default=lambda piece, options: options)

    def cut(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The text in pieces of whole sentences."""
        if self.whole:
            return iter([b"".join(blocks)])
        return cut_at_blank_lines(blocks) if self.blank_line is not None else cut_at_lines(blocks)
