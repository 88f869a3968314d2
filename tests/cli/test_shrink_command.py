"""A smaller model without training again: its size and its accuracy, before and after."""

import json

import pytest


def shrink(corate, model, output, *args):
    result = corate("shrink", model, "-o", output, "--json", *args)
    assert (result.code, result.err) == (0, "")
    return json.loads(result.text)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, data):
    from command_line import run

    path = tmp_path_factory.mktemp("fitted") / "fitted.corate"
    assert run("train", data / "train.tsv", "-o", path, "--passes", "2", "--quiet").code == 0
    return path


def test_half_precision_and_no_counts_are_the_default(corate, model, data, tmp_path):
    found = shrink(corate, model, tmp_path / "small")
    assert found["bytes_before"] == model.stat().st_size > found["bytes"] == (tmp_path / "small").stat().st_size
    assert found["weights"] == found["weights_before"]
    corate("shrink", model, "-o", tmp_path / "same", "--half", "--no-counts")
    assert (tmp_path / "same").read_bytes() == (tmp_path / "small").read_bytes()
    labels = [corate("tag", path, data / "new.txt").out for path in (model, tmp_path / "small")]
    assert labels[0] == labels[1]
    assert corate("update", tmp_path / "small", data / "test.tsv").code == 1


def test_small_weights_are_dropped_and_both_accuracies_are_told(corate, fitted, data, tmp_path):
    found = shrink(corate, fitted, tmp_path / "small", "--drop-below", "0.2", "--test", data / "test.tsv")
    assert found["weights"] < found["weights_before"]
    assert found["bytes"] < found["bytes_before"]
    for path, scores in ((fitted, found["test_before"]), (tmp_path / "small", found["test"])):
        measured = json.loads(corate("eval", path, data / "test.tsv", "--json").text)
        assert measured["accuracy"] == scores["accuracy"]
    shown = corate("shrink", fitted, "-o", tmp_path / "s", "--drop-below", "0.2", "--test", data / "test.tsv").text
    assert f"weights: {found['weights']:,} of {found['weights_before']:,}\n" in shown
    assert "test before: accuracy" in shown
    assert "test after:  accuracy" in shown
    assert json.loads(corate("info", tmp_path / "s", "--json").text)["record"]["shrunk"] == {"drop_below": 0.2}


def test_rare_pairs_are_dropped_as_when_training(corate, model, data, tmp_path):
    shrink(corate, model, tmp_path / "small", "--drop-rare", "3", "--no-counts")
    command = ["train", data / "train.tsv", "-o", tmp_path / "m", "--method", "empirical"]
    assert corate(*command, "--drop-rare", "3", "--no-counts", "-q").code == 0
    sizes = [json.loads(corate("info", tmp_path / name, "--json").text)["bytes"] for name in ("small", "m")]
    assert abs(sizes[0] - sizes[1]) < 100  # but for the note of what was dropped


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--drop-rare", "2"], "use --drop-below, or train with --cutoff 2"),
        (["-o", "x.crfsuite"], "another suffix"),
        (["--drop-below", "-1"], "--drop-below"),
    ],
)
def test_what_cannot_be_dropped_is_wrong_usage(corate, fitted, tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    result = corate("shrink", fitted, "-o", "small", *args)
    assert (result.code, result.out) == (2, b"")
    assert said in " ".join(result.err.split())
    assert list(tmp_path.iterdir()) == []


def test_the_model_itself_is_not_overwritten(corate, fitted):
    before = fitted.read_bytes()
    assert corate("shrink", fitted, "-o", fitted).code == 2
    assert fitted.read_bytes() == before


def test_quiet_prints_nothing(corate, model, tmp_path):
    result = corate("shrink", model, "-o", tmp_path / "small", "--quiet")
    assert (result.code, result.out, result.err) == (0, b"", "")


def test_a_model_in_16_bits_stays_in_16_bits(corate, data, tmp_path):
    model, small = tmp_path / "m.corate", tmp_path / "small.corate"
    assert corate("train", data / "test.tsv", "-o", model, "--half", "--quiet").code == 0
    assert corate("shrink", model, "-o", small, "--drop-below", 0.01).code == 0
    assert small.stat().st_size < model.stat().st_size
