"""Checks of arguments that several functions share."""

from __future__ import annotations

import operator
from typing import Any

from corate.errors import ConfigError

__all__ = ["LARGEST_SEED", "MOST_TOKENS", "check_seed", "check_threads", "check_whole"]

LARGEST_SEED = 2**63 - 1
#: The most tokens of a sentence that is read, by default; see `corate.formats.sentence_limit`.
MOST_TOKENS = 1_000_000
#: More than any machine has. The native code uses fewer if more do not help.
_MOST_THREADS = 2**16


def check_threads(threads: Any) -> int:
    """Check a number of threads, 1 or more; raises ConfigError for anything else.

    >>> check_threads(0)
    Traceback (most recent call last):
    corate.errors.ConfigError: threads must be a whole number, 1 or more, not 0
    """
    return min(check_whole("threads", threads, 1), _MOST_THREADS)


def check_seed(seed: Any) -> int:
    """Check a random seed, from 0 to 2**63 - 1; raises ConfigError for anything else.

    >>> check_seed(-1)
    Traceback (most recent call last):
    corate.errors.ConfigError: seed must be a whole number from 0 to 9223372036854775807, not -1
    """
    return check_whole("seed", seed, 0, LARGEST_SEED)


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Check a Python or NumPy integer within a range; raises ConfigError with the argument's name for anything else.

    >>> check_whole("seeds", "three", 1)
    Traceback (most recent call last):
    corate.errors.ConfigError: seeds must be a whole number, 1 or more, not 'three'
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        wanted = f", {least} or more" if most is None else f" from {least} to {most}"
        raise ConfigError(f"{name} must be a whole number{wanted}, not {value!r}")
    return number
