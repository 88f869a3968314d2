"""Random fields with features on graphs: nodes, then edges given the nodes, and both together where this helps.

    log P(y | x) = sum_v node(y_v | x) + sum over edges (u, v) of types t of edge_t(y_u, y_v | x) - log Z(x)

`separate` estimates the factors on their own (:mod:`corate.training.graph_nodes`, :mod:`corate.training.graph_edges`).
`polish` goes on from there: L-BFGS on the likelihood of all nodes together, for as many iterations as held-out nodes
gain, and for none if they do not gain. `standard` does so from zero to convergence. Where inference is not exact, log Z
is that of Bethe, whose derivatives are the approximate marginals.

Labels that are not known are summed over: the gradient is the difference between the marginals given the known labels
and those given nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.errors import ConfigError, DataError
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary, template_rows
from corate.inference.fields import FieldPlan
from corate.inference.messages import Messages
from corate.model.chain import ChainModel
from corate.model.graph_scores import (
    EdgeTable,
    GraphField,
    GraphScores,
    NodeFeatures,
    given_scores,
    joined_features,
)
from corate.optimize.lbfgs import lbfgs
from corate.optimize.penalty import L2
from corate.progress import ProgressEvent
from corate.rows import SparseRows, offsets_of, take_rows
from corate.training.graph_edges import (
    TypedEdges,
    chosen_exponents,
    fit_edges,
    pair_columns,
    table_of,
    with_exponents,
)
from corate.training.graph_nodes import NodeModel, folds_of, loss_of
from corate.training.source import FittedModel, MemorySource, RunContext, TrainingData
from corate.types import F64, Ids

__all__ = ["fit"]

#: Iterations of the joint training, at most, and between two measurements on held-out nodes.
POLISH_ITERATIONS, POLISH_STEP = 40, 5
#: The most bytes of the clique tree of a component in training; larger ones pass messages.
MEMORY = 1 << 20
#: The most nodes of the graphs that polishing is tried on.
TRIAL_NODES = 20_000
#: The weight of the prior of edges with features, and of tables in joint training.
EDGE_C2 = 1.0


def fit(method: Any, data: TrainingData, context: RunContext) -> FittedModel:
    """Train a model of graphs."""
    source = data.source
    assert isinstance(source, MemorySource)
    corpus, labels = source.corpus, source.ids
    if not len(source.names):
        raise DataError("no node has a known label, so there is nothing to learn from")
    vocabulary, features = _features(corpus, data.templates, source.names.to_list())
    training = GraphTraining(corpus, features, labels, len(source.names), context)
    c2 = _strength(method)
    if method.name == "standard":
        weights, tables, record = training.standard(1.0 if c2 is None else c2, method.iterations)
    else:
        weights, tables, record = training.separate(c2)
        if method.name == "polish":
            weights, tables, found = training.polished(weights, tables, record["c2"])
            record["polish"] = found
    record["c2"] /= 2  # as the option is
    given = corpus.node_log_probs is not None
    model = _model(source, features, weights, tables, given=given)
    facts = {"nodes": "given" if given else "features", "types": [own.type for own in tables]}
    return FittedModel(vocabulary, model, {**facts, **record}, len(weights) // len(source.names))


def _strength(method: Any) -> float | None:
    """What the option c2 or sigma2 says of the prior, as on sentences: its second derivative. None if it is unset."""
    if method.has("c2"):
        return None if method.c2 is None else L2(2.0 * method.c2).strength
    return None if method.sigma2 is None else L2(variance=method.sigma2).strength


def _features(corpus: Corpus, templates: Sequence[Template], labels: list[str]) -> tuple[Vocabulary, NodeFeatures]:
    """The vocabulary of the corpus, and the features of its nodes; log-probabilities, if they are given."""
    if corpus.node_log_probs is not None:
        none = (np.zeros(corpus.n_tokens + 1, np.int64), np.zeros(0, np.int32))
        scores = given_scores(corpus, labels).astype(np.float32)
        return Vocabulary.of([]), NodeFeatures(none, None, 0, scores)
    if any(template.edge for template in templates):
        raise ConfigError(
            "edge templates are features of neighbouring tokens, which graphs do not have; give features of edges to "
            "Corpus.from_graphs",
            option="features",
        )
    vocabulary, parts = Vocabulary.of(templates), []
    ready = corpus.attributes
    if ready is not None:
        vocabulary = replace(vocabulary, attributes=ready.names, key_lengths=ready.key_lengths)
        parts.append(((ready.offsets, ready.ids), ready.values))
    if templates:
        parts.append((template_rows(vocabulary, vocabulary.fit(corpus)[0]), None))
    if not parts and corpus.vectors is None:
        raise DataError("the nodes have no features; give columns, features, vectors or node_log_probs")
    nothing = (np.zeros(corpus.n_tokens + 1, np.int64), np.zeros(0, np.int32))
    rows, values = joined_features(parts, corpus.n_tokens) if parts else (nothing, None)
    return vocabulary, NodeFeatures(rows, values, int(vocabulary.bases[-1]), corpus.vectors)


def _model(
    source: MemorySource, features: NodeFeatures, weights: F64, tables: Sequence[EdgeTable], *, given: bool
) -> ChainModel:
    k = len(source.names)
    shaped = weights.reshape(-1, k).astype(np.float32)
    named, bias = shaped[: features.n_names], shaped[-1]
    kept = named != 0
    rows = SparseRows(offsets_of(kept.sum(axis=1)), np.nonzero(kept)[1].astype(np.int32), named[kept])
    graph = GraphScores(tuple(tables), np.ascontiguousarray(shaped[features.n_names : -1]), given)
    return ChainModel.of_graphs(source.names, rows, bias, graph)


@dataclass(frozen=True, eq=False)
class GraphTraining:
    """The training of a model of graphs: a corpus, the features of its nodes and its labels, -1 if unknown."""

    corpus: Corpus
    features: NodeFeatures
    labels: Ids
    n_labels: int
    context: RunContext

    @cached_property
    def nodes(self) -> NodeModel:
        """The regression of nodes."""
        return NodeModel(self.features, self.labels, self.n_labels, self.context)

    @cached_property
    def types(self) -> list[TypedEdges]:
        """The edges by type."""
        return TypedEdges.of(self.corpus, self.labels, self.n_labels)

    @cached_property
    def plan(self) -> FieldPlan:
        """How the graphs are answered."""
        ends = [np.zeros((0, 2), np.int32), *(own.ends for own in self.types)]
        return FieldPlan(self.corpus.n_tokens, self.n_labels, np.concatenate(ends), memory=MEMORY, approximate=True)

    @cached_property
    def folds(self) -> Ids:
        """The fold of each node."""
        return folds_of(self.corpus.offsets, self.labels, self.context.seed)

    # -- separate training -------------------------------------------------------------------------------------------

    def separate(self, c2: float | None) -> tuple[F64, list[EdgeTable], dict[str, Any]]:
        """The weights of nodes, the scores of edges, and a record."""
        known = self.labels >= 0
        if self.corpus.node_log_probs is not None:
            assert self.features.vectors is not None
            weights, out_of_fold, c2 = self._identity(), self.features.vectors, 1.0 if c2 is None else c2
        else:
            c2 = self.nodes.chosen_c2(self.folds) if c2 is None else c2
            weights = self.nodes.fit(known, c2, "fitting nodes")
            out_of_fold = self.nodes.out_of_fold(self.folds, c2)
        tables = fit_edges(self.types, out_of_fold, EDGE_C2, self.context)
        scored = np.flatnonzero(known)

        def loss(probabilities: F64) -> float:
            return loss_of(np.log(np.maximum(probabilities, 1e-12)), self.labels, scored)

        nodes = out_of_fold.astype(np.float64)
        exponents = chosen_exponents(self.corpus, nodes, tables, loss, self.plan, self.context)
        record = {"c2": c2, "exponents": dict(zip((own.type for own in tables), exponents, strict=True))}
        return weights, with_exponents(tables, exponents), record

    def _identity(self) -> F64:
        """Weights with which given log-probabilities are the scores."""
        return np.concatenate([np.eye(self.n_labels), np.zeros((1, self.n_labels))]).ravel()

    # -- joint training ----------------------------------------------------------------------------------------------

    def standard(self, c2: float, iterations: int) -> tuple[F64, list[EdgeTable], dict[str, Any]]:
        """Joint training from zero. As on sentences, c2 is the weight of the squares of all weights."""
        zeros = np.zeros((self.n_labels, self.n_labels), np.float32)
        tables = [
            EdgeTable(own.edges.type, own.edges.symmetric, zeros, np.zeros((_width(own), *zeros.shape), np.float32))
            for own in self.types
        ]
        joint = Joint(self, c2, self.labels, edge_c2=c2, bias_c2=c2)
        start = joint.vector(np.zeros(self.nodes.native.size), tables)
        found = lbfgs(joint.objective, start, iterations=iterations, progress=joint.reporter("training", iterations))
        weights, tables = joint.parts(found.weights)
        return weights, tables, {"c2": c2, "stopped": found.stopped}

    def polished(self, weights: F64, tables: list[EdgeTable], c2: float) -> tuple[F64, list[EdgeTable], dict[str, Any]]:
        """Joint training from separate factors, for as many iterations as held-out nodes gain."""
        trial = self._trial()
        held_out = np.flatnonzero((trial.labels >= 0) & (trial.folds == 0))
        learn = np.where(trial.folds == 0, -1, trial.labels).astype(np.int32)
        if not len(held_out) or not (learn >= 0).any():
            return weights, tables, {"iterations": 0}
        part = replace(trial, labels=learn)
        start, own, _ = part.separate(c2)
        learner = Joint(part, c2, learn)
        losses, vector = learner.measured(start, own, trial.labels, held_out)
        tried = int(np.argmin(losses)) * POLISH_STEP
        record = {"iterations": tried, "held_out": {"before": losses[0], "after": min(losses)}}
        if tried == 0:
            return weights, tables, record
        joint, most = Joint(self, c2, self.labels), max(POLISH_STEP, tried // 3)
        begin, report = joint.vector(*learner.parts(vector)), joint.reporter("polishing", most)
        found = lbfgs(joint.objective, begin, iterations=most, period=0, progress=report)
        return (*joint.parts(found.weights), record)

    def _trial(self) -> GraphTraining:
        """The training on some graphs, if there are many."""
        sizes = np.diff(self.corpus.offsets)
        if sizes.sum() <= TRIAL_NODES or len(sizes) < 20:
            return self
        order = np.random.default_rng(self.context.seed).permutation(len(sizes))
        chosen = np.sort(order[: max(10, int(np.searchsorted(np.cumsum(sizes[order]), TRIAL_NODES)))])
        nodes = take_rows(self.corpus.offsets, chosen)[1]
        return replace(
            self,
            corpus=self.corpus.take(chosen),
            features=self.features.take(nodes),
            labels=self.labels[nodes],
        )


def _width(own: TypedEdges) -> int:
    return 0 if own.edges.attributes is None else own.edges.attributes.shape[1]


class Joint:
    """The negative log-likelihood of all labels together, and its gradient.

    The weights are those of nodes, then those of each type of edges.
    """

    def __init__(
        self, training: GraphTraining, c2: float, labels: Ids, *, edge_c2: float = EDGE_C2, bias_c2: float = 0.0
    ) -> None:
        self.training, self.labels = training, labels
        self.known = np.flatnonzero(labels >= 0)
        self.partly = len(self.known) < len(labels)
        k, nodes = training.n_labels, training.nodes
        none = np.zeros((1, k), np.float32)
        self.columns = [pair_columns(k, symmetric=own.edges.symmetric, tied=False) for own in training.types]
        self.models: list[_native.LogLinear | None] = [
            None if own.plain else replace(own, ends=np.zeros_like(own.ends)).regression(none, columns)
            for own, columns in zip(training.types, self.columns, strict=True)
        ]
        self.observed = [
            np.bincount(columns[own.pairs[own.labelled]], minlength=int(columns.max()) + 1).astype(np.float64)
            for own, columns in zip(training.types, self.columns, strict=True)
        ]
        given = training.corpus.node_log_probs is not None
        self.center = training._identity() if given else np.zeros(nodes.native.size)
        self.node_precision = np.repeat(np.append(nodes.precision(c2)[:-1], bias_c2), k)
        self.precisions = [
            np.repeat(own.precision(edge_c2), int(columns.max()) + 1)
            for own, columns in zip(training.types, self.columns, strict=True)
        ]
        self.messages: list[Messages | None] = [None, None]
        self.scale = self._scale()

    def _scale(self) -> F64:
        """What a weight is multiplied by in L-BFGS: the root of its curvature, roughly."""
        k = self.training.n_labels
        each, precision = len(self.known) / k, self.node_precision[::k]
        nodes = np.append(self.training.nodes.scale(each, precision), np.sqrt(each + precision[-1]))
        edges = zip(self.training.types, self.precisions, strict=True)
        curvatures = (precision + max(1, len(own.ends)) / k**2 for own, precision in edges)
        return np.concatenate([np.repeat(nodes, k), *map(np.sqrt, curvatures)])

    # -- weights -----------------------------------------------------------------------------------------------------

    def vector(self, weights: F64, tables: Sequence[EdgeTable]) -> F64:
        """The weights in one vector, scaled."""
        parts = [weights]
        for table, columns in zip(tables, self.columns, strict=True):
            flat = np.concatenate([table.weights, table.table[None]]).reshape(len(table.weights) + 1, -1)
            first = np.unique(columns, return_index=True)[1]
            parts.append(flat[:, first].astype(np.float64).ravel())
        return np.concatenate(parts) * self.scale

    def split(self, vector: F64) -> list[F64]:
        """The weights of nodes and of each type."""
        sizes = [self.training.nodes.native.size, *(len(precision) for precision in self.precisions)]
        return np.split(vector, np.cumsum(sizes)[:-1])

    def parts(self, vector: F64) -> tuple[F64, list[EdgeTable]]:
        """The weights of nodes, and the tables of types."""
        nodes, *each = self.split(vector / self.scale)
        k, tables = self.training.n_labels, []
        for own, columns, weights in zip(self.training.types, self.columns, each, strict=True):
            width = int(columns.max()) + 1
            tables.append(table_of(own.edges, weights.reshape(-1, width)[:, columns], k))
        return nodes, tables

    # -- objective ---------------------------------------------------------------------------------------------------

    def field(self, weights: Sequence[F64]) -> GraphField:
        """The scores of all graphs."""
        training, k = self.training, self.training.n_labels
        nodes = training.nodes.native.scores(weights[0], False, training.context.threads).astype(np.float64)
        scores = []
        for model, columns, own in zip(self.models, self.columns, weights[1:], strict=True):
            flat = own[None, columns] if model is None else model.scores(own, False, training.context.threads)
            scores.append(flat.reshape(-1, k, k).astype(np.float64))
        return GraphField.of(training.corpus, nodes, scores)

    def objective(self, vector: F64) -> tuple[float, F64]:
        """The value and its gradient, in scaled weights."""
        weights = self.split(vector / self.scale)
        field = self.field(weights)
        log_z, marginals, pairs = self._expected(field, 0)
        if self.partly:
            clamped = replace(field, nodes=self._clamped(field.nodes))
            own_log_z, target, observed = self._expected(clamped, 1)
        else:
            own_log_z, observed = field.score(self.labels), None
            target = np.zeros_like(marginals)
            target[self.known, self.labels[self.known]] = 1.0
        residual = (marginals - target).astype(np.float32)
        gradients = [self.training.nodes.native.pull(residual, self.training.context.threads)]
        gradients.extend(self._edge_gradients(field, pairs, observed))
        value = log_z - own_log_z
        for t, (own, precision) in enumerate(zip(weights, [self.node_precision, *self.precisions], strict=True)):
            apart = own - self.center if t == 0 else own
            value += 0.5 * float((precision * apart**2).sum())
            gradients[t] = gradients[t] + precision * apart
        return value, np.concatenate(gradients) / self.scale

    def _clamped(self, nodes: F64) -> F64:
        """The scores of nodes with minus infinity for labels that known ones exclude."""
        clamped = np.full_like(nodes, -np.inf)
        unknown = self.labels < 0
        clamped[unknown] = nodes[unknown]
        clamped[self.known, self.labels[self.known]] = nodes[self.known, self.labels[self.known]]
        return clamped

    def _expected(self, field: GraphField, which: int) -> tuple[float, F64, F64]:
        """log Z, the marginals of nodes, and those of edges: sums by table, which are single edges with features."""
        plan = self.training.plan
        found = plan.expectations(
            field.nodes,
            field.kinds,
            field.tables,
            sums=True,
            begin=self.messages[which],
            tolerance=1e-4,
            sweeps=50,
            threads=self.training.context.threads,
        )
        self.messages[which] = found.messages
        return float(found.log_z.sum()), found.nodes, found.edges

    def _edge_gradients(self, field: GraphField, pairs: F64, observed: F64 | None) -> list[F64]:
        """The gradients of the weights of each type."""
        gradients, table = [], 0
        for own, model, columns, counts in zip(
            self.training.types, self.models, self.columns, self.observed, strict=True
        ):
            rows = 1 if model is None else len(own.ends)
            expected = pairs[table : table + rows].reshape(rows, -1)
            target = None if observed is None else observed[table : table + rows].reshape(rows, -1)
            table += rows
            if model is None:
                difference = expected[0] - (0.0 if target is None else target[0])
                gradient = np.bincount(columns, difference, minlength=len(counts)).astype(np.float64)
                gradients.append(gradient - counts if target is None else gradient)
                continue
            if target is None:
                target = np.zeros_like(expected)
                target[own.labelled, own.pairs[own.labelled]] = 1.0
            residual = np.ascontiguousarray(expected - target, np.float32)
            gradients.append(model.pull(residual, self.training.context.threads))
        return gradients

    def reporter(self, stage: str, iterations: int) -> Any:
        """A function that reports the progress of L-BFGS."""

        def report(step: Any) -> bool:
            self.training.context.progress(ProgressEvent(stage, step.number / max(1, iterations)))
            return True

        return report

    def measured(
        self, weights: F64, tables: list[EdgeTable], labels: Ids, held_out: NDArray[Any]
    ) -> tuple[list[float], F64]:
        """The loss on held-out nodes at the start and after every few iterations, and the weights of the smallest."""
        best = self.vector(weights, tables)
        found = [self._loss(self.split(self.vector(weights, tables) / self.scale), labels, held_out)]

        def measure(step: Any) -> bool:
            self.training.context.progress(ProgressEvent("polishing a part", step.number / POLISH_ITERATIONS))
            nonlocal best
            if step.number % POLISH_STEP == 0:
                found.append(self._loss(self.split(step.weights / self.scale), labels, held_out))
                best = step.weights.copy() if found[-1] == min(found) else best
            return len(found) < 3 or min(found[-2:]) < min(found[:-2])

        lbfgs(self.objective, self.vector(weights, tables), iterations=POLISH_ITERATIONS, period=0, progress=measure)
        return found, best

    def _loss(self, weights: Sequence[F64], labels: Ids, held_out: NDArray[Any]) -> float:
        field = self.field(weights)
        found = self.training.plan.expectations(
            field.nodes, field.kinds, field.tables, sums=True, tolerance=1e-3, sweeps=50
        )
        return loss_of(np.log(np.maximum(found.nodes, 1e-12)), labels, held_out)
