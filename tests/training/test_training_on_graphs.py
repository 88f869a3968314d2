"""Joint training on graphs, and what it may read: against enumeration, finite differences, and training on chains."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

import corate
from corate import Constraints, Tagger
from corate.corpus import Corpus
from corate.errors import ConfigError, DataError, ModelError
from corate.model.graph_scores import EdgeTable, NodeFeatures
from corate.training.graph_joint import Joint
from corate.training.graphs import GraphTraining
from corate.training.source import RunContext
from reference.enumerated_graphs import Enumerated, Graph, Type, random_graph, random_types
from reference.log_linear import Regression, differences

WIDTH = 2


# -- the likelihood ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """Graphs with labels, -1 where one is not known, and the negative log-likelihood of all of them together."""

    graphs: list[Graph]
    types: list[Type]
    training: GraphTraining
    k: int

    @classmethod
    def random(cls, seed: int, *, share: float, given: bool = False) -> Problem:
        """A problem of which a share of the labels is known."""
        rng = np.random.default_rng([5, seed])
        types, k = random_types(rng), int(rng.integers(2, 4))
        graphs = [random_graph(rng, types, loops=bool(g % 2), nodes=(2, 5)) for g in range(4)]
        n = sum(graph.n for graph in graphs)
        labels = np.where(rng.random(n) < share, rng.integers(k, size=n), -1).astype(np.int32)
        log_probs = rng.normal(size=(n, k))
        log_probs -= np.logaddexp.reduce(log_probs, axis=1, keepdims=True)
        stops = np.cumsum([graph.n for graph in graphs])[:-1]
        corpus = Corpus.from_graphs(
            np.split(rng.normal(size=(n, WIDTH)), stops),
            edges=[graph.pairs for graph in graphs],
            edge_features=[graph.features for graph in graphs],
            symmetric={own.name for own in types if own.symmetric},
            node_log_probs=np.split(log_probs, stops) if given else None,
        )
        rows = np.arange(n + 1, dtype=np.int64), rng.integers(3, size=n).astype(np.int32)
        features = NodeFeatures(rows, None, 3, corpus.vectors)
        if given:
            features = NodeFeatures((np.zeros(n + 1, np.int64), rows[1][:0]), None, 0, log_probs.astype(np.float32))
        training = GraphTraining(corpus.offsets, corpus.edges, features, labels, k, RunContext(), given)
        return cls(graphs, types, training, k)

    @cached_property
    def nodes(self) -> Regression:
        own = self.training.features
        return Regression.of(own.rows, own.values, own.n_names, own.vectors, np.arange(self.k), None)

    def split(self, weights: NDArray) -> tuple[NDArray, dict[str, NDArray]]:
        """The scores of nodes, and for each type ``(d + 1, k, k)``: U and T."""
        size = self.nodes.design.shape[1] * self.k
        nodes, rest, tables = self.nodes.scores(weights[:size]), weights[size:], {}
        for own in self.types:
            rows = (own.width or 0) + 1
            pairs = self.k * (self.k + 1) // 2 if own.symmetric else self.k**2
            flat, rest = rest[: rows * pairs].reshape(rows, pairs), rest[rows * pairs :]
            table = np.zeros((rows, self.k, self.k))
            if own.symmetric:
                a, b = np.triu_indices(self.k)
                table[:, a, b] = table[:, b, a] = flat
            else:
                table[:] = flat.reshape(rows, self.k, self.k)
            tables[own.name] = table
        assert not len(rest)
        return nodes, tables

    def loss(self, weights: NDArray) -> float:
        """-log P(known labels), by enumeration."""
        nodes, tables = self.split(weights)
        total, start = 0.0, 0
        for graph in self.graphs:
            edges = []
            for own in self.types:
                z = graph.features.get(own.name, np.zeros((len(graph.pairs[own.name]), 0)))
                for pair, features in zip(graph.pairs[own.name].tolist(), z, strict=True):
                    left, right = sorted(pair) if own.symmetric else pair
                    edges.append((left, right, np.tensordot(np.append(features, 1.0), tables[own.name], 1)))
            here = slice(start, start + graph.n)
            labels = self.training.labels[here]
            allowed = (labels[:, None] < 0) | (labels[:, None] == np.arange(self.k))
            total += Enumerated.of(nodes[here], edges).log_z - Enumerated.of(nodes[here], edges, allowed).log_z
            start += graph.n
        return total


def penalty(problem: Problem, c2: float, edge_c2: float, bias_c2: float) -> NDArray:
    """The prior's weight of each weight, by its definition: c2 times the mean square where a feature is not 0."""
    design = problem.nodes.design
    squares = (design**2).sum(axis=0) / np.maximum((design != 0).sum(axis=0), 1)
    precision = [np.repeat(np.append(c2 * squares[:-1], bias_c2), problem.k)]
    for own, edges in zip(problem.types, problem.training.edges, strict=True):
        z = np.zeros((0, 0)) if edges.attributes is None else edges.attributes.astype(np.float64)
        squares = (z**2).sum(axis=0) / np.maximum((z != 0).sum(axis=0), 1)
        pairs = problem.k * (problem.k + 1) // 2 if own.symmetric else problem.k**2
        precision.append(np.repeat(np.append(edge_c2 * squares, edge_c2), pairs))
    return np.concatenate(precision)


@pytest.mark.parametrize("given", [False, True], ids=["features", "given"])
@pytest.mark.parametrize("share", [1.0, 0.6], ids=["all known", "some unknown"])
@pytest.mark.parametrize("seed", range(8))
def test_the_joint_likelihood_and_its_gradient_equal_enumeration(seed: int, share: float, given: bool) -> None:
    problem = Problem.random(seed, share=share, given=given)
    joint = Joint(problem.training, 0.7, 0.4, bias_c2=0.2)
    rng = np.random.default_rng([6, seed])
    weights = rng.normal(0, 0.7, len(joint.scale))
    precision, center = penalty(problem, 0.7, 0.4, 0.2), np.zeros(len(weights))
    center[: len(joint.center)] = joint.center

    def value(free: NDArray) -> float:
        own = free / joint.scale
        return problem.loss(own) + 0.5 * float((precision * (own - center) ** 2).sum())

    found, gradient = joint.objective(weights * joint.scale)
    np.testing.assert_allclose(found, value(weights * joint.scale), rtol=1e-5, atol=1e-5)
    slopes = differences(value, weights * joint.scale)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=2e-5)
    again, same = joint.objective(weights * joint.scale)  # messages begin where they were
    np.testing.assert_allclose(again, found, rtol=1e-9)
    np.testing.assert_allclose(same, gradient, rtol=1e-5, atol=1e-6)


def test_weights_and_tables_are_the_same_after_a_round_trip() -> None:
    for seed in range(6):
        problem = Problem.random(seed, share=0.8)
        joint = Joint(problem.training, 1.0, 1.0)
        weights = np.random.default_rng(seed).normal(size=len(joint.scale)).astype(np.float32).astype(np.float64)
        nodes, tables = joint.parts(weights * joint.scale)
        np.testing.assert_allclose(joint.vector(nodes, tables), weights * joint.scale, rtol=1e-6)
        scores = problem.split(weights)[1]
        for own in tables:
            assert isinstance(own, EdgeTable)
            np.testing.assert_allclose(own.table, scores[own.type][-1], rtol=1e-6)
            np.testing.assert_allclose(own.weights, scores[own.type][:-1], rtol=1e-6)


# -- chains ------------------------------------------------------------------------------------------------------------


def chains(rng: np.random.Generator, k: int) -> tuple[list[list[list[str]]], list[list[str]]]:
    """Sentences of one named feature a token, and their labels. Each feature occurs with each label."""
    turn = np.roll([0.7, 0.2, 0.1] + [0.0] * (k - 3), 1)
    features = [[["w0"]] * k]
    labels = [list("ABCD"[:k])]
    for own in range(1, 3 * k):
        features.append([[f"w{own}"]] * k)
        labels.append(list("ABCD"[:k]))
    for _ in range(40):
        y = [int(rng.integers(k))]
        for _ in range(int(rng.integers(7))):
            y.append(int(rng.choice(k, p=np.roll(turn, y[-1]))))
        own = [int(rng.integers(3)) + 3 * tag if rng.random() < 0.7 else int(rng.integers(3 * k)) for tag in y]
        features.append([[f"w{i}"] for i in own])
        labels.append(["ABCD"[tag] for tag in y])
    return features, labels


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("c2", [0.1, 1.0])
def test_a_chain_with_written_edges_is_trained_as_sentences_are(k: int, c2: float) -> None:
    """Of the same likelihood and the same prior: the weight of all squares."""
    features, labels = chains(np.random.default_rng([9, k]), k)
    edges = [np.stack([np.arange(len(y) - 1), np.arange(1, len(y))], axis=1) for y in labels]
    graphs = Corpus.from_graphs(features, labels, edges=edges)
    options = {"c2": c2, "iterations": 2000}
    of_graphs = corate.train(graphs, "standard", **options)
    whole = {"order": 1, "all_labels": True, "boundaries": False}
    of_sentences = corate.train(Corpus.from_features(features, labels), "standard", **options, **whole)
    assert of_graphs.labels == of_sentences.labels
    assert of_graphs.tag_all(graphs) == of_sentences.tag_all(features)
    sentences = of_sentences.lattice(features)
    np.testing.assert_allclose(
        of_graphs.graph_lattice(graphs).label_marginals().ravel(), sentences.marginals()[1], atol=2e-3
    )
    np.testing.assert_allclose(
        of_graphs.model.graph.edges[0].table, of_sentences.model.edges.dense()[:k, :k], atol=1e-2
    )
    np.testing.assert_allclose(of_graphs.model.bias, of_sentences.model.bias, atol=1e-2)


# -- what training reads -----------------------------------------------------------------------------------------------

METHODS = ("separate", "standard", "polish")


def network(seed: int = 0, n: int = 80, share: float = 1.0, **options: object) -> tuple[Corpus, NDArray]:
    """One graph with two types of edges, whose ends often have equal labels, and all labels of its nodes."""
    rng = np.random.default_rng([11, seed])
    y = rng.integers(3, size=n)
    x = np.eye(3)[y] + rng.normal(0, 0.8, (n, 3))
    every = np.array([(a, b) for a in range(n) for b in range(a) if abs(a - b) < 9])
    keep = rng.random(len(every)) < np.where(y[every[:, 0]] == y[every[:, 1]], 0.3, 0.05)
    near = every[keep]
    hidden = rng.random(n) >= share
    names = np.array(["a", "b", "c"], object)[y]
    given = {"edges": {"near": near, "next": np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)}}
    return Corpus.from_graphs(x, np.where(hidden, None, names).tolist(), **{**given, **options}), names


def arrays_of(tagger: Tagger) -> list[NDArray]:
    graph = tagger.model.graph
    assert graph is not None
    return [tagger.model.bias, tagger.model.weights.scores, graph.vectors, *(own.table for own in graph.edges)]


def same(one: Tagger, two: Tagger) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(arrays_of(one), arrays_of(two), strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_training_gives_the_same_bytes_again_and_with_any_threads(method: str) -> None:
    corpus, _ = network(share=0.5, symmetric={"near"})
    one = corate.train(corpus, method, seed=3)
    assert same(one, corate.train(corpus, method, seed=3))
    assert same(one, corate.train(corpus, method, seed=3, threads=2))


def test_the_seed_draws_the_folds() -> None:
    corpus, _ = network()
    assert not same(corate.train(corpus, "polish", seed=1), corate.train(corpus, "polish", seed=2))


@pytest.mark.parametrize("method", METHODS)
def test_answers_do_not_read_the_labels_of_the_corpus(method: str) -> None:
    """Nor does training read a label that is not known: it is not in the corpus."""
    corpus, names = network(share=0.5)
    tagger = corate.train(corpus, method)
    other = np.random.default_rng(1).permutation(names).tolist()
    bare = replace(corpus, labels=None)
    turned = [Corpus.from_graphs(corpus.vectors, y, edges={}).labels for y in (other, names.tolist(), [None] * 80)]
    best = tagger.tag(bare)
    for labels in turned:
        graph = replace(corpus, labels=labels)
        assert tagger.tag(graph) == best
        assert tagger.tag_all(graph) == [best]
        assert tagger.tag_corpus(graph).values() == best
        assert tagger.lattice(graph).tag() == [best]
        assert tagger.marginals(graph) == tagger.marginals(bare)
    report = corate.evaluate(tagger, replace(corpus, labels=turned[0]))
    assert report.accuracy == np.mean([a == b for a, b in zip(best, other, strict=True)])
    assert corate.evaluate(tagger, replace(corpus, labels=turned[1])).accuracy > 0.6


@pytest.mark.parametrize("method", METHODS)
def test_a_label_that_no_known_node_has_is_not_a_label_of_the_model(method: str) -> None:
    """A part of a corpus has the table of labels of the whole corpus, and training must not see it."""
    (train, _), (test, names) = network(0), network(1)
    renamed = ["only in the test part" if name == "a" else str(name) for name in names]
    test = replace(test, labels=Corpus.from_graphs(test.vectors, renamed, edges={}).labels)
    part = Corpus.joined([train, test])[0]
    tagger = corate.train(part, method)
    assert "only in the test part" in part.labels.strings.to_list()
    assert sorted(tagger.labels) == ["a", "b", "c"]
    assert tagger.tag(test) == corate.train(train, method).tag(test)


def test_known_labels_enter_by_constraints() -> None:
    corpus, names = network(share=0.5)
    tagger = corate.train(corpus, "separate")
    known = {i: name for i, name in enumerate(corpus.labels_of(0)) if name is not None}
    found = tagger.tag(corpus, constraints=Constraints(labels=known))
    assert [found[i] for i in known] == list(known.values())
    free = [i for i in range(80) if i not in known]
    alone = tagger.tag(corpus)
    right = [np.mean([labels[i] == names[i] for i in free]) for labels in (found, alone)]
    assert right[0] >= right[1]


def test_edges_help_where_neighbours_have_equal_labels() -> None:
    (train, _), (test, names) = network(2, 300), network(3, 300)
    bare = [replace(corpus, edges=()) for corpus in (train, test)]
    alone = np.mean(np.array(corate.train(bare[0], "separate").tag(bare[1])) == names)
    for method in METHODS:
        tagger = corate.train(train, method)
        assert np.mean(np.array(tagger.tag(test)) == names) > alone + 0.05
        rates = tagger.edge_rates("near")
        assert min(rates[y, y] for y in "abc") > max(rate for (y, z), rate in rates.items() if y != z)


# -- what training refuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_training_without_known_labels_is_refused(method: str) -> None:
    corpus, _ = network(share=0.0)
    with pytest.raises(DataError, match=r"every label is unknown .*; label some nodes"):
        corate.train(corpus, method)
    with pytest.raises(DataError, match=r"the nodes have no labels; give them to Corpus\.from_graphs as y"):
        corate.train(replace(corpus, labels=None), method)
    with pytest.raises(DataError, match="the corpus has no graphs"):
        corate.train(Corpus.from_graphs([], edges=[]), method)
    with pytest.raises(DataError, match="graph 0: the label of node 1 is empty"):
        corate.train(Corpus.from_graphs([["x"], ["x"]], ["a", ""], edges={}), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_known_label_is_the_answer_everywhere(method: str) -> None:
    corpus, _ = network()
    one = replace(corpus, labels=Corpus.from_graphs(corpus.vectors, ["a"] + [None] * 79, edges={}).labels)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no edge of the type")
        tagger = corate.train(one, method)
    assert tagger.labels == ["a"]
    assert tagger.tag(corpus) == ["a"] * 80
    assert tagger.confidence(corpus) == pytest.approx(1.0)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_graphs_than_folds_and_fewer_known_labels_are_enough(method: str) -> None:
    corpora = [network(seed, 20)[0] for seed in (1, 2, 3)]
    tagger = corate.train(Corpus.joined(corpora), method)
    assert sorted(tagger.labels) == ["a", "b", "c"]
    few = ["a", "b", "c", *[None] * 17]
    labels = Corpus.from_graphs(corpora[0].vectors, few, edges={}).labels
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no edge of the type")
        tagger = corate.train(replace(corpora[0], labels=labels), method)
    assert len(tagger.tag(corpora[1])) == 20


@pytest.mark.parametrize("method", ["separate", "polish"])
def test_a_type_without_an_edge_between_labelled_nodes_is_named(method: str) -> None:
    rng = np.random.default_rng(12)
    y = [name if i % 2 else None for i, name in enumerate(rng.choice(["a", "b"], 40).tolist())]
    pairs = {"next": np.stack([np.arange(39), np.arange(1, 40)], axis=1), "over": np.array([[1, 3], [3, 5]])}
    x = rng.normal(size=(40, 2))
    with pytest.warns(UserWarning, match="no edge of the type 'next' has known labels at both ends") as warned:
        tagger = corate.train(Corpus.from_graphs(x, y, edges=pairs), method)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert {own.type for own in tagger.model.graph.edges} == {"next", "over"}
    with pytest.warns(UserWarning, match="'next' .*, so nothing is learned for it; .* use the method 'standard'"):
        corate.train(Corpus.from_graphs(x, y, edges=pairs, edge_features={"next": np.ones((39, 1))}), method)


def test_log_probabilities_of_nodes_must_be_finite_and_of_the_labels() -> None:
    good = np.log(np.full((4, 2), 0.5))
    pairs, y = np.array([[0, 1], [1, 2], [2, 3]]), ["a", "b", "a", "b"]
    for value in (np.nan, np.inf, -np.inf):
        bad = good.copy()
        bad[2, 1] = value
        with pytest.raises(DataError, match=f"node 2: a log-probability is {value}; give no label the probability 0"):
            Corpus.from_graphs(None, y, edges=pairs, node_log_probs=bad)
    tagger = corate.train(Corpus.from_graphs(None, y, edges=pairs, node_log_probs=good), "separate")
    with pytest.raises(DataError, match="log-probabilities of 2 labels for each node; there are none"):
        tagger.tag(Corpus.from_graphs(np.ones((4, 2)), edges=pairs))
    with pytest.raises(DataError, match="log-probabilities of 2 labels for each node; there are those of 3"):
        tagger.tag(Corpus.from_graphs(None, edges=pairs, node_log_probs=np.log(np.full((4, 3), 1 / 3))))


def test_nodes_without_features_are_refused() -> None:
    with pytest.raises(DataError, match="the nodes have no features; give columns, features, vectors or"):
        corate.train(Corpus.from_graphs(None, ["a", "b"], edges=np.array([[0, 1]])))


def test_models_of_sentences_and_of_graphs_refuse_the_data_of_each_other() -> None:
    graphs, _ = network()
    sentences = Corpus.from_sentences([[("the", "D"), ("dog", "N")], [("a", "D")]])
    of_graphs, of_sentences = corate.train(graphs, "separate"), corate.train(sentences)
    for ask in (of_sentences.tag_all, of_sentences.tag_corpus, of_sentences.lattice):
        with pytest.raises(DataError, match="trained on sentences, so it does not see the edges of graphs"):
            ask(graphs)
    with pytest.raises(DataError, match="a sentence must be a list of tokens, not a Corpus"):
        of_sentences.tag(graphs)
    with pytest.raises(DataError, match="trained on sentences"):
        corate.evaluate(of_sentences, graphs)
    with pytest.raises(ModelError, match="labels sentences, which have no typed edges; use pair_marginals"):
        of_sentences.edge_marginals(graphs, "near")
    for ask in (of_graphs.tag_all, of_graphs.tag_corpus, of_graphs.lattice):
        with pytest.raises(DataError, match="labels the nodes of graphs, and this is a corpus of sentences"):
            ask(sentences)
        with pytest.raises(DataError, match="labels the nodes of graphs, and this is a list"):
            ask([["the", "dog"]])
    with pytest.raises(DataError, match="labels the nodes of graphs"):
        corate.evaluate(of_graphs, sentences)
    with pytest.raises(DataError, match="no edges of the type 'far'; its types are"):
        of_graphs.edge_rates("far")


@pytest.mark.parametrize("method", ["empirical", "memm", "perceptron", "piecewise"])
def test_methods_for_sentences_are_refused(method: str) -> None:
    with pytest.raises(ConfigError, match=f"the method '{method}' labels sentences, and the corpus has graphs"):
        corate.train(network()[0], method)


@pytest.mark.parametrize("method", ["standard", "polish"])
def test_features_that_are_always_zero_need_no_prior(method: str) -> None:
    corpus, names = network()
    more = np.concatenate([corpus.vectors, np.zeros((80, 1)), np.ones((80, 1))], axis=1).astype(np.float32)
    wide = replace(corpus, vectors=more)
    tagger = corate.train(wide, method, c2=0.0)
    assert tagger.record["c2"] == 0.0
    assert np.mean(np.array(tagger.tag(wide)) == names) > 0.7


@pytest.mark.parametrize(("stage", "complete"), [("polishing a part", False), ("fitting nodes", None)])
def test_an_interrupted_polish_keeps_the_separate_factors(stage: str, complete: bool | None) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, (30, 6))
    x = [[[f"f{int(label if rng.random() < 0.8 else 1 - label)}"] for label in row] for row in y]
    edges = [np.stack([np.arange(5), np.arange(1, 6)], axis=1)] * 30
    corpus = corate.Corpus.from_graphs(x, [[str(label) for label in row] for row in y], edges=edges)

    def stop(event: corate.ProgressEvent) -> None:
        if event.stage == stage:
            raise KeyboardInterrupt

    if complete is None:
        with pytest.raises(KeyboardInterrupt):
            corate.train(corpus, progress=stop)
        return
    with pytest.warns(UserWarning, match="interrupted"):
        tagger = corate.train(corpus, progress=stop)
    assert tagger.record["interrupted"]
    separate = corate.train(corpus, "separate")
    assert tagger.tag(corpus[0]) == separate.tag(corpus[0])
    np.testing.assert_array_equal(tagger.model.graph.edges[0].table, separate.model.graph.edges[0].table)
