"""Triangulated graphs: maximal cliques are separated in a running intersection order.

    P(G) = prod P(C_i) / prod P(S_j)

Each clique C_i is separated by duplicating its separator S_i, partitioning, and the third CIT, as in the paper's
section "CR-F and Junction Tree". Other graphs are triangulated first: the node that needs the fewest new edges is
eliminated, so a triangulated graph gets none. (networkx can triangulate too, but adds many more edges: cliques of 40
nodes for a graph of treewidth 5.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

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
        import numpy as np  # chains and trees need neither

        from corate.inference.triangulation import triangulate

        read = Graph.of(graph)
        if not read.nodes:
            return cls((), (), ())
        nodes = read.nodes[::-1]  # of equal nodes, the last is eliminated first
        place = {node: i for i, node in enumerate(nodes)}
        edges = np.array([(place[a], place[b]) for a, b in read.edges], dtype=np.int32)
        tree = triangulate([2] * len(nodes), edges, tries=1)
        cliques = [[nodes[v] for v in clique] for clique in tree.cliques]
        separators = [clique[n:] for clique, n in zip(cliques, tree.residuals, strict=True)]
        joined = {frozenset(edge) for edge in read.edges}
        added: list[tuple[str, str]] = []
        for v in tree.order.tolist():  # its neighbours then are the nodes after it in its clique
            clique = cliques[tree.home[v]]
            later = read.ordered(clique[clique.index(nodes[v]) + 1 :])
            added += (pair for pair in combinations(later, 2) if frozenset(pair) not in joined)
            joined |= {frozenset(pair) for pair in combinations(later, 2)}
        return cls(
            tuple(tuple(read.ordered(c)) for c in cliques),
            tuple(tuple(read.ordered(s)) for s in separators),
            tuple(added),
        )


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
