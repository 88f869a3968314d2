"""Counts of neighbour pairs on disk, for corpora whose pairs do not fit in memory.

Pieces of a corpus are counted one after another. Their entries (pair, label, count and first place) are written to
disk, merged for some pairs at a time, and put in the order of their first place, which is the order in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Table
from corate.io.runs import Records, Runs
from corate.rows import offsets_of
from corate.types import Ids

__all__ = ["Keys", "PairCounter", "StoredPairs", "columns_of", "entries_of", "table_of"]

Keys = NDArray[np.uint64]
Item = TypeVar("Item")
Result = TypeVar("Result")

#: Keys are in 2 ** GROUP_BITS groups, by their hash.
GROUP_BITS = 10
_COUNT_BITS = np.uint64(40)  # an entry has its label above these bits, and its count in them
_COUNT_MASK = np.uint64((1 << 40) - 1)


def entries_of(keys: Keys, table: Table, first: int) -> Records:
    """The rows of a table as entries. Row i has the place ``first + i``."""
    lengths = table.lengths
    found = np.empty((len(table.labels), 3), np.uint64)
    found[:, 0] = np.repeat(keys, lengths)
    found[:, 1] = np.repeat(np.arange(first, first + len(table), dtype=np.uint64), lengths)
    found[:, 2] = table.labels.astype(np.uint64) << _COUNT_BITS | table.counts.astype(np.uint64)
    return found


def columns_of(entries: Records) -> tuple[Ids, NDArray[np.int64]]:
    """The labels and the counts of entries."""
    return (entries[:, 2] >> _COUNT_BITS).astype(np.int32), (entries[:, 2] & _COUNT_MASK).astype(np.int64)


def table_of(entries: Records) -> tuple[Keys, Table]:
    """The keys of sorted entries, and their table: a row for each run of equal keys."""
    keys = entries[:, 0]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return keys[starts], Table(np.append(starts, len(keys)).astype(np.int64), *columns_of(entries))


@dataclass(frozen=True)
class StoredPairs:
    """A table of label counts by pair, in files, in order of the first place of each pair."""

    folder: Path
    name: str
    rows: int
    entries: int
    largest: dict[str, int]  # the largest first value, second value, row length, label and count

    @classmethod
    def write(cls, parts: Iterable[Records], folder: Path, name: str) -> StoredPairs:
        """Write entries that are sorted by place. No pair is in two parts."""
        rows, entries, largest = 0, 0, dict.fromkeys(("first", "second", "length", "label", "count"), 0)
        files = [(folder / f"{name}-{what}").open("wb") for what in ("keys", "lengths", "labels", "counts")]
        try:
            for part in parts:
                keys, table = table_of(part)
                lengths = table.lengths.astype(np.int32)
                for file, array in zip(files, (keys, lengths, table.labels, table.counts), strict=True):
                    file.write(np.ascontiguousarray(array).data)
                rows, entries = rows + len(keys), entries + len(part)
                values = (keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF), lengths, table.labels, table.counts)
                for what, array in zip(largest, values, strict=True):
                    largest[what] = max(largest[what], int(array.max(initial=0)))
        finally:
            for file in files:
                file.close()
        return cls(folder, name, rows, entries, largest)

    def chunks(self, rows: int) -> Iterator[tuple[int, Keys, Table]]:
        """The table, so many rows at a time: the first row, the keys and the counts."""
        paths = [self.folder / f"{self.name}-{what}" for what in ("keys", "lengths", "labels", "counts")]
        keys, lengths, labels, counts = (path.open("rb", buffering=0) for path in paths)
        with keys, lengths, labels, counts:
            for start in range(0, self.rows, rows):
                offsets = offsets_of(np.fromfile(lengths, np.int32, count=rows))
                n = int(offsets[-1])
                own = np.fromfile(keys, np.uint64, count=rows)
                table = Table(offsets, np.fromfile(labels, np.int32, count=n), np.fromfile(counts, np.int64, count=n))
                yield start, own, table

    def find(self, wanted: Keys, rows: int) -> tuple[NDArray[np.int64], Table]:
        """The rows of some distinct keys, -1 for those that were not counted, and their counts."""
        places = np.full(len(wanted), -1, np.int64)
        found = list[tuple[NDArray[np.int64], Table]]()
        for start, keys, table in self.chunks(rows):
            at = _native.match_keys(wanted, keys)
            here = np.flatnonzero(at >= 0)
            places[at[here]] = start + here
            found.append((at[here].astype(np.int64), table.take(here)))
        order = np.argsort(np.concatenate([np.zeros(0, np.int64), *(at for at, _ in found)]), kind="stable")
        return places, Table.joined([Table.empty(), *(table for _, table in found)]).take(order)


class PairCounter:
    """Counts keys and labels of tokens, piece by piece. Entries are kept on disk."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.runs = Runs(folder / f"{name}-runs")

    def count(self, keys: Keys, labels: Ids, first: int) -> tuple[Records, NDArray[np.int64]]:
        """The entries of a piece whose first token has the number ``first``, for `add`. Threads may count at a time."""
        return _native.count_entries(keys, labels, first, GROUP_BITS)

    def add(self, counted: tuple[Records, NDArray[np.int64]]) -> None:
        """Add the entries of a piece."""
        self.runs.append(*counted)

    def by_key(self, most: int) -> Records:
        """All entries, added up and sorted by key, in memory."""
        parts = [_native.merge_entries(part, False) for part in self.runs.groups(most)]
        self.runs.remove()
        return _native.merge_entries(np.concatenate([np.zeros((0, 3), np.uint64), *parts]), False)

    def stored(self, most: int, span: int, tokens: int, threads: int, progress: Callable[[float], None]) -> StoredPairs:
        """All entries, added up and in order of their first place, on disk.

        At most about ``most`` entries are in memory for each thread. Places are below ``tokens``, and are put in order
        for ``span`` of them at a time.
        """
        placed = Runs(self.folder / f"{self.name}-placed")
        spans = tokens // span + 1
        done, total = 0, max(1, self.runs.size)

        def merge(part: Records) -> tuple[Records, int]:
            return _native.merge_entries(part, True), len(part)

        for merged, n in _in_order(merge, self.runs.groups(most), threads):
            placed.append(merged, np.bincount((merged[:, 1] // np.uint64(span)).astype(np.int64), minlength=spans))
            done += n
            progress(0.6 * done / total)
        self.runs.remove()
        ordered = _in_order(lambda part: _native.merge_entries(part, True), placed.groups(most), threads)
        found = StoredPairs.write(ordered, self.folder, self.name)
        placed.remove()
        progress(1.0)
        return found


def _in_order(work: Callable[[Item], Result], items: Iterator[Item], threads: int) -> Iterator[Result]:
    """The results of some work on all items, in order. At most ``threads`` items are in memory at a time."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque[Future[Result]]()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) == threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
