"""What the page of a model holds is what the library says elsewhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import corate
from corate import Corpus, DataError, Tagger
from corate.evaluation.errors import least_sure
from corate.evaluation.predictions import predict
from corate.inspection.model_facts import feature_data, label_rates
from corate.inspection.page import inspect_page
from corate.pages.colours import HUES, hues
from small_corpora import random_sentences


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_sentences(random_sentences(60, seed=3))


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return corate.train(Corpus.from_sentences(random_sentences(60, seed=4)))


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    return found


def test_sentences_stand_in_order_of_doubt_with_their_labels(tagger: Tagger, corpus: Corpus) -> None:
    text = data_of(inspect_page(tagger, corpus))["text"]
    expected = least_sure(corpus, predict(tagger, corpus), len(corpus))
    assert text["number"] == [sentence.sentence + 1 for sentence in expected]
    assert text["confidence"] == [pytest.approx(sentence.probability, abs=1e-5) for sentence in expected]
    for s, sentence in enumerate(expected):
        here = slice(*text["start"][s : s + 2])
        assert tuple(text["words"][w] for w in text["word"][here]) == sentence.tokens
        assert tuple(text["labels"][y] for y in text["gold"][here]) == sentence.gold
        assert tuple(text["labels"][y] for y in text["predicted"][here]) == sentence.predicted


def test_the_most_doubtful_sentences_are_kept_and_explained(tagger: Tagger, corpus: Corpus) -> None:
    every = data_of(inspect_page(tagger, corpus))["text"]
    few = data_of(inspect_page(tagger, corpus, sentences=7, explained=2))["text"]
    assert few["number"] == every["number"][:7]
    wrong = [t for t in range(few["start"][7]) if few["gold"][t] != few["predicted"][t]]
    assert wrong
    assert few["explanations"]["token"] == sorted({*range(few["start"][2]), *wrong})
    assert len(every["explanations"]["token"]) == corpus.n_tokens


def test_explanations_are_those_of_the_tagger(tagger: Tagger, corpus: Corpus) -> None:
    text = data_of(inspect_page(tagger, corpus))["text"]
    found = text["explanations"]
    for i in range(0, len(found["token"]), 7):
        token = found["token"][i]
        s = int(np.searchsorted(text["start"], token, side="right")) - 1
        gold, predicted = (text["labels"][text[key][token]] for key in ("gold", "predicted"))
        sentence = corpus.tokens(text["number"][s] - 1)
        expected = tagger.explain(sentence, token - text["start"][s], predicted, gold if gold != predicted else None)
        assert found["difference"][i] == pytest.approx(expected.difference, abs=1e-3)
        assert text["labels"][found["against"][i]] == expected.against
        names = [found["names"][n] for n in found["terms"][i][::2]]
        assert names == [term.name for term in expected.contributions[:8]]
        assert found["terms"][i][1::2] == [pytest.approx(term.score, abs=1e-3) for term in expected.contributions[:8]]
        assert found["count"][i] == len(expected.contributions)


def test_many_pieces_give_the_same_explanations(
    tagger: Tagger, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = data_of(inspect_page(tagger, corpus))["text"]["explanations"]
    monkeypatch.setattr("corate.inspection.text_data._AT_ONCE", 10)
    fractions: list[float | None] = []
    page = inspect_page(tagger, corpus, on_progress=lambda event: fractions.append(event.fraction))
    assert data_of(page)["text"]["explanations"] == whole
    assert len(set(fractions)) > 5


def test_text_without_labels_has_no_gold_and_no_measures(tagger: Tagger, corpus: Corpus) -> None:
    words = Corpus.from_sentences([corpus.tokens(s) for s in range(len(corpus))])
    page = inspect_page(tagger, words)
    text = data_of(page)["text"]
    assert text["gold"] is None
    assert text["number"] == data_of(inspect_page(tagger, corpus))["text"]["number"]
    assert 'id="sentences"' in page
    assert 'id="errors"' not in page
    assert 'id="calibration"' not in page


def test_a_model_alone_has_no_sentences(tagger: Tagger) -> None:
    page = inspect_page(tagger)
    assert data_of(page)["text"] is None
    assert 'id="features"' in page
    assert 'id="sentences"' not in page


def test_gold_labels_that_the_model_lacks_are_shown_as_errors(tagger: Tagger) -> None:
    text = data_of(inspect_page(tagger, Corpus.from_sentences([[("the", "NEW"), ("dog", "N")]])))["text"]
    assert text["labels"][text["gold"][0]] == "NEW"
    assert 0 in text["explanations"]["token"]


def test_ready_made_features_are_inspected_too() -> None:
    x = [[{"w": word, "size": len(word)} for word, _ in sentence] for sentence in random_sentences(30, seed=2)]
    y = [[label for _, label in sentence] for sentence in random_sentences(30, seed=2)]
    corpus = Corpus.from_features(x, y)
    text = data_of(inspect_page(corate.train(corpus, "standard"), corpus))["text"]
    first = slice(*text["start"][:2])
    assert [text["words"][w] for w in text["word"][first]] == [str(i + 1) for i in range(text["start"][1])]


@pytest.mark.parametrize("options", [{"method": "empirical"}, {"method": "memm"}, {"order": 2}, {"parts": True}])
def test_models_of_every_kind_have_a_page(options: dict[str, Any], corpus: Corpus) -> None:
    tagger = corate.train(corpus, **options)
    data = data_of(inspect_page(tagger, corpus))
    assert len(data["text"]["number"]) == len(corpus)
    assert label_rates(tagger).counted == (tagger.rates(1)[0][0].rate is not None)


def test_features_are_the_strongest_of_each_label(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = corate.train(Corpus.from_sentences(random_sentences(60, seed=4)), "standard")
    monkeypatch.setattr("corate.inspection.model_facts._MOST", 3)
    found = feature_data(tagger)
    weights = [round(w.weight, 4) for side in tagger.strongest(100_000) for w in side if w.label == "N"]
    own = [w for w, y in zip(found["weight"], found["label"], strict=True) if found["labels"][y] == "N"]
    positive, negative = ([w for w in weights if sign * w > 0] for sign in (1, -1))
    assert sorted(own) == sorted([*sorted(positive)[-3:], *sorted(negative)[:3]])
    assert found["weight"] == sorted(found["weight"], key=lambda weight: -abs(weight))


def test_rates_are_those_of_the_model(corpus: Corpus) -> None:
    tagger = corate.train(corpus, "empirical")
    rates = label_rates(tagger)
    for pair in tagger.rates(5)[0]:
        found = rates.logs[rates.rows.index(pair.left), rates.columns.index(pair.right)]
        assert found == pytest.approx(pair.weight if pair.rate is None else np.log(pair.rate), rel=1e-5)


def test_of_many_labels_some_are_drawn() -> None:
    sentences = [[(f"w{i}", f"L{i}"), (f"w{i + 1}", f"L{i + 1}")] for i in range(0, 90, 2)]
    tagger = corate.train(Corpus.from_sentences(sentences), "standard")
    page = inspect_page(tagger, Corpus.from_sentences([[(f"w{i}", f"L{(i + 1) % 90}") for i in range(90)]]))
    assert label_rates(tagger).logs.shape == (41, 41)
    assert "Of 90 labels, the 40 with the largest factors" in page
    assert "labels, the 24 with most errors" in page


def test_the_same_model_and_text_give_the_same_page(tagger: Tagger, corpus: Corpus) -> None:
    assert inspect_page(tagger, corpus) == inspect_page(tagger, corpus)


def test_colours_follow_types() -> None:
    assert hues(["S-A", "E-A", "O", "B-C"]) == [0, 0, -1, 1]
    assert max(hues([f"L{i}" for i in range(50)])) == HUES - 1


def test_an_empty_text_is_refused(tagger: Tagger) -> None:
    with pytest.raises(DataError, match="no tokens"):
        inspect_page(tagger, Corpus.from_sentences([]))
    with pytest.raises(corate.ConfigError, match="sentences"):
        inspect_page(tagger, sentences=0)
