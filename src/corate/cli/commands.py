"""What commands are made of: click's commands, options and arguments, with help in sections and near matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from corate.cli.config import ignore_config, name_config, place_in_config, read_config

__all__ = ["Command", "Group", "OneOf", "Option", "argument", "chosen", "command", "group", "option", "sections"]

_F = TypeVar("_F", bound=Callable[..., Any])
_HELP_ALL = "corate.help_all"
_NO_CONFIG = "Ignore corate.toml and [tool.corate] of pyproject.toml, which hold options for the commands."


class OneOf(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """One of some names; the shell completes them."""

    name = "name"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The names, for help."""
        return f"<{'|'.join(self.names)}>"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value, if it is one of the names."""
        if value not in self.names:
            raise click.BadParameter(f"{value!r} is not one of {', '.join(self.names)}", ctx, param)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin so."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]


class Option(click.Option):
    """An option in a section of the help. ``shared`` if it means the same in several commands."""

    def __init__(self, *args: Any, panel: str | None = None, shared: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.panel, self.shared = panel, shared

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value in its type. An error names the file that the value is from."""
        try:
            return super().process_value(ctx, value)
        except click.BadParameter as error:
            place = place_in_config(ctx, self.name)
            if not place:
                raise
            hint = error.param_hint
            raise click.BadParameter(f"{place}: {error.message}", error.ctx, error.param, hint) from None


class Argument(click.Argument):
    """An argument with a line in the help."""

    def __init__(self, *args: Any, help: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.help = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """The name and the help text."""
        return self.make_metavar(ctx), f"{self.help}  [required]" if self.required else self.help or ""


def argument(metavar: str, help: str, name: str | None = None, **more: Any) -> Callable[[_F], _F]:
    """Give a function an argument; ``metavar`` is what the help shows, such as ``[FILE]``, and gives the name."""
    name = name or metavar.strip("[]").lower()
    return click.argument(name, cls=Argument, metavar=metavar, help=help, **more)


def option(
    spec: str,
    help: str,
    *,
    default: Any = None,
    number: type[int] | type[float] | None = None,
    least: float | None = None,
    most: float | None = None,
    choices: Sequence[str] = (),
    name: str | None = None,
    check: Callable[[Any], Any] | None = None,
    **more: Any,
) -> Callable[[_F], _F]:
    """Give a function an option.

    ``spec`` is what the help shows, such as ``--output,-o MODEL``. An option without a word for its value is a flag,
    such as ``--parts,--no-parts``, unless it has ``choices``. ``number`` is the type of a number, ``least`` and
    ``most`` its range, and ``name`` the parameter if it has another name than the option. ``check`` returns the value,
    or raises BadParameter.
    """
    names, _, metavar = spec.partition(" ")
    declared = [*([] if name is None else [name]), *names.split(",")]
    if choices:
        more["type"] = OneOf(choices)
    elif not metavar:
        more |= {"is_flag": True}
        if "--no-" in spec.partition(",")[2]:
            declared[-len(names.split(",")) :] = [names.replace(",", "/")]
        elif default is None:
            default = False
    elif number is int:
        more["type"] = click.IntRange(None if least is None else int(least), None if most is None else int(most))
    elif number is float:
        more["type"] = float if least is None else click.FloatRange(least, most)
    if check is not None:
        more["callback"] = lambda ctx, param, value: check(value)
    if not more.get("required"):
        more["default"] = default
    return click.option(*declared, cls=Option, metavar=metavar or None, help=help, show_default=True, **more)


def chosen(table: Mapping[str, Callable[..., Any]], *names: str) -> Callable[[_F], _F]:
    """Give a function some of the options or arguments of a table."""

    def decorate(function: _F) -> _F:
        for name in reversed(names):
            function = table[name](function)
        return function

    return decorate


def _show_all(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _extra_options(help_all: str, config: Callable[..., None], *, hidden: bool) -> list[click.Option]:
    """The options that every command has besides its own and ``--help``."""
    shared: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
    return [
        click.Option(["--no-config"], callback=config, hidden=True, help=_NO_CONFIG, **shared),
        click.Option(["--help-all"], callback=_show_all, hidden=hidden, help=help_all, **shared),
    ]


def sections(
    ctx: click.Context, params: Sequence[click.Parameter], *, panels: bool = True
) -> list[tuple[str, list[click.Parameter]]]:
    """The visible parameters in the sections of the help, each with its title."""
    found: dict[str, list[click.Parameter]] = {"Arguments": [], "Options": []}
    for param in params:
        if param.get_help_record(ctx) is not None:
            section = "Arguments" if isinstance(param, click.Argument) else "Options"
            panel = getattr(param, "panel", None) if panels else None
            found.setdefault(panel or section, []).append(param)
    return [(title, section) for title, section in found.items() if section]


class Command(click.Command):
    """A command whose help has two forms.

    ``--help`` shows the options in ``everyday``, or all of them if ``everyday`` is empty. ``--help-all`` shows all,
    grouped by panel; options without a panel are first. It also shows ``more_examples``.
    """

    def __init__(self, *args: Any, everyday: Sequence[str] = (), more_examples: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.everyday, self.more_examples = everyday, more_examples
        self.extra = _extra_options("Show all options and exit.", read_config, hidden=not everyday)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, with ``--help-all``."""
        return [*super().get_params(ctx), *self.extra]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. It says first which options come from a file."""
        if not ctx.params.get("quiet"):
            name_config(ctx)
        return super().invoke(ctx)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: `format_options` writes the arguments."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for the arguments, one for the options, and with ``--help-all`` one for each panel."""
        few = self._few(ctx)
        for title, params in sections(ctx, self._shown(ctx) if few else self.get_params(ctx), panels=not few):
            with formatter.section(title):
                formatter.write_dl([record for param in params if (record := param.get_help_record(ctx))])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and after the everyday options where the others are."""
        listed = sum(isinstance(p, click.Option) and p.get_help_record(ctx) is not None for p in self.get_params(ctx))
        more = f"\nAll {listed} options: {ctx.command_path} --help-all" if self._few(ctx) else self.more_examples
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{self.epilog or ''}{more}".strip("\n"))

    def _few(self, ctx: click.Context) -> bool:
        return bool(self.everyday) and not ctx.meta.get(_HELP_ALL)

    def _shown(self, ctx: click.Context) -> list[click.Parameter]:
        """The arguments, the everyday options in their order, and the options for help."""
        params = self.get_params(ctx)
        by_name = {param.name: param for param in params}
        arguments = [param for param in params if isinstance(param, click.Argument)]
        return [*arguments, *(by_name[name] for name in self.everyday), *(param for param in params if param.is_eager)]


class Group(click.Group):
    """A command with commands of its own. The error for an unknown name suggests a similar one.

    ``--help-all`` shows the help of each of its commands, too.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.extra = _extra_options("Show the help of all commands and exit.", ignore_config, hidden=False)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, with ``--help-all``."""
        return [*super().get_params(ctx), *self.extra]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands in their order."""
        return list(self.commands)

    def get_help(self, ctx: click.Context) -> str:
        """The help of the group; with ``--help-all``, the help of its commands follows."""
        texts = [super().get_help(ctx)]
        for name in self.list_commands(ctx) if ctx.meta.get(_HELP_ALL) else ():
            found = self.get_command(ctx, name)
            assert found is not None
            texts.append(found.get_help(click.Context(found, info_name=name, parent=ctx)))
        return "\n\n\n".join(texts)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command that the first argument names."""
        found = self.get_command(ctx, args[0])
        if found is None and not ctx.resilient_parsing:
            import difflib

            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            if close:
                ctx.fail(f"No such command {args[0]!r}; did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)


def group(name: str, examples: str) -> Callable[[Callable[..., None]], Group]:
    """Make a function a command with commands of its own."""
    return click.group(name, cls=Group, epilog=examples, no_args_is_help=True)


def command(
    name: str, examples: str, *, everyday: str = "", more_examples: str = ""
) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command; ``everyday`` are the names of the options that its ``--help`` shows."""
    return click.command(name, cls=Command, epilog=examples, everyday=everyday.split(), more_examples=more_examples)
