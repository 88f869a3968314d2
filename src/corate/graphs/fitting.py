"""From data to a model: which graph, which estimate, and whether EM is needed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.arguments import check_whole
from corate.display import counted
from corate.errors import Argument, ConfigError, DataError
from corate.graphs.bins import MOST_DISTINCT, check_bins, continuous, quantile_edges
from corate.graphs.composite import fit_composite, neighbourhoods
from corate.graphs.cutsets import joined, smallest_cutset
from corate.graphs.engine import Factor, edges_of
from corate.graphs.estimation import ScopeCounts, aligned, check_prior, count_scopes, tree_factors
from corate.graphs.proportional import fit_margins
from corate.graphs.triangulation import Triangulation, triangulate
from corate.graphs.variables import DataRows, States, code_column, names_of, rows_of
from corate.rate import Counts, Graph
from corate.rate.graphs import GraphLike
from corate.rate.samples import numbers_of

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["FitOptions", "estimate", "fit_model", "refit"]

METHODS = ("auto", "closed", "ipf", "composite", "conditioning")


@dataclass(frozen=True)
class FitOptions:
    """The options of `GraphModel.fit`, checked."""

    prior: float
    method: str
    missing: str
    hidden: Mapping[str, int | Sequence[Hashable]]
    restarts: int
    iterations: int
    memory: int
    seed: int
    threads: int
    bins: int | Mapping[str, int] | None = None
    weights: Any = None

    def __post_init__(self) -> None:
        check_prior(self.prior)
        check_whole("restarts", self.restarts, 1)
        check_whole("iterations", self.iterations, 1)
        check_whole("memory", self.memory, 1)
        check_bins(self.bins)
        if self.method not in METHODS:
            raise ConfigError(f"unknown method {self.method!r}; there are {', '.join(METHODS)}", option="method")
        if self.missing not in ("error", "em"):
            raise ConfigError(f"missing must be 'error' or 'em', not {self.missing!r}", option="missing")

    def hidden_states(self) -> dict[str, States]:
        """The states of the hidden variables."""
        found: dict[str, States] = {}
        for name, own in self.hidden.items():
            found[name] = tuple(range(check_whole(f"states of {name}", own, 1))) if isinstance(own, int) else tuple(own)
        return found


def fit_model(
    cls: type[GraphModel],
    data: Any,
    graph: GraphLike | None,
    structure: Any,
    states: Mapping[str, Sequence[Hashable]],
    options: FitOptions,
) -> GraphModel:
    """`GraphModel.fit`, for data whose files were read."""
    if (graph is None) == (structure is None):
        raise ConfigError("give either a graph, or a structure to learn, such as Tree()", option="graph")
    hidden = options.hidden_states()
    if structure is not None:
        if hidden:
            raise ConfigError("a structure is learned from observed variables; give the graph of hidden variables")
        names = [name for name in names_of(data) if not isinstance(options.weights, str) or name != options.weights]
        edges = _edges(data, names, states, options.bins)
        rows = rows_of(data, names, states, bins=edges, weights=options.weights)
        _require_complete(rows, "structure")
        read = structure.learn(rows, options)
    else:
        read = Graph.of(graph)
        read.require(hidden)
        if both := [name for name in hidden if name in names_of(data)]:
            raise ConfigError(f"{both[0]} is a column of the data, so it is not hidden; rename one", option="hidden")
        names = [name for name in read.nodes if name not in hidden]
        edges = _edges(data, names, states, options.bins)
        rows = rows_of(data, names, states, bins=edges, weights=options.weights)
    known = {**rows.states, **hidden}
    record: dict[str, Any] = {"rows": rows.total, "prior": options.prior}
    if edges:
        record["bins"] = edges
    if options.method == "conditioning":
        cutset = smallest_cutset(read, {name: math.log(len(of)) for name, of in known.items()}, options.seed)
        read, record["cutset"] = joined(read, cutset), list(cutset)
    sizes = np.array([len(known[name]) for name in read.nodes], dtype=np.int64)
    tree = triangulate(read.nodes, sizes, edges_of(read), seed=options.seed)
    tree.plan().check(options.memory)
    method = _method(options.method, tree)
    scopes = _scopes(read, tree, method)
    record["method"] = method
    if method == "composite" and (hidden or rows.missing() is not None):
        raise ConfigError("the method composite needs complete data; use ipf", option="method")
    if hidden or (options.missing == "em" and rows.missing() is not None):
        from corate.graphs.em import fit_incomplete

        factors, more = fit_incomplete(rows, read, tree, scopes, method, options, list(hidden))
        return cls(read, known, factors, tree, record=record | more, memory=options.memory)
    _require_complete(rows, "data")
    counts = count_scopes(rows, read.nodes, sizes, scopes, options.threads)
    factors, more = estimate(counts, read, tree, method, options.prior, options.iterations)
    return cls(read, known, factors, tree, counts=counts, record=record | more, memory=options.memory)


def refit(model: GraphModel, rows: DataRows, threads: int) -> GraphModel:
    """The model of its counts and those of more rows."""
    _require_complete(rows, "data")
    old = model._counts
    assert old is not None
    tree = model._engine.triangulation
    counts = old + count_scopes(rows, model.variables, tree.sizes, old.scopes, threads)
    record = model.record | {"rows": counts.total}
    iterations = 1000
    factors, more = estimate(counts, model.graph, tree, record["method"], record["prior"], iterations)
    return type(model)(
        model.graph, model.states, factors, tree, counts=counts, record=record | more, memory=model._memory
    )


def estimate(
    counts: ScopeCounts, graph: Graph, tree: Triangulation, method: str, prior: float, iterations: int
) -> tuple[list[Factor], dict[str, Any]]:
    """The factors of the estimate, and facts about it for the record."""
    if method in ("closed", "conditioning"):
        return tree_factors(tree, aligned(counts, tree.cliques).smoothed(prior)), {}
    if method == "composite":
        return fit_composite(counts, graph, prior), {}
    margins = counts.smoothed(prior)
    fitted = fit_margins(tree, counts.scopes, margins, iterations)
    return tree_factors(tree, fitted.tables), {"sweeps": fitted.sweeps, "largest_difference": fitted.difference}


def _edges(
    data: Any, names: Sequence[str], states: Mapping[str, Sequence[Hashable]], bins: int | Mapping[str, int] | None
) -> dict[str, list[float]]:
    """The inner edges of the ranges of columns: of those that are named, or of all numbers with many values."""
    if bins is None:
        return {}
    have = names_of(data)
    if isinstance(data, Counts):
        raise ConfigError("Counts cannot be divided into ranges, as they have states; pass the data", option="bins")
    if isinstance(bins, Mapping):
        if absent := [name for name in bins if name not in names or name not in have]:
            raise ConfigError(f"bins names {absent[0]!r}, which is no observed variable of the graph", option="bins")
        wanted = dict(bins)
    else:
        most = min(bins, MOST_DISTINCT)
        free = [name for name in names if name in have and name not in states]
        wanted = {name: bins for name in free if continuous(code_column(data[have[name]], name)[1], most)}
    return {name: quantile_edges(numbers_of(data[have[name]], name), n) for name, n in wanted.items()}


def _method(method: str, tree: Triangulation) -> str:
    if method == "auto":
        return "closed" if tree.added == 0 else "ipf"
    if method == "closed" and tree.added:
        raise ConfigError(
            f"the closed form needs a triangulated graph, and this one lacks "
            f"{counted(tree.added, 'edge')}; use the method ipf, or add edges",
            option="method",
        )
    return method


def _scopes(graph: Graph, tree: Triangulation, method: str) -> list[tuple[int, ...]]:
    """The tables that an estimate needs."""
    if method in ("closed", "conditioning"):
        return list(map(tuple, tree.cliques))
    if method == "composite":
        return neighbourhoods(graph, tree.sizes.tolist())
    place = {node: i for i, node in enumerate(graph.nodes)}
    return [tuple(place[node] for node in clique) for clique in graph.cliques()]


def _require_complete(rows: DataRows, what: str) -> None:
    name = rows.missing()
    if name is None:
        return
    row = int(np.flatnonzero(rows.columns[name] < 0)[0])
    remedy = "" if what == "structure" else f", or fit with {Argument('missing', 'em')}"
    raise DataError(f"column {name!r}, row {row}: the value is missing; fill it in, drop the row{remedy}")
