"""Training on text that is larger than memory: when text has to be on disk, and a source that counts it there.

The vocabulary, the counts and the weights are in memory. Tokens are on disk: first as ids of features, then as training
items, in the pieces that stochastic passes visit one after another. For `empirical`, words are counted in memory and
neighbour pairs on disk, and the model file is written without having the pairs in memory. The result is that of
training in memory.

Estimates of memory are those of the peak, within about a tenth. The numbers of bytes were measured on brown, repeated
up to ten million tokens.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.corpus.corpus import first_token
from corate.corpus.stored_corpus import StoredCorpus, writing_to
from corate.counting import stored_tokens
from corate.counting.backoff import BackoffParameters, BackoffPreset
from corate.counting.counted_corpus import CountedCorpus, vocabulary_of
from corate.counting.counts import Counts, PairCounts, Table
from corate.counting.stored_counts import Sizes, StoredCounts
from corate.counting.stored_pairs import StoredPairs
from corate.counting.stored_tokens import StoredTokens
from corate.display import counted
from corate.errors import Argument, ConfigError, CorateWarning, DataError, FeatureError
from corate.features import FeatureSource
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.io.compression import compression_of
from corate.io.tensor_file import Array, StreamedTensor, unsigned_dtype
from corate.memory import free_memory, parse_memory, shown_memory
from corate.model.chain import ChainModel
from corate.optimize import pieces
from corate.optimize.pieces import Numbers, cut_into_pieces
from corate.progress import ProgressEvent
from corate.rows import SparseRows, offsets_of
from corate.training.items import ItemStore, NodeItems, StoredItems, StoredNodes
from corate.training.methods import Method
from corate.training.source import Presets, ReadSource, RunContext

if TYPE_CHECKING:
    from corate.training.chains import ChainTraining
    from corate.training.initial_scores import InitialScoresFromCounts
    from corate.training.separate import SeparateTraining

__all__ = ["DiskSource", "OnDisk", "check_corpus_fits", "limit_passed", "most_strings", "pieces_of", "source_on_disk"]


class DiskSource(ReadSource):
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
            found += np.bincount(piece.require_labels().ids + 1, minlength=len(found) + 1)[1:]
        return found

    def labels_by(self, column: str) -> Table:
        """How often each of `names` was seen with each string of a column."""
        words, labels = np.empty(self.n_tokens, np.int32), np.empty(self.n_tokens, np.int32)
        done = 0
        for piece in self._pieces():
            here = slice(done, done + piece.n_tokens)
            words[here], labels[here] = piece.column(column).ids, piece.require_labels().renumbered(self.places)
            done = here.stop
        return Table(*_native.count_table(words, labels, len(self.strings(column)), len(self.names)))

    def label_sentences(self) -> Iterator[list[str | Any]]:
        """The labels of each sentence, None for an unknown one."""
        for piece in self._pieces():
            yield from (piece.labels_of(s) for s in range(len(piece)))

    def all_known(self) -> bool:
        """Whether the label of every token is known."""
        return bool((self.places >= 0).all()) and all(piece.require_labels().complete for piece in self._pieces())

    def first_token(self, label: int) -> tuple[int, int] | None:
        """The first token with one of `names`, or -1 for an unknown label: its sentence and its place there, from 0."""
        before = 0
        for piece in self._pieces():
            ids = piece.require_labels().renumbered(self.places)
            if (ids == label).any():
                sentence, token = first_token(ids, piece.offsets, label)
                return before + sentence, token
            before += len(piece)
        return None

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
                tokens.add(features, strings[stored.word], piece.require_labels().renumbered(self.places))
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
        _check_weights_fit(training, len(training.edge_rows.labels), self.memory)
        return self._stored(training, StoredItems)

    def nodes(self, training: SeparateTraining) -> tuple[SeparateTraining, NodeItems]:
        """The same for the node model of all tokens."""
        _check_node_weights_fit(training, self.memory)
        return self._stored(training, StoredNodes)

    def _stored(self, training: Any, kind: type[StoredItems | StoredNodes]) -> tuple[Any, Any]:
        start, tokens = training.start, training.tokens
        training = replace(training, frequent_slots=start.frequent_slots(training.p.cutoff))
        with writing_to(self.folder):
            items = kind(self.folder / "items", tokens, self.pieces, training)
        for k, sentences in enumerate(items.pieces):
            training.context.progress(ProgressEvent("preparing sentences", k / len(items.pieces)))
            arrays = training.arrays(tokens.take(sentences), start.tables(), training=True)
            with writing_to(self.folder):
                items.add(arrays)
        items.finish()
        start.forget_tables()
        return training, items


#: The share of the memory limit for pieces and merges; words, their levels and rows have the rest.
WORKING_SHARE = 0.25


class BackoffSource(DiskSource):
    """A corpus on disk whose neighbour pairs are counted on disk, for back-offs.

    At most ``most_words`` words are counted: see `CountedWords`.
    """

    def __init__(self, stored: StoredCorpus, folder: Path, memory: int, most_words: int) -> None:
        super().__init__(stored, None, (), folder, memory)
        self.most_words = most_words

    def count(
        self, templates: Sequence[Template], presets: Presets, context: RunContext, held_out: Corpus | None = None
    ) -> CountedCorpus:
        """Count what the back-offs need. The strings of the corpus are released: only ids are needed from here on."""
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
        self, counted: CountedCorpus, preset: BackoffPreset, p: BackoffParameters, model: ChainModel
    ) -> BackoffStreams:
        """The parts of the model file that stay on disk, and the weights of neighbour pairs, which are written here."""
        assert isinstance(counted, StoredCounts)
        _native.release_memory()
        words = model.rows.between(0, model.level_bases[0])
        weights = [
            _StoredWeights.write(
                counted.weight_chunks(t, p, words) if preset.neighbours else iter(()),
                pairs.rows,
                self.folder,
                f"weights-{t}",
            )
            for t, pairs in enumerate(counted.pairs_on_disk, start=1)
        ]
        return BackoffStreams(model, counted, weights)


@dataclass(frozen=True, eq=False)
class BackoffStreams:
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

        def streamed(name: str, dtype: np.dtype[Any], length: int, before: Array, after: Array) -> StreamedTensor:
            return _joined(
                dtype, length, before, lambda: chain.from_iterable(w.read(name) for w in self.weights), after
            )

        none = np.zeros(0, np.int32)
        return {
            "weights.lengths": streamed("lengths", unsigned_dtype(largest), rows, np.zeros(n, np.int32), rest),
            "weights.labels": streamed("labels", unsigned_dtype(labels), entries, none, own.labels),
            "weights.scores": streamed("scores", scores, entries, none, own.scores),
        }

    def _counts(self) -> dict[str, StreamedTensor]:
        words, on_disk, size = self.counted.counts.table, self.counted.pairs_on_disk, self.counted.sizes.rows
        rest = int(self.counted.counts.vocabulary.bases[-1]) - len(words)
        rows = len(words) + sum(pairs.rows for pairs in on_disk) + rest
        entries = len(words.labels) + sum(pairs.entries for pairs in on_disk)

        def streamed(name: str, largest: str, length: int, after: int = 0) -> StreamedTensor:
            own = getattr(words, name)
            dtype = unsigned_dtype(max([int(own.max(initial=0)), *(pairs.largest[largest] for pairs in on_disk)]))

            def tables() -> Iterator[Array]:
                return (getattr(table, name) for pairs in on_disk for _, _, table in pairs.chunks(size))

            return _joined(dtype, length, own, tables, np.zeros(after, np.int64))

        return {
            "counts.lengths": streamed("lengths", "length", rows, rest),
            "counts.labels": streamed("labels", "label", entries),
            "counts.counts": streamed("counts", "count", entries),
        }


def _joined(
    dtype: np.dtype[Any], length: int, before: Array, between: Callable[[], Iterator[Array]], after: Array
) -> StreamedTensor:
    """A tensor of three parts, of which the second is on disk."""

    def read() -> Iterator[Array]:
        yield before
        yield from between()
        yield after

    return StreamedTensor(dtype, length, read)


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


#: The memory that training in memory takes, by itself and for each byte of text in columns, measured on text of
#: benchmarks/growth.py and on conll2000: empirical, and other methods.
EMPIRICAL, OTHERS = (80_000_000, 14), (200_000_000, 46)

#: The memory that storing text on disk takes, by itself and for each distinct string.
STORED_TEXT = (100_000_000, 100)

#: The memory that counting on disk takes, by itself and for each distinct word; up to a tenth more is accepted.
STORED_EMPIRICAL = (100_000_000, 420)

#: With fewer words, a model would be of little use.
FEWEST_WORDS = 10_000
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


def check_vocabulary_fits(vocabulary: Vocabulary, tokens: int, of: int, memory: int) -> None:
    """Raise DataError if the vocabulary of the first tokens needs more memory."""
    what = f"after {tokens:,} of {of:,} tokens, the vocabulary needs"
    _check(what, PROGRAM_BYTES + vocabulary.map.bytes(), memory, "give more memory, or fewer templates as features")


def _check(what: str, needed: int, memory: int, advice: str = "give more memory") -> None:
    if needed > memory:
        raise DataError(f"{what} {needed:,} bytes ({needed / 1e9:.2f} GB), more than the limit of {memory:,}; {advice}")


def _check_weights_fit(training: ChainTraining, edge_weights: int, memory: int) -> None:
    """Raise DataError if training on whole sentences needs more memory; it says which cutoff would fit."""
    others = PIECES * pieces.PIECE_TOKENS * _item_bytes(training) + WEIGHT_BYTES * edge_weights
    _check_weights(training, others, WEIGHT_BYTES, memory)


def _check_node_weights_fit(training: SeparateTraining, memory: int) -> None:
    """Like `_check_weights_fit`, for separate training, whose pieces are halves, and which has a sample in memory."""
    item = _item_bytes(training) + (CANDIDATE_BYTES * training.start.n_labels if training.start.full else 0)
    tokens = PIECES * pieces.PIECE_TOKENS // 2 + training.sample_tokens
    _check_weights(training, tokens * item, NODE_WEIGHT_BYTES, memory)


def _item_bytes(training: ChainTraining | SeparateTraining) -> int:
    return ITEM_BYTES + ITEM_FEATURE_BYTES * len(training.start.vocabulary.templates)


def _check_weights(training: Any, others: int, weight: int, memory: int) -> None:
    """``weight`` is the memory of a weight, ``others`` that of items and other weights.

    Features seen less often than the cutoff of the run have no weights.
    """
    start: InitialScoresFromCounts = training.start
    table = start.counts.table
    lengths = table.lengths
    fixed = PROGRAM_BYTES + others
    fixed += start.vocabulary.map.bytes() * (2 if start.counted.given else 1)  # held-out words are added to a copy
    fixed += FEATURE_BYTES * len(lengths) + PAIR_BYTES * len(table.labels)
    each = weight * len(start.slots.labels) // max(1, len(table.labels))  # parts of labels have weights, too
    needed = fixed + each * int(lengths[start.totals >= training.p.cutoff].sum())
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


def pieces_of(stored: StoredCorpus, seed: int) -> list[Numbers] | None:
    """The pieces of a large corpus; None for a small one."""
    lengths = np.diff(stored.offsets)
    filled = np.flatnonzero(lengths)
    return cut_into_pieces(filled, lengths[filled], seed)


def source_on_disk(stored: StoredCorpus, method: Method, folder: Path, memory: int, seed: int) -> DiskSource:
    """The source for a method. If it only counts, rare words are left out if they do not fit.

    Raises ConfigError for options that are only for training in memory, and DataError if counting needs more memory.
    """
    if method.counts_only:
        words = len(stored.strings[stored.columns.index(stored.word)])
        return BackoffSource(stored, folder, memory, _most_words(words, memory))
    refused = method.refused("disk")
    if refused is not None:
        problem = f"{refused.what} is only for training in memory"
        raise ConfigError(f"{problem}; {refused.remedy}, or give no memory limit", option=refused.option)
    _check(f"counting {stored.n_tokens:,} tokens needs", PROGRAM_BYTES + COUNTED_TOKEN_BYTES * stored.n_tokens, memory)
    return DiskSource(stored, method.unknown, pieces_of(stored, seed) or (), folder, memory)


def limit_passed(
    path: str,
    method: Method,
    memory: int | str | None,
    *,
    features: FeatureSource = None,
    held_out: object = None,
    **others: object,
) -> int | None:
    """The limit in bytes that training on a file would pass, so that the text has to be on disk; None if it fits.

    Standard input and compressed files have no known size: they are stored if a limit is given. ``others`` are
    arguments that need the text in memory. If a limit is given, they raise ConfigError; without a limit, training takes
    the memory that it needs.
    """
    limit, size = _limit(memory), _size(path)
    if limit is None or (size is None and memory is None):
        return None
    program, each = EMPIRICAL if method.counts_only else OTHERS
    need = None if size is None else program + size * each
    if need is not None and need <= limit:
        return None
    problem = _unsupported(method, features, held_out, others)
    if problem is None:
        return limit
    about = "" if need is None else f" (about {shown_memory(need)})"
    if memory is not None:
        other = _stochastic(method)
        able = other is not None and _unsupported(other, features, held_out, others) is None
        stochastic = f"use {Argument('optimizer', 'adagrad')}, " if able else ""
        advice = f"give more memory{about}, {stochastic}or use polish or empirical alone"
        raise ConfigError(problem, advice, option="memory")
    warning = CorateWarning(f"{problem}, so training takes the memory that it needs{about}")
    warnings.warn(warning, stacklevel=3)
    return None


def _stochastic(method: Method) -> Method | None:
    """The method with stochastic passes instead of L-BFGS; None if it already has them, or cannot have them."""
    if method.counts_only or method.in_passes:
        return None
    try:
        return method.changed(optimizer="adagrad")
    except ConfigError:  # with c1
        return None


def _unsupported(method: Method, features: FeatureSource, held_out: object, others: Mapping[str, object]) -> str | None:
    """Why text cannot be trained on from disk, None if it can."""
    named = next((name for name, value in others.items() if value), None)
    if named is not None:
        return f"{Argument(named)} needs the text in memory"
    refused = method.refused("disk", features=features, held_out=held_out)
    if refused is not None:
        return f"{refused.as_argument} needs the text in memory"
    return "a feature function needs the text in memory" if callable(features) else None


def _limit(memory: int | str | None) -> int | None:
    """The limit in bytes, None if there is none."""
    if memory is not None:
        return parse_memory(memory)
    free = free_memory()
    return None if free is None else free // 2


def _size(path: str) -> int | None:
    """The size of the text of a file, None if it is not known."""
    if path == "-" or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return None if compression_of(path, file.read(16)) is not None else os.stat(path).st_size


def most_strings(memory: int) -> int:
    """The number of distinct strings of a text that can be stored on disk within the limit."""
    program, each = STORED_TEXT
    if memory <= program:
        what = f"a memory limit of {shown_memory(memory)} is too small for any text"
        raise ConfigError(f"{what}; give more than {shown_memory(program)}", option="memory")
    return (memory - program) // each


def _most_words(words: int, memory: int) -> int:
    """The number of words that empirical training can count within the limit, given the number of distinct words."""
    program, each = STORED_EMPIRICAL
    need, most = program + each * words, max(0, memory - program) // max(1, each)
    if need <= 1.1 * memory:
        return words
    if most < min(words, FEWEST_WORDS):
        what = f"counting {counted(words, 'distinct word')} needs about {shown_memory(need)}"
        raise DataError(f"{what}, more than the limit of {shown_memory(memory)}; give more memory")
    warnings.warn(
        f"{most:,} of {words:,} distinct words fit in {shown_memory(memory)}; the others, which are rare, are "
        f"left out and will be labelled like unseen words; about {shown_memory(need)} of memory would keep them all",
        stacklevel=2,
    )
    return most
