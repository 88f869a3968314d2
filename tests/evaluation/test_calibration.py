"""Calibration: bins and errors as NumPy counts them, and a temperature that mends probabilities and keeps labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate.corpus import Corpus
from corate.errors import ConfigError, DataError
from corate.evaluation.calibration import calibration, calibration_of
from corate.evaluation.predictions import predict

PREDICTIONS = st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 5)), min_size=1, max_size=40)


@given(PREDICTIONS, st.integers(1, 20))
def test_the_error_is_the_mean_distance_of_bins(rows: list[tuple[float, bool, int]], bins: int) -> None:
    p, right, sentence = (np.array(column) for column in zip(*rows, strict=True))
    found = calibration_of(p, right, sentence, bins=bins, samples=5)
    expected = 0.0
    for b in range(bins):
        here = (p * bins >= b) & ((p * bins < b + 1) | (b == bins - 1))
        if here.any():
            expected += here.sum() / len(p) * abs(right[here].mean() - p[here].mean())
    assert found.error == pytest.approx(expected, abs=1e-9)
    assert sum(b.count for b in found.bins) == found.count == len(p)
    assert all(b.low - 1e-9 <= b.confidence <= b.high + 1e-9 for b in found.bins)


def test_honest_probabilities_have_a_small_error_and_boasting_ones_a_large_one() -> None:
    rng = np.random.default_rng(3)
    p = rng.uniform(0.3, 1, 20_000)
    right = rng.uniform(size=len(p)) < p
    assert calibration_of(p, right).error < 0.015
    boasting = calibration_of(p**0.25, right)
    assert boasting.error > 0.1
    assert boasting.low < boasting.error < boasting.high


def test_the_interval_draws_whole_sentences() -> None:
    # all predictions of a sentence are right or wrong together: drawing them one by one would make the interval narrow
    rng = np.random.default_rng(0)
    right = np.repeat(rng.uniform(size=40) < 0.5, 50)
    p = np.full(len(right), 0.9)
    together = calibration_of(p, right, np.repeat(np.arange(40), 50))
    apart = calibration_of(p, right)
    assert together.high - together.low > 3 * (apart.high - apart.low)
    assert together == calibration_of(p, right, np.repeat(np.arange(40), 50))
    assert together != calibration_of(p, right, np.repeat(np.arange(40), 50), seed=1)


def test_groups_are_those_of_the_labels() -> None:
    names = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("sings", "O")], [("Bob", "B-PER"), ("sleeps", "O")]]
    corpus = Corpus.from_sentences(names * 5)
    tagger = corate.train(corpus)
    found = calibration(tagger, corpus)
    assert {name: group.count for name, group in found.items()} == {"tokens": 25, "inside": 15, "spans": 10}
    assert calibration(corate.train(corpus, "memm"), corpus)["spans"].count == 10
    plain = Corpus.from_sentences([[("a", "X"), ("b", "Y")]] * 3)
    assert list(calibration(corate.train(plain), plain)) == ["tokens"]


def test_a_span_is_right_only_with_its_boundaries_and_type() -> None:
    tagger = corate.train(Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("sings", "O")]] * 5))
    tokens = ["Ann", "Lee", "sings"]
    for labels, right in [
        (["B-PER", "I-PER", "O"], 1.0),
        (["B-LOC", "I-LOC", "O"], 0.0),
        (["B-PER", "O", "O"], 0.0),
        (["O", "O", "O"], 0.0),
    ]:
        corpus = Corpus.from_sentences([tokens], [labels])
        assert calibration(tagger, corpus)["spans"].accuracy == right


def test_no_predictions_cannot_be_calibrated() -> None:
    with pytest.raises(DataError, match="one or more predictions"):
        calibration_of(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(ConfigError, match="bins"):
        calibration_of(np.ones(1), np.ones(1, bool), bins=0)
    tagger = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")]] * 2))
    with pytest.raises(DataError, match="no labels"):
        calibration(tagger, Corpus.from_sentences([["a"]]))
    assert len(predict(tagger, Corpus.from_sentences([["a"]])).probabilities) == 1
