"""What graph models are compared with, on tiny graphs."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.graph_rivals import Answer
from benchmarks.graph_sets import Graph, Task, chain, grids, network

from benchmarks import graph_rivals


def cliques() -> Task:
    """Two triangles, one label known in each, and a node that no edge reaches."""
    edges = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]])
    labels = np.array([4, 4, 4, 9, 9, 9, 9])
    x = np.zeros((7, 1), np.float32)
    return network("cliques", x, labels, {"e": edges}, np.array([0, 3]), np.array([1, 2, 4, 5, 6]), {"e"})


def words() -> Task:
    """Sentences whose words tell the labels, except for one that depends on the label before it."""
    graphs = []
    for kind in ("a", "b") * 20:
        x = [{"word": kind}, {"word": "either"}]
        graphs.append(Graph(x, np.array([kind, kind.upper()], dtype=object), {"next": chain(2)}))
    return Task("words", graphs[:30], graphs[30:])


def test_labels_spread_along_edges_and_not_beyond() -> None:
    task = cliques()
    answer = graph_rivals.propagated(task)
    assert answer.labels[:4].tolist() == ["4", "4", "9", "9"]
    assert graph_rivals.accuracy(task, answer.labels) >= 80
    # The node without edges gets the shares of the known labels, one half each.
    assert answer.log_loss == pytest.approx(np.log(2) / 5, abs=1e-3)


def test_a_classifier_of_nodes_cannot_use_what_a_chain_can() -> None:
    task = words()
    nodes = graph_rivals.classified(task, graph_rivals.trees)
    assert graph_rivals.accuracy(task, nodes.labels) == pytest.approx(75)
    for method in ("standard", "polish"):
        assert graph_rivals.accuracy(task, graph_rivals.chained(task, method).labels) == 100


def test_classifiers_of_networks_see_only_known_labels() -> None:
    task = cliques()
    x, y, unseen = graph_rivals.labelled(task, lambda graph: graph.x)
    assert (len(x), y.tolist(), len(unseen)) == (2, ["4", "9"], 5)


def test_the_log_loss_of_an_unseen_label_is_finite() -> None:
    task = Task("one", [], [Graph(np.zeros((2, 1)), np.array([1, 2]), {})])
    found = graph_rivals.log_loss(task, ["1"], np.array([[0.5], [1.0]]))
    assert found == pytest.approx((np.log(2) + 12 * np.log(10)) / 2)


def test_the_penalty_is_chosen_where_few_nodes_have_labels() -> None:
    assert hasattr(graph_rivals.logistic(100), "param_grid")
    assert not hasattr(graph_rivals.logistic(graph_rivals.FEW), "param_grid")


def test_seconds_are_those_of_training_and_answering() -> None:
    assert Answer(np.zeros(0), 0.0, 1.5, 0.5).seconds == 2.0


def test_the_true_field_is_better_than_its_nodes_and_knows_how_sure_it_is() -> None:
    task = next(grids(True, images=4))
    nodes = graph_rivals.classified(task, graph_rivals.logistic)
    true = graph_rivals.true_grids(task, sweeps=200)
    assert graph_rivals.accuracy(task, true.labels) > graph_rivals.accuracy(task, nodes.labels) + 4
    assert true.log_loss < nodes.log_loss - 0.1
