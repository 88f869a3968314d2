"""Corpora from Python lists: what is no list of sentences is refused with the remedy, never taken for letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import Corpus
from corate.errors import DataError


class Frame:
    """As much of a DataFrame as matters: iterating gives the names of its columns."""

    columns = ("word", "label")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


WRONG = [
    ("Jan slaapt", "the text 'Jan slaapt'; split it"),
    (["Jan slaapt"], "sentence 0 must be a list of tokens, not the text 'Jan slaapt'; split it"),
    ([["Jan"], "Jan slaapt"], "sentence 1 must be a list of tokens, not the text"),
    (iter(["Jan slaapt"]), "sentence 0 must be a list of tokens, not the text"),
    ({"tokens": [["Jan"]], "labels": [["N"]]}, r"a mapping \('tokens', 'labels'\); pass its lists"),
    ([{"tokens": ["Jan"]}], "sentence 0 must be a list of tokens, not a mapping"),
    (Frame(), r"a table \(Frame with the columns word, label\).*Corpus.from_frame"),
    ([Frame()], "sentence 0 must be a list of tokens, not a table"),
]


@pytest.mark.parametrize(("sentences", "message"), WRONG)
@pytest.mark.parametrize("build", [Corpus.from_sentences, Corpus.from_features])
def test_sentences_are_lists_of_tokens(build: Callable[[Any], Corpus], sentences: Any, message: str) -> None:
    if isinstance(sentences, Iterator):
        sentences = iter(["Jan slaapt"])  # not the one that another test has used up
    with pytest.raises(DataError, match=message):
        build(sentences)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("NV", "the labels must be a list of lists of labels, not the text 'NV'"),
        (["NV"], "the labels of sentence 0 must be a list of labels, not the text 'NV'"),
        ([Frame()], "the labels of sentence 0 must be a list of labels, not a table"),
    ],
)
def test_labels_are_lists_of_labels(labels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Corpus.from_sentences([["Jan", "slaapt"]], labels)
    with pytest.raises(DataError, match=message):
        Corpus.from_features([[["w=Jan"], ["w=slaapt"]]], labels)


@pytest.fixture(scope="module")
def tagger() -> corate.Tagger:
    return corate.train(Corpus.from_sentences([[("Jan", "N"), ("slaapt", "V")]]), "empirical")


@pytest.mark.parametrize("sentences", [wrong for wrong, _ in WRONG if not isinstance(wrong, Iterator)])
def test_a_tagger_takes_no_text_and_no_tables(tagger: corate.Tagger, sentences: Any) -> None:
    for ask in (tagger.tag_all, tagger.lattice):
        with pytest.raises(DataError, match="must be a list of"):
            ask(sentences)


@pytest.mark.parametrize("sentence", ["Jan slaapt", b"Jan slaapt", {"tokens": ["Jan"]}, Frame()])
def test_one_sentence_is_a_list_of_tokens(tagger: corate.Tagger, sentence: Any) -> None:
    for ask in (tagger.tag, tagger.score):
        with pytest.raises(DataError, match="must be a list of tokens"):
            ask(sentence)


def test_features_that_are_false_are_left_out_or_have_the_value_zero():
    sentences = [[{"a": False, "b": True}, {"a": True, "n": 0}], corate.ItemSequence([{"c": {"d": False}}])]
    left_out = Corpus.from_features(sentences).attributes
    assert left_out.names.to_list() == ["b", "a", "n"]
    assert left_out.offsets.tolist() == [0, 1, 3, 3]
    kept = Corpus.from_features(sentences, keep_false=True).attributes
    assert kept.names.to_list() == ["a", "b", "n", "c:d"]
    assert [kept.names.to_list()[i] for i in kept.ids] == ["a", "b", "a", "n", "c:d"]
    assert kept.values.tolist() == [0, 1, 1, 0, 0]
    assert not np.signbit(kept.values).any()


def test_other_iterables_are_fine(tagger: corate.Tagger) -> None:
    assert tagger.tag(iter(["Jan", "slaapt"])) == tagger.tag(("Jan", "slaapt")) == ["N", "V"]  # type: ignore[arg-type]
    assert Corpus.from_sentences(iter([iter(["Jan"])])).tokens(0) == ["Jan"]
    assert Corpus.from_sentences(Corpus.from_sentences([["Jan"]])).tokens(0) == ["Jan"]


class Text(str):
    """A string of another type."""


@given(
    st.lists(st.lists(st.tuples(st.text(max_size=3), st.sampled_from(["NN", "Ñ", "\0"])), max_size=4), max_size=4),
    st.sampled_from([tuple, list, lambda row: {"word": Text(row[0]), "pos": row[1]}]),
)
def test_the_kind_of_the_sequences_does_not_matter(
    rows: list[list[tuple[str, str]]], kind: Callable[[Any], Any]
) -> None:
    columns = ("word", "pos")
    plain = Corpus.from_sentences(rows, columns=columns)
    other = Corpus.from_sentences(iter(tuple(map(kind, sentence)) for sentence in rows), columns=columns)
    assert [plain.rows(s) for s in range(len(rows))] == rows
    assert plain.offsets.tolist() == other.offsets.tolist()
    for one, two in zip(plain.columns, other.columns, strict=True):
        assert (one.name, one.ids.tolist(), one.strings.to_list()) == (
            two.name,
            two.ids.tolist(),
            two.strings.to_list(),
        )


@pytest.mark.parametrize("bad", [("a",), ("a", "b", "c"), ("a", 1), ("a", "\ud800"), 3, "a"])
def test_a_token_that_does_not_fit_is_refused_among_tuples(bad: Any) -> None:
    with pytest.raises(DataError):
        Corpus.from_sentences([[("a", "b")], [("a", "b"), bad]], columns=("word", "pos"))
