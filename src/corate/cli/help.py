"""Help texts: everyday options, or all of them in groups, also in plain text."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

__all__ = ["CommandGroup", "GroupedCommand", "SuggestingGroup"]


def _show_all(ctx: Any, param: Any, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.command.all_shown = True
        try:
            typer.echo(ctx.get_help())
        finally:
            ctx.command.all_shown = False
        raise typer.Exit


def _help_all(help: str, *, hidden: bool = False) -> TyperOption:
    return TyperOption(
        param_decls=["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        hidden=hidden,
        help=help,
    )


class GroupedCommand(TyperCommand):
    """A command whose help has two forms.

    ``--help`` shows the options in ``everyday``, or all of them if ``everyday`` is empty. ``--help-all`` shows all,
    grouped by panel; options without a panel are first. It also shows ``more_examples``.
    """

    everyday: Sequence[str] = ()
    more_examples: str = ""
    all_shown = False
    _help_all: TyperOption | None = None

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, with ``--help-all``."""
        if self._help_all is None:
            self._help_all = _help_all("Show all options and exit.", hidden=not self.everyday)
        return [*super().get_params(ctx), self._help_all]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for the arguments, one for the options, and with ``--help-all`` one for each panel."""
        few = bool(self.everyday) and not self.all_shown
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self._shown(ctx) if few else self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                section = "Arguments" if param.param_type_name == "argument" else "Options"
                panel = None if few else getattr(param, "rich_help_panel", None)
                sections.setdefault(panel or section, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, and after the everyday options where the others are."""
        given = self.epilog
        try:
            if self.all_shown or not self.everyday:
                self.epilog = f"{given or ''}{self.more_examples}"
            else:
                self.epilog = f"{given or ''}\nAll {self._count(ctx)} options: {ctx.command_path} --help-all"
            super().format_epilog(ctx, formatter)
        finally:
            self.epilog = given

    def _shown(self, ctx: Any) -> list[Any]:
        """The arguments, the everyday options in their order, and the two help options."""
        params = self.get_params(ctx)
        by_name = {param.name: param for param in params}
        arguments = [param for param in params if param.param_type_name == "argument"]
        return [*arguments, *(by_name[name] for name in self.everyday), *params[-2:]]

    def _count(self, ctx: Any) -> int:
        """The number of options that ``--help-all`` shows."""
        options = (param for param in self.get_params(ctx) if param.param_type_name == "option")
        return sum(param.get_help_record(ctx) is not None for param in options)


class SuggestingGroup(TyperGroup):
    """A command with commands of its own. The error for an unknown name suggests a similar one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names."""
        names = self.list_commands(ctx)
        close = difflib.get_close_matches(args[0], names, n=1)
        if close and args[0] not in names and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}; did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)


class CommandGroup(SuggestingGroup):
    """A command with commands of its own. ``--help-all`` shows the help of each of them, too."""

    all_shown = False
    _help_all: TyperOption | None = None

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, with ``--help-all``."""
        if self._help_all is None:
            self._help_all = _help_all("Show the help of all commands and exit.")
        return [*super().get_params(ctx), self._help_all]

    def get_help(self, ctx: Any) -> str:
        """The help of the group; with ``--help-all``, the help of its commands follows."""
        texts = [super().get_help(ctx)]
        for name in self.list_commands(ctx) if self.all_shown else ():
            command: Any = self.get_command(ctx, name)
            texts.append(command.get_help(command.context_class(command, info_name=name, parent=ctx)))
        return "\n\n\n".join(texts)
