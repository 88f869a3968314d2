"""Iterative proportional fitting on a junction tree, for graphs that are not triangulated.

The maximum-likelihood model of a graph is the only product of factors on its cliques that has the observed margin of
every clique. Fitting starts from the uniform distribution and multiplies by

    observed margin(C) / current margin(C)

for one clique after the other. Only tables of the triangulation's cliques are kept. A clique of the graph lies in one
of them; its update changes that table, and messages carry the change to the next table on a walk through the tree.
(From the triangulated model, which has all these margins already, nothing would change: the added edges would stay.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from corate.inference.tables import margin, ratio, spread
from corate.inference.triangulation import Triangulation
from corate.types import F64

__all__ = ["Fitting", "fit_margins"]

#: Sweeps end when no margin differs more from what was observed.
TOLERANCE = 1e-10


@dataclass(eq=False)
class Fitting:
    """Clique tables on their way: ``tables`` and ``separators`` sum to 1 and agree after `calibrate`."""

    triangulation: Triangulation
    tables: list[F64] = field(init=False)
    separators: list[F64] = field(init=False)
    difference: float = np.inf
    sweeps: int = 0

    def __post_init__(self) -> None:
        sizes = self.triangulation.sizes.tolist()
        cells = zip(self.triangulation.cliques, self.triangulation.residuals, strict=True)
        self.tables, self.separators = [], []
        for clique, residual in cells:
            for tables, scope in ((self.tables, clique), (self.separators, clique[residual:])):
                table = np.ones([sizes[v] for v in scope])
                tables.append(table / table.size)

    def update(self, i: int, scope: Sequence[int], wanted: F64) -> float:
        """Give a scope within clique ``i`` its margin; returns the largest difference before."""
        clique = self.triangulation.cliques[i]
        ordered, current = spread(wanted, scope, clique), margin(self.tables[i], clique, scope)
        difference = float(np.abs(wanted - current).max())
        self.tables[i] *= ratio(ordered, spread(current, scope, clique))
        return difference

    def send(self, source: int, target: int, edge: int) -> None:
        """Carry the margin of the separator of clique ``edge`` from one of its sides to the other."""
        cliques = self.triangulation.cliques
        scope = cliques[edge][self.triangulation.residuals[edge] :]
        carried = margin(self.tables[source], cliques[source], scope)
        self.tables[target] *= spread(ratio(carried, self.separators[edge]), scope, cliques[target])
        self.separators[edge] = carried

    def calibrate(self) -> None:
        """Make all tables agree with the first of each tree, where the last walk ended."""
        for j, parent in enumerate(self.triangulation.parents.tolist()):
            if parent >= 0:
                self.send(parent, j, j)


def fit_margins(
    triangulation: Triangulation, scopes: Sequence[Sequence[int]], margins: Sequence[F64], iterations: int
) -> Fitting:
    """The clique tables of the distribution with the given margins, an axis for each variable of a scope."""
    fitting = Fitting(triangulation)
    place = triangulation.place
    held: list[list[int]] = [[] for _ in triangulation.cliques]
    for k, scope in enumerate(scopes):
        held[int(triangulation.home[min(scope, key=place.__getitem__)])].append(k)
    steps = _walk(triangulation.parents.tolist())
    for _ in range(iterations):
        worst = 0.0
        for source, target, edge in steps:
            if edge >= 0:
                fitting.send(source, target, edge)
            if target > source or edge < 0:
                for k in held[target]:
                    worst = max(worst, fitting.update(target, tuple(scopes[k]), margins[k]))
        fitting.sweeps += 1
        fitting.difference = worst
        if worst <= TOLERANCE:
            break
    fitting.calibrate()
    return fitting


def _walk(parents: list[int]) -> list[tuple[int, int, int]]:
    """Each tree from its root down and back: (from, to, the clique whose separator is crossed, -1 for none)."""
    children: list[list[int]] = [[] for _ in parents]
    for j, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(j)
    steps = []
    for root in (i for i, parent in enumerate(parents) if parent < 0):
        steps.append((root, root, -1))
        stack = [(root, iter(children[root]))]
        while stack:
            at, rest = stack[-1]
            child = next(rest, None)
            if child is not None:
                steps.append((at, child, child))
                stack.append((child, iter(children[child])))
            else:
                stack.pop()
                if stack:
                    steps.append((at, stack[-1][0], at))
    return steps
