"""Pooling with dictionaries: the oracle of native/counting/pooling.cpp."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

#: n(feature, label)
FeatureCounts = Mapping[tuple[int, int], int]


def evidence(counts: FeatureCounts, f: int, y: int, prior: NDArray, k: float, left_out: int | None) -> float:
    """x_f(y) = log(1 + n(f, y) / (k P(y))), without one token of label ``left_out``."""
    n = counts.get((f, y), 0) - (y == left_out)
    return float(np.log1p(n / (k * prior[y]))) if n > 0 else 0.0


def by_expert(
    counts: FeatureCounts,
    features: Sequence[int],
    expert_of: Sequence[int],
    n_experts: int,
    y: int,
    prior: NDArray,
    k: float,
    left_out: int | None,
) -> NDArray:
    """The evidence of each expert for a label at a token with these features."""
    said = np.zeros(n_experts)
    for f in features:
        said[expert_of[f]] += evidence(counts, f, y, prior, k, left_out)
    return said


def pair_expectations(sentences: Sequence[Sequence[Mapping[int, float]]], scores: NDArray) -> NDArray:
    """Expected pair counts; P(y, y') of an edge is proportional to P(y) P(y') exp(score)."""
    expected = np.zeros_like(scores)
    boundary = {len(scores) - 1: 1.0}
    for sentence in sentences:
        around = [boundary, *sentence, boundary] if sentence else []
        for before, after in itertools.pairwise(around):
            joint = {(a, b): p * q * np.exp(scores[a, b]) for a, p in before.items() for b, q in after.items()}
            for (a, b), mass in joint.items():
                expected[a, b] += mass / sum(joint.values())
    return expected


def loss(x: NDArray, candidates: Sequence[Sequence[int]], gold: Sequence[int], w: NDArray, bias: NDArray) -> float:
    """-sum_t log softmax(x w + b)(gold_t), over tokens whose label is a candidate; x has a row for each in turn."""
    total, at = 0.0, 0
    for labels, y in zip(candidates, gold, strict=True):
        scores = x[at : at + len(labels)] @ w + bias[list(labels)]
        at += len(labels)
        if y in labels:
            total += np.logaddexp.reduce(scores) - scores[list(labels).index(y)]
    return total


def ridge(w: NDArray, bias: NDArray, prior: NDArray, mean: float) -> float:
    """(|w - mean|^2 + |b - log P|^2) / 2."""
    pull = np.concatenate([w - mean, bias - np.log(prior)])
    return 0.5 * float(pull @ pull)
