"""Cutsets that break all loops: the smallest ones, and the estimate that conditions on them."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from corate.errors import ConfigError
from corate.graphs import GraphModel, Tree
from corate.graphs.cutsets import joined, smallest_cutset
from corate.rate import Graph, P, Table, factorise

GRID = Graph.of(nx.grid_2d_graph(4, 4))


def random_graphs(n: int, nodes: int):
    rng = np.random.default_rng(nodes)
    for seed in range(n):
        edges = int(rng.integers(nodes, 2 * nodes))
        yield Graph.of(nx.gnm_random_graph(nodes, edges, seed=seed))


def smallest_weight(graph: Graph, weights: dict[str, float]) -> float:
    """By trying all sets of nodes."""
    sets = (chosen for size in range(len(graph.nodes)) for chosen in combinations(graph.nodes, size))
    return min(sum(weights[v] for v in chosen) for chosen in sets if graph.without(chosen).is_forest())


def test_the_smallest_cutset_is_found() -> None:
    rng = np.random.default_rng(0)
    for k, graph in enumerate(random_graphs(30, 8)):
        weights = {v: 1.0 if k % 2 else float(rng.uniform(0.5, 3)) for v in graph.nodes}
        found = smallest_cutset(graph, weights)
        assert graph.without(found).is_forest()
        assert sum(weights[v] for v in found) == pytest.approx(smallest_weight(graph, weights))


def test_a_grid_of_sixteen_nodes_has_a_cutset_of_four_and_a_complete_graph_one_of_all_but_two() -> None:
    assert len(smallest_cutset(GRID, dict.fromkeys(GRID.nodes, 1.0))) == 4
    complete = Graph.of(nx.complete_graph(12))
    assert len(smallest_cutset(complete, dict.fromkeys(complete.nodes, 1.0))) == 10
    assert smallest_cutset(Graph.of("A-B-C D"), dict.fromkeys("ABCD", 1.0)) == ()


def test_large_graphs_are_searched_with_a_fixed_seed() -> None:
    grid = Graph.of(nx.grid_2d_graph(6, 6))
    weights = dict.fromkeys(grid.nodes, 1.0)
    found = smallest_cutset(grid, weights)
    assert grid.without(found).is_forest()
    assert found == smallest_cutset(grid, weights)
    assert 9 <= len(found) <= 11, (
        "with eight nodes less, there are at least 28 edges, too many for a forest of 28 nodes"
    )


@pytest.mark.parametrize("nodes", [6, 9])
def test_a_forest_joined_with_a_complete_cutset_is_triangulated(nodes: int) -> None:
    for graph in random_graphs(10, nodes):
        whole = joined(graph, smallest_cutset(graph, dict.fromkeys(graph.nodes, 1.0)))
        assert nx.is_chordal(whole.networkx())
        assert {frozenset(edge) for edge in graph.edges} <= {frozenset(edge) for edge in whole.edges}


def test_the_product_is_a_distribution_with_the_margins_of_its_cliques() -> None:
    """Of a sample, in the algebra and as a model."""
    rng = np.random.default_rng(0)
    for graph in random_graphs(4, 6):
        rows = {name: rng.integers(0, 2, 40) for name in graph.nodes}
        model = GraphModel.fit(rows, graph, method="conditioning", prior=0)
        cells = np.zeros([2] * len(rows))
        np.add.at(cells, tuple(rows.values()), 1)
        counts = Table(cells, list(rows))
        product = factorise(model.graph, "junction-tree")
        assert product.added == ()
        assert counts.total(product.expression) == pytest.approx(1)
        assert model.log_z == pytest.approx(0, abs=1e-12)
        assert set(model.record["cutset"]) <= set(graph.nodes)
        for clique in model.graph.cliques():
            assert model.joint(clique) == pytest.approx(np.exp(counts.marginal(clique).log_table(P(*clique))[1]))


def losses(seed: int, n: int) -> list[float]:
    """Of proportional fitting, conditioning and the best tree, for a random 4 x 4 grid and ``n`` rows."""
    rng = np.random.default_rng(seed)
    truth = GraphModel.from_factors([(list(edge), np.exp(rng.normal(size=(2, 2)))) for edge in GRID.edges])
    rows, fresh = truth.sample(n, seed=0), truth.sample(20_000, seed=1)
    models = [
        GraphModel.fit(rows, GRID, method="ipf"),
        GraphModel.fit(rows, GRID, method="conditioning"),
        GraphModel.fit(rows, structure=Tree()),
    ]
    assert models[1].costs().treewidth == 5
    best = float(truth.log_prob(fresh).mean())
    return [best - float(model.log_prob(fresh).mean()) for model in models]


def test_conditioning_loses_less_than_the_best_tree_if_loops_matter_and_more_than_proportional_fitting() -> None:
    found = losses(5, 5_000)
    assert found == sorted(found)
    assert 0.03 < found[1] < 0.07


def test_the_loss_of_conditioning_is_the_price_of_its_parameters() -> None:
    """About the number of parameters, 383, divided by twice the rows; that of the tree does not vanish."""
    for seed in (0, 1, 4):
        few, many = losses(seed, 5_000), losses(seed, 50_000)
        assert few[0] < few[1]
        assert few[1] / 20 < many[1] < few[1] / 5
        assert many[1] == pytest.approx(383 / 100_000, rel=0.3)
        assert many[0] < many[1] < many[2]
        assert many[2] > few[2] / 2


def test_a_cutset_of_twenty_nodes_is_the_smallest() -> None:
    whole = Graph.of(nx.grid_2d_graph(4, 5))
    found = smallest_cutset(whole, dict.fromkeys(whole.nodes, 1.0))
    loops = whole.networkx()
    assert nx.is_forest(loops.subgraph(set(loops) - set(found)))
    fewer = (set(loops) - set(chosen) for chosen in combinations(loops, len(found) - 1))
    assert not any(nx.is_forest(loops.subgraph(left)) for left in fewer)


def test_conditioning_has_options_of_other_methods() -> None:
    rows = {name: np.random.default_rng(i).integers(0, 2, 60) for i, name in enumerate("ABCD")}
    model = GraphModel.fit(rows, "A-B-C-D-A", method="conditioning")
    assert model.record["method"] == "conditioning"
    assert len(model.graph.edges) == 5
    twice = model.update(rows)
    wanted = GraphModel.fit({k: np.tile(v, 2) for k, v in rows.items()}, "A-B-C-D-A", method="conditioning")
    assert twice.log_prob(rows) == pytest.approx(wanted.log_prob(rows))
    holes = rows | {"B": [None, *rows["B"][1:].tolist()]}
    assert GraphModel.fit(holes, "A-B-C-D-A", method="conditioning", missing="em").record["iterations"] > 0
    large = nx.grid_2d_graph(12, 12)
    with pytest.raises(ConfigError, match="more than the budget"):
        GraphModel.fit({f"X{i}_{j}": [0, 1] for i in range(12) for j in range(12)}, large, method="conditioning")
