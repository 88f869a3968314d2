"""Counts of label pairs by pairs of words: empirical training with pair probabilities that depend on the words.

    n(x, x', y, y') = how often the word x with the label y stood before x' with y'

A boundary symbol surrounds each sentence; its label is K. The counts of two corpora can be added. The probabilities are
derived from the counts in ``native/counting/word_pairs.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.label_pairs import LabelPairs
from corate.rows import owners_of
from corate.types import Ids, Offsets

__all__ = ["WordPairCounts"]

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordPairCounts:
    """Sparse counts of label pairs by pairs of words, sorted by both words.

    ``first`` and ``second`` are (P,) ids of words plus 1, or 0 for the boundary. Pair i of words has the label pairs
    ``labels``, as ``y * (K + 1) + y'`` and ascending, and their ``counts``, from ``offsets[i]`` to ``offsets[i + 1]``.
    """

    first: Ids
    second: Ids
    offsets: Offsets
    labels: Ids
    counts: Int64

    @classmethod
    def of(cls, words: Ids, labels: Ids, sentences: Offsets, n_labels: int) -> WordPairCounts:
        """Count tokens, given as the ids of their words and labels.

        >>> words, labels = np.array([0, 1, 1], np.int32), np.array([0, 1, 0], np.int32)
        >>> pairs = WordPairCounts.of(words, labels, np.array([0, 2, 3]), 2)
        >>> list(zip(pairs.first.tolist(), pairs.second.tolist())), pairs.labels.tolist()
        ([(0, 1), (0, 2), (1, 2), (2, 0)], [6, 6, 1, 2, 5])
        """
        starts = sentences[:-1][np.diff(sentences) > 0]
        # One boundary stands before each sentence, and one after the last. It ends a sentence and starts the next.
        sides = np.append(np.insert(words.astype(np.int64) + 1, starts, 0), 0)
        ends = np.append(np.insert(labels.astype(np.int64), starts, n_labels), n_labels)
        pairs = LabelPairs(n_labels).ids(ends[:-1], ends[1:])
        return cls._summed(sides[:-1], sides[1:], pairs, np.ones(len(pairs), np.int64))

    @classmethod
    def _summed(cls, first: Int64, second: Int64, pairs: Int64, counts: Int64) -> WordPairCounts:
        """Add the counts of entries that have the same words and labels."""
        order = np.lexsort((pairs, second, first))
        first, second, pairs = first[order], second[order], pairs[order]
        new_row = np.ones(len(order), bool)
        new_row[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        new = new_row.copy()
        new[1:] |= pairs[1:] != pairs[:-1]
        entries, rows = np.flatnonzero(new), np.flatnonzero(new_row)
        offsets = np.append(np.searchsorted(entries, rows), len(entries)).astype(np.int64)
        sums = np.add.reduceat(counts[order], entries)
        return cls(
            first[rows].astype(np.int32), second[rows].astype(np.int32), offsets, pairs[entries].astype(np.int32), sums
        )

    def merged(self, n_labels: int, other: WordPairCounts, words: Ids, labels: Ids, n_merged: int) -> WordPairCounts:
        """The counts of both corpora together, with ``n_merged`` labels; here, there are ``n_labels``.

        ``words`` and ``labels`` are the new ids of those of the other corpus. Those of ``self`` keep their ids.
        """
        mine = self._entries(np.arange(int(self._largest_word()) + 1), np.append(np.arange(n_labels), n_merged))
        theirs = other._entries(np.append(0, words.astype(np.int64) + 1), np.append(labels, n_merged))
        return self._summed(*(np.concatenate(both) for both in zip(mine, theirs, strict=True)))

    def _largest_word(self) -> int:
        return int(max(self.first.max(initial=0), self.second.max(initial=0)))

    def _entries(self, words: Int64, labels: NDArray[np.integer]) -> tuple[Int64, Int64, Int64, Int64]:
        """The words, label pair and count of each entry, with new ids of words (plus 1) and labels. K is the last."""
        rows = owners_of(self.offsets)
        y, z = LabelPairs(len(labels) - 1).split(self.labels)
        pairs = LabelPairs(int(labels[-1])).ids(labels[y], labels[z])
        return words[self.first[rows]], words[self.second[rows]], pairs, self.counts

    def native(self, class_of: Ids, n_labels: int) -> _native.WordPairs:
        """The probabilities of the label pairs; ``class_of`` has the class of each word, -1 if it has none.

        Raises ValueError if the arrays do not fit together.
        """
        return _native.WordPairs(self.first, self.second, (self.offsets, self.labels, self.counts), class_of, n_labels)
