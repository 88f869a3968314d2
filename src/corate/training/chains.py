"""Methods that train on whole sentences. They share the model and its features, and differ in the loss of a sentence:

    polish       log Z(x) - score(y), a few stochastic passes that start from weighted empirical scores
    standard     the same loss from zero, to its optimum: the usual training of a conditional random field
    piecewise    each edge, with the node that it leads to, is normalised by itself (Sutton and McCallum 2005)
    memm         P(y' | y, x), normalised at every position; it prefers labels with few successors (label bias)
    perceptron   score(best) - score(y), averaged over all steps (Collins 2002)

The losses are in ``native/chain/chain.h``, sentences as training items in ``native/training/chains.cpp``.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable
from corate.counting.counts import Tokens
from corate.counting.held_out import take
from corate.counting.ladder import LadderTables
from corate.counting.pooling import Candidates
from corate.counting.triples import seen_triples
from corate.errors import ConfigError, DataError
from corate.io.tensor_file import TensorFile
from corate.label_pairs import ChainWeights, LabelPairs
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.passes import CorrectTokens, Fitted, make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad, AveragedPerceptron
from corate.optimize.tuning import Results, coordinate_search
from corate.progress import ProgressEvent
from corate.rows import SparseRows, offsets_of
from corate.training.defaults import ChainParameters, recorded
from corate.training.edge_features import edge_features, edge_slots
from corate.training.held_out_results import held_out_results
from corate.training.items import ItemArrays, Items, ItemSet
from corate.training.lattice_costs import MOST_TRIPLE_LABELS
from corate.training.options import ChainMethod, OptimizedMethod, Perceptron, Polish
from corate.training.start import HeldOutSet, RunContext, Start
from corate.training.start_from_counts import StartFromCounts
from corate.training.start_from_model import StartFromModel
from corate.types import F32

__all__ = ["ChainTraining"]

logger = logging.getLogger(__name__)

#: With order 2, label triples that are seen at least this often have a weight.
LEAST_TRIPLES = 2
#: The L2 decay of their weights at each visit.
TRIPLE_DECAY = 0.01

#: The number of tokens that tuning trains and evaluates on.
TUNING_TOKENS = 40_000
#: A pass may exceed the previous loss by so much per token before it counts as diverged.
SLACK = 1.0


class ChainTraining:
    """Trains one method, from counts or from a model."""

    def __init__(self, method: ChainMethod, start: Start, context: RunContext | None = None) -> None:
        assert isinstance(method, Polish | OptimizedMethod | Perceptron)
        self.method, self.start, self.context = method, start, context or RunContext()
        self.loss = "likelihood" if method.name in ("polish", "standard") else method.name
        self.optimizer, self.stopped = method.optimizer, False
        facts: dict[str, Any] = {"parts": start.parts is not None, "words": start.word is not None}
        if isinstance(start, StartFromCounts) and start.pool is not None:
            facts["unexplained"] = start.pool.unexplained
        self.p = ChainParameters.choose(method, self._n_tokens(start), start.base, **facts)
        weights = start.token_weights(method.label_weights, method.sentence_weights)
        self.label_weights = None if method.label_weights is None else start.label_weights(method.label_weights)
        of_sentences = None
        if method.sentence_weights is not None:
            of_sentences = np.asarray(method.sentence_weights, dtype=np.float32)
        self.tokens = replace(start.tokens, weights=weights, sentence_weights=of_sentences)
        if self._some_unknown() and self.loss != "likelihood":
            raise DataError(f"the method {method.name!r} needs the label of every token; use standard or polish")
        self.full = method.lattice == "full" or start.full
        self.initial = start.initial_weights(self.p.temper, self.p.edge)
        self.order = self._order(getattr(method, "order", None), self.initial)
        self.edge_rows, self.triples = self._edge_rows(self.initial.extra), self._triples(self.initial.triples)
        logger.info(
            "%s: base %s, order %d, %s lattice, %s", method.name, start.base, self.order, self._lattice, self.optimizer
        )

    def _n_tokens(self, start: Start) -> int:
        """The number of tokens to train on, which parameters depend on."""
        return len(start.tokens.labels)

    def _some_unknown(self) -> bool:
        """Whether there are tokens of unknown label."""
        return bool((self.tokens.labels < 0).any())

    @property
    def _lattice(self) -> str:
        return "full" if self.full else "pruned"

    def _order(self, given: int | None, initial: ChainWeights) -> int:
        """The order. Unset, it is 2 for polish on a pruned lattice without parts of labels.

        A model that is trained further keeps its order.
        """
        if given == 1 and len(initial.triples):
            raise ConfigError("the model to start from has order 2, and keeps it; leave order unset", option="order")
        if len(initial.triples) and self.loss != "likelihood":
            raise DataError(
                f"the model to start from has order 2, which the method {self.method.name!r} does not train; "
                "use polish or standard"
            )
        usual = isinstance(self.start, StartFromCounts) and isinstance(self.method, Polish)
        usual = usual and not self.full and self.start.parts is None
        order = (2 if len(initial.triples) or usual else 1) if given is None else int(given)
        if order == 2 and self.full and self.start.n_labels > MOST_TRIPLE_LABELS:
            raise DataError(
                f"order 2 on a full lattice sums over all label triples and takes at most {MOST_TRIPLE_LABELS} labels, "
                f"not {self.start.n_labels}; use the lattice 'pruned', or order 1"
            )
        return order

    def _triples(self, initial: SparseRows) -> SparseRows:
        """The label triples that have a weight, with their initial weights."""
        if self.order == 1:
            return SparseRows()
        k = self.start.n_labels
        seen = seen_triples(self.start.tokens, k, LEAST_TRIPLES, boundaries=self.method.boundaries)
        return initial.plus(seen) if len(initial) else seen

    # -- items ---------------------------------------------------------------------------------------------------

    def _edge_rows(self, initial: SparseRows) -> SparseRows:
        """The initial weights of edge features, with a slot for every label pair seen with a feature."""
        start = self.start
        found = edge_slots(start.tokens, start.n_labels, start.vocabulary.bases, start.edge_templates)
        if found is None:
            return SparseRows()
        seen = SparseRows.zeros(found[0])
        return initial.plus(seen) if len(initial.labels) else seen

    def items(self, tokens: Tokens, tables: LadderTables | None, *, training: bool) -> Items:
        """Sentences as items to train on, or to label if ``training`` is false."""
        arrays = self.arrays(tokens, tables, training=training)
        return Items(self.chains(arrays), tokens, arrays)

    def arrays(self, tokens: Tokens, tables: LadderTables | None, *, training: bool) -> ItemArrays:
        """The arrays of sentences to train on, or to label if ``training`` is false."""
        start, n = self.start, len(tokens.labels)
        candidates = None
        fresh = isinstance(start, StartFromCounts) and self.p.temper == 0
        if not (self.full and fresh):
            options: dict[str, Any] = {"training": training, "full": self.full, "cutoff": self.p.cutoff}
            candidates = start.candidates(tokens, tables, self.p.temper, **options)
        if candidates is None:
            gold, base = tokens.labels, None
        else:
            found = candidates.find(tokens.labels)
            gold = np.where(found < 0, -1, found - candidates.offsets[:-1]).astype(np.int32)
            base = candidates.ladder
        if not training:
            gold = np.zeros(n, np.int32)
        elif self.label_weights is not None:
            base = self._with_offsets(candidates, base, n)
        features, values = start.features(tokens, self.p.cutoff)
        edges = None
        if len(self.edge_rows):
            edges = edge_features(tokens, start.vocabulary.bases, start.edge_templates)
            kept = edges[1] < len(self.edge_rows)
            if not kept.all():
                edges = offsets_of(kept)[edges[0]], edges[1][kept]
        pruned = None if self.full or candidates is None else candidates.arrays()
        return ItemArrays(tokens.offsets, features, values, pruned, base, gold, edges, tokens.sentence_weights)

    def chains(self, arrays: ItemArrays) -> _native.Chains:
        """The native items of arrays."""
        start, edges = self.start, None
        if arrays.edges is not None:
            edges = self.edge_rows.csr, arrays.edges
        return _native.Chains(
            self.loss,
            start.n_labels,
            arrays.offsets,
            (start.slots.csr, arrays.features),
            arrays.values,
            arrays.candidates,
            arrays.base,
            arrays.gold,
            edges,
            arrays.sentence_weights,
            self._free_pairs(),
            self.triples.csr if len(self.triples.labels) else None,
            None if start.parts is None else start.parts.arrays(),
        )

    def _with_offsets(self, candidates: Candidates | None, base: F32 | None, tokens: int) -> F32:
        """Add the label weights to the base scores, as offsets in training: minus the logarithm of the weight.

        The feature weights learn to compensate. Tagging has no offsets, so P(y | x) is multiplied by the label's weight
        and normalised again.
        """
        assert self.label_weights is not None
        offsets = -portable.log(np.maximum(self.label_weights, 1e-6)).astype(np.float32)
        own = np.tile(offsets, tokens) if candidates is None else offsets[candidates.labels]
        return np.asarray(own if base is None else base + own, dtype=np.float32)

    def _free_pairs(self) -> NDArray[np.uint8]:
        """Which label pairs have a weight to train."""
        pairs = LabelPairs(self.start.n_labels)
        free = np.ones(pairs.shape, np.uint8)
        if self.method.transitions == "seen":
            free[:] = 0
            free[self.start.pairs.origin, self.start.pairs.to] = 1
        if not self.method.boundaries:
            free[pairs.boundary, :] = free[:, pairs.boundary] = 0
        if self.loss == "memm":
            free[:, pairs.boundary] = 0
        return free.ravel()

    def initial_vector(self) -> F32:
        """The initial weights: T, U, W, S."""
        free = self._free_pairs().reshape(self.initial.edges.shape)
        edges = self.initial.edges * free if isinstance(self.start, StartFromCounts) else self.initial.edges
        return replace(self._layout, edges=edges).vector()

    @property
    def _layout(self) -> ChainWeights:
        """The initial weights, with slots for all edge features and label triples that have weights."""
        return replace(self.initial, extra=self.edge_rows, triples=self.triples)

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, dict[str, Any]]:
        """Train; returns the model and a record of what was chosen and measured."""
        if self.method.tune:
            self.p = self._tune()
        items = self._training_items()
        held_out = self.start.held_out_set()
        correct_tokens = None if held_out is None else self._held_out_correct(held_out)
        return self.finished(self.fit(items, self.p, self.method.name, correct_tokens))

    def _training_items(self) -> ItemSet:
        return self.items(self.tokens, self.start.tables(), training=True)

    def finished(self, fitted: Fitted) -> tuple[ChainModel, dict[str, Any]]:
        """The model of fitted weights, and a record of what was chosen and measured."""
        self.stopped = fitted.stopped
        self.context.progress(ProgressEvent("building the model"))
        model = self.model(fitted.weights)
        record: dict[str, Any] = {
            "word": self.start.word,
            "base": "model" if isinstance(self.start, StartFromModel) else self.start.base,
            "optimizer": self.optimizer,
            "lattice": self._lattice,
            **({} if self.start.costs is None else {"lattice_costs": self.start.costs.recorded()}),
            **({} if self.start.pruned is None else {"pruned_labels": self.start.pruned}),
            "transitions": self.method.transitions,
            "boundaries": self.method.boundaries,
            "order": model.order,
            **({} if model.parts is None else {"parts": len(model.parts)}),
            "settings": recorded(self.p, self.method),
            **({"independent_passes": True} if self.p.independent else {}),
            **self._about_pool(),
            "held_out": {"accuracy": fitted.accuracy, **({} if fitted.f1 is None else {"f1": fitted.f1})},
            "interrupted": self.stopped,
        }
        return model, record

    def _about_pool(self) -> dict[str, Any]:
        """The record's entry about the base pooled, if it is the base."""
        pool = self.start.pool if isinstance(self.start, StartFromCounts) else None
        return {} if pool is None else {"unexplained": round(pool.unexplained, 4)}

    def model(self, weights: F32) -> ChainModel:
        """The chain model of trained weights, without weights of zero."""
        fitted = self._layout.of(weights)
        extra, triples = (
            rows.compacted() if len(rows.scores) else SparseRows() for rows in (fitted.extra, fitted.triples)
        )
        found = self.start.model(self.p.temper, fitted.nodes, fitted.edges, extra, full=self.full)
        edges = replace(found.edges, local=self.loss == "memm", triples=triples)
        return replace(found, weights=found.weights.compacted(), edges=edges)

    def _held_out_correct(self, held_out: HeldOutSet) -> CorrectTokens:
        """A function that returns the held-out results of some weights."""
        items = self.items(held_out.tokens, held_out.tables, training=False)
        threads, labels = self.context.threads, self.start.labels.to_list()
        return lambda weights: held_out_results(held_out.tokens, items.chains.best(weights, threads), labels)

    def fit(
        self,
        items: ItemSet,
        p: ChainParameters,
        stage: str,
        correct_tokens: CorrectTokens | None = None,
        *,
        main: bool = True,
    ) -> Fitted:
        """Fit weights to some sentences. Ctrl-C stops the main fit early; in other fits it raises KeyboardInterrupt."""
        if self.optimizer == "lbfgs":
            return make_iterations(
                lambda weights: items.chains.objective(weights, p.penalty.strength, self.context.threads),
                self.initial_vector().astype(np.float64),
                stage,
                self.context.progress,
                c1=p.c1,
                iterations=p.iterations,
                correct_tokens=correct_tokens,
                keep=main,
            )
        run = self.steps(items, p)
        store = None
        if main and self.method.checkpoint is not None:
            store = Checkpoint(TensorFile(self.method.checkpoint), self._fingerprint(items))
        return make_passes(
            run,
            p.passes,
            stage,
            self.context.progress,
            correct_tokens=correct_tokens,
            store=store,
            keep=main,
            slack=SLACK * self._n_tokens(self.start) / max(1, len(run.items)),
        )

    def steps(self, items: ItemSet, p: ChainParameters) -> AdaGrad | AveragedPerceptron:
        """A run of stochastic passes over the items, before its first pass."""
        sentences, seed = items.sentences, self.context.seed
        if self.optimizer == "perceptron":
            pieces = items.in_pieces(seed, lambda chains: chains.perceptron)
            return AveragedPerceptron.of(items.chains.perceptron, sentences, self.initial_vector(), seed, pieces=pieces)
        return AdaGrad.of(
            items.chains,
            self._decay(items, p, len(sentences)),
            sentences,
            start=self.initial_vector(),
            rate=p.rate,
            batch=p.batch,
            threads=self.context.threads,
            seed=seed,
            averaging=True,
            pieces=items.in_pieces(seed, lambda chains: chains),
            begin=self.initial_vector() if p.independent else None,
        )

    def _decay(self, items: ItemSet, p: ChainParameters, sentences: int) -> F32:
        """The share of the prior in one visit: of label pairs, of each edge feature and node feature, of triples."""
        node, pairs = p.penalty.per_visit(items.visits(len(self.start.slots))), p.penalty.per_visit([sentences])
        of_edges: Any = []
        if len(self.edge_rows):
            of_edges = p.penalty.per_visit(items.edge_visits(len(self.edge_rows)))
        if self.p.temper > 0:
            node[-1] = pairs[0] = 0.0  # no prior on the bias: it corrects the base scores
        of_triples = [TRIPLE_DECAY] if len(self.triples.labels) else []
        return np.concatenate([pairs, of_edges, node, of_triples]).astype(np.float32)

    def _fingerprint(self, items: ItemSet) -> dict[str, Any]:
        """What must be the same to resume from a checkpoint: settings and data."""
        return {
            "method": self.method.name,
            "settings": asdict(replace(self.p, passes=0)),
            "lattice": self._lattice,
            **({} if self.start.pruned is None else {"pruned_labels": self.start.pruned}),
            "transitions": self.method.transitions,
            "boundaries": self.method.boundaries,
            "order": self.order,
            "parts": None if self.start.parts is None else self.start.parts.names.to_list(),
            "seed": self.context.seed,
            "templates": [str(t) for t in self.start.vocabulary.templates],
            "data": items.digest(self.initial_vector()),
        }

    def _tuning_tokens(self) -> tuple[Tokens, Tokens]:
        """The tokens that tuning trains on, and those it evaluates on."""
        blocks = self.start.sample(self.tokens, TUNING_TOKENS)
        return take(self.tokens, blocks[::2]), take(self.tokens, blocks[1::2])

    def _tune(self) -> ChainParameters:
        """Tune c2, the weight of the base scores and the cutoff: train on half of a sample, evaluate on the other."""
        if isinstance(self.start, StartFromModel):
            raise ConfigError("a model that is trained further is not tuned; leave tune unset", option="tune")
        learn, held_out = self._tuning_tokens()
        before = self.p
        tables = self.start.tables()

        def correct_tokens(p: ChainParameters) -> Results:
            self.p = replace(p, cutoff=max(1, round(p.cutoff)))
            self.initial = self.start.initial_weights(self.p.temper, self.p.edge)
            fitted = self.fit(self.items(learn, tables, training=True), self.p, "tuning", main=False)
            items = self.items(held_out, tables, training=True)
            best = items.chains.best(fitted.weights, self.context.threads)
            return held_out_results(held_out, best, self.start.labels.to_list())

        steps = {"c2": 3.0, "temper": 1.3, "cutoff": 2.0}
        free = {name: step for name, step in self.method.tunable(steps).items() if getattr(before, name) > 0}

        def report(done: float) -> None:
            self.context.progress(ProgressEvent("tuning", done))

        found, _ = coordinate_search(correct_tokens, before, free, report, held_out.as_sentences())
        found = replace(found, cutoff=max(1, round(found.cutoff)))
        self.initial = self.start.initial_weights(found.temper, found.edge)
        return found
