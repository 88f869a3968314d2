"""The words of a corpus on disk that are counted, if not all of them fit in memory.

Frequent words are counted, and a random sample of the others: the levels of a back-off learn from rare words how to
label unseen words. A word that is not counted is an unseen word for the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corate.corpus.stored_corpus import StoredCorpus
from corate.strings import StringTable
from corate.types import Ids

__all__ = ["CountedWords"]

#: The share of the counted words that are the most frequent ones. The rest is the random sample. On brown, with a half
#: to a thirtieth of the words counted, this was the best of 0.5, 0.75, 0.9 and 0.97 on held-out text.
FREQUENT_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class CountedWords:
    """The words that are counted, and other words of held-out sentences, which have no counts."""

    strings: StringTable  # the counted words, then the others
    counted: int  # the number of counted words
    places: Ids | None = None  # the index in ``strings`` of each word of the corpus, -1 if it has none; None: no change

    @classmethod
    def choose(cls, stored: StoredCorpus, most: int, held_out: NDArray[np.int64], seed: int) -> CountedWords:
        """At most so many words, in the order of the corpus. ``held_out`` are the numbers of held-out sentences."""
        column = stored.columns.index(stored.word)
        strings = stored.strings[column]
        if len(strings) <= most:
            return cls(strings, len(strings))
        counted = chosen_words(stored.token_counts(column), most, seed)
        others = np.setdiff1d(stored.take(held_out).column(stored.word).ids, counted)
        kept = np.concatenate([counted, others])
        places = np.full(len(strings), -1, np.int32)
        places[kept] = np.arange(len(kept), dtype=np.int32)
        return cls(strings.take(kept), len(counted), places)

    @property
    def left_out(self) -> int:
        """The number of words that are not counted."""
        return 0 if self.places is None else len(self.places) - self.counted

    def without_strings(self) -> CountedWords:
        """The same without the strings, which take memory, after the vocabulary has them."""
        return replace(self, strings=StringTable.intern([])[0])

    def ids(self, words: Ids) -> Ids:
        """The indices in ``strings`` of some words of the corpus, -1 for those that are not there."""
        return words if self.places is None else self.places[words]

    def counted_ids(self, words: Ids) -> Ids:
        """The indices of some words of the corpus, -1 for those that are not counted."""
        found = self.ids(words)
        return found if self.places is None else np.where(found < self.counted, found, -1).astype(np.int32)


def chosen_words(tokens: NDArray[np.int64], most: int, seed: int) -> NDArray[np.int64]:
    """The words to count, in ascending order, given the number of tokens of each word.

    >>> chosen_words(np.array([1, 9, 1, 1, 7, 1, 1, 5]), most=4, seed=0).tolist()
    [1, 4, 6, 7]
    """
    frequent = int(FREQUENT_SHARE * most)
    order = np.argsort(-tokens, kind="stable")
    sample = np.random.default_rng(seed).choice(order[frequent:], most - frequent, replace=False)
    return np.sort(np.concatenate([order[:frequent], sample]))
