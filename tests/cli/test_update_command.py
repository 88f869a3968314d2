"""corate update: a model that learns more is the model of all the text, and is replaced whole or not at all."""

import json
import shutil

import pytest


@pytest.fixture
def halves(data, tmp_path):
    """The training text in two parts."""
    sentences = (data / "train.tsv").read_text("utf-8").strip("\n").split("\n\n")
    for name, part in (("a.tsv", sentences[:150]), ("b.tsv", sentences[150:])):
        (tmp_path / name).write_text("\n\n".join(part) + "\n\n", "utf-8")
    return tmp_path


def test_two_halves_one_after_the_other_teach_what_the_whole_teaches(corate, data, model, halves):
    assert corate("train", halves / "a.tsv", "-o", halves / "m", "--method", "empirical", "-q").code == 0
    before = json.loads(corate("eval", halves / "m", data / "test.tsv", "--json").text)
    result = corate("update", halves / "m", halves / "b.tsv", "--json")
    assert (result.code, result.err) == (0, "")
    in_words = json.loads(result.text)
    whole = json.loads(corate("info", model, "--json").text)["record"]
    assert [in_words[key] for key in ("sentences", "tokens", "labels")] == [
        whole[key] for key in ("sentences", "tokens", "labels")
    ]
    assert in_words["added"]["sentences"] == 150
    assert in_words["updates"] == 1
    assert in_words["bytes"] == (halves / "m").stat().st_size
    after = json.loads(corate("eval", halves / "m", data / "test.tsv", "--json").text)
    assert after["accuracy"] > before["accuracy"]


def test_another_file_leaves_the_model_as_it_was(corate, model, halves):
    old = model.read_bytes()
    result = corate("update", model, halves / "b.tsv", "-o", halves / "m2")
    assert (result.code, result.err) == (0, "")
    assert "150 sentences" in result.text
    assert model.read_bytes() == old
    assert corate("info", halves / "m2").code == 0


def test_new_words_and_labels_are_learned(corate, model, tmp_path):
    text = b"Xanadu\tB-PLANET\nQuux\tI-PLANET\n\n" * 3
    assert corate("update", model, "-", "-o", tmp_path / "m", "-q", "-f", "columns", stdin=text).code == 0
    assert (
        corate("tag", tmp_path / "m", "-f", "columns", stdin=b"Xanadu\nQuux\n").text
        == "Xanadu\tB-PLANET\nQuux\tI-PLANET\n"
    )


def test_a_model_without_counts_says_why_it_cannot_learn(corate, data, halves):
    options = ["--method", "empirical", "--no-counts", "-q"]
    assert corate("train", halves / "a.tsv", "-o", halves / "m", *options).code == 0
    old = (halves / "m").read_bytes()
    result = corate("update", halves / "m", halves / "b.tsv")
    assert result.code == 1
    assert "without its counts" in result.err
    assert (halves / "m").read_bytes() == old


@pytest.mark.parametrize(("text", "said"), [(b"", "empty"), (b"Ann\nLee\n\n", "labels"), (b"Ann\tX\nLee\n", "line 2")])
def test_text_that_cannot_be_learned_leaves_the_model(corate, model, tmp_path, text, said):
    shutil.copy(model, tmp_path / "m")
    result = corate("update", tmp_path / "m", "-", "-f", "columns", stdin=text)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert said in result.err
    assert (tmp_path / "m").read_bytes() == model.read_bytes()


def test_the_text_is_never_overwritten(corate, model, halves):
    result = corate("update", model, halves / "b.tsv", "-o", halves / "b.tsv")
    assert result.code == 2
    assert "text file itself" in result.err
    result = corate("update", halves / "missing", halves / "b.tsv")
    assert result.code == 1
    assert "missing" in result.err
