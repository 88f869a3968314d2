"""Multivariate Gaussians: densities as quadratic forms, so that products, powers and integrals stay exact.

    log p(x) = -1/2 (x - mean)' K (x - mean) + h' (x - mean) + g

A marginal density over some variables has the inverse of their covariance as K. A factorised density adds and subtracts
such forms, so its K is the precision matrix assembled from cliques minus separators.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from corate.errors import DataError
from corate.rate.errors import ExpressionError, UndefinedRateError
from corate.rate.evaluation import Distribution, Evaluation, read
from corate.rate.expressions import Expression
from corate.rate.samples import points_of
from corate.rate.terms import NamesLike, Term, new_names
from corate.types import F64

__all__ = ["Gaussian", "Quadratic"]

#: Two forms are compared at this many points drawn from the distribution.
_POINTS = 24


@dataclass(frozen=True, eq=False)
class Quadratic:
    """-1/2 z' K z + h' z + g for the deviations z of ``names`` from their means."""

    matrix: F64
    linear: F64
    constant: float
    names: tuple[str, ...]

    def __add__(self, other: Quadratic) -> Quadratic:
        return Quadratic(
            self.matrix + other.matrix, self.linear + other.linear, self.constant + other.constant, self.names
        )

    def __mul__(self, exponent: int) -> Quadratic:
        return Quadratic(self.matrix * exponent, self.linear * exponent, self.constant * exponent, self.names)

    def summed(self, name: str) -> Quadratic:
        """The logarithm of the integral over a variable; raises UndefinedRateError if it diverges."""
        i = self.names.index(name)
        k, row, h = self.matrix[i, i], self.matrix[i].copy(), self.linear[i]
        if not k > 0:
            raise UndefinedRateError(f"the integral over {name} does not converge: its integrand does not decay")
        row[i] = 0.0
        matrix, linear = self.matrix - np.outer(row, row) / k, self.linear - row * h / k
        matrix[i, :] = matrix[:, i] = linear[i] = 0.0
        return Quadratic(matrix, linear, self.constant + 0.5 * (math.log(2 * math.pi / k) + h * h / k), self.names)

    def at(self, deviations: F64) -> F64:
        """Values at points, ``(n, names)`` deviations from the means."""
        quadratic = np.einsum("ni,ij,nj->n", deviations, self.matrix, deviations)
        return np.asarray(-0.5 * quadratic + deviations @ self.linear + self.constant, dtype=np.float64)


class Gaussian(Distribution):
    """A multivariate Gaussian distribution. Probabilities in expressions are densities.

    Args:
        covariance: the covariance matrix, of shape (variables, variables).
        variables: the names of the variables: a list, or a string that is read as in an expression.
        mean: the mean of each variable, by default 0.

    Raises DataError if the covariance is not symmetric and positive definite, or if a shape does not fit.

    >>> d = Gaussian([[1.0, 0.5], [0.5, 1.0]], ["A", "B"])
    >>> round(d.value("CR(A; B)", {"A": 0.0, "B": 0.0}), 4), d.interpret("CR(A; B)", {"A": 2.0, "B": -2.0})
    (1.1547, 'repulsive')
    """

    def __init__(self, covariance: ArrayLike, variables: NamesLike, *, mean: ArrayLike | None = None) -> None:
        self.variables = new_names(variables)
        n = len(self.variables)
        self.covariance = np.array(covariance, dtype=np.float64)
        self.mean = np.zeros(n) if mean is None else np.array(mean, dtype=np.float64)
        if self.covariance.shape != (n, n) or self.mean.shape != (n,) or len(set(self.variables)) != n:
            raise DataError(f"there must be {n} different names, a covariance of {n} by {n} and a mean of length {n}")
        if not np.allclose(self.covariance, self.covariance.T):
            raise DataError("the covariance is not symmetric")
        try:
            self._root = np.linalg.cholesky(self.covariance)
        except np.linalg.LinAlgError:
            raise DataError("the covariance is not positive definite, so there is no density") from None

    def __repr__(self) -> str:
        return f"Gaussian({', '.join(self.variables)})"

    @classmethod
    def fit(cls, frame: Any, columns: Iterable[Hashable] | None = None) -> Gaussian:
        """The Gaussian with the means and the covariances of the rows of a data frame (maximum likelihood).

        Args:
            frame: anything with named columns of numbers: a pandas or polars data frame, or a dict of lists.
            columns: the names of the columns to use, by default all: a list, or a string that is read as in an
                expression.

        Raises DataError for a number that is missing, for too few rows, and if columns depend on each other linearly.

        >>> d = Gaussian.fit({"X": [0, 1, 2, 3], "Y": [0, 2, 1, 3]})
        >>> d.mean.tolist(), d.covariance.tolist()
        ([1.5, 1.5], [[1.25, 1.0], [1.0, 1.25]])
        """
        names, points = points_of(frame, columns)
        mean, scale = points.mean(axis=0), points.std(axis=0)
        if not scale.all() or np.linalg.matrix_rank((points - mean) / scale) < len(names):
            shown = ", ".join(names)
            raise DataError(
                f"{shown}: there is no density, as there are too few rows, or a column is constant or depends on others"
            )
        return cls(np.atleast_2d(np.cov(points.T, bias=True)), names, mean=mean)

    def marginal(self, names: NamesLike) -> Gaussian:
        """The distribution of some variables: a list, or a string that is read as in an expression.

        >>> Gaussian([[1.0, 0.5], [0.5, 2.0]], "AB").marginal("B").covariance.tolist()
        [[2.0]]
        """
        chosen = self.require(names)
        where = [self.variables.index(name) for name in chosen]
        return Gaussian(self.covariance[np.ix_(where, where)], chosen, mean=self.mean[where])

    def conditional(self, at: Mapping[str, float]) -> Gaussian:
        """The distribution of the other variables, given the values ``at`` of some.

        Raises DataError if all variables have a value.

        >>> d = Gaussian([[1.0, 0.5], [0.5, 1.0]], "AB").conditional({"B": 2.0})
        >>> d.variables, d.mean.tolist(), d.covariance.tolist()
        (('A',), [1.0], [[0.75]])
        """
        self.require(at)
        held = [i for i, name in enumerate(self.variables) if name in at]
        free = [i for i, name in enumerate(self.variables) if name not in at]
        if not free:
            raise DataError("all variables have a value, so there is no distribution of others")
        z = np.array([self._number(Term(self.variables[i], at[self.variables[i]])) for i in held]) - self.mean[held]
        slopes = np.linalg.solve(self.covariance[np.ix_(held, held)], self.covariance[np.ix_(held, free)])
        covariance = self.covariance[np.ix_(free, free)] - self.covariance[np.ix_(free, held)] @ slopes
        names = [self.variables[i] for i in free]
        return Gaussian((covariance + covariance.T) / 2, names, mean=self.mean[free] + z @ slopes)

    def log_marginal(self, terms: frozenset[Term], names: tuple[str, ...]) -> Quadratic:
        """The log-density of some terms as a form over ``names``, with fixed values substituted."""
        wanted = {t.name: t for t in terms}
        chosen = [name for name in self.variables if name in wanted]
        where = [self.variables.index(name) for name in chosen]
        covariance = self.covariance[np.ix_(where, where)]
        k = np.linalg.inv(covariance) if chosen else covariance
        g = -0.5 * (len(chosen) * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1])
        free = [i for i, name in enumerate(chosen) if wanted[name].value is None]
        held = [i for i, name in enumerate(chosen) if wanted[name].value is not None]
        z = np.array([self._number(wanted[chosen[i]]) - self.mean[where[i]] for i in held])
        matrix, linear = np.zeros((len(names), len(names))), np.zeros(len(names))
        at = [names.index(chosen[i]) for i in free]
        matrix[np.ix_(at, at)] = k[np.ix_(free, free)]
        linear[at] = -k[np.ix_(free, held)] @ z
        return Quadratic(matrix, linear, float(g - 0.5 * z @ k[np.ix_(held, held)] @ z), names)

    def log_value(self, expression: str | Expression, at: Mapping[str, Any] | None = None) -> float:
        """The logarithm of :meth:`value`; the values ``at`` are numbers."""
        whole = read(expression, self.variables)
        values = at or {}
        self.require([*whole.variables(), *values])
        if missing := [name for name in whole.free() if name not in values]:
            raise ExpressionError(f"{whole}: {missing[0]} has no value; pass one, such as {{{missing[0]!r}: 0.5}}")
        form = self.form(whole)
        given = [self._number(Term(name, values[name])) if name in values else 0.0 for name in form.names]
        return float(form.at(np.array([given]) - self._means(form.names))[0])

    def form(self, expression: str | Expression) -> Quadratic:
        """The logarithm of an expression as a quadratic form, -1/2 z' K z + h' z + g.

        z are the deviations of the variables from their means. The result has the attributes ``names``, ``matrix`` (K),
        ``linear`` (h) and ``constant`` (g). For a factorised density, K is the sum of the matrices of the cliques minus
        those of the separators.

        >>> import numpy as np
        >>> chain = Gaussian([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]], ["A", "B", "C"])
        >>> assembled = chain.form("P(A, B) P(B, C) / P(B)").matrix
        >>> bool(np.allclose(assembled, np.linalg.inv(chain.covariance)))
        True
        """
        whole = read(expression, self.variables)
        found: Quadratic = Evaluation(self, list(whole.variables())).log(whole)
        return found

    def sample(self, n: int, seed: int = 0) -> F64:
        """Draw ``n`` points at random, with the random seed ``seed``: an array of shape (n, variables)."""
        drawn = np.random.default_rng(seed).standard_normal((n, len(self.variables)))
        return np.asarray(self.mean + drawn @ self._root.T, dtype=np.float64)

    def distance(self, left: Quadratic, right: Quadratic) -> float:
        """The largest difference of two forms at points drawn from the distribution."""
        where = [self.variables.index(name) for name in left.names]
        points = self.sample(_POINTS)[:, where] - self._means(left.names)
        return float(np.abs(left.at(points) - right.at(points)).max())

    def _means(self, names: Sequence[str]) -> F64:
        return self.mean[[self.variables.index(name) for name in names]]

    def _number(self, term: Term) -> float:
        try:
            return float(term.value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ExpressionError(f"{term.name} must be a number, not {term.value!r}") from None
