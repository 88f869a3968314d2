"""The back-off with dictionaries, from the formulas in native/counting/backoff.cpp: its oracle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Token = tuple[str, str]
Level = Callable[[str], "str | None"]
START, END = "<s>", "</s>"


@dataclass
class Backoff:
    """A back-off of counted sentences. ``ks`` and ``rare`` belong to the levels, from specific to general.

    The token ``not_counted`` (sentence, position) is only used as a neighbour of other tokens.
    """

    sentences: Sequence[Sequence[Token]]
    labels: Sequence[str]
    levels: Sequence[Level]
    ks: Sequence[float]
    rare: Sequence[float]
    word_k: float
    prior_k: float = 0.1
    not_counted: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.tokens = [
            ([w for w, _ in sentence], i, label)
            for s, sentence in enumerate(self.sentences)
            for i, (_, label) in enumerate(sentence)
            if (s, i) != self.not_counted
        ]
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        for words, i, label in self.tokens:
            self.counts[words[i]][label] += 1
        self.prior = self._vector(Counter(label for _, _, label in self.tokens)) + self.prior_k
        self.prior /= self.prior.sum()

    def _vector(self, counts: Counter[str]) -> NDArray:
        return np.array([counts[y] for y in self.labels], dtype=float)

    def known(self, word: str) -> bool:
        return word in self.counts

    def backed_off(self, word: str) -> NDArray:
        """P_0: the distribution of a word, from other words."""
        p = self.prior
        for level, k, rare in reversed(list(zip(self.levels, self.ks, self.rare, strict=True))):
            types = [
                self._vector(n) / sum(n.values())
                for other, n in self.counts.items()
                if other != word and level(other) == level(word) is not None and 0 < sum(n.values()) <= rare
            ]
            if types:
                p = (np.sum(types, axis=0) + k * p) / (len(types) + k)
        return p

    def distribution(self, word: str) -> NDArray:
        """P(y | word)."""
        p = self.backed_off(word)
        if not self.known(word):
            return p
        n = self._vector(self.counts[word])
        return (n + self.word_k * p) / (n.sum() + self.word_k)

    def neighbour(self, sentence: Sequence[str], i: int, step: int, k: float) -> NDArray:
        """log P(y | w, neighbour) / P(y | w) if the pair was observed, else 0."""
        n = self._in_context(
            lambda other, j: other[j] == sentence[i] and _at(other, j + step) == _at(sentence, i + step)
        )
        p = self.distribution(sentence[i])
        return np.log((n + k * p) / (n.sum() + k) / p) if n.sum() else np.zeros(len(p))

    def unseen_neighbour(
        self, sentence: Sequence[str], i: int, step: int, k: float, word_class: Level, rare: int
    ) -> NDArray:
        """log P(y | neighbour, class) / P(y | class), over words of at most ``rare`` tokens."""

        def like(other: Sequence[str], j: int) -> bool:
            return word_class(other[j]) == word_class(sentence[i]) and sum(self.counts[other[j]].values()) <= rare

        p = self._in_context(like) + 1.0
        p /= p.sum()
        n = self._in_context(lambda o, j: like(o, j) and _at(o, j + step) == _at(sentence, i + step))
        return np.log((n + k * p) / (n.sum() + k) / p) if n.sum() else np.zeros(len(p))

    def _in_context(self, holds: Callable[[Sequence[str], int], bool]) -> NDArray:
        """Label counts of the tokens that fulfil a condition."""
        return self._vector(Counter(label for words, j, label in self.tokens if holds(words, j)))


def _at(words: Sequence[str], j: int) -> str:
    return START if j < 0 else END if j >= len(words) else words[j]
