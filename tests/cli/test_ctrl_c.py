"""Ctrl-C at any stage of training and tagging: one line, and no file is written or changed."""

import os
import signal
import subprocess
import sys

import pytest

from small_corpora import TEXT

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")

#: Runs a command and sends this process the signal of Ctrl-C when it comes to a stage of its work.
INTERRUPTED = """
import os, signal, sys
from corate.cli import main, terminal
def reached(self, event):
    if event.title == {stage!r}:
        os.kill(os.getpid(), signal.SIGINT)
terminal.ProgressBar.show = reached
main()
"""
#: Runs a command and says when it begins to read.
WAITING = """
from corate.cli import main, terminal
terminal.ProgressBar.show = lambda self, event: print(event.title, flush=True)
main()
"""
COUNTING = ["reading", "counting", "tuning the default back-off", "fitting the expert weights", "fitting the edges",
            "building the model", "saving"]  # fmt: skip
POLISHING = ["reading", "counting", "fitting the expert weights", "polish", "building the model", "saving"]


@posix
@pytest.mark.parametrize(
    ("options", "stage"),
    [
        *((["--method", "empirical", "--backoff", "pooled"], stage) for stage in COUNTING),
        *(([], stage) for stage in POLISHING),
    ],
)
def test_ctrl_c_at_any_stage_of_training(small, tmp_path, options, stage):
    model = tmp_path / "m"
    model.write_bytes(b"the old model")
    command = ["train", small / "train.tsv", "-o", model, *options, "--features", "word[0]"]
    run = subprocess.run([sys.executable, "-c", INTERRUPTED.format(stage=stage), *command], capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"corate: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert model.read_bytes() == b"the old model"


@posix
def test_ctrl_c_while_tagging(small, tmp_path):
    out = tmp_path / "out"
    for command in (
        ["tag", small / "m.corate", small / "train.tsv", "-o", out],
        ["tag", small / "m.corate", "-o", out],
    ):
        code = INTERRUPTED.format(stage="tagging")
        run = subprocess.run([sys.executable, "-c", code, *command], input=TEXT, capture_output=True)
        assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"corate: interrupted\n")
        assert not list(tmp_path.iterdir())


@posix
def test_ctrl_c_while_waiting_for_text_leaves_the_old_model(small, tmp_path):
    (tmp_path / "m").write_bytes((small / "m.corate").read_bytes())
    for command in (["train", "-", "-o", "m"], ["update", "m", "-"]):
        with subprocess.Popen(
            [sys.executable, "-c", WAITING, *command],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout.readline() == b"reading\n"
            process.stdin.write(TEXT)
            process.stdin.flush()
            process.send_signal(signal.SIGINT)
            process.stdin.close()  # a signal just before read() is seen only when that returns
            assert process.wait() == 130
            assert process.stderr.read() == b"corate: interrupted\n"
        assert [path.name for path in tmp_path.iterdir()] == ["m"]
        assert (tmp_path / "m").read_bytes() == (small / "m.corate").read_bytes()
