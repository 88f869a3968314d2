"""Shared by all writers: the labels to write, and a check that a format can represent the values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from corate.corpus import Column, Corpus
from corate.corpus.corpus import first_token
from corate.display import counted
from corate.errors import Argument, DataError
from corate.types import Offsets

__all__ = [
    "check_known",
    "check_labels",
    "check_values",
    "has_values",
    "labels_to_write",
    "rows_to_text",
    "sentences_of",
    "words_to_write",
]


def check_values(column: Column, forbidden: str, place: str) -> None:
    """Raise DataError if a value of the column matches the pattern: it would read back as something else.

    >>> check_values(Column.of("word", ["New York"]), " ", "column")
    Traceback (most recent call last):
    corate.errors.DataError: column 'word': the value 'New York' cannot be written in this format; ...
    """
    value = next(_matching(column, forbidden), None)
    if value is not None:
        raise DataError(
            f"{place} {column.name!r}: the value {value[:40]!r} cannot be written in this format; it would read back "
            "as something else",
            f"use {Argument('format', 'jsonl', of_output=True)}, which can represent any value",
        )


def check_labels(labels: Iterable[str], forbidden: str, format: str) -> None:
    r"""Raise DataError if one of a model's labels matches the pattern: it would read back as something else.

    >>> check_labels(["O", "B\nX"], "\n", "columns")
    Traceback (most recent call last):
    corate.errors.DataError: the label 'B\nX' cannot be written in the format 'columns'; use the format 'jsonl'...
    """
    pattern = re.compile(forbidden)
    for label in labels:
        if pattern.search(label):
            raise DataError(
                f"the label {label[:40]!r} cannot be written in the format {format!r}",
                f"use {Argument('format', 'jsonl', of_output=True)}, which can represent any label",
            )


def check_known(labels: Column, offsets: Offsets) -> None:
    """Raise DataError, with the place, if a label is unknown.

    >>> check_known(Column.of("label", ["X", None]), np.array([0, 2]))
    Traceback (most recent call last):
    corate.errors.DataError: sentence 0: the label of token 1 is unknown (None), which this format cannot represent; ...
    """
    if not labels.complete:
        sentence, token = first_token(labels.ids, offsets, -1)
        raise DataError(
            f"the label of token {token} is unknown (None), which this format cannot represent",
            f"use {Argument('format', 'jsonl', of_output=True)}, or fill in the labels",
            sentence=sentence,
        )


def has_values(column: Column, pattern: str) -> bool:
    """Whether a value of the column matches the pattern.

    >>> has_values(Column.of("word", ["New York"]), " ")
    True
    """
    return next(_matching(column, pattern), None) is not None


def _matching(column: Column, pattern: str) -> Iterator[str]:
    strings = column.strings.to_list()
    compiled = re.compile(pattern)
    return (strings[i] for i in np.unique(column.ids).tolist() if compiled.search(strings[i]))


def labels_to_write(corpus: Corpus, labels: Sequence[Sequence[str]] | None) -> Column | None:
    """The given labels, a list per sentence, as a column; else the labels of the corpus, or None."""
    if labels is None:
        return corpus.labels
    lengths = np.diff(corpus.offsets).tolist()
    if len(labels) != len(lengths):
        raise DataError(f"{counted(len(lengths), 'sentence')} to write, but labels for {len(labels)}")
    for s, (want, given) in enumerate(zip(lengths, labels, strict=True)):
        if isinstance(given, str) or len(given) != want:
            raise DataError(f"{counted(want, 'token')}, but the labels {list(given)[:20]!r}", sentence=s)
    return Column.of("label", chain.from_iterable(labels))


def words_to_write(corpus: Corpus) -> Column:
    """The words of a corpus. Raises DataError if it has none."""
    if corpus.word is None:
        raise DataError(
            "the corpus has no words to write",
            f"write ready-made features with {Argument('format', 'items', of_output=True)}",
        )
    return corpus.word


def sentences_of(corpus: Corpus, tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """The given texts of all tokens, sentence by sentence. Sentences without tokens are omitted.

    >>> list(sentences_of(Corpus.from_sentences([["a", "b"], [], ["c"]]), "abc"))
    ['ab', 'c']
    """
    return (tokens[a:b] for a, b in pairwise(corpus.offsets.tolist()) if a < b)


def rows_to_text(corpus: Corpus, rows: Sequence[str]) -> str:
    """The text of rows, with a blank line after each sentence."""
    return "".join("\n".join(sentence) + "\n\n" for sentence in sentences_of(corpus, rows))
