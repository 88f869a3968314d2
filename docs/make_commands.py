"""Prints docs/commands.md, all commands with all their options, from the program itself: ``make docs/commands.md``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import click

from corate.cli.app import app
from corate.cli.commands import sections

INTRODUCTION = """\
# Commands

This page describes all commands and options. `make docs/commands.md` generates it from the program. In a terminal,
`corate COMMAND --help` shows the options that most people use, and `corate COMMAND --help-all` shows all of them.

`-` as a file is standard input or standard output. Files may be compressed (`.gz`, `.bz2`, `.xz`, and `.zst` with the
extra `zstd`). `corate --install-completion` installs the completion of commands and options in your shell. Options can
also be in [a file](scripts.md#options-in-a-file), which `--no-config` ignores.

| exit code | meaning |
| --- | --- |
| 0 | Success. Also if the reader of a pipe closed it, and if Ctrl-C ended `corate train --keep-partial` early. |
| 1 | The data, the model or a file cannot be used. One line on standard error says which, where, and what to do. |
| 2 | Wrong usage: an unknown option, or a wrong value of an option. |
| 3 | `corate reproduce` lacks a corpus. Experiments that need no corpus were run. |
| 130 | Interrupted with Ctrl-C. Old files stay as they were. `corate train` saves MODEL.partial. |
| 129, 143 | Ended by SIGHUP or SIGTERM. Old files stay as they were, and temporary files are removed. |
"""


def _cell(text: str) -> str:
    """Text for a cell of a table: words that Markdown would read as markup stay as they are."""
    text = re.sub(r"; 0<=x<=\d{10,}", "", " ".join(text.split()))  # the range of seeds
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")
    return escaped.replace("<", "&lt;").replace("[", "\\[")


def _code(text: str) -> str:
    """An option with its value, as code."""
    return "`" + text.replace("|", "\\|") + "`"


def tables(command: Any, context: Any) -> Iterator[str]:
    """The arguments, the options, and the options of each panel, each as a table."""
    params = [param for param in command.get_params(context) if not param.is_eager]
    for title, shown in sections(context, params):
        rows = [f"| {_code(name)} | {_cell(help)} |" for name, help in (p.get_help_record(context) for p in shown)]
        yield "\n".join([f"**{title}**", "", "| | |", "| --- | --- |", *rows])


def section(command: Any, context: Any, level: int) -> Iterator[str]:
    """The paragraphs about a command, and those about its own commands."""
    name = context.command_path
    yield f"{'#' * level} {name}"
    yield inspect.cleandoc(command.help or "").replace("\b\n", "").replace("<", "&lt;")
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    yield f"    {usage}"
    yield from tables(command, context)
    examples = inspect.cleandoc((command.epilog or "") + getattr(command, "more_examples", ""))
    if examples:
        lines = [
            f"    {line[2:]}" if line.startswith("  ") else line for line in examples.replace("\b\n", "").split("\n")
        ]
        yield re.sub(r"^(\S.*)\n    ", r"\1\n\n    ", "\n".join(lines), flags=re.MULTILINE)
    for sub in getattr(command, "list_commands", lambda _: [])(context):
        found = command.get_command(context, sub)
        yield from section(found, click.Context(found, info_name=sub, parent=context), level + 1)


def page() -> str:
    """The whole page."""
    context = click.Context(app, info_name="corate")
    parts = [INTRODUCTION.rstrip()]
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        parts += section(command, click.Context(command, info_name=name, parent=context), 2)
    return "\n\n".join(part.rstrip() for part in parts if part.strip()) + "\n"


if __name__ == "__main__":
    print(page(), end="")
