"""A cheap search over a few settings: one at a time, up and down, as long as it clearly helps.

A change is kept only where the tokens it mends outnumber those it breaks by more than the square root of both together:
one standard error of a fair coin. Less than that is noise, and the default is better. Tokens may have weights, as their
sentences do: then sums of weights are compared, and the standard error is the root of the sum of their squares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["clearly_better", "climb"]

P = TypeVar("P")
Correct = NDArray[np.bool_]
Weights = NDArray[np.float32] | None


def clearly_better(new: Correct, old: Correct, errors: float = 1.0, weights: Weights = None) -> bool:
    """Whether the tokens won outweigh the tokens lost by more than chance would: by so many standard errors.

    >>> clearly_better(np.array([True, True, True]), np.array([False, False, True]))
    True
    >>> clearly_better(np.array([True, True, False]), np.array([False, False, True]))
    False
    >>> clearly_better(np.array([True]), np.array([False]), weights=np.zeros(1, np.float32))
    False
    """
    weight = np.ones(len(new)) if weights is None else weights.astype(np.float64)
    won, lost = weight[new & ~old], weight[old & ~new]
    return bool(won.sum() - lost.sum() > errors * np.sqrt((won**2).sum() + (lost**2).sum()))


def climb(
    judge: Callable[[P], Correct],
    start: P,
    steps: Mapping[str, float],
    progress: Callable[[float], None] = lambda done: None,
    weights: Weights = None,
) -> tuple[P, Correct]:
    """Multiply and divide one setting after another by its step; move while it is clearly better.

    ``judge`` says which held-out tokens are right under some settings, a frozen dataclass; ``weights`` are theirs.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float = 1.0
    >>> climb(lambda p: np.arange(50) >= 10 * abs(p.x - 4), Point(), {"x": 2.0})[0]
    Point(x=4.0)
    """
    best, right = start, judge(start)
    for index, (name, step) in enumerate(steps.items()):
        progress(index / len(steps))
        for factor in (step, 1.0 / step):
            moved = False
            while True:
                candidate = replace(best, **{name: getattr(best, name) * factor})  # type: ignore[type-var]
                now = judge(candidate)
                if not clearly_better(now, right, weights=weights):
                    break
                best, right, moved = candidate, now, True
            if moved:
                break
    return best, right
