"""Learned graphs against plain computations of what they maximise."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from corate.errors import ConfigError, DataError
from corate.graphs import Chordal, GraphModel, Tree
from corate.rate import Counts


def tree_rows(
    n: int = 3000, size: int = 9, states: int = 3, seed: int = 0
) -> tuple[dict[str, np.ndarray], set[frozenset[str]]]:
    rng = np.random.default_rng(seed)
    columns, edges = [rng.integers(0, states, n)], set()
    for i in range(1, size):
        parent = int(rng.integers(0, i))
        columns.append(np.where(rng.random(n) < 0.6, columns[parent], rng.integers(0, states, n)))
        edges.add(frozenset((f"V{parent}", f"V{i}")))
    return {f"V{i}": column for i, column in enumerate(columns)}, edges


def information(rows: dict[str, np.ndarray], a: str, b: str) -> float:
    table = np.zeros((rows[a].max() + 1, rows[b].max() + 1))
    np.add.at(table, (rows[a], rows[b]), 1.0)
    p = table / table.sum()
    apart = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    return float((p[p > 0] * np.log(p[p > 0] / apart[p > 0])).sum())


@pytest.mark.parametrize("states", [2, 3, 20, 300])
def test_the_tree_is_the_maximum_spanning_tree_of_mutual_information(states: int) -> None:
    rows, edges = tree_rows(states=states)
    model = GraphModel.fit(rows, structure=Tree())
    assert nx.is_tree(model.graph.networkx())
    complete = nx.Graph()
    complete.add_weighted_edges_from((a, b, information(rows, a, b)) for a, b in combinations(rows, 2))
    best = nx.maximum_spanning_tree(complete)
    weight = sum(information(rows, a, b) for a, b in model.graph.edges)
    assert weight == pytest.approx(best.size(weight="weight"), abs=1e-9)
    if states < 20:
        assert {frozenset(edge) for edge in model.graph.edges} == edges


def test_a_tree_of_counts_is_that_of_the_rows() -> None:
    rows, _ = tree_rows(500)
    plain, counted = GraphModel.fit(rows, structure=Tree()), GraphModel.fit(Counts.of_frame(rows), structure=Tree())
    assert {frozenset(e) for e in plain.graph.edges} == {frozenset(e) for e in counted.graph.edges}


def test_a_forest_leaves_out_what_bic_does_not_favour() -> None:
    rows, edges = tree_rows()
    rows["noise"] = np.random.default_rng(1).integers(0, 4, 3000)
    forest = GraphModel.fit(rows, structure=Tree(forest=True))
    assert {frozenset(edge) for edge in forest.graph.edges} == edges
    assert len(GraphModel.fit(rows, structure=Tree()).graph.edges) == 9


@pytest.mark.parametrize("criterion", ["bic", "test"])
def test_chordal_graphs_find_the_cliques_that_made_the_data(criterion: str) -> None:
    rng = np.random.default_rng(2)
    n = 6000
    a, b, d, e = rng.integers(0, 2, (4, n))
    c = np.where(rng.random(n) < 0.9, a ^ b, rng.integers(0, 2, n))
    rows = {"A": np.where(rng.random(n) < 0.8, c, a), "B": b, "C": c, "D": np.where(rng.random(n) < 0.7, c, d), "E": e}
    model = GraphModel.fit(rows, structure=Chordal(width=2, criterion=criterion))
    assert nx.is_chordal(model.graph.networkx())
    assert {"A-C", "C-D"} <= {"-".join(sorted(edge)) for edge in model.graph.edges}
    assert not model.graph.neighbours["E"]
    assert max(map(len, model.cliques)) <= 3
    tree = GraphModel.fit(rows, structure=Tree())
    assert model.log_prob(rows).sum() > tree.log_prob(rows).sum() - 10


def test_the_width_bounds_cliques() -> None:
    rng = np.random.default_rng(3)
    cause = rng.integers(0, 2, 4000)
    rows = {f"V{i}": np.where(rng.random(4000) < 0.8, cause, 1 - cause) for i in range(7)}
    for width in (1, 2, 4):
        model = GraphModel.fit(rows, structure=Chordal(width=width))
        assert nx.is_chordal(model.graph.networkx())
        assert max(map(len, model.cliques)) <= width + 1
        assert model.record["method"] == "closed"


def test_independences_of_a_wrong_graph_are_rejected_and_those_of_the_true_one_are_not() -> None:
    rows, edges = tree_rows(2000, size=6)
    graph = " ".join("-".join(sorted(edge)) for edge in edges)
    model = GraphModel.fit(rows, graph)
    tests = model.test(rows)
    assert len(tests) == 15 - 5
    assert not any(rejected for _, rejected in tests)
    wrong = GraphModel.fit(rows, " ".join(rows)).test(rows)
    found = {frozenset((*t.independence.left, *t.independence.right)) for t, rejected in wrong if rejected}
    assert edges <= found


def test_bad_options() -> None:
    with pytest.raises(ConfigError, match="width"):
        Chordal(width=0)
    with pytest.raises(ConfigError, match="criterion"):
        Chordal(criterion="aic")
    with pytest.raises(ConfigError, match="level"):
        Chordal(level=2)
    rows, _ = tree_rows(50)
    with pytest.raises(DataError, match="missing"):
        GraphModel.fit({"A": [1, None], "B": [0, 1]}, structure=Tree())
    with pytest.raises(ConfigError, match="hidden"):
        GraphModel.fit(rows, structure=Tree(), hidden={"H": 2})
    one = GraphModel.fit({"A": [0, 1]}, structure=Tree())
    assert one.graph.edges == ()
