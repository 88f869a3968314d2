"""Tests of independence on counted data: the G-squared test, which is the likelihood-ratio test.

    G2 = 2 sum over (x, y, z) of n(x, y, z) log [n(x, y, z) n(z) / (n(x, z) n(y, z))]

If X and Y are independent given Z, then G2 has approximately a chi-squared distribution. Its degrees of freedom are the
sum over the observed values z of (values of X seen with z - 1) (values of Y seen with z - 1). Equality of rates is
never exact on a sample, so these tests answer what :meth:`Derivation.check` cannot: whether a sample contradicts the
independences that a derivation uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate import portable_math
from corate.display import counted
from corate.rate.graphs import braced

__all__ = ["Independence", "IndependenceTest", "chi_squared_tail", "g_squared"]


class Independence(NamedTuple):
    """A statement: the variables ``left`` and ``right`` are independent given the variables ``given``.

    >>> print(Independence(("A",), ("C",), ("B",)))
    {A} and {C} are independent given {B}
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        condition = f" given {braced(self.given)}" if self.given else ""
        return f"{braced(self.left)} and {braced(self.right)} are independent{condition}"


@dataclass(frozen=True)
class IndependenceTest:
    """The result of a G-squared test. Its text has the hypothesis that was tested and the p-value, but no conclusion.

    Attributes:
        independence: the :class:`Independence` that was tested.
        statistic: the value of G-squared.
        degrees: the degrees of freedom. If there are none, the p-value is 1.
        p_value: the probability of such a large value if the independence holds. A small one contradicts it.
    """

    independence: Independence
    statistic: float
    degrees: int
    p_value: float

    def __str__(self) -> str:
        degrees = f"{counted(self.degrees, 'degree')} of freedom"
        numbers = f"G2 = {self.statistic:.2f}, {degrees}, p = {self.p_value:.3g}"
        return f"hypothesis: {self.independence}; {numbers}"

    __repr__ = __str__


def g_squared(
    rows: NDArray[np.int64], weights: NDArray[np.float64], columns: Sequence[Sequence[int]]
) -> tuple[float, int]:
    """The statistic and its degrees of freedom; ``columns`` are those of X, of Y and of Z.

    ``rows`` holds the state of every variable for every observation, ``weights`` how often it was observed.
    """
    x, y, z = (_codes(rows, chosen) for chosen in columns)
    xz, yz = _codes(np.stack([x, z], 1), (0, 1)), _codes(np.stack([y, z], 1), (0, 1))
    xyz = _codes(np.stack([xz, yz], 1), (0, 1))
    n_xyz, n_xz, n_yz, n_z = (np.bincount(code, weights=weights) for code in (xyz, xz, yz, z))
    seen = weights > 0
    logs = np.zeros(len(rows))
    logs[seen] = portable_math.log(n_xyz[xyz[seen]] * n_z[z[seen]] / (n_xz[xz[seen]] * n_yz[yz[seen]]))
    statistic = 2.0 * float((weights * logs).sum())
    values_x, values_y = _values_with(xz[seen], z[seen], len(n_z)), _values_with(yz[seen], z[seen], len(n_z))
    degrees = int((np.maximum(values_x - 1, 0) * np.maximum(values_y - 1, 0)).sum())
    return max(statistic, 0.0), degrees


def _codes(rows: NDArray[np.int64], columns: Sequence[int]) -> NDArray[np.int64]:
    """One number for each different row of some columns; 0 for all if there are no columns."""
    codes = np.zeros(len(rows), np.int64)
    for column in columns:
        sizes = int(rows[:, column].max(initial=0)) + 1
        codes = np.unique(codes * sizes + rows[:, column], return_inverse=True)[1].astype(np.int64)
    return codes


def _values_with(joint: NDArray[np.int64], z: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """How many different joint values each z has."""
    _, first = np.unique(joint, return_index=True)
    return np.bincount(z[first], minlength=n)


def chi_squared_tail(statistic: float, degrees: int) -> float:
    """P(X >= statistic) if X has a chi-squared distribution: the regularised upper incomplete gamma function.

    >>> round(chi_squared_tail(3.841, 1), 4), chi_squared_tail(0.0, 5), chi_squared_tail(1.0, 0)
    (0.05, 1.0, 0.0)
    """
    if statistic <= 0:
        return 1.0
    if degrees == 0:
        return 0.0
    a, x = degrees / 2, statistic / 2
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:  # the series of the lower function converges fast here
        term = total = 1.0 / a
        n = a
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1.0 - scale * total)
    b = x + 1 - a  # else the continued fraction of the upper function, by Lentz's algorithm
    c, d = 1e300, 1.0 / b
    fraction = d
    for i in range(1, 10_000):
        b += 2
        d = 1.0 / (b - i * (i - a) * d)
        c = b - i * (i - a) / c
        fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return scale * fraction
