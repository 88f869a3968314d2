"""The order of stochastic passes over large corpora: piece by piece, so that the sentences may be on disk.

The seed cuts a corpus into pieces. Each piece has many short runs of neighbouring sentences, drawn from all over the
corpus. A pass visits the pieces in random order, and the sentences of a piece in random order. The order does not
depend on where the sentences are, in memory or on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pieces", "PiecesInMemory", "cut_into_pieces", "order_of_pass", "parts_of_piece"]

#: A corpus of more tokens is visited in pieces.
LARGE_TOKENS = 2_000_000
#: The number of tokens of a piece.
PIECE_TOKENS = 500_000
#: The number of neighbouring sentences that are in the same piece.
RUN_SENTENCES = 64
#: A corpus has at least so many pieces, so that weights can be saved for the average several times in a pass.
FEWEST_PIECES = 4
#: The steps of a piece are made in this many parts, for progress reports and Ctrl-C.
PARTS_OF_PIECE = 4

Numbers = NDArray[np.int64]


class Pieces(Protocol):
    """Items in pieces."""

    def parts(self, random: np.random.Generator) -> Iterator[tuple[Any, Numbers]]:
        """The parts of a pass: an object that makes steps for some items, and the numbers that they have there."""
        ...


@dataclass(frozen=True, eq=False)
class PiecesInMemory:
    """Pieces of items that are all in one object, which makes the steps."""

    steps: Any
    pieces: Sequence[Numbers]

    def parts(self, random: np.random.Generator) -> Iterator[tuple[Any, Numbers]]:
        """The parts of a pass."""
        for k, order in order_of_pass(self.pieces, random):
            for part in parts_of_piece(order):
                yield self.steps, self.pieces[k][part]


def cut_into_pieces(items: Numbers, lengths: Numbers, seed: int) -> list[Numbers] | None:
    """The pieces of sentences, each in ascending order; None if all together have at most LARGE_TOKENS tokens.

    ``items`` are the numbers of the sentences, ``lengths`` their lengths.

    >>> cut_into_pieces(np.arange(1000), np.full(1000, 2000), seed=0) is None
    True
    >>> pieces = cut_into_pieces(np.arange(1000), np.full(1000, 3000), seed=0)
    >>> len(pieces), sorted(np.concatenate(pieces)) == list(range(1000))
    (6, True)
    """
    tokens = int(lengths.sum())
    if tokens <= LARGE_TOKENS:
        return None
    n = max(FEWEST_PIECES, round(tokens / PIECE_TOKENS))
    size = int(np.clip(len(items) // (FEWEST_PIECES * n), 1, RUN_SENTENCES))
    runs = -(-len(items) // size)
    piece_of_run = np.empty(runs, np.int64)
    piece_of_run[np.random.default_rng([seed, 0, 1]).permutation(runs)] = np.arange(runs) % n
    piece_of = np.repeat(piece_of_run, size)[: len(items)]
    return [piece for k in range(n) if len(piece := items[piece_of == k])]


def order_of_pass(
    pieces: Sequence[Sequence[int] | Numbers], random: np.random.Generator
) -> Iterator[tuple[int, Numbers]]:
    """The pieces in random order: the number of each, and its items in random order."""
    for k in random.permutation(len(pieces)).tolist():
        yield k, random.permutation(len(pieces[k]))


def parts_of_piece(order: Numbers) -> list[Numbers]:
    """The parts of a piece."""
    return np.array_split(order, min(PARTS_OF_PIECE, max(1, len(order))))
