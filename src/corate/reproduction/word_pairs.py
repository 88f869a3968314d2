"""Fully empirical training with pair probabilities that depend on the words, as the paper states it.

    P(y | x)                = #(y, x) / #(x)                   if the word x was seen
                            = the mean of P(y | x') over the seen words x' with the same spelling features, otherwise
    P(y, y' | x, x')        the same for pairs of neighbouring words, by the spelling features of both words

The score of a labelling is the product of the pair probabilities over the product of the probabilities of the inner
nodes. Sentences start and end with a boundary symbol. ``empirical`` differs in one respect: its co-occurrence rates of
labels do not depend on the words. This is a plain reference for the ablation of the report, not a training method.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

__all__ = ["WordPairs"]

Labelled = Sequence[tuple[str, str]]
Distribution = Mapping[Hashable, float]

START, END = "<s>", "</s>"
#: The probability of a label pair that was not seen. Without it, a sentence can have no possible labelling.
FLOOR = 1e-6
#: Labels of a word that are less probable than this share of the best one are not candidates, as in ``empirical``.
THRESHOLD = 1e-4
_SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")


def spelling(word: str) -> tuple[str, ...]:
    """The paper's spelling features of a word.

    >>> spelling("Re-using")
    ('upper', 'hyphen', 'ing')
    """
    found = [name for name, test in (("digit", word[0].isdigit()), ("upper", word[0].isupper())) if test]
    return (*found, *(["hyphen"] if "-" in word else []), *(suffix for suffix in _SUFFIXES if word.endswith(suffix)))


class WordPairs:
    """The counted probabilities of a corpus.

    With ``label_rates``, a pair of two seen words that were not seen together has the co-occurrence rate of its labels,
    which does not depend on the words.
    """

    def __init__(self, sentences: Sequence[Labelled], *, label_rates: bool = False) -> None:
        words: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        pairs: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for sentence in sentences:
            bounded = [(START, START), *sentence, (END, END)]
            for word, label in bounded:
                words[word][label] += 1
            for (word, label), (after, following) in pairwise(bounded):
                pairs[word, after][label, following] += 1
        self.label_rates = label_rates
        self.labels = _total(counts for word, counts in words.items() if word not in (START, END))
        self.rates = _total(pairs.values())
        self.words = {word: _shares(counts) for word, counts in words.items()}
        self.pairs = {pair: _shares(counts) for pair, counts in pairs.items()}
        self.spellings = _means({word: (_class(str(word)), p) for word, p in self.words.items()})
        self.spelling_pairs = _means({pair: (_classes(pair), p) for pair, p in self.pairs.items()})  # type: ignore[arg-type]
        self._left: Counter[Hashable] = Counter()
        self._right: Counter[Hashable] = Counter()
        for (label, following), count in self.rates.items():  # type: ignore[misc]
            self._left[label] += count
            self._right[following] += count

    def node(self, word: str) -> Distribution:
        """P(y | word) of the candidate labels."""
        found = self.words.get(word) or self.spellings.get(_class(word)) or _shares(self.labels)
        least = THRESHOLD * max(found.values())
        return {label: p for label, p in found.items() if p >= least}

    def pair(self, word: str, after: str) -> Distribution | None:
        """P(y, y' | word, after); None if only the rates of the labels are known."""
        found = self.pairs.get((word, after))
        if found is not None or (self.label_rates and word in self.words and after in self.words):
            return found
        return self.spelling_pairs.get(_classes((word, after)))

    def _rate(self, label: Hashable, following: Hashable) -> float:
        expected = self._left[label] * self._right[following] / self.rates.total()
        return (self.rates[label, following] + 0.5) / (expected + 0.5)

    def tag(self, words: Sequence[str]) -> list[str]:
        """The best labels, by the Viterbi algorithm."""
        bounded = [START, *words, END]
        nodes = [self.node(word) for word in bounded]
        best: dict[Hashable, float] = {START: 0.0}
        history: list[dict[Hashable, Hashable]] = []
        for i in range(1, len(bounded)):
            pair = self.pair(bounded[i - 1], bounded[i])
            reached: dict[Hashable, float] = {}
            came: dict[Hashable, Hashable] = {}
            for following, p in nodes[i].items():
                scores = {
                    label: score + self._step(pair, label, following, nodes[i - 1][label], p)
                    for label, score in best.items()
                }
                came[following] = max(scores, key=lambda label: scores[label])
                reached[following] = scores[came[following]]
            best = reached
            history.append(came)
        label: Hashable = END
        path = []
        for came in reversed(history):
            path.append(str(label))
            label = came[label]
        return path[:0:-1]

    def _step(
        self, pair: Distribution | None, label: Hashable, following: Hashable, left: float, right: float
    ) -> float:
        """log P(y, y' | x) - log P(y | x), or log CR(y; y') + log P(y' | x)."""
        if pair is None:
            return math.log(self._rate(label, following) * right)
        return math.log(max(pair.get((label, following), 0.0), FLOOR) / left)


def _class(word: str) -> Hashable:
    return word if word in (START, END) else spelling(word)


def _classes(pair: tuple[str, str]) -> Hashable:
    return _class(pair[0]), _class(pair[1])


def _total(all_counts: Iterable[Counter[Hashable]]) -> Counter[Hashable]:
    total: Counter[Hashable] = Counter()
    for counts in all_counts:
        total.update(counts)
    return total


def _shares(counts: Counter[Hashable]) -> Distribution:
    total = counts.total()
    return {label: count / total for label, count in counts.items()}


def _means(classified: Mapping[Hashable, tuple[Hashable, Distribution]]) -> dict[Hashable, Distribution]:
    """The mean of the distributions of each class."""
    sums: dict[Hashable, dict[Hashable, float]] = defaultdict(lambda: defaultdict(float))
    sizes: Counter[Hashable] = Counter()
    for key, distribution in classified.values():
        sizes[key] += 1
        for label, p in distribution.items():
            sums[key][label] += p
    return {key: {label: p / sizes[key] for label, p in found.items()} for key, found in sums.items()}
