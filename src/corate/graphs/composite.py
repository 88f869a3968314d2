"""Composite likelihood: the factor of each clique is estimated on its own, from the clique and its neighbours.

In a model of a graph, the factors of a clique C follow from P(C | its neighbours) alone. So a small model is fitted to
each clique's neighbourhood A, the clique with its neighbours: by proportional fitting of the margins of all cliques of
the graph that touch C, and of the joint margin of the neighbours, which the rest of the graph may connect. The factors
are those of the paper's section "CR-F and MRF", with the reference state 0 outside of S:

    log psi_S(x_S) = sum over T in S of (-1)^(|S| - |T|) log P_A(x_T, 0 elsewhere),    S in C

A part S of several cliques gets the mean of their estimates. There is no iteration over the whole graph and no
partition function, and cliques could be fitted in parallel; but tables of neighbourhoods must fit into memory, and what
rows tell about a clique through longer paths is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from corate import portable_math
from corate.errors import ConfigError
from corate.graphs.estimation import ScopeCounts
from corate.inference.tables import spread
from corate.inference.trees import Factor
from corate.rate import Graph
from corate.types import F64

__all__ = ["fit_composite", "neighbourhoods"]

MOST_CELLS = 1 << 22
_SWEEPS, _TOLERANCE = 500, 1e-7


def neighbourhoods(graph: Graph, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Each maximal clique, followed by its neighbours. Raises ConfigError if one has too many joint states."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    found = []
    for clique in graph.cliques():
        scope = tuple(place[node] for node in (*clique, *graph.ordered(graph.blanket(clique))))
        cells = math.prod(sizes[v] for v in scope)
        if cells > MOST_CELLS:
            raise ConfigError(
                f"the clique of {', '.join(clique)} and its neighbours have {cells:,} joint states, more than "
                f"{MOST_CELLS:,}; use the method ipf",
                option="method",
            )
        found.append(scope)
    return found


def fit_composite(counts: ScopeCounts, graph: Graph, prior: float) -> list[Factor]:
    """A factor for every maximal clique; the scopes of the counts are the neighbourhoods."""
    if prior <= 0:
        raise ConfigError("the method composite needs a prior above 0, so that no cell is zero", option="prior")
    place = {node: i for i, node in enumerate(graph.nodes)}
    cliques = [tuple(place[node] for node in clique) for clique in graph.cliques()]
    parts: dict[frozenset[int], list[tuple[tuple[int, ...], F64]]] = {}
    for clique, scope, table in zip(cliques, counts.scopes, counts.smoothed(prior), strict=True):
        logs = portable_math.log(_local_fit(table, clique, scope, cliques))
        for part, values in _interactions(logs, clique).items():
            parts.setdefault(frozenset(part), []).append((part, values))
    factors: list[Factor] = []
    used: set[frozenset[int]] = set()
    for clique, table in zip(cliques, counts.tables, strict=True):
        total = np.zeros(table.shape[: len(clique)])
        for key in (frozenset(part) for size in range(1, len(clique) + 1) for part in combinations(clique, size)):
            if key not in used:
                used.add(key)
                total = total + sum(spread(values, part, clique) for part, values in parts[key]) / len(parts[key])
        factors.append((clique, portable_math.exp(total - total.max())))
    return factors


def _local_fit(table: F64, clique: Sequence[int], scope: Sequence[int], cliques: Sequence[tuple[int, ...]]) -> F64:
    """The distribution of a neighbourhood in which only cliques that touch ``clique``, and the neighbours, interact."""
    inner = set(clique)
    margins = [set(other) for other in cliques if inner & set(other)]
    margins.append(set(scope) - inner)
    axes = [tuple(k for k, v in enumerate(scope) if v not in margin) for margin in margins]
    wanted = [table.sum(axis=rest, keepdims=True) for rest in axes]
    found = np.full(table.shape, 1.0 / table.size)
    for _ in range(_SWEEPS):
        worst = 0.0
        for rest, target in zip(axes, wanted, strict=True):
            margin = found.sum(axis=rest, keepdims=True)
            worst = max(worst, float(np.abs(margin - target).max()))
            found = found * (target / margin)
        if worst <= _TOLERANCE:
            break
    return found


def _interactions(logs: F64, clique: Sequence[int]) -> dict[tuple[int, ...], F64]:
    """log psi of every part of a clique, whose variables are the first axes."""
    n = len(clique)
    found: dict[tuple[int, ...], F64] = {}
    for size in range(1, n + 1):
        for axes in combinations(range(n), size):
            total = np.zeros([logs.shape[k] for k in axes])
            for inner in range(size + 1):
                for kept in combinations(axes, inner):
                    index = tuple(slice(None) if k in kept else 0 for k in range(logs.ndim))
                    shape = [logs.shape[k] if k in kept else 1 for k in axes]
                    total = total + (-1) ** (size - inner) * logs[index].reshape(shape)
            found[tuple(clique[k] for k in axes)] = total
    return found
