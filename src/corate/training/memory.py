"""Estimates of the memory that training needs if tokens are on disk, and errors for limits that are too low."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.features.vocabulary import Vocabulary
from corate.training.start_from_counts import StartFromCounts

__all__ = ["check_corpus_fits", "check_vocabulary_fits", "check_weights_fit"]

#: The program, and two pieces of the corpus.
FIXED_BYTES = 400_000_000
#: Of each token of a corpus that is trained in memory.
TOKEN_BYTES = 700
#: Of each feature: offsets, totals, and the share of the prior in a visit.
FEATURE_BYTES = 50
#: Of each counted pair of a feature and a label.
PAIR_BYTES = 20
#: Of each weight: with its state, its average, and what undoes a pass.
WEIGHT_BYTES = 44


def check_corpus_fits(tokens: int, memory: int) -> None:
    """Raise DataError if a corpus that is trained in memory needs more memory."""
    needed = FIXED_BYTES // 2 + TOKEN_BYTES * tokens
    if needed > memory:
        raise DataError(f"{tokens:,} tokens need {_shown(needed)} of memory, {_limit(memory)}; give more memory")


def check_vocabulary_fits(vocabulary: Vocabulary, tokens: int, of: int, memory: int) -> None:
    """Raise DataError if the vocabulary of the first tokens needs more memory."""
    needed = FIXED_BYTES // 2 + vocabulary.map.bytes()
    if needed > memory:
        raise DataError(
            f"after {tokens:,} of {of:,} tokens, the vocabulary needs {_shown(needed)} of memory, {_limit(memory)}; "
            "give more memory, or fewer templates as features"
        )


def check_weights_fit(start: StartFromCounts, edge_weights: int, cutoff: int, memory: int) -> None:
    """Raise DataError if the vocabulary, the counts and the weights need more memory; it says which cutoff would fit.

    ``cutoff`` is that of this run: features seen less often have no weights.
    """
    lengths = np.diff(start.counts.table.offsets)
    fixed = FIXED_BYTES + start.vocabulary.map.bytes() * (2 if start.given else 1)
    fixed += FEATURE_BYTES * len(lengths) + PAIR_BYTES * len(start.counts.table.labels) + WEIGHT_BYTES * edge_weights
    of_weights = WEIGHT_BYTES * len(start.slots.labels) // max(1, len(start.counts.table.labels))
    needed = fixed + of_weights * _kept(start.totals, lengths, cutoff)
    if needed <= memory:
        return
    message = f"the vocabulary, the counts and the weights need {_shown(needed)} of memory, {_limit(memory)}; "
    fitting = _smallest_cutoff(start.totals, lengths, (memory - fixed) // of_weights)
    if fitting is None:
        raise DataError(f"{message}give more memory, or fewer templates as features")
    raise DataError(f"{message}give more memory, or a cutoff of at least {fitting}")


def _kept(totals: NDArray[np.int64], lengths: NDArray[np.int64], cutoff: int) -> int:
    """The number of weights of features seen at least ``cutoff`` times."""
    return int(lengths[totals >= cutoff].sum())


def _smallest_cutoff(totals: NDArray[np.int64], lengths: NDArray[np.int64], most: int) -> int | None:
    """The smallest cutoff that leaves at most so many weights; None if no weights fit.

    >>> _smallest_cutoff(np.array([1, 5, 2, 2]), np.array([1, 3, 1, 2]), most=4)
    3
    """
    if most < 0:
        return None
    order = np.argsort(-totals)
    fit = int(np.searchsorted(np.cumsum(lengths[order]), most, side="right"))  # so many of the most frequent features
    return int(totals[order[fit]]) + 1 if fit < len(order) else 1


def _shown(count: int) -> str:
    return f"{count:,} bytes ({count / 1e9:.2f} GB)"


def _limit(memory: int) -> str:
    return f"more than the limit of {memory:,}"
