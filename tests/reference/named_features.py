"""A plain Python twin of native/bindings/feature_objects.cpp: the names and values of the features of a token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def named(token: Any) -> list[tuple[str, float]]:
    """Names and values, in order; a name may come twice. False is 0."""
    if isinstance(token, Mapping):
        return [pair for key, value in token.items() for pair in _of_key(_text(key), value)]
    if isinstance(token, np.ndarray) and token.dtype.kind in "fiub":
        return [(str(i), float(np.float32(x))) for i, x in enumerate(token)]
    assert isinstance(token, Iterable)
    return [(_text(name), 1.0) for name in token]


def _of_key(key: str, value: Any) -> list[tuple[str, float]]:
    if isinstance(value, str | bytes):
        return [(f"{key}:{_text(value)}", 1.0)]
    if isinstance(value, dict | list | set) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return [(f"{key}:{name}", number) for name, number in named(value)]
    return [(key, float(np.float32(float(value))))]


def _text(text: str | bytes) -> str:
    return text.decode() if isinstance(text, bytes) else text
