"""corate convert: models between corate's and CRFsuite's files, and a reason where that cannot be."""

import json

import pycrfsuite
import pytest

import corate as library

ITEMS = "X\tw=a\tbias\nY\tw=b\tbias\n\nY\tw=b\tbias\nX\tw=a\tbias\nX\tw=c\tbias\n\n"
SENTENCES = [[["w=a", "bias"], ["w=b", "bias"]], [["w=c", "bias"]]]


@pytest.fixture
def crfsuite_model(tmp_path):
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in ITEMS.strip().split("\n\n"):
        rows = [row.split("\t") for row in sentence.split("\n")]
        trainer.append([row[1:] for row in rows], [row[0] for row in rows])
    trainer.train(str(tmp_path / "first.crfsuite"))
    return tmp_path / "first.crfsuite"


def tags(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return [tagger.tag(items) for items in SENTENCES]


def test_there_and_back_again(corate, crfsuite_model, tmp_path):
    result = corate("convert", crfsuite_model, tmp_path / "m.corate")
    assert (result.code, result.err) == (0, "")
    assert result.text.startswith(f"{tmp_path / 'm.corate'}: corate, 2 labels, 4 features, ")
    assert library.load(tmp_path / "m.corate").tag_all(SENTENCES) == tags(crfsuite_model)
    result = corate("convert", tmp_path / "m.corate", tmp_path / "m", "--to", "crfsuite", "--json")
    facts = json.loads(result.text)
    assert facts == {
        "model": str(tmp_path / "m"),
        "format": "crfsuite",
        "bytes": (tmp_path / "m").stat().st_size,
        "labels": 2,
        "features": 4,
    }
    assert tags(tmp_path / "m") == tags(crfsuite_model)


def test_other_commands_take_a_crfsuite_model_as_it_is(corate, crfsuite_model, tmp_path):
    tagged = corate("tag", crfsuite_model, "-f", "items", stdin=ITEMS.encode())
    assert (tagged.code, tagged.err) == (0, "")
    evaluated = corate("eval", crfsuite_model, "-", "-f", "items", "--json", stdin=ITEMS.encode())
    assert json.loads(evaluated.text)["accuracy"] == 1
    rates = corate("rates", crfsuite_model, "--json")
    assert {pair["left"] for pair in json.loads(rates.text)["attractive"]} <= {"X", "Y"}
    wrong = corate("eval", crfsuite_model, crfsuite_model)
    assert f"{crfsuite_model} is a CRFsuite model, not text" in wrong.err
    info = corate("info", crfsuite_model, "--weights")
    assert "w=b" in info.text
    assert "sentences" not in info.text  # the file does not say how many
    (tmp_path / "more.items").write_text(ITEMS * 3)
    further = corate("train", tmp_path / "more.items", "--method", "standard", "--init", crfsuite_model, "-o",
                     tmp_path / "further.corate", "-q")  # fmt: skip
    assert (further.code, further.err) == (0, "")


def test_a_trained_model_goes_to_crfsuite(corate, tmp_path):
    (tmp_path / "train.items").write_text(ITEMS * 3)
    options = ["--method", "standard", "-o", tmp_path / "m.corate", "-q"]
    assert corate("train", tmp_path / "train.items", *options).code == 0
    result = corate("convert", tmp_path / "m.corate", tmp_path / "m.crfsuite")
    assert result.code == 1
    assert "the start and the end of a sentence; train it with --no-boundaries" in result.err
    assert corate("train", tmp_path / "train.items", *options, "--no-boundaries").code == 0
    result = corate("convert", tmp_path / "m.corate", tmp_path / "m.crfsuite")
    assert result.code == 1
    assert "name a feature that every token has with --bias" in result.err
    result = corate("convert", tmp_path / "m.corate", tmp_path / "m.crfsuite", "--bias", "bias", "--quiet")
    assert (result.code, result.text, result.err) == (0, "", "")
    assert tags(tmp_path / "m.crfsuite") == library.load(tmp_path / "m.corate").tag_all(SENTENCES)


def test_wrong_usage(corate, crfsuite_model, tmp_path):
    assert corate("convert", crfsuite_model, crfsuite_model).code == 2
    assert corate("convert", crfsuite_model, tmp_path / "m", "--to", "pickle").code == 2
    result = corate("convert", crfsuite_model, tmp_path / "m.crfsuite", "--half")
    assert result.code == 1
    assert "64 bits; omit --half" in result.err
    assert corate("convert", tmp_path / "missing", tmp_path / "m").code == 1
    assert corate("convert", crfsuite_model, tmp_path / "no" / "such" / "folder").code == 1
    (tmp_path / "train.items").write_text(ITEMS)
    result = corate("train", tmp_path / "train.items", "-o", tmp_path / "m.crfsuite")
    assert result.code == 2
    assert "corate convert" in " ".join(result.err.split())
    assert not (tmp_path / "m.crfsuite").exists()
