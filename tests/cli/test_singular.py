"""Counts of one are in the singular: what commands print about one token, one label and one sentence."""

import re

import pytest

import corate as corate_package

#: A count of one with a noun in the plural; "1 is" and "1 has" are verbs.
_WRONG = re.compile(r"(?<![\d.,])1 (?!is\b|has\b|was\b)(?:[a-z]+ )?[a-z]{2,}s\b")


@pytest.fixture(name="one_token")
def _one_token(tmp_path):
    path = tmp_path / "one.tsv"
    path.write_text("a\tX\n")
    return path


@pytest.fixture(name="one_model")
def _one_model(tmp_path, one_token, corate):
    path = tmp_path / "one.corate"
    assert corate("train", one_token, "-o", path, "--method", "empirical", "--quiet").code == 0
    return path


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("train {text} -o {out} --method empirical", "1 sentence, 1 token, 1 label, "),
        ("update {model} {text} -o {out}", "1 sentence, 1 token and 0 labels more, 2 tokens in all"),
        ("info {model}", "1 sentence, 1 token"),
        ("eval {model} {text}", "accuracy"),
        ("explain {model} --file {text}", "X"),
        ("inspect {model} {text} -o {out}.html", "1 sentence"),
        ("classes {text} -o {out}", "1 different word, too few for 256 classes"),
        ("tag {model} {new} --format columns --columns _,word", "line 1: 1 column, but the model reads column 2"),
        ("explain {model} --file {text} --sentence 2", "1 sentence; there is no sentence 2"),
        ("compare {text} --folds 2 --methods empirical", "1 sentence cannot be divided into 2 folds"),
    ],
)
def test_commands_count_one_thing_in_the_singular(command, shown, one_token, one_model, tmp_path, corate):
    (tmp_path / "new.txt").write_text("a\n")
    names = {"text": one_token, "new": tmp_path / "new.txt", "model": one_model, "out": tmp_path / "out"}
    result = corate(*command.format(**names).split())
    printed = result.text + result.err
    assert shown in printed
    assert _WRONG.search(printed) is None, printed


def test_reprs_count_one_thing_in_the_singular(one_token, one_model):
    corpus, tagger = corate_package.read(one_token), corate_package.load(one_model)
    assert repr(corpus) == "Corpus(1 sentence, 1 token, columns: word, 1 label)"
    assert repr(tagger) == "Tagger(empirical, 1 label, 1 word, trained on 1 sentence)"
    assert "1 token, 1 sentence" in repr(corate_package.evaluate(tagger, corpus))
    with pytest.raises(corate_package.DataError, match="1 token but 2 labels"):
        corate_package.Corpus.from_sentences([["a"]], [["X", "Y"]])
