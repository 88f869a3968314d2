"""Bayesian networks: a conditional table for every variable, for files and programs that know only these."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from corate.errors import DataError
from corate.graphs.estimation import conditionals
from corate.inference.trees import NOTHING, Distribution
from corate.types import F64

__all__ = ["Network", "Table", "network_of"]


class Table(NamedTuple):
    """P(child | parents): an axis for each parent, and one for the child."""

    parents: tuple[str, ...]
    values: F64


@dataclass(eq=False)
class Network:
    """A Bayesian network."""

    states: dict[str, tuple[Hashable, ...]] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    def check(self) -> None:
        """Raise DataError unless every variable has a table, and no variable is its own ancestor."""
        if not self.states:
            raise DataError("there are no variables", "is this a network?")
        for name in self.states:
            if name not in self.tables:
                raise DataError(f"{name} has no probabilities", "the file may be truncated")
        done: set[str] = set()
        for start in self.states:
            path, stack = {start: None}, [(start, iter(self.tables[start].parents))]
            while stack and start not in done:
                name, rest = stack[-1]
                parent = next((p for p in rest if p not in done), None)
                if parent is None:
                    done.add(name)
                    path.pop(name, None)
                    stack.pop()
                elif parent in path:
                    loop = [*list(path)[list(path).index(parent) :], parent]
                    raise DataError(f"the network has a cycle: {' <- '.join(loop)}", "remove an edge")
                else:
                    path[parent] = None
                    stack.append((parent, iter(self.tables[parent].parents)))

    def factors(self) -> list[tuple[tuple[str, ...], F64]]:
        """The conditional tables as factors. Rows are scaled to the sum 1, which rounding in files misses."""
        found = []
        for child, (parents, values) in self.tables.items():
            sums = values.sum(axis=-1, keepdims=True)
            if not np.allclose(sums, 1.0, atol=0.05):
                where = np.argwhere(np.abs(sums[..., 0] - 1.0) > 0.05)[0]
                given = ", ".join(f"{p}={self.states[p][i]}" for p, i in zip(parents, where, strict=True))
                total = float(sums[tuple(where)][0])
                raise DataError(
                    f"the probabilities of {child}{f' given {given}' if given else ''} sum to {total:.4g}, not to 1",
                    "correct them",
                )
            found.append(((*parents, child), values / sums))
        return found


def network_of(
    distribution: Distribution,
    variables: Sequence[str],
    states: dict[str, tuple[Hashable, ...]],
    children: Sequence[str] | None,
) -> Network:
    """A Bayesian network of the same distribution.

    If ``children`` names the child of every factor, these are the tables. Else each variable depends on those that are
    eliminated after it, which are with it in a clique.
    """
    network = Network(dict(states))
    if children is not None:
        for child, (scope, table) in zip(children, distribution.factors, strict=True):
            names = [variables[v] for v in scope]
            at = names.index(child)
            network.tables[child] = Table((*names[:at], *names[at + 1 :]), np.moveaxis(table, at, -1))
        return network
    tree = distribution.triangulation
    _, tables = distribution.expected(NOTHING, np.ones(1))
    found: dict[str, Table] = {}
    for clique, residual, table in zip(tree.cliques, tree.residuals, tables, strict=True):
        for k in range(residual):
            margin = table.sum(axis=tuple(range(k)))
            parents = tuple(variables[v] for v in clique[k + 1 :])
            found[variables[clique[k]]] = Table(parents, np.moveaxis(conditionals(margin, 1), 0, -1))
    network.tables = {name: found[name] for name in variables}
    return network
