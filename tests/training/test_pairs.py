"""Maximum entropy models of label pairs: value, gradient and steps against enumeration of every pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate import _native
from corate.optimize.lbfgs import lbfgs
from reference import pairs as reference
from reference.pairs import Token, Weight


@dataclass
class Problem:
    """Sentences, and which (node feature, label) and (edge feature, label pair) have weights, if any."""

    n_labels: int
    sentences: list[list[Token]]
    nodes: NDArray[np.bool_] | None
    edges: NDArray[np.bool_] | None  # (features, pairs y * (K + 1) + y')

    def native(self) -> _native.Pairs:
        tokens = [t for s in self.sentences for t in s]
        candidates = (
            _offsets([len(t.left) for t in tokens]),
            np.array([y for t in tokens for y in t.left], dtype=np.int32),
        )
        return _native.Pairs(
            self.n_labels,
            _offsets([len(s) for s in self.sentences]),
            candidates,
            np.array([a for t in tokens for a in t.left.values()], dtype=np.float32),
            np.array([b for t in tokens for b in t.right.values()], dtype=np.float32),
            np.array([list(t.left).index(t.gold) for t in tokens], dtype=np.int32),
            _slots(self.nodes, [t.node for t in tokens]),
            _slots(self.edges, [t.edge for t in tokens]),
            np.array([t.weight for t in tokens], dtype=np.float32) if any(t.weight != 1 for t in tokens) else None,
        )

    def names(self) -> list[Weight]:
        """The weights as they are laid out: T, U, A, B."""
        size = self.n_labels + 1
        found: list[Weight] = [("T", y, z) for y in range(size) for z in range(size)]
        if self.edges is not None:
            found += [("U", g, pair // size, pair % size) for g, pair in np.argwhere(self.edges).tolist()]
        if self.nodes is not None:
            slots = np.argwhere(self.nodes).tolist()
            found += [("A", f, y) for f, y in slots] + [("B", f, y) for f, y in slots]
        return found

    def cut(self) -> list[tuple[Token, Token]]:
        return reference.edges_of(self.sentences, self.n_labels)


def _offsets(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _slots(seen: NDArray[np.bool_] | None, features: list[list[int]]) -> object:
    if seen is None:
        return None
    slots = (_offsets(seen.sum(axis=1).tolist()), np.nonzero(seen)[1].astype(np.int32))
    return slots, (_offsets([len(f) for f in features]), np.array([f for fs in features for f in fs], dtype=np.int32))


def random_problem(
    seed: int,
    *,
    n_labels: int = 3,
    lengths: tuple[int, ...] = (3, 1, 0, 2),
    nodes: bool = True,
    edges: bool = True,
    weighed: bool = False,
) -> Problem:
    rng = np.random.default_rng(seed)
    n_features, density = 5, rng.choice([0.4, 0.9])

    def token() -> Token:
        labels = np.flatnonzero(rng.random(n_labels) < 0.7).tolist() or [0]
        left, right = ({y: float(np.float32(rng.normal())) for y in labels} for _ in "ab")
        own = [np.flatnonzero(rng.random(n_features) < 0.5).tolist() for _ in "ab"]
        weight = float(rng.integers(0, 12)) / 4 if weighed else 1.0
        return Token(left, right, int(rng.choice(labels)), own[0] if nodes else [], own[1] if edges else [], weight)

    return Problem(
        n_labels,
        [[token() for _ in range(n)] for n in lengths],
        rng.random((n_features, n_labels)) < density if nodes else None,
        rng.random((n_features, (n_labels + 1) ** 2)) < density if edges else None,
    )


problems = st.builds(
    random_problem,
    st.integers(0, 10_000),
    n_labels=st.sampled_from([1, 2, 3, 6]),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple),
    nodes=st.booleans(),
    edges=st.booleans(),
    weighed=st.booleans(),
)


@given(problems, st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=60)
def test_the_value_is_that_of_every_pair_counted_and_the_gradient_its_slope(problem: Problem, precision: float) -> None:
    pairs, names = problem.native(), problem.names()
    assert (pairs.size, pairs.n_edges) == (len(names), len(problem.cut()))
    weights = np.random.default_rng(1).normal(size=pairs.size)
    value, gradient = pairs.objective(weights, precision, 1)
    assert value == pytest.approx(
        reference.objective(problem.cut(), dict(zip(names, weights, strict=True)), precision, problem.n_labels)
    )
    width = 1e-5
    for i in np.random.default_rng(2).permutation(pairs.size)[:15]:
        ends = []
        for sign in (-1, 1):
            moved = weights.copy()
            moved[i] += sign * width
            ends.append(pairs.objective(moved, precision, 1)[0])
        assert gradient[i] == pytest.approx((ends[1] - ends[0]) / (2 * width), rel=1e-5, abs=1e-6)


def repeated_problem(seed: int, *, weighed: bool) -> Problem:
    """Sentences of few different words, most of which have several labels: most contexts occur often."""
    rng = np.random.default_rng(seed)
    single = random_problem(seed, lengths=(4,), weighed=weighed)
    words = [replace(t, left=dict.fromkeys(t.left, 0.0), right=dict.fromkeys(t.left, 0.0)) for t in single.sentences[0]]

    def token() -> Token:
        word = words[rng.integers(len(words))]
        weight = float(rng.integers(0, 12)) / 4 if weighed else 1.0
        return replace(word, gold=int(rng.choice(list(word.left))), weight=weight)

    return replace(single, sentences=[[token() for _ in range(rng.integers(1, 6))] for _ in range(40)])


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_equal_contexts_are_merged_without_changing_value_and_gradient(seed: int, weighed: bool) -> None:
    problem = repeated_problem(seed, weighed=weighed)
    pairs, names = problem.native(), problem.names()
    contexts = {repr((sorted(a.left), a.node, sorted(b.left), b.node, b.edge)) for a, b in problem.cut()}
    assert pairs.n_contexts <= len(contexts) < pairs.n_edges / 3
    weights = np.random.default_rng(1).normal(size=pairs.size)
    value, gradient = pairs.objective(weights, 0.0, 1)
    by_name = dict(zip(names, weights, strict=True))
    assert value == pytest.approx(reference.objective(problem.cut(), by_name, 0.0, problem.n_labels))
    alone = [replace(problem, sentences=[s]).native().objective(weights, 0.0, 1) for s in problem.sentences]
    assert value == pytest.approx(sum(v for v, _ in alone))
    np.testing.assert_allclose(gradient, np.sum([g for _, g in alone], axis=0), rtol=1e-7, atol=1e-9)
    for threads in (2, 3, 8):
        again, same = pairs.objective(weights, 0.0, threads)
        assert again == value
        assert np.array_equal(same, gradient)


@given(problems)
@settings(deadline=None, max_examples=20)
def test_value_and_gradient_do_not_depend_on_the_number_of_threads(problem: Problem) -> None:
    pairs = problem.native()
    weights = np.random.default_rng(1).normal(size=pairs.size)
    value, gradient = pairs.objective(weights, 0.5, 1)
    for threads in (2, 3, 8):
        again, same = pairs.objective(weights, 0.5, threads)
        assert again == value
        assert np.array_equal(same, gradient)


def test_a_sentence_of_n_words_has_an_edge_more_and_an_empty_one_none() -> None:
    for lengths, edges in (((1,), 2), ((3,), 4), ((0,), 0), ((1, 0, 2), 5)):
        assert random_problem(0, lengths=lengths).native().n_edges == edges


def test_a_word_alone_is_scored_by_its_two_boundaries() -> None:
    """Each is a softmax of the word's own labels: nothing is left of the other end."""
    token = Token({0: 0.5, 1: -0.25}, {0: 1.0, 1: 0.75}, 1)
    pairs = Problem(2, [[token]], None, None).native()
    table = np.arange(9.0).reshape(3, 3)
    before = np.log(np.exp([1.0 + table[2, 0], 0.75 + table[2, 1]]))
    after = np.log(np.exp([0.5 + table[0, 2], -0.25 + table[1, 2]]))
    expected = sum(np.logaddexp(*scores) - scores[1] for scores in (before, after))
    assert pairs.objective(table.ravel(), 0.0, 1)[0] == pytest.approx(expected)


def start(size: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(7)
    return np.stack([rng.normal(size=size), 0.1 + rng.random(size)], axis=1).astype(np.float32).ravel()


def some_decay(problem: Problem) -> tuple[NDArray[np.float32], dict[tuple[str, int], float]]:
    """The prior's share of a visit, for T, edge features and node features: as an array, and by name."""
    rng = np.random.default_rng(3)
    groups = [("T", 1)]
    groups += [("U", len(problem.edges))] if problem.edges is not None else []
    groups += [("AB", len(problem.nodes))] if problem.nodes is not None else []
    values = rng.random(sum(n for _, n in groups)).astype(np.float32)
    keys = [(letters, i) for letters, n in groups for i in range(n)]
    return values, {(letter, i): float(v) for (letters, i), v in zip(keys, values, strict=True) for letter in letters}


@pytest.mark.parametrize("batch", [1, 4, 100])
@given(problem=problems)
@settings(deadline=None, max_examples=25)
def test_steps_are_those_of_the_formula(problem: Problem, batch: int) -> None:
    pairs, names, cut = problem.native(), problem.names(), problem.cut()
    order = np.random.default_rng(8).permutation(len(cut)).astype(np.int64)
    decay, by_name = some_decay(problem)
    state = start(pairs.size)
    expected = state.reshape(-1, 2).T.astype(np.float64).copy()
    loss = pairs.pass_over(state, order, decay, 0.2, batch, 1)
    in_words = reference.adagrad(cut, order.tolist(), names, expected, by_name, 0.2, batch, problem.n_labels)
    assert loss == pytest.approx(in_words, rel=1e-3, abs=1e-4)
    np.testing.assert_allclose(state.reshape(-1, 2).T, expected, rtol=1e-3, atol=5e-4)


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("nodes", [False, True])
def test_steps_are_the_same_for_any_number_of_threads(batch: int, nodes: bool) -> None:
    problem = random_problem(9, n_labels=8, lengths=(5, 1, 9, 3) * 15, nodes=nodes)
    pairs = problem.native()
    order = np.random.default_rng(8).permutation(pairs.n_edges).astype(np.int64)
    decay, _ = some_decay(problem)
    states, losses = [], []
    for threads in (1, 2, 3, 5):
        states.append(start(pairs.size))
        losses.append(pairs.pass_over(states[-1], order, decay, 0.2, batch, threads))
    assert len(set(losses)) == 1
    for state in states[1:]:
        np.testing.assert_array_equal(state, states[0])


def test_passes_lower_the_objective_and_a_rate_of_zero_changes_nothing() -> None:
    problem = random_problem(10, lengths=(4, 2, 3) * 20)
    pairs = problem.native()
    order = np.arange(pairs.n_edges, dtype=np.int64)
    decay = np.zeros(11, np.float32)
    state = np.tile(np.array([0.0, 1e-4], np.float32), pairs.size)
    first = pairs.objective(np.zeros(pairs.size), 0.0, 1)[0]
    assert pairs.pass_over(state, order, decay, 0.0, 16, 1) == pytest.approx(first, rel=1e-5)
    assert not state[::2].any()
    state[1::2] = 1e-4
    for _ in range(5):
        pairs.pass_over(state, order, decay, 0.1, 16, 1)
    best = lbfgs(lambda w: pairs.objective(w, 0.0, 1), np.zeros(pairs.size), iterations=300, tolerance=1e-10).weights
    lowest = pairs.objective(best, 0.0, 1)[0]
    assert lowest < pairs.objective(state[::2].astype(np.float64), 0.0, 1)[0] < lowest + 0.5 * (first - lowest)


def test_what_does_not_fit_together_is_refused() -> None:
    problem = random_problem(11)
    pairs = problem.native()
    decay, _ = some_decay(problem)
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="disagree"):
        pairs.objective(np.zeros(pairs.size + 1), 0.0, 1)
    for state, shrink in ((start(pairs.size)[1:], decay), (start(pairs.size), decay[1:])):
        with pytest.raises(ValueError, match="disagree"):
            pairs.pass_over(state, one, shrink, 0.1, 1, 1)
    for wrong in (-1, pairs.n_edges):
        with pytest.raises(ValueError, match="no such edge"):
            pairs.pass_over(start(pairs.size), one + wrong, decay, 0.1, 1, 1)
    for match, token in {
        "out of order": Token({1: 0.0, 0: 0.0}, {1: 0.0, 0: 0.0}, 1),
        "out of range": Token({3: 0.0}, {3: 0.0}, 3),
        "feature id out of range": Token({0: 0.0}, {0: 0.0}, 0, node=[99]),
    }.items():
        with pytest.raises(ValueError, match=match):
            Problem(3, [[token]], problem.nodes, problem.edges).native()
