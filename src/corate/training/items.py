"""Sentences as training items, in memory or on disk: what trainings of weights have in common, and what passes visit.

Items of whole sentences are arrays of the native ``Chains``; items of separate training are tokens, for the native
``Nodes``. Pairs are fitted on cross-fitted node probabilities, so the sentences of a corpus are in two halves, in
blocks. Large corpora are visited piece by piece (see :mod:`corate.optimize.pieces`), and each piece of tokens has
sentences of one half. On disk there is a file for each piece; while steps are made for one, the next one is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Tokens, TokenStore
from corate.counting.pooling import Candidates, Features
from corate.counting.stored_tokens import StoredTokens
from corate.features.vocabulary import Vocabulary
from corate.io.tensor_file import TensorFile
from corate.label_pairs import LabelPairs
from corate.optimize.checkpoint import Checkpoint, digest_of
from corate.optimize.pieces import Numbers, Pieces, PiecesInMemory, cut_into_pieces, order_of_pass, parts_of_piece
from corate.optimize.stochastic import AdaGrad, Steps
from corate.optimize.tuning import Results, coordinate_search
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows, offsets_of, take_rows
from corate.types import F32, Csr, Ids, Offsets

if TYPE_CHECKING:
    from corate.training.chains import ChainTraining
    from corate.training.choices import Parameters
    from corate.training.disk import OnDisk
    from corate.training.separate import Sample, SeparateTraining
    from corate.training.source import RunContext

__all__ = [
    "IN_MEMORY",
    "TUNING_TOKENS",
    "ItemArrays",
    "ItemStore",
    "Items",
    "NodeItems",
    "Numbers",
    "Problem",
    "Storage",
    "StoredItems",
    "StoredNodes",
    "WeightTraining",
    "edge_features",
    "edge_rows",
    "edge_slots",
    "halves_of",
]


#: The number of tokens that tuning trains and evaluates on.
TUNING_TOKENS = 40_000
#: The function of the native items that makes the steps of a pass, or the items themselves.
StepsOf = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class ItemArrays:
    """Sentences as arrays: offsets, features, candidates with base scores, gold labels, and edge features of tokens."""

    offsets: Offsets
    features: Csr
    values: F32 | None
    candidates: Csr | None
    base: F32 | None
    gold: Ids
    edges: Csr | None
    sentence_weights: F32 | None = None
    pruned_gold: Numbers | None = None  # labels that pruning lost, as in `Candidates`


@dataclass(frozen=True, eq=False)
class Items:
    """Sentences as training items in memory."""

    chains: _native.Chains
    tokens: Tokens
    arrays: ItemArrays

    @property
    def sentences(self) -> Numbers:
        """The sentences that are not empty, and whose tokens do not all have weight 0."""
        found = np.flatnonzero(np.diff(self.tokens.offsets) > 0)
        if self.tokens.weights is not None:
            sums = np.add.reduceat(self.tokens.weights, self.tokens.offsets[:-1][found])
            found = found[sums > 0]
        return found

    @property
    def pruned_gold(self) -> Numbers | None:
        """The labels that pruning lost, as in `Candidates`; None without pruning."""
        return self.arrays.pruned_gold

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs."""
        return _native.occurrences(self.arrays.features[1], features)

    def edge_visits(self, features: int) -> Numbers:
        """How often each of the edge features occurs."""
        assert self.arrays.edges is not None
        return _native.occurrences(self.arrays.edges[1], features)

    def in_pieces(self, seed: int, steps_of: StepsOf) -> Pieces | None:
        """The pieces of a large corpus; None for a small one."""
        sentences = self.sentences
        pieces = cut_into_pieces(sentences, np.diff(self.tokens.offsets)[sentences], seed)
        return None if pieces is None else PiecesInMemory(steps_of(self.chains), pieces)

    def digest(self, initial: F32) -> str:
        """A hash of the items and the initial weights."""
        tokens, arrays = self.tokens, self.arrays
        return digest_of((*arrays.features, tokens.labels, tokens.offsets, tokens.weights, initial, arrays.base))


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightTraining:
    """What trainings of weights have in common: where they start, their parameters, and all tokens with their weights.

    A subclass has `arrays`, which makes items of tokens, and `trial`, which fits some and tests on others.
    """

    method: Any
    start: Any
    context: RunContext
    storage: Storage
    p: Parameters
    tokens: TokenStore
    frequent_slots: LabelRows | None = None  # the slots without those of rare features, if they were left out

    #: The options that can be tuned, and the factors of their steps.
    STEPS: ClassVar[Mapping[str, float]] = {}

    @property
    def slots(self) -> LabelRows:
        """The (feature, column) pairs that have a weight, as in `InitialScores`."""
        slots: LabelRows = self.start.slots if self.frequent_slots is None else self.frequent_slots
        return slots

    def trial(self, learn: Tokens, held_out: Tokens) -> Results:
        """What is correct on held-out tokens, with weights that are fitted to others."""
        raise NotImplementedError

    def tuned(self) -> Any:
        """Tune the prior, the weight of the base scores and the cutoff: fit half of a sample, test on the other."""
        blocks = self.start.sample(self.tokens, TUNING_TOKENS)
        learn, held_out = (self.tokens.take(blocks[k::2]) for k in (0, 1))

        def changed(p: Parameters) -> WeightTraining:
            return replace(self, p=p.changed(cutoff=max(1, round(p.cutoff))))

        def report(done: float) -> None:
            self.context.progress(ProgressEvent("tuning", done))

        free = {name: step for name, step in self.method.tunable(self.STEPS).items() if getattr(self.p, name) > 0}
        weights, change = held_out.as_sentences(), type(self.p).changed
        return changed(
            coordinate_search(lambda p: changed(p).trial(learn, held_out), self.p, free, report, weights, change)[0]
        )

    def adagrad(self, steps: Steps, decay: NDArray[Any], items: NDArray[np.int64], **options: Any) -> AdaGrad:
        """A run of AdaGrad over items, before its first pass; ``decay`` is the share of the prior in one visit."""
        usual = {"rate": self.p.rate, "threads": self.context.threads, "seed": self.context.seed}
        return AdaGrad.of(steps, decay.astype(np.float32), items, **usual | options)

    def checkpoint(self, **identity: Any) -> Checkpoint | None:
        """Where the state of the run is kept after each pass, if it is. A run resumes only if all this is the same."""
        if self.method.checkpoint is None:
            return None
        templates = [str(t) for t in self.start.vocabulary.templates]
        common = {"method": self.method.name, "options": self.method.switches(), "settings": self.p.fingerprint}
        identity |= {**common, "seed": self.context.seed, "templates": templates}
        return Checkpoint(TensorFile(self.method.checkpoint), identity)


class InMemory:
    """Items in memory."""

    def chains(self, training: ChainTraining) -> tuple[ChainTraining, ItemStore]:
        """All sentences as items, and the training on them."""
        return training, training.items(training.tokens.in_memory(), training.start.tables(), training=True)

    def nodes(self, training: SeparateTraining) -> tuple[SeparateTraining, NodeItems]:
        """The node model of all tokens."""
        return training, training.arrays(training.tokens.in_memory(), training.start.tables(), training=True)


IN_MEMORY = InMemory()
#: Where the items of a training are.
Storage: TypeAlias = "InMemory | OnDisk"
#: What passes over whole sentences need of their items, and passes over nodes of theirs.
ItemStore: TypeAlias = "Items | StoredItems"
NodeItems: TypeAlias = "Problem | StoredNodes"


def edge_features(tokens: Tokens, bases: NDArray[np.int64], uses: NDArray[np.bool_]) -> Csr:
    """The edge features of tokens, for the templates marked in ``uses``."""
    return Features.of(replace(tokens, attributes=None), bases, uses).arrays()


def edge_rows(tokens: TokenStore, vocabulary: Vocabulary, uses: NDArray[np.bool_], n_labels: int) -> SparseRows:
    """Rows with a slot for every label pair seen with each edge feature, of the templates marked in ``uses``.

    There are no rows without such templates, or if the label pairs are too many for 32-bit ids.
    """
    label_pairs = LabelPairs(n_labels)
    if not uses.any() or len(label_pairs) > np.iinfo(np.int32).max:
        return SparseRows()
    pairs = np.concatenate([label_pairs.along(piece.labels, piece.offsets) for piece in tokens.label_pieces()])
    lengths, seen = [np.zeros(vocabulary.n_attributes, np.int64)], [np.zeros(0, np.int32)]
    for t, rows in enumerate(vocabulary.map.sizes().tolist()):
        if uses[t]:
            starts, labels, _ = _native.count_table(tokens.column(t), pairs, rows, len(label_pairs))
            lengths.append(np.diff(starts))
            seen.append(labels)
        else:
            lengths.append(np.zeros(rows, np.int64))
    return SparseRows.zeros((offsets_of(np.concatenate(lengths)), np.concatenate(seen)))


def edge_slots(
    tokens: Tokens, vocabulary: Vocabulary, uses: NDArray[np.bool_], n_labels: int
) -> tuple[Csr, Csr, NDArray[np.int64]] | None:
    """The label pairs seen with each edge feature, the features of tokens, and how often each feature occurs.

    None if there are no edge features.
    """
    rows = edge_rows(tokens, vocabulary, uses, n_labels)
    if not len(rows):
        return None
    offsets, ids = edge_features(tokens, vocabulary.bases, uses)
    return rows.csr, (offsets, ids), np.maximum(_native.occurrences(ids, len(rows)), 1)


#: The number of blocks of neighbouring sentences, which belong to the two halves in turn.
BLOCKS = 20


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

    sample = None

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


class Stored:
    """Items in files of a new folder, one for each of some pieces of the sentences. `add` writes the next piece."""

    def __init__(self, folder: Path, tokens: StoredTokens, pieces: Sequence[Numbers], training: Any) -> None:
        self.tokens, self.pieces, self.training = tokens, pieces, training
        self._files = PieceFiles(folder)
        self._visits = np.zeros(len(training.slots), np.int64)

    def finish(self) -> None:
        """All pieces are written. Before the first pass, the tokens are removed from the disk."""

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs."""
        assert len(self._visits) == features
        return self._visits


class StoredItems(Stored):
    """The sentences of a corpus as training items. Before the first pass, steps can be made for any sentences."""

    def __init__(self, folder: Path, tokens: StoredTokens, pieces: Sequence[Numbers], training: ChainTraining) -> None:
        super().__init__(folder, tokens, pieces, training)
        self.pruned_gold: Numbers | None = None  # the labels that pruning lost
        self.size = len(training.initial_vector())
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

    def load(self, piece: int) -> Any:
        """The native items of a piece."""
        return self.training.chains(self.arrays(piece))

    # -- a stochastic run: see `ItemStore` ---------------------------------------------------------------------------

    @property
    def chains(self) -> Any:
        """Makes steps for sentences from anywhere in the corpus."""
        return self

    @property
    def sentences(self) -> Numbers:
        """The numbers of the sentences to visit, in ascending order."""
        return np.sort(np.concatenate(self.pieces))

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
        items: Items = self.training.items(self.tokens.take(sentences), tables, training=True)
        return items.chains


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


class StoredNodes(Stored):
    """The tokens of a corpus that change the weights. Each piece has tokens of one half."""

    sample: Sample | None = None

    def __init__(
        self, folder: Path, tokens: StoredTokens, pieces: Sequence[Numbers], training: SeparateTraining
    ) -> None:
        halved = split_by_half(pieces, len(tokens.offsets) - 1)
        super().__init__(folder, tokens, [own for _, own in halved], training)
        self.halves = [half for half, _ in halved]
        self._lengths: list[int] = []

    def finish(self) -> None:
        """All pieces are written. The sample is taken before the tokens are removed from the disk."""
        self.sample = self.training.sample(self)

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
    def nodes(self) -> Any:
        """Has the number of weights. Steps are made by the pieces."""
        return self

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.training.slots.labels)

    def items(self, half: int | None) -> Numbers:
        """As many numbers as there are tokens to visit. They take no memory: the pieces have the real ones."""
        return np.broadcast_to(np.int64(0), sum(len(piece) for piece in self._pieces(half)))

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
