"""A cheap search over a few settings: one at a time, up and down, as long as it clearly helps.

A change is kept only where the tokens it mends outnumber those it breaks by more than the square root of both together:
one standard error of a fair coin. Less than that is noise, and the default is better. Tokens may have weights, as their
sentences do: then sums of weights are compared, and the standard error is the root of the sum of their squares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError

__all__ = ["RANGES", "clearly_better", "climb", "named_settings"]

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


#: The least and the most that a setting may be; those of a name are the same in all methods.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("sigma2", "edge_sigma2"), (1e-9, 1e9)),
    **dict.fromkeys(("c1", "c2", "rate"), (0, 1e9)),
    **dict.fromkeys(("word_k", "lower_k", "rung_k"), (0, 1e9)),
    **dict.fromkeys(("pair_k", "class_k", "edge_k"), (1e-9, 1e9)),
    **dict.fromkeys(("temper", "edge", "coupling", "neighbour", "context", "oov"), (0, 1000)),
    "oov_constant": (1e-9, 1e9),
    "threshold": (0, 1),
    **dict.fromkeys(("passes", "half_passes", "pair_passes", "iterations", "batch"), (0, 1_000_000)),
    **dict.fromkeys(("rare", "cutoff"), (0, 2**31 - 1)),
    "cap": (1, 2**31 - 1),
}


def named_settings(usual: Any, settings: Mapping[str, float] | None) -> dict[str, Any]:
    """Values that the user gives by name, checked against a dataclass of the usual ones and :data:`RANGES`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Usual:
    ...     rate: float = 0.1
    ...     passes: int = 3
    >>> named_settings(Usual(), {"passes": 2.0})
    {'passes': 2}
    >>> named_settings(Usual(), {"passes": 1e30})
    Traceback (most recent call last):
    corate.errors.DataError: the setting 'passes' must be a whole number from 0 to 1000000, not 1e+30
    >>> named_settings(Usual(), {"speed": 1})
    Traceback (most recent call last):
    corate.errors.DataError: unknown setting 'speed'; there are rate, passes
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise DataError(f"settings are given by name, such as {{'rate': 0.1}}, not as {settings!r}")
    values: dict[str, Any] = dict(settings or {})
    known = asdict(usual)
    for name, value in values.items():
        if name not in known:
            raise DataError(f"unknown setting {name!r}; there are {', '.join(known)}")
        least, most = RANGES[name]
        number, whole = isinstance(value, Real), isinstance(known[name], int)
        if not number or not least <= value <= most or (whole and value != int(value)):
            kind = "whole number" if whole else "number"
            raise DataError(f"the setting {name!r} must be a {kind} from {least:.10g} to {most:.10g}, not {value!r}")
        values[name] = int(value) if whole else float(value)
    return values
