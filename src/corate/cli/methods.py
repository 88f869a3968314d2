"""The options that belong to training methods: which is for which, and what may stand in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from corate import training
from corate.errors import DataError
from corate.training import ARGUMENTS, METHODS
from corate.training.chains import RECIPES
from corate.training.separate import OPTIMIZERS
from corate.training.start import BASES

__all__ = ["POLISHED_BASES", "check_options", "label_weights", "option_of", "panel_of", "settings_of", "told_for"]

#: What nodes can start from; the last is trained first.
POLISHED_BASES = (*BASES, "separate")


def option_of(argument: str) -> str:
    """The option that gives an argument of training.

    >>> option_of("label_weights"), option_of("init")
    ('--label-weight', '--init')
    """
    return {"label_weights": "--label-weight", "boundaries": "--no-boundaries"}.get(argument, f"--{argument}")


def panel_of(title: str, argument: str) -> str:
    """A title of a group of options, with the methods that they are for: those of one of the arguments.

    >>> panel_of("Counting", "ladder"), panel_of("Fitting weights", "tune")
    ('Counting (empirical)', 'Fitting weights (all but empirical)')
    """
    return f"{title} ({_named(ARGUMENTS[argument])})"


def told_for(argument: str, help: str, panel: str) -> str:
    """Help of an option, with the methods that it is for where they are not those of its group.

    >>> told_for("coupling", "How pairs are fitted.", "Fitting weights (all but empirical)")
    'How pairs are fitted. For separate.'
    >>> told_for("tune", "Search.", "Fitting weights (all but empirical)")
    'Search.'
    """
    methods = _named(ARGUMENTS[argument])
    return help if panel.endswith(f"({methods})") else f"{help} For {methods}."


def _named(methods: Sequence[str]) -> str:
    others = [method for method in METHODS if method not in methods]
    few = len(others) < len(methods)
    told = others if few else list(methods)
    listed = " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
    return f"all but {listed}" if few else listed


def check_options(method: str, given: Mapping[str, Any]) -> None:
    """Refuse what another method has a use for, and what does not go together; ``given`` is by argument."""
    for name in given:
        if method not in ARGUMENTS.get(name, METHODS):
            others = " or ".join(ARGUMENTS[name])
            raise typer.BadParameter(f"it is for --method {others}, not for {method}", param_hint=option_of(name))
    if given.get("base") == "separate" and method != "polish":
        raise typer.BadParameter("a separate model is what polish starts from", param_hint="--base")
    _check_optimizer(method, given)
    if "init" in given:
        _check_start(given)


def _check_optimizer(method: str, given: Mapping[str, Any]) -> None:
    if method == "empirical":
        return
    known = OPTIMIZERS if method == "separate" else RECIPES[method].optimizers
    optimizer = given.get("optimizer", known[0])
    if optimizer not in known:
        raise typer.BadParameter(f"{method} is trained by {' or '.join(known)}", param_hint="--optimizer")
    if "checkpoint" in given and optimizer == "lbfgs":
        raise typer.BadParameter("it is for --optimizer adagrad, not for lbfgs", param_hint="--checkpoint")
    if (given.get("settings") or {}).get("c1") and optimizer != "lbfgs":
        use = "use --set cutoff=N to leave out features" if "lbfgs" not in known else "add --optimizer lbfgs"
        raise typer.BadParameter(f"c1 is for --optimizer lbfgs, not for {optimizer}; {use}", param_hint="--set")


def _check_start(given: Mapping[str, Any]) -> None:
    """A model that is trained further brings its own features, base and candidate labels."""
    reasons = {
        "features": "the model that is trained further keeps its features",
        "base": "the model that is trained further is its own base",
        "tune": "the model that is trained further is not tuned; use --set",
        "all_labels": "the model that is trained further has its own labels for words; use --lattice full",
    }
    for name, reason in reasons.items():
        if given.get(name) is not None:
            raise typer.BadParameter(reason, param_hint="--all-labels" if name == "all_labels" else f"--{name}")


def settings_of(method: str, texts: Sequence[str]) -> dict[str, float] | None:
    """The settings given with ``--set``, None without any.

    >>> settings_of("separate", ["sigma2=0.5", "passes = 5"])
    {'sigma2': 0.5, 'passes': 5}
    >>> settings_of("standard", ["c2=0.1"])
    {'c2': 0.1}
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, written = (part.strip() for part in text.partition("="))
        try:
            found |= training.settings_of(method, {name: float(written)})
        except DataError as error:
            raise typer.BadParameter(str(error), param_hint="--set") from None
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is no NAME=VALUE with a number, such as passes=5", param_hint="--set"
            ) from None
    return found or None


def label_weights(texts: Sequence[str]) -> dict[str, float] | None:
    """The weights given with ``--label-weight``, None without any; a label may hold a "=" itself.

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
    return found or None
