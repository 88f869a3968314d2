"""Answers of graph models against enumeration of all joint states."""

from __future__ import annotations

import math
import os
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from corate.graphs import GraphModel
from reference.graphs import Enumerated, enumerated, random_factors

#: How many random graphs to check. CORATE_GRAPHS=500 checks more.
N_GRAPHS = int(os.environ.get("CORATE_GRAPHS", "100"))
PARTS = 4
NEAR = 1e-9


def cases(part: int) -> list[tuple[int, GraphModel, Enumerated, dict[str, int]]]:
    """Random models of one part, with evidence that is possible."""
    found = []
    for seed in range(part, N_GRAPHS, PARTS):
        names, sizes, factors = random_factors(seed)
        exact = enumerated(names, sizes, factors)
        model = GraphModel.from_factors(
            factors, {name: range(size) for name, size in sizes.items()}, graph=alone(names)
        )
        rng = np.random.default_rng(seed)
        state = np.unravel_index(rng.choice(np.flatnonzero(exact.logs > -np.inf)), exact.logs.shape)
        seen = rng.random(len(names)) < rng.choice([0.0, 0.3, 0.6])
        found.append(
            (seed, model, exact, {name: int(s) for name, s, is_seen in zip(names, state, seen, strict=True) if is_seen})
        )
    return found


def alone(names: tuple[str, ...]) -> str:
    return " ".join(names)


@pytest.mark.parametrize("part", range(PARTS))
def test_marginals_log_probability_and_log_z_are_those_of_all_joint_states(part: int) -> None:
    for _, model, exact, evidence in cases(part):
        assert model.log_z == pytest.approx(exact.log_sum({}), abs=NEAR)
        found = model.marginals(evidence)
        for name in exact.names:
            assert found[name] == pytest.approx(exact.joint([name], evidence), abs=NEAR)
        wanted = exact.log_sum(evidence) - exact.log_sum({})
        assert model.log_prob(evidence) == pytest.approx([wanted], abs=NEAR)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_most_likely_states_have_the_highest_score_of_all(part: int) -> None:
    for _, model, exact, evidence in cases(part):
        best = model.most_likely(evidence)
        place = tuple(best[name] for name in exact.names)
        assert exact.given(evidence)[place] == pytest.approx(exact.given(evidence).max(), abs=NEAR)


@pytest.mark.parametrize("part", range(PARTS))
def test_joint_tables_rates_and_entropy_are_those_of_all_joint_states(part: int) -> None:
    for seed, model, exact, evidence in cases(part):
        rng = np.random.default_rng(seed + 1)
        count = int(rng.integers(1, min(4, len(exact.names)) + 1))
        chosen = [str(name) for name in rng.choice(exact.names, size=count, replace=False)]
        assert model.joint(chosen, evidence) == pytest.approx(exact.joint(chosen, evidence), abs=NEAR)
        assert model.entropy(evidence) == pytest.approx(exact.entropy(evidence), abs=NEAR)
        if count > 1 and seed % 4 != 2:  # where probabilities underflow, so do these quotients
            both = exact.joint(chosen[:2], {})
            with np.errstate(invalid="ignore"):
                rates = both / (both.sum(1, keepdims=True) * both.sum(0, keepdims=True))
            assert model.rates(*chosen[:2]) == pytest.approx(rates, nan_ok=True, rel=1e-6)


@pytest.mark.parametrize("part", range(PARTS))
def test_many_rows_have_the_answers_of_single_rows_on_any_number_of_threads(part: int) -> None:
    for seed, model, exact, _ in cases(part)[:15]:
        rng = np.random.default_rng(seed + 2)
        draws = model.sample(30, seed=seed)
        rows = [{name: draws[name][i] for name in exact.names if rng.random() < 0.5} for i in range(30)]
        together = model.marginals(rows, threads=3)
        best = model.most_likely(rows)
        logs = model.log_prob(rows, threads=2)
        for i, row in enumerate(rows):
            alone = model.marginals(row)
            for name in exact.names:
                assert together[name][i] == pytest.approx(alone[name], abs=NEAR)
            assert logs[i] == pytest.approx(exact.log_sum(row) - exact.log_sum({}), abs=NEAR)
            assert exact.given(row)[tuple(best[name][i] for name in exact.names)] == pytest.approx(
                exact.given(row).max()
            )
        again = model.marginals(rows, threads=1)
        assert all((again[name] == together[name]).all() for name in exact.names)


@pytest.mark.parametrize("part", range(PARTS))
def test_draws_have_the_frequencies_of_the_distribution(part: int) -> None:
    n, tests = 2000, 0.0
    for seed, model, exact, evidence in cases(part):
        draws = model.sample(n, evidence, seed=seed)
        p = exact.probabilities(evidence).ravel()
        cells = np.ravel_multi_index(tuple(np.asarray(draws[name]) for name in exact.names), exact.logs.shape)
        counts = np.bincount(cells, minlength=len(p))
        assert not counts[p == 0].any()
        often = p * n >= 5
        observed, wanted = np.append(counts[often], counts[~often].sum()), np.append(p[often], p[~often].sum()) * n
        kept = wanted > 1
        if kept.sum() > 1:
            statistic = ((observed - wanted)[kept] ** 2 / wanted[kept]).sum()
            assert chi2.sf(statistic, kept.sum() - 1) > 1e-6, seed
            tests += 1
    assert tests > 0


def test_the_same_seed_draws_the_same_and_another_one_differently() -> None:
    model = GraphModel.from_factors([(["A", "B"], np.ones((3, 3)))])
    first, again, other = model.sample(50, seed=1), model.sample(50, seed=1), model.sample(50, seed=2)
    assert (first["A"] == again["A"]).all()
    assert (first["A"] != other["A"]).any()


def test_a_long_chain_of_extreme_tables_does_not_underflow() -> None:
    n, strong = 2000, np.array([[1e-150, 1.0], [1.0, 1e-150]])
    names = [f"V{i}" for i in range(n)]
    model = GraphModel.from_factors([(pair, strong) for pair in pairwise(names)])
    # Equal ends of an odd path need one neighbouring pair of equal states: n - 1 places for it.
    evidence = {names[0]: 0, names[-1]: 0}
    expected = math.log(n - 1) + math.log(1e-150)
    assert model.log_prob(evidence)[0] + model.log_z == pytest.approx(expected, rel=1e-9)
    middle = model.marginals(evidence)[names[n // 2]]
    assert middle == pytest.approx([0.5, 0.5], abs=1e-3)
    assert model.log_z == pytest.approx(math.log(2), abs=1e-9)


def test_disconnected_graphs_and_isolated_nodes() -> None:
    model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]]), ("C", [1, 3])], {"D": "xyz"}, graph="C D")
    assert model.log_z == pytest.approx(math.log(10 * 4 * 3))
    assert model.marginals({"A": 1, "C": 0})["B"] == pytest.approx([0.2, 0.8])
    assert model.joint(["A", "C", "D"])[0, 1] == pytest.approx([0.125] * 3)
    assert set(model.sample(100)["D"]) == {"x", "y", "z"}


def test_a_plan_says_what_a_grid_costs_and_refuses_what_is_too_large() -> None:
    import networkx as nx

    from corate.errors import ConfigError

    grid = nx.grid_2d_graph(35, 35)
    plan = GraphModel.plan(grid, 2)
    assert plan.treewidth >= 35
    assert plan.cells > 2**35
    assert plan.bytes > 8 * plan.largest_cells
    with pytest.raises(ConfigError, match=r"needs [0-9,.]+ [TG]B, more than the budget of 4.29 GB.*treewidth"):
        GraphModel.from_factors([([f"X{a}_{b}", f"X{c}_{d}"], np.ones((2, 2))) for (a, b), (c, d) in grid.edges])
