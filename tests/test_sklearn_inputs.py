"""What `corate.sklearn.SequenceTagger` takes as X and y."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import corate
from corate.errors import DataError, FeatureError
from corate.sklearn import SequenceTagger
from corate.training.methods import METHODS

WORDS = [["Ann", "sleeps"], ["Bob", "sings", "well"], ["the", "dog"], []] * 2
LABELS = [["N", "V"], ["N", "V", "A"], ["D", "N"], []] * 2
TAGS = {"Ann": "NNP", "Bob": "NNP", "sleeps": "VBZ", "sings": "VBZ", "well": "RB", "the": "DT", "dog": "NN"}
ROWS = [[(word, TAGS[word]) for word in sentence] for sentence in WORDS]
DICTS = [[{"w": word, "length": len(word), "title": word.istitle()} for word in sentence] for sentence in WORDS]
#: Words as unit vectors, and the length.
VECTORS = {word: [*(np.eye(len(TAGS))[i]), len(word)] for i, word in enumerate(TAGS)}
ARRAYS = [np.array([VECTORS[word] for word in sentence]).reshape(-1, len(TAGS) + 1) for sentence in WORDS]


def fits(X: Any, **parameters: Any) -> SequenceTagger:
    """An estimator that has learned the labels of these sentences."""
    estimator = SequenceTagger("standard", c2=0.01, **parameters).fit(X, LABELS)
    assert estimator.predict(X) == LABELS
    return estimator


def lazy(values: Any) -> Iterator[Any]:
    """Generators in place of the lists of sentences and of tokens."""
    return (iter(sentence) for sentence in values)


# -- words and columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [tuple, np.array])
def test_words(form: Callable[[Any], Any]) -> None:
    assert fits([form(sentence) for sentence in WORDS]).tagger_.columns == ("word",)


def test_rows_of_columns() -> None:
    estimator = fits(ROWS)
    assert estimator.tagger_.columns == ("word", "pos")
    assert estimator.predict([[{"word": "Ann", "pos": "NNP"}]]) == [["N"]]
    with pytest.raises(DataError, match="1 column "):
        estimator.predict(WORDS)


@pytest.mark.parametrize(
    "parameters", [{"columns": ["form", "tag"]}, {"features": ["tag[0]"], "columns": ["form", "tag"]}]
)
def test_named_columns(parameters: dict[str, Any]) -> None:
    lists = [[list(row) for row in sentence] for sentence in ROWS]
    mappings = [[{"tag": tag, "form": word} for word, tag in sentence] for sentence in ROWS]
    arrays = [np.array(sentence) for sentence in ROWS]
    for X in (ROWS, lists, mappings, arrays):
        assert fits(X, **parameters).tagger_.columns == ("form", "tag")


def test_templates_make_columns_of_mappings_and_lists() -> None:
    mappings = [[{"word": word, "tag": tag} for word, tag in sentence] for sentence in ROWS]
    assert set(fits(mappings, features=["tag[0]", "word[0]"]).tagger_.features) == {"tag[0]", "word[0]"}
    lists = [[list(row) for row in sentence] for sentence in ROWS]
    assert set(fits(lists, features=["pos[0]", "word[0]"]).tagger_.features) == {"pos[0]", "word[0]"}


def letters(words: list[str], i: int) -> dict[str, Any]:
    return {"first": words[i][0], "last": words[i][-1], "next": words[i + 1] if i + 1 < len(words) else ""}


def test_a_feature_function() -> None:
    assert fits(WORDS, features=letters).predict([["Abe", "leaps"]]) == [["N", "V"]]


# -- ready-made features ----------------------------------------------------------------------------------------------


def test_feature_dicts_and_lists_of_names() -> None:
    tagger = corate.train(corate.Corpus.from_features(DICTS, LABELS), "standard", c2=0.01)
    assert fits(DICTS).predict_marginals(DICTS[:1])[0][0]["N"] == pytest.approx(
        float(np.exp(tagger.score(DICTS[0], ["N", "V"])))
        + sum(float(np.exp(tagger.score(DICTS[0], ["N", other]))) for other in "NAD")
    )
    fits([[[f"w={word}", TAGS[word]] for word in sentence] for sentence in WORDS])


# -- arrays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, np.float32, list, lambda array: array.tolist(), lambda a: a > 0.5])
def test_arrays_are_the_same_as_dicts_of_numbers(form: Callable[[Any], Any]) -> None:
    X = [form(array) for array in ARRAYS]
    before = [np.array(x) for x in X]
    estimator = fits(X)
    assert estimator.n_features_in_ == len(TAGS) + 1
    assert all(np.array_equal(a, b) for a, b in zip(X, before, strict=True))
    dicts = [[{f"x{i}": float(v) for i, v in enumerate(row)} for row in sentence] for sentence in X]
    same = corate.train(corate.Corpus.from_features(dicts, LABELS), "standard", c2=0.01)
    assert np.array_equal(same.model.weights.scores, estimator.tagger_.model.weights.scores)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_arrays(method: str) -> None:
    estimator = SequenceTagger(method).fit(ARRAYS, LABELS)
    assert estimator.score(ARRAYS, LABELS) > 0.5


def test_one_array_of_sentences_of_one_length() -> None:
    X = np.stack([ARRAYS[0], ARRAYS[2]])
    assert SequenceTagger("standard").fit(X, [LABELS[0], LABELS[2]]).predict(X) == [LABELS[0], LABELS[2]]


def test_arrays_of_another_form_are_refused() -> None:
    estimator = SequenceTagger("standard").fit(ARRAYS, LABELS)
    assert estimator.predict([[], np.empty((0, 3)), np.array([])]) == [[], [], []]
    with pytest.raises(DataError, match="arrays with 8 columns, as in training, not arrays with 7"):
        estimator.predict([array[:, 1:] for array in ARRAYS])
    with pytest.raises(DataError, match="arrays with 8 columns, as in training, not words"):
        estimator.predict(DICTS)
    with pytest.raises(DataError, match="not arrays with 8 columns"):
        SequenceTagger("standard").fit(DICTS, LABELS).predict(ARRAYS)
    with pytest.raises(DataError, match="not arrays with 8 columns"):
        SequenceTagger("standard").fit(DICTS, LABELS, X_dev=ARRAYS, y_dev=LABELS)
    assert not hasattr(estimator.fit(DICTS, LABELS), "n_features_in_")


def test_arrays_that_are_no_sentences_are_refused() -> None:
    estimator = SequenceTagger()
    with pytest.raises(DataError, match=r"sentence 0: .*\(tokens, features\)"):
        estimator.fit(np.ones((3, 2)), [["A", "B"]] * 3)
    with pytest.raises(DataError, match=r"sentence 0: .*as many numbers for each token"):
        estimator.fit([[[1.0, 2.0], [1.0]]], [["A", "B"]])
    for X in ([np.ones((1, 2)), np.ones((1, 3))], [np.ones((1, 2)), [{"a": 1}]]):
        with pytest.raises(DataError, match="the same number of columns"):
            estimator.fit(X, [["A"], ["B"]])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300])
def test_numbers_that_are_not_finite_are_refused_with_their_place(wrong: float) -> None:
    X = [array.copy() for array in ARRAYS]
    X[1][2, 4] = wrong
    with pytest.raises(FeatureError, match="sentence 1, token 2: the feature '4' is "):
        SequenceTagger().fit(X, LABELS)


# -- generators, labels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [WORDS, ROWS, DICTS, ARRAYS])
def test_generators(X: Any) -> None:
    estimator = SequenceTagger("standard").fit(lazy(X), lazy(LABELS))
    assert estimator.predict(lazy(X)) == SequenceTagger("standard").fit(X, LABELS).predict(X)
    assert estimator.score(lazy(X), lazy(LABELS)) == estimator.score(X, LABELS)


def test_labels_may_be_arrays() -> None:
    estimator = SequenceTagger("standard").fit(WORDS, [np.array(labels, dtype=str) for labels in LABELS])
    assert estimator.predict(WORDS) == SequenceTagger("standard").fit(WORDS, LABELS).predict(WORDS)
    assert {type(label) for label in estimator.classes_} == {str}


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (WORDS, None, "y is missing"),
        ("Ann sleeps", [["N", "V"]], "X must be a list of sentences, not the text"),
        (["Ann sleeps"], [["N", "V"]], "sentence 0 must be a list of tokens, not the text"),
        ([["Ann", "sleeps"]], ["NV"], "labels of sentence 0 must be a list"),
        ([["Ann", "sleeps"]], [["N"]], "sentence 0: 2 tokens but 1 label"),
        ([["Ann"], ["Bob"]], [["N"]], "2 sentences but labels for 1"),
        ([["Ann"]], [[1]], "every label must be a string"),
        ([["Ann", ("Bob", "NNP")]], [["N", "N"]], "2 columns"),
        ([], [], "no tokens"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_place(X: Any, y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        SequenceTagger().fit(X, y)
