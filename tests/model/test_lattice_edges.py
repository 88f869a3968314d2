"""Lattices with edge features, pairs of neighbours, and edges that normalise by themselves, against enumeration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.model.lattice import Lattice
from reference import chains as chains_reference
from reference import lattice as reference
from reference.drawn_lattices import chains, lattice_of, scores


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
    lattice = with_extra(lattice, size, of_token, features)
    best, totals = lattice.best()
    log_z, marginals = lattice.marginals()
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
