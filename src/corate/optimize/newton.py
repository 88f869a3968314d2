"""Newton's method for convex functions of few variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corate import _native, portable_math
from corate.errors import DataError
from corate.types import F64

__all__ = ["newton"]

#: The most steps, and the least expected gain of a step, as a share of the value.
MOST_STEPS = 20
TOLERANCE = 1e-4


def newton(
    loss: Callable[[F64], tuple[float, F64, F64]],
    start: F64,
    ridge: float,
    progress: Callable[[float], None] = lambda done: None,
) -> F64:
    """The minimum of a convex function, which returns its value, gradient and Hessian.

    Step: x - scale * H^-1 g. The scale is halved until the step lowers the value. A Hessian that rounding leaves
    without a positive definite factor gets a larger diagonal, of at least ``ridge``.

    >>> def bowl(x):
    ...     return float(((x - 3.0) ** 2).sum() / 2), x - 3.0, np.eye(2)
    >>> newton(bowl, np.zeros(2), 1.0).tolist()
    [3.0, 3.0]
    """
    x = start
    value, gradient, hessian = loss(x)
    for step in range(MOST_STEPS):
        progress(step / MOST_STEPS)
        direction = _solution(hessian, gradient, ridge)
        expected = 0.5 * portable_math.dot(gradient, direction)
        if expected < TOLERANCE * max(1.0, abs(value)):
            break
        scale = 1.0
        while True:
            candidate = x - scale * direction
            reached = loss(candidate)
            if reached[0] <= value or scale < 1e-4:
                break
            scale /= 2
        x, (value, gradient, hessian) = candidate, reached
    return x


def _solution(hessian: F64, gradient: F64, ridge: float) -> F64:
    diagonal = np.diag_indices_from(hessian)
    while (found := _native.solve_positive_definite(hessian, gradient)) is None:
        if not np.isfinite(hessian).all():
            raise DataError("the curvature is not finite; scale the weights of sentences")
        hessian[diagonal] = 2.0 * np.maximum(hessian[diagonal], ridge)
    return found
