"""Losses of whole sentences whose scores are far apart: values and gradients are still exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.chain_cases import (
    decay_of,
    either_order,
)
from reference.chain_problems import Problem, chain_of, random_problem, weights_for


@pytest.mark.parametrize("scale", [30.0, 300.0])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("full", [True, False])
@either_order
def test_scores_that_are_hundreds_apart_are_right_in_float32(
    triples: bool, full: bool, partial: bool, scale: float
) -> None:
    """Potentials so far apart vanish in float32: the scaled pass must notice, and the exact one take over."""
    for seed in range(12):
        problem = random_problem(
            seed,
            lengths=(1, 3, 4),
            labels=4,
            full=full,
            edges=seed % 2 == 0,
            partial=partial,
            weighted=seed % 3 == 0,
            triples=triples,
        )
        chains = problem.native("likelihood")
        weights = weights_for(chains, seed, scale)
        expected = problem.objective("likelihood", weights, 0.0)
        value, gradient = chains.objective(weights, 0.0, 1)
        exact, slopes = chains.objective(weights, 0.0, 1, exact=True)
        assert exact == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert value == pytest.approx(expected, rel=1e-5, abs=1e-3 * scale / 30)
        met = met_by_a_pass(problem, weights)
        assert met == pytest.approx(expected, rel=1e-5, abs=1e-3 * scale / 30)
        np.testing.assert_allclose(gradient, slopes, atol=2e-3)


def met_by_a_pass(problem: Problem, weights: NDArray[np.float64]) -> float:
    """The likelihood as stochastic passes take it, which go along all pairs, however few were seen."""
    chains = problem.native("likelihood")
    state = np.ones((chains.size, 2), np.float32)
    state[:, 0] = weights
    return chains.pass_over(state.ravel(), np.arange(len(problem.sentences)), decay_of(problem, 0.0), 0.0, 16, 1)


@pytest.mark.parametrize("gap", [50.0, 90.0, 200.0, 900.0, 1e5])
def test_a_gold_path_that_seems_impossible_has_its_whole_loss(gap: float) -> None:
    problem = chain_of([[0.0, gap], [0.0, gap]], [0, 0])
    chains = problem.native("likelihood")
    value, gradient = chains.objective(np.zeros(chains.size), 0.0, 1)
    assert value == pytest.approx(2 * gap, rel=1e-6)
    assert met_by_a_pass(problem, weights=np.zeros(chains.size)) == pytest.approx(2 * gap, rel=1e-6)
    np.testing.assert_allclose(problem.split(gradient).table, [[-1, 0, -1], [0, 1, 1], [-1, 1, 0]], atol=1e-6)


@pytest.mark.parametrize("gap", [90.0, 120.0, 400.0])
def test_nodes_and_edges_that_contradict_each_other_are_weighed_exactly(gap: float) -> None:
    """Each position's own best labels cannot follow each other: potentials scaled apart from each other all vanish."""
    problem = chain_of([[gap, 0.0], [0.0, gap]], [0, 0])
    chains = problem.native("likelihood")
    weights = np.zeros(chains.size)
    table = weights[:9].reshape(3, 3)
    table[0, 1] = -2 * gap  # what both nodes want
    value, gradient = chains.objective(weights, 0.0, 1)
    expected = problem.objective("likelihood", weights, 0.0)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert met_by_a_pass(problem, weights) == pytest.approx(expected, rel=1e-5, abs=1e-5)
    exact = chains.objective(weights, 0.0, 1, exact=True)[1]
    np.testing.assert_allclose(gradient, exact, atol=1e-5)


@pytest.mark.parametrize("gap", [90.0, 400.0])
def test_a_known_label_that_seems_impossible_is_summed_over_exactly(gap: float) -> None:
    problem = chain_of([[0.0, gap, gap], [0.0, 0.0, gap], [0.0, 0.0, gap]], [0, 0, 0])
    sentence = problem.sentences[0]
    sentence[1] = replace(sentence[1], gold=None)
    chains = problem.native("likelihood")
    weights = np.zeros(chains.size)
    weights[:16].reshape(4, 4)[0, :] = [-gap, -gap, -2 * gap, 0.0]
    value, gradient = chains.objective(weights, 0.0, 1)
    assert value == pytest.approx(problem.objective("likelihood", weights, 0.0), rel=1e-5)
    np.testing.assert_allclose(gradient, chains.objective(weights, 0.0, 1, exact=True)[1], atol=1e-5)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("gold", [0, 1])
@pytest.mark.parametrize(("low", "drop"), [(89.0, 20.0), (120.0, 30.0), (120.0, 50.0), (200.0, 50.0)])
def test_a_path_that_seems_lost_at_first_and_wins_in_the_end_is_kept(
    low: float, drop: float, gold: int, full: bool
) -> None:
    """Label 1 begins far below label 0, which then falls a little with each step: no single step is extreme."""
    problem = chain_of([[0.0, -low], *[[0.0, 0.0]] * 5], [gold] * 6)
    problem.full = full
    chains = problem.native("likelihood")
    weights = np.zeros(chains.size)
    weights[:9].reshape(3, 3)[:2, :2] = [[-drop, -300.0], [-300.0, 0.0]]
    value, gradient = chains.objective(weights, 0.0, 1)
    assert value == pytest.approx(problem.objective("likelihood", weights, 0.0), rel=1e-5, abs=1e-4)
    assert met_by_a_pass(problem, weights) == pytest.approx(value, rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(gradient, chains.objective(weights, 0.0, 1, exact=True)[1], atol=1e-4)


def with_triples(problem: Problem, scores: dict[tuple[int, int, int], float]) -> tuple[Problem, NDArray[np.float64]]:
    """With weights of those triples, and all weights: zero but for theirs."""
    size = problem.n_labels + 1
    table = np.zeros((size, size, size))
    for place, score in scores.items():
        table[place] = score
    seen = table.reshape(size, -1) != 0
    more = replace(problem, triples=seen)
    weights = np.zeros(more.native("likelihood").size)
    weights[-len(scores) :] = table.reshape(size, -1)[seen]
    return more, weights


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("gold", [0, 1])
@pytest.mark.parametrize("gap", [50.0, 90.0, 120.0, 400.0, 1e4])
def test_triples_that_contradict_what_pairs_say_are_weighed_exactly(
    gap: float, gold: int, partial: bool, full: bool
) -> None:
    """Nodes want a labelling that triples forbid: potentials that are scaled apart from each other all vanish."""
    problem = chain_of([[gap, 0.0], [0.0, gap], [gap, 0.0], [0.0, gap]], [gold] * 4)
    problem.full = full
    if partial:
        problem.sentences[0][2] = replace(problem.sentences[0][2], gold=None)
    scores = {(2, 0, 1): -2 * gap, (0, 1, 0): -2 * gap, (1, 0, 1): -gap, (2, 2, 1): -gap, (1, 1, 2): gap}
    problem, weights = with_triples(problem, scores)
    chains = problem.native("likelihood")
    value, gradient = chains.objective(weights, 0.0, 1)
    assert value == pytest.approx(problem.objective("likelihood", weights, 0.0), rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(gradient, chains.objective(weights, 0.0, 1, exact=True)[1], atol=1e-4)
    state = np.full((chains.size, 2), 1.0, np.float32)
    state[:, 0] = weights
    met = chains.pass_over(state.ravel(), np.array([0]), decay_of(problem, 0.0), 0.1, 1, 1)
    assert met == pytest.approx(value, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("gold", [0, 1])
@pytest.mark.parametrize(("low", "drop"), [(89.0, 20.0), (120.0, 30.0), (120.0, 50.0), (200.0, 50.0)])
def test_a_path_that_triples_bring_back_in_the_end_is_kept(low: float, drop: float, gold: int, full: bool) -> None:
    """Label 1 begins far below label 0, which then falls a little with each three in a row."""
    problem = chain_of([[0.0, -low], *[[0.0, 0.0]] * 6], [gold] * 7)
    problem.full = full
    apart = {(y, 0, 1): -300.0 for y in (0, 2)} | {(y, 1, 0): -300.0 for y in (1, 2)}
    problem, weights = with_triples(problem, apart | {(0, 0, 0): -drop})
    chains = problem.native("likelihood")
    value, gradient = chains.objective(weights, 0.0, 1)
    assert value == pytest.approx(problem.objective("likelihood", weights, 0.0), rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(gradient, chains.objective(weights, 0.0, 1, exact=True)[1], atol=1e-4)


@either_order
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("gold", [0, 1])
@pytest.mark.parametrize(("low", "drop"), [(30.0, 57.0), (40.0, 50.0), (46.0, 50.0), (50.0, 45.0), (56.0, 56.0)])
def test_a_label_that_vanishes_beside_a_faint_one_is_not_forgotten(
    low: float, drop: float, gold: int, full: bool, triples: bool
) -> None:
    """The label that its node prefers is impossible, label 0 is faint, and label 1 fainter still: it vanishes beside
    the first. What follows then speaks against label 0. No sum is as small, and no voice as loud, as to be noticed."""
    problem = chain_of([[-low, -90.0, 0.0], [0.0, -300.0, -300.0]], [gold, 0])
    problem.full = full
    problem, weights = with_triples(problem, {(3, 3, 2): -200.0})
    weights[:16].reshape(4, 4)[0, 0] = -drop
    if not triples:
        problem, weights = replace(problem, triples=None), weights[:-1]
        weights[:16].reshape(4, 4)[3, 2] = -200.0
    chains = problem.native("likelihood")
    value, gradient = chains.objective(weights, 0.0, 1)
    assert value == pytest.approx(problem.objective("likelihood", weights, 0.0), rel=1e-5, abs=1e-4)
    assert met_by_a_pass(problem, weights) == pytest.approx(value, rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(gradient, chains.objective(weights, 0.0, 1, exact=True)[1], atol=1e-4)


@pytest.mark.parametrize("loss", ["piecewise", "memm", "perceptron"])
@pytest.mark.parametrize("scale", [100.0, 1000.0])
def test_other_losses_stand_extreme_scores_too(loss: str, scale: float) -> None:
    for seed in range(6):
        problem = random_problem(seed, full=seed % 2 == 0, edges=seed % 3 == 0)
        chains = problem.native(loss)
        weights = weights_for(chains, seed, scale)
        value, gradient = chains.objective(weights, 0.0, 1)
        assert value == pytest.approx(problem.objective(loss, weights, 0.0), rel=1e-5, abs=scale * 1e-5)
        assert np.isfinite(gradient).all()
