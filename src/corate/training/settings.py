"""Settings that users give by name: which there are, and what they may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from numbers import Real
from typing import Any

from corate.errors import ConfigError

__all__ = ["RANGES", "named_settings"]

#: The least and the most that a setting may be; those of a name are the same in all methods.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("sigma2", "edge_sigma2"), (1e-9, 1e9)),
    **dict.fromkeys(("c1", "c2", "rate"), (0, 1e9)),
    **dict.fromkeys(("word_k", "lower_k", "rung_k"), (0, 1e9)),
    **dict.fromkeys(("pair_k", "class_k", "edge_k"), (1e-9, 1e9)),
    **dict.fromkeys(("temper", "edge", "coupling", "neighbour", "context", "oov"), (0, 1000)),
    "oov_constant": (1e-9, 1e9),
    "threshold": (0, 1),
    **dict.fromkeys(("passes", "half_passes", "pair_passes", "iterations", "batch"), (0, 1_000_000)),
    **dict.fromkeys(("rare", "cutoff"), (0, 2**31 - 1)),
    "cap": (1, 2**31 - 1),
}


def named_settings(usual: Any, settings: Mapping[str, float] | None) -> dict[str, Any]:
    """Values that the user gives by name, checked against a dataclass of the usual ones and :data:`RANGES`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Usual:
    ...     rate: float = 0.1
    ...     passes: int = 3
    >>> named_settings(Usual(), {"passes": 2.0})
    {'passes': 2}
    >>> named_settings(Usual(), {"passes": 1e30})
    Traceback (most recent call last):
    corate.errors.ConfigError: the setting 'passes' must be a whole number from 0 to 1000000, not 1e+30
    >>> named_settings(Usual(), {"speed": 1})
    Traceback (most recent call last):
    corate.errors.ConfigError: unknown setting 'speed'; there are rate, passes
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigError(f"settings are given by name, such as {{'rate': 0.1}}, not as {settings!r}")
    values: dict[str, Any] = dict(settings or {})
    known = asdict(usual)
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"unknown setting {name!r}; there are {', '.join(known)}")
        least, most = RANGES[name]
        number, whole = isinstance(value, Real), isinstance(known[name], int)
        if not number or not least <= value <= most or (whole and value != int(value)):
            kind = "whole number" if whole else "number"
            raise ConfigError(f"the setting {name!r} must be a {kind} from {least:.10g} to {most:.10g}, not {value!r}")
        values[name] = int(value) if whole else float(value)
    return values
