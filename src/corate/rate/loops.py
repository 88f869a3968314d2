"""Break loops with the conditioning operation (theorem 1), so that the factorisation stays exact.

Leaves, and nodes whose neighbours form a clique, are removed as in a tree. Then a node x in a loop is partitioned off;
the first CIT reduces its factor to x and its neighbours. The rate of the rest would need a new edge between the
neighbours, so it is conditioned on x:

    CR(V, x) = CR(x; N(x))  sum_x' [ CR(V | x')  prod over v in V of CR(v; x')  P(x') ]

where x' runs over the values of x; CR(V | x') has one node less in loops. The paper sketches this in one sentence as
future work.
"""

from __future__ import annotations

from collections.abc import Sequence

from corate.rate.derivation import Derivation, Step
from corate.rate.expressions import Rate
from corate.rate.graphs import Graph
from corate.rate.terms import Sem, Seq
from corate.rate.theorems import cit1, conditioning, partition
from corate.rate.trees import peel, start

__all__ = ["opened"]


def opened(graph: Graph, given: Sequence[str]) -> Derivation:
    """The derivation that breaks all loops."""
    begun = start(graph, given)
    nodes = [node for node in graph.nodes if node not in given]
    conditions = list(given)
    steps: list[Step] = list(begun.steps)
    while True:
        off, nodes = peel(graph, nodes, conditions, cliques=True)
        steps += off
        if len(nodes) < 3:
            return Derivation(begun.start, graph, tuple(steps))
        inside = set(nodes)
        x = max(nodes, key=lambda node: len(graph.neighbours[node] & inside))
        nodes.remove(x)
        steps += _broken(graph, nodes, x, conditions)
        conditions = [x, *conditions]


def _broken(graph: Graph, rest: Sequence[str], x: str, given: Sequence[str]) -> list[Step]:
    """The steps that remove x from CR(Sem rest; x | given) and then condition on it."""
    condition = Seq(*given)
    whole = Rate(Sem(*graph.ordered([*rest, x])), condition)
    steps = [partition(whole, Sem(x))]
    far = [node for node in rest if node not in graph.neighbours[x]]
    if far:
        steps.append(cit1(Rate((Seq(x), Seq(*rest)), condition), far, graph=graph))
    return [*steps, conditioning(Rate(Sem(*rest), condition), Seq(x))]
