"""Multinomial logistic regression with plain NumPy in float64: the oracle of native/training/losses/log_linear.cpp.

Weights are a ``(features, columns)`` array, of which the last row is the bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Regression:
    """The features of rows with the bias, ``(rows, features)``, the column of each outcome, and base scores."""

    design: NDArray
    columns: NDArray
    base: NDArray | float = 0.0

    @classmethod
    def of(cls, sparse, values, n_sparse, dense, columns, ends) -> Regression:
        """The regression of the arguments of ``_native.LogLinear``."""
        offsets, ids = sparse
        rows = len(offsets) - 1
        design = np.zeros((rows, n_sparse))
        np.add.at(design, (np.repeat(np.arange(rows), np.diff(offsets)), ids), 1.0 if values is None else values)
        parts = [design, *([] if dense is None else [dense.astype(np.float64)]), np.ones((rows, 1))]
        base = 0.0
        if ends is not None:
            nodes, left, right = ends
            base = (nodes[left][:, :, None].astype(np.float64) + nodes[right][:, None, :]).reshape(rows, -1)
        return cls(np.concatenate(parts, axis=1), np.asarray(columns), base)

    def scores(self, weights: NDArray, *, normalised: bool = False) -> NDArray:
        """The scores of all outcomes; with ``normalised``, log-probabilities, which include the base scores."""
        shaped = np.asarray(weights, np.float64).reshape(self.design.shape[1], -1)
        found = (self.design @ shaped)[:, self.columns]
        if not normalised:
            return found
        found = found + self.base
        return found - np.logaddexp.reduce(found, axis=1, keepdims=True)

    def pull(self, residuals: NDArray) -> NDArray:
        """The gradient of the weights, given that of the scores of outcomes."""
        by_column = np.zeros((len(residuals), int(self.columns.max()) + 1))
        np.add.at(by_column, (slice(None), self.columns), residuals)
        return (self.design.T @ by_column).ravel()

    def loss(self, weights: NDArray, gold: NDArray, row_weights: NDArray | None, precision: NDArray) -> float:
        """L(W): rows of gold -1 are left out."""
        known = np.flatnonzero(gold >= 0)
        times = np.ones(len(gold)) if row_weights is None else row_weights.astype(np.float64)
        log_probs = self.scores(weights, normalised=True)[known, gold[known]]
        shaped = np.asarray(weights, np.float64).reshape(self.design.shape[1], -1)
        return float(-(times[known] * log_probs).sum() + 0.5 * (precision[:, None] * shaped**2).sum())

    def gradient(self, weights: NDArray, gold: NDArray, row_weights: NDArray | None, precision: NDArray) -> NDArray:
        """The gradient of L."""
        times = np.ones(len(gold)) if row_weights is None else row_weights.astype(np.float64)
        residuals = np.exp(self.scores(weights, normalised=True))
        known = np.flatnonzero(gold >= 0)
        residuals[known, gold[known]] -= 1.0
        residuals *= np.where(gold >= 0, times, 0.0)[:, None]
        shaped = np.asarray(weights, np.float64).reshape(self.design.shape[1], -1)
        return self.pull(residuals) + (precision[:, None] * shaped).ravel()


def differences(value, weights: NDArray, step: float = 1e-5) -> NDArray:
    """The gradient of a function by central differences."""
    found = np.zeros(len(weights))
    for i in range(len(weights)):
        moved = np.zeros(len(weights))
        moved[i] = step
        found[i] = (value(weights + moved) - value(weights - moved)) / (2 * step)
    return found
