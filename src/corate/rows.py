"""Ragged arrays: rows of different lengths in one array of entries, with the offset where each row begins.

Row ``i`` has the entries from ``offsets[i]`` to ``offsets[i + 1]``. Several arrays can have a value for each entry, for
example a label and its score. A class of such arrays is a dataclass derived from `Ragged` that names them in
``ENTRIES``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.types import F32, Csr, Ids, Offsets

__all__ = [
    "LabelRows",
    "Ragged",
    "SparseRows",
    "cuts",
    "distinct",
    "offsets_of",
    "owners_of",
    "rows_of_keys",
    "sums_by_key",
    "take_rows",
]

Int64 = NDArray[np.int64]
Rows = TypeVar("Rows", bound="Ragged")


def distinct(values: Int64) -> Int64:
    """The distinct values, ascending: ``np.unique``, which imports a module of NumPy that takes time to load.

    >>> distinct(np.array([[3, 1], [3, 0]])).tolist()
    [0, 1, 3]
    """
    found = np.sort(values, axis=None)
    return np.asarray(found[np.append(True, found[1:] != found[:-1])[: len(found)]])


def offsets_of(lengths: NDArray[np.integer[Any]] | NDArray[np.bool_]) -> Offsets:
    """The offsets of rows of these lengths.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def owners_of(offsets: Offsets) -> Int64:
    """The row of each entry.

    >>> owners_of(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def cuts(offsets: Offsets, entries: int) -> list[tuple[int, int]]:
    """Pieces of whole rows of about so many entries: the first row of each piece, and the first one after it.

    >>> cuts(np.array([0, 2, 4, 5, 9]), 3)
    [(0, 2), (2, 4)]
    """
    starts = np.searchsorted(offsets, np.arange(0, max(int(offsets[-1]), 1), entries))
    return [(a, b) for a, b in pairwise([*np.unique(starts).tolist(), len(offsets) - 1]) if a < b]


def take_rows(offsets: Offsets, rows: NDArray[np.integer[Any]]) -> tuple[Offsets, Int64]:
    """Some rows of a ragged array, in the given order: their offsets, and the positions of their entries.

    >>> offsets, places = take_rows(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> offsets.tolist(), places.tolist()
    ([0, 3, 5], [2, 3, 4, 0, 1])
    """
    lengths = offsets[rows + 1] - offsets[rows]
    taken = offsets_of(lengths)
    return taken, np.repeat(offsets[rows] - taken[:-1], lengths) + np.arange(taken[-1])


def rows_of_keys(keys: Int64, rows: int, width: int) -> Csr:
    """Rows of labels from ascending keys, ``row * width + label``; see `LabelRows.keys`.

    >>> [array.tolist() for array in rows_of_keys(np.array([1, 20, 24]), 3, 10)]
    [[0, 1, 1, 3], [1, 0, 4]]
    """
    offsets = np.searchsorted(keys, np.arange(rows + 1, dtype=np.int64) * width).astype(np.int64)
    return offsets, (keys % width).astype(np.int32)


def sums_by_key(keys: Sequence[Int64], counts: Sequence[Int64]) -> tuple[Int64, Int64]:
    """The distinct keys of several arrays, ascending, and the sums of their counts, which are below 2**53.

    >>> [array.tolist() for array in sums_by_key([np.array([5, 1]), np.array([5])], [np.array([1, 2]), np.array([3])])]
    [[1, 5], [2, 4]]
    """
    found, where = np.unique(np.concatenate(keys), return_inverse=True)
    return found, np.bincount(where, weights=np.concatenate(counts), minlength=len(found)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of entries. Derived classes have arrays with a value for each entry, which ``ENTRIES`` names."""

    offsets: Offsets

    ENTRIES: ClassVar[tuple[str, ...]] = ()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64:
        """The number of entries in each row."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Int64:
        """The row of each entry."""
        return owners_of(self.offsets)

    def _entries(self, chosen: NDArray[Any] | slice) -> dict[str, NDArray[Any]]:
        """The arrays of entries, with the chosen ones only. An optional array may be None."""
        arrays = {name: getattr(self, name) for name in self.ENTRIES}
        return {name: array[chosen] for name, array in arrays.items() if array is not None}

    def take(self: Rows, rows: NDArray[np.integer[Any]]) -> Rows:
        """Some of the rows, in the given order."""
        offsets, places = take_rows(self.offsets, rows)
        return replace(self, offsets=offsets, **self._entries(places))

    def where(self: Rows, kept: NDArray[np.bool_]) -> Rows:
        """The rows with only the entries that are marked."""
        return replace(self, offsets=offsets_of(kept)[self.offsets], **self._entries(kept))

    def only(self: Rows, kept: NDArray[np.bool_]) -> Rows:
        """The same number of rows; those that are not marked are empty."""
        offsets = offsets_of(np.where(kept, self.lengths, 0))
        return replace(self, offsets=offsets, **self._entries(np.repeat(kept, self.lengths)))

    def between(self: Rows, start: int, stop: int) -> Rows:
        """The rows from ``start`` to ``stop``; their entries are views."""
        a, b = int(self.offsets[start]), int(self.offsets[stop])
        return replace(self, offsets=self.offsets[start : stop + 1] - a, **self._entries(slice(a, b)))

    def padded(self: Rows, rows: int) -> Rows:
        """The rows with empty ones added at the end, up to ``rows``."""
        tail = np.full(rows - len(self), self.offsets[-1], dtype=np.int64)
        return replace(self, offsets=np.concatenate([self.offsets, tail]))

    @classmethod
    def joined(cls: type[Rows], parts: Sequence[Rows]) -> Rows:
        """The rows of all parts, at least one, one part after another. Other attributes are those of the first."""
        arrays: dict[str, Any] = {name: [getattr(part, name) for part in parts] for name in cls.ENTRIES}
        entries = {name: np.concatenate(own) for name, own in arrays.items() if own[0] is not None}
        starts = offsets_of(np.array([part.offsets[-1] for part in parts]))
        shifted = [part.offsets[1:] + start for part, start in zip(parts, starts[:-1].tolist(), strict=True)]
        return replace(parts[0], offsets=np.concatenate([starts[:1], *shifted]), **entries)


@dataclass(frozen=True, eq=False)
class LabelRows(Ragged):
    """Rows of labels, ascending within each row."""

    labels: Ids

    ENTRIES: ClassVar[tuple[str, ...]] = ("labels",)

    @property
    def csr(self) -> Csr:
        """The rows as the native code takes them: offsets and labels."""
        return self.offsets, self.labels

    def keys(self, width: int) -> Int64:
        """Each entry as one number, ``row * width + label``."""
        return self.owners * width + self.labels


@dataclass(frozen=True, eq=False)
class SparseRows(LabelRows):
    """Rows of (label, score), with ascending labels."""

    offsets: Offsets = field(default_factory=lambda: np.zeros(1, np.int64))
    labels: Ids = field(default_factory=lambda: np.zeros(0, np.int32))
    scores: F32 = field(default_factory=lambda: np.zeros(0, np.float32))

    ENTRIES: ClassVar[tuple[str, ...]] = ("labels", "scores")

    @classmethod
    def empty(cls, rows: int) -> SparseRows:
        """This many empty rows."""
        return cls(np.zeros(rows + 1, np.int64))

    @classmethod
    def zeros(cls, rows: Csr) -> SparseRows:
        """Rows of labels whose scores are zero."""
        return cls(*rows, np.zeros(len(rows[1]), np.float32))

    def arrays(self) -> tuple[Offsets, Ids, F32]:
        """The arrays that the native code takes."""
        return self.offsets, self.labels, self.scores

    def scaled(self, factor: float) -> SparseRows:
        """The same rows with their scores multiplied."""
        return replace(self, scores=self.scores * np.float32(factor))

    def plus(self, other: SparseRows) -> SparseRows:
        """The sum of two sets of rows of the same number.

        >>> a = SparseRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0], np.float32))
        >>> b = SparseRows(np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
        >>> a.plus(b).scores.tolist()
        [1.0, 2.5]
        """
        return SparseRows(*_native.add_sparse_rows(self.arrays(), other.arrays()))

    def compacted(self) -> SparseRows:
        """The rows without the entries whose score is zero.

        >>> rows = SparseRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([0.0, 2.0], np.float32))
        >>> rows.compacted().labels.tolist()
        [1]
        """
        return self.where(self.scores != 0)
