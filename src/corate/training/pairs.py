"""Pair factors of separate training: the weights of label pairs, and of edge features, as maximum entropy models.

    given the nodes    P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y') + U g(y, y'))
    joint              P(y, y' | x) = softmax(A f_i + B f_i+1 + T + U g), independent of the nodes

The kernel is ``native/training/losses/pairs.cpp``. :mod:`corate.training.edge_features` has the edge features g.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable
from corate.counting.counts import PairCounts, Tokens
from corate.counting.pooling import Candidates, fit_edges
from corate.errors import FeatureError
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import ChainWeights, LabelPairs
from corate.optimize.passes import Fitted, make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows
from corate.training.defaults import SeparateParameters
from corate.training.edge_features import edge_slots
from corate.training.options import Separate
from corate.training.problem import Problem
from corate.training.start import RunContext
from corate.types import F32

__all__ = ["PairFactors"]


@dataclass(frozen=True, eq=False)
class PairFactors:
    """Fits the weights of label pairs and edge features. ``uses`` marks the templates of edge features."""

    method: Separate
    n_labels: int
    vocabulary: Vocabulary
    uses: NDArray[np.bool_]
    p: SeparateParameters
    context: RunContext

    def given_nodes(
        self, tokens: Tokens, candidates: Candidates, scores: F32
    ) -> tuple[NDArray[np.float32], SparseRows]:
        """T and U, from sentences with cross-fitted log-probabilities of their nodes."""
        self.context.progress(ProgressEvent("fitting the pairs"))
        observed = PairCounts(*_native.count_pairs(tokens.labels, tokens.offsets, self.n_labels))
        posteriors = portable.exp(scores).astype(np.float32)
        edges = fit_edges(observed, tokens.offsets, candidates, posteriors, k=0.5, rounds=3)
        return self._fit_edge_features(tokens, candidates, scores, edges)

    def _fit_edge_features(
        self, tokens: Tokens, candidates: Candidates, scores: F32, start: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], SparseRows]:
        """T and the weights of edge features together, by stochastic passes that start from T."""
        found = edge_slots(tokens, self.vocabulary, self.uses, self.n_labels)
        if found is None:
            return start, SparseRows()
        slots, features, visits = found
        layout = ChainWeights(start, SparseRows.zeros(slots))
        gold = (candidates.find(tokens.labels) - candidates.offsets[:-1]).astype(np.int32)
        model = _native.Pairs(
            self.n_labels,
            tokens.offsets,
            candidates.arrays(),
            scores,
            scores,
            gold,
            None,
            (slots, features),
            tokens.weights,
        )
        decay = np.concatenate([[0.0], self.p.edge_penalty.per_visit(visits)]).astype(np.float32)
        edges = np.arange(model.n_edges, dtype=np.int64)
        run = AdaGrad.of(
            model, decay, edges, start=layout.vector(), rate=0.1, threads=self.context.threads, seed=self.context.seed
        )
        fitted = layout.of(self._passes(run, self.p.pair_passes))
        return fitted.edges, fitted.extra

    def _passes(self, run: AdaGrad, passes: int) -> F32:
        return make_passes(run, passes, "fitting the pairs", self.context.progress, keep=False).weights

    def joint(self, problem: Problem, slots: LabelRows, nodes: F32) -> tuple[F32, F32, SparseRows, bool]:
        """The paper's pair model, softmax(A f_i + B f_i+1 + T + U g); the node score is A f + B f - W f.

        Also returns whether L-BFGS reached the maximum number of iterations before it converged.
        """
        pairs = LabelPairs(self.n_labels)
        observed = edge_slots(problem.tokens, self.vocabulary, self.uses, self.n_labels)
        if problem.values is not None:
            raise FeatureError("joint coupling takes no numeric features; use given-nodes, or bin them")
        zero = np.zeros(len(problem.candidates.labels), np.float32)
        model = _native.Pairs(
            self.n_labels,
            problem.tokens.offsets,
            problem.candidates.arrays(),
            zero,
            zero,
            problem.gold,
            (slots.csr, problem.features),
            None if observed is None else observed[:2],
            problem.tokens.weights,
        )
        exhausted = False
        if self.method.optimizer == "lbfgs":
            fitted = self._fit_exactly(model)
            weights, exhausted = fitted.weights, fitted.exhausted
        else:
            shrink = self.p.penalty.per_visit(_native.occurrences(problem.features[1], len(slots)))
            shrink[-1] = 0.0
            of_edges: Any = [] if observed is None else self.p.edge_penalty.per_visit(observed[2])
            decay = np.concatenate([[0.0], of_edges, shrink]).astype(np.float32)
            edges = np.arange(model.n_edges, dtype=np.int64)
            run = AdaGrad.of(
                model, decay, edges, rate=self.p.rate, threads=self.context.threads, seed=self.context.seed
            )
            weights = self._passes(run, self.p.passes)
        cuts = np.cumsum([len(pairs), model.size - len(pairs) - 2 * len(nodes), len(nodes)])
        table, u, a, b = np.split(weights, cuts)
        extra = SparseRows() if observed is None else SparseRows(*observed[0], u)
        return a + b - nodes, table.reshape(pairs.shape), extra, exhausted

    def _fit_exactly(self, model: _native.Pairs) -> Fitted:
        """All weights at the optimum, with one Gaussian prior of variance sigma2, as the paper states the objective."""
        return make_iterations(
            lambda weights: model.objective(weights, self.p.penalty.strength, self.context.threads),
            np.zeros(model.size),
            "fitting the pairs",
            self.context.progress,
            iterations=self.method.iterations,
            keep=False,
        )
