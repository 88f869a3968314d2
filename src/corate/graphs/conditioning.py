"""Conditioning on a cutset: memory is saved by asking once for every joint state z of some variables.

    P(x | e) = sum over z of P(x | z, e) P(z | e)

Given the cutset, tables do not have its variables, so they are smaller. All z are rows of evidence, which run in
parallel. This saves memory only: a good triangulation does the same work or less in one go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate.errors import ConfigError
from corate.graphs.triangulation import plan_of
from corate.graphs.variables import States
from corate.inference.trees import Distribution, Factor, Given
from corate.inference.triangulation import Triangulation, pairs_of, triangulate
from corate.rate import Graph
from corate.types import F64

__all__ = ["ConditionedDistribution", "conditioned"]

#: Cutsets with more joint states are refused.
MOST_STATES = 1 << 20
#: Rows of evidence that are asked for at a time.
_ROWS = 1 << 14


def conditioned(
    graph: Graph, states: Mapping[str, States], factors: Sequence[Factor], cutset: Sequence[str] | str, memory: int
) -> ConditionedDistribution:
    """The distribution that is conditioned on a cutset of named variables, or on one that is chosen."""
    sizes = np.array([len(states[name]) for name in graph.nodes], dtype=np.int64)
    if cutset == "auto":
        chosen = choose_cutset(graph.nodes, sizes, factors, memory)
    else:
        names = [cutset] if isinstance(cutset, str) else list(dict.fromkeys(cutset))
        graph.require(names)
        chosen = [graph.nodes.index(name) for name in names]
    found = ConditionedDistribution(factors, sizes, chosen)
    plan_of(found.reduced, graph.nodes, found.table_cells).check(memory)
    return found


def choose_cutset(
    variables: Sequence[str], sizes: NDArray[np.int64], factors: Sequence[Factor], memory: int
) -> list[int]:
    """Variables that, once fixed, let the rest fit into memory: again and again the one with the most cells."""
    chosen: list[int] = []
    edges = pairs_of(scope for scope, _ in factors)
    stored = sum(table.size for _, table in factors)
    while True:
        reduced = _reduced(sizes, edges, chosen)
        if reduced.memory(stored) <= memory:
            return chosen
        cells = np.zeros(len(variables))
        for clique, size in zip(reduced.cliques, reduced.clique_cells, strict=True):
            cells[clique] += float(size)
        cells[chosen] = -1.0
        cells[reduced.sizes == 1] = -1.0
        best = int(cells.argmax())
        if cells[best] < 0 or math.prod(int(sizes[v]) for v in (*chosen, best)) > MOST_STATES:
            plan_of(reduced, variables, stored).check(memory)
        chosen.append(best)


def _reduced(sizes: NDArray[np.int64], edges: NDArray[np.int32], cutset: Sequence[int]) -> Triangulation:
    """A triangulation in which the cutset has one state, and is eliminated last."""
    left = sizes.copy()
    left[list(cutset)] = 1
    return triangulate(left, edges, last=cutset)


class ConditionedDistribution(Distribution):
    """A distribution whose questions are answered by conditioning on a cutset."""

    def __init__(self, factors: Sequence[Factor], sizes: NDArray[np.int64], cutset: Sequence[int]) -> None:
        if (states := math.prod(int(sizes[v]) for v in cutset)) > MOST_STATES:
            raise ConfigError(
                f"the cutset has {states:,} joint states, more than {MOST_STATES:,}; name fewer variables",
                option="cutset",
            )
        self.cutset = np.array(cutset, dtype=np.int32)
        self.reduced = _reduced(sizes, pairs_of(scope for scope, _ in factors), cutset)
        super().__init__(factors, replace(self.reduced, sizes=sizes))
        self._all = _cells([int(sizes[v]) for v in cutset])

    def weighted(self, factors: Sequence[Factor]) -> ConditionedDistribution:
        """The product with further factors of single variables."""
        return ConditionedDistribution([*self.factors, *factors], self.triangulation.sizes, self.cutset.tolist())

    def log_sums(self, given: Given, threads: int) -> F64:
        """log of the sum of the scores that agree with each row; minus infinity if there is none."""
        found = np.full(len(given[1]), -np.inf)
        for rows, part in self._parts(given):
            logs = super().log_sums(part, threads)
            np.logaddexp.at(found, rows, logs)
        return found

    def margins(self, given: Given, threads: int) -> tuple[F64, F64]:
        """The log sums, and the probabilities of all states of all variables, ``(rows, states)``."""
        total = self.log_sums(given, threads)
        found = np.zeros((len(given[1]), int(self.triangulation.sizes.sum())))
        for rows, part in self._parts(given):
            logs, margins = super().margins(part, threads)
            shares = _shares(logs, total[rows])
            np.add.at(found, rows[shares > 0], shares[shares > 0, None] * margins[shares > 0])
        return total, found

    def most_likely(self, given: Given, threads: int) -> tuple[F64, NDArray[np.int32]]:
        """The log of the best score, and its states, ``(rows, variables)``."""
        best = np.full(len(given[1]), -np.inf)
        states = np.zeros((len(best), len(self.triangulation.sizes)), dtype=np.int32)
        for rows, part in self._parts(given):
            logs, found = super().most_likely(part, threads)
            for i in range(len(rows)):
                if logs[i] > best[rows[i]]:
                    best[rows[i]], states[rows[i]] = logs[i], found[i]
        return best, states

    def draw(self, given: Given, n: int, seed: int) -> tuple[F64, NDArray[np.int32]]:
        """The log sum of the one row, and ``n`` draws, ``(n, variables)``."""
        total = self.log_sums(given, 1)
        if total[0] == -np.inf:
            return total, np.zeros((n, len(self.triangulation.sizes)), dtype=np.int32)
        rng, log_sums, draw = np.random.default_rng(seed), super().log_sums, super().draw
        parts = [part for _, part in self._parts(given)]
        states = np.concatenate([part[1] for part in parts])
        shares = _shares(np.concatenate([log_sums(part, 1) for part in parts]), total[0])
        counts = rng.multinomial(n, shares / shares.sum())
        rows = np.flatnonzero(counts).tolist()
        drawn = [draw((parts[0][0], states[i : i + 1]), int(counts[i]), seed + i)[1] for i in rows]
        return total, rng.permutation(np.concatenate(drawn))

    def entropy(self, given: Given) -> float:
        """The entropy of all variables given one row."""
        total = self.log_sums(given, 1)
        if total[0] == -np.inf:
            return math.nan
        found = 0.0
        for _, (variables, states) in self._parts(given):
            logs = super().log_sums((variables, states), 1)
            for share, row in zip(_shares(logs, total[0]).tolist(), states, strict=True):
                if share > 0:
                    found += share * (super().entropy((variables, row[None])) - math.log(share))
        return found

    def joint(self, variables: Sequence[int], given: Given, threads: int) -> tuple[F64, F64]:
        """The log sums, and the joint probabilities of some variables, an axis for each after that of the rows."""
        total = self.log_sums(given, threads)
        shape = [int(self.triangulation.sizes[v]) for v in variables]
        cells = _cells(shape)
        logs = np.full((len(total), len(cells)), -np.inf)
        for rows, at, part in _crossed(given, np.array(variables, dtype=np.int32), cells):
            logs[rows, at] = self.log_sums(part, threads)
        shares = _shares(logs, total[:, None])
        return total, shares.reshape(len(total), *shape)

    def expected(self, given: Given, weights: F64) -> tuple[F64, list[F64]]:
        """Refused: tables of whole cliques are what conditioning avoids."""
        raise ConfigError("a model that conditions on a cutset has no tables of whole cliques", option="cutset")

    @property
    def walked(self) -> Triangulation:
        """The triangulation whose tables questions need."""
        return self.reduced

    def joined(self, variables: Sequence[int]) -> Distribution:
        """The distribution itself: joint tables need no other tree."""
        return self

    def _parts(self, given: Given) -> Iterator[tuple[NDArray[np.int64], Given]]:
        for rows, _, part in _crossed(given, self.cutset, self._all):
            yield rows, part


def _crossed(
    given: Given, variables: NDArray[np.int32], cells: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Given]]:
    """Every row of evidence with every joint state of some variables that agrees with it, some rows at a time."""
    known, states = given
    both = np.concatenate([known, variables[~np.isin(variables, known)]]).astype(np.int32)
    fresh = ~np.isin(variables, known)
    for start in range(0, len(states) * len(cells), _ROWS):
        index = np.arange(start, min(start + _ROWS, len(states) * len(cells)))
        rows, at = index // len(cells), index % len(cells)
        old, new = states[rows].copy(), cells[at]
        fits = np.ones(len(index), dtype=bool)
        for k, v in enumerate(variables.tolist()):
            if not fresh[k]:
                column = int(np.flatnonzero(known == v)[0])
                fits &= (old[:, column] < 0) | (old[:, column] == new[:, k])
                old[:, column] = new[:, k]
        whole = np.concatenate([old, new[:, fresh]], axis=1)[fits]
        if len(whole):
            yield rows[fits], at[fits], (both, np.ascontiguousarray(whole, dtype=np.int32))


def _cells(shape: Sequence[int]) -> NDArray[np.int32]:
    """All joint states, a row each."""
    return np.array(list(np.ndindex(*shape)), dtype=np.int32).reshape(math.prod(shape), len(shape))


def _shares(logs: F64, total: F64 | float) -> F64:
    """exp(logs - total); 0 where nothing is possible."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(logs > -np.inf, np.exp(logs - total), 0.0))
