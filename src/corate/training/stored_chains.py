"""Training on whole sentences of a corpus that is larger than memory.

The vocabulary, the counts and the weights are in memory. Tokens are on disk: first as ids of features, then as training
items, in the pieces that stochastic passes visit one after another. The result is that of training in memory.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Corpus
from corate.counting.counted_corpus import CountedCorpus, vocabulary_of
from corate.counting.counts import Tokens
from corate.counting.stored_tokens import StoredTokens
from corate.errors import ConfigError, DataError, FeatureError
from corate.features import FeatureSource, resolve
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.label_scores import SparseRows
from corate.model.constraints import with_scheme
from corate.model.tagger import Tagger
from corate.optimize.pieces import cut_into_pieces
from corate.progress import ProgressEvent
from corate.stored_corpus import StoredCorpus, temporary_folder, writing_to
from corate.training.api import Trained, train
from corate.training.chains import LEAST_TRIPLES, TUNING_TOKENS, ChainTraining
from corate.training.checks import refuse_too_many_labels
from corate.training.defaults import choose_base, choose_edge_templates, choose_parts, scheme_of_labels
from corate.training.memory import check_corpus_fits, check_counting_fits, check_vocabulary_fits, check_weights_fit
from corate.training.options import ChainMethod, Polish
from corate.training.prepared import corpus_summary, default_features
from corate.training.start import RunContext, Start
from corate.training.start_from_counts import StartFromCounts, preset_of
from corate.training.stored_counting import StoredLabels, count_stored, edge_rows_of, triples_of
from corate.training.stored_items import StoredItems

__all__ = ["train_stored"]


def train_stored(
    stored: StoredCorpus,
    method: ChainMethod,
    *,
    memory_bytes: int,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    constrain: str | None = None,
    context: RunContext | None = None,
) -> Tagger:
    """Train a tagger on a corpus on disk, with stochastic passes. The model is that of :func:`corate.train`.

    Temporary files are in a new folder beside that of the corpus, which is removed at the end. A small corpus is
    trained in memory. Raises DataError if the vocabulary and the weights need more than ``memory_bytes``.
    """
    started = time.perf_counter()
    context = context or RunContext()
    if stored.n_tokens == 0:
        raise DataError("there are no tokens to train on")
    lengths = np.diff(stored.offsets)
    filled = np.flatnonzero(lengths)
    pieces = cut_into_pieces(filled, lengths[filled], context.seed)
    if pieces is None:
        check_corpus_fits(stored.n_tokens, memory_bytes)
        corpus = stored.sentences(0, len(stored))
        return train(corpus, method, features=features, held_out=held_out, constrain=constrain, **vars(context))
    _check_options(method)
    check_counting_fits(stored.n_tokens, memory_bytes)
    labels = StoredLabels(stored, getattr(method, "unknown", None))
    with writing_to(stored.folder):
        folder = temporary_folder(stored.folder.parent)
    try:
        scheme = scheme_of_labels(constrain, stored.labels.to_list(), labels.sentences(), labels.unknown)
        start = _start(labels, method, features, held_out, context, folder, memory_bytes)
        training = StoredTraining(method, start, context, pieces, folder, memory_bytes)
        trained = Trained.on_chains(training, *training.train())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    names = list(stored.layout) or list(stored.columns)
    layout = names if "label" in names else [*names, "label"]
    source = {"label_source": stored.label_source} if stored.label_source else {}
    record = {
        **trained.described(method, len(stored), stored.n_tokens, layout, context.seed, source),
        **({"constrain": scheme} if scheme else {}),
        "seconds": round(time.perf_counter() - started, 4),
    }
    model = with_scheme(trained.model, scheme) if scheme else trained.model
    return Tagger(trained.vocabulary, model, record, stored.columns)


def _check_options(method: ChainMethod) -> None:
    """Raise ConfigError for options that are only for training in memory."""
    only = "is only for training in memory; leave it unset, or give no memory limit"
    for name in ("label_weights", "sentence_weights"):
        if getattr(method, name) is not None:
            raise ConfigError(f"{name} {only}", option=name)
    if getattr(method, "base", None) == "separate":
        raise ConfigError(f"the base 'separate' {only}", option="base")
    if getattr(method, "optimizer", None) == "lbfgs":
        raise ConfigError(
            "with a memory limit, training makes stochastic passes; use the optimizer 'adagrad'", option="optimizer"
        )


def _start(
    labels: StoredLabels,
    method: ChainMethod,
    features: FeatureSource,
    held_out: Corpus | None,
    context: RunContext,
    folder: Path,
    memory_bytes: int,
) -> StartFromCounts:
    """Count the corpus."""
    stored = labels.stored
    templates, base = _templates_and_base(labels, method, features)
    presets = (preset_of(base),)
    context.progress(ProgressEvent("counting"))

    def check(vocabulary: Vocabulary, tokens: int) -> None:
        check_vocabulary_fits(vocabulary, tokens, stored.n_tokens, memory_bytes)

    counts, tokens = count_stored(
        labels,
        vocabulary_of(templates, presets, stored.word, labels.lexicons),
        folder / "tokens",
        threads=context.threads,
        check=check,
        progress=lambda done: context.progress(ProgressEvent("counting", done)),
    )
    counted = CountedCorpus.of_stored(
        counts, tokens, stored.word, presets=presets, held_out=held_out, seed=context.seed
    )
    return StartFromCounts.of_counted(
        counted,
        templates,
        base=base,
        all_labels=method.all_labels,
        parts=choose_parts(method, labels.names.to_list()),
        context=context,
        given=held_out is not None,
    )


def _templates_and_base(
    labels: StoredLabels, method: ChainMethod, features: FeatureSource
) -> tuple[Sequence[Template], str]:
    """The templates, with the lexicons that they learn, and the kind of the base scores."""
    stored = labels.stored
    strings = dict(zip(stored.columns, stored.strings, strict=True))
    summary = corpus_summary(strings, stored.labels, labels.counts())
    refuse_too_many_labels(summary, method.name, method.many_labels)
    found, function = resolve(default_features(method, features, summary), list(stored.columns))
    if function is not None:
        raise FeatureError("a feature function is only for training in memory; give templates or a preset")
    learned = labels.lexicons(atom for t in found for atom in t.atoms)
    templates, base = [t.with_lexicons(learned) for t in found if t.atoms], "none"
    if isinstance(method, Polish):
        templates += choose_edge_templates(method, summary, templates)
        base = choose_base(method, summary, templates)
    return templates, base


class StoredTraining(ChainTraining):
    """Training whose tokens and training items are on disk."""

    start: StartFromCounts

    def __init__(
        self,
        method: ChainMethod,
        start: StartFromCounts,
        context: RunContext,
        pieces: Sequence[NDArray[np.int64]],
        folder: Path,
        memory_bytes: int,
    ) -> None:
        assert start.counted.stored is not None
        self.stored: StoredTokens = start.counted.stored
        self.pieces, self.folder, self.memory_bytes = pieces, folder, memory_bytes
        super().__init__(method, start, context)

    def _n_tokens(self, start: Start) -> int:
        return int(self.stored.offsets[-1])

    def _some_unknown(self) -> bool:
        words = self.start.counts.of_template(0)
        return int(words.counts.sum()) < self._n_tokens(self.start)

    def _edge_rows(self, initial: SparseRows) -> SparseRows:
        return edge_rows_of(self.stored, self.start.vocabulary, self.start.edge_templates, self.start.n_labels)

    def _triples(self, initial: SparseRows) -> SparseRows:
        if self.order == 1:
            return SparseRows()
        return triples_of(self.stored, self.start.n_labels, LEAST_TRIPLES, boundaries=self.method.boundaries)

    def _tuning_tokens(self) -> tuple[Tokens, Tokens]:
        none = self.stored.take(np.zeros(0, np.int64))
        blocks = self.start.sample(Tokens(none.features, None, none.labels, self.stored.offsets), TUNING_TOKENS)
        return self.stored.take(blocks[::2]), self.stored.take(blocks[1::2])

    def chains_of(self, sentences: NDArray[np.int64]) -> _native.Chains:
        """The native items of a few sentences, from the stored tokens."""
        lost = self.start.lost
        items = self.items(self.stored.take(sentences), self.start.tables(), training=True)
        self.start.lost = lost  # the record is of all sentences, not of these
        return items.chains

    def _training_items(self) -> StoredItems:
        start = self.start
        check_weights_fit(start, len(self.edge_rows.labels), self.p.cutoff, self.memory_bytes)
        if self.p.cutoff > 1:
            start.drop_rare(self.p.cutoff)
            self.initial = start.initial_weights(self.p.temper, self.p.edge)
        with writing_to(self.folder):
            items, lost = StoredItems(self.folder / "items", self.stored, self.pieces, self), None
        for k, sentences in enumerate(self.pieces):
            self.context.progress(ProgressEvent("preparing sentences", k / len(self.pieces)))
            arrays = self.arrays(self.stored.take(sentences), start.tables(), training=True)
            if start.lost is not None:
                lost = start.lost + (0 if lost is None else lost)
            with writing_to(self.folder):
                items.add(arrays)
        start.lost = lost
        start.forget_tables()
        if not start.given:
            start.counted.held_out.clear()  # the ladder is tuned
        return items
