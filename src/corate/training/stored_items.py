"""Training items on disk: a file for each piece of the corpus, which stochastic passes read one after another."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.stored_tokens import StoredTokens
from corate.optimize.checkpoint import digest_of
from corate.rows import SparseRows
from corate.training.items import ItemArrays, Numbers, StepsOf
from corate.training.start_from_counts import StartFromCounts
from corate.training.stored_pieces import PieceFiles, StoredPieces
from corate.types import F32

__all__ = ["StoredItems"]


class FromStore(Protocol):
    """Training on stored items: what they need of it."""

    start: StartFromCounts
    edge_rows: SparseRows

    def initial_vector(self) -> F32:
        """The initial weights."""
        ...

    def chains(self, arrays: ItemArrays) -> _native.Chains:
        """The native items of arrays."""
        ...

    def chains_of(self, sentences: Numbers) -> _native.Chains:
        """The native items of a few sentences, from the stored tokens."""
        ...


class StoredItems:
    """The sentences of a corpus as training items, in files of a new folder: one for each piece.

    Steps for sentences of different pieces can be made only before the first pass. Then the tokens are removed from the
    disk.
    """

    def __init__(self, folder: Path, tokens: StoredTokens, pieces: Sequence[Numbers], training: FromStore) -> None:
        self.tokens, self.pieces, self.training = tokens, pieces, training
        self.size = len(training.initial_vector())
        self._files = PieceFiles(folder)
        self._visits = np.zeros(len(training.start.slots), np.int64)
        self._edge_visits = np.zeros(len(training.edge_rows), np.int64)

    def add(self, arrays: ItemArrays) -> None:
        """Write the next piece, and count its features."""
        self._visits += _native.occurrences(arrays.features[1], len(self._visits))
        if arrays.edges is not None:
            self._edge_visits += _native.occurrences(arrays.edges[1], len(self._edge_visits))
        self._files.add(_flat(arrays))

    def arrays(self, piece: int) -> ItemArrays:
        """The arrays of a piece."""
        offsets, places, ids, values, starts, labels, base, gold, edge_places, edge_ids = self._files.read(piece)
        return ItemArrays(
            offsets,
            (places, ids),
            values,
            None if starts is None else (starts, labels),
            base,
            gold,
            None if edge_places is None else (edge_places, edge_ids),
        )

    def load(self, piece: int) -> _native.Chains:
        """The native items of a piece."""
        return self.training.chains(self.arrays(piece))

    # -- a stochastic run: see ItemSet ---------------------------------------------------------------------------

    @property
    def chains(self) -> StoredItems:
        """Makes steps for sentences from anywhere in the corpus."""
        return self

    @property
    def sentences(self) -> Numbers:
        """The numbers of the sentences to visit, in ascending order."""
        return np.sort(np.concatenate(self.pieces))

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs."""
        assert len(self._visits) == features
        return self._visits

    def edge_visits(self, features: int) -> Numbers:
        """How often each of the edge features occurs."""
        assert len(self._edge_visits) == features
        return self._edge_visits

    def in_pieces(self, seed: int, steps_of: StepsOf) -> StoredPieces:
        """The pieces, which the seed has cut already."""
        return StoredPieces(self.tokens, self.pieces, lambda piece: steps_of(self.load(piece)))

    def digest(self, initial: F32) -> str:
        """A hash of the items and the initial weights."""
        found = hashlib.blake2b(digest_of([initial]).encode(), digest_size=16)
        for piece in range(len(self.pieces)):
            found.update(digest_of(_flat(self.arrays(piece))).encode())
        return found.hexdigest()

    def pass_over(self, state: F32, order: Numbers, *arguments: Any) -> float:
        """Make AdaGrad steps for a few sentences, in place. Returns the sum of their losses before each step."""
        numbers = np.arange(len(order), dtype=np.int64)
        return self.training.chains_of(order).pass_over(state, numbers, *arguments)

    def perceptron(self, state: F32, order: Numbers, time: float, step: float) -> F32:
        """Make perceptron steps for a few sentences, in place. Returns their numbers of mislabelled tokens."""
        numbers = np.arange(len(order), dtype=np.int64)
        return self.training.chains_of(order).perceptron(state, numbers, time, step)


def _flat(arrays: ItemArrays) -> list[NDArray[Any] | None]:
    """The arrays in the order of the file."""
    none = (None, None)
    return [
        arrays.offsets,
        *arrays.features,
        arrays.values,
        *(arrays.candidates or none),
        arrays.base,
        arrays.gold,
        *(arrays.edges or none),
    ]
