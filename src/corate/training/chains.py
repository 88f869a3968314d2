"""Methods that train on whole sentences. They share the model and its features, and differ in the loss of a sentence:

    polish       log Z(x) - score(y), a pass or two of stochastic steps from tempered empirical scores
    standard     the same from nothing, to its optimum: the conditional random field as it is usually trained
    piecewise    each edge with the nodes at its ends by itself, weights tied (Sutton and McCallum 2005)
    memm         P(y' | y, x), normalised at every position; it prefers labels with few successors (label bias)
    perceptron   score(best) - score(y), averaged over all steps (Collins 2002)

The losses stand in ``native/chain/chain.h``, sentences as training items in ``native/training/chains.cpp``.
"""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Tokens
from corate.counting.held_out import take
from corate.counting.ladder import LadderTables
from corate.counting.pooling import Candidates
from corate.counting.triples import seen_triples
from corate.counting.tuning import climb
from corate.errors import DataError
from corate.label_scores import SparseRows
from corate.model.chain import ChainModel
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.lbfgs import lbfgs
from corate.optimize.passes import make_passes
from corate.optimize.stochastic import AdaGrad, Perceptron
from corate.ragged import offsets_of
from corate.training.pairs import edge_features, edge_slots
from corate.training.problem import Progress
from corate.training.settings import named_settings
from corate.training.start import HeldOutSet, InitialWeights, StartFromCounts, StartFromModel
from corate.types import F32, Csr

__all__ = ["LATTICES", "ORDERS", "RECIPES", "TRANSITIONS", "ChainParameters", "ChainTraining", "Recipe"]

LATTICES = ("full", "pruned")
TRANSITIONS = ("all", "seen")
ORDERS = (1, 2)

#: Label triples seen at least so often have a weight where the order is the second.
LEAST_TRIPLES = 2
#: Their share of the prior at each visit.
TRIPLE_DECAY = 0.01
#: A token of a full lattice has as many triples as this, cubed, at most: time and memory would go beyond all bounds.
MOST_TRIPLE_LABELS = 32

#: The usual weight of each base, and polish's prior and steps on it.
POLISH_TEMPERS = {"default": 0.55, "pooled": 0.8, "paper": 0.7, "none": 0.0}
POLISH_C2 = {"default": 0.5, "pooled": 1.0, "paper": 0.5, "none": 0.5}
POLISH_RATE = {"default": 0.1, "pooled": 0.15, "paper": 0.15, "none": 0.15}
POLISH_PASSES = 3
RATE = 0.15
#: With fewer tokens more stochastic passes are made.
FEW_TOKENS = 100_000
#: And with more, one pass less from a pooled base.
MANY_TOKENS = 150_000
#: Tokens that tuning learns from and judges by.
TUNING_TOKENS = 40_000
#: A pass has gone too far where the loss after it is so many times that before, and so much more for each token.
TOO_FAR, SLACK = 1.5, 0.5
MOST_HALVINGS = 40
#: Held-out accuracy may fail to rise for so many iterations of a batch optimiser.
PATIENCE_ITERATIONS = 10


@dataclass(frozen=True)
class Recipe:
    """How a method differs from the others."""

    loss: str  # as native/chain/chain.h names it
    optimizers: tuple[str, ...]  # the first is the usual one
    base: str = "none"
    lattice: str = "full"
    c2: float = 0.5
    passes: int = 10


RECIPES = {
    "polish": Recipe("likelihood", ("adagrad",), base="default", lattice="pruned"),
    "standard": Recipe("likelihood", ("lbfgs", "adagrad")),
    "piecewise": Recipe("pieces", ("lbfgs", "adagrad")),
    "memm": Recipe("local", ("lbfgs", "adagrad"), c2=0.01),
    "perceptron": Recipe("path", ("perceptron",), c2=0.0),
}


@dataclass(frozen=True)
class ChainParameters:
    """What the methods on whole sentences can be tuned by; below 0, or 0 passes, is the method's own value."""

    c1: float = 0.0  # weight of the sum of absolute weights, which makes most of them zero
    c2: float = -1.0  # weight of the sum of squared weights: 1 / (2 sigma2)
    rate: float = -1.0  # first step of AdaGrad
    passes: int = 0  # of stochastic steps
    iterations: int = 100  # of L-BFGS
    batch: int = 16  # sentences whose gradients are of the same weights
    temper: float = -1.0  # weight of the empirical scores that nodes and edges start from
    edge: float = 0.75  # of this, the share of the label pairs
    cutoff: int = 1  # features seen less often are left out

    def completed(self, recipe: Recipe, tokens: int, base: str) -> ChainParameters:
        """With what was not chosen: the method's own, and more passes where there are few tokens."""
        c2, rate, passes = recipe.c2, RATE, recipe.passes
        if recipe.base != "none":
            more = int(np.clip(np.sqrt(FEW_TOKENS / max(1, tokens)), 1, 3))
            c2, rate = POLISH_C2[base], POLISH_RATE[base]
            passes = POLISH_PASSES * more - (base == "pooled" and tokens > MANY_TOKENS)
        return replace(
            self,
            c2=c2 if self.c2 < 0 else self.c2,
            rate=rate if self.rate < 0 else self.rate,
            passes=self.passes or passes,
            temper=POLISH_TEMPERS[base] if self.temper < 0 or base == "none" else self.temper,
        )


@dataclass(frozen=True, eq=False)
class Items:
    """Sentences as training items, and what their gold labels are."""

    chains: _native.Chains
    tokens: Tokens
    features: Csr
    edge_visits: NDArray[np.int64] | None


class ChainTraining:
    """One method, from one start: counts, or a model."""

    def __init__(
        self,
        method: str,
        start: StartFromCounts | StartFromModel,
        *,
        settings: Mapping[str, float] | None = None,
        optimizer: str | None = None,
        lattice: str | None = None,
        transitions: str | None = None,
        boundaries: bool = True,
        order: int | None = None,
        seed: int = 0,
        threads: int = 1,
        tune: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        label_weights: Mapping[str, float] | None = None,
        sentence_weights: Sequence[float] | None = None,
        progress: Progress = lambda stage, done: None,
    ) -> None:
        self.method, self.recipe, self.start = method, RECIPES[method], start
        self.optimizer = optimizer or self.recipe.optimizers[0]
        self.lattice, self.transitions = lattice or self.recipe.lattice, transitions or "all"
        for name, value, known in (
            ("optimizer", self.optimizer, self.recipe.optimizers),
            ("lattice", self.lattice, LATTICES),
            ("transitions", self.transitions, TRANSITIONS),
        ):
            if value not in known:
                raise DataError(f"unknown {name} {value!r} for the method {method!r}; there are {', '.join(known)}")
        if checkpoint is not None and self.optimizer == "lbfgs":
            raise DataError("checkpoints are written between passes, and lbfgs makes none; use adagrad")
        self.boundaries, self.seed, self.threads, self.progress = boundaries, seed, threads, progress
        self.search, self.checkpoint, self.stopped = tune, checkpoint, False
        self.settings = named_settings(ChainParameters(), settings)
        base = start.base if isinstance(start, StartFromCounts) else "none"
        p = replace(ChainParameters(), **self.settings)
        self.p = p.completed(self.recipe, len(start.tokens.labels), base)
        if self.p.c1 > 0 and self.optimizer != "lbfgs":
            raise DataError(
                f"c1 is for the optimizer lbfgs, not for {self.optimizer}; use cutoff to leave out features"
            )
        weights = start.token_weights(label_weights, sentence_weights)
        self.label_weights = start.label_weights(label_weights) if label_weights is not None else None
        of_sentences = None if sentence_weights is None else np.asarray(sentence_weights, dtype=np.float32)
        self.tokens = replace(start.tokens, weights=weights, sentence_weights=of_sentences)
        if (self.tokens.labels < 0).any() and self.recipe.loss != "likelihood":
            raise DataError(f"the method {method!r} needs the label of every token; use standard or polish")
        self.full = self.lattice == "full" or start.full
        initial = start.initial_weights(self.p.temper, self.p.edge)
        self.order = self._order(order, initial)
        self.initial = initial
        self.edge_rows, self.triples = self._edge_rows(initial.extra), self._triples(initial.triples)

    def _order(self, asked: int | None, initial: InitialWeights) -> int:
        """The second pays where lattices are pruned; a model that is trained further keeps its own."""
        if asked is not None and asked not in ORDERS:
            raise DataError(f"unknown order {asked!r}; there are {', '.join(map(str, ORDERS))}")
        if asked == 1 and len(initial.triples):
            raise DataError("the model to start from is of the second order, and remains so; leave order away")
        if len(initial.triples) and self.recipe.loss != "likelihood":
            raise DataError(
                f"the model to start from is of the second order, which the method {self.method!r} does not train; "
                "use polish or standard"
            )
        usual = isinstance(self.start, StartFromCounts) and self.recipe.base != "none" and not self.full
        order = (2 if len(initial.triples) or usual else 1) if asked is None else int(asked)
        if order == 2 and self.full and self.start.n_labels > MOST_TRIPLE_LABELS:
            raise DataError(
                f"in a full lattice the second order sums over all triples of labels, and takes {MOST_TRIPLE_LABELS} "
                f"labels at most, not {self.start.n_labels}; use the lattice 'pruned', or order 1"
            )
        return order

    def _triples(self, begun: SparseRows) -> SparseRows:
        """The label triples that have a weight, and where it starts."""
        if self.order == 1:
            return SparseRows()
        k = self.start.n_labels
        seen = seen_triples(self.start.tokens, k, LEAST_TRIPLES, boundaries=self.boundaries)
        return begun.plus(seen) if len(begun) else seen

    # -- items ---------------------------------------------------------------------------------------------------

    def _edge_rows(self, begun: SparseRows) -> SparseRows:
        """The weights of edge features to start from, with a slot for every label pair that one was seen with."""
        start = self.start
        found = edge_slots(start.tokens, start.n_labels, start.vocabulary.bases, start.edge_templates)
        if found is None:
            return SparseRows()
        (offsets, pairs), _, _ = found
        seen = SparseRows(offsets, pairs, np.zeros(len(pairs), np.float32))
        return begun.plus(seen) if len(begun.labels) else seen

    def items(self, tokens: Tokens, tables: LadderTables | None, *, training: bool) -> Items:
        """Sentences as training items, or to be labelled where ``training`` is false."""
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
        slots, edges, visits = (start.slots.offsets, start.slots.labels), None, None
        if len(self.edge_rows):
            places = edge_features(tokens, start.vocabulary.bases, start.edge_templates)
            kept = places[1] < len(self.edge_rows)
            if not kept.all():
                owner = np.repeat(np.arange(n), np.diff(places[0]))[kept]
                places = offsets_of(np.bincount(owner, minlength=n)), places[1][kept]
            edges = (self.edge_rows.offsets, self.edge_rows.labels), places
            visits = np.maximum(_native.occurrences(places[1], len(self.edge_rows)), 1)
        chains = _native.Chains(
            self.recipe.loss,
            start.n_labels,
            tokens.offsets,
            (slots, features),
            values,
            None if self.full or candidates is None else candidates.arrays(),
            base,
            gold,
            edges,
            tokens.sentence_weights,
            self._free_pairs(),
            (self.triples.offsets, self.triples.labels) if len(self.triples.labels) else None,
        )
        return Items(chains, tokens, features, visits)

    def _with_offsets(self, candidates: Candidates | None, base: F32 | None, tokens: int) -> F32:
        """Weights of labels as offsets of their scores in training: minus the logarithm of the weight.

        The weights of features then make up for them, and without the offsets a label is as probable as its weight
        would make it: P(y | x) times its weight, normalised again.
        """
        assert self.label_weights is not None
        offsets = -np.log(np.maximum(self.label_weights, 1e-6)).astype(np.float32)
        own = np.tile(offsets, tokens) if candidates is None else offsets[candidates.labels]
        return np.asarray(own if base is None else base + own, dtype=np.float32)

    def _free_pairs(self) -> NDArray[np.uint8]:
        """Which label pairs have a weight to train."""
        k = self.start.n_labels
        free = np.ones((k + 1, k + 1), np.uint8)
        if self.transitions == "seen":
            free[:] = 0
            free[self.start.pairs.origin, self.start.pairs.to] = 1
        if not self.boundaries:
            free[k, :] = free[:, k] = 0
        if self.recipe.loss == "local":
            free[:, k] = 0
        return free.ravel()

    def _begin(self) -> F32:
        """The weights to start from: T, U, W, S."""
        free = self._free_pairs().reshape(self.initial.edges.shape)
        edges = self.initial.edges * free if isinstance(self.start, StartFromCounts) else self.initial.edges
        parts = (edges.ravel(), self.edge_rows.scores, self.initial.weights, self.triples.scores)
        return np.concatenate(parts).astype(np.float32)

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, dict[str, Any]]:
        """The model, and what was chosen and measured on the way."""
        if self.search:
            self.p = self._tune()
        items = self.items(self.tokens, self.start.tables(), training=True)
        judged = self.start.held_out_set()
        right = None if judged is None else self._judge(judged)
        weights, accuracy = self.fit(items, self.p, f"{self.method}", right)
        self.progress("building the model", 0.0)
        model = self.model(weights)
        record: dict[str, Any] = {
            "word": self.start.word,
            "base": self.start.base if isinstance(self.start, StartFromCounts) else "model",
            "optimizer": self.optimizer,
            "lattice": "full" if self.full else "pruned",
            "transitions": self.transitions,
            "boundaries": self.boundaries,
            "order": model.order,
            "settings": asdict(self.p),
            "held_out": {"accuracy": accuracy},
            "interrupted": self.stopped,
        }
        return model, record

    def model(self, weights: F32) -> ChainModel:
        """The chain model of trained weights, without those that are zero."""
        k = self.start.n_labels
        cuts = np.cumsum([(k + 1) ** 2, len(self.edge_rows.scores), len(self.initial.weights)])
        table, extra, node, three = np.split(weights, cuts)
        rows = replace(self.edge_rows, scores=extra).compacted() if len(extra) else SparseRows()
        found = self.start.model(self.p.temper, node, table.reshape(k + 1, k + 1), rows, full=self.full)
        triples = replace(self.triples, scores=three).compacted() if len(three) else SparseRows()
        edges = replace(found.edges, local=self.recipe.loss == "local", triples=triples)
        return replace(found, weights=found.weights.compacted(), edges=edges)

    def _judge(self, judged: HeldOutSet) -> Callable[[F32], NDArray[np.bool_]]:
        """Which held-out tokens some weights label right."""
        items = self.items(judged.tokens, judged.tables, training=False)
        return lambda weights: np.asarray(items.chains.best(weights, self.threads) == judged.tokens.labels)

    def fit(
        self,
        items: Items,
        p: ChainParameters,
        stage: str,
        right: Callable[[F32], NDArray[np.bool_]] | None = None,
        *,
        main: bool = True,
    ) -> tuple[F32, float | None]:
        """Weights fitted to some sentences, and their accuracy on held-out ones where ``right`` judges them."""
        if self.optimizer == "lbfgs":
            return self._fit_batch(items, p, stage, right)
        return self._fit_stochastically(items, p, stage, right, main=main)

    def _fit_batch(
        self, items: Items, p: ChainParameters, stage: str, right: Callable[[F32], NDArray[np.bool_]] | None
    ) -> tuple[F32, float | None]:
        best: tuple[F32, float] | None = None
        waited = 0

        def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            return items.chains.objective(weights, 2.0 * p.c2, self.threads)

        def tick(step: int, value: float, norm: float, weights: NDArray[np.float64]) -> bool:
            nonlocal best, waited
            told = f"{stage}: objective {value:.1f}, gradient {norm:.2g}"
            if right is not None:
                single = weights.astype(np.float32)
                accuracy = float(right(single).mean())
                told += f", held-out accuracy {accuracy:.4f}"
                waited = 0 if best is None or accuracy > best[1] else waited + 1
                if waited == 0:
                    best = single, accuracy
            self.progress(told, min(1.0, step / p.iterations))
            return waited < PATIENCE_ITERATIONS

        def interrupted() -> None:
            self.stopped = True

        begin = self._begin().astype(np.float64)
        found = lbfgs(objective, begin, c1=p.c1, iterations=p.iterations, progress=tick, interrupted=interrupted)
        return best if best is not None else (found.astype(np.float32), None)

    def _fit_stochastically(
        self,
        items: Items,
        p: ChainParameters,
        stage: str,
        right: Callable[[F32], NDArray[np.bool_]] | None,
        *,
        main: bool,
    ) -> tuple[F32, float | None]:
        """Passes of steps, stopped early where held-out sentences say so; Ctrl-C keeps what was reached."""
        run = self._steps(items, p)
        store = None
        if main and self.checkpoint is not None:
            store = Checkpoint(self.checkpoint, self._fingerprint(items))
        made = make_passes(
            run,
            p.passes,
            lambda: self._pass(run, p.passes, stage),
            lambda told, done: self.progress(f"{stage}: {told}", done),
            right=right,
            store=store,
            keep=main,
        )
        self.stopped |= made.stopped
        return made.weights, made.accuracy

    def _pass(self, run: AdaGrad | Perceptron, passes: int, stage: str) -> float:
        """One pass; where it diverges it is taken back and made again with half the step."""
        done = run.passes

        def progress(part: float) -> None:
            self.progress(stage, (done + part) / passes)

        if isinstance(run, Perceptron):
            return run.pass_once(progress)
        if done == 0:
            run.latest = run.peek()
        limit = TOO_FAR * run.latest + SLACK * len(self.tokens.labels) / max(1, len(run.items))
        for _ in range(MOST_HALVINGS):
            kept = run.kept()
            met = run.pass_once(progress)
            # The loss met on the way says little: it may have ended much worse than it was on average.
            loss = run.peek() if math.isfinite(met) else met
            if loss <= limit:
                run.latest = loss
                return loss
            run.take_back(kept)
            warnings.warn(
                f"the loss rose to {loss:.4g} with steps of {2 * run.rate:g}; the pass is made again with {run.rate:g}",
                stacklevel=2,
            )
        raise DataError("training diverges even with much smaller steps; give a smaller rate (--set rate=)")

    def _steps(self, items: Items, p: ChainParameters) -> AdaGrad | Perceptron:
        sentences = np.flatnonzero(np.diff(items.tokens.offsets) > 0)
        if items.tokens.weights is not None:
            sums = np.add.reduceat(items.tokens.weights, items.tokens.offsets[:-1][sentences])
            sentences = sentences[sums > 0]
        if self.optimizer == "perceptron":
            return Perceptron.of(items.chains, sentences, self._begin(), self.seed)
        visits = np.maximum(_native.occurrences(items.features[1], len(self.start.slots)), 1)
        node = 2.0 * p.c2 / visits
        of_edges: Any = [] if items.edge_visits is None else 2.0 * p.c2 / items.edge_visits
        pairs = 0.0
        if self.p.temper > 0:
            node[-1] = 0.0  # the bias makes up for the base, and is free
        else:
            pairs = 2.0 * p.c2 / max(1, len(sentences))
        of_triples = [TRIPLE_DECAY] if len(self.triples.labels) else []
        decay = np.concatenate([[pairs], of_edges, node, of_triples]).astype(np.float32)
        return AdaGrad.of(
            items.chains,
            decay,
            sentences,
            start=self._begin(),
            rate=p.rate,
            batch=p.batch,
            threads=self.threads,
            seed=self.seed,
            averaging=True,
        )

    def _fingerprint(self, items: Items) -> dict[str, Any]:
        """What must be the same for a checkpoint to be taken up: settings, and every number of the problem."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (*items.features, items.tokens.labels, items.tokens.offsets, items.tokens.weights, self._begin()):
            digest.update(b"none" if array is None else np.ascontiguousarray(array).data)
        return {
            "method": self.method,
            "settings": asdict(replace(self.p, passes=0)),
            "lattice": "full" if self.full else "pruned",
            "transitions": self.transitions,
            "boundaries": self.boundaries,
            "order": self.order,
            "seed": self.seed,
            "templates": [str(t) for t in self.start.vocabulary.templates],
            "data": digest.hexdigest(),
        }

    def _tune(self) -> ChainParameters:
        """The priors, the temper and the cut-off, on one half of some sentences that judges the other."""
        blocks = self.start.sample(self.tokens, TUNING_TOKENS)
        if isinstance(self.start, StartFromModel):
            raise DataError("a model that is trained further keeps its settings; leave --tune away")
        learn, judge = (take(self.tokens, blocks[k::2]) for k in (0, 1))
        before = self.p
        tables = self.start.tables()

        def right(p: ChainParameters) -> NDArray[np.bool_]:
            self.p = replace(p, cutoff=max(1, round(p.cutoff)))
            self.initial = self.start.initial_weights(self.p.temper, self.p.edge)
            weights, _ = self.fit(self.items(learn, tables, training=True), self.p, "tuning", main=False)
            judged = self.items(judge, tables, training=True)
            return np.asarray(judged.chains.best(weights, self.threads) == judge.labels)

        steps = {"c2": 3.0, "temper": 1.3, "cutoff": 2.0}
        free = {name: step for name, step in steps.items() if name not in self.settings and getattr(before, name) > 0}
        found, _ = climb(right, before, free, lambda done: self.progress("tuning", done), judge.as_sentences())
        found = replace(found, cutoff=max(1, round(found.cutoff)))
        self.initial = self.start.initial_weights(found.temper, found.edge)
        return found
