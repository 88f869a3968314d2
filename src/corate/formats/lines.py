"""One sentence per line: words or ``word/label`` tokens (as in the Brown corpus) between spaces, or raw text."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from corate import _native
from corate.corpus import Column, Corpus
from corate.corpus.texts import Texts
from corate.corpus.tokenizer import Token, iterate_tokens
from corate.display import counted
from corate.errors import Argument, DataError
from corate.formats.format import Format, Head, Options, Writing
from corate.formats.reading import check_parsed, corpus_of, nothing_error, word_of
from corate.formats.rows import fields_of, words_in
from corate.formats.sentence_limit import check_tokens
from corate.formats.writing import check_values, sentences_of, words_to_write
from corate.io import chunks

__all__ = ["RAW", "SLASHED", "TEXT"]

#: A pattern of the labels that ``word/label`` cannot represent.
_UNWRITABLE_LABEL = r"\A\Z|[/ \t\r\n\0]"


def _read_text(data: bytes, name: str, options: Options) -> Corpus:
    """Read plain text: words only.

    >>> _read_text(b"Ann sleeps .\\nBob sings .\\n", "news", Options())
    Corpus(2 sentences, 6 tokens, columns: word)
    """
    parsed = _native.parse_lines(data, False, options.comment or "", options.skip_bad)
    names = _names(options, (word_of(options.layout),), name)
    check_parsed(parsed, data, name, options)
    return corpus_of(parsed, names)


def _read_slashed(data: bytes, name: str, options: Options) -> Corpus:
    """Read ``word/label`` tokens. The last slash separates them, so words may contain slashes and labels may not.

    >>> _read_slashed(b"1/2/cd cups/nns\\n", "brown", Options()).rows(0)
    [('1/2',), ('cups',)]
    """
    names = _names(options, (word_of(options.layout), "label" if options.labelled else "_"), name)
    parsed = _native.parse_lines(data, True, options.comment or "", options.skip_bad)

    def bad(line: int, width: int) -> DataError:
        remedy = f"fix it, or omit such tokens with {Argument('skip_bad', True)}"
        return DataError(
            f"the token {_without_label(data, line)!r} is not word/label", remedy, **options.place(name, line)
        )

    check_parsed(parsed, data, name, options, bad, "token")
    return corpus_of(parsed, names)


def _read_raw(data: bytes, name: str, options: Options) -> Corpus:
    """Read raw text: each line is split into tokens, by ``options.tokenize`` or by `corate.tokenize`.

    >>> _read_raw(b"Ann sleeps.\\n\\nBob (19) sings!\\n", "news", Options()).tokens(1)
    ['Bob', '(', '19', ')', 'sings', '!']
    """
    names = _names(options, (word_of(options.layout),), name)
    text = b"".join(chunks.refuse_nul([data], name, 1 + options.lines_before)).decode()
    read = []
    for number, line in enumerate(text.split("\n"), 1):
        if options.comment and line.startswith(options.comment):
            continue
        tokens = list(islice((options.tokenize or iterate_tokens)(line), options.max_sentence + 1))
        try:
            check_tokens(len(tokens), options.max_sentence)
        except DataError as error:
            raise error.at(**options.place(name, number)) from None
        if tokens:
            read.append((line, tokens))
    if not read:
        raise nothing_error(name, data)
    corpus = Corpus.from_sentences([[_text_of(token) for token in tokens] for _, tokens in read], columns=names)
    placed = [[token for token in tokens if isinstance(token, Token)] for _, tokens in read]
    fits = sum(map(len, placed)) == corpus.n_tokens
    texts = Texts.of([line for line, _ in read], placed) if fits else None
    return replace(corpus, layout=tuple(names), texts=texts)


def _raw_words(line: bytes) -> list[bytes]:
    """The words of a line of raw text.

    >>> _raw_words(b"Bob sings!")
    [b'Bob', b'sings', b'!']
    """
    return [token.text.encode() for token in iterate_tokens(line.decode())]


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


def _without_label(data: bytes, line: int) -> str:
    """The first token of a line with an empty word or an empty label."""
    for token in fields_of(data.split(b"\n", line)[line - 1].decode()):
        word, _, label = token.rpartition("/")
        if not word or not label:
            return token[:40]
    return ""


# -- writing ---------------------------------------------------------------------------------------------------------


def _write_text(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    """The words of a corpus, one sentence per line; sentences without tokens are omitted.

    >>> _write_text(Corpus.from_sentences([["Ann", "sleeps"], ["Bob"]]), None, Writing())
    'Ann sleeps\\nBob\\n'
    """
    return _join(corpus, _words(corpus).values())


def _write_slashed(corpus: Corpus, labels: Column | None, options: Writing) -> str:
    """The words and labels of a corpus as ``word/label``, one sentence per line; other columns are omitted.

    >>> corpus = Corpus.from_sentences([[("Ann", "np"), ("sleeps", "vbz")]])
    >>> _write_slashed(corpus, corpus.labels, Writing())
    'Ann/np sleeps/vbz\\n'
    """
    if labels is None:
        raise DataError(
            "the format 'slashed' needs labels, and the corpus has no labels",
            f"use {Argument('format', 'text', of_output=True)}",
        )
    check_values(labels, _UNWRITABLE_LABEL, "labels")
    return _join(corpus, list(map("/".join, zip(_words(corpus).values(), labels.values(), strict=True))))


def _words(corpus: Corpus) -> Column:
    column = words_to_write(corpus)
    check_values(column, r"\A\Z|[ \t\r\n\0]", "column")
    return column


def _join(corpus: Corpus, tokens: list[str]) -> str:
    return "".join(" ".join(sentence) + "\n" for sentence in sentences_of(corpus, tokens))


# -- the formats -----------------------------------------------------------------------------------------------------


def _fits_slashed(head: Head) -> bool:
    """Whether at least 90% of the tokens contain a slash. The parser reports the others."""
    tokens = [token for row in head.rows for token in fields_of(row)]
    slashed = sum(0 < token.rfind("/") < len(token) - 1 for token in tokens)
    return 10 * slashed >= 9 * len(tokens)


def _fits_text(head: Head) -> bool:
    """Whether there are no tabs and not only one word per line, which may be a column file of one sentence."""
    rows = head.rows
    if head.kind != "unlabelled":
        return head.kind == "words"
    return not any("\t" in row for row in rows) and (len(rows) == 1 or any(len(fields_of(row)) > 1 for row in rows))


SLASHED = Format("slashed", "`word/label`", _read_slashed, _write_slashed, _fits_slashed, unwritable=_UNWRITABLE_LABEL)
TEXT = Format(
    "text", "text between white space", _read_text, _write_text, _fits_text, plain=True, words=words_in, unknown=True
)
RAW = Format(
    "raw",
    "a token of the [tokeniser](#the-tokeniser)",
    _read_raw,
    takes=("tokenize",),
    words=_raw_words,
    counts_tokens=True,
)
