"""Alter bytes at random."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from random import Random

__all__ = ["mutated", "with_right_hash"]

_BYTES = (0x00, 0x09, 0x0A, 0x0D, 0x20, 0x22, 0x2F, 0x3A, 0x5B, 0x7B, 0x7F, 0x80, 0xBF, 0xC0, 0xE2, 0xED, 0xF4, 0xFF)
_NUMBERS = (0, 1, -1, 127, 128, 255, 256, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1)
_HASH = re.compile(rb'"sha256":"([0-9a-f]{64})"')


def mutated(data: bytes, rng: Random, pieces: Sequence[bytes] = ()) -> bytes:
    """The data with one to six changes, some of which insert one of ``pieces``."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        _change(changed, rng, pieces)
    return bytes(changed)


def _change(data: bytearray, rng: Random, pieces: Sequence[bytes]) -> None:
    at = rng.randrange(len(data) + 1)
    stop = min(len(data), at + rng.choice((1, 2, 4, 8, 30, 300)))
    kind = rng.randrange(9)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1 and at < len(data):
        data[at] = rng.choice(_BYTES)
    elif kind == 2:
        data[at:at] = bytes(rng.choice(_BYTES) for _ in range(rng.choice((1, 2, 5))))
    elif kind == 3:
        del data[at:stop]
    elif kind == 4:
        data[at:at] = data[at:stop] * rng.choice((1, 1, 2, 20))
    elif kind == 5:
        del data[at:]
    elif kind == 6:
        width = rng.choice((1, 2, 4, 8))
        number = rng.choice(_NUMBERS) % 256**width
        data[at : at + width] = number.to_bytes(width, rng.choice(("little", "big")))
    elif kind == 7 and pieces:
        data[at : rng.choice((at, stop))] = rng.choice(pieces)
    else:
        other = rng.randrange(len(data) + 1)
        data[at:at] = data[other : other + (stop - at)]


def with_right_hash(model: bytes, *, length: bool = False) -> bytes:
    """A model file with a correct hash, if its header still has a place for it.

    With ``length``, the header length is corrected too, so that changes of the JSON header move the tensors.
    """
    found = _HASH.search(model, 0, 512)
    if found is None:
        return model
    if length:
        end = model.find(b"}}", found.end())
        end = model.rfind(b"}", 0, model.find(b"\0", end)) + 1 if end >= 0 else 0
        header = model[8:end]
        header += b" " * (-len(header) % 8)
        model = len(header).to_bytes(8, "little") + header + model[end:]
    zeros = model[: found.start(1)] + b"0" * 64 + model[found.end(1) :]
    return model[: found.start(1)] + hashlib.sha256(zeros).hexdigest().encode() + model[found.end(1) :]
