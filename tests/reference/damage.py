"""Model files with a correct hash and wrong content: random changes to tensors and to the header."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

_EXTREMES = (0, 1, 2, 7, 127, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)
_FLOATS = (0.0, -1.0, 1e38, -1e38, np.inf, -np.inf, np.nan)
_DTYPES = ("u1", "i1", "u2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")
_JSON: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    3,
    2**31,
    2**70,
    1e300,
    "",
    "word",
    "word[0]",
    [],
    [0],
    {},
    [[]],
    {"a": 1},
)


def damaged_tensors(tensors: Tensors, rng: np.random.Generator) -> Tensors:
    """The tensors with one to three changes."""
    changed = dict(tensors)
    for _ in range(rng.integers(1, 4)):
        name = str(rng.choice(sorted(changed)))
        alterations = [_value, _value, _value, _neighbours, _dtype, _length, _shape, _exchange, _remove]
        alterations[rng.integers(len(alterations))](changed, name, rng)
        if not changed:
            break
    return changed


def damaged_header(header: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The header with one part replaced, removed or moved."""
    changed = copy.deepcopy(header)
    at: Any = changed
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return changed
        key = keys[rng.integers(len(keys))]
        if isinstance(at[key], (dict, list)) and at[key] and rng.random() < 0.8:
            at = at[key]
            continue
        kind = rng.integers(4)
        if kind == 0:
            del at[key]
        elif kind == 1 and isinstance(at[key], (int, float)):
            at[key] = at[key] + int(rng.choice([-1, 1]))
        elif kind == 2:
            at[key] = at[keys[rng.integers(len(keys))]]
        else:
            at[key] = copy.deepcopy(_JSON[rng.integers(len(_JSON))])
        return changed


def _value(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    array = tensors[name].copy()
    if array.size == 0:
        return
    if array.dtype.kind == "f":
        value = np.array(rng.choice(_FLOATS)).astype(array.dtype)
    else:
        with np.errstate(all="ignore"):
            value = np.array(_EXTREMES[rng.integers(len(_EXTREMES))], np.uint64).astype(array.dtype)
    array.flat[rng.integers(array.size)] = value
    tensors[name] = array


def _neighbours(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    """Swap two elements, copy one to another, or increment one: only a check of the order finds this."""
    array = tensors[name].copy()
    if array.size < 2:
        return
    i, j = rng.integers(array.size, size=2)
    kind = rng.integers(3)
    if kind == 0:
        array.flat[i], array.flat[j] = array.flat[j], array.flat[i]
    elif kind == 1:
        array.flat[i] = array.flat[j]
    else:
        array.flat[i] = array.flat[i] + array.dtype.type(1)
    tensors[name] = array


def _dtype(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    with np.errstate(all="ignore"):
        tensors[name] = tensors[name].astype(str(rng.choice(_DTYPES)))


def _length(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    array = tensors[name]
    flat = array.reshape(-1)
    tensors[name] = flat[: rng.integers(flat.size + 1)] if rng.random() < 0.5 else np.concatenate([flat, flat[-3:]])


def _shape(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    array = tensors[name].reshape(-1)
    tensors[name] = array.reshape(1, -1) if rng.random() < 0.5 or array.size != 1 else array.reshape(())


def _exchange(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    tensors[name] = tensors[str(rng.choice(sorted(tensors)))]


def _remove(tensors: Tensors, name: str, rng: np.random.Generator) -> None:
    del tensors[name]
