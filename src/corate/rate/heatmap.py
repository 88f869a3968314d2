"""Heat maps of co-occurrence rates: a cell shows how strongly the labels of its row and column attract each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeatMap", "colour", "sign"]

#: Rates 16 times above or below chance have the full colour.
_FULL = 4.0
_RED, _BLUE, _WHITE = (178, 24, 43), (33, 102, 172), (247, 247, 247)
_CELL, _LETTER, _MARGIN = 18, 7, 10


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

    def svg(self) -> str:
        """An SVG image with a title on every cell."""
        left = _MARGIN + _LETTER * max(map(len, self.rows), default=0) + 6
        top = _MARGIN + _LETTER * max(map(len, self.columns), default=0) + 6
        width, height = (left + _CELL * len(self.columns) + _MARGIN, top + _CELL * len(self.rows) + _MARGIN)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="11">',
            "<title>co-occurrence rates of neighbouring labels</title>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
        ]
        for j, name in enumerate(self.columns):
            x = left + _CELL * j + _CELL // 2 + 4
            parts.append(f'<text transform="translate({x},{top - 6}) rotate(-90)">{escape(name)}</text>')
        for i, name in enumerate(self.rows):
            y = top + _CELL * i
            parts.append(f'<text x="{left - 6}" y="{y + 13}" text-anchor="end">{escape(name)}</text>')
            parts += [self._cell(i, j, left + _CELL * j, y) for j in range(len(self.columns))]
        return "\n".join([*parts, "</svg>\n"])

    def _cell(self, i: int, j: int, x: int, y: int) -> str:
        log = float(self.logs[i, j])
        text = f"{self.rows[i]}, then {self.columns[j]}: {math.exp(min(log, 700.0)):.3g}"
        fill = "#{:02x}{:02x}{:02x}".format(*colour(log))
        return (
            f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{fill}"><title>{escape(text)}</title></rect>'
        )


def sign(log: float) -> str:
    """One to three signs for a rate: beyond 1.4, 4 and 16 times chance.

    >>> [sign(math.log(rate)) for rate in (100, 5, 1.5, 1.1, 0.5, 0.01)]
    ['+++', '++', '+', '.', '-', '---']
    """
    strength = abs(log) / math.log(2)
    n = 0 if strength < 0.5 else 1 if strength < 2 else 2 if strength < _FULL else 3
    return ("+" if log > 0 else "-") * n or "."


def colour(log: float) -> tuple[int, int, int]:
    """Red for labels that attract each other, blue for labels that avoid each other, white for a rate of 1.

    >>> colour(0.0), colour(100.0)
    ((247, 247, 247), (178, 24, 43))
    """
    share = max(-1.0, min(1.0, log / (math.log(2) * _FULL)))
    far = _RED if share > 0 else _BLUE
    mixed = [round(w + abs(share) * (f - w)) for w, f in zip(_WHITE, far, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def _some(have: int, want: int) -> list[int]:
    return list(range(have)) if have <= want else [*range(want - 1), have - 1]
