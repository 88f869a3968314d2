"""Plots of accuracy against time: as text, as an SVG picture, or as an HTML page with the picture and a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from corate.cli.terminal import percent

__all__ = ["Point", "format_seconds", "in_characters", "page", "svg"]


@dataclass(frozen=True)
class Point:
    """A method: seconds, accuracy (a fraction), and the standard deviation of the accuracy."""

    name: str
    seconds: float
    accuracy: float
    spread: float | None = None


def format_seconds(seconds: float) -> str:
    """A time for an axis or a table.

    >>> [format_seconds(s) for s in (0.05, 0.3, 2.5, 20, 345.0, 7200)]
    ['0.05 s', '0.3 s', '2.5 s', '20 s', '345 s', '7200 s']
    """
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


@dataclass(frozen=True)
class _Axes:
    """Time on a logarithmic scale and accuracy on a linear scale, both with a margin around the points."""

    low: float  # log10 of seconds
    high: float
    bottom: float
    top: float

    @classmethod
    def of(cls, points: Sequence[Point]) -> _Axes:
        times = [math.log10(max(p.seconds, 1e-4)) for p in points]
        ends = [p.accuracy + sign * (p.spread or 0.0) for p in points for sign in (-1, 1)]
        wide, tall = max(max(times) - min(times), 0.3), max(max(ends) - min(ends), 0.002)
        return cls(
            min(times) - 0.08 * wide, max(times) + 0.08 * wide, min(ends) - 0.1 * tall, min(1.0, max(ends) + 0.1 * tall)
        )

    def across(self, seconds: float) -> float:
        """From 0 at the left to 1 at the right."""
        return (math.log10(max(seconds, 1e-4)) - self.low) / (self.high - self.low)

    def up(self, accuracy: float) -> float:
        """From 0 at the bottom to 1 at the top."""
        return (accuracy - self.bottom) / (self.top - self.bottom)

    def times(self) -> list[float]:
        """Ticks of the time axis: powers of ten, with multiples of them if there are fewer than three."""
        for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), tuple(1 + k / 2 for k in range(18))):
            decades = range(math.floor(self.low), math.ceil(self.high) + 1)
            found = [s * 10.0**d for d in decades for s in steps if self.low <= math.log10(s * 10.0**d) <= self.high]
            if len(found) >= 3:
                break
        return found

    def accuracies(self) -> list[float]:
        """About five round ticks of the accuracy axis."""
        step = 10.0 ** math.floor(math.log10(self.top - self.bottom))
        step = next(s * step for s in (0.2, 0.5, 1.0, 2.0) if (self.top - self.bottom) / (s * step) <= 6)
        first = math.ceil(self.bottom / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.top / step + 1e-9) + 1)]


def in_characters(points: Sequence[Point], width: int = 72, height: int = 14) -> list[str]:
    """The plot as lines of text. Each name is next to its point if there is space.

    >>> for line in in_characters([Point("quick", 0.1, 0.95), Point("slow", 10, 0.97)], width=44, height=5):
    ...     print(line)
    accuracy
      97.20% |                           slow o
             |
      96.00% |
             |
      94.80% |  o quick
             +----------------------------------
              0.1 s          1 s            10 s
               training time, logarithmic
    """
    axes = _Axes.of(points)
    margin = 9
    inner = width - margin
    grid = [[" "] * inner for _ in range(height)]
    places = []
    for p in sorted(points, key=lambda p: -p.accuracy):
        column = min(inner - 1, max(1, round(axes.across(p.seconds) * (inner - 1))))
        row = min(height - 1, max(0, round((1 - axes.up(p.accuracy)) * (height - 1))))
        while grid[row][column] != " " and column + 1 < inner:  # move a point right if its cell is taken
            column += 1
        grid[row][column] = "o"
        places.append((p.name, row, column))
    for name, row, column in places:
        _write_beside(grid, name, row, column)
    shown = []
    for k, cells in enumerate(grid):
        value = axes.top - (axes.top - axes.bottom) * k / (height - 1)
        shown.append(f"{percent(value) if k % 2 == 0 else '':>8} |{''.join(cells)}".rstrip())
    return ["accuracy", *shown, " " * margin + "+" + "-" * (inner - 1), *_time_axis(axes, inner, margin)]


def _write_beside(grid: list[list[str]], name: str, row: int, column: int) -> None:
    """Write a name to the right or left of its point, or above or below it: at the first free place."""
    inner, n = len(grid[0]), len(name)
    tries = [(row, column + 2), (row, column - n - 1), (row - 1, column), (row + 1, column), (row - 1, column - n)]
    for line, first in tries:
        free = 0 <= line < len(grid) and first > 0 and first + n <= inner
        if free and all(c == " " for c in grid[line][max(0, first - 1) : first + n + 1] if c != "o" or line != row):
            grid[line][first : first + n] = name
            return


def _time_axis(axes: _Axes, inner: int, margin: int) -> list[str]:
    line = [" "] * (inner + margin + 6)
    end = 0
    for tick in axes.times():
        label = format_seconds(tick)
        first = margin + round(axes.across(tick) * (inner - 1)) - 1
        if first > end and first + len(label) <= len(line):
            line[first : first + len(label)] = label
            end = first + len(label) + 1
    return ["".join(line).rstrip(), " " * (margin + 2) + "training time, logarithmic"]


# -- pictures --------------------------------------------------------------------------------------------------------

_STYLE = """\
.corate text{font:13px system-ui,sans-serif;fill:#1c2024}
.corate .tick{font-size:12px;fill:#5b6270}
.corate .paper{fill:#ffffff}
.corate .grid{stroke:#d9dde3}
.corate .dot{fill:#0b62c4}
.corate .bar{stroke:#0b62c4;stroke-width:1.5}
@media (prefers-color-scheme:dark){
.corate text{fill:#e8eaed}
.corate .tick{fill:#a0a6b0}
.corate .paper{fill:#16181c}
.corate .grid{stroke:#3a3f47}
.corate .dot{fill:#6cb2ff}
.corate .bar{stroke:#6cb2ff}}"""

_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 44, 56


def svg(points: Sequence[Point], title: str = "Accuracy against training time") -> str:
    """The plot as one SVG picture without scripts or external files. It supports a dark colour scheme."""
    axes = _Axes.of(points)
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    low = _HEIGHT - _BOTTOM

    def x(seconds: float) -> float:
        return _LEFT + axes.across(seconds) * inner_width

    def y(accuracy: float) -> float:
        return _TOP + (1 - axes.up(accuracy)) * inner_height

    description = "; ".join(f"{p.name}: {percent(p.accuracy)} in {format_seconds(p.seconds)}" for p in points)
    parts = [
        f'<svg class="corate" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-labelledby="corate-title corate-desc">',
        f'<title id="corate-title">{escape(title)}</title><desc id="corate-desc">{escape(description)}</desc>',
        f'<style>{_STYLE}</style><rect class="paper" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text x="{_LEFT}" y="24" font-weight="600">{escape(title)}</text>',
    ]
    for accuracy in axes.accuracies():
        at = f"{y(accuracy):.1f}"
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(_tick(_LEFT - 8, y(accuracy) + 4, percent(accuracy), "end"))
    for seconds in axes.times():
        at = f"{x(seconds):.1f}"
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{_TOP}" y2="{low}"/>')
        parts.append(_tick(x(seconds), low + 20, format_seconds(seconds), "middle"))
    parts.append(_tick(_LEFT + inner_width / 2, _HEIGHT - 12, "training time, logarithmic", "middle"))
    parts += _dots(points, [(x(p.seconds), y(p.accuracy)) for p in points], y)
    return "\n".join([*parts, "</svg>", ""])


def _tick(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _dots(points: Sequence[Point], places: Sequence[tuple[float, float]], y: Callable[[float], float]) -> list[str]:
    """The points with their names, placed without overlap if possible."""
    parts, taken = [], [(px - 6, py - 6, px + 6, py + 6) for px, py in places]
    for point, (px, py) in zip(points, places, strict=True):
        if point.spread:
            ends = y(point.accuracy - point.spread), y(point.accuracy + point.spread)
            parts.append(f'<line class="bar" x1="{px:.1f}" x2="{px:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>')
        parts.append(f'<circle class="dot" cx="{px:.1f}" cy="{py:.1f}" r="5"/>')
        wide = 7.2 * len(point.name)
        corners = [(px + 10, py + 4), (px - 10 - wide, py + 4), (px - wide / 2, py - 12), (px - wide / 2, py + 22)]
        boxes = [(left, base - 11, left + wide, base + 3) for left, base in corners]
        free = [k for k, box in enumerate(boxes) if _fits(box) and not any(_overlap(box, other) for other in taken)]
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        left, base = corners[chosen]
        parts.append(f'<text x="{left:.1f}" y="{base:.1f}">{escape(point.name)}</text>')
    return parts


_Box = tuple[float, float, float, float]


def _fits(box: _Box) -> bool:
    return box[0] >= _LEFT and box[2] <= _WIDTH - 4 and box[1] >= _TOP - 12 and box[3] <= _HEIGHT - _BOTTOM + 12


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:52rem;padding:0 1rem;background:#fff;color:#1c2024}}
table{{border-collapse:collapse;margin-top:1rem;display:block;overflow-x:auto}}
th,td{{padding:.3rem .8rem;text-align:right;border-bottom:1px solid #8886;font-variant-numeric:tabular-nums}}
th:first-child,td:first-child{{text-align:left}}
@media (prefers-color-scheme:dark){{body{{background:#16181c;color:#e8eaed}}}}
</style>
<h1>{title}</h1>
<p>{summary}</p>
{picture}<table>
<thead><tr>{header}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</html>
"""


def page(
    points: Sequence[Point], header: Sequence[str], rows: Sequence[Sequence[str]], title: str, summary: str
) -> str:
    """An HTML page with the picture and its table, without external files."""
    return _PAGE.format(
        title=escape(title),
        summary=escape(summary),
        picture=svg(points),
        header="".join(f"<th>{escape(name)}</th>" for name in header),
        rows="\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows),
    )
