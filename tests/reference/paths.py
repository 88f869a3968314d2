"""Random lattices with constraints, and all their labellings: the oracle of native/chain/shapes/path_graph.cpp."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corate import _native
from corate.model.constraints import Constraints, _blocks
from corate.model.lattice import Lattice, Limits
from corate.spans import spans
from reference import chains
from reference.lattice import triple_rows

#: Sets of labels: span labels of several schemes, plain labels, and both.
LABELS = [
    ["O", "B-X", "I-X"],
    ["O", "B-X", "I-X", "I-Y"],
    ["B-X", "I-X", "E-X", "S-X"],
    ["A", "B", "C"],
    ["ZIP", "O"],
    ["ZIP", "O", "S-Y", "I-Y"],
    ["ONE"],
]


@dataclass
class Chain:
    """A lattice of one sentence, and the score of each labelling that its limits allow."""

    lattice: Lattice
    every: dict[tuple[int, ...], float]

    def probabilities(self) -> dict[tuple[int, ...], float]:
        total = self.log_z()
        return {path: float(np.exp(score - total)) for path, score in self.every.items()}

    def log_z(self) -> float:
        return float(np.logaddexp.reduce(list(self.every.values())))

    def named(self, path: Sequence[int]) -> list[str]:
        return [self.lattice.names[y] for y in path]


def random_chain(seed: int, most_tokens: int = 5, limits: bool = True) -> Chain:
    """Of the first or the second order, pruned or full, with edge features or not, locally normalised or not."""
    rng = np.random.default_rng(seed)
    names = LABELS[seed % len(LABELS)]
    size, n = len(names), int(rng.integers(0, most_tokens + 1))
    local = rng.random() < 0.25
    order = 2 if not local and rng.random() < 0.5 else 1

    def draw(*shape: int) -> np.ndarray:
        return rng.uniform(-3, 3, shape).astype(np.float32)

    table, extra = draw(size + 1, size + 1), np.zeros((2, size + 1, size + 1))
    positions = [_candidates(rng, size, full=rng.random() < 0.5) for _ in range(n)]
    tokens = [chains.Token({y: float(draw()) for y in ys}, None, [], _edge_features(rng)) for ys in positions]
    stored = {
        g: sorted({int(p) for p in rng.integers((size + 1) * (size + 1), size=4) if p % (size + 1) < size})
        for g in range(2)
    }
    weights = {g: draw(len(pairs)) for g, pairs in stored.items()}
    for g, pairs in stored.items():
        extra[g].ravel()[pairs] = weights[g]
    three = None
    if order == 2:
        three = np.where(rng.random((size + 1,) * 3) < 0.6, draw(size + 1, size + 1, size + 1), 0).astype(np.float32)
    found = {} if three is None else {tuple(map(int, t)): float(three[tuple(t)]) for t in np.argwhere(three)}
    edges = _native.Edges.dense(table, local, triple_rows(found, size + 1) if found else None)
    w = chains.Weights(table.astype(float), extra, np.zeros((1, size)), None if three is None else three.astype(float))
    if local:
        every = {
            p: score + (float(table[p[-1], size]) if p else 0.0) for p, score in chains.local_scores(tokens, w).items()
        }
    else:
        every = chains.all_scores(tokens, w) if n else {(): 0.0}
    lattice = Lattice(
        np.array([0, n]),
        np.cumsum([0, *map(len, positions)]),
        np.array([y for ys in positions for y in ys], np.int32),
        np.array([t.base[y] for t in tokens for y in t.base], np.float32),
        edges,
        (
            np.cumsum([0, *(len(t.edge) for t in tokens)]),
            np.array([g for t in tokens for g in t.edge], np.int32),
            _native.EdgeFeatureWeights(
                np.cumsum([0, *map(len, stored.values())]),
                np.array([p for pairs in stored.values() for p in pairs], np.int32),
                np.concatenate(list(weights.values())).astype(np.float32),
            ),
        ),
        names,
    )
    return _with_limits(rng, Chain(lattice, every)) if limits else Chain(lattice, every)


def _candidates(rng: np.random.Generator, n_labels: int, *, full: bool) -> list[int]:
    chosen = np.arange(n_labels) if full else rng.permutation(n_labels)[: rng.integers(1, n_labels + 1)]
    return sorted(int(y) for y in chosen)


def _edge_features(rng: np.random.Generator) -> list[int]:
    return [int(g) for g in rng.integers(2, size=rng.integers(0, 3))]


def _with_limits(rng: np.random.Generator, chain: Chain) -> Chain:
    """The chain under some of: allowed candidates, forbidden pairs, at most one block of some labels."""
    lattice = chain.lattice
    size = len(lattice.names)
    allowed = (rng.random(len(lattice.labels)) < 0.8).astype(np.uint8) if rng.random() < 0.5 else None
    forbidden = (rng.random((size + 1) ** 2) < 0.15).astype(np.uint8) if rng.random() < 0.5 else None
    named = sorted({name.partition("-")[2] or name for name in lattice.names} - {"O"})
    chosen = [name for name in named if rng.random() < 0.7] if rng.random() < 0.5 else []
    limits = Limits(allowed, forbidden, _blocks(Constraints(one_block=chosen), lattice.names))
    whole = replace(lattice, limits=limits)

    def fits(path: tuple[int, ...]) -> bool:
        labels = chain.named(path)
        for j, y in enumerate(path):
            a, b = int(lattice.offsets[j]), int(lattice.offsets[j + 1])
            if allowed is not None and not allowed[a + lattice.labels[a:b].tolist().index(y)]:
                return False
        around = itertools.pairwise([size, *path, size]) if path else ()
        if forbidden is not None and any(forbidden[y * (size + 1) + z] for y, z in around):
            return False
        return all(n_blocks(labels, name) <= 1 for name in chosen)

    return Chain(whole, {path: score for path, score in chain.every.items() if fits(path)})


def n_blocks(labels: Sequence[str], name: str) -> int:
    if any(span.type == name for span in spans(labels)):
        return sum(span.type == name for span in spans(labels))
    return sum(label == name for label, _ in itertools.groupby(labels))
