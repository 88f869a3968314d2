"""The splits of the battery, what CRFsuite is given, and what the table says."""

from __future__ import annotations

import json
import random
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import corate  # noqa: E402
from benchmarks import battery, battery_sets, battery_side, corpora, measure, peers, tables  # noqa: E402

TEXT: list[corpora.Sentence] = [
    [("Den", "N", "B-NP"), ("a:b\\c", "N", "I-NP"), ("in", "P", "O")],
    [("In", "P", "O"), ("1998", "C", "B-NP")],
]


def made_row(name: str, mine: dict[str, Any], peers: dict[str, dict[str, Any]], **more: Any) -> battery.Row:
    values = {
        "accuracy": 0.9,
        "accuracy_oov": 0.5,
        "f1": None,
        "seconds": 1.0,
        "cpu": 1.0,
        "tokens_per_second": 10.0,
        "bytes": 1e6,
    }
    return {
        "set": name,
        "started": "now",
        "tokens": 1000,
        "labels": 3,
        "test_tokens": 100,
        "oov_tokens": 100,
        "ours": values | {"seeds": 1} | mine,
        "peers": {
            key: {"started": "now"} | (given if "over" in given else values | given) for key, given in peers.items()
        },
    } | more


@pytest.mark.parametrize(
    ("tag", "cut"),
    [("nn-tl", "nn"), ("ppss+bem", "ppss"), ("md*", "md"), ("*", "*"), ("--", "-"), ("*-hl", "*"), ("np$-tl", "np$")],
)
def test_tags_are_cut_after_their_first_character(tag: str, cut: str) -> None:
    assert corpora.cut_tag(tag) == cut


@pytest.mark.parametrize("n", [1, 9, 10, 25])
def test_the_held_out_part_is_the_last_tenth_and_in_order(n: int) -> None:
    sentences: list[corpora.Sentence] = [[(str(i), "X")] for i in range(n)]
    train, test = corpora.held_out(sentences)
    assert train + test == sentences
    assert len(train) == int(0.9 * n)


def test_a_treebank_is_read_with_both_kinds_of_labels(tmp_path: Path) -> None:
    rest, empty = "\t0\troot\t_\t_\n", "\t_" * 8
    rows = f"# text = don't\n1-2\tdon't{empty}\n1\tdo\tdo\tAUX\t_\tMood=Ind{rest}2\tn't\tnot\tPART\t_\t_{rest}\n"
    with zipfile.ZipFile(tmp_path / "ud-small.zip", "w") as packed:
        for part in ("dev", "test"):
            packed.writestr(f"xx-ud-{part}.conllu", rows)
    dev, test = corpora.treebank(tmp_path, "xx", "upos+feats")
    assert dev == test == [[("do", "AUX|Mood=Ind"), ("n't", "PART|_")]]
    assert corpora.treebank(tmp_path, "xx", "upos")[0] == [[("do", "AUX"), ("n't", "PART")]]


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(corpora.CorporaMissing, match=r"masc\.zip not found"):
        corpora.masc(tmp_path)


def test_items_are_read_as_they_were_meant(tmp_path: Path) -> None:
    path = tmp_path / "text.items"
    path.write_text("".join(map(battery_sets.item_lines, TEXT)), "utf-8")
    assert battery_sets.read_items(path) == [peers.chunking(sentence) for sentence in TEXT]
    corpus = corate.read(path, format="items")
    assert set(corpus.attributes.names.to_list()) == {
        name for s in TEXT for token in peers.chunking(s) for name in token
    }
    assert [corpus.labels_of(i) for i in range(2)] == [[row[-1] for row in sentence] for sentence in TEXT]


def test_dicts_have_numbers_booleans_and_texts() -> None:
    first, last = battery_sets.address_features(["12", "Oak"])
    assert (first["number"], first["length"], first["lower"], first["1:lower"]) == (True, 2, "12", "oak")
    assert {type(value) for value in last.values()} == {str, int, float, bool}


def test_files_are_written_for_the_part(tmp_path: Path) -> None:
    sentences: list[corpora.Sentence] = [[(f"w{i}", "P", "O")] for i in range(20)]
    data_set = battery_sets.DataSet("a set, all", lambda _: (sentences, TEXT), ("items",))
    files, (train, test) = battery_sets.write_files(data_set, "held-out", tmp_path, tmp_path)
    assert (train, test) == (sentences[:18], sentences[18:])
    assert corpora.load(files.test) == test
    assert len(battery_sets.read_items(files.given("items").train)) == 18
    assert battery_sets.write_files(data_set, "test", tmp_path, tmp_path)[1] == (sentences, TEXT)


def test_sets_are_chosen_by_name_or_by_a_part_of_it() -> None:
    assert [one.name for one in battery_sets.chosen_sets(["conll2000"])] == ["conll2000"]
    assert battery_sets.chosen_sets([]) == battery_sets.SETS
    assert [one.name for one in battery_sets.chosen_sets(["fi_tdt"])] == ["fi_tdt upos", "fi_tdt upos+feats"]
    with pytest.raises(SystemExit, match="no data set is named 'masx'"):
        battery_sets.chosen_sets(["ned", "masx"])


def test_the_worst_row_is_first_and_rows_without_a_peer_are_last() -> None:
    rows = [
        made_row("ahead", {"accuracy": 0.95}, {"ap rich": {"accuracy": 0.9}}),
        made_row("alone", {}, {}),
        made_row("stopped", {}, {"ap rich": {"over": 600.0}}),
        made_row("behind", {"accuracy": 0.9}, {"ap rich": {"accuracy": 0.8}, "ap default": {"accuracy": 0.92}}),
        made_row("spans", {"f1": 0.7, "accuracy": 0.9}, {"ap rich": {"f1": 0.71, "accuracy": 0.8}}),
    ]
    random.Random(1).shuffle(rows)
    found = battery.worst_first(rows)
    assert [row["set"] for row in found[:3]] == ["behind", "spans", "ahead"]
    assert battery.difference(found[0]) == pytest.approx(-2.0)
    assert {row["set"] for row in found[3:]} == {"alone", "stopped"}


def test_oov_is_behind_only_beyond_a_standard_error_and_less_seconds_are_better() -> None:
    row = made_row("set", {"accuracy_oov": 0.46, "seconds": 2.0}, {"a": {"accuracy_oov": 0.5, "seconds": 3.0}})
    assert not battery.behind(row, "accuracy_oov")  # the standard error is 0.05
    assert battery.behind(row | {"oov_tokens": 10_000}, "accuracy_oov")
    assert not battery.behind(row, "seconds")
    assert battery.cell(row, "seconds") == "2.00 / 3.00"
    slower = made_row("set", {"seconds": 2.0}, {"a": {"seconds": 3.0}, "b": {"seconds": 1.5}})
    assert battery.cell(slower, "seconds") == "**2.00 / 1.50**"
    assert battery.cell(slower, "f1") == ""


def test_times_of_an_earlier_run_are_not_compared_but_scores_are() -> None:
    worse = {"seconds": 2.0, "accuracy": 0.8}
    row = made_row("set", worse, {"a": {"started": "before"}})
    assert not battery.behind(row, "seconds")
    assert battery.behind(row, "accuracy")
    assert battery.cells(row)[-2:] == ["", "a (before)"]
    assert battery.cells(made_row("set", worse, {"a": {}}))[-2:] == ["0.5", "a"]


def test_peers_are_kept_only_for_the_same_sentences() -> None:
    row = made_row("set", {}, {"ap rich": {}})
    counts = {"tokens": 1000, "test_tokens": 100, "oov_tokens": 100, "labels": 3}
    assert battery.kept_peers(row, counts) == row["peers"]
    assert battery.kept_peers(row, counts | {"tokens": 999}) == {}
    assert battery.kept_peers(None, counts) == {}


def test_the_table_says_where_scores_come_from_and_who_was_stopped() -> None:
    peers = {"ap rich": {"over": 600.0}, "ap default": {}, "lbfgs rich": {"started": "before"}}
    rows = [made_row("set", {}, peers)]
    text = battery.markdown({"part": "test", "machine": {}, "rows": rows})
    assert "TEST FILES" in text
    assert "| ap rich over 600 s, ap default, lbfgs rich (before) |" in text


@pytest.mark.parametrize("features", ["default", "chunking", "items", "dicts"])
def test_crfsuite_and_corate_are_trained_and_scored_alike(features: str, tmp_path: Path) -> None:
    data_set = battery_sets.DataSet("tiny", lambda _: (TEXT * 20, TEXT), (features, "items"))
    files, _ = battery_sets.write_files(data_set, "test", tmp_path, tmp_path)
    theirs = battery_side.crfsuite(files, tmp_path / "model", features, "ap", 10)
    assert (theirs["accuracy"], theirs["f1"]) == (1.0, 1.0)
    assert min(theirs["seconds_features"], theirs["seconds_training"], *theirs["not_training"].values()) > 0
    if features == "dicts":
        battery_side.corate_from_dicts(files.train, tmp_path / "corate", 0)
    else:
        corate.train(corate.read(files.given(features).train)).save(tmp_path / "corate")
    assert battery_side.corate_scores(files, tmp_path / "corate", features)["f1"] == 1.0


def test_a_command_over_its_limit_is_ended() -> None:
    with pytest.raises(measure.OverLimitError, match=r"over 0\.2 s"):
        measure.run(["python", "-c", "while True: pass"], limit=0.2)
    assert measure.run(["python", "-c", "print([])"], limit=60).json() == []


def test_the_results_of_earlier_runs_are_found_by_set(tmp_path: Path) -> None:
    path = tmp_path / "battery.json"
    assert battery.earlier(path) == {}
    path.write_text(json.dumps({"rows": [made_row("a", {}, {}), made_row("b", {}, {})]}))
    assert list(battery.earlier(path)) == ["a", "b"]


def test_the_readme_has_a_place_for_the_table() -> None:
    text = tables.README.read_text("utf-8")
    assert "| `battery.py` |" in text
    assert text.index("<!-- battery: begin -->") < text.index("<!-- battery: end -->")
