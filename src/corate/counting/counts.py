"""Counts: everything that empirical training takes from a corpus, in one pass.

There are two tables of raw token counts: how often each label was seen with each feature, and how often each label
followed each other label. A boundary symbol (id K) surrounds the sentence. Both are sums over tokens, so the counts of
two corpora can be added. Types, rarity and probabilities are derived afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Attributes, Corpus, StringTable
from corate.corpus.attributes import merged_key_lengths
from corate.counting.word_pairs import WordPairCounts
from corate.errors import DataError
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import LabelPairs
from corate.rows import LabelRows, offsets_of, rows_of_keys, sums_by_key, take_rows
from corate.types import Ids, Offsets

__all__ = ["Counts", "PairCounts", "Table", "TokenStore", "Tokens", "count_features", "label_ids"]


@dataclass(frozen=True, eq=False)
class Table(LabelRows):
    """Sparse label counts by context: row ``c`` is ``labels``/``counts`` from ``offsets[c]`` to ``offsets[c + 1]``."""

    counts: NDArray[np.int64]

    ENTRIES: ClassVar[tuple[str, ...]] = ("labels", "counts")

    @classmethod
    def empty(cls) -> Table:
        """A table without rows."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))

    def arrays(self) -> tuple[NDArray[np.int64], Ids, NDArray[np.int64]]:
        """The arrays that the native code takes."""
        return self.offsets, self.labels, self.counts

    def capped(self, most: int) -> Table:
        """The ``most`` most frequent labels of each row; of equally frequent labels, the first ones.

        >>> table = Table(np.array([0, 3, 4]), np.array([0, 2, 5, 1]), np.array([1, 2, 2, 1]))
        >>> [array.tolist() for array in table.capped(2).arrays()]
        [[0, 2, 3], [2, 5, 1], [2, 2, 1]]
        """
        if (self.lengths <= most).all():
            return self
        rows = self.owners
        order = np.lexsort((-self.counts, rows))  # within a row, the most frequent first
        kept = np.zeros(len(order), bool)
        kept[order[np.arange(len(order)) - self.offsets[:-1][rows] < most]] = True
        return self.where(kept)

    def totals(self) -> NDArray[np.int64]:
        """The number of tokens in each row."""
        sums = offsets_of(self.counts)
        return np.asarray(sums[self.offsets[1:]] - sums[self.offsets[:-1]])


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How often label ``to`` followed label ``origin``, sorted by both. Id K is the boundary."""

    origin: Ids
    to: Ids
    counts: NDArray[np.int64]

    @classmethod
    def of_ids(cls, ids: NDArray[np.int64], counts: NDArray[np.int64], n_labels: int) -> PairCounts:
        """The counts of label pairs that are given as ascending numbers; see `LabelPairs`."""
        origin, to = LabelPairs(n_labels).split(ids)
        return cls(origin.astype(np.int32), to.astype(np.int32), counts)

    def label_totals(self, n_labels: int) -> NDArray[np.float64]:
        """How often each label was seen."""
        totals = np.bincount(self.to, weights=self.counts, minlength=n_labels + 1)
        return np.asarray(totals[:n_labels], dtype=np.float64)


class TokenStore(Protocol):
    """All tokens of a corpus as ids, in memory (`Tokens`) or on disk (`corate.counting.stored_tokens.StoredTokens`)."""

    @property
    def offsets(self) -> Offsets:
        """The offsets of the sentences."""
        ...

    @property
    def attributes(self) -> Attributes | None:
        """The ready-made features, None without any."""
        ...

    def take(self, sentences: NDArray[np.int64]) -> Tokens:
        """The tokens of some sentences, in the given order."""
        ...

    def in_memory(self) -> Tokens:
        """All tokens, in memory."""
        ...

    def filled(self) -> NDArray[np.int64]:
        """The sentences that have a token of weight above 0, or every sentence if tokens have no weights."""
        ...

    def column(self, template: int) -> Ids:
        """The features of a template, of all tokens."""
        ...

    def label_pieces(self) -> Iterator[Tokens]:
        """All tokens in pieces of whole sentences, which may lack features and words."""
        ...


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokens as ids: (T, n) features within their templates, words, labels, sentence offsets, attributes."""

    features: Ids
    words: Ids | None
    labels: Ids
    offsets: NDArray[np.int64]
    attributes: Attributes | None = None
    weights: NDArray[np.float32] | None = None  # of tokens, in methods that use weights; None: all 1
    sentence_weights: NDArray[np.float32] | None = None  # of sentences, without the weights of labels

    def as_sentences(self) -> NDArray[np.float32] | None:
        """The weight of each token in an accuracy: the weight of its sentence."""
        if self.sentence_weights is None:
            return None
        return np.repeat(self.sentence_weights, np.diff(self.offsets))

    def take(self, sentences: NDArray[np.int64]) -> Tokens:
        """The tokens of some sentences, in the given order."""
        offsets, picks = take_rows(self.offsets, sentences)
        words = None if self.words is None else self.words[picks]
        features = np.ascontiguousarray(self.features[:, picks])
        attributes = None if self.attributes is None else self.attributes.take(picks)
        weights = None if self.weights is None else self.weights[picks]
        of_sentences = None if self.sentence_weights is None else self.sentence_weights[sentences]
        return Tokens(features, words, self.labels[picks], offsets, attributes, weights, of_sentences)

    def in_memory(self) -> Tokens:
        """All tokens."""
        return self

    def filled(self) -> NDArray[np.int64]:
        """The sentences that have a token of weight above 0, or every sentence if tokens have no weights."""
        every = np.arange(len(self.offsets) - 1)
        if self.weights is None:
            return every
        sums = np.concatenate([[0.0], np.cumsum(self.weights, dtype=np.float64)])
        return every[sums[self.offsets[1:]] > sums[self.offsets[:-1]]]

    def column(self, template: int) -> Ids:
        """The features of a template, of all tokens."""
        return np.asarray(self.features[template])

    def label_pieces(self) -> Iterator[Tokens]:
        """The tokens, in one piece."""
        yield self


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of (feature, label) pairs and of label pairs, with their vocabulary and labels."""

    vocabulary: Vocabulary
    labels: StringTable
    table: Table
    pairs: PairCounts
    sentences: int
    tokens: int
    word_pairs: WordPairCounts | None = None  # of the first column, if pair probabilities depend on the words

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        vocabulary: Vocabulary,
        word: str | None,
        named: tuple[StringTable, Ids] | None = None,
        threads: int = 1,
    ) -> tuple[Counts, Tokens]:
        """Count a labelled corpus, filling the (empty) vocabulary; also returns the tokens as ids.

        ``named`` are the labels and the ids of the tokens, as from `label_ids`. Tokens of label -1 are not counted.
        """
        labels, ids = named or label_ids(corpus)
        features, strings = vocabulary.fit(corpus, threads)
        ready = corpus.attributes
        if ready is not None:
            vocabulary = replace(vocabulary, attributes=ready.names, key_lengths=ready.key_lengths)
        words = None if word is None or word not in strings else strings[word]
        tokens = Tokens(features, words, ids, corpus.offsets, ready)
        table = count_features(tokens, vocabulary, len(labels), threads)
        pairs = PairCounts(*_native.count_pairs(ids, corpus.offsets, len(labels)))
        counts = cls(vocabulary, labels, table, pairs, len(corpus), corpus.n_tokens)
        return counts, tokens

    def with_word_pairs(self, tokens: Tokens) -> Counts:
        """The counts with those of label pairs by pairs of words; ``tokens`` are all tokens that were counted."""
        assert tokens.words is not None
        return replace(
            self, word_pairs=WordPairCounts.of(tokens.words, tokens.labels, tokens.offsets, len(self.labels))
        )

    def tokens_of(self, corpus: Corpus, word: str) -> Tokens:
        """The tokens of a corpus that was counted, as ids. Features that were not counted are -1."""
        features, strings = self.vocabulary.transform(corpus)
        column = corpus.require_labels()
        return Tokens(features, strings[word], column.renumbered(self.labels.find(column.strings)), corpus.offsets)

    def of_template(self, t: int) -> Table:
        """The table of one template."""
        bases = self.vocabulary.bases
        return self.table.between(int(bases[t]), int(bases[t + 1]))

    def padded(self) -> Counts:
        """The counts with empty rows for features that were added to the vocabulary later, such as those of models."""
        return replace(self, table=self.table.padded(int(self.vocabulary.bases[-1])))

    def merged(self, other: Counts) -> Counts:
        """The counts of both corpora together; features and labels of ``self`` keep their order.

        >>> from corate.features.templates import parse
        >>> def count(*sentences):
        ...     vocabulary = Vocabulary.of([parse("word[0]")])
        ...     return Counts.of(Corpus.from_sentences(sentences), vocabulary, "word")[0]
        >>> a, b = [("to", "TO"), ("be", "VB")], [("or", "CC"), ("be", "VB")]
        >>> count(a).merged(count(b)).table.counts.tolist() == count(a, b).table.counts.tolist()
        True
        """
        vocabulary = self.vocabulary.copy()
        numbers = vocabulary.map.absorb(other.vocabulary.map)
        labels, both = StringTable.intern([*self.labels.to_list(), *other.labels.to_list()])
        renamed = both[len(self.labels) :]
        same, size = np.arange(len(self.labels)), len(labels)
        keys, values = [], []

        def add(part: Table, places: NDArray[np.integer[Any]], names: NDArray[np.integer[Any]]) -> None:
            keys.append(places.astype(np.int64)[part.owners] * size + names[part.labels])
            values.append(part.counts)

        if self.vocabulary.attributes is not None and other.vocabulary.attributes is not None:
            mine_first = [*self.vocabulary.attributes.to_list(), *other.vocabulary.attributes.to_list()]
            names, places = StringTable.intern(mine_first)
            key_lengths = merged_key_lengths(
                places, self.vocabulary.known_key_lengths, other.vocabulary.known_key_lengths
            )
            vocabulary = replace(vocabulary, attributes=names, key_lengths=key_lengths)
            cut = self.vocabulary.n_attributes
            add(self.table.between(0, cut), places[:cut], same)
            add(other.table.between(0, other.vocabulary.n_attributes), places[cut:], renamed)
        old, new = self.vocabulary.bases, vocabulary.bases
        for t, number in enumerate(numbers):
            add(self.of_template(t), new[t] + np.arange(old[t + 1] - old[t]), same)
            add(other.of_template(t), new[t] + number, renamed)
        found, sums = sums_by_key(keys, values)
        table = Table(*rows_of_keys(found, int(new[-1]), size), sums)
        pairs = _add_pairs(self.pairs, len(self.labels), other.pairs, renamed, len(labels))
        merged = Counts(vocabulary, labels, table, pairs, self.sentences + other.sentences, self.tokens + other.tokens)
        if self.word_pairs is None or other.word_pairs is None:
            return merged
        words = StringTable(*vocabulary.map.strings(0)).find(StringTable(*other.vocabulary.map.strings(0)))
        pairs_of_words = self.word_pairs.merged(len(self.labels), other.word_pairs, words, renamed, len(labels))
        return replace(merged, word_pairs=pairs_of_words)


def label_ids(corpus: Corpus, unknown: str | None = None) -> tuple[StringTable, Ids]:
    """The labels that occur, in the order of the corpus's string table, and the id of each token's label.

    The label of a token is not known if it is None or ``unknown``; its id is then -1.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "?")]])
    >>> names, ids = label_ids(corpus, unknown="?")
    >>> names.to_list(), ids.tolist()
    (['DET'], [0, -1])
    """
    column = corpus.require_labels()
    used = np.zeros(len(column.strings), dtype=bool)
    used[column.ids if column.complete else column.ids[column.ids >= 0]] = True
    names, units = column.strings.to_list(), "tokens" if corpus.edges is None else "nodes"
    if unknown is not None and unknown in names:
        used[names.index(unknown)] = False
        if not used.any():
            raise DataError(f"every label is {unknown!r}, which marks unknown labels; label some {units}")
    if not used.any() and len(column.ids):
        raise DataError(f"every label is unknown (None); label some {units}")
    if used.all():
        return column.strings, column.ids
    table, _ = StringTable.intern([names[i] for i in np.flatnonzero(used)])
    return table, column.renumbered(np.where(used, np.cumsum(used) - 1, -1).astype(np.int32))


def count_features(tokens: Tokens, vocabulary: Vocabulary, n_labels: int, threads: int = 1) -> Table:
    """How often each feature of a vocabulary was seen with each label. Tokens of unknown label are left out."""
    of_templates = _native.count_tables(tokens.features, tokens.labels, vocabulary.map.sizes(), n_labels, threads)
    if tokens.attributes is None:
        return Table(*of_templates)
    ready = tokens.attributes
    owners = np.repeat(tokens.labels, ready.lengths)
    of_attributes = _native.count_table(ready.ids, owners, len(ready.names), n_labels)
    return Table.joined([Table(*of_attributes), Table(*of_templates)])


def _add_pairs(a: PairCounts, n_a: int, b: PairCounts, renamed: Ids, n_labels: int) -> PairCounts:
    mine, theirs, pairs = LabelPairs(n_a).places(n_labels), np.append(renamed, n_labels), LabelPairs(n_labels)
    keys = [pairs.ids(mine[a.origin], mine[a.to]), pairs.ids(theirs[b.origin], theirs[b.to])]
    return PairCounts.of_ids(*sums_by_key(keys, [a.counts, b.counts]), n_labels)
