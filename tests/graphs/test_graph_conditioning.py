"""Answers by conditioning on a cutset are those of one junction tree."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

from corate.errors import ConfigError, CorateError
from corate.graphs import GraphModel
from reference.graphs import random_factors


@pytest.mark.parametrize("seed", range(24))
def test_all_answers_are_the_same(seed: int) -> None:
    names, sizes, factors = random_factors(seed, most=9)
    rng = np.random.default_rng(seed)
    cutset = [name for name in names if rng.random() < 0.4]
    states = {name: range(size) for name, size in sizes.items()}
    plain = GraphModel.from_factors(factors, states, graph=" ".join(names))
    cut = GraphModel.from_factors(factors, states, graph=" ".join(names), cutset=cutset)
    assert cut.log_z == pytest.approx(plain.log_z, abs=1e-9)
    draw = plain.sample(1, seed=seed)
    rows = [{name: draw[name][0] for name in names if rng.random() < 0.4} for _ in range(3)]
    found, wanted = cut.marginals(rows), plain.marginals(rows)
    for name in names:
        assert found[name] == pytest.approx(wanted[name], abs=1e-9)
    best, sure = cut.most_likely(rows[0]), plain.most_likely(rows[0])
    assert cut.log_prob(best) == pytest.approx(plain.log_prob(sure), abs=1e-9)
    chosen = list(rng.choice(names, size=min(2, len(names)), replace=False))
    assert cut.joint(chosen, rows) == pytest.approx(plain.joint(chosen, rows), abs=1e-9)
    assert cut.entropy(rows[1]) == pytest.approx(plain.entropy(rows[1]), abs=1e-8)
    draws = cut.sample(2000, rows[2], seed=seed)[names[0]]
    p = plain.marginals(rows[2])[names[0]]
    counts = np.bincount(draws, minlength=len(p))
    assert not counts[p == 0].any()
    kept = p * 2000 > 5
    if kept.sum() > 1:
        assert chi2.sf(((counts - p * 2000)[kept] ** 2 / (p * 2000)[kept]).sum(), kept.sum() - 1) > 1e-6


def test_a_grid_that_is_too_large_runs_with_a_cutset() -> None:
    rng = np.random.default_rng(1)
    grid = nx.grid_2d_graph(8, 8)
    factors = [([f"X{a}_{b}", f"X{c}_{d}"], np.exp(rng.normal(size=(2, 2)))) for (a, b), (c, d) in grid.edges]
    plain = GraphModel.from_factors(factors)
    small = plain.costs().bytes // 3
    with pytest.raises(ConfigError, match="condition on a cutset"):
        GraphModel.from_factors(factors, memory=small)
    cut = GraphModel.from_factors(factors, memory=small, cutset="auto")
    assert cut.log_z == pytest.approx(plain.log_z, abs=1e-9)
    assert cut.marginals({"X0_0": 1})["X7_7"] == pytest.approx(plain.marginals({"X0_0": 1})["X7_7"], abs=1e-9)
    with pytest.raises(ConfigError, match="needs"):
        GraphModel.from_factors(factors, memory=1000, cutset="auto")
    with pytest.raises(ConfigError, match="joint states"):
        GraphModel.from_factors(factors, cutset=[f"X{a}_{b}" for a, b in grid.nodes])
    with pytest.raises(CorateError, match="no node"):
        GraphModel.from_factors(factors, cutset=["nobody"])
