"""Which values of variables attract or avoid each other, by how often they occur together.

    rate = (observed + smooth) / (expected + smooth),    expected = n(z) prod over the variables x of n(x, z) / n(z)

where z are the values of the given variables. Without smoothing this is the co-occurrence rate of the values.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from corate.types import F64

__all__ = ["ValueRate", "extreme_rates"]

#: Rates nearer to 1 are neither attractive nor repulsive.
_ONE = 1e-9


class ValueRate(NamedTuple):
    """The rate of a combination of values, which :meth:`Counts.rates` returns.

    Attributes:
        values: a value of each variable.
        given: a value of each variable that is conditioned on.
        observed: the number of rows with these values.
        expected: the number of such rows if the variables were independent.
        rate: the smoothed ratio of these numbers.
    """

    values: tuple[Hashable, ...]
    given: tuple[Hashable, ...]
    observed: float
    expected: float
    rate: float


def extreme_rates(
    counts: F64, states: Sequence[Sequence[Hashable]], variables: int, n: int, smooth: float
) -> tuple[list[ValueRate], list[ValueRate]]:
    """The ``n`` highest rates above 1 and the ``n`` lowest below 1, the more frequent or expected ones first if equal.

    ``counts`` has an axis for each of the ``states``; those after the first ``variables`` are given. Values that do not
    occur with a condition have no rate.
    """
    expected = _expected(counts, variables)
    cells = np.flatnonzero(expected > 0)
    rates = (counts.ravel()[cells] + smooth) / (expected.ravel()[cells] + smooth)
    found = []
    for chosen, sign in ((rates > 1 + _ONE, -1), (rates < 1 - _ONE, 1)):
        kept = np.flatnonzero(chosen)
        best = kept[np.lexsort((-expected.ravel()[cells[kept]], sign * rates[kept]))[:n]]
        listed = []
        for cell, rate in zip(cells[best].tolist(), rates[best].tolist(), strict=True):
            where = np.unravel_index(cell, counts.shape)
            names = tuple(of[int(i)] for of, i in zip(states, where, strict=True))
            numbers = float(counts[where]), float(expected[where])
            listed.append(ValueRate(names[:variables], names[variables:], *numbers, rate))
        found.append(listed)
    return found[0], found[1]


def _expected(counts: F64, variables: int) -> F64:
    """The expected number of rows for each combination, if the first variables are independent given the others."""
    axes = set(range(variables))
    total = counts.sum(axis=tuple(axes), keepdims=True)
    found = total
    for axis in axes:
        margin = counts.sum(axis=tuple(axes - {axis}), keepdims=True)
        found = found * np.divide(margin, total, out=np.zeros_like(margin), where=total > 0)
    return np.asarray(found, dtype=np.float64)
