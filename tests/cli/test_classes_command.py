"""corate classes, and raw text in corate train."""

import json

import pytest

from corate.features.lexicons import read_word_classes


@pytest.fixture
def raw(data, tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("".join((data / "new.txt").read_text("utf-8").splitlines(keepends=True)), "utf-8")
    return path


def test_classes_are_written_for_templates(corate, data, raw, tmp_path):
    out = tmp_path / "classes.tsv"
    result = corate("classes", raw, data / "train.tsv", "-o", out, "--classes", 20)
    assert (result.code, result.err) == (0, "")
    assert result.text.startswith(f"{out}: ")
    assert "in 20 classes" in result.text
    assert len(read_word_classes(out).classes) == 20
    templates = f"word[0]; map(word[0], {out}, lower)"
    assert corate("train", data / "train.tsv", "-o", tmp_path / "m", "--features", templates, "-q").code == 0


def test_classes_are_the_same_on_any_number_of_threads(corate, data, tmp_path):
    in_words = []
    for threads in (1, 2):
        args = ("-o", tmp_path / f"{threads}", "--classes", 16, "--threads", threads, "--json")
        in_words.append(json.loads(corate("classes", data / "train.tsv", *args).text))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert {k: in_words[0][k] for k in ("sentences", "classes")} == {"sentences": 300, "classes": [16]}


def test_standard_input_and_output(corate):
    result = corate("classes", "-", "-o", "-", "--classes", 2, stdin=b"The cat\nA dog\nthe dog\n")
    assert (result.code, result.err) == (0, "")
    assert {line.split("\t")[0] for line in result.text.splitlines()} == {"the", "a", "cat", "dog"}


def test_errors_say_what_to_do(corate, raw, tmp_path):
    (tmp_path / "empty").write_text("")
    assert "empty is empty" in corate("classes", tmp_path / "empty", "-o", tmp_path / "c").err
    few = corate("classes", "-", "-o", tmp_path / "c", stdin=b"one two three\n")
    assert (few.code, few.out) == (1, b"")
    assert "3 different words, too few for 256 classes" in few.err
    assert not (tmp_path / "c").exists()
    assert corate("classes", raw, "-o", raw).code == 2


def test_raw_text_gives_a_model_features_and_is_told_of(corate, data, raw, tmp_path):
    model = tmp_path / "m"
    args = ("train", data / "train.tsv", "-o", model, "--raw", raw, "--raw", data / "test.tsv", "--raw-classes", 8)
    result = corate(*args)
    assert (result.code, result.err) == (0, "")
    assert "word classes: sentences" in result.text
    info = json.loads(corate("info", model, "--json").text)
    assert "map(word[-1], classes-8, lower)" in info["templates"]
    assert info["record"]["raw"]["classes"] == [8]
    raw.unlink()
    assert corate("eval", model, data / "test.tsv").code == 0


def test_raw_options_that_do_not_fit_are_wrong_usage(corate, data, model, raw, tmp_path):
    alone = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--raw-classes", 8)
    assert alone.code == 2
    further = corate("train", data / "train.tsv", "-o", tmp_path / "m", "--init", model, "--raw", raw)
    assert further.code == 2
    assert corate("train", data / "train.tsv", "-o", raw, "--raw", raw).code == 2
