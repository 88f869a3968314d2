"""Clique trees and exact fields against enumeration: arrays in, arrays out."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from corate.errors import ConfigError
from corate.inference.best import n_best
from corate.inference.fields import FieldPlan
from corate.inference.messages import PairwiseField
from corate.inference.trees import NOTHING, CliqueTree, Distribution
from corate.inference.triangulation import triangulate
from reference.messages import enumerated, random_field, scores


def _random_scopes(rng: np.random.Generator) -> tuple[list[int], list[tuple[int, ...]]]:
    n = int(rng.integers(1, 7))
    sizes = rng.integers(1, 4, n).tolist()
    scopes = [
        tuple(rng.choice(n, int(rng.integers(1, min(n, 3) + 1)), replace=False).tolist())
        for _ in range(int(rng.integers(1, 8)))
    ]
    return sizes, [*scopes, ()]


def _enumerated(sizes: list[int], scopes: list[tuple[int, ...]], row: Any) -> tuple[float, Any, Any, float]:
    """log Z, the probabilities of cells, the best states and their score."""
    starts = np.concatenate([[0], np.cumsum([int(np.prod([sizes[v] for v in scope])) for scope in scopes])]).astype(int)
    states = list(product(*map(range, sizes)))
    cells = [
        [start + int(np.ravel_multi_index([s[v] for v in scope], [sizes[v] for v in scope]) if scope else 0)
         for scope, start in zip(scopes, starts, strict=False)]
        for s in states
    ]  # fmt: skip
    total = np.array([row[own].sum() for own in cells])
    log_z = float(np.logaddexp.reduce(total))
    found = np.zeros(starts[-1])
    if log_z > -np.inf:
        for own, value in zip(cells, np.exp(total - log_z), strict=True):
            found[own] += value
    return log_z, found, states[int(total.argmax())], float(total.max())


@pytest.mark.parametrize("seed", range(60))
def test_rows_with_potentials_of_their_own_equal_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, scopes = _random_scopes(rng)
    plan = CliqueTree.of(scopes, sizes)
    logs = rng.normal(0, float(rng.choice([0.5, 5, 300])), (int(rng.integers(1, 20)), plan.cells))
    if seed % 3 == 0:
        logs[rng.random(logs.shape) < 0.1] = -np.inf
        logs[:, plan.starts[:-1]] = 0.0  # no factor forbids all
    log_z, probabilities = plan.expectations(logs)
    best, states = plan.most_likely(logs)
    for r, row in enumerate(logs):
        wanted, cells, labels, score = _enumerated(sizes, scopes, row)
        assert np.isclose(log_z[r], wanted, rtol=1e-10)
        assert np.allclose(probabilities[r], cells, atol=1e-9)
        assert np.isclose(best[r], score, rtol=1e-10)
        if wanted > -np.inf:
            assert states[r].tolist() == list(labels)


def test_answers_do_not_depend_on_threads_or_on_other_rows() -> None:
    rng = np.random.default_rng(1)
    plan = CliqueTree.of([(0, 1), (1, 2), (2, 3), (3, 0), (0,), (2,)], [3, 2, 3, 4])
    logs = rng.normal(size=(100, plan.cells))
    log_z, probabilities = plan.expectations(logs)
    for threads in (2, 5):
        again = plan.expectations(logs, threads=threads)
        assert np.array_equal(again[0], log_z)
        assert np.array_equal(again[1], probabilities)
    alone = [plan.expectations(row[None]) for row in logs]
    assert np.allclose(np.concatenate([z for z, _ in alone]), log_z, rtol=1e-12)
    assert np.allclose(np.concatenate([p for _, p in alone]), probabilities, atol=1e-12)


def test_no_rows_have_no_answers() -> None:
    plan = CliqueTree.of([(1, 0)], [2, 3])
    log_z, probabilities = plan.expectations(np.zeros((0, 6)))
    assert (log_z.shape, probabilities.shape) == ((0,), (0, 6))


def test_probabilities_are_derivatives_of_log_z() -> None:
    rng = np.random.default_rng(2)
    plan = CliqueTree.of([(2, 0, 1), (1, 2), (2,)], [2, 3, 2])
    logs, step = rng.normal(size=(1, plan.cells)), 1e-6
    _, probabilities = plan.expectations(logs)
    moved = [plan.expectations(logs + sign * step * np.eye(plan.cells))[0] for sign in (1, -1)]
    assert np.allclose((moved[0] - moved[1]) / (2 * step), probabilities[0], atol=1e-8)


def test_float32_gives_float32() -> None:
    rng = np.random.default_rng(3)
    plan = CliqueTree.of([(0, 1), (1, 2)], [2, 3, 2])
    logs = rng.normal(size=(10, plan.cells)).astype(np.float32)
    log_z, probabilities = plan.expectations(logs)
    assert (log_z.dtype, probabilities.dtype) == (np.float64, np.float32)
    wanted = plan.expectations(logs.astype(np.float64))
    assert np.allclose(log_z, wanted[0], rtol=1e-12)
    assert np.allclose(probabilities, wanted[1], atol=1e-7)
    assert np.array_equal(plan.most_likely(logs)[1], plan.most_likely(logs.astype(np.float64))[1])


def test_evidence_of_each_row() -> None:
    rng = np.random.default_rng(4)
    sizes, scopes = [2, 3, 2], [(0, 1), (1, 2), (2,)]
    plan = CliqueTree.of(scopes, sizes)
    logs = rng.normal(size=(12, plan.cells))
    states = rng.integers(-1, 2, (12, 2)).astype(np.int32)
    log_z, probabilities = plan.expectations(logs, (np.array([1, 2], dtype=np.int32), states))
    for r, row in enumerate(logs):
        known = [np.where((states[r, k] < 0) | (np.arange(n) == states[r, k]), 0, -np.inf) for k, n in ((0, 3), (1, 2))]
        with_known = np.concatenate([row, *known])
        wanted, cells, *_ = _enumerated(sizes, [*scopes, (1,), (2,)], with_known)
        assert np.isclose(log_z[r], wanted)
        assert np.allclose(probabilities[r], cells[: plan.cells], atol=1e-12)


@pytest.mark.parametrize(
    ("logs", "what"),
    [
        (np.zeros((2, 5)), "disagree"),
        (np.full((1, 4), np.nan), "finite"),
        (np.full((1, 4), np.inf), "finite"),
        (np.full((1, 4), -np.inf), "above zero"),
    ],
)
def test_scores_that_cannot_be_are_refused(logs: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        CliqueTree.of([(0, 1)], [2, 2]).expectations(logs)


def _plan_of(field: PairwiseField) -> FieldPlan:
    return FieldPlan(len(field.nodes), field.n_labels, field.edges)


@pytest.mark.parametrize("seed", range(80))
def test_fields_on_any_graph_equal_enumeration(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    tree = seed % 4 == 0
    field = random_field(
        rng, int(rng.integers(2, 7)), int(rng.integers(1, 4)), tree=tree, forbid=0.2 * (seed % 3 == 0), n_types=2,
        **({} if tree else {"extra": int(rng.integers(1, 5))}), scale=float(rng.choice([0.5, 3, 200])),
    )  # fmt: skip
    every, total = scores(field)
    plan = _plan_of(field)
    if np.isinf(total).all():
        with pytest.raises(ValueError, match="forbid all"):
            plan.expectations(field.nodes, field.types, field.tables)
        return
    found = plan.expectations(field.nodes, field.types, field.tables)
    nodes, pairs, log_z, _ = enumerated(field)
    assert np.isclose(found.log_z.sum(), log_z, rtol=1e-10, atol=1e-10)
    assert np.allclose(found.nodes, nodes, atol=1e-9)
    assert np.allclose(found.edges, pairs, atol=1e-9)
    labels, best = plan.best(field.nodes, field.types, field.tables)
    assert np.isclose(best.sum(), total.max(), rtol=1e-10)
    assert np.isclose(total[(every == labels).all(axis=1)][0], total.max(), rtol=1e-10)
    joint = plan.distribution(field.nodes, field.types, field.tables)
    listed = n_best(joint, NOTHING, 5, 1)
    assert np.allclose([score for _, score in listed], np.sort(total)[::-1][: len(listed)])


def test_graphs_of_one_shape_share_a_tree_and_are_those_one_by_one() -> None:
    rng, graphs = np.random.default_rng(5), 200
    square = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    path = np.array([[0, 1], [1, 2]])
    edges, n = [], 0
    for g in range(graphs):
        own = path if g % 3 == 0 else square
        edges.append(own + n)
        n += int(own.max()) + 1
    whole = FieldPlan(n, 3, np.concatenate(edges))
    nodes, tables = rng.normal(size=(n, 3)), rng.normal(size=(2, 3, 3))
    types = rng.integers(0, 2, len(whole.edges))
    assert whole.treewidth == 2
    found = whole.expectations(nodes, types, tables, threads=2)
    labels, best = whole.best(nodes, types, tables)
    sums = whole.expectations(nodes, types, tables, sums=True)
    assert np.allclose(sums.edges, np.stack([found.edges[types == t].sum(axis=0) for t in range(2)]))
    assert np.array_equal(sums.nodes, found.nodes)
    start = 0
    for g in range(graphs):
        at = slice(int(edges[g].min()), int(edges[g].max()) + 1)
        own = slice(start, start + len(edges[g]))
        start = own.stop
        alone = FieldPlan(at.stop - at.start, 3, edges[g] - at.start)
        one = alone.expectations(nodes[at], types[own], tables)
        assert np.isclose(one.log_z[0], found.log_z[g], rtol=1e-12)
        assert np.allclose(one.nodes, found.nodes[at], atol=1e-12)
        assert np.allclose(one.edges, found.edges[own], atol=1e-12)
        assert alone.best(nodes[at], types[own], tables)[0].tolist() == labels[at].tolist()
        assert np.isclose(alone.best(nodes[at], types[own], tables)[1][0], best[g])


def test_draws_follow_the_distribution() -> None:
    rng = np.random.default_rng(6)
    field = random_field(rng, 4, 2, tree=False, extra=2)
    draws = _plan_of(field).distribution(field.nodes, field.types, field.tables).draw(NOTHING, 20_000, 1)[1]
    nodes, *_ = enumerated(field)
    shares = np.stack([(draws == label).mean(axis=0) for label in range(2)], axis=1)
    assert np.allclose(shares, nodes, atol=0.02)


def test_plans_refuse_too_large_graphs_and_scores_of_others() -> None:
    grid = [[7 * i + j, 7 * i + j + 1] for i in range(7) for j in range(6)]
    grid += [[7 * i + j, 7 * i + j + 7] for i in range(6) for j in range(7)]
    with pytest.raises(ConfigError, match="treewidth"):
        FieldPlan(49, 20, grid)
    plan = FieldPlan(2, 2, [[0, 1]])
    with pytest.raises(ValueError, match="the plan has 2 nodes"):
        plan.expectations(np.zeros((3, 2)), [0], np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="unknown table"):
        plan.expectations(np.zeros((2, 2)), [1], np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="unknown end"):
        FieldPlan(2, 2, [[0, 2]])


def test_values_far_below_the_range_of_numbers() -> None:
    """Factors of one clique whose product underflows are multiplied as logarithms."""
    tables = [np.array([1.0, 1e-200]), np.array([1e-200, 1.0]), np.array([1e-200, 1e-50])]
    tree = triangulate([2], np.zeros((0, 2), dtype=np.int32))
    found = Distribution([((0,), table) for table in tables], tree)
    logs, margins = found.margins(NOTHING, 1)
    wanted = np.sum([np.log(table) for table in tables], axis=0)
    assert np.isclose(logs[0], np.logaddexp.reduce(wanted))
    assert np.allclose(margins[0], np.exp(wanted - np.logaddexp.reduce(wanted)))
