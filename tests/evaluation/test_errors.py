"""Errors of spans by kind, sentences with errors, and sentences that a tagger is not sure of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate.corpus import Column, Corpus
from corate.evaluation.errors import least_sure, span_errors, wrong_sentences
from corate.evaluation.predictions import predict
from corate.spans import spans

LABELS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=6, max_size=6)


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        ("B-X I-X O", "B-X I-X O", "correct"),
        ("B-X I-X O", "B-X O O", "boundary"),
        ("B-X O O", "B-X I-X O", "boundary"),
        ("O B-X O", "B-X I-X O", "boundary"),
        ("B-X I-X O", "B-Y I-Y O", "type"),
        ("B-X I-X O", "B-Y O O", "both"),
        ("B-X I-X O", "O O O", "missed"),
        ("O O O", "O B-X O", "spurious"),
    ],
)
def test_each_kind_of_error(gold: str, predicted: str, kind: str) -> None:
    corpus = Corpus.from_sentences([["a", "b", "c"]], [gold.split()])
    found = span_errors(corpus, Column.of("label", predicted.split())).to_dict()
    assert found == {**dict.fromkeys(found, 0), kind: 1}


def test_pairs_with_the_same_boundaries_come_before_overlapping_ones() -> None:
    corpus = Corpus.from_sentences([["a", "b", "c", "d"]], [["B-X", "I-X", "O", "B-X"]])
    found = span_errors(corpus, Column.of("label", ["B-X", "B-X", "O", "B-Y"]))
    assert (found.boundary, found.type, found.spurious, found.missed) == (1, 1, 1, 0)


@given(LABELS, LABELS)
def test_every_span_is_counted_once(gold: list[str], predicted: list[str]) -> None:
    corpus = Corpus.from_sentences([["w"] * 6], [gold])
    found = span_errors(corpus, Column.of("label", predicted))
    pairs = found.correct + found.boundary + found.type + found.both
    assert pairs + found.missed == len(spans(gold))
    assert pairs + found.spurious == len(spans(predicted))
    assert found.correct == len(set(spans(gold)) & set(spans(predicted)))


def test_sentences_with_errors_and_unsure_ones() -> None:
    training = Corpus.from_sentences([[("Ann", "N"), ("sings", "V")], [("Bob", "N"), ("sleeps", "V")]] * 4)
    tagger = corate.train(training)
    test = Corpus.from_sentences(
        [["Ann", "sings"], ["Bob", "sleeps"], ["gnus", "gnus", "gnus"], ["Bob", "sings"]],
        [["N", "V"], ["N", "N"], ["N", "V", "N"], ["N", "N"]],
    )
    found = predict(tagger, test)
    wrong = wrong_sentences(test, found, 10)
    assert [s.sentence for s in wrong if s.sentence != 2] == [1, 3]
    assert wrong[0].tokens == ("Bob", "sleeps")
    assert (wrong[0].gold, wrong[0].predicted, wrong[0].errors) == (("N", "N"), ("N", "V"), 1)
    assert len(wrong_sentences(test, found, 1)) == 1
    unsure = least_sure(test, found, 4)
    assert unsure[0].sentence == 2
    assert [s.probability for s in unsure] == sorted(s.probability for s in unsure)
    assert unsure[0].probability == pytest.approx(np.exp(tagger.score(["gnus"] * 3)), rel=1e-4)


def test_ready_made_features_are_shown_by_number() -> None:
    tagger = corate.train(Corpus.from_features([[{"w": "a"}, {"w": "b"}]] * 2, [["X", "Y"]] * 2))
    test = Corpus.from_features([[{"w": "a"}, {"w": "b"}]], [["Y", "Y"]])
    assert wrong_sentences(test, predict(tagger, test), 1)[0].tokens == ("1", "2")
