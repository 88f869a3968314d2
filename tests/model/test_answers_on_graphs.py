"""All answers about graphs against enumeration of all labellings, for models made by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

from corate import Constraints, Tagger
from corate.corpus import Corpus, StringTable
from corate.errors import ConfigError, DataError, ModelError
from corate.features.vocabulary import Vocabulary
from corate.model.chain import ChainModel
from corate.model.graph_lattice import GraphLattice
from corate.model.graph_scores import EdgeTable, GraphScores
from corate.rows import SparseRows
from reference.enumerated_graphs import Enumerated, Graph, Type, random_graph, random_types

#: Corpora, and graphs in each.
CORPORA, GRAPHS = range(20), 25
#: How nodes are described: by named features, by numbers, by both, or by probabilities of another model.
DESCRIBED = ("names", "vectors", "both", "given")
FEATURES, WIDTH, WORDS = 5, 3, ("a", "b", "c")
EXACT = {"rtol": 1e-6, "atol": 1e-6}


@dataclass(frozen=True, eq=False)
class Case:
    """Graphs, a tagger of them, and the scores that its weights give to nodes and edges."""

    graphs: list[Graph]
    types: list[Type]
    tables: dict[str, EdgeTable]
    nodes: list[NDArray]
    words: list[list[str]]
    corpus: Corpus
    tagger: Tagger

    @property
    def k(self) -> int:
        return len(self.tagger.labels)

    def edges(self, g: int) -> list[tuple[str, int, int, NDArray]]:
        """The edges of a graph: their type, their ends, and T + sum_k z_k U_k."""
        found = []
        for own in self.types:
            table = self.tables[own.name]
            for e, pair in enumerate(self.graphs[g].pairs[own.name].tolist()):
                left, right = sorted(pair) if own.symmetric else pair
                z = self.graphs[g].features[own.name][e] if own.width is not None else np.zeros(0)
                scores = table.table.astype(np.float64) + np.tensordot(z, table.weights.astype(np.float64), 1)
                found.append((own.name, left, right, scores))
        return found

    def enumerate(self, g: int, allowed: NDArray | None = None) -> Enumerated:
        return Enumerated.of(self.nodes[g], [edge[1:] for edge in self.edges(g)], allowed)

    @cached_property
    def enumerated(self) -> list[Enumerated]:
        return [self.enumerate(g) for g in range(len(self.graphs))]

    @cached_property
    def lattice(self) -> GraphLattice:
        return self.tagger.graph_lattice(self.corpus)

    def ids(self, labels: list[str]) -> NDArray:
        return np.array([self.tagger.labels.index(name) for name in labels])


@cache
def case(seed: int) -> Case:
    """A corpus of graphs and a tagger with random weights, which are exact in float32."""
    rng = np.random.default_rng([38, seed])
    types, k = random_types(rng), int(rng.integers(2, 5))
    graphs = [random_graph(rng, types, loops=bool(g % 2)) for g in range(GRAPHS)]
    return made(rng, graphs, types, k, DESCRIBED[seed % len(DESCRIBED)])


def made(rng: np.random.Generator, graphs: list[Graph], types: list[Type], k: int, described: str) -> Case:
    """The case of some graphs."""
    tables = {own.name: _table(rng, own, k) for own in types}
    named, given = described in ("names", "both"), described == "given"
    wide = k if given else WIDTH if described in ("vectors", "both") else 0
    weights = _eighths(rng, (FEATURES if named else 0, k))
    vectors, bias = _eighths(rng, (wide, k)) / (4 if given else 1) + np.eye(wide, k) * given, _eighths(rng, k)
    xs, log_probs, nodes, words = [], [], [], []
    for graph in graphs:
        values = rng.integers(-2, 3, (graph.n, FEATURES)) / 2
        numbers = rng.integers(-4, 5, (graph.n, wide)) / 4
        words.append(rng.choice(WORDS, graph.n).tolist())
        x = {"columns": {"word": words[-1]}}
        if named:
            x["features"] = [{f"f{i}": float(v) for i, v in enumerate(row) if v} for row in values]
        if given:
            numbers = numbers - np.logaddexp.reduce(numbers, axis=1, keepdims=True)
        elif wide:
            x["vectors"] = numbers
        scores = bias + (values @ weights if named else 0.0) + numbers @ vectors + np.zeros((graph.n, k))
        xs.append(x)
        log_probs.append(numbers)
        nodes.append(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    corpus = Corpus.from_graphs(
        xs,
        edges=[graph.pairs for graph in graphs],
        edge_features=[graph.features for graph in graphs],
        symmetric={own.name for own in types if own.symmetric},
        node_log_probs=log_probs if given else None,
        labels=list("WXYZ"[:k]) if given else None,
    )
    vocabulary = Vocabulary.of([])
    if named:
        vocabulary = replace(vocabulary, attributes=StringTable.intern([f"f{i}" for i in range(FEATURES)])[0])
    rows = _rows(weights)
    graph_scores = GraphScores(tuple(tables.values()), vectors.astype(np.float32), given)
    model = ChainModel.of_graphs(StringTable.intern(list("WXYZ"[:k]))[0], rows, bias.astype(np.float32), graph_scores)
    tagger = Tagger(vocabulary, model, {"method": "standard", "word": "word"}, ())
    return Case(graphs, types, tables, nodes, words, corpus, tagger)


def _eighths(rng: np.random.Generator, shape: object) -> NDArray:
    return np.clip(np.round(rng.normal(0, 0.8, shape) * 8), -20, 20) / 8


def _table(rng: np.random.Generator, own: Type, k: int) -> EdgeTable:
    table, weights = rng.normal(0, 1, (k, k)), rng.normal(0, 0.5, (own.width or 0, k, k))
    if own.symmetric:
        table, weights = table + table.T, weights + weights.transpose(0, 2, 1)
    return EdgeTable(own.name, own.symmetric, table.astype(np.float32), weights.astype(np.float32))


def _rows(weights: NDArray) -> SparseRows:
    kept = weights != 0
    offsets = np.append(0, np.cumsum(kept.sum(axis=1)))
    return SparseRows(offsets, np.nonzero(kept)[1].astype(np.int32), weights[kept].astype(np.float32))


# -- against enumeration -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", CORPORA)
def test_probabilities_of_labels_and_of_pairs_equal_enumeration(seed: int) -> None:
    own = case(seed)
    expected = np.concatenate([found.marginals(own.k) for found in own.enumerated])
    np.testing.assert_allclose(own.lattice.label_marginals(), expected, **EXACT)
    log_z = [found.log_z for found in own.enumerated]
    np.testing.assert_allclose(own.lattice.log_z(), log_z, **EXACT)
    for kind in own.types:
        pairs = [
            found.pairs(left, right, own.k)
            for g, found in enumerate(own.enumerated)
            for name, left, right, _ in own.edges(g)
            if name == kind.name
        ]
        expected = np.array(pairs).reshape(-1, own.k, own.k)
        np.testing.assert_allclose(own.lattice.edge_marginals(kind.name), expected, **EXACT)


@pytest.mark.parametrize("seed", CORPORA)
def test_the_best_labels_are_the_most_probable(seed: int) -> None:
    own = case(seed)
    best, posterior, usual = (own.lattice.tag(decode) for decode in ("best", "posterior", None))
    for g, found in enumerate(own.enumerated):
        assert np.isclose(found.log_prob(own.ids(best[g])), found.log_probs.max(), **EXACT)
        shares = found.marginals(own.k)
        chosen = shares[np.arange(len(shares)), own.ids(posterior[g])]
        np.testing.assert_allclose(chosen, shares.max(axis=1), **EXACT)
        assert usual[g] == (best[g] if _is_forest(own.graphs[g]) else posterior[g])


def _is_forest(graph: Graph) -> bool:
    """Whether no edge joins two nodes that are joined already."""
    part = np.arange(graph.n)
    for left, right in np.concatenate(list(graph.pairs.values())).tolist():
        if part[left] == part[right]:
            return False
        part[part == part[left]] = part[right]
    return True


@pytest.mark.parametrize("seed", CORPORA)
def test_n_best_scores_confidence_and_entropy_equal_enumeration(seed: int) -> None:
    own = case(seed)
    every = own.lattice.nbest(6)
    confidence, entropy = own.lattice.confidence(), own.lattice.entropy()
    best = own.lattice.tag("best")
    for g, found in enumerate(own.enumerated):
        labellings = [own.ids(labels) for labels, _ in every[g]]
        assert len({tuple(labels.tolist()) for labels in labellings}) == min(6, len(found.labellings))
        probabilities = np.array([p for _, p in every[g]])
        np.testing.assert_allclose(np.sort(np.exp(found.log_probs))[::-1][: len(probabilities)], probabilities, **EXACT)
        np.testing.assert_allclose(np.exp([found.log_prob(labels) for labels in labellings]), probabilities, **EXACT)
        assert np.isclose(confidence[g], probabilities[0], **EXACT)
        assert np.isclose(entropy[g], found.entropy(), **EXACT)
        if g % 5 == 0:
            graph, last = own.corpus[g], every[g][-1][0]
            assert np.isclose(own.tagger.score(graph, last), found.log_prob(labellings[-1]), **EXACT)
            assert np.isclose(own.tagger.score(graph), found.log_prob(own.ids(best[g])), **EXACT)


def test_samples_have_the_probabilities_of_enumeration() -> None:
    """A chi-square test over all graphs: labellings in order of probability, in parts of at least a tenth."""
    draws, total, freedom = 80, 0.0, 0
    for seed in CORPORA:
        own = case(seed)
        for found, drawn in zip(own.enumerated, own.lattice.sample(draws, seed=seed), strict=True):
            p = np.exp(found.log_probs)
            order = np.argsort(-p, kind="stable")
            part = np.zeros(len(p), np.int64)
            part[order] = np.minimum((np.cumsum(p[order]) - p[order]) * 6, 5).astype(np.int64)
            place = own.k ** np.arange(found.labellings.shape[1])[::-1]
            ids = np.array([own.ids(labels) for labels in drawn])
            seen = np.bincount(part[ids @ place], minlength=6)
            expected = draws * np.bincount(part, p, minlength=6)
            used = expected > draws / 10
            seen = np.append(seen[used], seen[~used].sum())
            expected = np.append(expected[used], max(expected[~used].sum(), 1e-9))
            if expected[-1] < draws / 10:  # too small for a part of its own
                seen, expected = np.append(seen[:-2], seen[-2:].sum()), np.append(expected[:-2], expected[-2:].sum())
            total += float(((seen - expected) ** 2 / expected).sum())
            freedom += len(expected) - 1
    assert freedom > 1000
    assert abs(total - freedom) < 6 * np.sqrt(2 * freedom)


# -- constraints -------------------------------------------------------------------------------------------------------


def _constraints(own: Case, rng: np.random.Generator) -> tuple[list[Constraints], list[NDArray]]:
    """Random constraints for each graph, with which labels they allow to each node."""
    names, constraints, every = own.tagger.labels, [], []
    for g, graph in enumerate(own.graphs):
        some = {node: rng.random(own.k) < 0.6 for node in range(graph.n) if rng.random() < 0.5}
        by_word = {word: rng.random(own.k) < 0.7 for word in WORDS[:2]}
        allowed = np.ones((graph.n, own.k), np.bool_)
        for limits in (some, by_word):
            for chosen in limits.values():
                chosen[0] = True  # so that each node keeps a label
        for node, word in enumerate(own.words[g]):
            allowed[node] &= some.get(node, True) & by_word.get(word, True)
        named = [{key: {names[y] for y in np.flatnonzero(row)} for key, row in by.items()} for by in (some, by_word)]
        constraints.append(Constraints(labels=named[0], words=named[1]))
        every.append(allowed)
    return constraints, every


@pytest.mark.parametrize("seed", CORPORA[:8])
def test_answers_with_constraints_equal_enumeration_of_what_they_allow(seed: int) -> None:
    own, rng = case(seed), np.random.default_rng([1, seed])
    constraints, allowed = _constraints(own, rng)
    lattice = own.tagger.graph_lattice(own.corpus, constraints=constraints)
    found = [own.enumerate(g, limits) for g, limits in enumerate(allowed)]
    expected = np.concatenate([one.marginals(own.k) for one in found])
    np.testing.assert_allclose(lattice.label_marginals(), expected, **EXACT)
    assert (lattice.label_marginals()[~np.concatenate(allowed)] == 0).all()
    best, confidence, entropy = lattice.tag("best"), lattice.confidence(), lattice.entropy()
    drawn, nbest = lattice.sample(5, seed=0), lattice.nbest(3)
    for g, one in enumerate(found):
        top = np.sort(np.exp(one.log_probs))[::-1][:3]
        assert np.isclose(one.log_prob(own.ids(best[g])), one.log_probs.max(), **EXACT)
        assert np.isclose(confidence[g], top[0], **EXACT)
        assert np.isclose(entropy[g], one.entropy(), **EXACT)
        np.testing.assert_allclose([p for _, p in nbest[g]], top, **EXACT)
        assert all(np.isfinite(one.log_prob(own.ids(labels))) for labels in drawn[g])


def test_the_methods_of_a_tagger_take_constraints_on_one_graph() -> None:
    own = case(0)
    limits = Constraints(labels={0: own.tagger.labels[1]})
    allowed = np.ones((own.graphs[1].n, own.k), np.bool_)
    allowed[0] = np.arange(own.k) == 1
    found, graph = own.enumerate(1, allowed), own.corpus[1]
    shares = own.tagger.marginals(graph, constraints=limits)
    np.testing.assert_allclose([list(row.values()) for row in shares], found.marginals(own.k), **EXACT)
    name, left, right, _ = own.edges(1)[0]
    pairs = own.tagger.edge_marginals(graph, name, constraints=limits)[0]
    np.testing.assert_allclose(pairs, found.pairs(left, right, own.k), **EXACT)
    assert np.isclose(own.tagger.confidence(graph, constraints=limits), np.exp(found.log_probs.max()), **EXACT)
    assert np.isclose(own.tagger.entropy(graph, constraints=limits), found.entropy(), **EXACT)
    first, probability = own.tagger.nbest(graph, 1, constraints=limits)[0]
    assert first == own.tagger.tag(graph, decode="best", constraints=limits)
    assert np.isclose(probability, np.exp(found.log_probs.max()), **EXACT)
    assert {labels[0] for labels in own.tagger.sample(graph, 9, constraints=limits)} == {own.tagger.labels[1]}


# -- one graph, many graphs, and graphs with little in them ------------------------------------------------------------


@pytest.mark.parametrize("seed", CORPORA[:4])
def test_many_graphs_are_answered_as_one_by_one(seed: int) -> None:
    own = case(seed)
    tagger, lattice = own.tagger, own.lattice
    labels, shares = tagger.tag_all(own.corpus), np.split(lattice.label_marginals(), own.corpus.offsets[1:-1])
    nbest, confidence, entropy = lattice.nbest(2), lattice.confidence(), lattice.entropy()
    assert tagger.tag_corpus(own.corpus).values() == [name for found in labels for name in found]
    for g in range(len(own.graphs)):
        graph = own.corpus[g]
        assert tagger.tag(graph) == labels[g]
        found = tagger.marginals(graph)
        np.testing.assert_allclose([list(row.values()) for row in found], shares[g], rtol=1e-9, atol=1e-12)
        alone = tagger.nbest(graph, 2)
        assert [name for name, _ in alone] == [name for name, _ in nbest[g]]
        assert np.isclose(alone[0][1], nbest[g][0][1])
        assert np.isclose(tagger.confidence(graph), confidence[g])
        assert np.isclose(tagger.entropy(graph), entropy[g])
        assert tagger.inference(graph).exact


def test_the_answers_do_not_depend_on_threads() -> None:
    for seed in CORPORA[:4]:
        own = case(seed)
        two = own.tagger.graph_lattice(own.corpus, threads=2)
        np.testing.assert_array_equal(two.label_marginals(), own.lattice.label_marginals())
        assert two.tag() == own.lattice.tag()
        assert two.sample(3, seed=1) == own.lattice.sample(3, seed=1)
        assert own.lattice.sample(3, seed=1) != own.lattice.sample(3, seed=2)


def test_nodes_without_edges_have_the_probabilities_of_their_features() -> None:
    types = [Type("t0", False, None), Type("t1", True, 1)]
    pairs = {"t0": np.array([[3, 1]]), "t1": np.zeros((0, 2), np.int64)}
    lone = Graph(5, pairs, {"t1": np.zeros((0, 1))})
    none = Graph(3, {own.name: np.zeros((0, 2), np.int64) for own in types}, {"t1": np.zeros((0, 1))})
    for described in DESCRIBED:
        own = made(np.random.default_rng(4), [lone, none], types, 3, described)
        shares = own.lattice.label_marginals()
        for node in (0, 2, 4):
            np.testing.assert_allclose(shares[node], np.exp(own.nodes[0][node]), **EXACT)
        np.testing.assert_allclose(shares[5:], np.exp(own.nodes[1]), **EXACT)
        assert np.abs(shares[[1, 3]] - np.exp(own.nodes[0][[1, 3]])).max() > 1e-3
        assert own.tagger.tag(own.corpus[1]) == [own.tagger.labels[y] for y in own.nodes[1].argmax(axis=1)]
        assert np.isclose(own.tagger.score(own.corpus[1]), own.nodes[1].max(axis=1).sum(), **EXACT)
        assert own.tagger.edge_marginals(own.corpus[1], "t0").shape == (0, 3, 3)


def test_a_corpus_with_no_types_of_edges_is_answered_by_its_nodes() -> None:
    own = case(1)
    bare = replace(own.corpus, edges=())
    nodes = np.concatenate(own.nodes)
    np.testing.assert_allclose(own.tagger.graph_lattice(bare).label_marginals(), np.exp(nodes), **EXACT)
    found = [name for labels in own.tagger.tag_all(bare) for name in labels]
    assert found == [own.tagger.labels[y] for y in nodes.argmax(axis=1)]
    assert np.isclose(own.tagger.entropy(bare[0]), -(np.exp(own.nodes[0]) * own.nodes[0]).sum(), **EXACT)
    with pytest.raises(DataError, match="no edges of the type 't0'; its types are none"):
        own.tagger.edge_marginals(bare[0], "t0")


def test_a_labelling_with_an_unknown_label_is_impossible() -> None:
    own = case(0)
    labels = own.tagger.tag(own.corpus[0])
    assert own.tagger.score(own.corpus[0], ["?", *labels[1:]]) == -np.inf
    with pytest.raises(DataError, match="but 1 label"):
        own.tagger.score(own.corpus[0], labels[:1])


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_contradictory_constraints_name_the_node_and_the_graph() -> None:
    own = case(0)
    first, second = own.tagger.labels[:2]
    word = own.words[2][1]
    each = [Constraints()] * len(own.graphs)
    each[2] = Constraints(labels={1: first}, words={word: second})
    with pytest.raises(DataError, match="leave node 1 of graph 2 without a label"):
        own.tagger.graph_lattice(own.corpus, constraints=each)
    with pytest.raises(DataError, match=f"constraints name node 99, but the graph has {own.graphs[0].n} nodes"):
        own.tagger.tag(own.corpus[0], constraints=Constraints(labels={99: first}))
    with pytest.raises(ConfigError, match="no label 'nowhere'; its labels are W, X"):
        own.tagger.tag(own.corpus[0], constraints=Constraints(labels={0: "nowhere"}))
    with pytest.raises(ConfigError, match=r"one corate\.Constraints for each of 25 graphs"):
        own.tagger.graph_lattice(own.corpus, constraints=each[:3])


@pytest.mark.parametrize(
    "given",
    [{"forbidden": {("W", "X")}}, {"scheme": "IOB2"}, {"one_block": "W"}, {"first": "W"}, {"last": {"W", "X"}}],
    ids=lambda given: next(iter(given)),
)
def test_constraints_on_sequences_are_refused(given: dict) -> None:
    own = case(0)
    with pytest.raises(ConfigError, match=f"{next(iter(given))} is a constraint on sentences"):
        own.tagger.tag(own.corpus[0], constraints=Constraints(**given))


def test_questions_about_one_graph_refuse_other_numbers_of_graphs() -> None:
    own = case(0)
    tagger, two = own.tagger, own.corpus.take(np.array([0, 1]))
    asked = {
        "tag": lambda corpus: tagger.tag(corpus),
        "marginals": lambda corpus: tagger.marginals(corpus),
        "nbest": lambda corpus: tagger.nbest(corpus, 2),
        "sample": lambda corpus: tagger.sample(corpus, 2),
        "score": lambda corpus: tagger.score(corpus),
        "confidence": lambda corpus: tagger.confidence(corpus),
        "entropy": lambda corpus: tagger.entropy(corpus),
        "edge_marginals": lambda corpus: tagger.edge_marginals(corpus, "t0"),
        "inference": lambda corpus: tagger.inference(corpus),
    }
    for ask in asked.values():
        with pytest.raises(DataError, match=r"takes one graph, and the corpus has 2 graphs; .* tag_all or lattice"):
            ask(two)
        with pytest.raises(DataError, match="labels the nodes of graphs, and this is a corpus of sentences"):
            ask(replace(own.corpus[0], edges=None))
        with pytest.raises(DataError, match="this is a list"):
            ask(["a", "b"])


def test_questions_about_sentences_are_refused_and_name_what_to_ask() -> None:
    own = case(0)
    graph, tagger = own.corpus[0], own.tagger
    for ask, instead in (
        (lambda: tagger.pair_marginals(graph), "edge_marginals"),
        (lambda: tagger.entities(graph), "tag"),
        (lambda: tagger.show(graph), "marginals"),
        (lambda: tagger.tag_text(b"a\n"), "tag_corpus"),
    ):
        with pytest.raises(ModelError, match=f"is for sentences, and this model labels graphs; use .*{instead}"):
            ask()


def test_other_features_than_in_training_are_refused() -> None:
    types = [Type("t0", False, 2), Type("t1", False, None)]
    pairs = {"t0": np.array([[0, 1]]), "t1": np.array([[1, 2]])}
    own = made(np.random.default_rng(2), [Graph(3, pairs, {"t0": np.ones((1, 2))})], types, 2, "vectors")

    def ask(vectors: NDArray, features: dict) -> None:
        own.tagger.tag(Corpus.from_graphs(vectors, edges=pairs, edge_features=features))

    vectors = np.ones((3, WIDTH))
    ask(vectors, {"t0": np.ones((1, 2))})
    with pytest.raises(DataError, match="4 vector columns, but 3 in training"):
        ask(np.ones((3, 4)), {"t0": np.ones((1, 2))})
    with pytest.raises(DataError, match="type 't0' has 1 edge feature, but 2 in training"):
        ask(vectors, {"t0": np.ones((1, 1))})
    with pytest.raises(DataError, match="type 't0' has 0 edge features, but 2 in training"):
        ask(vectors, {})
    with pytest.raises(DataError, match="type 't1' has 1 edge feature, but 0 in training"):
        ask(vectors, {"t0": np.ones((1, 2)), "t1": np.ones((1, 1))})


def test_types_that_training_did_not_have_count_nothing_with_a_warning() -> None:
    own, g = case(2), 1
    assert len(own.edges(g)) > 0
    renamed = tuple(replace(edges, type=f"new {edges.type}") for edges in own.corpus[g].edges)
    with pytest.warns(UserWarning, match="trained without edges of the type") as warned:
        shares = own.tagger.marginals(replace(own.corpus[g], edges=renamed))
    new, known = (", ".join(repr(head + kind.name) for kind in own.types) for head in ("new ", ""))
    said = f"without edges of the type {new}, so they have the rate 1; its types are {known}"
    assert [said in str(one.message) for one in warned] == [True]  # one warning for all types
    np.testing.assert_allclose([list(row.values()) for row in shares], np.exp(own.nodes[g]), **EXACT)


def test_answers_that_need_exactness_are_refused_if_the_clique_tree_is_too_large() -> None:
    n, types = 12, [Type("t0", True, None)]
    pairs = np.array([(a, b) for a in range(n) for b in range(a)])
    own = made(np.random.default_rng(3), [Graph(n, {"t0": pairs})], types, 4, "vectors")
    small = own.tagger.graph_lattice(own.corpus, memory=1 << 16)
    for what, ask in (
        ("n-best", lambda: small.nbest(2)),
        ("the entropy", small.entropy),
        ("sampling", lambda: small.sample(1)),
        ("log Z", small.log_z),
        ("the confidence", small.confidence),
    ):
        with pytest.raises(ConfigError, match=rf"{what} needs exact inference, .* treewidth 11 .* 65.5 kB; .*memory="):
            ask()
    assert not small.inference().exact
    assert small.inference().treewidth == 11
    np.testing.assert_allclose(small.label_marginals().sum(axis=1), 1.0, rtol=1e-6)
