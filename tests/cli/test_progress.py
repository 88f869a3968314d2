"""Long commands say what they do: lines on standard error where that is no terminal, none with --quiet."""

import json
import re

import pytest


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "weather.csv"
    path.write_text("sky,ground\n" + "sun,dry\nrain,wet\nrain,wet\nsun,wet\n" * 5)
    return path


def commands(data, model, table, folder):
    """Commands that may take long, and a stage that each of them names."""
    train, test, new = data / "train.tsv", data / "test.tsv", data / "new.txt"
    return {
        "tag": (["tag", model, test, "-o", folder / "tagged"], "tagging"),
        "eval": (["eval", model, test, "--calibration", "--json"], "reading"),
        "compare": (["compare", train, "--test", test, "--methods", "empirical", "--json"], "reading"),
        "update": (["update", model, test, "-o", folder / "m", "--json"], "reading"),
        "classes": (["classes", new, "-o", folder / "classes", "-c", "4", "--json"], "reading"),
        "inspect": (["inspect", model, test, "-o", folder / "page.html"], "reading"),
        "active": (["active", model, new, "-n", "3", "-o", folder / "chosen"], "reading"),
        "graph fit": (["graph", "fit", table, "sky-ground", "-o", folder / "g", "--json"], "reading"),
        "graph learn": (["graph", "learn", table, "--json"], "reading"),
        "graph query": (["graph", "query", folder / "g", table, "-o", folder / "answers"], "reading"),
        "graph sample": (["graph", "sample", folder / "g", "-o", folder / "rows"], "sampling"),
    }


NAMES = ["tag", "eval", "compare", "update", "classes", "inspect", "active"]
NAMES += ["graph fit", "graph learn", "graph query", "graph sample"]


@pytest.mark.parametrize("name", NAMES)
def test_a_log_follows_the_command_and_standard_output_stays_clean(corate, data, model, table, tmp_path, name):
    every = commands(data, model, table, tmp_path)
    assert list(every) == NAMES
    if name in ("graph query", "graph sample"):
        assert corate(*every["graph fit"][0]).code == 0
    command, stage = every[name]
    silent, in_words, quiet = (
        corate(*command),
        corate(*command, progress=True),
        corate(*command, "--quiet", progress=True),
    )
    assert (silent.code, in_words.code, quiet.code) == (0, 0, 0)
    assert silent.err == quiet.err == ""
    assert in_words.err.startswith(f"corate: {stage}")
    assert all(re.fullmatch(r"corate: .+ \(\d+ s(, .+ left)?\)", line) for line in in_words.err.splitlines())
    if "--json" in command:
        assert json.loads(in_words.text).keys() == json.loads(silent.text).keys()
    else:
        assert in_words.out == silent.out


def test_large_text_is_tagged_in_pieces_with_the_same_scores(corate, data, model, monkeypatch):
    from corate.cli import evaluate

    whole = json.loads(corate("eval", model, data / "test.tsv", "--json").text)
    monkeypatch.setattr(evaluate, "_TOKENS_AT_ONCE", 1)
    pieces = json.loads(corate("eval", model, data / "test.tsv", "--json").text)
    for scores in (whole, pieces):
        del scores["seconds"], scores["tokens_per_second"]
    assert pieces == whole
