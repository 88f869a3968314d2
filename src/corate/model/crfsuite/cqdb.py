"""CQDB: the strings of a CRFsuite model file, each with its id.

A chunk has a header, 256 pairs (place, number of slots) that describe the hash tables, a record for each string (its
id, its length, its bytes and a NUL), the slots of the hash tables (hash, place of the record), and last the places of
the records by id. All numbers are 32-bit and little-endian; places count from the start of the chunk.

Reading needs only the records and their places. The hash tables serve CRFsuite, which looks up strings in the file: a
string with the hash h, which covers its NUL, is in table h mod 256, in the first free slot from (h >> 8) mod n of its n
slots on. The hash is Bob Jenkins's lookup3 (2006) with the initial value 0.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import StringTable
from corate.display import counted
from corate.errors import ModelError
from corate.io.tensor_file import unpack_table
from corate.rows import offsets_of

__all__ = ["Bytes", "FileBytes", "check_size", "chunk_at", "hash_strings", "pack", "read", "refuse", "words_at"]

Bytes = NDArray[np.uint8]

_LARGEST = 2**32 - 1
_HEADER = struct.Struct("<4s5I")  # id, size, flags, byte order, number of strings, place of the records' places
_BYTE_ORDER = 0x62445371
_TABLES = 256
_RECORDS = _HEADER.size + 8 * _TABLES


def refuse(why: str) -> NoReturn:
    """Raise the error of a file that is damaged."""
    raise ModelError(f"the CRFsuite model is damaged: {why}; copy it again, or train again")


def check_size(size: int) -> None:
    """Raise ModelError if places up to this size are no 32-bit numbers."""
    if size > _LARGEST:
        raise ModelError("the model is too large for a CRFsuite file, which has 4 GiB at most; save it as .corate")


class FileBytes:
    """The bytes of a file. Those of a slice are mapped when it is asked for, so that the whole is never in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._size = file, os.fstat(file.fileno()).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> Bytes:
        start, end, _ = part.indices(self._size)
        before = start % mmap.ALLOCATIONGRANULARITY
        mapped = mmap.mmap(self._file.fileno(), end - start + before, access=mmap.ACCESS_READ, offset=start - before)
        return np.frombuffer(mapped, np.uint8, offset=before)


def chunk_at(content: Bytes | FileBytes, start: int, name: bytes, least: int) -> Bytes:
    """The chunk of the file that starts with its name and its size, which is at least ``least`` bytes."""
    shown = name.decode()
    if not 0 <= start <= len(content) - least:
        refuse(f"its part {shown} starts at byte {start}, the file has {counted(len(content), 'byte')}")
    found, size = struct.unpack_from("<4sI", content[start : start + 8].data)
    if found != name:
        refuse(f"byte {start} is not the start of its part {shown}")
    if not least <= size <= len(content) - start:
        refuse(f"its part {shown} has the size {size}, which does not fit the file of {counted(len(content), 'byte')}")
    return content[start : start + size]


def words_at(content: Bytes, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The 32-bit numbers at these places, which must be inside the content."""
    if not len(places):
        return np.zeros(0, np.int64)
    from_each_byte: NDArray[np.uint32] = np.ndarray(len(content) - 3, "<u4", content.data, strides=(1,))
    found: NDArray[np.int64] = from_each_byte[places].astype(np.int64)
    return found


def read(content: Bytes | FileBytes, start: int, count: int, name: str) -> StringTable:
    """The strings of the chunk at ``start``, which must be ``count``; ``name`` says in errors what they are.

    Whether they are distinct is not checked.
    """
    chunk = chunk_at(content, start, b"CQDB", _RECORDS)
    _, size, _, order, n, backward = _HEADER.unpack_from(chunk.data)
    if order != _BYTE_ORDER:
        refuse(f"the byte order of its {name} is unknown")
    if n != count:
        refuse(f"it has {n} {name} where its header says {count}")
    if backward > size - 4 * n:
        refuse(f"the list of its {name} is outside of its part of the file")
    records = words_at(chunk, backward + 4 * np.arange(n))
    if int(records.max(initial=0)) > size - 9:
        refuse(f"a record of its {name} is outside of its part of the file")
    if not np.array_equal(words_at(chunk, records), np.arange(n)):
        refuse(f"the ids of its {name} are not in order")
    lengths = words_at(chunk, records + 4)
    ends = records + 8 + lengths  # with the NUL
    if np.any(lengths < 1) or int(ends.max(initial=0)) > size or int(lengths.sum()) > size:
        refuse(f"the lengths of its {name} do not fit")
    data = _native.gather_bytes(chunk, records + 8, lengths - 1)
    if chunk[ends - 1].any() or not data.all():
        refuse(f"one of its {name} does not end with its first NUL")
    return unpack_table(name, {f"{name}.data": data, f"{name}.offsets": offsets_of(lengths - 1)})


def pack(table: StringTable) -> Bytes:
    """The chunk of these strings, byte for byte as CRFsuite writes it. Raises ModelError if a string has a NUL."""
    if not table.data.all():
        raise ModelError("a name contains a NUL character, which a CRFsuite file cannot hold; use other names")
    n, lengths = len(table), np.diff(table.offsets) + 1
    hashes = hash_strings(table)
    records = _RECORDS + offsets_of(8 + lengths)
    sizes = 2 * np.bincount(hashes % _TABLES, minlength=_TABLES)
    tables = int(records[-1]) + 8 * offsets_of(sizes)
    size = int(tables[-1]) + 4 * n
    check_size(size)
    chunk = np.zeros(size, np.uint8)
    header = _HEADER.pack(b"CQDB", size, 0, _BYTE_ORDER, n, int(tables[-1]) if n else 0)
    chunk[: _HEADER.size] = np.frombuffer(header, np.uint8)
    pairs = np.stack([np.where(sizes > 0, tables[:-1], 0), sizes], axis=1)
    chunk[_HEADER.size : _RECORDS] = _bytes_of(pairs)
    heads = _bytes_of(np.stack([np.arange(n), lengths], axis=1)).reshape(n, 8)
    chunk[records[:-1, None] + np.arange(8)] = heads
    _, places = _places(records[:-1] + 8, lengths - 1)
    chunk[places] = table.data
    ids = _fill_slots(hashes, sizes)
    used = np.flatnonzero(ids < n)
    slots = np.zeros((len(ids), 2), np.int64)
    slots[used, 0], slots[used, 1] = hashes[ids[used]], records[ids[used]]
    chunk[records[-1] : tables[-1]] = _bytes_of(slots)
    chunk[tables[-1] :] = _bytes_of(records[:-1])
    return chunk


def _places(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The offsets of strings in one blob, and the place of each of its bytes, from where the strings start."""
    offsets = offsets_of(lengths)
    return offsets, np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])


def _bytes_of(numbers: NDArray[np.integer[Any]]) -> Bytes:
    return np.ascontiguousarray(numbers, dtype="<u4").reshape(-1).view(np.uint8)


# -- hash tables -----------------------------------------------------------------------------------------------------


def hash_strings(table: StringTable) -> NDArray[np.uint32]:
    """The lookup3 hash of each string with its NUL.

    >>> [f"{h:08x}" for h in hash_strings(StringTable.intern(["", "label"])[0])]
    ['8ba9414b', 'ad7b1c42']
    """
    lengths = np.diff(table.offsets) + 1
    blocks = (lengths + 11) // 12
    starts = offsets_of(blocks)
    padded = np.zeros(12 * int(starts[-1]), np.uint8)
    _, places = _places(12 * starts[:-1], lengths - 1)
    padded[places] = table.data
    words = padded.view("<u4").astype(np.uint32).reshape(-1, 3)
    order = np.argsort(-blocks, kind="stable")  # the longest first: those with another block are always the first ones
    more = np.searchsorted(-blocks[order], -np.arange(1, int(blocks.max(initial=0)) + 1), side="left")
    state = np.tile(((0xDEADBEEF + lengths[order]) & 0xFFFFFFFF).astype(np.uint32), (3, 1))
    here = len(order)
    for i, going_on in enumerate(more.tolist()):
        state[:, :here] += words[starts[order[:here]] + i].T
        _mix(*state[:, :going_on])
        _finish(*state[:, going_on:here])
        here = going_on
    hashes = np.empty(len(order), np.uint32)
    hashes[order] = state[2]
    return hashes


Words = NDArray[np.uint32]


def _mix(a: Words, b: Words, c: Words) -> None:
    for k in (4, 6, 8, 16, 19, 4):
        a -= c
        a ^= c << k | c >> (32 - k)
        c += b
        a, b, c = b, c, a


def _finish(a: Words, b: Words, c: Words) -> None:
    for k in (14, 11, 25, 16, 4, 14, 24):
        c ^= b
        c -= b << k | b >> (32 - k)
        a, b, c = b, c, a


def _fill_slots(hashes: Words, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The id of the string in each slot of all tables, and the number of strings for a slot that is free.

    Inserted in the order of their ids, each string gets the first slot from its own on that no earlier string has. Here
    all strings ask for a slot at once, round by round: of those that want the same slot, the first one has it, and
    the others ask for the next. This ends with the same slots.
    """
    n, table = len(hashes), (hashes % _TABLES).astype(np.int64)
    first, size = offsets_of(sizes)[table], sizes[table]
    place = (hashes >> 8).astype(np.int64) % size
    ids = np.full(int(sizes.sum()), n)
    waiting = np.arange(n)
    while len(waiting):
        slots = first[waiting] + place[waiting]
        before = ids[slots]
        np.minimum.at(ids, slots, waiting)
        after = ids[slots]
        moved = np.unique(before[(before < n) & (before != after)])
        waiting = np.concatenate([waiting[waiting != after], moved])
        place[waiting] = (place[waiting] + 1) % size[waiting]
    return ids
