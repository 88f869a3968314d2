"""Stochastic passes over whole sentences, and the same bits for any number of threads."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from corate.optimize.lbfgs import lbfgs
from reference import chains as reference
from reference.chain_cases import (
    decay_of,
    every_loss_and_order,
    fresh_state,
)
from reference.chain_problems import Problem, random_problem, weights_for
from reference.chains import Token, Weights

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
