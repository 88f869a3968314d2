"""Evaluation on text where some gold labels are unknown: these tokens do not count."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import corate
from corate.corpus import Column, Corpus
from corate.errors import DataError
from corate.evaluation.calibration import calibration
from corate.evaluation.errors import span_errors, wrong_sentences
from corate.evaluation.predictions import predict
from corate.evaluation.significance import sentence_counts
from small_corpora import corpus_of, random_sentences
from whole_sentences import TRAINING, trained

GOLD = Corpus.from_sentences(
    [[("Ann", "B-PER"), ("Lee", None), ("left", "O")], [("Rome", "B-LOC")], [("x", None), ("y", None)]]
)
RIGHT, WRONG = [["B-PER", "I-PER", "O"], ["B-LOC"], ["B-LOC", "O"]], [["B-PER", "O", "B-LOC"], ["O"], ["O", "O"]]


def test_tokens_of_unknown_label_are_left_out() -> None:
    report = corate.evaluate(RIGHT, GOLD)
    assert (report.tokens, report.sentences, report.accuracy, report.sentence_accuracy, report.f1) == (3, 2, 1, 1, 1)
    report = corate.evaluate(WRONG, GOLD)
    assert (report.tokens, report.accuracy, report.precision, report.recall) == (3, 1 / 3, 0.5, 0.5)
    assert None not in report.confusion.labels


def test_there_must_be_a_known_label() -> None:
    with pytest.raises(DataError, match="no tokens with a known label"):
        corate.evaluate([["O", "O"]], GOLD[2])


def test_known_and_unknown_words_are_those_with_known_labels() -> None:
    report = corate.evaluate(RIGHT, GOLD, known_words={"Ann", "Lee"})
    assert (report.accuracy_known, report.tokens_oov) == (1.0, 2)


def test_errors_are_those_of_known_labels() -> None:
    guess = Column.of("label", [label for own in WRONG for label in own])
    assert asdict(span_errors(GOLD, guess)) == {
        "correct": 1, "boundary": 0, "type": 0, "both": 0, "missed": 1, "spurious": 1,
    }  # fmt: skip
    assert sentence_counts(GOLD, guess)["accuracy"].tolist() == [[1, 2], [0, 1]]


def test_a_sentence_without_known_errors_is_not_among_the_wrong_ones() -> None:
    tagger = trained()
    gold = Corpus.from_sentences([[(w, None if i % 2 else "Z") for i, (w, _) in enumerate(s)] for s in TRAINING])
    for sentence in wrong_sentences(gold, predict(tagger, gold), 3):
        assert sentence.errors == sum(label == "Z" for label in sentence.gold) > 0


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_calibration_is_that_of_the_known_labels(share: float) -> None:
    """Probabilities of tokens are compared where the label is known; of spans, where all their labels are."""
    spans = [[(w, {"A": "O", "B": "B-X"}.get(y, "I-X")) for w, y in s] for s in random_sentences(80, noise=0.3)]
    tagger = corate.train(corpus_of(spans[:40]))
    rng = np.random.default_rng(1)
    test = [[(w, None if rng.random() < share else y) for w, y in s] for s in spans[40:]]
    found = calibration(tagger, Corpus.from_sentences(test))
    predicted = predict(tagger, Corpus.from_sentences(test), spans=True)
    flat, guess = [y for s in test for _, y in s], predicted.labels.values()
    known = [i for i, y in enumerate(flat) if y is not None]
    assert found["tokens"].count == len(known)
    assert found["tokens"].accuracy == pytest.approx(np.mean([flat[i] == guess[i] for i in known]))
    assert predicted.starts is not None
    assert predicted.stops is not None
    pairs = zip(predicted.starts.tolist(), predicted.stops.tolist(), strict=True)
    assert found["spans"].count == sum(None not in flat[a:b] for a, b in pairs)
