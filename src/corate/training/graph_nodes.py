"""The node factors of random fields on graphs: log P(y | features of a node), estimated without the edges.

    P(y | x) = softmax(b + W x)                       one convex problem

It is solved by L-BFGS; with many weights, as of words, by a few stochastic passes, which cost much less.

Edges are fitted given the log-probabilities of nodes whose labels the node model has not seen: the labelled graphs, or
the labelled nodes of few graphs, are in folds, and a model of the other folds scores each. The weight of the prior is
the one whose model has the smaller loss on the first fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.model.graph_scores import NodeFeatures
from corate.optimize.lbfgs import lbfgs
from corate.optimize.stochastic import AdaGrad
from corate.progress import ProgressEvent
from corate.rows import owners_of
from corate.training.source import RunContext
from corate.types import F32, F64, Ids, Offsets

__all__ = ["FOLDS", "NodeModel", "Numbers", "floored", "folds_of", "loss_of", "minimised", "power_of_four"]

Numbers = NDArray[np.int64]
#: The number of parts of the training data; each is scored by a model of the others.
FOLDS = 5
#: Corpora with more labelled nodes have two folds: the probabilities of their nodes hardly depend on a half.
MANY_NODES = 200_000
#: The most nodes that the weight of the prior is chosen on.
CHOICE_NODES = 10_000
#: With at most this many labelled nodes, the prior is chosen on all folds.
FEW_NODES = 1_000
#: With more weights than this, nodes are trained in stochastic passes, of which there are at most MOST_PASSES, with
#: this step size and one of these weights of the prior.
MANY_WEIGHTS, MOST_PASSES, RATE, PASSES_C2 = 200_000, 20, 0.2, (0.5, 0.1, 0.02)
ITERATIONS = 60
TOLERANCE, PERIOD = 1e-3, 4


def folds_of(offsets: Offsets, labels: Ids, seed: int) -> tuple[Ids, bool]:
    """The fold of each node, and whether folds consist of whole graphs. With few graphs, they are of labelled nodes.

    >>> folds_of(np.array([0, 4]), np.array([0, 1, 0, 1]), seed=0)[0].tolist()
    [1, 2, 0, 3]
    """
    rng = np.random.default_rng(seed)
    known = np.flatnonzero(labels >= 0)
    owner = owners_of(offsets)
    labelled = np.unique(owner[known])
    folds = FOLDS if len(known) <= MANY_NODES else 2
    found = np.zeros(len(labels), np.int32)
    if len(labelled) >= 2 * FOLDS:
        of_graph = np.zeros(len(offsets) - 1, np.int32)
        of_graph[rng.permutation(labelled)] = np.arange(len(labelled)) % folds
        return of_graph[owner], True
    shuffled = rng.permutation(known)
    by_label = shuffled[np.argsort(labels[shuffled], kind="stable")]
    found[by_label] = np.arange(len(known)) % min(folds, max(len(known), 1))
    return found, False


def loss_of(log_probs: NDArray[Any], labels: Ids, nodes: Any) -> float:
    """The mean of -log P(label) of some nodes."""
    return -float(log_probs[nodes, labels[nodes]].astype(np.float64).mean()) if len(nodes) else 0.0


def minimised(
    objective: Callable[[F64], tuple[float, F64]],
    start: F64,
    stage: str,
    context: RunContext,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> F64:
    """The weights that L-BFGS reaches. It reports its progress. Raises KeyboardInterrupt on Ctrl-C."""

    def report(step: Any) -> bool:
        context.progress(ProgressEvent(stage, step.number / iterations))
        return True

    found = lbfgs(objective, start, iterations=iterations, tolerance=tolerance, period=PERIOD, progress=report)
    if found.stopped == "interrupted":
        raise KeyboardInterrupt
    return found.weights


@dataclass(frozen=True, eq=False)
class NodeModel:
    """A regression of the labels of nodes on their features.

    L-BFGS works on features that are centred and scaled, which makes it several times faster: x - mean changes only the
    bias, and the scale of a feature that of its weights.

    Attributes:
        features: the features of all nodes.
        labels: the labels, -1 where one is not known.
        n_labels: K.
        passes: the number of stochastic passes, if there are any.
        one_unit: whether all columns of vectors have the same unit.
    """

    features: NodeFeatures
    labels: Ids
    n_labels: int
    context: RunContext
    passes: int = 3
    one_unit: bool = False

    @property
    def in_passes(self) -> bool:
        """Whether the weights are trained in stochastic passes, and not by L-BFGS."""
        return self.native.size > MANY_WEIGHTS

    @cached_property
    def native(self) -> _native.LogLinear:
        """The native regression."""
        return self.features.model(self.n_labels)

    @cached_property
    def _moments(self) -> tuple[F64, F64, F64, F64]:
        """Of each feature: its mean, its variance, its mean square where it is not 0, and how often it is not 0."""
        features, n = self.features, max(1, len(self.labels))
        ids, m = features.rows[1], features.n_names
        values = np.ones(len(ids)) if features.values is None else features.values.astype(np.float64)
        squares = np.bincount(ids, values**2, m)
        times = np.bincount(ids[values != 0], minlength=m)
        sums = np.bincount(ids, values, m)
        if features.vectors is not None:
            vectors = features.vectors.astype(np.float64)
            sums = np.append(sums, vectors.sum(axis=0))
            squares = np.append(squares, (vectors**2).sum(axis=0))
            times = np.append(times, (vectors != 0).sum(axis=0))
        mean = sums / n
        return mean, np.maximum(squares / n - mean**2, 0.0), squares / np.maximum(times, 1), times.astype(np.float64)

    def precision(self, c2: float) -> F64:
        """The prior's weight of each feature, whatever the unit of its values. The bias has none.

        If all columns of vectors have one unit, their prior has one weight.
        """
        squares, vectors = self._moments[2].copy(), self.features.vectors
        if self.one_unit and vectors is not None:
            squares[self.features.n_names :] = np.mean(vectors.astype(np.float64) ** 2)
        return np.append(c2 * np.maximum(squares, 1e-12), 0.0)

    def scale(self, each: float, precision: F64) -> F64:
        """The root of the curvature of each feature, roughly, for so many nodes of a label; 1 if it is always 0."""
        mean, variance = self._moments[:2]
        spread = np.where(variance > 1e-6 * mean**2, variance, mean**2)  # a constant is like the bias
        curvature = spread * each + precision[:-1]
        return np.sqrt(np.where(curvature > 0, curvature, 1.0))

    def fit(self, nodes: NDArray[np.bool_], c2: float, stage: str, start: F64 | None = None) -> F64:
        """The weights, ``(features + 1) * K``, fitted to some nodes. ``start`` are weights to begin with."""
        if self.in_passes:
            run = self._run(nodes, c2)
            for done in range(self.passes):
                run.pass_within(0.1)
                self.context.progress(ProgressEvent(stage, (done + 1) / self.passes))
            return run.weights.astype(np.float64)
        gold = np.where(nodes, self.labels, -1).astype(np.int32)
        mean = self._moments[0]
        each, precision = int((gold >= 0).sum()) / self.n_labels, self.precision(c2)
        scale = self.scale(each, precision)[:, None]
        whole = np.sqrt(max(each, 1.0))

        def weights(given: F64) -> F64:
            free = given.reshape(-1, self.n_labels)
            own = free[:-1] / scale
            bias = free[-1] / whole - (mean[:, None] * own).sum(axis=0)
            return np.concatenate([own.ravel(), bias])

        def objective(given: F64) -> tuple[float, F64]:
            value, found = self.native.objective(weights(given), gold, None, precision, self.context.threads)
            slopes = found.reshape(-1, self.n_labels)
            moved = (slopes[:-1] - mean[:, None] * slopes[-1]) / scale
            return value, np.concatenate([moved.ravel(), slopes[-1] / whole])

        begin = np.zeros(self.native.size)
        if start is not None:
            own = start.reshape(-1, self.n_labels)
            bias = (own[-1] + (mean[:, None] * own[:-1]).sum(axis=0)) * whole
            begin = np.concatenate([(own[:-1] * scale).ravel(), bias])
        return weights(minimised(objective, begin, stage, self.context))

    def _run(self, nodes: NDArray[np.bool_], c2: float) -> AdaGrad:
        """Stochastic passes over some nodes."""
        items = np.flatnonzero(nodes & (self.labels >= 0))
        visits = np.append(self._moments[3], 1) * (len(items) / max(1, len(self.labels)))
        decay = (self.precision(c2) / np.maximum(visits, 1)).astype(np.float32)
        steps, threads = _NodeSteps(self.native, self.labels), self.context.threads
        return AdaGrad.of(
            steps, decay, items, rate=RATE, threads=threads, seed=self.context.seed, averaging=True, batch=16
        )

    def with_chosen_passes(self, folds: Ids, c2: float | None) -> tuple[NodeModel, float]:
        """The model with the number of passes, and the prior, that have the smallest loss on the first fold."""
        known = np.flatnonzero(self.labels >= 0)
        held_out, rest = (known[own][: 2 * CHOICE_NODES] for own in (folds[known] == 0, folds[known] != 0))
        choices = PASSES_C2 if c2 is None else (c2,)
        if not len(held_out) or not len(rest):
            return self, choices[0]
        part = self.take(np.concatenate([rest, held_out]))
        tested, found = np.arange(len(rest), len(part.labels)), list[tuple[float, int, float]]()
        for prior in choices:
            run, losses = part._run(np.arange(len(part.labels)) < len(rest), prior), list[float]()
            while len(losses) < MOST_PASSES and (len(losses) < 3 or min(losses[-2:]) < min(losses[:-2])):
                run.pass_within(0.1)
                losses.append(loss_of(part.log_probs(run.weights.astype(np.float64)), part.labels, tested))
                self.context.progress(ProgressEvent("choosing the number of passes", len(losses) / MOST_PASSES))
            found.append((min(losses), int(np.argmin(losses)) + 1, prior))
        _, passes, prior = min(found)
        return replace(self, passes=passes), prior

    def take(self, nodes: NDArray[np.int64]) -> NodeModel:
        """The model of some nodes."""
        return replace(self, features=self.features.take(nodes), labels=self.labels[nodes])

    def refitted(self, targets: F64, counts: F64, c2: float, start: F64) -> F64:
        """The weights fitted to probabilities of labels, where each node counts so many times; from start weights."""
        each, of_features = float(counts.sum()) / self.n_labels, self.precision(c2)
        scale: F64 = np.repeat(np.append(self.scale(each, of_features), np.sqrt(each)), self.n_labels)
        precision = np.repeat(of_features, self.n_labels)

        def objective(given: F64) -> tuple[float, F64]:
            weights = given / scale
            logs = self.native.scores(weights, True, self.context.threads).astype(np.float64)
            value = float(-(counts[:, None] * targets * logs).sum() + 0.5 * (precision * weights**2).sum())
            residuals = counts[:, None] * (portable_math.exp(logs) - targets)
            slopes = self.native.pull(np.ascontiguousarray(residuals, np.float32), self.context.threads)
            return value, (slopes + precision * weights) / scale

        return minimised(objective, start * scale, "refitting nodes", self.context, iterations=15) / scale

    def log_probs(self, weights: F64) -> NDArray[np.float32]:
        """log P(label) of all nodes, ``(nodes, K)``."""
        return self.native.scores(weights, True, self.context.threads)

    def with_chosen_prior(self, folds: Ids) -> tuple[NodeModel, float]:
        """The model, and the weight of its prior, with the smallest loss out of fold; see `chosen_c2`.

        Whether the columns of vectors have one unit is tried, too, if that makes a difference.
        """
        squares = self._moments[2][self.features.n_names :]
        best, c2 = self.chosen_c2(folds)
        if len(squares) and squares.max() > 1.01 * squares.min():
            other = replace(self, one_unit=True)
            loss, own = other.chosen_c2(folds)
            if loss < best:
                return other, own
        return self, c2

    def chosen_c2(self, folds: Ids) -> tuple[float, float]:
        """The smallest loss out of fold, and the weight of its prior: 1, or a power of 4 that is better.

        With many nodes, only a part of them and only the first fold are looked at.
        """
        known = np.flatnonzero(self.labels >= 0)
        parts = sorted(set(folds[known].tolist()))
        if len(known) > FEW_NODES:
            parts = parts[:1]
        starts: dict[int, F64 | None] = dict.fromkeys(parts)

        def loss(c2: float) -> float:
            total, count = 0.0, 0
            for part in parts:
                held_out, rest = (known[own][:CHOICE_NODES] for own in (folds[known] == part, folds[known] != part))
                if not len(rest):
                    continue
                use = np.zeros(len(folds), np.bool_)
                use[rest] = True
                starts[part] = weights = self.fit(use, c2, "choosing the prior of nodes", starts[part])
                total += loss_of(self.log_probs(weights), self.labels, held_out) * len(held_out)
                count += len(held_out)
            return total / max(count, 1)

        return power_of_four(loss)

    def fold_weights(self, folds: Ids, c2: float) -> list[F64]:
        """The weights that are fitted to all folds but one, for each fold."""
        known, parts = self.labels >= 0, int(folds.max(initial=0)) + 1
        found = []
        for fold in range(parts):
            rest = known & (folds != fold)
            stage = f"fitting nodes without part {fold + 1} of {parts}"
            found.append(self.fit(rest if rest.any() else known, c2, stage))
        return found


@dataclass(frozen=True, eq=False)
class _NodeSteps:
    """Stochastic steps of a regression for known labels."""

    native: _native.LogLinear
    labels: Ids

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.native.size

    def pass_over(self, state: F32, order: Numbers, decay: F32, rate: float, batch: int, threads: int) -> float:
        """Make AdaGrad steps for the nodes in order, in place. Returns the sum of their losses before each step."""
        return self.native.pass_over(self.labels, state, order, decay, rate, batch, threads)


def power_of_four(loss: Callable[[float], float]) -> tuple[float, float]:
    """A small loss, and its power of 4: the first, from 1 on upwards or downwards, that the next does not improve."""
    losses = {c2: loss(c2) for c2 in (4.0, 1.0)}
    factor, best = (4.0, 4.0) if losses[4.0] < losses[1.0] else (0.25, 1.0)
    while 1e-3 < best < 1e3:
        losses[best * factor] = loss(best * factor)
        if losses[best * factor] >= losses[best]:
            break
        best *= factor
    return losses[best], best


def floored(probabilities: NDArray[Any]) -> F64:
    """Logarithms of probabilities; 0 counts as one in a million."""
    return portable_math.log(np.maximum(np.asarray(probabilities, np.float64), 1e-6))
