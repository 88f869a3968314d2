"""Training items on disk: a file for each piece of the corpus, which stochastic passes read one after another.

While steps are made for one piece, the next one is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.pooling import Candidates
from corate.counting.stored_tokens import StoredTokens
from corate.optimize.checkpoint import digest_of
from corate.optimize.pieces import Numbers, order_of_pass, parts_of_piece
from corate.rows import offsets_of
from corate.training.chains import ChainTraining
from corate.training.items import ItemArrays, StepsOf
from corate.training.problem import Problem, native_nodes, pieces_of_half
from corate.training.separate import SeparateTraining
from corate.types import F32

__all__ = ["PieceFiles", "StoredItems", "StoredNodes", "StoredPieces"]


class PieceFiles:
    """The arrays of pieces in files of a new folder, one for each piece.

    >>> from corate.corpus.stored_corpus import temporary_folder
    >>> files = PieceFiles(temporary_folder() / "pieces")
    >>> files.add([np.array([1, 2]), None])
    >>> files.read(0)
    [array([1, 2]), None]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._contents: list[list[tuple[np.dtype[Any], int] | None]] = []  # type and length of each array
        folder.mkdir()

    def __len__(self) -> int:
        return len(self._contents)

    def add(self, arrays: Iterable[NDArray[Any] | None]) -> None:
        """Write the arrays of the next piece; an array may be None."""
        contents: list[tuple[np.dtype[Any], int] | None] = []
        with self._path(len(self)).open("wb") as file:
            for array in arrays:
                contents.append(None if array is None else (array.dtype, len(array)))
                if array is not None:
                    file.write(np.ascontiguousarray(array).data)
        self._contents.append(contents)

    def read(self, piece: int) -> list[Any]:
        """The arrays of a piece."""
        with self._path(piece).open("rb") as file:
            return [None if entry is None else _read(file, *entry) for entry in self._contents[piece]]

    def _path(self, piece: int) -> Path:
        return self.folder / str(piece)


@dataclass(frozen=True, eq=False)
class StoredPieces:
    """Pieces that are loaded from disk. Before the first pass, the tokens they were made from are removed."""

    tokens: StoredTokens
    pieces: Sequence[Sequence[int] | Numbers]  # the items of each piece, of which only the number is used
    load: Callable[[int], Any]  # returns what makes the steps of a piece

    def parts(self, random: np.random.Generator) -> Iterator[tuple[Any, Numbers]]:
        """The parts of a pass. While steps are made for one piece, the next one is read."""
        self.tokens.remove()
        plan = [*order_of_pass(self.pieces, random)]
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self.load, plan[0][0])
            for n, (_, order) in enumerate(plan):
                steps = ahead.result()
                for k, part in enumerate(parts_of_piece(order)):
                    yield steps, part
                    if k == 0 and n + 1 < len(plan):  # now nothing refers to the piece before
                        ahead = reader.submit(self.load, plan[n + 1][0])


def _read(file: BinaryIO, dtype: np.dtype[Any], length: int) -> NDArray[Any]:
    found = np.fromfile(file, dtype, length)
    if len(found) < length:
        raise OSError(f"{file.name} is shorter than it was written")
    return found


class StoredItems:
    """The sentences of a corpus as training items, in files of a new folder: one for each piece.

    Steps for sentences of different pieces can be made only before the first pass. Then the tokens are removed from the
    disk.
    """

    def __init__(self, folder: Path, tokens: StoredTokens, pieces: Sequence[Numbers], training: ChainTraining) -> None:
        self.tokens, self.pieces, self.training = tokens, pieces, training
        self.pruned_gold: Numbers | None = None  # the labels that pruning lost
        self.size = len(training.initial_vector())
        self._files = PieceFiles(folder)
        self._visits = np.zeros(len(training.slots), np.int64)
        self._edge_visits = np.zeros(len(training.edge_rows), np.int64)

    def add(self, arrays: ItemArrays) -> None:
        """Write the next piece, and count its features."""
        self._visits += _native.occurrences(arrays.features[1], len(self._visits))
        if arrays.edges is not None:
            self._edge_visits += _native.occurrences(arrays.edges[1], len(self._edge_visits))
        if arrays.pruned_gold is not None:
            self.pruned_gold = arrays.pruned_gold if self.pruned_gold is None else self.pruned_gold + arrays.pruned_gold
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

    # -- a stochastic run: see ItemStore ---------------------------------------------------------------------------

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
        return self._some(order).pass_over(state, np.arange(len(order), dtype=np.int64), *arguments)

    def perceptron(self, state: F32, order: Numbers, time: float, step: float) -> F32:
        """Make perceptron steps for a few sentences, in place. Returns their numbers of mislabelled tokens."""
        return self._some(order).perceptron(state, np.arange(len(order), dtype=np.int64), time, step)

    def _some(self, sentences: Numbers) -> _native.Chains:
        """The native items of a few sentences, from the tokens."""
        tables = self.training.start.tables()
        return self.training.items(self.tokens.take(sentences), tables, training=True).chains


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


class StoredNodes:
    """The tokens of a corpus that change the weights, in files of a new folder: one for each piece.

    ``halves`` has the half of each piece.
    """

    def __init__(self, folder: Path, tokens: StoredTokens, halves: Sequence[int], training: SeparateTraining) -> None:
        self.tokens, self.halves, self.training = tokens, halves, training
        self._lengths: list[int] = []
        self._visits = np.zeros(len(training.slots), np.int64)
        self._files = PieceFiles(folder)

    def add(self, problem: Problem) -> None:
        """Write the next piece, and count its features."""
        self._visits += problem.visits(len(self._visits))
        kept, (places, ids), candidates = problem.useful, problem.features, problem.candidates
        widths, lengths = np.diff(candidates.offsets), np.diff(places)
        own = np.repeat(kept, widths)
        arrays: list[NDArray[Any]] = [
            offsets_of(lengths[kept]),
            ids[np.repeat(kept, lengths)],
            offsets_of(widths[kept]),
            candidates.labels[own],
            candidates.backoff[own],
            problem.gold[kept],
        ]
        self._files.add(arrays)
        self._lengths.append(int(kept.sum()))

    def load(self, piece: int) -> _native.Nodes:
        """The native model of a piece."""
        places, ids, offsets, labels, base, gold = self._files.read(piece)
        slots, n_labels = self.training.slots, self.training.n_labels
        return native_nodes(slots, n_labels, (places, ids), None, Candidates(offsets, labels, base), gold)

    # -- a stochastic run: see NodeItems -------------------------------------------------------------------------

    @property
    def nodes(self) -> StoredNodes:
        """Has the number of weights. Steps are made by the pieces."""
        return self

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.training.slots.labels)

    def items(self, half: int | None) -> Numbers:
        """As many numbers as there are tokens to visit. They take no memory: the pieces have the real ones."""
        return np.broadcast_to(np.int64(0), sum(len(piece) for piece in self._pieces(half)))

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs, in both halves."""
        assert len(self._visits) == features
        return self._visits

    def in_pieces(self, seed: int, half: int | None) -> StoredPieces:
        """The pieces, which the seed has cut already."""
        numbers = pieces_of_half(self.halves, half)
        return StoredPieces(self.tokens, self._pieces(half), lambda piece: self.load(numbers[piece]))

    def _pieces(self, half: int | None) -> list[range]:
        return [range(self._lengths[k]) for k in pieces_of_half(self.halves, half)]

    def arrays(self) -> Iterator[NDArray[Any] | None]:
        """The arrays that the fit depends on, for a hash."""
        yield self._visits
        for piece in range(len(self._files)):
            yield from self._files.read(piece)
