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

from corate import portable_math
from corate.errors import DataError
from corate.graphs.estimation import ScopeCounts, tree_factors
from corate.graphs.estimator import Estimator
from corate.graphs.variables import DataRows
from corate.inference.tables import margin
from corate.inference.trees import Distribution, Factor, Given
from corate.inference.triangulation import Triangulation
from corate.types import F64

if TYPE_CHECKING:
    from corate.graphs.fitting import FitOptions

__all__ = ["fit_incomplete"]

#: EM ends when a step raises the objective by less than this, for each row.
TOLERANCE = 1e-7


def fit_incomplete(
    rows: DataRows, estimator: Estimator, options: FitOptions, *, hidden: bool
) -> tuple[list[Factor], dict[str, Any]]:
    """The factors of the best of some starts (one if nothing is hidden), and facts for the record."""
    given, weights = _distinct(rows, estimator.graph.nodes)
    starts = options.restarts if hidden else 1
    best: tuple[list[Factor], dict[str, Any]] | None = None
    for start in range(starts):
        first = _start(given, weights, estimator, options.seed, start if hidden else None)
        found, trace = _climb(first, given, weights, estimator)
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


def _start(given: Given, weights: F64, estimator: Estimator, seed: int, restart: int | None) -> list[Factor]:
    """Tables of the rows that are complete in each clique; where a variable is hidden, random tables."""
    variables, states = given
    column = {int(v): k for k, v in enumerate(variables)}
    rng = np.random.default_rng([seed, restart or 0])
    tree = estimator.tree
    tables: list[F64] = []
    for clique in tree.cliques:
        shape = [int(tree.sizes[v]) for v in clique]
        if all(v in column for v in clique):
            chosen = states[:, [column[v] for v in clique]]
            whole = (chosen >= 0).all(axis=1)
            code = np.ravel_multi_index(tuple(chosen[whole].T), shape)
            counts = np.bincount(code, weights=weights[whole], minlength=int(np.prod(shape))).astype(np.float64)
            tables.append((counts + max(estimator.prior, 1.0) / counts.size).reshape(shape))
        else:
            tables.append(rng.gamma(2.0, size=shape))
    return tree_factors(tree, tables)


def _climb(
    factors: list[Factor], given: Given, weights: F64, estimator: Estimator
) -> tuple[list[Factor], list[tuple[float, float]]]:
    """EM from some factors: those it ends with, and (objective, log-likelihood) before every step."""
    tree, total = estimator.tree, float(weights.sum())
    trace: list[tuple[float, float]] = []
    for _ in range(estimator.iterations):
        logs, tables = Distribution(factors, tree).expected(given, weights)
        if not np.isfinite(logs).all():
            raise DataError("EM reached a model in which a row is impossible; fit with a prior above 0")
        likelihood = portable_math.dot(weights, logs)
        trace.append((likelihood + _prior_term(factors, estimator.prior), likelihood))
        if len(trace) > 1 and trace[-1][0] - trace[-2][0] < TOLERANCE * total:
            break
        margins = _margins(tree, tables, estimator.scopes)
        factors = estimator.fit(ScopeCounts(tuple(estimator.scopes), tuple(margins), total))[0]
    return factors, trace


def _prior_term(factors: Sequence[Factor], prior: float) -> float:
    """prior times the mean over all joint states of log P."""
    if prior == 0:
        return 0.0
    return prior * sum(float(portable_math.log(table).mean()) for _, table in factors)


def _margins(tree: Triangulation, tables: Sequence[F64], scopes: Sequence[tuple[int, ...]]) -> list[F64]:
    """The tables of some scopes, each a part of a clique."""
    homes = [int(tree.home[min(scope, key=tree.place.__getitem__)]) for scope in scopes]
    return [margin(tables[i], tree.cliques[i], scope) for i, scope in zip(homes, scopes, strict=True)]
