"""Lattices: Viterbi and forward-backward against enumeration of all labellings, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.label_scores import EdgeScores
from corate.model.lattice import Lattice
from reference import chains as chains_reference
from reference import lattice as reference

scores = st.floats(-4, 4, width=32)
rates = st.floats(0, 4, width=32)


@st.composite
def triples(draw: st.DrawFn, n_labels: int) -> reference.Triples:
    """Scores of some labels three in a row, of all, or of none."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    share = draw(st.sampled_from([0.0, 0.2, 1.0]))
    found = np.argwhere(rng.random([n_labels + 1] * 3) < share).tolist()
    drawn = rng.uniform(-4, 4, len(found)).astype(np.float32).tolist()
    return {(y, z, w): score for (y, z, w), score in zip(found, drawn, strict=True)}


@st.composite
def edges(draw: st.DrawFn, n_labels: int, local: bool = False) -> tuple[_native.Edges, np.ndarray, reference.Triples]:
    """Edge scores, stored whole or as some pairs, the table they stand for, and scores of three labels in a row."""
    size = n_labels + 1
    three = {} if local else draw(st.one_of(st.just({}), triples(n_labels)))
    rows = reference.triple_rows(three, size) if three or (not local and draw(st.booleans())) else None
    if draw(st.booleans()):
        dense = np.array(draw(st.lists(scores, min_size=size * size, max_size=size * size)), np.float32)
        table = dense.reshape(size, size)
        return _native.Edges.dense(table, local, rows), table.astype(np.float64), three
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
    arrays = (getattr(sparse, n) for n in ("offsets", "to", "scores", "row", "col", "weight"))
    return _native.Edges.sparse(*arrays, local, rows), expected, three


@st.composite
def chains(
    draw: st.DrawFn, local: bool = False
) -> tuple[list[list[dict[int, float]]], _native.Edges, np.ndarray, reference.Triples]:
    """Sentences of positions with some or all labels as candidates, and edges, of the first or the second order."""
    n_labels = draw(st.integers(1, 4))
    every = st.just(list(range(n_labels)))
    some = st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True).map(sorted)
    candidates = draw(st.sampled_from([every, some, st.one_of(every, some)]))
    position = candidates.flatmap(
        lambda ys: st.tuples(*[scores] * len(ys)).map(lambda xs: dict(zip(ys, xs, strict=True)))
    )
    sentences = draw(st.lists(st.lists(position, max_size=4), max_size=3))
    return sentences, *draw(edges(n_labels, local))


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


@given(chains(), st.data())
@settings(deadline=None)
def test_features_of_edges_add_to_the_edge_that_leads_to_their_token(chain: Any, data: st.DataObject) -> None:
    """Against enumeration: the score of every labelling, with what its tokens' edge features say of its pairs added."""
    sentences, native, table, three = chain
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
        _native.EdgeFeatureWeights(
            np.cumsum([0, *map(len, features)]),
            np.array([pair for pair, _ in stored], np.int32),
            np.array([score for _, score in stored], np.float32),
        ),
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

        every = {p: v + added(p) for p, v in reference.all_paths(positions, table, three).items()}
        path = tuple(best[start : start + len(positions)].tolist())
        assert every[path] == pytest.approx(max(every.values()), abs=1e-4)
        assert totals[s] == pytest.approx(max(every.values()), abs=1e-4)
        assert log_z[s] == pytest.approx(reference.log_z(every), abs=1e-4)
        for j, position in enumerate(positions):
            found = marginals[at : at + len(position)]
            at += len(position)
            assert found.tolist() == pytest.approx([reference.marginal(every, j, y) for y in position], abs=1e-5)


@st.composite
def extra_features(
    draw: st.DrawFn, size: int, tokens: int
) -> tuple[list[list[int]], list[dict[tuple[int, int], float]]]:
    """The edge features of each token, and the scores that each feature has for label pairs."""
    pairs = st.dictionaries(st.tuples(st.integers(0, size - 1), st.integers(0, size - 2)), scores, max_size=5)
    features = draw(st.lists(pairs, max_size=3))
    ids = st.lists(st.integers(0, len(features) - 1), max_size=3) if features else st.just([])
    return draw(st.lists(ids, min_size=tokens, max_size=tokens)), features


def with_extra(
    lattice: Lattice, size: int, of_token: list[list[int]], features: list[dict[tuple[int, int], float]]
) -> Lattice:
    stored = [(y * size + z, score) for f in features for (y, z), score in sorted(f.items())]
    extra = (
        np.cumsum([0, *map(len, of_token)]),
        np.array([f for token in of_token for f in token], np.int32),
        _native.EdgeFeatureWeights(
            np.cumsum([0, *map(len, features)]),
            np.array([pair for pair, _ in stored], np.int32),
            np.array([score for _, score in stored], np.float32),
        ),
    )
    return replace(lattice, extra=extra)


def reference_tokens(positions: list[dict[int, float]], of_token: list[list[int]]) -> list[chains_reference.Token]:
    return [chains_reference.Token(p, None, [], edge) for p, edge in zip(positions, of_token, strict=True)]


def reference_weights(
    table: np.ndarray, features: list[dict[tuple[int, int], float]], three: reference.Triples
) -> chains_reference.Weights:
    extra = np.zeros((max(1, len(features)), *table.shape))
    triple = np.zeros((len(table),) * 3) if three else None
    for place, score in three.items():
        triple[place] = score  # type: ignore[index]
    for g, feature in enumerate(features):
        for pair, score in feature.items():
            extra[g][pair] = score
    return chains_reference.Weights(table, extra, np.zeros((1, len(table))), triple)


def probability(every: dict[tuple[int, ...], float], test: Callable[[tuple[int, ...]], bool]) -> float:
    total = reference.log_z(every)
    return float(sum(np.exp(score - total) for path, score in every.items() if test(path)))


@pytest.mark.parametrize("local", [False, True])
@given(st.data())
@settings(deadline=None, max_examples=100)
def test_pairs_of_neighbours_have_the_probability_of_all_labellings_with_them(local: bool, data: st.DataObject) -> None:
    """Against enumeration, with edge features and with edges that normalise by themselves."""
    sentences, native, table, three = data.draw(chains(local))
    of_token, features = data.draw(extra_features(len(table), sum(map(len, sentences))))
    lattice = with_extra(lattice_of(sentences, native), len(table), of_token, features)
    found, marginals = iter(lattice.pair_marginals()), lattice.marginals()[1]
    w = reference_weights(table, features, three)
    for s, positions in enumerate(sentences):
        if not positions:
            continue
        first = int(lattice.sentences[s])
        tokens = reference_tokens(positions, of_token[first : first + len(positions)])
        every = (chains_reference.local_scores if local else chains_reference.all_scores)(tokens, w)
        if local:
            every = {p: score + float(table[p[-1], -1]) for p, score in every.items()}
        for j in range(1, len(positions)):
            pair = next(found)
            assert pair.shape == (len(positions[j - 1]), len(positions[j]))
            expected = [
                [probability(every, lambda p, j=j, y=y, z=z: p[j - 1 : j + 1] == (y, z)) for z in positions[j]]  # type: ignore[misc]
                for y in positions[j - 1]
            ]
            np.testing.assert_allclose(pair, expected, atol=1e-5)
            a, b = int(lattice.offsets[first + j]), int(lattice.offsets[first + j + 1])
            np.testing.assert_allclose(pair.sum(axis=0), marginals[a:b], atol=1e-5)
    assert next(found, None) is None


def test_marginals_do_not_depend_on_the_sentences_before() -> None:
    """What edge features mean is kept between sentences, and dropped when there is too much of it."""
    rng = np.random.default_rng(0)
    n_labels, n_features, n = 60, 400, 500
    size = n_labels + 1
    features = [
        {(y, z): float(rng.normal(0, 2)) for y, z in rng.integers(0, n_labels, (8, 2)).tolist()}
        for _ in range(n_features)
    ]
    of_token = [sorted(rng.permutation(n_features)[: i % 3].tolist()) for i in range(n)]
    sentences = [
        [dict(enumerate(rng.normal(0, 1, n_labels).astype(np.float32).tolist())) for _ in range(5)]
        for _ in range(n // 5)
    ]
    native = _native.Edges.dense(rng.normal(0, 1, (size, size)).astype(np.float32))
    log_z, together = with_extra(lattice_of(sentences, native), size, of_token, features).marginals()
    for s, sentence in enumerate(sentences):
        alone = with_extra(lattice_of([sentence], native), size, of_token[5 * s : 5 * s + 5], features).marginals()
        assert alone[0].tolist() == log_z[s : s + 1].tolist()
        assert alone[1].tolist() == together[5 * s * n_labels : 5 * (s + 1) * n_labels].tolist()


@pytest.mark.parametrize("three", [{}, {(2, 2, 0): 1.0, (2, 1, 2): 2.0}], ids=["first order", "second order"])
def test_sentences_of_a_word_have_no_pairs(three: reference.Triples) -> None:
    native = _native.Edges.dense(np.zeros((3, 3), np.float32), False, reference.triple_rows(three, 3))
    assert lattice_of([[{0: 1.0, 1: 0.0}], [], [{1: 0.0}]], native).pair_marginals() == []
    assert lattice_of([], native).pair_marginals() == []


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_edges_that_normalise_by_themselves_score_the_product_of_their_conditionals(data: st.DataObject) -> None:
    """P(y | x) = prod_j P(y_j | y_j-1, x): nothing is left to normalise, whatever the scores are."""
    sentences, native, table, _ = data.draw(chains(local=True))
    of_token, features = data.draw(extra_features(len(table), sum(map(len, sentences))))
    ends = not (table[:-1, -1] != 0).any()
    lattice = with_extra(lattice_of(sentences, native), len(table), of_token, features)
    best, totals = lattice.best()
    log_z, marginals = lattice.marginals()
    w = reference_weights(table, features, {})
    at = 0
    for s, positions in enumerate(sentences):
        if not positions:
            assert log_z[s] == totals[s] == 0.0
            continue
        first = int(lattice.sentences[s])
        tokens = reference_tokens(positions, of_token[first : first + len(positions)])
        local = chains_reference.local_scores(tokens, w)
        every = {p: score + float(table[p[-1], -1]) for p, score in local.items()}
        assert reference.log_z(local) == pytest.approx(0.0, abs=1e-9)
        assert log_z[s] == pytest.approx(reference.log_z(every), abs=1e-4)
        if ends:
            assert log_z[s] == pytest.approx(0.0, abs=1e-5)
        path = tuple(best[first : first + len(positions)].tolist())
        assert every[path] == pytest.approx(max(every.values()), abs=1e-4)
        assert totals[s] == pytest.approx(max(every.values()), abs=1e-4)
        for labels, score in every.items():
            assert lattice.path_score(s, np.array(labels, np.int32)) == pytest.approx(score, abs=1e-4)
        for j, position in enumerate(positions):
            expected = [probability(every, lambda p, j=j, y=y: p[j] == y) for y in position]  # type: ignore[misc]
            assert marginals[at : at + len(position)].tolist() == pytest.approx(expected, abs=1e-5)
            at += len(position)


def test_what_normalises_by_itself_prefers_labels_with_few_successors() -> None:
    """Label bias: from label 0 there is one way on, whatever the second token says; from label 1 there are two."""
    table = np.zeros((3, 3), np.float32)
    table[0, 1] = -20.0
    nodes = [{0: 0.0, 1: 0.4}, {0: 0.0, 1: 3.0}]
    whole, local = (lattice_of([nodes], _native.Edges.dense(table, flag)) for flag in (False, True))
    assert whole.best()[0].tolist() == [1, 1]
    assert local.best()[0].tolist() == [1, 1]
    even = [{0: 0.2, 1: 0.0}, {0: 0.0, 1: 3.0}]
    assert lattice_of([even], _native.Edges.dense(table, False)).best()[0].tolist() == [1, 1]
    assert lattice_of([even], _native.Edges.dense(table, True)).best()[0].tolist() == [0, 0]


def test_features_of_edges_that_do_not_fit_are_refused() -> None:
    native = _native.Edges.dense(np.zeros((3, 3), np.float32))
    good = [
        np.array([0, 1, 1]),
        np.zeros(1, np.int32),
        np.array([0, 1]),
        np.zeros(1, np.int32),
        np.zeros(1, np.float32),
    ]

    def decode(offsets: np.ndarray, ids: np.ndarray, *weights: np.ndarray) -> None:
        _native.viterbi(*GOOD.values(), native, (offsets, ids, _native.EdgeFeatureWeights(*weights)))

    decode(*good)
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
            decode(*(bad if j == i else a for j, a in enumerate(good)))


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


THREES = (np.array([0, 2, 2, 3]), np.array([1, 8, 0], np.int32), np.zeros(3, np.float32))


@pytest.mark.parametrize(
    ("part", "bad", "match"),
    [
        (1, np.array([1, 9, 0], np.int32), "out of range"),
        (1, np.array([-1, 8, 0], np.int32), "out of range"),
        (1, np.array([1, 8, 2**31 - 1], np.int32), "out of range"),
        (1, np.array([8, 1, 0], np.int32), "out of order"),
        (1, np.array([8, 8, 0], np.int32), "out of order"),
        (1, np.array([1, 8], np.int32), "label triples and their scores disagree"),
        (2, np.zeros(2, np.float32), "label triples and their scores disagree"),
        (2, np.zeros(4, np.float32), "label triples and their scores disagree"),
        (0, np.array([0, 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 2, 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 2, 2]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 2, 4]), "label triples disagree with the labels"),
        (0, np.array([1, 2, 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 1, 3]), "label triples disagree with the labels"),
        (0, np.array([0, -(2**62), 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2**62, 2, 3]), "label triples disagree with the labels"),
        (0, np.zeros(0, np.int64), "label triples disagree with the labels"),
    ],
)
def test_triples_that_do_not_fit_are_refused(part: int, bad: np.ndarray, match: str) -> None:
    table, two = np.zeros((3, 3), np.float32), np.zeros(3, np.float32)
    sparse = (np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), two, two, 1.0)
    broken = tuple(bad if i == part else array for i, array in enumerate(THREES))
    for make in (
        lambda three, local=False: _native.Edges.dense(table, local, three),
        lambda three, local=False: _native.Edges.sparse(*sparse, local, three),
    ):
        make(THREES)
        with pytest.raises(ValueError, match=match):
            make(broken)
        with pytest.raises(ValueError, match="normalised locally cannot have scores of label triples"):
            make(THREES, local=True)
