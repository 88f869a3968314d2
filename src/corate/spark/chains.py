"""Training on whole sentences of a data frame: mixed stochastic passes (polish), and summed gradients (standard).

The counts of the whole data frame give the vocabulary, the base scores and the layout of the weights, which are the
same on all workers. Then, for each round of polish, every partition p makes a pass of AdaGrad over its own sentences,
from the same weights w. With G_p(i) the sum of the squared gradients of weight i in the pass, the weights are mixed:

    w(i) += sum_p G_p(i) d_p(i) / sum_p G_p(i),    d_p = the change of the weights in partition p

So a weight that only one partition has trained changes as much as there. This is iterative parameter mixing (McDonald,
Hall and Mann 2010), with shares by weight. L-BFGS needs no mixing: the gradient is the sum over partitions.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.counting.backoff import BackoffParameters
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.counts import Counts, Tokens
from corate.counting.pooling import PooledExperts
from corate.counting.triples import triple_counts, triple_rows
from corate.errors import ConfigError
from corate.features.templates import Template
from corate.label_pairs import LabelPairs
from corate.label_parts import LabelParts
from corate.model.chain import ChainModel
from corate.optimize.passes import Fitted, make_iterations
from corate.optimize.stochastic import AdaGrad
from corate.progress import ProgressEvent
from corate.rows import SparseRows, sums_by_key
from corate.spark.counting import Where, partition_corpora
from corate.spark.frames import reduce_partitions
from corate.training.chains import LEAST_TRIPLES, ChainTraining, WeightLayout
from corate.training.choices import LatticeCosts
from corate.training.initial_scores import InitialScoresFromCounts, preset_of
from corate.training.items import Items, edge_rows
from corate.training.methods import ChainMethod
from corate.training.source import RunContext
from corate.types import F32, F64

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["fit_on_cluster"]

Keys = NDArray[np.int64]

#: The number of times that weights are saved for the average in a pass of AdaGrad.
MOMENTS = 4
#: A worker keeps the training items of at most this many tokens between rounds.
MOST_KEPT_TOKENS = 20_000_000


@dataclass(frozen=True)
class FeatureLayout:
    """The edge features with label pairs, and the label triples that have weights, as ascending numbers."""

    edges: Keys
    triples: Keys
    triple_counts: Keys

    def merged(self, other: FeatureLayout) -> FeatureLayout:
        """The layout of both."""
        triples = sums_by_key([self.triples, other.triples], [self.triple_counts, other.triple_counts])
        return FeatureLayout(np.union1d(self.edges, other.edges), *triples)


NO_LAYOUT = FeatureLayout(*(np.zeros(0, np.int64) for _ in range(3)))


@dataclass(frozen=True)
class SharedInitialScores:
    """What all workers start from."""

    method: ChainMethod
    counts: Counts
    word: str
    templates: tuple[Template, ...]
    base: str
    parts: LabelParts | None
    costs: LatticeCosts | None
    fitted: tuple[BackoffParameters, PooledExperts | None]
    seed: int

    @classmethod
    def of(cls, method: ChainMethod, start: InitialScoresFromCounts) -> SharedInitialScores:
        """The start on the driver, without its sample of sentences."""
        asked = start.node_templates | start.edge_templates
        templates = tuple(compress(start.vocabulary.templates, asked))
        fitted, seed = (start.backoff, start.pool), start.counted.seed
        return cls(
            method, start.counts, start.word or "", templates, start.base, start.parts, start.costs, fitted, seed
        )

    def start(self) -> InitialScoresFromCounts:
        """The start on a worker, without sentences of its own."""
        tokens = _no_tokens(self.counts)
        counted = CountedCorpus(self.counts, tokens, self.word, (preset_of(self.base),), self.seed, folds=[])
        context = RunContext(1, self.seed)
        options: dict[str, Any] = {"base": self.base, "all_labels": self.method.all_labels, "parts": self.parts}
        options |= {"costs": self.costs, "fitted": self.fitted}
        return InitialScoresFromCounts(counted, self.templates, context=context, **options)


def _no_tokens(counts: Counts) -> Tokens:
    none = np.zeros(0, np.int32)
    features = np.zeros((len(counts.vocabulary.templates), 0), np.int32)
    return Tokens(features, none, none, np.zeros(1, np.int64))


def training_of(
    method: ChainMethod, start: InitialScoresFromCounts, tokens: int, layout: FeatureLayout
) -> ChainTraining:
    """Training on the sentences of many partitions, whose number of tokens and layout of weights are given."""
    size, rows = (start.n_labels + 1) ** 2, int(start.vocabulary.bases[-1])
    edges = SparseRows()
    if start.edge_templates.any():
        offsets = np.searchsorted(layout.edges, np.arange(rows + 1, dtype=np.int64) * size).astype(np.int64)
        edges = SparseRows(offsets, (layout.edges % size).astype(np.int32), np.zeros(len(layout.edges), np.float32))
    triples = triple_rows(layout.triples[layout.triple_counts >= LEAST_TRIPLES], start.n_labels)
    weights = WeightLayout(tokens, edges, triples)
    training = ChainTraining.of(method, start, start.context, layout=weights)
    # A round goes on from the mixed weights of the round before.
    return replace(training, p=replace(training.p, independent=False))


def own_layout(training: ChainTraining, tokens: Tokens) -> FeatureLayout:
    """The layout that some sentences need."""
    start, none = training.start, np.zeros(0, np.int64)
    k = start.n_labels
    edges = edge_rows(tokens, start.vocabulary, start.edge_templates, k).keys(len(LabelPairs(k)))
    if training.order == 1:
        return FeatureLayout(edges, none, none)
    return FeatureLayout(edges, *triple_counts(tokens, k, boundaries=training.method.boundaries))


# -- on workers ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shared:
    """Broadcast variables with a start and, once it is known, a layout; and a name for the run."""

    start: Any
    run: str
    layout: Any = None

    def training(self) -> ChainTraining:
        """The training. A worker process builds it once, and its start once for both layouts."""
        if self.run not in _starts:
            _starts.clear()
            _starts[self.run] = self.start.value.start()
        key = self.run, self.layout is not None
        if key not in _trainings:
            _trainings.clear()
            _kept.clear()
            given, layout = self.start.value, NO_LAYOUT if self.layout is None else self.layout.value
            start = _starts[self.run]
            _trainings[key] = training_of(given.method, start, given.counts.tokens, layout)
        return _trainings[key]


_starts: dict[str, InitialScoresFromCounts] = {}
_trainings: dict[tuple[str, bool], ChainTraining] = {}
_kept: dict[str, Items] = {}  # by the content of the sentences


def _corpus(batches: Iterator[Any], source: Where) -> Corpus | None:
    pieces = [*partition_corpora(batches, source)]
    return Corpus.joined(pieces) if pieces else None


def _tokens_of(training: ChainTraining, corpus: Corpus) -> Tokens:
    """The sentences of a partition as ids."""
    counted = training.start
    assert isinstance(counted, InitialScoresFromCounts)
    return counted.counts.tokens_of(corpus, counted.word or "")


def _items(training: ChainTraining, corpus: Corpus) -> Items:
    """The training items of a partition. They are kept for the next round."""
    content = hashlib.blake2b(corpus.offsets.tobytes(), digest_size=16)
    for column in (*corpus.columns, corpus.require_labels()):
        for array in (column.ids, column.strings.data, column.strings.offsets):
            content.update(array.tobytes())
    key = content.hexdigest()
    if key not in _kept:
        _kept[key] = training.items(_tokens_of(training, corpus), training.start.tables(), training=True)
        while len(_kept) > 1 and sum(len(items.tokens.labels) for items in _kept.values()) > MOST_KEPT_TOKENS:
            _kept.pop(next(iter(_kept)))
    return _kept[key]


@dataclass(frozen=True)
class _Task:
    """What a worker does with the sentences of a partition."""

    shared: Shared
    source: Where

    def __call__(self, batches: Iterator[Any]) -> Any:
        corpus = _corpus(batches, self.source)
        return None if corpus is None else self.result(self.shared.training(), corpus)

    def result(self, training: ChainTraining, corpus: Corpus) -> Any:
        """The result of a partition."""
        raise NotImplementedError


@dataclass(frozen=True)
class _FindFeatureLayout(_Task):
    def result(self, training: ChainTraining, corpus: Corpus) -> FeatureLayout:
        return own_layout(training, _tokens_of(training, corpus))


@dataclass(frozen=True)
class Mixed:
    """Sums over partitions: squared gradients, changes of weights and of their running sum times these; losses."""

    squares: F32
    changes: F32
    total: F32
    loss: float
    sentences: int

    def plus(self, other: Mixed) -> Mixed:
        """The sums of both."""
        sums = (a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        return Mixed(*sums)


@dataclass(frozen=True)
class _MakePass(_Task):
    state: Any  # broadcast: (weight, sum of squared gradients) side by side
    moments: int
    passes: int

    def result(self, training: ChainTraining, corpus: Corpus) -> Mixed:
        items = _items(training, corpus)
        share = len(items.tokens.labels) / training.n_tokens
        run = replace(training, p=training.p.changed(c2=training.p.c2 * share)).steps(items)
        before = self.state.value
        zero = np.zeros(len(before) // 2, np.float32)
        run.resume({"state": before, "total": zero, "moments": np.array([self.moments])}, self.passes)
        loss = run.pass_once()
        assert isinstance(run, AdaGrad)
        while run.moments < self.moments + MOMENTS:  # a pass over few sentences has fewer
            run.remember()
        weights, squares = before[::2], run.state[1::2] - before[1::2]
        total = run.total - np.float32(_saved(self.moments)) * weights
        n = int((np.diff(items.tokens.offsets) > 0).sum())
        return Mixed(squares, squares * (run.state[::2] - weights), squares * total, loss * n, n)


def _saved(moments: int) -> float:
    """The weights in the average, which are squares, of what one more pass saves."""
    return float(sum(k * k for k in range(moments + 1, moments + MOMENTS + 1)))


@dataclass(frozen=True)
class _Gradient(_Task):
    weights: Any  # broadcast

    def result(self, training: ChainTraining, corpus: Corpus) -> tuple[float, F64]:
        return _items(training, corpus).chains.objective(self.weights.value, 0.0, 1)


def _sum(a: tuple[float, F64], b: tuple[float, F64]) -> tuple[float, F64]:
    return a[0] + b[0], a[1] + b[1]


# -- on the driver ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """The data of a run and its start, on the workers."""

    df: DataFrame
    source: Where
    shared: Shared

    @classmethod
    def of(cls, df: DataFrame, source: Where, start: SharedInitialScores) -> Cluster:
        """Send a start to the workers."""
        return cls(df, source, Shared(df.sparkSession.sparkContext.broadcast(start), uuid.uuid4().hex))

    def with_layout(self, layout: FeatureLayout) -> Cluster:
        """Send the layout of the weights, too."""
        return replace(self, shared=replace(self.shared, layout=self.sent(layout)))

    def close(self) -> None:
        """Remove what was sent from the workers."""
        for sent in (self.shared.start, self.shared.layout):
            if sent is not None:
                sent.destroy()

    def sent(self, value: Any) -> Any:
        """A broadcast variable."""
        return self.df.sparkSession.sparkContext.broadcast(value)

    def reduced(self, task: Callable[[Iterator[Any]], Any], combine: Callable[[Any, Any], Any]) -> Any:
        """The results of a task on all partitions, combined."""
        return reduce_partitions(self.df, task, combine)


def fit_on_cluster(
    df: DataFrame,
    where: Where,
    rounds: int | None,
    method: ChainMethod,
    start: InitialScoresFromCounts,
    context: RunContext,
) -> tuple[ChainTraining, ChainModel, dict[str, Any]]:
    """Find the layout of the weights in a pass over the data, then fit them by mixing or by gradients."""
    if method.optimizer not in _FITS:
        raise ConfigError(f"the optimizer {method.optimizer!r} is not for training on Spark", option="optimizer")
    context.progress(ProgressEvent("counting label pairs"))
    cluster = Cluster.of(df, where, SharedInitialScores.of(method, start))
    layout = cluster.reduced(_FindFeatureLayout(cluster.shared, where), FeatureLayout.merged)
    cluster = cluster.with_layout(layout)
    training = training_of(method, start, start.counts.tokens, layout)
    rounds = (rounds or training.p.passes) if method.in_passes else None
    fitted = _FITS[method.optimizer](cluster, training, rounds or 0)
    cluster.close()
    model, record = training.finished(fitted)
    return training, model, record | ({} if rounds is None else {"rounds": rounds})


def fit_by_mixing(cluster: Cluster, training: ChainTraining, rounds: int) -> Fitted:
    """Weights after rounds of passes over all partitions, mixed after each."""
    initial = training.initial_vector()
    state = np.full((len(initial), 2), 1e-4, np.float32)
    state[:, 0] = initial
    flat, total, moments = state.ravel(), np.zeros(len(initial), np.float64), 0
    for done in range(rounds):
        sent = cluster.sent(flat)
        found = cluster.reduced(_MakePass(cluster.shared, cluster.source, sent, moments, done), Mixed.plus)
        sent.destroy()
        trained = found.squares > 0
        scale = 1.0 / np.where(trained, found.squares, 1.0)
        total += _saved(moments) * flat[::2] + np.where(trained, found.total * scale, 0.0)
        flat = flat.copy()
        flat[::2] += np.where(trained, found.changes * scale, 0.0).astype(np.float32)
        flat[1::2] += found.squares
        moments += MOMENTS
        loss = found.loss / max(1, found.sentences)
        training.context.progress(ProgressEvent(training.method.name, (done + 1) / rounds, loss=loss))
    mean = total / (moments * (moments + 1) * (2 * moments + 1) / 6)
    return Fitted(mean.astype(np.float32), None, stopped=False)


def fit_by_gradients(cluster: Cluster, training: ChainTraining, rounds: int = 0) -> Fitted:
    """The minimum of the objective by L-BFGS. Each evaluation sums the gradients of all partitions."""
    none = training.items(training.tokens.take(np.zeros(0, np.int64)), None, training=True)

    def objective(weights: F64) -> tuple[float, F64]:
        sent = cluster.sent(weights)
        losses = cluster.reduced(_Gradient(cluster.shared, cluster.source, sent), _sum)
        sent.destroy()
        return _sum(losses, none.chains.objective(weights, training.p.penalty.strength, 1))  # only the L2 term

    start = training.initial_vector().astype(np.float64)
    options: dict[str, Any] = {"c1": training.p.c1, "iterations": training.p.iterations}
    return make_iterations(objective, start, training.method.name, training.context.progress, **options)


#: What fits the weights on a cluster, by optimiser.
_FITS: dict[str, Callable[[Cluster, ChainTraining, int], Fitted]] = {
    "adagrad": fit_by_mixing,
    "lbfgs": fit_by_gradients,
}
