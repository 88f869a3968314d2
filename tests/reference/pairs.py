"""Maximum entropy models of label pairs with plain NumPy in float64: the oracle of native/training/losses/pairs.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reference.maxent import step

#: A weight: ("T", y, y'), ("U", g, y, y'), ("A", f, y) or ("B", f, y).
Weight = tuple[str | int, ...]


@dataclass
class Token:
    """A token's candidates with their scores as left and right end of an edge, its features and weight."""

    left: dict[int, float]
    right: dict[int, float]
    gold: int
    node: list[int] = field(default_factory=list)
    edge: list[int] = field(default_factory=list)
    weight: float = 1.0


def edges_of(sentences: Sequence[Sequence[Token]], boundary: int) -> list[tuple[Token, Token]]:
    """The edges of sentences, from boundary to boundary; an empty sentence has none."""
    end = Token({boundary: 0.0}, {boundary: 0.0}, boundary)
    return [edge for s in sentences if s for edge in zip([end, *s], [*s, end], strict=True)]


def weights_of(edge: tuple[Token, Token], y: int, z: int) -> list[Weight]:
    """All weights in the score of a label pair at an edge, in the order of the native steps."""
    before, after = edge
    found: list[Weight] = [("T", y, z)]
    found += [("U", g, y, z) for g in after.edge]
    return found + [("A", f, y) for f in before.node] + [("B", f, z) for f in after.node]


def log_posterior(edge: tuple[Token, Token], weights: dict[Weight, float]) -> dict[tuple[int, int], float]:
    """log P(y, y' | x) of every pair of candidates; missing weights are 0."""
    before, after = edge
    scores = {
        (y, z): a + b + sum(weights.get(w, 0.0) for w in weights_of(edge, y, z))
        for y, a in before.left.items()
        for z, b in after.right.items()
    }
    log_z = np.logaddexp.reduce(list(scores.values()))
    return {pair: s - log_z for pair, s in scores.items()}


def weight_of(edge: tuple[Token, Token], boundary: int) -> float:
    """The weight of the token that an edge leads to; at the end of a sentence, of its last token."""
    before, after = edge
    return before.weight if after.gold == boundary else after.weight


def objective(
    edges: Sequence[tuple[Token, Token]], weights: dict[Weight, float], precision: float, boundary: int
) -> float:
    """-sum of weight log P(gold pair) + precision / 2 sum of squares."""
    loss = -sum(weight_of(e, boundary) * log_posterior(e, weights)[e[0].gold, e[1].gold] for e in edges)
    return loss + 0.5 * precision * sum(w**2 for w in weights.values())


def adagrad(
    edges: Sequence[tuple[Token, Token]],
    order: Sequence[int],
    names: Sequence[Weight],
    state: NDArray,
    decay: dict[tuple[str, int], float],
    rate: float,
    batch: int,
    boundary: int,
) -> float:
    """A pass: residuals of a batch with the weights before it, then a step of each weight of each edge in turn."""
    place = {name: i for i, name in enumerate(names)}
    loss = 0.0
    for start in range(0, len(order), batch):
        chosen = [edges[e] for e in order[start : start + batch]]
        weights = dict(zip(names, state[0], strict=True))
        posteriors = [log_posterior(edge, weights) for edge in chosen]
        for edge, log_p in zip(chosen, posteriors, strict=True):
            gold = (edge[0].gold, edge[1].gold)
            weight = weight_of(edge, boundary)
            loss -= weight * log_p[gold]
            gradients: dict[Weight, float] = {}
            for (y, z), p in log_p.items():
                for name in weights_of(edge, y, z):
                    gradients[name] = gradients.get(name, 0.0) + weight * (np.exp(p) - ((y, z) == gold))
            for name, gradient in gradients.items():
                if name in place:
                    shrink = decay.get((str(name[0]), 0 if name[0] == "T" else int(name[1])), 0.0)
                    step(state, (place[name],), gradient + shrink * state[0][place[name]], rate)
    return loss
