"""Ctrl-C after the first pass of training: the old model stays, and the one reached so far is saved beside it."""

import json
import os
import subprocess
import sys

import pytest

import corate as library
from corate.cli import terminal
from corate.optimize import pieces
from corate.training import files
from small_corpora import TEXT

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")

#: Runs a command and sends this process the signal of Ctrl-C once, when a stage of its work is so far done.
INTERRUPTED = """
import os, signal
from corate.cli import main, terminal
def reached(self, event):
    if event.title == {stage!r} and (event.fraction or 0.0) >= {done}:
        terminal.ProgressBar.show = lambda self, event: None
        os.kill(os.getpid(), signal.SIGINT)
terminal.ProgressBar.show = reached
main()
"""
FEATURES = ["--features", "word[0]"]
LONG = ["--passes", "4", *FEATURES]


@pytest.fixture
def folder(small, tmp_path):
    """A folder with an old model."""
    (tmp_path / "keep").write_bytes((small / "m.corate").read_bytes())
    return tmp_path


@pytest.fixture
def kept(small, folder):
    """Whether the old model stayed, and which other files there are."""
    return lambda *others: (
        (folder / "keep").read_bytes() == (small / "m.corate").read_bytes()
        and sorted(path.name for path in folder.iterdir()) == sorted(["keep", *others])
    )


@pytest.fixture
def interrupted(corate, small, folder, monkeypatch):
    """Train with these options, press Ctrl-C once after the first pass, and give the result."""

    def run(*options, stage="polish", done=0.6, file=None):
        pressed = []

        def show(self, event):
            if not pressed and event.title == stage and (event.fraction or 0.0) >= done:
                pressed.append(event)
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(terminal.ProgressBar, "show", show)
            result = corate("train", file or small / "train.tsv", "-o", folder / "keep", *LONG, *options)
        assert pressed
        return result

    return run


@pytest.fixture
def on_disk(monkeypatch):
    """Small text is stored on disk and visited in pieces if a memory limit is given."""
    monkeypatch.setattr(files, "OTHERS", (10**12, 0))
    monkeypatch.setattr(pieces, "LARGE_TOKENS", 20)
    monkeypatch.setattr(pieces, "PIECE_TOKENS", 40)


def said(folder):
    keep = folder / "keep"
    return f"corate: interrupted: {keep}.partial contains the model reached so far; {keep} was not written\n"


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("options", "stage", "done"),
    [
        (["--quiet"], "polish", 0.6),
        (["--json"], "polish", 0.6),
        (["--method", "standard"], "standard", 0.02),
        (["--method", "separate"], "fitting the nodes", 0.6),
    ],
)
def test_the_old_model_stays_and_the_exit_code_is_130(small, folder, kept, options, stage, done, unbuffered):
    code = INTERRUPTED.format(stage=stage, done=done)
    command = ["train", small / "train.tsv", "-o", folder / "keep", *LONG, *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    run = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, env=environment)
    assert (run.returncode, run.stdout, run.stderr.decode()) == (130, b"", said(folder))
    assert kept("keep.partial")
    assert library.load(folder / "keep.partial").record["interrupted"] is True


def test_the_partial_model_is_the_one_of_the_python_interface(interrupted, small, folder):
    interrupted()

    def stop(event):
        if event.title == "polish" and (event.fraction or 0.0) >= 0.6 and not stopped:
            stopped.append(event)
            raise KeyboardInterrupt

    stopped = []
    with pytest.warns(UserWarning, match="training was interrupted, so the model is not complete"):
        tagger = library.train(library.read(small / "train.tsv"), passes=4, features=["word[0]"], progress=stop)
    assert library.load(folder / "keep.partial").strongest(50) == tagger.strongest(50)


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_it_can_be_made_the_result(interrupted, corate, folder, options):
    result = interrupted("--keep-partial", *options)
    assert result.code == 0
    assert result.err == f"corate: warning: interrupted: {folder / 'keep'} contains the model reached so far\n"
    assert bool(result.text) == (not options)
    assert [path.name for path in folder.iterdir()] == ["keep"]
    assert library.load(folder / "keep").record["interrupted"] is True


def test_as_a_result_it_is_evaluated(interrupted, small, folder):
    result = interrupted("--keep-partial", "--json", "--test", small / "train.tsv")
    in_words = json.loads(result.text)
    assert (result.code, in_words["interrupted"], in_words["model"]) == (0, True, str(folder / "keep"))
    assert in_words["test"]["accuracy"] > 0.6


def test_without_that_nothing_is_evaluated(interrupted, small, folder, kept):
    result = interrupted("--json", "--test", small / "train.tsv")
    assert (result.code, result.text, result.err) == (130, "", said(folder))
    assert kept("keep.partial")


def test_the_same_with_a_memory_limit(interrupted, folder, kept, on_disk):
    result = interrupted("--memory", "1G", "--quiet")
    assert (result.code, result.text, result.err) == (130, "", said(folder))
    assert kept("keep.partial")
    result = interrupted("--memory", "1G", "--quiet", "--keep-partial")
    assert (result.code, result.text) == (0, "")
    assert result.err == f"corate: warning: interrupted: {folder / 'keep'} contains the model reached so far\n"
    assert (folder / "keep").read_bytes() == (folder / "keep.partial").read_bytes()


@pytest.mark.parametrize("memory", [[], ["--memory", "1G"]])
def test_a_checkpoint_takes_it_up_again(interrupted, corate, small, folder, kept, on_disk, memory):
    checkpoint = ["--checkpoint", folder / "checkpoint", *memory]
    assert interrupted(*checkpoint).code == 130
    assert kept("keep.partial", "checkpoint")
    for output, options in (("keep", checkpoint), ("whole", [])):
        assert corate("train", small / "train.tsv", "-o", folder / output, *LONG, *options, "-q").code == 0
    assert library.load(folder / "keep").strongest(50) == library.load(folder / "whole").strongest(50)


@pytest.mark.parametrize(("stage", "done"), [("polish", 0.6), ("calibrating", 0.0)])
def test_a_model_that_was_not_calibrated_is_not_the_result(interrupted, folder, kept, stage, done):
    result = interrupted("--calibrate", "--quiet", stage=stage, done=done)
    assert (result.code, result.text, result.err) == (130, "", said(folder))
    assert kept("keep.partial")
    result = interrupted("--calibrate", "--quiet", "--keep-partial", stage=stage, done=done)
    what = f"{folder / 'keep'} contains the model reached so far, which is not calibrated"
    assert (result.code, result.err) == (0, f"corate: warning: interrupted: {what}\n")


def test_a_base_that_was_not_finished_is_not_trained_further(interrupted, kept):
    result = interrupted("--base", "separate", "--quiet", stage="fitting half 1 of 2", done=0.0)
    assert (result.code, result.text, result.err) == (130, "", "corate: interrupted\n")
    assert kept()


def test_a_complete_model_leaves_no_other_file(corate, small, folder):
    assert corate("train", small / "train.tsv", "-o", folder / "keep", *LONG).code == 0
    assert [path.name for path in folder.iterdir()] == ["keep"]


@pytest.mark.parametrize("option", ["FILE", "--held-out", "--test", "--raw", "--checkpoint"])
def test_the_partial_model_replaces_no_input(corate, tmp_path, option):
    """Only a model of an earlier interruption."""
    (tmp_path / "m.partial").write_bytes(TEXT)
    (tmp_path / "train.tsv").write_bytes(TEXT * 20)
    text = tmp_path / ("m.partial" if option == "FILE" else "train.tsv")
    command = [
        "train",
        text,
        "-o",
        tmp_path / "m",
        *LONG,
        *([] if option == "FILE" else [option, tmp_path / "m.partial"]),
    ]
    result = corate(*command)
    assert result.code == 2
    assert "m.partial" in result.err
    assert (tmp_path / "m.partial").read_bytes() == TEXT
    assert not (tmp_path / "m").exists()
    if option != "--checkpoint":  # which text is not
        assert corate(*command, "--keep-partial", "-q").code == 0


def test_a_partial_model_can_be_trained_further(interrupted, corate, small, folder):
    interrupted()
    command = ["train", small / "train.tsv", "-o", folder / "keep", "--init", folder / "keep.partial", "-q"]
    assert corate(*command).code == 0
    assert library.load(folder / "keep").record["interrupted"] is False


def test_a_demonstration_of_an_unfinished_model_is_not_shown(corate, monkeypatch):
    train = library.train

    def stopped(*arguments, **options):
        def stop(event):
            if event.step == 1:
                raise KeyboardInterrupt

        return train(*arguments, **options, progress=stop)

    monkeypatch.setattr("corate.train", stopped)
    result = corate("demo", "--sentences", "100")
    assert (result.code, result.text, result.err) == (130, "", "corate: interrupted\n")
