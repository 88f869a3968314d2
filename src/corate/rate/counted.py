"""Empirical distributions: observed rows and their counts. Marginals are counted on demand."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate import portable_math
from corate.display import counted
from corate.errors import DataError
from corate.rate.independence import Independence, IndependenceTest, chi_squared_tail
from corate.rate.tables import Discrete, Table, check_cells
from corate.rate.terms import NamesLike, new_names, read_names
from corate.rate.value_rates import ValueRate, extreme_rates
from corate.types import F64

if TYPE_CHECKING:
    from corate.corpus import Column, Corpus

__all__ = ["Counts", "check_lengths", "chosen_columns", "column_names"]

START, END = "<s>", "</s>"


class Counts(Discrete):
    """Counts of observed values of named variables. Probabilities are relative frequencies.

    Usually made by :meth:`of_frame`, :meth:`label_pairs` or :meth:`words`.

    Args:
        rows: an array of shape (n, variables) with the indices of the observed states.
        variables: the names of the variables: a list, or a string that is read as in an expression.
        states: the states of each variable, in the order of their indices.
        weights: the count of each row, by default 1.

    Raises DataError for weights that are negative, all zero or too few, and for two variables with the same name.
    """

    def __init__(
        self,
        rows: NDArray[np.integer[Any]],
        variables: NamesLike,
        states: Mapping[str, Sequence[Hashable]],
        weights: NDArray[Any] | None = None,
    ) -> None:
        self.variables = new_names(variables)
        self._rows = np.asarray(rows, dtype=np.int64).reshape(-1, len(self.variables))
        self._weights = np.ones(len(self._rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.states = {name: tuple(states[name]) for name in self.variables}
        if self._weights.shape != (len(self._rows),) or not (self._weights >= 0).all():
            raise DataError(
                f"weights must be {counted(len(self._rows), 'number')}, one for each row, and none may be negative"
            )
        if not 0 < self._weights.sum() < np.inf:
            raise DataError("there is nothing to count: no row has a weight above zero")
        if len(set(self.variables)) != len(self.variables):
            raise DataError(f"two columns have the same name ({', '.join(self.variables)}); rename one")

    def __repr__(self) -> str:
        return f"Counts({counted(self._weights.sum(), 'observation')} of {', '.join(self.variables)})"

    @property
    def rows(self) -> NDArray[np.int64]:
        """The indices of the observed states, an array of shape (n, variables). A row may occur several times."""
        return self._rows

    @property
    def weights(self) -> F64:
        """The count of each row."""
        return self._weights

    @classmethod
    def of_frame(
        cls, frame: Any, columns: Iterable[Hashable] | None = None, *, weights: Iterable[float] | None = None
    ) -> Counts:
        """Count the rows of a data frame.

        The columns become variables of the same name. The states of a variable are the values that occur. In
        expressions, a name that is not a word is in braces: ``P({0})`` is the probability of the column 0.

        Args:
            frame: anything with named columns: a pandas or polars data frame, or a dict of lists.
            columns: the names of the columns to use, by default all: a list, or a string that is read as in an
                expression.
            weights: the count of each row, by default 1.

        Raises DataError for a column or a value that is missing.

        >>> d = Counts.of_frame({"rain": ["no", "no", "yes", "yes"], "wet": ["no", "no", "yes", "no"]})
        >>> d
        Counts(4 observations of rain, wet)
        >>> round(d.value("CR(rain; wet)", {"rain": "yes", "wet": "yes"}), 12)
        2.0
        """
        chosen = chosen_columns(frame, columns)
        names = [str(name) for name, _ in chosen]
        coded = [_coded(values, name) for name, (_, values) in zip(names, chosen, strict=True)]
        check_lengths({name: codes for name, (codes, _) in zip(names, coded, strict=True)})
        given = None if weights is None else np.fromiter(weights, dtype=np.float64)
        states = {name: values for name, (_, values) in zip(names, coded, strict=True)}
        return cls(np.stack([codes for codes, _ in coded], axis=1), names, states, given)

    @classmethod
    def label_pairs(cls, corpus: Corpus, *, boundaries: bool = True) -> Counts:
        """Count the pairs of adjacent labels of a corpus, as the variables ``label`` and ``next``.

        With ``boundaries``, there are two more pairs for each sentence: ``label`` is ``<s>`` before the first label,
        and ``next`` is ``</s>`` after the last one.

        >>> from corate import Corpus
        >>> pairs = Counts.label_pairs(Corpus.from_sentences([["a", "b"]] * 3, [["X", "Y"], ["X", "Y"], ["Y", "Y"]]))
        >>> round(pairs.value("P(label, next)", {"label": "X", "next": "Y"}), 3)
        0.222
        """
        ids, names = _used(corpus.require_every_label("a count of label pairs"))
        n = len(names)
        lengths = np.diff(corpus.offsets)
        first, last = corpus.offsets[:-1][lengths > 0], corpus.offsets[1:][lengths > 0] - 1
        inner = np.ones(len(ids), dtype=bool)
        inner[last] = False
        left, right = ids[inner], ids[np.flatnonzero(inner) + 1]
        if boundaries:
            left = np.concatenate([np.full(len(first), n), left, ids[last]])
            right = np.concatenate([ids[first], right, np.full(len(last), n)])
        states = {"label": [*names, START], "next": [*names, END]} if boundaries else {"label": names, "next": names}
        return cls(*_distinct(np.stack([left, right], axis=1), ("label", "next"), states))

    @classmethod
    def words(cls, corpus: Corpus, column: str | None = None) -> Counts:
        """Count the words of a corpus with their labels, as the variables ``word`` and ``label``.

        With ``column``, the values of this column are counted instead of the words, and the variable has its name.

        >>> from corate import Corpus
        >>> counts = Counts.words(Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Y"), ("b", "Y")]]))
        >>> round(counts.value("P(label | word)", {"label": "X", "word": "a"}), 12)
        0.5
        """
        labels = corpus.require_every_label("a count of words with labels")
        observed = corpus.word if column is None else corpus.column(column)
        if observed is None:
            raise DataError("this corpus has ready-made features but no words")
        name = "word" if column is None else column
        (words, seen), (ids, names) = _used(observed), _used(labels)
        return cls(*_distinct(np.stack([words, ids], axis=1), (name, "label"), {name: seen, "label": names}))

    def test(self, left: NamesLike, right: NamesLike, given: NamesLike = ()) -> IndependenceTest:
        """Test whether the variables ``left`` and ``right`` are independent given the variables ``given``.

        Each argument is a list of names, or a string that is read as in an expression. This is the G-squared test,
        also called likelihood-ratio test. A small p-value contradicts the independence.

        Raises ExpressionError for an unknown name, and DataError if a side is empty or a variable is named twice.

        >>> d = Counts.of_frame({"rain": [0, 0, 1, 1] * 25, "wet": [0, 0, 1, 0] * 25})
        >>> d.test("rain", "wet")
        hypothesis: {rain} and {wet} are independent; G2 = 43.15, 1 degree of freedom, p = 5.06e-11
        """
        groups = [self.require(group) for group in (left, right, given)]
        if not groups[0] or not groups[1] or len({name for group in groups for name in group}) < sum(map(len, groups)):
            raise DataError("name at least one variable on each side, and no variable twice")
        columns = [[self.variables.index(name) for name in group] for group in groups]
        statistic, degrees = _g_squared(self._rows, self._weights, columns)
        tail = chi_squared_tail(statistic, degrees) if degrees else 1.0
        return IndependenceTest(Independence(*groups), statistic, degrees, tail)

    def table(self, columns: NamesLike | None = None, *, add: float = 0.0) -> Table:
        """The distribution of some variables as a dense table.

        Args:
            columns: the names of the variables, by default all: a list, or a string that is read as in an expression.
            add: a constant that is added to the count of every cell, so that no cell is zero.

        Raises DataError if the table would have more than 2^24 cells.

        >>> d = Counts.of_frame({"rain": ["no", "yes"], "wet": ["no", "yes"]})
        >>> round(d.table(add=0.5).value("P(rain, wet)", {"rain": "no", "wet": "yes"}), 12)
        0.125
        """
        names = self.variables if columns is None else self.require(columns)
        if not add >= 0:
            raise DataError(f"add must not be negative, not {add}")
        check_cells(math.prod(len(self.states[name]) for name in names), names)
        return Table(self._sums(names, {}) + add, names, states={name: self.states[name] for name in names})

    def rates(
        self, between: NamesLike, given: NamesLike = (), n: int = 10, *, smooth: float = 0.5
    ) -> tuple[list[ValueRate], list[ValueRate]]:
        """The ``n`` combinations of values with the highest rates above 1, and the ``n`` with the lowest below 1.

        The rate of a combination is (observed + ``smooth``) / (expected + ``smooth``). The observed number is the count
        of rows with these values. The expected number is the count if the variables were independent. With
        ``smooth=0``, this is the co-occurrence rate.

        Args:
            between: the names of two or more variables: a list, or a string that is read as in an expression.
            given: the names of variables to condition on. The expected number is then for independence given their
                values, and each combination of their values has its own rates.
            n: the length of each list.
            smooth: a constant that moves the rates of rare values towards 1.

        >>> d = Counts.of_frame({"sky": ["sun", "sun", "rain", "rain"], "ground": ["dry", "dry", "wet", "dry"]})
        >>> attractive, repulsive = d.rates(["sky", "ground"], smooth=0)
        >>> attractive[0]
        ValueRate(values=('rain', 'wet'), given=(), observed=1.0, expected=0.5, rate=2.0)
        >>> repulsive[0].values, repulsive[0].rate
        (('sun', 'wet'), 0.0)
        """
        variables, conditions = self.require(between), self.require(given)
        names = (*variables, *conditions)
        if len(variables) < 2 or len(set(names)) < len(names):
            raise DataError("rates are between at least two variables; name no variable twice")
        if not smooth >= 0:
            raise DataError(f"smooth must not be negative, not {smooth}")
        check_cells(math.prod(len(self.states[name]) for name in names), names)
        states = [self.states[name] for name in names]
        return extreme_rates(self._sums(names, {}), states, len(variables), n, smooth)

    def _log_probabilities(self, free: tuple[str, ...], fixed: Mapping[str, int]) -> F64:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._sums(free, fixed)) - np.log(self._weights.sum()), dtype=np.float64)

    def _sums(self, free: tuple[str, ...], fixed: Mapping[str, int]) -> F64:
        """The number of rows with some fixed states, over the states of the free variables, an axis for each."""
        rows, weights = self._rows, self._weights
        for name, state in fixed.items():
            kept = rows[:, self.variables.index(name)] == state
            rows, weights = rows[kept], weights[kept]
        shape = tuple(len(self.states[name]) for name in free)
        code = np.zeros(len(rows), dtype=np.int64)
        for name, size in zip(free, shape, strict=True):
            code = code * size + rows[:, self.variables.index(name)]
        sums = np.bincount(code, weights=weights, minlength=int(np.prod(shape, dtype=np.int64)))
        return np.asarray(sums, dtype=np.float64).reshape(shape)


def chosen_columns(frame: Any, columns: Iterable[Hashable] | None) -> list[tuple[Hashable, Any]]:
    """Some columns of a data frame, or all: their names and values. Raises DataError for one that is missing."""
    if isinstance(columns, str):
        columns = read_names(columns, column_names(frame))
    chosen = list(columns) if columns is not None else column_names(frame)
    if not chosen:
        raise DataError("the frame has no columns to count")
    found = []
    for name in chosen:
        try:
            found.append((name, frame[name]))
        except (KeyError, IndexError, TypeError):
            have = ", ".join(map(str, column_names(frame)))
            raise DataError(f"no column {name!r} in the frame (columns: {have})") from None
    return found


def column_names(frame: Any) -> list[Any]:
    """The names of the columns of a data frame, an Arrow table or a mapping. Raises DataError for anything else."""
    names = getattr(frame, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None and hasattr(frame, "keys"):
        names = frame.keys()
    if names is None:
        raise DataError(
            f"a {type(frame).__name__} has no named columns; pass a data frame, a dict of lists or, for a graph model, "
            "counts or the path of a CSV or Parquet file"
        )
    return list(names)


def check_lengths(columns: Mapping[str, Any]) -> None:
    """Raise DataError unless all columns have the same length."""
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in list(columns.items())[:8])
        raise DataError(f"the columns have different lengths: {lengths}")


def _coded(values: Any, name: str) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Ids of the values, in order of first occurrence, and the distinct values."""
    ids: dict[Hashable, int] = {}
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    codes = np.empty(len(listed), dtype=np.int64)
    for i, value in enumerate(listed):
        if value is None or value != value:
            raise DataError(f"column {name!r}, row {i}: the value is missing; drop the row or fill in a value")
        try:
            codes[i] = ids.setdefault(value, len(ids))
        except TypeError:
            raise DataError(f"column {name!r}, row {i}: {value!r} is not hashable; use numbers or text") from None
    return codes, list(ids)


def _used(column: Column) -> tuple[NDArray[np.int64], list[str]]:
    """Ids of a column's tokens among the strings that occur, and those strings."""
    used, ids = np.unique(column.ids, return_inverse=True)
    strings = column.strings.to_list()
    return ids.astype(np.int64), [strings[i] for i in used.tolist()]


def _distinct(
    rows: NDArray[np.integer[Any]], variables: tuple[str, ...], states: Mapping[str, Sequence[Hashable]]
) -> tuple[NDArray[np.integer[Any]], tuple[str, ...], Mapping[str, Sequence[Hashable]], NDArray[np.int64]]:
    """The distinct rows and their counts."""
    size = max(1, len(states[variables[1]]))
    keys, counts = np.unique(rows[:, 0].astype(np.int64) * size + rows[:, 1], return_counts=True)
    return np.stack([keys // size, keys % size], axis=1), variables, states, counts


def _g_squared(
    rows: NDArray[np.int64], weights: NDArray[np.float64], columns: Sequence[Sequence[int]]
) -> tuple[float, int]:
    """The statistic and its degrees of freedom; ``columns`` are those of X, of Y and of Z.

    ``rows`` holds the state of every variable for every observation, ``weights`` how often it was observed.
    """
    x, y, z = (_codes(rows, chosen) for chosen in columns)
    xz, yz = _codes(np.stack([x, z], 1), (0, 1)), _codes(np.stack([y, z], 1), (0, 1))
    xyz = _codes(np.stack([xz, yz], 1), (0, 1))
    n_xyz, n_xz, n_yz, n_z = (np.bincount(code, weights=weights) for code in (xyz, xz, yz, z))
    seen = weights > 0
    logs = np.zeros(len(rows))
    logs[seen] = portable_math.log(n_xyz[xyz[seen]] * n_z[z[seen]] / (n_xz[xz[seen]] * n_yz[yz[seen]]))
    statistic = 2.0 * float((weights * logs).sum())
    values_x, values_y = _values_with(xz[seen], z[seen], len(n_z)), _values_with(yz[seen], z[seen], len(n_z))
    degrees = int((np.maximum(values_x - 1, 0) * np.maximum(values_y - 1, 0)).sum())
    return max(statistic, 0.0), degrees


def _codes(rows: NDArray[np.int64], columns: Sequence[int]) -> NDArray[np.int64]:
    """One number for each different row of some columns; 0 for all if there are no columns."""
    codes = np.zeros(len(rows), np.int64)
    for column in columns:
        sizes = int(rows[:, column].max(initial=0)) + 1
        codes = np.unique(codes * sizes + rows[:, column], return_inverse=True)[1].astype(np.int64)
    return codes


def _values_with(joint: NDArray[np.int64], z: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """How many different joint values each z has."""
    _, first = np.unique(joint, return_index=True)
    return np.bincount(z[first], minlength=n)
