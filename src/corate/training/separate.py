"""Separate training (SP2 of the paper, section "Exponential Functions"): each factor is a maximum entropy model.

    P(y | x) = softmax(base + W f)                                               one convex problem over the nodes
    P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y') + U g(y, y'))   another over the pairs, given the nodes

The product of co-occurrence rates and node probabilities is then greatest where sum (base + W f) + sum (T + U g) is.
The base are tempered empirical scores, each token left out of its own counts; g are features with few values. The nodes
that the pairs are fitted on have not seen the sentence they are asked about: two halves of the corpus judge each other.

With ``joint`` coupling both models are the paper's: the pair model is softmax(A f_i + B f_i+1 + T) and knows nothing of
the nodes, and the node score is A f + B f - W f.
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
from corate.counting.tuning import climb
from corate.features.templates import Template
from corate.label_scores import EdgeScores, SparseRows
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import Checkpoint, digest_of
from corate.optimize.passes import make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad
from corate.progress import ProgressEvent
from corate.ragged import take_rows
from corate.training.choices import SeparateParameters, recorded
from corate.training.edge_features import edge_features, edge_templates
from corate.training.options import Separate
from corate.training.pairs import PairFactors
from corate.training.problem import Problem
from corate.training.start import RunContext
from corate.training.start_from_counts import StartFromCounts
from corate.types import F32

__all__ = ["SeparateTraining"]

#: Pairs are fitted on about this many tokens, and the coupling weight is tuned on this many.
PAIR_TOKENS = 120_000
TUNING_TOKENS = 40_000


class SeparateTraining:
    """Node factors, then pair factors, on one counted corpus."""

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
        """The node model of some tokens; in training each token is left out of the counts that its base comes from."""
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

        The main fit stops early where held-out sentences say so, writes a checkpoint after each pass and takes it up
        again, and on Ctrl-C keeps what it has reached once a pass is done.
        """
        if self.method.optimizer == "lbfgs":
            return self._fit_nodes_exactly(problem, items, stage, main=main)
        run = self._adagrad(problem, items)
        judged = self._judged() if main else None
        store = None
        if main and self.method.checkpoint is not None:
            store = Checkpoint(self.method.checkpoint, self._fingerprint(problem, judged))

        def one_pass() -> float:
            done = run.passes
            return run.pass_once(lambda part: self.context.progress(ProgressEvent(stage, (done + part) / passes)))

        made = make_passes(
            run,
            passes,
            one_pass,
            stage,
            self.context.progress,
            judge=None if judged is None else lambda weights: _right_nodes(judged, weights, self.context.threads),
            store=store,
            keep=main,
        )
        self.stopped |= made.stopped
        return made.weights

    def _adagrad(self, problem: Problem, items: NDArray[np.int64]) -> AdaGrad:
        # Where only one label is possible, or a token does not count, there is nothing to learn.
        items = items[np.diff(problem.candidates.offsets)[items] > 1]
        if problem.tokens.weights is not None:
            items = items[problem.tokens.weights[items] > 0]
        visits = _native.occurrences(problem.features[1], len(self.slots))
        decay = (1.0 / (self.p.sigma2 * np.maximum(visits, 1))).astype(np.float32)
        decay[-1] = 0.0
        return AdaGrad.of(
            problem.nodes, decay, items, rate=self.p.rate, threads=self.context.threads, seed=self.context.seed
        )

    def _judged(self) -> Problem | None:
        """The node model of the held-out sentences that the user gave, None without any."""
        judged = self.start.held_out_set()
        return None if judged is None else self.problem(judged.tokens, judged.tables, training=False)

    def _fingerprint(self, problem: Problem, judged: Problem | None) -> dict[str, Any]:
        """What must be the same for a checkpoint to be taken up: settings, and every number of the problem."""
        numbers = [
            array
            for part in ((problem,) if judged is None else (problem, judged))
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
            keep=main,
        )
        self.stopped |= fitted.stopped
        return fitted.weights

    def _merged(self, problem: Problem) -> _native.Nodes:
        """The same model with identical contexts merged and their labels counted: fewer sums of exponentials.

        Contexts are told apart by a random 64-bit number for each feature and each candidate, summed.
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
        """The model, the counts behind it, and what was chosen and measured on the way."""
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
        """Scores of nodes, label pairs and edge features, and the held-out accuracy where the coupling was tuned."""
        if not self.stopped:
            try:
                if self.method.coupling == "joint":
                    return (*self._pairs(self.p).joint(problem, self.slots, weights), None)
                edges, extra, honest = self._given_nodes(problem)
                self.p, accuracy = self._tune_coupling(*self._honest(problem, honest, weights), edges, extra)
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
        """Edge scores by counting alone, for a run that was stopped before its pairs were fitted."""
        return edge_scores(self.counts.pairs, self.n_labels, k=0.5, weight=0.75).dense()

    def _tune(self) -> SeparateParameters:
        """The variance of the prior, the temper and the cut-off, on nodes of one half that judge the other."""
        blocks = self.start.sample(self.tokens, TUNING_TOKENS)
        learn, judge = (take(self.tokens, blocks[k::2]) for k in (0, 1))
        before = self.p

        def right(p: SeparateParameters) -> NDArray[np.bool_]:
            self.p = p
            tables = self.start.tables()
            problem = self.problem(learn, tables, training=True)
            items = np.arange(len(learn.labels), dtype=np.int64)
            weights = self.fit_nodes(problem, items, p.half_passes, "tuning")
            return _right_nodes(self.problem(judge, tables, training=True), weights, self.context.threads)

        steps = {"sigma2": 3.0, "cutoff": 2} if self.base == "none" else {"sigma2": 3.0, "temper": 1.5, "cutoff": 2}
        free, weights = self.method.tunable(steps), judge.as_sentences()

        def report(done: float) -> None:
            self.context.progress(ProgressEvent("tuning", done))

        found, _ = climb(right, before, free, report, weights)
        return replace(found, cutoff=max(1, round(found.cutoff)))

    def _given_nodes(self, problem: Problem) -> tuple[NDArray[np.float32], SparseRows, F32]:
        """T and U, given nodes that have not seen the sentence: two halves, in blocks, judge each other."""
        tokens, candidates = problem.tokens, problem.candidates
        n_sentences = len(tokens.offsets) - 1
        sentence = np.repeat(np.arange(n_sentences), np.diff(tokens.offsets))
        half = sentence * 20 // max(1, n_sentences) % 2
        honest = np.zeros(len(candidates.labels), np.float32)
        owner = np.repeat(half, np.diff(candidates.offsets))
        for part in (0, 1):
            others = np.flatnonzero(half != part)
            if not len(others):
                others = np.arange(len(half))
            weights = self.fit_nodes(problem, others, self.p.half_passes, f"fitting half {part + 1} of 2")
            log_p = problem.nodes.posteriors(weights, True, self.context.threads)
            honest = np.where(owner == part, log_p, honest)
        sample = self.start.sample(tokens, PAIR_TOKENS)
        if self.method.tune and len(sample) > 1:
            parts = [_take_candidates(tokens, candidates, honest, sample[k::2]) for k in (0, 1)]
            self.p = self._tune_pairs(*parts)
        edges, extra = self._pairs(self.p).given_nodes(*_take_candidates(tokens, candidates, honest, sample))
        return edges, extra, honest

    def _pairs(self, p: SeparateParameters) -> PairFactors:
        bases, edges = self.counts.vocabulary.bases, self.start.edge_templates
        return PairFactors(self.n_labels, bases, edges, p, self.context)

    def _tune_pairs(
        self, learn: tuple[Tokens, Candidates, F32], judge: tuple[Tokens, Candidates, F32]
    ) -> SeparateParameters:
        """The variance of the prior of edge features, on sentences that the pairs were not fitted on."""

        def right(p: SeparateParameters) -> NDArray[np.bool_]:
            return self._labelled_right(*judge, *self._pairs(p).given_nodes(*learn), p.coupling_weight)

        steps = self.method.tunable({"edge_sigma2": 3.0}) if self.start.edge_templates.any() else {}
        return climb(right, self.p, steps, weights=judge[0].as_sentences())[0] if steps else self.p

    def _honest(self, problem: Problem, honest: F32, weights: F32) -> tuple[Tokens, Candidates, F32]:
        """Sentences to tune on, with node scores that have not seen them: held-out ones, else by halves."""
        judged = self._judged()
        if judged is not None:
            return judged.tokens, judged.candidates, judged.nodes.posteriors(weights, True, self.context.threads)
        sample = self.start.sample(problem.tokens, TUNING_TOKENS)
        return _take_candidates(problem.tokens, problem.candidates, honest, sample)

    def _tune_coupling(
        self,
        tokens: Tokens,
        candidates: Candidates,
        scores: F32,
        edges: NDArray[np.float32],
        extra: SparseRows,
    ) -> tuple[SeparateParameters, float]:
        """The weight of the edges that labels the most tokens right."""

        def right(p: SeparateParameters) -> NDArray[np.bool_]:
            return self._labelled_right(tokens, candidates, scores, edges, extra, p.coupling_weight)

        self.context.progress(ProgressEvent("tuning the coupling"))
        weights = tokens.as_sentences()
        chosen, correct = climb(right, self.p, self.method.tunable({"coupling_weight": 1.2}), weights=weights)
        return chosen, float(np.average(correct, weights=weights))

    def _labelled_right(
        self,
        tokens: Tokens,
        candidates: Candidates,
        scores: F32,
        edges: NDArray[np.float32],
        extra: SparseRows,
        coupling: float,
    ) -> NDArray[np.bool_]:
        """Which tokens the best labelling gets right, with the edges weighed by ``coupling``."""
        native = EdgeScores.of_dense((coupling * edges).astype(np.float32)).native()
        more = None
        if len(extra):
            places = edge_features(tokens, self.counts.vocabulary.bases, self.start.edge_templates)
            more = (*places, *extra.scaled(coupling).arrays())
        best, _ = _native.viterbi(tokens.offsets, *candidates.arrays(), scores, native, more)
        return np.asarray(best == tokens.labels)


def _right_nodes(problem: Problem, weights: F32, threads: int) -> NDArray[np.bool_]:
    """Which tokens the node model alone gets right."""
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
