"""Expressions of co-occurrence rates evaluated cell by cell with plain sums: the oracle of corate.rate.evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from corate.rate.expressions import Expression, Group, Probability, Rate, Sum
from corate.rate.terms import Term

Cell = Mapping[str, int]


class Joint:
    """A joint table of probabilities; marginals are summed cell by cell."""

    def __init__(self, table: NDArray[np.float64], names: Sequence[str]) -> None:
        self.table, self.names = table / table.sum(), tuple(names)

    def cells(self, names: Sequence[str]) -> list[dict[str, int]]:
        sizes = [self.table.shape[self.names.index(name)] for name in names]
        return [dict(zip(names, values, strict=True)) for values in product(*map(range, sizes))]

    def probability(self, terms: Sequence[Term], at: Cell) -> float:
        fixed = {t.name: at[t.name] if t.value is None else int(t.value) for t in terms}
        index = tuple(fixed.get(name, slice(None)) for name in self.names)
        return float(self.table[index].sum())

    def value(self, expression: Expression, at: Cell) -> float:
        if isinstance(expression, Probability):
            given = self.probability(expression.given, at)
            return self.probability([*expression.block, *expression.given], at) / given
        if isinstance(expression, Rate):
            given = self.probability(expression.given, at)
            found = self.probability([t for b in expression.blocks for t in b] + [*expression.given], at) / given
            for block in expression.blocks:
                found /= self.probability([*block, *expression.given], at) / given
            return found
        if isinstance(expression, Sum):
            size = self.table.shape[self.names.index(expression.over)]
            return sum(self.value(expression.body, {**at, expression.over: k}) for k in range(size))
        if isinstance(expression, Group):
            return self.value(expression.body, at)
        result = 1.0
        for factor, exponent in expression.powers().items():
            result *= self.value(factor, at) ** exponent
        return result
