"""Heat maps of co-occurrence rates: a cell shows how strongly the labels of its row and column attract each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from corate.pages.charts import heat_map

__all__ = ["HeatMap", "sign"]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """``logs[i, j]`` is the natural logarithm of the rate of ``rows[i]`` with ``columns[j]``.

    >>> print(HeatMap(("B", "I"), ("B", "I"), np.log([[0.05, 3.0], [0.9, 20.0]])).text())
      1   2
    1 --- +   B
    2 .   +++ I
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    logs: NDArray[np.floating]

    @classmethod
    def of_labels(cls, labels: Sequence[str], logs: NDArray[np.floating]) -> HeatMap:
        """The map of pairs of neighbouring labels; the last row and column are the ends of sentences."""
        return cls((*labels, "<s>"), (*labels, "</s>"), logs)

    def first(self, n: int) -> HeatMap:
        """The first ``n`` rows and columns; of more, the last (the sentence boundary) replaces the ``n``-th."""
        i, j = (_some(len(names), n) for names in (self.rows, self.columns))
        return HeatMap(tuple(self.rows[k] for k in i), tuple(self.columns[k] for k in j), self.logs[np.ix_(i, j)])

    def text(self) -> str:
        """As plain text: ``+`` attract, ``-`` avoid, ``.`` neither; more signs mean a stronger effect.

        Columns are numbered; the row with the same number shows the name.
        """
        width = len(str(max(len(self.rows), len(self.columns))))
        head = " ".join(f"{k + 1:<3}" for k in range(len(self.columns)))
        lines = [f"{'':{width}} {head}".rstrip()]
        for i, row in enumerate(self.rows):
            cells = " ".join(f"{sign(log):<3}" for log in self.logs[i].tolist())
            lines.append(f"{i + 1:>{width}} {cells} {self._name(i, row)}")
        return "\n".join(lines)

    def _name(self, i: int, row: str) -> str:
        """The name of a row, and of the column with the same number if it differs."""
        same = i >= len(self.columns) or self.columns[i] == row
        return row if same else f"{row} (column: {self.columns[i]})"

    def chart(self) -> Markup:
        """As an element of a page, with a tooltip on every cell."""
        return heat_map("co-occurrence rates of neighbouring labels", self.rows, self.columns, self.logs)


def sign(log: float) -> str:
    """One to three signs for a rate: beyond 1.4, 4 and 16 times chance.

    >>> [sign(math.log(rate)) for rate in (100, 5, 1.5, 1.1, 0.5, 0.01)]
    ['+++', '++', '+', '.', '-', '---']
    """
    strength = abs(log) / math.log(2)
    n = 0 if strength < 0.5 else 1 if strength < 2 else 2 if strength < 4 else 3
    return ("+" if log > 0 else "-") * n or "."


def _some(have: int, want: int) -> list[int]:
    return list(range(have)) if have <= want else [*range(want - 1), have - 1]
