"""A graph model as an SVG image: how strongly neighbours depend on each other, and whether they attract or avoid.

The width of an edge grows with the mutual information of its ends. Its colour shows whether states of the same rank
(the first with the first, the last with the last) attract each other, red, or avoid each other, blue: the correlation
of the numbers of their states. A title tells the pairs of states with the highest and the lowest co-occurrence rate.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from corate.errors import ConfigError
from corate.rate.heatmap import colour
from corate.types import F64

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["draw"]

MOST_NODES = 400
_WIDTH, _HEIGHT, _MARGIN, _LETTER = 900, 640, 60, 7
#: A correlation of one has the colour of this log-rate.
_FULL = math.log(16)


def draw(model: GraphModel, seed: int) -> str:
    """The image as text. Raises ConfigError if there are too many nodes."""
    import networkx as nx

    if len(model.variables) > MOST_NODES:
        raise ConfigError(
            f"the graph has {len(model.variables):,} nodes; at most {MOST_NODES} can be drawn. Use to_networkx and a "
            "program for large graphs"
        )
    drawn = model.graph.networkx()
    places = nx.spring_layout(drawn, seed=seed, iterations=200) if len(drawn) > 1 else {model.variables[0]: (0.0, 0.0)}
    points = _scaled({name: (float(x), float(y)) for name, (x, y) in places.items()})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(repr(model))}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    parts += [_edge(model, a, b, points) for a, b in model.graph.edges]
    parts += [_node(model, name, *points[name]) for name in model.variables]
    return "\n".join([*parts, "</svg>\n"])


def _scaled(places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The places in the picture's coordinates."""
    found = np.array(list(places.values()))
    low, high = found.min(axis=0), found.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    room = np.array([_WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN])
    scaled = _MARGIN + (found - low) / spread * room
    return {name: (round(x, 1), round(y, 1)) for name, (x, y) in zip(places, scaled.tolist(), strict=True)}


def _edge(model: GraphModel, a: str, b: str, points: dict[str, tuple[float, float]]) -> str:
    both = model.joint([a, b])
    rates = model.rates(a, b)
    information = float(np.nansum(np.where(both > 0, both * np.log(np.where(rates > 0, rates, 1.0)), 0.0)))
    (x, y), (u, v) = points[a], points[b]
    stroke = "#{:02x}{:02x}{:02x}".format(*colour(_correlation(both) * _FULL))
    width = 1.0 + 8.0 * min(1.0, information / math.log(2))
    extremes = "; ".join(_extreme(model, a, b, rates, highest) for highest in (True, False))
    title = f"{a} - {b}: {information:.3g} nats; {extremes}"
    line = f'x1="{x}" y1="{y}" x2="{u}" y2="{v}"'
    return (
        f'<line {line} stroke="#888" stroke-width="{width + 1.5:.1f}"/>'
        f'<line {line} stroke="{stroke}" stroke-width="{width:.1f}"><title>{escape(title)}</title></line>'
    )


def _correlation(both: F64) -> float:
    rows, columns = (np.arange(n) for n in both.shape)
    p, q = both.sum(axis=1), both.sum(axis=0)
    left, right = rows - rows @ p, columns - columns @ q
    spread = math.sqrt(float(p @ left**2) * float(q @ right**2))
    return float(left @ both @ right) / spread if spread > 0 else 0.0


def _extreme(model: GraphModel, a: str, b: str, rates: F64, highest: bool) -> str:
    cell = np.nanargmax(rates) if highest else np.nanargmin(rates)
    i, j = np.unravel_index(int(cell), rates.shape)
    return f"{model.states[a][int(i)]} and {model.states[b][int(j)]}: rate {rates[i, j]:.3g}"


def _node(model: GraphModel, name: str, x: float, y: float) -> str:
    width = _LETTER * len(name) + 16
    shares = zip(model.states[name], model.joint([name]).tolist(), strict=True)
    title = ", ".join(f"{state}: {p:.3g}" for state, p in list(shares)[:20])
    return (
        f'<g><rect x="{x - width / 2}" y="{y - 11}" width="{width}" height="22" rx="11" fill="#f7f7f7" stroke="#555"/>'
        f'<text x="{x}" y="{y + 4}" text-anchor="middle">{escape(name)}</text><title>{escape(title)}</title></g>'
    )
