"""``corate rates``: label pairs that attract and avoid each other, from a model or from text, and the heat map."""

import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import corate as library
from corate.pages.charts import colour
from corate.rate import Counts
from corate.rate.heatmap import HeatMap, sign


def listed(result):
    assert (result.code, result.err) == (0, "")
    in_words = json.loads(result.text)
    return [[(p["left"], p["right"], p["rate"]) for p in in_words[kind]] for kind in ("attractive", "repulsive")]


def test_a_model_shows_its_own_rates(corate, model):
    attractive, repulsive = listed(corate("rates", model, "--json", "-n", "7"))
    want = library.load(model).rates(7)
    assert [attractive, repulsive] == [[(p.left, p.right, pytest.approx(p.rate)) for p in side] for side in want]
    assert len(attractive) == len(repulsive) == 7


def test_a_fitted_model_shows_weights_beside_the_rates_of_a_text(corate, data, tmp_path):
    fitted = tmp_path / "fitted"
    args = ("--method", "standard", "--iterations", "20", "--features", "word[0]", "-q")
    assert corate("train", data / "train.tsv", "-o", fitted, *args).code == 0
    alone = corate("rates", fitted, "-n", "3").text
    assert "next label" in alone
    assert "weight" in alone.splitlines()[1]
    assert "rate" not in alone.splitlines()[1]
    text = corate("rates", fitted, "-n", "3", "--data", data / "train.tsv").text
    assert "rate in the data" in text.splitlines()[1]
    in_words = json.loads(corate("rates", fitted, "-n", "3", "--data", data / "train.tsv", "--json").text)
    counted, _ = listed(corate("rates", data / "train.tsv", "--json", "-n", "1000"))
    rates = {pair[:2]: pair[2] for pair in counted}
    for pair in in_words["attractive"]:
        assert pair["rate"] is None
        assert pair["data_rate"] == pytest.approx(rates[pair["left"], pair["right"]])
    wrong = corate("rates", data / "train.tsv", "--data", data / "train.tsv")
    assert (wrong.code, "--data is for models" in wrong.err) == (2, True)


def test_text_shows_the_rates_of_its_label_pairs(corate, data):
    attractive, repulsive = listed(corate("rates", data / "train.tsv", "--json", "--smooth", "0"))
    counts = Counts.label_pairs(library.read(data / "train.tsv"))
    for left, right, rate in attractive + repulsive:
        assert rate == pytest.approx(counts.value("CR(label; next)", {"label": left, "next": right}), rel=1e-9)
    _, logs = counts.log_table("CR(label; next)")
    assert attractive[0][2] == pytest.approx(math.exp(logs.max()))
    rates = [rate for _, _, rate in attractive]
    assert rates == sorted(rates, reverse=True)
    assert min(rates) > 1
    assert all(rate < 1 for _, _, rate in repulsive)
    assert ("<s>", "</s>") not in [pair[:2] for pair in attractive + repulsive]


def test_what_was_never_seen_is_listed_by_how_much_it_was_expected(corate, tmp_path):
    (tmp_path / "text").write_text("a X\nb Y\na X\nb Y\nc Z\n\n" * 3)
    _, repulsive = listed(corate("rates", tmp_path / "text", "--json", "--smooth", "0"))
    assert repulsive[0][2] == 0.0
    counts = Counts.label_pairs(library.read(tmp_path / "text"))
    never = [pair for pair in repulsive if pair[2] == 0]
    chance = [counts.log_value("P(label) P(next)", {"label": a, "next": b}) for a, b, _ in never]
    assert chance == sorted(chance, reverse=True)


def test_smoothing_draws_rates_to_one(corate, data):
    plain, _ = listed(corate("rates", data / "train.tsv", "--json", "--smooth", "0", "-n", "1"))
    smooth, _ = listed(corate("rates", data / "train.tsv", "--json", "--smooth", "50", "-n", "1"))
    assert 1 < smooth[0][2] < plain[0][2]
    assert corate("rates", data / "train.tsv", "--smooth", "-1").code == 2


def test_tables_and_the_map_are_printed(corate, data):
    lines = corate("rates", data / "train.tsv", "-n", "2").text.splitlines()
    assert lines[0] == "label pairs that attract each other"
    assert "label pairs that avoid each other" in lines
    n = len(library.read(data / "train.tsv").labels.strings) + 1
    assert lines[-n - 1].split() == [str(i + 1) for i in range(n)]
    assert lines[-1].endswith("<s> (column: </s>)")


def test_of_many_labels_some_are_drawn(corate, tmp_path):
    (tmp_path / "text").write_text("".join(f"w{i} L{i}\n" for i in range(40)))
    lines = corate("rates", tmp_path / "text").text.splitlines()
    assert "(17 labels omitted; --svg shows more)" in lines
    assert lines[-2].endswith(" L22")
    assert lines[-1].endswith("<s> (column: </s>)")


def test_the_map_is_drawn_as_a_picture(corate, data, tmp_path):
    assert corate("rates", data / "train.tsv", "--svg", tmp_path / "map.svg", "--json").code == 0
    root = ET.parse(tmp_path / "map.svg").getroot()
    space = {"s": "http://www.w3.org/2000/svg"}
    n = len(library.read(data / "train.tsv").labels.strings) + 1
    assert len(root.findall("s:path/s:title", space)) == n * n
    assert len(root.findall("s:text", space)) == 2 * n


def test_text_comes_from_standard_input_too(corate, data):
    given = (data / "train.tsv").read_bytes()
    assert listed(corate("rates", "-", "--json", stdin=given)) == listed(corate("rates", data / "train.tsv", "--json"))


@pytest.mark.parametrize("name", ["nothing", "."])
def test_what_is_not_there_ends_with_one_line(corate, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    result = corate("rates", name)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert name in result.err


def test_text_without_labels_and_damaged_models_are_refused(corate, tmp_path, model):
    (tmp_path / "words").write_text("a\nb\n")
    assert "no labels" in corate("rates", tmp_path / "words", "-f", "columns").err
    (tmp_path / "damaged").write_bytes(model.read_bytes()[:-100])
    result = corate("rates", tmp_path / "damaged")
    assert result.code == 1
    assert "damaged" in result.err


def test_a_terminal_shows_colours(corate, data, monkeypatch):
    monkeypatch.setattr("corate.cli.rates.is_terminal", lambda: True)
    monkeypatch.setattr("corate.cli.terminal.is_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = corate("rates", data / "train.tsv", "-n", "1").text
    assert "\x1b[38;2;34;34;34;48;2;" in shown
    assert "B-NAME" in shown


def test_signs_and_colours_follow_the_rate():
    rates = [0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 8.0, 100.0]
    logs = [math.log(rate) if rate else -math.inf for rate in rates]
    assert [sign(log) for log in logs] == ["---", "---", "--", "-", ".", "+", "++", "+++"]
    reds = [colour(log)[0] - colour(log)[2] for log in logs]
    assert reds == sorted(reds)
    assert colour(0.0) == (247, 247, 247)


def test_the_first_labels_are_kept_with_the_ends_of_sentences():
    heat = HeatMap(("A", "B", "C", "<s>"), ("A", "B", "C", "</s>"), np.arange(16.0).reshape(4, 4))
    some = heat.first(3)
    assert (some.rows, some.columns) == (("A", "B", "<s>"), ("A", "B", "</s>"))
    assert some.logs.tolist() == [[0, 1, 3], [4, 5, 7], [12, 13, 15]]
    assert heat.first(9).rows == heat.rows


def test_a_heat_map_has_the_suffix_of_its_format(corate, data, tmp_path):
    refused = corate("rates", data / "train.tsv", "--svg", tmp_path / "a.png")
    assert (refused.code, "must end in .svg" in refused.err) == (2, True)
    assert not (tmp_path / "a.png").exists()
