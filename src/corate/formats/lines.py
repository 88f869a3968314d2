"""One sentence per line: words or ``word/label`` tokens (as in the Brown corpus) between spaces, or raw text."""

from __future__ import annotations

import itertools
from dataclasses import replace
from itertools import islice
from typing import Any

from corate import _native
from corate.corpus import Column, Corpus
from corate.corpus.texts import Texts
from corate.corpus.tokenizer import Token, Tokenizer, iterate_tokens
from corate.display import counted
from corate.errors import Argument, DataError
from corate.formats.reading import (
    Options,
    Parsed,
    corpus_of,
    fields_of,
    nothing_error,
    refuse_nul,
    warn_skipped,
    word_of,
)
from corate.formats.sentence_limit import check_tokens
from corate.formats.writing import check_values
from corate.io import chunks

__all__ = ["UNWRITABLE_LABEL", "read_raw", "read_slashed", "read_text", "words_of", "write_slashed", "write_text"]

#: A pattern of the labels that ``word/label`` cannot represent.
UNWRITABLE_LABEL = r"\A\Z|[/ \t\r\n\0]"


def read_text(data: bytes, name: str, options: Options) -> Corpus:
    """Read plain text: words only.

    >>> read_text(b"Ann sleeps .\\nBob sings .\\n", "news", Options())
    Corpus(2 sentences, 6 tokens, columns: word)
    """
    parsed = _native.parse_lines(data, False, options.comment or "", options.skip_bad)
    return _corpus(parsed, data, name, _names(options, (word_of(options.layout),), name))


def read_slashed(data: bytes, name: str, options: Options) -> Corpus:
    """Read ``word/label`` tokens. The last slash separates them, so words may contain slashes and labels may not.

    >>> read_slashed(b"1/2/cd cups/nns\\n", "brown", Options()).rows(0)
    [('1/2',), ('cups',)]
    """
    names = _names(options, (word_of(options.layout), "label" if options.labelled else "_"), name)
    parsed = _native.parse_lines(data, True, options.comment or "", options.skip_bad)
    line, skipped = parsed[2], parsed[4]
    if skipped and (len(parsed[1]) == 1 or not options.skip_bad):
        raise DataError(
            f"the token {_without_label(data, line)!r} is not word/label",
            f"fix it, or omit such tokens with {Argument('skip_bad', True)}",
            file=name,
            line=line,
        )
    corpus = _corpus(parsed, data, name, names)
    warn_skipped(name, skipped, line, "token")
    return corpus


def read_raw(data: bytes, name: str, options: Options) -> Corpus:
    """Read raw text: each line is split into tokens, by ``options.tokenize`` or by `corate.tokenize`.

    >>> read_raw(b"Ann sleeps.\\n\\nBob (19) sings!\\n", "news", Options()).tokens(1)
    ['Bob', '(', '19', ')', 'sings', '!']
    """
    names = _names(options, (word_of(options.layout),), name)
    text = b"".join(chunks.refuse_nul([data], name)).decode()
    read = []
    for number, line in enumerate(text.split("\n"), 1):
        if options.comment and line.startswith(options.comment):
            continue
        tokens = list(islice((options.tokenize or iterate_tokens)(line), options.max_sentence + 1))
        try:
            check_tokens(len(tokens), options.max_sentence)
        except DataError as error:
            raise error.at(file=name, line=number) from None
        if tokens:
            read.append((line, tokens))
    if not read:
        raise nothing_error(name, data)
    corpus = Corpus.from_sentences([[_text_of(token) for token in tokens] for _, tokens in read], columns=names)
    placed = [[token for token in tokens if isinstance(token, Token)] for _, tokens in read]
    fits = sum(map(len, placed)) == corpus.n_tokens
    texts = Texts.of([line for line, _ in read], placed) if fits else None
    return replace(corpus, layout=tuple(names), texts=texts)


def words_of(line: str, tokenizer: Tokenizer | None = None) -> list[str]:
    """The words of a line of raw text, as strings.

    >>> words_of("Bob sings!"), words_of("Bob sings!", str.split)
    (['Bob', 'sings', '!'], ['Bob', 'sings!'])
    """
    return [_text_of(token) for token in (tokenizer or iterate_tokens)(line)]


def _text_of(token: Any) -> Any:
    return getattr(token, "text", token)


def _names(options: Options, defaults: tuple[str, ...], name: str) -> list[str]:
    names = options.columns or defaults
    if len(names) != len(defaults):
        raise DataError(
            f"{name} has {counted(len(defaults), 'column')} in this format, but "
            f"{Argument('columns')} has {counted(len(names), 'name')} ({', '.join(names)})"
        )
    return list(names)


def _corpus(parsed: Parsed, data: bytes, name: str, names: list[str]) -> Corpus:
    refuse_nul(parsed, name)
    if len(parsed[1]) == 1:
        raise nothing_error(name, data)
    return corpus_of(parsed, names)


def _without_label(data: bytes, line: int) -> str:
    """The first token of a line with an empty word or an empty label."""
    for token in fields_of(data.split(b"\n", line)[line - 1].decode()):
        word, _, label = token.rpartition("/")
        if not word or not label:
            return token[:40]
    return ""


# -- writing ---------------------------------------------------------------------------------------------------------


def write_text(corpus: Corpus) -> str:
    """The words of a corpus, one sentence per line; sentences without tokens are omitted.

    >>> write_text(Corpus.from_sentences([["Ann", "sleeps"], ["Bob"]]))
    'Ann sleeps\\nBob\\n'
    """
    return _join(corpus, _words(corpus).values())


def write_slashed(corpus: Corpus, labels: Column | None) -> str:
    """The words and labels of a corpus as ``word/label``, one sentence per line; other columns are omitted.

    >>> corpus = Corpus.from_sentences([[("Ann", "np"), ("sleeps", "vbz")]])
    >>> write_slashed(corpus, corpus.labels)
    'Ann/np sleeps/vbz\\n'
    """
    if labels is None:
        raise DataError(
            "the format 'slashed' needs labels, and the corpus has no labels",
            f"use {Argument('format', 'text', of_output=True)}",
        )
    check_values(labels, UNWRITABLE_LABEL, "labels")
    return _join(corpus, list(map("/".join, zip(_words(corpus).values(), labels.values(), strict=True))))


def _words(corpus: Corpus) -> Column:
    column = corpus.word
    if column is None:
        raise DataError(
            "the corpus has no words to write",
            f"write ready-made features with {Argument('format', 'items', of_output=True)}",
        )
    check_values(column, r"\A\Z|[ \t\r\n\0]", "column")
    return column


def _join(corpus: Corpus, tokens: list[str]) -> str:
    ends = corpus.offsets.tolist()
    return "".join(" ".join(tokens[a:b]) + "\n" for a, b in itertools.pairwise(ends) if a < b)
