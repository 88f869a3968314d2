"""Empirical training (SP1 of the paper, section "Fully Empirical"): every factor is estimated by counting.

    node_j(y) = log P(y | x_j)                        by a back-off, or pooled over any templates
    edge(y, y') = log P(y, y') / (P(y) P(y'))         the co-occurrence rate of neighbouring labels

Features are counted in one pass. A few settings are then tuned on held-out tokens. If the user has not chosen a
back-off, the one with the highest likelihood of these tokens is taken. The model stores the raw counts, so that more
data can be added later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corate import _native, portable_math
from corate.corpus import Corpus
from corate.counting.backoff import (
    DEFAULT,
    FLOOR,
    MOST_CANDIDATES,
    PAPER,
    PRESETS,
    BackoffParameters,
    BackoffPreset,
    BackoffTables,
    backoff_tables,
)
from corate.counting.backoff_tuning import TunedBackoff, measure_candidates, tune_backoff
from corate.counting.counted_corpus import CountedCorpus
from corate.counting.counts import Counts, PairCounts, Tokens
from corate.counting.pooling import (
    Candidates,
    Features,
    PooledExperts,
    experts,
    fit_edges,
    fit_weights,
    label_prior,
    with_evidence,
)
from corate.counting.rates import edge_scores
from corate.counting.word_pairs import WordPairCounts
from corate.errors import Argument, DataError, FeatureError, ModelError
from corate.features.templates import Template
from corate.label_pairs import EdgeScores, LabelPairs
from corate.model.chain import ChainModel, UnseenRule, WordPairs
from corate.progress import ProgressEvent
from corate.rows import SparseRows
from corate.training.methods import FORMER, OPTIONS, Empirical, Method, resolve_method
from corate.training.source import FittedModel, RunContext, Source, TrainingData, filled_rows
from corate.types import Ids

if TYPE_CHECKING:
    from corate.training.disk import BackoffStreams

__all__ = ["backoff_model", "fit", "pooled_model", "rebuild"]


#: The number of tokens that the weights of the pool, and the edges given the nodes, are fitted on.
WEIGHT_TOKENS = 15_000
PAIR_FIT_TOKENS = 60_000

#: The most labels of a pool. The cost of fitting their biases grows with the cube of the labels.
MOST_POOLED_LABELS = 5000

#: The back-offs that are tuned for each choice of the user. A pool contains a back-off.
BACKOFF_PRESETS: dict[str | None, tuple[BackoffPreset, ...]] = {
    None: (DEFAULT, PAPER),
    "default": (DEFAULT,),
    "paper": (PAPER,),
    "pooled": (DEFAULT,),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """A trained back-off or pool: a function that builds its model, its settings, and its scores on held-out tokens.

    ``build`` also returns the parts of the model file that stay on disk, None if it is all in memory.
    """

    name: str
    settings: dict[str, Any]
    accuracy: float | None
    log_loss: float | None
    build: Callable[[], tuple[ChainModel, BackoffStreams | None]]


class EmpiricalTraining:
    """Trains the chosen back-off on a counted corpus, or the best of all back-offs and a pool."""

    @classmethod
    def of(
        cls,
        method: Empirical,
        source: Source,
        templates: Sequence[Template] = (),
        held_out: Corpus | None = None,
        context: RunContext | None = None,
    ) -> EmpiricalTraining:
        """Count the corpus of a source."""
        backoff, context = method.backoff, context or RunContext()
        if source.word is None and source.attributes is not None and backoff in ("default", "paper"):
            raise FeatureError(f"the {backoff} back-off needs words, and the data has none; use the back-off 'pooled'")
        if backoff == "pooled" and not templates and source.attributes is None and source.word is not None:
            raise FeatureError("the pooled back-off needs features; choose a preset or give templates")
        if method.pairs == "words" and templates:
            raise FeatureError("the pairs 'words' use no features; leave features out")
        ready = bool(templates) or source.attributes is not None
        pooled = ready if backoff is None else backoff == "pooled"
        if not pooled and source.attributes is not None:
            source = source.with_attributes(None)
        context.progress(ProgressEvent("counting"))
        presets = BACKOFF_PRESETS[backoff]
        counted = source.count(templates if pooled else (), presets, context, held_out)
        return cls(method, source, counted, context, pooled=pooled)

    def __init__(
        self, method: Empirical, source: Source, counted: CountedCorpus, context: RunContext, *, pooled: bool
    ) -> None:
        self.method, self.backoff, self.given = method, method.backoff, given_parameters(method)
        self.source = source
        self.counted, self.context, self.pooled = counted, context, pooled
        self.word, self.n_labels = counted.word, counted.n_labels

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, Counts, dict[str, Any], BackoffStreams | None]:
        """Train; returns the model, its counts, a record of what was chosen and measured, and what stays on disk."""
        if self.pooled and self.n_labels > MOST_POOLED_LABELS:
            raise DataError(
                f"{self.n_labels:,} labels are more than the {MOST_POOLED_LABELS:,} that counting with features takes",
                f"name the columns with {Argument('columns')} if another one contains the labels, "
                "or train without features",
            )
        choices = [self._with_word_pairs()] if self.method.pairs == "words" else self._tuned()
        best = min(choices, key=lambda c: np.inf if c.log_loss is None else c.log_loss)
        record = {"ladder": best.name, "word": self.word, "settings": best.settings, "held_out": self._summary(choices)}
        self.counted.release_held_out()
        self.context.progress(ProgressEvent("building the model"))
        model, streams = best.build()
        return model, self.counts.padded(), record | self.counted.described(), streams

    @cached_property
    def _word_pairs(self) -> WordPairCounts | None:
        self.context.progress(ProgressEvent("counting pairs of words"))
        return self.counted.counts.with_word_pairs(self.counted.tokens.in_memory()).word_pairs

    @property
    def counts(self) -> Counts:
        """The counts, with those of pairs of words if they are asked for."""
        counts = self.counted.counts
        return replace(counts, word_pairs=self._word_pairs) if self.method.pairs == "words" else counts

    def _tuned(self) -> list[Trial]:
        """The back-offs and the pool to choose from."""
        choices: list[Trial] = []
        tuned: BackoffParameters | None = None
        for preset in self.counted.presets:
            found = tune_backoff(self.counted, preset, self.given, self.context.progress)
            tuned = found.parameters if preset is DEFAULT else tuned
            choices.append(self._choice(preset, found))
        if self.pooled:
            choices.append(self._pool(tuned))
        return choices[-1:] if self.backoff == "pooled" else choices

    def _with_word_pairs(self) -> Trial:
        """The paper's back-off with pairs of words, which has nothing to tune."""
        start = replace(BackoffParameters.of(PAPER), cap=MOST_CANDIDATES)
        choice = self._choice(PAPER, TunedBackoff(replace(start, **self.given), None, None))
        return replace(choice, settings={"pairs": "words", **choice.settings})

    def _summary(self, choices: list[Trial]) -> dict[str, Any]:
        measured = {c.name: {"accuracy": c.accuracy, "log_loss": c.log_loss} for c in choices if c.accuracy is not None}
        tokens = sum(len(h.tokens.labels) for h in self.counted.held_out) if measured else 0
        return {"tokens": tokens, "ladders": measured}

    def _choice(self, preset: BackoffPreset, tuned: TunedBackoff) -> Trial:
        def build() -> tuple[ChainModel, BackoffStreams | None]:
            p, tables = tuned.parameters, self.counted.all_tables(preset)
            model = backoff_model(self.counts, preset, p, self.word or "", self.method.all_labels, tables)
            return model, self.source.streamed(self.counted, preset, p, model)

        return Trial(preset.name, asdict(tuned.parameters), tuned.accuracy, tuned.log_loss, build)

    # -- pooling -------------------------------------------------------------------------------------------------

    def _pool(self, tuned: BackoffParameters | None) -> Trial:
        """Fit the pool's weights and edges on tokens, each left out of the counts. Evaluate it on held-out tokens."""
        counts, prior = self.counts, label_prior(self.counts)
        bases = counts.vocabulary.bases
        expert_of, names = experts(counts.vocabulary)
        p = None if tuned is None else replace(tuned, threshold=1e-5, cap=12)
        full = None if p is None else self.counted.all_tables(DEFAULT)

        def candidates(tokens: Tokens, tables: BackoffTables | None, left_out: Ids | None) -> Candidates:
            if tables is None or p is None:
                return Candidates.all_labels(len(tokens.labels), self.n_labels)
            parts = tables.parts(p, tokens, left_out)
            found = Candidates(parts.offsets, parts.labels, parts.scores(p))
            return found.spread(self.n_labels, FLOOR) if self.n_labels <= POOLED_FULL_LABELS else found

        self.context.progress(ProgressEvent("fitting the expert weights"))
        sample = self.counted.sample(WEIGHT_TOKENS)
        features = Features.of(sample, bases)
        pool = fit_weights(
            counts.table,
            prior,
            features,
            expert_of,
            candidates(sample, full, sample.labels),
            sample.labels,
            with_evidence(sample, counts),
            has_backoff=full is not None,
            progress=lambda done: self.context.progress(ProgressEvent("fitting the expert weights", done)),
        )
        self.context.progress(ProgressEvent("fitting the edges"))
        sample = self.counted.sample(PAIR_FIT_TOKENS)
        features = Features.of(sample, bases)
        possible = candidates(sample, full, sample.labels)
        scores = pool.scores(counts.table, prior, features, expert_of, possible, sample.labels)
        posteriors = possible.softmax(scores.astype(np.float64)).astype(np.float32)
        observed = PairCounts(*_native.count_pairs(sample.labels, sample.offsets, self.n_labels))
        edges = fit_edges(observed, sample.offsets, possible, posteriors, k=0.5, rounds=3)

        correct, losses = [], []
        native = EdgeScores.of_dense(edges).native()
        for h in self.counted.held_out:
            tables = None if p is None else self.counted.tables(DEFAULT, h.vocabulary, h.table)
            possible = candidates(h.tokens, tables, None)
            features = Features.of(h.tokens, bases)
            scores = pool.scores(h.table, prior, features, expert_of, possible, None)
            is_correct, loss = measure_candidates(h.tokens, possible.offsets, possible.labels, scores, native)
            correct.append(is_correct)
            losses.append(loss)

        def build() -> tuple[ChainModel, BackoffStreams | None]:
            every = self.method.all_labels
            return pooled_model(counts, pool, EdgeScores.of_dense(edges), p, self.word, every), None

        settings: dict[str, Any] = {
            "weights": {name: round(float(w), 4) for name, w in zip(names, pool.experts, strict=False)},
            "ladder_weight": round(pool.backoff, 4),
        }
        if p is not None:
            settings["ladder"] = asdict(p)
        accuracy, log_loss = (float(np.concatenate(m).mean()) if m else None for m in (correct, losses))
        return Trial("pooled", settings, accuracy, log_loss, build)


def fit(method: Empirical, data: TrainingData, context: RunContext) -> FittedModel:
    """Count the corpus, and choose what is left to choose on held-out tokens."""
    training = EmpiricalTraining.of(method, data.source, data.templates, data.held_out, context)
    model, counts, record, streams = training.train()
    features = filled_rows(counts.table.offsets) + (0 if streams is None else streams.features)
    return FittedModel(counts.vocabulary, model, record, features, counts, streams)


#: With at most this many labels, all labels are candidates everywhere in a pooled model.
POOLED_FULL_LABELS = 64
_LARGEST_POOL_WEIGHT = 1e6


def backoff_model(
    counts: Counts,
    preset: BackoffPreset,
    p: BackoffParameters,
    word: str,
    all_labels: bool,
    tables: BackoffTables | None = None,
) -> ChainModel:
    """The chain model of a back-off with chosen settings. Adds features of unseen words to the vocabulary of the
    counts.

    ``tables`` are the tables of the back-off, if they were made before.
    """
    vocabulary = counts.vocabulary
    tables = tables or backoff_tables(counts, preset, word)
    rows, bases, weights = tables.compiled(p)
    parts = [SparseRows.empty(vocabulary.n_attributes)]
    parts += [weights.get(t, SparseRows.empty(size)) for t, size in enumerate(vocabulary.map.sizes().tolist())]
    return ChainModel(
        counts.labels,
        edge_scores(counts.pairs, len(counts.labels), p.edge_k, p.edge),
        SparseRows.joined(parts),
        np.zeros(len(counts.labels), np.float32),
        rows,
        tuple(tables.level_functions),
        tuple(bases),
        vocabulary.columns.index(word),
        all_labels,
        unseen=UnseenRule(
            tuple(p.ks(tables.preset)),
            p.oov,
            float(portable_math.log(p.oov_constant)),
            p.threshold,
            min(p.cap, len(counts.labels)),
        ),
        word_pairs=None if counts.word_pairs is None else WordPairs(counts.word_pairs),
    )


def pooled_model(
    counts: Counts,
    pool: PooledExperts,
    edges: EdgeScores,
    p: BackoffParameters | None,
    word: str | None,
    all_labels: bool,
) -> ChainModel:
    """The chain model of a pool: the evidence of every expert as weights, plus the weighted back-off."""
    n_labels = len(counts.labels)
    expert_of, _ = experts(counts.vocabulary)
    weights = pool.compiled(counts.table, label_prior(counts), expert_of)
    every = all_labels or n_labels <= POOLED_FULL_LABELS
    bias = pool.bias.astype(np.float32)
    if p is None or word is None:
        return ChainModel(counts.labels, edges, weights, bias, all_labels=every)
    if n_labels <= POOLED_FULL_LABELS:
        p = replace(p, threshold=1e-6, cap=POOLED_FULL_LABELS)
    backoff = backoff_model(counts, DEFAULT, p, word, every)
    return replace(
        backoff.with_row_weight(pool.backoff),
        edges=edges,
        bias=bias,
        weights=weights.padded(int(counts.vocabulary.bases[-1])).plus(backoff.weights.scaled(pool.backoff)),
        floor=FLOOR * pool.backoff,
    )


def rebuild(old: ChainModel, counts: Counts, record: dict[str, Any]) -> ChainModel:
    """The model of larger counts, with the settings of the old model.

    A pool keeps its weights, biases and edges. New labels get their prior as bias, and no edges.
    """
    word = record["word"]
    settings = dict(record["settings"])
    all_labels = bool(record.get("all_labels", False))
    if record["ladder"] in PRESETS:
        return backoff_model(counts, PRESETS[record["ladder"]], _parameters(settings), word, all_labels)
    if record["ladder"] != "pooled":
        raise ModelError(f"the model was trained with an unknown back-off {record['ladder']!r}; train it again")
    _, names = experts(counts.vocabulary)
    weights = np.array([settings["weights"].get(name, 0.0) for name in names])
    if not (np.abs([*weights, settings["ladder_weight"]]) < _LARGEST_POOL_WEIGHT).all():
        raise ModelError("the model's weights of experts are out of range; train it again")
    bias = portable_math.log(label_prior(counts))
    bias[: len(old.bias)] = old.bias
    parameters_or_none = _parameters(settings["ladder"]) if "ladder" in settings else None
    pool = PooledExperts(weights, settings["ladder_weight"], bias)
    edges = _grown(old.edges, len(counts.labels))
    return pooled_model(counts, pool, edges, parameters_or_none, word, all_labels)


def given_parameters(method: Method) -> dict[str, Any]:
    """The parameters of a back-off that are given as options."""
    given = {OPTIONS[name].key: value for name, value in method.given().items()}
    return {f.name: given[f.name] for f in fields(BackoffParameters) if given[f.name] is not None}


def _parameters(settings: dict[str, Any]) -> BackoffParameters:
    named = {FORMER.get(name, name): value for name, value in settings.items()}
    try:
        return BackoffParameters(**given_parameters(resolve_method("empirical", {"expert": named})))
    except DataError as error:
        raise ModelError(f"the model's settings are not valid ({error}); train it again") from None


def _grown(edges: EdgeScores, n_labels: int) -> EdgeScores:
    """Edge scores with new labels added; their pairs score zero."""
    return EdgeScores.of_dense(LabelPairs(edges.n_labels).grown(edges.dense(), n_labels))
