"""Command-line options of the training methods, derived from :mod:`corate.training.methods`, which has their help."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from corate.cli.commands import Bundle, Field, option
from corate.cli.config import place_in_config, set_in_config
from corate.cli.exits import as_option
from corate.errors import ConfigError
from corate.training.methods import FORMER, OPTIONS, Method, check_init, options_from_settings, resolve_method
from corate.training.options import SharedOption

__all__ = ["EXPERT", "METHOD_OPTIONS", "chosen_method", "label_weights", "option_of"]

#: The options that only ``--set`` sets; their flags are deprecated.
EXPERT = tuple(name for name, option in OPTIONS.items() if option.expert)


def option_of(name: str) -> str:
    """The command-line option for an option of a method.

    >>> option_of("label_weights"), option_of("boundaries"), option_of("edge_sigma2")
    ('--label-weight', '--no-boundaries', '--edge-sigma2')
    """
    return OPTIONS[name].flag if name in OPTIONS else f"--{name.replace('_', '-')}"


def _declared(known: SharedOption, *, hidden: bool = False) -> tuple[Field, str]:
    """The command-line option for an option of a method."""
    about: dict[str, Any] = {"panel": known.section or None, "hidden": hidden or known.expert}
    if known.kind == "flag":
        spec = known.flag if known.default is not None else f"{known.flag},--no-{known.flag[2:]}"
        return option(spec, known.full_help, **about), "bool"
    if known.kind == "choice":
        return option(known.flag, known.full_help, choices=tuple(map(str, known.choices)), **about), "str"
    kind = {"integer": "float", "number": "float", "label weights": "Sequence[str]"}.get(known.kind, "str")
    return option(f"{known.flag} {known.metavar}", known.full_help, **about), kind


#: The flags that had another name, by that name. Those of expert options keep theirs, which are deprecated anyway.
_FORMER = {former: OPTIONS[name] for former, name in FORMER.items() if not OPTIONS[name].expert}
#: The options of all methods, by their names.
METHOD_OPTIONS: Any = Bundle(
    dict,
    {known.name: _declared(known) for known in OPTIONS.values() if known.flag}
    | {former: _declared(replace(known, name=former), hidden=True) for former, known in _FORMER.items()},
)


def chosen_method(
    name: str,
    given: Mapping[str, Any],
    settings: Sequence[str],
    *,
    features: str | None,
    init: str | None,
    raw: Sequence[str] | None = None,
) -> Method:
    """The options of the method that the command line asks for; a wrong one is wrong usage."""
    values: dict[str, Any] = {}
    ctx = click.get_current_context()
    set_, expert = _from_set(name, [*set_in_config(ctx, "settings"), *settings])
    names = () if place_in_config(ctx, "settings") else (_split(text)[0] for text in settings)
    here = {FORMER.get(name, name) for name in names}
    for flag, value in given.items():
        known = _FORMER.get(flag) or OPTIONS[flag]
        if value is None or value == () or (value is False and known.default is not None):
            continue
        if flag in _FORMER:
            _deprecated(f"--{flag}", "0.4", known.flag)
            if given[known.name] is not None:
                raise click.BadParameter(f"{known.flag} is given, too; omit this option", param_hint=f"--{flag}")
        if known.kind == "label weights":
            values[known.name] = label_weights(value)
        elif known.choices:
            values[known.name] = known.parse(value)
        elif known.expert:
            if known.name in here:
                raise click.BadParameter(f"--set gives {known.name}, too; omit this option", param_hint=known.flag)
            _deprecated(known.flag, "0.4", f"--set {known.name}={_written(value)}")
            expert[known.name] = value
        else:
            values[known.name] = not known.default if known.off else value
    try:
        method = resolve_method(name, set_ | values | {"expert": expert})
        if init is not None:
            check_init(method, features, raw or None)
    except ConfigError as error:
        written = error.option in expert and given.get(error.option) is None
        hint = "--set" if written else None if error.option is None else option_of(error.option)
        raise click.BadParameter(error.worded(as_option), param_hint=hint) from None
    return method


def _deprecated(what: str, version: str, remedy: str) -> None:
    warnings.warn(
        f"{what} is deprecated, and will be removed in version {version}; use {remedy}", FutureWarning, stacklevel=3
    )


def _split(text: str) -> tuple[str, str]:
    """The name and the value of ``NAME=VALUE``."""
    name, _, value = (part.strip() for part in text.partition("="))
    return name.replace("-", "_"), value


def _written(value: Any) -> str:
    return str(value).removesuffix(".0")


def _from_set(method: str, texts: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``--set NAME=VALUE`` sets: options that have a flag, as in version 0.1, and expert options."""
    found: dict[str, float] = {}
    expert: dict[str, Any] = {}
    for text in texts:
        name, written = _split(text)
        if name in FORMER:
            _deprecated(f"--set {name}", "0.4", f"--set {FORMER[name]}")
            name = FORMER[name]
        if name not in OPTIONS:
            close = difflib.get_close_matches(name, OPTIONS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise click.BadParameter(f"there is no option {name!r}{hint}", param_hint="--set")
        if OPTIONS[name].expert:
            try:
                expert[name] = OPTIONS[name].parse(written)
            except ConfigError as error:
                raise click.BadParameter(str(error), param_hint="--set") from None
            continue
        try:
            found[name] = float(written)
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is no NAME=VALUE with a number, such as batch=4", param_hint="--set"
            ) from None
    options = options_from_settings(method, found)
    for name, value in options.items():
        _deprecated("--set", "0.3", f"{option_of(name)} {_written(value)}")
    return options, expert


def label_weights(texts: Sequence[str]) -> dict[str, float]:
    """The weights given with ``--label-weight``; a label may hold a "=" itself.

    >>> label_weights(["O=0.5", "B-X=2"])
    {'O': 0.5, 'B-X': 2.0}
    """
    found: dict[str, float] = {}
    for text in texts:
        label, _, written = text.rpartition("=")
        try:
            found[label] = float(written)
        except ValueError:
            label = ""
        if not label:
            raise click.BadParameter(f"{text!r} is no LABEL=WEIGHT, such as O=0.5", param_hint="--label-weight")
    return found
