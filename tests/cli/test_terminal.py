"""What people see: tables that line up, numbers they can read, bars only where someone is looking."""

import io
import json
import os
import subprocess
import sys
import threading
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate as library
from command_line import PROGRAM
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


@pytest.fixture(autouse=True)
def _with_progress(monkeypatch):
    monkeypatch.delenv("CORATE_PROGRESS")


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
        display = progress._display
        task = display._task
        progress.show(ProgressEvent("fitting", 0.5, loss=0.5))
        progress("fitting", 0.6)
        assert display._task == task
        assert display._bar.tasks[0].description == "fitting: loss 0.5000"
        display._bar.refresh()
        progress("building", 0.0)
        assert display._bar.tasks[0].description == "building"
    assert "loss 0.5000" in stream.getvalue()


# -- progress where nobody looks: lines for a log --------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets: ``clock[0]`` is the time."""
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    return now


def test_a_log_has_a_line_for_each_pass_with_the_time_left(clock, capsys):
    with terminal.ProgressBar(waits=True) as progress:
        progress("counting")
        for step in (1, 2, 3):
            clock[0] = 10.0 * step
            progress.show(ProgressEvent("polish", step / 4, loss=1 / step, step=step, steps=4))
    assert capsys.readouterr().err.splitlines() == [
        "corate: polish: pass 1 of 4, loss 1.0000 (10 s)",
        "corate: polish: pass 2 of 4, loss 0.5000 (20 s, 20 s left)",
        "corate: polish: pass 3 of 4, loss 0.3333 (30 s, 10 s left)",
    ]


def test_a_pass_has_a_line_right_after_a_line_within_it(clock, capsys):
    with terminal.ProgressBar(waits=True) as progress:
        for clock[0], share in ((0.0, 0.0), (5.0, 0.2), (10.0, 0.45)):
            progress("polish", share)
        clock[0] = 10.1
        progress.show(ProgressEvent("polish", 0.5, loss=1.0, step=1, steps=2))
    assert [line.split(" (")[0] for line in capsys.readouterr().err.splitlines()] == [
        "corate: polish: 20%",
        "corate: polish: 45%",
        "corate: polish: pass 1 of 2, loss 1.0000",
    ]


def test_a_log_of_many_short_steps_has_few_lines(clock, capsys):
    with terminal.ProgressBar(waits=True) as progress:
        for step in range(6001):
            clock[0] = step / 10
            progress.show(ProgressEvent("standard", step / 6000, objective=1.0, step=step, steps=6000))
    lines = capsys.readouterr().err.splitlines()
    assert 10 < len(lines) < 60
    assert lines[0] == "corate: standard: iteration 20 of 6000, objective 1.0 (2 s, 10 min left)"


def test_work_of_under_two_seconds_is_silent_in_a_log(clock, capsys):
    with terminal.ProgressBar(waits=True) as progress:
        for clock[0] in (0.0, 0.5, 1.0, 1.9):
            progress("reading", clock[0] / 2)
            progress.show(ProgressEvent("polish", 0.5, loss=1.0, step=1, steps=2))
    assert capsys.readouterr().err == ""


def test_quiet_work_is_silent_in_a_log(clock, capsys):
    with terminal.ProgressBar(quiet=True) as progress:
        for clock[0] in (0.0, 100.0):
            progress("reading")
            progress.show(ProgressEvent("polish", 0.5, step=1, steps=2, resumed=True))
            progress.keep("resumed")
    assert capsys.readouterr().err == ""


def test_a_variable_leaves_only_what_says_that_work_is_resumed(clock, capsys, monkeypatch):
    monkeypatch.setenv("CORATE_PROGRESS", "0")
    with terminal.ProgressBar() as progress:
        for clock[0] in (0.0, 100.0):
            progress("reading")
        progress.show(ProgressEvent("polish", 0.5, step=1, steps=2, resumed=True))
    assert capsys.readouterr().err == "corate: polish: resumed at pass 2 of 2\n"


def test_a_stage_without_news_is_shown_again(clock, monkeypatch):
    shown = threading.Event()

    class Log(io.StringIO):
        def write(self, text):
            shown.set()
            return super().write(text)

    stream = Log()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(terminal, "_BEAT_SECONDS", 0.001)
    with terminal.ProgressBar() as progress:
        progress("tagging")
        clock[0] = 30.0
        assert shown.wait(60)
    assert stream.getvalue() == "corate: tagging (30 s)\n"


@pytest.mark.parametrize("screen", [True, False])
def test_a_resumed_run_says_so_at_once_and_only_once(clock, monkeypatch, screen):
    stream = Screen() if screen else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with terminal.ProgressBar(waits=True) as progress:
        progress.show(ProgressEvent("polish", 4 / 12, step=4, steps=12, resumed=True))
        clock[0] = 100.0
    assert stream.getvalue() == "corate: polish: resumed at pass 5 of 12\n"
    assert str(ProgressEvent("polish", 1.0, step=12, steps=12, resumed=True)) == "polish: resumed after pass 12 of 12"


def test_a_log_that_cannot_be_written_does_not_stop_the_work(clock, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with terminal.ProgressBar(waits=True) as progress:
        stream.close()
        clock[0] = 3.0
        progress("tagging")


@pytest.mark.parametrize("screen", [True, False])
def test_progress_is_shown_without_threads(clock, monkeypatch, screen):
    def start(self):
        raise RuntimeError("can't start new thread")

    stream = Screen() if screen else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(threading.Thread, "start", start)
    with terminal.ProgressBar() as progress:
        for clock[0], share in ((0.0, 0.1), (10.0, 0.2), (20.0, 0.3)):
            progress("counting", share)
        shown = stream.getvalue()
    assert shown.count("counting") >= 2
    if screen:
        assert stream.getvalue().count("\x1b[?25h") == stream.getvalue().count("\x1b[?25l")  # the cursor is back


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_command_works_where_no_thread_can_be_started(data, tmp_path, monkeypatch, unbuffered):
    """The stack of a new thread would be larger than the memory that the process may have."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 36, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 34, resource.getrlimit(resource.RLIMIT_AS)[1]))

    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    start = "import threading; threading.Thread(target=print).start()"
    none = subprocess.run([sys.executable, "-c", start], preexec_fn=limit, capture_output=True, text=True)
    assert "can't start new thread" in none.stderr
    train = ["train", data / "train.tsv", "--features", "word[0]", "--threads", "3", "--quiet", "-o"]
    for command in (
        [*train, tmp_path / "few"],
        ["tag", tmp_path / "few", data / "test.tsv", "--threads", "3", "-o", tmp_path / "tags"],
        [argument for argument in train if argument != "--quiet"] + [tmp_path / "shown"],
    ):
        run = subprocess.run([*PROGRAM, *command], preexec_fn=limit, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")
    library.train(library.read(data / "train.tsv"), features=["word[0]"], threads=3).save(tmp_path / "many")
    assert library.load(tmp_path / "few").strongest(50) == library.load(tmp_path / "many").strongest(50)
    assert (tmp_path / "tags").read_text()


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
