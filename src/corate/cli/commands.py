"""What commands are made of: a class whose fields are the options, and click's commands with help in sections.

A command declares each option once, as a field of a `Run`: the annotation says its type, `option` the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any

import click

from corate.cli.config import blaming_config, ignore_config, name_config, read_config

__all__ = [
    *("Bundle", "Command", "Field", "Group", "OneOf", "Option", "Options", "Run", "argument", "command", "fields_of"),
    *("group", "option", "sections"),
]

_HELP_ALL = "corate.help_all"
_NO_CONFIG = "Ignore corate.toml and [tool.corate] of pyproject.toml, which hold options for the commands."


class OneOf(click.Choice[str]):
    """One of some names; the shell completes them."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The names, for help."""
        return f"<{'|'.join(self.choices)}>"

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """What an error says about another name."""
        return f"{value!r} is not one of {', '.join(self.choices)}"


class Option(click.Option):
    """An option in a section of the help.

    ``shared`` if it means the same in several commands. A flag has a form that unsets it, ``--no-half`` for ``--half``;
    the help shows it only with ``both_forms``.
    """

    def __init__(
        self, *args: Any, panel: str | None = None, shared: bool = False, both_forms: bool = True, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.panel, self.shared, self.both_forms = panel, shared, both_forms

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and the help text; None if it is hidden."""
        record = super().get_help_record(ctx)
        return record if record is None or self.both_forms else (record[0].partition(" / ")[0], record[1])


class Argument(click.Argument):
    """An argument with a line in the help."""

    def __init__(self, *args: Any, help: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.help = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """The name and the help text."""
        return self.make_metavar(ctx), f"{self.help}  [required]" if self.required else self.help or ""


# -- declarations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """An option or an argument, before a name and an annotation (``kind``) make it one."""

    make: Callable[[str, str], click.Parameter]
    default: Any = None

    def parameters(self, name: str, kind: str) -> list[click.Parameter]:
        """The parameter that the command line has for this field."""
        return [self.make(name, kind)]

    def value(self, name: str, given: Mapping[str, Any]) -> Any:
        """The value of the field, from those of all parameters."""
        return given.get(name, self.default)


@dataclass(frozen=True)
class Bundle:
    """Fields whose values ``made`` puts together, by their names, each with its kind."""

    made: Callable[..., Any]
    fields: Mapping[str, tuple[Field, str]]

    def parameters(self, name: str, kind: str) -> list[click.Parameter]:
        """The parameters of all fields."""
        return [field.make(own, kind) for own, (field, kind) in self.fields.items()]

    def value(self, name: str, given: Mapping[str, Any]) -> Any:
        """What is made of the values that are given."""
        return self.made(**{own: given[own] for own in self.fields if own in given})


class Options:
    """The base of classes whose annotated fields are options: each is declared by `option`, `argument` or `Bundle`.

    >>> class Colours(Options):
    ...     ink: str = option("--ink NAME", "The colour.", default="black")
    ...     shades: int | None = option("--shades N", "How many.")
    >>> vars(Colours(shades=3))
    {'ink': 'black', 'shades': 3}
    """

    def __init__(self, **given: Any) -> None:
        for name, (field, _) in fields_of(type(self)).items():
            setattr(self, name, field.value(name, given))


def fields_of(options: type[Options]) -> dict[str, tuple[Any, str]]:
    """The fields of a class in their order, and after them those of its bases, each with its annotation."""
    found = ((base, name, kind) for base in options.__mro__ for name, kind in get_annotations(base).items())
    return {name: (vars(base)[name], str(kind)) for base, name, kind in found}


class Run(Options):
    """One run of a command, with the options that were given."""

    def run(self) -> None:
        """Run the command."""
        raise NotImplementedError


def argument(metavar: str, help: str, **more: Any) -> Any:
    """An argument; ``metavar`` is what the help shows, such as ``[FILE]``."""

    def make(name: str, kind: str) -> click.Parameter:
        return Argument([name], metavar=metavar, help=help, **more)

    return Field(make, more.get("default"))


def option(
    spec: str,
    help: str,
    *,
    default: Any = None,
    least: float | None = None,
    most: float | None = None,
    choices: Sequence[str] = (),
    check: Callable[[Any], Any] | None = None,
    **more: Any,
) -> Any:
    """An option.

    ``spec`` is what the help shows, such as ``--output,-o MODEL``. The annotation of the field gives the type: ``str``,
    ``int``, ``float``, ``bool`` for a flag, or ``Sequence`` for an option that can be given several times. A flag with
    two forms has both in ``spec``: ``--parts,--no-parts``. ``least`` and ``most`` are the range of a number. ``check``
    returns the value, or raises BadParameter.
    """
    names, _, metavar = spec.partition(" ")

    def make(name: str, kind: str) -> click.Parameter:
        declared, about = names.split(","), dict(more)
        kind = kind.removesuffix(" | None")
        if kind.startswith("Sequence["):
            about["multiple"], kind = True, kind.removeprefix("Sequence[").removesuffix("]")
        if choices:
            about["type"] = OneOf(choices)
        elif kind == "int":
            about["type"] = click.IntRange(None if least is None else int(least), None if most is None else int(most))
        elif kind == "float":
            about["type"] = float if least is None else click.FloatRange(least, most)
        elif kind == "bool":
            about |= {"is_flag": True, "both_forms": "--no-" in spec[2:]}
            declared = [names.replace(",", "/")] if about["both_forms"] else [_two_forms(declared[0]), *declared[1:]]
        if check is not None:
            about["callback"] = lambda ctx, param, value: check(value)
        if not about.get("required"):
            about["default"] = default
        return Option([name, *declared], metavar=metavar or None, help=help, show_default=kind != "bool", **about)

    if not (metavar or choices or "--no-" in spec[2:]):
        default = bool(default)
    return Field(make, default)


def _two_forms(flag: str) -> str:
    """A flag with the form that unsets it, as click reads them.

    >>> _two_forms("--half"), _two_forms("--no-counts")
    ('--half/--no-half', '--no-counts/--counts')
    """
    name = flag[2:]
    return f"{flag}/--{name[3:] if name.startswith('no-') else f'no-{name}'}"


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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments. Errors about a value from a file name the file."""
        with blaming_config(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. It says first which options come from a file."""
        if not ctx.params.get("quiet"):
            name_config(ctx)
        with blaming_config(ctx):
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
    name: str, examples: str = "", *, everyday: str = "", more_examples: str = "", group: Group | None = None
) -> Callable[[type[Run]], Command]:
    """Make a class a command, of a ``group`` if one is given: its docstring is the help, its fields are the options.

    ``everyday`` are the names of the options that its ``--help`` shows.
    """

    def decorate(run: type[Run]) -> Command:
        made = Command(
            name,
            callback=lambda **given: run(**given).run(),
            params=[param for own, (field, kind) in fields_of(run).items() for param in field.parameters(own, kind)],
            help=run.__doc__,
            epilog=examples,
            everyday=everyday.split(),
            more_examples=more_examples,
        )
        if group is not None:
            group.add_command(made)
        return made

    return decorate
