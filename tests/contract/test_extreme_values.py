"""Numeric features of any size: each method trains a model with finite scores, or names the value it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.compat import pycrfsuite
from corate.corpus.attributes import LARGEST_VALUE, ItemSequence
from corate.errors import DataError
from corate.training.crfsuite import train_as_crfsuite
from corate.training.methods import METHODS

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 1e-45  # the smallest positive number in single precision


def features(values: list[float]) -> list[list[dict[str, float]]]:
    """Tokens that all have these values; every second token has half of each."""
    sizes = [1.0, 0.5]
    return [
        [
            {f"w={'abc'[(i + j) % 3]}": 1.0, **{f"v{k}": value * sizes[j % 2] for k, value in enumerate(values)}}
            for j in range(3)
        ]
        for i in range(9)
    ]


LABELS = [["XYZ"[(i + j) % 3] for j in range(3)] for i in range(9)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "values",
    [[LARGEST], [-LARGEST], [LARGEST, -LARGEST] * 15, [SMALLEST], [SMALLEST, 1.0, -SMALLEST], [LARGEST_VALUE] * 15],
    ids=["largest", "least", "many", "smallest", "mixed", "the largest taken"],
)
def test_extreme_values_train_or_are_refused(method: str, values: list[float], tmp_path: Path) -> None:
    corpus = corate.Corpus.from_features(features(values), LABELS)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the loss rose to")
            corate.train(corpus, method).save(tmp_path / "model")
    except DataError as error:
        refused = str(error)
    else:
        tagger, refused = corate.load(tmp_path / "model"), ""
        assert np.isfinite([tagger.score(sentence) for sentence in features(values)]).all()
    assert not refused or (method != "empirical" and not (tmp_path / "model").exists())
    assert not refused or refused.startswith(
        ("sentence 0, token 0: the feature 'v0' has the value", "training diverges")
    )


@pytest.mark.parametrize("method", [method for method in METHODS if method != "empirical"])
def test_values_too_large_are_named_with_what_to_do(method: str) -> None:
    corpus = corate.Corpus.from_features(features([1.0, 3.4e38]), LABELS)
    with pytest.raises(DataError, match=r"'v1' has the value 3\.4e\+38; .* from -1e\+15 to 1e\+15: scale them"):
        corate.train(corpus, method)


REFUSED = r"token 1: the feature 'v0' has the value (-?1e\+16|2e\+38); values go from -1e\+15 to 1e\+15: scale them"
#: Methods of a tagger that a sentence of ready-made features is given to.
QUESTIONS = ["tag", "score", "marginals", "pair_marginals", "entropy", "confidence"]


@pytest.fixture(scope="module", params=[*METHODS, "crfsuite"])
def tagger(request: pytest.FixtureRequest) -> corate.Tagger:
    corpus = corate.Corpus.from_features(features([1.0]), LABELS)
    return train_as_crfsuite(corpus) if request.param == "crfsuite" else corate.train(corpus, request.param)


@pytest.mark.parametrize("value", [1e16, -1e16, 2e38])
def test_the_same_values_are_refused_in_tagging(tagger: corate.Tagger, value: float) -> None:
    sentence = [{"v0": 1.0}, {"v0": value}]
    given: list[Any] = [sentence, tuple(sentence), ItemSequence(sentence)]
    alone = [partial(getattr(tagger, name), tokens) for name in QUESTIONS for tokens in given]
    alone += [
        partial(tagger.nbest, sentence, 2),
        partial(tagger.sample, sentence, 2),
        partial(tagger.explain, sentence, 0),
    ]
    several = [[sentence[:1], tokens] for tokens in given] + [corate.Corpus.from_features([sentence[:1], sentence])]
    together = [partial(ask, sentences) for sentences in several for ask in (tagger.tag_all, tagger.lattice)]
    for question in [*alone, *together]:
        if tagger.method == "empirical":  # values are binned
            question()
            continue
        with pytest.raises(DataError, match="sentence 1, " + REFUSED if question in together else REFUSED):
            question()


def test_elements_of_arrays_are_named(tagger: corate.Tagger) -> None:
    if tagger.method == "empirical":
        return
    with pytest.raises(DataError, match=r"token 1: the feature 'v:2' has the value 1e\+16; "):
        tagger.tag([{"w=a": 1}, {"v": np.array([1, 2, 1e16])}])


@pytest.mark.parametrize("method", [method for method in METHODS if method != "empirical"])
def test_values_of_own_functions_are_refused_in_tagging(method: str) -> None:
    def size(words: Sequence[str], i: int) -> dict[str, float]:
        return {words[i]: 1.0, "v0": 1e16 if words[i] == "huge" else 2.0}

    tagger = corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")]] * 4), method, features=size)
    for ask in (tagger.tag, tagger.marginals, lambda words: tagger.tag_all([["a"], words])):
        with pytest.raises(DataError, match=REFUSED):
            ask(["a", "huge"])


def test_values_are_refused_in_held_out_text() -> None:
    corpora = [corate.Corpus.from_features(features([value]), LABELS) for value in (1.0, 1e16)]
    with pytest.raises(DataError, match=r"sentence 0, token 0: the feature 'v0' has the value 1e\+16; "):
        corate.train(corpora[0], "polish", held_out=corpora[1])


def test_values_are_refused_by_the_replacement_of_crfsuite() -> None:
    model = train_as_crfsuite(corate.Corpus.from_features(features([1.0]), LABELS))
    tagger = pycrfsuite.Tagger.of(model)
    sentence = [{"v0": 1.0}, {"v0": 1e16}]
    for given in (sentence, ItemSequence(sentence)):
        for ask in (tagger.tag, tagger.set):
            with pytest.raises(DataError, match=REFUSED):
                ask(given)
