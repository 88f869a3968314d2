"""The ``corate`` program: its commands, its help and its version."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from corate.cli.exits import EXIT_CODES, exit_codes
from corate.cli.help import GroupedCommand, SuggestingGroup

__all__ = ["app"]


#: The commands in the order that help lists them, each with its module and function. A module is imported when its
#: command is used, or listed.
COMMANDS = {
    "train": "train",
    "tag": "tag",
    "eval": "evaluate",
    "compare": "compare",
    "active": "active",
    "update": "update",
    "classes": "classes",
    "info": "info",
    "explain": "explain",
    "inspect": "inspect",
    "convert": "convert",
    "shrink": "shrink",
    "rates": "rates",
    "derive": "derive",
    "graph": "graph",
    "demo": "demo",
    "reproduce": "reproduce",
}
_SETTINGS: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 110},
}


class _Commands(SuggestingGroup):
    """The commands in the order of definition, each with the exit codes of `exit_codes`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command, None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        name = COMMANDS[cmd_name]
        module = import_module(f"corate.cli.{name}")
        if isinstance(found := getattr(module, name), typer.Typer):  # commands of its own
            found.info.name = cmd_name
            group = typer.main.get_group(found)
            group.name = cmd_name
            return group
        alone = typer.Typer(add_completion=False, **_SETTINGS)
        alone.command(cmd_name, cls=GroupedCommand, epilog=module.EXAMPLES)(found)
        command: Any = typer.main.get_command(alone)
        command.everyday = getattr(module, "EVERYDAY", ())
        command.more_examples = getattr(module, "MORE_EXAMPLES", "")
        return command

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """A context; ``--help`` and ``--version`` write here."""
        with exit_codes():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with exit_codes():
            return super().invoke(ctx)


def _print_version(wanted: bool) -> None:
    if wanted:
        from corate import __version__

        typer.echo(f"corate {__version__}")
        raise typer.Exit


_EPILOG = f"""\
Examples:

\b
  corate demo                                        a demonstration, offline, in seconds
  corate train train.tsv -o model.corate             the last column is the label
  corate tag model.corate new.tsv -o tagged.tsv      appends the predicted label
  corate eval model.corate test.tsv --json
  corate compare train.tsv --test test.tsv           accuracy and training time of all methods
  zcat big.tsv.gz | corate tag model.corate | less

{EXIT_CODES}
"""

app = typer.Typer(
    cls=_Commands,
    help="Train, use and evaluate sequence labellers.",
    epilog=_EPILOG,
    no_args_is_help=True,
    **_SETTINGS,
)


@app.callback()
def _corate(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
