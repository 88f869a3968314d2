"""Sparse rows as dictionaries: the oracle of native/core/rows.cpp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = Mapping[int, float]


def summed(a: Sequence[Row], b: Sequence[Row]) -> list[dict[int, float]]:
    """Row by row; scores of labels in both rows are added."""
    return [{y: x.get(y, 0.0) + z.get(y, 0.0) for y in sorted({*x, *z})} for x, z in zip(a, b, strict=True)]
