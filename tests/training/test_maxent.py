"""Maximum entropy models of nodes: value, gradient and steps against NumPy, finite differences and scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate import _native
from corate.optimize.lbfgs import lbfgs
from reference import maxent as reference
from reference.maxent import Context


@dataclass
class Problem:
    """Contexts, and the slots of their model."""

    contexts: list[Context]
    seen: NDArray[np.bool_]
    valued: bool = True

    def native(self) -> _native.Nodes:
        n_labels = self.seen.shape[1]
        slots = (_offsets(self.seen.sum(axis=1)), np.nonzero(self.seen)[1].astype(np.int32))
        cs = self.contexts
        ids = np.array([f for c in cs for f, _ in c.features], dtype=np.int32)
        values = np.array([v for c in cs for _, v in c.features], dtype=np.float32)
        labels = np.array([y for c in cs for y in c.base], dtype=np.int32)
        base = np.array([b for c in cs for b in c.base.values()], dtype=np.float32)
        counts = (
            _offsets([len(c.counts) for c in cs]),
            np.array([list(c.base).index(y) for c in cs for y in c.counts], dtype=np.int32),
            np.array([n for c in cs for n in c.counts.values()], dtype=np.float32),
        )
        return _native.Nodes(
            slots,
            n_labels,
            (_offsets([len(c.features) for c in cs]), ids),
            values if self.valued else None,
            (_offsets([len(c.base) for c in cs]), labels),
            base if base.any() else None,
            counts,
        )

    def dense(self, weights: NDArray) -> NDArray:
        """Weights of slots as a (features, labels) array."""
        table = np.zeros(self.seen.shape)
        table[self.seen] = weights
        return table


def _offsets(lengths: object) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def random_problem(
    seed: int, *, contexts: int = 12, features: int = 6, labels: int = 4, open_support: bool = False
) -> Problem:
    """Contexts with values, bases and counts that are exact in float32, and candidates that are some of the labels."""
    rng = np.random.default_rng(seed)
    seen = rng.random((features, labels)) < (1.0 if open_support else rng.choice([0.4, 0.95]))
    valued = bool(rng.random() < 0.7)
    based = not open_support and bool(rng.random() < 0.7)
    made = []
    for _ in range(contexts):
        own = np.flatnonzero(rng.random(features) < 0.5).tolist()
        possible = np.flatnonzero(rng.random(labels) < (1.0 if open_support else 0.7)).tolist()
        possible = possible or [int(rng.integers(labels))]
        counted = rng.choice(possible, size=int(rng.integers(1, len(possible) + 1)), replace=False).tolist()
        made.append(
            Context(
                [(f, float(np.float32(rng.normal())) if valued else 1.0) for f in own],
                {y: float(np.float32(rng.normal())) if based else 0.0 for y in possible},
                {y: float(rng.integers(1, 8)) / 4 for y in counted},
            )
        )
    return Problem(made, seen, valued)


problems = st.builds(
    random_problem,
    st.integers(0, 10_000),
    contexts=st.integers(1, 40),
    features=st.integers(1, 8),
    labels=st.sampled_from([1, 2, 4, 30]),
    open_support=st.booleans(),
)


@given(problems, st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=60)
def test_the_value_is_that_of_the_formula_and_the_gradient_its_slope(problem: Problem, precision: float) -> None:
    nodes = problem.native()
    weights = np.random.default_rng(1).normal(size=nodes.size)
    value, gradient = nodes.objective(weights, precision, 1)
    assert value == pytest.approx(
        reference.objective(problem.contexts, problem.dense(weights), problem.seen, precision)
    )
    width = 1e-5
    for i in np.random.default_rng(2).permutation(nodes.size)[:12]:
        ends = []
        for sign in (-1, 1):
            moved = weights.copy()
            moved[i] += sign * width
            ends.append(nodes.objective(moved, precision, 1)[0])
        assert gradient[i] == pytest.approx((ends[1] - ends[0]) / (2 * width), rel=1e-5, abs=1e-6)


@given(problems, st.integers(2, 20))
@settings(deadline=None, max_examples=20)
def test_value_and_gradient_are_the_same_for_any_number_of_threads(problem: Problem, threads: int) -> None:
    nodes = problem.native()
    weights = np.random.default_rng(1).normal(size=nodes.size)
    value, gradient = nodes.objective(weights, 0.3, 1)
    for n in (2, 3, threads):
        again, slope = nodes.objective(weights, 0.3, n)
        assert again == value
        np.testing.assert_array_equal(slope, gradient)


def test_merged_contexts_are_worth_the_same_as_repeated_ones() -> None:
    problem = random_problem(3, contexts=8)
    whole = [replace(c, counts={y: 1.0 + i for i, y in enumerate(c.counts)}) for c in problem.contexts]
    repeated = [replace(c, counts={y: 1.0}) for c in whole for y, n in c.counts.items() for _ in range(int(n))]
    assert len(repeated) > len(whole)
    merged, apart = (Problem(cs, problem.seen, problem.valued).native() for cs in (whole, repeated))
    weights = np.random.default_rng(1).normal(size=merged.size)
    value, gradient = merged.objective(weights, 0.2, 1)
    again, slope = apart.objective(weights, 0.2, 1)
    assert value == pytest.approx(again, rel=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("sigma2", [0.1, 1.0, 10.0])
def test_the_optimum_with_open_support_is_that_of_scikit_learn(sigma2: float) -> None:
    from sklearn.linear_model import LogisticRegression

    problem = random_problem(5, contexts=60, features=5, labels=3, open_support=True)
    nodes = problem.native()
    found = lbfgs(
        lambda w: nodes.objective(w, 1 / sigma2, 2), np.zeros(nodes.size), iterations=2000, tolerance=1e-15
    ).weights
    x = np.zeros((len(problem.contexts), 5))
    for row, context in zip(x, problem.contexts, strict=True):
        for f, v in context.features:
            row[f] = v
    rows, y, n = zip(*((i, y, n) for i, c in enumerate(problem.contexts) for y, n in c.counts.items()), strict=True)
    peer = LogisticRegression(C=sigma2, fit_intercept=False, solver="newton-cg", tol=1e-12, max_iter=20_000)
    peer.fit(x[list(rows)], y, sample_weight=n)
    ours = nodes.posteriors(found.astype(np.float32), False, 1).reshape(-1, 3)
    scores = x @ problem.dense(found)
    exact = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(exact, peer.predict_proba(x), atol=1e-6)
    np.testing.assert_allclose(ours, exact, atol=1e-6)


@given(problems)
@settings(deadline=None, max_examples=30)
def test_posteriors_are_those_of_the_formula(problem: Problem) -> None:
    nodes = problem.native()
    weights = np.random.default_rng(4).normal(size=nodes.size).astype(np.float32)
    logs = [reference.log_posterior(c, problem.dense(weights), problem.seen) for c in problem.contexts]
    expected = [p for log_p in logs for p in log_p.values()]
    np.testing.assert_allclose(nodes.posteriors(weights, True, 1), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(nodes.posteriors(weights, False, 1), np.exp(expected), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(nodes.posteriors(weights, True, 3), nodes.posteriors(weights, True, 1))


def start(nodes: _native.Nodes, seed: int = 7) -> NDArray[np.float32]:
    """A state to step from: weights, and sums of squared gradients, side by side."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.normal(size=nodes.size), 0.1 + rng.random(nodes.size)], axis=1).astype(np.float32).ravel()


@pytest.mark.parametrize("batch", [1, 4, 100])
@given(problem=problems)
@settings(deadline=None, max_examples=25)
def test_steps_are_those_of_the_formula(problem: Problem, batch: int) -> None:
    nodes = problem.native()
    rng = np.random.default_rng(8)
    order = rng.permutation(len(problem.contexts)).astype(np.int64)
    decay = rng.random(len(problem.seen)).astype(np.float32)
    state = start(nodes)
    expected = np.stack([problem.dense(state[::2]), problem.dense(state[1::2])])
    loss = nodes.pass_over(state, order, decay, 0.2, batch, 1)
    in_words = reference.adagrad(problem.contexts, order.tolist(), expected, problem.seen, decay, 0.2, batch)
    assert loss == pytest.approx(in_words, rel=1e-3, abs=1e-4)
    np.testing.assert_allclose(state[::2], expected[0][problem.seen], rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(state[1::2], expected[1][problem.seen], rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_steps_are_the_same_for_any_number_of_threads(batch: int) -> None:
    problem = random_problem(9, contexts=300, features=40, labels=30)
    nodes = problem.native()
    order = np.random.default_rng(8).permutation(300).astype(np.int64)
    decay = np.full(40, 0.01, np.float32)
    states, losses = [], []
    for threads in (1, 2, 3, 5):
        states.append(start(nodes))
        losses.append(nodes.pass_over(states[-1], order, decay, 0.2, batch, threads))
    assert len(set(losses)) == 1
    for state in states[1:]:
        np.testing.assert_array_equal(state, states[0])


def test_passes_lower_the_objective() -> None:
    problem = random_problem(11, contexts=200, features=12, labels=5)
    nodes = problem.native()
    state = np.tile(np.array([0.0, 1e-4], np.float32), nodes.size)
    order = np.arange(200, dtype=np.int64)
    values = [nodes.objective(np.zeros(nodes.size), 0.0, 1)[0]]
    for _ in range(5):
        nodes.pass_over(state, order, np.zeros(12, np.float32), 0.1, 16, 1)
        values.append(nodes.objective(state[::2].astype(np.float64), 0.0, 1)[0])
    best = lbfgs(lambda w: nodes.objective(w, 0.0, 1), np.zeros(nodes.size), iterations=500, tolerance=1e-12).weights
    lowest = nodes.objective(best, 0.0, 1)[0]
    assert lowest < values[-1] < values[1] < values[0]
    assert values[-1] - lowest < 0.25 * (values[0] - lowest)


def test_a_rate_of_zero_changes_no_weight_and_the_loss_is_the_objective() -> None:
    problem = random_problem(12)
    nodes = problem.native()
    state = start(nodes)
    before = state[::2].copy()
    loss = nodes.pass_over(state, np.arange(12, dtype=np.int64), np.zeros(6, np.float32), 0.0, 4, 2)
    np.testing.assert_array_equal(state[::2], before)
    assert loss == pytest.approx(nodes.objective(before.astype(np.float64), 0.0, 1)[0], rel=1e-5)


def test_what_does_not_fit_together_is_refused() -> None:
    problem = random_problem(13)
    nodes = problem.native()
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="disagree"):
        nodes.objective(np.zeros(nodes.size + 1), 0.0, 1)
    with pytest.raises(ValueError, match="disagree"):
        nodes.posteriors(np.zeros(nodes.size + 1, np.float32), True, 1)
    with pytest.raises(ValueError, match="disagree"):
        nodes.pass_over(np.zeros(nodes.size, np.float32), one, np.zeros(6, np.float32), 0.1, 1, 1)
    for wrong in (-1, 12):
        with pytest.raises(ValueError, match="no such context"):
            nodes.pass_over(start(nodes), one + wrong, np.zeros(6, np.float32), 0.1, 1, 1)
    some = problem.contexts[0]
    for match, context in {
        "no candidate": replace(some, base={}, counts={}),
        "out of order": replace(some, base={2: 0.0, 1: 0.0}, counts={}),
        "label.* out of range": replace(some, base={9: 0.0}, counts={}),
        "feature id out of range": replace(some, features=[(99, 1.0)]),
    }.items():
        with pytest.raises(ValueError, match=match):
            Problem([context], problem.seen).native()
