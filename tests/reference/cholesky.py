"""A x = b with A = U' U, in the order of operations of native/core/cholesky.cpp, each rounded on its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference.portable import dot

PANEL, LANE = 128, 8


def solve_positive_definite(a: NDArray, b: NDArray) -> NDArray | None:
    """The solution; None if the upper triangle of ``a`` is not positive definite."""
    n = len(b)
    size = -(-n // LANE) * LANE
    u, x = np.eye(size), np.zeros(size)
    u[:n, :n], x[:n] = np.triu(a), b
    for begin in range(0, size, PANEL):
        end = min(begin + PANEL, size)
        for i in range(begin, end):
            if not 0 < u[i, i] < np.inf:
                return None
            root = np.sqrt(u[i, i])
            u[i, i:] *= 1.0 / root
            u[i, i] = root
            for k in range(i + 1, end):
                u[k, k:] -= u[i, k] * u[i, k:]
        products = np.zeros((size - end, size - end))
        for row in u[begin:end, end:]:
            products += row[:, None] * row
        u[end:, end:] -= products
    for i in range(size):
        x[i] /= u[i, i]
        x[i + 1 :] -= x[i] * u[i, i + 1 :]
    for i in reversed(range(size)):
        x[i] = (x[i] - dot(u[i, i + 1 :], x[i + 1 :])) / u[i, i]
    return x[:n]
