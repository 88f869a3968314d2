"""L-BFGS, and OWL-QN for an L1 prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corate import _native
from corate.errors import DataError
from corate.optimize.line_search import LineSearch, Objective, Search
from corate.types import F64

__all__ = ["Minimum", "Objective", "Search", "Step", "lbfgs"]


@dataclass(frozen=True, eq=False)
class Step:
    """An iteration: the value and the weights after it, the norms of the gradient and of the weights.

    ``trials`` is the number of evaluations of the line search, and ``scale`` the length of the step as a multiple of
    the direction.
    """

    number: int
    value: float
    gradient_norm: float
    norm: float
    weights: F64
    trials: int
    scale: float


#: Takes an iteration. Returns whether to continue.
Progress = Callable[[Step], bool]


@dataclass(frozen=True, eq=False)
class Minimum:
    """The weights that were reached, and why the search stopped.

    ``gradient``: its norm is small. ``improvement``: the last iterations gained little. ``iterations``: the maximum
    was reached. ``search``: no step gains enough. ``progress``: it returned False.
    ``interrupted``: Ctrl-C.
    """

    weights: F64
    value: float
    stopped: Literal["gradient", "improvement", "iterations", "search", "progress", "interrupted"]


def lbfgs(
    objective: Objective,
    start: F64,
    *,
    c1: float = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-5,
    period: int = 10,
    epsilon: float = 0.0,
    memory: int = 6,
    search: Search = "interpolation",
    trials: int = 30,
    longest: float = 1.0,
    progress: Progress = lambda step: True,
) -> Minimum:
    """Minimise ``objective(x) + c1 |x|_1`` by L-BFGS, or by OWL-QN if ``c1 > 0`` (Andrew and Gao 2007).

    OWL-QN keeps each step within an orthant, and leaves many weights at zero: a weight that would change its sign
    becomes zero, and all weights move only down their slope. It always halves steps that are too long.

    The search stops if ``period`` iterations together gain less than ``tolerance`` of the value (never if the period is
    0), if the norm of the gradient is at most ``epsilon`` times that of the weights, or of 1 if it is larger, or if
    ``progress`` returns False. The first trial is a step of length 1, but at most ``longest`` times the gradient. On
    Ctrl-C it returns the current weights; before the end of the first iteration it raises KeyboardInterrupt.

    >>> def bowl(x):
    ...     return float(((x - [3.0, 0.5]) ** 2).sum() / 2), x - [3.0, 0.5]
    >>> found, sparse = lbfgs(bowl, np.zeros(2)), lbfgs(bowl, np.zeros(2), c1=1.0)
    >>> found.weights.round(6).tolist(), sparse.weights.round(6).tolist(), found.stopped
    ([3.0, 0.5], [2.0, 0.0], 'gradient')
    """
    x: F64 = np.array(start, dtype=np.float64)
    value, gradient = objective(x)
    value += c1 * float(np.abs(x).sum())
    curvature = _Curvature(len(x), memory)
    line = LineSearch(objective, c1, search, trials)
    step, change = np.empty_like(x), np.empty_like(x)
    past = [value]
    slope, norm, size = _slope(x, gradient, c1)
    try:
        while norm > max(_FLAT, epsilon * max(1.0, size)):
            if len(past) > period > 0 and past[-1 - period] - value < tolerance * abs(value):
                return Minimum(x, value, "improvement")
            if len(past) > iterations:
                return Minimum(x, value, "iterations")
            if len(past) > _IDLE and past[-1 - _IDLE] <= value:
                return Minimum(x, value, "search")
            direction = curvature.solve(slope)
            np.negative(direction, out=direction)
            if c1 > 0:
                direction[direction * slope >= 0] = 0.0
            found = line.find(x, value, slope, direction, 1.0 if curvature.pairs else min(longest, 1.0 / norm))
            if found is None:
                return Minimum(x, value, "search")
            moved, value, there = found
            np.subtract(moved, x, out=step)
            np.subtract(there, gradient, out=change)
            curvature.learn(step, change)
            x, gradient = moved, there
            past.append(value)
            slope, norm, size = _slope(x, gradient, c1)
            if not progress(Step(len(past) - 1, value, norm, size, x, line.made, line.scale)):
                return Minimum(x, value, "progress")
    except KeyboardInterrupt:
        if len(past) == 1:
            raise
        return Minimum(x, value, "interrupted")
    return Minimum(x, value, "gradient")


#: The search is over if this many iterations together gain nothing: the precision is exhausted.
_IDLE = 5
#: Products of a step and a change of the gradient below this have lost digits.
_UNDERFLOW = 1e-290
#: A gradient with at most this norm is zero.
_FLAT = 1e-12


def _slope(x: F64, gradient: F64, c1: float) -> tuple[F64, float, float]:
    """The gradient with that of the L1 prior, its norm, and the norm of the weights."""
    slope = gradient if c1 == 0 else _pseudo_gradient(x, gradient, c1)
    norm = math.sqrt(_native.dot(slope, slope))
    if not math.isfinite(norm):
        raise DataError("the gradient is not finite; scale the values of features and the weights of sentences")
    return slope, norm, math.sqrt(_native.dot(x, x))


def _pseudo_gradient(x: F64, gradient: F64, c1: float) -> F64:
    """The gradient of objective + c1 |x|_1. At x = 0, the one-sided slope that points down, or 0."""
    right, left = gradient + c1, gradient - c1
    at_zero = np.where(left > 0, left, np.where(right < 0, right, 0.0))
    return np.where(x > 0, right, np.where(x < 0, left, at_zero))


class _Curvature:
    """An estimate of the inverse Hessian from the last pairs of a step s and the change y of the gradient.

    The inner products of the pairs are stored, and the two loops of L-BFGS use them. So only two matrix products
    read the long vectors.
    """

    def __init__(self, size: int, memory: int) -> None:
        self.memory = memory
        self.vectors = np.zeros((2 * memory, size))  # s of pair i in row i, y in row i + memory
        self.inner = np.zeros((2 * memory, 2 * memory))
        self.pairs: list[int] = []  # rows of the pairs, oldest first
        self.fresh: list[int] = []  # rows whose inner products are not yet computed

    def learn(self, s: F64, y: F64) -> None:
        """Store a pair in place of the oldest. A pair without curvature, or whose products underflow, is ignored."""
        if _native.dot(s, y) <= max(1e-10 * _native.dot(y, y), _UNDERFLOW):
            return
        place = len(self.pairs) if len(self.pairs) < self.memory else self.pairs.pop(0)
        self.pairs.append(place)
        self.vectors[place], self.vectors[place + self.memory] = s, y
        self.fresh += [place, place + self.memory]

    def solve(self, v: F64) -> F64:
        """The inverse Hessian times a vector."""
        if not self.pairs:
            return np.array(v)
        m, inner = self.memory, self.inner
        # All products in one pass over the vectors, which do not fit into a cache.
        with_v, *with_fresh = _native.inner_products(self.vectors, v, self.fresh)
        for at, products in zip(self.fresh, with_fresh, strict=True):
            inner[at] = inner[:, at] = products
        self.fresh = []
        # The result is own * v plus the vectors weighted by `share`.
        own, share = 1.0, np.zeros(2 * m)
        first: dict[int, float] = {}
        for i in reversed(self.pairs):
            first[i] = (_native.dot(share, inner[i]) + own * with_v[i]) / inner[i, i + m]
            share[i + m] -= first[i]
        last = self.pairs[-1]
        scale = inner[last, last + m] / inner[last + m, last + m]
        own, share = own * scale, share * scale
        for i in self.pairs:
            second = (_native.dot(share, inner[i + m]) + own * with_v[i + m]) / inner[i, i + m]
            share[i] += first[i] - second
        return _native.combination(self.vectors, share, v, own)
