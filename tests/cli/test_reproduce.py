"""``corate reproduce``: what it measures, says and writes, with data and without."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("corate_reproduction")

from corate.cli.exits import MISSING
from corate_reproduction import corpora, experiments, label_bias, running
from small_cells import splits

FIELDS = [
    "experiment",
    "split",
    "method",
    "accuracy",
    "accuracy_known",
    "accuracy_oov",
    "f1",
    "seconds",
    "estimated",
    "paper_accuracy",
    "paper_seconds",
]
TIMES = ("seconds", "seconds_per_iteration")


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Few sentences and rounds, a folder of its own, and no corpora but those a test makes."""
    monkeypatch.setattr(label_bias, "TRAIN", 60)
    monkeypatch.setattr(label_bias, "TEST", 20)
    monkeypatch.setattr(label_bias, "MORE", 1)
    monkeypatch.setattr(experiments, "ROUNDS", 2)
    monkeypatch.setattr(experiments, "OTHER_ROUNDS", 1)
    for name in ("CORATE_DATA", "NLTK_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def brown(monkeypatch):
    """A tiny corpus in place of Brown; the others are missing."""
    tiny = splits()

    def build(corpus, places):
        if not corpus.startswith("brown"):
            raise corpora.CorporaMissingError(corpus, places)
        made = {f"{corpus}.held-out": tiny["tiny.test"]}
        for split in corpora.BROWN_SPLITS:
            made |= {f"{corpus}-{split}.train": tiny["tiny.train"], f"{corpus}-{split}.test": tiny["tiny.test"]}
        return made

    monkeypatch.setattr(corpora, "build", build)


def cells(result, code=0):
    assert result.code == code, result.err
    return json.loads(result.text)


def scores(records):
    return [{key: value for key, value in one.items() if key not in TIMES} for one in records]


def test_the_label_bias_needs_no_data(corate, tmp_path):
    result = corate("reproduce", "label-bias", "--methods", "empirical,memm")
    assert (result.code, result.err) == (0, "")
    assert re.search(r"label-bias mean of 2 rounds +empirical ", result.text)
    assert (tmp_path / "reproduced" / "report.html").is_file()
    assert (tmp_path / "reproduced" / "report.md").is_file()


def test_a_resumed_run_says_where_it_resumes(corate, tmp_path):
    first = corate("reproduce", "label-bias", "--methods", "memm", "--json")
    stored = len(json.loads(first.text))
    assert first.err == ""
    found = sorted((tmp_path / "reproduced" / "cells").iterdir())
    assert len(found) == stored > 1
    found[-1].unlink()
    again = corate("reproduce", "label-bias", "--methods", "memm", "--json")
    assert re.fullmatch(rf"corate: resumed at cell \d+ of {stored}\n", again.err)
    assert scores(json.loads(again.text)) == scores(json.loads(first.text))
    whole = corate("reproduce", "label-bias", "--methods", "memm")
    assert whole.err == f"corate: measured before: {stored} cells, nothing is left; --fresh measures again\n"
    assert corate("reproduce", "label-bias", "--methods", "memm", "--quiet").err == ""


def test_json_is_an_array_of_cells_with_the_papers_figures(corate):
    found = cells(corate("reproduce", "label-bias", "--json", "--methods", "empirical,memm"))
    rounds = [one for one in found if one["experiment"] == "label-bias"]
    assert [(one["split"], one["method"]) for one in rounds] == [
        (f"round {i}", method) for i in (0, 1) for method in ("empirical", "memm")
    ]
    priors = ("c2 = 1", "c2 = 0.1", "c2 = 0.01", "c2 = 0.001")
    others = {one["split"] for one in found if one["experiment"] == "memm-priors"}
    assert others == {f"round {i}, {prior}" for i in (0, 1) for prior in priors}
    others = {(one["split"], one["method"]) for one in found if one["experiment"] == "label-bias-others"}
    assert others == {
        (f"{name}, {prior}, round 0", method)
        for name in label_bias.OTHERS
        for method, chosen in (("memm", priors), ("empirical", ("default",)))
        for prior in chosen
    }
    for one in rounds:
        assert list(one)[: len(FIELDS) - 2] == FIELDS[:-2]
        assert set(FIELDS) <= set(one)
        assert 0 <= one["accuracy"] <= 1
        assert one["estimated"] is False
        assert one["seconds"] > 0
        assert one["paper_accuracy"] == {"empirical": 0.958, "memm": 0.666}[one["method"]]


def test_the_same_command_again_gives_the_same_and_another_seed_another_sample(corate):
    command = ("reproduce", "label-bias", "--json", "--methods", "empirical,separate")
    first = cells(corate(*command))
    assert cells(corate(*command)) == first  # kept
    again = cells(corate(*command, "--fresh"))
    assert scores(again) == scores(first)
    elsewhere = cells(corate(*command, "-o", "other"))
    assert scores(elsewhere) == scores(first)
    assert scores(cells(corate(*command, "--seed", "7"))) != scores(first)


def test_without_data_it_says_how_to_get_it_and_runs_what_needs_none(corate):
    result = corate("reproduce", "all", "--methods", "empirical", "--data", "nowhere")
    assert result.code == MISSING == 3
    assert "label-bias mean of 2 rounds" in result.text
    for corpus in ("brown", "conll2000", "conll2002"):
        assert f"nltk.downloader {corpus}" in result.err
    assert "nowhere" in result.err
    assert "Traceback" not in result.err


def test_an_experiment_whose_corpus_is_missing_runs_nothing(corate, tmp_path):
    result = corate("reproduce", "ner", "--data", tmp_path)
    assert (result.code, result.text) == (MISSING, "")
    assert "the corpus ned was not found in" in result.err
    assert not (tmp_path / "reproduced").exists()


def test_a_damaged_archive_is_an_error_of_one_line(corate, tmp_path):
    (tmp_path / "conll2000.zip").write_bytes(b"no zip")
    result = corate("reproduce", "chunking", "--data", tmp_path)
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "conll2000.zip" in result.err


@pytest.mark.usefixtures("brown")
def test_methods_share_splits_and_features_and_the_slow_ones_are_stopped(corate):
    found = cells(
        corate("reproduce", "pos", "--quick", "--json", "--methods", "empirical,standard", "--budget", "1e-3")
    )
    assert [(one["experiment"], one["split"], one["method"]) for one in found] == [
        ("pos", "1000-4000", "empirical"),
        ("pos", "1000-4000", "standard"),
    ]
    assert found[1]["estimated"]
    assert found[1]["accuracy"] is None
    assert found[1]["paper_accuracy"] == 0.768
    assert found[1]["paper_seconds"] == 6180.3


@pytest.mark.usefixtures("brown")
def test_peers_stand_beside_our_own(corate):
    pytest.importorskip("pycrfsuite")
    found = cells(corate("reproduce", "pos", "--quick", "--json", "--peers", "--methods", "standard"))
    by_method = {one["method"]: one for one in found}
    assert {"standard", "crfsuite-lbfgs", "crfsuite-ap"} <= set(by_method)
    ours, theirs = by_method["standard"], by_method["crfsuite-lbfgs"]
    assert theirs["accuracy"] == pytest.approx(ours["accuracy"], abs=0.02)  # one objective, but for boundaries
    assert theirs["iterations"] >= 1
    assert theirs["paper_accuracy"] is None


@pytest.mark.usefixtures("brown")
def test_the_report_shows_earlier_runs_of_the_same_folder(corate, tmp_path):
    assert corate("reproduce", "label-bias", "--methods", "empirical", "--quiet").code == 0
    assert corate("reproduce", "pos", "--quick", "--methods", "empirical", "--quiet").code == 0
    report = (tmp_path / "reproduced" / "report.md").read_text("utf-8")
    assert "## Label bias" in report
    assert "## Part-of-speech tagging" in report


@pytest.mark.usefixtures("brown")
def test_both_orders_of_brown_stand_side_by_side_each_with_its_own_prior(corate, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_SHORT", ("priors", "pos"))  # one process for all cells
    found = cells(corate("reproduce", "pos", "--json", "--methods", "sp2", "--split", "both"))
    measured = [one for one in found if one["experiment"] == "pos"]
    shuffled = [f"{split} shuffled" for split in corpora.BROWN_SPLITS]
    assert [one["split"] for one in measured] == [*corpora.BROWN_SPLITS, *shuffled]
    assert [one["split"] for one in measured if one["paper_accuracy"] is None] == shuffled
    for corpus, splits_of in (("brown-file", corpora.BROWN_SPLITS), ("brown", shuffled)):
        tried = {one["options"]["sigma2"]: one["accuracy"] for one in found if one["split"].startswith(f"{corpus}, c2")}
        assert list(tried) == [0.5, 5.0, 50.0, 500.0]
        used = {one["options"]["sigma2"] for one in measured if one["split"] in splits_of}
        assert [tried[sigma2] for sigma2 in used] == [max(tried.values())]
    in_file_order = cells(corate("reproduce", "pos", "--json", "--methods", "sp2"))
    assert in_file_order == [one for one in found if "shuffled" not in one["split"] and "brown," not in one["split"]]
    report = (tmp_path / "reproduced" / "report.md").read_text("utf-8")
    for heading in ("Which sentences did the paper split?", "Shuffled sentences"):
        assert f"### {heading}" in report


@pytest.mark.parametrize(
    "arguments",
    [
        ("label-bias", "--split", "sideways"),
        ("everything",),
        ("label-bias", "--methods", "magic"),
        ("label-bias", "--budget", "0"),
        ("label-bias", "--threads", "0"),
    ],
)
def test_wrong_usage_is_told(corate, arguments):
    result = corate("reproduce", *arguments)
    assert result.code == 2
    assert result.err


def test_help_names_experiments_and_how_to_get_the_data(corate):
    text = corate("reproduce", "--help").text
    for name in (*experiments.EXPERIMENTS, "nltk.downloader", "--peers", "--budget"):
        assert name in text


def test_without_any_peer_it_says_how_to_get_one(corate, monkeypatch):
    from corate_reproduction import peers

    monkeypatch.setattr(peers, "installed", list)
    result = corate("reproduce", "label-bias", "--peers", "--methods", "empirical")
    assert result.code == 0
    assert "corate: warning: no peer is installed" in result.err
