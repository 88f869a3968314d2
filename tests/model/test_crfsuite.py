"""Taggers from and to CRFsuite's model files: labels and probabilities are those of python-crfsuite."""

from __future__ import annotations

import ctypes
import itertools
import os
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pycrfsuite
import pytest

import corate
from corate import Corpus, Tagger
from corate.errors import ConfigError, ModelError
from corate.model import crfsuite
from corate.model.crfsuite import file as crfsuite_file
from golden import make
from reference.lattice import all_paths, marginal

ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]
GOLDEN = Path(make.__file__).parent
#: float32 scores against CRFsuite's float64.
CLOSE = 1e-5
#: CRFsuite shuffles with the random numbers of the C library.
C_LIBRARY = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)

Items = list[dict[str, Any]]


def sentences(n: int, seed: int) -> tuple[list[Items], list[list[str]]]:
    """Words with features of every kind, and labels that depend on two words each; some words are rare."""
    rng = Random(seed)
    x, y = [], []
    for _ in range(n):
        ends = ("", "", "", str(rng.randrange(99)))
        words = [rng.choice("abcdefgh") + rng.choice(ends) for _ in range(rng.randrange(9))]
        x.append(
            [
                {"bias": 1.0, "w": w, "before": words[i - 1], "size": len(w) / 3, "plain": w.isalpha(), "a\nb:é": w[:1]}
                for i, w in enumerate(words)
            ]
        )
        y.append(["XYZ"[(ord(w[0]) + ord(words[i - 1][0]) // 2 + rng.randrange(2)) % 3] for i, w in enumerate(words)])
    return x, y


def by_crfsuite(path: Path, algorithm: str = "lbfgs", **parameters: Any) -> pycrfsuite.Tagger:
    """Train with CRFsuite: the same model in every run, whatever was trained before in this process."""
    C_LIBRARY.srand(1)
    trainer = pycrfsuite.Trainer(algorithm, {"max_iterations": 20, **parameters}, verbose=False)
    for items, labels in zip(*sentences(60, 1), strict=True):
        trainer.append(items, labels)
    trainer.train(str(path))
    return opened(path)


def opened(path: Path) -> pycrfsuite.Tagger:
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def assert_alike(tagger: Tagger, oracle: pycrfsuite.Tagger, x: list[Items]) -> None:
    """The same labels, marginal probabilities and probabilities of the best labels."""
    assert tagger.labels == oracle.labels()
    assert tagger.tag_all(x) == [oracle.tag(items) for items in x]
    for items in filter(None, x):
        oracle.set(pycrfsuite.ItemSequence(items))
        labels = oracle.tag()
        found = tagger.lattice([items]).marginals()[1].reshape(len(items), -1)
        expected = [[oracle.marginal(label, i) for label in tagger.labels] for i in range(len(items))]
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)
        assert np.exp(tagger.score(items, labels)) == pytest.approx(oracle.probability(labels), abs=CLOSE)


def test_models_of_crfsuite_do_not_depend_on_what_was_trained_before(tmp_path: Path) -> None:
    for name in ("first", "second"):
        by_crfsuite(tmp_path / name, "pa")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


# -- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_models_of_every_algorithm_tag_as_in_crfsuite_and_so_do_copies(algorithm: str, tmp_path: Path) -> None:
    oracle, test = by_crfsuite(tmp_path / "m", algorithm), sentences(100, 2)[0]
    tagger = corate.load(tmp_path / "m")
    assert_alike(tagger, oracle, test)
    tagger.save(tmp_path / "copy.crfsuite")
    assert_alike(tagger, opened(tmp_path / "copy.crfsuite"), test)
    tagger.save(tmp_path / "copy.corate")
    assert_alike(corate.load(tmp_path / "copy.corate"), oracle, test)


@pytest.mark.parametrize(
    "parameters",
    [{"feature.possible_states": 1, "feature.possible_transitions": 1}, {"c1": 2.0}, {"c1": 1e6}],
    ids=["all weights", "few weights", "no weights"],
)
def test_models_with_all_weights_and_with_few_tag_as_in_crfsuite(parameters: dict[str, Any], tmp_path: Path) -> None:
    """Without weights, every labelling has the same score: the first labels win in both."""
    oracle = by_crfsuite(tmp_path / "m", **parameters)
    assert_alike(corate.load(tmp_path / "m"), oracle, sentences(60, 3)[0])


@pytest.mark.parametrize("seed", range(10))
def test_scores_are_those_of_all_labellings(seed: int, tmp_path: Path) -> None:
    """score(y | x) = sum_j sum_a value_j(a) state(a, y_j) + sum_i transition(y_i, y_i+1), enumerated."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(1, 4)), 5
    names = [f"a{i}" for i in range(n)]
    states, transitions = rng.normal(size=(n, k)), rng.normal(size=(k, k)) * (rng.random((k, k)) < 0.7)

    def weights(dense: np.ndarray[Any, Any]) -> crfsuite_file.Weights:
        return crfsuite_file.Weights(*np.nonzero(dense), dense[np.nonzero(dense)])

    labels, attributes = (corate.corpus.StringTable.intern(some)[0] for some in ([f"L{i}" for i in range(k)], names))
    model = crfsuite_file.CrfsuiteModel(labels, attributes, weights(states), weights(transitions))
    (tmp_path / "m").write_bytes(b"".join(block.tobytes() for block in crfsuite_file.encode(model)))
    tagger = corate.load(tmp_path / "m")
    edges = np.pad(transitions, (0, 1))
    for length in range(1, 5):
        values = rng.normal(size=(length, n)) * (rng.random((length, n)) < 0.6)
        items = [{name: float(v) for name, v in zip(names, row, strict=True) if v} | {"unknown": 1.0} for row in values]
        paths = all_paths([dict(enumerate(row)) for row in (values @ states).tolist()], edges)
        best = max(paths, key=paths.__getitem__)
        assert tagger.tag(items) == [f"L{y}" for y in best] == opened(tmp_path / "m").tag(items)
        found = tagger.lattice([items]).marginals()[1].reshape(length, k)
        expected = [[marginal(paths, j, y) for y in range(k)] for j in range(length)]
        np.testing.assert_allclose(found, expected, atol=CLOSE)


def test_a_file_is_known_by_its_first_bytes_and_damage_by_its_name(tmp_path: Path) -> None:
    by_crfsuite(tmp_path / "anything.at.all")
    tagger = corate.load(tmp_path / "anything.at.all")
    assert repr(tagger) == f"Tagger(crfsuite, 3 labels, {len(tagger.vocabulary.attributes or ())} features)"
    (tmp_path / "cut").write_bytes((tmp_path / "anything.at.all").read_bytes()[:-1])
    with pytest.raises(ModelError, match=r"cut: the CRFsuite model is damaged: .*; copy it again, or train again"):
        corate.load(tmp_path / "cut")
    with pytest.raises(ModelError, match="no such file"):
        corate.load(tmp_path / "missing.crfsuite")
    with pytest.raises(ModelError, match="this is a directory"):
        corate.load(tmp_path)


def test_a_weight_that_single_precision_cannot_hold_is_refused(tmp_path: Path) -> None:
    by_crfsuite(tmp_path / "m")
    data = bytearray((tmp_path / "m").read_bytes())
    data[48 + 24 : 48 + 32] = np.float64(1e39).tobytes()
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ModelError, match=r"m: the CRFsuite model has weights beyond 3\.4e38"):
        corate.load(tmp_path / "m")


# -- names of features -----------------------------------------------------------------------------------------------


def test_features_are_named_as_python_crfsuite_names_them(tmp_path: Path) -> None:
    oracle, (x, y) = by_crfsuite(tmp_path / "m"), sentences(30, 4)
    tagger = corate.load(tmp_path / "m")
    expected = [oracle.tag(items) for items in x]
    assert tagger.tag_all(Corpus.from_features(x)) == expected
    names = [[[f"w:{d['w']}", f"before:{d['before']}", "bias"] for d in items] for items in x]
    assert tagger.tag_all(Corpus.from_features(names)) == [oracle.tag(items) for items in names]
    right = [a == b for s, t in zip(y, expected, strict=True) for a, b in zip(s, t, strict=True)]
    assert corate.evaluate(tagger, Corpus.from_features(x, y)).accuracy == pytest.approx(np.mean(right))


def test_the_joiner_of_a_model_is_kept_for_ever(tmp_path: Path) -> None:
    x, y = sentences(20, 5)
    other = corate.train(Corpus.from_features(x, y), "standard", iterations=5)
    other.save(tmp_path / "other.corate")
    assert corate.load(tmp_path / "other.corate").vocabulary.joiner == ":"
    assert corate.load(tmp_path / "other.corate").tag_all(x) == other.tag_all(x)
    old = corate.load(GOLDEN / "v1-standard-ready-made.corate")
    assert old.vocabulary.joiner == "="
    dicts = [[{"lower": "the"}, {"lower": "dog"}]]
    names = [[["lower=the"], ["lower=dog"]]]
    assert old.tag_all(dicts) == old.tag_all(names) == old.tag_all(Corpus.from_features(dicts))
    assert old.lattice(dicts).scores.tolist() == old.lattice(Corpus.from_features(names)).scores.tolist()


def test_a_feature_function_makes_a_tagger_of_words(tmp_path: Path) -> None:
    def features(words: list[str], i: int) -> dict[str, Any]:
        return {"w": words[i], "before": words[i - 1], "bias": 1.0}

    oracle = by_crfsuite(tmp_path / "m")
    tagger = corate.load(tmp_path / "m", features=features)
    words = ["a", "h7", "c", "c"]
    assert tagger.tag(words) == oracle.tag([features(words, i) for i in range(4)])
    tagger.save(tmp_path / "m.corate")
    assert corate.load(tmp_path / "m.corate", features=features).tag(words) == tagger.tag(words)


def test_a_model_of_crfsuite_is_trained_further(tmp_path: Path) -> None:
    by_crfsuite(tmp_path / "m")
    x, y = sentences(60, 1)
    corpus = Corpus.from_features(x, y)
    further = corate.train(corpus, "standard", init=tmp_path / "m", iterations=20)
    assert further.record["init"]["method"] == "crfsuite"
    assert further.vocabulary.joiner == ":"
    before, after = (corate.evaluate(t, corpus).accuracy for t in (corate.load(tmp_path / "m"), further))
    assert after >= before
    with pytest.raises(ModelError, match="no counts"):
        corate.load(tmp_path / "m").update(corpus)


# -- writing ---------------------------------------------------------------------------------------------------------


def test_what_single_precision_holds_is_written_as_it_was_read(tmp_path: Path) -> None:
    by_crfsuite(tmp_path / "first.crfsuite")
    for source, target in itertools.pairwise(["first.crfsuite", "a.corate", "b.crfsuite", "c.corate", "d.crfsuite"]):
        size = corate.load(tmp_path / source).save(tmp_path / target)
        assert size == (tmp_path / target).stat().st_size
    assert (tmp_path / "d.crfsuite").read_bytes() == (tmp_path / "b.crfsuite").read_bytes()
    assert (tmp_path / "c.corate").read_bytes() == (tmp_path / "a.corate").read_bytes()


@pytest.mark.parametrize("method", ["standard", "perceptron"])
def test_models_that_corate_trains_tag_alike_in_crfsuite(method: str, tmp_path: Path) -> None:
    """Tokens have the feature "bias" in training (then its weights are added to) or get it for CRFsuite."""
    x, y = sentences(60, 7)
    for name in ("bias", "added"):
        corpus = Corpus.from_features(x, y)
        tagger = corate.train(corpus, method, boundaries=False)
        assert tagger.model.bias.any()
        tagger.save(tmp_path / "m", format="crfsuite", bias=name)
        with_bias = [[{**item, name: 1.0} for item in items] for items in x]
        assert [opened(tmp_path / "m").tag(items) for items in with_bias] == tagger.tag_all(x)
        assert corate.load(tmp_path / "m").tag_all(with_bias) == tagger.tag_all(x)


READY = Corpus.from_features(*sentences(30, 8))
WORDS = Corpus.from_sentences([[("the", "D"), ("dog", "N")], [("a", "D"), ("cat", "N")]])

REFUSED: dict[str, tuple[Corpus, str, dict[str, Any], str]] = {
    "templates": (WORDS, "standard", {}, "its features come from templates"),
    "the second order": (READY, "standard", {"order": 2}, "three labels in a row; train it with order=1"),
    "local scores": (READY, "memm", {}, r"normalised at every position \(memm\)"),
    "bins": (READY, "empirical", {}, "it bins numbers"),
    "boundaries": (READY, "standard", {}, "the start and the end of a sentence; train it with boundaries=False"),
    "bias": (READY, "standard", {"boundaries": False}, "labels by themselves; name a feature .* with bias="),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_a_crfsuite_file_cannot_hold_is_refused_with_the_reason(what: str, tmp_path: Path) -> None:
    corpus, method, options, why = REFUSED[what]
    if method != "empirical":
        options = {"iterations": 3, **options}
    tagger = corate.train(corpus, method, **options)
    (tmp_path / "m.crfsuite").write_bytes(b"the old model")
    with pytest.raises(ModelError, match=f"a CRFsuite file cannot hold this model: .*{why}.* save it as .corate"):
        tagger.save(tmp_path / "m.crfsuite")
    assert (tmp_path / "m.crfsuite").read_bytes() == b"the old model"
    assert tagger.save(tmp_path / "m.crfsuite", format="corate") > 0  # the format that is named wins


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.corate")), ids=lambda file: file.stem)
def test_golden_models_are_refused(file: Path, tmp_path: Path) -> None:
    """Each has templates, weights of boundaries, counted scores or bins."""
    name = file.stem.partition("-")[2]
    function = make.MODELS[name][2].get("features") if name in make.MODELS else None
    tagger = corate.load(file, features=function if callable(function) else None)
    with pytest.raises(ModelError, match="cannot hold this model"):
        tagger.save(tmp_path / "m.crfsuite", bias="bias")


def test_names_that_python_crfsuite_would_not_make_are_warned_of(tmp_path: Path) -> None:
    x, y = sentences(20, 9)
    listed = [[[f"w={d['w']}", f"before={d['before']}", "bias"] for d in items] for items in x]
    tagger = corate.train(Corpus.from_features(listed, y), "standard", boundaries=False, iterations=3)
    tagger = replace(tagger, vocabulary=replace(tagger.vocabulary, joiner="="))  # as in a model of corate 0.1
    with pytest.warns(UserWarning, match=r"with the names that they have, as 'w=.*'; .* give it lists of names"):
        tagger.save(tmp_path / "m.crfsuite", bias="bias")
    assert [opened(tmp_path / "m.crfsuite").tag(items) for items in listed] == tagger.tag_all(listed)


def test_options_that_do_not_fit_the_format_are_refused(tmp_path: Path) -> None:
    by_crfsuite(tmp_path / "m")
    tagger = corate.load(tmp_path / "m")
    for path, options, match in (
        ("m.crfsuite", {"half": True}, "64 bits; omit half=True"),
        ("m.corate", {"bias": "bias"}, "bias= is for CRFsuite files"),
        ("m.corate", {"format": "pickle"}, "'corate' or 'crfsuite', not 'pickle'"),
    ):
        with pytest.raises(ConfigError, match=match):
            tagger.save(tmp_path / path, **options)  # type: ignore[arg-type]
        assert not (tmp_path / path).exists()


def test_a_name_that_c_cannot_hold_is_refused(tmp_path: Path) -> None:
    tagger = corate.train(Corpus.from_features([[["a\0b"], ["c"]]], [["X", "Y"]]), "standard", boundaries=False)
    with pytest.raises(ModelError, match="NUL"):
        tagger.save(tmp_path / "m.crfsuite", bias="bias")


def test_the_suffix_may_have_capitals() -> None:
    assert crfsuite.has_suffix(Path("A.CRFsuite"))
