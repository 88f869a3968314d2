"""Small random graphs with typed edges, the scores of models of them, and all their labellings by enumeration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Scored = tuple[int, int, NDArray]


@dataclass(frozen=True)
class Type:
    """A type of edges: whether it is symmetric, and how many features its edges have (None: no array of them)."""

    name: str
    symmetric: bool
    width: int | None


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph: its number of nodes, and the pairs of nodes and the features of edges by type."""

    n: int
    pairs: dict[str, NDArray]
    features: dict[str, NDArray] = field(default_factory=dict)


def random_types(rng: np.random.Generator, most: int = 3) -> list[Type]:
    """One to three types."""
    widths = (None, 0, 1, 2)
    return [
        Type(f"t{i}", bool(rng.random() < 0.5), widths[int(rng.integers(4))])
        for i in range(int(rng.integers(most)) + 1)
    ]


def random_graph(rng: np.random.Generator, types: list[Type], *, loops: bool, nodes: tuple[int, int] = (2, 7)) -> Graph:
    """A random forest, or a forest with a few more edges, which may join two nodes a second time by another type."""
    n = int(rng.integers(nodes[0], nodes[1] + 1))
    order = rng.permutation(n)
    found = [(int(order[rng.integers(i)]), int(order[i])) for i in range(1, n) if rng.random() < 0.85]
    of_type = rng.integers(len(types), size=len(found)).tolist()
    if loops:
        for left, right in itertools.islice(rng.permutation(list(itertools.combinations(range(n), 2))), 3):
            kind = int(rng.integers(len(types)))
            taken = {frozenset(pair) for pair, own in zip(found, of_type, strict=True) if own == kind}
            if frozenset((int(left), int(right))) not in taken:
                found.append((int(left), int(right)))
                of_type.append(kind)
    pairs, features = {}, {}
    for t, own in enumerate(types):
        chosen = [
            pair[:: 1 if rng.random() < 0.5 else -1] for pair, kind in zip(found, of_type, strict=True) if kind == t
        ]
        pairs[own.name] = np.array(chosen, np.int64).reshape(-1, 2)
        if own.width is not None:
            features[own.name] = rng.integers(-4, 5, (len(chosen), own.width)) / 2
    return Graph(n, pairs, features)


@dataclass(frozen=True, eq=False)
class Enumerated:
    """All labellings of a graph, ``(labellings, nodes)``, and their log-probabilities."""

    labellings: NDArray
    log_probs: NDArray
    log_z: float

    @classmethod
    def of(cls, nodes: NDArray, edges: list[Scored], allowed: NDArray | None = None) -> Enumerated:
        """All labellings by the scores of nodes, ``(nodes, labels)``, and of edges: two nodes and a table.

        ``allowed`` marks the labels that each node may have; other labellings are left out.
        """
        n, k = nodes.shape
        every = np.indices((k,) * n).reshape(n, -1).T
        if allowed is not None:
            every = every[allowed[np.arange(n), every].all(axis=1)]
        scores = nodes[np.arange(n), every].sum(axis=1)
        for left, right, table in edges:
            scores = scores + table[every[:, left], every[:, right]]
        log_z = float(np.logaddexp.reduce(scores))
        return cls(every, scores - log_z, log_z)

    def marginals(self, k: int) -> NDArray:
        """The probabilities of all labels at each node."""
        p = np.exp(self.log_probs)
        return np.stack([np.bincount(own, p, minlength=k) for own in self.labellings.T])

    def pairs(self, left: int, right: int, k: int) -> NDArray:
        """The probabilities of pairs of labels of two nodes."""
        keys = self.labellings[:, left] * k + self.labellings[:, right]
        return np.bincount(keys, np.exp(self.log_probs), minlength=k * k).reshape(k, k)

    def log_prob(self, labels: NDArray) -> float:
        """log P of one labelling; minus infinity if it is left out."""
        found = np.flatnonzero((self.labellings == labels).all(axis=1))
        return float(self.log_probs[found[0]]) if len(found) else -np.inf

    def entropy(self) -> float:
        """The entropy, in nats."""
        return float(-(np.exp(self.log_probs) * self.log_probs).sum())
