"""Reports and predictions about graphs: known labels, scores by label, and probabilities of whole labellings."""

from __future__ import annotations

import numpy as np
import pytest

import corate
from corate.errors import ConfigError
from corate.evaluation.active import most_informative
from corate.evaluation.predictions import predict
from labelled_graphs import labelled_graphs

GRAPHS = labelled_graphs(12, 1)
TAGGER = corate.train(GRAPHS, "separate")


def grid(size: int) -> corate.Corpus:
    """A grid that is too wide for exact answers."""
    cells = np.arange(size * size).reshape(size, size)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    labels = np.random.default_rng(0).integers(3, size=size * size)
    return corate.Corpus.from_graphs(np.eye(3)[labels], labels, edges=np.concatenate([across, down]))


def test_a_report_counts_known_nodes_and_scores_each_label():
    report = corate.evaluate(TAGGER, GRAPHS)
    pairs = list(zip(GRAPHS.labels.values(), TAGGER.tag_corpus(GRAPHS).values(), strict=True))
    known = [(gold, ours) for gold, ours in pairs if gold is not None]
    assert len(known) < len(pairs)
    assert (report.tokens, report.sentences, report.units) == (len(known), 12, ("graph", "node"))
    assert report.accuracy == sum(gold == ours for gold, ours in known) / len(known)
    for label, score in report.types.items():
        right = sum(gold == ours == label for gold, ours in known)
        assert score.support == sum(gold == label for gold, _ in known)
        assert score.predicted == sum(ours == label for _, ours in known)
        assert (score.precision, score.recall) == (right / score.predicted, right / score.support)
    assert report.f1 is None
    assert "nodes, 12 graphs" in repr(report)
    assert "sentence" not in str(report)
    assert "units" not in report.to_dict()


def test_a_report_of_sentences_has_no_scores_by_label():
    sentences = corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]])
    report = corate.evaluate([["DET", "DET"]], sentences)
    assert (report.types, report.units) == ({}, ("sentence", "token"))


def test_predictions_are_those_of_the_lattice():
    found, lattice = predict(TAGGER, GRAPHS), TAGGER.graph_lattice(GRAPHS)
    ids, p = lattice.label_ids(), lattice.label_marginals()
    assert found.labels.ids.tolist() == ids.tolist()
    assert found.probabilities == pytest.approx(p[np.arange(len(ids)), ids])
    scores = [TAGGER.score(GRAPHS[g], labels) for g, labels in enumerate(TAGGER.tag_all(GRAPHS))]
    assert found.log_probabilities == pytest.approx(np.array(scores))
    assert most_informative(TAGGER, GRAPHS, 1).tolist() == [int(np.argmin(found.log_probabilities))]


def test_whole_graphs_have_no_probability_where_inference_is_approximate():
    graph = grid(24)
    tagger = corate.train(graph, "separate")
    assert not tagger.inference(graph).exact
    assert np.isnan(predict(tagger, graph).log_probabilities).all()
    with pytest.raises(ConfigError, match="choose by entropy"):
        most_informative(tagger, graph, 1)
    assert most_informative(tagger, graph, 1, by="entropy").tolist() == [0]
