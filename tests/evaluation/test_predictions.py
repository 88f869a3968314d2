"""Probabilities of tokens, spans and sentences are those of all labellings, added up one by one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.evaluation.calibration import calibration
from corate.evaluation.predictions import predict
from corate.model import lattice
from corate.model.tagger import Tagger
from corate.spans import convert, spans

SENTENCES = [
    [("Ann", "B-PER"), ("Lee", "I-PER"), ("met", "O"), ("Bob", "B-PER"), ("Delft", "B-LOC")],
    [("New", "B-LOC"), ("York", "I-LOC"), ("Lee", "B-PER"), ("met", "O")],
    [("Bob", "B-PER"), ("Lee", "I-PER"), ("York", "B-PER"), ("in", "O"), ("New", "B-LOC"), ("Delft", "I-LOC")],
    [("Lee", "O"), ("Lee", "B-LOC"), ("Ann", "I-LOC"), ("Bob", "I-LOC")],
]
TEXT = Corpus.from_sentences([["Ann", "Lee", "York", "Bob"], ["Lee"], ["New", "Delft", "met", "York", "Lee"]])


def tagger_of(scheme: str, **options: object) -> Tagger:
    rows = [
        list(zip([word for word, _ in s], convert([label for _, label in s], scheme), strict=True)) for s in SENTENCES
    ]
    return corate.train(
        Corpus.from_sentences(rows), "standard", features=["word[0]", "edge: word[0]"], c2=0.3, **options
    )


def all_labellings(tagger: Tagger, tokens: list[str]) -> dict[tuple[str, ...], float]:
    """The probability of every labelling of a sentence."""
    lattice = tagger.lattice([tokens])
    every = list(itertools.product(range(len(tagger.labels)), repeat=len(tokens)))
    scores = np.array([lattice.path_score(0, np.array(ids, np.int32)) for ids in every])
    p = np.exp(scores - scores.max())
    return {tuple(tagger.labels[i] for i in ids): x for ids, x in zip(every, (p / p.sum()).tolist(), strict=True)}


@pytest.mark.parametrize("scheme", ["IOB2", "IOBES", "IOB1"])
@pytest.mark.parametrize("order", [1, 2])
def test_probabilities_are_sums_over_all_labellings(scheme: str, order: int) -> None:
    tagger = tagger_of(scheme, order=order)
    found = predict(tagger, TEXT, spans=True)
    assert found.starts is not None
    assert found.stops is not None
    assert found.span_probabilities is not None
    assert len(found.starts) >= 2
    seen = 0
    for s in range(len(TEXT)):
        first, end = TEXT.offsets[s], TEXT.offsets[s + 1]
        every = all_labellings(tagger, TEXT.tokens(s))
        best = tuple(found.labels.values(first, end))
        assert found.log_probabilities[s] == pytest.approx(np.log(every[best]), abs=1e-4)
        for i, label in enumerate(best):
            p = sum(x for labels, x in every.items() if labels[i] == label)
            assert found.probabilities[first + i] == pytest.approx(p, abs=1e-4)
            each = [sum(x for labels, x in every.items() if labels[i] == other) for other in tagger.labels]
            assert found.entropies[first + i] == pytest.approx(-sum(p * np.log(p) for p in each if p), abs=1e-3)
        for span in spans(best):
            assert (found.starts[seen], found.stops[seen]) == (first + span.start, first + span.stop)
            p = sum(x for y, x in every.items() if span in spans(y))
            assert found.span_probabilities[seen] == pytest.approx(p, abs=1e-4)
            seen += 1
    assert seen == len(found.starts)


def test_pieces_of_any_size_give_the_same_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = tagger_of("IOB2")
    whole = predict(tagger, TEXT, spans=True)
    monkeypatch.setattr(lattice, "_TOKENS_AT_ONCE", 3)
    pieces = predict(tagger, TEXT, spans=True)
    for name in ("probabilities", "entropies", "log_probabilities", "starts", "stops", "span_probabilities"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-6)
    assert pieces.labels.values() == whole.labels.values()


def test_plain_tags_have_no_spans() -> None:
    plain = corate.train(Corpus.from_sentences([[("a", "X"), ("b", "Y")]] * 2))
    assert predict(plain, Corpus.from_sentences([["a"]]), spans=True).span_probabilities is None
    assert predict(tagger_of("IOB2"), TEXT).span_probabilities is None  # not asked for


def test_an_empty_corpus_has_no_predictions() -> None:
    tagger = tagger_of("IOB2")
    empty = replace(TEXT[:0])
    found = predict(tagger, empty, spans=True)
    assert len(found.probabilities) == len(found.log_probabilities) == 0


def test_text_in_which_no_span_is_found_has_predictions_and_a_calibration() -> None:
    text = Corpus.from_sentences([[("met", "O"), ("in", "O")]] * 30)
    tagger = corate.train(Corpus.from_sentences([*SENTENCES, *[[("met", "O"), ("in", "O")]] * 30]), "empirical")
    found = predict(tagger, text, spans=True)
    assert set(found.labels.values()) == {"O"}
    assert len(found.starts) == len(found.stops) == len(found.span_probabilities) == 0
    assert list(calibration(tagger, text)) == ["tokens"]
