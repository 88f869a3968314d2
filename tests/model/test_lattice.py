"""Lattices: Viterbi and forward-backward against enumeration of all labellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.model.lattice import Lattice
from reference import lattice as reference
from reference.drawn_lattices import chains, edges, lattice_of


@given(chains())
@settings(deadline=None, max_examples=200)
def test_the_best_path_has_the_best_score_of_all_labellings(chain: Any) -> None:
    sentences, native, table, three = chain
    lattice = lattice_of(sentences, native)
    best, totals = lattice.best()
    assert len(totals) == len(sentences)
    for s, positions in enumerate(sentences):
        path = best[lattice.sentences[s] : lattice.sentences[s + 1]]
        every = reference.all_paths(positions, table, three)
        assert every[tuple(path.tolist())] == pytest.approx(max(every.values()), abs=1e-4)
        assert totals[s] == pytest.approx(max(every.values()), abs=1e-4)
        for labels, score in every.items():
            assert lattice.path_score(s, np.array(labels, np.int32)) == pytest.approx(score, abs=1e-4)


@given(chains())
@settings(deadline=None, max_examples=200)
def test_log_z_and_marginals_are_sums_over_all_labellings(chain: Any) -> None:
    sentences, native, table, three = chain
    lattice = lattice_of(sentences, native)
    log_z, marginals = lattice.marginals()
    at = 0
    for s, positions in enumerate(sentences):
        every = reference.all_paths(positions, table, three)
        assert log_z[s] == pytest.approx(reference.log_z(every), abs=1e-4)
        for j, position in enumerate(positions):
            found = marginals[at : at + len(position)]
            at += len(position)
            assert found.sum() == pytest.approx(1.0, abs=1e-5)
            assert found.tolist() == pytest.approx([reference.marginal(every, j, y) for y in position], abs=1e-5)


@given(chains(), st.integers(0, 100), st.floats(-3, 3, width=32))
@settings(deadline=None)
def test_a_constant_on_a_token_cannot_change_the_best_path(chain: Any, which: int, log_mu: float) -> None:
    """The paper's mu_oov as a constant factor: every label of an unseen word is multiplied by it alike."""
    sentences, native, table, three = chain
    tokens = sum(map(len, sentences))
    if tokens == 0:
        return
    lattice = lattice_of(sentences, native)
    moved = lattice.scores.copy()
    a, b = lattice.offsets[which % tokens], lattice.offsets[which % tokens + 1]
    moved[a:b] += np.float32(log_mu)
    changed = Lattice(lattice.sentences, lattice.offsets, lattice.labels, moved, native)
    path, changed_path = lattice.best()[0], changed.best()[0]
    for s, positions in enumerate(sentences):
        part = slice(lattice.sentences[s], lattice.sentences[s + 1])
        # Equal, or a tie that rounding broke otherwise.
        one, other = (
            reference.all_paths(positions, table, three)[tuple(p[part].tolist())] for p in (path, changed_path)
        )
        assert one == pytest.approx(other, abs=1e-4)


def test_a_weight_on_an_unseen_token_can_change_the_best_path() -> None:
    """mu_oov as an exponent, P(y | x) ** mu: less weight on the word lets the label before it decide."""
    edges = np.zeros((3, 3), np.float32)
    edges[0, 0] = np.log(3.0)
    node = np.log(np.array([1.0, 0.2, 0.8], np.float32))
    paths = []
    for mu in (1.0, 0.5):
        scores = node * np.array([1, mu, mu], np.float32)
        lattice = Lattice(
            np.array([0, 2]), np.array([0, 1, 3]), np.array([0, 0, 1], np.int32), scores, _native.Edges.dense(edges)
        )
        paths.append(lattice.best()[0].tolist())
    assert paths == [[0, 1], [0, 0]]


@pytest.mark.parametrize("seed", range(200))
def test_sums_are_right_where_products_of_probabilities_underflow(seed: int) -> None:
    """Scores differ by hundreds, so a label that seems impossible may be on the best path after all."""
    rng = np.random.default_rng(seed)
    n_labels, n = int(rng.integers(2, 5)), int(rng.integers(1, 7))
    sizes = np.array([0.0, 1.0, 40.0, 300.0, 700.0, 3000.0])[: rng.integers(2, 7)]
    table = (rng.choice(sizes, (n_labels + 1,) * 2) * rng.uniform(-1, 1, (n_labels + 1,) * 2)).astype(np.float32)
    nodes = (rng.choice(sizes, (n, n_labels)) * rng.uniform(-1, 1, (n, n_labels))).astype(np.float32)
    table[rng.random(table.shape) < 0.2] = -np.inf if seed % 4 == 0 else -800.0
    full = rng.random() < 0.5
    some = [
        range(n_labels) if full else sorted(rng.permutation(n_labels)[: rng.integers(1, n_labels)]) for _ in range(n)
    ]
    positions = [{int(y): float(nodes[j, y]) for y in ys} for j, ys in enumerate(some)]
    every = reference.all_paths(positions, table.astype(np.float64), {})
    if max(every.values()) == -np.inf:
        return
    lattice = lattice_of([positions], _native.Edges.dense(table))
    log_z, marginals = lattice.marginals()
    assert log_z[0] == pytest.approx(reference.log_z(every), rel=1e-6)
    expected = [reference.marginal(every, j, y) for j, position in enumerate(positions) for y in position]
    assert marginals.tolist() == pytest.approx(expected, abs=1e-5)
    for j, found in enumerate(lattice.pair_marginals(), 1):
        assert found.sum(axis=0).tolist() == pytest.approx(
            [reference.marginal(every, j, y) for y in positions[j]], abs=1e-5
        )


@pytest.mark.parametrize("three", [{}, {(2, 2, 2): -1.0}], ids=["first order", "second order"])
def test_ties_go_to_the_first_candidate_with_few_and_with_all_labels(three: reference.Triples) -> None:
    for n_labels in (3, 4):
        rows = reference.triple_rows(three, n_labels + 1)
        native = _native.Edges.dense(np.zeros((n_labels + 1, n_labels + 1), np.float32), False, rows)
        lattice = lattice_of([[dict.fromkeys(range(3), 0.0)] * 4], native)
        assert lattice.best()[0].tolist() == [0, 0, 0, 0]


def test_a_labelling_that_is_no_candidate_scores_minus_infinity() -> None:
    native = _native.Edges.dense(np.zeros((4, 4), np.float32))
    lattice = lattice_of([[{0: 0.0, 2: 1.0}]], native)
    assert lattice.path_score(0, np.array([2], np.int32)) == 1.0
    for y in (1, -1, 3):
        assert lattice.path_score(0, np.array([y], np.int32)) == -np.inf


# -- labels three in a row --------------------------------------------------------------------------------------------


@given(st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), edges(n))))
@settings(deadline=None)
def test_a_triple_has_its_own_score_and_those_not_stored_none(drawn: Any) -> None:
    n_labels, (native, table, three) = drawn
    for place in np.ndindex(*[n_labels + 1] * 3):
        assert native.triple(*place) == np.float32(three.get(place, 0.0))
    for y, z in np.ndindex(*table.shape):
        assert native.at(y, z) == pytest.approx(table[y, z], abs=1e-5)
    for place in ((-1, 0, 0), (0, n_labels + 1, 0), (0, 0, n_labels + 1), (0, -1, 0)):
        with pytest.raises(IndexError):
            native.triple(*place)


def test_what_is_told_by_two_labels_together_is_told_by_neither_alone() -> None:
    """The third label is the first again: pairs do not know it, whatever their scores."""
    three = {(0, y, 0): 2.0 for y in (0, 1)} | {(1, y, 1): 2.0 for y in (0, 1)}
    native = _native.Edges.dense(np.zeros((3, 3), np.float32), False, reference.triple_rows(three, 3))
    for first in (0, 1):
        for second in (0, 1):
            lattice = lattice_of([[{first: 0.0}, {second: 0.0}, {0: 0.0, 1: 0.0}, {0: 0.0, 1: 0.0}]], native)
            assert lattice.best()[0].tolist() == [first, second, first, second]
            assert lattice.marginals()[1][2 + first] == pytest.approx(np.exp(2) / (1 + np.exp(2)), abs=1e-5)


@pytest.mark.parametrize("gap", [100.0, 3000.0])
def test_marginals_stand_triples_that_are_far_apart(gap: float) -> None:
    three = {(2, 2, 0): -gap, (2, 0, 0): gap, (0, 0, 0): gap, (2, 1, 1): gap, (0, 0, 2): -1.0}
    native = _native.Edges.dense(np.zeros((3, 3), np.float32), False, reference.triple_rows(three, 3))
    positions: list[dict[int, float]] = [{0: 0.0, 1: 0.5}] * 3
    log_z, marginals = lattice_of([positions], native).marginals()
    every = reference.all_paths(positions, np.zeros((3, 3)), three)
    assert log_z[0] == pytest.approx(reference.log_z(every), rel=1e-6)
    expected = [reference.marginal(every, j, y) for j in range(3) for y in (0, 1)]
    assert marginals.tolist() == pytest.approx(expected, abs=1e-5)
