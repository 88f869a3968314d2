"""The choice between full and pruned lattices, from the estimated cost of a token in a pass.

    full     TOKEN + K^2             all K labels are candidates everywhere; order 1
             TOKEN + K^3             if order 2 is asked for, and K exceeds MOST_TRIPLE_LABELS
    pruned   TOKEN + TRIPLE c^3      a token has c candidates on average; order 2

The unit is the cost of a label pair in a full lattice. TOKEN is the cost of the features of a token. c is estimated
from the counts of words: see :func:`mean_candidates`.

Labels that do not recur with a word count little: typing errors in a few labels should not change the lattice, and so
the accuracy of all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corate.counting.backoff import BackoffParameters
from corate.counting.counts import Table

__all__ = ["MOST_TRIPLE_LABELS", "SUPPORT", "LatticeCosts", "mean_candidates", "recurring_labels"]

#: The cost of the features of a token, and of a label triple in a pruned lattice, in label pairs of a full lattice.
#: Both were fitted to training times on masc and brown, with rare labels merged until 24 to 60 were left.
TOKEN, TRIPLE = 700.0, 2.0
#: A full lattice may cost this many times as much as a pruned one. It can have pooled base scores, which are better
#: than those of the back-off if labels are few: ned F1 76.4 against 74.9, Finnish parts of speech 90.2 against 89.5.
FULL_MAY_COST = 1.25
#: The same with labels that do not recur.
FULL_MAY_COST_IN_ALL = 2.5
#: Order 2 on a full lattice takes at most this many labels: the cost grows with their cube.
MOST_TRIPLE_LABELS = 32
#: A label is a candidate in a pruned lattice if its probability is at least this share of that of the best label. A
#: word has at most this many candidates, apart from the labels that it was seen with.
SUPPORT: dict[str, float] = {"threshold": 1e-4, "cap": 12}


@dataclass(frozen=True)
class LatticeCosts:
    """The estimated cost of a token in a pass, with a full lattice and with a pruned lattice.

    >>> LatticeCosts(full=700 + 20**2, pruned=700 + 2 * 5**3).choose_full
    True
    >>> LatticeCosts(full=700 + 60**2, pruned=700 + 2 * 5**3).choose_full
    False
    """

    full: float
    pruned: float
    recurring: float | None = None  # of a full lattice of the labels that recur with a word; None: as ``full``

    @classmethod
    def of_words(cls, words: Table, n_labels: int, order: int | None = None) -> LatticeCosts:
        """The costs of a corpus, from the counts of labels by word. ``order`` is the one that is asked for, if any."""
        power = 3 if order == 2 and n_labels > MOST_TRIPLE_LABELS else 2
        pruned = TOKEN + TRIPLE * mean_candidates(words, n_labels) ** 3
        return cls(TOKEN + n_labels**power, pruned, TOKEN + recurring_labels(words) ** power)

    @property
    def choose_full(self) -> bool:
        """Whether all labels are candidates everywhere, because that does not cost much more."""
        recurring = self.full if self.recurring is None else self.recurring
        return recurring <= FULL_MAY_COST * self.pruned and self.full <= FULL_MAY_COST_IN_ALL * self.pruned

    def recorded(self) -> dict[str, int]:
        """The costs that a model records."""
        return {"full": round(self.full), "pruned": round(self.pruned)}


def recurring_labels(words: Table) -> int:
    """The number of labels that some word has twice, and no other label more often.

    >>> recurring_labels(Table(np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([5, 2, 1])))
    1
    """
    best = np.zeros(len(words), words.counts.dtype)
    np.maximum.at(best, words.owners, words.counts)
    usual = (words.counts > 1) & (words.counts == best[words.owners])
    return len(np.unique(words.labels[usual]))


def mean_candidates(words: Table, n_labels: int) -> float:
    """The estimated mean number of candidates of a token in a pruned lattice, from the counts of labels by word.

    A token is left out of the counts of its word, w. The candidates are the labels seen with the word, or the labels
    that are likely enough by a back-off of one level, r, the mean of rare words; those of the two that are more:

        P(y | w) = (n(w, y) + k P(y | r)) / (n(w) + k)

    >>> frequent = Table(np.array([0, 1, 2]), np.array([0, 1]), np.array([10**6, 10**6]))
    >>> mean_candidates(frequent, 2)
    1.0
    """
    backoff = BackoffParameters()
    totals = words.totals()
    own = words.counts / totals[words.owners]
    rare = totals[words.owners] <= backoff.rare
    sums = np.bincount(words.labels[rare], own[rare], minlength=n_labels)
    likely = -np.sort(-sums) / max(float(sums.sum()), 1.0)
    others = np.maximum(totals - 1, 0)
    best = np.zeros(len(totals))
    np.maximum.at(best, words.owners, own)
    best = np.where(others > 0, best, likely.max(initial=0.0))
    least = SUPPORT["threshold"] * best * (others + backoff.word_k) / backoff.word_k
    backed_off = np.minimum(np.searchsorted(-likely, -least, side="right"), SUPPORT["cap"])
    candidates = np.maximum(backed_off, np.where(others > 0, words.lengths, 1))
    return float(np.average(candidates, weights=totals)) if totals.sum() else 1.0
