"""The training methods: their names, which argument of :func:`corate.train` is for which, and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corate.counting.ladder import LadderParameters
from corate.training.chains import RECIPES, ChainParameters
from corate.training.problem import SeparateParameters
from corate.training.settings import named_settings

__all__ = ["ARGUMENTS", "METHODS", "settings_of"]

#: The first is the default.
METHODS = ("polish", "empirical", "separate", "standard", "piecewise", "memm", "perceptron")

_CHAINS = tuple(RECIPES)
_FITTED = ("separate", *_CHAINS)
#: The methods that arguments of :func:`train` are for; those not named here are for all.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "ladder": ("empirical",),
    "base": ("polish", "separate"),
    "coupling": ("separate",),
    "optimizer": _FITTED,
    "tune": _FITTED,
    "checkpoint": _FITTED,
    "init": ("polish", "standard", "piecewise", "perceptron"),
    "lattice": _CHAINS,
    "transitions": _CHAINS,
    "boundaries": _CHAINS,
    "order": ("polish", "standard"),
    "unknown": ("polish", "standard"),
    "label_weights": _FITTED,
    "sentence_weights": _FITTED,
}


def settings_of(method: str, settings: Mapping[str, float] | None) -> dict[str, Any]:
    """The settings of a method that the user gives by name; raises ConfigError for one unknown or out of its range.

    >>> settings_of("standard", {"c2": 0.1, "batch": 8.0})
    {'c2': 0.1, 'batch': 8}
    """
    usual: Any = {"empirical": LadderParameters, "separate": SeparateParameters}.get(method, ChainParameters)
    return named_settings(usual(), settings)
