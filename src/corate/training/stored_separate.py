"""Separate training whose tokens and training items are on disk. The sample for pairs and coupling is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus.stored_corpus import writing_to
from corate.counting.counts import Tokens
from corate.counting.pooling import Candidates
from corate.counting.stored_tokens import StoredTokens
from corate.model.chain import ChainModel
from corate.progress import ProgressEvent
from corate.rows import SparseRows, offsets_of
from corate.training.memory import check_node_weights_fit
from corate.training.options import Separate
from corate.training.problem import NodeItems, Numbers, Problem, native_nodes, pieces_of_half, split_by_half
from corate.training.separate import PAIR_TOKENS, SeparateTraining
from corate.training.start import RunContext
from corate.training.start_from_counts import StartFromCounts
from corate.training.stored_pieces import PieceFiles, StoredPieces
from corate.types import F32

__all__ = ["StoredSeparateTraining"]


class StoredSeparateTraining(SeparateTraining):
    """Separate training from disk."""

    def __init__(
        self,
        method: Separate,
        start: StartFromCounts,
        context: RunContext,
        pieces: Sequence[Numbers],
        folder: Path,
        memory_bytes: int,
    ) -> None:
        assert start.counted.stored is not None
        self.stored: StoredTokens = start.counted.stored
        self.pieces = split_by_half(pieces, len(self.stored.offsets) - 1)
        self.folder, self.memory_bytes = folder, memory_bytes
        self.sample: tuple[Numbers, Problem] | None = None
        super().__init__(method, start, context)

    def _tokens(self) -> Tokens:
        return self.stored.outline()

    def _take(self, sentences: Numbers) -> Tokens:
        return self.stored.take(sentences)

    def _all_nodes(self) -> StoredNodes:
        start = self.start
        check_node_weights_fit(start, PAIR_TOKENS, self.p.cutoff, self.memory_bytes)
        if self.p.cutoff > 1:
            start.drop_rare(self.p.cutoff)
        with writing_to(self.folder):
            items = StoredNodes(self.folder / "items", self.stored, [half for half, _ in self.pieces], start)
        for k, (_, sentences) in enumerate(self.pieces):
            self.context.progress(ProgressEvent("preparing sentences", k / len(self.pieces)))
            problem = self.problem(self._take(sentences), start.tables(), training=True)
            with writing_to(self.folder):
                items.add(problem)
        self.sample = super()._sample_of(items)  # before the tokens are removed from the disk
        start.forget_tables()
        return items

    def _sample_of(self, problem: NodeItems) -> tuple[Numbers, Problem]:
        assert self.sample is not None
        return self.sample

    def _model(self, node: F32, edges: F32, extra: SparseRows) -> ChainModel:
        if self.p.cutoff > 1:
            node = self.start.restore_rare(self.p.cutoff, node)
        return super()._model(node, edges, extra)


class StoredNodes:
    """The tokens of a corpus that change the weights, in files of a new folder: one for each piece.

    ``halves`` has the half of each piece.
    """

    def __init__(self, folder: Path, tokens: StoredTokens, halves: Sequence[int], start: StartFromCounts) -> None:
        self.tokens, self.halves, self.start = tokens, halves, start
        self._lengths: list[int] = []
        self._visits = np.zeros(len(start.slots), np.int64)
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
            candidates.ladder[own],
            problem.gold[kept],
        ]
        self._files.add(arrays)
        self._lengths.append(int(kept.sum()))

    def load(self, piece: int) -> _native.Nodes:
        """The native model of a piece."""
        places, ids, offsets, labels, base, gold = self._files.read(piece)
        start = self.start
        return native_nodes(start.slots, start.n_labels, (places, ids), None, Candidates(offsets, labels, base), gold)

    # -- a stochastic run: see NodeItems -------------------------------------------------------------------------

    @property
    def nodes(self) -> StoredNodes:
        """Has the number of weights. Steps are made by the pieces."""
        return self

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.start.slots.labels)

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
