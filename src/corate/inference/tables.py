"""Tables over variables with numbers: an axis for each variable of a scope, in its order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from corate.types import F64

__all__ = ["flat", "margin", "ratio", "split", "spread"]


def margin(table: F64, scope: Sequence[int], part: Sequence[int]) -> F64:
    """A table summed over the variables that ``part`` does not have, with its axes in the order of ``part``.

    >>> margin(np.array([[1.0, 2.0], [3.0, 4.0]]), (5, 7), (7,)).tolist()
    [4.0, 6.0]
    """
    left = [v for v in scope if v in part]
    summed = table.sum(axis=tuple(k for k, v in enumerate(scope) if v not in part))
    return np.asarray(summed.transpose([left.index(v) for v in part]))


def spread(table: F64, scope: Sequence[int], whole: Sequence[int]) -> F64:
    """A table with an axis for each variable of ``whole``, of length 1 where the table does not have the variable.

    >>> spread(np.ones((2, 3)), (7, 5), (5, 6, 7)).shape
    (3, 1, 2)
    """
    sizes = dict(zip(scope, table.shape, strict=True))
    ordered = table.transpose([scope.index(v) for v in whole if v in sizes])
    return np.asarray(ordered.reshape([sizes.get(v, 1) for v in whole]))


def ratio(above: F64, below: F64) -> F64:
    """The ratio of two tables; 0 / 0 is 0, so that an impossible cell stays so."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def flat(tables: Iterable[F64]) -> F64:
    """The numbers of some tables, one table after the other."""
    return np.concatenate([np.zeros(0), *(np.asarray(table, dtype=np.float64).reshape(-1) for table in tables)])


def split(numbers: F64, scopes: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[F64]:
    """The tables of some scopes from their numbers, one table after the other; views, not copies."""
    shapes = [[sizes[v] for v in scope] for scope in scopes]
    ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    return [numbers[a:b].reshape(shape) for a, b, shape in zip(ends, ends[1:], shapes, strict=False)]
