"""Completion in bash, zsh, fish and PowerShell: the scripts, how they are installed, and what answers them.

The variables and the form of the answers are those of the scripts that version 0.2 and earlier installed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import click
from click.shell_completion import CompletionItem, ShellComplete

from corate.cli.app import SHELLS
from corate.io.atomic import write_text

__all__ = ["answer", "install", "script"]

_INSTRUCTION = "_CORATE_COMPLETE"
_WORDS, _WORD, _FISH = "_TYPER_COMPLETE_ARGS", "_TYPER_COMPLETE_WORD_TO_COMPLETE", "_TYPER_COMPLETE_FISH_ACTION"

_BASH = """\
_corate_completion() {
    local IFS=$'\\n'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" \\
                   COMP_CWORD=$COMP_CWORD \\
                   _CORATE_COMPLETE=complete_bash $1 ) )
    return 0
}

complete -o default -F _corate_completion corate"""
_ZSH = """\
#compdef corate

_corate_completion() {
  eval $(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" _CORATE_COMPLETE=complete_zsh corate)
}

compdef _corate_completion corate"""
_FISH_CALL = f"env {_INSTRUCTION}=complete_fish {_FISH}=%s {_WORDS}=(commandline -cp) corate"
_FISH_SCRIPT = (
    f'complete --command corate --no-files --arguments "({_FISH_CALL % "get-args"})" '
    f'--condition "{_FISH_CALL % "is-args"}"'
)
_POWERSHELL = """\
Import-Module PSReadLine
Set-PSReadLineKeyHandler -Chord Tab -Function MenuComplete
$scriptblock = {
    param($wordToComplete, $commandAst, $cursorPosition)
    $Env:_CORATE_COMPLETE = "complete_powershell"
    $Env:_TYPER_COMPLETE_ARGS = $commandAst.ToString()
    $Env:_TYPER_COMPLETE_WORD_TO_COMPLETE = $wordToComplete
    corate | ForEach-Object {
        $commandArray = $_ -Split ":::"
        $command = $commandArray[0]
        $helpString = $commandArray[1]
        [System.Management.Automation.CompletionResult]::new(
            $command, $command, 'ParameterValue', $helpString)
    }
    $Env:_CORATE_COMPLETE = ""
    $Env:_TYPER_COMPLETE_ARGS = ""
    $Env:_TYPER_COMPLETE_WORD_TO_COMPLETE = ""
}
Register-ArgumentCompleter -Native -CommandName corate -ScriptBlock $scriptblock"""
_ZSH_ESCAPES = str.maketrans({'"': '""', "'": "''", "$": r"\$", "`": r"\`", ":": r"\\:"})
_SCRIPTS = dict(zip(SHELLS, (_BASH, _ZSH, _FISH_SCRIPT, _POWERSHELL, _POWERSHELL), strict=True))


def answer(program: click.Command) -> int:
    """Answer the script of a shell, or print the script. Returns the exit code."""
    what, _, shell = os.environ[_INSTRUCTION].partition("_")
    if what == "source" or shell not in SHELLS:
        click.echo(script(shell))
        return 0
    args, incomplete = _words(shell)
    found = ShellComplete(program, {}, "corate", _INSTRUCTION).get_completions(args, incomplete)
    if shell == "fish" and os.environ.get(_FISH) == "is-args":
        return 0 if found else 1
    lines = "\n".join(_line(shell, item) for item in found)
    if shell == "zsh":
        lines = f"_arguments '*: :(({lines}))'" if found else "_files"
    click.echo(lines)
    return 0


def _words(shell: str) -> tuple[list[str], str]:
    """The words of the command line so far, and the one to complete."""
    if shell == "bash":
        words, at = _split(os.environ.get("COMP_WORDS", "")), int(os.environ.get("COMP_CWORD", "1"))
        return words[1:at], words[at] if at < len(words) else ""
    line = os.environ.get(_WORDS, "")
    words = _split(line)[1:]
    if shell in ("powershell", "pwsh"):
        incomplete = os.environ.get(_WORD, "")
        return words[:-1] if incomplete else words, incomplete
    return (words[:-1], words[-1]) if words and not line.endswith(" ") else (words, "")


def _split(line: str) -> list[str]:
    """The words of a line, whose last quotation mark may be open.

    >>> _split("corate tag 'my model")
    ['corate', 'tag', 'my model']
    """
    for end in ("", "'", '"'):
        try:
            return shlex.split(line + end)
        except ValueError:
            continue
    return line.split()


def _line(shell: str, item: CompletionItem) -> str:
    """One completion, as the script of the shell reads it."""
    help = re.sub(r"\s", " ", item.help or "")
    if shell == "zsh":
        texts = (str(item.value), help) if help else (str(item.value),)
        return ":".join(f'"{text.translate(_ZSH_ESCAPES)}"' for text in texts)
    if shell == "fish":
        return f"{item.value}\t{help}" if help else str(item.value)
    return str(item.value) if shell == "bash" else f"{item.value}:::{help or ' '}"


def script(shell: str) -> str:
    """The script of a shell."""
    return _SCRIPTS[_known(shell)]


def _known(shell: str) -> str:
    """A shell; the one of the user for ``auto``."""
    if shell == "auto":
        shell = "powershell" if os.name == "nt" else Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"the shell is unknown; name it: {', '.join(SHELLS)}")
    return shell


def install(shell: str) -> str:
    """Install the script of a shell in the user's folder. Says where."""
    shell, home = _known(shell), Path.home()
    text = f"{script(shell)}\n"
    if shell == "bash":
        path = home / ".bash_completions" / "corate.sh"
        _add_line(home / ".bashrc", f"source '{path}'")
    elif shell == "zsh":
        path = home / ".zfunc" / "_corate"
        _add_line(home / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    elif shell == "fish":
        path = home / ".config" / "fish" / "completions" / "corate.fish"
    else:
        subprocess.run([shell, "-Command", "Set-ExecutionPolicy", "Unrestricted", "-Scope", "CurrentUser"], check=False)
        asked = subprocess.run([shell, "-NoProfile", "-Command", "echo", "$profile"], check=True, capture_output=True)
        path = Path(os.fsdecode(asked.stdout).strip())
        text = f"{path.read_text(encoding='utf-8') if path.is_file() else ''}{text}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(str(path), text)
    return f"{shell} completion installed in {path}\nCompletion will take effect once you restart the terminal"


def _add_line(path: Path, line: str) -> None:
    """Add a line to a file of the shell, unless it is there."""
    if not path.is_file() or line not in path.read_text(encoding="utf-8"):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
