"""The back-off: node scores of the empirical method from counts of words and their neighbours.

The formulas are in ``native/counting/backoff.cpp``. This module has the two presets, the parameters that can be tuned,
the scores of held-out tokens, and the conversion of a tuned back-off into the rows and weights of a chain model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.counting.counts import Counts, Table, Tokens
from corate.features.templates import Atom, Template, parse
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.rows import LabelRows, SparseRows
from corate.types import F32, Ids

__all__ = [
    "DEFAULT",
    "FLOOR",
    "MOST_CANDIDATES",
    "PAPER",
    "PRESETS",
    "BackoffParameters",
    "BackoffPreset",
    "BackoffTables",
    "NodeParts",
    "backoff_tables",
    "neighbour_values",
    "pair_weights",
]


#: The keys of pairs of values, and the label counts of each.
KeyedTable = tuple[NDArray[np.uint64], Table]

#: A word has at most this many candidates, the most frequent of the labels it was seen with: a step of decoding
#: compares all pairs of two words' candidates.
MOST_CANDIDATES = 1000

#: The score of a label that is not a candidate of the back-off.
FLOOR = float(portable_math.log(1e-6))
_NO_LIMIT = 1 << 60  # no word has this many tokens: all types count


@dataclass(frozen=True)
class BackoffPreset:
    """The levels of a back-off, from specific to general, and whether it uses neighbouring words."""

    name: str
    levels: tuple[str, ...]
    rare_only: tuple[bool, ...]
    neighbours: bool

    def within(self, vocabulary: Vocabulary, word: str) -> BackoffPreset:
        """The preset for a vocabulary. In a model of an older version, levels with learned lexicons may be missing."""
        kept = [atom in vocabulary.levels or not atom.function.learns for atom in self.atoms(word)]
        return replace(self, levels=tuple(compress(self.levels, kept)), rare_only=tuple(compress(self.rare_only, kept)))

    def atoms(self, word: str) -> tuple[Atom, ...]:
        """The levels as word functions of the column that holds the words."""
        return tuple(parse(f"{level.replace('word', word)}").atoms[0] for level in self.levels)

    def templates(self, word: str) -> tuple[Template, ...]:
        """The templates that are counted: words, and pairs of neighbours."""
        texts = [f"{word}[0]"]
        if self.neighbours:
            texts += [f"{word}[-1]|{word}[0]", f"{word}[0]|{word}[1]"]
        return tuple(parse(t) for t in texts)

    def derived(self, word: str) -> tuple[Template, ...]:
        """The templates that are derived from the pairs when a model is built: neighbours of unseen word classes."""
        texts = [f"{word}[-1]|unseen_class({word}[0])", f"unseen_class({word}[0])|{word}[1]"]
        return tuple(parse(t) for t in texts) if self.neighbours else ()


#: Word, lower-case word, related words, class with the last five to one letters, class, prior; left and right
#: neighbours.
DEFAULT = BackoffPreset(
    "default",
    (
        "lower(word[0])",
        "related_start(word[0])",
        *(f"ending(word[0], {n})" for n in (5, 4, 3, 2, 1)),
        "letter_class(word[0])",
    ),
    (False, True, True, True, True, True, True, True),
    True,
)

#: The paper's back-off (section "Fully Empirical"): word, then the average over all word types of the same spelling.
PAPER = BackoffPreset("paper", ("spelling(word[0])",), (False,), False)

PRESETS = {preset.name: preset for preset in (DEFAULT, PAPER)}


@dataclass(frozen=True)
class BackoffParameters:
    """The parameters of a back-off, under the names that users see."""

    word_k: float = 0.5  # weight of the levels against a word's own counts, in tokens
    lower_k: float = 0.25  # the same, in types, for the lower-case form
    rung_k: float = 4.0  # and for the other levels
    rare: int = 10  # words with at most this many tokens are counted in the levels
    pair_k: float = 2.0  # smoothing of neighbour pairs
    class_k: float = 4.0  # smoothing of neighbours of unseen words
    neighbour: float = 0.7  # weight of neighbour pairs
    context: float = 0.7  # weight of neighbours of unseen words
    oov: float = 1.0  # mu as a weight: P(y | x) ** mu for unseen words
    oov_constant: float = 1.0  # mu as a factor, as in the paper: mu P(y | x), which cannot change the best path
    edge: float = 0.75  # weight of the label pairs
    edge_k: float = 0.5  # smoothing of the co-occurrence rates
    threshold: float = 1e-4  # labels less probable than this share of the best label are not candidates
    cap: int = 48  # the most candidates of a word, apart from the labels it was seen with

    @classmethod
    def of(cls, preset: BackoffPreset) -> BackoffParameters:
        """The default values, which tuning starts from."""
        if preset is PAPER:
            return cls(word_k=0.0, lower_k=0.0, rung_k=0.0, neighbour=0.0, context=0.0, edge=1.0)
        return cls()

    def derive(self, backoff: _native.Backoff, preset: BackoffPreset) -> None:
        """Derive the probabilities of a native back-off with these values."""
        rare = [self.rare if only else _NO_LIMIT for only in preset.rare_only]
        backoff.derive(self.ks(preset), rare, self.word_k, 0.1)

    def ks(self, preset: BackoffPreset) -> list[float]:
        """The smoothing constant of each level."""
        return [self.lower_k if "lower" in level else self.rung_k for level in preset.levels]


@dataclass(frozen=True, eq=False)
class NodeParts(LabelRows):
    """Candidate labels of tokens, and the parts of their scores, not yet weighted and summed."""

    word: F32
    left: F32
    right: F32
    context: F32
    known: NDArray[np.bool_]

    ENTRIES: ClassVar[tuple[str, ...]] = ("labels", "word", "left", "right", "context")

    def scores(self, p: BackoffParameters) -> F32:
        """log P(y | word), weighted for unseen words, plus the weighted neighbours."""
        scores = self.word + np.float32(p.neighbour) * (self.left + self.right)
        if p.oov != 1.0:
            scores = scores + np.float32(p.oov - 1.0) * self.word * ~np.repeat(self.known, self.lengths)
        if p.oov_constant != 1.0:
            scores = scores + np.float32(portable_math.log(p.oov_constant)) * ~np.repeat(self.known, self.lengths)
        scores += np.float32(p.context) * self.context
        return np.asarray(scores, dtype=np.float32)


_EMPTY = Table.empty()


class BackoffTables:
    """The tables that a back-off reads: words, neighbour pairs, and the neighbours of unseen words."""

    def __init__(
        self, vocabulary: Vocabulary, preset: BackoffPreset, word: str, tables: dict[int, Table], n_labels: int
    ) -> None:
        self.vocabulary, self.preset, self.n_labels = vocabulary, preset.within(vocabulary, word), n_labels
        atoms = self.preset.atoms(word)
        values = vocabulary.map.values_of
        self.level_functions = [vocabulary.function_index(atom) for atom in atoms]
        self.level_ids = np.stack([values(f) for f in self.level_functions])
        n_words = self.level_ids.shape[1]
        self.words = tables[0].between(BOUNDARIES, len(tables[0])).padded(n_words).capped(MOST_CANDIDATES)
        self.backoff = _native.Backoff(*self.words.arrays(), self.level_ids, n_labels)
        self.left = tables.get(1, _EMPTY)
        self.right = tables.get(2, _EMPTY)
        self.classes_of = self.level_ids[-1]
        self._contexts: tuple[int, tuple[NDArray[np.uint64], Table], tuple[NDArray[np.uint64], Table], Table] | None = (
            None
        )

    def contexts(self, rare: int) -> tuple[KeyedTable, KeyedTable, Table]:
        """Counts of (left word, class), (class, right word) and class, over words of at most ``rare`` tokens."""
        if self._contexts is not None and self._contexts[0] == rare:
            return self._contexts[1:]
        totals = self.words.totals()
        found = [self._pair_contexts(t, totals, rare) for t in (1, 2)]
        is_rare = (totals > 0) & (totals <= rare)
        ids = np.where(is_rare, self.classes_of, -1)[self.words.owners]
        entries = np.repeat(np.arange(len(self.words.counts)), np.where(ids >= 0, self.words.counts, 0))
        n_classes = int(self.classes_of.max(initial=-1)) + 1
        classes = Table(
            *_native.count_table(ids[entries].astype(np.int32), self.words.labels[entries], n_classes, self.n_labels)
        )
        self._contexts = (rare, found[0], found[1], classes)
        return found[0], found[1], classes

    def _pair_contexts(self, t: int, totals: NDArray[np.int64], rare: int) -> KeyedTable:
        """Counts of the neighbours of word classes, from the neighbour pairs of template ``t``."""
        table = self.left if t == 1 else self.right
        keys = self.vocabulary.map.keys(t)[1][: len(table)] if self.preset.neighbours else np.zeros(0, np.uint64)
        return self.class_contexts(t, keys, table, totals, rare)

    def class_contexts(
        self, t: int, keys: NDArray[np.uint64], pairs: Table, totals: NDArray[np.int64], rare: int
    ) -> KeyedTable:
        """Counts of the neighbours of word classes, from some neighbour pairs of template ``t``."""
        found, offsets, labels, counts = _native.class_contexts(
            keys, pairs.arrays(), t == 2, self.classes_of, totals, rare, self.n_labels
        )
        return found, Table(offsets, labels, counts)

    def parts(self, p: BackoffParameters, tokens: Tokens, left_out: Ids | None = None) -> NodeParts:
        """Candidates and score parts of tokens. Given their labels as ``left_out``, counts leave out each token."""
        assert tokens.words is not None
        p.derive(self.backoff, self.preset)
        left, right, classes = self.contexts(p.rare)
        ids = np.full((4, len(tokens.words)), -1, dtype=np.int32)
        if self.preset.neighbours:
            ids[0] = _seen(tokens.features[1], len(self.left))
            ids[1] = _seen(tokens.features[2], len(self.right))
            keys = neighbour_values(tokens)
            cls = (self.classes_of[tokens.words].astype(np.int64) + BOUNDARIES).astype(np.uint64)
            shift = np.uint64(32)
            ids[2] = _native.match_keys(left[0], keys[0] << shift | cls)
            ids[3] = _native.match_keys(right[0], cls << shift | keys[1])
        offsets, labels, word, from_left, from_right, context, known = self.backoff.lattice(
            tokens.words,
            ids,
            self.left.arrays(),
            self.right.arrays(),
            left[1].arrays(),
            right[1].arrays(),
            self.classes_of,
            classes.arrays(),
            p.pair_k,
            p.class_k,
            p.rare,
            p.threshold,
            p.cap,
            left_out,
        )
        return NodeParts(offsets, labels, word, from_left, from_right, context, known.astype(bool))

    def compiled(self, p: BackoffParameters) -> tuple[SparseRows, list[int], dict[int, SparseRows]]:
        """The back-off as part of a chain model: its rows, where the rows of each level begin, and weights by template.

        The rows of words hold scores. Those of the levels and of the prior hold label shares, for unseen words.
        The neighbour templates have weights. So have the last two templates of the vocabulary, the neighbours of
        unseen words; their features are added to the vocabulary here.
        """
        parts = self.row_parts(p)
        weights = self.template_weights(p, parts[0])
        return SparseRows.joined(parts), np.cumsum([len(part) for part in parts])[:-1].tolist(), weights

    def row_parts(self, p: BackoffParameters) -> list[SparseRows]:
        """The rows of the words, of each level, and of the prior."""
        p.derive(self.backoff, self.preset)
        words = SparseRows(*self.backoff.word_rows(p.threshold, p.cap))
        return [words, *(SparseRows(*self.backoff.level_shares(r)) for r in range(len(self.level_ids) + 1))]

    def template_weights(self, p: BackoffParameters, words: SparseRows) -> dict[int, SparseRows]:
        """The weights by template, given the rows of the words."""
        weights: dict[int, SparseRows] = {}
        if self.preset.neighbours:
            for t, table in ((1, self.left), (2, self.right)):
                keys = self.vocabulary.map.keys(t)[1][: len(table)]
                weights[t] = pair_weights(t, keys, table, words, p)
            weights.update(self._unseen_weights(p))
        return weights

    def _unseen_weights(self, p: BackoffParameters) -> dict[int, SparseRows]:
        left, right, classes = self.contexts(p.rare)
        n = self.n_labels
        counts = np.ones((len(classes), n))
        counts[classes.owners, classes.labels] += classes.counts
        log_p = portable_math.log(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
        rows = SparseRows(
            np.arange(len(classes) + 1, dtype=np.int64) * n,
            np.tile(np.arange(n, dtype=np.int32), len(classes)),
            log_p.ravel(),
        )
        last = len(self.vocabulary.templates)
        weights = {}
        for t, (keys, table), shift in ((last - 2, left, 0), (last - 1, right, 32)):
            first = (keys >> np.uint64(32)).astype(np.int32)
            second = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
            own = (second if shift == 0 else first) - BOUNDARIES
            found = SparseRows(*_native.context_weights(table.arrays(), own, rows.arrays(), p.class_k, p.context))
            ids = self.vocabulary.map.intern_pairs(t, first, second)
            weights[t] = _placed(found, ids, int(self.vocabulary.map.sizes()[t]))
        return weights


def pair_weights(t: int, keys: NDArray[np.uint64], table: Table, words: SparseRows, p: BackoffParameters) -> SparseRows:
    """The weights of neighbour pairs of template ``t``, given the rows of the words."""
    shift = np.uint64(0 if t == 1 else 32)
    centre = ((keys >> shift & np.uint64(0xFFFFFFFF)).astype(np.int64) - BOUNDARIES).astype(np.int32)
    return SparseRows(*_native.context_weights(table.arrays(), centre, words.arrays(), p.pair_k, p.neighbour))


def _placed(rows: SparseRows, places: Ids, size: int) -> SparseRows:
    """Rows moved to other places among ``size`` rows; the other rows are empty."""
    source = np.full(size, len(rows))
    source[places] = np.arange(len(rows))
    return rows.padded(len(rows) + 1).take(source)


def _seen(ids: Ids, known: int) -> Ids:
    return np.where(ids < known, ids, -1).astype(np.int32)


def neighbour_values(tokens: Tokens) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The ids of word[-1] and word[1] at each token, with boundaries, as in the vocabulary."""
    assert tokens.words is not None
    words = tokens.words.astype(np.uint64) + np.uint64(BOUNDARIES)
    left = np.roll(words, 1)
    right = np.roll(words, -1)
    lengths = np.diff(tokens.offsets)
    left[tokens.offsets[:-1][lengths > 0]] = 0
    right[tokens.offsets[1:][lengths > 0] - 1] = BOUNDARIES // 2
    return left, right


def backoff_tables(
    counts: Counts, preset: BackoffPreset, word: str, vocabulary: Vocabulary | None = None
) -> BackoffTables:
    """The tables of a back-off, from counts. ``vocabulary`` may have strings that were not counted."""
    bases = counts.vocabulary.bases
    wanted = [counts.vocabulary.templates.index(t) for t in preset.templates(word)]
    tables = {i: counts.table.between(int(bases[t]), int(bases[t + 1])) for i, t in enumerate(wanted)}
    return BackoffTables(vocabulary or counts.vocabulary, preset, word, tables, len(counts.labels))
