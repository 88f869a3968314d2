"""Held-out tokens: sentences taken out of the counts, so that settings are evaluated on tokens that were not counted.

Blocks of neighbouring sentences are taken, not single sentences: a name that recurs in a text should not be known from
the next sentence. Small corpora give several folds, large ones a single slice.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus, StringTable
from corate.counting.counts import Counts, Table, Tokens
from corate.features.vocabulary import Vocabulary
from corate.rows import distinct

__all__ = ["first_slices", "held_out_tokens", "slices", "without"]

#: The number of held-out tokens in all folds together: enough to compare settings, and quick.
TOKENS = 12_000
#: The largest share of the tokens that one fold takes out of the counts.
SHARE = 0.1
MOST_FOLDS = 5
BLOCKS = 10
#: With fewer sentences nothing is held out or tuned.
FEWEST_SENTENCES = 20


def slices(offsets: NDArray[np.int64], seed: int) -> list[NDArray[np.int64]]:
    """The sentences of each fold: up to ten blocks spread over the corpus. Folds do not overlap.

    >>> [len(fold) for fold in slices(np.arange(0, 100_001, 10), seed=0)]
    [1000, 200]
    >>> slices(np.arange(10), seed=0)
    []
    """
    sentences, tokens = len(offsets) - 1, int(offsets[-1])
    if sentences < FEWEST_SENTENCES or tokens == 0:
        return []
    share = int(SHARE * tokens)
    folds = int(np.clip(np.ceil(TOKENS / max(share, 1)), 1, MOST_FOLDS))
    blocks = min(BLOCKS, int(SHARE * sentences))
    rotation = np.random.default_rng(seed).random()
    found, left = [], TOKENS
    for fold in range(folds):
        want = max(1, round(min(share, left) / tokens * sentences / blocks))
        starts = ((np.arange(blocks) + (fold + rotation) / folds) / blocks * sentences).astype(np.int64)
        picks = (starts[:, None] + np.arange(want)) % sentences
        found.append(distinct(picks))
        left -= share
    return found


def first_slices(offsets: NDArray[np.int64], tokens: int, sentences: int) -> list[NDArray[np.int64]]:
    """The sentences of each fold, from the beginning of a sample in random order.

    ``tokens`` and ``sentences`` are those of the whole corpus.

    >>> [fold.tolist() for fold in first_slices(np.arange(0, 101, 10), tokens=300, sentences=30)]
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    """
    share = int(SHARE * tokens)
    if sentences < FEWEST_SENTENCES or share == 0:
        return []
    fold = (offsets[1:] - 1) // share
    kept = (offsets[1:] <= TOKENS) & (fold < MOST_FOLDS) & (np.diff(offsets) > 0)
    return [found for k in range(MOST_FOLDS) if len(found := np.flatnonzero(kept & (fold == k)))]


def without(counts: Counts, tokens: Tokens) -> Table:
    """The table of counts without some of the counted tokens."""
    bases = counts.vocabulary.bases
    left = counts.table.counts.copy()
    known = tokens.labels >= 0
    for t, features in enumerate(tokens.features):
        shifted = np.where(known & (features >= 0), features + bases[t], -1).astype(np.int32)
        _native.adjust_table(counts.table.offsets, counts.table.labels, left, shifted, tokens.labels, -1)
    if tokens.attributes is not None:
        lengths = tokens.attributes.lengths
        ids = np.where(np.repeat(known, lengths), tokens.attributes.ids, -1).astype(np.int32)
        repeated = np.repeat(tokens.labels, lengths)
        _native.adjust_table(counts.table.offsets, counts.table.labels, left, ids, repeated, -1)
    return Table(counts.table.offsets, counts.table.labels, left)


def held_out_tokens(counts: Counts, corpus: Corpus, word: str | None) -> tuple[Tokens, Vocabulary]:
    """The tokens of a corpus that was not counted, and a copy of the vocabulary with its strings added.

    A label that was never counted has the id -1.
    """
    vocabulary = counts.vocabulary.copy()
    features, strings = vocabulary.fit(corpus)
    column = corpus.require_labels()
    ids = counts.labels.find(StringTable(column.strings.data, column.strings.offsets))
    words = None if word is None or word not in strings else strings[word]
    attributes = corpus.attributes
    if attributes is not None and vocabulary.attributes is not None:
        known = vocabulary.attributes.find(attributes.names)
        attributes = replace(attributes, ids=known[attributes.ids], names=vocabulary.attributes, key_lengths=None)
    return Tokens(features, words, column.renumbered(ids), corpus.offsets, attributes), vocabulary
