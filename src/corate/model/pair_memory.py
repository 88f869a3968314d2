"""The memory that probabilities need for the scores of label pairs, which grows with the square of the candidates."""

from __future__ import annotations

import numpy as np

from corate.errors import ModelError
from corate.memory import free_memory, shown_memory
from corate.types import Offsets

__all__ = ["check_pair_memory"]

#: The most memory for the label pairs of two neighbouring tokens, and the least for which free memory is looked at.
MOST_BYTES, FEW_BYTES = 500_000_000, 50_000_000
#: Of each pair: its score.
PAIR_BYTES = 4


def check_pair_memory(sentences: Offsets, offsets: Offsets, threads: int = 1) -> None:
    """Raise ModelError if answers about label pairs need more than `MOST_BYTES`, or more than the memory that is free.

    The sentences are offsets of tokens, and ``offsets`` are those of candidates. Each thread has the pairs of two
    neighbouring tokens of a sentence.

    >>> check_pair_memory(np.array([0, 2]), np.array([0, 15_000, 30_000]))
    Traceback (most recent call last):
    corate.errors.ModelError: with 15,000 candidate labels for a token, probabilities need about 900 MB of memory...
    """
    widths = np.diff(offsets).astype(np.int64)
    if len(widths) == 0 or PAIR_BYTES * threads * int(widths.max()) ** 2 <= FEW_BYTES:
        return
    pairs = widths[:-1] * widths[1:]
    firsts = sentences[(sentences > 0) & (sentences < len(widths))]
    pairs[firsts - 1] = 0  # of the last token of a sentence and the first of the next
    most = int(pairs.max(initial=0))
    need = PAIR_BYTES * most * min(threads, len(sentences) - 1)
    limit = min(MOST_BYTES, free_memory() or MOST_BYTES)
    if need > limit:
        raise ModelError(
            f"with {int(widths.max()):,} candidate labels for a token, probabilities need about {shown_memory(need)} "
            f"of memory for the label pairs of two tokens, more than {shown_memory(limit)}; ask for the best labels "
            "only, use fewer threads, or train with fewer labels or without all_labels"
        )
