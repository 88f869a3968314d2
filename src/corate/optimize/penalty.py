"""The L2 term of an objective, which has one meaning for all optimisers. The L1 term is a part of `lbfgs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from corate import portable_math
from corate.types import F64

__all__ = ["L2"]


@dataclass(frozen=True)
class L2:
    """The term  weight / (2 variance) |w|^2  of an objective: with a variance, a Gaussian prior.

    >>> L2(2.0 * 0.5).strength, L2(variance=10.0).per_visit(np.array([0, 5])).tolist()
    (1.0, [0.1, 0.02])
    """

    weight: float = 1.0
    variance: float = 1.0

    @property
    def strength(self) -> float:
        """The second derivative of the term."""
        return self.weight / self.variance

    def __call__(self, weights: F64) -> tuple[float, F64]:
        """The value and the gradient of the term."""
        return 0.5 * self.strength * portable_math.dot(weights, weights), self.strength * weights

    def per_visit(self, visits: Any) -> F64:
        """The share of the term in one visit of each weight, so that a pass with so many visits has all of it."""
        return np.asarray(self.weight / (self.variance * np.maximum(visits, 1)))
