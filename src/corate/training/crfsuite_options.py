"""The parameters of CRFsuite's training algorithms, with CRFsuite's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from corate.errors import ConfigError
from corate.training.registry import Option

__all__ = ["ALGORITHMS", "UNLIMITED", "algorithm_named", "checked"]

#: As many iterations as it takes.
UNLIMITED = 2**31 - 1
_LARGE = 1e9


def _number(default: float, help: str) -> Option:
    return Option(help, "number", range=(0.0, _LARGE), default=default)


def _integer(default: int, help: str, least: int = 0, most: int = UNLIMITED) -> Option:
    return Option(help, "integer", range=(least, most), default=default)


def _flag(default: bool, help: str) -> Option:
    return Option(help, "flag", default=default)


_FEATURES = {
    "feature.minfreq": _number(0.0, "Leave out features that occur fewer times."),
    "feature.possible_states": _flag(
        False, "Give every attribute a weight for every label, also for labels unseen with it."
    ),
    "feature.possible_transitions": _flag(False, "Give every pair of labels a weight, even pairs that are not seen."),
}
_MISTAKES = {
    "max_iterations": _integer(100, "Maximum number of passes."),
    "epsilon": _number(0.0, "Stop if the mean loss of a sequence in a pass is smaller than this."),
}

_PARAMETERS: Mapping[str, Mapping[str, Option]] = {
    "lbfgs": _FEATURES
    | {
        "c1": _number(0.0, "The weight of the L1 prior."),
        "c2": _number(1.0, "The weight of the L2 prior."),
        "max_iterations": _integer(UNLIMITED, "Maximum number of iterations."),
        "num_memories": _integer(6, "The number of past steps that estimate the curvature.", least=1, most=10_000),
        "epsilon": _number(1e-5, "Stop if the norm of the gradient, relative to that of the weights, is smaller."),
        "period": _integer(10, "The number of iterations over which the gain is compared with delta."),
        "delta": _number(1e-5, "Stop if the gain of the last iterations, relative to the loss, is smaller."),
        "linesearch": Option(
            "How the length of a step is found.",
            "choice",
            choices=("MoreThuente", "Backtracking", "StrongBacktracking"),
            default="MoreThuente",
        ),
        "max_linesearch": _integer(20, "Maximum number of evaluations in a line search.", least=1),
    },
    "l2sgd": _FEATURES
    | {
        "c2": _number(1.0, "The weight of the L2 prior."),
        "max_iterations": _integer(1000, "Maximum number of passes."),
        "period": _integer(10, "The number of passes over which the gain is compared with delta.", least=1),
        "delta": _number(1e-6, "Stop if the gain of the last passes, relative to the loss, is smaller."),
        "calibration.eta": _number(0.1, "The first step size that is tried."),
        "calibration.rate": Option(
            "The factor between the step sizes that are tried.", "number", range=(1.001, _LARGE), default=2.0
        ),
        "calibration.samples": _number(1000.0, "The number of sequences that step sizes are tried on."),
        "calibration.candidates": _integer(
            10, "The number of step sizes, among those that lower the loss, to compare."
        ),
        "calibration.max_trials": _integer(20, "Maximum number of step sizes that are tried.", least=1),
    },
    "averaged-perceptron": _FEATURES | _MISTAKES,
    "passive-aggressive": _FEATURES
    | {
        "type": Option(
            "How the step size is limited: not (0), by c (1), or by a penalty 1 / (2 c) (2).",
            "integer",
            range=(0, 2),
            default=1,
        ),
        "c": Option("The limit of the step size.", "number", range=(1e-12, _LARGE), default=1.0),
        "error_sensitive": _flag(True, "Add the square root of the number of wrong labels to the loss, not 1."),
        "averaging": _flag(True, "Average the weights over all steps."),
    }
    | _MISTAKES,
}
#: The parameters of each algorithm.
ALGORITHMS: Mapping[str, Mapping[str, Option]] = {
    algorithm: {name: replace(option, name=name) for name, option in options.items()}
    for algorithm, options in _PARAMETERS.items()
}
_SHORT = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def algorithm_named(name: str) -> str:
    """The full name of an algorithm. Raises ConfigError for an unknown one, and for ``arow``.

    >>> algorithm_named("ap")
    'averaged-perceptron'
    """
    full = _SHORT.get(name, name)
    if full == "arow":
        raise ConfigError(
            "the algorithm 'arow' is not available; use 'pa', which also learns from mistakes, or 'lbfgs'",
            option="algorithm",
        )
    if full not in ALGORITHMS:
        known = ", ".join([*ALGORITHMS, *_SHORT])
        raise ConfigError(f"unknown algorithm {name!r}; there are {known}", option="algorithm")
    return full


def checked(algorithm: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all parameters of an algorithm. Raises ConfigError for an unknown one or an invalid value.

    >>> checked("averaged-perceptron", {"max_iterations": 5})["max_iterations"]
    5
    """
    options = ALGORITHMS[algorithm]
    values = {name: option.default for name, option in options.items()}
    for name, value in params.items():
        if name not in options:
            raise ConfigError(f"{algorithm} has no parameter {name!r}; it has {', '.join(options)}", option=name)
        if options[name].kind == "flag" and value in (0, 1):
            value = bool(value)
        values[name] = options[name].check(value)
    return values
