"""Separate training (SP2 of the paper, section "Exponential Functions"): each factor is a maximum entropy model.

    P(y | x) = softmax(base + W f)                                               one convex problem over the nodes
    P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y') + U g(y, y'))   another over the pairs, given the nodes

The product of co-occurrence rates and node probabilities is greatest for the labels that maximise
sum (base + W f) + sum (T + U g). The base scores are weighted empirical scores, with each token left out of its own
counts; g are features with few values. The pairs are fitted on cross-fitted node probabilities: a node model of each
half of the corpus scores the other half.

With ``joint`` coupling both models are those of the paper: the pair model is softmax(A f_i + B f_i+1 + T), independent
of the nodes, and the node score is A f + B f - W f. L-BFGS then fits both to their optimum.

The kernels are ``native/training/maxent.cpp`` and ``native/training/pairs.cpp``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.counting.backoff import BackoffTables
from corate.counting.counts import Counts, PairCounts, Tokens
from corate.counting.pooling import Candidates, fit_edges
from corate.counting.rates import edge_scores
from corate.errors import FeatureError
from corate.label_pairs import ChainWeights, EdgeScores, LabelPairs
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import digest_of
from corate.optimize.passes import Fitted, make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad
from corate.optimize.tuning import coordinate_search
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows, distinct, take_rows
from corate.training.choices import Parameters, separate_parameters
from corate.training.initial_scores import InitialScoresFromCounts
from corate.training.items import (
    IN_MEMORY,
    TUNING_TOKENS,
    NodeItems,
    Numbers,
    Problem,
    Storage,
    WeightTraining,
    edge_features,
    edge_slots,
    halves_of,
)
from corate.training.methods import Separate
from corate.training.source import FittedModel, RunContext, TrainingData, filled_rows
from corate.types import F32

__all__ = ["PAIR_TOKENS", "Sample", "SeparateTraining", "fit"]


#: The number of tokens that pairs are fitted on.
PAIR_TOKENS = 120_000


@dataclass(frozen=True, eq=False)
class Scored:
    """Some sentences of a corpus, in ascending order, with log-probabilities of the candidates of their tokens."""

    sentences: Numbers
    problem: Problem
    scores: F32

    def take(self, sentences: Numbers) -> tuple[Tokens, Candidates, F32]:
        """Some of the sentences, with their candidates and scores."""
        tokens, candidates = self.problem.tokens, self.problem.candidates
        own = np.searchsorted(self.sentences, sentences)
        places = take_rows(tokens.offsets, own)[1]
        where = take_rows(candidates.offsets, places)[1]
        return tokens.take(own), candidates.take(places), self.scores[where]


#: Some sentences in ascending order, and their node model.
Sample = tuple[Numbers, Problem]


@dataclass(frozen=True, eq=False)
class Coupled:
    """Scores of nodes, of label pairs and of edge features, with the parameters that were tuned on the way.

    ``accuracy`` is that on held-out tokens, if the coupling was tuned. ``stopped`` and ``exhausted``: as in `Fitted`.
    """

    node: F32
    edges: F32
    extra: SparseRows
    p: Parameters
    accuracy: float | None = None
    stopped: bool = False
    exhausted: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class SeparateTraining(WeightTraining):
    """Fits node factors, then pair factors, from the counts of a corpus."""

    method: Separate
    start: InitialScoresFromCounts

    STEPS: ClassVar[Mapping[str, float]] = {"sigma2": 3.0, "base_weight": 1.5, "cutoff": 2}

    @classmethod
    def of(
        cls,
        method: Separate,
        start: InitialScoresFromCounts,
        context: RunContext | None = None,
        storage: Storage = IN_MEMORY,
    ) -> SeparateTraining:
        """Choose the parameters."""
        p = separate_parameters(method, start.counts.tokens, start.base)
        tokens = start.weighted(method.label_weights, method.sentence_weights)
        context = context or RunContext()
        return cls(method=method, start=start, context=context, storage=storage, p=p, tokens=tokens)

    @property
    def counts(self) -> Counts:
        """The counts of the corpus."""
        return self.start.counts

    @property
    def n_labels(self) -> int:
        """K."""
        return self.start.n_labels

    @property
    def _by_features(self) -> bool:
        """Whether the candidates are the labels that the features of a token were seen with."""
        return self.method.space == "features"

    sample_tokens = PAIR_TOKENS  # those of the sample, which is in memory

    # -- problems ------------------------------------------------------------------------------------------------

    def arrays(self, tokens: Tokens, tables: BackoffTables | None, *, training: bool) -> Problem:
        """The node model of some tokens. In training, each token is left out of the counts of its base scores."""
        features, values = self.start.features(tokens, self.p.cutoff)
        if self._by_features:
            slots = self.slots.between(0, len(self.slots) - 1)  # without the bias
            candidates = Candidates.seen_with(features, slots.csr, self.n_labels)
        else:
            candidates = self.start.candidates(tokens, tables, self.p.base_weight, training=training)
        gold = np.maximum(candidates.find(tokens.labels) - candidates.offsets[:-1], 0).astype(np.int32)
        return Problem(tokens, candidates, features, values, gold, self.slots, self.n_labels)

    def _part(self, problem: NodeItems, sentences: Numbers) -> Problem:
        """The node model of some of the sentences."""
        if isinstance(problem, Problem) and len(sentences) == len(problem.tokens.offsets) - 1:
            return problem
        return self.arrays(self.tokens.take(sentences), self.start.tables(), training=True)

    # -- nodes ---------------------------------------------------------------------------------------------------

    def fit_nodes(
        self, problem: NodeItems, passes: int, stage: str, *, half: int | None = None, main: bool = False
    ) -> Fitted:
        """W of the node model, from all tokens or from those of a half.

        The main fit stops early on held-out sentences, writes a checkpoint after each pass, and resumes from it. After
        the first pass, Ctrl-C keeps the current weights.
        """
        if self.method.optimizer == "lbfgs":
            assert isinstance(problem, Problem)
            return self._fit_nodes_exactly(problem, stage, half=half, main=main)
        run = self._adagrad(problem, half)
        held_out = self._held_out_problem() if main else None
        store = None
        if main and self.method.checkpoint is not None:
            data = digest_of(chain(problem.arrays(), () if held_out is None else held_out.arrays()))
            store = self.checkpoint(base=self.start.base, slots=problem.nodes.size, data=data)
        return make_passes(
            run,
            passes,
            stage,
            self.context.progress,
            correct_tokens=None if held_out is None else lambda w: _correct_nodes(held_out, w, self.context.threads),
            store=store,
            keep=main,
        )

    def _adagrad(self, problem: NodeItems, half: int | None) -> AdaGrad:
        decay = self.p.penalty.per_visit(problem.visits(len(self.slots)))
        decay[-1] = 0.0
        pieces = problem.in_pieces(self.context.seed, half)
        return self.adagrad(problem.nodes, decay, problem.items(half), pieces=pieces)

    def _held_out_problem(self) -> Problem | None:
        """The node model of the held-out sentences that the user gave, None without any."""
        held_out = self.start.held_out_set()
        return None if held_out is None else self.arrays(held_out.tokens, held_out.tables, training=False)

    def _fit_nodes_exactly(self, problem: Problem, stage: str, *, half: int | None, main: bool) -> Fitted:
        chosen = problem if half is None else self._part(problem, problem.sentences(half))
        return make_iterations(
            lambda weights: chosen.nodes.objective(weights, self.p.penalty.strength, self.context.threads),
            np.zeros(problem.nodes.size),
            stage,
            self.context.progress,
            iterations=self.method.iterations,
            keep=main,
        )

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, dict[str, Any]]:
        """Train; returns the model and a record of what was chosen and measured."""
        training, problem = self.storage.nodes(self.tuned() if self.method.tune else self)
        return training._train(problem)

    def _train(self, problem: NodeItems) -> tuple[ChainModel, dict[str, Any]]:
        fitted = self.fit_nodes(problem, self.p.passes, "fitting the nodes", main=True)
        found = self._coupled(problem, fitted)
        if found.exhausted and not found.stopped:
            joint = "; the scores are differences of two fits, so both must converge" * (
                self.method.coupling == "joint"
            )
            warnings.warn(
                f"L-BFGS made {self.method.iterations} iterations and did not converge{joint}; give more iterations, "
                "or a smaller sigma2",
                stacklevel=2,
            )
        self.context.progress(ProgressEvent("building the model"))
        record: dict[str, Any] = {
            "word": self.start.word,
            "coupling": self.method.coupling,
            **({"space": self.method.space} if self.method.coupling == "joint" else {}),
            "base": self.start.base,
            "optimizer": self.method.optimizer,
            "settings": found.p.settings,
            "held_out": {"accuracy": found.accuracy},
            "interrupted": found.stopped,
        }
        return self._model(found), record

    def _model(self, found: Coupled) -> ChainModel:
        weights = self.start.with_rare(self.slots, found.node)
        model = self.start.model(self.p.base_weight, weights, found.edges, found.extra, by_features=self._by_features)
        kept = self.start.kept(self.p.cutoff)
        if kept is None or not self._by_features:
            return model
        return replace(model, weights=model.weights.only(kept))

    def _coupled(self, problem: NodeItems, nodes: Fitted) -> Coupled:
        """The fitted nodes with the pairs, or with the rates of label pairs if Ctrl-C ended the fit."""
        if not nodes.stopped:
            try:
                if self.method.coupling == "joint":
                    assert isinstance(problem, Problem)
                    node, edges, extra, exhausted = self.joint_pairs(problem, self.start.slots, nodes.weights)
                    return Coupled(node, edges, extra, self.p, exhausted=nodes.exhausted or exhausted)
                p, edges, extra, cross_fitted = self._given_nodes(problem, *(problem.sample or self.sample(problem)))
                held_out = self._coupling_sample(cross_fitted, nodes.weights)
                p, accuracy = self._tune_coupling(p, *held_out, edges, extra)
                edges = (p.coupling_weight * edges).astype(np.float32)
                extra = extra.scaled(p.coupling_weight)
                return Coupled(nodes.weights, edges, extra, p, accuracy, exhausted=nodes.exhausted)
            except KeyboardInterrupt:
                pass
        return Coupled(nodes.weights, self._rates(), SparseRows(), self.p, stopped=True)

    def _rates(self) -> NDArray[np.float32]:
        """Edge scores from counts, for a run that was stopped before its pairs were fitted."""
        return edge_scores(self.counts.pairs, self.n_labels, k=0.5, weight=0.75).dense()

    def trial(self, learn: Tokens, held_out: Tokens) -> NDArray[np.bool_]:
        """Which held-out tokens are correct, with nodes that are fitted to others."""
        tables = self.start.tables()
        weights = self.fit_nodes(self.arrays(learn, tables, training=True), self.p.half_passes, "tuning").weights
        return _correct_nodes(self.arrays(held_out, tables, training=True), weights, self.context.threads)

    def _given_nodes(
        self, problem: NodeItems, sentences: Numbers, chosen: Problem
    ) -> tuple[Parameters, F32, SparseRows, Scored]:
        """The parameters, T, U and the cross-fitted sample: a node model of each half, in blocks, scores the other."""
        half = np.repeat(halves_of(len(self.tokens.offsets) - 1)[sentences], np.diff(chosen.tokens.offsets))
        owner = np.repeat(half, chosen.candidates.lengths)
        scores = np.zeros(len(owner), np.float32)
        for part in (0, 1):
            fitted = self.fit_nodes(problem, self.p.half_passes, f"fitting half {part + 1} of 2", half=1 - part)
            log_p = chosen.nodes.posteriors(fitted.weights, True, self.context.threads)
            scores = np.where(owner == part, log_p, scores)
        cross_fitted, p = Scored(sentences, chosen, scores), self.p
        sample = self.start.sample(self.tokens, PAIR_TOKENS)
        if self.method.tune and len(sample) > 1:
            p = self._tuned_pairs(*(cross_fitted.take(sample[k::2]) for k in (0, 1)))
        edges, extra = replace(self, p=p).pairs_given_nodes(*cross_fitted.take(sample))
        return p, edges, extra, cross_fitted

    def sample(self, problem: NodeItems) -> Sample:
        """The sentences that pairs are fitted on and the coupling is tuned on, and their node model."""
        samples = [self.start.sample(self.tokens, size) for size in (PAIR_TOKENS, TUNING_TOKENS)]
        sentences = distinct(np.concatenate(samples))
        return sentences, self._part(problem, sentences)

    def _tuned_pairs(
        self, learn: tuple[Tokens, Candidates, F32], held_out: tuple[Tokens, Candidates, F32]
    ) -> Parameters:
        """Tune the variance of the prior of edge features on sentences that the pairs were not fitted on."""

        def correct_tokens(p: Parameters) -> NDArray[np.bool_]:
            return self._correct(*held_out, *replace(self, p=p).pairs_given_nodes(*learn), p.coupling_weight)

        steps = self.method.tunable({"edge_sigma2": 3.0}) if self.start.edge_templates.any() else {}
        if not steps:
            return self.p
        weights = held_out[0].as_sentences()
        return coordinate_search(correct_tokens, self.p, steps, weights=weights, change=Parameters.changed)[0]

    def _coupling_sample(self, cross_fitted: Scored, weights: F32) -> tuple[Tokens, Candidates, F32]:
        """Sentences to tune the coupling on: held-out sentences, or a sample with cross-fitted node scores."""
        held_out = self._held_out_problem()
        if held_out is not None:
            return held_out.tokens, held_out.candidates, held_out.nodes.posteriors(weights, True, self.context.threads)
        return cross_fitted.take(self.start.sample(self.tokens, TUNING_TOKENS))

    def _tune_coupling(
        self,
        p: Parameters,
        tokens: Tokens,
        candidates: Candidates,
        scores: F32,
        edges: NDArray[np.float32],
        extra: SparseRows,
    ) -> tuple[Parameters, float]:
        """Tune the weight of the edges; also returns the accuracy."""

        def correct_tokens(p: Parameters) -> NDArray[np.bool_]:
            return self._correct(tokens, candidates, scores, edges, extra, p.coupling_weight)

        self.context.progress(ProgressEvent("tuning the coupling"))
        weights = tokens.as_sentences()
        steps = self.method.tunable({"coupling_weight": 1.2})
        chosen, correct = coordinate_search(correct_tokens, p, steps, weights=weights, change=Parameters.changed)
        return chosen, float(np.average(correct, weights=weights))

    def _correct(
        self,
        tokens: Tokens,
        candidates: Candidates,
        scores: F32,
        edges: NDArray[np.float32],
        extra: SparseRows,
        coupling: float,
    ) -> NDArray[np.bool_]:
        """Which tokens the best labelling labels correctly, with the edges weighted by ``coupling``."""
        native = EdgeScores.of_dense((coupling * edges).astype(np.float32)).native()
        more = None
        if len(extra):
            places = edge_features(tokens, self.counts.vocabulary.bases, self.start.edge_templates)
            more = (*places, _native.EdgeFeatureWeights(*extra.scaled(coupling).arrays()))
        best, _ = _native.viterbi(tokens.offsets, *candidates.arrays(), scores, native, more)
        return np.asarray(best == tokens.labels)

    # -- pairs ---------------------------------------------------------------------------------------------------

    def pairs_given_nodes(
        self, tokens: Tokens, candidates: Candidates, scores: F32
    ) -> tuple[NDArray[np.float32], SparseRows]:
        """T and U, from sentences with cross-fitted log-probabilities of their nodes."""
        self.context.progress(ProgressEvent("fitting the pairs"))
        observed = PairCounts(*_native.count_pairs(tokens.labels, tokens.offsets, self.n_labels))
        posteriors = portable_math.exp(scores).astype(np.float32)
        edges = fit_edges(observed, tokens.offsets, candidates, posteriors, k=0.5, rounds=3)
        return self._fit_edge_features(tokens, candidates, scores, edges)

    def _fit_edge_features(
        self, tokens: Tokens, candidates: Candidates, scores: F32, start: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], SparseRows]:
        """T and the weights of edge features together, by stochastic passes that start from T."""
        found = edge_slots(tokens, self.counts.vocabulary, self.start.edge_templates, self.n_labels)
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
        decay = np.concatenate([[0.0], self.p.edge_penalty.per_visit(visits)])
        edges = np.arange(model.n_edges, dtype=np.int64)
        run = self.adagrad(model, decay, edges, start=layout.vector(), rate=0.1)
        fitted = layout.of(self._passes(run, self.p.pair_passes))
        return fitted.edges, fitted.extra

    def _passes(self, run: AdaGrad, passes: int) -> F32:
        return make_passes(run, passes, "fitting the pairs", self.context.progress, keep=False).weights

    def joint_pairs(self, problem: Problem, slots: LabelRows, nodes: F32) -> tuple[F32, F32, SparseRows, bool]:
        """The paper's pair model, softmax(A f_i + B f_i+1 + T + U g); the node score is A f + B f - W f.

        Also returns whether L-BFGS reached the maximum number of iterations before it converged.
        """
        pairs = LabelPairs(self.n_labels)
        observed = edge_slots(problem.tokens, self.counts.vocabulary, self.start.edge_templates, self.n_labels)
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
            fitted = self._fit_pairs_exactly(model)
            weights, exhausted = fitted.weights, fitted.exhausted
        else:
            shrink = self.p.penalty.per_visit(_native.occurrences(problem.features[1], len(slots)))
            shrink[-1] = 0.0
            of_edges: Any = [] if observed is None else self.p.edge_penalty.per_visit(observed[2])
            decay = np.concatenate([[0.0], of_edges, shrink])
            run = self.adagrad(model, decay, np.arange(model.n_edges, dtype=np.int64))
            weights = self._passes(run, self.p.passes)
        cuts = np.cumsum([len(pairs), model.size - len(pairs) - 2 * len(nodes), len(nodes)])
        table, u, a, b = np.split(weights, cuts)
        extra = SparseRows() if observed is None else SparseRows(*observed[0], u)
        return a + b - nodes, table.reshape(pairs.shape), extra, exhausted

    def _fit_pairs_exactly(self, model: _native.Pairs) -> Fitted:
        """All weights at the optimum, with one Gaussian prior of variance sigma2, as the paper states the objective."""
        return make_iterations(
            lambda weights: model.objective(weights, self.p.penalty.strength, self.context.threads),
            np.zeros(model.size),
            "fitting the pairs",
            self.context.progress,
            iterations=self.method.iterations,
            keep=False,
        )


def _correct_nodes(problem: Problem, weights: F32, threads: int) -> NDArray[np.bool_]:
    """Which tokens the node model alone labels correctly."""
    log_p = problem.nodes.posteriors(weights, True, threads)
    best = np.maximum.reduceat(log_p, problem.candidates.offsets[:-1])
    gold = problem.candidates.find(problem.tokens.labels)
    return np.asarray((gold >= 0) & (log_p[gold] >= best))


def fit(method: Separate, data: TrainingData, context: RunContext) -> FittedModel:
    """Count the corpus, then fit its factors."""
    start = InitialScoresFromCounts.of(method, data, context)
    model, record = SeparateTraining.of(method, start, context, data.source.storage).train()
    return FittedModel(start.vocabulary, model, record, filled_rows(start.counts.table.offsets))
