"""Distributions of discrete variables: dense tables, kept as logarithms."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corate.display import counted
from corate.errors import DataError
from corate.rate.errors import ExpressionError, UndefinedRateError
from corate.rate.evaluation import Distribution, Evaluation, denominators, read
from corate.rate.expressions import Expression, Group, Rate, Sum, probability
from corate.rate.terms import Block, NamesLike, Term, Value, new_names
from corate.types import F64

if TYPE_CHECKING:
    from corate.rate.counted import Counts

__all__ = ["MOST_CELLS", "Discrete", "LogTable", "Table"]

#: Larger tables are refused.
MOST_CELLS = 1 << 24
_MOST_AXES = 32


@dataclass(frozen=True, eq=False)
class LogTable:
    """Logarithms over all values of some variables: an axis for each name, of length 1 if it has no effect."""

    array: F64
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    #: Whether a sum with a value where it is 0 / 0 is undefined; else it leaves out this value.
    strict: bool = False
    #: For densities, the logarithms of the sizes of the bins of each axis.
    measures: tuple[F64, ...] | None = None

    def __add__(self, other: LogTable) -> LogTable:
        check_cells(math.prod(np.broadcast_shapes(self.array.shape, other.array.shape)), self.names)
        with np.errstate(invalid="ignore"):
            return replace(self, array=self.array + other.array)

    def __mul__(self, exponent: int) -> LogTable:
        return replace(self, array=self.array * exponent)

    def summed(self, name: str) -> LogTable:
        """The logarithm of the sum over a variable, even if the values do not depend on it."""
        axis = self.names.index(name)
        array = self.array if self.strict else np.where(np.isnan(self.array), -np.inf, self.array)
        measure = np.zeros(self.sizes[axis]) if self.measures is None else self.measures[axis]
        if array.shape[axis] == 1:
            return replace(self, array=array + log_sum(measure, (0,)))
        if self.measures is not None:
            array = array + measure.reshape([-1 if k == axis else 1 for k in range(array.ndim)])
        return replace(self, array=log_sum(array, (axis,)))


class Discrete(Distribution):
    """A distribution of variables with finitely many states."""

    states: dict[str, tuple[Hashable, ...]]

    @abstractmethod
    def _log_probabilities(self, free: tuple[str, ...], fixed: Mapping[str, int]) -> F64:
        """log P(free, fixed) over the states of the free variables, an axis for each, in their order."""

    def log_marginal(self, terms: frozenset[Term], names: tuple[str, ...]) -> LogTable:
        """log P of some terms, an axis for each of ``names``."""
        if len(names) > _MOST_AXES:
            raise DataError(f"{len(names)} variables are too many for one table; at most {_MOST_AXES} can be evaluated")
        wanted = {t.name for t in terms if t.value is None}
        free = tuple(name for name in names if name in wanted)
        fixed = {t.name: self.index(t.name, t.value) for t in terms if t.value is not None}
        sizes = tuple(len(self.states[name]) for name in names)
        shape = [size if name in wanted else 1 for name, size in zip(names, sizes, strict=True)]
        check_cells(math.prod(shape), free)
        return LogTable(self._log_probabilities(free, fixed).reshape(shape), names, sizes)

    def index(self, name: str, value: Any) -> int:
        """The index of a variable's state."""
        try:
            return self.states[name].index(value)
        except ValueError:
            alike = [i for i, state in enumerate(self.states[name]) if str(state) == str(value)]
            if len(alike) == 1:  # the number 0 was read, and the state is the text "0", or the other way round
                return alike[0]
            some = ", ".join(map(str, self.states[name][:8])) + (", ..." if len(self.states[name]) > 8 else "")
            raise ExpressionError(f"{name} has no state {value!r}; it has {some}") from None

    def distance(self, left: LogTable, right: LogTable) -> float:
        """The largest difference of two tables; cells that are impossible in both tables do not count."""
        a, b = np.broadcast_arrays(left.array, right.array)
        if not (np.all(a < np.inf) and np.all(b < np.inf)):  # NaN is not below infinity
            raise UndefinedRateError("a side of the equation is undefined: a probability in a denominator is zero")
        with np.errstate(invalid="ignore"):
            differences = np.abs(a - b)
        return float(np.where(a == b, 0.0, differences).max())

    def strict(self, potential: LogTable) -> LogTable:
        """The table with sums that are undefined if they contain 0 / 0."""
        return replace(potential, strict=True)

    def divided(self, total: LogTable, divisor: LogTable) -> LogTable:
        """A sum that is undefined, not 0, where a divisor of all of its values is zero."""
        undefined = (total.array == -np.inf) & (divisor.array == -np.inf)
        return replace(total, array=np.where(undefined, np.nan, total.array))

    def undefined_at(self, potential: LogTable, joint: LogTable) -> dict[str, Value] | None:
        """The first values with a positive probability where a table is undefined."""
        where = np.argwhere(~(potential.array < np.inf) & _possible(joint, potential.array.shape))
        if not len(where):
            return None
        axes = zip(joint.names, where[0].tolist(), potential.array.shape, strict=True)
        return {name: self.states[name][i] for name, i, size in axes if size > 1}

    def compare(self, left: LogTable, right: LogTable) -> tuple[float, int]:
        """The largest difference of two tables over the values where both are defined, and how many are not."""
        a, b = np.broadcast_arrays(left.array, right.array)
        defined = (a < np.inf) & (b < np.inf)  # NaN is not below infinity
        with np.errstate(invalid="ignore"):
            differences = np.abs(a - b)[defined & (a != b)]
        return float(differences.max(initial=0.0)), int(defined.size - defined.sum())

    def difference(self, left: str | Expression, right: str | Expression) -> float:
        """The largest absolute difference between the logarithms of two expressions, over all values of variables."""
        try:
            return super().difference(left, right)
        except UndefinedRateError:
            for side in (left, right):
                self.log_table(side)
            raise

    def log_value(self, expression: str | Expression, at: Mapping[str, Value] | None = None) -> float:
        """The logarithm of :meth:`value`."""
        whole = read(expression, self.variables)
        self.require([*whole.variables(), *(at or ())])
        here = whole.fixed(at or {})
        if left := list(here.free()):
            raise ExpressionError(f"{whole}: {left[0]} has no value; pass one, such as {{{left[0]!r}: 0}}")
        return float(self._defined(here).array.item())

    def log_table(self, expression: str | Expression) -> tuple[tuple[str, ...], F64]:
        """The logarithms of an expression for all states of its free variables; returns their names and an array.

        The array has an axis for each name. Raises UndefinedRateError if a probability in a denominator is zero.

        >>> import numpy as np
        >>> names, logs = Table([[4, 1], [1, 4]], ["A", "B"]).log_table("CR(A; B)")
        >>> names, np.exp(logs).round(3).tolist()
        (('A', 'B'), [[1.6, 0.4], [0.4, 1.6]])
        """
        whole = read(expression, self.variables)
        found = self._defined(whole)
        free = tuple(name for name in found.names if name in whole.free())
        shape = [size if name in free else 1 for name, size in zip(found.names, found.sizes, strict=True)]
        check_cells(math.prod(shape), free)
        array = np.broadcast_to(found.array, shape)
        return free, array.reshape([size for size, name in zip(shape, found.names, strict=True) if name in free])

    def total(self, expression: str | Expression, at: Mapping[str, Value] | None = None) -> float:
        """The sum of an expression over all values of its free variables. Those with a value in ``at`` have this value.

        The total of a factorisation is 1 on a distribution that satisfies its graph, and may differ from 1 on a sample.
        Values where the expression is 0 / 0 are left out, as in any sum. If the expression has fixed variables, as in
        the form ``mrf``, 0 / 0 raises UndefinedRateError instead.

        >>> d = Table([[45, 5], [20, 30]], ["sky", "ground"])
        >>> round(d.total("P(sky, ground)"), 12), round(d.total("P(sky) P(ground | sky)", {"sky": 1}), 12)
        (1.0, 0.5)
        """
        whole = read(expression, self.variables)
        self.require([*whole.variables(), *(at or ())])
        here = whole.fixed(at or {})
        all_free = all(term.value is None for term in whole.terms())
        evaluation = Evaluation(self, list(here.variables()), strict=not all_free)
        summed = here
        for name in here.free():
            summed = Sum(name, summed)
        found = float(evaluation.log(summed).array.item())
        if not found < np.inf:
            raise self.undefined(here)
        return math.exp(found)

    def entropy(self, names: NamesLike | None = None, given: NamesLike = ()) -> float:
        """The entropy of some variables in nats, by default of all, given the variables ``given``.

        It is the expectation of -log P. The names are lists, or strings that are read as in an expression.

        >>> d = Table([[4, 1], [1, 4]], ["A", "B"])
        >>> round(d.entropy("A"), 4), round(d.entropy("A", given="B"), 4)
        (0.6931, 0.5004)
        """
        conditions = self.require(given)
        chosen = self.require(self.variables if names is None else names)
        return -self._expected_log(probability(_single(chosen), _single(conditions)))

    def mutual_information(self, left: NamesLike, right: NamesLike, given: NamesLike = ()) -> float:
        """The mutual information of two sets of variables in nats, given the variables ``given``.

        It is the expectation of the logarithm of their co-occurrence rate. The names are lists, or strings that are
        read as in an expression.

        >>> d = Table([[4, 1], [1, 4]], ["A", "B"])
        >>> round(d.mutual_information("A", "B"), 4)
        0.1927
        """
        sides = [_single(self.require(side)) for side in (left, right)]
        if not all(sides) or set(sides[0]) & set(sides[1]):
            raise DataError("name at least one variable on each side, and no variable on both")
        return max(0.0, self._expected_log(Rate(sides, _single(self.require(given)))))

    def _expected_log(self, expression: Expression) -> float:
        """The expectation of the logarithm of an expression."""
        evaluation = Evaluation(self, list(expression.variables()))
        probabilities = np.exp(self._log_probabilities(evaluation.names, {}))
        logs = np.broadcast_to(evaluation.log(expression).array, probabilities.shape)
        seen = probabilities > 0
        return float(probabilities[seen] @ logs[seen])

    def _defined(self, expression: Expression) -> LogTable:
        found: LogTable = Evaluation(self, list(expression.variables())).log(expression)
        if not np.all(found.array < np.inf):
            raise self.undefined(expression)
        return found

    def undefined(self, expression: Expression, at: Mapping[str, Value] | None = None) -> UndefinedRateError:
        """The error for an expression that is undefined at some values, with the probability that is zero."""
        for factor, divisor in denominators(expression):
            below = divisor.fixed(at or {})
            names = tuple(n for n in self.variables if n in below.variables())
            table = Evaluation(self, names).log(below)
            where = np.argwhere(table.array == -np.inf)
            if len(where):
                free = below.free()
                cell = {n: self.states[n][i] for n, i in zip(names, where[0].tolist(), strict=True) if n in free}
                remedy = "choose another configuration" if _has_potentials(expression) else "omit that state"
                return UndefinedRateError(
                    f"{factor} is undefined: {below.fixed(cell)} is zero; {remedy}, or add a constant to every count "
                    "(Counts.table)"
                )
        return super().undefined(expression)


class Table(Discrete):
    """The joint distribution of discrete variables, as a dense table.

    Args:
        weights: an array with an axis for each variable. The weights are divided by their sum.
        variables: the names of the variables, in the order of the axes: a list, or a string that is read as in an
            expression.
        states: the states of variables, in order. By default 0, 1, 2 and so on.
        log: whether ``weights`` are logarithms.

    Raises DataError if the weights are negative, not finite or all zero, if the names do not fit the axes, or if
    ``states`` has an unknown variable.

    >>> d = Table([[30, 10], [20, 40]], ["season", "weather"], states={"weather": ["dry", "wet"]})
    >>> d.interpret("CR(season; weather)", {"season": 1, "weather": "wet"})
    'attractive'
    """

    def __init__(
        self,
        weights: ArrayLike,
        variables: NamesLike,
        *,
        states: Mapping[str, Sequence[Hashable]] | None = None,
        log: bool = False,
    ) -> None:
        given = np.asarray(weights, dtype=np.float64)
        self.variables = new_names(variables)
        if given.ndim != len(self.variables) or len(set(self.variables)) != len(self.variables):
            raise DataError(f"a table with {given.ndim} axes needs {given.ndim} different names, not {self.variables}")
        if not log and (not np.isfinite(given).all() or (given < 0).any()):
            raise DataError("weights of a table must be finite and must not be negative")
        with np.errstate(divide="ignore"):
            logs = given if log else np.log(given)
        total = log_sum(logs, tuple(range(logs.ndim))) if logs.size else np.array(-np.inf)
        if not np.isfinite(total).all():
            raise DataError("a table needs at least one weight above zero, and all weights must be finite")
        self._logs = logs - total
        named = states or {}
        self.require(named)
        self.states = {
            name: tuple(named.get(name, range(n))) for name, n in zip(self.variables, logs.shape, strict=True)
        }
        for name, n in zip(self.variables, logs.shape, strict=True):
            if len(set(self.states[name])) != n:
                raise DataError(f"{name} has {counted(n, 'state')}, so it needs {counted(n, 'different state name')}")

    def __repr__(self) -> str:
        parts = [f"{name}: {counted(len(states), 'state')}" for name, states in self.states.items()]
        return f"Table({', '.join(parts)})"

    def sample(self, n: int, seed: int = 0) -> Counts:
        """Draw ``n`` observations at random, with the random seed ``seed``; returns their counts.

        The counts have all states of the table, also those that were not drawn.

        >>> Table([[45, 5], [20, 30]], ["sky", "ground"]).sample(200)
        Counts(200 observations of sky, ground)
        """
        from corate.rate.counted import Counts

        if n < 1:
            raise DataError(f"n must be at least 1, not {n}")
        probabilities = np.exp(self._logs)
        drawn = np.random.default_rng(seed).multinomial(n, (probabilities / probabilities.sum()).ravel())
        seen = np.flatnonzero(drawn)
        rows = np.stack(np.unravel_index(seen, self._logs.shape), axis=1)
        return Counts(rows, self.variables, self.states, drawn[seen])

    def marginal(self, names: NamesLike) -> Table:
        """The distribution of some variables, whose axes have this order.

        The names are a list, or a string that is read as in an expression.

        >>> margin = Table([[45, 5], [20, 30]], ["sky", "ground"]).marginal("ground")
        >>> round(margin.value("P(ground=1)"), 12)
        0.35
        """
        chosen = self.require(names)
        states = {name: self.states[name] for name in chosen}
        return Table(self._log_probabilities(chosen, {}), chosen, states=states, log=True)

    def _log_probabilities(self, free: tuple[str, ...], fixed: Mapping[str, int]) -> F64:
        index = tuple(fixed.get(name, slice(None)) for name in self.variables)
        left = [name for name in self.variables if name not in fixed]
        rest = tuple(i for i, name in enumerate(left) if name not in free)
        found = log_sum(self._logs[index], rest, keep=False)
        kept = [name for name in left if name in free]
        return np.transpose(found, [kept.index(name) for name in free])


def log_sum(array: F64, axes: tuple[int, ...], *, keep: bool = True) -> F64:
    """log of the sum of exponentials over some axes; NaN is kept."""
    if not axes:
        return array
    top = array.max(axis=axes, keepdims=True)
    shift = np.where(np.isinf(top), 0.0, top)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.log(np.exp(array - shift).sum(axis=axes, keepdims=True)) + shift
    return np.asarray(found if keep else found.squeeze(axis=axes), dtype=np.float64)


def check_cells(cells: int, names: Sequence[str]) -> None:
    """Raise DataError for a table that is too large to build."""
    if cells > MOST_CELLS:
        raise DataError(
            f"a table over {', '.join(names[:12])}{', ...' if len(names) > 12 else ''} would have {cells:,} cells, "
            f"more than {MOST_CELLS:,}; fix some variables, or use fewer states"
        )


def _possible(joint: LogTable, shape: Sequence[int]) -> NDArray[np.bool_]:
    """Where a joint probability is positive, for any values of the variables whose axis in ``shape`` has length 1."""
    flat = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return np.asarray(np.broadcast_to(joint.array > -np.inf, joint.sizes).any(axis=flat, keepdims=True))


def _single(names: Sequence[str]) -> Block:
    return Block(map(Term, names))


def _has_potentials(expression: Expression) -> bool:
    return any(isinstance(factor, Group) for factor in expression.powers())
