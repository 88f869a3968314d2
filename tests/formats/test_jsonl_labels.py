"""JSON lines: labels under their usual names, and integer labels with a list of names."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import DataError
from corate.formats.label_names import label_names_of, names_or_file

NAMES = ["O", "B-PER", "I-PER"]
INTEGERS = b'{"id": "7", "tokens": ["Ann", "Lee", "left"], "ner_tags": [1, 2, 0]}\n'
EXPECTED = ["B-PER", "I-PER", "O"]


@pytest.mark.parametrize("member", ["labels", "tags", "ner_tags", "pos_tags", "label"])
def test_labels_are_found_under_their_usual_names(member):
    corpus = corate.read(f'{{"tokens": ["a", "b"], "{member}": ["X", "Y"]}}'.encode(), format="jsonl")
    assert corpus.labels_of(0) == ["X", "Y"]
    assert [c.name for c in corpus.columns] == ["word"]


def test_the_member_labels_comes_first_and_label_names_another():
    text = b'{"tokens": ["a"], "tags": ["T"], "labels": ["L"], "kind": ["K"]}'
    assert corate.read(text).labels_of(0) == ["L"]
    assert corate.read(text).column("tags").values() == ["T"]
    assert corate.read(text, label="tags").labels_of(0) == ["T"]
    assert corate.read(text, label="kind").labels_of(0) == ["K"]
    assert corate.read(text, columns="word,tags,label").column("tags").values() == ["T"]


def test_several_usual_names_are_ambiguous():
    text = b'{"tokens": ["a"], "pos_tags": [0], "ner_tags": [1], "chunk_tags": [2]}'
    with pytest.raises(
        DataError, match="line 1: the lists ner_tags and pos_tags may be the labels; choose one with label="
    ):
        corate.read(text)
    corpus = corate.read(text, label="ner_tags", label_names=NAMES)
    assert corpus.labels_of(0) == ["B-PER"]
    assert [c.name for c in corpus.columns] == ["word"]
    assert corate.read(text, labelled=False).labels is None


def test_integers_get_the_names_given_or_those_of_the_first_line():
    assert corate.read(INTEGERS, label_names=NAMES).labels_of(0) == EXPECTED
    header = b'{"label_names": ["O", "B-PER", "I-PER"]}\n'
    assert corate.read(header + INTEGERS).labels_of(0) == EXPECTED
    assert corate.read(header + INTEGERS, label_names=["A", "B", "C"]).labels_of(0) == ["B", "C", "A"]
    assert corate.read(b'[["Ann", 1], ["left", 0]]', label_names=NAMES).labels_of(0) == ["B-PER", "O"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (INTEGERS, {}, "line 1: the labels are integers"),
        (INTEGERS, {"label_names": NAMES[:2]}, "line 1: the label 2 has no name: there are 2 names, from 0 to 1"),
        (INTEGERS.replace(b"2", b"-100"), {"label_names": NAMES}, "the label -100 has no name"),
        (INTEGERS, {"label_names": ["O", "O"]}, "contains the name 'O' twice"),
        (INTEGERS, {"label_names": "O"}, "must be a list of names or a file; there is no file 'O'"),
        (INTEGERS, {"label": "tags"}, r"no list 'tags' in the object \(members: id, tokens, ner_tags\)"),
        (
            b'{"label_names": "setup.cfg"}\n' + INTEGERS,
            {},
            "line 1: label_names= must be a list of names, not 'setup.cfg'",
        ),
        (b'{"label_names": 3}\n' + INTEGERS, {}, "line 1: label_names= must be a list of names, not 3"),
        (INTEGERS.replace(b"1,", b"1.5,"), {"label_names": NAMES}, "contains 1.5; values must be strings"),
    ],
)
def test_errors_name_the_line_and_the_remedy(text, options, message):
    with pytest.raises(DataError, match=message):
        corate.read(text, format="jsonl", **options)


def test_names_are_read_from_a_file_or_a_text(tmp_path):
    (tmp_path / "lines.txt").write_text("O\nB-PER\n\nI-PER\n", "utf-8")
    (tmp_path / "list.json").write_text('["O", "B-PER", "I-PER"]', "utf-8")
    (tmp_path / "other.json").write_text('{"O": 1}', "utf-8")
    for text in (str(tmp_path / "lines.txt"), str(tmp_path / "list.json"), "O,B-PER, I-PER"):
        assert label_names_of(names_or_file(text)) == tuple(NAMES)
    with pytest.raises(DataError, match=r"other.json: label_names= has no names of labels \(ClassLabel\); give a list"):
        label_names_of(tmp_path / "other.json")


class ClassLabel:
    names = NAMES


class Sequence:
    feature = ClassLabel()


JSON_FEATURE = {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "Sequence"}
TEXTS = {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"}
OTHER = {"feature": {"names": ["N", "V"], "_type": "ClassLabel"}, "_type": "List"}


@pytest.mark.parametrize(
    "given",
    [
        {"tokens": object(), "ner_tags": Sequence()},
        {"features": {"tokens": TEXTS, "ner_tags": JSON_FEATURE, "pos_tags": OTHER}},
        {"default": {"features": {"tokens": TEXTS, "ner_tags": JSON_FEATURE}}},
        {"0": "O", "1": "B-PER", "2": "I-PER"},
        {"id2label": {0: "O", 2: "I-PER", 1: "B-PER"}, "label2id": {}},
    ],
)
def test_names_are_found_in_the_features_of_a_dataset(given):
    assert corate.read(INTEGERS, label="ner_tags", label_names=given).labels_of(0) == EXPECTED


def test_names_of_several_lists_of_labels_need_a_choice(tmp_path):
    info = {"features": {"ner_tags": JSON_FEATURE, "pos_tags": OTHER}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(info), "utf-8")
    assert label_names_of(tmp_path / "dataset_info.json", "pos_tags") == ("N", "V")
    with pytest.raises(DataError, match="names of the labels ner_tags, pos_tags; choose one with label="):
        label_names_of(tmp_path / "dataset_info.json")
    (tmp_path / "deep.json").write_text("[" * 100000, "utf-8")
    with pytest.raises(DataError, match=r"deep\.json: the JSON is nested too deeply"):
        label_names_of(tmp_path / "deep.json")
    with pytest.raises(DataError, match="no name for the label 1; name all from 0 to 2"):
        label_names_of({"0": "O", "2": "B"})


some_labels = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)
odd_texts = st.text(max_size=3).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


@given(st.lists(some_labels, min_size=1, max_size=4), st.data())
def test_integer_labels_are_read_as_they_were_written(labels, data):
    words = [[data.draw(odd_texts) for _ in own] for own in labels]
    file = io.BytesIO()
    options = {"label": "ner_tags", "label_names": NAMES, "format": "jsonl"}
    corate.write(corate.Corpus.from_sentences(words, labels), file, **options)
    rows = [json.loads(line) for line in file.getvalue().split(b"\n")[:-1]]
    assert rows == [
        {"tokens": w, "ner_tags": [NAMES.index(y) for y in own]} for w, own in zip(words, labels, strict=True)
    ]
    again = corate.read(file.getvalue(), **options)
    assert [again.tokens(s) for s in range(len(again))] == words
    assert [again.labels_of(s) for s in range(len(again))] == labels


def test_labels_without_an_integer_are_not_written():
    corpus = corate.Corpus.from_sentences([["a"]], [["X"]])
    with pytest.raises(DataError, match=r"the label 'X' is not among label_names= \(O, B-PER, I-PER\)"):
        corate.write(corpus, io.BytesIO(), format="jsonl", label_names=NAMES)
    with pytest.raises(DataError, match="label_names= is for JSON lines"):
        corate.write(corpus, io.BytesIO(), label_names=NAMES)
    with pytest.raises(DataError, match="rename them"):
        corate.write(corpus, io.BytesIO(), format="jsonl", label="tokens")
