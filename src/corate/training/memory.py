"""Estimates of the memory that training needs if tokens are on disk, and errors for limits that are too low.

The numbers of bytes were measured on brown, repeated up to ten million tokens. Estimates are those of the peak, within
about a tenth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.features.vocabulary import Vocabulary
from corate.optimize import pieces
from corate.training.start_from_counts import InitialScoresFromCounts

__all__ = [
    "check_corpus_fits",
    "check_counting_fits",
    "check_node_weights_fit",
    "check_vocabulary_fits",
    "check_weights_fit",
]

#: The program and its libraries.
PROGRAM_BYTES = 200_000_000
#: Of each token of a corpus that is trained in memory.
TOKEN_BYTES = 400
#: Of each token while a template is counted: its feature and its label, and both sorted.
COUNTED_TOKEN_BYTES = 20
#: Of each token of the pieces in memory, and for each of its features. There are two pieces, and a part of a third.
ITEM_BYTES, ITEM_FEATURE_BYTES, PIECES = 130, 4, 3
#: Of each feature: offsets, totals, and the share of the prior in a visit.
FEATURE_BYTES = 70
#: Of each counted pair of a feature and a label.
PAIR_BYTES = 20
#: Of each weight: with its state, its average, and what undoes a pass. Separate training has no averages, and undoes
#: nothing.
WEIGHT_BYTES, NODE_WEIGHT_BYTES = 48, 24
#: Of each candidate of a token in separate training, if all labels are candidates: its label and its score.
CANDIDATE_BYTES = 8


def check_corpus_fits(tokens: int, memory: int) -> None:
    """Raise DataError if a corpus that is trained in memory needs more memory."""
    _check(f"{tokens:,} token{'s need' if tokens != 1 else ' needs'}", PROGRAM_BYTES + TOKEN_BYTES * tokens, memory)


def check_counting_fits(tokens: int, memory: int) -> None:
    """Raise DataError if counting a corpus on disk needs more memory, whatever its vocabulary is."""
    _check(f"counting {tokens:,} tokens needs", PROGRAM_BYTES + COUNTED_TOKEN_BYTES * tokens, memory)


def check_vocabulary_fits(vocabulary: Vocabulary, tokens: int, of: int, memory: int) -> None:
    """Raise DataError if the vocabulary of the first tokens needs more memory."""
    what = f"after {tokens:,} of {of:,} tokens, the vocabulary needs"
    _check(what, PROGRAM_BYTES + vocabulary.map.bytes(), memory, "give more memory, or fewer templates as features")


def _check(what: str, needed: int, memory: int, advice: str = "give more memory") -> None:
    if needed > memory:
        raise DataError(f"{what} {needed:,} bytes ({needed / 1e9:.2f} GB), more than the limit of {memory:,}; {advice}")


def check_weights_fit(start: InitialScoresFromCounts, edge_weights: int, cutoff: int, memory: int) -> None:
    """Raise DataError if training on whole sentences needs more memory; it says which cutoff would fit.

    ``cutoff`` is that of this run: features seen less often have no weights.
    """
    others = PIECES * pieces.PIECE_TOKENS * _item_bytes(start) + WEIGHT_BYTES * edge_weights
    _check_weights(start, others, WEIGHT_BYTES, cutoff, memory)


def check_node_weights_fit(start: InitialScoresFromCounts, sample_tokens: int, cutoff: int, memory: int) -> None:
    """Like `check_weights_fit`, for separate training, whose pieces are halves, and which has a sample in memory."""
    item = _item_bytes(start) + (CANDIDATE_BYTES * start.n_labels if start.full else 0)
    tokens = PIECES * pieces.PIECE_TOKENS // 2 + sample_tokens
    _check_weights(start, tokens * item, NODE_WEIGHT_BYTES, cutoff, memory)


def _item_bytes(start: InitialScoresFromCounts) -> int:
    return ITEM_BYTES + ITEM_FEATURE_BYTES * len(start.vocabulary.templates)


def _check_weights(start: InitialScoresFromCounts, others: int, weight: int, cutoff: int, memory: int) -> None:
    """``weight`` is the memory of a weight, ``others`` that of items and other weights."""
    table = start.counts.table
    lengths = table.lengths
    fixed = PROGRAM_BYTES + others
    fixed += start.vocabulary.map.bytes() * (2 if start.counted.given else 1)  # held-out words are added to a copy
    fixed += FEATURE_BYTES * len(lengths) + PAIR_BYTES * len(table.labels)
    each = weight * len(start.slots.labels) // max(1, len(table.labels))  # parts of labels have weights, too
    needed = fixed + each * int(lengths[start.totals >= cutoff].sum())
    if needed <= memory:
        return
    fitting = _smallest_cutoff(start.totals, lengths, (memory - fixed) // each)
    other = "fewer templates as features" if fitting is None else f"a cutoff of at least {fitting}"
    _check("the vocabulary, the counts and the weights need", needed, memory, f"give more memory, or {other}")


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
