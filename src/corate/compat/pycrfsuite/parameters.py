"""The parameters of a training algorithm: CRFsuite's by CRFsuite's names, or the options of a method of corate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corate.errors import ConfigError
from corate.training.crfsuite import ALGORITHMS, algorithm_named
from corate.training.methods import FORMER, METHODS, OPTIONS, Option, options_of, warn_renamed

__all__ = ["Parameters"]


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
        self._options: Mapping[str, Option] = (
            options_of(METHODS[algorithm]) if self.is_method else ALGORITHMS[self.algorithm]
        )
        self.values: dict[str, Any] = {name: option.default for name, option in self._options.items()}
        self.given: dict[str, Any] = {}  #: the values that were set

    def set(self, name: str, value: Any) -> None:
        """Set a parameter. Text and numbers are converted to the type of the parameter."""
        if self.is_method and name in FORMER:
            warn_renamed(name, 4)
            name = FORMER[name]
        if name not in self._options:
            hint = ""
            if self.is_method:
                known = sorted(set(self._options) & {"c1", "c2"})
                kept = f"keep only {' and '.join(known)} of them" if known else "leave them out"
                hint = f"; this is a parameter of CRFsuite's algorithms, not of Corate's method {self.algorithm!r}: "
                hint += f"{kept}, and give options of the method in options={{...}}"
            elif name in OPTIONS:
                hint = "; this is an option of Corate's methods: give it with algorithm='polish', or leave it out"
            raise ConfigError(f"Parameter not found: {name} = {value}{hint}", option=name)
        option = self._options[name]
        self.values[name] = self.given[name] = option.check(_converted(name, value, option.kind))

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        if name not in self._options:
            raise ConfigError(f"Parameter not found: {name}", option=name)
        return self.values[name]

    def help(self, name: str) -> str:
        """What a parameter means."""
        if name not in self._options:
            raise ConfigError(f"Parameter not found: {name}", option=name)
        return self._options[name].help


def _converted(name: str, value: Any, kind: str) -> Any:
    """A number or a truth value from text and from other numbers, as CRFsuite converts them."""
    if value is None or kind not in ("flag", "integer", "number"):
        return value
    try:
        number = float(value)
        return bool(number) if kind == "flag" else int(number) if kind == "integer" else number
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(f"{name} must be a number, not {value!r}", option=name) from None
