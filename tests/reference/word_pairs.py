"""Empirical training with pair probabilities that depend on the words, in plain Python: the option pairs="words".

    P(y | x)               = #(y, x) / #(x)              if the word x was seen
                           = the mean of P(y | x') over the seen words x' with the spelling of x, otherwise
    P(y, y' | x, x')       = #(y, y', x, x') / #(x, x')  if the pair of words was seen
                           = the mean over the seen pairs with the same known word and the spelling of the other,
                             if one word was not seen
                           = the mean over the seen pairs with the spelling of both words, if there is no such
                             pair, or neither word was seen

The score of a labelling is the product of the pair probabilities over the product of the probabilities of the inner
nodes. Sentences start and end with a boundary symbol. If a pair of words has no probability, in particular if both
words were seen, but never together, P(y, y' | x, x') is CR(y; y') P(y | x) P(y' | x').
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise, product

START, END = "<s>", "</s>"
#: The probability of a label pair that was not seen.
FLOOR = 1e-6
_SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")

Distribution = Mapping[Hashable, float]


def spelling(word: str) -> tuple[str, ...]:
    """The paper's spelling features of a word."""
    found = [name for name, test in (("digit", word[0].isdigit()), ("upper", word[0].isupper())) if test]
    return (*found, *(["hyphen"] if "-" in word else []), *(suffix for suffix in _SUFFIXES if word.endswith(suffix)))


class WordPairs:
    """The counted probabilities of a corpus. ``oov`` is the exponent of P(y | x) of unseen words."""

    def __init__(
        self, sentences: Iterable[Sequence[tuple[str, str]]], *, oov: float = 1.0, threshold: float = 1e-4
    ) -> None:
        words: dict[str, Counter[str]] = defaultdict(Counter)
        pairs: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
        for sentence in sentences:
            bounded = [(START, START), *sentence, (END, END)]
            for word, label in bounded:
                words[word][label] += 1
            for (word, label), (after, following) in pairwise(bounded):
                pairs[word, after][label, following] += 1
        self.oov, self.threshold = oov, threshold
        self.words = {word: _shares(counts) for word, counts in words.items()}
        self.pairs = {pair: _shares(counts) for pair, counts in pairs.items()}
        self.by_class = _means((_class(word), p) for word, p in self.words.items())
        self.by_word_class = _means(((x, _class(z), 0), p) for (x, z), p in self.pairs.items())
        self.by_class_word = _means(((_class(x), z, 1), p) for (x, z), p in self.pairs.items())
        self.by_classes = _means(((_class(x), _class(z)), p) for (x, z), p in self.pairs.items())
        counts: Counter[str] = Counter()
        for word, own in words.items():
            if word not in (START, END):
                counts.update(own)
        total = counts.total() + 0.1 * len(counts)
        self.prior = {label: (count + 0.1) / total for label, count in counts.items()}
        self.label_pairs: Counter[tuple[str, str]] = Counter()
        for own in pairs.values():
            self.label_pairs.update(own)
        self._left: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        for (label, following), count in self.label_pairs.items():
            self._left[label] += count
            self._right[following] += count

    def node(self, word: str) -> dict[str, float]:
        """log P(y | word) of the candidate labels."""
        known = word in self.words
        found = self.words[word] if known else self.by_class.get(_class(word), self.prior)
        least = 0.0 if known else self.threshold * max(found.values())
        return {y: (1.0 if known else self.oov) * math.log(p) for y, p in found.items() if p >= least}

    def pair(self, word: str, after: str) -> Distribution | None:
        """P(y, y' | word, after); None if only the rates of the labels are known."""
        if (word, after) in self.pairs:
            return self.pairs[word, after]
        known = word in self.words, after in self.words
        if known == (True, True):
            return None
        one = None
        if known[0]:
            one = self.by_word_class.get((word, _class(after), 0))
        elif known[1]:
            one = self.by_class_word.get((_class(word), after, 1))
        return one or self.by_classes.get((_class(word), _class(after)))

    def _rate(self, label: str, following: str) -> float:
        expected = self._left[label] * self._right[following] / self.label_pairs.total()
        return (self.label_pairs[label, following] + 0.5) / (expected + 0.5)

    def step(self, pair: Distribution | None, label: str, following: str, left: float, right: float) -> float:
        """log CR(y; y' | x, x') + log P(y' | x'), given log P(y | x) and log P(y' | x')."""
        if pair is None:
            return math.log(self._rate(label, following)) + right
        return math.log(pair.get((label, following), FLOOR)) - left

    def score(self, words: Sequence[str], labels: Sequence[str]) -> float:
        """The score of a labelling."""
        bounded, path = [START, *words, END], [START, *labels, END]
        nodes = [self.node(word)[label] for word, label in zip(bounded, path, strict=True)]
        return sum(
            self.step(self.pair(bounded[i - 1], bounded[i]), path[i - 1], path[i], nodes[i - 1], nodes[i])
            for i in range(1, len(path))
        )

    def labellings(self, words: Sequence[str]) -> list[tuple[float, tuple[str, ...]]]:
        """All labellings with their scores, best first."""
        found = [(self.score(words, labels), labels) for labels in product(*(self.node(word) for word in words))]
        return sorted(found, reverse=True)

    def tag(self, words: Sequence[str]) -> list[str]:
        """The best labels, by the Viterbi algorithm."""
        bounded = [START, *words, END]
        nodes = [self.node(word) for word in bounded]
        best, history = {START: 0.0}, []
        for i in range(1, len(bounded)):
            pair = self.pair(bounded[i - 1], bounded[i])
            reached, came = {}, {}
            for following, right in nodes[i].items():
                scores = {y: s + self.step(pair, y, following, nodes[i - 1][y], right) for y, s in best.items()}
                came[following] = max(scores, key=scores.__getitem__)
                reached[following] = scores[came[following]]
            best = reached
            history.append(came)
        path, label = [], END
        for came in reversed(history):
            path.append(label)
            label = came[label]
        return path[:0:-1]


def _class(word: str) -> Hashable:
    return word if word in (START, END) else spelling(word)


def _shares(counts: Counter[Hashable]) -> dict[Hashable, float]:
    total = counts.total()
    return {label: count / total for label, count in counts.items()}


def _means(classified: Iterable[tuple[Hashable, Distribution]]) -> dict[Hashable, dict[Hashable, float]]:
    """The mean of the distributions of each class."""
    sums: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    sizes: Counter[Hashable] = Counter()
    for key, distribution in classified:
        sizes[key] += 1
        for label, p in distribution.items():
            sums[key][label] += p
    return {key: {label: p / sizes[key] for label, p in found.items()} for key, found in sums.items()}
