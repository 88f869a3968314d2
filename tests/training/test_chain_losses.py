"""Losses of whole sentences: values, gradients and best labels against NumPy, enumeration and differences."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference import chains as reference
from reference.chain_cases import (
    decay_of,
    either_order,
    every_loss_and_order,
    fresh_state,
    losses,
    problems,
    second_order,
)
from reference.chain_problems import Problem, random_problem, weights_for

partial_problems = st.one_of(problems, second_order).flatmap(
    lambda p: st.integers(0, 99).map(lambda seed: some_unknown(p, seed))
)


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


@given(problems, st.sampled_from([0.1, 1.0, 5.0]))
@settings(deadline=None, max_examples=200)
def test_each_score_is_in_one_piece_so_the_pieces_bound_the_likelihood(problem: Problem, scale: float) -> None:
    """log Z is at most the sum of log Z of the pieces, and the score of a labelling is the sum of its scores there."""
    chains, pieces = problem.native("likelihood"), problem.native("piecewise")
    weights = weights_for(chains, scale=scale)
    w = problem.split(weights)
    for sentence in filter(None, problem.sentences):
        of_pieces = reference.pieces(sentence, w)
        bound = sum(np.logaddexp.reduce(scores.ravel()) for scores in of_pieces)
        assert reference.log_z(reference.nodes(sentence, w), reference.blocks(sentence, w)) <= bound + 1e-9
        for path, score in reference.all_scores(sentence, w).items():
            around = [0, *(list(t.base).index(y) for t, y in zip(sentence, path, strict=True)), 0]
            places = itertools.pairwise(around)
            assert sum(scores[k, m] for scores, (k, m) in zip(of_pieces, places, strict=True)) == pytest.approx(score)
    for exact in (True, False):
        exactly, bound = (c.objective(weights, 0.0, 1, exact)[0] for c in (chains, pieces))
        assert exactly <= bound * (1 + 1e-6) + 1e-6


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
