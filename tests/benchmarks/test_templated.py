"""The generator of templated text, and what the default promises on such text."""

from __future__ import annotations

import pytest
from benchmarks.templated import DEVELOPMENT, FINAL, with_odd_labels, with_wrong_labels

import corate
from corate import Corpus, spans


@pytest.mark.parametrize("name", [*DEVELOPMENT, *FINAL])
def test_sentences_have_valid_labels_and_depend_only_on_the_seed(name: str) -> None:
    domain = {**DEVELOPMENT, **FINAL}[name]
    sentences = domain.sentences(200, 1)
    assert sentences == domain.sentences(200, 1) != domain.sentences(200, 2)
    assert all(spans.convert(labels, "IOB2", "IOB2") == labels for one in sentences for labels in [[y for _, y in one]])
    seen = {word for one in domain.sentences(2000, 3, closed=True) for word, _ in one}
    closed, mixed = (
        sum(word not in seen for one in domain.sentences(500, 4, closed=only) for word, _ in one)
        for only in (True, False)
    )
    assert mixed > 2 * closed


def test_noise_changes_as_many_labels_as_it_says() -> None:
    clean = DEVELOPMENT["logs"].sentences(400, 1)
    tokens = sum(map(len, clean))

    def changed(noisy: list[list[tuple[str, str]]]) -> int:
        return sum(a != b for one, two in zip(clean, noisy, strict=True) for a, b in zip(one, two, strict=True))

    assert changed(with_odd_labels(clean, 5, 1)) == 5
    for typos in (False, True):
        assert changed(with_wrong_labels(clean, 0.05, 1, typos=typos)) == pytest.approx(0.05 * tokens, rel=0.3)


def f1(sentences: list[list[tuple[str, str]]], test: Corpus) -> float:
    found = corate.evaluate(corate.train(Corpus.from_sentences(sentences)), test).f1
    assert found is not None
    return found


def test_one_odd_label_leaves_the_others_as_they_are() -> None:
    """In clean text, the only token of a label could set the weights of all counts: F1 fell by six points."""
    clean = DEVELOPMENT["logs"].sentences(240, 1, closed=True)
    test = Corpus.from_sentences(DEVELOPMENT["logs"].sentences(500, 2))
    assert f1(with_odd_labels(clean, 1, 0), test) > f1(clean, test) - 0.007


@pytest.mark.parametrize("name", ["recipes", "appointments"])
def test_words_do_not_get_the_typing_errors_of_their_labels(name: str) -> None:
    """As they are rare, a word seen with one once had as much evidence for it as for its usual one: 28 and 46 words."""
    clean = DEVELOPMENT[name].sentences(240, 1)
    labels = {label for one in clean for _, label in one}
    test = [[word for word, _ in one] for one in DEVELOPMENT[name].sentences(500, 2)]
    predicted = []
    for seed in range(3):
        noisy = with_wrong_labels(clean, 0.02, seed, typos=True)
        found = corate.train(Corpus.from_sentences(noisy)).tag_all(test)
        predicted.append(sum(label not in labels for one in found for label in one))
    assert sum(predicted) <= 10
