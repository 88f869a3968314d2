"""The ``corate`` program: its commands, its help and its version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import Group, OneOf
from corate.cli.exits import EXIT_CODES, exit_codes
from corate.errors import CorateError, shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

__all__ = ["app"]

#: The commands in the order that help lists them, each with its module, which holds it under the name of the module
#: with a capital. A module is imported when its command is used, or listed.
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
#: Shells in which options can be completed.
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
#: Commands of packages that may not be installed, and how to get them.
_ELSEWHERE = {
    "reproduce": "the experiments of the paper are a project of their own: run pip install ./reproduction in a clone "
    "of corate's repository",
}
#: What to do if a command runs out of memory.
_MEMORY_REMEDIES = {
    "train": "train on fewer sentences or with fewer templates, or limit it with --memory",
    **dict.fromkeys(("compare", "update"), "train on fewer sentences or with fewer templates"),
    "tag": "tag the text in several files, or with fewer threads",
    "eval": "evaluate the text in several files, or with fewer threads",
}


class _Program(Group):
    """The commands in the order of definition, each with the exit codes of `exit_codes`."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for param in self.extra:
            param.hidden = False

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(dict.fromkeys([*COMMANDS, *_ELSEWHERE, *sorted(_registered().names)]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command, None if there is none of this name."""
        if cmd_name in COMMANDS:
            name = COMMANDS[cmd_name]
            found: click.Command = getattr(import_module(f"corate.cli.{name}"), name.capitalize())
            return found
        for entry in _registered().select(name=cmd_name):
            try:
                registered: click.Command = entry.load()
            except (AttributeError, ImportError) as error:
                return _missing(cmd_name, f"{entry.value} cannot be loaded: {error}")
            return registered
        return _missing(cmd_name, f"it is not installed; {_ELSEWHERE[cmd_name]}") if cmd_name in _ELSEWHERE else None

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """The context of the options before the command. ``--help`` and ``--version`` write here."""
        with exit_codes(), _short_messages():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was parsed."""
        with exit_codes(), _short_messages():
            try:
                return super().invoke(ctx)
            except MemoryError:
                remedy = _MEMORY_REMEDIES.get(ctx.invoked_subcommand or "", "use less data or fewer threads")
                raise CorateError(f"not enough memory; {remedy}") from None


def _registered() -> EntryPoints:
    """The commands of other packages: click commands, which they register as entry points of this group."""
    from importlib.metadata import entry_points

    return entry_points(group="corate.commands")


def _missing(name: str, reason: str) -> click.Command:
    """A command of a package that is not installed, or not usable."""

    def fail(given: tuple[str, ...]) -> None:
        raise CorateError(f"corate {name} is not available: {reason}")

    given = click.Argument(["given"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(
        name,
        callback=fail,
        params=[given],
        help=f"Not available: {reason}.",
        short_help="Not available.",
        context_settings={"ignore_unknown_options": True},
    )


@contextmanager
def _short_messages() -> Iterator[None]:
    """Shorten the values in errors of wrong usage."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # its message is the help
        raise
    except click.UsageError as error:
        raise click.UsageError(shortened(error.format_message()), error.ctx) from None


def _print_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import corate

        click.echo(f"corate {corate.__version__}")
        ctx.exit()


def _show_completion(ctx: click.Context, param: click.Parameter, shell: str | None) -> None:
    if shell is not None and not ctx.resilient_parsing:
        from corate.cli import completion

        click.echo(completion.install(shell) if param.name == "install_completion" else completion.script(shell))
        ctx.exit()


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
_FLAG: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
_SHELL: dict[str, Any] = {
    "type": OneOf(("auto", *SHELLS)),
    "metavar": "[SHELL]",
    "is_flag": False,
    "flag_value": "auto",
    "callback": _show_completion,
    "expose_value": False,
}
app = _Program(
    name="corate",
    help="Train, use and evaluate sequence labellers.",
    epilog=_EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    params=[
        click.Option(["-V", "--version"], callback=_print_version, help="Show the version and exit.", **_FLAG),
        click.Option(
            ["--install-completion"], help="Install completion for the current shell, or for this one.", **_SHELL
        ),
        click.Option(
            ["--show-completion"],
            help="Show completion for the current shell, to copy it or customize the installation.",
            **_SHELL,
        ),
    ],
)
