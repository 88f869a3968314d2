"""The node model of separate training: tokens as a maximum entropy model.

Pairs are fitted on cross-fitted node probabilities, so the sentences of a corpus are in two halves, in blocks. Large
corpora are visited piece by piece (see :mod:`corate.optimize.pieces`), and each piece has sentences of one half.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Tokens
from corate.counting.pooling import Candidates
from corate.optimize.pieces import Pieces, PiecesInMemory, cut_into_pieces
from corate.rows import LabelRows, take_rows
from corate.types import F32, Csr, Ids

__all__ = ["NodeItems", "Problem", "halves_of", "native_nodes", "pieces_of_half", "split_by_half"]

#: The number of blocks of neighbouring sentences, which belong to the two halves in turn.
BLOCKS = 20

Numbers = NDArray[np.int64]


class NodeItems(Protocol):
    """What stochastic passes over nodes need of the tokens. ``half`` restricts them to one half: 0 or 1."""

    @property
    def nodes(self) -> Any:
        """Makes steps for tokens from anywhere in the corpus, if it is not in pieces. It has the number of weights."""
        ...

    def items(self, half: int | None) -> Numbers:
        """The numbers of the tokens to visit."""
        ...

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs, in both halves."""
        ...

    def in_pieces(self, seed: int, half: int | None) -> Pieces | None:
        """The pieces of a large corpus; None for a small one."""
        ...

    def arrays(self) -> Iterable[NDArray[Any] | None]:
        """The arrays that the fit depends on, for a hash."""
        ...


@dataclass(frozen=True, eq=False)
class Problem:
    """Tokens with their candidates, and a maximum entropy model with a weight for each seen (feature, label) pair."""

    tokens: Tokens
    candidates: Candidates
    features: Csr
    values: F32 | None  # of the features; None: all are 1
    gold: Ids  # position of each token's label among its candidates
    slots: LabelRows
    n_labels: int

    @cached_property
    def nodes(self) -> _native.Nodes:
        """The native model."""
        weights, candidates = self.tokens.weights, self.candidates
        return native_nodes(self.slots, self.n_labels, self.features, self.values, candidates, self.gold, weights)

    @property
    def useful(self) -> NDArray[np.bool_]:
        """Which tokens change the weights: those with several candidates and a weight above 0."""
        several = self.candidates.lengths > 1
        return several if self.tokens.weights is None else several & (self.tokens.weights > 0)

    def sentences(self, half: int | None) -> Numbers:
        """The sentences that are not empty; if ``half`` has any, only those of this half."""
        lengths = np.diff(self.tokens.offsets)
        own = (lengths > 0) & (halves_of(len(lengths)) == half)
        return np.flatnonzero(own if own.any() else lengths > 0)

    def items(self, half: int | None) -> Numbers:
        """The numbers of the tokens to visit."""
        if half is None:
            return np.flatnonzero(self.useful)
        tokens = take_rows(self.tokens.offsets, self.sentences(half))[1]
        return tokens[self.useful[tokens]]

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs, in both halves."""
        return _native.occurrences(self.features[1], features)

    def in_pieces(self, seed: int, half: int | None) -> Pieces | None:
        """The pieces of a large corpus; None for a small one."""
        offsets, useful = self.tokens.offsets, self.useful
        lengths = np.diff(offsets)
        filled = np.flatnonzero(lengths)
        pieces = cut_into_pieces(filled, lengths[filled], seed)
        if pieces is None:
            return None
        halved = split_by_half(pieces, len(lengths))
        chosen = pieces_of_half([own for own, _ in halved], half)
        tokens = (take_rows(offsets, halved[k][1])[1] for k in chosen)
        return PiecesInMemory(self.nodes, [own[useful[own]] for own in tokens])

    def arrays(self) -> list[NDArray[Any] | None]:
        """The arrays that the fit depends on, for a hash."""
        base, labels, weights = self.candidates.backoff, self.tokens.labels, self.tokens.weights
        return [*self.features, *self.candidates.arrays(), base, labels, self.values, weights]


def native_nodes(
    slots: LabelRows,
    n_labels: int,
    features: Csr,
    values: F32 | None,
    candidates: Candidates,
    gold: Ids,
    weights: F32 | None = None,
) -> _native.Nodes:
    """The native model of some tokens."""
    n = len(gold)
    return _native.Nodes(
        slots.csr,
        n_labels,
        features,
        values,
        candidates.arrays(),
        candidates.backoff,
        (np.arange(n + 1, dtype=np.int64), gold, np.ones(n, np.float32) if weights is None else weights),
    )


def halves_of(sentences: int) -> Numbers:
    """The half of each sentence, 0 or 1.

    >>> halves_of(40)[:6].tolist(), halves_of(1).tolist()
    ([0, 0, 1, 1, 0, 0], [0])
    """
    return np.arange(sentences) * BLOCKS // max(1, sentences) % 2


def split_by_half(pieces: Sequence[Numbers], sentences: int) -> list[tuple[int, Numbers]]:
    """Each piece as two pieces, one for each half, without those that are empty: (half, sentences).

    ``sentences`` is the number of all sentences.
    """
    halves = halves_of(sentences)
    split = ((half, piece[halves[piece] == half]) for piece in pieces for half in (0, 1))
    return [(half, piece) for half, piece in split if len(piece)]


def pieces_of_half(halves: Sequence[int], half: int | None) -> list[int]:
    """The numbers of the pieces of a half; of all pieces if it is None, or if the half has none.

    >>> pieces_of_half([0, 1, 0], 0), pieces_of_half([0, 0], 1)
    ([0, 2], [0, 1])
    """
    return [k for k, own in enumerate(halves) if own == half] or [*range(len(halves))]
