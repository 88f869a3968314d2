"""Sentences and weights, as `_native.Chains` takes them and for the formulas of `reference.chains`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corate import _native
from reference.chains import LOSSES, Token, Weights

Sentences = list[list[Token]]


@dataclass
class Problem:
    """Sentences, and which (feature, label), (edge feature, label pair), label pair and triple have weights."""

    sentences: Sentences
    seen: NDArray[np.bool_]  # (features, labels), and then parts of labels
    edges: NDArray[np.bool_] | None = None  # (edge features, label pairs)
    full: bool = False  # no candidates: all labels everywhere
    weights: list[float] | None = None  # of the sentences
    free: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    triples: NDArray[np.bool_] | None = None  # (labels and the boundary, pairs of those)
    parts: NDArray[np.bool_] | None = None  # (labels, parts): which label has which part

    @property
    def n_labels(self) -> int:
        return self.seen.shape[1] - (0 if self.parts is None else self.parts.shape[1])

    def native(self, loss: str) -> _native.Chains:
        return _native.Chains(**self.arrays(loss))

    def arrays(self, loss: str) -> dict[str, object]:
        tokens = [t for s in self.sentences for t in s]
        base = np.array([b for t in tokens for b in t.base.values()], np.float32)
        values = np.array([v for t in tokens for _, v in t.features], np.float32)
        candidates = offsets([len(t.base) for t in tokens]), ids(y for t in tokens for y in t.base)
        edges = None
        if self.edges is not None:
            edges = (
                slots_of(self.edges),
                (offsets([len(t.edge) for t in tokens]), ids(g for t in tokens for g in t.edge)),
            )
        return {
            "loss": loss,
            "n_labels": self.n_labels,
            "sentences": offsets([len(s) for s in self.sentences]),
            "node_slots": (
                slots_of(self.seen),
                (offsets([len(t.features) for t in tokens]), ids(f for t in tokens for f, _ in t.features)),
            ),
            "values": None if (values == 1).all() else values,
            "candidates": None if self.full else candidates,
            "base": base if base.any() else None,
            "gold": ids(-1 if t.gold is None else list(t.base).index(t.gold) for t in tokens),
            "edge_slots": edges,
            "sentence_weights": None if self.weights is None else np.array(self.weights, np.float32),
            "free_pairs": self.free if self.free.size else np.ones((self.n_labels + 1) ** 2, np.uint8),
            "triples": None if self.triples is None else slots_of(self.triples),
            "parts": None if self.parts is None else (*slots_of(self.parts), self.parts.shape[1]),
        }

    def split(self, weights: NDArray) -> Weights:
        """A flat weight vector as dense arrays."""
        size = self.n_labels + 1
        extra = np.zeros((1 if self.edges is None else len(self.edges), size * size))
        node = np.zeros(self.seen.shape)
        in_extra = 0 if self.edges is None else int(self.edges.sum())
        cuts = np.cumsum([size * size, in_extra, int(self.seen.sum())])
        table, u, w, three = np.split(np.asarray(weights, np.float64), cuts)
        if self.edges is not None:
            extra[self.edges] = u
        node[self.seen] = w
        if self.parts is not None:
            node = node[:, : self.n_labels] + node[:, self.n_labels :] @ self.parts.T
        triple = None
        if self.triples is not None:
            triple = np.zeros((size, size * size))
            triple[self.triples] = three
            triple = triple.reshape(size, size, size)
        return Weights(table.reshape(size, size), extra.reshape(-1, size, size), node, triple)

    def objective(self, loss: str, weights: NDArray, precision: float) -> float:
        w = self.split(weights)
        of_sentences = self.weights or [1.0] * len(self.sentences)
        total = sum(a * LOSSES[loss](s, w) for a, s in zip(of_sentences, self.sentences, strict=True) if s)
        trained = np.ones(len(weights), bool)
        if self.free.size:
            trained[: len(self.free)] = self.free
        return total + 0.5 * precision * float((weights[trained] ** 2).sum())


def offsets(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ids(values: Iterable[int]) -> NDArray[np.int32]:
    return np.array(list(values), np.int32)


def slots_of(seen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return offsets(seen.sum(axis=1).tolist()), np.nonzero(seen)[1].astype(np.int32)


def random_problem(
    seed: int,
    *,
    lengths: tuple[int, ...] = (1, 3, 0, 5, 2),
    labels: int = 3,
    full: bool = False,
    edges: bool = False,
    partial: bool = False,
    weighted: bool = False,
    valued: bool = True,
    triples: bool = False,
    parts: bool = False,
) -> Problem:
    """Numbers are exact in float32; candidates are a subset of the labels unless ``full``, slots always are."""
    rng = np.random.default_rng(seed)
    seen = rng.random((5, labels)) < 0.7
    size = (labels + 1) ** 2
    pairs = rng.random((3, size)) < 0.5 if edges else None
    of_sentences = [float(np.float32(x)) for x in rng.random(len(lengths)) + 0.5] if weighted else None

    def token() -> Token:
        own = np.arange(labels) if full else np.flatnonzero(rng.random(labels) < 0.6)
        own = own if len(own) else rng.integers(labels, size=1)
        numbers = rng.normal(size=4).astype(np.float32).tolist() if valued else [1.0] * 4
        return Token(
            dict(zip(own.tolist(), rng.normal(size=len(own)).astype(np.float32).tolist(), strict=True)),
            None if partial and rng.random() < 0.4 else int(rng.choice(own)),
            [(int(f), v) for f, v in zip(rng.integers(5, size=rng.integers(4)), numbers, strict=False)],
            rng.integers(3, size=rng.integers(3)).tolist() if edges else [],
        )

    sentences = [[token() for _ in range(n)] for n in lengths]
    three = rng.random((labels + 1, size)) < rng.choice([0.2, 0.8, 1.0]) if triples else None
    of_labels = rng.random((labels, 4)) < 0.6 if parts else None
    if parts:
        seen = np.concatenate([seen, rng.random((5, 4)) < 0.7], axis=1)
    return Problem(sentences, seen, pairs, full, of_sentences, triples=three, parts=of_labels)


def weights_for(chains: _native.Chains, seed: int = 1, scale: float = 1.0) -> NDArray[np.float64]:
    """Weights that are exact in float32."""
    return (scale * np.random.default_rng(seed).normal(size=chains.size)).astype(np.float32).astype(np.float64)


def chain_of(scores: list[list[float]], gold: list[int]) -> Problem:
    """One sentence whose node scores are base scores."""
    sentence = [Token(dict(enumerate(row)), y) for row, y in zip(scores, gold, strict=True)]
    return Problem([sentence], np.ones((1, len(scores[0])), bool), full=True)
