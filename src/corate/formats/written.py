"""What every writer needs: the labels to write, and a check that a format can hold the values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np

from corate.corpus import Column, Corpus
from corate.errors import DataError

__all__ = ["check_values", "labels_to_write"]


def check_values(column: Column, forbidden: str, place: str) -> None:
    """Raise if a value that the column uses matches the pattern: it would read back as something else.

    >>> check_values(Column.of("word", ["New York"]), " ", "column")
    Traceback (most recent call last):
    corate.errors.DataError: column 'word': the value 'New York' cannot be written in this format; ...
    """
    pattern = re.compile(forbidden)
    strings = column.strings.to_list()
    for i in np.unique(column.ids).tolist():
        if pattern.search(strings[i]):
            raise DataError(
                f"{place} {column.name!r}: the value {strings[i][:40]!r} cannot be written in this format; it would "
                f"read back as something else (format='jsonl' holds any value)"
            )


def labels_to_write(corpus: Corpus, labels: Sequence[Sequence[str]] | None) -> Column | None:
    """The labels given, a list per sentence, as a column; else those of the corpus; else None."""
    if labels is None:
        return corpus.labels
    lengths = np.diff(corpus.offsets).tolist()
    if len(labels) != len(lengths):
        raise DataError(f"{len(lengths)} sentences to write, but labels for {len(labels)}")
    for s, (want, given) in enumerate(zip(lengths, labels, strict=True)):
        if isinstance(given, str) or len(given) != want:
            raise DataError(f"sentence {s}: {want} tokens, but the labels {list(given)[:20]!r}")
    return Column.of("label", chain.from_iterable(labels))
