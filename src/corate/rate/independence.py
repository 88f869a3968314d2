"""Tests of independence on counted data: the G-squared test, which is the likelihood-ratio test.

    G2 = 2 sum over (x, y, z) of n(x, y, z) log [n(x, y, z) n(z) / (n(x, z) n(y, z))]    (see `Counts.test`)

If X and Y are independent given Z, then G2 has approximately a chi-squared distribution. Its degrees of freedom are the
sum over the observed values z of (values of X seen with z - 1) (values of Y seen with z - 1). Equality of rates is
never exact on a sample, so these tests answer what :meth:`Derivation.check` cannot: whether a sample contradicts the
independences that a derivation uses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from corate.display import counted
from corate.rate.graphs import braced

__all__ = ["Independence", "IndependenceTest", "chi_squared_tail"]


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
