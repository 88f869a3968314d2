"""A table of distinct strings, each with an id."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.rows import offsets_of
from corate.types import Ids, Offsets

__all__ = ["StringTable"]


@dataclass(frozen=True, eq=False)
class StringTable:
    """Distinct strings as one blob of UTF-8 bytes with ``(m + 1,)`` offsets.

    >>> table, ids = StringTable.intern(["to", "be", "or", "not", "to", "be"])
    >>> table.to_list(), ids.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1])
    """

    data: NDArray[np.uint8]
    offsets: Offsets

    @classmethod
    def intern(cls, strings: Iterable[str]) -> tuple[StringTable, Ids]:
        """Number the distinct strings in order of first appearance; returns the table and the ids."""
        ids, data, offsets = _native.intern_strings(list(strings))
        return cls(data, offsets), ids

    @classmethod
    def intern_buffer(cls, data: NDArray[np.uint8], offsets: Offsets) -> tuple[StringTable, Ids]:
        """Like `intern`, for strings in one blob of UTF-8 bytes with offsets, as in an Arrow array.

        >>> table, ids = StringTable.intern_buffer(np.frombuffer(b"tobeto", np.uint8), np.array([0, 2, 4, 6]))
        >>> table.to_list(), ids.tolist()
        (['to', 'be'], [0, 1, 0])
        """
        ids, distinct, ends = _native.intern_buffer((data, offsets))
        return cls(distinct, ends), ids

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self.to_list()[index]

    def to_list(self) -> list[str]:
        """All strings. They are decoded once and cached."""
        return self._decoded

    @cached_property
    def _decoded(self) -> list[str]:
        blob = self.data.tobytes()
        ends = self.offsets.tolist()
        return [blob[a:b].decode() for a, b in itertools.pairwise(ends)]

    def __reduce__(self) -> tuple[Any, ...]:
        return StringTable, (self.data, self.offsets)  # without decoded strings

    def sorted(self) -> Ids:
        """The ids in the order of the bytes of their strings.

        >>> StringTable.intern(["to", "be", "or"])[0].sorted().tolist()
        [1, 2, 0]
        """
        blob = self.data.tobytes()
        strings = [blob[a:b] for a, b in itertools.pairwise(self.offsets.tolist())]
        return np.array(sorted(range(len(strings)), key=strings.__getitem__), dtype=np.int32)

    @classmethod
    def joined(cls, tables: Sequence[StringTable]) -> tuple[StringTable, list[Ids]]:
        """The strings of several tables, each once, and the new ids of the strings of each table.

        >>> table, ids = StringTable.joined([StringTable.intern(["to", "be"])[0], StringTable.intern(["or", "be"])[0]])
        >>> table.to_list(), [own.tolist() for own in ids]
        (['to', 'be', 'or'], [[0, 1], [2, 1]])
        """
        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(t.offsets) for t in tables)])
        data = np.concatenate([np.zeros(0, np.uint8), *(t.data for t in tables)])
        table, ids = cls.intern_buffer(data, offsets_of(lengths))
        return table, np.split(ids, np.cumsum([len(t) for t in tables])[:-1])

    def head(self, n: int) -> StringTable:
        """The first ``n`` strings, or all if there are fewer."""
        offsets = self.offsets[: n + 1]
        return StringTable(self.data[: offsets[-1]], offsets)

    def take(self, ids: NDArray[np.integer[Any]]) -> StringTable:
        """Some of the strings, in the given order.

        >>> StringTable.intern(["to", "be", "or"])[0].take(np.array([2, 0])).to_list()
        ['or', 'to']
        """
        starts = self.offsets[ids]
        lengths = self.offsets[1:][ids] - starts
        return StringTable(_native.gather_bytes(self.data, starts, lengths), offsets_of(lengths))

    def find(self, other: StringTable) -> Ids:
        """The ids in this table of another table's strings, -1 for a string that this table does not contain."""
        return _native.match_strings((self.data, self.offsets), (other.data, other.offsets))
