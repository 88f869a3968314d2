"""A model records what its feature function returned for a few tokens, and refuses one that returns other features."""

from __future__ import annotations

import itertools
import json
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import corate
from corate import Corpus, ModelError
from corate.features.function_sample import function_sample
from corate.inspection.model_facts import description
from corate.io import tensor_file
from small_corpora import corpus_of, random_sentences, words_of

LABELLED = random_sentences(40)
CORPUS = corpus_of(LABELLED)
Function = Callable[[Sequence[Any], int], Any]


def lower(words: Sequence[str], i: int) -> dict[str, Any]:
    return {"lower": words[i].lower(), "length": len(words[i]), "title": words[i].istitle()}


def whole(words: Sequence[str], i: int) -> dict[str, Any]:
    """Depends on the whole sentence."""
    return {"word": words[i], "words": len(words), "last": words[-1]}


def vector(words: Sequence[str], i: int) -> dict[str, Any]:
    return {"vector": np.sin(np.arange(1, 9) * (1 + len(words[i])))}


#: A function, and what it becomes: the features of tokens differ for each.
CHANGES: dict[str, tuple[Function, Function]] = {
    "name": (lower, lambda words, i: {**lower(words, i), "lower": words[i].lower() + "x"}),
    "value": (lower, lambda words, i: {**lower(words, i), "length": len(words[i]) + 1}),
    "scale": (vector, lambda words, i: {"vector": 1.2 * vector(words, i)["vector"]}),
    "more": (lower, lambda words, i: {**lower(words, i), "new": True}),
    "fewer": (lower, lambda words, i: {"lower": words[i].lower()}),
    "position": (lower, lambda words, i: lower(words, len(words) - 1 - i)),
    "sentence": (whole, lambda words, i: {**whole(words, i), "words": len(words[: i + 1])}),
    "nothing": (lower, lambda words, i: {}),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("method", ["polish", "empirical"])
@pytest.mark.parametrize("smaller", [False, True])
def test_another_function_is_refused(change: str, method: str, smaller: bool, tmp_path: Path) -> None:
    function, other = CHANGES[change]
    path = tmp_path / "model.corate"
    tagger = corate.train(CORPUS, method, features=function)
    if smaller:
        tagger = tagger.shrunk(drop_below=0.01, counts=False)
    tagger.save(path, half=smaller)
    kept = corate.load(path, features=function)
    assert kept.tag_all(words_of(LABELLED)) == tagger.tag_all(words_of(LABELLED)) or smaller
    with pytest.raises(
        ModelError, match=r"model\.corate: the feature function is not the one of the training: token \d"
    ):
        corate.load(path, features=other)


def test_the_error_names_the_token_and_the_features_of_both(tmp_path: Path) -> None:
    path = tmp_path / "model.corate"
    corate.train(Corpus.from_sentences([[("12", "H"), ("Oak", "S")]]), features=lower).save(path)
    with pytest.raises(ModelError) as error:
        corate.load(path, features=lambda words, i: {"lower": words[i].lower(), "size": 7} if i else lower(words, i))
    assert str(error.value) == (
        f"{path}: the feature function is not the one of the training: token 1 of ['12', 'Oak'] had length = 3, "
        "title = 1 (3 features in all), and now has size = 7 (2 features in all); load the model with the function "
        "that it was trained with, or train it again"
    )


def test_a_pickled_model_checks_the_function_that_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("own_features")
    monkeypatch.setitem(sys.modules, "own_features", module)
    exec("def features(words, i):\n    return [words[i]]\n", vars(module))
    tagger = corate.train(CORPUS, features=module.features)
    data = pickle.dumps(tagger)
    assert pickle.loads(data).tag(["the", "dog"]) == tagger.tag(["the", "dog"])
    exec("def features(words, i):\n    return [words[i] + '!']\n", vars(module))
    with pytest.raises(ModelError, match="the feature function is not the one of the training"):
        pickle.loads(data)


def test_an_update_and_further_training_keep_the_record(tmp_path: Path) -> None:
    counted = corate.train(CORPUS, "empirical", features=lower)
    further = corate.train(CORPUS, "standard", init=corate.train(CORPUS, "standard", features=lower))
    for tagger in (counted.update(CORPUS), further, counted.shrunk(rare=2)):
        tagger.save(tmp_path / "model")
        corate.load(tmp_path / "model", features=lower)
        with pytest.raises(ModelError, match="not the one of the training"):
            corate.load(tmp_path / "model", features=whole)


def test_columns_are_given_as_in_training(tmp_path: Path) -> None:
    corpus = Corpus.from_sentences([[("the", "D", "DET"), ("dog", "N", "NOUN")]] * 3)

    def features(rows: Sequence[tuple[str, str]], i: int) -> list[str]:
        assert type(rows) is list
        assert all(type(row) is tuple for row in rows)
        return [*rows[i]]

    corate.train(corpus, features=features).save(tmp_path / "model")
    assert corate.load(tmp_path / "model", features=features).tag([("the", "D")]) == ["DET"]
    with pytest.raises(ModelError, match=r"token 0 of \[\('the', 'D'\), \('dog', 'N'\)\] had D = 1 "):
        corate.load(tmp_path / "model", features=lambda rows, i: [rows[i][0]])


def test_small_differences_of_numbers_are_accepted(tmp_path: Path) -> None:
    """As of embeddings that another machine computes."""
    corate.train(CORPUS, features=vector).save(tmp_path / "model")
    noise = np.random.default_rng(1).normal(0, 1e-5, 8)
    corate.load(tmp_path / "model", features=lambda words, i: {"vector": vector(words, i)["vector"] + noise})


def test_functions_that_are_not_deterministic_are_named(tmp_path: Path) -> None:
    numbers = itertools.count()
    with pytest.warns(UserWarning, match=r"the feature function is not deterministic: token 0 of .* had n = \d+ "):
        tagger = corate.train(CORPUS, features=lambda words, i: {"n": next(numbers)})
    assert "function_sample" not in tagger.record
    tagger.save(tmp_path / "model")
    corate.load(tmp_path / "model", features=lower)


def test_a_function_that_knows_only_its_own_sentences_can_be_used(tmp_path: Path) -> None:
    """Such as one that looks features up. It fails for other sentences, which is no silent error."""
    known = {tuple(words): [[word] for word in words] for words in words_of(LABELLED)}
    tagger = corate.train(CORPUS, features=lambda words, i: known[tuple(words)][i])
    tagger.save(tmp_path / "model")
    later = {("the", "dog"): [["the"], ["dog"]]}
    loaded = corate.load(tmp_path / "model", features=lambda words, i: later[tuple(words)][i])
    assert loaded.tag(["the", "dog"]) == tagger_of(tagger, known).tag(["the", "dog"])


def tagger_of(tagger: corate.Tagger, known: dict[tuple[str, ...], Any]) -> corate.Tagger:
    known["the", "dog"] = [["the"], ["dog"]]
    return tagger


def test_the_record_is_small() -> None:
    long = Corpus.from_sentences([[("word" * 5, "X")] * 5000] * 20)
    wide = function_sample(long, lambda words, i: {f"{'n' * 200}{k}": k + 0.5 for k in range(3000)})
    assert wide is not None
    assert len(json.dumps(wide)) < 100_000
    usual = function_sample(CORPUS, lower)
    assert usual is not None
    assert len(usual) == 8
    assert len(json.dumps(usual)) < 5_000
    assert function_sample(Corpus.from_sentences([[("x" * 5000, "X")]]), lower) is None


def test_files_without_a_record_load_as_before(tmp_path: Path) -> None:
    tagger = corate.train(CORPUS, features=lower)
    del tagger.record["function_sample"]
    tagger.save(tmp_path / "model")
    corate.load(tmp_path / "model", features=whole)


def test_the_format_stays_and_models_without_a_function_have_no_such_entry(tmp_path: Path) -> None:
    for features, version in ((lower, b"2"), (["word[0]"], b"1")):
        corate.train(CORPUS, "standard", features=features).save(tmp_path / "model")
        assert b'"format_version":"' + version in (tmp_path / "model").read_bytes()[:100]
        _, header = tensor_file.read(tmp_path / "model")
        assert ("function_sample" in header["record"]) == (features is lower)


def test_the_record_is_not_shown_among_the_facts() -> None:
    assert "function_sample" not in dict(description(corate.train(CORPUS, features=lower)))


@pytest.mark.parametrize(
    "damaged",
    [7, [7], [{}], [{"tokens": ["a"], "features": [[5, 1, []]]}], [{"tokens": 1, "features": []}]],
)
def test_a_damaged_record_is_refused(damaged: Any, tmp_path: Path) -> None:
    tagger = corate.train(CORPUS, features=lower)
    tagger.record["function_sample"] = damaged
    tagger.save(tmp_path / "model")
    with pytest.raises(ModelError, match="the file contains no model that corate can use"):
        corate.load(tmp_path / "model", features=lower)
