"""Spans as conlleval counts them, schemes told apart and converted into each other, and labels that mark no spans."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from corate.corpus import Corpus
from corate.errors import DataError
from corate.evaluation.report import compare_labels
from corate.formats import read
from corate.spans import SCHEMES, Span, are_spans, convert, detect, parse, spans
from corate.training.choices import choose_preset
from corate.training.source import MemorySource
from real_corpora import real_file
from reference import chunks as reference

TYPES = ("PER", "LOC", "X-Y")


def labellings(letters: str) -> st.SearchStrategy[list[str]]:
    """Any sequence of labels with these letters, valid or not."""
    return st.lists(st.sampled_from(["O", *(f"{letter}-{t}" for letter in letters for t in TYPES)]), max_size=12)


@st.composite
def chunkings(draw: st.DrawFn) -> tuple[int, list[Span]]:
    """A length and chunks that do not overlap, with gaps between some."""
    found: list[Span] = []
    position = 0
    for gap, length, type_ in draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(TYPES)), max_size=6)
    ):
        start = position + gap
        position = start + length
        found.append(Span(start, position, type_))
    return position + draw(st.integers(0, 2)), found


def written(length: int, chunks: list[Span], scheme: str) -> list[str]:
    """The labels of chunks, straight from the definition of each scheme."""
    labels = ["O"] * length
    for k, (start, stop, type_) in enumerate(chunks):
        for i in range(start, stop):
            first, last = i == start, i == stop - 1
            if scheme == "IOB1":
                follows = k > 0 and chunks[k - 1].stop == start and chunks[k - 1].type == type_
                letter = "B" if first and follows else "I"
            elif scheme == "IOB2":
                letter = "B" if first else "I"
            else:
                letter = {(True, True): "S", (True, False): "B", (False, True): "E", (False, False): "I"}[first, last]
                letter = {"BILOU": {"E": "L", "S": "U"}, "BMEWO": {"I": "M", "S": "W"}, "BMES": {"I": "M"}}.get(
                    scheme, {}
                ).get(letter, letter)
            labels[i] = f"{letter}-{type_}"
    return labels


def seqeval_spans(labels: list[str]) -> list[Span]:
    return [Span(start, stop + 1, type_) for type_, start, stop in get_entities(labels)]


@pytest.mark.parametrize("letters", ["BI", "BIES", "IE", "I"])
def test_spans_are_those_of_seqeval(letters: str) -> None:
    """On every sequence of these labels, valid or not; seqeval (not in its strict mode) counts as conlleval does."""

    @given(labellings(letters))
    def agree(labels: list[str]) -> None:
        assert spans(labels) == seqeval_spans(labels)

    agree()


def test_where_spans_differ_from_seqeval() -> None:
    """Three places: a label of no scheme, the letters of BILOU and BMEWO, and the name of a missing type."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert seqeval_spans(["NN"]) == [Span(0, 1, "N")]
        assert seqeval_spans(["B-X", "L-X"]) == [Span(0, 2, "X")]
        assert seqeval_spans(["B-X", "L-X", "I-X"]) == [Span(0, 3, "X")]
        assert seqeval_spans(["U-X", "U-X"]) != spans(["U-X", "U-X"])
        assert seqeval_spans(["B", "I"]) == [Span(0, 2, "_")]
    assert spans(["NN"]) == []
    assert spans(["B-X", "L-X", "I-X"]) == [Span(0, 2, "X"), Span(2, 3, "X")]
    assert spans(["U-X", "U-X"]) == [Span(0, 1, "X"), Span(1, 2, "X")]
    assert spans(["B", "I"]) == [Span(0, 2, "")]


@given(labellings("BIES"), st.sampled_from(["BILOU", "BMEWO"]))
def test_other_letters_are_read_as_their_equals(labels: list[str], letters: str) -> None:
    other = str.maketrans("ES", "LU") if letters == "BILOU" else str.maketrans("IS", "MW")
    renamed = [label[0].translate(other) + label[1:] for label in labels]
    assert spans(renamed) == spans(labels)


@given(chunkings(), st.sampled_from(list(SCHEMES)))
def test_chunks_come_back_from_every_scheme(chunking: tuple[int, list[Span]], scheme: str) -> None:
    assert spans(written(*chunking, scheme)) == chunking[1]


@given(chunkings(), st.sampled_from(list(SCHEMES)), st.sampled_from(list(SCHEMES)))
def test_conversion_writes_the_other_scheme(chunking: tuple[int, list[Span]], from_: str, to: str) -> None:
    assert convert(written(*chunking, from_), to, from_) == written(*chunking, to)


@given(labellings("BIESLUMW"), st.sampled_from(list(SCHEMES)))
def test_conversion_keeps_the_chunks_of_any_labelling(labels: list[str], to: str) -> None:
    assert spans(convert(labels, to)) == spans(labels)


@given(st.lists(chunkings(), min_size=1, max_size=5), st.sampled_from(list(SCHEMES)))
def test_detection(chunkings: list[tuple[int, list[Span]]], scheme: str) -> None:
    labels = [written(*chunking, scheme) for chunking in chunkings]
    chunks = [span for _, found in chunkings for span in found]
    used = {label[0] for sentence in labels for label in sentence}
    if not chunks:
        assert detect(labels) is None
    elif scheme == "BMEWO" and used <= set("BEO"):
        assert detect(labels) == "IOBES"  # no label tells them apart
    elif scheme == "BMES" and not {"M", "S"} <= used:
        assert detect(labels) == ("BMEWO" if "M" in used else "IOBES")  # likewise
    else:
        assert detect(labels) == scheme


def test_detection_forgives_a_broken_sentence() -> None:
    assert detect([["B-X", "I-X"], ["B-X", "O"], ["O", "I-X"]]) == "IOB2"


@pytest.mark.parametrize(
    "labels", [["DT", "NN"], ["O"], [], ["B-X", "NN"], ["B-X", "I"], ["I", "O"], ["N-ACC", "V-IND"], ["b-x", "O"]]
)
def test_plain_tags_have_no_scheme(labels: list[str]) -> None:
    assert detect([labels]) is None


def test_letters_without_types() -> None:
    assert detect([["B", "I", "O"]]) == "IOB2"
    assert detect([["B", "M", "E", "S"]]) == "BMES"
    assert convert(["B", "I", "O", "B"], "IOBES") == ["B", "E", "O", "S"]


def test_what_cannot_be_converted() -> None:
    with pytest.raises(DataError, match="'NN' is not in IOB1, IOB2, IOBES, BILOU, BMEWO, BMES"):
        convert(["NN"], "IOB2")
    with pytest.raises(DataError, match="'S-X' is not in IOB2"):
        convert(["S-X"], "IOBES", "IOB2")
    with pytest.raises(DataError, match="unknown label scheme 'BIO'"):
        convert(["O"], "BIO")
    with pytest.raises(DataError, match="unknown label scheme 'BIO'"):
        convert(["O"], "IOB2", "BIO")


@given(st.lists(labellings("BI").filter(bool), max_size=6), st.sampled_from(list(SCHEMES)))
def test_a_corpus_is_converted_sentence_by_sentence(labels: list[list[str]], to: str) -> None:
    words = [[f"w{i}" for i in range(len(s))] for s in labels]
    corpus = Corpus.from_sentences(words, labels).with_scheme(to)
    assert [corpus.labels_of(i) for i in range(len(corpus))] == [convert(s, to) for s in labels]
    assert [corpus.tokens(i) for i in range(len(corpus))] == words
    strings = corpus.require_labels().strings.to_list()
    assert sorted(set(corpus.require_labels().values())) == sorted(strings)


def test_a_corpus_of_plain_tags_is_not_converted() -> None:
    with pytest.raises(DataError, match="plain tags"):
        Corpus.from_sentences([[("a", "DT")]]).with_scheme("IOB2")


# -- one rule for all ------------------------------------------------------------------------------------------------


@given(st.lists(labellings("BIESLUMW").filter(bool), min_size=1, max_size=4), st.data())
def test_everyone_finds_the_spans_of_the_reference(gold: list[list[str]], data: st.DataObject) -> None:
    """In sequences of the labels of all schemes, valid or not."""
    predicted = [(data.draw(labellings("BIESLUMW")) + ["O"] * len(s))[: len(s)] for s in gold]
    for sentence in (*gold, *predicted):
        assert spans(sentence) == reference.chunks(sentence)
    words = [[str(i) for i in range(len(s))] for s in gold]
    report = compare_labels(Corpus.from_sentences(words, gold), predicted)
    if report.f1 is None:
        assert not are_spans({label for s in (*gold, *predicted) for label in s})
        return
    want = reference.scores(gold, predicted)
    assert (report.precision, report.recall, report.f1) == pytest.approx(want.pop("", (0, 0, 0, 0))[:3])
    assert {kind: s.support for kind, s in report.types.items() if s.support} == {
        k: n for k, (*_, n) in want.items() if n
    }


@given(st.lists(chunkings(), min_size=1, max_size=4), st.lists(chunkings(), min_size=4, max_size=4))
def test_f1_is_the_same_in_every_scheme(
    gold: list[tuple[int, list[Span]]], guess: list[tuple[int, list[Span]]]
) -> None:
    found = set()
    for scheme in SCHEMES:
        truth = [written(*chunking, scheme) for chunking in gold]
        if not any(truth):
            return
        predicted = [
            (written(*chunking, "IOB2") + ["O"] * len(sentence))[: len(sentence)]
            for chunking, sentence in zip(guess, truth, strict=False)
        ]
        corpus = Corpus.from_sentences([[str(i) for i in range(len(s))] for s in truth], truth)
        report = compare_labels(corpus, [convert(sentence, scheme) for sentence in predicted])
        found.add((report.precision, report.recall, report.f1))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("labels", "marked", "preset"),
    [
        (["O", "B-NP", "I-NP"], True, "ner"),
        (["O", "I-NP"], True, "ner"),
        (["B-X", "I-X", "E-X", "S-X", "O"], True, "ner"),
        (["B-X", "I-X", "L-X", "U-X", "O"], True, "ner"),
        (["B-X", "M-X", "E-X", "W-X", "O"], True, "ner"),
        (["O", "U-X"], True, "ner"),
        (["O", "W-X"], True, "ner"),
        (["O", "B-NP", "?"], False, "ner"),  # a mark for unknown labels
        (["at", "nn", "S-TL", "W-HL"], False, "pos"),
        (["IN", "WP", "WP$", "B", "S"], False, "pos"),
        (["B", "I", "O"], False, "pos"),
        (["O"], False, "pos"),
        (["E-X", "L-X", "M-X", "O"], False, "pos"),
        (["b-x", "O"], False, "pos"),
    ],
)
def test_which_labels_mark_spans(labels: list[str], marked: bool, preset: str) -> None:
    corpus = Corpus.from_sentences([list("abcde")[: len(labels)]], [labels])
    assert are_spans(labels) == marked
    assert (compare_labels(corpus, [labels]).f1 is not None) == marked
    assert choose_preset(MemorySource(corpus)) == preset


def test_spans_that_cover_most_tokens_are_chunks_if_there_are_parts_of_speech() -> None:
    names = [["O", "O", "O", "B-LOC"], ["O", "B-NP", "I-NP", "B-VP"]]
    tagged = [Corpus.from_sentences([[("w", "p", label) for label in labels]]) for labels in names]
    assert [choose_preset(MemorySource(corpus)) for corpus in tagged] == ["ner", "chunking"]
    assert choose_preset(MemorySource(Corpus.from_sentences([[("w", label) for label in names[1]]]))) == "ner"


def test_a_type_may_hold_anything() -> None:
    assert parse("B-X-Y") == ("B", "X-Y")
    assert parse("B-a\nb") == ("B", "a\nb")


@pytest.mark.parametrize(
    ("archive", "member"),
    [("conll2000.zip", "conll2000/test.txt"), ("conll2002-ned.zip", "conll2002/ned.testb")],
)
def test_real_corpora(archive: str, member: str) -> None:
    corpus = read(real_file(archive, member))
    labels = [corpus.labels_of(i) for i in range(len(corpus))]
    assert detect(labels) == "IOB2"
    assert all(spans(s) == seqeval_spans(s) for s in labels)
    for scheme in SCHEMES:
        there = corpus.with_scheme(scheme)
        assert detect(there.labels_of(i) for i in range(len(there))) == scheme
        back = there.with_scheme("IOB2")
        assert [back.labels_of(i) for i in range(len(back))] == labels


def test_labels_are_spans_apart_from_exceptions_if_half_of_them_have_a_prefix() -> None:
    assert are_spans(["O", "B-PER", "I-PER", "BPER", "-PER", "0"], strict=False)
    assert not are_spans(["I-", "B-x", "N-1", "V-2", "P-3"], strict=False)
