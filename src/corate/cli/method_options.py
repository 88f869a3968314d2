"""The command-line options of the training methods, derived from :mod:`corate.training.options`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from corate.cli.commands import option as command_option
from corate.cli.terminal import told
from corate.errors import ConfigError
from corate.training.options import (
    METHODS,
    OPTION_METHODS,
    Method,
    Option,
    options_of,
)
from corate.training.resolve import check_init, options_from_settings, resolve_method

__all__ = ["chosen_method", "describe_defaults", "label_weights", "method_options", "name_methods", "option_of"]

#: Options that exist only in Python.
_NOT_HERE = ("sentence_weights",)
#: The options of each method, by name.
_OPTIONS = {name: options_of(method) for name, method in METHODS.items()}


def option_of(name: str) -> str:
    """The command-line option for an option of a method.

    >>> option_of("label_weights"), option_of("boundaries"), option_of("edge_sigma2")
    ('--label-weight', '--no-boundaries', '--edge-sigma2')
    """
    spelled = {"label_weights": "label-weight", "boundaries": "no-boundaries"}.get(name, name.replace("_", "-"))
    return f"--{spelled}"


def name_methods(methods: Sequence[str]) -> str:
    """Methods in words. If most are meant, only the others are named.

    >>> name_methods(["polish", "separate"]), name_methods([name for name in METHODS if name != "empirical"])
    ('polish and separate', 'all except empirical')
    """
    others = [method for method in METHODS if method not in methods]
    few = len(others) < len(methods)
    named = others if few else list(methods)
    listed = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    return f"all except {listed}" if few else listed


def describe_defaults(name: str) -> str:
    """The default of an option, for each method if they differ; empty if it has none.

    >>> describe_defaults("batch"), describe_defaults("unknown")
    ('16', '')
    >>> describe_defaults("c2")
    '0.5; polish: 0.5 (1 for the base pooled, 2 with parts); memm: 0.01'
    """
    methods_of: dict[str, list[str]] = {}
    for method in OPTION_METHODS[name]:
        option = _OPTIONS[method][name]
        text = option.unset if option.default is None else told(option.default)
        methods_of.setdefault(text, []).append(method)
    usual = max(methods_of, key=lambda text: len(methods_of[text]))
    named = {text: f"{name_methods(methods)}: {text}" for text, methods in methods_of.items()}
    if len(methods_of[usual]) == 1 < len(methods_of):
        return "; ".join(named.values())
    return "; ".join([usual, *(line for text, line in named.items() if text != usual)])


_EMPIRICAL = f"Counting ({name_methods(['empirical'])})"
_FITTED = f"Fitting weights ({name_methods(OPTION_METHODS['tune'])})"
_CHAINS = f"Training on whole sentences ({name_methods(OPTION_METHODS['lattice'])})"


def _panel(methods: Sequence[str]) -> str | None:
    """The section of the help that an option of these methods is in."""
    if len(methods) == len(METHODS):
        return None
    if list(methods) == ["empirical"]:
        return _EMPIRICAL
    return _FITTED if "separate" in methods else _CHAINS


def _declared(name: str, option: Option) -> Callable[[Any], Any]:
    """The command-line option for an option of a method."""
    methods = OPTION_METHODS[name]
    panel, named = _panel(methods), name_methods(methods)
    help = {"boundaries": "Use no weights for the start and the end of a sentence."}.get(name, option.help)
    if panel is not None and not panel.endswith(f"({named})"):
        help += f" For {named}."
    if (option.kind != "flag" or option.default is None) and describe_defaults(name):
        help += f" Default: {describe_defaults(name)}."
    spec = option_of(name)
    about: dict[str, Any] = {"name": name, "panel": panel}
    if option.kind == "flag":
        return command_option(spec if option.default is not None else f"{spec},--no-{spec[2:]}", help, **about)
    if option.kind == "choice":
        every = dict.fromkeys(str(choice) for method in methods for choice in _OPTIONS[method][name].choices)
        return command_option(spec, help, choices=tuple(every), **about)
    metavars = {"integer": "N", "number": "X", "file": "FILE", "text": "LABEL", "label weights": "LABEL=WEIGHT"}
    number = float if option.kind in ("integer", "number") else None
    return command_option(
        f"{spec} {metavars[option.kind]}", help, number=number, multiple=option.kind == "label weights", **about
    )


def method_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a function the options of all methods."""
    for name, methods in reversed(OPTION_METHODS.items()):
        if name not in _NOT_HERE:
            function = _declared(name, _OPTIONS[methods[0]][name])(function)
    return function


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
    for option, value in given.items():
        about = _OPTIONS[OPTION_METHODS[option][0]][option]
        if value is None or value == () or (value is False and about.default is not None):
            continue
        choices = about.choices
        known = {str(choice): choice for choice in choices}
        values[option] = known.get(value, value) if choices else value
    if "boundaries" in values:
        values["boundaries"] = False
    if "label_weights" in values:
        values["label_weights"] = label_weights(values["label_weights"])
    try:
        method = resolve_method(name, _from_set(name, settings) | values)
        if init is not None:
            check_init(method, features, raw or None)
    except ConfigError as error:
        hint = None if error.option is None else option_of(error.option)
        raise click.BadParameter(str(error), param_hint=hint) from None
    return method


def _from_set(method: str, texts: Sequence[str]) -> dict[str, Any]:
    """The options that ``--set NAME=VALUE`` of version 0.1 stands for."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, written = (part.strip() for part in text.partition("="))
        try:
            found[name] = float(written)
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is no NAME=VALUE with a number, such as passes=5", param_hint="--set"
            ) from None
    options = options_from_settings(method, found)
    for name, value in options.items():
        warnings.warn(
            f"--set is deprecated, and will be removed in version 0.3; use {option_of(name)} {value:g}",
            FutureWarning,
            stacklevel=2,
        )
    return options


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
