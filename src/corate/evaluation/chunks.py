"""The chunks (entities, spans) of labelled sentences as arrays, found as conlleval finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.spans import parse

__all__ = ["chunk_types", "chunks", "roles"]

Ids = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]


def chunks(label_ids: Ids, label_strings: Sequence[str], offsets: Int64) -> tuple[Int64, Int64, Int64]:
    """The chunks of all sentences: ``(chunks,)`` first tokens, ends (one past the last) and ids into `chunk_types`.

    A token in a chunk begins a new chunk if it is B or S, if the token before it is outside, E, S or of another type,
    or if it is the first of a sentence. A chunk ends before the next chunk and before a token outside. A label without
    a type is outside.

    >>> labels = ["O", "I-X", "B-X"]
    >>> [array.tolist() for array in chunks(np.array([0, 1, 1, 2, 1]), labels, np.array([0, 4, 5]))]
    [[1, 3, 4], [3, 4, 5], [0, 0, 0]]
    """
    role_of, kind_of = roles(label_strings)
    role, kind = role_of[label_ids], kind_of[label_ids]
    outside, single = role == ord("O"), role == ord("S")
    closed = outside | (role == ord("E")) | single  # no chunk continues after these
    begins = (role == ord("B")) | single
    begins[1:] |= closed[:-1] | (kind[1:] != kind[:-1])
    begins[offsets[:-1][offsets[:-1] < len(begins)]] = True
    begins &= ~outside
    ends = ~outside
    ends[:-1] &= begins[1:] | outside[1:]
    starts = np.flatnonzero(begins)
    return starts, np.flatnonzero(ends) + 1, kind[starts]


def chunk_types(label_strings: Iterable[str]) -> list[str]:
    """The distinct types of the labels, in order of first appearance.

    >>> chunk_types(["O", "B-PER", "I-PER", "B-LOC"])
    ['PER', 'LOC']
    """
    return list(dict.fromkeys(name for _, name in map(parse, label_strings) if name))


def roles(label_strings: Sequence[str]) -> tuple[NDArray[np.uint8], Int64]:
    """The role of each label as a character code (B, I, E, S, O), and its id in `chunk_types`; -1 outside.

    >>> [array.tolist() for array in roles(["O", "B-PER"])]
    [[79, 66], [-1, 0]]
    """
    types = {name: i for i, name in enumerate(chunk_types(label_strings))}
    parsed = [parse(label) if parse(label)[1] else ("O", "") for label in label_strings]
    role = np.array([ord(role) for role, _ in parsed], dtype=np.uint8)
    return role, np.array([types.get(name, -1) for _, name in parsed], dtype=np.int64)
