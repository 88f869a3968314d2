"""Records on disk that are added up group by group, for counts that outgrow memory.

Each run is sorted into the same groups. The records of some groups are read from all runs at once, so memory holds only
these groups, and each run is read in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Records", "Runs"]

Records = NDArray[np.uint64]  # (n, 3)

_BYTES = 3 * 8


class Runs:
    """A file of runs. A record is three 64-bit numbers.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = Runs(Path(folder) / "runs")
    ...     runs.append(np.array([[1, 0, 0], [5, 0, 0]], np.uint64), np.array([1, 1]))
    ...     runs.append(np.array([[2, 0, 0], [6, 0, 0], [7, 0, 0]], np.uint64), np.array([1, 2]))
    ...     [part[:, 0].tolist() for part in runs.groups(most=3)]
    [[1, 2], [5, 6, 7]]
    """

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0
        self._starts: list[NDArray[np.int64]] = []  # of each run: where its groups begin in the file, and its end
        path.touch()

    def append(self, records: Records, sizes: NDArray[np.int64]) -> None:
        """Append a run: records sorted by group, and the number of records of each group."""
        with self.path.open("ab") as file:
            file.write(np.ascontiguousarray(records).data)
        self._starts.append(self.size + np.concatenate([[0], np.cumsum(sizes)]))
        self.size += len(records)

    def groups(self, most: int) -> Iterator[Records]:
        """The records of all groups, about ``most`` at a time. A group is never split."""
        if not self._starts:
            return
        starts = np.stack(self._starts)
        ends = np.cumsum(np.diff(starts, axis=1).sum(axis=0))
        first = 0
        with self.path.open("rb", buffering=0) as file:
            while first < len(ends):
                before = int(ends[first - 1]) if first else 0
                last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
                parts = []
                for run in starts:
                    a, b = int(run[first]), int(run[last])
                    if a < b:
                        file.seek(a * _BYTES)
                        parts.append(np.fromfile(file, np.uint64, count=3 * (b - a)).reshape(-1, 3))
                if parts:
                    yield np.concatenate(parts)
                first = last

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
