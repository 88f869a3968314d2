"""More rules for methods that train on whole sentences: bad data, steps that go too far, options of other methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError
from small_corpora import Labelled, corpus_of, for_method, random_sentences
from whole_sentences import METHODS, STOCHASTIC, TEST, TIMES_COUNTED, TRAINING, accuracy, method_of, over, trained

# -- bad data ---------------------------------------------------------------------------------------------------------


@over(METHODS)
def test_features_whose_value_is_zero_say_nothing(way: dict[str, Any]) -> None:
    sentences = [[{"x": 0.0, "y": 0.0}, {"x": 0.0}] for _ in range(20)]
    corpus = Corpus.from_features(sentences, [["A", "B"]] * 15 + [["A", "A"]] * 5)
    tagger = corate.train(corpus, **way)
    found = tagger.tag([{"x": 0.0}, {"x": 0.0}])
    assert found[0] == "A"
    assert tagger.tag([{"x": 0.0}, {"z": 0.0}]) == tagger.tag([{}, {}]) == found
    assert np.isfinite(tagger.score([{"x": 0.0}, {"y": 0.0}]))


@over(METHODS)
def test_identical_sentences_with_conflicting_labels_follow_the_most(way: dict[str, Any]) -> None:
    labelled: Labelled = [[("x", "A"), ("y", "B")]] * 30 + [[("x", "B"), ("y", "A")]] * 10
    tagger = trained(labelled, **way)
    assert tagger.tag(["x", "y"]) in (["A", "B"], ["B", "A"])
    if method_of(way).has("c2"):  # a smooth loss
        assert tagger.tag(["x", "y"]) == ["A", "B"]
        times = TIMES_COUNTED.get(method_of(way).loss, 1)
        expected = 0.75**times / (0.75**times + 0.25**times)
        assert np.exp(tagger.score(["x", "y"], ["A", "B"])) == pytest.approx(expected, abs=0.15)
    assert np.isfinite(tagger.score(["x", "y"], ["B", "A"]))


@over(METHODS)
def test_without_a_prior_training_still_ends(way: dict[str, Any]) -> None:
    """If words determine the labels, the optimum is at infinity."""
    labelled: Labelled = [[("the", "D"), ("dog", "N")], [("dogs", "N"), ("walk", "V")], [("walk", "V")]] * 4
    tagger = trained(labelled, **for_method(way["method"], c2=0.0), **way)
    assert accuracy(tagger, labelled) == 1.0
    assert np.isfinite(tagger.model.weights.scores).all()
    assert np.isfinite(tagger.score(["the", "dog"], ["N", "D"]))


@over(METHODS)
def test_words_of_one_label_each_are_learned_by_heart(way: dict[str, Any]) -> None:
    labelled: Labelled = [[(f"w{i}", f"L{i}")] for i in range(30)] * 3
    assert accuracy(trained(labelled, features=["word[0]"], **way), labelled) == 1.0


# -- steps that go too far --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [30.0, 300.0, 1e6])
@pytest.mark.parametrize("sentences", [60, 2500])
@pytest.mark.parametrize("method", ["standard", "polish"])
def test_steps_that_diverge_are_noticed_halved_and_said(method: str, sentences: int, rate: float) -> None:
    labelled = random_sentences(sentences, noise=0.2)
    options = {"optimizer": "adagrad", "rate": rate, "passes": 2, "batch": 64}
    with pytest.warns(
        UserWarning, match="the loss rose to .* with rate .*; the pass is repeated with rate"
    ) as in_words:
        tagger = trained(labelled, features=["word[0]"], method=method, **options)
    assert np.isfinite(tagger.model.weights.scores).all()
    assert accuracy(tagger, labelled) > 0.6
    assert f"with rate {rate:g}; the pass is repeated with rate {rate / 2:g}" in str(in_words[0].message)


def test_steps_that_diverge_whatever_they_are_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corate.optimize.stochastic.MOST_HALVINGS", 2)
    with pytest.warns(UserWarning, match="the loss rose"), pytest.raises(DataError, match="smaller rate"):
        trained(method="standard", optimizer="adagrad", rate=1e9)


@over(STOCHASTIC)
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_few_sentences_give_no_false_alarm(way: dict[str, Any], n: int) -> None:
    """Warnings are errors here."""
    trained(TRAINING[:n], **way)
    trained([[("yes", "Y")], [("no", "N")]] * n, **way)


# -- options of other methods -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "polish", "optimizer": "lbfgs"}, "unknown optimizer 'lbfgs'; there are adagrad"),
        ({"method": "perceptron", "optimizer": "adagrad"}, "optimizer is an option of the method"),
        ({"method": "standard", "lattice": "crystal"}, "unknown lattice 'crystal'.*full, pruned"),
        ({"method": "standard", "transitions": "none"}, "unknown transitions 'none'.*all, seen"),
        *(
            ({"method": m, "order": order}, f"unknown order {order}; there are 1, 2")
            for m in ("standard", "polish")
            for order in (0, 3, -1)
        ),
        *(
            ({"method": m, "order": 2}, f"order is an option of the method 'polish' or 'standard', not of '{m}'")
            for m in ("memm", "piecewise", "perceptron", "separate", "empirical")
        ),
        ({"method": "standard", "base": "paper"}, "base is an option of"),
        ({"method": "standard", "coupling": "joint"}, "coupling is an option of"),
        ({"method": "memm", "init": "model"}, "init is for"),
        ({"method": "polish", "c1": 1.0}, "c1 is an option of the method 'standard' or 'piecewise' or 'memm'"),
        ({"method": "standard", "optimizer": "adagrad", "c1": 1.0}, "c1 is for the optimizer 'lbfgs'"),
        ({"method": "standard", "sigma2": 1.0}, "sigma2 is an option of the method 'separate', not of 'standard'"),
        ({"method": "standard", "c2": -1.0}, "c2 must be a number from 0 to 1000000000, not -1"),
        ({"method": "standard", "c2": float("nan")}, "c2 must be a number"),
        ({"method": "standard", "sentence_weights": [1.0]}, "60 sentences but 1 sentence weights"),
        ({"method": "standard", "sentence_weights": [-1.0] * 60}, "not negative"),
        ({"method": "standard", "label_weights": {"PLANET": 2.0}}, "no label 'PLANET'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        trained(**options)


def test_only_seen_pairs_have_weights_where_that_is_asked_for() -> None:
    labelled: Labelled = [[("a", "A"), ("b", "B"), ("a", "A")], [("b", "B")]] * 5
    tagger = trained(labelled, method="standard", transitions="seen", features=["word[0]"])
    names, table = [*tagger.labels, "|"], tagger.model.edges.dense()
    seen = {("A", "B"), ("B", "A"), ("|", "A"), ("|", "B"), ("A", "|"), ("B", "|")}
    assert {(names[y], names[z]) for y, z in np.argwhere(table)} == seen
    inner = trained(labelled, method="standard", transitions="seen", boundaries=False, features=["word[0]"])
    assert {(names[y], names[z]) for y, z in np.argwhere(inner.model.edges.dense())} == {("A", "B"), ("B", "A")}


def test_a_memm_says_probabilities_without_a_sum_over_labellings() -> None:
    tagger = trained(method="memm")
    lattice = tagger.lattice(corpus_of(TEST))
    np.testing.assert_allclose(lattice.marginals()[0], 0.0, atol=1e-4)
    assert tagger.model.locally_normalised
    assert not replace(tagger.model, edges=replace(tagger.model.edges, local=False)).locally_normalised


@pytest.mark.parametrize(
    ("features", "edges"),
    [
        (["word[0]", "pos[0]"], ["edge: word[-1]", "edge: pos[0]", "edge: pos[-1]"]),
        (["pos[0]", "pos[1]"], ["edge: pos[0]", "edge: pos[-1]"]),
        (["word[0]", "edge: pos[0]"], ["edge: pos[0]"]),
    ],
)
def test_edges_of_many_labels_depend_on_the_word_before_where_words_are_looked_at(
    features: list[str], edges: list[str]
) -> None:
    rng = np.random.default_rng(0)
    rows = [(f"w{y}", "odd" if y % 2 else "even", f"L{y}") for y in rng.integers(30, size=50_000).tolist()]
    corpus = Corpus.from_sentences(
        [rows[i : i + 50] for i in range(0, len(rows), 50)], columns=("word", "pos", "label")
    )
    tagger = corate.train(corpus, features=features, order=1, passes=1)
    assert [text for text in tagger.features if text.startswith("edge")] == edges
