"""Training on a corpus that is larger than memory.

The vocabulary, the counts and the weights are in memory. Tokens are on disk: first as ids of features, then as training
items, in the pieces that stochastic passes visit one after another. The result is that of training in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.corpus.stored_corpus import StoredCorpus, writing_to
from corate.counting import stored_tokens
from corate.counting.counted_corpus import CountedCorpus, vocabulary_of
from corate.counting.counts import Counts, PairCounts, Table
from corate.counting.stored_tokens import StoredTokens
from corate.errors import DataError
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.optimize.pieces import Numbers
from corate.progress import ProgressEvent
from corate.rows import offsets_of
from corate.training.chains import ChainTraining
from corate.training.disk_items import StoredItems, StoredNodes
from corate.training.items import ItemStore
from corate.training.memory import check_node_weights_fit, check_vocabulary_fits, check_weights_fit
from corate.training.problem import NodeItems, split_by_half
from corate.training.separate import PAIR_TOKENS, Sample, SeparateTraining
from corate.training.source import Presets, Source
from corate.training.start import RunContext
from corate.training.start_from_counts import InitialScoresFromCounts

__all__ = ["DiskSource", "OnDisk"]


class DiskSource(Source):
    """A corpus on disk. Its tokens and training items are in new folders in ``folder``, which the caller removes.

    ``pieces`` are the sentences that stochastic passes visit one after another. Raises DataError if the vocabulary
    needs more than ``memory`` bytes.
    """

    no_function = "a feature function is only for training in memory; give templates or a preset"

    def __init__(
        self, stored: StoredCorpus, unknown: str | None, pieces: Sequence[Numbers], folder: Path, memory: int
    ) -> None:
        self.stored, self.unknown, self.folder, self.memory = stored, unknown, folder, memory
        self.storage = OnDisk(pieces, folder, memory)
        self.columns, self.word = stored.columns, stored.word
        self.sentences, self.n_tokens = len(stored), stored.n_tokens
        self.layout, self.label_source = stored.layout, stored.label_source
        names = stored.labels.to_list()
        self.labels = self.names = stored.labels
        self.places = np.arange(len(names), dtype=np.int32)  # the ids in ``names`` of labels, -1 of the unknown one
        if unknown is not None and unknown in names:
            if len(names) == 1:
                raise DataError(f"every label is {unknown!r}, which marks unknown labels; label some tokens")
            self.names = StringTable.intern([name for name in names if name != unknown])[0]
            self.places = self.places - (self.places > names.index(unknown))
            self.places[names.index(unknown)] = -1

    def strings(self, column: str) -> StringTable:
        """The strings of a column."""
        return self.stored.strings[self.columns.index(column)]

    def used(self, column: str) -> int:
        """The number of strings of a column, or of labels for the column ``label``."""
        return len(self.labels if column == "label" else self.strings(column))

    def label_counts(self) -> NDArray[np.int64]:
        """The number of tokens of each of `labels`."""
        found = np.zeros(len(self.labels), np.int64)
        for piece in self._pieces():
            found += np.bincount(piece.require_labels().ids, minlength=len(found))
        return found

    def labels_by(self, column: str) -> Table:
        """How often each of `names` was seen with each string of a column."""
        words, labels = np.empty(self.n_tokens, np.int32), np.empty(self.n_tokens, np.int32)
        done = 0
        for piece in self._pieces():
            here = slice(done, done + piece.n_tokens)
            words[here], labels[here] = piece.column(column).ids, self.places[piece.require_labels().ids]
            done = here.stop
        return Table(*_native.count_table(words, labels, len(self.strings(column)), len(self.names)))

    def label_sentences(self) -> Iterator[list[str]]:
        """The labels of each sentence."""
        for piece in self._pieces():
            yield from (piece.labels_of(s) for s in range(len(piece)))

    def all_known(self) -> bool:
        """Whether no token has the unknown label."""
        return bool((self.places >= 0).all())

    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count the features of templates, and what the back-offs need."""
        stored, k = self.stored, len(self.names)
        vocabulary = vocabulary_of(templates, presets, stored.word, self.lexicons)
        tokens = self._tokens(vocabulary, context)
        ids = tokens.labels()
        tables = [
            _native.count_table(tokens.column(t), ids, int(size), k) for t, size in enumerate(vocabulary.map.sizes())
        ]
        pairs = PairCounts(*_native.count_pairs(ids, stored.offsets, k))
        offsets = offsets_of(np.concatenate([np.diff(offsets) for offsets, _, _ in tables]))
        labels, times = (np.concatenate([table[i] for table in tables]) for i in (1, 2))
        counts = Counts(vocabulary, self.names, Table(offsets, labels, times), pairs, self.sentences, self.n_tokens)
        return CountedCorpus(counts, tokens, stored.word, presets, context.seed, held_out=held_out)

    def _tokens(self, vocabulary: Vocabulary, context: RunContext) -> StoredTokens:
        """The tokens as ids, which fill the (empty) vocabulary."""
        stored = self.stored
        with writing_to(self.folder):
            tokens = StoredTokens(self.folder / "tokens", stored.offsets, len(vocabulary.templates))
        done = 0
        for piece in self._pieces():
            features, strings = vocabulary.fit(piece, context.threads)
            with writing_to(self.folder):
                tokens.add(features, strings[stored.word], self.places[piece.require_labels().ids])
            done += piece.n_tokens
            check_vocabulary_fits(vocabulary, done, stored.n_tokens, self.memory)
            context.progress(ProgressEvent("counting", done / stored.n_tokens))
        return tokens

    def _pieces(self) -> Iterator[Corpus]:
        return self.stored.pieces(stored_tokens.PIECE_TOKENS)


@dataclass(frozen=True)
class OnDisk:
    """Training items in files of new folders in ``folder``, in the pieces of sentences that passes visit."""

    pieces: Sequence[Numbers]
    folder: Path
    memory: int

    def chains(self, training: ChainTraining) -> tuple[ChainTraining, ItemStore]:
        """All sentences as items, and the training on them, without weights of rare features."""
        start, tokens = _on_disk(training)
        check_weights_fit(start, len(training.edge_rows.labels), training.p.cutoff, self.memory)
        training = replace(training, frequent_slots=start.frequent_slots(training.p.cutoff))
        with writing_to(self.folder):
            items = StoredItems(self.folder / "items", tokens, self.pieces, training)
        for sentences in self._reported(training.context, self.pieces):
            arrays = training.arrays(tokens.take(sentences), start.tables(), training=True)
            with writing_to(self.folder):
                items.add(arrays)
        start.forget_tables()
        return training, items

    def nodes(self, training: SeparateTraining) -> tuple[SeparateTraining, NodeItems, Callable[[], Sample]]:
        """The node model of all tokens, and what returns the sample that pairs are fitted on, which is in memory."""
        start, tokens = _on_disk(training)
        check_node_weights_fit(start, PAIR_TOKENS, training.p.cutoff, self.memory)
        training = replace(training, frequent_slots=start.frequent_slots(training.p.cutoff))
        pieces = split_by_half(self.pieces, len(tokens.offsets) - 1)
        with writing_to(self.folder):
            items = StoredNodes(self.folder / "items", tokens, [half for half, _ in pieces], training)
        for sentences in self._reported(training.context, [own for _, own in pieces]):
            problem = training.problem(tokens.take(sentences), start.tables(), training=True)
            with writing_to(self.folder):
                items.add(problem)
        sample = training.sample(items)  # before the tokens are removed from the disk
        start.forget_tables()
        return training, items, lambda: sample

    @staticmethod
    def _reported(context: RunContext, pieces: Sequence[Numbers]) -> Iterator[Numbers]:
        for k, sentences in enumerate(pieces):
            context.progress(ProgressEvent("preparing sentences", k / len(pieces)))
            yield sentences


def _on_disk(training: ChainTraining | SeparateTraining) -> tuple[InitialScoresFromCounts, StoredTokens]:
    """The start and the tokens of a training whose tokens were counted by `DiskSource`."""
    assert isinstance(training.start, InitialScoresFromCounts)
    assert isinstance(training.tokens, StoredTokens)
    return training.start, training.tokens
