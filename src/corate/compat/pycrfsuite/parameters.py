"""The parameters of training algorithms: CRFsuite's by CRFsuite's names, and the options of corate's own methods."""

from __future__ import annotations

from typing import Any

from corate.errors import ConfigError
from corate.training.crfsuite import ALGORITHMS, algorithm_named
from corate.training.options import METHODS, Option, options_of

__all__ = ["Parameters"]

_HELP = {
    "feature.minfreq": "Features that occur less often than this in the training data are left out.",
    "feature.possible_states": "Give a weight to every attribute with every label, also if they never occur together.",
    "feature.possible_transitions": "Give a weight to every pair of labels, also if they never follow each other.",
    "c1": "Weight of the sum of absolute weights (L1).",
    "c2": "Weight of the sum of squared weights (L2).",
    "max_iterations": "The most iterations.",
    "num_memories": "How many earlier steps L-BFGS uses to approximate the inverse of the Hessian matrix.",
    "period": "Over how many iterations the improvement is measured.",
    "delta": "Training ends if the loss improves by less than this ratio within the period.",
    "linesearch": "The line search of L-BFGS: 'MoreThuente', 'Backtracking' or 'StrongBacktracking'.",
    "max_linesearch": "The most trials of a line search.",
    "calibration.eta": "The first learning rate that is tried.",
    "calibration.rate": "The factor between the learning rates that are tried.",
    "calibration.samples": "The number of sequences on which learning rates are tried.",
    "calibration.candidates": "The number of learning rates that must reduce the loss before the best is taken.",
    "calibration.max_trials": "The most learning rates that are tried.",
    "type": "How weights are updated: 0 without slack variables, 1 PA-I, 2 PA-II.",
    "c": "Aggressiveness: how much a single sequence may change the weights (PA-I and PA-II).",
    "error_sensitive": "Let the margin grow with the square root of the number of wrong labels.",
    "averaging": "Take the average of the weights over all updates.",
}
_EPSILON = {
    "lbfgs": "Training ends if the norm of the gradient is below this, relative to the norm of the weights.",
    "averaged-perceptron": "Training ends if the share of wrong labels is at most this.",
    "passive-aggressive": "Training ends if the mean loss of a sequence is at most this.",
}
_LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")


class Parameters:
    """The parameters of one algorithm with their values.

    >>> parameters = Parameters("ap")
    >>> parameters.set("max_iterations", "20")
    >>> parameters.values["max_iterations"], parameters.algorithm
    (20, 'averaged-perceptron')
    """

    def __init__(self, algorithm: str) -> None:
        self.is_method = algorithm in METHODS
        self.algorithm = algorithm if self.is_method else algorithm_named(algorithm)
        self._options: dict[str, Option] = options_of(METHODS[algorithm]) if self.is_method else {}
        defaults = {name: option.default for name, option in self._options.items()}
        self.values: dict[str, Any] = defaults if self.is_method else dict(ALGORITHMS[self.algorithm])
        self.given: dict[str, Any] = {}  #: the values that were set

    def set(self, name: str, value: Any) -> None:
        """Set a parameter. Text is converted to the type of the parameter."""
        self.check(name, value)
        if self.is_method:
            option = self._options[name]
            value = option.check(name, _from_text(name, value, option.kind) if isinstance(value, str) else value)
        else:
            value = _converted(name, value, self.values[name])
        self.values[name] = self.given[name] = value

    def check(self, name: str, value: object = "") -> None:
        """Raise ConfigError, a ValueError, if there is no such parameter."""
        if name not in self.values:
            raise ConfigError(f"Parameter not found: {name} = {value}", option=name)

    def help(self, name: str) -> str:
        """What a parameter means."""
        if name not in self.values:
            raise ConfigError(f"Parameter not found: {name}", option=name)
        if self.is_method:
            return self._options[name].help
        return _EPSILON[self.algorithm] if name == "epsilon" else _HELP[name]


def _converted(name: str, value: Any, default: Any) -> Any:
    """A value of the type of the default."""
    if isinstance(default, str):
        if value not in _LINE_SEARCHES:
            raise ConfigError(f"{name} must be one of {', '.join(_LINE_SEARCHES)}, not {value!r}", option=name)
        return value
    try:
        number = float(value)
        return type(default)(number)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"{name} must be a number, not {value!r}", option=name) from None


def _from_text(name: str, text: str, kind: str) -> Any:
    """The value of an option of a method that is given as text."""
    try:
        if kind == "flag":
            return bool(int(text))
        return int(text) if kind == "integer" else float(text) if kind == "number" else text
    except ValueError:
        raise ConfigError(f"{name} must be a number, not {text!r}", option=name) from None
