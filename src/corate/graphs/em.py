"""Expectation maximisation for missing values and hidden variables.

E step: the expected number of rows in every cell of every clique, given what each row shows and the current model.
M step: the estimate from these numbers as if they were counts, which has a closed form on a triangulated graph.

Each step raises the objective, the log-likelihood plus the prior's ``a E[log P(x)]`` under the uniform distribution (a
rows spread evenly over the joint table). Leaving out rows clique by clique, instead, gives separators two values and is
biased unless values are missing completely at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corate import portable
from corate.errors import DataError
from corate.graphs.engine import Engine, Factor, Given
from corate.graphs.estimation import ScopeCounts, tree_factors
from corate.graphs.triangulation import Triangulation
from corate.graphs.variables import DataRows
from corate.rate import Graph
from corate.types import F64

if TYPE_CHECKING:
    from corate.graphs.fitting import FitOptions

__all__ = ["fit_incomplete"]

#: EM ends when a step raises the objective by less than this, for each row.
TOLERANCE = 1e-7


def fit_incomplete(
    rows: DataRows,
    graph: Graph,
    tree: Triangulation,
    scopes: Sequence[tuple[int, ...]],
    method: str,
    options: FitOptions,
    hidden: Sequence[str],
) -> tuple[list[Factor], dict[str, Any]]:
    """The factors of the best of some starts (one if nothing is hidden), and facts for the record."""
    given, weights = _distinct(rows, graph.nodes)
    starts = options.restarts if hidden else 1
    best: tuple[list[Factor], dict[str, Any]] | None = None
    for start in range(starts):
        first = _start(given, weights, tree, options, start if hidden else None)
        found, trace = _climb(first, given, weights, graph, tree, scopes, method, options)
        facts: dict[str, Any] = {
            "iterations": len(trace),
            "log_likelihood": trace[-1][1],
            "objective": [value for value, _ in trace],
            "starts": starts,
        }
        if best is None or facts["objective"][-1] > best[1]["objective"][-1]:
            best = found, facts
    assert best is not None
    return best


def _distinct(rows: DataRows, variables: Sequence[str]) -> tuple[Given, F64]:
    """The different rows of the observed variables, and how often each occurs."""
    seen = [i for i, name in enumerate(variables) if name in rows.columns]
    states = np.stack([np.asarray(rows.columns[variables[i]], dtype=np.int32) for i in seen], axis=1)
    weights = np.ones(len(states)) if rows.weights is None else rows.weights
    distinct, inverse = np.unique(states, axis=0, return_inverse=True)
    sums = np.bincount(inverse.reshape(-1), weights=weights)
    return (np.array(seen, dtype=np.int32), np.ascontiguousarray(distinct)), np.asarray(sums, dtype=np.float64)


def _start(given: Given, weights: F64, tree: Triangulation, options: FitOptions, restart: int | None) -> list[Factor]:
    """Tables of the rows that are complete in each clique; where a variable is hidden, random tables."""
    variables, states = given
    column = {int(v): k for k, v in enumerate(variables)}
    rng = np.random.default_rng([options.seed, restart or 0])
    tables: list[F64] = []
    for clique in tree.cliques:
        shape = [int(tree.sizes[v]) for v in clique]
        if all(v in column for v in clique):
            chosen = states[:, [column[v] for v in clique]]
            whole = (chosen >= 0).all(axis=1)
            code = np.ravel_multi_index(tuple(chosen[whole].T), shape)
            counts = np.bincount(code, weights=weights[whole], minlength=int(np.prod(shape))).astype(np.float64)
            tables.append((counts + max(options.prior, 1.0) / counts.size).reshape(shape))
        else:
            tables.append(rng.gamma(2.0, size=shape))
    return tree_factors(tree, tables)


def _climb(
    factors: list[Factor],
    given: Given,
    weights: F64,
    graph: Graph,
    tree: Triangulation,
    scopes: Sequence[tuple[int, ...]],
    method: str,
    options: FitOptions,
) -> tuple[list[Factor], list[tuple[float, float]]]:
    """EM from some factors: those it ends with, and (objective, log-likelihood) before every step."""
    from corate.graphs.fitting import estimate

    total = float(weights.sum())
    trace: list[tuple[float, float]] = []
    for _ in range(options.iterations):
        logs, tables = Engine(factors, tree).expected(given, weights)
        if not np.isfinite(logs).all():
            raise DataError("EM reached a model in which a row is impossible; fit with a prior above 0")
        likelihood = portable.dot(weights, logs)
        trace.append((likelihood + _prior_term(factors, options.prior), likelihood))
        if len(trace) > 1 and trace[-1][0] - trace[-2][0] < TOLERANCE * total:
            break
        counts = ScopeCounts(tuple(scopes), tuple(_margins(tree, tables, scopes)), total)
        factors = estimate(counts, graph, tree, method, options.prior, options.iterations)[0]
    return factors, trace


def _prior_term(factors: Sequence[Factor], prior: float) -> float:
    """prior times the mean over all joint states of log P."""
    if prior == 0:
        return 0.0
    return prior * sum(float(portable.log(table).mean()) for _, table in factors)


def _margins(tree: Triangulation, tables: Sequence[F64], scopes: Sequence[tuple[int, ...]]) -> list[F64]:
    """The tables of some scopes, each a part of a clique."""
    found = []
    for scope in scopes:
        i = int(tree.home[min(scope, key=tree.place.__getitem__)])
        clique = tree.cliques[i]
        summed = tables[i].sum(axis=tuple(k for k, v in enumerate(clique) if v not in scope))
        left = [v for v in clique if v in scope]
        found.append(summed.transpose([left.index(v) for v in scope]))
    return found
