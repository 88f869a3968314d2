"""Calibrated models: every method keeps its labels, and its probabilities come closer to its accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import ConfigError, DataError
from corate.evaluation.calibration import calibration, correct_spans
from corate.evaluation.predictions import predict
from corate.model.tagger import Tagger
from corate.training.held_out import fit_temperature, with_temperature
from small_corpora import corpus_of, for_method, random_sentences

TRAINING = corpus_of(random_sentences(120, noise=0.3))
HELD_OUT = corpus_of(random_sentences(150, seed=5, noise=0.3))
TEST = corpus_of(random_sentences(300, seed=9, noise=0.3))
UNSEEN = Corpus.from_sentences([["gnus", "the", "walked", "Xy-3", "."], ["naïves"]])
WAYS: list[dict[str, Any]] = [
    {"method": "polish"},
    {"method": "polish", "order": 2, "features": ["word[0]", "edge: word[0]"]},
    {"method": "empirical"},
    {"method": "empirical", "features": ["word[0]", "word[-1]"]},
    {"method": "separate"},
    {"method": "standard", "c2": 0.01, "order": 2},
    {"method": "standard", "features": ["word[0]", "edge: word[-1]"]},
    {"method": "piecewise"},
    {"method": "perceptron"},
]


def log_loss(tagger: Tagger, corpus: Corpus) -> float:
    """The mean negative log-likelihood of the labels of tokens."""
    marginals = tagger.lattice(corpus).label_marginals()
    labels = corpus.require_labels()
    gold = tagger.model.labels.find(labels.strings)[labels.ids]
    return -float(np.log(np.maximum(marginals[np.arange(len(gold)), gold], 1e-30)).mean())


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_all_scores_are_divided_and_labels_stay(way: dict[str, Any]) -> None:
    tagger = corate.train(TRAINING, **way)
    softer = with_temperature(tagger, 2.5)
    rng = np.random.default_rng(0)
    for corpus in (TEST[:20], UNSEEN):
        assert softer.tag_all(corpus) == tagger.tag_all(corpus)
        before, after = tagger.lattice(corpus), softer.lattice(corpus)
        np.testing.assert_array_equal(after.labels, before.labels)
        for s in range(len(corpus)):
            length = int(corpus.offsets[s + 1] - corpus.offsets[s])
            ids = rng.integers(len(tagger.labels), size=length).astype(np.int32)
            assert after.path_score(s, ids) == pytest.approx(before.path_score(s, ids) / 2.5, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_temperature_is_the_best_of_many(way: dict[str, Any]) -> None:
    tagger = corate.train(TRAINING, **way)
    fitted = log_loss(with_temperature(tagger, fit_temperature(tagger, HELD_OUT)), HELD_OUT)
    others = [log_loss(with_temperature(tagger, t), HELD_OUT) for t in np.geomspace(0.1, 10, 21)]
    assert fitted <= min(others) + 1e-4


def brier_scores(tagger: Tagger, corpus: Corpus) -> float:
    """Of the predicted spans, plus of the labels of their tokens."""
    found = predict(tagger, corpus, spans=True)
    assert found.span_probabilities is not None
    spans = np.mean((found.span_probabilities - correct_spans(corpus, found.labels)) ** 2)
    guess, gold = np.array(found.labels.values()), np.array(corpus.require_labels().values())
    return float(spans + np.mean(((found.probabilities - (guess == gold)) ** 2)[guess != "O"]))


def as_spans(corpus: Corpus) -> Corpus:
    """Labels that mark spans instead of plain ones."""
    marks = {"D": "B-X", "N": "I-X", "V": "B-Y", "P": "O"}
    labels = [[marks[y] for y in corpus.labels_of(s)] for s in range(len(corpus))]
    return Corpus.from_sentences([corpus.tokens(s) for s in range(len(corpus))], labels)


@pytest.mark.parametrize("way", [WAYS[0], WAYS[5], WAYS[8]], ids=str)
def test_with_spans_the_temperature_is_the_best_for_them(way: dict[str, Any]) -> None:
    tagger, held_out = corate.train(as_spans(TRAINING), **way), as_spans(HELD_OUT)
    fitted = brier_scores(with_temperature(tagger, fit_temperature(tagger, held_out)), held_out)
    others = [brier_scores(with_temperature(tagger, t), held_out) for t in np.geomspace(0.1, 10, 21)]
    assert fitted <= min(others) + 1e-4


def test_sentences_with_unknown_labels_do_not_count_for_spans() -> None:
    tagger, held_out = corate.train(as_spans(TRAINING)), as_spans(HELD_OUT)
    marked = Corpus.from_sentences(
        [held_out.tokens(s) for s in range(len(held_out))] + [["the", "dog"]] * 50,
        [held_out.labels_of(s) for s in range(len(held_out))] + [["?", "O"]] * 50,
    )
    assert fit_temperature(tagger, marked, "?") == fit_temperature(tagger, held_out)
    assert fit_temperature(tagger, marked) != fit_temperature(tagger, held_out)


def test_probabilities_come_closer_to_accuracy() -> None:
    options = {"features": ["word[0]", "word[-1]"], "passes": 10}
    plain = corate.train(TRAINING, "perceptron", **options)
    better = corate.train(TRAINING, "perceptron", held_out=HELD_OUT, calibrate=True, **options)
    assert better.record["temperature"] != 1
    assert calibration(better, TEST)["tokens"].error < 0.5 * calibration(plain, TEST)["tokens"].error


@pytest.mark.parametrize("method", ["polish", "empirical", "standard"])
def test_without_held_out_text_the_model_is_that_of_all_the_text(method: str) -> None:
    plain = corate.train(TRAINING, method)
    calibrated = corate.train(TRAINING, method, calibrate=True)
    temperature = calibrated.record["temperature"]
    assert 0.05 < temperature < 20
    assert calibrated.tag_all(TEST) == plain.tag_all(TEST)
    scaled = with_temperature(plain, temperature)
    np.testing.assert_array_equal(scaled.model.weights.scores, calibrated.model.weights.scores)
    assert calibrated.record["sentences"] == len(TRAINING)
    assert log_loss(calibrated, TEST) < log_loss(plain, TEST) + 0.01


def test_sentences_left_out_are_not_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from corate.training import held_out as module

    seen: list[tuple[Tagger, Corpus]] = []

    def fit(tagger: Tagger, held_out: Corpus, unknown: str | None = None) -> float:
        seen.append((tagger, held_out))
        return 1.0

    monkeypatch.setattr(module, "fit_temperature", fit)
    weights = np.linspace(0.5, 1.5, len(TRAINING)).tolist()
    corate.train(TRAINING, calibrate=True, sentence_weights=weights)
    ((tagger, held_out),) = seen
    assert len(held_out) == round(0.1 * len(TRAINING))
    assert tagger.record["sentences"] == len(TRAINING) - len(held_out)


def test_labels_that_are_not_known_do_not_count() -> None:
    tagger = corate.train(TRAINING)
    marked = Corpus.from_sentences(
        [HELD_OUT.tokens(s) for s in range(len(HELD_OUT))],
        [["?" if i else y for i, y in enumerate(HELD_OUT.labels_of(s))] for s in range(len(HELD_OUT))],
    )
    assert fit_temperature(tagger, marked, "?") > 0
    with pytest.raises(DataError, match="no held-out tokens"):
        fit_temperature(tagger, Corpus.from_sentences([["the"]], [["?"]]), "?")


def test_models_with_parts_of_labels() -> None:
    words = [[("nama", "N|Sg"), ("nami", "N|Pl")], [("vema", "V|Sg"), ("vemi", "V|Pl")], [("nami", "N|Pl")]]
    corpus = Corpus.from_sentences(words * 4)
    tagger = corate.train(corpus, "standard", parts=True, features=["word[0]", "suffix(word[0], 1)"])
    assert tagger.model.parts is not None
    softer = with_temperature(tagger, 2.0)
    before, after = tagger.lattice([["nama", "vemi"]]), softer.lattice([["nama", "vemi"]])
    np.testing.assert_allclose(after.scores, before.scores / 2, rtol=1e-5, atol=1e-6)


def test_a_file_keeps_the_temperature(tmp_path: Path) -> None:
    tagger = corate.train(TRAINING, held_out=HELD_OUT, calibrate=True)
    tagger.save(tmp_path / "model.corate")
    loaded = corate.load(tmp_path / "model.corate")
    assert loaded.record["temperature"] == tagger.record["temperature"]
    np.testing.assert_array_equal(loaded.lattice(TEST).marginals()[1], tagger.lattice(TEST).marginals()[1])


@pytest.mark.parametrize("options", [{}, {"features": ["word[0]", "word[-1]"]}])
def test_an_update_keeps_the_temperature(options: dict[str, Any]) -> None:
    plain = corate.train(TRAINING, "empirical", **options)
    updated = with_temperature(plain, 2.0).update(HELD_OUT)
    expected = with_temperature(plain.update(HELD_OUT), 2.0)
    assert updated.record["temperature"] == 2.0
    np.testing.assert_allclose(updated.lattice(TEST).scores, expected.lattice(TEST).scores, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(updated.model.edges.dense(), expected.model.edges.dense(), rtol=1e-4, atol=1e-5)


def test_co_occurrence_rates_do_not_depend_on_the_temperature() -> None:
    plain = corate.train(TRAINING, "empirical", backoff="default")
    for before, after in zip(plain.rates(4), with_temperature(plain, 2.0).rates(4), strict=True):
        assert [pair.rate for pair in after] == pytest.approx([pair.rate for pair in before], rel=1e-4)


def test_models_normalised_at_every_position_are_refused() -> None:
    with pytest.raises(ConfigError, match="normalised at every position"):
        corate.train(TRAINING, "memm", calibrate=True)


def test_one_sentence_is_not_enough() -> None:
    with pytest.raises(DataError, match="held_out="):
        corate.train(TRAINING[:1], calibrate=True, **for_method("polish"))


def test_an_interruption_while_calibrating_loses_nothing() -> None:
    def interrupt(event: corate.ProgressEvent) -> None:
        if event.stage == "calibrating":
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted, so the model is not calibrated"):
        stopped = corate.train(TRAINING, calibrate=True, progress=interrupt)
    assert "temperature" not in stopped.record
    assert stopped.record["interrupted"] is True
    assert stopped.tag_all(TEST) == corate.train(TRAINING).tag_all(TEST)
