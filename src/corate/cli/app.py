"""The ``corate`` program: its commands, its help and its version."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from corate.cli import compare, demo, derive, evaluate, info, rates, reproduce, tag, train, update
from corate.cli.exits import EXIT_CODES, exit_codes
from corate.cli.help import GroupedCommand

__all__ = ["app"]


class _Commands(TyperGroup):
    """The commands in the order of definition, each with the exit codes of `exit_codes`."""

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
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.callback()
def _corate(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


app.command("train", cls=GroupedCommand, epilog=train.EXAMPLES)(train.train)
app.command("tag", cls=GroupedCommand, epilog=tag.EXAMPLES)(tag.tag)
app.command("eval", cls=GroupedCommand, epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command("compare", cls=GroupedCommand, epilog=compare.EXAMPLES)(compare.compare)
app.command("update", cls=GroupedCommand, epilog=update.EXAMPLES)(update.update)
app.command("info", cls=GroupedCommand, epilog=info.EXAMPLES)(info.info)
app.command("rates", cls=GroupedCommand, epilog=rates.EXAMPLES)(rates.rates)
app.command("derive", cls=GroupedCommand, epilog=derive.EXAMPLES)(derive.derive)
app.command("demo", cls=GroupedCommand, epilog=demo.EXAMPLES)(demo.demo)
app.command("reproduce", cls=GroupedCommand, epilog=reproduce.EXAMPLES)(reproduce.reproduce)
