"""Helper functions, by the names that sklearn-crfsuite has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

__all__ = ["flatten"]

Item = TypeVar("Item")


def flatten(y: Iterable[Iterable[Item]]) -> list[Item]:
    """The items of all sequences in one list.

    >>> flatten([["A", "B"], ["C"]])
    ['A', 'B', 'C']
    """
    return list(chain.from_iterable(y))
