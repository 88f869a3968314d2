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
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Tokens
from corate.counting.held_out import take
from corate.counting.ladder import LadderTables
from corate.counting.pooling import Candidates
from corate.counting.rates import edge_scores
from corate.io.tensor_file import TensorFile
from corate.label_pairs import EdgeScores
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import Checkpoint, digest_of
from corate.optimize.passes import make_iterations, make_passes
from corate.optimize.penalty import L2
from corate.optimize.stochastic import AdaGrad
from corate.optimize.tuning import coordinate_search
from corate.progress import ProgressEvent
from corate.rows import SparseRows, distinct, take_rows
from corate.training.defaults import SeparateParameters, recorded
from corate.training.edge_features import edge_features
from corate.training.options import Separate
from corate.training.pairs import PairFactors
from corate.training.problem import NodeItems, Numbers, Problem, halves_of
from corate.training.start import RunContext
from corate.training.start_from_counts import StartFromCounts
from corate.types import F32

__all__ = ["SeparateTraining"]

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
        return take(tokens, own), candidates.take(places), self.scores[where]


class SeparateTraining:
    """Fits node factors, then pair factors, from the counts of a corpus."""

    def __init__(self, method: Separate, start: StartFromCounts, context: RunContext | None = None) -> None:
        self.method, self.start, self.context, self.stopped = method, start, context or RunContext(), False
        self.exhausted = False  # whether L-BFGS reached the maximum number of iterations before it converged
        self.counts, self.n_labels = start.counts, start.n_labels
        self.tokens = self._tokens()
        self.p = SeparateParameters.choose(method, self.counts.tokens, start.base)

    def _tokens(self) -> Tokens:
        """The tokens, with their weights."""
        method = self.method
        weights = self.start.token_weights(method.label_weights, method.sentence_weights)
        of_sentences = None
        if method.sentence_weights is not None:
            of_sentences = np.asarray(method.sentence_weights, dtype=np.float32)
        return replace(self.start.tokens, weights=weights, sentence_weights=of_sentences)

    def _take(self, sentences: Numbers) -> Tokens:
        """The tokens of some sentences."""
        return take(self.tokens, sentences)

    @property
    def _by_features(self) -> bool:
        """Whether the candidates are the labels that the features of a token were seen with."""
        return self.method.space == "features"

    # -- problems ------------------------------------------------------------------------------------------------

    def problem(self, tokens: Tokens, tables: LadderTables | None, *, training: bool) -> Problem:
        """The node model of some tokens. In training, each token is left out of the counts of its base scores."""
        features, values = self.start.features(tokens, self.p.cutoff)
        if self._by_features:
            slots = self.start.slots.between(0, len(self.start.slots) - 1)  # without the bias
            candidates = Candidates.seen_with(features, slots.csr, self.n_labels)
        else:
            candidates = self.start.candidates(tokens, tables, self.p.temper, training=training)
        gold = np.maximum(candidates.find(tokens.labels) - candidates.offsets[:-1], 0).astype(np.int32)
        return Problem(tokens, candidates, features, values, gold, self.start.slots, self.n_labels)

    def _all_nodes(self) -> NodeItems:
        """The node model of all tokens."""
        return self.problem(self.tokens, self.start.tables(), training=True)

    def _part(self, problem: NodeItems, sentences: Numbers) -> Problem:
        """The node model of some of the sentences."""
        if isinstance(problem, Problem) and len(sentences) == len(problem.tokens.offsets) - 1:
            return problem
        return self.problem(self._take(sentences), self.start.tables(), training=True)

    # -- nodes ---------------------------------------------------------------------------------------------------

    def fit_nodes(
        self, problem: NodeItems, passes: int, stage: str, *, half: int | None = None, main: bool = False
    ) -> F32:
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

        made = make_passes(
            run,
            passes,
            stage,
            self.context.progress,
            correct_tokens=None if held_out is None else lambda w: _correct_nodes(held_out, w, self.context.threads),
            store=store,
            keep=main,
        )
        self.stopped |= made.stopped
        return made.weights

    def _adagrad(self, problem: NodeItems, half: int | None) -> AdaGrad:
        decay = L2(variance=self.p.sigma2).per_visit(problem.visits(len(self.start.slots))).astype(np.float32)
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

    def _fit_nodes_exactly(self, problem: Problem, stage: str, *, half: int | None, main: bool) -> F32:
        chosen = problem if half is None else self._part(problem, problem.sentences(half))
        fitted = make_iterations(
            lambda weights: chosen.nodes.objective(weights, L2(variance=self.p.sigma2).strength, self.context.threads),
            np.zeros(problem.nodes.size),
            stage,
            self.context.progress,
            iterations=self.method.iterations,
            keep=main,
        )
        self.stopped |= fitted.stopped
        self.exhausted |= main and fitted.exhausted
        return fitted.weights

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, dict[str, Any]]:
        """Train; returns the model and a record of what was chosen and measured."""
        if self.method.tune:
            self.p = self._tune()
        problem = self._all_nodes()
        weights = self.fit_nodes(problem, self.p.passes, "fitting the nodes", main=True)
        node, edges, extra, accuracy = self._coupled(problem, weights)
        if self.exhausted and not self.stopped:
            joint = "; the scores are differences of two fits, so both must converge" * (
                self.method.coupling == "joint"
            )
            warnings.warn(
                f"L-BFGS made {self.method.iterations} iterations and did not converge{joint}; give more iterations, "
                "or a smaller sigma2",
                stacklevel=2,
            )
        self.context.progress(ProgressEvent("building the model"))
        model = self._model(node, edges, extra)
        record: dict[str, Any] = {
            "word": self.start.word,
            "coupling": self.method.coupling,
            **({"space": self.method.space} if self.method.coupling == "joint" else {}),
            "base": self.start.base,
            "optimizer": self.method.optimizer,
            "settings": recorded(self.p, self.method),
            "held_out": {"accuracy": accuracy},
            "interrupted": self.stopped,
        }
        return model, record

    def _model(self, node: F32, edges: F32, extra: SparseRows) -> ChainModel:
        if not self._by_features:
            return self.start.model(self.p.temper, node, edges, extra)
        model = self.start.model(self.p.temper, node, edges, extra, by_features=True)
        kept = self.start.kept(self.p.cutoff)
        if kept is None:
            return model
        return replace(model, weights=model.weights.where(np.repeat(kept, model.weights.lengths)))

    def _coupled(self, problem: NodeItems, weights: F32) -> tuple[F32, F32, SparseRows, float | None]:
        """Scores of nodes, label pairs and edge features, and the held-out accuracy if the coupling was tuned."""
        if not self.stopped:
            try:
                if self.method.coupling == "joint":
                    assert isinstance(problem, Problem)
                    node, edges, extra, exhausted = self._pairs(self.p).joint(problem, self.start.slots, weights)
                    self.exhausted |= exhausted
                    return node, edges, extra, None
                edges, extra, cross_fitted = self._given_nodes(problem)
                self.p, accuracy = self._tune_coupling(*self._coupling_sample(cross_fitted, weights), edges, extra)
                return (
                    weights,
                    (self.p.coupling_weight * edges).astype(np.float32),
                    extra.scaled(self.p.coupling_weight),
                    accuracy,
                )
            except KeyboardInterrupt:
                self.stopped = True
        return weights, self._rates(), SparseRows(), None

    def _rates(self) -> NDArray[np.float32]:
        """Edge scores from counts, for a run that was stopped before its pairs were fitted."""
        return edge_scores(self.counts.pairs, self.n_labels, k=0.5, weight=0.75).dense()

    def _tune(self) -> SeparateParameters:
        """Tune sigma2, the weight of the base scores and the cutoff: fit on half of a sample, test on the other."""
        blocks = self.start.sample(self.tokens, TUNING_TOKENS)
        learn, held_out = (self._take(blocks[k::2]) for k in (0, 1))
        before = self.p

        def correct_tokens(p: SeparateParameters) -> NDArray[np.bool_]:
            self.p = p
            tables = self.start.tables()
            problem = self.problem(learn, tables, training=True)
            weights = self.fit_nodes(problem, p.half_passes, "tuning")
            return _correct_nodes(self.problem(held_out, tables, training=True), weights, self.context.threads)

        steps = (
            {"sigma2": 3.0, "cutoff": 2} if self.start.base == "none" else {"sigma2": 3.0, "temper": 1.5, "cutoff": 2}
        )
        free, weights = self.method.tunable(steps), held_out.as_sentences()

        def report(done: float) -> None:
            self.context.progress(ProgressEvent("tuning", done))

        found, _ = coordinate_search(correct_tokens, before, free, report, weights)
        return replace(found, cutoff=max(1, round(found.cutoff)))

    def _given_nodes(self, problem: NodeItems) -> tuple[NDArray[np.float32], SparseRows, Scored]:
        """T, U and the cross-fitted sample: a node model of each half, in blocks, scores the other half."""
        sentences, chosen = self._sample_of(problem)
        half = np.repeat(halves_of(len(self.tokens.offsets) - 1)[sentences], np.diff(chosen.tokens.offsets))
        owner = np.repeat(half, chosen.candidates.lengths)
        scores = np.zeros(len(owner), np.float32)
        for part in (0, 1):
            weights = self.fit_nodes(problem, self.p.half_passes, f"fitting half {part + 1} of 2", half=1 - part)
            log_p = chosen.nodes.posteriors(weights, True, self.context.threads)
            scores = np.where(owner == part, log_p, scores)
        cross_fitted = Scored(sentences, chosen, scores)
        sample = self.start.sample(self.tokens, PAIR_TOKENS)
        if self.method.tune and len(sample) > 1:
            self.p = self._tune_pairs(*(cross_fitted.take(sample[k::2]) for k in (0, 1)))
        edges, extra = self._pairs(self.p).given_nodes(*cross_fitted.take(sample))
        return edges, extra, cross_fitted

    def _sample_of(self, problem: NodeItems) -> tuple[Numbers, Problem]:
        """The sentences that pairs are fitted on and the coupling is tuned on, and their node model."""
        samples = [self.start.sample(self.tokens, size) for size in (PAIR_TOKENS, TUNING_TOKENS)]
        sentences = distinct(np.concatenate(samples))
        return sentences, self._part(problem, sentences)

    def _pairs(self, p: SeparateParameters) -> PairFactors:
        bases, edges = self.counts.vocabulary.bases, self.start.edge_templates
        return PairFactors(self.method, self.n_labels, bases, edges, p, self.context)

    def _tune_pairs(
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
        chosen, correct = coordinate_search(correct_tokens, self.p, steps, weights=weights)
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
