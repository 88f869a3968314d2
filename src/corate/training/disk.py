"""Training on a corpus that is larger than memory.

The vocabulary, the counts and the weights are in memory. Tokens are on disk: first as ids of features, then as training
items, in the pieces that stochastic passes visit one after another. The result is that of training in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.corpus.stored_corpus import StoredCorpus, writing_to
from corate.counting import stored_tokens
from corate.counting.counted_corpus import CountedCorpus, vocabulary_of
from corate.counting.counts import Counts, PairCounts, Table
from corate.counting.ladder import LadderParameters, LadderPreset
from corate.counting.stored_counts import Sizes, StoredCounts
from corate.counting.stored_pairs import StoredPairs
from corate.counting.stored_tokens import StoredTokens
from corate.errors import DataError, FeatureError
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.io.tensor_file import Array, StreamedTensor, unsigned_dtype
from corate.model.chain import ChainModel
from corate.optimize import pieces
from corate.optimize.pieces import Numbers
from corate.progress import ProgressEvent
from corate.rows import SparseRows, offsets_of
from corate.training.chains import ChainTraining
from corate.training.initial_scores import StartFromCounts
from corate.training.items import ItemStore, NodeItems, StoredItems, StoredNodes, split_by_half
from corate.training.separate import PAIR_TOKENS, Sample, SeparateTraining
from corate.training.source import Presets, RunContext, Source

__all__ = [
    "DiskSource",
    "LadderSource",
    "LadderStreams",
    "OnDisk",
    "check_corpus_fits",
    "check_counting_fits",
    "check_node_weights_fit",
    "check_vocabulary_fits",
    "check_weights_fit",
]


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
        """Count the features of templates, and what the ladders need."""
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


def _on_disk(training: ChainTraining | SeparateTraining) -> tuple[StartFromCounts, StoredTokens]:
    """The start and the tokens of a training whose tokens were counted by `DiskSource`."""
    assert isinstance(training.start, StartFromCounts)
    assert isinstance(training.tokens, StoredTokens)
    return training.start, training.tokens


#: The share of the memory limit for pieces and merges; words, their rungs and rows have the rest.
WORKING_SHARE = 0.25


class LadderSource(DiskSource):
    """A corpus on disk whose neighbour pairs are counted on disk, for ladders.

    At most ``most_words`` words are counted: see `CountedWords`.
    """

    def __init__(self, stored: StoredCorpus, folder: Path, memory: int, most_words: int) -> None:
        super().__init__(stored, None, (), folder, memory)
        self.most_words = most_words

    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count what the ladders need. The strings of the corpus are released: only ids are needed from here on."""
        if templates or held_out is not None:
            raise FeatureError("features and held-out text are counted in memory; give more memory")
        return StoredCounts(
            self.stored,
            presets,
            self.folder,
            sizes=Sizes.within(int(WORKING_SHARE * self.memory), context.threads),
            most_words=self.most_words,
            seed=context.seed,
            threads=context.threads,
            progress=lambda done: context.progress(ProgressEvent("counting", done)),
        )

    def streamed(
        self, counted: CountedCorpus, preset: LadderPreset, p: LadderParameters, model: ChainModel
    ) -> LadderStreams:
        """The parts of the model file that stay on disk, and the weights of neighbour pairs, which are written here."""
        assert isinstance(counted, StoredCounts)
        _native.release_memory()
        words = model.rows.between(0, model.rung_bases[0])
        weights = [
            _StoredWeights.write(
                counted.weight_chunks(t, p, words) if preset.neighbours else iter(()),
                pairs.rows,
                self.folder,
                f"weights-{t}",
            )
            for t, pairs in enumerate(counted.pairs_on_disk, start=1)
        ]
        return LadderStreams(model, counted, weights)


@dataclass(frozen=True, eq=False)
class LadderStreams:
    """The tensors of a model file that are on disk: those of neighbour pairs, and those that contain them."""

    model: ChainModel  # all but the neighbour pairs
    counted: StoredCounts
    weights: list[_StoredWeights]

    @property
    def features(self) -> int:
        """The number of features that are on disk."""
        return sum(pairs.rows for pairs in self.counted.pairs_on_disk)

    def tensors(self, *, counts: bool, half: bool) -> dict[str, StreamedTensor]:
        """The tensors by name; with the counts, and with 16 bits for a score if ``half``."""
        _native.release_memory()
        found = self._keys() | self._weights(np.dtype(np.float16 if half else np.float32))
        return found | self._counts() if counts else found

    def _keys(self) -> dict[str, StreamedTensor]:
        found = {}
        for t, pairs in enumerate(self.counted.pairs_on_disk, start=1):
            for name, shift in (("first", 32), ("second", 0)):
                parts = _key_parts(pairs, self.counted.sizes.rows, np.uint64(shift))
                dtype = unsigned_dtype(pairs.largest[name])
                found[f"keys.{t}.{name}"] = StreamedTensor(dtype, pairs.rows, parts)
        return found

    def _weights(self, scores: np.dtype[Any]) -> dict[str, StreamedTensor]:
        """The weights: none of words, those of neighbour pairs, and those of the neighbours of unseen words."""
        own = self.model.weights
        n = len(self.counted.counts.table)
        rest = own.lengths[n:]
        largest = max([int(rest.max(initial=0)), *(w.longest for w in self.weights)])
        labels = max([int(own.labels.max(initial=0)), *(w.largest for w in self.weights)])
        rows = sum(w.rows for w in self.weights) + len(own)
        entries = sum(w.entries for w in self.weights) + len(own.labels)

        def parts(name: str, before: Array, after: Array) -> Callable[[], Iterator[Array]]:
            def read() -> Iterator[Array]:
                yield before
                for stored in self.weights:
                    yield from stored.read(name)
                yield after

            return read

        none = np.zeros(0, np.int32)
        return {
            "weights.lengths": StreamedTensor(
                unsigned_dtype(largest), rows, parts("lengths", np.zeros(n, np.int32), rest)
            ),
            "weights.labels": StreamedTensor(unsigned_dtype(labels), entries, parts("labels", none, own.labels)),
            "weights.scores": StreamedTensor(scores, entries, parts("scores", none, own.scores)),
        }

    def _counts(self) -> dict[str, StreamedTensor]:
        words, on_disk = self.counted.counts.table, self.counted.pairs_on_disk
        rest = int(self.counted.counts.vocabulary.bases[-1]) - len(words)
        rows = len(words) + sum(pairs.rows for pairs in on_disk) + rest
        entries = len(words.labels) + sum(pairs.entries for pairs in on_disk)

        def parts(name: str, before: Array, after: int = 0) -> Callable[[], Iterator[Array]]:
            def read() -> Iterator[Array]:
                yield before
                for pairs in on_disk:
                    for _, _, table in pairs.chunks(self.counted.sizes.rows):
                        yield table.lengths if name == "lengths" else getattr(table, name)
                yield np.zeros(after, np.int64)

            return read

        def dtype(name: str, own: Array) -> np.dtype[Any]:
            return unsigned_dtype(max([int(own.max(initial=0)), *(pairs.largest[name] for pairs in on_disk)]))

        lengths = words.lengths
        return {
            "counts.lengths": StreamedTensor(dtype("length", lengths), rows, parts("lengths", lengths, rest)),
            "counts.labels": StreamedTensor(dtype("label", words.labels), entries, parts("labels", words.labels)),
            "counts.counts": StreamedTensor(dtype("count", words.counts), entries, parts("counts", words.counts)),
        }


@dataclass(frozen=True)
class _StoredWeights:
    """The weights of neighbour pairs, in files. The last rows may have none."""

    folder: Path
    name: str
    rows: int
    entries: int
    longest: int  # row
    largest: int  # label

    @classmethod
    def write(cls, chunks: Iterator[SparseRows], rows: int, folder: Path, name: str) -> _StoredWeights:
        entries, longest, largest, written = 0, 0, 0, 0
        with ExitStack() as stack:
            names = ("lengths", "labels", "scores")
            files = [stack.enter_context((folder / f"{name}-{what}").open("wb")) for what in names]
            for chunk in chunks:
                lengths = chunk.lengths.astype(np.int32)
                for file, array in zip(files, (lengths, chunk.labels, chunk.scores), strict=True):
                    file.write(np.ascontiguousarray(array).data)
                entries, written = entries + len(chunk.labels), written + len(lengths)
                longest = max(longest, int(lengths.max(initial=0)))
                largest = max(largest, int(chunk.labels.max(initial=0)))
            files[0].write(np.zeros(rows - written, np.int32).data)
        return cls(folder, name, rows, entries, longest, largest)

    def read(self, name: str, numbers: int = 1 << 20) -> Iterator[Array]:
        dtype = np.float32 if name == "scores" else np.int32
        with (self.folder / f"{self.name}-{name}").open("rb", buffering=0) as file:
            while len(part := np.fromfile(file, dtype, count=numbers)):
                yield part


def _key_parts(pairs: StoredPairs, rows: int, shift: np.uint64) -> Callable[[], Iterator[Array]]:
    return lambda: (keys >> shift & np.uint64(0xFFFFFFFF) for _, keys, _ in pairs.chunks(rows))


#: The program and its libraries.
PROGRAM_BYTES = 200_000_000

#: Of each token of a corpus that is trained in memory.
TOKEN_BYTES = 400

#: Of each token while a template is counted: its feature and its label, and both sorted.
COUNTED_TOKEN_BYTES = 20

#: Of each token of the pieces in memory, and for each of its features. There are two pieces, and a part of a third.
ITEM_BYTES, ITEM_FEATURE_BYTES, PIECES = 130, 4, 3

#: Of each feature: offsets, totals, and the share of the prior in a visit.
FEATURE_BYTES = 70

#: Of each counted pair of a feature and a label.
PAIR_BYTES = 20

#: Of each weight: with its state, its average, and what undoes a pass. Separate training has no averages, and undoes
#: nothing.
WEIGHT_BYTES, NODE_WEIGHT_BYTES = 48, 24

#: Of each candidate of a token in separate training, if all labels are candidates: its label and its score.
CANDIDATE_BYTES = 8


def check_corpus_fits(tokens: int, memory: int) -> None:
    """Raise DataError if a corpus that is trained in memory needs more memory."""
    _check(f"{tokens:,} token{'s need' if tokens != 1 else ' needs'}", PROGRAM_BYTES + TOKEN_BYTES * tokens, memory)


def check_counting_fits(tokens: int, memory: int) -> None:
    """Raise DataError if counting a corpus on disk needs more memory, whatever its vocabulary is."""
    _check(f"counting {tokens:,} tokens needs", PROGRAM_BYTES + COUNTED_TOKEN_BYTES * tokens, memory)


def check_vocabulary_fits(vocabulary: Vocabulary, tokens: int, of: int, memory: int) -> None:
    """Raise DataError if the vocabulary of the first tokens needs more memory."""
    what = f"after {tokens:,} of {of:,} tokens, the vocabulary needs"
    _check(what, PROGRAM_BYTES + vocabulary.map.bytes(), memory, "give more memory, or fewer templates as features")


def _check(what: str, needed: int, memory: int, advice: str = "give more memory") -> None:
    if needed > memory:
        raise DataError(f"{what} {needed:,} bytes ({needed / 1e9:.2f} GB), more than the limit of {memory:,}; {advice}")


def check_weights_fit(start: StartFromCounts, edge_weights: int, cutoff: int, memory: int) -> None:
    """Raise DataError if training on whole sentences needs more memory; it says which cutoff would fit.

    ``cutoff`` is that of this run: features seen less often have no weights.
    """
    others = PIECES * pieces.PIECE_TOKENS * _item_bytes(start) + WEIGHT_BYTES * edge_weights
    _check_weights(start, others, WEIGHT_BYTES, cutoff, memory)


def check_node_weights_fit(start: StartFromCounts, sample_tokens: int, cutoff: int, memory: int) -> None:
    """Like `check_weights_fit`, for separate training, whose pieces are halves, and which has a sample in memory."""
    item = _item_bytes(start) + (CANDIDATE_BYTES * start.n_labels if start.full else 0)
    tokens = PIECES * pieces.PIECE_TOKENS // 2 + sample_tokens
    _check_weights(start, tokens * item, NODE_WEIGHT_BYTES, cutoff, memory)


def _item_bytes(start: StartFromCounts) -> int:
    return ITEM_BYTES + ITEM_FEATURE_BYTES * len(start.vocabulary.templates)


def _check_weights(start: StartFromCounts, others: int, weight: int, cutoff: int, memory: int) -> None:
    """``weight`` is the memory of a weight, ``others`` that of items and other weights."""
    table = start.counts.table
    lengths = table.lengths
    fixed = PROGRAM_BYTES + others
    fixed += start.vocabulary.map.bytes() * (2 if start.counted.given else 1)  # held-out words are added to a copy
    fixed += FEATURE_BYTES * len(lengths) + PAIR_BYTES * len(table.labels)
    each = weight * len(start.slots.labels) // max(1, len(table.labels))  # parts of labels have weights, too
    needed = fixed + each * int(lengths[start.totals >= cutoff].sum())
    if needed <= memory:
        return
    fitting = _smallest_cutoff(start.totals, lengths, (memory - fixed) // each)
    other = "fewer templates as features" if fitting is None else f"a cutoff of at least {fitting}"
    _check("the vocabulary, the counts and the weights need", needed, memory, f"give more memory, or {other}")


def _smallest_cutoff(totals: NDArray[np.int64], lengths: NDArray[np.int64], most: int) -> int | None:
    """The smallest cutoff that leaves at most so many weights; None if no weights fit.

    >>> _smallest_cutoff(np.array([1, 5, 2, 2]), np.array([1, 3, 1, 2]), most=4)
    3
    """
    if most < 0:
        return None
    order = np.argsort(-totals)
    fit = int(np.searchsorted(np.cumsum(lengths[order]), most, side="right"))  # so many of the most frequent features
    return int(totals[order[fit]]) + 1 if fit < len(order) else 1
