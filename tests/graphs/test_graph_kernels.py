"""Native kernels of graph models against plain NumPy."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from corate import _native
from corate.inference.triangulation import triangulate


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
@pytest.mark.parametrize("rows", [1, 63, 16_320, 40_001])
def test_counts_of_all_sizes_of_tables(dtype: type, rows: int) -> None:
    rng = np.random.default_rng(rows)
    sizes = np.array([1, 2, 3, 5, 16, 40])
    columns = [rng.integers(0, size, rows).astype(dtype) for size in sizes]
    scopes = [(0,), (1,), (2, 1), (3, 2, 1), (4, 1), (4, 4 - 1), (5, 4), (1, 2, 3, 4), (5,)]
    offsets = np.cumsum([0, *map(len, scopes)]).astype(np.int64)
    members = np.array([v for scope in scopes for v in scope], dtype=np.int32)
    weights = rng.random(rows)
    for given in (None, weights):
        found = _native.count_scopes(columns, sizes, offsets, members, given, 2)
        wanted = []
        for scope in scopes:
            table = np.zeros([sizes[v] for v in scope])
            np.add.at(table, tuple(columns[v].astype(int) for v in scope), 1.0 if given is None else given)
            wanted.append(table.ravel())
        assert found == pytest.approx(np.concatenate(wanted), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_mutual_information(dtype: type) -> None:
    rng = np.random.default_rng(1)
    sizes, rows = np.array([1, 2, 3, 17, 30]), 1001
    columns = [rng.integers(0, size, rows) for size in sizes]
    columns[2] = (columns[1] + (rng.random(rows) < 0.2)) % 3
    found = _native.mutual_information([column.astype(dtype) for column in columns], sizes, 2)
    for a, b in combinations(range(5), 2):
        p = np.zeros((sizes[a], sizes[b]))
        np.add.at(p, (columns[a], columns[b]), 1 / rows)
        apart = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
        wanted = rows * (p[p > 0] * np.log(p[p > 0] / apart[p > 0])).sum()
        assert found[a, b] == found[b, a] == pytest.approx(wanted, abs=1e-8)


def test_bytes_are_counted() -> None:
    rng = np.random.default_rng(2)
    for top in (2, 31, 32, 256):
        values = rng.integers(0, top, 20_000).astype(np.uint8)
        assert (_native.count_bytes(values) == np.bincount(values, minlength=256)).all()


@pytest.mark.parametrize("seed", range(30))
def test_triangulations_are_clique_trees_of_chordal_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    graph = nx.gnp_random_graph(n, rng.random(), seed=seed)
    last = [v for v in range(n) if rng.random() < 0.15]
    edges = np.array(list(graph.edges), dtype=np.int32).reshape(-1, 2)
    found = triangulate(rng.integers(1, 5, n), edges, last=last)
    assert sorted(found.order.tolist()) == list(range(n))
    graph.add_edges_from(combinations(last, 2))
    filled = nx.Graph()
    filled.add_nodes_from(range(n))
    for clique in found.cliques:
        filled.add_edges_from(combinations(clique, 2))
    assert nx.is_chordal(filled)
    assert len(filled.edges) - len(graph.edges) == found.added
    assert set(graph.edges) <= {tuple(sorted(edge)) for edge in filled.edges} | set(filled.edges)
    assert {frozenset(c) for c in found.cliques} == {frozenset(c) for c in nx.find_cliques(filled)}
    assert set(last) <= set(found.cliques[0])
    for i, parent in enumerate(found.parents.tolist()):
        separator = found.cliques[i][found.residuals[i] :]
        assert parent < i
        assert set(separator) <= (set(found.cliques[parent]) if parent >= 0 else set())
        assert not {v for j in range(i) for v in found.cliques[j]} & set(found.cliques[i][: found.residuals[i]])
    if nx.is_chordal(graph) and n > 0:
        assert found.added == 0


def test_bad_arrays_are_refused() -> None:
    column, sizes = np.zeros(3, dtype=np.uint8), np.array([2])
    nothing, one = np.array([0, 0]), np.array([0, 1])
    for arguments, match in (
        (([column], np.array([0]), nothing, np.zeros(0, np.int32), None, 1), "no states"),
        (([column + 2], sizes, nothing, np.zeros(0, np.int32), None, 1), "out of range"),
        (([column], sizes, one, np.array([1], np.int32), None, 1), "unknown variable"),
        (([column], sizes, np.array([1, 0]), np.zeros(1, np.int32), None, 1), "offsets"),
        (([column], sizes, one, np.zeros(1, np.int32), np.ones(2), 1), "weights"),
        (([column, column[:2]], np.array([2, 2]), one, np.zeros(1, np.int32), None, 1), "lengths"),
    ):
        with pytest.raises(ValueError, match=match):
            _native.count_scopes(*arguments)
    for edges in ([[0, 5]], [[0, 0]], [[-1, 0]]):
        with pytest.raises(ValueError, match="edge"):
            _native.eliminate(np.array([2, 2]), np.array(edges, dtype=np.int32), np.zeros(2, np.uint8), 4, 0)
    tree, *_ = _native.eliminate(np.array([2, 2]), np.array([[0, 1]], dtype=np.int32), np.zeros(2, np.uint8), 4, 0)
    sizes, scope = np.array([2, 2]), (np.array([0, 2]), tree[1])
    with pytest.raises(ValueError, match=r"factor|table|order"):
        _native.CliqueTree(sizes, tree, scope[0], tree[1][::-1].copy())
    plan = _native.CliqueTree(sizes, tree, *scope)
    for wrong in (np.zeros(4), np.full(4, np.nan), -np.ones(4), np.ones(3)):
        with pytest.raises(ValueError, match="factor"):
            _native.FactorValues(plan, wrong, False)
    values = _native.FactorValues(plan, np.ones(4), False)
    for variables, states in (([5], [[0]]), ([0], [[2]]), ([0, 0], [[0, 0]]), ([0], [[0, 1]]), ([0], [[-2]])):
        with pytest.raises(ValueError, match=r"unknown|range|twice|number"):
            values.log_sums(np.array(variables, dtype=np.int32), np.array(states, dtype=np.int32), 1)


def test_numbers_are_packed_into_bytes_if_they_fit() -> None:
    values = np.random.default_rng(3).integers(0, 256, 1000)
    assert (_native.pack_bytes(values) == values).all()
    for odd in (-1, 256, 2**40, -(2**63)):
        assert _native.pack_bytes(np.append(values, odd)) is None
