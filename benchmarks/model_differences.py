"""Differences between two model files, two tagged texts, and two folders of models and answers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1"}
DTYPES |= {f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (1, 2, 4, 8)}
#: Members of the metadata that differ between runs or versions of the same model.
UNCOMPARED = {"sha256", "format_version"}
#: Records of training may differ, and are printed; the parameters of a model may not.
RECORD = "header record."


#: Numbers in answers may differ by this much, relative to 1 or, if it is more, to the number.
CLOSE = 1e-6


@dataclass(frozen=True)
class Tensor:
    """An array as stored in the file."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def values(self) -> np.ndarray[Any, Any]:
        """The values as a flat array."""
        return np.frombuffer(self.data, DTYPES[self.dtype])


def read_model(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a model file (docs/model-file.md), read without Corate."""
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    places = json.loads(content[8:begin])
    metadata = places.pop("__metadata__", {})
    header = {name: value for name, value in metadata.items() if name not in UNCOMPARED}
    if "header" in header:
        header |= json.loads(header.pop("header"))
    tensors = {
        name: Tensor(place["dtype"], tuple(place["shape"]), content[begin + first : begin + last])
        for name, place in places.items()
        for first, last in [place["data_offsets"]]
    }
    return tensors, header


def members(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The members of nested objects by dotted name, without times and versions."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            if "seconds" not in key and "version" not in key:
                yield from members(inner, f"{name}.{key}" if name else key)
    else:
        yield name, value


def tensor_difference(base: Tensor, head: Tensor) -> str:
    """How two tensors of the same name differ; empty if they are equal."""
    if base.dtype != head.dtype:
        return f"dtype {base.dtype} became {head.dtype}"
    if base.shape != head.shape:
        return f"shape {list(base.shape)} became {list(head.shape)}"
    if base.data == head.data:
        return ""
    old, new = base.values(), head.values()
    # Compare bytes: 0 and -0 differ, and a NaN is equal to itself.
    changed = (old.view(f"V{old.itemsize}") != new.view(f"V{new.itemsize}")).sum()
    largest = np.abs(new.astype(float) - old.astype(float)).max()
    return f"{changed:,} of {len(old):,} values differ, by {largest:.3g} at most"


def differences(base: Path, head: Path) -> list[str]:
    """The differences between two model files, one per line; a renamed tensor is reported as removed and added."""
    (tensors, header), (new_tensors, new_header) = read_model(base), read_model(head)
    found = [f"tensor {name}: removed" for name in tensors if name not in new_tensors]
    found += [f"tensor {name}: added" for name in new_tensors if name not in tensors]
    for name in tensors.keys() & new_tensors.keys():
        if difference := tensor_difference(tensors[name], new_tensors[name]):
            found.append(f"tensor {name}: {difference}")
    old, new = dict(members(header)), dict(members(new_header))
    found += [f"header {name}: removed" for name in old.keys() - new.keys()]
    found += [f"header {name}: added" for name in new.keys() - old.keys()]
    both = old.keys() & new.keys()
    found += [f"header {name}: {old[name]!r} became {new[name]!r}" for name in both if old[name] != new[name]]
    return sorted(found)


def label_differences(base: Path, head: Path) -> list[str]:
    """How many lines of two tagged texts differ: one line, or none."""
    old, new = base.read_bytes().splitlines(), head.read_bytes().splitlines()
    if len(old) != len(new):
        return [f"labels: {len(old):,} lines became {len(new):,}"]
    changed = [i for i, lines in enumerate(zip(old, new, strict=True), 1) if lines[0] != lines[1]]
    return (
        [f"labels: {len(changed):,} of {len(old):,} lines differ, the first is line {changed[0]:,}"] if changed else []
    )


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values in nested objects and lists by dotted name."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if not inner:
        yield name, value
        return
    for key, one in inner:
        yield from leaves(one, f"{name}.{key}" if name else str(key))


def is_close(old: Any, new: Any) -> bool:
    """Whether two values are equal, numbers within CLOSE."""
    if isinstance(old, float) and isinstance(new, float) and math.isfinite(old):
        return abs(new - old) <= CLOSE * max(1.0, abs(old))
    return type(old) is type(new) and (old == new or repr(old) == repr(new))


def answer_differences(base: Path, head: Path) -> list[str]:
    """How the answers in two JSON files differ: at most one line for each name on the first level."""
    old, new = (json.loads(path.read_bytes()) for path in (base, head))
    found = [f"{name}: removed" for name in old if name not in new] + [f"{name}: added" for name in new - old.keys()]
    for name in old.keys() & new.keys():
        before, after = dict(leaves(old[name])), dict(leaves(new[name]))
        changed = [key for key in {**before, **after} if not is_close(before.get(key, ()), after.get(key, ()))]
        if changed:
            first = changed[0]
            shown = f"{before.get(first, 'nothing')!r} became {after.get(first, 'nothing')!r}"
            found.append(f"{name}: {len(changed):,} of {len(before):,} values differ, the first is {first}: {shown}")
    return sorted(found)


def folder_differences(base: Path, head: Path) -> list[str]:
    """The differences between the models (``.corate``) and the answers (``.json``) in two folders."""
    kinds = {".corate": differences, ".json": answer_differences}
    old, new = ({path.name for path in folder.iterdir()} for folder in (base, head))
    found = [f"{name}: {'removed' if name in old else 'added'}" for name in old ^ new]
    if not old:
        found.append("nothing was written")
    for name in sorted(old & new):
        lines = kinds[Path(name).suffix](base / name, head / name)
        # A record of training may differ in any model.
        found += [f"{RECORD if line.startswith(RECORD) else ''}{name}: {line}" for line in lines]
    return found
