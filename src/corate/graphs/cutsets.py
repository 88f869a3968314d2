"""Feedback vertex sets: nodes without which a graph has no loop, and the graph that connects them to all others.

Given such a cutset, the rest of the graph is a forest. If the cutset is complete and each of its nodes is connected to
all others, the graph is triangulated: its cliques are the cutset with an edge or a node of the forest. So its estimate
has a closed form, which is a distribution with the margins of these cliques.

The best cutset has the smallest weight. With the logarithm of the number of states as weight, it has the fewest joint
states; if all variables have equally many states, it has the fewest nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from corate.rate import Graph

__all__ = ["joined", "smallest_cutset"]

#: The best cutset of a component with more nodes on loops is searched at random.
MOST_EXACT = 20
_TRIES = 32

Near = dict[str, set[str]]


def smallest_cutset(graph: Graph, weights: Mapping[str, float], seed: int = 0) -> tuple[str, ...]:
    """Nodes that are on every loop, of the smallest total weight; of a small one if more than 20 nodes are on loops.

    >>> square = Graph.of("A-B B-C C-D D-A D-E")
    >>> smallest_cutset(square, {"A": 2.0, "B": 3.0, "C": 1.0, "D": 2.0, "E": 0.1})
    ('C',)
    """
    found: set[str] = set()
    for component in graph.components():
        near = _core({node: set(graph.neighbours[node]) for node in component})
        found |= _exact(near, weights) if len(near) <= MOST_EXACT else _searched(near, weights, seed)
    return tuple(graph.ordered(found))


def joined(graph: Graph, cutset: tuple[str, ...]) -> Graph:
    """The graph with an edge from each node of the cutset to all nodes of its component.

    >>> joined(Graph.of("A-B B-C C-D D-A E"), ("A",))
    Graph("A-B B-C C-D A-D A-C E")
    """
    edges = {frozenset(edge): tuple(graph.ordered(edge)) for edge in graph.edges}
    for component in graph.components():
        for a, b in combinations(component, 2):
            if a in cutset or b in cutset:
                edges.setdefault(frozenset((a, b)), (a, b))
    return Graph(graph.nodes, tuple(edges.values()))  # type: ignore[arg-type]


def _core(near: Near) -> Near:
    """The nodes on loops, and between loops: without leaves, as long as there are any."""
    left = {node: set(others) for node, others in near.items()}
    _peel(left, list(left))
    return left


def _peel(left: Near, waiting: list[str]) -> None:
    """Remove leaves, of which the first are among some nodes."""
    while waiting:
        node = waiting.pop()
        if node in left and len(left[node]) < 2:
            waiting += _remove(left, node)


def _remove(left: Near, node: str) -> list[str]:
    others = list(left.pop(node))
    for other in others:
        left[other].discard(node)
    return others


def _exact(near: Near, weights: Mapping[str, float]) -> set[str]:
    """The complement of the heaviest set of nodes that is a forest, among all sets.

    A set is a forest if and only if a node has at most one neighbour in it, and the rest is a forest.
    """
    nodes = list(near)
    n = len(nodes)
    masks = np.array([sum(1 << nodes.index(other) for other in near[node]) for node in nodes], dtype=np.int64)
    sets = np.arange(1 << n, dtype=np.int64)
    sizes, total = np.zeros(1 << n, dtype=np.uint8), np.zeros(1 << n)
    for i, node in enumerate(nodes):
        inside = (sets >> i & 1).astype(bool)
        sizes += inside
        total += np.where(inside, weights[node], 0.0)
    forest = np.zeros(1 << n, dtype=bool)
    forest[0] = True
    for size in range(1, n + 1):
        chosen = sets[sizes == size]
        good = np.zeros(len(chosen), dtype=bool)
        for i in range(n):
            inside = (chosen >> i & 1).astype(bool)
            good |= inside & (sizes[chosen & masks[i]] <= 1) & forest[chosen & ~(1 << i)]
        forest[chosen] = good
    best = int(np.where(forest, total, -1.0).argmax())
    return {node for i, node in enumerate(nodes) if not best >> i & 1}


def _searched(near: Near, weights: Mapping[str, float], seed: int) -> set[str]:
    """The best of some greedy searches: nodes with many neighbours and a small weight first, with random factors."""
    rng = np.random.default_rng(seed)
    best: set[str] = set(near)
    for k in range(_TRIES):
        found = _greedy(near, weights, rng.uniform(0.7, 1.0, len(near)) if k else np.ones(len(near)))
        if sum(weights[v] for v in found) < sum(weights[v] for v in best):
            best = found
    return best


def _greedy(near: Near, weights: Mapping[str, float], factors: NDArray[np.float64]) -> set[str]:
    factor = dict(zip(near, factors.tolist(), strict=True))
    left, found = _core(near), []
    while left:
        v = max(left, key=lambda node: (len(left[node]) - 1) * factor[node] / (weights[node] + 1e-9))
        found.append(v)
        _peel(left, _remove(left, v))
    return _needed(near, found)


def _needed(near: Near, cutset: list[str]) -> set[str]:
    """The nodes of a cutset that would join two neighbours in one tree of the rest; the first may not be needed."""
    tree: dict[str, str] = {}  # of each node of the forest: another one, or itself

    def root(node: str) -> str:
        while tree[node] != node:
            tree[node] = node = tree[tree[node]]
        return node

    needed = set()
    for v in [*(node for node in near if node not in set(cutset)), *cutset]:
        roots = [root(other) for other in near[v] if other in tree]
        if len(set(roots)) < len(roots):
            needed.add(v)
        else:
            tree[v] = v
            for other in roots:
                tree[other] = v
    return needed
