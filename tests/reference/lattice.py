"""Lattices by enumeration of all labellings: the oracle of native/lattice.cpp. One sentence at a time, in float64."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: The candidate labels of a position, each with its score.
Position = dict[int, float]


def path_score(positions: Sequence[Position], edges: NDArray[np.float64], path: Sequence[int]) -> float:
    """start(y_1) + sum_j node_j(y_j) + sum_i edge(y_i, y_i+1) + end(y_n), the boundary being the last label."""
    boundary = len(edges) - 1
    around = [boundary, *path, boundary]
    nodes = sum(position[y] for position, y in zip(positions, path, strict=True))
    return nodes + sum(edges[a, b] for a, b in itertools.pairwise(around))


def all_paths(positions: Sequence[Position], edges: NDArray[np.float64]) -> dict[tuple[int, ...], float]:
    """The score of every labelling."""
    return {path: path_score(positions, edges, path) for path in itertools.product(*positions)}


def log_z(scores: dict[tuple[int, ...], float]) -> float:
    """log sum exp over all labellings."""
    return float(np.logaddexp.reduce(list(scores.values())))


def marginal(scores: dict[tuple[int, ...], float], position: int, label: int) -> float:
    """P(y_position = label)."""
    total = log_z(scores)
    return sum(np.exp(score - total) for path, score in scores.items() if path[position] == label)


def sparse_edges(stored: dict[tuple[int, int], float], row: list[float], col: list[float], weight: float) -> NDArray:
    """The dense table that sparse edge scores stand for."""
    dense = -weight * np.log1p(np.outer(row, col))
    for (y, z), score in stored.items():
        dense[y, z] = score
    return dense
