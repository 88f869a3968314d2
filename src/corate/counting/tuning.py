"""Coordinate search: change one setting at a time, up or down, as long as the held-out accuracy clearly rises.

Let a change fix w tokens and break l tokens. It is kept only if w - l > sqrt(w + l), one standard error of a fair coin.
A smaller gain may be noise, and the default is better. Tokens may have weights: then w and l are sums of weights, and
the standard error is the root of the sum of squared weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["clearly_better", "coordinate_search"]

P = TypeVar("P")
Correct = NDArray[np.bool_]
Weights = NDArray[np.float32] | None


def clearly_better(new: Correct, old: Correct, errors: float = 1.0, weights: Weights = None) -> bool:
    """Whether the tokens won outweigh the tokens lost by more than ``errors`` standard errors.

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


def coordinate_search(
    correct_tokens: Callable[[P], Correct],
    start: P,
    steps: Mapping[str, float],
    progress: Callable[[float], None] = lambda done: None,
    weights: Weights = None,
) -> tuple[P, Correct]:
    """Multiply or divide one setting after another by its step, as long as the result is clearly better.

    ``correct_tokens`` takes settings, a frozen dataclass, and returns which held-out tokens are correct with them.
    ``weights`` are the weights of these tokens.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float = 1.0
    >>> coordinate_search(lambda p: np.arange(50) >= 10 * abs(p.x - 4), Point(), {"x": 2.0})[0]
    Point(x=4.0)
    """
    best, correct = start, correct_tokens(start)
    for index, (name, step) in enumerate(steps.items()):
        progress(index / len(steps))
        for factor in (step, 1.0 / step):
            moved = False
            while True:
                candidate = replace(best, **{name: getattr(best, name) * factor})  # type: ignore[type-var]
                now = correct_tokens(candidate)
                if not clearly_better(now, correct, weights=weights):
                    break
                best, correct, moved = candidate, now, True
            if moved:
                break
    return best, correct
