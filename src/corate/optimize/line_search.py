"""How far to go along a direction: the line searches of L-BFGS."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corate import _native
from corate.types import F64

__all__ = ["LineSearch", "Objective", "Search"]

#: A smooth function to minimise: weights to value and gradient.
Objective = Callable[[F64], tuple[float, F64]]
#: How the length of a step is found. ``interpolation`` looks for the minimum of a cubic between two lengths;
#: ``More-Thuente`` also extrapolates, and chooses between cubics and parabolas (More and Thuente 1994);
#: ``backtracking`` halves a length that is too long and doubles one that is too short. All end where the slope is less
#: steep (strong Wolfe condition). ``weak backtracking`` also takes a slope that is steep upwards.
Search = Literal["interpolation", "More-Thuente", "backtracking", "weak backtracking"]
#: A step: its length, and the value and the slope there.
Trial = tuple[float, float, float]

#: The shortest and the longest step, and the narrowest interval, of the search by More and Thuente.
_SHORTEST, _LONGEST, _NARROW = 1e-20, 1e20, 1e-16


@dataclass
class LineSearch:
    """Finds steps that gain enough."""

    objective: Objective
    c1: float
    kind: Search
    trials: int
    made: int = 0  # trials of the last search
    scale: float = 0.0  # of the step that it found

    def find(self, x: F64, value: float, slope: F64, direction: F64, scale: float) -> tuple[F64, float, F64] | None:
        """The point, value and gradient after a step along the direction that gains enough; None if there is none."""
        c1 = self.c1
        orthant = None if c1 == 0 else np.where(x != 0, np.sign(x), -np.sign(slope))
        steepness = _native.dot(slope, direction)
        if self.kind == "More-Thuente" and c1 == 0:
            return self._more_thuente(x, direction, (0.0, value, steepness), scale)
        low, high = (0.0, value, steepness), None  # (scale, value, slope): the step is between these two
        best: tuple[F64, float, F64] | None = None
        for trial in range(self.trials):
            moved = scale * direction
            moved += x
            if orthant is not None:
                moved[moved * orthant <= 0] = 0.0
            reached, there = self.objective(moved)
            gained = scale * steepness
            if c1 > 0:
                reached += c1 * float(np.abs(moved).sum())
                gained = min(0.0, _native.dot(slope, moved - x))
            enough = math.isfinite(reached) and reached <= value + 1e-4 * gained
            if enough and (best is None or reached < best[1]):
                best, self.scale, self.made = (moved, reached, there), scale, trial + 1
            if c1 > 0:
                if enough:
                    break
                scale /= 2
                continue
            here = scale, reached, _native.dot(there, direction)
            if not enough or reached > low[1]:
                high = here
            elif here[2] < 0.9 * steepness:
                low = here  # the slope is still steep downwards: the step is too short
            elif here[2] > -0.9 * steepness and self.kind != "weak backtracking":
                high = here  # the slope is steep upwards: the step is too long
            else:
                break
            if self.kind != "interpolation":
                scale *= 0.5 if high is here else 2.1
                continue
            scale = 4.0 * low[0] if high is None else _between(low, high)
            if high is not None and abs(high[0] - low[0]) < 1e-3 * high[0] and best is not None:
                break
        return best

    def _more_thuente(self, x: F64, direction: F64, start: Trial, t: float) -> tuple[F64, float, F64] | None:
        """As `find`, by the search of More and Thuente (1994), as in liblbfgs. The first trial is t.

        As long as no trial is low enough and no steeper downwards than ``least``, the value less that of a line with
        the slope ``least`` is searched in place of the value.
        """
        _, value, steepness = start
        least = 1e-4 * steepness
        low, high, bracketed, lifted = start, start, False, True
        width, before = _LONGEST, 2.0 * _LONGEST
        for trial in range(1, self.trials):
            ends = low[0], high[0]
            bounds = (min(ends), max(ends)) if bracketed else (low[0], t + 4.0 * (t - low[0]))
            t = min(max(t, _SHORTEST), _LONGEST)
            if bracketed and not (bounds[0] < t < bounds[1] and bounds[1] - bounds[0] > _NARROW * bounds[1]):
                return None  # the precision is exhausted
            moved = x + t * direction
            reached, there = self.objective(moved)
            if not math.isfinite(reached):
                t = low[0] + 0.5 * (t - low[0])
                continue
            here = t, reached, _native.dot(there, direction)
            enough = reached <= value + t * least
            if enough and abs(here[2]) <= -0.9 * steepness:
                self.scale, self.made = t, trial
                return moved, reached, there
            lifted = lifted and not (enough and here[2] >= least)
            line = least if lifted and not enough and reached <= low[1] else 0.0
            low, high, t, bracketed = _narrowed(low, high, here, bounds, bracketed, line)
            if bracketed:
                if abs(high[0] - low[0]) >= 0.66 * before:
                    t = low[0] + 0.5 * (high[0] - low[0])
                before, width = width, abs(high[0] - low[0])
        return None


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """The minimum of the cubic through two points with their slopes, kept away from both points."""
    (a, at_a, slope_a), (b, at_b, slope_b) = low, high
    width = b - a
    middle = a + 0.5 * width
    bend = slope_a + slope_b - 3.0 * (at_b - at_a) / width
    root = bend * bend - slope_a * slope_b
    if not math.isfinite(root) or root < 0.0:
        return middle
    bottom = slope_b - slope_a + 2.0 * math.sqrt(root)
    if bottom == 0.0:
        return middle
    found = b - width * (slope_b + math.sqrt(root) - bend) / bottom
    return min(max(found, a + 0.1 * width), b - 0.1 * width) if math.isfinite(found) else middle


def _narrowed(
    low: Trial, high: Trial, here: Trial, bounds: tuple[float, float], bracketed: bool, line: float
) -> tuple[Trial, Trial, float, bool]:
    """The interval after a trial, the next trial, and whether a minimum is within the interval.

    ``low`` is the end with the lowest value. Values are less those of a line with the slope ``line``.
    """
    ends = {"low": low, "high": high, "here": here}
    (x, at_x, down), (_, _, _), (t, at_t, slope) = found = [(a, v - a * line, d - line) for a, v, d in ends.values()]
    higher, turned = at_t > at_x, slope * math.copysign(1.0, down) < 0.0
    secant = t + slope / (slope - down) * (x - t) if slope != down else math.inf
    if higher:
        cubic = _cubic(found[0], found[2])
        parabola = x + down / ((at_x - at_t) / (t - x) + down) / 2 * (t - x)
        new = cubic if abs(cubic - x) < abs(parabola - x) else cubic + 0.5 * (parabola - cubic)
    elif turned:
        cubic = _cubic(found[0], found[2])
        new = cubic if abs(cubic - t) > abs(secant - t) else secant
    elif abs(slope) < abs(down):
        cubic = _cubic_beyond(found[0], found[2], bounds)
        nearer = abs(t - cubic) < abs(t - secant)
        farther = abs(t - cubic) > abs(t - secant)
        new = cubic if (nearer if bracketed else farther) else secant
    else:
        new = _cubic(found[2], found[1]) if bracketed else bounds[1] if x < t else bounds[0]
    cautious = higher or (not turned and abs(slope) < abs(down))
    bracketed = bracketed or higher or turned
    low, high = (low, here) if higher else (here, low if turned else high)
    new = max(min(new, bounds[1]), bounds[0])
    if bracketed and cautious:
        end = low[0] + 0.66 * (high[0] - low[0])
        new = min(new, end) if low[0] < high[0] else max(new, end)
    return low, high, new, bracketed


def _cubic(u: Trial, v: Trial) -> float:
    """The minimum of the cubic through two points with their slopes; NaN if it has none."""
    (a, at_a, slope_a), (b, at_b, slope_b) = u, v
    bend = 3.0 * (at_a - at_b) / (b - a) + slope_a + slope_b
    square = bend * bend - slope_a * slope_b
    root = math.copysign(math.sqrt(square), b - a) if square >= 0.0 else math.nan
    bottom = 2.0 * root - slope_a + slope_b
    return a + (root - slope_a + bend) / bottom * (b - a) if bottom else math.nan


def _cubic_beyond(u: Trial, v: Trial, bounds: tuple[float, float]) -> float:
    """The minimum of the cubic if it is beyond v, seen from u; otherwise a bound."""
    (a, at_a, slope_a), (b, at_b, slope_b) = u, v
    bend = 3.0 * (at_a - at_b) / (b - a) + slope_a + slope_b
    root = -math.copysign(math.sqrt(max(0.0, bend * bend - slope_a * slope_b)), b - a)
    bottom = 2.0 * root - slope_b + slope_a
    share = (root - slope_b + bend) / bottom if bottom else 0.0
    if share < 0.0 and root != 0.0:
        return b - share * (b - a)
    return bounds[1] if bend < 0.0 else bounds[0]
