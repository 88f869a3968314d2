"""Messages on any graph: exact on forests, near on loops, and the same for any number of threads."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from corate.errors import ConfigError
from corate.graphs import GraphModel
from corate.inference.messages import PairwiseField, loop_weights
from reference.messages import enumerated, marginals_of_forest, random_field, scores


@pytest.mark.parametrize("seed", range(60))
def test_forests_are_exact(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    field = random_field(
        rng, int(rng.integers(1, 7)), int(rng.integers(1, 5)), tree=True, scale=float(rng.choice([0.1, 2, 20]))
    )
    found = field.pass_messages(log_z=True)
    nodes, pairs, log_z, _ = enumerated(field)
    assert np.allclose(found.marginals, nodes, atol=1e-10)
    assert np.allclose(found.edge_marginals(), pairs, atol=1e-10)
    assert np.isclose(found.log_z.sum(), log_z, rtol=1e-10, atol=1e-10)
    assert found.sweeps.max() == 1
    assert found.converged.all()


@pytest.mark.parametrize("seed", range(60))
def test_forests_with_forbidden_labels_are_exact(seed: int) -> None:
    rng = np.random.default_rng([2, seed])
    field = random_field(rng, int(rng.integers(2, 7)), int(rng.integers(2, 5)), tree=True, forbid=0.3)
    if np.isinf(scores(field)[1]).all():
        with pytest.raises(ValueError, match="forbid all"):
            field.pass_messages()
        return
    found = field.pass_messages(log_z=True)
    nodes, pairs, log_z, _ = enumerated(field)
    assert np.allclose(found.marginals, nodes, atol=1e-10)
    assert np.allclose(found.edge_marginals(), pairs, atol=1e-10)
    assert np.isclose(found.log_z.sum(), log_z)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_labels_of_forests_are_exact(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    field = random_field(rng, int(rng.integers(1, 7)), int(rng.integers(1, 5)), tree=True)
    found = field.pass_messages(maximum=True, log_z=True)
    every, total = scores(field)
    assert found.labels is not None
    assert found.labels.tolist() == every[total.argmax()].tolist()
    assert np.isclose(found.log_z.sum(), total.max())


def test_forests_equal_the_reference() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        field = random_field(rng, 20, 5, tree=True, n_types=3)
        assert np.allclose(field.pass_messages().marginals, marginals_of_forest(field), atol=1e-10)


def test_ten_thousand_trees_at_once_are_those_one_by_one() -> None:
    rng, trees, n = np.random.default_rng(4), 10_000, 20
    tables, nodes = rng.normal(size=(trees, 5, 5)), rng.normal(size=(trees, n, 5))
    left = (rng.random((trees, n - 1)) * np.arange(1, n)).astype(np.int32)
    edges = np.stack([left, np.broadcast_to(np.arange(1, n), left.shape)], axis=2)
    places = n * np.arange(trees)[:, None, None]
    types = np.repeat(np.arange(trees), n - 1)
    together = PairwiseField(nodes.reshape(-1, 5), (edges + places).reshape(-1, 2), types, tables)
    found = together.pass_messages(threads=2)
    assert np.array_equal(found.log_marginals, together.pass_messages(threads=1).log_marginals)
    for i in range(0, trees, 100):
        alone = PairwiseField(nodes[i], edges[i], np.zeros(n - 1), tables[i : i + 1])
        assert np.array_equal(found.log_marginals[n * i : n * i + n], alone.pass_messages().log_marginals)
        assert np.allclose(alone.pass_messages().marginals, marginals_of_forest(alone), atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_scores_beyond_the_range_of_numbers(seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    field = random_field(rng, 6, 3, tree=True, scale=float(rng.choice([300.0, 3000.0])), forbid=0.1 * (seed % 3))
    if np.isinf(scores(field)[1]).all():
        return
    found = field.pass_messages(log_z=True)
    nodes, pairs, log_z, _ = enumerated(field)
    assert np.allclose(found.marginals, nodes, atol=1e-9)
    assert np.allclose(found.edge_marginals(), pairs, atol=1e-9)
    assert np.isclose(found.log_z.sum(), log_z)


@pytest.mark.parametrize("forbid", [False, True])
def test_a_node_with_hundreds_of_neighbours(forbid: bool) -> None:
    rng, n, k = np.random.default_rng(6), 500, 3
    table = rng.normal(size=(1, k, k))
    if forbid:
        table[0, 0, 1] = -np.inf
    nodes = rng.normal(size=(n, k))
    star = PairwiseField(nodes, [(0, i) for i in range(1, n)], np.zeros(n - 1), table)
    found = star.pass_messages(log_z=True)
    assert np.allclose(found.marginals, marginals_of_forest(star), atol=1e-9)
    inner = np.logaddexp.reduce(table[0][:, None, :] + nodes[None, 1:], axis=2).sum(axis=1) + nodes[0]
    assert np.isclose(found.log_z[0], np.logaddexp.reduce(inner), rtol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 0.7])
@pytest.mark.parametrize("seed", range(15))
def test_messages_that_converge_on_loops_are_a_fixed_point(seed: int, weight: float) -> None:
    """Marginals of edges add up to those of nodes, and log Z is stationary: its derivative is the marginal."""
    rng = np.random.default_rng([7, seed])
    field = replace(random_field(rng, 6, 3, tree=False, extra=4, scale=0.5), weights=[weight, 1.0])
    found = field.pass_messages(tolerance=1e-13, sweeps=2000, log_z=True)
    assert found.converged.all()
    pairs = found.edge_marginals()
    for e, (i, j) in enumerate(field.edges):
        assert np.allclose(pairs[e].sum(axis=1), found.marginals[i], atol=1e-9)
        assert np.allclose(pairs[e].sum(axis=0), found.marginals[j], atol=1e-9)
    step = 1e-5
    i, a = int(rng.integers(6)), int(rng.integers(3))
    changed = [field.nodes.copy(), field.nodes.copy()]
    changed[0][i, a] += step
    changed[1][i, a] -= step
    high, low = (
        replace(field, nodes=nodes).pass_messages(begin=found, tolerance=1e-13, sweeps=2000, log_z=True).log_z.sum()
        for nodes in changed
    )
    assert np.isclose((high - low) / (2 * step), found.marginals[i, a], atol=1e-6)


@pytest.mark.parametrize(("score", "most"), [(0.7, 0.005), (1.05, 0.04), (1.6, 0.3)])
def test_grids_are_near_the_exact_marginals(score: float, most: float) -> None:
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(7, 7), ordering="sorted")
        edges = np.array(list(grid.edges), dtype=np.int32)
        nodes = rng.normal(0, 0.8, (49, 4))
        types, tables = np.zeros(len(edges), np.int32), score * np.eye(4)[None]
        field = PairwiseField(nodes, edges, types, tables, loop_weights(edges, types, tables))
        found = field.pass_messages(damping=0.3, sweeps=500)
        factors = [([f"v{i}"], np.exp(row)) for i, row in enumerate(nodes)]
        factors += [([f"v{i}", f"v{j}"], np.exp(score * np.eye(4))) for i, j in edges.tolist()]
        exact = GraphModel.from_factors(factors).marginals()
        errors.append(max(np.abs(found.marginals[i] - exact[f"v{i}"]).max() for i in range(49)))
    assert max(errors) <= most
    # The warning: messages may be far from the truth where this is above 1.
    assert (found.coupling > 1) == (score > 1.5)


def test_begun_messages_need_fewer_sweeps() -> None:
    rng = np.random.default_rng(8)
    field = random_field(rng, 30, 4, tree=False, extra=40, scale=0.4)
    first = field.pass_messages(tolerance=1e-8)
    assert field.pass_messages(tolerance=1e-8, begin=first).sweeps.max() < first.sweeps.max()


def test_sums_by_table_are_sums_of_edges_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(9)
    field = random_field(rng, 40, 3, tree=False, extra=30, n_types=3, scale=0.3)
    found, weights = field.pass_messages(), rng.random(len(field.edges))
    pairs = found.edge_marginals(threads=3)
    wanted = np.stack([(pairs * weights[:, None, None])[field.types == t].sum(axis=0) for t in range(3)])
    assert np.allclose(found.edge_sums(weights), wanted)
    assert np.array_equal(found.edge_sums(weights), found.edge_sums(weights, threads=4))


BAD = {
    "an edge has an unknown end": {"edges": [[0, 3]]},
    "an edge joins a node to itself": {"edges": [[1, 1]]},
    "an edge has an unknown table": {"types": [1]},
    "the ends and the tables of edges disagree": {"types": [0, 0]},
    "a score is NaN or infinity": {"nodes": [[np.nan, 0], [0, 0], [0, 0]]},
    "tables must have the shape": {"tables": np.zeros((1, 3, 3))},
    "a table forbids all pairs": {"tables": np.full((1, 2, 2), -np.inf)},
    "a node has no possible label": {"nodes": np.full((3, 2), -np.inf)},
}


@pytest.mark.parametrize("problem", list(BAD))
def test_arrays_that_do_not_fit_together_are_refused(problem: str) -> None:
    good = {"nodes": np.zeros((3, 2)), "edges": [[0, 1]], "types": [0], "tables": np.zeros((1, 2, 2))}
    PairwiseField(**good).pass_messages()
    with pytest.raises(ValueError, match=problem):
        PairwiseField(**(good | BAD[problem])).pass_messages()


def test_weights_do_not_count_on_forests() -> None:
    rng = np.random.default_rng(10)
    field = random_field(rng, 12, 3, tree=True)
    weighted = replace(field, weights=[0.5, 0.8]).pass_messages(log_z=True)
    assert np.array_equal(weighted.log_marginals, field.pass_messages().log_marginals)
    assert np.array_equal(weighted.edge_marginals(), field.pass_messages().edge_marginals())


@pytest.mark.parametrize("weight", [0.0, 1.5, np.nan])
def test_weights_are_from_0_to_1(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        PairwiseField(np.zeros((2, 2)), [[0, 1]], [0], np.zeros((1, 2, 2)), [weight]).pass_messages()


def test_damping_is_a_share() -> None:
    field = PairwiseField(np.zeros((1, 2)), np.zeros((0, 2)), [], np.zeros((0, 2, 2)))
    assert field.pass_messages().marginals.tolist() == [[0.5, 0.5]]
    with pytest.raises(ConfigError, match="damping"):
        field.pass_messages(damping=1.0)
