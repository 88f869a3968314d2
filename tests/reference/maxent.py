"""Maximum entropy models of nodes with plain NumPy in float64: the oracle of native/training/losses/nodes.cpp.

Weights are a dense (features, labels) array; ``seen`` marks the weights that exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Context:
    """A context's features with values, its candidate labels with base scores, and the counts of its labels."""

    features: list[tuple[int, float]]
    base: dict[int, float]
    counts: dict[int, float]


def log_posterior(context: Context, weights: NDArray, seen: NDArray) -> dict[int, float]:
    """log P(y | x) of each candidate."""
    scores = {y: b + sum(v * weights[f, y] for f, v in context.features if seen[f, y]) for y, b in context.base.items()}
    log_z = np.logaddexp.reduce(list(scores.values()))
    return {y: s - log_z for y, s in scores.items()}


def objective(contexts: Sequence[Context], weights: NDArray, seen: NDArray, precision: float) -> float:
    """-sum n(c, y) log P(y | c) + precision / 2 sum W^2."""
    loss = 0.0
    for context in contexts:
        log_p = log_posterior(context, weights, seen)
        loss -= sum(n * log_p[y] for y, n in context.counts.items())
    return loss + 0.5 * precision * float((weights[seen] ** 2).sum())


#: Contexts whose residuals are at most this (their labels are almost certain) take no steps.
QUIET = 1e-4


def step(state: NDArray, at: tuple[int, ...], gradient: float, rate: float) -> None:
    """An AdaGrad step of one weight: state[0] holds weights, state[1] the sums of squared gradients."""
    state[1][at] += gradient**2
    state[0][at] -= rate * gradient / np.sqrt(state[1][at])


def adagrad(
    contexts: Sequence[Context],
    order: Sequence[int],
    state: NDArray,
    seen: NDArray,
    decay: NDArray,
    rate: float,
    batch: int,
) -> float:
    """A pass: expected minus observed counts of a batch with the weights before it, then the steps one by one."""
    loss = 0.0
    for start in range(0, len(order), batch):
        chosen = [contexts[c] for c in order[start : start + batch]]
        posteriors = [log_posterior(context, state[0], seen) for context in chosen]
        for context, log_p in zip(chosen, posteriors, strict=True):
            total = sum(context.counts.values())
            loss -= sum(n * log_p[y] for y, n in context.counts.items())
            residuals = {y: total * np.exp(log_p[y]) - context.counts.get(y, 0.0) for y in context.base}
            if max(map(abs, residuals.values())) <= QUIET:
                continue
            for f, v in context.features:
                for y, residual in residuals.items():
                    if seen[f, y]:
                        step(state, (f, y), v * residual + decay[f] * state[0][f, y], rate)
    return loss
