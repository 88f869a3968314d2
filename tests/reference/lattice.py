"""Lattices by enumeration of all labellings: the oracle of native/chain/lattice.cpp.

One sentence at a time, in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: The candidate labels of a position, each with its score.
Position = dict[int, float]
#: The scores of three labels in a row.
Triples = dict[tuple[int, int, int], float]


def path_score(
    positions: Sequence[Position], edges: NDArray[np.float64], path: Sequence[int], triples: Triples | None = None
) -> float:
    """start(y_1) + sum_j node_j(y_j) + sum_i edge(y_i, y_i+1) + end(y_n), the boundary being the last label.

    Triples add the score of every three labels in a row, with two boundaries before the sentence and one after it.
    """
    boundary = len(edges) - 1
    around = [boundary, *path, boundary]
    nodes = sum(position[y] for position, y in zip(positions, path, strict=True))
    three = zip([boundary, *around], around, around[1:], strict=False)
    return (
        nodes
        + sum(edges[a, b] for a, b in itertools.pairwise(around))
        + sum((triples or {}).get(found, 0.0) for found in three)
    )


def all_paths(
    positions: Sequence[Position], edges: NDArray[np.float64], triples: Triples | None = None
) -> dict[tuple[int, ...], float]:
    """The score of every labelling; an empty labelling scores 0."""
    if not positions:
        return {(): 0.0}
    return {path: path_score(positions, edges, path, triples) for path in itertools.product(*positions)}


def triple_rows(triples: Triples, size: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Triples as rows: by first label, then the pairs that follow it (offsets, pairs, scores)."""
    found = sorted(triples)
    return (
        np.searchsorted([y for y, _, _ in found], np.arange(size + 1)).astype(np.int64),
        np.array([z * size + w for _, z, w in found], np.int32),
        np.array([triples[three] for three in found], np.float32),
    )


def log_z(scores: dict[tuple[int, ...], float]) -> float:
    """log sum exp over all labellings."""
    return float(np.logaddexp.reduce(list(scores.values())))


def marginal(scores: dict[tuple[int, ...], float], position: int, label: int) -> float:
    """P(y_position = label)."""
    total = log_z(scores)
    return sum(np.exp(score - total) for path, score in scores.items() if path[position] == label)


def sparse_edges(stored: dict[tuple[int, int], float], row: list[float], col: list[float], weight: float) -> NDArray:
    """Sparse edge scores as a dense table."""
    dense = -weight * np.log1p(np.outer(row, col))
    for (y, z), score in stored.items():
        dense[y, z] = score
    return dense
