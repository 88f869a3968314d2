"""Presets: what they look at, and what they do where a corpus lacks a column."""

from __future__ import annotations

import pytest

from corate.errors import FeatureError
from corate.features.presets import PRESETS, preset
from corate.features.templates import parse


def texts(name: str, *columns: str) -> list[str]:
    return [str(t) for t in preset(name, columns)]


def test_paper_is_the_word_and_the_papers_spelling_tests():
    suffixes = ["ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies"]
    tests = ["starts_digit(word[0])", "starts_upper(word[0])", "has_hyphen(word[0])"]
    assert texts("paper", "word") == ["word[0]", *tests, *(f"ends_with(word[0], {s})" for s in suffixes)]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_distinct_templates_that_read_back(name):
    templates = preset(name, ["word", "pos"])
    assert len(set(templates)) == len(templates)
    assert tuple(parse(str(t)) for t in templates) == templates
    assert tuple(t.bind(["word", "pos"]) for t in templates) == templates


def test_the_word_is_the_first_column_where_none_is_named_so():
    assert texts("paper", "form", "lemma")[0] == "form[0]"
    assert texts("paper", "id", "word")[0] == "word[0]"


def test_ner_uses_parts_of_speech_where_there_are_any():
    alone, tagged = set(texts("ner", "word")), set(texts("ner", "word", "pos"))
    assert alone - tagged == {"shape(word[-1])", "shape(word[1])"}
    assert {"pos[-2]", "pos[0]", "pos[2]", "pos[-1]|pos[0]", "pos[0]|pos[1]"} < tagged - alone
    assert {text for text in tagged - alone if "pos" not in text} == {f"short_shape(word[{i}])" for i in (-1, 0, 1)}
    assert "upos[0]" in texts("ner", "word", "upos")


def test_presets_use_the_relation_and_the_word_of_the_head_where_there_is_a_tree():
    tree = {"upos[-1]", "upos[0]", "upos[1]", "deprel[0]", "head.word[0]"}
    assert set(texts("pos", "word", "upos", "deprel", "head.word")) - set(texts("pos", "word")) == tree
    added = set(texts("ner", "word", "upos", "deprel", "head.word")) - set(texts("ner", "word", "upos"))
    assert added == {"deprel[0]", "head.word[0]"}
    assert "deprel[0]" not in texts("pos", "word", "deprel")
    assert texts("paper", "word", "deprel", "head.word") == texts("paper", "word")


def test_chunking_needs_parts_of_speech():
    assert len(texts("chunking", "word", "pos")) == 24
    with pytest.raises(FeatureError, match=r"'chunking' needs parts of speech .* columns word, lemma;"):
        preset("chunking", ["word", "lemma"])
    with pytest.raises(FeatureError, match="needs parts of speech"):
        preset("chunking", ["pos"])


def test_unknown_presets_and_corpora_without_columns_are_refused():
    with pytest.raises(FeatureError, match=r"did you mean 'chunking'. presets: paper, pos, ner, chunking"):
        preset("chunk", ["word"])
    with pytest.raises(FeatureError, match="only ready-made features"):
        preset("paper", [])
