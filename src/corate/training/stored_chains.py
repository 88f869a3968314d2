"""Training on whole sentences whose tokens and training items are on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus.stored_corpus import writing_to
from corate.counting.counts import Tokens
from corate.counting.stored_tokens import StoredTokens
from corate.progress import ProgressEvent
from corate.rows import SparseRows
from corate.training.chains import LEAST_TRIPLES, TUNING_TOKENS, ChainTraining
from corate.training.memory import check_weights_fit
from corate.training.options import ChainMethod
from corate.training.start import RunContext, Start
from corate.training.start_from_counts import StartFromCounts
from corate.training.stored_counting import edge_rows_of, triples_of
from corate.training.stored_items import StoredItems

__all__ = ["StoredChainTraining"]


class StoredChainTraining(ChainTraining):
    """Training whose tokens and training items are on disk."""

    start: StartFromCounts

    def __init__(
        self,
        method: ChainMethod,
        start: StartFromCounts,
        context: RunContext,
        pieces: Sequence[NDArray[np.int64]],
        folder: Path,
        memory_bytes: int,
    ) -> None:
        assert start.counted.stored is not None
        self.stored: StoredTokens = start.counted.stored
        self.pieces, self.folder, self.memory_bytes = pieces, folder, memory_bytes
        super().__init__(method, start, context)

    def _n_tokens(self, start: Start) -> int:
        return int(self.stored.offsets[-1])

    def _some_unknown(self) -> bool:
        words = self.start.counts.of_template(0)
        return int(words.counts.sum()) < self._n_tokens(self.start)

    def _edge_rows(self, initial: SparseRows) -> SparseRows:
        return edge_rows_of(self.stored, self.start.vocabulary, self.start.edge_templates, self.start.n_labels)

    def _triples(self, initial: SparseRows) -> SparseRows:
        if self.order == 1:
            return SparseRows()
        return triples_of(self.stored, self.start.n_labels, LEAST_TRIPLES, boundaries=self.method.boundaries)

    def _tuning_tokens(self) -> tuple[Tokens, Tokens]:
        blocks = self.start.sample(self.stored.outline(), TUNING_TOKENS)
        return self.stored.take(blocks[::2]), self.stored.take(blocks[1::2])

    def chains_of(self, sentences: NDArray[np.int64]) -> _native.Chains:
        """The native items of a few sentences, from the stored tokens."""
        lost = self.start.lost
        items = self.items(self.stored.take(sentences), self.start.tables(), training=True)
        self.start.lost = lost  # the record is of all sentences, not of these
        return items.chains

    def _training_items(self) -> StoredItems:
        start = self.start
        check_weights_fit(start, len(self.edge_rows.labels), self.p.cutoff, self.memory_bytes)
        if self.p.cutoff > 1:
            start.drop_rare(self.p.cutoff)
            self.initial = start.initial_weights(self.p.temper, self.p.edge)
        with writing_to(self.folder):
            items, lost = StoredItems(self.folder / "items", self.stored, self.pieces, self), None
        for k, sentences in enumerate(self.pieces):
            self.context.progress(ProgressEvent("preparing sentences", k / len(self.pieces)))
            arrays = self.arrays(self.stored.take(sentences), start.tables(), training=True)
            if start.lost is not None:
                lost = start.lost + (0 if lost is None else lost)
            with writing_to(self.folder):
                items.add(arrays)
        start.lost = lost
        start.forget_tables()
        return items
