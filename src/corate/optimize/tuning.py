"""Coordinate search: change one setting at a time, up or down, as long as the held-out accuracy clearly rises.

Let a change fix w tokens and break l tokens. It is kept only if w - l > sqrt(w + l), one standard error of a fair coin.
A smaller gain may be noise, and the default is better. Tokens may have weights: then w and l are sums of weights, and
the standard error is the root of the sum of squared weights.

If labels mark spans, F1 decides instead, and the results are counts of each sentence s: correct tokens, tokens, n(s) =
2 * correct spans, d(s) = gold + predicted spans. F1 is sum n / sum d. Let f be the old F1. A change is kept only if

    sum_s c(s) > sqrt(sum_s c(s)^2),    c(s) = n'(s) - f d'(s) - (n(s) - f d(s)),

which is the same rule: sum_s c(s) is above 0 if and only if F1 rises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Results", "accuracy_of", "clearly_better", "coordinate_search", "f1_of", "score_of"]

P = TypeVar("P")
#: Held-out results: ``(tokens,)`` which tokens are correct or, if labels mark spans, ``(sentences, 4)`` counts.
Results = NDArray[np.bool_] | NDArray[np.float64]
Weights = NDArray[np.float32] | None


def accuracy_of(results: Results) -> float:
    """The share of correct tokens.

    >>> accuracy_of(np.array([True, False])), accuracy_of(np.array([[3.0, 4.0, 2.0, 2.0], [1.0, 4.0, 0.0, 1.0]]))
    (0.5, 0.5)
    """
    if results.ndim == 1:
        return float(results.mean())
    return float(results[:, 0].sum() / max(results[:, 1].sum(), 1e-300))


def f1_of(results: Results) -> float | None:
    """F1 of the spans, None if the results are those of tokens. Without any spans it is 0."""
    if results.ndim == 1:
        return None
    return float(results[:, 2].sum() / max(results[:, 3].sum(), 1e-300))


def score_of(results: Results) -> float:
    """What decides: F1 if labels mark spans, else accuracy."""
    f1 = f1_of(results)
    return accuracy_of(results) if f1 is None else f1


def clearly_better(new: Results, old: Results, errors: float = 1.0, weights: Weights = None) -> bool:
    """Whether the tokens (or spans) won outweigh those lost by more than ``errors`` standard errors.

    >>> clearly_better(np.array([True, True, True]), np.array([False, False, True]))
    True
    >>> clearly_better(np.array([True, True, False]), np.array([False, False, True]))
    False
    >>> clearly_better(np.array([True]), np.array([False]), weights=np.zeros(1, np.float32))
    False
    >>> old, new = np.array([[1.0, 2.0, 0.0, 2.0]] * 9), np.array([[1.0, 2.0, 2.0, 2.0]] * 9)
    >>> clearly_better(new, old), clearly_better(old, new)
    (True, False)
    """
    if new.ndim == 2:
        gained = new - old
        change = gained[:, 2] - score_of(old) * gained[:, 3]
        return bool(change.sum() > errors * np.sqrt((change**2).sum()))
    weight = np.ones(len(new)) if weights is None else weights.astype(np.float64)
    right, before = np.asarray(new, dtype=bool), np.asarray(old, dtype=bool)
    won, lost = weight[right & ~before], weight[before & ~right]
    return bool(won.sum() - lost.sum() > errors * np.sqrt((won**2).sum() + (lost**2).sum()))


def coordinate_search(
    correct_tokens: Callable[[P], Results],
    start: P,
    steps: Mapping[str, float],
    progress: Callable[[float], None] = lambda done: None,
    weights: Weights = None,
    change: Callable[..., P] = replace,
) -> tuple[P, Results]:
    """Multiply or divide one setting after another by its step, as long as the result is clearly better.

    ``correct_tokens`` takes settings, and returns which held-out tokens are correct with them, or the counts of
    sentences. ``weights`` are the weights of these tokens; counts are weighted already. ``change`` returns settings
    with other values; settings are a frozen dataclass if it is not given.

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
                candidate = change(best, **{name: getattr(best, name) * factor})
                now = correct_tokens(candidate)
                if not clearly_better(now, correct, weights=weights):
                    break
                best, correct, moved = candidate, now, True
            if moved:
                break
    return best, correct
