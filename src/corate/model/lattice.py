"""Lattices: scores of candidate labels at each position and between positions. Decoding and marginals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate import _native

__all__ = ["Lattice"]


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """Sentences ready to decode.

    ``sentences`` are (S + 1,) offsets of tokens, and ``offsets`` are (n + 1,) offsets of candidates. Each candidate has
    one of the ``labels``, ascending within a token, and one of the float32 log-``scores``. ``extra`` are the edge
    features, if edges depend on the observation: offsets and ids by token, then label pairs and scores by feature.

    >>> edges = _native.Edges.dense(np.zeros((3, 3), np.float32))
    >>> scores = np.log(np.array([0.9, 0.1, 0.2, 0.8], np.float32))
    >>> labels = np.array([0, 1, 0, 1], np.int32)
    >>> lattice = Lattice(np.array([0, 2]), np.array([0, 2, 4]), labels, scores, edges)
    >>> lattice.best()[0].tolist(), [round(float(p), 2) for p in lattice.marginals()[1]]
    ([0, 1], [0.9, 0.1, 0.2, 0.8])
    >>> lattice
    Lattice(sentences=1, tokens=2, candidates_per_token=2.0)
    """

    sentences: NDArray[np.int64]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    scores: NDArray[np.float32]
    edges: _native.Edges
    extra: _native.EdgeFeatureArrays | None = None

    def __repr__(self) -> str:
        sentences, tokens = len(self.sentences) - 1, len(self.offsets) - 1
        width = len(self.labels) / max(1, tokens)
        return f"Lattice(sentences={sentences}, tokens={tokens}, candidates_per_token={width:.1f})"

    def best(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The best label of each token (Viterbi), and the score of each sentence's best path."""
        return _native.viterbi(self.sentences, self.offsets, self.labels, self.scores, self.edges, self.extra)

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """log Z of each sentence, and the probability of each candidate (forward-backward)."""
        arrays = (self.sentences, self.offsets, self.labels, self.scores)
        return _native.forward_backward(*arrays, self.edges, self.extra)[:2]

    def label_marginals(self) -> NDArray[np.float64]:
        """The probability of each label at each token, (n, K); 0 for labels that are not candidates.

        >>> edges = _native.Edges.dense(np.zeros((4, 4), np.float32))
        >>> labels, scores = np.array([0, 2, 1], np.int32), np.log(np.array([0.75, 0.25, 1.0], np.float32))
        >>> Lattice(np.array([0, 2]), np.array([0, 2, 3]), labels, scores, edges).label_marginals().tolist()
        [[0.75, 0.0, 0.25], [0.0, 1.0, 0.0]]
        """
        dense = np.zeros((len(self.offsets) - 1, self.edges.n_labels))
        dense[np.repeat(np.arange(len(dense)), np.diff(self.offsets)), self.labels] = self.marginals()[1]
        return dense

    def pair_marginals(self) -> list[NDArray[np.float32]]:
        """P(y, y') of each token but the first of a sentence, in order.

        Rows are the candidates of the previous token, columns those of the token.

        >>> edges = _native.Edges.dense(np.zeros((3, 3), np.float32))
        >>> labels, scores = np.array([0, 1, 0], np.int32), np.log(np.array([0.9, 0.1, 1.0], np.float32))
        >>> Lattice(np.array([0, 2]), np.array([0, 2, 3]), labels, scores, edges).pair_marginals()[0].round(2).tolist()
        [[0.8999999761581421], [0.10000000149011612]]
        """
        arrays = (self.sentences, self.offsets, self.labels, self.scores)
        _, _, flat = _native.forward_backward(*arrays, self.edges, self.extra, with_pairs=True)
        widths = np.diff(self.offsets)
        inner = np.ones(len(widths), dtype=bool)
        inner[self.sentences[:-1][np.diff(self.sentences) > 0]] = False
        shapes = [(int(widths[t - 1]), int(widths[t])) for t in np.flatnonzero(inner)]
        parts = np.split(flat, np.cumsum([m * n for m, n in shapes])[:-1]) if shapes else []
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def path_score(self, sentence: int, labels: NDArray[np.int32]) -> float:
        """The score of one labelling of one sentence; minus infinity if a label is not a candidate."""
        start = int(self.sentences[sentence])
        boundary = self.edges.n_labels
        total, previous, earlier = 0.0, boundary, boundary
        for i, y in enumerate(labels.tolist()):
            a, b = int(self.offsets[start + i]), int(self.offsets[start + i + 1])
            place = a + int(np.searchsorted(self.labels[a:b], y))
            if place == b or self.labels[place] != y:
                return float("-inf")
            total += (
                float(self.scores[place]) + self.edges.at(previous, y) + self.edge_feature_score(start + i, previous, y)
            )
            total += self.edges.triple(earlier, previous, y)
            total -= self.normaliser(start + i, previous) if self.edges.local else 0.0
            previous, earlier = y, previous
        if not len(labels):
            return 0.0
        return total + self.edges.at(previous, boundary) + self.edges.triple(earlier, previous, boundary)

    def normaliser(self, token: int, previous: int) -> float:
        """log sum_y exp(node(y) + edge(previous, y)) over the candidates y of a token."""
        a, b = int(self.offsets[token]), int(self.offsets[token + 1])
        terms = [
            float(score) + self.edges.at(previous, y) + self.edge_feature_score(token, previous, y)
            for y, score in zip(self.labels[a:b].tolist(), self.scores[a:b].tolist(), strict=True)
        ]
        return float(np.logaddexp.reduce(terms))

    def edge_feature_score(self, token: int, previous: int, label: int) -> float:
        """The score that the edge features of a token add to an edge."""
        if self.extra is None:
            return 0.0
        offsets, ids, rows, pairs, scores = self.extra
        pair = previous * (self.edges.n_labels + 1) + label
        total = 0.0
        for feature in ids[offsets[token] : offsets[token + 1]].tolist():
            a, b = int(rows[feature]), int(rows[feature + 1])
            at = a + int(np.searchsorted(pairs[a:b], pair))
            if at < b and pairs[at] == pair:
                total += float(scores[at])
        return total
