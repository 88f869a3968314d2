"""Losses of whole sentences: values, gradients, best labels and steps against NumPy, enumeration and differences."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate import _native
from corate.optimize.lbfgs import lbfgs
from reference import chains as reference
from reference.chain_problems import Problem, chain_of, random_problem, weights_for
from reference.chains import LOSSES, Token, Weights


def drawn_problems(triples: bool) -> st.SearchStrategy[Problem]:
    return st.builds(
        random_problem,
        st.integers(0, 10_000),
        lengths=st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple),
        labels=st.sampled_from([1, 2, 3]),
        full=st.booleans(),
        edges=st.booleans(),
        weighted=st.booleans(),
        valued=st.booleans(),
        triples=st.just(triples),
        parts=st.booleans(),
    )


problems, second_order = drawn_problems(False), drawn_problems(True)
partial_problems = st.one_of(problems, second_order).flatmap(
    lambda p: st.integers(0, 99).map(lambda seed: some_unknown(p, seed))
)
losses = st.sampled_from(list(LOSSES))
every_loss = pytest.mark.parametrize("loss", list(LOSSES))
#: Triples are for the likelihood alone.
every_loss_and_order = pytest.mark.parametrize(
    ("loss", "triples"), [*((loss, False) for loss in LOSSES), ("likelihood", True)]
)
either_order = pytest.mark.parametrize("triples", [False, True], ids=["first order", "second order"])


def some_unknown(problem: Problem, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    hidden = [[replace(t, gold=None) if rng.random() < 0.5 else t for t in s] for s in problem.sentences]
    return replace(problem, sentences=hidden)


# -- values and gradients ---------------------------------------------------------------------------------------------


def slope(problem: Problem, loss: str, weights: NDArray, precision: float, i: int) -> float:
    """Of the reference, by differences."""
    step = np.zeros(len(weights))
    step[i] = 1e-5
    ends = [problem.objective(loss, weights + sign * step, precision) for sign in (1, -1)]
    return (ends[0] - ends[1]) / 2e-5


def assert_right(problem: Problem, loss: str, precision: float, *, scale: float = 1.0) -> None:
    """Value and gradient are those of the formulas: exactly so in float64, nearly in float32."""
    chains = problem.native(loss)
    weights = weights_for(chains, scale=scale)
    expected = problem.objective(loss, weights, precision)
    value, gradient = chains.objective(weights, precision, 1, exact=True)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    size = (problem.n_labels + 1) ** 2
    for i in np.random.default_rng(2).permutation(len(weights))[:15].tolist():
        fixed = i < size and problem.free.size > 0 and not problem.free[i]
        wanted = 0.0 if fixed else slope(problem, loss, weights, precision, i)
        assert gradient[i] == pytest.approx(wanted, rel=1e-4, abs=1e-5)
    quick, near = chains.objective(weights, precision, 1)
    assert quick == pytest.approx(expected, rel=1e-5, abs=2e-5)
    np.testing.assert_allclose(near, gradient, rtol=1e-4, atol=2e-5)


@given(problems, losses, st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=120)
def test_the_value_is_that_of_the_formula_and_the_gradient_its_slope(
    problem: Problem, loss: str, precision: float
) -> None:
    assert_right(problem, loss, precision)


@given(second_order, st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=120)
def test_with_triples_too_the_value_is_that_of_the_formula_and_the_gradient_its_slope(
    problem: Problem, precision: float
) -> None:
    assert_right(problem, "likelihood", precision)
    chains = problem.native("likelihood")
    weights = weights_for(chains)
    assert chains.objective(weights, 0.0, 1, exact=True)[0] == pytest.approx(enumerated(problem, weights), abs=1e-9)


def enumerated(problem: Problem, weights: NDArray) -> float:
    """The likelihood of all sentences as sums over all labellings."""
    w = problem.split(weights)
    of_sentences = problem.weights or [1.0] * len(problem.sentences)
    pairs = zip(of_sentences, problem.sentences, strict=True)
    return sum(a * reference.enumerated_likelihood(s, w) for a, s in pairs if s)


@given(partial_problems)
@settings(deadline=None, max_examples=100)
def test_labels_that_are_not_known_are_summed_over(problem: Problem) -> None:
    assert_right(problem, "likelihood", 0.3)
    chains = problem.native("likelihood")
    weights = weights_for(chains)
    by_hand = enumerated(problem, weights)
    assert chains.objective(weights, 0.0, 1, exact=True)[0] == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


@either_order
@pytest.mark.parametrize("full", [True, False])
def test_a_sentence_of_which_nothing_is_known_teaches_nothing(full: bool, triples: bool) -> None:
    problem = random_problem(4, full=full, edges=True, triples=triples)
    hidden = [[replace(t, gold=None) for t in s] for s in problem.sentences]
    chains = replace(problem, sentences=hidden).native("likelihood")
    for exact in (True, False):
        value, gradient = chains.objective(weights_for(chains), 0.0, 1, exact)
        assert value == pytest.approx(0.0, abs=1e-5)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("labels", [5, 30])
@pytest.mark.parametrize(
    ("loss", "triples"), [("likelihood", False), ("likelihood", True), ("piecewise", False), ("memm", False)]
)
def test_longer_sentences_of_more_labels_are_right_too(loss: str, triples: bool, labels: int, edges: bool) -> None:
    for full in (True, False):
        problem = random_problem(
            7, lengths=(1, 9, 0, 17), labels=labels, full=full, edges=edges, weighted=True, triples=triples
        )
        assert_right(problem, loss, 0.1)


@every_loss_and_order
@pytest.mark.parametrize("edges", [True, False])
@pytest.mark.parametrize("exact", [True, False])
def test_all_labels_as_candidates_are_the_full_lattice(loss: str, triples: bool, edges: bool, exact: bool) -> None:
    """A lattice whose candidates are all labels, spelled out or left away."""
    problem = random_problem(3, full=True, edges=edges, weighted=True, triples=triples)
    one, other = problem.native(loss), replace(problem, full=False).native(loss)
    weights = weights_for(one)
    for a, b in zip(*(c.objective(weights, 0.2, 1, exact) for c in (one, other)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@either_order
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("full", [True, False])
def test_triples_of_no_entries_or_of_weight_zero_change_nothing(full: bool, exact: bool, triples: bool) -> None:
    """Where none has a weight, not a bit; where all have one of zero, sums are made in another order."""
    problem = random_problem(11, full=full, edges=True, weighted=True, partial=True)
    more = replace(problem, triples=np.full((4, 16), triples))
    one, other = problem.native("likelihood"), more.native("likelihood")
    weights = weights_for(one)
    assert other.size == one.size + 64 * triples
    padded = np.concatenate([weights, np.zeros(64 * triples)])
    value, gradient = one.objective(weights, 0.2, 1, exact)
    again, same = other.objective(padded, 0.2, 1, exact)
    if triples:
        assert again == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(same[: one.size], gradient, atol=1e-6)
        return
    assert again == value
    np.testing.assert_array_equal(same, gradient)
    found = []
    for chains in (one, other):
        state = fresh_state(chains)
        met = chains.pass_over(state, np.arange(5), decay_of(problem, 1e-3), 0.1, 2, 1)
        best = chains.best(weights.astype(np.float32), 1)
        found.append((met, state.tobytes(), best.tobytes()))
    assert found[0] == found[1]


@every_loss_and_order
def test_pairs_that_are_not_free_keep_their_weight_and_cost_nothing(loss: str, triples: bool) -> None:
    problem = random_problem(5, full=True, triples=triples)
    problem.free = (np.random.default_rng(0).random(16) < 0.5).astype(np.uint8)
    assert_right(problem, loss, 0.7)
    gradient = problem.native(loss).objective(weights_for(problem.native(loss)), 0.7, 1)[1]
    assert (gradient[:16][problem.free == 0] == 0).all()


@every_loss_and_order
def test_a_sentence_of_weight_zero_is_absent_and_of_weight_two_there_twice(loss: str, triples: bool) -> None:
    problem = random_problem(6, lengths=(3, 2, 4), edges=True, triples=triples)
    weighed = replace(problem, weights=[0.0, 1.0, 2.0])
    _, one, two = problem.sentences
    repeated = replace(problem, sentences=[one, two, two])
    weights = weights_for(problem.native(loss))
    for exact in (True, False):
        found = weighed.native(loss).objective(weights, 0.3, 1, exact)
        expected = repeated.native(loss).objective(weights, 0.3, 1, exact)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("labels", [1, 4])
@every_loss_and_order
def test_no_sentences_and_empty_sentences_have_no_loss(loss: str, triples: bool, labels: int) -> None:
    for lengths in ((), (0,), (0, 0, 0)):
        chains = random_problem(0, lengths=lengths, labels=labels, full=True, triples=triples).native(loss)
        weights = weights_for(chains)
        value, gradient = chains.objective(weights, 1.0, 2)
        assert value == pytest.approx(0.5 * float(weights @ weights))
        np.testing.assert_allclose(gradient, weights)
        assert len(chains.best(weights.astype(np.float32), 2)) == 0


# -- extreme scores ---------------------------------------------------------------------------------------------------


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


# -- threads ----------------------------------------------------------------------------------------------------------


def many(seed: int = 8, **options: bool) -> Problem:
    """More sentences than are taken side by side."""
    lengths = tuple(np.random.default_rng(seed).integers(0, 7, size=150).tolist())
    return random_problem(seed, lengths=lengths, labels=5, weighted=True, **options)


@every_loss_and_order
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("edges", [True, False])
def test_value_and_gradient_have_the_same_bits_for_any_number_of_threads(
    loss: str, triples: bool, edges: bool, full: bool, exact: bool
) -> None:
    chains = many(full=full, edges=edges, triples=triples).native(loss)
    weights = weights_for(chains)
    value, gradient = chains.objective(weights, 0.3, 1, exact)
    for threads in (2, 3):
        again, same = chains.objective(weights, 0.3, threads, exact)
        assert again == value
        np.testing.assert_array_equal(same, gradient)


def fresh_state(chains: _native.Chains, seed: int = 1) -> NDArray[np.float32]:
    state = np.full((chains.size, 2), 1e-4, np.float32)
    state[:, 0] = weights_for(chains, seed)
    return state.ravel()


def decay_of(problem: Problem, amount: float) -> NDArray[np.float32]:
    features = 0 if problem.edges is None else len(problem.edges)
    three = problem.triples is not None and bool(problem.triples.any())
    return np.full(1 + features + len(problem.seen) + three, amount, np.float32)


@every_loss_and_order
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("edges", [True, False])
def test_a_pass_has_the_same_bits_for_any_number_of_threads(loss: str, triples: bool, edges: bool, full: bool) -> None:
    problem = many(full=full, edges=edges, triples=triples)
    chains = problem.native(loss)
    order = np.random.default_rng(0).permutation(150)
    found = []
    for threads in (1, 2, 3):
        state = fresh_state(chains)
        met = chains.pass_over(state, order, decay_of(problem, 1e-3), 0.1, 16, threads)
        found.append((met, state.tobytes()))
    assert found[0] == found[1] == found[2]
    assert found[0][1] != fresh_state(chains).tobytes()


# -- stochastic passes ------------------------------------------------------------------------------------------------


def one_word_each(full: bool) -> Problem:
    """Sentences of a word with a feature of its own: no weight but T is met twice."""
    rng = np.random.default_rng(3)
    sentences = []
    for s in range(3):
        own = [0, 1, 2] if full or s else [0, 2]
        base = dict(zip(own, rng.normal(size=len(own)).astype(np.float32).tolist(), strict=True))
        sentences.append([Token(base, own[s % len(own)], [(s, 0.5 + s)])])
    return Problem(sentences, np.ones((3, 3), bool), full=full)


@pytest.mark.parametrize(
    ("loss", "triples"), [("likelihood", False), ("likelihood", True), ("piecewise", False), ("memm", False)]
)
@pytest.mark.parametrize("full", [True, False])
def test_a_step_goes_down_the_gradient_scaled_by_what_gradients_have_been(loss: str, triples: bool, full: bool) -> None:
    problem = replace(one_word_each(full), triples=np.ones((4, 16), bool) if triples else None)
    chains = problem.native(loss)
    weights = weights_for(chains)
    state = fresh_state(chains)
    met = chains.pass_over(state, np.array([1]), decay_of(problem, 0.0), 0.2, 1, 1)
    only = replace(problem, weights=[0.0, 1.0, 0.0]).native(loss)
    value, gradient = only.objective(weights, 0.0, 1)
    assert met == pytest.approx(value, rel=1e-6)
    squares = 1e-4 + gradient**2
    np.testing.assert_allclose(state[1::2], squares, rtol=1e-4)
    np.testing.assert_allclose(state[::2], weights - 0.2 * gradient / np.sqrt(squares), rtol=1e-4, atol=1e-5)


def triple_residuals(sentence: list[Token], w: Weights) -> list[tuple[tuple[int, int, int], float]]:
    """Three candidates in a row, from the first token to the end: how probable they are, less 1 if they are gold."""
    scores = reference.all_scores(sentence, w)
    total = np.logaddexp.reduce(list(scores.values()))
    around = [[len(w.table) - 1]] * 2 + [list(t.base) for t in sentence] + [[len(w.table) - 1]]
    gold = tuple(t.gold for t in sentence)
    found = []
    for j, three in enumerate(zip(around, around[1:], around[2:], strict=False)):

        def there(path: tuple[int | None, ...], j: int = j) -> tuple[int | None, ...]:
            padded = (len(w.table) - 1, len(w.table) - 1, *path, len(w.table) - 1)
            return padded[j : j + 3]

        for place in itertools.product(*three):
            expected = sum(np.exp(score - total) for path, score in scores.items() if there(path) == place)
            found.append((place, float(expected) - (there(gold) == place)))
    return found


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_steps_of_triples_are_made_at_each_visit_in_the_order_of_the_sentences(
    weighted: bool, full: bool, batch: int
) -> None:
    """AdaGrad in plain steps: with g = residual + decay * weight, sum += g^2 and weight -= rate * g / sqrt(sum)."""
    problem = random_problem(14, lengths=(2, 4, 0, 1, 3), full=full, edges=True, weighted=weighted, triples=True)
    chains, decay, rate = problem.native("likelihood"), decay_of(problem, 0.0), 0.2
    decay[-1] = 0.05
    state = fresh_state(chains)
    order = [3, 1, 4, 0, 2]
    slots = {place: i for i, place in enumerate(map(tuple, np.argwhere(problem.triples.reshape([4] * 3)).tolist()))}  # type: ignore[union-attr]
    first = chains.size - len(slots)
    for start in range(0, 5, batch):
        part = order[start : start + batch]
        w = problem.split(state[::2])
        three, sums = state[::2][first:].astype(np.float64), state[1::2][first:].astype(np.float64)
        for s in part:
            weight = problem.weights[s] if problem.weights else 1.0
            for place, residual in triple_residuals(problem.sentences[s], w) if problem.sentences[s] else []:
                if place in slots and abs(weight * residual) > 1e-4:
                    i = slots[place]
                    g = weight * residual + 0.05 * three[i]
                    sums[i] += g * g
                    three[i] -= rate * g / np.sqrt(sums[i])
        chains.pass_over(state, np.array(part), decay, rate, batch, 1)
        np.testing.assert_allclose(state[::2][first:], three, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(state[1::2][first:], sums, rtol=1e-3, atol=1e-5)


@every_loss_and_order
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("edges", [True, False])
def test_a_batch_of_all_sentences_meets_their_whole_loss(loss: str, triples: bool, edges: bool, full: bool) -> None:
    problem = random_problem(9, full=full, edges=edges, weighted=True, triples=triples)
    chains = problem.native(loss)
    met = chains.pass_over(fresh_state(chains), np.arange(5), decay_of(problem, 0.0), 0.1, 8, 2)
    assert met == pytest.approx(chains.objective(weights_for(chains), 0.0, 1)[0], rel=1e-5)


def learnable(full: bool, triples: bool) -> Problem:
    """Gold labels are those that some weights would find."""
    problem = replace(many(full=full, edges=not full, triples=triples), weights=None)
    chains = problem.native("likelihood")
    found = iter(chains.best(weights_for(chains).astype(np.float32), 1).tolist())
    return replace(problem, sentences=[[replace(t, gold=next(found)) for t in s] for s in problem.sentences])


@pytest.mark.parametrize(
    ("loss", "triples"), [("likelihood", False), ("likelihood", True), ("piecewise", False), ("memm", False)]
)
@pytest.mark.parametrize("full", [True, False])
def test_passes_come_near_the_optimum(loss: str, triples: bool, full: bool) -> None:
    problem = learnable(full, triples)
    chains = problem.native(loss)
    order = np.flatnonzero([len(s) > 0 for s in problem.sentences])
    state = np.tile(np.array([0, 1e-4], np.float32), chains.size)
    for _ in range(10):
        chains.pass_over(state, order, decay_of(problem, 0.0), 0.1, 16, 1)
    start, reached = (chains.objective(w.astype(np.float64), 0.0, 1)[0] for w in (np.zeros(chains.size), state[::2]))
    found = lbfgs(lambda w: chains.objective(w, 0.0, 1), np.zeros(chains.size)).weights
    best = chains.objective(found, 0.0, 1)[0]
    assert reached - best < 0.2 * (start - best)


def test_the_prior_pulls_weights_towards_zero() -> None:
    problem = one_word_each(True)
    chains = problem.native("likelihood")
    norms = []
    for amount in (0.0, 1.0):
        state = fresh_state(chains)
        for _ in range(50):
            chains.pass_over(state, np.arange(3), decay_of(problem, amount), 0.1, 1, 1)
        norms.append(float(np.linalg.norm(problem.split(state[::2]).node)))
    assert norms[1] < 0.5 * norms[0]


@every_loss_and_order
@pytest.mark.parametrize("full", [True, False])
def test_steps_leave_pairs_alone_that_are_not_free(loss: str, triples: bool, full: bool) -> None:
    problem = random_problem(5, full=full, triples=triples)
    problem.free = (np.random.default_rng(0).random(16) < 0.5).astype(np.uint8)
    chains = problem.native(loss)
    state = fresh_state(chains)
    chains.pass_over(state, np.arange(5), decay_of(problem, 0.1), 0.1, 2, 1)
    fixed = problem.free == 0
    np.testing.assert_array_equal(state[::2][:16][fixed], weights_for(chains)[:16][fixed].astype(np.float32))
    if loss == "perceptron":
        state = fresh_state(chains)
        chains.perceptron(state, np.arange(5), 0.0, 0.1)
        np.testing.assert_array_equal(state[::2][:16][fixed], weights_for(chains)[:16][fixed].astype(np.float32))


# -- the best labels --------------------------------------------------------------------------------------------------


@given(st.one_of(st.tuples(problems, losses), st.tuples(second_order, st.just("likelihood"))), st.integers(1, 3))
@settings(deadline=None, max_examples=150)
def test_the_best_labels_have_the_best_score_of_all(drawn: tuple[Problem, str], threads: int) -> None:
    problem, loss = drawn
    chains = problem.native(loss)
    weights = weights_for(chains)
    found = chains.best(weights.astype(np.float32), threads).tolist()
    w = problem.split(weights)
    for sentence in problem.sentences:
        labels, found = tuple(found[: len(sentence)]), found[len(sentence) :]
        if sentence:
            every = (reference.local_scores if loss == "memm" else reference.all_scores)(sentence, w)
            if loss == "memm":  # what leads to the end is added, as in decoding
                boundary = problem.n_labels
                every = {p: score + float(w.table[p[-1], boundary]) for p, score in every.items()}
            assert every[labels] == pytest.approx(max(every.values()), abs=1e-4)


@given(problems)
@settings(deadline=None, max_examples=40)
def test_a_perceptron_without_mistakes_rests_and_with_them_steps_to_the_gold_path(problem: Problem) -> None:
    problem = replace(problem, weights=None)
    chains = problem.native("perceptron")
    weights = weights_for(chains)
    found = chains.best(weights.astype(np.float32), 1).tolist()
    gold = [t.gold for s in problem.sentences for t in s]
    state = np.zeros((chains.size, 2), np.float32)
    state[:, 0] = weights
    state = state.ravel()
    first = next((s for s in range(len(problem.sentences)) if problem.sentences[s]), None)
    if first is None:
        return
    (wrong,) = chains.perceptron(state, np.array([first]), 0.5, 0.1)
    at = sum(len(s) for s in problem.sentences[:first])
    n = len(problem.sentences[first])
    assert wrong == sum(a != b for a, b in zip(found[at : at + n], gold[at : at + n], strict=True))
    alone = replace(problem, sentences=[problem.sentences[first]]).native("perceptron")
    gradient = alone.objective(weights, 0.0, 1, exact=True)[1]
    np.testing.assert_allclose(state[::2], weights - gradient, atol=1e-5)
    np.testing.assert_allclose(state[1::2], -0.5 * gradient, atol=1e-5)


# -- what is refused --------------------------------------------------------------------------------------------------

GOOD = random_problem(2, lengths=(2, 1), edges=True, weighted=True)
BAD_OFFSETS = [[], [0], [0, 99], [1, 3], [-1, 3], [0, 3, 2, 3], [0, 2**62, 3], [0, -(2**62), 3]]


def broken(name: str, value: object, part: int | None = None, inner: int | None = None) -> dict[str, object]:
    arrays = GOOD.arrays("likelihood")
    if part is not None:
        whole = list(arrays[name])  # type: ignore[call-overload]
        if inner is not None:
            pair = list(whole[part])
            pair[inner] = value
            value = tuple(pair)
        whole[part] = value
        value = tuple(whole)
    return arrays | {name: value}


@pytest.mark.parametrize("bad", BAD_OFFSETS, ids=str)
@pytest.mark.parametrize(
    "place",
    [("sentences",), ("candidates", 0), *((n, part, 0) for n in ("node_slots", "edge_slots") for part in (0, 1))],
    ids=str,
)
def test_offsets_that_lead_outside_are_refused(place: tuple[object, ...], bad: list[int]) -> None:
    name, *where = place
    with pytest.raises(ValueError, match=r"\w"):
        _native.Chains(**broken(name, np.array(bad, np.int64), *where))  # type: ignore[arg-type]


def shifted(array: object, by: int) -> NDArray[np.int32]:
    return (np.asarray(array) + by).astype(np.int32)


@pytest.mark.parametrize("by", [-100, 100, 2**30])
def test_ids_that_are_out_of_range_are_refused(by: int) -> None:
    good = GOOD.arrays("likelihood")
    for place in (
        ("gold",),
        ("candidates", 1),
        *((n, part, 1) for n in ("node_slots", "edge_slots") for part in (0, 1)),
    ):
        array: object = good[place[0]]  # type: ignore[index]
        for part in place[1:]:
            array = array[part]  # type: ignore[index]
        with pytest.raises(ValueError, match=r"\w"):
            _native.Chains(**broken(place[0], shifted(array, by), *place[1:]))  # type: ignore[arg-type]


@pytest.mark.parametrize("more", [-1, 1])
def test_arrays_of_another_length_are_refused(more: int) -> None:
    good = GOOD.arrays("likelihood")
    for name in ("values", "base", "gold", "sentence_weights", "free_pairs"):
        array = np.asarray(good[name])
        other = array[:more] if more < 0 else np.concatenate([array, array[:1]])
        with pytest.raises(ValueError, match=r"\w"):
            _native.Chains(**good | {name: other})


@pytest.mark.parametrize("bad", BAD_OFFSETS, ids=str)
def test_rows_of_triples_that_lead_outside_are_refused(bad: list[int]) -> None:
    arrays = replace(GOOD, triples=np.ones((4, 16), bool)).arrays("likelihood")
    pairs = arrays["triples"][1]  # type: ignore[index]
    _native.Chains(**arrays)
    with pytest.raises(ValueError, match="label triples disagree with the labels"):
        _native.Chains(**arrays | {"triples": (np.array(bad, np.int64), pairs)})


def test_triples_out_of_range_out_of_order_and_of_other_losses_are_refused() -> None:
    problem = replace(GOOD, triples=np.ones((4, 16), bool))
    arrays = problem.arrays("likelihood")
    rows, pairs = arrays["triples"]  # type: ignore[misc]
    for wrong in (shifted(pairs, 1), shifted(pairs, -1), shifted(pairs, 2**30), pairs[::-1].copy(), pairs * 0):
        with pytest.raises(ValueError, match="label triples are out of range or out of order"):
            _native.Chains(**arrays | {"triples": (rows, wrong)})
    for wrong in (pairs[:-1], np.append(pairs, pairs[:1])):
        with pytest.raises(ValueError, match="label triples disagree with the labels"):
            _native.Chains(**arrays | {"triples": (rows, wrong)})
    for loss in ("piecewise", "memm", "perceptron"):
        with pytest.raises(ValueError, match="label triples need the loss likelihood"):
            problem.native(loss)
    chains = problem.native("likelihood")
    state, order = np.zeros(2 * chains.size, np.float32), np.arange(2)
    for decay in (decay_of(problem, 0.0)[1:], np.append(decay_of(problem, 0.0), np.float32(0))):
        with pytest.raises(ValueError, match="decay and features disagree"):
            chains.pass_over(state, order, decay, 0.1, 1, 1)


def test_candidates_out_of_order_and_tokens_without_any_are_refused() -> None:
    good = random_problem(1, lengths=(2,), full=True)
    good.full = False
    starts, own = good.arrays("likelihood")["candidates"]  # type: ignore[misc]
    for bad in ((starts, own[::-1].copy()), (np.array([0, 0, 6]), own)):
        with pytest.raises(ValueError, match="candidate"):
            _native.Chains(**good.arrays("likelihood") | {"candidates": bad})


def test_other_losses_need_every_label_and_there_are_no_others() -> None:
    problem = random_problem(1, partial=True)
    assert problem.native("likelihood").size > 0
    for loss in ("piecewise", "memm", "perceptron"):
        with pytest.raises(ValueError, match="label"):
            problem.native(loss)
    with pytest.raises(ValueError, match="unknown loss"):
        GOOD.native("luck")
    with pytest.raises(ValueError, match=r"\w"):
        _native.Chains(**GOOD.arrays("likelihood") | {"n_labels": 0})


@pytest.mark.parametrize("size", [0, -1, 1])
def test_weights_and_states_of_another_size_are_refused(size: int) -> None:
    chains = GOOD.native("perceptron")
    n = max(0, chains.size + size) if size else 0
    decay, order = decay_of(GOOD, 0.0), np.arange(2)
    for call in (
        lambda: chains.objective(np.zeros(n), 0.0, 1),
        lambda: chains.best(np.zeros(n, np.float32), 1),
        lambda: chains.pass_over(np.zeros(2 * n, np.float32), order, decay, 0.1, 1, 1),
        lambda: chains.perceptron(np.zeros(2 * n, np.float32), order, 0.0, 0.1),
    ):
        with pytest.raises(ValueError, match="disagree"):
            call()


@pytest.mark.parametrize("order", [[2], [-1], [0, 2**62]])
def test_steps_for_sentences_that_are_not_there_are_refused(order: list[int]) -> None:
    chains = GOOD.native("perceptron")
    state = np.zeros(2 * chains.size, np.float32)
    for call in (
        lambda: chains.pass_over(state, np.array(order), decay_of(GOOD, 0.0), 0.1, 1, 1),
        lambda: chains.perceptron(state, np.array(order), 0.0, 0.1),
    ):
        with pytest.raises(ValueError, match="no such sentence"):
            call()
    good = np.arange(2)
    with pytest.raises(ValueError, match="disagree"):
        chains.pass_over(state, good, decay_of(GOOD, 0.0)[1:], 0.1, 1, 1)
    with pytest.raises(ValueError, match="disagree"):
        chains.pass_over(state, good, decay_of(GOOD, 0.0), 0.1, 0, 1)
