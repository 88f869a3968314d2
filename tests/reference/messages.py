"""Pairwise fields by enumeration, and messages in plain NumPy."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np

from corate.inference.messages import PairwiseField


def random_field(rng, n_nodes, n_labels, *, tree, n_types=2, scale=1.5, forbid=0.0, extra=0):
    """A field on a random forest, or on a forest with some more edges."""
    edges = [
        (int(rng.integers(i)), i) if rng.random() < 0.5 else (i, int(rng.integers(i)))
        for i in range(1, n_nodes)
        if rng.random() < 0.9
    ]
    if not tree:
        free = [e for e in itertools.combinations(range(n_nodes), 2) if e not in edges and e[::-1] not in edges]
        edges += [free[i] for i in rng.permutation(len(free))[:extra]]
    order = rng.permutation(n_nodes)
    edges = np.array([(order[a], order[b]) for a, b in edges], dtype=np.int32).reshape(-1, 2)
    tables = rng.normal(0, scale, (n_types, n_labels, n_labels))
    if rng.random() < 0.3:
        same = np.eye(n_labels, dtype=bool)
        tables[0] = np.where(same, tables[0, 0, 0], tables[0, 0, -1])
    nodes = rng.normal(0, scale, (n_nodes, n_labels))
    if forbid:
        nodes[rng.random(nodes.shape) < forbid] = -np.inf
        nodes[:, 0] = np.where(np.isinf(nodes).all(axis=1), 0.0, nodes[:, 0])
        tables[(rng.random(tables.shape) < forbid) & ~np.eye(n_labels, dtype=bool)] = -np.inf
    return PairwiseField(nodes, edges, rng.integers(n_types, size=len(edges)).astype(np.int32), tables)


def scores(field: PairwiseField) -> tuple[np.ndarray, np.ndarray]:
    """All labellings, and the score of each."""
    n, k = field.nodes.shape
    every = np.array(list(itertools.product(range(k), repeat=n)), dtype=np.int64).reshape(-1, n)
    total = field.nodes[np.arange(n), every].sum(axis=1)
    for (i, j), t in zip(field.edges, field.types, strict=True):
        total = total + field.tables[t][every[:, i], every[:, j]]
    return every, total


def enumerated(field: PairwiseField) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Marginals of nodes, marginals of edges, log Z, and the best score."""
    every, total = scores(field)
    top = total.max()
    p = np.exp(total - top)
    log_z = top + np.log(p.sum())
    p /= p.sum()
    n, k = field.nodes.shape
    nodes = np.stack([[p[every[:, i] == a].sum() for a in range(k)] for i in range(n)])
    pairs = np.zeros((len(field.edges), k, k))
    for e, (i, j) in enumerate(field.edges):
        np.add.at(pairs[e], (every[:, i], every[:, j]), p)
    return nodes, pairs, log_z, top


def marginals_of_forest(field: PairwiseField) -> np.ndarray:
    """Marginals by messages with logarithms, one at a time."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(field.nodes)))
    tables = {}
    for (i, j), t in zip(field.edges.tolist(), field.types.tolist(), strict=True):
        graph.add_edge(i, j)
        tables[i, j], tables[j, i] = field.tables[t], field.tables[t].T
    messages: dict[tuple[int, int], np.ndarray] = {}

    def send(i: int, j: int) -> None:
        cavity = field.nodes[i] + sum(
            (messages[near, i] for near in graph[i] if near != j), start=np.zeros(field.n_labels)
        )
        messages[i, j] = np.logaddexp.reduce(cavity[:, None] + tables[i, j], axis=0)

    for part in nx.connected_components(graph):
        root = min(part)
        for i, j in reversed(list(nx.bfs_edges(graph, root))):
            send(j, i)
        for i, j in nx.bfs_edges(graph, root):
            send(i, j)
    beliefs = np.stack(
        [field.nodes[i] + sum((messages[near, i] for near in graph[i]), start=np.zeros(field.n_labels)) for i in graph]
    )
    beliefs = beliefs[np.argsort(list(graph))]
    return np.exp(beliefs - np.logaddexp.reduce(beliefs, axis=1, keepdims=True))
