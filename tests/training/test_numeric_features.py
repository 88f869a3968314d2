"""Numeric features: the default method does not depend on their units."""

from __future__ import annotations

import numpy as np
import pytest

import corate
from corate import Corpus
from corate.training.source import Scaling

Features = list[list[dict[str, object]]]


def sentences(n: int, seed: int, scale: float = 1.0, shift: float = 0.0) -> tuple[Features, list[list[str]]]:
    """Three numbers that tell four labels apart, one of them only sometimes there, and a word that hardly does."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0, 2.0], [2.0, 0.0, -1.0], [0.0, 2.0, 1.0], [2.0, 2.0, -2.0]])
    found: Features = []
    labels = []
    for _ in range(n):
        y = rng.integers(4, size=8)
        numbers = centres[y] + rng.normal(size=(8, 3)) * 0.7
        sentence: list[dict[str, object]] = []
        for row, word in zip(numbers, rng.integers(5, size=8), strict=True):
            token: dict[str, object] = {"a": row[0] * scale + shift, "b": row[1] * scale + shift, "w": f"w{word}"}
            if word > 1:
                token["c"] = row[2] * scale
            sentence.append(token)
        found.append(sentence)
        labels.append([f"L{label}" for label in y])
    return found, labels


def accuracy(tagger: corate.Tagger, x: Features, y: list[list[str]]) -> float:
    return corate.evaluate(tagger, Corpus.from_features(x, y)).accuracy


@pytest.mark.parametrize(("scale", "shift"), [(100.0, 0.0), (0.01, 0.0), (1.0, 50.0), (100.0, 1e4)])
def test_units_do_not_change_what_the_default_method_learns(scale: float, shift: float) -> None:
    (x, y), (other, _) = sentences(150, 1), sentences(150, 1, scale, shift)
    (test, gold), (other_test, _) = sentences(100, 2), sentences(100, 2, scale, shift)
    usual, scaled = (corate.train(Corpus.from_features(s, y)) for s in (x, other))
    assert accuracy(usual, test, gold) > 0.8
    assert accuracy(scaled, other_test, gold) == pytest.approx(accuracy(usual, test, gold), abs=0.005)
    lattices = usual.lattice(test), scaled.lattice(other_test)
    best = lattices[0].scores.max()
    np.testing.assert_allclose(lattices[1].scores, lattices[0].scores, atol=0.05 * best)


def test_held_out_sentences_are_scaled_like_those_trained_on() -> None:
    (x, y), (test, gold) = sentences(100, 1, 100.0, 1e4), sentences(60, 2, 100.0, 1e4)
    held_out = Corpus.from_features(test, gold)
    tagger = corate.train(Corpus.from_features(x, y), held_out=held_out)
    assert tagger.record["held_out"]["accuracy"] == pytest.approx(corate.evaluate(tagger, held_out).accuracy, abs=0.01)


def test_constant_numbers_and_zeros_are_taken() -> None:
    x: Features = [[{"w": w, "two": 2.0, "zero": 0.0, "big": 1e10} for w in "ab"]] * 4
    tagger = corate.train(Corpus.from_features(x, [["A", "B"]] * 4))
    assert tagger.tag(x[0]) == ["A", "B"]


def test_an_undone_scaling_gives_the_same_scores() -> None:
    x, y = sentences(40, 3, 10.0, 30.0)
    corpus = Corpus.from_features(x, y)
    assert corpus.attributes is not None
    scaling = Scaling.of(corpus.attributes)
    scaled = corate.Corpus(corpus.columns, corpus.offsets, corpus.labels, scaling.apply(corpus.attributes))
    tagger = corate.train(scaled, "standard", iterations=20)
    undone = corate.Tagger(tagger.vocabulary, scaling.undo(tagger.model), tagger.record, tagger.columns)
    np.testing.assert_allclose(undone.lattice(corpus).scores, tagger.lattice(scaled).scores, atol=1e-4)
