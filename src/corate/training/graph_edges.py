"""The edge factors of random fields on graphs, given the nodes: logarithms of co-occurrence rates by type of edge.

    P(y_u, y_v | x) is proportional to P(y_u | x_u) P(y_v | x_v) exp T(y_u, y_v)

Without features of edges, T is found by iterative scaling: what is observed of each pair of labels over what the model
expects. Some edges are added that agree with a prior table: that of all types together, or no dependence. With few
labelled edges, T has only one number, for equal labels, which is chosen like an exponent. With features,
T + sum_k z_k U_k is a regression, by L-BFGS.

On a tree, rates are exact as they are. On loops they count evidence twice, so each type has an exponent, chosen by the
likelihood of labels of nodes that the node model has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.edges import EdgeSet
from corate.inference.chains import chain_expectations
from corate.model.graph_scores import EdgeTable, NodeFeatures
from corate.training.graph_nodes import Numbers, loss_of, minimised, power_of_four
from corate.training.source import RunContext
from corate.types import F32, F64, Ids, Offsets

__all__ = [
    "TypedEdges",
    "chosen_edge_c2",
    "chosen_exponents",
    "fit_edges",
    "pair_columns",
    "table_of",
    "with_exponents",
]

#: Edges added to those of a type, which agree with the prior table.
PRIOR_EDGES = 20.0
#: A table of its own needs this many labelled edges for each pair of labels.
EDGES_PER_PAIR = 5
SCALINGS = 8
#: The most edges of a type that a table without features is fitted on.
MOST_EDGES = 200_000
#: The exponents of rates on loops that are compared.
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
#: With more types, or with features of edges, all types have the same exponent.
MOST_TYPES = 4


def pair_columns(n_labels: int, *, symmetric: bool) -> Ids:
    """Which number of a table each pair of labels has.

    >>> pair_columns(2, symmetric=True).tolist(), pair_columns(2, symmetric=False).tolist()
    ([0, 1, 1, 2], [0, 1, 2, 3])
    """
    a, b = np.divmod(np.arange(n_labels**2), n_labels)
    keys = np.minimum(a, b) * n_labels + np.maximum(a, b) if symmetric else np.arange(n_labels**2)
    return np.asarray(np.unique(keys, return_inverse=True)[1], np.int32)


@dataclass(frozen=True, eq=False)
class TypedEdges:
    """The edges of a type in training.

    Attributes:
        edges: the edges.
        ends: the nodes at their ends, ``(edges, 2)``.
        labelled: the edges whose ends both have known labels.
        pairs: the pair of labels of each edge, -1 if one is not known.
    """

    edges: EdgeSet
    ends: NDArray[np.int32]
    labelled: Numbers
    pairs: Ids

    @classmethod
    def of(cls, edge_sets: Sequence[EdgeSet], offsets: Offsets, labels: Ids, n_labels: int) -> list[TypedEdges]:
        """The edges of all types. ``offsets`` are those of the graphs, in nodes."""
        found = []
        for edges in edge_sets:
            ends = edges.ends(offsets)
            left, right = labels[ends[:, 0]], labels[ends[:, 1]]
            pairs = np.where((left < 0) | (right < 0), -1, left * n_labels + right).astype(np.int32)
            found.append(cls(edges, ends, np.flatnonzero(pairs >= 0), pairs))
        return found

    @property
    def plain(self) -> bool:
        """Whether its edges have no features."""
        return self.edges.attributes is None

    def sample(self, seed: int) -> Numbers:
        """The labelled edges that a table is fitted on."""
        if len(self.labelled) <= MOST_EDGES:
            return self.labelled
        return np.sort(np.random.default_rng(seed).choice(self.labelled, MOST_EDGES, replace=False))

    def regression(self, log_probs: F32, columns: Ids) -> _native.LogLinear:
        """The regression of pairs of labels on features of edges, given the nodes."""
        left, right = np.ascontiguousarray(self.ends.T)
        none = (np.zeros(len(left) + 1, np.int64), np.zeros(0, np.int32))
        features = NodeFeatures(none, None, 0, self.edges.attributes)
        return features.regression(columns, (np.ascontiguousarray(log_probs, np.float32), left, right))

    def precision(self, c2: float) -> F64:
        """The prior's weight of each feature and of the table."""
        if self.edges.attributes is None:
            return np.full(1, c2)
        squares = self.edges.attributes.astype(np.float64) ** 2
        return np.append(c2 * squares.sum(axis=0) / np.maximum((squares > 0).sum(axis=0), 1) + 1e-9, c2)


def fit_edges(types: Sequence[TypedEdges], log_probs: F32, c2: float, context: RunContext) -> list[EdgeTable]:
    """The scores of all types given the log-probabilities of nodes. ``c2`` is the prior of features of edges."""
    k = log_probs.shape[1]
    enough = EDGES_PER_PAIR * k**2
    directed = [own for own in types if own.plain and not own.edges.symmetric]
    prior = np.zeros((k, k))
    if len(directed) > 1 and sum(len(own.labelled) for own in directed) >= enough:
        prior = _scaled(directed, log_probs, prior, pair_columns(k, symmetric=False), context)
    found = []
    for own in types:
        base = np.zeros((k, k)) if own.edges.symmetric else prior
        if not own.plain:
            found.append(_regressed(own, log_probs, c2, context))
            continue
        if len(own.labelled) < enough and not base.any():
            table = np.eye(k)  # the exponent is then the logarithm of the rate of equal labels over others
        else:
            columns = pair_columns(k, symmetric=own.edges.symmetric)
            table = _scaled([own], log_probs, base, columns, context) if len(own.labelled) else base
        zeros = np.zeros((0, k, k), np.float32)
        found.append(EdgeTable(own.edges.type, own.edges.symmetric, table.astype(np.float32), zeros))
    return found


def _scaled(types: Sequence[TypedEdges], log_probs: F32, prior: F64, columns: Ids, context: RunContext) -> F64:
    """T of all edges of some types together, by iterative scaling from a prior table."""
    k = log_probs.shape[1]
    chosen = [own.sample(context.seed) for own in types]
    ends = np.concatenate([own.ends[some] for own, some in zip(types, chosen, strict=True)])
    pairs = np.concatenate([own.pairs[some] for own, some in zip(types, chosen, strict=True)])
    nodes = np.ascontiguousarray(log_probs[ends.ravel()], np.float32)
    offsets = np.arange(0, 2 * len(ends) + 1, 2)

    def by_column(values: F64) -> F64:
        return np.asarray(np.bincount(columns, values.ravel()), np.float64)

    observed = np.bincount(columns[pairs], minlength=int(columns.max()) + 1).astype(np.float64)
    start = by_column(prior) / np.bincount(columns)
    table, added = start.copy(), np.zeros(len(start))
    for i in range(SCALINGS):
        scores = table[columns].reshape(k, k).astype(np.float32)
        expected = by_column(
            chain_expectations(nodes, scores, offsets, threads=context.threads).edges.astype(np.float64)
        )
        if i == 0:
            added = expected * (PRIOR_EDGES / len(ends)) + 1e-9
        table = table + portable_math.log(
            (observed + added) / (expected + added * portable_math.exp(table - start) + 1e-9)
        )
    return np.asarray(table[columns].reshape(k, k))


def _regressed(own: TypedEdges, log_probs: F32, c2: float, context: RunContext) -> EdgeTable:
    """T and U of a type whose edges have features."""
    k = log_probs.shape[1]
    columns = pair_columns(k, symmetric=own.edges.symmetric)
    model, precision = own.regression(log_probs, columns), own.precision(c2)
    weights = _fitted(own, model, precision, own.pairs, context)
    return table_of(own.edges, weights.reshape(-1, int(columns.max()) + 1)[:, columns], k)


def chosen_edge_c2(types: Sequence[TypedEdges], log_probs: F32, folds: Ids, context: RunContext) -> float:
    """The prior of features of edges with the smallest loss on edges of the first fold, of the type with most edges."""
    featured = [own for own in types if not own.plain and len(own.labelled)]
    if not featured:
        return 1.0
    own = max(featured, key=lambda each: len(each.labelled))
    model = own.regression(log_probs, pair_columns(log_probs.shape[1], symmetric=own.edges.symmetric))
    first = (folds[own.ends] == 0).any(axis=1)
    held_out = np.flatnonzero(first & (own.pairs >= 0))
    learn = np.where(first, -1, own.pairs).astype(np.int32)
    if not len(held_out) or not (learn >= 0).any():
        return 1.0

    def loss(c2: float) -> float:
        weights = _fitted(own, model, own.precision(c2), learn, context)
        return loss_of(model.scores(weights, True, context.threads), own.pairs, held_out)

    return power_of_four(loss)[1]


def _fitted(own: TypedEdges, model: _native.LogLinear, precision: F64, pairs: Ids, context: RunContext) -> F64:
    """The weights of the regression of a type."""
    width = model.size // len(precision)
    scale = np.sqrt(precision + len(own.labelled) / width)[:, None]

    def objective(free: F64) -> tuple[float, F64]:
        weights = (free.reshape(-1, width) / scale).ravel()
        value, slopes = model.objective(weights, pairs, None, precision, context.threads)
        return value, (slopes.reshape(-1, width) / scale).ravel()

    stage = f"fitting edges of the type {own.edges.type}"
    return (minimised(objective, np.zeros(model.size), stage, context).reshape(-1, width) / scale).ravel()


def table_of(edges: EdgeSet, weights: F64, n_labels: int) -> EdgeTable:
    """The scores of a type from its weights, ``(d + 1, K * K)``, of which the last row is T."""
    shaped = weights.reshape(-1, n_labels, n_labels).astype(np.float32)
    return EdgeTable(edges.type, edges.symmetric, shaped[-1], np.ascontiguousarray(shaped[:-1]))


def chosen_exponents(
    tables: Sequence[EdgeTable], loss: Callable[[list[EdgeTable]], float]
) -> tuple[list[float], float]:
    """An exponent for each type, with which the marginals of held-out nodes have the smallest loss, and this loss."""
    measured: dict[tuple[float, ...], float] = {}

    def loss_with(exponents: Sequence[float]) -> float:
        key = tuple(exponents)
        if key not in measured:
            measured[key] = loss(with_exponents(tables, key))
        return measured[key]

    best = min(([a] * len(tables) for a in EXPONENTS), key=loss_with)
    if 1 < len(tables) <= MOST_TYPES and not any(len(own.weights) for own in tables):
        for t in range(len(tables)):
            best = min(([*best[:t], a, *best[t + 1 :]] for a in EXPONENTS), key=loss_with)
    return best, measured[tuple(best)]


def with_exponents(tables: Sequence[EdgeTable], exponents: Sequence[float]) -> list[EdgeTable]:
    """The scores of types to the power of their exponents."""
    factors = np.asarray(exponents, np.float32)
    pairs = zip(tables, factors, strict=True)
    return [replace(own, table=own.table * factor, weights=own.weights * factor) for own, factor in pairs]
