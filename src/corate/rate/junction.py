"""Triangulated graphs: maximal cliques are separated in a running intersection order.

    P(G) = prod P(C_i) / prod P(S_j)

Each clique C_i is separated by duplicating its separator S_i, partitioning, and the third CIT, as in the paper's
section "CR-F and Junction Tree". Other graphs are triangulated first: the node that needs the fewest new edges is
eliminated, so a triangulated graph gets none. (networkx can triangulate too, but adds many more edges: cliques of 40
nodes for a graph of treewidth 5.)
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from corate.rate.derivation import Derivation, Step
from corate.rate.expressions import Expression, Probability, Rate, probability
from corate.rate.graphs import Graph, GraphLike
from corate.rate.terms import Block, Sem, Seq, Term
from corate.rate.theorems import cit3, definition, duplicate, partition
from corate.rate.trees import start

__all__ = ["JunctionTree", "factors", "junction"]


@dataclass(frozen=True)
class JunctionTree:
    """A junction tree, also called clique tree: the maximal cliques of a triangulated graph, with their separators.

    The cliques are in running intersection order. The separator of a clique has the nodes that it shares with earlier
    cliques, and one of the earlier cliques contains the whole separator.

    Attributes:
        cliques: the nodes of each clique.
        separators: the nodes of the separator of each clique, in the same order. The first separator is empty.
        added: the edges that triangulation added.

    >>> JunctionTree.of("A-B B-C C-D D-A")
    JunctionTree(cliques=(('A', 'B', 'C'), ('A', 'C', 'D')), separators=((), ('A', 'C')), added=(('A', 'C'),))
    """

    cliques: tuple[tuple[str, ...], ...]
    separators: tuple[tuple[str, ...], ...]
    added: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, graph: GraphLike) -> JunctionTree:
        """Triangulate a graph with the min-fill heuristic, and build its junction tree."""
        read = Graph.of(graph)
        order, later, added = _eliminate(read)
        place = {node: i for i, node in enumerate(order)}
        cliques: list[dict[str, None]] = []
        separators: list[tuple[str, ...]] = []
        home: dict[str, int] = {}
        for node in reversed(order):
            rest = later[node]
            at = home[min(rest, key=place.__getitem__)] if rest else -1
            if rest and cliques[at].keys() == rest:
                cliques[at][node] = None
            else:
                at = len(cliques)
                cliques.append(dict.fromkeys([*rest, node]))
                separators.append(tuple(read.ordered(rest)))
            home[node] = at
        return cls(tuple(tuple(read.ordered(c)) for c in cliques), tuple(separators), added)


def junction(graph: Graph, given: Sequence[str]) -> tuple[Derivation, JunctionTree]:
    """The derivation of P(C) / P(S), and its junction tree."""
    begun = start(graph, given)
    found = JunctionTree.of(graph.without(given))
    condition = Seq(*given)
    left = {node: Block([Term(node)]) for node in graph.nodes if node not in given}
    steps: list[Step] = []
    for clique, separator in reversed(list(zip(found.cliques, found.separators, strict=True))[1:]):
        steps += _separate(graph, left, clique, separator, condition)
        for node in clique:
            if node not in separator:
                del left[node]
    steps += [definition(Probability(Seq(*c), condition)).reversed() for c in found.cliques if len(c) > 1]
    return Derivation(begun.start, graph, (*begun.steps, *steps)), found


def factors(tree: JunctionTree, given: Sequence[str]) -> tuple[Expression, ...]:
    """phi(C_i) = P(C_i) / P(S_i) of each clique."""
    condition = Seq(*given)
    pairs = zip(tree.cliques, tree.separators, strict=True)
    return tuple(probability(Seq(*c), condition) / probability(Seq(*s), condition) for c, s in pairs)


def _separate(
    graph: Graph, left: dict[str, Block], clique: Sequence[str], separator: Sequence[str], condition: Block
) -> list[Step]:
    """The steps that separate one clique from the rate of all remaining nodes."""
    steps = []
    rate: Expression = Rate(left.values(), condition)
    if separator:
        steps.append(duplicate(rate, *Sem(*separator)))
        rate = Rate((*Sem(*separator), *left.values()), condition)
    own = set(clique) - set(separator)
    rest = [b for node, b in left.items() if node not in own]
    step = partition(rate, rest)
    cut = Rate((Block(b[0] for b in rest), Seq(*clique)), condition)
    return [*steps, step, cit3(cut, graph=graph)]


def _eliminate(graph: Graph) -> tuple[list[str], dict[str, set[str]], tuple[tuple[str, str], ...]]:
    """An elimination order (fewest new edges first), the later neighbours of each node, and the added edges.

    The number of new edges that each node needs is updated as edges are added and nodes are removed.
    """
    near = {node: set(others) for node, others in graph.neighbours.items()}
    needs = {v: sum(len(near[v] - near[u]) - 1 for u in near[v]) // 2 for v in near}
    place = {node: -i for i, node in enumerate(graph.nodes)}
    heap = [(needs[v], len(near[v]), place[v], v) for v in near]
    heapq.heapify(heap)
    order: list[str] = []
    later: dict[str, set[str]] = {}
    added: list[tuple[str, str]] = []
    while heap:
        need, degree, _, v = heapq.heappop(heap)
        if v in later or need != needs[v] or degree != len(near[v]):
            continue
        changed = _fill(near, needs, graph.ordered(near[v]) if needs[v] else [], added)
        for u in near[v]:
            needs[u] -= len(near[u] - near[v]) - 1
            near[u].discard(v)
        changed |= near[v]
        order.append(v)
        later[v] = near[v]
        for u in changed - {v}:
            heapq.heappush(heap, (needs[u], len(near[u]), place[u], u))
    return order, later, tuple(added)


def _fill(
    near: dict[str, set[str]], needs: dict[str, int], nodes: Sequence[str], added: list[tuple[str, str]]
) -> set[str]:
    """Connect all pairs of some nodes; returns the nodes that now need another number of new edges."""
    changed: set[str] = set()
    for i, a in enumerate(nodes):
        for b in nodes[i + 1 :]:
            if b in near[a]:
                continue
            both = near[a] & near[b]
            for w in both:
                needs[w] -= 1
            needs[a] += len(near[a]) - len(both)
            needs[b] += len(near[b]) - len(both)
            near[a].add(b)
            near[b].add(a)
            added.append((a, b))
            changed |= both | {a, b}
    return changed
