"""Undirected graphs and their independences: X and Y are independent given Z if Z separates them.

A graph is read from text (``"A-B B-C"``), from edges, or from networkx. Variables that every factor is conditioned on,
such as the observation of a conditional random field, are neighbours of every node.
"""

from __future__ import annotations

import numbers
import re
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from corate.rate.errors import ExpressionError, SeparationError
from corate.rate.parsing import WRITTEN_NAME, bare_name
from corate.rate.terms import NamesLike, read_names
from corate.rate.writing import name_text

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Graph", "GraphLike", "node_name", "require_separation"]

#: Names with hyphens between, up to the next space or comma.
_PATH = re.compile(rf"({WRITTEN_NAME.pattern}(?:\s*-+\s*{WRITTEN_NAME.pattern})*)(?:[\s,;]+|$)")
#: Messages shorten sets with more names.
_SHOWN = 16


@dataclass(frozen=True)
class Graph:
    """An undirected graph whose nodes are random variables. Usually made by :meth:`of`.

    Attributes:
        nodes: the names of the nodes, in a fixed order.
        edges: the edges, as pairs of names.

    >>> g = Graph.of("A-B B-C D")
    >>> g.nodes, g.edges
    (('A', 'B', 'C', 'D'), (('A', 'B'), ('B', 'C')))
    >>> g
    Graph("A-B B-C D")
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, source: GraphLike, *, given: NamesLike = ()) -> Graph:
        """Make a graph from a string, from edges, or from a networkx graph.

        In a string, a hyphen joins two nodes, and a space separates edges: ``"A-B B-C"``. A path can be written as one:
        ``"A-B-C"``. A name alone is a node without edges. Nodes that are numbers get names: 3 becomes X3, and (0, 1)
        becomes X0_1.

        Args:
            source: the string, the edges (pairs of nodes), or the networkx graph.
            given: variables that all others may depend on: a list of names, or a string that is read as in an
                expression. Those that are not nodes are added, with edges to all nodes.

        Raises ExpressionError for a graph that cannot be read, is empty, is directed or has an edge from a node to
        itself.

        >>> Graph.of("A-B", given="rain")
        Graph("A-B A-rain B-rain")
        """
        other: Any = source
        match other:
            case Graph():
                graph = other
            case str():
                graph = _of_text(other)
            case _ if hasattr(other, "is_directed"):
                if other.is_directed():
                    raise ExpressionError(
                        "the graph is directed; pass an undirected one, such as graph.to_undirected()"
                    )
                graph = _of_edges(other.nodes, ((a, b) for a, b, *_ in other.edges))
            case Iterable() if not isinstance(other, Mapping):
                graph = _of_edges((), other)
            case _:
                raise ExpressionError(
                    f"a graph must be text such as 'A-B B-C', edges, or a networkx graph, not {source!r}"
                )
        return graph._with_given(given)

    def _with_given(self, given: NamesLike) -> Graph:
        added = [name for name in dict.fromkeys(read_names(given, self.neighbours)) if name not in self.neighbours]
        nodes, edges = list(self.nodes), list(self.edges)
        for name in added:
            _name(name)
            edges += [(node, name) for node in nodes]
            nodes.append(name)
        return Graph(tuple(nodes), tuple(edges)) if added else self

    def __repr__(self) -> str:
        alone = [node for node in self.nodes if not self.neighbours[node]]
        edges = ("-".join(map(name_text, edge)) for edge in self.edges)
        return f'Graph("{" ".join([*edges, *map(name_text, alone)])}")'

    @cached_property
    def neighbours(self) -> dict[str, frozenset[str]]:
        """A mapping from each node to the set of its neighbours."""
        found: dict[str, set[str]] = {node: set() for node in self.nodes}
        for a, b in self.edges:
            found[a].add(b)
            found[b].add(a)
        return {node: frozenset(others) for node, others in found.items()}

    def require(self, names: NamesLike) -> tuple[str, ...]:
        """The names as a tuple. Raises ExpressionError if one of them is not a node.

        The names of nodes, here and in the other methods, are a list, or a string that is read as in an expression:
        ``"AB"`` or ``"A, B"`` has two names, ``"rain"`` has one. A word that is the name of a node is one name.
        """
        found = read_names(names, self.neighbours)
        for name in found:
            if name not in self.neighbours:
                raise ExpressionError(f"no node {name!r} in the graph; it has {', '.join(self.nodes[:20])}")
        return found

    def ordered(self, names: NamesLike) -> list[str]:
        """The nodes ``names`` in the order of the graph, each once. Raises ExpressionError for an unknown name.

        >>> Graph.of("A-B B-C").ordered(["C", "A"])
        ['A', 'C']
        """
        wanted = set(self.require(names))
        return [node for node in self.nodes if node in wanted]

    def without(self, names: NamesLike) -> Graph:
        """The graph without some nodes and their edges. Raises ExpressionError for an unknown name."""
        gone = set(self.require(names))
        kept = tuple(node for node in self.nodes if node not in gone)
        return Graph(kept, tuple((a, b) for a, b in self.edges if a not in gone and b not in gone))

    def blanket(self, names: NamesLike) -> set[str]:
        """The Markov blanket of some nodes: all their neighbours, without the nodes themselves.

        Raises ExpressionError for an unknown name.
        """
        chosen = self.require(names)
        return set().union(*(self.neighbours[name] for name in chosen)) - set(chosen)

    def is_clique(self, names: NamesLike) -> bool:
        """Whether there is an edge between any two of some nodes. Raises ExpressionError for an unknown name."""
        chosen = set(self.require(names))
        return all(chosen - {node} <= self.neighbours[node] for node in chosen)

    def path(self, sources: NamesLike, targets: NamesLike, avoiding: NamesLike) -> list[str] | None:
        """A shortest path between two sets of nodes, without the nodes ``avoiding``; None if there is none.

        If there is no path, ``avoiding`` separates ``sources`` from ``targets``. Raises ExpressionError for an unknown
        name.

        >>> g = Graph.of("A-B B-C C-D D-A")
        >>> g.path("A", "C", "B"), g.path("A", "C", ["B", "D"])
        (['A', 'D', 'C'], None)
        """
        begin, end, blocked = self.require(sources), self.require(targets), set(self.require(avoiding))
        wanted = set(end) - blocked
        came: dict[str, str | None] = {node: None for node in begin if node not in blocked}
        waiting = deque(came)
        while waiting:
            node = waiting.popleft()
            if node in wanted:
                found = [node]
                while (before := came[found[-1]]) is not None:
                    found.append(before)
                return found[::-1]
            for other in self.neighbours[node]:
                if other not in blocked and other not in came:
                    came[other] = node
                    waiting.append(other)
        return None

    def components(self) -> list[list[str]]:
        """The connected components, each as a list of nodes."""
        left, found = dict.fromkeys(self.nodes), []
        while left:
            reached, waiting = {next(iter(left))}, [next(iter(left))]
            while waiting:
                fresh = self.neighbours[waiting.pop()] - reached
                reached |= fresh
                waiting += fresh
            found.append(self.ordered(reached))
            for node in reached:
                del left[node]
        return found

    def is_forest(self) -> bool:
        """Whether the graph has no loops, so that each connected component is a tree."""
        return len(self.edges) == len(self.nodes) - len(self.components())

    def is_chain(self) -> bool:
        """Whether each connected component is a chain."""
        return self.is_forest() and all(len(others) <= 2 for others in self.neighbours.values())

    def networkx(self) -> nx.Graph[str]:
        """The graph as a networkx graph."""
        import networkx as nx

        found: nx.Graph[str] = nx.Graph()
        found.add_nodes_from(self.nodes)
        found.add_edges_from(self.edges)
        return found

    def cliques(self) -> list[list[str]]:
        """The maximal cliques, each as a list of nodes, in the order of the graph."""
        import networkx as nx

        place = {node: i for i, node in enumerate(self.nodes)}
        found = [sorted(clique, key=place.__getitem__) for clique in nx.find_cliques(self.networkx())]
        return sorted(found, key=lambda clique: [place[node] for node in clique])


GraphLike: TypeAlias = "Graph | str | Iterable[tuple[Hashable, Hashable]] | nx.Graph[Any]"


def require_separation(graph: Graph, left: Collection[str], right: Collection[str], given: Collection[str]) -> None:
    """Raise SeparationError, which names a path, unless ``given`` separates ``left`` from ``right``.

    >>> require_separation(Graph.of("A-B B-C A-D D-C"), ["A"], ["C"], ["B"])
    Traceback (most recent call last):
        ...
    corate.rate.errors.SeparationError: {B} does not separate {A} from {C}: the path A - D - C bypasses it
    """
    small = len(left) <= len(right)
    path = graph.path(left, right, given) if small else graph.path(right, left, given)
    if path is None:
        return
    path = path if small else path[::-1]
    sides = f"{braced(given)} does not separate {braced(left)} from {braced(right)}"
    if len(path) == 1:
        raise SeparationError(f"{sides}: {path[0]} is on both sides", path)
    way = " - ".join(path)
    raise SeparationError(f"{sides}: the path {way} {'bypasses it' if len(given) else 'connects them'}", path)


def braced(names: Collection[object]) -> str:
    """A set of names as text; a large set is shortened.

    >>> braced(["A", "B"])
    '{A, B}'
    """
    shown = list(names) if len(names) <= _SHOWN else [*list(names)[: _SHOWN - 2], f"{len(names) - _SHOWN + 2} more"]
    return "{" + ", ".join(map(str, shown)) + "}"


def node_name(node: Hashable, default: str) -> str:
    """The name that a graph gives to a node, or a default if it cannot be one.

    >>> node_name((0, 1), ""), node_name(-1, "-1")
    ('X0_1', '-1')
    """
    try:
        return _name(node)
    except ExpressionError:
        return default


def _of_text(text: str) -> Graph:
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    rest = text.strip(" \t\r\n,;")
    if not rest:
        raise ExpressionError("the graph is empty; write edges such as 'A-B B-C'")
    while rest:
        path = _PATH.match(rest)
        if path is None:
            word = rest.split()[0]
            raise ExpressionError(
                f"{word!r} is not an edge; write edges as A-B, a path as A-B-C, and a node without edges as its name"
            )
        ends = [bare_name(name) for name in WRITTEN_NAME.findall(path[0])]
        nodes += ends
        edges += pairwise(ends)
        rest = rest[path.end() :]
    return _of_edges(nodes, edges)


def _of_edges(nodes: Iterable[Hashable], edges: Iterable[Any]) -> Graph:
    named: dict[Hashable, str] = {node: _name(node) for node in nodes}
    found: dict[frozenset[str], tuple[str, str]] = {}
    for edge in edges:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise ExpressionError(f"{edge!r} is not an edge; an edge is a pair of nodes")
        a, b = (named.setdefault(end, _name(end)) for end in edge)
        if a == b:
            raise ExpressionError(f"{a} has an edge to itself; remove that edge")
        found.setdefault(frozenset((a, b)), (a, b))
    names = tuple(named.values())
    if not names:
        raise ExpressionError("the graph is empty; it needs at least one node")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ExpressionError(f"two nodes would have the name {twice}; give them different names")
    return Graph(names, tuple(found.values()))


def _name(node: Hashable) -> str:
    """The name of a node: the node itself if it is a valid name, else a name made from its numbers."""
    if isinstance(node, str):
        if node.strip() == node and node and not re.search(r"[{}=]", node):
            return node
    elif isinstance(node, numbers.Integral) and int(node) >= 0:
        return f"X{node}"
    elif (
        isinstance(node, tuple) and node and all(isinstance(part, numbers.Integral) and int(part) >= 0 for part in node)
    ):
        return "X" + "_".join(map(str, node))
    raise ExpressionError(f"{node!r} is not a valid variable name; use text without braces and =")
