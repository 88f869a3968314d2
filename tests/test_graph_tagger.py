"""`corate.sklearn.GraphTagger` labels nodes as the library does, and does what scikit-learn asks of an estimator."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import corate
from corate.errors import ConfigError, DataError
from corate.sklearn import GraphTagger

N = 60


def network(seed: int, labels: tuple[Any, Any] = (3, 10)) -> tuple[Any, Any, Any]:
    """Vectors, labels and edges of nodes in two groups, whose edges are mostly within a group."""
    rng = np.random.default_rng(seed)
    group = np.arange(N) % 2
    x = rng.normal(size=(N, 2)) + 0.8 * group[:, None]
    edges = np.array([(i, j) for i in range(N) for j in range(i) if group[i] == group[j] and rng.random() < 0.08])
    return x, [labels[g] for g in group], edges


X, Y, E = network(0)
PARTLY = [label if i % 3 == 0 else None for i, label in enumerate(Y)]
FITTED = GraphTagger(method="separate").fit(X, PARTLY, edges=E)


@pytest.mark.parametrize("unknown", [None, -1, np.nan])
def test_a_graph_with_few_labels_is_labelled(unknown):
    y = [unknown if label is None else label for label in PARTLY]
    tagger = GraphTagger(method="separate").fit(X, y, edges=E)
    assert tagger.classes_.tolist() == [3, 10]
    assert tagger.classes_.dtype.kind == "i"
    found = tagger.predict(X, edges=E)
    assert found.shape == (N,)
    assert set(found.tolist()) <= {3, 10}
    assert tagger.score(X, Y, edges=E) == np.mean(found == np.array(Y)) > 0.8
    assert np.array_equal(tagger.predict_proba(X, edges=E), FITTED.predict_proba(X, edges=E))


def test_unknown_labels_are_not_read():
    """Labels given as unknown cannot change anything: the model is that of a corpus without them."""
    corpus = corate.Corpus.from_graphs(X, PARTLY, edges=E)
    expected = corate.train(corpus, "separate").lattice(corpus).label_marginals()
    assert np.array_equal(FITTED.predict_proba(X, edges=E), expected)


def test_columns_are_in_the_order_of_the_classes():
    x, y, edges = network(3, (10, 9))  # as texts, 10 comes first
    tagger = GraphTagger(method="separate").fit(x, y, edges=edges)
    assert tagger.classes_.tolist() == [9, 10]
    probabilities = tagger.predict_proba(x, edges=edges)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.mean(tagger.classes_[probabilities.argmax(axis=1)] == np.array(y)) > 0.8
    texts = GraphTagger(method="separate").fit(x, [str(label) for label in y], edges=edges)
    assert texts.classes_.tolist() == ["10", "9"]
    assert np.allclose(texts.predict_proba(x, edges=edges), probabilities[:, ::-1], atol=1e-3)


def test_known_labels_are_kept_and_tell_about_neighbours():
    node = int(E[0, 0])
    other = 13 - Y[node]
    known = [other if i == node else None for i in range(N)]
    given = FITTED.predict_proba(X, edges=E, known=known)
    assert given[node].tolist() == [float(c == other) for c in FITTED.classes_]
    assert FITTED.predict(X, edges=E, known=known)[node] == other
    neighbour = int(E[0, 1])
    column = FITTED.classes_.tolist().index(other)
    assert given[neighbour, column] > FITTED.predict_proba(X, edges=E)[neighbour, column]
    nothing = FITTED.predict_proba(X, edges=E, known=[-1] * N)
    assert np.array_equal(nothing, FITTED.predict_proba(X, edges=E))
    with pytest.raises(ConfigError, match="no label '7'"):
        FITTED.predict(X, edges=E, known=[7] * N)


def test_many_graphs_are_lists():
    graphs = [network(seed, ("A", "B")) for seed in range(4)]
    xs, ys, edges = (list(part) for part in zip(*graphs, strict=True))
    tagger = GraphTagger(method="separate").fit(xs, ys, edges=edges)
    assert tagger.classes_.tolist() == ["A", "B"]
    found = tagger.predict(xs[:2], edges=edges[:2])
    assert [own.shape for own in found] == [(N,), (N,)]
    alone = tagger.predict(xs[1], edges=edges[1])
    assert found[1].tolist() == alone.tolist()
    assert [own.shape for own in tagger.predict_proba(xs, edges=edges)] == [(N, 2)] * 4
    assert tagger.score(xs, ys, edges=edges) > 0.8


def test_a_classifier_scores_nodes():
    classifier = LogisticRegression()
    tagger = GraphTagger(classifier, "separate", symmetric="edge").fit(X, PARTLY, edges=E)
    assert tagger.score(X, Y, edges=E) > 0.8
    assert not hasattr(classifier, "classes_")  # copies are fitted
    assert tagger.tagger_.classifier is not None
    by_row = GraphTagger(LogisticRegression(), "separate").fit(sparse.csr_matrix(X), PARTLY, edges=E)
    assert by_row.score(sparse.csr_matrix(X), Y, edges=E) > 0.8


def test_types_features_and_symmetry_of_edges():
    edges = {"same": E, "next": np.array([(i, i + 1) for i in range(N - 1)])}
    numbers = {"next": np.ones((N - 1, 1))}
    tagger = GraphTagger(method="separate", symmetric={"same"}).fit(X, Y, edges=edges, edge_features=numbers)
    graph = tagger.tagger_.model.graph
    assert graph is not None
    assert {own.type: own.symmetric for own in graph.edges} == {"same": True, "next": False}
    assert tagger.predict(X, edges={"next": edges["next"]}, edge_features=numbers).shape == (N,)
    with pytest.raises(DataError, match="nix"):
        GraphTagger(symmetric={"nix"}).fit(X, Y, edges=E)


def test_parameters_and_copies():
    tagger = GraphTagger(LogisticRegression(C=2.0), "separate", seed=3, options={"c2": 0.5})
    copy = clone(tagger)
    assert copy.get_params()["nodes__C"] == 2.0
    assert copy.set_params(nodes__C=1.0, method="polish", options=None).get_params(deep=False)["method"] == "polish"
    assert tagger.get_params(deep=False)["options"] == {"c2": 0.5}


@pytest.mark.parametrize("nodes", [None, LogisticRegression()])
def test_pickles_answer_the_same(nodes):
    """A pickle of the estimator has the classifier, though one of the tagger alone has not."""
    tagger = GraphTagger(nodes, "separate").fit(X, PARTLY, edges=E)
    again = pickle.loads(pickle.dumps(tagger))
    assert np.array_equal(again.predict_proba(X, edges=E), tagger.predict_proba(X, edges=E))
    assert tagger.tagger_.classifier is None or again.tagger_.classifier is not None


def test_wrong_calls():
    with pytest.raises(NotFittedError):
        GraphTagger().predict(X, edges=E)
    with pytest.raises(DataError, match="y is missing"):
        GraphTagger().fit(X, None, edges=E)
    with pytest.raises(DataError, match="no known label"):
        FITTED.score(X, [None] * N, edges=E)
    with pytest.raises(ConfigError, match="use one of 'polish'"):
        GraphTagger(method="perceptron").fit(X, Y, edges=E)
    with pytest.raises(ConfigError, match="must be the name of a method"):
        GraphTagger(method=corate.Separate()).fit(X, Y, edges=E)  # type: ignore[arg-type]


def test_saving_a_model_with_a_classifier_says_what_is_lost(tmp_path):
    tagger = GraphTagger(LogisticRegression(), "separate").fit(X, PARTLY, edges=E).tagger_
    with pytest.warns(UserWarning, match="the classifier of nodes is not saved.*node_log_probs"):
        tagger.save(tmp_path / "m.corate")
    with pytest.raises(DataError, match="node_log_probs"):
        corate.load(tmp_path / "m.corate").tag(corate.Corpus.from_graphs(X, edges=E))


def test_a_classifier_of_named_features_finds_them_by_name_in_other_graphs():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    edges = np.stack([np.arange(59), np.arange(1, 60)], axis=1)
    x = [{"a" if label else "b": 1.0} for label in y]
    tagger = corate.train(
        corate.Corpus.from_graphs(x, [str(label) for label in y], edges=edges), "separate", nodes=LogisticRegression()
    )
    other = [{"new": 1.0, "a" if label else "b": 1.0} for label in y[::-1]]  # names come in another order
    assert tagger.tag(corate.Corpus.from_graphs(other, edges=edges)) == [str(label) for label in y[::-1]]
