"""Random graphs whose nodes have features and labels, for tests of models of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from corate import Corpus

LABELS = ("A", "B", "C")
#: Names of types of edges that a file could confuse with others.
TYPES = ("next", "0", "edges.1.table", "ä \n<b>")


def labelled_graphs(
    n: int, seed: int, *, nodes: int = 6, types: int = 2, loops: int = 1, edge_features: bool = True
) -> Corpus:
    """Graphs with names, two numbers a node, a tree of the first type with features, and some more edges."""
    rng = np.random.default_rng(seed)
    xs, ys, edges, numbers = list[Any](), list[Any](), list[Any](), list[Any]()
    for _ in range(n):
        y = rng.integers(3, size=nodes)
        seen = np.where(rng.random(nodes) < 0.7, y, rng.integers(3, size=nodes))
        xs.append(
            {"features": [{f"w{v}": 1.0, "size": float(v) + 0.5} for v in seen], "vectors": rng.normal(size=(nodes, 2))}
        )
        ys.append([None if rng.random() < 0.1 else LABELS[v] for v in y])
        tree = np.array([[rng.integers(v), v] for v in range(1, nodes)])
        own = {TYPES[0]: tree}
        for name in TYPES[1:types]:
            more = rng.integers(nodes, size=(loops, 2))
            own[name] = np.unique(np.sort(more[more[:, 0] != more[:, 1]], axis=1), axis=0).reshape(-1, 2)
        edges.append(own)
        numbers.append({TYPES[0]: rng.normal(size=(len(tree), 2))} if edge_features else {})
    given = numbers if edge_features else None
    return Corpus.from_graphs(xs, ys, edges=edges, edge_features=given, symmetric=set(TYPES[1:types]))
