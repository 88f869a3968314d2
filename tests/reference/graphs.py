"""Graph models by enumeration of all joint states, for comparison with messages on junction trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Factors = list[tuple[tuple[str, ...], NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class Enumerated:
    """The log of the product of the factors for all joint states, an axis for each variable."""

    names: tuple[str, ...]
    logs: NDArray[np.float64]

    def given(self, evidence: dict[str, Any]) -> NDArray[np.float64]:
        """The scores of the states that agree with the evidence, minus infinity for the others."""
        logs = self.logs
        for name, state in evidence.items():
            axis = self.names.index(name)
            shape = [1] * logs.ndim
            shape[axis] = logs.shape[axis]
            logs = logs + np.where(np.arange(logs.shape[axis]) == state, 0.0, -np.inf).reshape(shape)
        return logs

    def log_sum(self, evidence: dict[str, Any]) -> float:
        logs = self.given(evidence)
        top = logs.max()
        return -math.inf if top == -math.inf else float(top + np.log(np.exp(logs - top).sum()))

    def probabilities(self, evidence: dict[str, Any]) -> NDArray[np.float64]:
        return np.exp(self.given(evidence) - self.log_sum(evidence))

    def joint(self, variables: list[str], evidence: dict[str, Any]) -> NDArray[np.float64]:
        rest = tuple(k for k, name in enumerate(self.names) if name not in variables)
        left = [name for name in self.names if name in variables]
        return self.probabilities(evidence).sum(axis=rest).transpose([left.index(name) for name in variables])

    def entropy(self, evidence: dict[str, Any]) -> float:
        p = self.probabilities(evidence)
        return float(-(p[p > 0] * np.log(p[p > 0])).sum())


def enumerated(names: tuple[str, ...], sizes: dict[str, int], factors: Factors) -> Enumerated:
    """All scores of a product of factors."""
    logs = np.zeros([sizes[name] for name in names])
    for scope, table in factors:
        order = [scope.index(name) for name in names if name in scope]
        shape = [sizes[name] if name in scope else 1 for name in names]
        with np.errstate(divide="ignore"):
            logs = logs + np.log(table).transpose(order).reshape(shape)
    return Enumerated(names, logs)


def random_factors(seed: int, most: int = 12) -> tuple[tuple[str, ...], dict[str, int], Factors]:
    """A random graph of up to ``most`` nodes with random tables: some with zeros, some with very small numbers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    names = tuple(f"V{i}" for i in range(n))
    sizes = {name: int(rng.integers(1, 4 if n < 10 else 3)) for name in names}
    scopes = [(name,) for name in names if rng.random() < 0.5]
    for _ in range(int(rng.integers(0, 2 * n))):
        scope = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
        scopes.append(tuple(names[v] for v in scope))
    kind = seed % 4
    factors: Factors = []
    for scope in scopes:
        table = rng.gamma(1.0, size=[sizes[name] for name in scope]) + 1e-3
        if kind == 1:
            table = table * (rng.random(table.shape) < 0.8)
            table.flat[0] = 1.0  # so that not everything is impossible
        if kind == 2:
            table = table * 10.0 ** rng.choice([0, -150, -290], size=table.shape)
        factors.append((scope, table))
    return names, sizes, factors
