"""The features of tokens, listed one by one: the oracle of native/features/listing.cpp."""

from __future__ import annotations

from collections.abc import Collection, Sequence

Feature = tuple[int, float]


def features_of(
    token: int,
    local: Sequence[Sequence[int]],
    sizes: Sequence[int],
    wanted: Sequence[bool],
    attributes: Sequence[Sequence[Feature]],
    kept: Collection[int] | None,
    last: int,
) -> list[Feature]:
    """A token's attributes, then the features of the wanted templates, then the bias."""
    found = [(f, value) for f, value in (attributes[token] if attributes else []) if f >= 0]
    base = 1 + max((f for all_of in attributes for f, _ in all_of), default=-1)
    for row, size, asked in zip(local, sizes, wanted, strict=True):
        if asked and 0 <= row[token] < size:
            found.append((base + row[token], 1.0))
        base += size
    found = [(f, value) for f, value in found if kept is None or f in kept]
    return [*found, (last, 1.0)] if last >= 0 else found
