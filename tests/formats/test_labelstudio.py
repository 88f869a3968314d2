"""Label Studio: spans of characters become labels of tokens and come back as they were, in any text."""

from __future__ import annotations

import io
import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import Corpus, DataError
from corate.formats import SkippedWarning
from corate.formats.detection import detect
from corate.spans import spans

TEXT = "Ann Lee lives in New York."


def span(start: Any, end: Any, label: Any, text: str | None = None, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": label if isinstance(label, list) else [label]}
    return {"type": "labels", "value": value if text is None else {**value, "text": text}, **more}


def task(text: str = TEXT, *results: Any, number: int = 7, **more: Any) -> dict[str, Any]:
    return {"id": number, "data": {"text": text}, "annotations": [{"result": list(results)}], **more}


def read(*tasks: Any, **options: Any) -> Corpus:
    return corate.read(json.dumps(tasks).encode(), **{"format": "labelstudio", **options})


def written(corpus: Corpus, **options: Any) -> list[Any]:
    file = io.BytesIO()
    corate.write(corpus, file, format="labelstudio", **options)
    return list(json.loads(file.getvalue()))


def places(tasks: list[Any], member: str = "annotations") -> list[list[tuple[int, int, str]]]:
    values = [[item["value"] for item in own[member][0]["result"]] for own in tasks]
    return [[(value["start"], value["end"], value["labels"][0]) for value in own] for own in values]


def test_spans_become_labels() -> None:
    corpus = read(task(TEXT, span(17, 25, "LOC", "New York"), span(0, 7, "PER", "Ann Lee")))
    assert corpus.tokens(0) == ["Ann", "Lee", "lives", "in", "New", "York", "."]
    assert corpus.labels_of(0) == ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"]
    assert corpus.texts is not None
    assert [TEXT[a:b] for a, b in zip(corpus.texts.starts, corpus.texts.stops, strict=True)] == corpus.tokens(0)


def test_white_space_around_a_span_cuts_nothing() -> None:
    assert read(task("  Ann  sings ", span(0, 7, "PER", "  Ann  "))).labels_of(0) == ["B-PER", "O"]


words = st.text(st.sampled_from("ab1é😀\U0001d4b3\u0301-'.日"), min_size=1, max_size=4)
gaps = st.sampled_from([" ", "  ", "\n", "\t", "\u00a0", "\r\n"])
labelled_texts = st.lists(st.tuples(words, gaps, st.sampled_from(["", "PER", "LOC"])), min_size=1, max_size=6)


@given(st.lists(labelled_texts, min_size=1, max_size=4), st.booleans())
def test_what_was_written_reads_back_with_the_same_offsets(given_texts: Any, utf16: bool) -> None:
    tasks, expected = [], []
    for number, parts in enumerate(given_texts):
        text, results, own = "", [], []
        for i, (drawn, gap, label) in enumerate(parts):
            word = chr(0x4E00 + i) + drawn  # each word occurs once, so that its text tells how characters are counted
            start, text = len(text), text + word
            if label:
                before = sum(c > "\uffff" for c in text[:start]) if utf16 else 0
                after = sum(c > "\uffff" for c in text) if utf16 else 0
                results.append(span(start + before, len(text) + after, label, word))
                own.append((start + before, len(text) + after, label))
            text += gap
        tasks.append(task(text, *results, number=number))
        expected.append(own)
    corpus = read(*tasks, tokenize=str.split)
    again = written(corpus)
    assert [own["data"] for own in again] == [own["data"] for own in tasks]
    assert [own["id"] for own in again] == [own["id"] for own in tasks]
    assert places(again) == expected
    reread = read(*again, tokenize=str.split)
    assert list(reread) == list(corpus)
    assert reread.require_labels().values() == corpus.require_labels().values()


def test_predictions_have_scores_and_the_names_of_the_project() -> None:
    names = {"from_name": "ner", "to_name": "doc"}
    corpus = read(
        {"id": 1, "data": {"text": "Bob sings", "source": "x"}, "meta": {"a": 1}, "total_predictions": 0},
        task("Ann", span(0, 3, "PER", "Ann", **names)),
        labelled=False,
    )
    assert corpus.labels is None
    found = written(corpus, labels=[["B-PER", "O"], ["O"]], scores=[[0.75], []])
    result = {"id": "corate-0", **names, "type": "labels", "score": 0.75}
    value = {"start": 0, "end": 3, "text": "Bob", "labels": ["PER"]}
    assert found == [
        {
            "id": 1,
            "meta": {"a": 1},
            "data": {"text": "Bob sings", "source": "x"},
            "predictions": [{"model_version": "corate", "score": 0.75, "result": [{**result, "value": value}]}],
        },
        {"id": 7, "data": {"text": "Ann"}, "predictions": [{"model_version": "corate", "result": []}]},
    ]


def test_any_corpus_can_be_written() -> None:
    corpus = corate.read(b"Ann S-PER\nLee O\n\nYork E-LOC\n")
    assert [own["data"]["text"] for own in written(corpus)] == ["Ann Lee", "York"]
    assert places(written(corpus)) == [[(0, 3, "PER")], [(0, 4, "LOC")]]
    raw = corate.read(b"Ann,  Lee!\n\nBob\n", format="raw", labelled=False)
    found = written(raw, labels=[["B-PER", "I-PER", "I-PER", "O"], ["O"]])
    assert [own["data"]["text"] for own in found] == ["Ann,  Lee!", "Bob"]
    assert places(found, "predictions") == [[(0, 9, "PER")], []]
    assert written(raw) == [{"data": {"text": "Ann,  Lee!"}}, {"data": {"text": "Bob"}}]
    assert places(written(raw.take([1]), labels=[["B-X"]]), "predictions") == [[(0, 3, "X")]]


@given(
    st.lists(st.lists(st.text(string.printable + "é😀", max_size=4), min_size=1, max_size=5), min_size=1, max_size=3)
)
def test_offsets_of_joined_words_are_right(sentences: list[list[str]]) -> None:
    labels = [["B-X"] * len(own) for own in sentences]
    for own, found in zip(sentences, written(Corpus.from_sentences(sentences, labels)), strict=True):
        text = found["data"]["text"]
        values = [item["value"] for item in found["annotations"][0]["result"]]
        assert [text[value["start"] : value["end"]] for value in values] == own


@pytest.mark.parametrize("offset", [0, 1])
def test_astral_characters_count_once_or_as_two_code_units(offset: int) -> None:
    text = "💩This is an annotation."
    corpus = read(task(text, span(12 + offset, 22 + offset, "X", "annotation")))
    assert [corpus.tokens(0)[s.start] for s in spans(corpus.labels_of(0))] == ["annotation"]
    assert places(written(corpus)) == [[(12 + offset, 22 + offset, "X")]]


def test_without_the_text_of_spans_offsets_are_code_points() -> None:
    corpus = read(task("😀 Ann Lee", span(2, 5, "X")))
    assert corpus.labels_of(0) == ["O", "B-X", "O"]


BAD = [
    (task(TEXT, span(0, 2, "PER", "An")), "task 7: the span 'An' (0 to 2, PER) cuts the token 'Ann'; correct it in"),
    (task(TEXT, span(5, 7, "PER")), "the span 'ee' (5 to 7, PER) cuts the token 'Lee'; correct it in Label Studio, wi"),
    (
        task(TEXT, span(0, 7, "PER"), span(4, 13, "ORG")),
        "the spans 'Ann Lee' (0 to 7, PER) and 'Lee lives' (4 to 13, ORG) overlap, and a token has one label; remove",
    ),
    (task(TEXT, span(0, 3, "PER"), span(0, 3, "ORG")), "overlap"),
    (task(TEXT, span(3, 4, "PER")), "the span ' ' (3 to 4, PER) has no tokens"),
    (task(TEXT, span(20, 99, "PER", "x")), "the span 'x' (20 to 99) is not in the text, which has 26 characters"),
    (task(TEXT, span("0", 3, "PER")), "is not in the text"),
    (task(TEXT, span(0, 3, "PER", "Bob")), "the span 'Bob' (0 to 3) is 'Ann' in the text"),
    (task(TEXT, span(0, 3, ["PER", "ORG"])), "has the labels ['PER', 'ORG'], and must have one"),
    (task("😀 Ann", span(1, 2, "X", "?")), "the span '?' (1 to 2) is ' ' in the text"),
    (task(TEXT, {"type": "hypertextlabels", "value": {}}), "spans of the type 'hypertextlabels' are not offsets in"),
    (task(annotations=[{"result": [span(0, 3, "A")]}, {"result": []}]), "2 annotations differ; mark one of them as gr"),
    (task(annotations=[12]), "the annotations have no results; export the project as JSON"),
    (
        {"id": 7, "text": TEXT, "label": []},
        "the task has no member 'data'; export the project as JSON, not as JSON-MIN",
    ),
    ({"id": 7, "data": {"a": "x", "b": "y"}}, "there is no text 'text' in 'data' (a, b); name the text with columns="),
    (task("\ud800"), "contains half of a surrogate pair"),
    ("x", "task 0: the task has no member 'data'"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_errors_name_the_task_and_the_remedy(bad: Any, message: str) -> None:
    good = task("Bob sings", span(0, 3, "PER"), number=8)
    with pytest.raises(DataError) as caught:
        read(bad, good)
    assert message in str(caught.value)
    with pytest.warns(SkippedWarning, match="skipped 1 malformed record, the first in task [07]"):
        corpus = read(bad, good, skip_bad=True)
    assert corpus.labels_of(len(corpus) - 1) == ["B-PER", "O"]


def test_spans_can_be_widened_to_whole_tokens() -> None:
    corpus = read(task(TEXT, span(1, 5, "PER", "nn L"), span(17, 25, "LOC")), widen_spans=True)
    assert corpus.labels_of(0) == ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"]
    with pytest.raises(DataError, match="overlap"):
        read(task(TEXT, span(0, 2, "PER"), span(2, 7, "ORG")), widen_spans=True)
    with pytest.raises(DataError, match="widen_spans= is for Label Studio"):
        corate.read(b"a B\n", widen_spans=True)


def test_which_annotation_counts() -> None:
    first, second = {"result": [span(0, 3, "A")]}, {"result": [span(4, 7, "B")]}
    truth = read(task(annotations=[first, {**second, "ground_truth": True}]))
    assert truth.labels_of(0)[:2] == ["O", "B-B"]
    cancelled = read(task(annotations=[{**first, "was_cancelled": True}, second]))
    assert cancelled.labels_of(0)[:2] == ["O", "B-B"]
    same = read(task(annotations=[first, first]), task(number=8, annotations=[]), task(number=9, completions=[second]))
    assert [own[:2] for own in (same.labels_of(0), same.labels_of(1))] == [["B-A", "O"], ["O", "O"]]
    with pytest.raises(DataError, match="no task has an annotation; label some tasks"):
        read(task(annotations=[]))


def test_other_results_and_other_texts() -> None:
    choice = {"type": "choices", "value": {"choices": ["spam"]}}
    assert read(task(TEXT, choice, span(0, 3, []))).labels_of(0) == ["O"] * 7
    other = {"id": 1, "data": {"n": 1, "body": "Ann"}, "annotations": [{"result": [span(0, 3, "X")]}]}
    assert read(other).labels_of(0) == ["B-X"]
    assert read({**other, "data": {"text": "Bob sings", "body": "Ann"}}, columns="body").tokens(0) == ["Ann"]
    split = read(task("Ann's", span(0, 3, "X")), tokenize=lambda text: [text[:3], text[3:]])
    assert split.labels_of(0) == ["B-X", "O"]


def test_the_format_is_detected() -> None:
    one_line = json.dumps([task()]).encode()
    for data in (one_line, json.dumps([task()], indent=2).encode(), b'[{"data": {"text": "' + b"x" * 99999 + b'"}}]'):
        assert detect(data, "tasks.json") == detect(data, "tasks.json", kind="words") == "labelstudio"
    assert detect(b'[["Ann", "NAME"]]', "x") == "jsonl"
    assert detect(b'{"tokens": ["a"], "data": ["b"]}', "x") == "jsonl"


def test_labels_that_are_not_spans_are_not_written() -> None:
    corpus = Corpus.from_sentences([[("Ann", "NOUN")]])
    with pytest.raises(DataError, match=r"the labels \(NOUN, ...\) mark no spans"):
        written(corpus)
    with pytest.raises(DataError, match="the labels have no types"):
        written(Corpus.from_sentences([["Ann", "Lee"]]), labels=[["B", "B-X"]])
    with pytest.raises(DataError, match="sentence 0: 1 span, but 2 scores"):
        written(corpus, labels=[["B-X"]], scores=[[0.5, 0.5]])
    with pytest.raises(DataError, match="1 sentence to write, but scores for 0"):
        written(corpus, labels=[["B-X"]], scores=[])
    with pytest.raises(DataError, match="scores= is for Label Studio"):
        corate.write(corpus, io.BytesIO(), scores=[[0.5]])


@pytest.mark.parametrize("data", [b"[{", b"3", b"[1]", b'[{"data": 3}]', b'[{"data": {"text": ""}}]', b"[" * 100000])
@pytest.mark.parametrize("labelled", [True, False])
def test_other_json_is_an_error_that_names_the_file(data: bytes, labelled: bool) -> None:
    with pytest.raises(DataError, match="the given bytes"):
        corate.read(data, format="labelstudio", labelled=labelled)
