"""Graphs: how they are read, what separates what, and the junction trees of random graphs."""

from __future__ import annotations

import pickle
from contextlib import suppress
from itertools import combinations
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.rate import ExpressionError, Graph, JunctionTree, SeparationError
from small_graphs import KINDS, random_graph


def test_graphs_are_read_from_texts_edges_and_networkx() -> None:
    path = Graph.of("A-B B-C")
    assert Graph.of("A - B, B - C") == Graph.of("A-B-C") == path
    assert Graph.of([("A", "B"), ("B", "C")]) == path
    assert Graph.of(nx.path_graph(["A", "B", "C"])) == path
    assert Graph.of(path) is path
    assert Graph.of("A-B B-A").edges == (("A", "B"),)
    assert Graph.of("A-B E").nodes == ("A", "B", "E")
    assert Graph.of(nx.path_graph(3)).nodes == ("X0", "X1", "X2")
    assert Graph.of(nx.grid_2d_graph(1, 2)).nodes == ("X0_0", "X0_1")
    assert Graph.of(nx.MultiGraph([("A", "B"), ("A", "B")])).edges == (("A", "B"),)


@pytest.mark.parametrize(
    ("source", "in_words"),
    [
        ("", "empty"),
        ([], "empty"),
        (nx.Graph(), "empty"),
        ("A-A", "A has an edge to itself"),
        ([("A", "A")], "A has an edge to itself"),
        (nx.Graph([(1, 1)]), "X1 has an edge to itself"),
        ("A-", "'A-' is not an edge"),
        ("A--B C+D", "'C\\+D' is not an edge"),
        ("1-2", "is not an edge"),
        (nx.DiGraph([("A", "B")]), "directed"),
        ([("A", "B", "C")], "is not an edge"),
        (["AB"], "is not an edge"),
        ([("A", 2.5)], "not a valid variable name"),
        ([("A", "B=C")], "not a valid variable name"),
        ([(1, "A"), ("X1", "A")], "two nodes would have the name X1"),
        (3, "a graph must be text"),
    ],
)
def test_graphs_that_cannot_be_used_are_told_why(source: Any, in_words: str) -> None:
    with pytest.raises(ExpressionError, match=in_words):
        Graph.of(source)


@settings(deadline=None)
@given(st.text(alphabet="AB1-, ;_+'"))
def test_any_text_is_a_graph_or_is_refused_as_one(text: str) -> None:
    with suppress(ExpressionError):
        graph = Graph.of(text)
        assert Graph.of(str(graph).removeprefix('Graph("').removesuffix('")')).neighbours == graph.neighbours


def test_what_is_given_is_joined_to_every_node() -> None:
    graph = Graph.of("A-B", given=["X", "Y"])
    assert graph.neighbours["X"] == {"A", "B", "Y"}
    assert Graph.of("A-B", given=["B"]) == Graph.of("A-B")


def test_shapes() -> None:
    assert Graph.of("A-B B-C D").is_chain()
    assert not Graph.of("A-B A-C A-D").is_chain()
    assert Graph.of("A-B A-C A-D").is_forest()
    assert not Graph.of("A-B B-C C-A").is_forest()
    assert Graph.of("A-B C").components() == [["A", "B"], ["C"]]


@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_those_of_networkx(kind: str) -> None:
    for seed in range(20):
        graph = random_graph(kind, 6, seed)
        ours = Graph.of(graph)
        for a, b in combinations("ABCDEF", 2):
            for avoided in ("", "C", "CD"):
                left = graph.subgraph(set(graph) - set(avoided))
                joined = a in left and b in left and nx.has_path(left, a, b)
                path = ours.path([a], [b], avoided)
                assert (path is not None) == joined
                if path is not None:
                    assert nx.is_path(left, path)
                    assert (path[0], path[-1]) == (a, b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 4, 8, 16])
def test_junction_trees_have_the_maximal_cliques_and_running_intersection(kind: str, n: int) -> None:
    for seed in range(15):
        graph = random_graph(kind, n, seed)
        tree = JunctionTree.of(Graph.of(graph))
        triangulated = nx.Graph(graph)
        triangulated.add_edges_from(tree.added)
        if n > 3:
            assert nx.is_chordal(triangulated)
        if kind != "arbitrary":
            assert tree.added == ()
        assert sorted(map(sorted, tree.cliques)) == sorted(map(sorted, nx.find_cliques(triangulated)))
        for i, (clique, separator) in enumerate(zip(tree.cliques, tree.separators, strict=True)):
            earlier = [set(other) for other in tree.cliques[:i]]
            assert set(separator) == set(clique) & set().union(*earlier)
            assert not separator or any(set(separator) <= other for other in earlier)


def naive_fill(graph: Any) -> set[frozenset[str]]:
    """Edges that greedy elimination adds, what each node needs counted afresh every time."""
    left, nodes, added = nx.Graph(graph), list(graph), set()

    def missing(node: str) -> list[tuple[str, str]]:
        return [pair for pair in combinations(left[node], 2) if not left.has_edge(*pair)]

    while left:
        node = min(left, key=lambda v: (len(missing(v)), left.degree[v], -nodes.index(v)))
        added |= set(map(frozenset, missing(node)))
        left.add_edges_from(missing(node))
        left.remove_node(node)
    return added


@pytest.mark.parametrize("n", [6, 10, 16])
def test_the_node_that_needs_the_fewest_edges_is_eliminated_first(n: int) -> None:
    for seed in range(12):
        graph = random_graph("arbitrary", n, seed)
        assert set(map(frozenset, JunctionTree.of(Graph.of(graph)).added)) == naive_fill(graph)


def test_triangulation_adds_no_more_edges_than_a_loop_needs() -> None:
    for n in range(4, 9):
        assert len(JunctionTree.of(Graph.of(nx.cycle_graph(n))).added) == n - 3


def test_errors_keep_their_path_across_processes() -> None:
    error = SeparationError("no", ["A", "B"])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path) == ("no", ("A", "B"))


def test_junction_trees_accept_what_graphs_are_made_of() -> None:
    tree = JunctionTree.of(Graph.of("A-B B-C"))
    assert JunctionTree.of("A-B B-C") == JunctionTree.of([("A", "B"), ("B", "C")]) == tree


@pytest.mark.parametrize("ask", [Graph.is_clique, Graph.without, Graph.ordered])
def test_unknown_nodes_are_errors(ask: Any) -> None:
    with pytest.raises(ExpressionError, match="no node 'Z' in the graph; it has A, B"):
        ask(Graph.of("A-B"), ["A", "Z"])
