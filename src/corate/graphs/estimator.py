"""How a graph is estimated: the tables that a method needs, and from their counts to factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from corate.display import counted
from corate.errors import ConfigError
from corate.graphs.composite import fit_composite, neighbourhoods
from corate.graphs.estimation import ScopeCounts, aligned, tree_factors
from corate.graphs.proportional import fit_margins
from corate.inference.trees import Factor
from corate.inference.triangulation import Triangulation
from corate.rate import Graph

__all__ = ["METHODS", "Estimator"]

METHODS = ("auto", "closed", "ipf", "composite", "conditioning")


@dataclass(frozen=True, eq=False)
class Estimator:
    """A method for a graph and its triangulation. ``prior`` is an equivalent sample size; see `estimation`."""

    graph: Graph
    tree: Triangulation
    method: str
    prior: float
    iterations: int

    @classmethod
    def of(cls, graph: Graph, tree: Triangulation, method: str, prior: float, iterations: int) -> Estimator:
        """The estimator of a method, which may be ``auto``. Raises ConfigError if it needs another graph."""
        if method == "auto":
            method = "closed" if tree.added == 0 else "ipf"
        if method == "closed" and tree.added:
            raise ConfigError(
                f"the closed form needs a triangulated graph, and this one lacks "
                f"{counted(tree.added, 'edge')}; use the method ipf, or add edges",
                option="method",
            )
        return cls(graph, tree, method, prior, iterations)

    @cached_property
    def scopes(self) -> list[tuple[int, ...]]:
        """The variables of the tables that are counted."""
        if self.method in ("closed", "conditioning"):
            return list(map(tuple, self.tree.cliques))
        if self.method == "composite":
            return neighbourhoods(self.graph, self.tree.sizes.tolist())
        place = {node: i for i, node in enumerate(self.graph.nodes)}
        return [tuple(place[node] for node in clique) for clique in self.graph.cliques()]

    def fit(self, counts: ScopeCounts) -> tuple[list[Factor], dict[str, Any]]:
        """The factors, and facts for the record."""
        if self.method in ("closed", "conditioning"):
            return tree_factors(self.tree, aligned(counts, self.tree.cliques).smoothed(self.prior)), {}
        if self.method == "composite":
            return fit_composite(counts, self.graph, self.prior), {}
        fitted = fit_margins(self.tree, counts.scopes, counts.smoothed(self.prior), self.iterations)
        facts = {"sweeps": fitted.sweeps, "largest_difference": fitted.difference}
        return tree_factors(self.tree, fitted.tables), facts
