"""The command-line options of the training methods, derived from :mod:`corate.training.options`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from corate.cli.shared_options import one_of
from corate.errors import ConfigError
from corate.training.options import OPTIONS, Method
from corate.training.registry import SharedOption
from corate.training.resolve import check_init, options_from_settings, resolve_method

__all__ = ["EXPERT", "chosen_method", "label_weights", "option_of", "with_method_options"]

#: The options that only ``--set`` sets; their flags are deprecated.
EXPERT = tuple(name for name, option in OPTIONS.items() if option.expert)


def option_of(name: str) -> str:
    """The command-line option for an option of a method.

    >>> option_of("label_weights"), option_of("boundaries"), option_of("edge_sigma2")
    ('--label-weight', '--no-boundaries', '--edge-sigma2')
    """
    return OPTIONS[name].flag if name in OPTIONS else f"--{name.replace('_', '-')}"


def _parameter(option: SharedOption) -> inspect.Parameter:
    """The parameter from which typer makes the command-line option."""
    shown: dict[str, Any] = {"help": option.full_help, "rich_help_panel": option.section or None}
    shown["hidden"] = option.expert
    kind: Any = {"flag": bool, "integer": float, "number": float}.get(option.kind, str)
    default: Any = None
    if option.kind == "flag":
        kind, default = (bool, False) if option.default is not None else (bool | None, None)
        info = typer.Option(option.flag if option.default is not None else f"{option.flag}/--no-{option.name}", **shown)
    elif option.kind == "choice":
        info = one_of([str(choice) for choice in option.choices], option.full_help, option.section or None)
    else:
        info = typer.Option(option.flag, metavar=option.metavar, **shown)
    if option.kind == "label weights":
        kind = list[str]
    type_ = kind if option.kind == "flag" else kind | None
    annotation: Any = Annotated[type_, info]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of its ``**given``, the options of all methods.

    They come after its own options that are in no panel of the help.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    general = [p for p in own if p.annotation.__metadata__[0].rich_help_panel is None]
    derived = [_parameter(option) for option in OPTIONS.values() if option.flag]
    others = [p for p in own if p not in general]
    command.__signature__ = signature.replace(parameters=[*general, *derived, *others])  # type: ignore[attr-defined]
    return command


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
    set_, expert = _from_set(name, settings)
    for option, value in ((OPTIONS[name], value) for name, value in given.items()):
        if value is None or value == [] or (value is False and option.default is not None):
            continue
        if option.kind == "label weights":
            values[option.name] = label_weights(value)
        elif option.choices:
            values[option.name] = option.parse(value)
        elif option.expert:
            _deprecated(option.flag, "0.4", f"--set {option.name}={value:g}")
            expert.setdefault(option.name, value)
        else:
            values[option.name] = not option.default if option.off else value
    try:
        method = resolve_method(name, set_ | values | {"expert": expert})
        if init is not None:
            check_init(method, features, raw or None)
    except ConfigError as error:
        written = error.option in expert and given.get(error.option) is None
        hint = "--set" if written else None if error.option is None else option_of(error.option)
        raise typer.BadParameter(str(error), param_hint=hint) from None
    return method


def _deprecated(what: str, version: str, remedy: str) -> None:
    warnings.warn(
        f"{what} is deprecated, and will be removed in version {version}; use {remedy}", FutureWarning, stacklevel=3
    )


def _from_set(method: str, texts: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``--set NAME=VALUE`` sets: options that have a flag, as in version 0.1, and expert options."""
    found: dict[str, float] = {}
    expert: dict[str, Any] = {}
    for text in texts:
        name, _, written = (part.strip() for part in text.partition("="))
        if name in OPTIONS and OPTIONS[name].expert:
            try:
                expert[name] = OPTIONS[name].parse(written)
            except ConfigError as error:
                raise typer.BadParameter(str(error), param_hint="--set") from None
            continue
        try:
            found[name] = float(written)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is no NAME=VALUE with a number, such as batch=4", param_hint="--set"
            ) from None
    options = options_from_settings(method, found)
    for name, value in options.items():
        _deprecated("--set", "0.3", f"{option_of(name)} {value:g}")
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
            raise typer.BadParameter(f"{text!r} is no LABEL=WEIGHT, such as O=0.5", param_hint="--label-weight")
    return found
