"""What people see: tables that line up, numbers they can read, bars only where someone is looking."""

import io
import json
import os
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate as library
from corate.cli import terminal
from corate.progress import ProgressEvent

cells = st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=12).map(str.strip)


@given(st.lists(st.tuples(cells, st.integers(0, 10**6).map(str)), min_size=1, max_size=6))
def test_numbers_end_in_the_same_column(rows):
    out = io.StringIO()
    old, sys.stdout = sys.stdout, out
    try:
        terminal.show_table(rows)
    finally:
        sys.stdout = old
    lines = out.getvalue().splitlines()
    assert len({len(line) for line in lines}) == 1
    assert [line.split()[-1] for line in lines] == [number for _, number in rows]


def test_cells_of_several_lines_stay_in_their_column(capsys):
    terminal.show_table([["templates", "word[0]\nword[1]"], ["words", "7"]])
    assert capsys.readouterr().out == "templates  word[0]\n           word[1]\nwords      7\n"


def test_json_has_no_nan_and_no_numpy(capsys):
    terminal.print_json(
        {"a": float("nan"), "b": np.float32(0.5), "c": np.arange(2), "d": (np.int64(1), None), "e": "ë"}
    )
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": 0.5, "c": [0, 1], "d": [1, None], "e": "ë"}


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("screen", "quiet", "shown"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_bar_shows_on_terminals_only_and_not_when_quiet(monkeypatch, screen, quiet, shown):
    stream = Screen() if screen else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(terminal, "_BAR_DELAY_SECONDS", 0.0)
    with terminal.ProgressBar(quiet) as progress:
        progress("reading")
        progress("counting", 0.5)
        progress("counting", 1.0)
    assert ("counting" in stream.getvalue()) == shown


def test_short_work_shows_no_bar(monkeypatch):
    stream = Screen()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(terminal, "_BAR_DELAY_SECONDS", 3600.0)
    with terminal.ProgressBar() as progress:
        progress("counting", 0.5)
    assert stream.getvalue() == ""


def test_news_of_a_stage_shows_and_does_not_start_it_anew(monkeypatch):
    stream = Screen()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(terminal, "_BAR_DELAY_SECONDS", 0.0)
    with terminal.ProgressBar() as progress:
        progress("fitting", 0.2)
        task = progress._task
        progress.show(ProgressEvent("fitting", 0.5, loss=0.5))
        progress("fitting", 0.6)
        assert progress._task == task
        assert progress._bar.tasks[0].description == "fitting: loss 0.5000"
        progress._bar.refresh()
        progress("building", 0.0)
        assert progress._bar.tasks[0].description == "building"
    assert "loss 0.5000" in stream.getvalue()


# -- labels and tokens that would steer the terminal -----------------------------------------------------------------

STEERING = "\x1b]0;t\x07\x9b\u202e[red]"
ESCAPED = r"\x1b]0;t\x07\x9b\u202e[red]"


@given(st.text())
def test_only_what_steers_a_terminal_is_escaped(text):
    found = terminal.escaped(text)
    assert not any(unicodedata.category(c) == "Cc" and c not in "\t\n" for c in found)
    assert not any(
        unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI") for c in found
    )
    if text.isprintable():
        assert found == text


@pytest.fixture
def steering(corate, tmp_path, monkeypatch):
    """A model with a label that would steer the terminal, and text to measure it on with two such errors."""
    monkeypatch.setenv("COLUMNS", "200")
    rows = [{"tokens": ["Ann", "left", STEERING], "labels": [f"B-{STEERING}", "O", "B-X"]}] * 20
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    wrong = {"tokens": ["Ann", "left", STEERING], "labels": ["B-X", f"B-{STEERING}", "B-X"]}
    (tmp_path / "test.jsonl").write_text(json.dumps(wrong))
    assert corate("train", tmp_path / "t.jsonl", "-o", tmp_path / "m", "--method", "empirical", "-q").code == 0
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "m", "test.jsonl"],
        ["eval", "m", "test.jsonl", "--confusion"],
        ["eval", "m", "test.jsonl", "--json"],
        ["info", "m"],
        ["info", "m", "--json"],
        ["rates", "m"],
        ["rates", "t.jsonl", "--json"],
        ["tag", "m", "test.jsonl"],
        ["tag", "m", "test.jsonl", "--to", "columns"],
        ["tag", "m", "-f", "text"],
    ],
)
def test_a_terminal_is_not_steered_and_files_get_the_bytes(corate, steering, command):
    command = [steering / word if word in ("m", "t.jsonl", "test.jsonl") else word for word in command]
    stdin = f"Ann left {STEERING}\r\n".encode()
    shown, piped = (corate(*command, stdin=stdin, screen=screen) for screen in (True, False))
    assert (shown.code, piped.code) == (0, 0)
    for character in "\x07\x9b\u202e":
        assert character not in shown.text
    assert "\x1b]" not in shown.text
    if "--json" in command:
        assert json.loads(shown.text).keys() == json.loads(piped.text).keys()
        assert "\\u009b\\u202e[red]" in shown.text
    elif "jsonl" in str(command) and "columns" not in command and command[0] == "tag":
        assert r"\x9b\u202e[red]" in shown.text
    else:
        assert ESCAPED in shown.text
        assert STEERING in piped.text


def test_errors_and_warnings_are_escaped_wherever_they_go(corate, model, tmp_path):
    result = corate("tag", model, tmp_path / STEERING)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert ESCAPED in result.err
    (tmp_path / STEERING).write_text("Ann B-X\nLee\n")
    result = corate("rates", tmp_path / STEERING, "-f", "columns", "--skip-bad")
    assert ESCAPED in result.err
    assert "\x1b" not in result.err


# -- standard output that is not UTF-8 ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def umlauts(tmp_path_factory):
    """A folder with a text whose words and labels are not ASCII, and its model."""
    folder = tmp_path_factory.mktemp("umlauts")
    (folder / "Ä.tsv").write_text("Ännä\tÄ\nsings\tV\n\nBøb\tÄ\nsings\tV\n\n" * 9, encoding="utf-8")
    library.train(library.read(folder / "Ä.tsv")).save(folder / "Ä.corate")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["info", "Ä.corate"],
        ["info", "Ä.corate", "--json"],
        ["rates", "Ä.corate"],
        ["rates", "Ä.tsv", "--json"],
        ["eval", "Ä.corate", "Ä.tsv", "--confusion"],
        ["eval", "Ä.corate", "Ä.tsv", "--json"],
        ["compare", "Ä.tsv", "--test", "Ä.tsv", "--methods", "empirical", "--seeds", "2"],
        ["train", "Ä.tsv", "-o", "Ö.corate"],
        ["train", "Ä.tsv", "-o", "Ö.corate", "--json"],
        ["demo", "--sentences", "60"],
    ],
    ids=" ".join,
)
def test_characters_that_standard_output_lacks_are_escaped(corate, umlauts, monkeypatch, command):
    monkeypatch.chdir(umlauts)
    result = corate(*command, encoding="ascii")
    assert (result.code, result.err) == (0, "")
    assert result.out.isascii()
    if "--json" in command:
        assert json.loads(result.out)


def test_json_in_utf_8_is_not_escaped(corate, umlauts):
    assert json.loads(corate("info", umlauts / "Ä.corate", "--json").out)["labels"] == ["Ä", "V"]
    assert '"Ä"' in corate("info", umlauts / "Ä.corate", "--json").text


def test_a_c_locale_is_no_traceback(umlauts):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown = subprocess.run(
        [sys.executable, "-m", "corate.cli", "info", umlauts / "Ä.corate"],
        capture_output=True,
        env={**os.environ, **plain},
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"2: \\xc4 V" in shown.stdout


def test_a_table_without_rows_is_its_header(capsys):
    terminal.show_table([], ["right", "taken for", "tokens"])
    assert capsys.readouterr().out == "right  taken for  tokens\n"
