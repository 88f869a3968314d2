"""The likelihood where few label pairs have a weight: steps along those alone must come to what all pairs come to.

The oracle is the same objective in float64 and log space, which knows nothing of seen pairs (test_chain_losses.py
holds it against the formulas), and on small problems the sum over all labellings.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate import _native
from reference import chains as reference
from reference.chain_problems import Problem, chain_of, random_problem, weights_for
from reference.chains import Token

#: More sentences than lie side by side, of unequal lengths: of one word, of none, and one much longer than the others.
LENGTHS = (1, 9, 0, 40, 2, 3, 1, 5, 17, 4, 4, 6, 1, 2, 8, 3, 5, 7, 1, 0, 2)


def with_seen(problem: Problem, share: float, *, boundaries: bool = True, seed: int = 0) -> Problem:
    """Of the pairs a share is free, and those of the gold labels."""
    k = problem.n_labels
    free = np.random.default_rng(seed).random((k + 1, k + 1)) < share
    for sentence in problem.sentences:
        around = [k, *(t.gold for t in sentence), k]
        for y, z in itertools.pairwise(around):
            if y is not None and z is not None:
                free[y, z] = True
    if not boundaries:
        free[k, :] = free[:, k] = False
    return replace(problem, free=free.astype(np.uint8).ravel())


def weights_of(problem: Problem, chains: _native.Chains, *, scale: float = 1.0, seed: int = 1) -> NDArray[np.float64]:
    """Random ones, zero for the pairs that are not free."""
    weights = weights_for(chains, seed, scale)
    weights[: len(problem.free)][problem.free == 0] = 0.0
    return weights


def assert_exact(chains: _native.Chains, weights: NDArray[np.float64], *, atol: float = 2e-5) -> None:
    """Quick and exact agree."""
    value, gradient = chains.objective(weights, 0.3, 1)
    expected, slopes = chains.objective(weights, 0.3, 1, exact=True)
    assert value == pytest.approx(expected, rel=2e-6, abs=atol)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=atol)


@pytest.mark.parametrize("labels", [1, 4, 33, 70])
@pytest.mark.parametrize("share", [0.03, 0.3, 1.0])
@pytest.mark.parametrize(
    "options",
    [{}, {"weighted": True}, {"partial": True, "valued": False}, {"weighted": True, "partial": True}],
    ids=lambda options: " ".join(options) or "plain",
)
@pytest.mark.parametrize("boundaries", [True, False])
def test_value_and_gradient_are_those_of_all_pairs(
    labels: int, share: float, options: dict[str, bool], boundaries: bool
) -> None:
    problem = with_seen(
        random_problem(labels, lengths=LENGTHS, labels=labels, full=True, **options), share, boundaries=boundaries
    )
    chains = problem.native("likelihood")
    assert_exact(chains, weights_of(problem, chains))
    gradient = chains.objective(weights_of(problem, chains), 0.3, 1)[1]
    assert (gradient[: len(problem.free)][problem.free == 0] == 0).all()


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, 0.6]), st.lists(st.integers(0, 3), min_size=1, max_size=4))
@settings(deadline=None, max_examples=60)
def test_small_problems_are_summed_over_all_labellings(seed: int, share: float, lengths: list[int]) -> None:
    problem = with_seen(random_problem(seed, lengths=tuple(lengths), full=True, partial=True), share, seed=seed)
    chains = problem.native("likelihood")
    weights = weights_of(problem, chains)
    w = problem.split(weights)
    expected = sum(reference.enumerated_likelihood(s, w) for s in problem.sentences if s)
    assert chains.objective(weights, 0.0, 1)[0] == pytest.approx(expected, rel=1e-5, abs=2e-5)


@pytest.mark.parametrize("labels", [5, 40])
@pytest.mark.parametrize("fixed", [0.01, 0.5])
def test_pairs_without_a_weight_to_train_may_score_too(labels: int, fixed: float) -> None:
    """As where a saved model is trained further on text that lacks some of its pairs."""
    problem = with_seen(random_problem(2, lengths=LENGTHS, labels=labels, full=True), 0.05)
    chains = problem.native("likelihood")
    weights = weights_of(problem, chains)
    rng = np.random.default_rng(5)
    size = len(problem.free)
    others = (problem.free == 0) & (rng.random(size) < fixed)
    weights[:size][others] = rng.normal(size=int(others.sum())).astype(np.float32)
    assert_exact(chains, weights)


@pytest.mark.parametrize("labels", [4, 40])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("scale", [30.0, 300.0])
def test_scores_that_are_hundreds_apart_are_right(labels: int, partial: bool, scale: float) -> None:
    for seed in range(6):
        problem = random_problem(seed, lengths=LENGTHS, labels=labels, full=True, partial=partial, weighted=True)
        problem = with_seen(problem, 0.1, seed=seed)
        chains = problem.native("likelihood")
        weights = weights_of(problem, chains, scale=scale, seed=seed)
        value, gradient = chains.objective(weights, 0.0, 1)
        expected, slopes = chains.objective(weights, 0.0, 1, exact=True)
        assert value == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(gradient, slopes, atol=1e-2)


@pytest.mark.parametrize("drop", [1.0, 3.4, 3.5, 6.0, 10.0, 16.0, 30.0, 80.0, 200.0])
@pytest.mark.parametrize("labels", [3, 40])
@pytest.mark.parametrize("back", [False, True])
def test_a_pair_that_is_all_but_forbidden_keeps_its_digits(drop: float, labels: int, back: bool) -> None:
    """Nodes leave no way but along seen pairs of little weight: taken as a small difference from the usual score, what
    they are worth would be lost in rounding."""
    force = 300.0
    wanted = [0, 1, 2, 1, 0] if back else [0, 1, 2, 2, 1]
    scores = [[force if y == want else 0.0 for y in range(labels)] for want in wanted]
    scores[2][0] = force + 0.5  # and one place where there is a choice
    problem = chain_of(scores, [1, 1, 2, 2, 0])
    free = np.zeros((labels + 1, labels + 1), np.uint8)
    free[:3, :3] = 1
    problem = replace(problem, free=free.ravel())
    chains = problem.native("likelihood")
    weights = np.zeros(chains.size)
    table = weights[: free.size].reshape(free.shape)
    table[:3, :3] = -drop
    table[1, 2], table[2, 1] = -drop - 0.25, -drop - 1.0
    value, gradient = chains.objective(weights, 0.0, 1)
    expected, slopes = chains.objective(weights, 0.0, 1, exact=True)
    assert value == pytest.approx(expected, abs=2e-4)  # of numbers around 1500
    np.testing.assert_allclose(gradient, slopes, atol=1e-5)


@pytest.mark.parametrize("labels", [2, 40])
@pytest.mark.parametrize("gold", [0, 1])
@pytest.mark.parametrize(("low", "rise"), [(89.0, 20.0), (120.0, 30.0), (120.0, 50.0), (200.0, 50.0)])
def test_a_path_that_seems_lost_at_first_and_wins_in_the_end_is_kept(
    labels: int, gold: int, low: float, rise: float
) -> None:
    """Label 1 begins far below label 0, and its own pair makes up for it: no single step is extreme."""
    low_row = [0.0, -low, *[-900.0] * (labels - 2)]
    row = [0.0, 0.0, *[-900.0] * (labels - 2)]
    problem = chain_of([low_row, *[row] * 5], [gold] * 6)
    free = np.zeros((labels + 1, labels + 1), np.uint8)
    free[1, 1] = free[0, 1] = free[1, 0] = 1
    problem = replace(problem, free=free.ravel())
    chains = problem.native("likelihood")
    weights = np.zeros(chains.size)
    table = weights[: free.size].reshape(free.shape)
    table[1, 1], table[0, 1], table[1, 0] = rise, -300.0, -300.0
    value, gradient = chains.objective(weights, 0.0, 1)
    expected, slopes = chains.objective(weights, 0.0, 1, exact=True)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(gradient, slopes, atol=1e-4)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("labels", [4, 40])
def test_a_sentence_beyond_float32_spoils_no_other(labels: int, length: int) -> None:
    """Scores that float32 has no numbers for are those of one sentence; sums over all of them must not meet it."""
    problem = random_problem(9, lengths=(3, length, 4, 2), labels=labels, full=True, valued=False)
    token = problem.sentences[1][0]
    problem.sentences[1][0] = replace(token, base=token.base | {0: 3e38}, features=[(0, 1.0)], gold=0)
    problem.seen[0, 0] = True
    problem = with_seen(problem, 0.05)
    for other in (t for s in (0, 2, 3) for t in problem.sentences[s]):
        other.features = [(f, v) for f, v in other.features if f != 0]
    chains = problem.native("likelihood")
    weights = weights_of(problem, chains)
    weights[len(problem.free)] = 3e38  # of the first feature with label 0
    value, gradient = chains.objective(weights, 0.0, 1)
    expected, slopes = chains.objective(weights, 0.0, 1, exact=True)
    assert np.isfinite(expected)
    assert value == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient, slopes, atol=1e-4)


@pytest.mark.parametrize("labels", [5, 40])
@pytest.mark.parametrize("partial", [False, True])
def test_any_number_of_threads_gives_the_same_bits(labels: int, partial: bool) -> None:
    lengths = tuple(np.random.default_rng(3).integers(0, 9, size=150).tolist())
    problem = random_problem(3, lengths=lengths, labels=labels, full=True, weighted=True, partial=partial)
    problem = with_seen(problem, 0.05)
    chains = problem.native("likelihood")
    weights = weights_of(problem, chains)
    value, gradient = chains.objective(weights, 0.3, 1)
    for threads in (2, 3, 7):
        again, same = chains.objective(weights, 0.3, threads)
        assert again == value
        np.testing.assert_array_equal(same, gradient)


@pytest.mark.parametrize("partial", [False, True])
def test_one_sentence_may_be_much_longer_than_all_others(partial: bool) -> None:
    lengths = (2, 3, 400, *(1 + i % 3 for i in range(40)))
    problem = random_problem(1, lengths=lengths, labels=36, full=True, weighted=True, partial=partial)
    problem = with_seen(problem, 0.02)
    chains = problem.native("likelihood")
    weights = weights_of(problem, chains)
    assert_exact(chains, weights, atol=1e-4)
    value, gradient = chains.objective(weights, 0.1, 1)
    again, same = chains.objective(weights, 0.1, 3)
    assert again == value
    np.testing.assert_array_equal(same, gradient)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 63, 64, 65])
def test_groups_that_are_not_full_are_right(n: int) -> None:
    lengths = tuple(1 + i % 5 for i in range(n))
    problem = with_seen(random_problem(n, lengths=lengths, labels=36, full=True), 0.02)
    chains = problem.native("likelihood")
    assert_exact(chains, weights_of(problem, chains))


def test_evaluations_do_not_depend_on_those_before() -> None:
    """Work memory is kept between them, whichever way they go: along seen pairs, or along all."""
    problem = with_seen(random_problem(4, lengths=LENGTHS, labels=70, full=True, weighted=True), 0.02)
    few = weights_of(problem, problem.native("likelihood"))
    every = weights_for(problem.native("likelihood"))  # no pair scores zero
    no_numbers = few.copy()  # where a step went much too far
    no_numbers[len(problem.free) :] = np.nan
    used = problem.native("likelihood")
    for weights in (few, every, few, no_numbers, few, every, no_numbers, every):
        value, gradient = used.objective(weights, 0.1, 1)
        if weights is no_numbers:
            assert np.isnan(value)
            continue
        again, same = problem.native("likelihood").objective(weights, 0.1, 1)
        assert value == again
        np.testing.assert_array_equal(gradient, same)


def test_a_feature_that_a_token_has_twice_counts_twice() -> None:
    base = dict.fromkeys(range(6), 0.0)
    twice, once = [(0, 1.0), (1, 1.0), (0, 1.0)], [(0, 2.0), (1, 1.0)]
    seen = np.ones((2, 6), bool)
    found = []
    for features in (twice, once):
        problem = Problem([[Token(base, 2, features), Token(base, 3, [(0, 1.0)])]], seen, full=True)
        chains = problem.native("likelihood")
        found.append(chains.objective(weights_for(chains), 0.0, 1))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-6)


@pytest.mark.parametrize("labels", [2, 40])
@pytest.mark.parametrize("loss", ["likelihood", "piecewise"])
def test_what_is_rounded_alike_everywhere_does_not_add_up(labels: int, loss: str) -> None:
    """Ten thousand times the same pair, likely everywhere, whose potential exp(0.7 - 1.9) is off by 8e-8 in float32."""
    rng = np.random.default_rng(0)
    made = [chain_of([[0.0, *-rng.uniform(3, 9, labels - 1)] for _ in range(50)], [0] * 50) for _ in range(200)]
    chains = replace(made[0], sentences=[one.sentences[0] for one in made]).native(loss)
    weights = np.zeros(chains.size)
    weights[:2] = np.array([0.7, 1.9], np.float32)
    exact = chains.objective(weights, 0.0, 1, exact=True)[0]
    assert chains.objective(weights, 0.0, 1)[0] == pytest.approx(exact, rel=0, abs=3e-4)
