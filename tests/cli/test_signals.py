"""SIGTERM and SIGHUP end a command in order: old files stay as they were, and no temporary file is left."""

import os
import signal
import subprocess
import sys
import threading

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")

#: Runs a command that gets a signal while a file is being written, when its temporary file is there.
WHILE_WRITING = """
import os, signal
from corate.cli import main
flush = os.fsync
def flush_and_get_a_signal(descriptor):
    flush(descriptor)
    os.kill(os.getpid(), signal.{signal})
os.fsync = flush_and_get_a_signal
main()
"""
#: Runs a command that gets a signal when it has come to a stage of its work.
AT_STAGE = """
import os, signal
from corate.cli import main, terminal
def reached(self, event):
    if event.title.startswith({stage!r}):
        os.kill(os.getpid(), signal.{signal})
terminal.ProgressBar.show = reached
main()
"""
COMPARE = ["compare", "{data}/train.tsv", "--test", "{data}/test.tsv", "--plot", "old.svg"]
COMMANDS = {
    "train": ["train", "{data}/train.tsv", "-o", "old", "--method", "empirical"],
    "checkpoint": ["train", "{data}/train.tsv", "-o", "m", "--checkpoint", "old", "--features", "word[0]"],
    "tag": ["tag", "{model}", "{data}/test.tsv", "-o", "old"],
    "compressed": ["tag", "{model}", "{data}/test.tsv", "-o", "old.gz"],
    "update": ["update", "{model}", "{data}/test.tsv", "-o", "old"],
    "compare": [*COMPARE, "--methods", "empirical"],
}


def run(code, command, folder, data, model, **more):
    command = [argument.format(data=data, model=model) for argument in command]
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    return subprocess.run(
        [sys.executable, "-c", code, *command], cwd=folder, env=environment, capture_output=True, **more
    )


@pytest.fixture
def folder(tmp_path):
    """A folder with old files, and one for temporary files."""
    (tmp_path / "temporary").mkdir()
    for name in ("old", "old.gz", "old.svg"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "old").chmod(0o600)
    return tmp_path


def unchanged(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["old", "old.gz", "old.svg", "temporary"]
    assert {path.read_bytes() for path in folder.iterdir() if path.is_file()} == {b"old"}
    return not list((folder / "temporary").iterdir())


@pytest.mark.parametrize(("command", "name"), [*((command, "SIGTERM") for command in COMMANDS), ("tag", "SIGHUP")])
def test_a_signal_while_a_file_is_written(folder, data, model, command, name):
    if command == "checkpoint":
        (folder / "old").unlink()
    ended = run(WHILE_WRITING.format(signal=name), COMMANDS[command], folder, data, model)
    assert ended.returncode == 128 + getattr(signal, name)
    assert ended.stderr.decode() == f"corate: ended by {name}\n"
    if command == "checkpoint":
        assert not (folder / "old").exists()
        (folder / "old").write_bytes(b"old")
    assert unchanged(folder)


@pytest.mark.parametrize("stage", ["reading", "polish", "saving"])
def test_a_signal_saves_no_model_as_ctrl_c_would(folder, data, model, stage):
    command = ["train", "{data}/train.tsv", "-o", "old", "--features", "word[0]"]
    ended = run(AT_STAGE.format(stage=stage, signal="SIGTERM"), command, folder, data, model)
    assert (ended.returncode, ended.stdout) == (143, b"")
    assert unchanged(folder)


def test_a_comparison_that_is_ended_draws_nothing(folder, data, model):
    command = [*COMPARE, "--methods", "empirical,perceptron"]
    ended = run(AT_STAGE.format(stage="perceptron", signal="SIGTERM"), command, folder, data, model)
    assert ended.returncode == 143
    assert unchanged(folder)


def test_a_reproduction_leaves_no_text_behind(folder, data, model):
    pytest.importorskip("corate_reproduction")
    code = AT_STAGE.format(stage="label-bias", signal="SIGTERM")
    ended = run(code, ["reproduce", "label-bias", "-o", "temporary/out"], folder, data, model)
    assert ended.returncode == 143
    assert [path.name for path in (folder / "temporary").iterdir()] == ["out"]


def test_a_signal_that_is_ignored_stays_ignored(folder, data, model):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    code = AT_STAGE.format(stage="tagging", signal="SIGHUP")
    ended = run(code, COMMANDS["tag"], folder, data, model, preexec_fn=ignore)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (folder / "old").read_bytes().startswith((data / "test.tsv").read_bytes()[:4])


def test_handlers_are_put_back(corate, model):
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    assert corate("info", model).code == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before


def test_a_command_runs_in_a_thread_of_its_own(corate, model):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(corate("info", model).code))
    thread.start()
    thread.join()
    assert codes == [0]


# -- a second signal ---------------------------------------------------------------------------------------------------

#: Runs a command that gets a signal while a file is being written, and another one at a later moment.
TWICE = """
import atexit, os, pathlib, signal, threading
from corate.cli import exits, main
first, second = signal.{first}, signal.{second}
flush, unlink, print_line = os.fsync, pathlib.Path.unlink, exits.print_line
def send(number):
    os.kill(os.getpid(), number)
def flush_and_get_a_signal(descriptor):
    flush(descriptor)
    send(first)
def unlink_late(self, *arguments, **options):
    send(second)
    unlink(self, *arguments, **options)
def print_late(message):
    send(second)
    print_line(message)
def wait_for_the_shutdown():
    threading.main_thread().join()
    send(second)
os.fsync = flush_and_get_a_signal
if {moment!r} == "cleanup":
    pathlib.Path.unlink = unlink_late
elif {moment!r} == "message":
    exits.print_line = print_late
elif {moment!r} == "thread":
    threading.Thread(target=wait_for_the_shutdown).start()
elif {moment!r} == "teardown":  # where Python puts default actions back
    atexit.register(lambda: signal.getsignal(second) is signal.SIG_IGN or os.write(2, b"handled"))
else:
    atexit.register(send, second)
main()
"""


@pytest.mark.parametrize(
    ("first", "second", "unbuffered"),
    [
        ("SIGINT", "SIGINT", ""),
        ("SIGINT", "SIGINT", "1"),
        ("SIGINT", "SIGTERM", ""),
        ("SIGTERM", "SIGINT", "1"),
        ("SIGTERM", "SIGTERM", ""),
    ],
)
@pytest.mark.parametrize("moment", ["cleanup", "message", "thread", "exit", "teardown"])
def test_a_second_signal_changes_nothing(folder, data, model, monkeypatch, first, second, moment, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    code = TWICE.format(first=first, second=second, moment=moment)
    ended = run(code, COMMANDS["tag"], folder, data, model)
    said = "interrupted" if first == "SIGINT" else "ended by SIGTERM"
    assert (ended.returncode, ended.stdout) == (128 + getattr(signal, first), b"")
    assert ended.stderr.decode() == f"corate: {said}\n"
    assert unchanged(folder)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_a_partial_model_is_saved(folder, data, model, name):
    """The first one ended training; the second one ends the command."""
    code = """
import os, signal
from corate.cli import main, terminal
flush = os.fsync
def reached(self, event):
    if event.step == 1:
        os.fsync = flush_and_get_a_signal
        os.kill(os.getpid(), signal.SIGINT)
def flush_and_get_a_signal(descriptor):
    flush(descriptor)
    os.kill(os.getpid(), signal.%s)
terminal.ProgressBar.show = reached
main()
"""
    command = ["train", "{data}/train.tsv", "-o", "old", "--features", "word[0]", "--passes", "3"]
    ended = run(code % name, command, folder, data, model)
    said = {"SIGINT": "interrupted", "SIGTERM": "ended by SIGTERM"}[name]
    assert (ended.returncode, ended.stdout) == (128 + getattr(signal, name), b"")
    assert ended.stderr.decode() == f"corate: {said}\n"
    assert unchanged(folder)


#: Gets a signal in a callback, whose exceptions Python ignores, and then waits for it.
IN_A_CALLBACK = """
import signal, threading, weakref
from corate.cli.exits import exit_codes, handle_interrupts, handle_signals
class Watched:
    pass
with handle_signals(), exit_codes():
    handle_interrupts()
    watched = Watched()
    reference = weakref.ref(watched, lambda _: signal.raise_signal(signal.{signal}))
    del watched
    threading.Event().wait(30)
"""


@pytest.mark.parametrize(
    ("name", "code", "message"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "ended by SIGTERM")]
)
def test_a_signal_is_not_lost_in_a_callback(name: str, code: int, message: str) -> None:
    program = IN_A_CALLBACK.format(signal=name)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (code, "", f"corate: {message}\n")
