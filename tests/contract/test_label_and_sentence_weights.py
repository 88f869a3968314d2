"""Weights of sentences and of labels in training on whole sentences."""

from __future__ import annotations

from typing import Any

import pytest

from small_corpora import Labelled, for_method, random_sentences, words_of
from whole_sentences import METHODS, TEST, TIMES_COUNTED, TRAINING, method_of, over, trained

NOISE: Labelled = [[(w, "N") for w, _ in s] for s in random_sentences(15, seed=5)]


@over({name: way for name, way in METHODS.items() if not method_of(way).in_passes})
def test_a_sentence_of_weight_zero_is_absent(way: dict[str, Any]) -> None:
    weights = [1.0] * len(TRAINING) + [0.0] * len(NOISE)
    converged = way | {"iterations": 300}
    weighed = trained([*TRAINING, *NOISE], sentence_weights=weights, **converged)
    plain = trained(**converged)
    misled = trained([*TRAINING, *NOISE], **converged)
    assert weighed.tag_all(words_of(TEST)) == plain.tag_all(words_of(TEST)) != misled.tag_all(words_of(TEST))
    for words in words_of(TEST)[:10]:
        assert weighed.score(words) == pytest.approx(plain.score(words), abs=0.05)


@over(METHODS)
def test_weights_of_sentences_have_an_effect(way: dict[str, Any]) -> None:
    labelled: Labelled = [[("x", "A"), ("y", "A")]] * 10 + [[("x", "B"), ("y", "B")]] * 10
    for label, weights in (("A", [1.0] * 10 + [0.02] * 10), ("B", [0.02] * 10 + [1.0] * 10)):
        tagger = trained(labelled, sentence_weights=weights, **for_method(way["method"], c2=0.05), **way)
        assert tagger.tag(["x", "y"]) == [label] * 2


def test_a_sentence_of_weight_two_counts_as_two() -> None:
    twice = trained([*TRAINING, *NOISE, *NOISE], method="standard", iterations=300)
    weights = [1.0] * len(TRAINING) + [2.0] * len(NOISE)
    weighed = trained([*TRAINING, *NOISE], method="standard", iterations=300, sentence_weights=weights)
    assert twice.tag_all(words_of(TEST)) == weighed.tag_all(words_of(TEST))
    for words in words_of(TEST)[:10]:
        assert weighed.score(words) == pytest.approx(twice.score(words), abs=0.05)


@over(METHODS)
def test_a_dear_label_is_missed_less(way: dict[str, Any]) -> None:
    """`x` is A much more often than B; if B has weight fifty, `x` becomes B."""
    labelled: Labelled = [[("x", "A"), ("z", "C")]] * 90 + [[("x", "B"), ("z", "C")]] * 10
    usual = trained(labelled, features=["word[0]"], **way)
    smooth = method_of(way).has("c2")
    much = 50.0 ** TIMES_COUNTED.get(method_of(way).loss, 1) if smooth else 1e6  # steps of a perceptron are integers
    dear = trained(labelled, features=["word[0]"], label_weights={"B": much}, **way)
    if smooth:
        assert usual.tag(["x", "z"]) == ["A", "C"]
        assert dear.tag(["x", "z"]) == ["B", "C"]
    assert dear.score(["x", "z"], ["B", "C"]) > usual.score(["x", "z"], ["B", "C"])
