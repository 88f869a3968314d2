"""A sample of sentences that does not depend on their order: those with the smallest hashes.

The sample of two pieces of a corpus follows from the samples of the pieces, so pieces can be sampled anywhere and in
any order. Equal sentences have equal hashes, and are all in the sample or all outside, but for the last one.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.rows import offsets_of
from corate.strings import StringTable

__all__ = ["SentenceSample", "sentence_hashes"]

#: A sentence of the sample: its hash, the values of each column, and its labels.
Sampled = tuple[int, tuple[tuple[str, ...], ...], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class SentenceSample:
    """The sentences with the smallest hashes, up to the first that brings them to ``tokens`` tokens, by hash."""

    columns: tuple[str, ...]
    sentences: tuple[Sampled, ...]
    tokens: int

    @classmethod
    def of(cls, corpus: Corpus, tokens: int, seed: int = 0) -> SentenceSample:
        """The sample of a labelled corpus.

        >>> corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "X")], [("d", "X")]])
        >>> sample = SentenceSample.of(corpus, 2)
        >>> parts = [SentenceSample.of(corpus[i], 2) for i in (2, 0, 1)]
        >>> parts[0].merged(parts[1]).merged(parts[2]).sentences == sample.sentences
        True
        """
        hashes = sentence_hashes(corpus, seed)
        order = np.argsort(hashes, kind="stable")
        before = np.cumsum(np.diff(corpus.offsets)[order]) - np.diff(corpus.offsets)[order]
        inside = hashes[order][before < tokens]
        chosen = np.flatnonzero(hashes <= inside[-1]) if len(inside) else order[:0]  # and all equal to the last
        names = tuple(column.name for column in corpus.columns)
        made = (_sampled(corpus, s, int(hashes[s])) for s in chosen.tolist())
        return cls(names, _smallest(made, tokens), tokens)

    def merged(self, other: SentenceSample) -> SentenceSample:
        """The sample of both pieces together."""
        both = heapq.merge(self.sentences, other.sentences)
        return SentenceSample(self.columns, _smallest(both, self.tokens), self.tokens)

    def corpus(self) -> Corpus:
        """The sentences as a corpus, in the order of their hashes."""
        columns = [
            Column.of(name, (value for _, values, _ in self.sentences for value in values[c]))
            for c, name in enumerate(self.columns)
        ]
        labels = Column.of("label", (label for _, _, own in self.sentences for label in own))
        lengths = np.array([len(own) for _, _, own in self.sentences], dtype=np.int64)
        return Corpus(tuple(columns), offsets_of(lengths), labels)


def _sampled(corpus: Corpus, s: int, value: int) -> Sampled:
    start, stop = int(corpus.offsets[s]), int(corpus.offsets[s + 1])
    return value, tuple(tuple(c.values(start, stop)) for c in corpus.columns), tuple(corpus.labels_of(s))


def _smallest(sentences: Iterable[Sampled], tokens: int) -> tuple[Sampled, ...]:
    found, n = [], 0
    for sentence in sorted(sentences):
        if n >= tokens:
            break
        found.append(sentence)
        n += len(sentence[2])
    return tuple(found)


def sentence_hashes(corpus: Corpus, seed: int = 0) -> NDArray[np.uint64]:
    """A hash of each sentence, from the first column: equal sentences have equal hashes, 0 if there are no tokens."""
    word = corpus.columns[0]
    of_strings = _string_hashes(word.strings, seed)
    place = np.arange(corpus.n_tokens, dtype=np.uint64) - np.repeat(
        corpus.offsets[:-1].astype(np.uint64), np.diff(corpus.offsets)
    )
    mixed = _mix(of_strings[word.ids] + _mix(place))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return _mix(sums[corpus.offsets[1:]] - sums[corpus.offsets[:-1]])


def _string_hashes(strings: StringTable, seed: int) -> NDArray[np.uint64]:
    blob, ends = strings.data.tobytes(), strings.offsets.tolist()
    key = str(seed).encode()
    digests = [hashlib.blake2b(blob[a:b], digest_size=8, key=key).digest() for a, b in pairwise(ends)]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A permutation of the 64-bit numbers that looks random."""
    found = (values ^ (values >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9))
