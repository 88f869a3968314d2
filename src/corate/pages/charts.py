"""Charts: matplotlib lays them out, and what it draws is written again as a small, static SVG element.

Matplotlib is widely installed and well kept, has axes of every kind, and writes SVG; libraries that draw in the browser
would need large scripts in every page.

An element has no script, no style attribute, no id and no link, and the same input gives the same bytes. Text and axes
have the colour of the text around them, and colours of points have enough contrast on light and on dark ground. Names
come from strangers: matplotlib only gets digits of the same width in their place (:class:`_Texts`).
"""

from __future__ import annotations

import importlib.util
import io
import math
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corate.display import counted
from corate.errors import ConfigError
from corate.pages.page import visible

if TYPE_CHECKING:
    import numpy as np
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as DrawnAxis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = [
    *("COLOURS", "Axis", "Link", "Node", "Series"),
    *("calibration", "chart", "check_installed", "colour", "confusion", "heat_map", "network", "standalone"),
]

#: Each has a contrast of 3 or more with white and with the dark ground of pages.
COLOURS = (
    *("#2b7fd0", "#c8622a", "#2e9060", "#9464d0", "#d04f8f", "#7d7d7d"),
    *("#a87b10", "#20909a", "#d0504a", "#6d8f2a", "#9c7358", "#6c78d8", "#b05fb5"),
    "#5b7d8f",
)
#: Rates 16 times above or below chance have the full colour.
_FULL = 4 * math.log(2)
_RED, _BLUE, _WHITE = (178, 24, 43), (33, 102, 172), (247, 247, 247)
_FONT, _CELL, _WIDTH, _HEIGHT = 12.0, 17.0, 350.0, 230.0  # CSS pixels
_LONGEST = 40  # characters of a name beside a chart; tooltips have all of it
_MARKS = {"full": "o", "square": "s", "hollow": "o", "stopped": "v", "none": ""}
_KEPT = ("fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray")
_GROUND = "svg{color:#1d2329;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e4e8ec;background:#14181c}}"


def check_installed() -> None:
    """Raise ConfigError if matplotlib is missing; for commands that would find out only after long work."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError('charts need matplotlib; install it with: pip install "corate[plots]"')


def _number(value: float) -> str:
    """A number as text for an axis.

    >>> [_number(value) for value in (0.001, 0.1, 1, 92.5, 1000, 1e6)]
    ['0.001', '0.1', '1', '92.5', '1,000', '1M']
    """
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:,.0f}" if value >= 1000 else f"{round(value, 6):g}"


@dataclass(frozen=True)
class Axis:
    """The title, the scale and the values of an axis, which does not go beyond ``least`` and ``most``."""

    title: str
    log: bool = False
    text: Callable[[float], str] = _number
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Series:
    """Points of one colour: (x, y, tooltip). Series with the same name have one entry in the legend.

    ``mark`` is full, square, hollow, stopped or none; a stopped point has no y value and is drawn on the axis.
    ``spread`` is half the length of the error bar of each point.
    """

    name: str
    points: Sequence[tuple[float, float, str]]
    colour: str = COLOURS[0]
    mark: str = "full"
    line: bool = False
    spread: Sequence[float] = ()


def chart(title: str, across: Axis, up: Axis, series: Sequence[Series], *, diagonal: bool = False) -> Markup:
    """Points and lines, with a legend below; ``diagonal`` adds the line on which both values are the same.

    >>> drawn = chart("t", Axis("s", log=True), Axis("%"), [Series("a", [(1, 90, "first"), (10, 95, "second")])])
    >>> drawn.startswith("<svg"), "<title>second</title>" in drawn
    (True, True)
    """
    texts = _Texts()
    with _figure(_WIDTH, _HEIGHT) as (figure, axes):
        axes.set_xscale("log" if across.log else "linear")
        axes.set_yscale("log" if up.log else "linear")
        axes.margins(0.08)
        if diagonal:
            axes.plot([0, 1], [0, 1], color="black", alpha=0.5, linewidth=1, linestyle="--", clip_on=False)
        for k, one in enumerate(series):
            _draw(axes, one, f"series {k}")
        _finish_axis(axes.xaxis, across, texts)
        _finish_axis(axes.yaxis, up, texts)
        axes.grid(color="black", alpha=0.15, linewidth=0.8, clip_on=False)
        axes.spines[["top", "right"]].set_visible(False)
        _legend(axes, series, texts)
        tips = {f"series {k}": [text for _, _, text in one.points] for k, one in enumerate(series)}
        said = "; ".join(text for one in tips.values() for text in one)
        return _element(figure, title, texts, tips, said)


def _draw(axes: Axes, one: Series, gid: str) -> None:
    xs, ys = [x for x, _, _ in one.points], [y for _, y, _ in one.points]
    look: dict[str, Any] = {"color": one.colour, "clip_on": False}
    if one.line:
        axes.plot(xs, ys, linewidth=2, **look)
    for x, y, spread in zip(xs, ys, one.spread, strict=False):
        axes.plot([x, x], [y - spread, y + spread], linewidth=1.5, **look)
    if one.mark == "stopped":
        look["transform"] = axes.get_xaxis_transform()  # y from 0, the axis, to 1
        ys = [0.0] * len(ys)
    if one.mark != "none":
        axes.plot(xs, ys, linestyle="", gid=gid, zorder=3, **look, **_mark(one.mark))


def _mark(mark: str) -> dict[str, Any]:
    open_ = mark in ("hollow", "stopped")
    return {
        "marker": _MARKS[mark],
        "markersize": 9.0 if mark != "square" else 8.0,
        "markeredgewidth": 1.8 if open_ else 0.0,
        **({"markerfacecolor": "none", "alpha": 0.6 if mark == "hollow" else 1.0} if open_ else {}),
    }


def _finish_axis(drawn: DrawnAxis, axis: Axis, texts: _Texts) -> None:
    """Set the ends of an axis, some round values, and the texts."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axes = drawn.axes
    low, high = axes.get_xlim() if drawn is axes.xaxis else axes.get_ylim()
    low, high = max(low, axis.least), min(high, axis.most)
    axes.set(**{"xlim" if drawn is axes.xaxis else "ylim": (low, high)})
    if axis.log:
        decades = math.log10(high / low)
        steps = (
            (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0) if decades > 1 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
        )
        drawn.set_major_locator(LogLocator(subs=steps, numticks=9))
        drawn.set_minor_locator(NullLocator())
    else:
        drawn.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    drawn.set_major_formatter(FuncFormatter(lambda value, _: texts.stand_in(axis.text(value))))
    drawn.set_tick_params(length=0, pad=5)
    drawn.set_label_text(texts.stand_in(axis.title))


def _legend(axes: Axes, series: Sequence[Series], texts: _Texts) -> None:
    """The names with their marks; in the colour of the text where series of the same name have different colours."""
    from matplotlib.lines import Line2D

    named: dict[str, list[Series]] = {}
    for one in series:
        named.setdefault(one.name, []).append(one)
    handles = []
    for same in named.values():
        first, colours = same[0], {one.colour for one in same}
        shown = first.colour if len(colours) == 1 else "black"
        handles.append(Line2D([], [], color=shown, linestyle="-" if first.line else "", **_mark(first.mark)))
    names = [texts.stand_in(name) for name in named]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (-0.06, -0.17), "borderaxespad": 0.0}
    axes.legend(handles, names, ncols=2, frameon=False, handlelength=1.2, handletextpad=0.5, columnspacing=1.0, **place)


def calibration(title: str, groups: Mapping[str, Sequence[tuple[float, float, int]]]) -> Markup:
    """How often predictions of some probability are right.

    Each group has bins: mean probability, accuracy, number of predictions.
    """
    tip = "{}: probability {:.1%}, accuracy {:.1%}, {:,} predictions".format
    series = [
        Series(name, [(p, right, tip(name, p, right, n)) for p, right, n in bins], COLOURS[k % len(COLOURS)], line=True)
        for k, (name, bins) in enumerate(groups.items())
    ]
    ends: dict[str, Any] = {"text": "{:.0%}".format, "least": 0.0, "most": 1.0}
    return chart(title, Axis("probability", **ends), Axis("accuracy", **ends), series, diagonal=True)


def heat_map(title: str, rows: Sequence[str], columns: Sequence[str], logs: NDArray[np.floating]) -> Markup:
    """``logs[i, j]`` is the logarithm of the rate of ``rows[i]`` with ``columns[j]``. Each cell has a tooltip."""
    values = logs.ravel().tolist()
    rates = [f"{math.exp(min(log, 700.0)):.3g}" for log in values]
    pairs = ((row, column) for row in rows for column in columns)
    tips = [f"{row}, then {column}: {rate}" for (row, column), rate in zip(pairs, rates, strict=True)]
    return _cells(title, rows, columns, values, tips)


def confusion(title: str, labels: Sequence[str], counts: NDArray[np.integer]) -> Markup:
    """``counts[i, j]`` is how often ``labels[i]`` was predicted as ``labels[j]``. Each cell has a tooltip.

    The diagonal is bluer where more tokens of a label are correct. Other cells are redder where there are more errors.

    >>> import numpy as np
    >>> drawn = confusion("Confusions", ["A", "B"], np.array([[8, 2], [0, 5]]))
    >>> "<title>A predicted as B: 2 of 10 tokens</title>" in drawn
    True
    """
    table = counts.tolist()
    totals = [sum(row) for row in table]
    worst = max((n for i, row in enumerate(table) for j, n in enumerate(row) if i != j), default=0)
    shades, tips = [], []
    for i, row in enumerate(table):
        for j, n in enumerate(row):
            share = n / totals[i] if i == j and n else math.sqrt(n / worst) if i != j and n else 0.0
            shades.append(_FULL * share * (-0.6 if i == j else 1.0))
            tips.append(f"{labels[i]} predicted as {labels[j]}: {n:,} of {counted(totals[i], 'token')}")
    return _cells(title, labels, labels, shades, tips, ("predicted", "label"))


def _cells(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    shades: Sequence[float],
    tips: Sequence[str],
    titles: tuple[str, str] | None = None,
) -> Markup:
    """A table of cells, row by row: their shades are as for `colour`. ``titles`` are those of the columns and rows."""
    texts = _Texts()
    with _figure(_CELL * len(columns), _CELL * len(rows)) as (figure, axes):
        cells = axes.pcolormesh([[0] * len(columns)] * len(rows), gid="cells", clip_on=False)
        cells.set_array(None)
        cells.set_facecolor([_hex(shade) for shade in shades])
        axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
        axes.xaxis.tick_top()
        turned: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor", "ha": "left", "va": "center"}
        for axis, names, look in ((axes.xaxis, columns, turned), (axes.yaxis, rows, {})):
            axis.set_ticks([k + 0.5 for k in range(len(names))], [texts.stand_in(name) for name in names], **look)
            axis.set_tick_params(length=0, pad=5)
        if titles is not None:
            axes.xaxis.set_label_position("top")
            axes.set_xlabel(texts.stand_in(titles[0]), labelpad=8)
            axes.set_ylabel(texts.stand_in(titles[1]), labelpad=8)
        axes.spines[:].set_visible(False)
        return _element(figure, title, texts, {"cells": tips})


@dataclass(frozen=True)
class Node:
    """A node of a network: its name, its place from 0 to 1, and its tooltip."""

    name: str
    x: float
    y: float
    tip: str


@dataclass(frozen=True)
class Link:
    """A line between two nodes, given by their numbers. ``log`` is the logarithm of a rate and gives the colour."""

    first: int
    second: int
    log: float
    width: float
    tip: str


def network(title: str, nodes: Sequence[Node], links: Sequence[Link]) -> Markup:
    """Nodes and the lines between them, each with a tooltip.

    >>> drawn = network("t", [Node("A", 0, 0, "a"), Node("B", 1, 1, "b")], [Link(0, 1, 2.0, 3.0, "strong")])
    >>> [f"<title>{tip}</title>" in drawn for tip in ("a", "b", "strong")]
    [True, True, True]
    """
    texts = _Texts()
    with _figure(2 * _WIDTH, 2 * _HEIGHT) as (figure, axes):
        axes.set_axis_off()
        axes.margins(0.08)
        look: dict[str, Any] = {"clip_on": False, "solid_capstyle": "round"}
        for k, link in enumerate(links):
            ends = [[getattr(nodes[i], axis) for i in (link.first, link.second)] for axis in ("x", "y")]
            axes.plot(*ends, color="#888888", linewidth=link.width + 1.5, **look)  # white lines have an outline
            axes.plot(*ends, color=_hex(link.log), linewidth=link.width, gid=f"link {k}", **look)
        places = [node.x for node in nodes], [node.y for node in nodes]
        axes.plot(*places, "o", color=COLOURS[0], markersize=11, zorder=3, gid="nodes", clip_on=False)
        for node in nodes:
            at: dict[str, Any] = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center"}
            axes.annotate(texts.stand_in(node.name), (node.x, node.y), annotation_clip=False, **at)
        tips = {f"link {k}": [link.tip] for k, link in enumerate(links)}
        return _element(figure, title, texts, {**tips, "nodes": [node.tip for node in nodes]})


def _hex(log: float) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour(log))


def colour(log: float) -> tuple[int, int, int]:
    """Red for labels that attract each other, blue for labels that avoid each other, white for a rate of 1.

    >>> colour(0.0), colour(100.0)
    ((247, 247, 247), (178, 24, 43))
    """
    share = max(-1.0, min(1.0, log / _FULL))
    far = _RED if share > 0 else _BLUE
    mixed = [round(w + abs(share) * (f - w)) for w, f in zip(_WHITE, far, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def standalone(svg: Markup) -> str:
    """A chart for a file of its own, with a ground."""
    head, _, rest = svg.partition(">")
    return f"{head}><style>{_GROUND}</style>{rest}\n"


# -- from matplotlib to a plain element ------------------------------------------------------------------------------


def _shown(text: str) -> str:
    """Text with visible characters only, without the two that XML does not allow."""
    return visible(text).translate({0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})


class _Texts:
    """What stands in a chart. Matplotlib gets the number of a text instead, with zeros to the width of the text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def stand_in(self, text: str) -> str:
        shown = _shown(text)
        if len(shown) > _LONGEST:
            shown = shown[: _LONGEST - 1] + "…"
        wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)
        return str(self._numbers.setdefault(shown, len(self._numbers))).zfill(wide)

    def text(self, stand_in: str) -> str:
        return list(self._numbers)[int(stand_in)]


@contextmanager
def _figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure whose axes have this size in pixels, with matplotlib's own settings instead of the user's."""
    from matplotlib import style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with style.context({"svg.fonttype": "none", "svg.hashsalt": "corate", "font.size": _FONT}, after_reset=True):
        figure = Figure(figsize=(width / 72, height / 72))
        FigureCanvasSVG(figure)
        yield figure, figure.add_axes((0, 0, 1, 1))


def _element(
    figure: Figure, title: str, texts: _Texts, tips: Mapping[str, Sequence[str]], description: str = ""
) -> Markup:
    """The paths and texts that matplotlib draws, and tooltips for those in the groups that ``tips`` names."""
    from markupsafe import Markup

    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None}, transparent=True)
    root = ET.fromstring(file.getvalue())
    _, _, width, height = root.attrib["viewBox"].split()
    size = {"width": _short(width), "height": _short(height)}
    look = {"role": "img", "class": "chart", "font-family": "system-ui, sans-serif", "font-size": f"{_FONT:g}"}
    svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {' '.join(size.values())}"})
    svg.attrib |= size | look | {"aria-label": _shown(title)}
    ET.SubElement(svg, "title").text = _shown(title)
    if description:
        ET.SubElement(svg, "desc").text = _shown(description)
    shapes = {f"#{path.get('id')}": path.get("d", "") for path in root.iter() if path.get("id") and path.get("d")}
    left = {name: iter(some) for name, some in tips.items()}
    for element, group in _leaves(root, ""):
        written = _written(element, shapes, texts)
        if written is not None:
            svg.append(written)
            if group in left:
                ET.SubElement(written, "title").text = _shown(next(left[group]))
    if any(next(some, None) is not None for some in left.values()):
        raise AssertionError("matplotlib has not drawn all points")
    return Markup(ET.tostring(svg, encoding="unicode"))


def _leaves(element: ET.Element, group: str) -> Iterator[tuple[ET.Element, str]]:
    """The paths, uses and texts in the order of drawing, with the id of the nearest group that has one."""
    for child in element:
        kind = child.tag.rpartition("}")[2]
        if kind == "g":
            yield from _leaves(child, child.get("id", group))
        elif kind in ("path", "use", "text"):
            yield child, group


def _written(element: ET.Element, shapes: Mapping[str, str], texts: _Texts) -> ET.Element | None:
    """A path or a text without anything but its place and its look, or None if nothing would be seen."""
    styles = [part.split(":") for part in element.get("style", "").split(";") if part.strip()]
    given = {name.strip(): value.strip() for name, value in styles}
    look = {name: given[name] for name in _KEPT if name in given}
    look = {name: "currentColor" if value == "#000000" else value for name, value in look.items()}
    if element.tag.endswith("text"):
        place = {"x": _short(element.attrib["x"]), "y": _short(element.attrib["y"])}
        turned = element.get("transform", "")
        if turned.startswith("rotate(-90"):
            place["transform"] = f"rotate(-90 {place['x']} {place['y']})"
        anchor = {"text-anchor": given.get("text-anchor", "start")}
        text = ET.Element("text", place | anchor | {"fill": "currentColor"})
        text.text = texts.text(element.text or "")
        return text
    if look.get("fill", "none") == "none" and "stroke" not in look:
        return None
    if element.tag.endswith("use"):
        link = next(value for name, value in element.attrib.items() if name.endswith("href"))
        move = f"translate({_short(element.attrib['x'])} {_short(element.attrib['y'])})"
        return ET.Element("path", {"d": _short_path(shapes[link]), "transform": move} | look)
    return ET.Element("path", {"d": _short_path(element.attrib["d"])} | look)


def _short_path(path: str) -> str:
    return " ".join(part if part.isalpha() else _short(part) for part in path.split())


def _short(number: str) -> str:
    """A number to a hundredth of a pixel."""
    return f"{float(number):.2f}".rstrip("0").rstrip(".")
