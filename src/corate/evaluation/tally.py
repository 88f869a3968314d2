"""What a report is made of: integers, counted on a corpus or on pieces of one and added up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus, StringTable
from corate.rows import offsets_of, owners_of
from corate.spans import SpanLabels, are_spans, parse

__all__ = [
    "Confusion",
    "KnownWords",
    "Tally",
    "common_ids",
    "known_or_outside",
    "matched_entities",
    "paired_entities",
    "with_known_labels",
]

Int64 = NDArray[np.int64]

#: With more cells than this, confusions are counted by sorting instead of in a dense table.
_MOST_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each gold label was predicted as each label: ``(cells,)`` arrays of label ids and counts above zero."""

    labels: tuple[str, ...]
    gold: Int64
    predicted: Int64
    counts: Int64

    def matrix(self) -> Int64:
        """The counts as a dense ``(labels, labels)`` matrix, gold labels in rows."""
        dense = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        dense[self.gold, self.predicted] = self.counts
        return dense

    def most_confused(self, n: int = 10) -> list[tuple[str, str, int]]:
        """The ``n`` most frequent errors as (gold label, predicted label, tokens), most frequent first."""
        wrong = np.flatnonzero(self.gold != self.predicted)
        best = wrong[np.argsort(-self.counts[wrong], kind="stable")][: max(n, 0)]
        return [
            (self.labels[g], self.labels[p], count)
            for g, p, count in zip(
                self.gold[best].tolist(), self.predicted[best].tolist(), self.counts[best].tolist(), strict=True
            )
        ]

    def most_wrong(self, n: int) -> Confusion:
        """The confusions among the ``n`` labels with most errors, in the order of the labels."""
        wrong, size = self.counts * (self.gold != self.predicted), len(self.labels)
        errors = np.bincount(self.gold, wrong, size) + np.bincount(self.predicted, wrong, size)
        chosen = np.sort(np.argsort(-errors, kind="stable")[:n])
        place = np.full(size, -1)
        place[chosen] = np.arange(len(chosen))
        gold, predicted = place[self.gold], place[self.predicted]
        kept = (gold >= 0) & (predicted >= 0)
        return Confusion(tuple(self.labels[y] for y in chosen.tolist()), gold[kept], predicted[kept], self.counts[kept])

    def plus(self, other: Confusion) -> Confusion:
        """The counts of both."""
        labels = tuple(sorted({*self.labels, *other.labels}))
        number, size = {label: i for i, label in enumerate(labels)}, len(labels)
        cells = []
        for part in (self, other):
            place = np.array([number[label] for label in part.labels], dtype=np.int64)
            cells.append(place[part.gold] * size + place[part.predicted])
        distinct, where = np.unique(np.concatenate(cells), return_inverse=True)
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, where, np.concatenate([self.counts, other.counts]))
        return Confusion(labels, distinct // max(size, 1), distinct % max(size, 1), counts)


@dataclass(frozen=True)
class KnownWords:
    """Tokens whose word is known, and how many of them are correct; the same for the others (OOV)."""

    tokens: int
    correct: int
    oov: int
    correct_oov: int


@dataclass(frozen=True, eq=False)
class Tally:
    """The integers that a report is computed from. Tokens whose gold label is unknown are left out.

    ``entities`` has for each type the numbers of correct, gold and predicted entities.
    """

    sentences: int
    correct_sentences: int
    known: KnownWords | None
    entities: dict[str, tuple[int, int, int]]
    confusion: Confusion

    @classmethod
    def of(cls, gold: Corpus, guess: Column, known_words: Collection[str] | StringTable | None = None) -> Tally:
        """Compare a column of predicted labels with the gold labels of a corpus."""
        gold, guess = with_known_labels(gold, guess)
        labels, truth_ids, guess_ids = common_ids(gold.require_labels(), guess)
        correct = truth_ids == guess_ids
        errors_before = np.concatenate([[0], np.cumsum(~correct)])
        errors = errors_before[gold.offsets[1:]] - errors_before[gold.offsets[:-1]]
        return cls(
            len(gold),
            int((errors == 0).sum()),
            _known_words(gold, correct, known_words),
            _entities(labels, truth_ids, guess_ids, gold.offsets),
            _confusion(labels, truth_ids, guess_ids),
        )

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.confusion.counts.sum())

    @cached_property
    def correct(self) -> int:
        """The number of correct tokens."""
        found = self.confusion
        return int(found.counts[found.gold == found.predicted].sum())

    def has_spans(self) -> bool:
        """Whether the gold labels mark spans."""
        return self.tokens > 0 and _are_spans(self.confusion.labels, self.confusion.gold)

    def plus(self, other: Tally) -> Tally:
        """The tally of both pieces together.

        >>> piece = Corpus.from_sentences([[("Ann", "B-PER"), ("left", "O")]])
        >>> first, second = (Tally.of(piece, Column.of("label", labels)) for labels in (["B-PER", "O"], ["O", "O"]))
        >>> both = first.plus(second)
        >>> both.tokens, both.correct, both.entities, both.confusion.most_confused()
        (4, 3, {'PER': (1, 2, 1)}, [('B-PER', 'O', 1)])
        """
        known = self.known or other.known
        if self.known is not None and other.known is not None:
            pairs = zip(vars(self.known).values(), vars(other.known).values(), strict=True)
            known = KnownWords(*(a + b for a, b in pairs))
        entities = dict(self.entities)
        for name, (right, gold, guessed) in other.entities.items():
            a, b, c = entities.get(name, (0, 0, 0))
            entities[name] = a + right, b + gold, c + guessed
        return Tally(
            self.sentences + other.sentences,
            self.correct_sentences + other.correct_sentences,
            known,
            entities,
            self.confusion.plus(other.confusion),
        )


def with_known_labels(gold: Corpus, guess: Column) -> tuple[Corpus, Column]:
    """The corpus and the predicted labels without the tokens whose gold label is unknown, and without empty sentences.

    A span goes on over tokens that are left out.

    >>> gold = Corpus.from_sentences([[("Ann", "B-PER"), ("de", None), ("Lee", "I-PER")], [("left", None)]])
    >>> kept, guess = with_known_labels(gold, Column.of("label", ["B-PER", "O", "I-PER", "O"]))
    >>> list(kept), guess.values()
    ([[('Ann',), ('Lee',)]], ['B-PER', 'I-PER'])
    """
    labels = gold.require_labels()
    if labels.complete:
        return gold, guess
    known = np.flatnonzero(labels.ids >= 0)
    lengths = np.bincount(owners_of(gold.offsets)[known], minlength=len(gold))
    columns = tuple(column.take(known) for column in gold.columns)
    return Corpus(columns, offsets_of(lengths[lengths > 0]), labels.take(known)), guess.take(known)


def known_or_outside(labels: Column) -> Column:
    """The labels with ``O`` for those that are unknown."""
    return labels if labels.complete else Column.of(labels.name, (label or "O" for label in labels.values()))


def common_ids(truth: Column, guess: Column) -> tuple[list[str], Int64, Int64]:
    """The labels that occur, sorted, and the ids of both columns into them."""
    labels = sorted({c.strings[i] for c in (truth, guess) for i in np.flatnonzero(np.bincount(c.ids)).tolist()})
    number = {label: i for i, label in enumerate(labels)}
    truth_ids, guess_ids = (
        np.array([number.get(label, -1) for label in column.strings.to_list()], dtype=np.int64)[column.ids]
        for column in (truth, guess)
    )
    return labels, truth_ids, guess_ids


def _known_words(
    gold: Corpus, correct: NDArray[np.bool_], known_words: Collection[str] | StringTable | None
) -> KnownWords | None:
    word = gold.word
    if word is None or known_words is None:
        return None
    if isinstance(known_words, StringTable):
        distinct = known_words.find(word.strings) >= 0
    else:
        known_set = known_words if isinstance(known_words, (set, frozenset, dict)) else set(known_words)
        distinct = np.array([string in known_set for string in word.strings.to_list()], dtype=bool)
    known = distinct[word.ids]
    n_known, correct_known = int(known.sum()), int((correct & known).sum())
    return KnownWords(n_known, correct_known, len(correct) - n_known, int(correct.sum()) - correct_known)


def _entities(labels: Sequence[str], truth: Int64, guess: Int64, offsets: Int64) -> dict[str, tuple[int, int, int]]:
    """The numbers of correct, gold and predicted entities of each type."""
    (_, kind), (_, guess_kind), correct = paired_entities(labels, truth, guess, offsets)
    names = SpanLabels.of(labels, typed=True).types
    counted = [np.bincount(k, minlength=len(names)).tolist() for k in (kind[correct], kind, guess_kind)]
    return dict(zip(names, zip(*counted, strict=True), strict=True))


def _are_spans(labels: Sequence[str], truth: Int64) -> bool:
    """Whether gold labels mark spans, given the ids of those that occur."""
    gold_labels = [labels[i] for i in np.flatnonzero(np.bincount(truth)).tolist()]
    return are_spans([*gold_labels, *(label for label in labels if parse(label)[1])])


def paired_entities(
    labels: Sequence[str], truth: Int64, guess: Int64, offsets: Int64
) -> tuple[tuple[Int64, Int64], tuple[Int64, Int64], NDArray[np.bool_]]:
    """Starts and types of the gold and the predicted entities, and which gold ones are found.

    ``truth`` and ``guess`` are ids into ``labels``.
    """
    found = SpanLabels.of(labels, typed=True)
    start, stop, kind = found.find(truth, offsets)
    guess_start, guess_stop, guess_kind = found.find(guess, offsets)
    there = np.searchsorted(guess_start, start)
    there[there == len(guess_start)] = -1
    correct = np.zeros(len(start), dtype=bool)
    if len(guess_start):
        correct = (guess_start[there] == start) & (guess_stop[there] == stop) & (guess_kind[there] == kind)
    return (start, kind), (guess_start, guess_kind), correct


def matched_entities(
    labels: Sequence[str], truth: Int64, guess: Int64, offsets: Int64
) -> tuple[Int64, Int64, Int64] | None:
    """The first tokens of the correct, the gold and the predicted entities; None if the labels are not spans.

    ``truth`` and ``guess`` are ids into ``labels``.
    """
    if not _are_spans(labels, truth):
        return None
    (start, _), (guess_start, _), correct = paired_entities(labels, truth, guess, offsets)
    return start[correct], start, guess_start


def _confusion(labels: Sequence[str], truth: Int64, guess: Int64) -> Confusion:
    cells = truth * len(labels) + guess
    if len(labels) ** 2 <= _MOST_CELLS:
        dense = np.bincount(cells)
        cell = np.flatnonzero(dense)
        counts = dense[cell]
    else:
        cell, counts = np.unique(cells, return_counts=True)
    return Confusion(tuple(labels), cell // len(labels), cell % len(labels), counts.astype(np.int64, copy=False))
