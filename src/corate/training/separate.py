"""Separate training (SP2 of the paper, section "Exponential Functions"): each factor is a maximum entropy model.

    P(y | x) = softmax(base + W f)                                               one convex problem over the nodes
    P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y') + U g(y, y'))   another over the pairs, given the nodes

The product of co-occurrence rates and node probabilities is greatest for the labels that maximise
sum (base + W f) + sum (T + U g). The base scores are weighted empirical scores, with each token left out of its own
counts; g are features with few values. The pairs are fitted on cross-fitted node probabilities: a node model of each
half of the corpus scores the other half.

With ``joint`` coupling both models are those of the paper: the pair model is softmax(A f_i + B f_i+1 + T), independent
of the nodes, and the node score is A f + B f - W f. L-BFGS then fits both to their optimum.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.backoff import BackoffTables
from corate.counting.counts import Counts, Tokens, TokenStore
from corate.counting.pooling import Candidates
from corate.counting.rates import edge_scores
from corate.io.tensor_file import TensorFile
from corate.label_pairs import EdgeScores
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import Checkpoint, digest_of
from corate.optimize.passes import Fitted, make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad
from corate.optimize.tuning import coordinate_search
from corate.progress import ProgressEvent
from corate.rows import LabelRows, SparseRows, distinct, take_rows
from corate.training.defaults import SeparateParameters, recorded
from corate.training.edge_features import edge_features
from corate.training.items import IN_MEMORY, Storage
from corate.training.options import Separate
from corate.training.pairs import PairFactors
from corate.training.prepared import FittedModel, TrainingData, filled_rows
from corate.training.problem import NodeItems, Numbers, Problem, halves_of
from corate.training.start import RunContext
from corate.training.start_from_counts import InitialScoresFromCounts
from corate.types import F32

__all__ = ["PAIR_TOKENS", "Sample", "SeparateTraining", "fit"]

#: The number of tokens that pairs are fitted on, and that the coupling weight is tuned on.
PAIR_TOKENS = 120_000
TUNING_TOKENS = 40_000


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
    p: SeparateParameters
    accuracy: float | None = None
    stopped: bool = False
    exhausted: bool = False


@dataclass(frozen=True, eq=False)
class SeparateTraining:
    """Fits node factors, then pair factors, from the counts of a corpus."""

    method: Separate
    start: InitialScoresFromCounts
    context: RunContext
    storage: Storage
    p: SeparateParameters
    tokens: TokenStore  # all tokens, with their weights
    frequent_slots: LabelRows | None = None  # the slots without those of rare features, if they were left out

    @classmethod
    def of(
        cls,
        method: Separate,
        start: InitialScoresFromCounts,
        context: RunContext | None = None,
        storage: Storage = IN_MEMORY,
    ) -> SeparateTraining:
        """Choose the parameters."""
        p = SeparateParameters.choose(method, start.counts.tokens, start.base)
        tokens = start.weighted(method.label_weights, method.sentence_weights)
        return cls(method, start, context or RunContext(), storage, p, tokens)

    @property
    def slots(self) -> LabelRows:
        """The (feature, column) pairs that have a weight, as in `InitialScores`."""
        return self.start.slots if self.frequent_slots is None else self.frequent_slots

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

    # -- problems ------------------------------------------------------------------------------------------------

    def problem(self, tokens: Tokens, tables: BackoffTables | None, *, training: bool) -> Problem:
        """The node model of some tokens. In training, each token is left out of the counts of its base scores."""
        features, values = self.start.features(tokens, self.p.cutoff)
        if self._by_features:
            slots = self.slots.between(0, len(self.slots) - 1)  # without the bias
            candidates = Candidates.seen_with(features, slots.csr, self.n_labels)
        else:
            candidates = self.start.candidates(tokens, tables, self.p.temper, training=training)
        gold = np.maximum(candidates.find(tokens.labels) - candidates.offsets[:-1], 0).astype(np.int32)
        return Problem(tokens, candidates, features, values, gold, self.slots, self.n_labels)

    def _part(self, problem: NodeItems, sentences: Numbers) -> Problem:
        """The node model of some of the sentences."""
        if isinstance(problem, Problem) and len(sentences) == len(problem.tokens.offsets) - 1:
            return problem
        return self.problem(self.tokens.take(sentences), self.start.tables(), training=True)

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
            store = Checkpoint(TensorFile(self.method.checkpoint), self._fingerprint(problem, held_out))

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
        decay = self.p.penalty.per_visit(problem.visits(len(self.slots))).astype(np.float32)
        decay[-1] = 0.0
        return AdaGrad.of(
            problem.nodes,
            decay,
            problem.items(half),
            rate=self.p.rate,
            threads=self.context.threads,
            seed=self.context.seed,
            pieces=problem.in_pieces(self.context.seed, half),
        )

    def _held_out_problem(self) -> Problem | None:
        """The node model of the held-out sentences that the user gave, None without any."""
        held_out = self.start.held_out_set()
        return None if held_out is None else self.problem(held_out.tokens, held_out.tables, training=False)

    def _fingerprint(self, problem: NodeItems, held_out: Problem | None) -> dict[str, Any]:
        """What must be the same to resume from a checkpoint: settings and data."""
        return {
            "settings": asdict(replace(self.p, passes=0)),
            "base": self.start.base,
            "seed": self.context.seed,
            "templates": [str(t) for t in self.counts.vocabulary.templates],
            "slots": problem.nodes.size,
            "data": digest_of(chain(problem.arrays(), () if held_out is None else held_out.arrays())),
        }

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
        training, problem, sample = self.storage.nodes(self.tuned() if self.method.tune else self)
        return training._train(problem, sample)

    def _train(self, problem: NodeItems, sample: Callable[[], Sample]) -> tuple[ChainModel, dict[str, Any]]:
        fitted = self.fit_nodes(problem, self.p.passes, "fitting the nodes", main=True)
        found = self._coupled(problem, sample, fitted)
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
            "settings": recorded(found.p, self.method),
            "held_out": {"accuracy": found.accuracy},
            "interrupted": found.stopped,
        }
        return self._model(found), record

    def _model(self, found: Coupled) -> ChainModel:
        weights = self.start.with_rare(self.slots, found.node)
        model = self.start.model(self.p.temper, weights, found.edges, found.extra, by_features=self._by_features)
        kept = self.start.kept(self.p.cutoff)
        if kept is None or not self._by_features:
            return model
        return replace(model, weights=model.weights.only(kept))

    def _coupled(self, problem: NodeItems, sample: Callable[[], Sample], nodes: Fitted) -> Coupled:
        """The fitted nodes with the pairs, or with the rates of label pairs if Ctrl-C ended the fit."""
        if not nodes.stopped:
            try:
                if self.method.coupling == "joint":
                    assert isinstance(problem, Problem)
                    node, edges, extra, exhausted = self._pairs(self.p).joint(problem, self.start.slots, nodes.weights)
                    return Coupled(node, edges, extra, self.p, exhausted=nodes.exhausted or exhausted)
                p, edges, extra, cross_fitted = self._given_nodes(problem, *sample())
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

    def tuned(self) -> SeparateTraining:
        """Tune sigma2, the weight of the base scores and the cutoff: fit on half of a sample, test on the other."""
        blocks = self.start.sample(self.tokens, TUNING_TOKENS)
        learn, held_out = (self.tokens.take(blocks[k::2]) for k in (0, 1))

        def correct_tokens(p: SeparateParameters) -> NDArray[np.bool_]:
            training, tables = replace(self, p=p), self.start.tables()
            problem = training.problem(learn, tables, training=True)
            weights = training.fit_nodes(problem, p.half_passes, "tuning").weights
            return _correct_nodes(training.problem(held_out, tables, training=True), weights, self.context.threads)

        steps = (
            {"sigma2": 3.0, "cutoff": 2} if self.start.base == "none" else {"sigma2": 3.0, "temper": 1.5, "cutoff": 2}
        )
        free, weights = self.method.tunable(steps), held_out.as_sentences()

        def report(done: float) -> None:
            self.context.progress(ProgressEvent("tuning", done))

        found, _ = coordinate_search(correct_tokens, self.p, free, report, weights)
        return replace(self, p=replace(found, cutoff=max(1, round(found.cutoff))))

    def _given_nodes(
        self, problem: NodeItems, sentences: Numbers, chosen: Problem
    ) -> tuple[SeparateParameters, F32, SparseRows, Scored]:
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
        edges, extra = self._pairs(p).given_nodes(*cross_fitted.take(sample))
        return p, edges, extra, cross_fitted

    def sample(self, problem: NodeItems) -> Sample:
        """The sentences that pairs are fitted on and the coupling is tuned on, and their node model."""
        samples = [self.start.sample(self.tokens, size) for size in (PAIR_TOKENS, TUNING_TOKENS)]
        sentences = distinct(np.concatenate(samples))
        return sentences, self._part(problem, sentences)

    def _pairs(self, p: SeparateParameters) -> PairFactors:
        return PairFactors(
            self.method, self.n_labels, self.counts.vocabulary, self.start.edge_templates, p, self.context
        )

    def _tuned_pairs(
        self, learn: tuple[Tokens, Candidates, F32], held_out: tuple[Tokens, Candidates, F32]
    ) -> SeparateParameters:
        """Tune the variance of the prior of edge features on sentences that the pairs were not fitted on."""

        def correct_tokens(p: SeparateParameters) -> NDArray[np.bool_]:
            return self._correct(*held_out, *self._pairs(p).given_nodes(*learn), p.coupling_weight)

        steps = self.method.tunable({"edge_sigma2": 3.0}) if self.start.edge_templates.any() else {}
        if not steps:
            return self.p
        return coordinate_search(correct_tokens, self.p, steps, weights=held_out[0].as_sentences())[0]

    def _coupling_sample(self, cross_fitted: Scored, weights: F32) -> tuple[Tokens, Candidates, F32]:
        """Sentences to tune the coupling on: held-out sentences, or a sample with cross-fitted node scores."""
        held_out = self._held_out_problem()
        if held_out is not None:
            return held_out.tokens, held_out.candidates, held_out.nodes.posteriors(weights, True, self.context.threads)
        return cross_fitted.take(self.start.sample(self.tokens, TUNING_TOKENS))

    def _tune_coupling(
        self,
        p: SeparateParameters,
        tokens: Tokens,
        candidates: Candidates,
        scores: F32,
        edges: NDArray[np.float32],
        extra: SparseRows,
    ) -> tuple[SeparateParameters, float]:
        """Tune the weight of the edges; also returns the accuracy."""

        def correct_tokens(p: SeparateParameters) -> NDArray[np.bool_]:
            return self._correct(tokens, candidates, scores, edges, extra, p.coupling_weight)

        self.context.progress(ProgressEvent("tuning the coupling"))
        weights = tokens.as_sentences()
        steps = self.method.tunable({"coupling_weight": 1.2})
        chosen, correct = coordinate_search(correct_tokens, p, steps, weights=weights)
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
