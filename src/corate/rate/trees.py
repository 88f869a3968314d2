"""Chains and trees: leaves are partitioned off one by one; the first CIT reduces the factor to leaf and neighbour.

P(Y_1, ..., Y_n | X) = prod CR(Y_i; Y_k | X) prod P(Y_j | X)      over edges i - k and nodes j
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corate.rate.derivation import Derivation, Step
from corate.rate.expressions import Probability, Rate
from corate.rate.graphs import Graph
from corate.rate.terms import Block, Seq, Term
from corate.rate.theorems import cit1, definition, partition

__all__ = ["chain", "interior", "peel", "start", "tree"]


def start(graph: Graph, given: Sequence[str]) -> Derivation:
    """P of all nodes that are not given, rewritten as a rate times single probabilities."""
    nodes = [node for node in graph.nodes if node not in given]
    whole = Probability(Seq(*nodes), Seq(*given))
    return Derivation(whole, graph, (definition(whole),) if len(nodes) > 1 else ())


def tree(graph: Graph, given: Sequence[str]) -> Derivation:
    """The derivation for a graph that has no loop after the given nodes are removed."""
    begun = start(graph, given)
    nodes = [node for node in graph.nodes if node not in given]
    steps, _ = peel(graph, nodes, given)
    return Derivation(begun.start, graph, (*begun.steps, *steps))


#: A chain is a tree; its leaves are removed from the far end, so that the factors are in order.
chain = tree


def interior(graph: Graph, given: Sequence[str]) -> Derivation:
    """A chain as the joint probabilities of neighbours over the probabilities of the interior nodes."""
    found = tree(graph, given)
    rates = [factor for factor in found.result.powers() if isinstance(factor, Rate)]
    return Derivation(found.start, graph, (*found.steps, *map(definition, rates)))


def peel(
    graph: Graph, nodes: Sequence[str], given: Sequence[str], *, cliques: bool = False
) -> tuple[list[Step], list[str]]:
    """Steps that remove leaves from CR(Sem nodes | given) while there are any, and the remaining nodes.

    Nodes without neighbours are removed too. One node of a forest remains; otherwise the nodes on or between loops.
    With ``cliques``, nodes whose neighbours form a clique are removed as well: this needs no new edge between them.
    """
    left = {node: Block([Term(node)]) for node in nodes}
    degree = {node: sum(other in left for other in graph.neighbours[node]) for node in nodes}
    condition, steps = Seq(*given), []
    while len(left) > 1:
        leaf = next((node for node in reversed(left) if degree[node] <= 1), None)
        if leaf is None and cliques:
            near = ((node, graph.neighbours[node] & left.keys()) for node in reversed(left))
            leaf = next((node for node, others in near if graph.is_clique(others)), None)
        if leaf is None:
            break
        whole = Rate(left.values(), condition)
        steps += _split(graph, whole, leaf, left.pop(leaf), left)
        for other in graph.neighbours[leaf]:
            if other in left:
                degree[other] -= 1
    return steps, list(left)


def _split(graph: Graph, whole: Rate, leaf: str, own: Block, left: Mapping[str, Block]) -> list[Step]:
    """The steps from CR(Sem left; leaf) to CR(Sem left) CR(neighbour; leaf)."""
    steps = [partition(whole, left.values())] if len(left) > 1 else []
    dropped = [block[0] for node, block in left.items() if node not in graph.neighbours[leaf]]
    if dropped:
        cut = Rate((Block(b[0] for b in left.values()), own), whole.given)
        steps.append(cit1(cut, Block(dropped), graph=graph))
    return steps
