"""Exchange clustering in plain Python: the oracle of native/clustering/exchange.cpp."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

#: The class of the sentence boundary, and of the words that have no class.
BOUNDARY, REST = -2, -1


def word_pairs(sentences: Sequence[Sequence[int]], boundary: int) -> Counter[tuple[int, int]]:
    """How often a word follows another; sentences without words have no pairs."""
    return Counter(pair for s in sentences if len(s) for pair in zip([boundary, *s], [*s, boundary], strict=True))


def objective(sentences: Sequence[Sequence[int]], classes: Sequence[int]) -> float:
    """The sum of N(g, h) log N(g, h) minus twice the sum of N(g) log N(g)."""
    named = [[classes[w] for w in s] for s in sentences]
    pairs = word_pairs(named, BOUNDARY)
    sizes = Counter(c for s in named for c in s)
    sizes[BOUNDARY] = sum(1 for s in sentences if len(s))
    return sum(map(_n_log_n, pairs.values())) - 2 * sum(map(_n_log_n, sizes.values()))


def objectives_of_moves(
    sentences: Sequence[Sequence[int]], classes: Sequence[int], word: int, n_classes: int
) -> list[float]:
    """The objective with the word in each of the classes."""
    return [objective(sentences, [*classes[:word], c, *classes[word + 1 :]]) for c in range(n_classes)]


def _n_log_n(n: int) -> float:
    return n * math.log(n) if n > 0 else 0.0
