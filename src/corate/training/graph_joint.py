"""Joint training of random fields on graphs: the likelihood of all labels together, and its gradient.

    L(W, T, U) = sum over graphs of log Z(x) - log Z(x, known labels) + sum of precision / 2 times squared weights

The gradient by a score is its probability minus that given the known labels, of which known nodes have one. Where
inference is not exact, log Z is that of Bethe, whose derivatives are the approximate marginals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corate import _native
from corate.inference.messages import Messages
from corate.model.graph_scores import EdgeTable, GraphField
from corate.optimize.lbfgs import Minimum, Step, lbfgs
from corate.progress import ProgressEvent
from corate.training.graph_edges import pair_columns, table_of
from corate.types import F64

if TYPE_CHECKING:
    from corate.training.graphs import GraphTraining

__all__ = ["STEP", "Joint", "identity"]

#: Iterations at most, those between two measurements, and the measurements without a gain after which it stops.
ITERATIONS, STEP, PATIENCE = 60, 5, 2
Measure = Callable[[Step], bool]


def identity(n_labels: int) -> F64:
    """Weights with which given log-probabilities are the scores of nodes."""
    return np.concatenate([np.eye(n_labels), np.zeros((1, n_labels))]).ravel()


class Joint:
    """The negative log-likelihood of all labels together, and its gradient.

    The weights are those of nodes, then those of each type of edges.
    """

    def __init__(self, training: GraphTraining, c2: float, edge_c2: float, *, bias_c2: float = 0.0) -> None:
        self.training = training
        self.labels = labels = training.labels
        self.known = np.flatnonzero(labels >= 0)
        self.partly = len(self.known) < len(labels)
        k, nodes = training.n_labels, training.nodes
        none = np.zeros((1, k), np.float32)
        self.columns = [pair_columns(k, symmetric=own.edges.symmetric) for own in training.types]
        self.models: list[_native.LogLinear | None] = [
            None if own.plain else replace(own, ends=np.zeros_like(own.ends)).regression(none, columns)
            for own, columns in zip(training.types, self.columns, strict=True)
        ]
        self.observed = [
            np.bincount(columns[own.pairs[own.labelled]], minlength=int(columns.max()) + 1).astype(np.float64)
            for own, columns in zip(training.types, self.columns, strict=True)
        ]
        given = training.given
        self.center = identity(training.n_labels) if given else np.zeros(nodes.native.size)
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
        return GraphField.of(training.offsets, training.edges, nodes, scores)

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

    # -- steps -------------------------------------------------------------------------------------------------------

    def minimised(
        self, start: F64, stage: str, iterations: int, *, to_the_end: bool = False, measure: Measure | None = None
    ) -> Minimum:
        """The weights that L-BFGS reaches from a start; ``measure`` sees each step, and says whether to continue.

        On Ctrl-C it raises KeyboardInterrupt, or returns the current weights if it was to go on ``to_the_end``.
        """

        def report(step: Step) -> bool:
            self.training.context.progress(ProgressEvent(stage, step.number / max(1, iterations)))
            return measure is None or measure(step)

        period = 10 if to_the_end else 0
        found = lbfgs(self.objective, start, iterations=iterations, period=period, progress=report)
        if found.stopped == "interrupted" and not to_the_end:
            raise KeyboardInterrupt
        return found

    def measured(self, start: F64, loss: Callable[[Sequence[F64]], float]) -> tuple[list[float], F64]:
        """Losses at the start and after every few iterations, and the weights of the smallest."""
        best, losses = start, [loss(self.split(start / self.scale))]

        def measure(step: Step) -> bool:
            nonlocal best
            if step.number % STEP == 0:
                losses.append(loss(self.split(step.weights / self.scale)))
                best = step.weights.copy() if losses[-1] == min(losses) else best
            return len(losses) < 1 + PATIENCE or min(losses[-PATIENCE:]) < min(losses[:-PATIENCE])

        self.minimised(start, "polishing a part", ITERATIONS, measure=measure)
        return losses, best
