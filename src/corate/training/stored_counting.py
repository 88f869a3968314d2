"""Counts of a corpus on disk: the same as those of the corpus in memory, with its tokens as ids on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Column, StringTable
from corate.corpus.stored_corpus import StoredCorpus, writing_to
from corate.counting.counts import Counts, PairCounts, Table, Tokens
from corate.counting.stored_tokens import StoredTokens
from corate.counting.triples import triple_counts, triple_rows
from corate.errors import DataError
from corate.features.lexicons import Lexicon
from corate.features.related_words import usual_labels
from corate.features.templates import Atom, usual_name
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import LabelPairs
from corate.rows import SparseRows, sums_by_key
from corate.training.lattice_costs import LatticeCosts
from corate.types import Ids

__all__ = ["CheckVocabulary", "StoredLabels", "count_stored", "edge_rows_of", "triples_of"]

#: A corpus is counted in pieces of about this many tokens.
PIECE_TOKENS = 500_000

#: Takes the vocabulary and the number of tokens so far, and raises an error if the vocabulary is too large.
CheckVocabulary = Callable[[Vocabulary, int], None]


class StoredLabels:
    """The labels of a corpus on disk. ``places`` are their ids in ``names``; that of the label ``unknown`` is -1."""

    def __init__(self, stored: StoredCorpus, unknown: str | None) -> None:
        self.stored, self.unknown = stored, unknown
        names = stored.labels.to_list()
        self.names, self.places = stored.labels, np.arange(len(names), dtype=np.int32)
        if unknown is not None and unknown in names:
            if len(names) == 1:
                raise DataError(f"every label is {unknown!r}, which marks unknown labels; label some tokens")
            self.names = StringTable.intern([name for name in names if name != unknown])[0]
            self.places = self.places - (self.places > names.index(unknown))
            self.places[names.index(unknown)] = -1

    def counts(self) -> NDArray[np.int64]:
        """The number of tokens of each label of the corpus, with those that are unknown."""
        found = np.zeros(len(self.stored.labels), np.int64)
        for piece in self.stored.pieces(PIECE_TOKENS):
            found += np.bincount(piece.require_labels().ids, minlength=len(found))
        return found

    def sentences(self) -> Iterator[list[str]]:
        """The labels of each sentence."""
        for piece in self.stored.pieces(PIECE_TOKENS):
            yield from (piece.labels_of(s) for s in range(len(piece)))

    def lexicons(self, atoms: Iterable[Atom]) -> dict[str, Lexicon]:
        """The lexicons that the atoms need, by name: the usual labels of the words of each column."""
        columns = dict.fromkeys(atom.column for atom in atoms if atom.function.learns)
        return {usual_name(column): self._usual_labels(column) for column in columns}

    def lattice_costs(self, order: int | None) -> LatticeCosts:
        """The costs of lattices of the corpus. ``order`` is the one that is asked for, if any."""
        column, labels = self._column(self.stored.word)
        words = _native.count_table(column.ids, labels, len(column.strings), len(self.names))
        return LatticeCosts.of_words(Table(*words), len(self.names), order)

    def _usual_labels(self, name: str) -> Lexicon:
        column, labels = self._column(name)
        return usual_labels(column, self.names, labels)

    def _column(self, name: str) -> tuple[Column, Ids]:
        """A column and the labels of all tokens, in memory."""
        words, labels = list[Ids](), list[Ids]()
        for piece in self.stored.pieces(PIECE_TOKENS):
            words.append(piece.column(name).ids)
            labels.append(self.places[piece.require_labels().ids])
        strings = self.stored.strings[self.stored.columns.index(name)]
        return Column(name, np.concatenate(words), strings), np.concatenate(labels)


def count_stored(
    labels: StoredLabels,
    vocabulary: Vocabulary,
    folder: Path,
    *,
    threads: int,
    check: CheckVocabulary,
    progress: Callable[[float], None],
) -> tuple[Counts, StoredTokens]:
    """Count a corpus, filling the (empty) vocabulary; also returns the tokens as ids, in files of a new folder."""
    stored, k = labels.stored, len(labels.names)
    with writing_to(folder.parent):
        tokens = StoredTokens(folder, stored.offsets, len(vocabulary.templates))
    done = 0
    for piece in stored.pieces(PIECE_TOKENS):
        features, strings = vocabulary.fit(piece, threads)
        with writing_to(folder.parent):
            tokens.add(features, strings[stored.word], labels.places[piece.require_labels().ids])
        done += piece.n_tokens
        check(vocabulary, done)
        progress(done / stored.n_tokens)
    ids = tokens.labels()
    sizes = enumerate(vocabulary.map.sizes().tolist())
    tables = [Table(*_native.count_table(tokens.column(t), ids, size, k)) for t, size in sizes]
    pairs = PairCounts(*_native.count_pairs(ids, stored.offsets, k))
    table = Table.joined(tables)
    return Counts(vocabulary, labels.names, table, pairs, len(stored), stored.n_tokens), tokens


def edge_rows_of(tokens: StoredTokens, vocabulary: Vocabulary, uses: NDArray[np.bool_], n_labels: int) -> SparseRows:
    """Rows with a slot for every label pair seen with each feature of the edge templates, which ``uses`` marks."""
    if not uses.any():
        return SparseRows()
    label_pairs, pairs = LabelPairs(n_labels), np.empty(int(tokens.offsets[-1]), np.int32)
    for piece, place in _label_pieces(tokens):
        pairs[place] = label_pairs.along(piece.labels, piece.offsets)
    tables = []
    for t, size in enumerate(vocabulary.map.sizes()):
        ids = tokens.column(t) if uses[t] else np.zeros(0, np.int32)
        tables.append(_native.count_table(ids, pairs if uses[t] else ids, int(size), len(label_pairs)))
    return SparseRows.joined([SparseRows.zeros((offsets, seen)) for offsets, seen, _ in tables])


def triples_of(tokens: StoredTokens, n_labels: int, least: int, *, boundaries: bool) -> SparseRows:
    """The label triples seen at least ``least`` times, with scores of zero."""
    found = [triple_counts(piece, n_labels, boundaries=boundaries) for piece, _ in _label_pieces(tokens)]
    keys, counts = sums_by_key([keys for keys, _ in found], [counts for _, counts in found])
    return triple_rows(keys[counts >= least], n_labels)


def _label_pieces(tokens: StoredTokens) -> Iterator[tuple[Tokens, slice]]:
    """The labels of pieces of whole sentences, as tokens without features, and the place of each piece."""
    labels, offsets = tokens.labels(), tokens.offsets
    starts = np.searchsorted(offsets, np.arange(0, offsets[-1], PIECE_TOKENS))
    for first, end in pairwise([*np.unique(starts).tolist(), len(offsets) - 1]):
        place = slice(int(offsets[first]), int(offsets[end]))
        own = labels[place]
        yield Tokens(np.zeros((0, len(own)), np.int32), None, own, offsets[first : end + 1] - offsets[first]), place
