"""A graph with its labels as a picture, and the rates of a type of edges as a table of coloured cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from corate.display import counted
from corate.errors import ConfigError, DataError
from corate.pages import charts
from corate.pages.charts import Link, Node

if TYPE_CHECKING:
    from corate.model.graph_lattice import GraphLattice

__all__ = ["MOST_NODES", "draw"]

#: The most nodes of a picture.
MOST_NODES = 400
#: The rates of the legend.
_RATES = (8.0, 2.0, 0.5, 0.125)


def draw(lattice: GraphLattice, graph: int, names: Sequence[str] | None, seed: int) -> str:
    """One graph of a lattice as the text of an SVG file, with the labels that `GraphLattice.tag` returns."""
    if not 0 <= graph < len(lattice.sentences) - 1:
        raise DataError(f"there is no graph {graph}: the lattice has {counted(len(lattice.sentences) - 1, 'graph')}")
    start, stop = lattice.sentences[graph : graph + 2].tolist()
    if stop - start > MOST_NODES:
        raise ConfigError(f"the graph has {stop - start:,} nodes; at most {MOST_NODES} can be drawn")
    if names is not None and len(names) != stop - start:
        raise DataError(f"there are {counted(len(names), 'name')}, and the graph has {counted(stop - start, 'node')}")
    labels, shares = lattice.label_ids()[start:stop], lattice.label_marginals()[start:stop]
    colours = dict(zip(lattice.names, cycle(charts.COLOURS), strict=False))
    field = lattice.field.graph(graph)
    ends = field.ends.tolist()
    nodes = []
    for v, (x, y) in enumerate(charts.laid_out(range(stop - start), [(a, b) for a, b in ends], seed)):
        label = lattice.names[labels[v]]
        text = f"{v}: {label}" if names is None else names[v]
        order = np.argsort(-shares[v], kind="stable")[:5].tolist()
        tip = ", ".join(f"{lattice.names[k]} {shares[v, k]:.3g}" for k in order)
        nodes.append(Node(text, x, y, f"node {v}: {tip}", colours[label]))
    logs = field.tables[field.kinds, labels[field.ends[:, 0]], labels[field.ends[:, 1]]].tolist()
    links = [
        Link(a, b, log, _width(log), f"node {a} to node {b}: rate {math.exp(min(log, 700.0)):.3g}")
        for (a, b), log in zip(ends, logs, strict=True)
    ]
    kinds = [(f"labels with the rate {rate:g}", math.log(rate), _width(math.log(rate))) for rate in _RATES]
    used = {name: colour for k, (name, colour) in enumerate(colours.items()) if (labels == k).any()}
    return charts.standalone(charts.network(repr(lattice), nodes, links, kinds if links else (), used))


def _width(log: float) -> float:
    """The width of an edge between labels with this log-rate, in pixels."""
    return 1.5 + 2.0 * min(abs(log), 4.0)
