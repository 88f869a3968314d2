"""Plots of accuracy against time: as text, as a picture, or as a web page with the picture and a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from corate.cli.terminal import percent
from corate.io.atomic import check_writable
from corate.io.streams import bare_suffix
from corate.pages.charts import COLOURS, Axis, Scale, Series, chart

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = [
    *("Point", "check_picture", "check_suffix", "format_seconds", "in_characters", "page", "picture"),
    *("prepare_picture", "refuse_picture"),
]

#: Suffixes of pictures, of which Corate writes only SVG.
_PICTURES = (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".png", ".ps", ".svg", ".tif", ".tiff", ".webp")


@dataclass(frozen=True)
class Point:
    """A method: seconds, accuracy (a fraction), and the standard deviation of the accuracy."""

    name: str
    seconds: float
    accuracy: float
    spread: float | None = None


def _seconds(point: Point) -> float:
    """A time for a logarithmic axis."""
    return max(point.seconds, 1e-4)


def format_seconds(seconds: float) -> str:
    """A time for an axis or a table.

    >>> [format_seconds(s) for s in (0.05, 0.3, 2.5, 20, 345.0, 7200)]
    ['0.05 s', '0.3 s', '2.5 s', '20 s', '345 s', '7200 s']
    """
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


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
    across = Scale.of(Axis("", log=True), [_seconds(p) for p in points])
    up = Scale.of(Axis("", most=1.0), [p.accuracy + sign * (p.spread or 0.0) for p in points for sign in (-1, 1)], 0.1)
    margin = 9
    inner = width - margin
    grid = [[" "] * inner for _ in range(height)]
    places = []
    for p in sorted(points, key=lambda p: -p.accuracy):
        column = min(inner - 1, max(1, round(across.place(_seconds(p)) * (inner - 1))))
        row = min(height - 1, max(0, round((1 - up.place(p.accuracy)) * (height - 1))))
        while grid[row][column] != " " and column + 1 < inner:  # move a point right if its cell is taken
            column += 1
        grid[row][column] = "o"
        places.append((p.name, row, column))
    for name, row, column in places:
        _write_beside(grid, name, row, column)
    shown = []
    for k, cells in enumerate(grid):
        value = up.high - (up.high - up.low) * k / (height - 1)
        shown.append(f"{percent(value) if k % 2 == 0 else '':>8} |{''.join(cells)}".rstrip())
    return ["accuracy", *shown, " " * margin + "+" + "-" * (inner - 1), *_time_axis(across, inner, margin)]


def _write_beside(grid: list[list[str]], name: str, row: int, column: int) -> None:
    """Write a name to the right or left of its point, or above or below it: at the first free place."""
    inner, n = len(grid[0]), len(name)
    tries = [(row, column + 2), (row, column - n - 1), (row - 1, column), (row + 1, column), (row - 1, column - n)]
    for line, first in tries:
        free = 0 <= line < len(grid) and first > 0 and first + n <= inner
        if free and all(c == " " for c in grid[line][max(0, first - 1) : first + n + 1] if c != "o" or line != row):
            grid[line][first : first + n] = name
            return


def _time_axis(across: Scale, inner: int, margin: int) -> list[str]:
    line = [" "] * (inner + margin + 6)
    end = 0
    for tick in across.ticks():
        label = format_seconds(tick)
        first = margin + round(across.place(tick) * (inner - 1)) - 1
        if first > end and first + len(label) <= len(line):
            line[first : first + len(label)] = label
            end = first + len(label) + 1
    return ["".join(line).rstrip(), " " * (margin + 2) + "training time, logarithmic"]


# -- files ------------------------------------------------------------------------------------------------------------


def check_picture(path: str | None) -> str | None:
    """The callback of an option for a picture: its name must end in .svg or .html."""
    if path is not None and not path.endswith((".svg", ".html")):
        raise click.BadParameter(f"{path!r} must end in .svg or .html")
    return path


def check_suffix(path: str | None, option: str, *suffixes: str) -> None:
    """Refuse a name with another suffix than these. A name without a suffix is accepted, as are devices."""
    if path is not None and bare_suffix(path) not in ("", *suffixes):
        raise click.BadParameter(f"{path!r} must end in {' or '.join(suffixes)}", param_hint=option)


def refuse_picture(path: str | None, option: str, written: str) -> None:
    """Refuse a name that ends like a picture if something else is written."""
    if path is not None and bare_suffix(path) in _PICTURES:
        raise click.BadParameter(f"{path!r} must not end in {bare_suffix(path)}: {written}", param_hint=option)


def prepare_picture(path: str | None, inputs: Sequence[str | None]) -> None:
    """Find out before the work whether a picture can be drawn and written."""
    if path is None:
        return
    for name in inputs:
        if name not in (None, "-") and os.path.realpath(str(name)) == os.path.realpath(path):
            raise click.BadParameter(f"{path} is one of the input files", param_hint="--plot")
    check_writable(path)


# -- pictures --------------------------------------------------------------------------------------------------------


def picture(points: Sequence[Point]) -> Markup:
    """The plot as an element of a page."""
    series = [
        Series(
            p.name,
            [(_seconds(p), p.accuracy, f"{p.name}: {percent(p.accuracy)} in {format_seconds(p.seconds)}")],
            COLOURS[k % len(COLOURS)],
            spread=[p.spread or 0.0],
        )
        for k, p in enumerate(points)
    ]
    across = Axis("training time, logarithmic", log=True, text=format_seconds)
    return chart("Accuracy against training time", across, Axis("accuracy", text=percent, most=1.0), series)


def page(points: Sequence[Point], header: Sequence[str], rows: Sequence[Sequence[str]], summary: str) -> str:
    """A web page with the picture and its table, without external files."""
    from corate.pages.page import render

    drawn = picture(points)
    return render("comparison.html", title="Methods compared", summary=summary, picture=drawn, header=header, rows=rows)
