"""Estimates from counts. On a triangulated graph the maximum likelihood has a closed form:

    P(x) = prod over cliques of P(C) / P(S),    P(c) = (n(c) + a / |C|) / (n + a)

with n(c) the number of rows in cell c of the clique, |C| its number of cells, and a the prior: an equivalent sample
size that is spread over the joint table of all variables. This is the hyper-Dirichlet prior. A separator has the same
margin in all cliques that contain it, which adding a constant to every cell of every clique would not give.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.errors import ConfigError, DataError
from corate.graphs.variables import DataRows
from corate.inference.tables import margin, split
from corate.inference.trees import Factor
from corate.inference.triangulation import Triangulation
from corate.types import F64

__all__ = ["ScopeCounts", "aligned", "check_prior", "conditionals", "count_scopes", "tree_factors"]


@dataclass(frozen=True, eq=False)
class ScopeCounts:
    """How many rows every cell of some tables has; ``total`` is the number of all rows. Counts add up."""

    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[F64, ...]
    total: float

    def __add__(self, other: ScopeCounts) -> ScopeCounts:
        if self.scopes != other.scopes:
            raise DataError("these counts are of different variables, so they cannot be added")
        tables = tuple(a + b for a, b in zip(self.tables, other.tables, strict=True))
        return ScopeCounts(self.scopes, tables, self.total + other.total)

    def smoothed(self, prior: float) -> list[F64]:
        """The probabilities of the cells under the hyper-Dirichlet prior."""
        total = self.total + prior
        if not total > 0:
            raise DataError("there is nothing to count: no row has a weight above zero")
        return [(table + prior / table.size) / total for table in self.tables]


def check_prior(prior: float) -> float:
    """Raise ConfigError unless the prior is a finite number, 0 or more."""
    if isinstance(prior, bool) or not isinstance(prior, int | float | np.number) or not 0 <= prior < math.inf:
        raise ConfigError(f"prior must be a number, 0 or more, not {prior!r}", option="prior")
    return float(prior)


def count_scopes(
    rows: DataRows, variables: Sequence[str], sizes: NDArray[np.int64], scopes: Sequence[Sequence[int]], threads: int
) -> ScopeCounts:
    """Count the cells of the tables over some variables, given by their numbers. No value may be missing."""
    columns = [rows.columns[name] for name in variables]
    kept = tuple(map(tuple, scopes))
    narrow = [all(columns[v].dtype == np.uint8 for v in scope) for scope in kept]
    tables: dict[tuple[int, ...], F64] = {}
    for dtype, chosen in (
        (np.uint8, [scope for scope, fits in zip(kept, narrow, strict=True) if fits]),
        (np.int32, [scope for scope, fits in zip(kept, narrow, strict=True) if not fits]),
    ):
        if chosen:
            used = sorted({v for scope in chosen for v in scope})
            tables |= _count(
                [np.ascontiguousarray(columns[v], dtype=dtype) for v in used],
                sizes,
                used,
                chosen,
                rows.weights,
                threads,
            )
    return ScopeCounts(kept, tuple(tables[scope] for scope in kept), rows.total)


def _count(
    columns: list[NDArray[np.integer]],
    sizes: NDArray[np.int64],
    used: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    weights: F64 | None,
    threads: int,
) -> dict[tuple[int, ...], F64]:
    place = {v: i for i, v in enumerate(used)}
    offsets = np.concatenate([[0], np.cumsum([len(scope) for scope in scopes])]).astype(np.int64)
    members = np.array([place[v] for scope in scopes for v in scope], dtype=np.int32)
    counted = _native.count_scopes(columns, sizes[list(used)], offsets, members, weights, threads)
    return dict(zip(scopes, split(counted, scopes, sizes.tolist()), strict=True))


def aligned(counts: ScopeCounts, scopes: Sequence[Sequence[int]]) -> ScopeCounts:
    """The same counts with their tables and axes in another order."""
    if counts.scopes == tuple(map(tuple, scopes)):
        return counts
    own = {frozenset(scope): (table, scope) for scope, table in zip(counts.scopes, counts.tables, strict=True)}
    tables = [margin(*own[frozenset(scope)], scope) for scope in scopes]
    return ScopeCounts(tuple(map(tuple, scopes)), tuple(tables), counts.total)


def conditionals(table: F64, residual: int) -> F64:
    """P(residual | separator) of a clique's table, whose first axes are those of the residual variables.

    A cell of the separator without any weight gets equal probabilities: it has the probability zero.
    """
    flat = table.reshape(math.prod(table.shape[:residual]), -1)
    below = flat.sum(axis=0)
    found = np.divide(flat, below, out=np.full_like(flat, 1.0 / len(flat)), where=below > 0)
    return np.asarray(found.reshape(table.shape))


def tree_factors(triangulation: Triangulation, tables: Sequence[F64]) -> list[Factor]:
    """P(residual | separator) of every clique; their product is the distribution with these clique margins."""
    alike: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for i, (table, residual) in enumerate(zip(tables, triangulation.residuals, strict=True)):
        alike.setdefault((table.shape, residual), []).append(i)
    found: dict[int, Factor] = {}
    for (shape, residual), chosen in alike.items():
        rows = math.prod(shape[:residual])
        stacked = np.stack([tables[i].reshape(rows, -1) for i in chosen], axis=1)
        shares = conditionals(stacked, 1)
        for k, i in enumerate(chosen):
            found[i] = tuple(triangulation.cliques[i]), shares[:, k].reshape(shape)
    return [found[i] for i in range(len(tables))]
