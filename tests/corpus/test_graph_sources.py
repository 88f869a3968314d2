"""Graphs of NetworkX and PyTorch Geometric, and images."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.corpus import Corpus
from corate.errors import CorateError, DataError


def pairs_of(corpus, name, graph=0):
    """The edges of a graph by type, as pairs."""
    own = next(edges for edges in corpus.edges if edges.type == name).between(graph, graph + 1)
    return list(zip(own.left.tolist(), own.right.tolist(), strict=True))


def star(directed=False):
    """A graph of three nodes with numbers, labels, types and lengths."""
    graph = nx.DiGraph() if directed else nx.Graph()
    for i, name in enumerate(["hub", "one", "two"]):
        graph.add_node(name, x=[float(i), 1.0], y="HL"[i > 0], words=["w", str(i)], colour="red", size=i)
    graph.add_edge("one", "hub", kind="in", length=2.0)
    graph.add_edge("hub", "two", kind="out", length=3.0)
    return graph


# -- NetworkX --------------------------------------------------------------------------------------------------------


def test_nodes_keep_their_order_and_names():
    corpus = Corpus.from_networkx(star())
    assert corpus.column("node").values() == ["hub", "one", "two"]
    assert corpus.labels_of(0) == ["H", "L", "L"]
    assert corpus.vectors.tolist() == [[0, 1], [1, 1], [2, 1]]


def test_edges_of_directed_graphs_keep_their_direction():
    corpus = Corpus.from_networkx(star(directed=True), symmetric={"out"})
    assert (pairs_of(corpus, "in"), pairs_of(corpus, "out")) == ([(1, 0)], [(0, 2)])
    assert [edges.symmetric for edges in sorted(corpus.edges, key=lambda e: e.type)] == [False, True]
    assert all(edges.symmetric for edges in Corpus.from_networkx(star()).edges)


def test_attributes_are_chosen_by_name():
    corpus = Corpus.from_networkx(star(), features="words", label=None, type=None, edge_features="length")
    assert corpus.attributes.names.to_list() == ["w", "0", "1", "2"]
    assert (corpus.labels, corpus.vectors) == (None, None)
    assert sorted(map(tuple, corpus.edges[0].attributes.tolist())) == [(2.0,), (3.0,)]
    several = Corpus.from_networkx(star(), features=["colour", "size"])
    assert several.attributes.names.to_list() == ["colour:red", "size"]
    assert Corpus.from_networkx(star(), features="colour").attributes.names.to_list() == ["colour:red"]
    assert Corpus.from_networkx(star(), features="size").vectors.tolist() == [[0], [1], [2]]
    assert Corpus.from_networkx(star(), features=None).n_tokens == 3


def test_labels_are_unknown_where_the_attribute_is_missing():
    graph = star()
    del graph.nodes["one"]["y"]
    assert Corpus.from_networkx(graph).labels_of(0) == ["H", None, "L"]
    assert Corpus.from_networkx(star(), label="other").labels is None


def test_a_list_of_graphs_is_a_corpus_of_graphs():
    corpus = Corpus.from_networkx([star(), star().subgraph(["two"])])
    assert (len(corpus), corpus.n_tokens) == (2, 4)
    assert pairs_of(corpus, "out", 1) == []


def test_parallel_edges_may_have_different_types():
    graph = nx.MultiGraph(star())
    graph.add_edge("one", "hub", kind="out")
    corpus = Corpus.from_networkx(graph)
    assert (0, 1) in pairs_of(corpus, "in")
    assert (0, 1) in pairs_of(corpus, "out")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda g: g.add_node("new"), {}, "node 'new': it has no attribute 'x'"),
        (lambda g: g.add_node("new", x=[1.0, 2.0, 3.0]), {}, "'new' has features of the shape"),
        (lambda g: g.add_edge("hub", "hub", kind="in"), {}, "the edge from 'hub' to 'hub'.*selfloop_edges"),
        (lambda g: g.add_edge("one", "two"), {}, "the edge from 'one' to 'two' has no attribute 'kind'"),
        (lambda g: g.add_edge("one", "two"), {"type": None, "edge_features": "length"}, "no attribute 'length'"),
        (lambda g: None, {"features": ["other"]}, "no node has an attribute named 'other'"),
        (lambda g: g.add_node("new", x=[np.nan, 1.0]), {}, "node 3: vectors has the value nan"),
        (lambda g: g.add_node("new", x=[1.0, 1.0], y=0.5), {}, "node 3: the label 0.5"),
    ],
)
def test_bad_networks_are_refused_with_the_name_of_the_node(change, options, message):
    graph = star()
    change(graph)
    with pytest.raises(DataError, match=message):
        Corpus.from_networkx(graph, **options)


def test_other_objects_and_mixed_graphs_are_refused():
    with pytest.raises(DataError, match="a graph of NetworkX, or a list of graphs, is needed, not a dict"):
        Corpus.from_networkx({"a": ["b"]})
    with pytest.raises(DataError, match="some of the graphs are directed"):
        Corpus.from_networkx([star(), star(directed=True)])
    with pytest.raises(DataError, match="the graph has no nodes"):
        Corpus.from_networkx(nx.Graph())


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_network_has_the_same_edges_as_the_graph(seed, directed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    graph = nx.gnp_random_graph(n, 0.4, seed=int(seed) % 10_000, directed=directed)
    graph = nx.relabel_nodes(graph, dict(enumerate(rng.permutation(n).tolist())))
    for left, right in graph.edges:
        graph.edges[left, right]["kind"] = "ab"[(left + right) % 2]
    corpus = Corpus.from_networkx(graph, features=None)
    names = corpus.column("node").values()
    found = {(e.type, int(names[a]), int(names[b])) for e in corpus.edges for a, b in pairs_of(corpus, e.type)}
    assert {(kind, *(pair if directed else sorted(pair))) for kind, *pair in found} == {
        (kind, *((a, b) if directed else sorted((a, b)))) for a, b, kind in graph.edges(data="kind")
    }


# -- PyTorch Geometric -----------------------------------------------------------------------------------------------


class Tensor:
    """As much of a tensor as is used."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def detach(self):
        return self

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return self.array.astype(dtype) if dtype else self.array


def data(**changes):
    given = {
        "x": np.eye(3),
        "edge_index": [[0, 1, 1, 2], [1, 0, 2, 1]],
        "edge_attr": [[1.0], [1.0], [2.0], [2.0]],
        "y": [0, 1, 2],
        "train_mask": [True, False, True],
        **changes,
    }
    return SimpleNamespace(**{name: None if own is None else Tensor(own) for name, own in given.items()})


def test_both_directions_become_one_symmetric_edge():
    corpus = Corpus.from_pyg(data())
    (edges,) = corpus.edges
    assert (edges.symmetric, pairs_of(corpus, "edge")) == (True, [(0, 1), (1, 2)])
    assert edges.attributes.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "changes",
    [{"edge_index": [[0, 1, 1, 2], [1, 0, 2, 0]]}, {"edge_attr": [[1.0], [3.0], [2.0], [2.0]]}],
    ids=["one direction", "other features"],
)
def test_edges_keep_their_direction_if_they_have_one(changes):
    (edges,) = Corpus.from_pyg(data(**changes)).edges
    assert (edges.symmetric, len(edges.left)) == (False, 4)


def test_the_direction_of_edges_can_be_said():
    (edges,) = Corpus.from_pyg(data(), symmetric=False).edges
    assert (edges.symmetric, len(edges.left)) == (False, 4)
    (edges,) = Corpus.from_pyg(data(edge_index=[[0, 1], [1, 2]], edge_attr=None), symmetric=True).edges
    assert (edges.symmetric, len(edges.left)) == (True, 2)


def test_labels_outside_of_the_mask_are_unknown():
    assert Corpus.from_pyg(data()).labels_of(0) == ["0", None, "2"]
    assert Corpus.from_pyg(data(), mask=None).labels_of(0) == ["0", "1", "2"]
    assert Corpus.from_pyg(data(train_mask=None)).labels_of(0) == ["0", "1", "2"]
    assert Corpus.from_pyg(data(), mask=np.array([False, True, False])).labels_of(0) == [None, "1", None]
    assert Corpus.from_pyg(data(val_mask=[True, False, False]), mask="val_mask").labels_of(0) == ["0", None, None]
    assert Corpus.from_pyg(data(y=None)).labels is None
    assert Corpus.from_pyg(data(y=[[0], [1], [2]])).labels_of(0) == ["0", None, "2"]


def test_labels_outside_of_the_mask_leave_no_trace():
    one, other = Corpus.from_pyg(data()), Corpus.from_pyg(data(y=[0, 7, 2]))
    assert one.labels.strings.to_list() == other.labels.strings.to_list()
    assert one.labels.ids.tolist() == other.labels.ids.tolist()


def test_relations_become_types_each_with_its_own_direction():
    corpus = Corpus.from_pyg(data(edge_type=[0, 0, 1, 2]))
    assert {edges.type: edges.symmetric for edges in corpus.edges} == {"0": True, "1": False, "2": False}


def test_a_list_of_data_is_a_corpus_of_graphs():
    corpus = Corpus.from_pyg([data(), data(edge_index=np.zeros((2, 0), int), edge_attr=np.zeros((0, 1)))])
    assert (len(corpus), corpus.edges[0].symmetric) == (2, True)
    assert pairs_of(corpus, "edge", 1) == []


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"edge_index": [[0, 1], [1, 2], [2, 0]]}, {}, r"\(2, m\), not \(3, 2\)"),
        ({"edge_index": [[0, 5], [1, 2]], "edge_attr": None}, {}, "type edge, edge 1: an end is node 5"),
        ({"edge_index": [[0, 1], [0, 2]], "edge_attr": None}, {}, "type edge, edge 0: both ends are node 0"),
        ({"y": [0.5, 1, 2]}, {}, "whole numbers"),
        ({"y": [0.5, 1, 2]}, {"mask": None}, "node 0: the label 0.5"),
        ({"train_mask": [[True], [True], [False]]}, {}, r"data.train_mask\[:, 0\]"),
        ({"train_mask": [0, 2]}, {}, "True or False for each of 3 nodes"),
        ({}, {"mask": "other"}, "no mask 'other'"),
        ({"batch": [0, 0, 0]}, {}, "to_data_list"),
        ({"x": np.eye(2)}, {}, "vectors has 2 nodes|x has 2 nodes"),
    ],
)
def test_bad_data_is_refused(changes, options, message):
    with pytest.raises(DataError, match=message):
        Corpus.from_pyg(data(**changes), **options)


def test_data_of_several_kinds_of_nodes_is_refused():
    with pytest.raises(DataError, match="to_homogeneous"):
        Corpus.from_pyg(SimpleNamespace(node_types=["author", "paper"]))
    with pytest.raises(DataError, match=r"not a list|is needed"):
        Corpus.from_pyg(3)


# -- images ----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from([4, 8]))
def test_pixels_are_joined_with_their_neighbours(height, width, neighbours):
    image = np.arange(height * width, dtype=float).reshape(height, width)
    corpus = Corpus.from_images([image], [image.astype(int)], neighbours=neighbours)
    assert corpus.vectors[:, 0].tolist() == list(range(height * width))
    assert corpus.labels_of(0) == [str(i) for i in range(height * width)]
    steps = {"right": (0, 1), "down": (1, 0), "down-right": (1, 1), "down-left": (1, -1)}
    assert {edges.type for edges in corpus.edges} == set(list(steps)[: neighbours // 2])
    for edges in corpus.edges:
        dy, dx = steps[edges.type]
        assert set(pairs_of(corpus, edges.type)) == {
            (y * width + x, (y + dy) * width + x + dx)
            for y in range(height - dy)
            for x in range(width)
            if 0 <= x + dx < width
        }


def test_images_may_differ_in_size_and_be_stacked():
    corpus = Corpus.from_images([np.zeros((2, 3, 3)), np.zeros((1, 4, 3))], [np.zeros((2, 3), int), None])
    assert (len(corpus), corpus.vectors.shape) == (2, (10, 3))
    assert corpus.labels_of(1) == [None] * 4
    stacked = Corpus.from_images(np.zeros((4, 2, 3), np.uint8), np.full((4, 2, 3), "sky"))
    assert (len(stacked), stacked.vectors.shape, stacked.labels_of(3)) == (4, (24, 1), ["sky"] * 6)


@pytest.mark.parametrize(
    ("images", "labels", "options", "message"),
    [
        (np.zeros((2, 3)), None, {}, r"for a single one, write \[image\]"),
        (np.zeros((2, 3, 3)), np.zeros((2, 3), int), {}, r"3 x 3 pixels, and its labels the shape \(3,\)"),
        ([np.zeros((2, 3))], [np.zeros((3, 2), int)], {}, "graph 0: the image has 2 x 3 pixels"),
        ([np.zeros((2, 3))] * 2, [np.zeros((2, 3), int)], {}, "2 images, and labels for 1"),
        ([np.zeros(3)], None, {}, r"graph 0: the image has the shape \(3,\)"),
        ([np.zeros((0, 3))], None, {}, "graph 0: the graph has no nodes"),
        ([np.zeros((2, 2, 1)), np.zeros((2, 2, 3))], None, {}, "graph 1: columns of x: 3, and of graph 0: 1"),
        ([np.full((2, 2), np.nan)], None, {}, "graph 0, node 0: x has the value nan"),
        ([np.zeros((2, 2))], None, {"neighbours": 6}, "neighbours= must be 4 or 8"),
        ([np.zeros((2, 2))], [np.zeros((2, 2))], {}, "graph 0, node 0: the label 0.0 is a float"),
    ],
)
def test_bad_images_are_refused(images, labels, options, message):
    with pytest.raises(CorateError, match=message):
        Corpus.from_images(images, labels, **options)
