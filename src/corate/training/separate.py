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

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.counting.counts import Counts, Tokens
from corate.counting.held_out import take
from corate.counting.ladder import LadderTables
from corate.counting.pooling import Candidates, Features
from corate.counting.rates import edge_scores
from corate.counting.tuning import coordinate_search
from corate.features.templates import Template
from corate.label_scores import EdgeScores, SparseRows
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import Checkpoint, digest_of
from corate.optimize.passes import make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad
from corate.progress import ProgressEvent
from corate.ragged import take_rows
from corate.training.defaults import SeparateParameters, recorded
from corate.training.edge_features import edge_features, edge_templates
from corate.training.options import Separate
from corate.training.pairs import PairFactors
from corate.training.problem import Problem
from corate.training.start import RunContext
from corate.training.start_from_counts import StartFromCounts
from corate.types import F32

__all__ = ["SeparateTraining"]

#: The number of tokens that pairs are fitted on, and that the coupling weight is tuned on.
PAIR_TOKENS = 120_000
TUNING_TOKENS = 40_000


class SeparateTraining:
    """Fits node factors, then pair factors, on one counted corpus."""

    def __init__(
        self,
        method: Separate,
        corpus: Corpus,
        templates: Sequence[Template],
        held_out: Corpus | None = None,
        context: RunContext | None = None,
    ) -> None:
        self.method, self.context, self.stopped = method, context or RunContext(), False
        self.base = method.base
        if method.coupling == "given-nodes":
            templates = [*templates, *edge_templates(templates, corpus)]
        else:
            self.base = "none"
        self.start = StartFromCounts(
            corpus,
            templates,
            base=self.base,
            held_out=held_out,
            all_labels=method.all_labels,
            context=self.context,
        )
        self.counts, self.n_labels, self.slots = self.start.counts, self.start.n_labels, self.start.slots
        weights = self.start.token_weights(method.label_weights, method.sentence_weights)
        of_sentences = None
        if method.sentence_weights is not None:
            of_sentences = np.asarray(method.sentence_weights, dtype=np.float32)
        self.tokens = replace(self.start.tokens, weights=weights, sentence_weights=of_sentences)
        self.p = SeparateParameters.choose(method, self.counts.tokens, self.base)

    # -- problems ------------------------------------------------------------------------------------------------

    def problem(self, tokens: Tokens, tables: LadderTables | None, *, training: bool) -> Problem:
        """The node model of some tokens. In training, each token is left out of the counts of its base scores."""
        candidates = self.start.candidates(tokens, tables, self.p.temper, training=training)
        features, values = self.start.features(tokens, self.p.cutoff)
        n = len(tokens.labels)
        weights = np.ones(n, np.float32) if tokens.weights is None else tokens.weights
        gold = np.maximum(candidates.find(tokens.labels) - candidates.offsets[:-1], 0).astype(np.int32)
        nodes = _native.Nodes(
            (self.slots.offsets, self.slots.labels),
            self.n_labels,
            features,
            values,
            candidates.arrays(),
            candidates.ladder,
            (np.arange(n + 1, dtype=np.int64), gold, weights),
        )
        return Problem(tokens, candidates, nodes, features, values, gold)

    # -- nodes ---------------------------------------------------------------------------------------------------

    def fit_nodes(
        self, problem: Problem, items: NDArray[np.int64], passes: int, stage: str, *, main: bool = False
    ) -> F32:
        """W of the node model, from some of the tokens.

        The main fit stops early on held-out sentences, writes a checkpoint after each pass, and resumes from it. After
        the first pass, Ctrl-C keeps the current weights.
        """
        if self.method.optimizer == "lbfgs":
            return self._fit_nodes_exactly(problem, items, stage, main=main)
        run = self._adagrad(problem, items)
        held_out = self._held_out_problem() if main else None
        store = None
        if main and self.method.checkpoint is not None:
            store = Checkpoint(self.method.checkpoint, self._fingerprint(problem, held_out))

        def one_pass() -> float:
            done = run.passes
            return run.pass_once(lambda part: self.context.progress(ProgressEvent(stage, (done + part) / passes)))

        made = make_passes(
            run,
            passes,
            one_pass,
            stage,
            self.context.progress,
            correct_tokens=None if held_out is None else lambda w: _correct_nodes(held_out, w, self.context.threads),
            store=store,
            keep=main,
        )
        self.stopped |= made.stopped
        return made.weights

    def _adagrad(self, problem: Problem, items: NDArray[np.int64]) -> AdaGrad:
        # Tokens with one candidate, or of weight 0, do not change the weights.
        items = items[np.diff(problem.candidates.offsets)[items] > 1]
        if problem.tokens.weights is not None:
            items = items[problem.tokens.weights[items] > 0]
        visits = _native.occurrences(problem.features[1], len(self.slots))
        decay = (1.0 / (self.p.sigma2 * np.maximum(visits, 1))).astype(np.float32)
        decay[-1] = 0.0
        return AdaGrad.of(
            problem.nodes, decay, items, rate=self.p.rate, threads=self.context.threads, seed=self.context.seed
        )

    def _held_out_problem(self) -> Problem | None:
        """The node model of the held-out sentences that the user gave, None without any."""
        held_out = self.start.held_out_set()
        return None if held_out is None else self.problem(held_out.tokens, held_out.tables, training=False)

    def _fingerprint(self, problem: Problem, held_out: Problem | None) -> dict[str, Any]:
        """What must be the same to resume from a checkpoint: settings and data."""
        numbers = [
            array
            for part in ((problem,) if held_out is None else (problem, held_out))
            for array in (
                *part.features,
                *part.candidates.arrays(),
                part.candidates.ladder,
                part.tokens.labels,
                part.values,
                part.tokens.weights,
            )
        ]
        return {
            "settings": asdict(replace(self.p, passes=0)),
            "base": self.base,
            "seed": self.context.seed,
            "templates": [str(t) for t in self.counts.vocabulary.templates],
            "slots": problem.nodes.size,
            "data": digest_of(numbers),
        }

    def _fit_nodes_exactly(self, problem: Problem, items: NDArray[np.int64], stage: str, *, main: bool) -> F32:
        chosen = problem if len(items) == len(problem.tokens.labels) else self._part(problem, items)
        nodes = chosen.nodes if self.base != "none" or chosen.values is not None else self._merged(chosen)

        fitted = make_iterations(
            lambda weights: nodes.objective(weights, 1.0 / self.p.sigma2, self.context.threads),
            np.zeros(problem.nodes.size),
            stage,
            self.context.progress,
            iterations=self.method.iterations,
            keep=main,
        )
        self.stopped |= fitted.stopped
        return fitted.weights

    def _merged(self, problem: Problem) -> _native.Nodes:
        """The same model with identical contexts merged and their labels counted, which is faster.

        A context is identified by a 64-bit hash: the sum of a random number for each feature and each candidate.
        """
        (offsets, ids), candidates = problem.features, problem.candidates
        draw = np.random.default_rng(0).integers(1, 2**63, size=len(self.slots) + self.n_labels, dtype=np.uint64)
        key = np.add.reduceat(draw[ids], offsets[:-1])
        key += np.add.reduceat(draw[len(self.slots) + candidates.labels], candidates.offsets[:-1])
        _, first, context = np.unique(key, return_index=True, return_inverse=True)
        features = Features(offsets, ids).take(first)
        possible = Features(candidates.offsets, candidates.labels).take(first)
        seen, where = np.unique(context * self.n_labels + problem.gold, return_inverse=True)
        weights = np.ones(len(context)) if problem.tokens.weights is None else problem.tokens.weights
        counts = np.bincount(where, weights=weights, minlength=len(seen)).astype(np.float32)
        starts = np.searchsorted(seen, np.arange(len(first) + 1) * self.n_labels).astype(np.int64)
        return _native.Nodes(
            (self.slots.offsets, self.slots.labels),
            self.n_labels,
            features.arrays(),
            None,
            possible.arrays(),
            None,
            (starts, (seen % self.n_labels).astype(np.int32), counts),
        )

    def _part(self, problem: Problem, items: NDArray[np.int64]) -> Problem:
        sentences = np.unique(np.searchsorted(problem.tokens.offsets, items, side="right") - 1)
        return self.problem(take(problem.tokens, sentences), self.start.tables(), training=True)

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, Counts, dict[str, Any]]:
        """Train; returns the model, its counts, and a record of what was chosen and measured."""
        if self.method.tune:
            self.p = self._tune()
        problem = self.problem(self.tokens, self.start.tables(), training=True)
        everything = np.arange(len(self.tokens.labels), dtype=np.int64)
        weights = self.fit_nodes(problem, everything, self.p.passes, "fitting the nodes", main=True)
        node, edges, extra, accuracy = self._coupled(problem, weights)
        self.context.progress(ProgressEvent("building the model"))
        model = self.start.model(self.p.temper, node, edges, extra)
        size = int(self.counts.vocabulary.bases[-1])
        counts = replace(self.counts, table=self.counts.table.padded(size))
        record: dict[str, Any] = {
            "word": self.start.word,
            "coupling": self.method.coupling,
            "base": self.base,
            "optimizer": self.method.optimizer,
            "settings": recorded(self.p, self.method),
            "held_out": {"accuracy": accuracy},
            "interrupted": self.stopped,
        }
        return model, counts, record

    def _coupled(self, problem: Problem, weights: F32) -> tuple[F32, NDArray[np.float32], SparseRows, float | None]:
        """Scores of nodes, label pairs and edge features, and the held-out accuracy if the coupling was tuned."""
        if not self.stopped:
            try:
                if self.method.coupling == "joint":
                    return (*self._pairs(self.p).joint(problem, self.slots, weights), None)
                edges, extra, cross_fitted = self._given_nodes(problem)
                sample = self._coupling_sample(problem, cross_fitted, weights)
                self.p, accuracy = self._tune_coupling(*sample, edges, extra)
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
        learn, held_out = (take(self.tokens, blocks[k::2]) for k in (0, 1))
        before = self.p

        def correct_tokens(p: SeparateParameters) -> NDArray[np.bool_]:
            self.p = p
            tables = self.start.tables()
            problem = self.problem(learn, tables, training=True)
            items = np.arange(len(learn.labels), dtype=np.int64)
            weights = self.fit_nodes(problem, items, p.half_passes, "tuning")
            return _correct_nodes(self.problem(held_out, tables, training=True), weights, self.context.threads)

        steps = {"sigma2": 3.0, "cutoff": 2} if self.base == "none" else {"sigma2": 3.0, "temper": 1.5, "cutoff": 2}
        free, weights = self.method.tunable(steps), held_out.as_sentences()

        def report(done: float) -> None:
            self.context.progress(ProgressEvent("tuning", done))

        found, _ = coordinate_search(correct_tokens, before, free, report, weights)
        return replace(found, cutoff=max(1, round(found.cutoff)))

    def _given_nodes(self, problem: Problem) -> tuple[NDArray[np.float32], SparseRows, F32]:
        """T, U and the cross-fitted log-probabilities: a node model of each half, in blocks, scores the other half."""
        tokens, candidates = problem.tokens, problem.candidates
        n_sentences = len(tokens.offsets) - 1
        sentence = np.repeat(np.arange(n_sentences), np.diff(tokens.offsets))
        half = sentence * 20 // max(1, n_sentences) % 2
        cross_fitted = np.zeros(len(candidates.labels), np.float32)
        owner = np.repeat(half, np.diff(candidates.offsets))
        for part in (0, 1):
            others = np.flatnonzero(half != part)
            if not len(others):
                others = np.arange(len(half))
            weights = self.fit_nodes(problem, others, self.p.half_passes, f"fitting half {part + 1} of 2")
            log_p = problem.nodes.posteriors(weights, True, self.context.threads)
            cross_fitted = np.where(owner == part, log_p, cross_fitted)
        sample = self.start.sample(tokens, PAIR_TOKENS)
        if self.method.tune and len(sample) > 1:
            parts = [_take_candidates(tokens, candidates, cross_fitted, sample[k::2]) for k in (0, 1)]
            self.p = self._tune_pairs(*parts)
        edges, extra = self._pairs(self.p).given_nodes(*_take_candidates(tokens, candidates, cross_fitted, sample))
        return edges, extra, cross_fitted

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

    def _coupling_sample(self, problem: Problem, cross_fitted: F32, weights: F32) -> tuple[Tokens, Candidates, F32]:
        """Sentences to tune the coupling on: held-out sentences, or a sample with cross-fitted node scores."""
        held_out = self._held_out_problem()
        if held_out is not None:
            return held_out.tokens, held_out.candidates, held_out.nodes.posteriors(weights, True, self.context.threads)
        sample = self.start.sample(problem.tokens, TUNING_TOKENS)
        return _take_candidates(problem.tokens, problem.candidates, cross_fitted, sample)

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


def _take_candidates(
    tokens: Tokens, candidates: Candidates, scores: F32, sentences: NDArray[np.int64]
) -> tuple[Tokens, Candidates, F32]:
    """Some sentences with their candidates and scores."""
    _, tokens_of = take_rows(tokens.offsets, sentences)
    offsets, where = take_rows(candidates.offsets, tokens_of)
    return (
        take(tokens, sentences),
        Candidates(offsets, candidates.labels[where], candidates.ladder[where]),
        scores[where],
    )
