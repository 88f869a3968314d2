"""CRFsuite's model file in plain Python: its hash, the lookup of a string by it, and files with wrong numbers.

Bob Jenkins's lookup3 is described at https://burtleburtle.net/bob/hash/doobs.html.
"""

from __future__ import annotations

import struct
from random import Random

__all__ = ["chunk_places", "damaged", "find", "lookup3"]

_WORD = 0xFFFFFFFF
_NUMBERS = (0, 1, 2, 3, 9, 47, 48, 255, 256, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 2, 2**32 - 9)


def _rotated(x: int, k: int) -> int:
    return (x << k | x >> (32 - k)) & _WORD


def lookup3(key: bytes) -> int:
    """The 32-bit hash of a key, with the initial value 0."""
    a = b = c = (0xDEADBEEF + len(key)) & _WORD
    if not key:
        return c
    blocks = [key[i : i + 12].ljust(12, b"\0") for i in range(0, len(key), 12)]
    for i, block in enumerate(blocks):
        x, y, z = struct.unpack("<3I", block)
        a, b, c = (a + x) & _WORD, (b + y) & _WORD, (c + z) & _WORD
        if i + 1 < len(blocks):
            a = (a - c & _WORD) ^ _rotated(c, 4)
            c = c + b & _WORD
            b = (b - a & _WORD) ^ _rotated(a, 6)
            a = a + c & _WORD
            c = (c - b & _WORD) ^ _rotated(b, 8)
            b = b + a & _WORD
            a = (a - c & _WORD) ^ _rotated(c, 16)
            c = c + b & _WORD
            b = (b - a & _WORD) ^ _rotated(a, 19)
            a = a + c & _WORD
            c = (c - b & _WORD) ^ _rotated(b, 4)
            b = b + a & _WORD
    c = (c ^ b) - _rotated(b, 14) & _WORD
    a = (a ^ c) - _rotated(c, 11) & _WORD
    b = (b ^ a) - _rotated(a, 25) & _WORD
    c = (c ^ b) - _rotated(b, 16) & _WORD
    a = (a ^ c) - _rotated(c, 4) & _WORD
    b = (b ^ a) - _rotated(a, 14) & _WORD
    return (c ^ b) - _rotated(b, 24) & _WORD


def find(chunk: bytes, name: bytes) -> int | None:
    """The id of a string in a CQDB chunk, by its hash tables; None if it is not there."""
    key = name + b"\0"
    hashed = lookup3(key)
    place, slots = struct.unpack_from("<2I", chunk, 24 + 8 * (hashed % 256))
    if not slots:
        return None
    slot = (hashed >> 8) % slots
    while True:
        found, record = struct.unpack_from("<2I", chunk, place + 8 * slot)
        if not record:
            return None
        number, length = struct.unpack_from("<2I", chunk, record)
        if found == hashed and chunk[record + 8 : record + 8 + length] == key:
            return int(number)
        slot = (slot + 1) % slots


def chunk_places(file: bytes) -> list[int]:
    """Where FEAT, the labels, the attributes, LFRF and AFRF start."""
    return list(struct.unpack_from("<5I", file, 28))


def damaged(file: bytes, rng: Random) -> bytes:
    """A file with one to three numbers changed, cut short or made longer; most have the right size in the header."""
    changed = bytearray(file)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change(changed, rng)
    if len(changed) >= 8 and rng.random() < 0.9:
        changed[4:8] = struct.pack("<I", len(changed))
    return bytes(changed)


def _change(data: bytearray, rng: Random) -> None:
    at = _place(data, rng)
    kind = rng.randrange(8)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        del data[at : at + rng.choice((1, 4, 8, 20))]
    elif kind == 2:
        data[at:at] = rng.randbytes(rng.choice((1, 4, 20)))
    elif kind == 3 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif at + 4 <= len(data):
        old = struct.unpack_from("<I", data, at)[0]
        near = (old + rng.choice((-8, -4, -1, 1, 4, 8)), len(data) + rng.choice((-9, -8, -4, -1, 0, 1)))
        other = struct.unpack_from("<I", data, rng.randrange(len(data) - 3))[0]
        struct.pack_into("<I", data, at, rng.choice((*near, *near, other, rng.choice(_NUMBERS))) & _WORD)


def _place(data: bytearray, rng: Random) -> int:
    """A place in the file, often one of a number that tells where others are."""
    if rng.random() < 0.3 or len(data) < 48:
        return rng.randrange(len(data) + 1)
    if rng.random() < 0.3:
        return 4 * rng.randrange(12)
    start = rng.choice(chunk_places(bytes(data[:48])))
    words = rng.choice((3, 3, 6, 30, 600))
    return min(start + 4 * rng.randrange(words), len(data))
