"""JSON lines: labels under their usual names, and integer labels with a list of names."""

import pytest

import corate
from corate import DataError
from corate.formats.jsonl import names_in

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
        (INTEGERS, {"label_names": "O"}, "must be a list of names, not 'O'"),
        (INTEGERS, {"label": "tags"}, r"no list 'tags' in the object \(members: id, tokens, ner_tags\)"),
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
    assert names_in(str(tmp_path / "lines.txt")) == names_in(str(tmp_path / "list.json")) == names_in("O,B-PER, I-PER")
    with pytest.raises(DataError, match="must be a JSON list or one name per line"):
        names_in(str(tmp_path / "other.json"))
