"""Empirical training (SP1 of the paper, section "Fully Empirical"): every factor is estimated by counting.

    node_j(y) = log P(y | x_j)                        by a back-off ladder, or pooled over any templates
    edge(y, y') = log P(y, y') / (P(y) P(y'))         the co-occurrence rate of neighbouring labels

One pass counts. A few settings are then tuned on held-out tokens, and where the user has not chosen between the
ladders, the likelihood of those tokens does. What is stored are the raw counts, so that more data can be added later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.counting.counts import Counts, PairCounts, Table, Tokens, label_ids
from corate.counting.held_out import held_out_tokens, slices, take, without
from corate.counting.ladder import (
    DEFAULT,
    MOST_CANDIDATES,
    PAPER,
    LadderParameters,
    LadderPreset,
    LadderTables,
    NodeParts,
)
from corate.counting.pooling import Candidates, Features, fit_edges, fit_weights
from corate.counting.rates import edge_scores
from corate.counting.tuning import climb
from corate.errors import DataError, FeatureError
from corate.features.kin import usual_lexicons
from corate.features.templates import Atom, Template, WordFunction, lexicons_of
from corate.features.vocabulary import BOUNDARIES, Vocabulary
from corate.model.chain import ChainModel
from corate.scores import EdgeScores
from corate.training.build import (
    FLOOR,
    POOLED_FULL_LABELS,
    experts,
    label_prior,
    ladder_model,
    ladder_tables,
    pooled_model,
)
from corate.training.settings import named_settings
from corate.types import Ids

__all__ = ["LADDERS", "Empirical"]

LADDERS = ("default", "paper", "pooled")

#: Tokens the weights of the pool are fitted on, and the edges given the nodes.
WEIGHT_TOKENS = 15_000
PAIR_FIT_TOKENS = 60_000
#: Labels that a pool can have biases for: their fit is of the cube of the labels.
MOST_POOLED_LABELS = 5000
#: What tuning may look at in the folds, pairs of labels that a word was seen with, and for every token all labels: more
#: than there is with 40 labels for each word and 900 in all.
MOST_LOOKS = 30_000_000

_LADDER_STEPS = {
    "edge": 1.2,
    "context": 1.4,
    "neighbour": 1.3,
    "oov": 1.2,
    "word_k": 2.0,
    "rung_k": 2.0,
    "lower_k": 2.0,
}
_PAPER_STEPS = {"oov": 1.25, "edge": 1.2}

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Tokens that the table does not count, with the vocabulary that numbers their strings."""

    tokens: Tokens
    vocabulary: Vocabulary
    table: Table


@dataclass(frozen=True, eq=False)
class Choice:
    """A trained candidate: how to build its model, its settings, and how it did on the held-out tokens."""

    name: str
    settings: dict[str, Any]
    accuracy: float | None
    log_loss: float | None
    build: Callable[[], ChainModel]


class Empirical:
    """One corpus, counted once; trains on it the ladder asked for, or the best of ``presets`` and a pool."""

    def __init__(
        self,
        corpus: Corpus,
        templates: Sequence[Template] = (),
        *,
        ladder: str | None = None,
        settings: Mapping[str, float] | None = None,
        held_out: Corpus | None = None,
        seed: int = 0,
        all_labels: bool = False,
        presets: tuple[LadderPreset, ...] | None = None,
        unknown: str | None = None,
        threads: int = 1,
        progress: Progress = lambda stage, done: None,
    ) -> None:
        if ladder is not None and ladder not in LADDERS:
            raise DataError(f"unknown ladder {ladder!r}; there are {', '.join(LADDERS)}")
        if corpus.n_tokens == 0:
            raise DataError("there are no tokens to train on")
        if corpus.word is None and corpus.attributes is None:
            raise DataError("the data has labels and nothing to tell them from; give words or features")
        self.word = None if corpus.word is None else corpus.word.name
        if self.word is not None:
            Atom(WordFunction(), self.word, 0)  # refuses a name that no template could hold
        self.ladder, self.seed, self.all_labels, self.progress = ladder, seed, all_labels, progress
        if self.word is None and ladder in ("default", "paper"):
            raise FeatureError(f"the {ladder} ladder climbs from words, and the data has none; use the pooled one")
        if ladder == "pooled" and not templates and corpus.attributes is None:
            raise FeatureError("the pooled ladder needs templates or features; choose a preset with --features")
        self.settings = named_settings(LadderParameters(), settings)
        progress("counting", 0.0)
        self.presets: tuple[LadderPreset, ...] = ()
        if self.word is not None:
            self.presets = {"paper": (PAPER,), "default": (DEFAULT,), "pooled": (DEFAULT,)}.get(
                ladder or "", presets or (DEFAULT, PAPER)
            )
        ready = bool(templates) or corpus.attributes is not None
        self.pooled = ready if ladder is None else ladder == "pooled"
        if not self.pooled and corpus.attributes is not None:
            corpus = replace(corpus, attributes=None)
        vocabulary = self._vocabulary(templates if self.pooled else (), corpus, unknown)
        self.counts, self.tokens = Counts.of(corpus, vocabulary, self.word, unknown, threads)
        self.n_labels = len(self.counts.labels)
        self.held_out = self._held_out(held_out)

    def _vocabulary(self, templates: Sequence[Template], corpus: Corpus, unknown: str | None) -> Vocabulary:
        if self.word is None:
            return Vocabulary.of(templates)
        counted = {t: None for preset in self.presets for t in preset.templates(self.word)}
        counted.update(dict.fromkeys(templates))
        derived = [t for preset in self.presets for t in preset.derived(self.word)]
        rungs = [atom for preset in self.presets for atom in preset.atoms(self.word)]
        known = lexicons_of(templates)  # perhaps they have learned what the rungs need
        learning = [atom for atom in rungs if atom.taught(known).function.table is None]
        known |= usual_lexicons(learning, corpus, *label_ids(corpus, unknown))
        return Vocabulary.of([*counted, *derived], [atom.taught(known) for atom in rungs])

    def _held_out(self, corpus: Corpus | None) -> list[HeldOut]:
        if corpus is not None:
            if corpus.n_tokens == 0:
                raise DataError("there are no held-out tokens to tune on; give some, or leave held_out away")
            tokens, vocabulary = held_out_tokens(self.counts, corpus, self.word)
            return [HeldOut(tokens, vocabulary, self.counts.table)]
        folds = slices(self.tokens.offsets, self.seed)
        kept = [self._affordable(sentences, MOST_LOOKS / len(folds)) for sentences in folds]
        parts = [take(self.tokens, sentences) for sentences in kept if len(sentences)]
        return [HeldOut(part, self.counts.vocabulary, without(self.counts, part)) for part in parts]

    def _affordable(self, sentences: NDArray[np.int64], most: float) -> NDArray[np.int64]:
        """The first sentences of a fold, as far as scoring and decoding them does not look at more than ``most``."""
        if self.tokens.words is None:
            return sentences
        words = self.counts.of_template(0)
        seen = np.minimum(np.diff(words.offsets)[BOUNDARIES:], MOST_CANDIDATES)
        looks = np.concatenate([[0], np.cumsum(seen[self.tokens.words] ** 2 + self.n_labels)])
        spent = np.cumsum(looks[self.tokens.offsets[sentences + 1]] - looks[self.tokens.offsets[sentences]])
        return sentences[spent <= most]

    # -- training ------------------------------------------------------------------------------------------------

    def train(self) -> tuple[ChainModel, Counts, dict[str, Any]]:
        """The model, the counts behind it, and what was chosen and measured on the way."""
        if self.pooled and self.n_labels > MOST_POOLED_LABELS:
            raise DataError(
                f"{self.n_labels:,} labels are more than the {MOST_POOLED_LABELS:,} that counting with features takes; "
                "name the columns if another one holds the labels, or leave the features away"
            )
        choices: list[Choice] = []
        tuned: LadderParameters | None = None
        for preset in self.presets:
            parameters, choice = self.tune(preset)
            tuned = parameters if preset is DEFAULT else tuned
            choices.append(choice)
        if self.pooled:
            choices.append(self._pool(tuned))
        if self.ladder == "pooled":
            choices = choices[-1:]
        best = min(choices, key=lambda c: np.inf if c.log_loss is None else c.log_loss)
        self.progress("building the model", 0.0)
        model = best.build()
        size = int(self.counts.vocabulary.bases[-1])
        counts = replace(self.counts, table=self.counts.table.padded(size))
        record = {"ladder": best.name, "word": self.word, "settings": best.settings, "held_out": self._summary(choices)}
        return model, counts, record

    def _summary(self, choices: list[Choice]) -> dict[str, Any]:
        measured = {c.name: {"accuracy": c.accuracy, "log_loss": c.log_loss} for c in choices if c.accuracy is not None}
        return {"tokens": sum(len(h.tokens.labels) for h in self.held_out), "ladders": measured}

    def tables(self, preset: LadderPreset, vocabulary: Vocabulary, table: Table) -> LadderTables:
        """What a ladder reads of a table of counts; the vocabulary may have grown by strings that were not counted."""
        return ladder_tables(replace(self.counts, table=table), preset, self.word or "", vocabulary)

    def tune(self, preset: LadderPreset) -> tuple[LadderParameters, Choice]:
        """Tune a ladder on the held-out tokens: its settings, and how it did."""
        start = replace(LadderParameters.of(preset), **self.settings)
        folds = [(h.tokens, self.tables(preset, h.vocabulary, h.table)) for h in self.held_out]
        steps = _PAPER_STEPS if preset is PAPER else _LADDER_STEPS
        steps = {name: step for name, step in steps.items() if name not in self.settings}
        judge = _Judge(folds, self.counts.pairs, self.n_labels)
        parameters = start
        if folds:
            stage = f"tuning the {preset.name} ladder"
            parameters, _ = climb(judge, start, steps, lambda done: self.progress(stage, done))
        accuracy, log_loss = judge.measure(parameters) if folds else (None, None)

        def build() -> ChainModel:
            return ladder_model(self.counts, preset, parameters, self.word or "", self.all_labels)

        return parameters, Choice(preset.name, asdict(parameters), accuracy, log_loss, build)

    # -- pooling -------------------------------------------------------------------------------------------------

    def _pool(self, tuned: LadderParameters | None) -> Choice:
        """Fit the pool's weights, then its edges, on tokens left out one by one; judge it on the held-out tokens."""
        counts = self.counts
        vocabulary = counts.vocabulary
        bases = vocabulary.bases
        expert_of, names = experts(vocabulary)
        prior = label_prior(counts)
        p = None if tuned is None else replace(tuned, threshold=1e-5, cap=12)
        full = None if p is None else self.tables(DEFAULT, vocabulary, counts.table)

        def candidates(tokens: Tokens, tables: LadderTables | None, left_out: Ids | None) -> Candidates:
            if tables is None or p is None:
                return Candidates.all_labels(len(tokens.labels), self.n_labels)
            parts = tables.parts(p, tokens, left_out)
            found = Candidates(parts.offsets, parts.labels, parts.scores(p))
            return found.spread(self.n_labels, FLOOR) if self.n_labels <= POOLED_FULL_LABELS else found

        self.progress("weighing the experts", 0.0)
        sample = self.sample(WEIGHT_TOKENS)
        features = Features.of(sample, bases)
        pool = fit_weights(
            counts.table,
            prior,
            features,
            expert_of,
            candidates(sample, full, sample.labels),
            sample.labels,
            has_ladder=full is not None,
            progress=lambda done: self.progress("weighing the experts", done),
        )
        self.progress("fitting the edges", 0.0)
        sample = self.sample(PAIR_FIT_TOKENS)
        features = Features.of(sample, bases)
        possible = candidates(sample, full, sample.labels)
        scores = pool.scores(counts.table, prior, features, expert_of, possible, sample.labels)
        posteriors = possible.softmax(scores.astype(np.float64)).astype(np.float32)
        observed = PairCounts(*_native.count_pairs(sample.labels, sample.offsets, self.n_labels))
        edges = fit_edges(observed, sample.offsets, possible, posteriors, k=0.5, rounds=3)

        right, losses = [], []
        native = EdgeScores.of_dense(edges).native()
        for h in self.held_out:
            tables = None if p is None else self.tables(DEFAULT, h.vocabulary, h.table)
            possible = candidates(h.tokens, tables, None)
            features = Features.of(h.tokens, bases)
            scores = pool.scores(h.table, prior, features, expert_of, possible, None)
            correct, loss = _judge(h.tokens, possible.offsets, possible.labels, scores, native)
            right.append(correct)
            losses.append(loss)

        def build() -> ChainModel:
            return pooled_model(counts, pool, EdgeScores.of_dense(edges), p, self.word, self.all_labels)

        settings: dict[str, Any] = {
            "weights": {name: round(float(w), 4) for name, w in zip(names, pool.experts, strict=False)},
            "ladder_weight": round(pool.ladder, 4),
        }
        if p is not None:
            settings["ladder"] = asdict(p)
        accuracy = float(np.concatenate(right).mean()) if right else None
        log_loss = float(np.concatenate(losses).mean()) if losses else None
        return Choice("pooled", settings, accuracy, log_loss, build)

    def sample(self, tokens: int) -> Tokens:
        """Whole sentences in blocks spread over the corpus, about so many tokens."""
        sentences = len(self.tokens.offsets) - 1
        want = tokens / max(1, int(self.tokens.offsets[-1])) * sentences
        if want >= sentences:
            return self.tokens
        blocks = 50
        starts = (np.arange(blocks) + np.random.default_rng(self.seed + 1).random()) / blocks * sentences
        picks = (starts.astype(np.int64)[:, None] + np.arange(max(1, round(want / blocks)))) % sentences
        return take(self.tokens, np.unique(picks))


class _Judge:
    """Says which held-out tokens a ladder gets right; parts of the scores are kept where only weights change."""

    def __init__(self, folds: list[tuple[Tokens, LadderTables]], pairs: PairCounts, n_labels: int) -> None:
        self.folds, self.pairs, self.n_labels = folds, pairs, n_labels
        self._key: tuple[float, ...] | None = None
        self._parts: list[NodeParts] = []

    def parts(self, p: LadderParameters) -> list[NodeParts]:
        key = (p.word_k, p.lower_k, p.rung_k, p.pair_k, p.class_k, p.rare, p.threshold, p.cap)
        if key != self._key:
            self._key, self._parts = key, [tables.parts(p, tokens) for tokens, tables in self.folds]
        return self._parts

    def __call__(self, p: LadderParameters) -> NDArray[np.bool_]:
        edges = edge_scores(self.pairs, self.n_labels, p.edge_k, p.edge).native()
        right = []
        for (tokens, _), parts in zip(self.folds, self.parts(p), strict=True):
            best, _ = _native.viterbi(tokens.offsets, parts.offsets, parts.labels, parts.scores(p), edges)
            right.append(best == tokens.labels)
        return np.concatenate(right)

    def measure(self, p: LadderParameters) -> tuple[float, float]:
        """Accuracy, and the mean negative log-probability of the right label."""
        edges = edge_scores(self.pairs, self.n_labels, p.edge_k, p.edge).native()
        measured = [
            _judge(tokens, parts.offsets, parts.labels, parts.scores(p), edges)
            for (tokens, _), parts in zip(self.folds, self.parts(p), strict=True)
        ]
        return tuple(float(np.concatenate(m).mean()) for m in zip(*measured, strict=True))  # type: ignore[return-value]


def _judge(
    tokens: Tokens, offsets: NDArray[np.int64], labels: Ids, scores: NDArray[np.float32], edges: _native.Edges
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which tokens are right, and -log P(right label) of each, at most that of one in a hundred thousand."""
    best, _ = _native.viterbi(tokens.offsets, offsets, labels, scores, edges)
    _, marginals, _ = _native.forward_backward(tokens.offsets, offsets, labels, scores, edges)
    gold = Candidates(offsets, labels, scores).find(tokens.labels)
    p = np.where(gold >= 0, marginals[gold], 0.0)
    return best == tokens.labels, -np.log(np.maximum(p, 1e-5))
