"""Sums over long sentences keep their digits: decoding in single precision finds what double precision finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corate import _native
from corate.model.lattice import Lattice

F64 = NDArray[np.float64]


def viterbi(nodes: F64, edges: F64) -> tuple[list[int], float]:
    """alpha_j(y') = node_j(y') + max_y alpha_j-1(y) + edge(y, y'), in float64: the best labels and their score."""
    alpha, back = nodes[0], []
    for node in nodes[1:]:
        scores: NDArray[Any] = alpha[:, None] + edges
        back.append(scores.argmax(axis=0))
        alpha = scores.max(axis=0) + node
    path = [int(alpha.argmax())]
    for step in reversed(back):
        path.append(int(step[path[-1]]))
    return path[::-1], float(alpha.max())


@pytest.mark.parametrize("width", [5, 4], ids=["all labels", "some labels"])
def test_the_best_labels_of_a_long_sentence(width: int) -> None:
    rng, n, k = np.random.default_rng(3), 20_000, 5
    nodes = rng.normal(5, 2, size=(n, width)).astype(np.float32)
    table = np.zeros((k + 1, k + 1), np.float32)
    table[:k, :k] = rng.normal(size=(k, k))
    labels = np.tile(np.arange(width, dtype=np.int32), n)
    lattice = Lattice(np.array([0, n]), np.arange(n + 1) * width, labels, nodes.ravel(), _native.Edges.dense(table))
    best, totals = lattice.best()
    path, total = viterbi(nodes.astype(np.float64), table[:width, :width].astype(np.float64))
    assert best.tolist() == path
    assert totals[0] == pytest.approx(total, rel=1e-6)
