"""Explanations of nodes of graphs: terms that sum to the difference of the two best labellings."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import corate
from corate import Corpus, DataError, Tagger
from corate.model.explanation import Explanation, Question
from labelled_graphs import LABELS, TYPES, labelled_graphs

GRAPHS = labelled_graphs(15, 1)
TEST = labelled_graphs(6, 2)
FORESTS = labelled_graphs(4, 3, types=1)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return corate.train(GRAPHS, "standard", iterations=20)


def best_with(tagger: Tagger, graph: Corpus, node: int, label: str) -> float:
    """The log-probability of the best labelling with a label at a node, by trying all labellings."""
    lattice, names = tagger.graph_lattice(graph), tagger.labels
    scores = {y: lattice.field.score(np.array(y)) for y in product(range(len(names)), repeat=graph.n_tokens)}
    log_z = math.log(sum(map(math.exp, scores.values())))
    return max(score for y, score in scores.items() if names[y[node]] == label) - log_z


def total(found: Explanation) -> float:
    return sum(c.score for c in found.contributions)


@pytest.mark.parametrize("graphs", [FORESTS, TEST[:4]], ids=["forests", "loops"])
def test_terms_sum_to_the_difference_of_the_two_best_labellings(tagger: Tagger, graphs: Corpus) -> None:
    for g in range(len(graphs)):
        for node in (0, 3):
            found = tagger.explain(graphs[g], node)
            by_label = {y: best_with(tagger, graphs[g], node, y) for y in tagger.labels}
            first, second = by_label.pop(found.label), max(by_label.values())
            assert found.difference == pytest.approx(first - second, abs=1e-5)
            assert total(found) == pytest.approx(found.difference, abs=1e-5)
            assert found.label == tagger.tag(graphs[g])[node]
            for labels, own in ((found.labels, first), (found.labels_against, second)):
                assert tagger.score(graphs[g], labels) == pytest.approx(own, abs=1e-5)


def test_labels_can_be_chosen(tagger: Tagger) -> None:
    graph = TEST[0]
    usual = tagger.explain(graph, 2)
    third = next(y for y in LABELS if y not in (usual.label, usual.against))
    found = tagger.explain(graph, 2, third, usual.label)
    assert (found.label, found.against, found.unit) == (third, usual.label, "node")
    expected = best_with(tagger, graph, 2, third) - best_with(tagger, graph, 2, usual.label)
    assert found.difference == pytest.approx(expected, abs=1e-5)
    assert tagger.explain(graph, 2, against=usual.label).label != usual.label
    assert tagger.explain(graph, 2, third).label == third


def test_each_feature_column_and_neighbour_has_its_own_term(tagger: Tagger) -> None:
    graph = Corpus.from_graphs(
        {"features": [{"w0": 1.0, "new": 1.0}, ["w1"], ["w2"]], "vectors": np.array([[2.0, 0.0], [0, 1], [0, 1]])},
        edges={TYPES[0]: np.array([[0, 1]]), TYPES[1]: np.array([[0, 2]])},
        edge_features={TYPES[0]: np.ones((1, 2))},
        symmetric={TYPES[1]},
    )
    found = tagger.explain(graph, 0)
    terms = {(c.source, c.name.partition(":")[0]): c.score for c in found.contributions}
    y, z = (tagger.labels.index(name) for name in (found.label, found.against or ""))
    model = tagger.model
    assert model.graph is not None
    assert terms["feature", "vector[0]"] == pytest.approx(2 * (model.graph.vectors[0, y] - model.graph.vectors[0, z]))
    weights, names = tagger.strongest(1000)
    by_name = {(w.feature, w.label): w.weight for w in (*weights, *names)}
    expected = by_name.get(("w0", found.label), 0) - by_name.get(("w0", found.against), 0)
    assert terms["feature", "w0"] == pytest.approx(expected, abs=1e-6)
    assert terms["bias", "the labels themselves"] == pytest.approx(model.bias[y] - model.bias[z])
    others = [tuple(map(tagger.labels.index, own)) for own in (found.labels[1:], found.labels_against[1:])]
    table = model.graph.edges[0].table + model.graph.edges[0].weights.sum(axis=0)
    assert terms["edges", "next to node 1"] == pytest.approx(table[y, others[0][0]] - table[z, others[1][0]], abs=1e-5)
    table = model.graph.edges[1].table
    assert terms["edges", "0 with node 2"] == pytest.approx(table[y, others[0][1]] - table[z, others[1][1]], abs=1e-5)
    assert "next from node 0" in str(tagger.explain(graph, 1))
    assert str(found).startswith(f"node 0: {found.label} and not {found.against}, difference +")
    assert not any("new" in name for _, name in terms)  # a feature that training did not have


def test_a_neighbour_that_changes_is_named_with_both_labels() -> None:
    """Two nodes that must be alike: what the second says counts, too."""
    graphs = Corpus.from_graphs([["a"], ["b"], [], []], list("XYXX"), edges=np.array([[0, 2], [2, 3]]))
    tagger = corate.train(graphs, "standard")
    graph = tagger.model.graph
    assert graph is not None
    alike = replace(graph, edges=(replace(graph.edges[0], table=np.diag([3, 4]).astype(np.float32)),))
    tagger = replace(tagger, model=replace(tagger.model, graph=alike))
    found = tagger.explain(Corpus.from_graphs([[], ["b"]], edges=np.array([[0, 1]])), 0, "Y", "X")
    assert (found.labels, found.labels_against) == (["Y", "Y"], ["X", "X"])
    assert ("edges", "edge to node 1: Y, against X", 1.0) in found.contributions
    assert {c.source for c in found.contributions} == {"bias", "edges", "elsewhere"}


def test_given_log_probabilities_are_one_term() -> None:
    log_probs = np.log([[0.7, 0.2, 0.1]] * 3 + [[0.1, 0.8, 0.1]] * 3)
    edges = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
    graph = Corpus.from_graphs(None, list("AAABBC"), edges=edges, node_log_probs=log_probs, labels=LABELS)
    found = corate.train(graph, "separate").explain(graph, 0, "A", "B")
    terms = {c.source: c for c in found.contributions}
    assert terms["given"].score == pytest.approx(math.log(3.5), abs=1e-5)
    assert total(found) == pytest.approx(found.difference, abs=1e-6)


def test_on_large_loops_the_terms_sum_to_the_difference_of_what_messages_find(tagger: Tagger) -> None:
    n = 12
    grid = [(i * n + j, i * n + j + 1) for i in range(n) for j in range(n - 1)]
    grid += [(i * n + j, i * n + j + n) for i in range(n - 1) for j in range(n)]
    rng = np.random.default_rng(0)
    x = {"features": [[f"w{v}"] for v in rng.integers(3, size=n * n)], "vectors": rng.normal(size=(n * n, 2))}
    graph = Corpus.from_graphs(x, edges={TYPES[1]: np.array(grid)}, symmetric={TYPES[1]})
    assert not tagger.inference(graph).exact
    found = tagger.explain(graph, 70)
    assert total(found) == pytest.approx(found.difference, abs=1e-4)
    assert (found.label, len(found.labels)) == (tagger.tag(graph)[70], n * n)
    lattice = tagger.graph_lattice(graph)
    ids = [np.array([LABELS.index(y) for y in own]) for own in (found.labels, found.labels_against)]
    assert lattice.field.score(ids[0]) - lattice.field.score(ids[1]) == pytest.approx(found.difference)


def test_many_nodes_are_explained_together(tagger: Tagger) -> None:
    asked = [Question(3, 1), Question(0, 5, "A"), Question(3, 2)]
    found = tagger.explanations(TEST, asked, most=2)
    assert [len(own.contributions) for own in found] == [2, 2, 2]
    for question, own in zip(asked, found, strict=True):
        alone = tagger.explain(TEST[question.sentence], question.position, question.label)
        assert (own.label, own.difference) == (alone.label, alone.difference)
        assert own.contributions == alone.contributions[:2]
        assert own.others == len(alone.contributions) - 2


def test_a_model_with_one_label_says_so() -> None:
    graph = Corpus.from_graphs([["a"], ["b"]], list("XX"), edges=np.array([[0, 1]]))
    found = corate.train(graph, "separate").explain(graph, 1)
    assert str(found) == "node 1: X; the model knows no other label for this node"


def test_wrong_questions_are_refused(tagger: Tagger) -> None:
    with pytest.raises(DataError, match="no node 6; the graph has 6 nodes, from 0"):
        tagger.explain(TEST[0], 6)
    with pytest.raises(DataError, match="no node -1"):
        tagger.explain(TEST[0], -1)
    with pytest.raises(DataError, match="no label 'Z'"):
        tagger.explain(TEST[0], 0, "Z")
    with pytest.raises(DataError, match="both 'A'"):
        tagger.explain(TEST[0], 0, "A", "A")
    with pytest.raises(DataError, match="one graph"):
        tagger.explain(TEST, 0)
    with pytest.raises(DataError, match="nodes of graphs"):
        tagger.explain(["a", "b"], 0)


# -- weights -----------------------------------------------------------------------------------------------------------


def test_the_strongest_features_include_columns_of_vectors() -> None:
    x = {"features": [["f"], []] * 4, "vectors": np.array([[0, 5, 0], [0, -5, 0]] * 4)}
    tagger = corate.train(Corpus.from_graphs(x, list("XY" * 4), edges={}), "standard")
    favoured, opposed = tagger.strongest(100)
    graph = tagger.model.graph
    assert graph is not None
    every = {(w.feature, w.label): w.weight for w in (*favoured, *opposed)}
    assert every["vector[1]", "X"] == graph.vectors[1, 0] > 0 > every["vector[1]", "Y"] == graph.vectors[1, 1]
    assert ("f", "X") in every
    assert [w.weight for w in favoured] == sorted((w.weight for w in favoured), reverse=True)
    assert not any(name in ("vector[0]", "vector[2]") for name, _ in every)  # they are 0 everywhere


def test_rates_of_graphs_are_those_of_a_type(tagger: Tagger) -> None:
    with pytest.raises(corate.ModelError, match="graphs; use edge_rates"):
        tagger.rates()
    assert set(tagger.edge_rates(TYPES[0])) == set(product(LABELS, repeat=2))
