"""Small random graphs and distributions for tests, from a seed."""

from __future__ import annotations

import random

import networkx as nx

KINDS = ("tree", "chordal", "arbitrary")


def random_graph(kind: str, n: int, seed: int) -> nx.Graph:
    """A random graph of ``n`` nodes named A, B, C, ...; it may be in several parts."""
    rng = random.Random(f"{kind} {n} {seed}")
    names = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n]
    graph = nx.Graph()
    graph.add_nodes_from(names)
    for i in range(1, n):
        if kind == "tree":
            if rng.random() < 0.9:
                graph.add_edge(names[i], rng.choice(names[:i]))
        elif kind == "chordal":
            # A new node is joined to a clique of those before it.
            clique = rng.choice(list(nx.find_cliques(graph.subgraph(names[:i]))))
            joined = rng.sample(clique, rng.randint(0 if rng.random() < 0.1 else 1, min(3, len(clique))))
            graph.add_edges_from((names[i], other) for other in joined)
    if kind == "arbitrary":
        share = rng.uniform(0.2, 0.7)
        graph.add_edges_from((a, b) for i, a in enumerate(names) for b in names[:i] if rng.random() < share)
    order = rng.sample(names, n)
    return nx.relabel_nodes(graph, dict(zip(names, order, strict=True)))
