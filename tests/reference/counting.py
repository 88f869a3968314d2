"""Counting with dictionaries: the oracle of native/counting/counting.cpp."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Context = TypeVar("Context", bound=Hashable)
Label = TypeVar("Label", bound=Hashable)


def label_counts(contexts: Iterable[Context | None], labels: Iterable[Label]) -> Counter[tuple[Context, Label]]:
    """How often each label was seen in each context; None means no context."""
    return Counter((c, y) for c, y in zip(contexts, labels, strict=True) if c is not None)


def pair_counts(sentences: Iterable[Sequence[str]], boundary: str) -> Counter[tuple[str, str]]:
    """How often each label followed each label, with the boundary around every sentence that has tokens."""
    pairs: Counter[tuple[str, str]] = Counter()
    for labels in sentences:
        around = [boundary, *labels, boundary] if labels else []
        pairs.update(itertools.pairwise(around))
    return pairs
