"""What is written reads back the same, in every format, or writing says why not."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import read, write

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
#: Mostly plain words, with the characters that formats give a meaning to.
VALUES = st.one_of(st.sampled_from(["a", "New York", "1/2", "a:b", "\\", "", " x", "x ", "#", "\t", "é", "\x85"]), ANY)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    width = draw(st.integers(1, 3))
    labelled = draw(st.booleans())
    token = st.tuples(*[VALUES] * (width + labelled))
    sentences = draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4))
    names = ["word", "pos", "lemma"][:width] + ["label"] * labelled
    return Corpus.from_sentences(sentences, columns=names)


def content(corpus: Corpus) -> dict[str, Any]:
    """All that a corpus says, whatever the numbers of its strings."""
    held: dict[str, Any] = {c.name: c.values() for c in corpus.columns}
    held["offsets"] = corpus.offsets.tolist()
    held["labels"] = corpus.labels.values() if corpus.labels is not None else None
    if (a := corpus.attributes) is not None:
        strings = a.names.to_list()
        held["attributes"] = [strings[i] for i in a.ids], a.offsets.tolist()
        held["values"] = None if a.values is None else a.values.tolist()
    return held


def rewritten(corpus: Corpus, format: str, **options: Any) -> Corpus | None:
    """Written and read again; None where the format refuses the values."""
    file = io.BytesIO()
    separator = {"separator": options["separator"]} if "separator" in options else {}
    try:
        write(corpus, file, format=format, **separator)
    except DataError as error:
        refusal = str(error)
    else:
        return read(file.getvalue(), format=format, labelled=corpus.labels is not None, **options)
    assert "cannot be written" in refusal or "U+FEFF" in refusal or "no labels" in refusal
    return None


def names_of(corpus: Corpus) -> list[str]:
    return [c.name for c in corpus.columns] + ["label"] * (corpus.labels is not None)


@given(corpora(), st.sampled_from(["\t", " ", ","]))
def test_columns(corpus: Corpus, separator: str) -> None:
    again = rewritten(corpus, "columns", separator=separator, columns=names_of(corpus))
    assert again is None or content(again) == content(corpus)


@given(corpora())
@example(Corpus.from_sentences([["New York"], ["Ann"]]))
@example(Corpus.from_sentences([[("a", "b c")]]))
@example(Corpus.from_sentences([[("", "a")]]))
@example(Corpus.from_sentences([["\x0b", "\x0c x"]]))
def test_columns_whose_separator_is_told_by_the_text(corpus: Corpus) -> None:
    again = rewritten(corpus, "columns")
    if again is not None:
        assert [c.values() for c in again.columns] == [c.values() for c in corpus.columns]
        assert (again.labels is None) == (corpus.labels is None)
        assert again.labels is None or again.labels.values() == corpus.labels.values()  # type: ignore[union-attr]
        assert again.offsets.tolist() == corpus.offsets.tolist()


def test_what_would_not_read_back_is_named_with_the_remedy() -> None:
    with pytest.raises(DataError, match=r"'word': the value 'New York' cannot be written.*the format 'jsonl'"):
        write(Corpus.from_sentences([["New York"], ["Ann"]]), io.BytesIO())


@given(corpora())
def test_jsonl_holds_every_value(corpus: Corpus) -> None:
    again = rewritten(corpus, "jsonl")
    assert again is not None
    assert content(again) == content(corpus)


@given(corpora())
def test_slashed_holds_words_and_labels(corpus: Corpus) -> None:
    again = rewritten(corpus, "slashed")
    if again is not None:
        assert content(again) == content(Corpus(corpus.columns[:1], corpus.offsets, corpus.labels))


@given(corpora())
def test_text_holds_words(corpus: Corpus) -> None:
    again = rewritten(corpus, "text")
    if again is not None:
        assert content(again) == content(Corpus(corpus.columns[:1], corpus.offsets))


@given(
    st.lists(
        st.lists(
            st.dictionaries(VALUES, st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=3),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
    st.data(),
)
def test_items(sentences: list[list[dict[str, float]]], labelled: bool, data: st.DataObject) -> None:
    labels = [data.draw(st.lists(VALUES, min_size=len(s), max_size=len(s))) for s in sentences] if labelled else None
    corpus = Corpus.from_features(sentences, labels)
    again = rewritten(corpus, "items")
    assert again is None or content(again) == content(corpus)


PLAIN = [[("Ann", "NNP", "B-PER"), ("sleeps", "VBZ", "O")], [("Bob", "NNP", "B-PER")]]


@pytest.mark.parametrize("format", ["columns", "slashed", "jsonl"])
def test_plain_values_are_written_and_detected(format: str) -> None:
    corpus = Corpus.from_sentences(PLAIN)
    file = io.BytesIO()
    write(corpus, file, format=format)
    again = read(file.getvalue())
    assert again.tokens(0) == ["Ann", "sleeps"]
    assert again.labels_of(1) == ["B-PER"]


def test_given_labels_take_the_place_of_those_of_the_corpus() -> None:
    file = io.StringIO()
    write(Corpus.from_sentences(PLAIN), file, labels=[["X", "Y"], ["Z"]])
    assert file.getvalue() == "Ann\tNNP\tX\nsleeps\tVBZ\tY\n\nBob\tNNP\tZ\n\n"


@pytest.mark.parametrize("labels", [[["X", "Y"]], [["X"], ["Y"]], [["X", "Y"], ["Z", "Z"]], ["XY", "Z"]])
def test_labels_must_fit_the_sentences(labels: list[list[str]]) -> None:
    with pytest.raises(DataError, match="labels"):
        write(Corpus.from_sentences(PLAIN), io.StringIO(), labels=labels)


def test_sentences_without_tokens_are_left_out() -> None:
    corpus = Corpus.from_sentences([["a"], [], ["b"]])
    for format in ("columns", "jsonl", "text"):
        file = io.BytesIO()
        write(corpus, file, format=format)
        assert [len(s) for s in read(file.getvalue(), format=format, labelled=False)] == [1, 1]


@pytest.mark.parametrize(
    ("format", "corpus"),
    [
        ("items", Corpus.from_sentences([["a"]])),
        ("columns", Corpus.from_features([[["f"]]])),
        ("jsonl", Corpus.from_features([[["f"]]])),
        ("text", Corpus.from_features([[["f"]]])),
        ("slashed", Corpus.from_sentences([["a"]])),
        ("jsonl", Corpus.from_sentences([[("a", "b")]], columns=["word", "tokens"])),
        ("brown", Corpus.from_sentences([["a"]])),
    ],
)
def test_a_corpus_that_a_format_cannot_hold_is_refused(format: str, corpus: Corpus) -> None:
    with pytest.raises(DataError):
        write(corpus, io.StringIO(), format=format)


def test_a_slice_is_judged_by_its_own_values() -> None:
    corpus = Corpus.from_sentences([["a\tb"], ["c"]])
    file = io.StringIO()
    write(corpus[1:], file)
    assert file.getvalue() == "c\n\n"


def test_values_of_items_keep_their_bits() -> None:
    numbers = np.float32([0.1, 1e-45, -3.4028235e38, 7]).tolist()
    corpus = Corpus.from_features([[{str(i): x for i, x in enumerate(numbers)}]])
    again = rewritten(corpus, "items")
    assert again is not None
    assert again.attributes is not None
    assert again.attributes.values is not None
    assert again.attributes.values.tolist() == numbers


def test_unknown_labels_are_written_as_null() -> None:
    corpus = Corpus.from_sentences([[("a", "X"), ("b", None)]])
    file = io.StringIO()
    write(corpus, file, format="jsonl")
    assert file.getvalue() == '{"tokens": ["a", "b"], "labels": ["X", null]}\n'
    assert read(file.getvalue().encode()).labels_of(0) == ["X", None]
    named = io.StringIO()
    write(corpus, named, format="jsonl", label_names=["X"])
    assert read(named.getvalue().encode(), label_names=["X"]).labels_of(0) == ["X", None]
    assert read(b'[["a", "X"], ["b", null]]').labels_of(0) == ["X", None]


@pytest.mark.parametrize("format", ["columns", "conllu", "slashed", "labelstudio"])
def test_formats_without_unknown_labels_say_so(format: str) -> None:
    corpus = Corpus.from_sentences([[("a", "X")], [("a", "X"), ("b", None)]])
    for labels in (None, [["X"], ["X", None]]):
        with pytest.raises(DataError, match=r"label of token 1 is unknown.*use the format 'jsonl', or fill") as error:
            write(corpus, io.StringIO(), format=format, labels=labels)  # type: ignore[arg-type]
        assert error.value.sentence == 1


def test_unknown_labels_of_items_are_refused() -> None:
    corpus = Corpus.from_features([[{"a": 1}]], [[None]])
    with pytest.raises(DataError, match="label of token 0 is unknown"):
        write(corpus, io.StringIO(), format="items")


def test_words_are_written_without_labels() -> None:
    file = io.StringIO()
    write(Corpus.from_sentences([[("a", "X"), ("b", None)]]), file, format="text")
    assert file.getvalue() == "a b\n"
