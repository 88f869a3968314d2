"""Functions of numbers with the same bits on every processor.

NumPy and the C library choose their code by the processor, and results differ in the last place. So does the order of
additions in products of matrices. What a model stores is computed without these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from corate import _native
from corate.types import F64

__all__ = ["dot", "exp", "log", "log1p"]


def exp(x: ArrayLike) -> F64:
    """e to the power of each number, at most 709; 0 below -708.

    >>> exp([0.0, -1.0]).round(6).tolist(), round(float(exp(1.0)), 12)
    ([1.0, 0.367879], 2.718281828459)
    """
    return _each(_native.exp, x)


def log(x: ArrayLike) -> F64:
    """The natural logarithm of each number, -inf for 0.

    >>> log([[1.0, 0.0]]).tolist(), float(log(2))
    ([[0.0, -inf]], 0.6931471805599453)
    """
    return _each(_native.log, x)


def log1p(x: ArrayLike) -> F64:
    """The natural logarithm of 1 plus each number.

    >>> log1p([0.0, 1e-20]).tolist()
    [0.0, 1e-20]
    """
    return _each(_native.log1p, x)


def dot(a: ArrayLike, b: ArrayLike) -> float:
    """The inner product of two vectors.

    >>> dot([1, 2], [3, 4])
    11.0
    """
    return _native.dot(np.ascontiguousarray(a, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64))


def _each(function: Callable[[F64], F64], x: ArrayLike) -> F64:
    numbers = np.asarray(x, dtype=np.float64, order="C")
    return function(numbers.reshape(-1)).reshape(numbers.shape)
