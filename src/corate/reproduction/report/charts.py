"""SVG charts: points and lines on linear or logarithmic axes. Colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["COLOURS", "Axis", "Series", "chart", "legend", "standalone", "style"]

#: Colours for a light and for a dark page.
COLOURS = {
    "empirical": ("#0b62a4", "#5db3f0"),
    "sp2": ("#2f9e9e", "#7fe0e0"),
    "separate": ("#00805f", "#38cfa4"),
    "standard": ("#7a3ea8", "#c39bea"),
    "piecewise": ("#b8437f", "#f29ac4"),
    "memm": ("#666666", "#b5b5b5"),
    "polish": ("#cc4c02", "#ff9a57"),
    "default": ("#9a7500", "#ecc94b"),
    "crfsuite-lbfgs": ("#8a3324", "#e58a78"),
    "crfsuite-ap": ("#00788a", "#4fd3e6"),
    "sklearn-crfsuite": ("#5b4a3f", "#c9ac98"),
    "chaine": ("#4b6b1f", "#a9d065"),
}
_WIDTH, _HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 28, 14, 46


def style() -> str:
    """The CSS rules of charts, for light and dark pages."""
    light = "".join(f".s-{name}{{color:{pair[0]}}}" for name, pair in COLOURS.items())
    dark = "".join(f".s-{name}{{color:{pair[1]}}}" for name, pair in COLOURS.items())
    return (
        ".chart{color:#222;font:12px system-ui,sans-serif}.chart text{fill:currentColor}"
        ".chart .axis,.chart .grid{stroke:currentColor;stroke-width:1}.chart .grid{opacity:.13}"
        ".chart .line{fill:none;stroke:currentColor;stroke-width:2}.chart .full{fill:currentColor}"
        ".chart .hollow{fill:none;stroke:currentColor;stroke-width:1.8}.chart .dim{opacity:.55}"
        f"{light}@media(prefers-color-scheme:dark){{.chart{{color:#ddd}}{dark}}}"
    )


def standalone(svg: str) -> str:
    """An image with its style sheet, for a separate file."""
    head, _, rest = svg.partition(">")
    back = "svg{background:#fff}@media(prefers-color-scheme:dark){svg{background:#15171a}}"
    return f"{head}><style>{style()}{back}</style>{rest}\n"


@dataclass(frozen=True)
class Series:
    """Points of one method: (x, y, tooltip).

    ``mark`` is full, hollow, square or stopped; a stopped point has no y value and is drawn on the axis.
    """

    method: str
    points: Sequence[tuple[float, float, str]]
    mark: str = "full"
    line: bool = False


@dataclass(frozen=True)
class Axis:
    """The title and the scale of an axis."""

    title: str
    log: bool = False

    def range(self, values: Sequence[float]) -> tuple[float, float]:
        """The ends of the axis, with a margin."""
        low, high = min(values), max(values)
        if self.log:
            room = 10 ** max(0.06 * math.log10(high / low), 0.1)
            return low / room, high * room
        more = max((high - low) * 0.08, 0.5)
        return low - more, high + more

    def marks(self, low: float, high: float) -> list[float]:
        """The labelled values; powers of ten on a logarithmic axis, with some values between if there are few."""
        if self.log:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            every = max(1, math.ceil((last - first) / 8))
            tens = [10.0**k for k in range(first, last + 1, every) if low <= 10.0**k <= high]
            more = [10.0**k * m for k in range(first, last + 1) for m in (1, 2, 5) if low <= 10.0**k * m <= high]
            return tens if len(tens) > 2 else more
        step = _nice((high - low) / 5)
        return [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]

    def share(self, value: float, low: float, high: float) -> float:
        """The position of a value on the axis, 0 to 1."""
        if self.log:
            return (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return (value - low) / (high - low)


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return float(next(k * power for k in (1, 2, 5, 10) if k * power >= step))


def _axis_label(value: float) -> str:
    """A number as text for an axis.

    >>> [_axis_label(value) for value in (0.001, 0.1, 1, 92.5, 1000, 1e6)]
    ['0.001', '0.1', '1', '92.5', '1,000', '1M']
    """
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:,.0f}" if value >= 1000 else f"{round(value, 6):g}"


def chart(title: str, across: Axis, up: Axis, series: Sequence[Series]) -> str:
    """An SVG element, or a line of text if there is nothing to draw.

    >>> drawn = chart("t", Axis("s", log=True), Axis("%"), [Series("polish", [(1, 90, "a"), (10, 95, "b")], line=True)])
    >>> drawn.startswith("<svg"), drawn.count("<circle"), "polyline" in drawn
    (True, 2, True)
    """
    xs = [x for one in series for x, _, _ in one.points]
    ys = [y for one in series if one.mark != "stopped" for _, y, _ in one.points]
    if not ys:
        return "<p>There are no measurements to draw.</p>"
    (x0, x1), (y0, y1) = across.range(xs), up.range(ys)

    def place(x: float, y: float) -> tuple[float, float]:
        inside = (_WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM)
        return (
            round(_LEFT + inside[0] * across.share(x, x0, x1), 1),
            round(_TOP + inside[1] * (1 - up.share(y, y0, y1)), 1),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}"><title>{escape(title)}</title>'
    ]
    parts += _axes(across, up, (x0, x1), (y0, y1), place)
    for one in series:
        level = y0 if one.mark == "stopped" else None
        drawn = [(*place(x, y if level is None else level), text) for x, y, text in one.points]
        inside = []
        if one.line and len(drawn) > 1:
            path = " ".join(f"{x},{y}" for x, y, _ in drawn)
            inside.append(f'<polyline class="line" points="{path}"/>')
        inside += [_mark(one.mark, x, y, text) for x, y, text in drawn]
        parts.append(f'<g class="s-{one.method}">{"".join(inside)}</g>')
    return "".join([*parts, "</svg>"])


def _axes(across: Axis, up: Axis, xs: tuple[float, float], ys: tuple[float, float], place: object) -> list[str]:
    assert callable(place)
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for value in across.marks(*xs):
        x, _ = place(value, ys[0])
        parts.append(f'<line class="grid" x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{_axis_label(value)}</text>')
    for value in up.marks(*ys):
        _, y = place(xs[0], value)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{_axis_label(value)}</text>')
    middle_x, middle_y = (_LEFT + right) / 2, (_TOP + bottom) / 2
    return [
        *parts,
        f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>',
        f'<text x="{middle_x}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(across.title)}</text>',
        f'<text transform="translate(14,{middle_y}) rotate(-90)" text-anchor="middle">{escape(up.title)}</text>',
    ]


def _mark(mark: str, x: float, y: float, text: str) -> str:
    title = f"<title>{escape(text)}</title>"
    if mark == "square":
        return f'<rect class="full" x="{x - 4.5}" y="{y - 4.5}" width="9" height="9">{title}</rect>'
    if mark == "stopped":
        return f'<path class="hollow" d="M{x - 6} {y - 10}H{x + 6}L{x} {y}Z">{title}</path>'
    kind = "hollow dim" if mark == "hollow" else "full"
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="5">{title}</circle>'


def legend(methods: Sequence[tuple[str, str]], marks: Sequence[tuple[str, str]] = ()) -> str:
    """HTML that explains colours and marks."""
    swatch = '<svg class="chart" width="14" height="12" aria-hidden="true" viewBox="0 0 14 12">{}</svg>'
    found = []
    for method, name in methods:
        drawn = f'<g class="s-{method}">{_mark(_shape(method), 7, 6, name)}</g>'
        found.append(f"<li>{swatch.format(drawn)} {escape(name)}</li>")
    for mark, name in marks:
        found.append(f"<li>{swatch.format(_mark(mark, 7, 11 if mark == 'stopped' else 6, name))} {escape(name)}</li>")
    return f'<ul class="legend">{"".join(found)}</ul>'


def _shape(method: str) -> str:
    return "square" if "crfsuite" in method or method == "chaine" else "full"
