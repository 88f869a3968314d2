"""Charts as small, static SVG elements: points and lines on axes, tables of coloured cells, and networks.

An element has no script, no style attribute, no id and no link, and the same input gives the same bytes. Text and axes
have the colour of the text around them, and colours of points have enough contrast on light and on dark ground. Names
come from strangers: they are escaped, and their invisible characters are shown. The browser chooses the font, so the
widths of texts are estimates.
"""

from __future__ import annotations

import math
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corate.display import counted
from corate.pages.page import visible

if TYPE_CHECKING:
    import numpy as np
    from markupsafe import Markup
    from numpy.typing import NDArray

__all__ = [
    *("COLOURS", "Axis", "Link", "Node", "Scale", "Series"),
    *("calibration", "chart", "colour", "confusion", "heat_map", "laid_out", "network", "standalone"),
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
_CHARACTER = 0.6 * _FONT  # the width of a character, about
_ROUND = 13  # the radius of the ends of a node of a network
_LONGEST = 40  # characters of a name beside a chart; tooltips have all of it
_CIRCLE = "M 4.5 0 A 4.5 4.5 0 1 1 -4.5 0 A 4.5 4.5 0 1 1 4.5 0 Z"
_MARKS = {"full": _CIRCLE, "square": "M -4 -4 H 4 V 4 H -4 Z", "hollow": _CIRCLE, "stopped": "M 0 5 L -5 -4 H 5 Z"}
_GROUND = "svg{color:#1d2329;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e4e8ec;background:#14181c}}"


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


@dataclass(frozen=True)
class Scale:
    """Where values lie on an axis: from 0 at its low end to 1 at its high end, with a margin around the values."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, axis: Axis, values: Sequence[float], margin: float = 0.08) -> Scale:
        """The scale on which these values fill an axis; it has a least width."""
        places = [math.log10(value) if axis.log else value for value in values] or [0.0]
        low, high = min(places), max(places)
        width = max(high - low, 0.3 if axis.log else 0.002 * max(1.0, abs(high)))
        return cls(max(low - margin * width, axis.least), min(high + margin * width, axis.most), axis.log)

    def place(self, value: float) -> float:
        """From 0 at the low end to 1 at the high end."""
        return ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values: of a logarithmic axis, powers of ten, with multiples of them if there are fewer than three.

        >>> Scale(-1.1, 1.1, True).ticks(), Scale(0.91, 0.99, False).ticks()
        ([0.1, 1.0, 10.0], [0.92, 0.94, 0.96, 0.98])
        """
        if self.log:
            decades = range(math.floor(self.low), math.ceil(self.high) + 1)
            decades = decades[:: 1 + len(decades) // 10]
            for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), tuple(1 + k / 2 for k in range(18))):
                found = [s * 10.0**d for d in decades for s in steps if self.low <= math.log10(s) + d <= self.high]
                if len(found) >= 3:
                    break
            return found
        unit = 10.0 ** math.floor(math.log10(self.high - self.low) - 1)
        step = next(unit * k for k in (1, 2, 5, 10, 20, 50, 100) if self.high - self.low <= 6 * unit * k)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]


def chart(title: str, across: Axis, up: Axis, series: Sequence[Series], *, diagonal: bool = False) -> Markup:
    """Points and lines, with a legend below; ``diagonal`` adds the line on which both values are the same.

    >>> drawn = chart("t", Axis("s", log=True), Axis("%"), [Series("a", [(1, 90, "first"), (10, 95, "second")])])
    >>> drawn.startswith("<svg"), "<title>second</title>" in drawn
    (True, True)
    """
    ends = [0.0, 1.0] if diagonal else []
    tops = [y for one in series if one.mark != "stopped" for y in _with_spread(one)]
    xs = Scale.of(across, [*ends, *(x for one in series for x, _, _ in one.points)])
    ys = Scale.of(up, [*ends, *tops])
    picture = _Picture(title, "; ".join(tip for one in series for _, _, tip in one.points))
    _axes(picture, (across, xs), (up, ys))

    def place(x: float, y: float) -> tuple[float, float]:
        return _WIDTH * xs.place(x), _HEIGHT * (1 - ys.place(y))

    if diagonal:
        picture.line([place(0, 0), place(1, 1)], stroke="currentColor", stroke_dasharray="4 2", opacity=0.5)
    for one in series:
        if one.line:
            picture.line([place(x, y) for x, y, _ in one.points], stroke=one.colour, stroke_width=2)
        for (x, y, _), spread in zip(one.points, one.spread, strict=False):
            picture.line([place(x, y - spread), place(x, y + spread)], stroke=one.colour, stroke_width=1.5)
    for one in series:
        for x, y, tip in one.points if one.mark != "none" else ():
            bottom = one.mark == "stopped"
            picture.mark(one.mark, _WIDTH * xs.place(x), _HEIGHT if bottom else place(x, y)[1], one.colour, tip)
    _legend(picture, series)
    return picture.element()


def _with_spread(one: Series) -> Iterable[float]:
    spreads = [*one.spread, *[0.0] * (len(one.points) - len(one.spread))]
    return (y + sign * spread for (_, y, _), spread in zip(one.points, spreads, strict=True) for sign in (-1, 1))


def _axes(picture: _Picture, across: tuple[Axis, Scale], up: tuple[Axis, Scale]) -> None:
    """The axes with their titles, and a grid at round values."""
    grid: dict[str, Any] = {"stroke": "currentColor", "stroke_width": 0.8, "opacity": 0.15}
    for tick in across[1].ticks():
        x = _WIDTH * across[1].place(tick)
        picture.line([(x, 0), (x, _HEIGHT)], **grid)
        picture.text(x, _HEIGHT + 17, across[0].text(tick), "middle")
    for tick in up[1].ticks():
        y = _HEIGHT * (1 - up[1].place(tick))
        picture.line([(0, y), (_WIDTH, y)], **grid)
        picture.text(-6, y + 4, up[0].text(tick), "end")
    picture.line([(0, 0), (0, _HEIGHT), (_WIDTH, _HEIGHT)], stroke="currentColor")
    picture.text(picture.left - 2, _HEIGHT / 2, up[0].title, "middle", turned=True)
    picture.text(_WIDTH / 2, _HEIGHT + 35, across[0].title, "middle")


def _legend(picture: _Picture, series: Sequence[Series]) -> None:
    """The names with their marks; in the colour of the text where series of the same name have different colours."""
    named: dict[str, list[Series]] = {}
    for one in series:
        named.setdefault(one.name, []).append(one)
    half = max([_WIDTH / 2, *(_long(name) + 32 for name in list(named)[::2])])
    for k, same in enumerate(named.values()):
        x, y = k % 2 * half, _HEIGHT + 58 + k // 2 * 18
        shown = same[0].colour if len({one.colour for one in same}) == 1 else "currentColor"
        if same[0].line:
            picture.line([(x, y), (x + 14, y)], stroke=shown, stroke_width=2)
        if same[0].mark != "none":
            picture.mark(same[0].mark, x + 7, y, shown)
        picture.text(x + 20, y + 4, same[0].name)


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
    picture = _Picture(title)
    for k, (shade, tip) in enumerate(zip(shades, tips, strict=True)):
        x, y = k % len(columns) * _CELL, k // len(columns) * _CELL
        picture.path(f"M {x:g} {y:g} H {x + _CELL:g} V {y + _CELL:g} H {x:g} Z", tip, fill=_hex(shade))
    for i, name in enumerate(rows):
        picture.text(-5, (i + 0.5) * _CELL + 4, name, "end")
    for j, name in enumerate(columns):
        picture.text((j + 0.5) * _CELL + 4, -5, name, turned=True)
    width, height = len(columns) * _CELL, len(rows) * _CELL
    picture.reach(width, height)
    if titles is not None:
        top, left = picture.top, picture.left
        picture.text(width / 2, top - 2, titles[0], "middle")
        picture.text(left - 2, height / 2, titles[1], "middle", turned=True)
    return picture.element()


@dataclass(frozen=True)
class Node:
    """A node of a network: its name, its place from 0 to 1, and its tooltip."""

    name: str
    x: float
    y: float
    tip: str
    colour: str = COLOURS[0]


@dataclass(frozen=True)
class Link:
    """A line between two nodes, given by their numbers. ``log`` is the logarithm of a rate and gives the colour."""

    first: int
    second: int
    log: float
    width: float
    tip: str


def network(
    title: str,
    nodes: Sequence[Node],
    links: Sequence[Link],
    legend: Sequence[tuple[str, float, float]] = (),
    colours: Mapping[str, str] | None = None,
) -> Markup:
    """Nodes and the lines between them, each with a tooltip. Nodes without a line stand in rows below.

    ``legend`` has a name, a logarithm and a width for each kind of line, as a `Link` has them, and ``colours`` the
    meaning of the colours of nodes.

    >>> drawn = network("t", [Node("A", 0, 0, "a"), Node("B", 1, 1, "b")], [Link(0, 1, 2.0, 3.0, "strong")])
    >>> [f"<title>{tip}</title>" in drawn for tip in ("a", "b", "strong")]
    [True, True, True]
    """
    picture = _Picture(title)
    places = _places(nodes, {end for link in links for end in (link.first, link.second)})
    for link in links:
        _drawn_link(picture, [places[link.first], places[link.second]], link.log, link.width, link.tip)
    for node, (x, y) in zip(nodes, places, strict=True):
        half, end = _long(_cut(_shown(node.name))) / 2, _ROUND
        shape = f"M {-half:g} {-end} H {half:g} A {end} {end} 0 0 1 {half:g} {end} H {-half:g} A {end} {end} 0 0 1"
        picture.reach(x - half - end, y - end)
        picture.reach(x + half + end, y + end)
        look = {"fill": node.colour, "transform": f"translate({_short(x)} {_short(y)})"}
        picture.path(f"{shape} {-half:g} {-end} Z", node.tip, **look)
        picture.text(x, y + 0.35 * _FONT, node.name, "middle", fill="#ffffff", pointer_events="none")
    x, y = picture.left + 12, picture.bottom + 24
    for name, colour in (colours or {}).items():
        picture.line([(x, y), (x + 30, y)], stroke=colour, stroke_width=_FONT)
        picture.text(x + 38, y + 0.35 * _FONT, name)
        y += 20
    for name, log, width in legend:
        _drawn_link(picture, [(x, y), (x + 30, y)], log, width)
        picture.text(x + 38, y + 0.35 * _FONT, name)
        y += 20
    return picture.element()


def laid_out(
    names: Sequence[Hashable], links: Sequence[tuple[Hashable, Hashable]], seed: int
) -> list[tuple[float, float]]:
    """A place for each node of a network, near those of its neighbours; 0, 0 for nodes without a link."""
    import networkx as nx

    joined = nx.Graph(links)
    first = nx.planar_layout(joined) if joined and nx.is_planar(joined) else None  # with few crossings to begin with
    places = nx.spring_layout(joined, pos=first, seed=seed, iterations=200) if joined else {}
    found = (places.get(name, (0.0, 0.0)) for name in names)
    return [(float(x), float(y)) for x, y in found]


def _places(nodes: Sequence[Node], joined: set[int]) -> list[tuple[float, float]]:
    """The places of nodes in pixels: those that are joined in an area that grows with their number, others in rows."""
    size = max(1.4, 0.45 * math.sqrt(len(joined)))
    across, down = size * _WIDTH, size * _HEIGHT if joined else 0.0
    xs, ys = (Scale.of(Axis(""), [getattr(nodes[k], axis) for k in sorted(joined)]) for axis in ("x", "y"))
    widths = [_long(_cut(_shown(node.name))) + 3 * _ROUND for node in nodes]
    places = {k: (across * xs.place(nodes[k].x), down * (1 - ys.place(nodes[k].y))) for k in sorted(joined)}
    _push_apart(places, widths)
    x, y = 0.0, max((place[1] for place in places.values()), default=0.0) + 4 * _ROUND
    for k, width in enumerate(widths):
        if k in joined:
            continue
        if x and x + width > across:
            x, y = 0.0, y + 3 * _ROUND
        places[k] = (x + width / 2, y)
        x += width
    return [places[k] for k in range(len(nodes))]


def _push_apart(places: dict[int, tuple[float, float]], widths: Sequence[float]) -> None:
    """Move nodes that overlap up and down until none do, or almost none."""
    for _ in range(50):
        order = sorted(places, key=lambda k: places[k][1])
        moved = False
        for i, a in enumerate(order):
            for b in order[i + 1 :]:
                gap = 2.6 * _ROUND - (places[b][1] - places[a][1])
                if gap <= 0:
                    break
                if abs(places[a][0] - places[b][0]) < (widths[a] + widths[b]) / 2 and gap > 0.01:
                    places[a] = (places[a][0], places[a][1] - gap / 2)
                    places[b] = (places[b][0], places[b][1] + gap / 2)
                    moved = True
        if not moved:
            return


def _drawn_link(
    picture: _Picture, ends: Sequence[tuple[float, float]], log: float, width: float, tip: str = ""
) -> None:
    picture.line(ends, stroke="#888888", stroke_width=width + 1.5)  # white lines have an outline
    picture.line(ends, tip, stroke=_hex(log), stroke_width=width)


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


# -- the element ------------------------------------------------------------------------------------------------------


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _shown(text: str) -> str:
    """Text with visible characters only, without the two that XML does not allow."""
    return visible(text).translate({0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})


def _long(text: str) -> float:
    """The width of a text in pixels, about."""
    wide = (2 if unicodedata.east_asian_width(c) in "WF" else 1.3 if c.isupper() else 1 for c in text[:_LONGEST])
    return _CHARACTER * sum(wide)


class _Picture:
    """An element with paths and texts at places in pixels, right and down; it is as large as they need."""

    def __init__(self, title: str, description: str = "") -> None:
        self.svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "class": "chart"})
        self.svg.attrib |= {"font-family": "system-ui, sans-serif", "font-size": f"{_FONT:g}"}
        self.svg.attrib["aria-label"] = _shown(title)
        ET.SubElement(self.svg, "title").text = _shown(title)
        if description:
            ET.SubElement(self.svg, "desc").text = _shown(description)
        self.left = self.top = self.right = self.bottom = 0.0

    def reach(self, x: float, y: float) -> None:
        """Make the element so large that it holds a point and a margin around it."""
        self.left, self.right = min(self.left, x - 6), max(self.right, x + 6)
        self.top, self.bottom = min(self.top, y - 6), max(self.bottom, y + 6)

    def path(self, path: str, tip: str = "", **look: object) -> None:
        """Add a path, with a tooltip if there is one."""
        element = ET.SubElement(self.svg, "path", {"d": path})
        element.attrib |= {name.replace("_", "-"): str(value) for name, value in look.items()}
        if tip:
            ET.SubElement(element, "title").text = _shown(tip)

    def line(self, points: Sequence[tuple[float, float]], tip: str = "", **look: object) -> None:
        """Add a line through points."""
        for x, y in points:
            self.reach(x, y)
        self.path("M " + " L ".join(f"{_short(x)} {_short(y)}" for x, y in points), tip, fill="none", **look)

    def mark(self, kind: str, x: float, y: float, colour: str, tip: str = "") -> None:
        """Add a mark of a `Series` at a place."""
        self.reach(x, y)
        look: dict[str, Any] = {"fill": colour}
        if kind in ("hollow", "stopped"):
            look = {"fill": "none", "stroke": colour, "stroke_width": 1.8, "opacity": 0.6 if kind == "hollow" else 1}
        self.path(_MARKS[kind], tip, transform=f"translate({_short(x)} {_short(y)})", **look)

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", *, turned: bool = False, **look: object
    ) -> None:
        """Add a text at a place, cut if it is long; ``turned`` it reads upwards."""
        shown, place = _cut(_shown(text)), {"x": _short(x), "y": _short(y), "text-anchor": anchor}
        place |= {name.replace("_", "-"): str(value) for name, value in {"fill": "currentColor", **look}.items()}
        for share in {"start": (0, 1), "middle": (-0.5, 0.5), "end": (-1, 0)}[anchor]:
            along = share * _long(shown)
            for beside in (-0.7 * _FONT, 0.2 * _FONT):
                self.reach(*((x + beside, y - along) if turned else (x + along, y + beside)))
        if turned:
            place["transform"] = f"rotate(-90 {place['x']} {place['y']})"
        ET.SubElement(self.svg, "text", place).text = shown

    def element(self) -> Markup:
        """The element, for a page."""
        from markupsafe import Markup

        size = {"width": _short(self.right - self.left), "height": _short(self.bottom - self.top)}
        self.svg.attrib |= {"viewBox": f"{_short(self.left)} {_short(self.top)} {' '.join(size.values())}", **size}
        return Markup(ET.tostring(self.svg, encoding="unicode"))


def _short(number: float) -> str:
    """A number to a hundredth of a pixel.

    >>> _short(17.0), _short(-0.001), _short(2.345)
    ('17', '0', '2.35')
    """
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
