"""The n most likely states of all variables (Lawler, 1972).

The best states s of a set of candidates split the others into disjoint sets, for each variable i and each of its other
states v: those with the states s of the variables before i, and v. Each set is a row of evidence, whose best states are
found by message passing. The best of all sets is next.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.inference.trees import Distribution, Given

__all__ = ["n_best"]

#: Rows of evidence that are asked for at a time, times their variables.
_CELLS = 1 << 22


def n_best(distribution: Distribution, given: Given, n: int, threads: int) -> list[tuple[NDArray[np.int32], float]]:
    """The states of all variables, with the logarithm of their score, best first; fewer if fewer are possible."""
    sizes = distribution.triangulation.sizes.tolist()
    observed = {int(v) for v, state in zip(given[0], given[1][0], strict=True) if state >= 0}
    free = [v for v in range(len(sizes)) if v not in observed]
    logs, states = distribution.most_likely(given, threads)
    waiting: list[tuple[float, int, NDArray[np.int32], int]] = []
    if logs[0] > -np.inf:
        waiting.append((-float(logs[0]), 0, states[0], 0))
    found: list[tuple[NDArray[np.int32], float]] = []
    pushed = 1
    while waiting and len(found) < n:
        score, _, best, depth = heapq.heappop(waiting)
        found.append((best, -score))
        if len(found) == n:
            break
        for part, depths in _others(best, free, depth, sizes, observed):
            logs, states = distribution.most_likely(part, threads)
            for i in np.flatnonzero(logs > -np.inf).tolist():
                heapq.heappush(waiting, (-float(logs[i]), pushed, states[i], depths[i]))
                pushed += 1
        waiting = heapq.nsmallest(n - len(found), waiting)  # sorted, so it is a heap
    return found


def _others(best: NDArray[np.int32], free: list[int], depth: int, sizes: list[int], observed: set[int]) -> Any:
    """The other sets of candidates as rows of evidence, some at a time, each with its number of decided variables."""
    cases = [(i, v) for i in range(depth, len(free)) for v in range(sizes[free[i]]) if v != best[free[i]]]
    every = np.arange(len(sizes), dtype=np.int32)
    step = max(1, _CELLS // len(sizes))
    for start in range(0, len(cases), step):
        some = cases[start : start + step]
        rows = np.full((len(some), len(sizes)), -1, dtype=np.int32)
        for row, (i, v) in zip(rows, some, strict=True):
            decided = [*observed, *free[:i]]
            row[decided] = best[decided]
            row[free[i]] = v
        yield (every, rows), [i + 1 for i, _ in some]
