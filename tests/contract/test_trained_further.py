"""Models that are trained further: from a file or a tagger of any method, on the same or on other sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError, FeatureError, ModelError
from corate.model.tagger import Tagger
from corate.training.chains import ChainTraining
from corate.training.initial_scores import InitialScoresFromModel
from corate.training.methods import METHODS, Standard
from corate.training.source import MemorySource
from small_corpora import Labelled, corpus_of, for_method, random_sentences, words_of

FEATURES = ["word[0]", "suffix(word[0], 2)", "word[-1]"]
TRAINING = random_sentences(60, noise=0.2)
TEST = random_sentences(40, seed=7, noise=0.1)
STARTS = [method for method in METHODS if method != "memm"]
from_any = pytest.mark.parametrize("start", STARTS)
#: Training that moves no weight.
STILL: dict[str, dict[str, Any]] = {
    "standard": {"iterations": 0},
    "piecewise": {"iterations": 0},
    "standard, AdaGrad": {"optimizer": "adagrad", "rate": 0.0, "passes": 1},
    "polish": {"rate": 0.0, "passes": 1},
}


def trained(labelled: Labelled = TRAINING, method: str = "standard", **options: Any) -> Tagger:
    features = {} if "init" in options else {"features": FEATURES}
    return corate.train(corpus_of(labelled), method, **(features | options))


def begun(method: str, labelled: Labelled = TRAINING, **options: Any) -> Tagger:
    more = {"backoff": "default", "features": None} if method == "empirical" else {}
    return trained(labelled, method, **(more | options))


def accuracy(tagger: Tagger, labelled: Labelled) -> float:
    return corate.evaluate(tagger, corpus_of(labelled)).accuracy


@from_any
@pytest.mark.parametrize("how", list(STILL))
def test_without_further_steps_it_is_the_same_tagger(start: str, how: str, tmp_path: Path) -> None:
    tagger = begun(start)
    tagger.save(tmp_path / "model", counts=False)
    lattice = "full" if tagger.model.all_labels else "pruned"
    still = trained(method=how.split(",")[0], init=tmp_path / "model", lattice=lattice, **STILL[how])
    for sentences in (TRAINING, TEST):
        assert still.tag_all(words_of(sentences)) == tagger.tag_all(words_of(sentences))
    unseen = ["the", "Zyx", "zyxing", "99", "dog"]
    assert still.tag(unseen) == tagger.tag(unseen)
    for words in [unseen, *words_of(TEST)[:10]]:
        assert still.score(words) == pytest.approx(tagger.score(words), abs=1e-3)
    still.save(tmp_path / "still")
    assert corate.load(tmp_path / "still").tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))


def penalised_loss(tagger: Tagger, labelled: Labelled, c2: float = 1.0) -> float:
    """The objective of `standard`: -sum log P(labels) + c2 times the squared norm."""
    m = tagger.model
    total = c2 * float((m.weights.scores**2).sum() + (m.bias**2).sum() + (m.edges.scores**2).sum())
    return total - sum(tagger.score([w for w, _ in s], [y for _, y in s]) for s in labelled)


@pytest.mark.parametrize("start", ["standard", "piecewise", "perceptron"])
def test_standard_reaches_the_same_optimum_from_any_start(start: str) -> None:
    first = begun(start, **for_method(start, iterations=5, passes=2))
    further = trained(init=first, iterations=300)
    scratch = trained(iterations=300)
    best = penalised_loss(scratch, TRAINING)
    assert penalised_loss(first, TRAINING) > 1.01 * best
    assert penalised_loss(further, TRAINING) == pytest.approx(best, rel=1e-3)
    assert further.tag_all(words_of(TEST)) == scratch.tag_all(words_of(TEST))


@from_any
@pytest.mark.parametrize("method", ["polish", "standard", "piecewise", "perceptron"])
def test_new_words_and_new_labels_are_learned(start: str, method: str, tmp_path: Path) -> None:
    tagger = begun(start)
    more: Labelled = [[("the", "D"), ("gnu", "BEAST")], [("gnu", "BEAST"), ("gallops", "GAIT"), ("fast", "V")]] * 15
    further = trained([*TRAINING, *more], method, init=tagger)
    assert set(further.labels) == {*tagger.labels, "BEAST", "GAIT"}
    assert further.labels[: len(tagger.labels)] == tagger.labels
    assert further.tag(["the", "gnu"]) == ["D", "BEAST"]
    assert further.tag(["gnu", "gallops", "fast"]) == ["BEAST", "GAIT", "V"]
    assert accuracy(further, TRAINING) > 0.8
    assert {"gnu", "gallops"} <= set(further.words.to_list())
    assert tagger.labels == begun(start).labels
    assert further.record["method"] == method
    further.save(tmp_path / "model")
    loaded = corate.load(tmp_path / "model")
    assert loaded.tag_all([*words_of(TEST), ["the", "gnu"]]) == further.tag_all([*words_of(TEST), ["the", "gnu"]])


@from_any
def test_fewer_labels_than_the_model_has_keep_the_others(start: str) -> None:
    tagger = begun(start)
    further = trained([[("the", "D"), ("The", "D")]] * 3, "polish", init=tagger)
    assert further.labels == tagger.labels
    assert accuracy(further, TRAINING) > 0.6


@from_any
def test_a_word_met_further_on_keeps_the_labels_it_may_take(start: str) -> None:
    """A new word is known after further training; without candidates it could not be labelled."""
    many = [[(f"w{i}", f"L{i % 30}") for i in range(s, s + 3)] for s in range(0, 120, 3)] * 3
    tagger = begun(start, many)
    more: Labelled = [[("w1", "L1"), ("new", "L2"), ("w3", "FRESH")]] * 10
    further = trained([*many, *more], "polish", init=tagger)
    assert further.tag(["w1", "new", "w3"]) == ["L1", "L2", "FRESH"]
    assert further.tag(["w6", "w7", "w8"]) == ["L6", "L7", "L8"]
    assert set(further.tag(["neverseen", "w1"])) <= set(further.labels)


@pytest.mark.parametrize("start", ["standard", "polish"])
def test_features_of_edges_are_trained_further(start: str) -> None:
    features = [*FEATURES, "edge: word[0]"]
    tagger = trained(method=start, features=features)
    more: Labelled = [[("dog", "N"), ("wow", "NEW"), ("the", "D")]] * 5
    still = trained(method="standard", init=tagger, iterations=0)
    assert still.tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))
    further = trained([*TRAINING, *more], "standard", init=tagger)
    assert further.tag(["dog", "wow", "the"]) == ["N", "NEW", "D"]
    assert len(further.model.edge_weights.labels) > 0
    again = trained([*TRAINING, *more], "standard", init=further, iterations=0)
    assert again.tag_all(words_of(TEST)) == further.tag_all(words_of(TEST))


def test_training_further_is_deterministic_and_the_same_for_any_number_of_threads() -> None:
    tagger = begun("polish")
    one, two, three = (
        trained(method="polish", init=tagger, threads=threads).model.weights.scores.tobytes() for threads in (1, 1, 3)
    )
    assert one == two == three


def of_word(words: Any, i: int) -> dict[str, float]:
    return {f"is {words[i]}": 1.0, "length": float(len(words[i]))}


@pytest.mark.parametrize("start", ["standard", "separate", "empirical"])
def test_features_that_a_function_makes_are_made_again(start: str) -> None:
    more = {"backoff": "pooled"} if start == "empirical" else {}
    tagger = trained(method=start, features=of_word, **more)
    still = trained(method="standard", init=tagger, iterations=0)
    assert still.tag_all(words_of(TEST)) == tagger.tag_all(words_of(TEST))
    further = trained([*TRAINING, *[[("gnu", "BEAST")]] * 20], "standard", init=tagger)
    assert further.tag(["gnu"]) == ["BEAST"]


def test_polish_starts_from_a_separate_model_of_a_function() -> None:
    tagger = trained(method="polish", features=of_word, base="separate")
    assert accuracy(tagger, TRAINING) > 0.75


def test_ready_made_features_are_trained_further() -> None:
    def ready(labelled: Labelled) -> Corpus:
        return Corpus.from_features([[{w: 1.0} for w, _ in s] for s in labelled], [[y for _, y in s] for s in labelled])

    tagger = corate.train(ready(TRAINING), "standard")
    further = corate.train(ready([*TRAINING, *[[("gnu", "BEAST")]] * 20]), "standard", init=tagger)
    assert further.tag([{"gnu": 1.0}]) == ["BEAST"]
    with pytest.raises(FeatureError, match="ready-made features"):
        corate.train(corpus_of(TRAINING), "standard", init=tagger)


def test_held_out_sentences_stop_further_training_too() -> None:
    tagger = begun("polish")
    held_out = corpus_of([*TEST, [("gnu", "NEVERSEEN")]])
    further = trained(method="polish", init=tagger, held_out=held_out, passes=30)
    kept = further.record["held_out"]["accuracy"]
    assert corate.evaluate(further, held_out).accuracy == pytest.approx(kept, abs=1e-9)


def test_what_cannot_be_trained_further_is_said(tmp_path: Path) -> None:
    memm = trained(method="memm")
    with pytest.raises(DataError, match="'memm'"):
        trained(init=memm)
    tagger = begun("standard")
    with pytest.raises(DataError, match="keeps its features"):
        trained(init=tagger, features=["word[0]"])
    with pytest.raises(DataError, match="init is for"):
        trained(method="memm", init=tagger)
    with pytest.raises(DataError, match="its own base"):
        trained(method="polish", init=tagger, base="paper")
    with pytest.raises(DataError, match="is not tuned"):
        trained(init=tagger, tune=True)
    with pytest.raises(DataError, match="no tokens"):
        corate.train(Corpus.from_sentences([[]], [[]]), "standard", init=tagger)
    with pytest.raises(DataError, match="held-out"):
        trained(init=tagger, held_out=Corpus.from_sentences([], []))
    with pytest.raises(ModelError, match="no such file"):
        trained(init=tmp_path / "none")


def test_the_objective_of_a_loaded_model_is_that_of_its_probabilities() -> None:
    """-log P of its own training sentences, from the unchanged rows, weights and edges of the model."""
    for start in STARTS:
        tagger = begun(start)
        run = ChainTraining.of(
            Standard(iterations=0), InitialScoresFromModel(tagger, MemorySource(corpus_of(TRAINING)))
        )
        items = run.items(run.tokens, None, training=True)
        still = trained(init=tagger, iterations=0)
        value = items.chains.objective(run.initial_vector().astype(np.float64), 0.0, 1)[0]
        assert value == pytest.approx(penalised_loss(still, TRAINING, 0.0), rel=1e-3)
