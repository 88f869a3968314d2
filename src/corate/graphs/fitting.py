"""From data to a model: which graph, which estimate, and whether EM is needed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.arguments import check_whole
from corate.errors import Argument, ConfigError, DataError
from corate.graphs.bins import MOST_DISTINCT, check_bins, continuous, quantile_edges
from corate.graphs.cutsets import joined, smallest_cutset
from corate.graphs.estimation import check_prior, count_scopes
from corate.graphs.estimator import METHODS, Estimator
from corate.graphs.triangulation import triangulated
from corate.graphs.variables import DataRows, States, code_column, names_of, rows_of
from corate.rate import Counts, Graph
from corate.rate.graphs import GraphLike
from corate.rate.samples import numbers_of

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["FitOptions", "fit_model", "refit"]


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
    tree = triangulated(read, [len(known[name]) for name in read.nodes], options.memory, options.seed)
    estimator = Estimator.of(read, tree, options.method, options.prior, options.iterations)
    record["method"] = estimator.method
    if estimator.method == "composite" and (hidden or rows.missing() is not None):
        raise ConfigError("the method composite needs complete data; use ipf", option="method")
    if hidden or (options.missing == "em" and rows.missing() is not None):
        from corate.graphs.em import fit_incomplete

        factors, more = fit_incomplete(rows, estimator, options, hidden=bool(hidden))
        return cls(read, known, factors, tree, record=record | more, memory=options.memory)
    _require_complete(rows, "data")
    counts = count_scopes(rows, read.nodes, tree.sizes, estimator.scopes, options.threads)
    factors, more = estimator.fit(counts)
    return cls(read, known, factors, tree, counts=counts, record=record | more, memory=options.memory)


def refit(model: GraphModel, rows: DataRows, threads: int) -> GraphModel:
    """The model of its counts and those of more rows."""
    _require_complete(rows, "data")
    old = model._counts
    assert old is not None
    tree = model._distribution.triangulation
    counts = old + count_scopes(rows, model.variables, tree.sizes, old.scopes, threads)
    record = model.record | {"rows": counts.total}
    factors, more = Estimator(model.graph, tree, record["method"], record["prior"], iterations=1000).fit(counts)
    return type(model)(
        model.graph, model.states, factors, tree, counts=counts, record=record | more, memory=model._memory
    )


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


def _require_complete(rows: DataRows, what: str) -> None:
    name = rows.missing()
    if name is None:
        return
    row = int(np.flatnonzero(rows.columns[name] < 0)[0])
    remedy = "" if what == "structure" else f", or fit with {Argument('missing', 'em')}"
    raise DataError(f"column {name!r}, row {row}: the value is missing; fill it in, drop the row{remedy}")
