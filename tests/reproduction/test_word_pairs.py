"""Pair probabilities given the words: the formulas by hand, and the decoder against enumeration."""

from __future__ import annotations

import math
from itertools import product

import pytest

from corate.reproduction.word_pairs import END, FLOOR, START, WordPairs, spelling
from small_corpora import random_sentences

SENTENCES = [[("the", "D"), ("dogs", "N")], [("the", "D"), ("cats", "N")], [("dogs", "V"), ("the", "D")]]


def test_spelling_features_are_those_of_the_paper() -> None:
    assert spelling("Nations") == ("upper", "s")
    assert spelling("1960-born") == ("digit", "hyphen")
    assert spelling("relation") == ("ion", "tion")
    assert spelling("cat") == ()


def test_seen_words_and_pairs_have_their_frequencies() -> None:
    counted = WordPairs(SENTENCES)
    assert counted.node("dogs") == {"N": 0.5, "V": 0.5}
    assert counted.pair("the", "dogs") == {("D", "N"): 1.0}
    assert counted.pair(START, "the") == {(START, "D"): 1.0}


def test_unseen_ones_have_the_mean_of_those_with_the_same_spelling() -> None:
    """`birds` is spelled as `dogs` (half N, half V) and `cats` (N) are; each word counts once."""
    counted = WordPairs(SENTENCES)
    assert counted.node("birds") == {"N": 0.75, "V": 0.25}
    assert counted.pair("the", "birds") == {("D", "N"): 1.0}
    assert counted.node("1")["D"] == pytest.approx(3 / 6)  # no such spelling: the shares of the labels


def test_with_label_rates_only_unseen_pairs_of_seen_words_do_not_depend_on_the_words() -> None:
    counted = WordPairs(SENTENCES, label_rates=True)
    assert counted.pair("cats", "dogs") is None
    assert counted.pair("the", "dogs") == {("D", "N"): 1.0}
    assert counted.pair("the", "birds") is not None


@pytest.mark.parametrize("label_rates", [False, True])
def test_the_best_labels_are_those_of_enumeration(label_rates: bool) -> None:
    counted = WordPairs(random_sentences(30, noise=0.3), label_rates=label_rates)
    for sentence in random_sentences(12, seed=5, noise=0.3):
        words = [*(word for word, _ in sentence[:4]), "unseen"]
        bounded = [START, *words, END]

        def score(labels: tuple[str, ...], bounded: list[str] = bounded) -> float:
            path = [START, *labels, END]
            total = 0.0
            for i in range(1, len(path)):
                pair = counted.pair(bounded[i - 1], bounded[i])
                if pair is None:
                    total += math.log(counted._rate(path[i - 1], path[i]) * counted.node(bounded[i])[path[i]])
                else:
                    joint = max(pair.get((path[i - 1], path[i]), 0.0), FLOOR)
                    total += math.log(joint / counted.node(bounded[i - 1])[path[i - 1]])
            return total

        every = product(*(counted.node(word) for word in words))
        assert score(tuple(counted.tag(words))) == pytest.approx(max(map(score, every)))
