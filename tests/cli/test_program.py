"""The program as a process: start-up, help, pipes, signals and full disks."""

import os
import signal
import subprocess
import sys

import pytest

from command_line import PROGRAM
from corate import spans
from corate.cli import shared_options

COMMANDS = [
    "train",
    "tag",
    "eval",
    "compare",
    "update",
    "info",
    "explain",
    "convert",
    "shrink",
    "rates",
    "derive",
    "demo",
]

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")


def test_version(corate):
    import corate as library

    assert corate("--version").text == corate("-V").text == f"corate {library.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_of_every_command(corate, command):
    for flag in ("--help", "-h"):
        result = corate(command, flag)
        assert result.code == 0
        assert f"  corate {command} " in result.text or f"  corate {command}\n" in result.text


def test_help_states_the_exit_codes(corate):
    in_words = corate("--help").text
    assert "Exit codes: 0" in in_words
    assert "130" in in_words
    assert all(f"\n  {command} " in in_words for command in COMMANDS)
    assert "--install-completion" in in_words


def test_unknown_commands_are_wrong_usage_and_no_command_shows_help(corate):
    assert corate("retrain").code == 2
    assert "Commands:" in corate().text + corate().err


def test_commands_start_without_what_they_may_not_need():
    large = {"rich", "scipy", "zstandard", "safetensors", "networkx", "corate.rate"}
    code = f"import sys, corate.cli.app; print(sorted({large} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def imported_by(*command):
    """The large packages and the rooms of the library that a command imports."""
    code = (
        "import atexit, sys; from corate.cli import main\n"
        "atexit.register(lambda: print('imported', *{n.split('.')[0] for n in sys.modules}, *sys.modules))\n"
        f"sys.argv[1:] = {[str(word) for word in command]}\nmain()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.rpartition("imported ")[2].split())


def test_commands_import_only_what_they_use(data):
    large = {"rich", "networkx", "jinja2", "scipy", "pandas", "pyarrow"}
    assert not imported_by("--version") & {*large, "numpy", "corate.types"}
    assert not imported_by("info", "--json") & {*large, "numpy", "corate.types"}
    derived = imported_by("derive", "A-B B-C")
    assert "corate.rate.trees" in derived
    assert not derived & {*large, "numpy", "corate._native", "corate.corpus", "corate.model"}
    rates = imported_by("rates", data / "train.tsv", "--json")
    assert "numpy" in rates
    assert not rates & {*large, "corate.training", "corate.graphs"}


def test_help_of_commands_imports_no_numpy():
    import corate.cli.app as program

    modules = [f"corate.cli.{name}" for name in program.COMMANDS.values()]
    code = f"import importlib, sys; [importlib.import_module(m) for m in {modules}]; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
    assert tuple(spans.SCHEMES) == shared_options.SCHEMES


@posix
def test_a_reader_that_leaves_is_no_error(model, data):
    with subprocess.Popen(
        [*PROGRAM, "tag", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        process.stdin.write((data / "test.tsv").read_bytes())
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@posix
def test_a_pipe_is_answered_while_it_is_open_and_ctrl_c_ends_it(model):
    with subprocess.Popen(
        [*PROGRAM, "tag", model, "--format", "columns"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write(b"Boston\n\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Boston\t")
        process.send_signal(signal.SIGINT)
        process.stdin.close()  # a signal just before read() is seen only when that returns
        assert process.wait() == 130
        assert process.stderr.read() == b"corate: interrupted\n"


@posix
def test_ctrl_c_during_training_is_130_and_leaves_nothing(data, tmp_path):
    code = (
        "import os, signal, corate; from corate.cli import main\n"
        "corate.train = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
        "main()"
    )
    args = ["train", data / "train.tsv", "-o", tmp_path / "m.corate"]
    run = subprocess.run([sys.executable, "-c", code, *args], capture_output=True)
    assert run.returncode == 130
    assert run.stderr == b"corate: interrupted\n"
    assert not list(tmp_path.iterdir())


@posix
def test_a_disk_that_fills_up_leaves_the_old_model(data, tmp_path):
    import resource

    model = tmp_path / "m.corate"
    model.write_bytes(b"the old model")
    run = subprocess.run(
        [*PROGRAM, "train", data / "train.tsv", "-o", model],
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    assert run.returncode == 1
    assert run.stderr.startswith(b"corate: error: ")
    assert run.stderr.count(b"\n") == 1
    assert model.read_bytes() == b"the old model"
    assert [p.name for p in tmp_path.iterdir()] == ["m.corate"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_output_that_is_full_is_exit_code_1(model):
    with open("/dev/full", "wb") as full:
        run = subprocess.run([*PROGRAM, "info", model], stdout=full, stderr=subprocess.PIPE)
    assert run.returncode == 1
    assert b"No space left" in run.stderr
    assert b"Traceback" not in run.stderr


@posix
@pytest.mark.parametrize("start", [PROGRAM, [sys.executable, "-c", "from corate.cli import main; main()"]], ids=len)
@pytest.mark.parametrize("how", ["os.kill(os.getpid(), signal.SIGINT)", "raise KeyboardInterrupt"])
@pytest.mark.parametrize("package", ["numpy", "click"])
def test_ctrl_c_while_packages_are_imported_is_130(tmp_path, start, how, package):
    (tmp_path / f"{package}.py").write_text(f"import os, signal\n{how}\nraise AssertionError('it went on')\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    model = tmp_path / "m.corate"
    model.touch()
    run = subprocess.run([*start, "info", model], capture_output=True, env={**os.environ, "PYTHONPATH": paths})
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"corate: interrupted\n")


def test_ctrl_c_is_back_to_normal_when_the_program_has_started(corate):
    before = signal.getsignal(signal.SIGINT)
    corate("--version")
    assert signal.getsignal(signal.SIGINT) is before
