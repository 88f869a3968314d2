"""Training with stochastic passes on a corpus that is larger than memory.

The vocabulary, the counts and the weights are in memory. Tokens are on disk: first as ids of features, then as training
items, in the pieces that stochastic passes visit one after another. The result is that of training in memory.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.corpus.stored_corpus import StoredCorpus, temporary_folder, writing_to
from corate.counting.counted_corpus import CountedCorpus, vocabulary_of
from corate.errors import ConfigError, DataError, FeatureError
from corate.features import FeatureSource, resolve
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.model.constraints import with_scheme
from corate.model.tagger import Tagger
from corate.optimize.pieces import cut_into_pieces
from corate.progress import ProgressEvent
from corate.training.api import Trained, train_until_interrupted
from corate.training.checks import refuse_too_many_labels
from corate.training.defaults import choose_parts, choose_start, scheme_of_labels
from corate.training.lattice_costs import LatticeCosts
from corate.training.memory import check_corpus_fits, check_counting_fits, check_vocabulary_fits
from corate.training.options import ChainMethod, Separate
from corate.training.prepared import corpus_summary, default_features
from corate.training.start import RunContext
from corate.training.start_from_counts import StartFromCounts, preset_of
from corate.training.stored_chains import StoredChainTraining
from corate.training.stored_counting import StoredLabels, count_stored
from corate.training.stored_separate import StoredSeparateTraining

__all__ = ["train_stored"]


def train_stored(
    stored: StoredCorpus,
    method: ChainMethod | Separate,
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
        given: dict[str, Any] = {"features": features, "held_out": held_out, "constrain": constrain}
        return train_until_interrupted(corpus, method, **given, **vars(context))
    _check_options(method)
    check_counting_fits(stored.n_tokens, memory_bytes)
    labels = StoredLabels(stored, getattr(method, "unknown", None))
    with writing_to(stored.folder):
        folder = temporary_folder(stored.folder.parent)
    try:
        scheme = scheme_of_labels(constrain, stored.labels.to_list(), labels.sentences(), labels.unknown)
        start = _start(labels, method, features, held_out, context, folder, memory_bytes)
        trained = _train(method, start, context, pieces, folder, memory_bytes)
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


def _check_options(method: ChainMethod | Separate) -> None:
    """Raise ConfigError for options that are only for training in memory."""
    only = "is only for training in memory; leave it unset, or give no memory limit"
    for name in ("label_weights", "sentence_weights"):
        if getattr(method, name) is not None:
            raise ConfigError(f"{name} {only}", option=name)
    for name, value in (("base", "separate"), ("coupling", "joint")):
        if getattr(method, name, None) == value:
            raise ConfigError(f"the {name} {value!r} {only}", option=name)
    if getattr(method, "optimizer", None) == "lbfgs":
        raise ConfigError(
            "with a memory limit, training makes stochastic passes; use the optimizer 'adagrad'", option="optimizer"
        )


def _start(
    labels: StoredLabels,
    method: ChainMethod | Separate,
    features: FeatureSource,
    held_out: Corpus | None,
    context: RunContext,
    folder: Path,
    memory_bytes: int,
) -> StartFromCounts:
    """Count the corpus."""
    stored = labels.stored
    costs = labels.lattice_costs(getattr(method, "order", None))
    templates, base = _templates_and_base(labels, method, features, costs)
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
        parts=None if isinstance(method, Separate) else choose_parts(method, labels.names.to_list()),
        costs=costs,
        context=context,
        given=held_out is not None,
    )


def _templates_and_base(
    labels: StoredLabels, method: ChainMethod | Separate, features: FeatureSource, costs: LatticeCosts
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
    return choose_start(method, summary, [t.with_lexicons(learned) for t in found if t.atoms], costs)


def _train(
    method: ChainMethod | Separate,
    start: StartFromCounts,
    context: RunContext,
    pieces: Sequence[NDArray[np.int64]],
    folder: Path,
    memory_bytes: int,
) -> Trained:
    if isinstance(method, Separate):
        return Trained.separately(StoredSeparateTraining(method, start, context, pieces, folder, memory_bytes))
    training = StoredChainTraining(method, start, context, pieces, folder, memory_bytes)
    return Trained.on_chains(training, *training.train())
