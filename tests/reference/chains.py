"""Losses of whole sentences with plain NumPy in float64: the oracle of native/chain/gradients.cpp.

    score(y) = T(start, y_1) + sum_j node_j(y_j) + sum_j edge_j(y_j-1, y_j) + T(y_n, end)
    node_j(y) = base_j(y) + sum of value * W(f, y)        edge_j(y, y') = T(y, y') + sum of U(g, y, y')

and, in second-order chains, plus the sum of S(y_j-2, y_j-1, y_j), up to the end.

Weights are dense arrays here, zero without a slot: T is (K + 1, K + 1), U (edge features, K + 1, K + 1), W
(features, K), S (K + 1, K + 1, K + 1). The boundary is label K.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Token:
    """Candidate labels with base scores, the gold label (None: unknown), features with values, edge features."""

    base: dict[int, float]
    gold: int | None
    features: list[tuple[int, float]] = field(default_factory=list)
    edge: list[int] = field(default_factory=list)


@dataclass
class Weights:
    """T, U, W and, in second-order chains, S."""

    table: NDArray
    extra: NDArray
    node: NDArray
    triple: NDArray | None = None


def nodes(sentence: Sequence[Token], w: Weights) -> list[NDArray]:
    """The scores of each token's candidates."""
    return [np.array([b + sum(v * w.node[f, y] for f, v in t.features) for y, b in t.base.items()]) for t in sentence]


def blocks(sentence: Sequence[Token], w: Weights) -> list[NDArray]:
    """The scores of the edges that lead to each token, and to the end."""
    boundary = [len(w.table) - 1]
    labels = [boundary, *(list(t.base) for t in sentence), boundary]
    found = []
    for j, (before, after) in enumerate(itertools.pairwise(labels)):
        table = w.table[np.ix_(before, after)]
        for g in sentence[j].edge if j < len(sentence) else ():
            table = table + w.extra[g][np.ix_(before, after)]
        found.append(table)
    return found


def triples(sentence: Sequence[Token], w: Weights) -> list[NDArray]:
    """The scores of label triples that end at each token, and at the end."""
    if w.triple is None:
        return []
    boundary = [len(w.table) - 1]
    labels = [boundary, boundary, *(list(t.base) for t in sentence), boundary]
    return [w.triple[np.ix_(*three)] for three in zip(labels, labels[1:], labels[2:], strict=False)]


def all_scores(sentence: Sequence[Token], w: Weights) -> dict[tuple[int, ...], float]:
    """The score of every labelling, by enumeration."""
    own, between = nodes(sentence, w), blocks(sentence, w)
    labels = [list(t.base) for t in sentence]
    found = {}
    for places in itertools.product(*(range(len(ys)) for ys in labels)):
        around = [0, *places, 0]
        score = sum(scores[k] for scores, k in zip(own, places, strict=True))
        score += sum(e[k, m] for e, (k, m) in zip(between, itertools.pairwise(around), strict=True))
        if w.triple is not None:
            around = [len(w.table) - 1] * 2 + [ys[k] for ys, k in zip(labels, places, strict=True)] + [len(w.table) - 1]
            score += sum(w.triple[three] for three in zip(around, around[1:], around[2:], strict=False))
        found[tuple(ys[k] for ys, k in zip(labels, places, strict=True))] = float(score)
    return found


def agrees(path: Sequence[int], sentence: Sequence[Token]) -> bool:
    """Whether a labelling agrees with the known labels."""
    return all(t.gold in (None, y) for t, y in zip(sentence, path, strict=True))


def log_z(own: Sequence[NDArray], between: Sequence[NDArray]) -> float:
    """log sum exp over all labellings: alpha_j(y') = node_j(y') + log sum_y exp(alpha_j-1(y) + edge_j(y, y'))."""
    alpha = np.zeros(1)
    for node, edge in zip([*own, np.zeros(1)], between, strict=True):
        alpha = node + np.logaddexp.reduce(alpha[:, None] + edge, axis=0)
    return float(alpha[0])


def second_log_z(own: Sequence[NDArray], between: Sequence[NDArray], three: Sequence[NDArray]) -> float:
    """The same over pairs: alpha_j(y', y'') = node_j + edge_j + log sum_y exp(alpha_j-1(y, y') + S(y, y', y''))."""
    alpha = np.zeros((1, 1))
    for node, edge, scores in zip([*own, np.zeros(1)], between, three, strict=True):
        alpha = node + edge + np.logaddexp.reduce(alpha[:, :, None] + scores, axis=0)
    return float(np.logaddexp.reduce(alpha.ravel()))


def likelihood(sentence: Sequence[Token], w: Weights) -> float:
    """log Z of all labellings minus log Z of the labellings that agree with the known labels."""
    own, between, three = nodes(sentence, w), blocks(sentence, w), triples(sentence, w)
    known = [
        np.where([t.gold in (None, y) for y in t.base], scores, -np.inf)
        for t, scores in zip(sentence, own, strict=True)
    ]
    if three:
        return second_log_z(own, between, three) - second_log_z(known, between, three)
    return log_z(own, between) - log_z(known, between)


def enumerated_likelihood(sentence: Sequence[Token], w: Weights) -> float:
    """The same as sums over all labellings."""
    scores = all_scores(sentence, w)
    agreeing = [score for path, score in scores.items() if agrees(path, sentence)]
    return float(np.logaddexp.reduce(list(scores.values())) - np.logaddexp.reduce(agreeing))


def _around(sentence: Sequence[Token]) -> list[int]:
    """Indices of the gold labels among the candidates, with the boundaries' indices at both ends."""
    return [0, *(list(t.base).index(t.gold) for t in sentence), 0]  # type: ignore[arg-type]


def pieces(sentence: Sequence[Token], w: Weights) -> list[NDArray]:
    """The scores of each piece: an edge with the node that it leads to. The last piece is the edge to the end."""
    return [edge + own for own, edge in zip([*nodes(sentence, w), np.zeros(1)], blocks(sentence, w), strict=True)]


def piecewise(sentence: Sequence[Token], w: Weights) -> float:
    """Each piece by itself: -log P(y, y')."""
    gold, loss = _around(sentence), 0.0
    for j, scores in enumerate(pieces(sentence, w)):
        loss += np.logaddexp.reduce(scores.ravel()) - scores[gold[j], gold[j + 1]]
    return float(loss)


def memm(sentence: Sequence[Token], w: Weights) -> float:
    """-log P(y_j | y_j-1, x) at each position; the end has no term."""
    gold, loss = _around(sentence), 0.0
    for j, (own, edge) in enumerate(zip(nodes(sentence, w), blocks(sentence, w), strict=False)):
        scores = own + edge[gold[j]]
        loss += np.logaddexp.reduce(scores) - scores[gold[j + 1]]
    return float(loss)


def local_scores(sentence: Sequence[Token], w: Weights) -> dict[tuple[int, ...], float]:
    """log of the product of P(y_j | y_j-1, x), of every labelling."""
    own, between = nodes(sentence, w), blocks(sentence, w)
    labels = [list(t.base) for t in sentence]
    found = {}
    for places in itertools.product(*(range(len(ys)) for ys in labels)):
        score, before = 0.0, 0
        for node, edge, k in zip(own, between, places, strict=False):
            row = node + edge[before]
            score, before = score + row[k] - np.logaddexp.reduce(row), k
        found[tuple(ys[k] for ys, k in zip(labels, places, strict=True))] = float(score)
    return found


def perceptron(sentence: Sequence[Token], w: Weights) -> float:
    """The best labelling's score minus the gold labelling's score."""
    scores = all_scores(sentence, w)
    return max(scores.values()) - scores[tuple(t.gold for t in sentence)]  # type: ignore[arg-type]


LOSSES = {"likelihood": likelihood, "piecewise": piecewise, "memm": memm, "perceptron": perceptron}
