"""Standard streams that are closed: one clear line where one is needed, and nothing lost in silence."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the shell's <&- and >&- are POSIX's")

PROGRAM = f'"{sys.executable}" -m corate.cli'


def shell(command, folder):
    """Run a command line of a shell; its ``corate`` is this one."""
    return subprocess.run(
        ["sh", "-c", command.replace("corate", PROGRAM, 1)], cwd=folder, capture_output=True, text=True
    )


@pytest.fixture
def folder(tmp_path, data, model):
    (tmp_path / "m").write_bytes(model.read_bytes())
    (tmp_path / "text").write_bytes((data / "test.tsv").read_bytes())
    return tmp_path


@pytest.mark.parametrize("command", ["tag m -", "tag m - -o out", "train - -o new"])
def test_standard_input(folder, command):
    ended = shell(f"corate {command} <&-", folder)
    assert ended.returncode == 1
    assert ended.stderr.startswith("corate: error: standard input is closed; ")
    assert (ended.stdout, ended.stderr.count("\n")) == ("", 1)
    assert sorted(path.name for path in folder.iterdir()) == ["m", "text"]


@pytest.mark.parametrize("command", ["tag m text", "info m", "info m --json", "--version"])
def test_standard_output(folder, command):
    ended = shell(f"corate {command} >&-", folder)
    assert ended.returncode == 1
    assert ended.stderr.startswith("corate: error: standard output: the stream is closed; ")
    assert ended.stderr.count("\n") == 1


def test_standard_output_that_is_not_needed(folder):
    train = "train text -o new --method empirical --quiet"
    for command in (train, "update m text --quiet", "tag m text -o tagged"):
        ended = shell(f"corate {command} >&- <&-", folder)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert shell("corate tag m text", folder).stdout == (folder / "tagged").read_text()


def test_standard_error(folder):
    shown = shell("corate info m --json", folder)
    assert shell("corate info m --json 2>&-", folder).stdout == shown.stdout
    for command, code in (("info missing", 1), ("tag", 2), ("tag m text", 0)):
        ended = shell(f"corate {command} 2>&-", folder)
        assert ended.returncode == code
        assert "error" not in ended.stdout, "errors must not run into the output"
    assert shell("corate train text -o new --method empirical 2>&- >&- <&-", folder).returncode == 1
    assert (folder / "new").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_error_that_is_full(folder):
    assert shell("corate info missing 2>/dev/full", folder).returncode == 1
