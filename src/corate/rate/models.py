"""Random distributions that obey a graph: from random clique potentials, or a Gaussian with a sparse precision."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from corate.rate.gaussian import Gaussian
from corate.rate.graphs import Graph, GraphLike
from corate.rate.tables import Table, check_cells

__all__ = ["random_gaussian", "random_table"]


def random_table(
    graph: GraphLike, seed: int = 0, *, states: int | Mapping[str, Sequence[Hashable]] | None = None
) -> Table:
    """A random positive distribution that satisfies a graph: the product of random potentials of the maximal cliques.

    Args:
        graph: the graph.
        seed: the random seed.
        states: the number of states of every variable, or a mapping from variables to lists of states. Variables
            without an entry have two or three states, at random.

    Raises ExpressionError if ``states`` has a variable that is not a node.

    >>> d = random_table("A-B B-C", seed=1)
    >>> d.difference("P(A, C | B)", "P(A | B) P(C | B)") < 1e-12
    True
    """
    read = Graph.of(graph)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(2, 4, size=len(read.nodes)).tolist() if not isinstance(states, int) else None
    sizes = {node: drawn[i] if drawn is not None else int(states) for i, node in enumerate(read.nodes)}  # type: ignore[arg-type]
    named = {name: tuple(values) for name, values in states.items()} if isinstance(states, Mapping) else {}
    read.require(named)
    sizes |= {name: len(values) for name, values in named.items()}
    check_cells(math.prod(sizes.values()), read.nodes)
    logs = np.zeros(list(sizes.values()))
    for clique in read.cliques():
        shape = [sizes[node] if node in clique else 1 for node in read.nodes]
        logs = logs + rng.normal(size=shape)
    return Table(logs, read.nodes, states=named, log=True)


def random_gaussian(graph: GraphLike, seed: int = 0) -> Gaussian:
    """A random Gaussian that satisfies a graph: its precision matrix is zero for pairs of nodes without an edge.

    >>> d = random_gaussian("A-B B-C", seed=1)
    >>> d.difference("P(A, C | B)", "P(A | B) P(C | B)") < 1e-9
    True
    """
    read = Graph.of(graph)
    rng = np.random.default_rng(seed)
    place = {node: i for i, node in enumerate(read.nodes)}
    precision = np.zeros((len(read.nodes), len(read.nodes)))
    for a, b in read.edges:
        precision[place[a], place[b]] = precision[place[b], place[a]] = rng.normal()
    np.fill_diagonal(precision, np.abs(precision).sum(axis=1) + rng.uniform(0.5, 1.5, size=len(read.nodes)))
    return Gaussian(np.linalg.inv(precision), read.nodes, mean=rng.normal(size=len(read.nodes)))
