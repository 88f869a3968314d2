"""A corpus on disk, counted for the back-offs: words in memory, neighbour pairs on disk.

The counts, the held-out sentences and the tables of the back-offs are those of `counted_corpus`, which has it all in
memory. So is the model that is built from them. If not all words fit in memory, frequent words are counted, and a
random sample of the others: the levels of a back-off learn from rare words how to label unseen words. A word that is
not counted is an unseen word for the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.corpus.stored_corpus import StoredCorpus
from corate.counting.backoff import (
    BackoffParameters,
    BackoffPreset,
    BackoffTables,
    KeyedTable,
    neighbour_values,
    pair_weights,
)
from corate.counting.counted_corpus import MOST_TUNING_COST, CountedCorpus, HeldOut, counted_templates
from corate.counting.counts import Counts, PairCounts, Table, Tokens
from corate.counting.held_out import slices
from corate.counting.stored_pairs import Keys, PairCounter, StoredPairs, entries_of, table_of
from corate.features.related_words import usual_labels_of_counts
from corate.features.templates import usual_name
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.label_pairs import LabelPairs
from corate.rows import SparseRows, sums_by_key
from corate.strings import StringTable
from corate.types import Ids

__all__ = ["ENTRY_BYTES", "FREQUENT_SHARE", "StoredCounts"]

#: Memory for each token of a piece, and for each entry that is merged, in bytes; both generous.
TOKEN_BYTES = 250
ENTRY_BYTES = 100
#: The share of the counted words that are the most frequent ones. The rest is the random sample. On brown, with a half
#: to a thirtieth of the words counted, this was the best of 0.5, 0.75, 0.9 and 0.97 on held-out text.
FREQUENT_SHARE = 0.9
_SHIFT = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_NO_SENTENCES = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Sizes:
    """How much is in memory at a time: tokens of a piece, entries that are merged, rows of a chunk of pairs."""

    tokens: int
    entries: int
    rows: int

    @classmethod
    def within(cls, memory: int, threads: int) -> Sizes:
        """Sizes for about so many bytes.

        >>> Sizes.within(250_000_000, threads=1)
        Sizes(tokens=1000000, entries=2000000, rows=2000000)
        """
        tokens = int(np.clip(memory // TOKEN_BYTES, 1000, 1_000_000))
        entries = int(np.clip(memory // ENTRY_BYTES // threads, 1000, 2_000_000))
        return cls(tokens, entries, entries)


@dataclass(frozen=True, eq=False)
class CountedWords:
    """The words that are counted, and other words of held-out sentences, which have no counts."""

    strings: StringTable  # the counted words, then the others
    counted: int  # the number of counted words
    places: Ids | None = None  # the index in ``strings`` of each word of the corpus, -1 if it has none; None: no change

    @classmethod
    def choose(cls, stored: StoredCorpus, most: int, held_out: NDArray[np.int64], seed: int) -> CountedWords:
        """At most so many words, in the order of the corpus. ``held_out`` are the numbers of held-out sentences."""
        column = stored.columns.index(stored.word)
        strings = stored.strings[column]
        if len(strings) <= most:
            return cls(strings, len(strings))
        counted = chosen_words(stored.token_counts(column), most, seed)
        others = np.setdiff1d(stored.take(held_out).column(stored.word).ids, counted)
        kept = np.concatenate([counted, others])
        places = np.full(len(strings), -1, np.int32)
        places[kept] = np.arange(len(kept), dtype=np.int32)
        return cls(strings.take(kept), len(counted), places)

    @property
    def left_out(self) -> int:
        """The number of words that are not counted."""
        return 0 if self.places is None else len(self.places) - self.counted

    def without_strings(self) -> CountedWords:
        """The same without the strings, which take memory, after the vocabulary has them."""
        return replace(self, strings=StringTable.intern([])[0])

    def ids(self, words: Ids) -> Ids:
        """The indices in ``strings`` of some words of the corpus, -1 for those that are not there."""
        return words if self.places is None else self.places[words]

    def counted_ids(self, words: Ids) -> Ids:
        """The indices of some words of the corpus, -1 for those that are not counted."""
        found = self.ids(words)
        return found if self.places is None else np.where(found < self.counted, found, -1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Fold:
    """The neighbour pairs of held-out sentences, by template: their rows on disk, and their counts without these."""

    rows: list[NDArray[np.int64]]
    tables: list[Table]


class StoredCounts(CountedCorpus):
    """The counts of a corpus on disk, with the held-out sentences. Its tokens are not in memory."""

    def __init__(
        self,
        stored: StoredCorpus,
        presets: tuple[BackoffPreset, ...],
        folder: Path,
        *,
        sizes: Sizes,
        most_words: int,
        seed: int = 0,
        threads: int = 1,
        progress: Callable[[float], None] = lambda done: None,
    ) -> None:
        self.corpus, self.presets, self.seed, self.sizes, self.threads = stored, presets, seed, sizes, threads
        self.word, self.n_labels = stored.word, len(stored.labels)
        folds = slices(stored.offsets, seed)
        self.words = CountedWords.choose(stored, most_words, np.concatenate([_NO_SENTENCES, *folds]), seed)
        stored.forget_strings()
        words, self.pairs_on_disk, label_pairs = self._count(folder, threads, progress)
        words = words.padded(len(self.words.strings))
        vocabulary = self._stored_vocabulary(words)
        if self.words.counted == len(self.words.strings):
            self.words = self.words.without_strings()
        boundaries = Table(np.zeros(BOUNDARIES + 1, np.int64), words.labels[:0], words.counts[:0])
        table = Table(np.concatenate([boundaries.offsets, words.offsets[1:]]), words.labels, words.counts)
        self.counts = Counts(vocabulary, stored.labels, table, label_pairs, len(stored), stored.n_tokens)
        self._folds_on_disk: list[_Fold] = []
        parts = [self._held_out_tokens(stored.take(sentences)) for sentences in folds]
        parts = [self._affordable(part, MOST_TUNING_COST / len(folds)) for part in parts]
        self.held_out = [self._held_out_fold(part) for part in parts if len(part.labels)]

    # -- counting ------------------------------------------------------------------------------------------------

    def _count(
        self, folder: Path, threads: int, progress: Callable[[float], None]
    ) -> tuple[Table, list[StoredPairs], PairCounts]:
        """The table of words, the neighbour pairs if a back-off has any, and the label pairs."""
        stored, sizes = self.corpus, self.sizes
        names = ("words", "left", "right") if any(preset.neighbours for preset in self.presets) else ("words",)
        counters = [PairCounter(folder, name) for name in names]
        ids_of, label_pairs = LabelPairs(self.n_labels).ids, (np.zeros(0, np.int64), np.zeros(0, np.int64))
        with ThreadPoolExecutor(threads) as pool:
            for start, tokens in self._pieces():
                jobs = [
                    pool.submit(counter.count, keys, labels, start)
                    for counter, (keys, labels) in zip(counters, _counted_keys(tokens), strict=False)
                ]
                found = PairCounts(*_native.count_pairs(tokens.labels, tokens.offsets, self.n_labels))
                keys, counts = label_pairs
                label_pairs = sums_by_key([keys, ids_of(found.origin, found.to)], [counts, found.counts])
                for counter, job in zip(counters, jobs, strict=True):
                    counter.add(job.result())
                progress(0.6 * (start + len(tokens.labels)) / stored.n_tokens)
        _native.release_memory()
        words = table_of(counters[0].by_key(sizes.entries))[1]
        neighbours = [
            counter.stored(sizes.entries, sizes.tokens, stored.n_tokens, threads, _part(progress, start, 0.2))
            for counter, start in zip(counters[1:], (0.6, 0.8), strict=False)
        ]
        _native.release_memory()
        return words, neighbours, PairCounts.of_ids(*label_pairs, self.n_labels)

    def _pieces(self) -> Iterator[tuple[int, Tokens]]:
        """The tokens of each piece, and the number of tokens before it."""
        for start, stop in self.corpus.cuts(self.sizes.tokens):
            piece = self.corpus.sentences(start, stop)
            words = self.words.counted_ids(piece.column(self.corpus.word).ids)
            none = np.zeros((0, len(words)), np.int32)
            yield int(self.corpus.offsets[start]), Tokens(none, words, piece.require_labels().ids, piece.offsets)

    def _stored_vocabulary(self, words: Table) -> Vocabulary:
        """The vocabulary of the back-offs, with the words of a table and without neighbour pairs."""
        name, strings = self.corpus.word, self.words.strings
        if len(words) < len(strings):
            strings = strings.take(np.arange(len(words)))
        counted, derived, levels = counted_templates((), self.presets, name)
        lexicons = {}
        if any(atom.function.learns for atom in levels):
            lexicons[usual_name(name)] = usual_labels_of_counts(name, strings, words.arrays(), self.corpus.labels)
        vocabulary = Vocabulary.of([*counted, *derived], [atom.with_lexicons(lexicons) for atom in levels])
        vocabulary.map.add_strings(0, (strings.data, strings.offsets), self.threads)
        vocabulary.map.release_tables()
        for lexicon in lexicons.values():
            lexicon.release()
        _native.release_memory()
        return vocabulary

    # -- held-out sentences --------------------------------------------------------------------------------------

    def _held_out_tokens(self, corpus: Corpus) -> Tokens:
        """The tokens of held-out sentences as ids, without features."""
        words = self.words.ids(corpus.column(self.corpus.word).ids)
        features = np.full((len(self.counts.vocabulary.templates), len(words)), -1, np.int32)
        return Tokens(features, words, corpus.require_labels().ids, corpus.offsets)

    def _held_out_fold(self, tokens: Tokens) -> HeldOut:
        """Held-out tokens. Their pairs are numbered within the fold, and the table has only these pairs."""
        assert tokens.words is not None
        features, rows, tables = tokens.features.copy(), list[NDArray[np.int64]](), list[Table]()
        features[0] = tokens.words + BOUNDARIES
        counted = np.where(tokens.words < self.words.counted, features[0], -1).astype(np.int32)
        words = _without(self.counts.table, counted, tokens.labels)
        for t, (pairs, wanted) in enumerate(zip(self.pairs_on_disk, _keys_of(tokens)[1:], strict=False), start=1):
            distinct, where = np.unique(wanted, return_inverse=True)
            found, table = pairs.find(distinct, self.sizes.rows)
            numbers = np.where(found >= 0, np.cumsum(found >= 0) - 1, -1)  # a pair with a word without counts has none
            features[t] = numbers[where]
            rows.append(found[found >= 0])
            tables.append(_without(table, features[t], tokens.labels))
        self._folds_on_disk.append(_Fold(rows, tables))
        return HeldOut(replace(tokens, features=features), self.counts.vocabulary, words)

    def held_out_tables(self, preset: BackoffPreset, held_out: HeldOut) -> BackoffTables:
        """The tables of a back-off without the held-out tokens. Their neighbour pairs are those of the fold."""
        fold = self._folds_on_disk[[h is held_out for h in self.held_out].index(True)]
        tables = {0: held_out.table}
        if preset.neighbours:
            tables |= dict(enumerate(fold.tables, start=1))
        return _StoredBackoffTables(self, preset, tables, held_out.tokens, fold)

    def release_held_out(self) -> None:
        """Release the held-out sentences and their tables, after tuning, and words that only they have."""
        self.held_out, self._folds_on_disk = [], []
        if (n := self.words.counted) < len(self.words.strings):
            table = self.counts.table.between(0, BOUNDARIES + n)
            self.counts = replace(self.counts, table=table, vocabulary=Vocabulary.of([]))
            _native.release_memory()
            words = table.between(BOUNDARIES, BOUNDARIES + n)
            self.counts = replace(self.counts, vocabulary=self._stored_vocabulary(words))
            self.words = self.words.without_strings()
        _native.release_memory()

    def described(self) -> dict[str, Any]:
        """The record's entry about words that are not counted."""
        return {"words_left_out": self.words.left_out} if self.words.left_out else {}

    # -- the model -----------------------------------------------------------------------------------------------

    def all_tables(self, preset: BackoffPreset) -> BackoffTables:
        """The tables of a back-off on all counts. Its neighbour pairs are on disk: see `weight_chunks`."""
        return _StoredBackoffTables(self, preset, {0: self.counts.table}, None, None)

    def weight_chunks(self, t: int, p: BackoffParameters, words: SparseRows) -> Iterator[SparseRows]:
        """The weights of the neighbour pairs of template ``t``, some rows at a time, given the rows of the words."""
        for _, keys, table in self.pairs_on_disk[t - 1].chunks(self.sizes.rows):
            yield pair_weights(t, keys, table, words, p)


class _StoredBackoffTables(BackoffTables):
    """Tables of a back-off whose neighbour pairs are on disk, without held-out tokens if there are any."""

    def __init__(
        self,
        counted: StoredCounts,
        preset: BackoffPreset,
        tables: dict[int, Table],
        held_out: Tokens | None,
        fold: _Fold | None,
    ) -> None:
        super().__init__(counted.counts.vocabulary, preset, counted.corpus.word, tables, counted.n_labels)
        self._counted, self._held_out, self._fold = counted, held_out, fold

    def compiled(self, p: BackoffParameters) -> tuple[SparseRows, list[int], dict[int, SparseRows]]:
        """The back-off as part of a chain model. The tables cannot be used after this, which saves memory."""
        parts = self.row_parts(p)
        del self.backoff
        _native.release_memory()
        weights = self.template_weights(p, parts[0])
        return SparseRows.joined(parts), np.cumsum([len(part) for part in parts])[:-1].tolist(), weights

    def _pair_contexts(self, t: int, totals: NDArray[np.int64], rare: int) -> KeyedTable:
        none: Any = np.zeros((0, 3), np.uint64)
        if not self.preset.neighbours:
            return table_of(none)
        merged, places = none, 0
        for start, keys, table in self._counted.pairs_on_disk[t - 1].chunks(self._counted.sizes.rows):
            if self._held_out is not None and self._fold is not None:
                features, own = self._held_out.features[t], np.append(self._fold.rows[t - 1], -1)  # of feature -1: -1
                rows = own[features] - start
                here = np.where((own[features] >= start) & (rows < len(keys)), rows, -1).astype(np.int32)
                table = _without(table, here, self._held_out.labels)
            contexts, counts = self.class_contexts(t, keys, table, totals, rare)
            found = entries_of(contexts, counts, places)
            merged = _native.merge_entries(np.concatenate([merged, found]), True)
            places += len(contexts)
        return table_of(merged)


def _part(progress: Callable[[float], None], start: float, share: float) -> Callable[[float], None]:
    """The progress of a part of the work."""
    return lambda done: progress(start + share * done)


def _keys_of(tokens: Tokens) -> tuple[Keys, Keys, Keys]:
    """The word of each token, its pair with the word before, and its pair with the word after."""
    assert tokens.words is not None
    left, right = neighbour_values(tokens)
    words = tokens.words.astype(np.uint64)
    own = words + np.uint64(BOUNDARIES)
    return words, left << _SHIFT | own, own << _SHIFT | right


def _counted_keys(tokens: Tokens) -> list[tuple[Keys, Ids]]:
    """The keys of `_keys_of` and the labels of their tokens, without keys that have a word that is not counted (-1)."""
    words, *pairs = _keys_of(tokens)
    assert tokens.words is not None
    if (tokens.words >= 0).all():
        return [(keys, tokens.labels) for keys in (words, *pairs)]
    none = np.uint64(BOUNDARIES - 1)  # of word -1: it is next to no token
    kept = [tokens.words >= 0, *((keys >> _SHIFT != none) & (keys & _LOW != none) for keys in pairs)]
    return [(keys[own], tokens.labels[own]) for keys, own in zip((words, *pairs), kept, strict=True)]


def _without(table: Table, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> Table:
    """The table without some tokens, given their rows, -1 for tokens of other tables."""
    counts = table.counts.copy()
    _native.adjust_table(table.offsets, table.labels, counts, rows, labels, -1)
    return replace(table, counts=counts)


def chosen_words(tokens: NDArray[np.int64], most: int, seed: int) -> NDArray[np.int64]:
    """The words to count, in ascending order, given the number of tokens of each word.

    >>> chosen_words(np.array([1, 9, 1, 1, 7, 1, 1, 5]), most=4, seed=0).tolist()
    [1, 4, 6, 7]
    """
    frequent = int(FREQUENT_SHARE * most)
    order = np.argsort(-tokens, kind="stable")
    sample = np.random.default_rng(seed).choice(order[frequent:], most - frequent, replace=False)
    return np.sort(np.concatenate([order[:frequent], sample]))
