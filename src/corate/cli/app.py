"""The ``corate`` program: its commands, its help and its version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from corate.cli.exits import EXIT_CODES, exit_codes
from corate.cli.help import GroupedCommand, SuggestingGroup
from corate.errors import CorateError, shortened

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
}
#: The commands of other packages, each with what to do if its package is not installed. The package has an entry point
#: of this name in the group GROUP: a function with the texts that a module of a command has beside it.
OTHERS = {
    "reproduce": "the experiments of the paper are a project of their own; in a clone of the repository, run: "
    "pip install ./reproduction",
}
GROUP = "corate.commands"
#: What to do if a command runs out of memory.
_MEMORY_REMEDIES = {
    "train": "train on fewer sentences or with fewer templates, or limit it with --memory",
    **dict.fromkeys(("compare", "update"), "train on fewer sentences or with fewer templates"),
    "tag": "tag the text in several files, or with fewer threads",
    "eval": "evaluate the text in several files, or with fewer threads",
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
        return [*COMMANDS, *OTHERS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command, None if there is none of this name."""
        if cmd_name in OTHERS:
            found, module = _of_another_package(cmd_name)
        elif cmd_name in COMMANDS:
            module = import_module(f"corate.cli.{COMMANDS[cmd_name]}")
            found = getattr(module, COMMANDS[cmd_name])
        else:
            return None
        if isinstance(found, typer.Typer):  # commands of its own
            found.info.name = cmd_name
            group = typer.main.get_group(found)
            group.name = cmd_name
            return group
        alone = typer.Typer(add_completion=False, **_SETTINGS)
        settings = {"context_settings": module.SETTINGS} if hasattr(module, "SETTINGS") else {}
        alone.command(cmd_name, cls=GroupedCommand, epilog=module.EXAMPLES, **settings)(found)
        command: Any = typer.main.get_command(alone)
        command.everyday = getattr(module, "EVERYDAY", ())
        command.more_examples = getattr(module, "MORE_EXAMPLES", "")
        return command

    def make_context(self, *args: Any, **more: Any) -> Any:
        """The context of the options before the command. ``--help`` and ``--version`` write here."""
        with exit_codes(), _short_messages():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was parsed."""
        with exit_codes(), _short_messages():
            try:
                return super().invoke(ctx)
            except MemoryError:
                remedy = _MEMORY_REMEDIES.get(ctx.invoked_subcommand, "use less data or fewer threads")
                raise CorateError(f"not enough memory; {remedy}") from None


def _of_another_package(name: str) -> tuple[Any, Any]:
    """The function of a command and its module; without its package, a function that says how to get it."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP, name=name):
        return entry.load(), import_module(entry.module)

    def missing(given: Annotated[list[str] | None, typer.Argument(metavar="[ARGUMENTS]...")] = None) -> None:
        raise CorateError(f"the command {name!r} is not installed: {OTHERS[name]}")

    missing.__doc__ = f"Not installed: {OTHERS[name]}."
    return missing, SimpleNamespace(EXAMPLES="", SETTINGS={"ignore_unknown_options": True})


@contextmanager
def _short_messages() -> Iterator[None]:
    """Shorten the values in errors of wrong usage."""
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)
        if isinstance(message, str) and not message.startswith("Usage: "):  # which is the help
            error.message = shortened(message)  # type: ignore[attr-defined]
        raise


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
