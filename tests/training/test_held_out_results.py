"""Where labels mark spans, F1 on held-out sentences decides; where they do not, accuracy does."""

from __future__ import annotations

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.counting.counts import Tokens
from corate.optimize.tuning import accuracy_of, f1_of
from corate.training.held_out import held_out_results

LABELS = ["O", "B-PER", "I-PER", "B-LOC"]


def random_tokens(rng: np.random.Generator, weights: np.ndarray | None = None) -> tuple[Tokens, np.ndarray]:
    lengths = rng.integers(1, 8, 25)
    gold = rng.integers(0, 4, lengths.sum()).astype(np.int32)
    guess = np.where(rng.random(len(gold)) < 0.7, gold, rng.integers(0, 4, len(gold))).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    features = np.zeros((len(gold), 1), np.int32)
    return Tokens(features, None, gold, offsets, sentence_weights=weights), guess


def as_lists(ids: np.ndarray, offsets: np.ndarray) -> list[list[str]]:
    return [[LABELS[i] for i in part] for part in np.split(ids, offsets[1:-1])]


def test_the_counts_are_those_of_an_evaluation() -> None:
    tokens, guess = random_tokens(np.random.default_rng(2))
    gold = as_lists(tokens.labels, tokens.offsets)
    report = corate.evaluate(
        as_lists(guess, tokens.offsets), Corpus.from_sentences([["w"] * len(s) for s in gold], gold)
    )
    results = held_out_results(tokens, guess, LABELS)
    assert results.shape == (25, 4)
    assert f1_of(results) == pytest.approx(report.f1)
    assert accuracy_of(results) == pytest.approx(report.accuracy)


def test_sentences_have_weights() -> None:
    weights = np.linspace(0.5, 2.0, 25).astype(np.float32)
    plain, guess = random_tokens(np.random.default_rng(3))
    weighted, _ = random_tokens(np.random.default_rng(3), weights)
    counts = held_out_results(plain, guess, LABELS) * weights[:, None]
    np.testing.assert_allclose(held_out_results(weighted, guess, LABELS), counts, rtol=1e-6)


def test_unknown_labels_are_wrong_and_no_spans() -> None:
    tokens = Tokens(np.zeros((3, 1), np.int32), None, np.array([1, -1, 0], np.int32), np.array([0, 3]))
    assert held_out_results(tokens, np.array([1, 2, 0], np.int32), LABELS).tolist() == [[2.0, 3.0, 0.0, 2.0]]


def test_plain_tags_are_judged_token_by_token() -> None:
    tokens = Tokens(np.zeros((2, 1), np.int32), None, np.array([0, 1], np.int32), np.array([0, 2]))
    assert held_out_results(tokens, np.array([0, 0], np.int32), ["NOUN", "VERB"]).tolist() == [True, False]


@pytest.mark.parametrize("method", ["polish", "perceptron", "standard"])
def test_progress_and_record_have_the_f1_of_the_tagger(method: str) -> None:
    rng = np.random.default_rng(4)
    names = {"O": "abcd", "B-PER": "PQRS", "I-PER": "QRST", "B-LOC": "STUV"}
    sentences = [
        [(str(rng.choice(list(names[label]))), label) for label in rng.choice(LABELS, rng.integers(2, 7))]
        for _ in range(80)
    ]
    train, held_out = (Corpus.from_sentences(part) for part in (sentences[:50], sentences[50:]))
    events: list[corate.ProgressEvent] = []
    tagger = corate.train(train, method, held_out=held_out, progress=events.append)
    report = corate.evaluate(tagger, held_out)
    assert tagger.record["held_out"]["f1"] == pytest.approx(report.f1, abs=1e-9)
    assert tagger.record["held_out"]["accuracy"] == pytest.approx(report.accuracy, abs=1e-9)
    measured = [event for event in events if event.held_out_f1 is not None]
    assert measured
    assert all(event.held_out_accuracy is not None for event in measured)
    if method == "standard":  # L-BFGS keeps the iteration with the best F1
        assert report.f1 == pytest.approx(max(event.held_out_f1 or 0.0 for event in measured), abs=1e-9)
