"""A graph model as a picture: how strongly neighbours depend on each other, and whether they attract or avoid.

The width of an edge grows with the mutual information of its ends. Its colour shows whether states of the same rank
(the first with the first, the last with the last) attract each other, red, or avoid each other, blue: the correlation
of the numbers of their states. A legend says so. A tooltip tells the pairs of states with the highest and the
lowest co-occurrence rate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from corate.errors import ConfigError
from corate.pages import charts
from corate.pages.charts import Link, Node
from corate.types import F64

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["draw"]

MOST_NODES = 400
_STATES_LISTED = 20
#: A correlation of one has the colour of this log-rate.
_FULL = math.log(16)


def draw(model: GraphModel, seed: int) -> str:
    """The picture as the text of an SVG file. Raises ConfigError if there are too many nodes."""
    if len(model.variables) > MOST_NODES:
        raise ConfigError(
            f"the graph has {len(model.variables):,} nodes; at most {MOST_NODES} can be drawn. Use to_networkx and a "
            "program for large graphs"
        )
    places = charts.laid_out(model.variables, list(model.graph.edges), seed)
    nodes = [Node(name, x, y, _shares(model, name)) for name, (x, y) in zip(model.variables, places, strict=True)]
    numbers = {name: i for i, name in enumerate(model.variables)}
    links = [_link(model, a, b, numbers) for a, b in model.graph.edges]
    return charts.standalone(charts.network(repr(model), nodes, links, _LEGEND if links else ()))


def _shares(model: GraphModel, name: str) -> str:
    shares = zip(model.states[name], model.joint([name]).tolist(), strict=True)
    return f"{name}: " + ", ".join(f"{state} {p:.3g}" for state, p in list(shares)[:_STATES_LISTED])


def _link(model: GraphModel, a: str, b: str, numbers: dict[str, int]) -> Link:
    both = model.joint([a, b])
    rates = model.rates(a, b)
    information = float(np.nansum(np.where(both > 0, both * np.log(np.where(rates > 0, rates, 1.0)), 0.0)))
    extremes = "; ".join(_extreme(model, a, b, rates, highest) for highest in (True, False))
    tip = f"{a} - {b}: {information:.3g} nats; {extremes}"
    correlation = _correlation(both)
    shade = math.copysign(math.sqrt(abs(correlation)), correlation) * _FULL
    return Link(numbers[a], numbers[b], shade, _width(information), tip)


def _width(information: float) -> float:
    """The width of an edge, in pixels."""
    return 1.5 + 10.0 * math.sqrt(min(1.0, max(0.0, information) / math.log(2)))


#: Kinds of edges with their shades and widths.
_LEGEND = (
    ("red: first with first, last with last", _FULL, _width(0.1)),
    ("blue: first with last, last with first", -_FULL, _width(0.1)),
    *((f"{nats:g} nats of mutual information", 0.0, _width(nats)) for nats in (0.01, 0.1, 0.5)),
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
