"""Completion: the scripts that earlier versions installed go on working, and new ones can be installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corate.cli.app import SHELLS

#: What each script says, and what it understands, for these words and the last one to complete.
CASES = [
    (["corate", "tr"], "train", {"bash": "train\n", "fish": "train\tTrain on labelled text"}),
    (["corate", "train", "--method", "pol"], "polish", {"bash": "polish\n", "zsh": '"polish"'}),
    (["corate", "train", "x.tsv", "--checkp"], "--checkpoint", {"powershell": "--checkpoint:::Write this file"}),
    (["corate", "graph", "quer"], "query", {"bash": "query\n"}),
]


def asked(monkeypatch, corate, shell, words, action="get-args"):
    """The answer to the script of a shell."""
    line = " ".join(words)
    variables = {
        "_CORATE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1],
        "_TYPER_COMPLETE_FISH_ACTION": action,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return corate()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("words", "completed", "said"), CASES, ids=lambda x: x if isinstance(x, str) else "")
def test_words_are_completed(monkeypatch, corate, shell, words, completed, said):
    result = asked(monkeypatch, corate, shell, words)
    assert (result.code, result.err) == (0, "")
    assert completed in result.text
    assert said.get(shell, "") in result.text


def test_where_nothing_is_known_the_shell_completes_files(monkeypatch, corate):
    words = ["corate", "train", "tra"]
    assert asked(monkeypatch, corate, "bash", words).text == "\n"
    assert asked(monkeypatch, corate, "zsh", words).text == "_files\n"
    assert asked(monkeypatch, corate, "fish", words, "is-args").code == 1
    assert asked(monkeypatch, corate, "fish", ["corate", "tr"], "is-args").code == 0


@pytest.mark.parametrize("quoted", ["'my mod", '"my mod', "'my model' --metho"])
def test_quotation_marks_may_be_open(monkeypatch, corate, quoted):
    assert asked(monkeypatch, corate, "zsh", ["corate", "train", quoted]).code == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_of_bash_works_in_bash(tmp_path):
    (tmp_path / "corate").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m corate.cli "$@"\n')
    (tmp_path / "corate").chmod(0o755)
    lines = [
        f'PATH="{tmp_path}:$PATH"',
        'eval "$(corate --show-completion bash)"',
        "COMP_WORDS=(corate tag m.corate --form)",
        "COMP_CWORD=3",
        "_corate_completion corate",
        'echo "${COMPREPLY[@]}"',
    ]
    run = subprocess.run(["bash", "--norc", "-c", "\n".join(lines)], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("--format\n", "")


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", ".bash_completions/corate.sh"),
        ("zsh", ".zfunc/_corate"),
        ("fish", ".config/fish/completions/corate.fish"),
    ],
)
def test_completion_is_installed_once(monkeypatch, corate, tmp_path, shell, place):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    for _ in range(2):
        result = corate("--install-completion")
        assert result.code == 0
        assert f"{shell} completion installed in {tmp_path / place}" in result.text
    assert (tmp_path / place).read_text(encoding="utf-8") == corate("--show-completion", shell).text
    if shell != "fish":
        assert len((tmp_path / f".{shell}rc").read_text(encoding="utf-8").strip().split("\n")) == 1


def test_an_unknown_shell_is_wrong_usage(monkeypatch, corate):
    monkeypatch.setenv("SHELL", "/bin/oil")
    result = corate("--install-completion")
    assert result.code == 2
    assert "name it: bash, zsh" in result.err
    assert corate("--show-completion", "oil").code == 2
