"""Products of factors on a clique tree: sums, marginals, best states, draws and entropies, all exact.

    P(x) = exp(sum over factors f of log f(x)) / Z

:class:`CliqueTree` knows which variables each factor has. Its questions take the logarithms of the factors, a row for
each instance, so one tree serves all instances of a shape. :class:`Distribution` binds the values of one instance, and
takes rows of evidence. Variables and states are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_threads
from corate.inference.tables import flat, margin, split
from corate.inference.triangulation import Triangulation, pairs_of, triangulate
from corate.types import F64, Ids

__all__ = ["NOTHING", "CliqueTree", "Distribution", "Factor", "Given"]

#: The variables of a factor, and its table with an axis for each.
Factor = tuple[tuple[int, ...], F64]
#: Evidence: the variables, and their states, ``(rows, variables)``, -1 where one is not observed.
Given = tuple[Ids, NDArray[np.int32]]
#: No evidence.
NOTHING: Given = (np.zeros(0, dtype=np.int32), np.zeros((1, 0), dtype=np.int32))


class CliqueTree:
    """The variables of some factors on a clique tree.

    Args:
        scopes: the variables of each factor.
        triangulation: its cliques contain all scopes; see :meth:`of`.

    >>> square = CliqueTree.of([(0, 1), (1, 2), (2, 3), (3, 0), (0,)], [2, 2, 2, 2])
    >>> logs = np.log([[2, 1, 1, 2] * 4 + [1, 3]])  # neighbours like to agree; variable 0 is 1 with probability 3 / 4
    >>> log_z, probabilities = square.expectations(logs)
    >>> round(float(np.exp(log_z[0])), 6), probabilities[0, -2:].round(3).tolist()
    (164.0, [0.25, 0.75])
    """

    def __init__(self, scopes: Sequence[Sequence[int]], triangulation: Triangulation) -> None:
        self.scopes = [tuple(scope) for scope in scopes]
        self.triangulation = triangulation
        place = triangulation.place.tolist()
        ordered = [sorted(scope, key=place.__getitem__) for scope in self.scopes]
        self._native = _native.CliqueTree(
            triangulation.sizes,
            (triangulation.offsets, triangulation.members, triangulation.parents, triangulation.home),
            _starts(map(len, ordered)),
            np.array([v for scope in ordered for v in scope], dtype=np.int32),
        )
        sizes = triangulation.sizes.tolist()
        self.starts = _starts(math.prod(sizes[v] for v in scope) for scope in self.scopes)
        self._moved: NDArray[np.int64] | None = None
        if any(list(scope) != own for scope, own in zip(self.scopes, ordered, strict=True)):
            places = split(np.arange(float(self.cells)), self.scopes, sizes)
            moved = (margin(*each) for each in zip(places, self.scopes, ordered, strict=True))
            self._moved = flat(moved).astype(np.int64)

    @classmethod
    def of(cls, scopes: Sequence[Sequence[int]], sizes: Sequence[int], *, tries: int = 8, seed: int = 0) -> CliqueTree:
        """A clique tree for some scopes of variables with so many states."""
        return cls(scopes, triangulate(sizes, pairs_of(scopes), tries=tries, seed=seed))

    @property
    def cells(self) -> int:
        """The number of cells of all factors."""
        return int(self.starts[-1])

    def expectations(
        self, logs: NDArray[Any], given: Given | None = None, *, threads: int = 1
    ) -> tuple[F64, NDArray[Any]]:
        """log Z of each row, and the probability of each cell of each factor, ``(rows, cells)``.

        The probabilities are the derivatives of log Z by ``logs``.

        Args:
            logs: the logarithms of the factors' tables, ``(rows, cells)``, one table after the other, each in
                row-major order of its scope: float32 or float64, which the probabilities have, too. Minus infinity
                forbids a cell.
            given: evidence of each row; log Z is then the logarithm of the sum of all scores that agree with it.
            threads: the number of threads. Results do not depend on it.

        Raises ValueError for NaN, infinity, or a factor that is minus infinity everywhere. A row that is impossible has
        log Z of minus infinity, and probabilities 0.
        """
        found, probabilities = self._native.expectations(*self._asked(logs, given), check_threads(threads))
        if self._moved is not None:
            moved = np.empty_like(probabilities)
            moved[:, self._moved] = probabilities
            probabilities = moved
        return found, probabilities

    def most_likely(
        self, logs: NDArray[Any], given: Given | None = None, *, threads: int = 1
    ) -> tuple[F64, NDArray[np.int32]]:
        """The score of the best states of each row, and these states, ``(rows, variables)``. Arguments as above."""
        return self._native.most_likely(*self._asked(logs, given), check_threads(threads))

    def values(self, values: NDArray[Any], *, logs: bool = False) -> _native.FactorValues:
        """The native values of one instance, ``(cells,)``."""
        numbers = np.asarray(values, dtype=np.float64)
        return _native.FactorValues(
            self._native, np.ascontiguousarray(numbers if self._moved is None else numbers[self._moved]), logs
        )

    def _asked(self, logs: NDArray[Any], given: Given | None) -> tuple[NDArray[Any], Ids, NDArray[np.int32]]:
        kind = np.float32 if np.asarray(logs).dtype == np.float32 else np.float64
        numbers = np.asarray(logs, dtype=kind)
        if self._moved is not None:
            numbers = numbers[:, self._moved]
        variables, states = given or (NOTHING[0], np.zeros((len(numbers), 0), dtype=np.int32))
        return np.ascontiguousarray(numbers), variables, states


class Distribution:
    """score(x) = prod of factors, on a clique tree that covers all of them.

    The tables must have no negative number, and at least one above zero; with ``logs`` they are logarithms.
    """

    def __init__(self, factors: Sequence[Factor], triangulation: Triangulation, *, logs: bool = False) -> None:
        self.factors = factors
        self.triangulation = triangulation
        tree = CliqueTree([scope for scope, _ in factors], triangulation)
        self._native = tree.values(flat(table for _, table in factors), logs=logs)

    def weighted(self, factors: Sequence[Factor]) -> Distribution:
        """The product with further factors of single variables."""
        return Distribution([*self.factors, *factors], self.triangulation)

    @property
    def walked(self) -> Triangulation:
        """The triangulation whose tables questions need."""
        return self.triangulation

    @property
    def table_cells(self) -> int:
        """The number of cells of all factors."""
        return sum(table.size for _, table in self.factors)

    def log_sums(self, given: Given, threads: int) -> F64:
        """log of the sum of the scores that agree with each row; minus infinity if there is none."""
        return self._native.log_sums(*given, threads)

    def margins(self, given: Given, threads: int) -> tuple[F64, F64]:
        """The log sums, and the probabilities of all states of all variables, ``(rows, states)``."""
        return self._native.margins(*given, threads)

    def most_likely(self, given: Given, threads: int) -> tuple[F64, NDArray[np.int32]]:
        """The log of the best score, and its states, ``(rows, variables)``."""
        return self._native.most_likely(*given, threads)

    def draw(self, given: Given, n: int, seed: int) -> tuple[F64, NDArray[np.int32]]:
        """The log sum of the one row, and ``n`` draws, ``(n, variables)``."""
        return self._native.draw(*given, n, seed)

    def expected(self, given: Given, weights: F64) -> tuple[F64, list[F64]]:
        """The log sums, and for each clique the sum over rows of weight times probability, by cell.

        A clique's table has an axis for each of its variables in their order of elimination.
        """
        logs, cells = self._native.expected(*given, weights)
        return logs, split(cells[0], self.triangulation.cliques, self.triangulation.sizes.tolist())

    def entropy(self, given: Given) -> float:
        """The entropy of all variables given one row."""
        return self._native.entropy(*given)

    def joint(self, variables: Sequence[int], given: Given, threads: int) -> tuple[F64, F64]:
        """The log sums, and the joint probabilities of some variables, an axis for each after that of the rows."""
        joined = self.joined(variables)
        logs, cells = joined._native.first_clique(*given, threads)
        order = joined.triangulation.cliques[0]
        shaped = cells.reshape(-1, *(int(joined.triangulation.sizes[v]) for v in order))
        return logs, margin(shaped, [-1, *order], [-1, *variables])  # the rows are the first axis

    def joined(self, variables: Sequence[int]) -> Distribution:
        """The same factors on a tree whose first clique has all of some variables."""
        if set(variables) <= set(self.triangulation.cliques[0]):
            return self
        edges = pairs_of(scope for scope, _ in self.factors)
        return Distribution(self.factors, triangulate(self.triangulation.sizes, edges, last=variables, tries=8))


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64), dtype=np.int64)]).astype(np.int64)
