"""The factors of graphs on their own: regressions of nodes and of edges against NumPy and finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from corate import _native
from corate.edges import EdgeSet
from corate.model.graph_scores import NodeFeatures
from corate.optimize.lbfgs import lbfgs
from corate.training.graph_edges import TypedEdges, fit_edges, pair_columns
from corate.training.graph_nodes import NodeModel, folds_of
from corate.training.source import RunContext
from reference.log_linear import Regression, differences

CONTEXT = RunContext()


def random_arguments(rng: np.random.Generator, rows: int = 9, k: int = 3) -> tuple:
    """The arguments of ``_native.LogLinear``: labels of nodes, or pairs of labels of edges."""
    n_sparse, width = int(rng.integers(0, 6)), int(rng.integers(0, 4))
    each = rng.integers(0, 4 if n_sparse else 1, rows)
    offsets = np.append(0, np.cumsum(each)).astype(np.int64)
    ids = rng.integers(max(n_sparse, 1), size=offsets[-1]).astype(np.int32)
    values = rng.normal(size=len(ids)).astype(np.float32) if rng.random() < 0.5 else None
    dense = rng.normal(size=(rows, width)).astype(np.float32) if width else None
    if rng.random() < 0.4:
        return (offsets, ids), values, n_sparse, dense, np.arange(k, dtype=np.int32), None
    columns = pair_columns(k, symmetric=bool(rng.random() < 0.5))
    if rng.random() < 0.3:  # one column for equal labels, and one for others
        columns = (~np.eye(k, dtype=bool)).astype(np.int32).ravel()
    nodes = rng.normal(size=(6, k)).astype(np.float32)
    ends = nodes, *rng.integers(6, size=(2, rows)).astype(np.int32)
    return (offsets, ids), values, n_sparse, dense, columns, ends


@pytest.mark.parametrize("seed", range(30))
def test_the_native_regression_equals_the_reference_and_its_differences(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    arguments = random_arguments(rng)
    native, reference = _native.LogLinear(*arguments), Regression.of(*arguments)
    rows, outcomes = len(reference.design), len(reference.columns)
    weights, precision = rng.normal(size=native.size), rng.random(reference.design.shape[1])
    gold = rng.integers(-1, outcomes, rows).astype(np.int32)
    times = rng.integers(0, 4, rows).astype(np.float32) / 2 if seed % 2 else None

    value, gradient = native.objective(weights, gold, times, precision, 1)
    loss = reference.loss(weights, gold, times, precision)
    np.testing.assert_allclose(value, loss, rtol=1e-5)
    slopes = differences(lambda w: reference.loss(w, gold, times, precision), weights)
    np.testing.assert_allclose(reference.gradient(weights, gold, times, precision), slopes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-5)

    for normalised in (False, True):
        found = native.scores(weights, normalised, 1)
        np.testing.assert_allclose(found, reference.scores(weights, normalised=normalised), rtol=1e-4, atol=1e-5)
    residuals = rng.normal(size=(rows, outcomes)).astype(np.float32)
    np.testing.assert_allclose(native.pull(residuals, 1), reference.pull(residuals), rtol=1e-4, atol=1e-5)


def test_the_native_regression_has_the_same_bytes_with_any_threads() -> None:
    rng = np.random.default_rng(2)
    arguments = random_arguments(rng, rows=3000)
    native = _native.LogLinear(*arguments)
    outcomes = len(arguments[4])
    weights, gold = rng.normal(size=native.size), rng.integers(-1, outcomes, 3000).astype(np.int32)
    residuals = rng.normal(size=(3000, outcomes)).astype(np.float32)
    precision = np.ones(native.size // (int(arguments[4].max()) + 1))
    one, two = (
        (
            *native.objective(weights, gold, None, precision, n),
            native.scores(weights, True, n),
            native.pull(residuals, n),
        )
        for n in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


# -- nodes -------------------------------------------------------------------------------------------------------------


def random_features(rng: np.random.Generator, n: int, *, zeros: float) -> NodeFeatures:
    """Nodes with named features that have values, and with numbers, of which a share is 0."""
    offsets = np.append(0, np.cumsum(rng.integers(0, 4, n))).astype(np.int64)
    ids = rng.integers(5, size=offsets[-1]).astype(np.int32)
    values = (rng.random(len(ids)) * 3).astype(np.float32)
    vectors = (rng.normal(2, 3, (n, 4)) * (rng.random((n, 4)) >= zeros)).astype(np.float32)
    return NodeFeatures((offsets, ids), values, 5, vectors)


def regression_of(features: NodeFeatures, k: int) -> Regression:
    return Regression.of(features.rows, features.values, features.n_names, features.vectors, np.arange(k), None)


@pytest.mark.parametrize("zeros", [0.0, 0.8])
def test_nodes_are_fitted_to_the_minimum_of_their_loss(zeros: float) -> None:
    """Centred and scaled features change the path, and not the minimum; nodes left out are not read."""
    rng = np.random.default_rng([3, int(zeros * 10)])
    features, k = random_features(rng, 120, zeros=zeros), 3
    labels = rng.integers(-1, k, 120).astype(np.int32)
    some = rng.random(120) < 0.7
    gold = np.where(some, labels, -1).astype(np.int32)
    model, reference = NodeModel(features, labels, k, CONTEXT), regression_of(features, k)
    for c2 in (0.1, 3.0):
        precision = model.precision(c2)
        found = model.fit(some, c2, "")
        exact = lbfgs(
            lambda w, own=precision: (reference.loss(w, gold, None, own), reference.gradient(w, gold, None, own)),
            np.zeros(len(found)),
            iterations=500,
            tolerance=1e-10,
        )
        loss = reference.loss(found, gold, None, precision)
        assert exact.value - 1e-3 <= loss <= exact.value * 1.003
        zero = reference.loss(np.zeros(len(found)), gold, None, precision)
        assert loss < zero - 0.9 * (zero - exact.value)
        np.testing.assert_allclose(
            model.log_probs(found), reference.scores(found, normalised=True), rtol=1e-4, atol=1e-4
        )
        again = model.fit(some, c2, "", start=found)
        assert reference.loss(again, gold, None, precision) <= loss + 1e-4


def test_the_prior_of_nodes_does_not_depend_on_the_unit_of_features() -> None:
    rng = np.random.default_rng(4)
    features = random_features(rng, 60, zeros=0.0)
    labels = rng.integers(0, 2, 60).astype(np.int32)
    assert features.vectors is not None
    in_other_units = replace(features, vectors=features.vectors * np.float32([8, 0.25, 1, 64]))
    one, two = (NodeModel(own, labels, 2, CONTEXT) for own in (features, in_other_units))
    found = [model.log_probs(model.fit(labels >= 0, 1.0, "")) for model in (one, two)]
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-3)


def test_the_weights_of_a_fold_do_not_know_its_labels() -> None:
    rng = np.random.default_rng(5)
    features, offsets = random_features(rng, 60, zeros=0.5), np.arange(0, 61, 4)
    labels = rng.integers(-1, 2, 60).astype(np.int32)
    folds, of_graphs = folds_of(offsets, labels, 0)
    assert of_graphs
    other = np.where((folds == 1) & (labels >= 0), 1 - labels, labels).astype(np.int32)
    before, after = (NodeModel(features, y, 2, CONTEXT).fold_weights(folds, 1.0) for y in (labels, other))
    assert len(before) == 5
    for fold, (one, two) in enumerate(zip(before, after, strict=True)):
        assert np.array_equal(one, two) == (fold == 1)


def test_folds_are_of_whole_graphs_or_of_labelled_nodes() -> None:
    rng = np.random.default_rng(6)
    offsets, labels = np.arange(0, 81, 4), rng.integers(-1, 3, 80).astype(np.int32)
    folds, of_graphs = folds_of(offsets, labels, 0)
    by_graph = folds.reshape(20, 4)
    assert of_graphs
    assert (by_graph == by_graph[:, :1]).all()
    assert np.bincount(by_graph[:, 0]).tolist() == [4] * 5
    by_node, of_graphs = folds_of(np.array([0, 40, 80]), labels, 0)
    assert not of_graphs
    for y in range(3):
        counts = np.bincount(by_node[labels == y], minlength=5)
        assert counts.max() - counts.min() <= 1
    few = folds_of(np.array([0, 4]), np.array([-1, 1, -1, 0]), 0)[0]
    assert sorted(few[[1, 3]].tolist()) == [0, 1]


def test_features_that_are_constant_or_zero_need_no_prior() -> None:
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 60).astype(np.int32)
    vectors = np.stack([np.full(60, 0.1), np.zeros(60), y + rng.normal(size=60)], axis=1).astype(np.float32)
    nothing = np.zeros(61, np.int64), np.zeros(0, np.int32)
    one, all_three = (NodeFeatures(nothing, None, 0, np.ascontiguousarray(own)) for own in (vectors[:, 2:], vectors))
    found = [
        model.log_probs(model.fit(y >= 0, 0.0, ""))
        for model in (NodeModel(own, y, 2, CONTEXT) for own in (one, all_three))
    ]
    np.testing.assert_allclose(*found, rtol=1e-2, atol=1e-2)


# -- edges -------------------------------------------------------------------------------------------------------------


def random_edges(rng: np.random.Generator, k: int, *, symmetric: bool, width: int | None) -> tuple[TypedEdges, NDArray]:
    """Labelled edges of a type, some with an end without label, and log-probabilities of nodes."""
    n, m = 40, 500
    labels = np.where(rng.random(n) < 0.2, -1, rng.integers(k, size=n)).astype(np.int32)
    pairs = np.unique(rng.integers(n, size=(m, 2)), axis=0)
    apart = labels[pairs[:, 0]] != labels[pairs[:, 1]]
    pairs = pairs[~apart | (rng.random(len(pairs)) < 0.4)]
    pairs = pairs[pairs[:, 0] < pairs[:, 1]] if symmetric else pairs[pairs[:, 0] != pairs[:, 1]]
    attributes = None if width is None else rng.normal(size=(len(pairs), width)).astype(np.float32)
    left, right = np.ascontiguousarray(pairs.T, np.int32)
    edges = EdgeSet(np.array([0, len(pairs)]), left, right, attributes, type="t", symmetric=symmetric)
    scores = rng.normal(size=(n, k)) + (labels[:, None] == np.arange(k))
    log_probs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return TypedEdges.of((edges,), np.array([0, n]), labels, k)[0], log_probs.astype(np.float32)


@pytest.mark.parametrize("symmetric", [False, True])
def test_edges_with_features_are_fitted_to_the_minimum_of_their_loss(symmetric: bool) -> None:
    rng, k = np.random.default_rng([7, symmetric]), 3
    own, log_probs = random_edges(rng, k, symmetric=symmetric, width=2)
    columns = pair_columns(k, symmetric=symmetric)
    (found,) = fit_edges([own], log_probs, 1.0, CONTEXT)
    if symmetric:
        np.testing.assert_array_equal(found.table, found.table.T)
        np.testing.assert_array_equal(found.weights, found.weights.transpose(0, 2, 1))
    none = (np.zeros(len(own.ends) + 1, np.int64), np.zeros(0, np.int32))
    ends = log_probs, own.ends[:, 0], own.ends[:, 1]
    reference = Regression.of(none, None, 0, own.edges.attributes, columns, ends)
    precision = own.precision(1.0)
    exact = lbfgs(
        lambda w: (
            reference.loss(w, own.pairs, None, precision),
            reference.gradient(w, own.pairs, None, precision),
        ),
        np.zeros(3 * (int(columns.max()) + 1)),
        iterations=500,
        tolerance=1e-10,
    )
    first = np.unique(columns, return_index=True)[1]
    flat = np.concatenate([found.weights, found.table[None]]).reshape(3, -1)[:, first].ravel()
    loss = reference.loss(flat, own.pairs, None, precision)
    assert exact.value - 1e-3 <= loss <= exact.value * 1.003
    assert exact.value < 0.98 * reference.loss(np.zeros(len(flat)), own.pairs, None, precision)


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_table_of_rates_expects_the_pairs_of_labels_that_are_there(symmetric: bool) -> None:
    """Where T is fitted, expected and observed counts agree, but for the edges that are added as a prior."""
    rng, k = np.random.default_rng([8, symmetric]), 2
    own, log_probs = random_edges(rng, k, symmetric=symmetric, width=None)
    (found,) = fit_edges([own], log_probs, 1.0, CONTEXT)
    ends = own.ends[own.labelled]

    def expected(table: NDArray) -> NDArray:
        scores = log_probs[ends[:, 0], :, None].astype(np.float64) + log_probs[ends[:, 1], None, :] + table
        p = np.exp(scores - scores.max(axis=(1, 2), keepdims=True))
        return (p / p.sum(axis=(1, 2), keepdims=True)).sum(axis=0)

    before = expected(np.zeros((k, k))) * 20 / len(ends)
    observed = np.bincount(own.pairs[own.labelled], minlength=k * k).reshape(k, k)
    difference = observed + before - expected(found.table) - before * np.exp(found.table)
    if symmetric:
        np.testing.assert_array_equal(found.table, found.table.T)
        difference = difference + difference.T
    assert np.abs(difference).max() < 0.05
    assert np.abs(observed - expected(np.zeros((k, k)))).max() > 0.05 * len(ends)


def test_few_edges_tell_only_equal_labels_from_others() -> None:
    rng, k = np.random.default_rng(9), 4
    own, log_probs = random_edges(rng, k, symmetric=False, width=None)
    for some in (own.labelled[:20], own.labelled[:0]):
        (found,) = fit_edges([replace(own, labelled=some)], log_probs, 1.0, CONTEXT)
        np.testing.assert_array_equal(found.table, np.eye(k))  # the exponent is then the score
    (found,) = fit_edges([own], log_probs, 1.0, CONTEXT)
    assert len(set(found.table.ravel().tolist())) == k * k
