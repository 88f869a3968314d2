"""Histograms: densities of continuous variables that are constant in each bin.

    p(x) = P(bin of x) / size of the bin

A rate of densities is the rate of the bins, because their sizes cancel: this is the limit in definition 2.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from corate.errors import DataError
from corate.rate.errors import ExpressionError
from corate.rate.samples import points_of
from corate.rate.tables import LogTable, Table, check_cells
from corate.rate.terms import NamesLike, Term, new_names
from corate.types import F64

__all__ = ["Histogram"]


class Histogram(Table):
    """A density of continuous variables that is constant in each bin of a grid.

    Probabilities in expressions are densities, and sums are integrals. The states of a variable are the middles of its
    bins; any number within the edges means its bin.

    Args:
        weights: an array with an axis for each variable: the weight of each bin. The weights are divided by their sum.
        variables: the names of the variables: a list, or a string that is read as in an expression.
        edges: a mapping from each variable to the edges of its bins, which ascend: one more than there are bins.

    Raises DataError for weights that are no distribution, and for edges that do not fit.

    >>> d = Histogram([[1, 3], [3, 1]], "XY", {"X": [0, 1, 2], "Y": [0, 5, 10]})
    >>> round(d.value("CR(X; Y)", {"X": 0.2, "Y": 7.5}), 12), round(d.value("P(X, Y)", {"X": 0.2, "Y": 7.5}), 12)
    (1.5, 0.075)
    """

    def __init__(self, weights: ArrayLike, variables: NamesLike, edges: Mapping[str, ArrayLike]) -> None:
        names = new_names(variables)
        if set(names) != set(edges):
            raise DataError(f"edges are needed for {', '.join(names)}, and not for other variables")
        self.edges = {name: np.asarray(edges[name], dtype=np.float64) for name in names}
        for name, own in self.edges.items():
            if own.ndim != 1 or len(own) < 2 or not np.isfinite(own).all() or not (np.diff(own) > 0).all():
                raise DataError(f"the edges of {name} must be at least two numbers that ascend")
        self._widths = {name: np.log(np.diff(own)) for name, own in self.edges.items()}
        middles = {name: ((own[:-1] + own[1:]) / 2).tolist() for name, own in self.edges.items()}
        super().__init__(weights, names, states=middles)

    def __repr__(self) -> str:
        return f"Histogram({', '.join(f'{name}: {len(own) - 1} bins' for name, own in self.edges.items())})"

    @classmethod
    def fit(
        cls,
        frame: Any,
        columns: Iterable[Hashable] | None = None,
        *,
        bins: int | Mapping[str, int | Sequence[float]] = 8,
    ) -> Histogram:
        """The histogram of the rows of a data frame.

        Args:
            frame: anything with named columns of numbers: a pandas or polars data frame, or a dict of lists.
            columns: the names of the columns to use, by default all: a list, or a string that is read as in an
                expression.
            bins: the number of bins of each variable, which have the same size; or a mapping from variables to numbers
                of bins or to edges.

        Raises DataError for a number that is missing or outside of the edges, and for more than 2^24 bins.

        >>> d = Histogram.fit({"X": [0, 1, 2, 3], "Y": [0, 0, 1, 1]}, bins=2)
        >>> round(d.value("CR(X; Y)", {"X": 0.5, "Y": 0.9}), 12), round(d.value("CR(X; Y)", {"X": 2, "Y": 0.9}), 12)
        (0.0, 2.0)
        """
        names, points = points_of(frame, columns)
        if isinstance(bins, Mapping) and set(bins) != set(names):
            raise DataError(f"bins are needed for {', '.join(names)}, and not for other variables")
        edges = {}
        for name, own in zip(names, points.T, strict=True):
            wanted = bins[name] if isinstance(bins, Mapping) else bins
            if np.ndim(wanted) == 0 and not (isinstance(wanted, int) and wanted >= 1):
                raise DataError(f"bins of {name} must be a whole number, 1 or more, or a list of edges, not {wanted!r}")
            edges[name] = np.histogram_bin_edges(own, wanted)
            if (outside := own[(own < edges[name][0]) | (own > edges[name][-1])]).size:
                raise DataError(f"{name} has the number {outside[0]:g}, which is outside of the edges")
        check_cells(math.prod(len(own) - 1 for own in edges.values()), names)
        return cls(np.histogramdd(points, list(edges.values()))[0], names, edges)

    def marginal(self, names: NamesLike) -> Histogram:
        """The density of some variables, whose axes have this order. The names are as for :meth:`Table.marginal`."""
        chosen = self.require(names)
        return Histogram(
            np.exp(self._log_probabilities(chosen, {})), chosen, {name: self.edges[name] for name in chosen}
        )

    def index(self, name: str, value: Any) -> int:
        """The number of the bin of a value."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ExpressionError(f"{name} must be a number, not {value!r}") from None
        own = self.edges[name]
        if not own[0] <= number <= own[-1]:
            raise ExpressionError(
                f"{name}={value} is outside of the histogram, which goes from {own[0]:g} to {own[-1]:g}"
            )
        return min(int(np.searchsorted(own, number, side="right")) - 1, len(own) - 2)

    def log_marginal(self, terms: frozenset[Term], names: tuple[str, ...]) -> LogTable:
        """The log-density of some terms, an axis for each of ``names``."""
        found = super().log_marginal(terms, names)
        array = found.array
        for term in terms:
            widths = self._widths[term.name]
            if term.value is None:
                array = array - _along(widths, names.index(term.name), len(names))
            else:
                array = array - widths[self.index(term.name, term.value)]
        return replace(found, array=array, measures=tuple(self._widths[name] for name in names))


def _along(values: F64, axis: int, axes: int) -> F64:
    """Values along one of some axes."""
    return values.reshape([len(values) if k == axis else 1 for k in range(axes)])
