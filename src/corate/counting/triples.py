"""Label triples: three labels in a row that have a weight, in chains of the second order.

They are stored as rows. The first label y chooses the row; its entries are the `LabelPairs` of the two labels after
it. Sentences begin with two boundary symbols (label K) and end with one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate.counting.counts import Tokens
from corate.label_pairs import LabelPairs
from corate.rows import SparseRows, rows_of_keys

__all__ = ["relabelled", "seen_triples", "triple_counts", "triple_rows"]


def seen_triples(tokens: Tokens, n_labels: int, least: int = 1, *, boundaries: bool = True) -> SparseRows:
    """The triples seen at least ``least`` times, with scores of zero. Unknown labels are in no triple.

    >>> offsets, labels = np.array([0, 2]), np.array([0, 1], np.int32)
    >>> rows = seen_triples(Tokens(np.zeros((0, 2), np.int32), None, labels, offsets), 2)
    >>> rows.offsets.tolist(), rows.labels.tolist()  # 0 1 end; start 0 1, start start 0
    ([0, 1, 1, 3], [5, 1, 6])
    """
    keys, counts = triple_counts(tokens, n_labels, boundaries=boundaries)
    return triple_rows(keys[counts >= least], n_labels)


def triple_counts(
    tokens: Tokens, n_labels: int, *, boundaries: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The triples that are seen, as ascending numbers (see `LabelPairs`), and how often."""
    lengths = np.diff(tokens.offsets)
    lengths = lengths[lengths > 0]
    ends = np.cumsum(lengths + 3)
    padded = np.full(int(ends[-1]) if len(ends) else 0, n_labels, dtype=np.int64)
    last = np.ones(len(padded), dtype=bool)  # the tokens: not the two symbols before a sentence and the one after it
    last[ends - lengths - 3] = last[ends - lengths - 2] = last[ends - 1] = False
    padded[last] = tokens.labels
    last[ends - 1] = True
    place = np.flatnonzero(last)
    three = np.stack([padded[place - 2], padded[place - 1], padded[place]])
    kept = (three >= 0).all(axis=0)
    if not boundaries:
        kept &= (three < n_labels).all(axis=0)
    y, z, w = three[:, kept]
    pairs = LabelPairs(n_labels)
    keys, counts = np.unique(pairs.ids(pairs.ids(y, z), w), return_counts=True)
    return keys, counts.astype(np.int64)


def relabelled(rows: SparseRows, places: NDArray[np.int64], n_labels: int) -> SparseRows:
    """Triples with other label ids: label i (or the boundary) becomes ``places[i]``."""
    new = LabelPairs(n_labels)
    second, third = LabelPairs(len(places) - 1).split(rows.labels)
    keys = new.ids(new.ids(places[rows.owners], places[second]), places[third])
    order = np.argsort(keys, kind="stable")
    return replace(triple_rows(keys[order], n_labels), scores=rows.scores[order])


def triple_rows(keys: NDArray[np.int64], n_labels: int) -> SparseRows:
    """Ascending keys, as in `triple_counts`, as rows by the first label."""
    return SparseRows.zeros(rows_of_keys(keys, n_labels + 1, len(LabelPairs(n_labels))))
