"""Chains of arrays by enumeration of all labellings: the oracle of native/chain/expectations.cpp."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


@dataclass
class ChainProblem:
    """Scores: nodes (n, c), edges (c, c), (S, c, c) or (n, c, c), offsets (S + 1,)."""

    nodes: NDArray[Any]
    edges: NDArray[Any]
    offsets: NDArray[np.int64]
    by: str

    def blocks(self) -> F64:
        """The block of the edge to each position, (n, c, c)."""
        n = len(self.nodes)
        if self.by == "all":
            return np.repeat(self.edges[None].astype(np.float64), n, 0)
        if self.by == "sentence":
            return np.repeat(self.edges.astype(np.float64), np.diff(self.offsets), 0)
        return self.edges.astype(np.float64)


def random_chains(
    rng: np.random.Generator, by: str, dtype: type, *, scale: float = 1.0, forbid: float = 0.0, longest: int = 4
) -> ChainProblem:
    """Up to four sentences, some of them empty, of up to four labels; a share of all scores is minus infinity."""
    lengths = rng.integers(0, longest + 1, size=int(rng.integers(1, 5)))
    n, c = int(lengths.sum()), int(rng.integers(1, 5))
    blocks = {"all": (), "sentence": (len(lengths),), "position": (n,)}[by]
    nodes, edges = rng.normal(0, scale, (n, c)), rng.normal(0, scale, (*blocks, c, c))
    for scores in (nodes, edges):
        scores[rng.random(scores.shape) < forbid] = -np.inf
    return ChainProblem(nodes.astype(dtype), edges.astype(dtype), np.concatenate([[0], np.cumsum(lengths)]), by)


def enumerated(problem: ChainProblem) -> tuple[F64, F64, F64, F64]:
    """log Z (S,), P(label) (n, c), P(label, label) by position (n, c, c), and the best score of each sentence."""
    blocks, (n, c) = problem.blocks(), problem.nodes.shape
    log_z, best = np.zeros(len(problem.offsets) - 1), np.zeros(len(problem.offsets) - 1)
    nodes, edges = np.zeros((n, c)), np.zeros((n, c, c))
    for s, (first, last) in enumerate(itertools.pairwise(problem.offsets.tolist())):
        every = list(itertools.product(range(c), repeat=last - first))
        scores = [labelling_score(problem, blocks, first, ys) for ys in every]
        log_z[s], best[s] = np.logaddexp.reduce(scores), max(scores)
        for ys, score in zip(every, scores, strict=True):
            if score == -np.inf:
                continue
            for j, y in enumerate(ys):
                nodes[first + j, y] += np.exp(score - log_z[s])
                if j > 0:
                    edges[first + j, ys[j - 1], y] += np.exp(score - log_z[s])
    return log_z, nodes, edges, best


def labelling_score(problem: ChainProblem, blocks: F64, first: int, labels: tuple[int, ...]) -> float:
    """The score of one labelling of the sentence that begins at position ``first``."""
    nodes = sum(float(problem.nodes[first + j, y]) for j, y in enumerate(labels))
    return nodes + sum(float(blocks[first + j + 1, y, z]) for j, (y, z) in enumerate(itertools.pairwise(labels)))


def summed(problem: ChainProblem, edges: F64) -> F64:
    """P(label, label) by position as the sums that the edge scores have gradients of."""
    if problem.by == "all":
        return edges.sum(0)
    if problem.by == "sentence":
        return np.stack([edges[a:b].sum(0) for a, b in itertools.pairwise(problem.offsets.tolist())])
    return edges
