"""Options from a file: ``corate.toml``, or the table ``[tool.corate]`` of ``pyproject.toml``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from corate.cli.terminal import print_line
from corate.errors import Argument, ConfigError, CorateError, FeatureError

__all__ = ["blaming_config", "ignore_config", "name_config", "place_in_config", "read_config", "set_in_config"]

_IGNORED, _FILE = "corate.no_config", "corate.config"
#: Options that are no options of a run.
_OTHERS = {"--help", "--help-all", "--no-config"}


def ignore_config(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """The callback of ``--no-config`` before the command."""
    if wanted:
        ctx.meta[_IGNORED] = True


def read_config(ctx: click.Context, param: click.Parameter, ignored: bool) -> None:
    """The callback of ``--no-config`` of a command: without it, the defaults are those of the nearest file."""
    if ignored or ctx.resilient_parsing or ctx.meta.get(_IGNORED):
        return
    for path, table in _tables():
        ctx.meta[_FILE] = os.path.relpath(path)
        try:
            ctx.default_map = dict(_options(ctx, table))
        except ValueError as error:
            raise click.UsageError(f"{ctx.meta[_FILE]}: {error}", ctx) from None
        return


def place_in_config(ctx: click.Context, name: str | None) -> str:
    """The name of the file that gives an option its value; empty if the command line or the program does."""
    source = None if name is None else ctx.get_parameter_source(name)
    return str(ctx.meta[_FILE]) if source is not None and source.name == "DEFAULT_MAP" else ""


def set_in_config(ctx: click.Context, name: str) -> Sequence[str]:
    """What the file gives an option that may be repeated, where the command line also gives it."""
    source = ctx.get_parameter_source(name)
    given = (ctx.default_map or {}).get(name, ())
    return given if source is not None and source.name == "COMMANDLINE" else ()


def name_config(ctx: click.Context) -> None:
    """Say which options come from which file, if any, on standard error."""
    if given := _given(ctx):
        print_line(f"from {ctx.meta[_FILE]}: {_listed(given)}")


@contextmanager
def blaming_config(ctx: click.Context) -> Iterator[None]:
    """Let errors of the body name the file, if they are about an option from it or do not say which option is wrong."""
    try:
        yield
    except click.BadParameter as error:
        hint = error.param_hint or ()
        about = [*(hint.split() if isinstance(hint, str) else hint), *([error.param.name or ""] if error.param else [])]
        if not (blamed := _blamed(ctx, about)):
            raise
        raise click.BadParameter(f"{blamed}: {error.message}", error.ctx, error.param, error.param_hint) from None
    except click.UsageError as error:
        if not (blamed := _blamed(ctx, [])):
            raise
        raise click.UsageError(f"{blamed}: {error.message}", error.ctx) from None
    except CorateError as error:
        named = [error.option] if error.option else []

        def note(argument: Argument) -> str:
            named.append(argument.name)
            return ""

        error.worded(note)
        if named or isinstance(error, ConfigError | FeatureError):
            blamed = _blamed(ctx, named)
            error.remedy = "; ".join(filter(None, (error.remedy, f"see {blamed}" if blamed else "")))
        raise


def _blamed(ctx: click.Context, about: Sequence[str]) -> str:
    """The file that gives one of these options; with all its options if there are none; empty if it gives none."""
    given = _given(ctx)
    if not given or not about:
        return f"{ctx.meta[_FILE]}, which sets {_listed(given)}" if given else ""
    return str(ctx.meta[_FILE]) if any({*about} & {param.name, *param.opts} for param in given) else ""


def _given(ctx: click.Context) -> list[click.Parameter]:
    """The options that the file gives."""
    return [param for param in ctx.command.get_params(ctx) if place_in_config(ctx, param.name)]


def _listed(params: Iterable[click.Parameter]) -> str:
    return ", ".join(max(param.opts, key=len).lstrip("-") for param in params)


def _tables() -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The files with options, the nearest first: in the current folder and those around it."""
    try:
        folder = Path.cwd()
    except OSError:  # it was removed
        return
    for place in (folder, *folder.parents):
        if os.path.isfile(path := place / "corate.toml"):
            yield path, _parsed(path, _read(path))
        if os.path.isfile(path := place / "pyproject.toml"):
            table = _own_table(path)
            if table is not None:
                yield path, table


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise click.UsageError(f"{os.path.relpath(path)}: {error.strerror}; --no-config ignores it") from None


def _own_table(path: Path) -> Mapping[str, Any] | None:
    """The table of a pyproject.toml that has options; None if it has none. Other tools check the rest of the file."""
    try:
        text = path.read_bytes()
    except OSError:
        return None
    if b"corate" not in text or b"tool" not in text:  # there is nothing to parse
        return None
    try:
        tool = _parsed(path, text).get("tool")
    except click.UsageError:
        if re.search(rb"^\s*\[+\s*tool\s*\.\s*['\"]?corate\b(?!-)", text, re.MULTILINE):
            raise
        return None
    if not isinstance(tool, dict) or "corate" not in tool:
        return None
    if not isinstance(tool["corate"], dict):
        raise click.UsageError(f"{os.path.relpath(path)}: tool.corate must be a table of options")
    return tool["corate"]


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: dict[str, Any] = tomllib.loads(text.decode("utf-8-sig"))
    except ValueError as error:
        raise click.UsageError(f"{os.path.relpath(path)}: {error}") from None
    return found


def _options(ctx: click.Context, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The parameters of a command that a table sets, with their values. Raises ValueError for a wrong table."""
    from corate.cli.shared_options import SHARED

    root, words = ctx.find_root(), ctx.command_path.split()[1:]
    own = {
        option.lstrip("-"): param
        for param in ctx.command.get_params(ctx)
        for option in param.opts
        if isinstance(param, click.Option)
        and option not in _OTHERS
        and (option.startswith("--") or param.opts[1:] == [])
    }
    general = {name.replace("_", "-") for name in SHARED}
    assert isinstance(root.command, click.Group)
    commands = root.command.list_commands(root)
    for key, value in table.items():
        name = key.replace("_", "-")
        if name in general and not isinstance(value, dict):
            if getattr(own.get(name), "shared", False):
                yield _value(own[name], key, value)
        elif key in commands and not isinstance(value, dict):
            raise ValueError(f"{key!r} must be a table of options")
        elif key not in commands:
            if name in own:
                raise ValueError(f"write {key!r} in the table {' '.join(words)!r}: it is for some commands only")
            raise ValueError(_unknown(key, [*general, *commands]))
    for depth, word in enumerate(words):
        table = table.get(word, {})
        if not isinstance(table, dict):
            raise ValueError(f"{word!r} must be a table of options")
        if depth < len(words) - 1:  # a group of commands
            assert isinstance(ctx.parent, click.Context)
            group = ctx.parent.command
            names = group.list_commands(ctx.parent) if isinstance(group, click.Group) else []
            for key in table:
                if key not in names:
                    raise ValueError(_unknown(key, names))
    for key, value in table.items():
        if key.replace("_", "-") not in own:
            raise ValueError(f"{_unknown(key, own)} in {' '.join(words)!r}")
        yield _value(own[key.replace("_", "-")], key, value)


def _unknown(key: str, names: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(key.replace("_", "-"), list(names), n=1)
    return f"unknown key {key!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def _value(param: click.Option, key: str, value: Any) -> tuple[str, Any]:
    """The name of a parameter, and its value as on the command line."""
    if param.is_flag:
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be true or false, not {value!r}")
        return param.name or "", value
    values = value if isinstance(value, list) and param.multiple else [value]
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in values):
        raise ValueError(
            f"{key} must be text or a number{' or a list of them' if param.multiple else ''}, not {value!r}"
        )
    texts = [str(one) for one in values]
    return param.name or "", texts if param.multiple else texts[0]
