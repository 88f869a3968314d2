"""Explanations: the contributions sum to the difference between two labellings."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

import corate
from corate import Corpus, DataError, Tagger
from corate.model.explanation import Question
from corate.training.methods import METHODS

WORDS = [f"{stem}{end}" for stem in ("ba", "co", "di", "fu") for end in ("n", "st", "r")]
TAGS = ["N|Sg", "N|Pl", "V|Sg", "V|Pl", "A|Sg"]


def sentences(n: int) -> list[list[tuple[str, str]]]:
    """Sentences in which words have several labels."""
    rng = random.Random(7)
    return [
        [(word, TAGS[(WORDS.index(word) + rng.choice((0, 0, 1))) % len(TAGS)]) for word in rng.choices(WORDS, k=6)]
        for _ in range(n)
    ]


def check(tagger: Tagger, tokens: list[Any]) -> int:
    """Check the explanations of all tokens. Returns the number of those with contributions."""
    best, checked = tagger.tag(tokens), 0
    for i in range(len(tokens)):
        found = tagger.explain(tokens, i)
        assert found.label == best[i] == found.labels[i]
        if found.against is None:
            continue
        checked += 1
        assert found.labels_against[i] == found.against != found.label
        assert found.difference >= 0
        assert sum(c.score for c in found.contributions) == pytest.approx(found.difference, abs=1e-4)
        scores = [tagger.score(tokens, labels) for labels in (found.labels, found.labels_against)]
        assert scores[0] - scores[1] == pytest.approx(found.difference, abs=1e-4)
        back = tagger.explain(tokens, i, found.against, found.label)
        assert back.difference == pytest.approx(-found.difference, abs=1e-6)
    return checked


@pytest.mark.parametrize("method", METHODS)
def test_contributions_sum_to_the_difference_for_every_method(method: str) -> None:
    tagger = corate.train(Corpus.from_sentences(sentences(60)), method)
    assert sum(check(tagger, [*words, "unknown"]) for words in (WORDS[:4], WORDS[5:9], ["new", "ban"])) > 3


@pytest.mark.parametrize("options", [{"order": 2}, {"parts": True}, {"base": "none"}, {"base": "default", "order": 2}])
def test_contributions_sum_to_the_difference_for_other_models(options: dict[str, Any]) -> None:
    tagger = corate.train(Corpus.from_sentences(sentences(60)), **options)
    assert check(tagger, [*WORDS[:6], "unknown"]) > 3


@pytest.mark.parametrize("method", ["polish", "empirical", "memm"])
def test_many_explanations_are_those_of_one_token_each(method: str) -> None:
    corpus = Corpus.from_sentences(sentences(60))
    tagger = corate.train(corpus, method)
    questions = [
        Question(s, i, *pair)
        for s, pair in ((7, (None, None)), (2, (TAGS[1], None)), (7, (None, TAGS[2])), (5, (TAGS[3], TAGS[4])))
        for i in range(6)
    ]
    for question, found in zip(questions, tagger.explanations(corpus, questions), strict=True):
        one = tagger.explain(corpus.tokens(question.sentence), *question[1:])
        assert (found.position, found.label, found.against, found.labels) == (
            one.position,
            one.label,
            one.against,
            one.labels,
        )
        assert found.difference == pytest.approx(one.difference)
        assert [(c.name, c.score) for c in found.contributions] == [
            (c.name, pytest.approx(c.score, abs=1e-9)) for c in one.contributions
        ]
    assert tagger.explanations(corpus, []) == []
    for whole, few in zip(
        tagger.explanations(corpus, questions), tagger.explanations(corpus, questions, most=3), strict=True
    ):
        assert few.contributions == whole.contributions[:3]
        assert few.others + len(few.contributions) == len(whole.contributions)


def test_a_feature_contributes_the_difference_of_its_weights() -> None:
    tagger = corate.train(Corpus.from_sentences(sentences(60)), "standard", features=["word[0]", "suffix(word[0], 1)"])
    found = tagger.explain(["ban"], 0, TAGS[0], TAGS[1])
    weights = {(w.feature, w.label): w.weight for n in tagger.strongest(10_000) for w in n}
    for term in found.contributions:
        if term.source == "feature":
            expected = weights.get((term.name, TAGS[0]), 0) - weights.get((term.name, TAGS[1]), 0)
            assert term.score == pytest.approx(expected, abs=1e-6)
    assert {c.name for c in found.contributions if c.source == "feature"} == {"word[0]=ban", "suffix(word[0], 1)=n"}


def test_features_with_numbers_contribute_their_weight_times_their_value() -> None:
    x = [[{"w": word, "size": len(word) / 2} for word, _ in sentence] for sentence in sentences(60)]
    y = [[label for _, label in sentence] for sentence in sentences(60)]
    tagger = corate.train(Corpus.from_features(x, y), "standard")
    assert check(tagger, x[0]) == len(x[0])
    one, two = (
        {c.name: c.score for c in tagger.explain([{"size": value}], 0, TAGS[0], TAGS[1]).contributions}["size"]
        for value in (1.0, 2.0)
    )
    assert two == pytest.approx(2 * one)


def test_the_labellings_are_the_best_with_each_label() -> None:
    tagger = corate.train(Corpus.from_sentences(sentences(40)), "standard")
    tokens = WORDS[:3]
    found = tagger.explain(tokens, 1, TAGS[3], TAGS[2])
    for label, labels in ((TAGS[3], found.labels), (TAGS[2], found.labels_against)):
        every = ([a, label, b] for a, b in itertools.product(TAGS, repeat=2))
        assert labels == max(every, key=lambda path: tagger.score(tokens, path))


def test_a_label_that_the_model_does_not_consider_can_be_asked_about() -> None:
    corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "Z"), ("b", "Y")]] * 3)
    tagger = corate.train(corpus, "empirical", backoff="paper")
    assert tagger.explain(["a", "b"], 1).against is None
    found = tagger.explain(["a", "b"], 1, against="Z")
    assert (found.label, found.against, found.labels_against[1]) == ("Y", "Z", "Z")
    assert found.difference > 0
    assert sum(c.score for c in found.contributions) == pytest.approx(found.difference, abs=1e-4)


def test_a_word_with_one_label_needs_no_contributions() -> None:
    corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("c", "Z"), ("b", "Y")]] * 3)
    found = corate.train(corpus, "empirical", backoff="paper").explain(["a", "b"], 1)
    assert (found.label, found.against, found.contributions) == ("Y", None, [])
    assert "no other label" in str(found)


def test_the_text_lists_contributions_by_size() -> None:
    found = corate.train(Corpus.from_sentences(sentences(40))).explain(WORDS[:3], 0)
    lines = str(found).splitlines()
    assert f"{found.label} and not {found.against}" in lines[0]
    sizes = [abs(float(line.split()[0])) for line in lines[1:]]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("position", "label", "against", "message"),
    [
        (3, None, None, "no token 3; the sentence has 3 tokens"),
        (-1, None, None, "no token -1"),
        (0, "Q", None, "no label 'Q'"),
        (0, TAGS[0], TAGS[0], "both"),
    ],
)
def test_mistakes_are_told(position: int, label: str | None, against: str | None, message: str) -> None:
    tagger = corate.train(Corpus.from_sentences(sentences(20)), "standard", iterations=3)
    with pytest.raises(DataError, match=message):
        tagger.explain(WORDS[:3], position, label, against)
