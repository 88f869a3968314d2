"""Numbers and values as text for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["count", "counted", "in_words", "percent", "size"]


def percent(fraction: float | None) -> str:
    """A fraction as a percentage.

    >>> percent(0.97153), percent(None)
    ('97.15%', '-')
    """
    return "-" if fraction is None or math.isnan(fraction) else f"{100 * fraction:.2f}%"


def count(number: float) -> str:
    """A whole number with thousands separators.

    >>> count(676123)
    '676,123'
    """
    return f"{number:,.0f}"


def counted(number: float, noun: str) -> str:
    """A whole number of things, with the noun in the singular or the plural.

    The plural of the noun must end in s, or in es if the noun ends in s.

    >>> counted(1, "label"), counted(0, "token"), counted(2, "pass"), counted(4000, "sentence")
    ('1 label', '0 tokens', '2 passes', '4,000 sentences')
    """
    text = count(number)
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{text} {noun if text == '1' else plural}"


def size(n_bytes: float) -> str:
    """A number of bytes in a suitable unit.

    >>> size(1), size(812), size(81_234), size(5_200_000)
    ('1 byte', '812 bytes', '81.2 kB', '5.2 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return counted(round(n_bytes), "byte")


def in_words(value: Any) -> str:
    """A value of a record as text.

    >>> in_words({"c2": 0.5, "passes": 3, "of": [None, True, 12345]})
    'c2 0.5, passes 3, of - True 12,345'
    """
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {in_words(v)}" for key, v in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(in_words, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)
