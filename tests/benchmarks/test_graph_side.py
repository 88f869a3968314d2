"""Corate's answers to tasks of the benchmark: several graphs, or a network with known labels."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.graph_rivals import accuracy
from benchmarks.graph_sets import Graph, Task, chain, made_up
from benchmarks.graph_side import corpus_of, digest, solved

from benchmarks import graph_sets


def pairs() -> Task:
    """Graphs whose second node has the label of the first one, which alone is seen."""
    rng = np.random.default_rng(0)
    graphs = []
    for label in rng.integers(0, 2, 80):
        x = np.array([[label, 1.0], [0.5, 0.0]], np.float32)
        graphs.append(Graph(x, np.array([label, label]), {"same": chain(2)}))
    return Task("pairs", graphs[:60], graphs[60:])


def test_graphs_are_answered_by_their_edges() -> None:
    task = pairs()
    found = solved(task, "separate")
    assert accuracy(task, found.answer.labels) == 100
    assert found.answer.log_loss < 0.3
    assert digest(found) == digest(solved(task, "separate", threads=2))


def test_training_on_a_network_gets_only_known_labels() -> None:
    task = made_up(300)
    corpus = corpus_of(task, task.train, labels=True)
    labels = [corpus.labels_of(0)[i] for i in range(300)]
    assert [label is None for label in labels] == [i % 2 == 1 for i in range(300)]
    assert corpus_of(task, task.test, labels=False).labels is None


@pytest.mark.parametrize("method", ["separate", "polish"])
def test_known_labels_of_a_network_are_kept(method: str) -> None:
    task = made_up(300)
    found = solved(task, method)
    known = task.known()
    names = np.array(found.tagger.labels)[found.marginals.argmax(axis=1)]
    assert all(names[node] == str(label) for node, label in known.items())
    assert accuracy(task, found.answer.labels) > 30  # of ten labels


def test_edge_features_reach_the_corpus() -> None:
    graph = graph_sets.snake(np.ones((2, 3), np.uint8), np.zeros(6, np.uint8))
    corpus = corpus_of(Task("one", [graph], []), [graph], labels=True)
    widths = {edges.type: edges.attributes.shape for edges in corpus.edges or () if edges.attributes is not None}
    assert widths == {"right": (4, 126), "down": (3, 126)}
