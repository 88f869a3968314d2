"""Pictures of graphs with their labels: every node and label is there, whatever its name, and always the same."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from corate.errors import ConfigError, DataError
from corate.model.graph_lattice import GraphLattice
from corate.model.graph_scores import GraphField
from corate.pages.charts import COLOURS
from corate.pages.page import visible
from hostile_strings import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def lattice(n: int = 4, names: tuple[str, str] = ("X", "Y")) -> GraphLattice:
    """Two chains of n nodes: the first has the label X, the second Y; edges prefer equal labels."""
    offsets = np.array([0, n, 2 * n])
    nodes = np.zeros((2 * n, 2))
    nodes[:n, 0] = nodes[n:, 1] = 2.0
    ends = np.array([(k, k + 1) for k in range(2 * n - 1) if k != n - 1], np.int32).reshape(-1, 2)
    tables = np.log([[[3.0, 0.5], [0.5, 3.0]]])
    return GraphLattice(GraphField(offsets, nodes, ends, np.zeros(len(ends), np.int32), tables), list(names))


def nodes_of(svg: str) -> list[str | None]:
    """The colours of the nodes."""
    return [path.get("fill") for path in ET.fromstring(svg).iter(f"{SVG}path") if path.get("transform")]


def texts(svg: str) -> list[str | None]:
    return [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(("graph", "label"), [(0, "X"), (1, "Y")])
def test_nodes_have_the_colours_of_their_labels(graph: int, label: str) -> None:
    drawn = lattice().draw(graph)
    assert nodes_of(drawn) == [COLOURS["XY".index(label)]] * 4
    assert set(texts(drawn)) >= {*(f"{v}: {label}" for v in range(4)), label}
    assert "rate 3" in drawn


def test_the_same_picture_every_time() -> None:
    assert lattice().draw(seed=3) == lattice().draw(seed=3)


def test_names_come_from_strangers() -> None:
    drawn = lattice(len(HOSTILE), (HOSTILE[0], HOSTILE[1])).draw(names=HOSTILE)
    assert len(nodes_of(drawn)) == len(HOSTILE)
    assert "<script" not in drawn
    short = [visible(name) for name in HOSTILE if 0 < len(visible(name)) <= 40]
    assert set(texts(drawn)) >= set(short)


def test_a_single_node_is_drawn() -> None:
    assert len(nodes_of(lattice(1).draw())) == 1


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(DataError, match="2 graphs"):
        lattice().draw(2)
    with pytest.raises(DataError, match="3 names"):
        lattice().draw(names=["a", "b", "c"])
    with pytest.raises(ConfigError, match="401 nodes"):
        lattice(401).draw()
