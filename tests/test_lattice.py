"""Lattices: Viterbi and forward-backward against enumeration of all labellings, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.decoding import Lattice
from corate.model import EdgeScores
from reference import lattice as reference

scores = st.floats(-4, 4, width=32)
rates = st.floats(0, 4, width=32)


@st.composite
def edges(draw: st.DrawFn, n_labels: int) -> tuple[_native.Edges, np.ndarray]:
    """Edge scores, stored whole or as some pairs, and the table they stand for."""
    size = n_labels + 1
    if draw(st.booleans()):
        dense = np.array(draw(st.lists(scores, min_size=size * size, max_size=size * size)), np.float32)
        table = dense.reshape(size, size)
        return _native.Edges.dense(table), table.astype(np.float64)
    pairs = st.tuples(st.integers(0, n_labels), st.integers(0, n_labels))
    stored = draw(st.dictionaries(pairs, scores, max_size=size * size))
    row, col = (draw(st.lists(rates, min_size=size, max_size=size)) for _ in range(2))
    weight = draw(st.floats(0.25, 2, width=32))
    found = sorted(stored)
    sparse = EdgeScores(
        np.searchsorted([y for y, _ in found], np.arange(size + 1)).astype(np.int64),
        np.array([z for _, z in found], np.int32),
        np.array([stored[pair] for pair in found], np.float32),
        np.array(row, np.float32),
        np.array(col, np.float32),
        weight,
    )
    expected = reference.sparse_edges(stored, row, col, weight)
    np.testing.assert_allclose(sparse.dense(), expected, rtol=1e-5, atol=1e-5)
    return _native.Edges.sparse(*(getattr(sparse, n) for n in ("offsets", "to", "scores", "row", "col", "weight"))), (
        expected
    )


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[list[dict[int, float]]], _native.Edges, np.ndarray]:
    """Sentences of positions with some or all labels as candidates, and edges."""
    n_labels = draw(st.integers(1, 4))
    every = st.just(list(range(n_labels)))
    some = st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True).map(sorted)
    candidates = draw(st.sampled_from([every, some, st.one_of(every, some)]))
    position = candidates.flatmap(
        lambda ys: st.tuples(*[scores] * len(ys)).map(lambda xs: dict(zip(ys, xs, strict=True)))
    )
    sentences = draw(st.lists(st.lists(position, max_size=4), max_size=3))
    return sentences, *draw(edges(n_labels))


def lattice_of(sentences: list[list[dict[int, float]]], native: _native.Edges) -> Lattice:
    positions = [position for sentence in sentences for position in sentence]
    flat = [(y, score) for position in positions for y, score in position.items()]
    return Lattice(
        np.cumsum([0, *map(len, sentences)]),
        np.cumsum([0, *map(len, positions)]),
        np.array([y for y, _ in flat], np.int32),
        np.array([score for _, score in flat], np.float32),
        native,
    )


@given(chains())
@settings(deadline=None, max_examples=200)
def test_the_best_path_has_the_best_score_of_all_labellings(chain: Any) -> None:
    sentences, native, table = chain
    lattice = lattice_of(sentences, native)
    best, totals = lattice.best()
    assert len(totals) == len(sentences)
    for s, positions in enumerate(sentences):
        path = best[lattice.sentences[s] : lattice.sentences[s + 1]]
        every = reference.all_paths(positions, table) if positions else {(): 0.0}
        assert every[tuple(path.tolist())] == pytest.approx(max(every.values()), abs=1e-4)
        assert totals[s] == pytest.approx(max(every.values()), abs=1e-4)
        assert lattice.path_score(s, path) == pytest.approx(totals[s], abs=1e-4)


@given(chains())
@settings(deadline=None, max_examples=200)
def test_log_z_and_marginals_are_sums_over_all_labellings(chain: Any) -> None:
    sentences, native, table = chain
    lattice = lattice_of(sentences, native)
    log_z, marginals = lattice.marginals()
    at = 0
    for s, positions in enumerate(sentences):
        every = reference.all_paths(positions, table) if positions else {(): 0.0}
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
    sentences, native, table = chain
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
            reference.path_score(positions, table, p[part].tolist()) if positions else 0.0 for p in (path, changed_path)
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


@given(chains(), st.data())
@settings(deadline=None)
def test_features_of_edges_add_to_the_edge_that_leads_to_their_token(chain: Any, data: st.DataObject) -> None:
    """Against enumeration: the score of every labelling, with what its tokens' edge features say of its pairs added."""
    sentences, native, table = chain
    size = len(table)
    labels = st.integers(0, size - 2)
    pairs = st.dictionaries(st.tuples(st.integers(0, size - 1), labels), scores, max_size=5)
    features = data.draw(st.lists(pairs, max_size=3))
    lattice = lattice_of(sentences, native)
    n = len(lattice.offsets) - 1
    ids = st.lists(st.integers(-1, len(features) - 1), max_size=3)
    of_token = data.draw(st.lists(ids, min_size=n, max_size=n))
    stored = [(y * size + z, score) for f in features for (y, z), score in sorted(f.items())]
    extra = (
        np.cumsum([0, *map(len, of_token)]),
        np.array([f for token in of_token for f in token], np.int32),
        np.cumsum([0, *map(len, features)]),
        np.array([pair for pair, _ in stored], np.int32),
        np.array([score for _, score in stored], np.float32),
    )
    arrays = (lattice.sentences, lattice.offsets, lattice.labels, lattice.scores, native, extra)
    best, totals = _native.viterbi(*arrays)
    log_z, marginals, _ = _native.forward_backward(*arrays)
    at = 0
    for s, positions in enumerate(sentences):
        start = int(lattice.sentences[s])

        def added(path: tuple[int, ...], start: int = start) -> float:
            steps = enumerate(zip([size - 1, *path], path, strict=False))
            return sum(features[f].get(pair, 0.0) for i, pair in steps for f in of_token[start + i] if f >= 0)

        every = {p: v + added(p) for p, v in reference.all_paths(positions, table).items()} if positions else {(): 0.0}
        path = tuple(best[start : start + len(positions)].tolist())
        assert every[path] == pytest.approx(max(every.values()), abs=1e-4)
        assert totals[s] == pytest.approx(max(every.values()), abs=1e-4)
        assert log_z[s] == pytest.approx(reference.log_z(every), abs=1e-4)
        for j, position in enumerate(positions):
            found = marginals[at : at + len(position)]
            at += len(position)
            assert found.tolist() == pytest.approx([reference.marginal(every, j, y) for y in position], abs=1e-5)


def test_features_of_edges_that_do_not_fit_are_refused() -> None:
    native = _native.Edges.dense(np.zeros((3, 3), np.float32))
    good = [
        np.array([0, 1, 1]),
        np.zeros(1, np.int32),
        np.array([0, 1]),
        np.zeros(1, np.int32),
        np.zeros(1, np.float32),
    ]
    _native.viterbi(*GOOD.values(), native, tuple(good))
    for i, bad in (
        (0, np.array([0, 1])),
        (0, np.array([0, 2, 1])),
        (0, np.array([-1, 0, 1])),
        (1, np.ones(1, np.int32)),
        (2, np.zeros(0, np.int64)),
        (2, np.array([0, 9, 1])),
        (2, np.array([5, 1])),
        (4, np.zeros(2, np.float32)),
    ):
        with pytest.raises(ValueError, match="edge feature"):
            _native.viterbi(*GOOD.values(), native, tuple(bad if j == i else a for j, a in enumerate(good)))


def test_ties_go_to_the_first_candidate_with_few_and_with_all_labels() -> None:
    for n_labels in (3, 4):
        native = _native.Edges.dense(np.zeros((n_labels + 1, n_labels + 1), np.float32))
        lattice = lattice_of([[dict.fromkeys(range(3), 0.0)] * 4], native)
        assert lattice.best()[0].tolist() == [0, 0, 0, 0]


def test_a_labelling_that_is_no_candidate_scores_minus_infinity() -> None:
    native = _native.Edges.dense(np.zeros((4, 4), np.float32))
    lattice = lattice_of([[{0: 0.0, 2: 1.0}]], native)
    assert lattice.path_score(0, np.array([2], np.int32)) == 1.0
    for y in (1, -1, 3):
        assert lattice.path_score(0, np.array([y], np.int32)) == -np.inf


GOOD = {
    "sentences": np.array([0, 1, 2]),
    "offsets": np.array([0, 1, 3]),
    "labels": np.array([0, 0, 1], np.int32),
    "scores": np.zeros(3, np.float32),
}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("sentences", np.zeros(0, np.int64)),
        ("sentences", np.array([0, 2, 1, 2])),
        ("sentences", np.array([-1, 2])),
        ("sentences", np.array([1, 2])),
        ("sentences", np.array([0, 3])),
        ("sentences", np.array([0, 2**62, 2])),
        ("offsets", np.zeros(0, np.int64)),
        ("offsets", np.array([0, 3, 3])),
        ("offsets", np.array([0, 4, 3])),
        ("offsets", np.array([-1, 1, 3])),
        ("offsets", np.array([1, 2, 3])),
        ("labels", np.array([0, 1, 0], np.int32)),
        ("labels", np.array([0, 1, 1], np.int32)),
        ("labels", np.array([0, 0, 2], np.int32)),
        ("labels", np.array([-1, 0, 1], np.int32)),
        ("labels", np.array([0, 0], np.int32)),
        ("scores", np.zeros(4, np.float32)),
    ],
)
def test_lattices_that_do_not_fit_together_are_refused(name: str, bad: np.ndarray) -> None:
    native = _native.Edges.dense(np.zeros((3, 3), np.float32))
    good = Lattice(**GOOD, edges=native)
    assert good.best()[0].tolist() == [0, 0]
    broken = Lattice(**{**GOOD, name: bad}, edges=native)
    with pytest.raises(ValueError, match=r"disagree|candidate"):
        broken.best()
    with pytest.raises(ValueError, match=r"disagree|candidate"):
        broken.marginals()


@pytest.mark.parametrize(
    ("offsets", "to"),
    [([0, 1, 1], [0]), ([0, 1, 0, 1], [0]), ([0, 1, 1, 2], [0, 3]), ([0, 2, 2, 2], [1, 0]), ([0, 0, 0, 1], [-1])],
)
def test_edges_that_do_not_fit_together_are_refused(offsets: list[int], to: list[int]) -> None:
    three = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="edge"):
        _native.Edges.sparse(
            np.array(offsets), np.array(to, np.int32), np.zeros(len(to), np.float32), three, three, 1.0
        )
    with pytest.raises(ValueError, match="dense"):
        _native.Edges.dense(np.zeros((2, 3), np.float32))
    with pytest.raises(IndexError):
        _native.Edges.dense(np.zeros((3, 3), np.float32)).at(3, 0)
