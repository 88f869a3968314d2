"""Methods that train on whole sentences. They share the model and its features, and differ in the loss of a sentence:

    polish       log Z(x) - score(y), a few stochastic passes that start from weighted empirical scores
    standard     the same loss from zero, to its optimum: the usual training of a conditional random field
    piecewise    each edge, with the node that it leads to, is normalised by itself (Sutton and McCallum 2005)
    memm         P(y' | y, x), normalised at every position; it prefers labels with few successors (label bias)
    perceptron   score(best) - score(y), averaged over all steps (Collins 2002)

The losses are in ``native/chain/chain.h``, sentences as training items in ``native/training/losses/chains.cpp``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.counting.backoff import BackoffTables
from corate.counting.counts import Tokens
from corate.counting.pooling import Candidates
from corate.counting.triples import seen_triples
from corate.errors import ConfigError, DataError
from corate.label_pairs import ChainWeights, LabelPairs
from corate.model.chain import ChainModel
from corate.model.shrinking import without_idle, without_rare
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.passes import CorrectTokens, Fitted, make_iterations, make_passes
from corate.optimize.stochastic import AdaGrad, AveragedPerceptron
from corate.optimize.tuning import Results
from corate.progress import ProgressEvent
from corate.rows import SparseRows, offsets_of
from corate.training.choices import MOST_TRIPLE_LABELS, chain_parameters, choose_parts
from corate.training.held_out import held_out_results
from corate.training.initial_scores import HeldOutSet, InitialScores, InitialScoresFromCounts, InitialScoresFromModel
from corate.training.items import (
    IN_MEMORY,
    ItemArrays,
    Items,
    ItemStore,
    Storage,
    WeightTraining,
    edge_features,
    edge_rows,
)
from corate.training.methods import ChainMethod
from corate.training.source import FittedModel, MemorySource, RunContext, TrainingData, filled_rows
from corate.types import F32

__all__ = ["LEAST_TRIPLES", "ChainTraining", "WeightLayout", "fit"]

logger = logging.getLogger(__name__)

#: With order 2, label triples that are seen at least this often have a weight.
LEAST_TRIPLES = 2
#: The L2 decay of their weights at each visit.
TRIPLE_DECAY = 0.01

#: A pass may exceed the previous loss by so much per token before it counts as diverged.
SLACK = 1.0


@dataclass(frozen=True, eq=False)
class WeightLayout:
    """What the text gives for the weights: rows with a slot for each seen pair of labels, and seen label triples."""

    tokens: int  # the number of all tokens, which parameters depend on
    edges: SparseRows
    triples: SparseRows

    @classmethod
    def of(cls, method: ChainMethod, start: InitialScores, order: int) -> WeightLayout:
        """The layout for the tokens of a start."""
        tokens, k = start.tokens, start.n_labels
        triples = SparseRows()
        if order == 2:
            triples = seen_triples(tokens, k, LEAST_TRIPLES, boundaries=method.boundaries)
        edges = edge_rows(tokens, start.vocabulary, start.edge_templates, k)
        return cls(int(tokens.offsets[-1]), edges, triples)


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainTraining(WeightTraining):
    """Training by one method with chosen parameters, from counts or from a model."""

    method: ChainMethod
    start: InitialScores
    order: int
    n_tokens: int
    edge_rows: SparseRows  # the initial weights of edge features
    triples: SparseRows  # the label triples that have a weight, with their initial weights

    STEPS: ClassVar[Mapping[str, float]] = {"c2": 3.0, "base_weight": 1.3, "cutoff": 2.0}

    @classmethod
    def of(
        cls,
        method: ChainMethod,
        start: InitialScores,
        context: RunContext | None = None,
        storage: Storage = IN_MEMORY,
        layout: WeightLayout | None = None,
    ) -> ChainTraining:
        """Choose the parameters, and lay out the weights, unless a ``layout`` is given."""
        facts: dict[str, Any] = {"parts": start.parts is not None, "words": start.word is not None}
        facts["unexplained"] = start.unexplained
        n_tokens = int(start.tokens.offsets[-1]) if layout is None else layout.tokens
        p = chain_parameters(method, n_tokens, start.base, **facts)
        tokens = start.weighted(method.label_weights, method.sentence_weights)
        if method.loss != "likelihood" and any((piece.labels < 0).any() for piece in tokens.label_pieces()):
            raise DataError(f"the method {method.name!r} needs the label of every token; use standard or polish")
        initial = start.initial_weights(p.base_weight, p.edge)
        order = _chosen_order(method, start, initial)
        layout = layout or WeightLayout.of(method, start, order)
        edges, triples = layout.edges, layout.triples
        if len(edges) and len(initial.extra.labels):
            edges = initial.extra.plus(edges)
        if order == 2 and len(initial.triples):
            triples = initial.triples.plus(triples)
        found = cls(
            method=method,
            start=start,
            context=context or RunContext(),
            storage=storage,
            p=p,
            order=order,
            tokens=tokens,
            n_tokens=n_tokens,
            edge_rows=edges,
            triples=triples,
        )
        logger.info(
            "%s: base %s, order %d, %s lattice, %s", method.name, start.base, order, found.lattice, method.optimizer
        )
        return found

    @property
    def full(self) -> bool:
        """Whether all labels are candidates everywhere."""
        return self.method.lattice == "full" or self.start.full

    @property
    def lattice(self) -> str:
        """The lattice as an option."""
        return "full" if self.full else "pruned"

    @cached_property
    def initial(self) -> ChainWeights:
        """The weights that training starts from."""
        return self.start.initial_weights(self.p.base_weight, self.p.edge)

    @cached_property
    def label_weights(self) -> NDArray[np.float64] | None:
        """The weight of each label in training, None if none are given."""
        given = self.method.label_weights
        return None if given is None else self.start.label_weights(given)

    # -- items ---------------------------------------------------------------------------------------------------

    def items(self, tokens: Tokens, tables: BackoffTables | None, *, training: bool) -> Items:
        """Sentences as items to train on, or to label if ``training`` is false."""
        arrays = self.arrays(tokens, tables, training=training)
        return Items(self.chains(arrays), tokens, arrays)

    def arrays(self, tokens: Tokens, tables: BackoffTables | None, *, training: bool) -> ItemArrays:
        """The arrays of sentences to train on, or to label if ``training`` is false."""
        start, n = self.start, len(tokens.labels)
        candidates = None
        if not (self.full and start.fresh and self.p.base_weight == 0):
            options: dict[str, Any] = {"training": training, "full": self.full, "cutoff": self.p.cutoff}
            candidates = start.candidates(tokens, tables, self.p.base_weight, **options)
        if candidates is None:
            gold, base = tokens.labels, None
        else:
            found = candidates.find(tokens.labels)
            gold = np.where(found < 0, -1, found - candidates.offsets[:-1]).astype(np.int32)
            base = candidates.backoff
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
        pruned_gold = None if candidates is None else candidates.pruned_gold
        return ItemArrays(
            tokens.offsets, features, values, pruned, base, gold, edges, tokens.sentence_weights, pruned_gold
        )

    def chains(self, arrays: ItemArrays) -> _native.Chains:
        """The native items of arrays."""
        start, edges = self.start, None
        if arrays.edges is not None:
            edges = self.edge_rows.csr, arrays.edges
        return _native.Chains(
            self.method.loss,
            start.n_labels,
            arrays.offsets,
            (self.slots.csr, arrays.features),
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
        offsets = -portable_math.log(np.maximum(self.label_weights, 1e-6)).astype(np.float32)
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
        if self.method.loss == "memm":
            free[:, pairs.boundary] = 0
        return free.ravel()

    def initial_vector(self) -> F32:
        """The initial weights: T, U, W, S."""
        free = self._free_pairs().reshape(self.initial.edges.shape)
        edges = self.initial.edges * free if self.start.fresh else self.initial.edges
        return replace(self._layout, edges=edges).vector()

    @property
    def _layout(self) -> ChainWeights:
        """The initial weights, with slots for all edge features and label triples that have weights."""
        nodes = self.initial.nodes[: len(self.slots.labels)]  # those of a fresh start are zero
        return replace(self.initial, extra=self.edge_rows, nodes=nodes, triples=self.triples)

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, dict[str, Any]]:
        """Train; returns the model and a record of what was chosen and measured."""
        if self.method.tune and not self.start.fresh:
            raise ConfigError("a model that is trained further is not tuned; leave tune unset", option="tune")
        training, items = self.storage.chains(self.tuned() if self.method.tune else self)
        held_out = self.start.held_out_set()
        correct_tokens = None if held_out is None else training._held_out_correct(held_out)
        fitted = training.fit(items, training.method.name, correct_tokens)
        return training.finished(fitted, items.pruned_gold)

    def finished(
        self, fitted: Fitted, pruned_gold: NDArray[np.int64] | None = None
    ) -> tuple[ChainModel, dict[str, Any]]:
        """The model of fitted weights, and a record of what was chosen and measured.

        ``pruned_gold`` are the labels that pruning lost in training, None without pruning.
        """
        self.context.progress(ProgressEvent("building the model"))
        model = self.model(fitted.weights)
        record: dict[str, Any] = {
            "word": self.start.word,
            "base": self.start.base if self.start.fresh else "model",
            "optimizer": self.method.optimizer,
            "lattice": self.lattice,
            **({} if self.start.costs is None else {"lattice_costs": self.start.costs.recorded()}),
            **({} if pruned_gold is None else {"pruned_labels": _shares(pruned_gold)}),
            "transitions": self.method.transitions,
            "boundaries": self.method.boundaries,
            "order": model.order,
            **({} if model.parts is None else {"parts": len(model.parts)}),
            "settings": self.p.settings,
            **({"independent_passes": True} if self.p.independent else {}),
            **({"unexplained": round(self.start.unexplained, 4)} if self.start.base == "pooled" else {}),
            "held_out": {"accuracy": fitted.accuracy, **({} if fitted.f1 is None else {"f1": fitted.f1})},
            "interrupted": fitted.stopped,
        }
        return model, record

    def model(self, weights: F32) -> ChainModel:
        """The chain model of trained weights, without weights of zero."""
        fitted = self._layout.of(weights)
        extra, triples = (
            rows.compacted() if len(rows.scores) else SparseRows() for rows in (fitted.extra, fitted.triples)
        )
        nodes = SparseRows(*self.slots.csr, fitted.nodes)
        found = self.start.model(self.p.base_weight, nodes, fitted.edges, extra, full=self.full)
        edges = replace(found.edges, local=self.method.loss == "memm", triples=triples)
        return replace(found, weights=found.weights.compacted(), edges=edges)

    def _held_out_correct(self, held_out: HeldOutSet) -> CorrectTokens:
        """A function that returns the held-out results of some weights."""
        items = self.items(held_out.tokens, held_out.tables, training=False)
        threads, labels = self.context.threads, self.start.labels.to_list()
        return lambda weights: held_out_results(held_out.tokens, items.chains.best(weights, threads), labels)

    def fit(
        self,
        items: ItemStore,
        stage: str,
        correct_tokens: CorrectTokens | None = None,
        *,
        main: bool = True,
    ) -> Fitted:
        """Fit weights to some sentences. Ctrl-C stops the main fit early; in other fits it raises KeyboardInterrupt."""
        p = self.p
        if self.method.optimizer == "lbfgs":
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
        run = self.steps(items)
        return make_passes(
            run,
            p.passes,
            stage,
            self.context.progress,
            correct_tokens=correct_tokens,
            store=self._checkpoint(items) if main and self.method.checkpoint is not None else None,
            keep=main,
            slack=SLACK * self.n_tokens / max(1, len(run.items)),
        )

    def steps(self, items: ItemStore) -> AdaGrad | AveragedPerceptron:
        """A run of stochastic passes over the items, before its first pass."""
        p, sentences, seed = self.p, items.sentences, self.context.seed
        if self.method.optimizer == "perceptron":
            pieces = items.in_pieces(seed, lambda chains: chains.perceptron)
            return AveragedPerceptron.of(items.chains.perceptron, sentences, self.initial_vector(), seed, pieces=pieces)
        return self.adagrad(
            items.chains,
            self._decay(items, len(sentences)),
            sentences,
            start=self.initial_vector(),
            batch=p.batch,
            averaging=True,
            pieces=items.in_pieces(seed, lambda chains: chains),
            begin=self.initial_vector() if p.independent else None,
        )

    def _decay(self, items: ItemStore, sentences: int) -> NDArray[Any]:
        """The share of the prior in one visit: of label pairs, of each edge feature and node feature, of triples."""
        p = self.p
        node, pairs = p.penalty.per_visit(items.visits(len(self.slots))), p.penalty.per_visit([sentences])
        of_edges: Any = []
        if len(self.edge_rows):
            of_edges = p.penalty.per_visit(items.edge_visits(len(self.edge_rows)))
        if p.base_weight > 0:
            node[-1] = pairs[0] = 0.0  # no prior on the bias: it corrects the base scores
        of_triples = [TRIPLE_DECAY] if len(self.triples.labels) else []
        return np.concatenate([pairs, of_edges, node, of_triples])

    def _checkpoint(self, items: ItemStore) -> Checkpoint | None:
        parts = None if self.start.parts is None else self.start.parts.names.to_list()
        return self.checkpoint(
            lattice=self.lattice,
            pruned_labels=None if items.pruned_gold is None else _shares(items.pruned_gold),
            order=self.order,
            parts=parts,
            data=items.digest(self.initial_vector()),
        )

    def trial(self, learn: Tokens, held_out: Tokens) -> Results:
        """What is correct on held-out tokens, with weights that are fitted to others."""
        tables = self.start.tables()
        fitted = self.fit(self.items(learn, tables, training=True), "tuning", main=False)
        best = self.items(held_out, tables, training=True).chains.best(fitted.weights, self.context.threads)
        return held_out_results(held_out, best, self.start.labels.to_list())


def _chosen_order(method: ChainMethod, start: InitialScores, initial: ChainWeights) -> int:
    """The order. Unset, it is 2 for polish on a pruned lattice without parts of labels.

    A model that is trained further keeps its order.
    """
    given, full = method.order, method.lattice == "full" or start.full
    if given == 1 and len(initial.triples):
        raise ConfigError("the model to start from has order 2, and keeps it; leave order unset", option="order")
    if len(initial.triples) and method.loss != "likelihood":
        raise DataError(
            f"the model to start from has order 2, which the method {method.name!r} does not train; "
            "use polish or standard"
        )
    usual = start.fresh and method.refines_counts and not full and start.parts is None
    order = (2 if len(initial.triples) or usual else 1) if given is None else int(given)
    if order == 2 and full and start.n_labels > MOST_TRIPLE_LABELS:
        raise DataError(
            f"order 2 on a full lattice sums over all label triples and takes at most {MOST_TRIPLE_LABELS} labels, "
            f"not {start.n_labels}; use the lattice 'pruned', or order 1"
        )
    return order


def _shares(pruned_gold: NDArray[np.int64]) -> dict[str, float]:
    """The shares of known labels that pruning lost: of all words, and of unseen words."""
    shares = pruned_gold[::2] / np.maximum(pruned_gold[1::2], 1)
    return {"all": round(float(shares[0]), 5), "unseen_words": round(float(shares[1]), 5)}


def fit(method: ChainMethod, data: TrainingData, context: RunContext) -> FittedModel:
    """Train on whole sentences, from counts or from a model, and leave out rare and idle features."""
    start: InitialScores
    if data.origin is None:
        start = InitialScoresFromCounts.of(method, data, context, choose_parts(method, data.source.names.to_list()))
    else:
        start = InitialScoresFromModel(data.origin, cast(MemorySource, data.source), held_out=data.held_out)
    training, model, record = (data.fit or partial(_fit_items, data.source.storage))(method, start, context)
    if data.scaling is not None:
        model = data.scaling.undo(model)
    vocabulary, cutoff = training.start.vocabulary, record["settings"]["cutoff"]
    if cutoff > 1 and not data.further:
        model = without_rare(model, training.start.totals, cutoff)
    if record["settings"].get("c1", 0) > 0 or cutoff > 1:
        vocabulary, model = without_idle(vocabulary, model)
    return FittedModel(vocabulary, model, record, filled_rows(model.weights.offsets))


def _fit_items(
    storage: Storage, method: ChainMethod, start: InitialScores, context: RunContext
) -> tuple[ChainTraining, ChainModel, dict[str, Any]]:
    """Train on the items that a source stores."""
    training = ChainTraining.of(method, start, context, storage)
    return training, *training.train()
