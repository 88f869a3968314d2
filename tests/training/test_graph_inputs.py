"""What training takes from corpora of graphs: columns without names of nodes, and log-probabilities by label."""

from __future__ import annotations

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError

PATH = np.stack([np.arange(59), np.arange(1, 60)], axis=1)
ROWS = np.log(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]] * 20))


def test_the_default_features_of_nodes_are_their_columns_without_their_names():
    nodes = "id,form,venue,y\n" + "".join(f"p{i},f,v{i % 3},{'AB'[i % 3 > 1]}\n" for i in range(60))
    edges = "l,r\n" + "".join(f"p{a},p{b}\n" for a, b in PATH.tolist())
    corpus = corate.read_graph(nodes.encode(), edges=edges.encode(), graph="form", label="y")
    tagger = corate.train(corpus)
    assert sorted(map(str, tagger.vocabulary.templates)) == ["venue[0]"]
    assert tagger.tag(corpus[0]) == corpus.labels_of(0)


def test_log_probabilities_are_matched_by_the_names_of_their_columns():
    tagger = corate.train(Corpus.from_graphs(None, ["x", "y", "x"] * 20, edges=PATH, node_log_probs=ROWS))
    as_trained = Corpus.from_graphs(None, edges=PATH, node_log_probs=ROWS)
    turned = Corpus.from_graphs(None, edges=PATH, node_log_probs=ROWS[:, ::-1], labels=["y", "x"])
    np.testing.assert_array_equal(tagger.marginals(as_trained), tagger.marginals(turned))
    other = Corpus.from_graphs(None, edges=PATH, node_log_probs=ROWS, labels=["x", "z"])
    with pytest.raises(DataError, match="a column for the label 'z', which the model does not know"):
        tagger.tag(other)


def test_columns_of_whole_numbers_are_in_the_order_of_the_numbers():
    rows = np.log(np.full((60, 11), 0.01) + 0.89 * np.eye(11)[np.arange(60) % 11])
    y = np.arange(60) % 11
    tagger = corate.train(Corpus.from_graphs(None, y, edges=PATH, node_log_probs=rows))
    found = tagger.tag(Corpus.from_graphs(None, edges=PATH, node_log_probs=rows))
    assert found == list(map(str, y))
