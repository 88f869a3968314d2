"""Checks before training. Refused are: too many labels, and labels that look like words."""

from __future__ import annotations

import numpy as np

from corate.corpus import Column, Corpus
from corate.errors import Argument, DataError

__all__ = ["check_label_number", "refuse_too_many_labels"]

#: The most labels of all methods except empirical, and the most labels times words of empirical.
MOST_LABELS = 10_000
MOST_WORD_LABELS = 1_000_000_000
#: More than FEWEST_DOUBTED labels look like a wrong column if they exceed DOUBTED_SHARE of the distinct words, and have
#: fewer than DOUBTED_TOKENS tokens each. On treebanks of four languages, from 300 to 25,000 tokens: part-of-speech tags
#: with all their features stay below 0.5 of the words (0.35 if there are 200 or more), and with rules for lemmas below
#: 0.63. If lemmas are read as labels, they are 0.57 to 0.9 of the words. If words are read as labels, there are many
#: times more labels than values in the word column, with 2 to 20 tokens each.
FEWEST_DOUBTED = 200
DOUBTED_SHARE = 2 / 3
DOUBTED_TOKENS = 50


def refuse_too_many_labels(corpus: Corpus, method: str, many_labels: bool) -> None:
    """Raise DataError if there are too many labels for tables of label pairs, or if labels look like words."""
    column = corpus.require_labels()
    if len(column.strings) <= FEWEST_DOUBTED:
        return
    attributes = [] if corpus.attributes is None else [len(corpus.attributes.names)]
    values = max([*map(_used, corpus.columns), *attributes], default=0)
    words = 0 if corpus.word is None else _used(corpus.word)
    check_label_number(_used(column), words, values, corpus.n_tokens, method, many_labels)


def check_label_number(labels: int, words: int, values: int, tokens: int, method: str, many_labels: bool) -> None:
    """Raise DataError if there are too many labels, given the number of distinct words, of values of the column that
    has most, and of tokens.
    """
    if method != "empirical" and labels > MOST_LABELS:
        raise DataError(
            f"{labels:,} labels are more than the {MOST_LABELS:,} that this method takes",
            f"name the columns with {Argument('columns')} if another one contains the labels, or "
            "use the method 'empirical'",
        )
    if method == "empirical" and labels * words > MOST_WORD_LABELS:
        raise DataError(
            f"{labels:,} labels times {words:,} words are more than the {MOST_WORD_LABELS:,} that this method takes",
            f"name the columns with {Argument('columns')} if another one contains the labels, or train on less text",
        )
    doubted = labels > max(FEWEST_DOUBTED, DOUBTED_SHARE * values) and tokens < DOUBTED_TOKENS * labels
    if doubted and not many_labels:
        raise DataError(
            f"{labels:,} labels in {tokens:,} tokens (distinct words: {values:,})",
            f"is the label column right? Name the columns with {Argument('columns')}, or train on "
            f"these labels with {Argument('many_labels', True)}",
        )


def _used(column: Column) -> int:
    """The number of a column's strings that occur."""
    return int(np.count_nonzero(np.bincount(column.ids)))
