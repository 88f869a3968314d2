"""What notebooks show: taggers, labelled sentences, reports and comparisons, as safe fragments and as plain text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import corate
from corate import Constraints, Corpus
from corate.evaluation.comparison import Comparison, compare, differences
from corate.pages.page import visible
from hostile_strings import HOSTILE

NAMES = tuple(name for name in HOSTILE if name != "\ud800")  # a corpus is UTF-8
TEXT = Corpus.from_sentences(
    [[("Ann", "B-PER"), ("Lee", "I-PER"), ("went", "O"), ("to", "O"), ("Delft", "B-LOC")], [("Lee", "B-PER")]] * 5
)


@pytest.fixture(scope="module")
def tagger() -> corate.Tagger:
    return corate.train(TEXT)


@pytest.fixture(scope="module")
def hostile() -> tuple[corate.Tagger, Corpus]:
    """A tagger whose words, labels and types are hostile, and its text."""
    sentences = [[(name, f"B-{name}") for name in NAMES], [(name, "O") for name in reversed(NAMES)]]
    corpus = Corpus.from_sentences(sentences * 3)
    return corate.train(corpus, method="empirical"), corpus


def test_entities_have_their_exact_probabilities(tagger: corate.Tagger) -> None:
    words = ["Ann", "Lee", "went", "to", "Delft"]
    person, place = (entity.probability for entity in tagger.entities(words))
    assert repr(tagger.show(words)) == f"[Ann Lee: PER {person:.1%}] went to [Delft: LOC {place:.1%}]"
    text = re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", "", tagger.show(words)._repr_html_(), flags=re.S))
    assert text.strip() == f"Ann Lee PER {100 * person:.1f}% went to Delft LOC {100 * place:.1f}%"


def test_the_colours_of_types_are_those_of_the_model_not_of_the_sentence(tagger: corate.Tagger) -> None:
    place, person = (tagger.show(words).parts[0].hue for words in (["Delft"], ["Ann", "Lee"]))
    assert (place, person) == (0, 1)  # types in the order of the alphabet


def test_labels_that_mark_no_spans_are_shown_by_token() -> None:
    plain = corate.train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET")]] * 3))
    chances = plain.marginals(["the", "dog"])
    assert (
        repr(plain.show(["the", "dog"])) == f"[the: DET {chances[0]['DET']:.1%}] [dog: NOUN {chances[1]['NOUN']:.1%}]"
    )


def test_constraints_and_short_sentences_and_ready_made_features(tagger: corate.Tagger) -> None:
    assert repr(tagger.show(["Delft"], constraints=Constraints(labels={0: "O"}))) == "Delft"
    assert repr(tagger.show([])) == ""
    assert "corate-fragment" in tagger.show([])._repr_html_()
    sentence = [{"w=a": 1.0}, {"w=b": 1.0}]
    features = corate.train(Corpus.from_features([sentence] * 4, [["X", "Y"]] * 4))
    assert re.fullmatch(r"\[token 0: X [\d.]+%\] \[token 1: Y [\d.]+%\]", repr(features.show(sentence)))


def test_reports_and_comparisons_have_all_their_numbers(tagger: corate.Tagger) -> None:
    report = corate.evaluate(tagger, TEXT)
    shown = report._repr_html_()
    for number in re.findall(r"[\d.]+%", str(report)):
        assert number in shown
    rows = Comparison(compare(TEXT, TEXT, ["empirical", "perceptron"]))
    shown = rows._repr_html_()
    for row in rows:
        assert f"{row.seconds:.2f} s" in shown
        assert row._repr_html_() != shown
    for found in differences(rows):
        assert f"{found.result.p_value:.4f}" in shown
    assert Comparison()._repr_html_()


@pytest.mark.parametrize("kind", ["sentence", "tagger", "report", "comparison"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_in_a_notebook(
    kind: str, scheme: str, hostile: tuple[corate.Tagger, Corpus], open_page: Callable[..., Any]
) -> None:
    tagger, corpus = hostile
    shown: dict[str, Callable[[], Any]] = {
        "sentence": lambda: tagger.show(NAMES),
        "tagger": lambda: tagger,
        "report": lambda: corate.evaluate(
            [["O"] * len(labels) for labels in map(corpus.labels_of, range(len(corpus)))], corpus
        ),
        "comparison": lambda: Comparison(compare(corpus, corpus, ["empirical"])),
    }
    html = shown[kind]()._repr_html_()
    opened = open_page(f"<!DOCTYPE html><meta charset='utf-8'><body>{html}{html}</body>", scheme=scheme).page
    assert opened.locator(".corate-fragment").count() == 2
    assert opened.locator("body > *:not(.corate-fragment)").count() == 0
    foreign = ".corate-fragment :is(script, img, iframe, svg, link, [style], [onload], [onerror], [onfocus])"
    assert opened.locator(foreign).count() == 0
    if kind in ("sentence", "report"):
        said = opened.evaluate("document.body.innerText")
        for name in NAMES:
            assert visible(name).split("  ")[0] in said
