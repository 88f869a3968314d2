"""Corpora of graphs: what is read, what is refused and where the message says the problem is, and what slices keep."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from corate.corpus import Corpus
from corate.errors import DataError, FeatureError

PATH = np.array([[0, 1], [1, 2]])
X = [["red"], ["blue"], ["red"]]


def edges_of(corpus, graph, name="edge"):
    """The edges of a graph by type, as pairs."""
    edges = next(edges for edges in corpus.edges if edges.type == name)
    own = edges.between(graph, graph + 1)
    return list(zip(own.left.tolist(), own.right.tolist(), strict=True))


# -- what is read ----------------------------------------------------------------------------------------------------


def test_an_array_or_a_mapping_of_edges_is_one_graph_and_a_list_is_many():
    assert len(Corpus.from_graphs(X, edges=PATH)) == 1
    assert len(Corpus.from_graphs(X, edges={"cites": PATH})) == 1
    many = Corpus.from_graphs([X, X[:2]], edges=(PATH, [(1, 0)]))
    assert (len(many), many.n_tokens) == (2, 5)
    assert (edges_of(many, 0), edges_of(many, 1)) == ([(0, 1), (1, 2)], [(1, 0)])


def test_a_list_of_one_graph_is_not_a_graph():
    corpus = Corpus.from_graphs([X], [["A", "B", "A"]], edges=[PATH])
    assert (len(corpus), corpus.n_tokens, corpus.labels_of(0)) == (1, 3, ["A", "B", "A"])


def test_the_form_of_x_decides_where_features_go():
    dense = Corpus.from_graphs(np.arange(6).reshape(3, 2), edges=PATH)
    assert dense.attributes is None
    assert dense.vectors.dtype == np.float32
    assert dense.vectors.tolist() == [[0, 1], [2, 3], [4, 5]]
    named = Corpus.from_graphs([{"w": "a", "n": 2.0}, ["b"], np.array([3.0])], edges=PATH)
    assert named.attributes.names.to_list() == ["w:a", "n", "b", "0"]
    assert named.vectors is None
    none = Corpus.from_graphs(None, ["A", None, "B"], edges=PATH)
    assert (none.n_tokens, none.attributes, none.vectors) == (3, None, None)
    both = {"features": X, "vectors": np.eye(3), "columns": {"node": ["p", "q", "r"], "word": ["a", "b", "c"]}}
    corpus = Corpus.from_graphs(both, edges=PATH)
    assert corpus.vectors.shape == (3, 3)
    assert corpus.attributes.names.to_list() == ["red", "blue"]
    assert corpus.column("node").values() == ["p", "q", "r"]
    assert corpus.tokens(0) == ["a", "b", "c"]


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_array", "coo_matrix"])
def test_a_sparse_matrix_becomes_features_with_numbers_as_names(form):
    rows = np.array([[0, 2.5, 0], [1, 0, 0], [0, 0, 0]], np.float64)
    corpus = Corpus.from_graphs(getattr(sparse, form)(rows), edges=PATH)
    attributes = corpus.attributes
    assert attributes.names.to_list() == ["0", "1", "2"]
    assert attributes.offsets.tolist() == [0, 1, 2, 2]
    assert (attributes.ids.tolist(), attributes.values.tolist()) == ([1, 0], [2.5, 1.0])
    as_lists = Corpus.from_graphs([{"1": 2.5}, {"0": 1.0}, {}], edges=PATH).attributes
    names = as_lists.names.to_list()
    assert [(names[i], v) for i, v in zip(as_lists.ids, as_lists.values, strict=True)] == [("1", 2.5), ("0", 1.0)]


def test_sparse_matrices_of_several_graphs_share_their_names():
    ones = sparse.csr_matrix(np.eye(3))
    corpus = Corpus.from_graphs([ones, ones[:2]], edges=[PATH, {}])
    assert corpus.attributes.ids.tolist() == [0, 1, 2, 0, 1]
    assert corpus.attributes.values is None  # all are 1, as for names
    assert corpus[1].attributes.offsets.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (["B", None, "A"], ["B", None, "A"]),
        (["B", math.nan, "A"], ["B", None, "A"]),
        ([10, -1, 9], ["10", None, "9"]),
        (np.array([10, -1, 9]), ["10", None, "9"]),
        (np.array([1, math.nan, 0]), ["1", None, "0"]),
        (np.array([10, 9, 9], np.uint8), ["10", "9", "9"]),
        (np.array(["b", "a", "b"]), ["b", "a", "b"]),
        (np.array(["b", None, "a"], object), ["b", None, "a"]),
        ([True, False, None], ["True", "False", None]),
        (np.array([True, False, True]), ["True", "False", "True"]),
        ([None, None, None], [None, None, None]),
        (("A", -1, "B"), ["A", None, "B"]),
    ],
)
def test_labels_become_text_and_unknown_ones_none(y, labels):
    corpus = Corpus.from_graphs(X, y, edges=PATH)
    assert corpus.labels_of(0) == labels
    assert (corpus.labels.ids == -1).tolist() == [label is None for label in labels]


def test_labels_are_numbered_in_sorted_order_numbers_by_value():
    assert Corpus.from_graphs(X, [10, 9, -1], edges=PATH).labels.strings.to_list() == ["9", "10"]
    assert Corpus.from_graphs(X, ["b", "a", None], edges=PATH).labels.strings.to_list() == ["a", "b"]
    named = Corpus.from_graphs(X, ["b", "a", None], edges=PATH, labels=["c", "b", "a"])
    assert named.labels.strings.to_list() == ["c", "b", "a"]
    assert named.labels_of(0) == ["b", "a", None]


def test_y_none_for_a_graph_of_many_is_unknown():
    corpus = Corpus.from_graphs([X, X[:2]], [None, ["A", "B"]], edges=[PATH, {}])
    assert [corpus.labels_of(i) for i in range(2)] == [[None, None, None], ["A", "B"]]
    assert Corpus.from_graphs([X], None, edges=[PATH]).labels is None


def test_log_probabilities_have_the_order_of_labels_which_can_be_named():
    rows = np.log(np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]))
    corpus = Corpus.from_graphs(None, ["B", "A", None], edges=PATH, node_log_probs=rows)
    np.testing.assert_array_equal(corpus.node_log_probs, rows)
    assert corpus.labels.strings.to_list() == ["A", "B"]
    new = Corpus.from_graphs(None, edges=PATH, node_log_probs=rows, labels=np.array([3, 1]))
    assert (new.labels.strings.to_list(), new.labels_of(0)) == (["3", "1"], [None] * 3)
    assert Corpus.from_graphs(None, edges=PATH, node_log_probs=rows).labels is None


def test_joined_log_probabilities_keep_their_labels():
    rows = np.log(np.array([[0.25, 0.75]]))
    one = Corpus.from_graphs(None, ["a"], edges={}, node_log_probs=rows, labels=["a", "b"])
    two = Corpus.from_graphs(None, ["a"], edges={}, node_log_probs=rows, labels=["b", "a"])
    both = Corpus.joined([one, two])
    assert both.labels.strings.to_list() == ["a", "b"]
    np.testing.assert_array_equal(both.node_log_probs, [rows[0], rows[0, ::-1]])
    with pytest.raises(DataError, match="corpus 1 has the labels 'a', 'c'"):
        Corpus.joined([one, replace(one, labels=replace(one.labels, strings=one.labels.strings.intern(["a", "c"])[0]))])


def test_edges_are_merged_if_they_are_equal():
    pairs = np.array([[2, 1], [0, 1], [2, 1], [1, 2]])
    assert edges_of(Corpus.from_graphs(X, edges=pairs), 0) == [(2, 1), (0, 1), (1, 2)]
    assert edges_of(Corpus.from_graphs(X, edges=pairs, symmetric={"edge"}), 0) == [(1, 2), (0, 1)]
    lengths = np.array([[1.0], [2.0], [1.0], [1.0]])
    corpus = Corpus.from_graphs(X, edges=pairs, symmetric={"edge"}, edge_features=lengths)
    assert corpus.edges[0].attributes.tolist() == [[1.0], [2.0]]
    assert corpus.edges[0].symmetric


def test_the_same_pair_may_have_two_types_and_appear_in_two_graphs():
    pair = np.array([[0, 1]])
    corpus = Corpus.from_graphs([X, X], edges=[{"cites": pair, "author": pair}, {"cites": pair}])
    assert [edges_of(corpus, i, "cites") for i in range(2)] == [[(0, 1)], [(0, 1)]]
    assert [edges_of(corpus, i, "author") for i in range(2)] == [[(0, 1)], []]


def test_edge_features_are_given_by_type_or_for_an_array():
    corpus = Corpus.from_graphs(X, edges={"a": PATH, "b": PATH}, edge_features={"b": np.eye(2)})
    assert corpus.edges[0].attributes is None
    assert corpus.edges[1].attributes.tolist() == [[1, 0], [0, 1]]
    corpus = Corpus.from_graphs([X, X], edges=[PATH, []], edge_features=[np.eye(2), None])
    assert corpus.edges[0].attributes.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("none", [{}, np.zeros((0, 2), int), np.zeros((2, 0), int), np.array([]), {"a": []}])
def test_a_graph_may_have_no_edges(none):
    corpus = Corpus.from_graphs(X, ["A", "B", "A"], edges=none)
    assert corpus.n_tokens == 3
    assert sum(len(edges.left) for edges in corpus.edges) == 0


def test_no_graphs_make_an_empty_corpus_as_no_sentences_do():
    corpus = Corpus.from_graphs([], [], edges=[])
    assert (len(corpus), corpus.n_tokens, corpus.edges) == (0, 0, ())


# -- what is refused -------------------------------------------------------------------------------------------------

REFUSED = [
    ({"edges": np.array([[0, 1], [1, 3]])}, "type edge, edge 1: an end is node 3, but the graph has 3 nodes"),
    ({"edges": {"cites": [(-1, 0)]}}, "type cites, edge 0: an end is node -1"),
    ({"edges": np.array([[0, 1, 2], [1, 2, 0]])}, r"shape \(m, 2\), not \(2, 3\); transpose it: edges.T"),
    ({"edges": np.ones((3, 3), int)}, r"np.argwhere\(matrix\)"),
    ({"edges": np.zeros((4, 3), int)}, "a row for each edge"),
    ({"edges": {"cites": [(0, 1), (1,)]}}, "type cites: edges must be pairs"),
    ({"edges": np.array([[0.0, 1.0]])}, "whole numbers, not float64"),
    ({"edges": np.array([["a", "b"]])}, "whole numbers, not names"),
    ({"edges": sparse.eye(3)}, r"np.stack\(matrix.nonzero\(\), axis=1\)"),
    ({"edges": None}, "write {}"),
    ({"edges": "edges.csv"}, "read_graph"),
    ({"edges": {3: PATH}}, "the type of edges must be a name, not 3"),
    ({"edges": [(0, 1), (1, 2)]}, "which has the edges of many graphs: 2, but x has 3; for one graph"),
    ({"edges": [(0, 1), (1, 2), (0, 2)]}, r"graph 0: .*np.array\(edges\)"),
    ({"edges": []}, "many graphs: 0, but x has 3"),
    ({"edges": {"cites": [(0, 1), (1, 1)]}}, "type cites, edge 1: both ends are node 1"),
    (
        {"edges": {"cites": [(0, 1), (0, 1)]}, "edge_features": {"cites": [[1.0], [2.0]]}},
        "type cites, edge 1: it joins nodes 0 and 1, as edge 0 does, and has other features",
    ),
    (
        {"edges": {"a": [(0, 1), (1, 2), (1, 0)]}, "edge_features": {"a": [[1], [1], [2]]}, "symmetric": {"a"}},
        "type a, edge 2: it joins nodes 1 and 0, as edge 0 does",
    ),
    ({"edges": {"a": PATH}, "edge_features": {"b": np.eye(2)}}, "edge_features names the type 'b'.* the types are 'a'"),
    ({"edges": {"a": PATH}, "edge_features": np.eye(2)}, "mapping from types"),
    ({"edges": {"a": PATH}, "edge_features": {"a": np.eye(3)}}, "type a: 2 edges, but edge_features for 3"),
    ({"edges": PATH, "edge_features": np.ones(2)}, r"edge_features.reshape\(-1, 1\)"),
    ({"edges": PATH, "edge_features": [[1.0], [math.nan]]}, "type edge, edge 1: edge_features has the value nan"),
    ({"edges": PATH, "edge_features": [[1.0], [1e20]]}, "edge 1: .* 1e[+]20 .* scale"),
    ({"edges": PATH, "edge_features": [["x"], ["y"]]}, "must have numbers"),
    ({"edges": {"a": PATH}, "symmetric": {"b"}}, "symmetric names the type 'b', and no edges have it"),
    ({"edges": PATH, "symmetric": True}, "names of types"),
    ({"edges": PATH, "y": ["A", "B"]}, "x has 3 nodes, and y has 2"),
    ({"edges": PATH, "y": [0.0, 1.0, 0.0]}, "node 0: the label 0.0 is a float.*astype"),
    ({"edges": PATH, "y": np.array([0, math.nan, 0.5])}, "node 2: the label 0.5 is a float"),
    ({"edges": PATH, "y": np.eye(3)}, r"argmax"),
    ({"edges": PATH, "y": [[1], [2], [3]]}, r"node 0: the label is the list \[1\]"),
    ({"edges": PATH, "y": "ABC"}, "y must be a list with a label for each node"),
    ({"edges": PATH, "y": ["A", "B", "C"], "labels": ["A", "B"]}, "node 2: the label 'C' is not in labels"),
    ({"edges": PATH, "y": ["A", "B", "A"], "labels": ["A", "B", "A"]}, "a label twice: 'A'"),
    ({"edges": PATH, "x": []}, "the graph has no nodes"),
    ({"edges": {}, "x": np.zeros((0, 2))}, "the graph has no nodes"),
    ({"edges": PATH, "x": None}, "how many nodes"),
    ({"edges": PATH, "x": np.array([[1.0], [2.0], [math.inf]])}, "node 2: x has the value inf in column 0"),
    ({"edges": PATH, "x": sparse.csr_matrix([[1.0], [0.0], [math.nan]])}, "node 2: x has the value nan in column 0"),
    ({"edges": PATH, "x": np.ones(3)}, r"x.reshape\(-1, 1\)"),
    ({"edges": PATH, "x": np.array([["a"], ["b"], ["c"]])}, "must have numbers"),
    ({"edges": PATH, "x": [[0.5], [0.5], [0.5]]}, r"node 0: .*np.array\(x\)"),
    ({"edges": PATH, "x": [[[1]], [[1]], [[1]]]}, "node 0: .*a list has names"),
    ({"edges": PATH, "x": "red"}, "not a str"),
    ({"edges": PATH, "x": {"red": 1}}, "not 'red'"),
    ({"edges": PATH, "x": {"features": X, "vectors": np.eye(2)}}, "x has 3 nodes, and vectors has 2"),
    ({"edges": PATH, "x": {"columns": {"word": ["a", 1, "b"]}}}, "node 1: column 'word' has 1"),
    ({"edges": PATH, "x": {"columns": {"label": ["a", "b", "c"]}}}, "give labels as y"),
    ({"edges": PATH, "node_log_probs": np.zeros((3, 2))}, "node 0: .*np.log of probabilities"),
    ({"edges": PATH, "node_log_probs": np.full((3, 2), -3.0)}, "subtract np.log"),
    ({"edges": PATH, "node_log_probs": [[0.0, -math.inf]] * 3}, "node 0: a log-probability is -inf; .*np.maximum"),
    ({"edges": PATH, "node_log_probs": np.zeros((2, 1))}, "x has 3 nodes, and node_log_probs has 2"),
    ({"edges": PATH, "node_log_probs": np.zeros(3)}, "a row for each node"),
    (
        {"edges": PATH, "y": ["A", "B", "A"], "node_log_probs": np.full((3, 4), np.log(0.25))},
        "4 columns, and there are 2 labels; .*classifier.classes_",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[f"{i}" for i in range(len(REFUSED))])
def test_bad_input_is_refused_with_its_place_and_a_remedy(given, message):
    with pytest.raises(DataError, match=message):
        Corpus.from_graphs(**{"x": X, **given})


MANY_REFUSED = [
    ({"edges": [PATH, [(0, 5)]]}, "graph 1, type edge, edge 0: an end is node 5, but the graph has 2 nodes"),
    ({"edges": [PATH, {"a": [(1, 1)]}]}, "graph 1, type a, edge 0: both ends are node 1"),
    ({"edges": [PATH, None]}, "graph 1: edges must be an array of pairs of nodes, not None"),
    ({"edges": [PATH, np.array([[0, 1, 0]])]}, r"graph 1: edges must have the shape \(m, 2\), not \(1, 3\)"),
    ({"edges": [PATH]}, "edges is a list, which has the edges of many graphs: 1, but x has 2"),
    ({"edges": [PATH, []], "y": ["A", "B"]}, "graph 0: y must be a list"),
    ({"edges": [PATH, []], "y": [["A", "B", "A"]]}, "but y has 1"),
    ({"edges": [PATH, []], "y": [["A", "B", "A"], ["A"]]}, "graph 1: x has 2 nodes, and y has 1"),
    ({"edges": [PATH, []], "y": [None, ["A", 0.5]]}, "graph 1, node 1: the label 0.5"),
    ({"edges": [PATH, []], "x": [X, []]}, "graph 1: the graph has no nodes; leave it out"),
    ({"edges": [PATH, []], "x": [np.eye(3), np.eye(2)]}, "graph 1: columns of x: 2, and of graph 0: 3"),
    ({"edges": [PATH, []], "x": [X, np.eye(2)]}, "graph 1: the features are a none|graph 1: columns of x"),
    ({"edges": [PATH, []], "x": {"features": X}}, "so x must be a list, too, not a dict"),
    ({"edges": [PATH, []], "x": [X, [["a"], [math.nan]]]}, "graph 1, node 1: "),
    ({"edges": [PATH, [(0, 1)]], "edge_features": [np.eye(2), None]}, "graph 1, type edge: the edges of other graphs"),
    (
        {"edges": [PATH, [(0, 1)]], "edge_features": [np.eye(2), np.ones((1, 3))]},
        "2 columns in graph 0, and 3 in graph 1",
    ),
    ({"edges": [PATH, [(0, 1)]], "edge_features": [None, np.ones((2, 3))]}, "graph 1, type edge: 1 edge, but .* for 2"),
    ({"edges": [PATH, []], "node_log_probs": [np.zeros((3, 1)), None]}, "graph 1: columns of node_log_probs: none"),
]


@pytest.mark.parametrize(("given", "message"), MANY_REFUSED, ids=[f"{i}" for i in range(len(MANY_REFUSED))])
def test_bad_input_of_many_graphs_names_the_graph(given, message):
    with pytest.raises((DataError, FeatureError), match=message):
        Corpus.from_graphs(**{"x": [X, X[:2]], **given})


def test_bad_features_name_the_node_and_not_a_token():
    with pytest.raises(FeatureError, match=r"^node 1: .*None") as caught:
        Corpus.from_graphs([["a"], {"b": None}, ["c"]], edges=PATH)
    assert (caught.value.node, caught.value.token, caught.value.sentence) == (1, None, None)


# -- what slices keep ------------------------------------------------------------------------------------------------


@st.composite
def corpora(draw, types=("a", "b")):
    """A corpus of up to five graphs with everything, and the graphs as they were given, by their first feature."""
    n = draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n)
    x, y, edges, features = [], [], [], []
    for graph, size in enumerate(sizes):
        pairs = np.argwhere(np.triu(rng.random((size, size)) < 0.5, 1))
        own = {name: rng.permutation(pairs)[: rng.integers(0, len(pairs) + 1)] for name in types}
        x.append({"features": [[f"g{graph}"] for _ in range(size)], "vectors": rng.random((size, 3))})
        y.append([None if rng.random() < 0.3 else "ABC"[rng.integers(3)] for _ in range(size)])
        edges.append(own)
        features.append({"b": rng.random((len(own["b"]), 2))})
    given = {"edges": edges, "edge_features": features, "symmetric": {"a"} & set(types)}
    return Corpus.from_graphs(x, y, **given), (x, y, edges, features)


def check_graph(corpus, place, given, graph):
    """Graph ``place`` of the corpus is the one that was given as number ``graph``."""
    x, y, edges, features = given
    own = corpus[place]
    assert own.labels_of(0) == y[graph]
    assert [own.attributes.names.to_list()[i] for i in own.attributes.ids] == [f"g{graph}"] * len(y[graph])
    np.testing.assert_array_equal(own.vectors, x[graph]["vectors"].astype(np.float32))
    for name in ("a", "b"):
        assert edges_of(own, 0, name) == list(map(tuple, edges[graph][name].tolist()))
    found = next(edges for edges in own.edges if edges.type == "b")
    np.testing.assert_array_equal(found.attributes, features[graph]["b"].astype(np.float32))
    assert [edges.symmetric for edges in own.edges] == [edges.type == "a" for edges in own.edges]


@given(corpora(), st.randoms(use_true_random=False))
def test_taken_graphs_are_those_that_were_given(made, random):
    corpus, given = made
    order = [random.randrange(-len(corpus), len(corpus)) for _ in range(random.randrange(1, 8))]
    taken = corpus.take(order)
    assert len(taken) == len(order)
    for place, graph in enumerate(order):
        check_graph(taken, place, given, graph % len(corpus))


@given(corpora(), st.integers(0, 100))
def test_shuffled_split_and_joined_graphs_are_those_that_were_given(made, seed):
    corpus, given = made
    order = np.random.default_rng(seed).permutation(len(corpus))
    rest, held_out = corpus.take(order).split(0.4, seed=seed)
    joined = Corpus.joined([rest, held_out, corpus.shuffle(seed)])
    assert (len(rest) + len(held_out), len(joined)) == (len(corpus), 2 * len(corpus))
    names = joined.attributes.names.to_list()
    for place in range(len(joined)):
        graph = int(names[joined[place].attributes.ids[0]][1:])
        check_graph(joined, place, given, graph)


@given(corpora(types=("b",)), corpora(types=("b", "a")))
def test_a_type_that_one_corpus_lacks_has_no_edges_there(one, two):
    (corpus, given), (other, _) = one, two
    joined = Corpus.joined([corpus, other])
    assert {edges.type for edges in joined.edges} == {"a", "b"}
    for graph in range(len(corpus)):
        assert edges_of(joined, graph, "a") == []
        assert edges_of(joined, graph, "b") == list(map(tuple, given[2][graph]["b"].tolist()))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]), max_size=12))
def test_merged_edges_are_the_distinct_ones_in_the_order_of_their_first(pairs):
    x = [["n"]] * 5
    given = np.array(pairs, int).reshape(-1, 2)
    assert edges_of(Corpus.from_graphs(x, edges=given), 0) == list(dict.fromkeys(pairs))
    undirected = [tuple(sorted(pair)) for pair in pairs]
    symmetric = Corpus.from_graphs(x, edges=given, symmetric={"edge"})
    assert edges_of(symmetric, 0) == list(dict.fromkeys(undirected))
    flipped = Corpus.from_graphs(x, edges=given[:, ::-1], symmetric={"edge"})
    assert edges_of(flipped, 0) == edges_of(symmetric, 0)


def test_a_type_without_edges_has_no_features_to_differ_in():
    one = Corpus.from_graphs(X, edges={"a": []})
    two = Corpus.from_graphs(X, edges={"a": PATH}, edge_features={"a": np.eye(2)}, symmetric={"a"})
    for pieces in ([one, two], [two, one]):
        (edges,) = Corpus.joined(pieces).edges
        assert (edges.symmetric, edges.attributes.tolist()) == (True, [[1, 0], [0, 1]])
    plain = Corpus.from_graphs(X, edges={"a": PATH}, symmetric={"a"})
    with pytest.raises(DataError, match="type 'a' of edges has features in one corpus"):
        Corpus.joined([plain, two])
