"""Corpora from Python lists: what is no list of sentences is refused with the remedy, never taken for letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import Corpus
from corate.errors import DataError
from corate.rate.counted import Counts


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


ONE_SENTENCE: dict[str, Callable[[corate.Tagger, Any], Any]] = {
    "tag": corate.Tagger.tag,
    "tag with constraints": lambda tagger, sentence: tagger.tag(sentence, decode="posterior"),
    "score": corate.Tagger.score,
    "nbest": lambda tagger, sentence: tagger.nbest(sentence, 2),
    "marginals": corate.Tagger.marginals,
    "pair_marginals": corate.Tagger.pair_marginals,
    "entities": corate.Tagger.entities,
    "show": lambda tagger, sentence: repr(tagger.show(sentence)),
    "confidence": corate.Tagger.confidence,
    "entropy": corate.Tagger.entropy,
    "sample": lambda tagger, sentence: tagger.sample(sentence, 2),
    "explain": lambda tagger, sentence: repr(tagger.explain(sentence, 0)),
}


@pytest.mark.parametrize("ask", ONE_SENTENCE.values(), ids=list(ONE_SENTENCE))
def test_a_corpus_is_not_one_sentence(ask: Callable[[corate.Tagger, Any], Any]) -> None:
    corpus = Corpus.from_sentences([[("Jan", "N", "B-PER"), ("slaapt", "V", "O")]] * 2)
    tagger = corate.train(corpus, features=["word[0]", "pos[0]"])
    with pytest.raises(DataError, match=r"not a Corpus; corpus.rows\(0\) .*tagger.lattice\(corpus\)"):
        ask(tagger, corpus[0])
    ask(tagger, corpus.rows(0))  # as the message says
    features = Corpus.from_features([[["Jan"], ["slaapt"]]] * 2, [["B-PER", "O"]] * 2)
    with pytest.raises(DataError, match="not a Corpus"):
        ask(corate.train(features), features[0])


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


FEATURES = [[{"w": "to", "length": 2}, ["w:be"]], [], [{"w": "be"}, {}], [["or"], {"w": "to"}]]


@pytest.mark.parametrize("cut", range(len(FEATURES) + 1))
@pytest.mark.parametrize("sentences", [FEATURES, [[["a"], ["b", "a"]], [], [["b"]], [["c"], []]]])
def test_joined_corpora_keep_their_features(sentences: list[Any], cut: int) -> None:
    labels = [["X", "Y"][: len(sentence)] for sentence in sentences]
    parts = [Corpus.from_features(sentences[s], labels[s]) for s in (slice(cut), slice(cut, None))]
    joined, whole = Corpus.joined(parts), Corpus.from_features(sentences, labels)
    assert joined.offsets.tolist() == whole.offsets.tolist()
    assert [joined.labels_of(s) for s in range(4)] == labels
    for name in ("offsets", "ids", "values", "key_lengths"):
        np.testing.assert_array_equal(getattr(joined.attributes, name), getattr(whole.attributes, name))
    assert joined.attributes.names.to_list() == whole.attributes.names.to_list()  # type: ignore[union-attr]


def test_joined_corpora_keep_their_texts_if_all_have_them() -> None:
    parts = [corate.read(text, format="raw") for text in (b"Ann sings. Bob sleeps.", b"Jan\n\nhums.")]
    texts, whole = Corpus.joined(parts).texts, [part.texts for part in parts]
    assert texts is not None
    assert texts.texts == whole[0].texts + whole[1].texts
    assert texts.records == whole[0].records + whole[1].records
    assert texts.starts.tolist() == [*whole[0].starts.tolist(), *whole[1].starts.tolist()]
    assert texts.stops.tolist() == [*whole[0].stops.tolist(), *whole[1].stops.tolist()]
    assert Corpus.joined([*parts, replace(parts[0], texts=None)]).texts is None


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "no corpora to join"),
        (
            [Corpus.from_sentences([[("a", "D", "X")]]), Corpus.from_sentences([[("a", "X")]])],
            "corpus 0 has word pos, corpus 1 has word; .*columns=",
        ),
        (
            [Corpus.from_sentences([["a"]], columns=[name]) for name in ("word", "lemma")],
            "corpus 0 has word, corpus 1 has lemma; .*columns=",
        ),
        (
            [Corpus.from_sentences([["a"]]), Corpus.from_sentences([[("a", "X")]])],
            r"corpus 1 has labels, and corpus 0 has none; .*labels=None",
        ),
        (
            [Corpus.from_sentences([[("a", "X")]])] * 2 + [Corpus.from_sentences([["a"]])],
            r"corpus 0 has labels, and corpus 2 has none; .*labels=None",
        ),
        (
            [replace(Corpus.from_features([[["a"]]]), attributes=None), Corpus.from_features([[["a"]]])],
            "corpus 1 has ready-made features, and corpus 0 has none; .*attributes=None",
        ),
    ],
)
def test_corpora_that_differ_are_not_joined(parts: list[Corpus], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Corpus.joined(parts)


def test_indices_of_sentences_are_those_of_a_python_list() -> None:
    words, labels = [["a", "b"], [], ["c"]], [["X", "Y"], [], ["Z"]]
    corpus = Corpus.from_sentences(words, labels)
    for i in range(-3, 3):
        assert corpus.tokens(i) == corpus[i].tokens(0) == corpus.take([i]).tokens(0) == words[i]
        assert corpus.rows(i) == corpus[i].rows(-1) == [(word,) for word in words[i]]
        assert corpus.labels_of(np.int32(i)) == corpus.take(np.array([i])).labels_of(0) == labels[i]  # type: ignore[arg-type]
    assert [list(sentence) for sentence in corpus.take([-1, 0, 2])] == [[("c",)], [("a",), ("b",)], [("c",)]]
    for i in (-4, 3):
        for ask in (corpus.tokens, corpus.rows, corpus.labels_of, corpus.__getitem__, lambda i: corpus.take([0, i])):
            with pytest.raises(IndexError, match=rf"no sentence {i} \(counted from 0\); the number of sentences is 3"):
                ask(i)
    with pytest.raises(IndexError, match="the number of sentences is 0"):
        Corpus.from_sentences([]).tokens(0)
    assert len(corpus.take([])) == 0


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


@pytest.mark.parametrize("unknown", [None, float("nan"), pd.NA])
@pytest.mark.parametrize(
    "build",
    [
        lambda y: Corpus.from_sentences([[("a", "X"), ("b", y)], [("c", y), ("d", "Z")]]),
        lambda y: Corpus.from_sentences([[("a", "X"), ("b", y)], [("c", y), ("d", "Z")]], columns=["word", "label"]),
        lambda y: Corpus.from_sentences([["a", "b"], ["c", "d"]], [["X", y], (y, "Z")]),
        lambda y: Corpus.from_sentences(
            [[{"w": "a", "label": "X"}, {"w": "b", "label": y}], [{"w": "c", "label": y}, {"w": "d", "label": "Z"}]]
        ),
        lambda y: Corpus.from_features([[{"a": 1}, {"b": 1}], [{"c": 1}, {"d": 1}]], [["X", y], [y, "Z"]]),
    ],
)
def test_a_label_may_be_unknown(build: Callable[[Any], Corpus], unknown: Any) -> None:
    """It is None wherever it is looked at, and no label of the corpus."""
    corpus = build(unknown)
    assert corpus.labels is not None
    assert corpus.labels.ids.tolist() == [0, -1, -1, 1]
    assert corpus.labels.strings.to_list() == ["X", "Z"]
    assert corpus.labels.values() == ["X", None, None, "Z"]
    assert corpus.labels.values(1, 3) == [None, None]
    assert [corpus.labels_of(s) for s in (0, -1)] == [["X", None], [None, "Z"]]
    assert [corpus[1].labels_of(0), corpus.take([1, 0]).labels_of(1), corpus[1:].labels_of(0)] == [
        [None, "Z"],
        ["X", None],
        [None, "Z"],
    ]
    assert Corpus.joined([corpus[1], corpus]).labels.values() == [None, "Z", "X", None, None, "Z"]  # type: ignore[union-attr]
    assert "2 labels (2 unknown)" in repr(corpus)


def test_all_labels_may_be_unknown() -> None:
    corpus = Corpus.from_sentences([["a"], ["b"]], [[None], [None]])
    assert Corpus.joined([corpus, corpus]).labels.values() == [None] * 4  # type: ignore[union-attr]


def test_only_labels_may_be_unknown() -> None:
    with pytest.raises(DataError, match=r"column 'word': item 1 is not a string.*every token must be a string"):
        Corpus.from_sentences([[("a", "X"), (None, "Y")]])


def test_a_label_of_another_type_is_still_an_error() -> None:
    with pytest.raises(DataError, match=r"column 'label': item 2 is not a string.*None if it is unknown"):
        Corpus.from_sentences([["a", "b", "c"]], [["X", None, 3]])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "ask",
    [
        lambda corpus: corpus.with_scheme("IOBES"),
        Counts.label_pairs,
        Counts.words,
    ],
)
def test_what_needs_every_label_names_the_place(ask: Callable[[Corpus], Any]) -> None:
    with pytest.raises(DataError, match="the label of token 1 is unknown") as error:
        ask(Corpus.from_sentences([[("a", "B-X")], [("b", "I-X"), ("c", None)]]))
    assert error.value.sentence == 1
