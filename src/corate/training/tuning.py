"""A cheap search over a few settings: one at a time, up and down, as long as it helps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

__all__ = ["climb"]

P = TypeVar("P")


def climb(
    score: Callable[[P], float],
    start: P,
    steps: Mapping[str, float],
    *,
    margin: float,
    rounds: int = 1,
    progress: Callable[[float], None] = lambda done: None,
) -> tuple[P, float]:
    """Multiply and divide one setting after another by its step; move while the score rises by more than ``margin``.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float = 1.0
    ...     y: float = 1.0
    >>> climb(lambda p: -abs(p.x - 4) - abs(p.y - 0.5), Point(), {"x": 2.0, "y": 2.0}, margin=0.0)
    (Point(x=4.0, y=0.5), -0.0)
    """
    best, top = start, score(start)
    for turn in range(rounds):
        before = best
        for index, (name, step) in enumerate(steps.items()):
            progress((turn + index / len(steps)) / rounds)
            for factor in (step, 1.0 / step):
                moved = False
                while True:
                    candidate = replace(best, **{name: getattr(best, name) * factor})  # type: ignore[type-var]
                    value = score(candidate)
                    if value <= top + margin:
                        break
                    best, top, moved = candidate, value, True
                if moved:
                    break
        if best is before:
            break
    return best, top
