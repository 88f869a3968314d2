"""Evaluating expressions: one recursion for every kind of distribution, in log space.

A distribution returns the logarithm of a marginal as a potential over some variables; potentials of the same kind can
be added, multiplied by an integer, and summed over a variable. The rest follows from the definitions:

    log P(X | Y)       = log P(X, Y) - log P(Y)
    log CR(X; Z | Y)   = log P(X, Z | Y) - log P(X | Y) - log P(Z | Y)

A repeated variable counts once (set union), also in densities, where its joint with itself would be degenerate.

There is one rule for 0 / 0. A sum leaves out the values of its variable at which it is 0 / 0, unless a divisor that
does not depend on this variable is zero. Everywhere else, an expression is undefined where it divides by zero.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from corate.rate.errors import ExpressionError, UndefinedRateError
from corate.rate.expressions import Expression, Group, Probability, Rate, Sum, probability
from corate.rate.parsing import parse
from corate.rate.terms import Block, NamesLike, Term, Value, read_names

__all__ = ["Distribution", "Evaluation", "Potential", "denominators", "interpretation"]

#: Events are independent if the absolute log-rate is at most this.
INDEPENDENT = 1e-9

Self = TypeVar("Self", bound="Potential")


class Potential(Protocol):
    """The logarithm of a function of some variables."""

    def __add__(self: Self, other: Self) -> Self:
        """The logarithm of the product."""

    def __mul__(self: Self, exponent: int) -> Self:
        """The logarithm of the power."""

    def summed(self: Self, name: str) -> Self:
        """The logarithm of the sum over a variable."""


class Distribution(ABC):
    """The base class of :class:`Table`, :class:`Counts` and :class:`Gaussian`: a distribution of named variables.

    Attributes:
        variables: the names of the variables.
    """

    variables: tuple[str, ...]

    @abstractmethod
    def log_marginal(self, terms: frozenset[Term], names: tuple[str, ...]) -> Any:
        """log P of some terms as a potential over ``names``."""

    @abstractmethod
    def log_value(self, expression: str | Expression, at: Mapping[str, Value] | None = None) -> float:
        """The logarithm of :meth:`value`."""

    @abstractmethod
    def distance(self, left: Any, right: Any) -> float:
        """The largest difference of two potentials over the same variables, over all values or at sampled points."""

    def strict(self, potential: Any) -> Any:
        """The potential with sums that are undefined if they contain 0 / 0."""
        return potential

    def divided(self, total: Any, divisor: Any) -> Any:
        """A sum that is undefined, not 0, where a divisor of all of its values is zero."""
        return total

    def undefined_at(self, potential: Any, joint: Any) -> dict[str, Value] | None:
        """Values where a potential is undefined although ``joint`` is positive, or None."""
        return None

    def compare(self, left: Any, right: Any) -> tuple[float, int]:
        """The largest difference of two potentials where both are defined, and how many values are skipped."""
        return self.distance(left, right), 0

    def value(self, expression: str | Expression, at: Mapping[str, Value] | None = None) -> float:
        """The value of an expression where its variables have the values ``at``.

        Args:
            expression: an expression, or a string such as ``"CR(A; B)"``.
            at: the value of each variable that is not fixed in the expression.

        Raises ExpressionError if a variable is unknown or has no value, and UndefinedRateError if a probability in a
        denominator is zero.

        >>> from corate.rate import Table
        >>> weather = Table([[4, 1], [1, 4]], ["rain", "wet"])
        >>> round(weather.value("CR(rain; wet)", {"rain": 0, "wet": 0}), 12)
        1.6
        """
        try:
            return math.exp(self.log_value(expression, at))
        except OverflowError:
            return math.inf

    def interpret(self, expression: str | Expression, at: Mapping[str, Value] | None = None) -> str:
        """``"attractive"`` if the value of a rate is above 1, ``"repulsive"`` if it is below, else ``"independent"``.

        The arguments are those of :meth:`value`, but the expression must be a rate. Raises ExpressionError for any
        other expression.

        >>> from corate.rate import Table
        >>> weather = Table([[4, 1], [1, 4]], ["rain", "wet"])
        >>> weather.interpret("CR(rain; wet)", {"rain": 0, "wet": 0})
        'attractive'
        """
        rate = read(expression, self.variables)
        if not isinstance(rate, Rate):
            raise ExpressionError(f"{rate} is not a co-occurrence rate such as CR(A; B)")
        return interpretation(self.log_value(rate, at))

    def difference(self, left: str | Expression, right: str | Expression) -> float:
        """The largest absolute difference between the logarithms of two expressions.

        For a table or counts, it is the largest over all values of their variables; for a Gaussian, the largest at
        random points.

        >>> from corate.rate import Table
        >>> d = Table([[4, 1], [1, 4]], ["A", "B"])
        >>> d.difference("P(A, B)", "CR(A; B) P(A) P(B)") < 1e-12
        True
        """
        sides = read(left, self.variables), read(right, self.variables)
        evaluation = Evaluation(self, [name for side in sides for name in side.variables()])
        return evaluation.difference(*sides)

    def require(self, names: NamesLike) -> tuple[str, ...]:
        """The names as a tuple. Raises ExpressionError if one of them is not a variable of this distribution.

        The names are a list, or a string that is read as in an expression: ``"AB"`` or ``"A, B"`` has two names,
        ``"rain"`` has one. A word that is the name of a variable of the distribution is one name.
        """
        found = read_names(names, self.variables)
        for name in found:
            if name not in self.variables:
                raise ExpressionError(f"no variable {name!r} in the distribution; it has {', '.join(self.variables)}")
        return found

    def undefined(self, expression: Expression, at: Mapping[str, Value] | None = None) -> UndefinedRateError:
        """The error for an expression that is undefined at some values; subclasses add which probability is zero."""
        return UndefinedRateError(f"{expression} is undefined: a probability in a denominator is zero")


class Evaluation:
    """Evaluates expressions on one distribution, each factor once; ``names`` are the variables of the potentials.

    If it is ``strict``, sums do not leave out 0 / 0 but are undefined.
    """

    def __init__(self, distribution: Distribution, names: Collection[str], *, strict: bool = False) -> None:
        distribution.require(names)
        wanted = set(names)
        self.distribution, self.strict = distribution, strict
        self.names = tuple(name for name in distribution.variables if name in wanted)
        self._marginals: dict[frozenset[Term], Any] = {}
        self._known: dict[Expression, Any] = {}

    def difference(self, left: Expression, right: Expression) -> float:
        """The largest difference of the logarithms of two expressions."""
        return self.distribution.distance(self.log(left), self.log(right))

    def compare(self, left: Expression, right: Expression) -> tuple[float, int]:
        """The largest difference at values where both sides are defined, and the number of other values.

        Raises UndefinedRateError if a side is undefined where all variables together have a positive probability.
        """
        joint = self._marginal(frozenset(map(Term, self.names)))
        for side in (left, right):
            if (cell := self.distribution.undefined_at(self.log(side), joint)) is not None:
                raise self.distribution.undefined(side, cell)
        return self.distribution.compare(self.log(left), self.log(right))

    def log(self, expression: Expression) -> Any:
        """The logarithm of an expression as a potential over ``names``."""
        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = self._log(expression)
        return found

    def _log(self, expression: Expression) -> Any:
        if isinstance(expression, Probability):
            return self._probability(expression.block, expression.given)
        if isinstance(expression, Rate):
            return self._rate(expression)
        if isinstance(expression, Sum):
            found = self.log(expression.body).summed(expression.over)
            for _, divisor in denominators(expression):
                found = self.distribution.divided(found, self.log(divisor))
            return found
        if isinstance(expression, Group):
            return self.log(expression.body)
        total = self._marginal(frozenset())
        for factor, exponent in expression.powers().items():
            one = self.log(factor)
            total = total + (one if exponent == 1 else one * exponent)
        return total

    def _rate(self, rate: Rate) -> Any:
        total = self._probability([t for block in rate.blocks for t in block], rate.given)
        for block in rate.blocks:
            total = total + self._probability(block, rate.given) * -1
        return total

    def _probability(self, left: Iterable[Term], given: Iterable[Term]) -> Any:
        condition = frozenset(given)
        joint = self._marginal(condition.union(left))
        return joint + self._marginal(condition) * -1 if condition else joint

    def _marginal(self, terms: frozenset[Term]) -> Any:
        found = self._marginals.get(terms)
        if found is None:
            found = self.distribution.log_marginal(terms, self.names)
            found = self._marginals[terms] = self.distribution.strict(found) if self.strict else found
        return found


def denominators(expression: Expression) -> list[tuple[Expression, Expression]]:
    """What an expression divides by, each with the factor it is part of.

    A sum leaves out 0 / 0, so divisors that depend on its variable do not count.

    >>> denominators(parse("sum_B [CR(A; B) P(B)]"))
    [(CR(A; B), P(A))]
    """
    found: list[tuple[Expression, Expression]] = []
    for factor, exponent in expression.powers().items():
        if isinstance(factor, Sum):
            found += [pair for pair in denominators(factor.body) if factor.over not in pair[1].free()]
        elif isinstance(factor, Group):
            found += denominators(factor.body)
        elif isinstance(factor, Rate | Probability):
            if factor.given:
                found.append((factor, Probability(factor.given)))
            if isinstance(factor, Rate):
                found += [(factor, Probability(block, factor.given)) for block in factor.blocks]
        if exponent < 0:
            found.append((expression, _joint(factor)))
    return found


def _joint(factor: Expression) -> Expression:
    """The joint probability that is zero where a rate is zero; another factor is returned as it is."""
    if not isinstance(factor, Rate):
        return factor
    return probability(Block(t for block in factor.blocks for t in block), factor.given)


def read(expression: str | Expression, names: Collection[str] = ()) -> Expression:
    """An expression, parsed if it is text."""
    return parse(expression, names) if isinstance(expression, str) else expression


def interpretation(log_rate: float, tolerance: float = INDEPENDENT) -> str:
    """How events relate, from the logarithm of their co-occurrence rate.

    They are ``"independent"`` if the absolute value is at most ``tolerance`` (by default 1e-9), else ``"attractive"``
    if the logarithm is positive, and ``"repulsive"`` if it is negative.

    >>> interpretation(0.7), interpretation(0.0), interpretation(float("-inf"))
    ('attractive', 'independent', 'repulsive')
    """
    if abs(log_rate) <= tolerance:
        return "independent"
    return "attractive" if log_rate > 0 else "repulsive"
