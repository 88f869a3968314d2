"""Training: one module a method. Each takes a corpus and templates and returns a tagger."""

from __future__ import annotations

import inspect
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_seed, check_threads
from corate.corpus import Corpus
from corate.counting.counts import Counts, Table, label_ids
from corate.errors import ConfigError, DataError, FeatureError, ModelError
from corate.features import FeatureSource, resolve
from corate.features.ready_made import Bins, FeatureFunction, with_features
from corate.features.related_words import learn_lexicons
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.label_scores import SparseRows
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.spans import are_spans
from corate.training.chains import RECIPES, ChainTraining
from corate.training.checks import check_corpus, refuse_too_large_values, refuse_too_many_labels
from corate.training.empirical import Empirical
from corate.training.empirical_model import rebuild
from corate.training.methods import ARGUMENTS, METHODS, settings_of
from corate.training.pairs import edge_templates
from corate.training.separate import Separate
from corate.training.start import FULL_LATTICE_LABELS, StartFromCounts, StartFromModel

__all__ = ["train", "update"]

Progress = Callable[[str, float], None]

#: With more than a few labels, edges depend on the word before where there are so many tokens for each label.
EDGE_TOKENS_PER_LABEL = 1500


def train(
    corpus: Corpus,
    method: str = METHODS[0],
    *,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    ladder: str | None = None,
    base: str | None = None,
    coupling: str | None = None,
    optimizer: str | None = None,
    settings: Mapping[str, float] | None = None,
    tune: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    init: Tagger | str | os.PathLike[str] | None = None,
    lattice: str | None = None,
    transitions: str | None = None,
    boundaries: bool = True,
    order: int | None = None,
    unknown: str | None = None,
    label_weights: Mapping[str, float] | None = None,
    sentence_weights: Sequence[float] | None = None,
    threads: int = 1,
    seed: int = 0,
    all_labels: bool = False,
    many_labels: bool = False,
    progress: Progress | None = None,
) -> Tagger:
    """Train a tagger on a labelled corpus.

    Args:
        corpus: sentences with labels.
        method: ``"polish"``: from counted scores, a few stochastic passes of a conditional random field.
            ``"empirical"``: every factor is estimated by counting. ``"separate"``: every factor is a maximum entropy
            model, fitted on its own. ``"standard"``: a conditional random field, trained to its optimum.
            ``"piecewise"``, ``"memm"`` and ``"perceptron"``: other losses of a sentence.
        features: a preset (``"paper"``, ``"pos"``, ``"ner"``, ``"chunking"``), a template file, a list of templates, or
            a function of a sentence and a position. Without any, ``"empirical"`` takes the words and their neighbours,
            and the others the preset ``"ner"`` where labels are spans, else ``"pos"``.
        held_out: sentences to tune on or to stop by, looked at and never trained on; without them empirical scores are
            tuned on parts of the corpus that are counted afterwards.
        ladder: ``"default"``, ``"paper"`` or ``"pooled"``; without one held-out sentences decide.
        base: the empirical scores that nodes start from, ``"default"``, ``"pooled"``, ``"paper"`` or ``"none"``; for
            ``"polish"`` also ``"separate"``: a separate model is trained and polished. Without one, ``"polish"`` takes
            pooled scores where labels are few, and all others the default ladder.
        coupling: ``"given-nodes"`` (the default), or ``"joint"``, the paper's.
        optimizer: ``"adagrad"`` or ``"lbfgs"``.
        settings: values by name, as ``corate info`` shows them, in place of the usual ones; what is given is not tuned.
        tune: search for the priors, the weight of the base and the cut-off, too.
        checkpoint: a file to write after every pass, and to take up again from.
        init: a tagger, or the file of one, to start from: its features and weights are kept and trained further.
        lattice: ``"full"``, every label everywhere, or ``"pruned"``, those that a word's counts make likely.
        transitions: ``"all"`` label pairs have a weight, or only those ``"seen"``.
        boundaries: whether the start and the end of a sentence have weights.
        order: 2 gives weights to three labels in a row, too, and 1 to pairs alone. Without one, ``"polish"`` takes the
            second where labels are many, and ``"standard"`` the first.
        unknown: the label that says that a token's label is not known; all labels are then possible.
        label_weights: how much tokens of a label count, by label; 1 for those not named.
        sentence_weights: how much each sentence of the corpus counts; one of weight 0 is as good as absent.
        threads: for methods that can share their work; ``"empirical"`` needs one. The result does not depend on it.
        seed: chooses what is held out, and the order of stochastic steps.
        all_labels: consider every label everywhere, not only those that a word's counts make likely.
        many_labels: train even where labels are so many that another column seems to have been read as the labels.
        progress: called with a stage and the share of it that is done.

    An argument that the method has no use for is refused; :data:`ARGUMENTS` says which are for which.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])
    >>> train(corpus).tag(["the", "cat"])
    ['DET', 'NOUN']
    """
    started = time.perf_counter()
    check_corpus(corpus)
    threads, seed = check_threads(threads), check_seed(seed)
    if method not in METHODS:
        raise ConfigError(f"unknown method {method!r}; there are {', '.join(METHODS)}")
    settings = settings_of(method, settings)
    _refuse_foreign(method, locals())
    refuse_too_many_labels(corpus, method, many_labels)
    if sentence_weights is not None:
        corpus, sentence_weights = _weighed(corpus, sentence_weights)
    told = progress or (lambda stage, done: None)
    started_from = _starting_model(init, base, corpus, features, threads, seed, many_labels, told)
    if started_from is not None:
        if features is not None and init is not None:
            raise DataError("a model that is trained further keeps its features; leave features away")
        features = None
    elif features is None and method != "empirical" and corpus.columns:
        features = usual_preset(corpus)
    templates, function = resolve(features, [c.name for c in corpus.columns])
    templates = learn_lexicons(templates, corpus, *label_ids(corpus, unknown))
    bins = None
    if started_from is not None:
        function, bins = started_from.function, started_from.bins
    binned = method == "empirical" or bins is not None
    ready, bins = _ready(corpus, function, bins, binned=binned)
    if not binned:
        refuse_too_large_values(ready)
    looked_at = None if held_out is None else _ready(held_out, function, bins, binned=binned)[0]
    chosen_templates = [t for t in templates if t.atoms]
    trained: dict[str, Any] = {
        "settings": settings,
        "optimizer": optimizer,
        "threads": threads,
        "tune": tune,
        "checkpoint": checkpoint,
        "label_weights": label_weights,
        "sentence_weights": sentence_weights,
        "seed": seed,
        "progress": told,
    }
    kept = None
    table: Table | SparseRows
    if method == "empirical":
        model, counts, chosen = Empirical(
            ready,
            _node_templates(templates),
            ladder=ladder,
            settings=settings,
            held_out=looked_at,
            seed=seed,
            all_labels=all_labels,
            progress=told,
        ).train()
        vocabulary, kept, table = counts.vocabulary, counts, counts.table
    elif method == "separate":
        model, counts, chosen = Separate(
            ready,
            chosen_templates,
            base=base or "default",
            coupling=coupling or "given-nodes",
            held_out=looked_at,
            all_labels=all_labels,
            **trained,
        ).train()
        vocabulary, table = counts.vocabulary, counts.table
    else:
        start = _start(
            method,
            started_from,
            ready,
            chosen_templates,
            base,
            looked_at,
            seed,
            all_labels,
            unknown,
            threads,
            told,
        )
        options: dict[str, Any] = {
            "lattice": lattice,
            "transitions": transitions,
            "boundaries": boundaries,
            "order": order,
        }
        model, chosen = ChainTraining(method, start, **options, **trained).train()
        vocabulary = start.vocabulary
        cutoff = chosen["settings"]["cutoff"]
        if cutoff > 1 and init is None:
            model = _without_rare(model, start.totals, cutoff)
        if chosen["settings"]["c1"] > 0 or cutoff > 1:
            vocabulary, model = _without_idle(vocabulary, model)
        table = model.weights
    record: dict[str, Any] = {
        "method": method,
        "sentences": len(corpus),
        "tokens": corpus.n_tokens,
        "labels": len(model.labels),
        "features": int((table.offsets[1:] > table.offsets[:-1]).sum()),
        "layout": _layout(corpus),
        "seed": seed,
        "all_labels": all_labels,
        **chosen,
        **_origin(started_from),
        "seconds": round(time.perf_counter() - started, 4),
    }
    columns = tuple(c.name for c in corpus.columns)
    return Tagger(vocabulary, model, record, columns, kept, bins, function)


def _origin(tagger: Tagger | None) -> dict[str, Any]:
    """What the record says of a model that was trained further."""
    if tagger is None:
        return {}
    return {"init": {name: tagger.record[name] for name in ("method", "sentences", "tokens") if name in tagger.record}}


def _refuse_foreign(method: str, given: Mapping[str, Any]) -> None:
    """An argument that another method would use is a mistake, not something to pass over."""
    usual = {name: parameter.default for name, parameter in inspect.signature(train).parameters.items()}
    for name, methods in ARGUMENTS.items():
        if method not in methods and given[name] is not usual[name]:
            raise ConfigError(f"{name} is for the method {' or '.join(map(repr, methods))}, not for {method!r}")


def _weighed(corpus: Corpus, weights: Sequence[float]) -> tuple[Corpus, Sequence[float]]:
    """The sentences whose weight is not 0; those of weight 0 are absent, with their words and labels."""
    given = np.asarray(weights, dtype=float)
    if given.shape != (len(corpus),) or given.all() or not given.any():
        return corpus, weights
    kept = np.flatnonzero(given)
    return corpus.take(kept), given[kept].tolist()


def _starting_model(
    init: Tagger | str | os.PathLike[str] | None,
    base: str | None,
    corpus: Corpus,
    features: FeatureSource,
    threads: int,
    seed: int,
    many_labels: bool,
    progress: Progress,
) -> Tagger | None:
    """The tagger to train further, None for a fresh start."""
    if init is not None and base is not None:
        raise DataError("a model to start from is its own base; leave base away")
    if base == "separate":
        options: dict[str, Any] = {"threads": threads, "seed": seed, "many_labels": many_labels, "progress": progress}
        return train(corpus, "separate", features=features, **options)
    if init is None or isinstance(init, Tagger):
        return init
    from corate.model.archive import load

    return load(init)


def _start(
    method: str,
    tagger: Tagger | None,
    corpus: Corpus,
    templates: Sequence[Template],
    base: str | None,
    held_out: Corpus | None,
    seed: int,
    all_labels: bool,
    unknown: str | None,
    threads: int,
    progress: Progress,
) -> StartFromCounts | StartFromModel:
    """What a method on whole sentences stands on."""
    if tagger is not None:
        return StartFromModel(tagger, corpus, held_out=held_out, unknown=unknown)
    recipe = RECIPES[method]
    names, ids = label_ids(corpus, unknown)
    few = len(names) <= FULL_LATTICE_LABELS
    if method == "polish" and (few or corpus.n_tokens > EDGE_TOKENS_PER_LABEL * len(names)):
        templates = [*templates, *edge_templates(templates, corpus, few=few)]
    if method == "polish" and few:
        # Pooled scores are counted over all features: they take no numbers, and every label has to be known.
        countable = corpus.attributes is None or corpus.attributes.values is None
        if base is None and countable and (ids >= 0).all() and (templates or corpus.attributes is not None):
            base = "pooled"
    return StartFromCounts(
        corpus,
        templates,
        base=base or recipe.base,
        held_out=held_out,
        seed=seed,
        all_labels=all_labels,
        unknown=unknown,
        threads=threads,
        progress=progress,
    )


def _without_rare(model: ChainModel, totals: NDArray[np.int64], cutoff: int) -> ChainModel:
    """A model without the weights, counted ones too, of features that were seen, but less than ``cutoff`` times."""
    rare = np.zeros(len(model.weights), bool)
    rare[: len(totals)] = (totals > 0) & (totals < cutoff)
    scores = np.where(np.repeat(rare, np.diff(model.weights.offsets)), np.float32(0), model.weights.scores)
    return replace(model, weights=replace(model.weights, scores=scores).compacted())


def _without_idle(vocabulary: Vocabulary, model: ChainModel) -> tuple[Vocabulary, ChainModel]:
    """A vocabulary and a model without the conjunctions that no weight speaks of."""
    idle = model.weights.offsets[1:] == model.weights.offsets[:-1]
    if len(model.edge_weights):
        idle = idle & (model.edge_weights.offsets[1:] == model.edge_weights.offsets[:-1])
    smaller, rows = vocabulary.pruned(~idle)
    edge_weights = model.edge_weights.take(rows) if len(model.edge_weights) else model.edge_weights
    return smaller, replace(model, weights=model.weights.take(rows), edge_weights=edge_weights)


def usual_preset(corpus: Corpus) -> str:
    """The preset for a corpus: ``"ner"`` where its labels are spans, else ``"pos"``."""
    return "ner" if are_spans(corpus.require_labels().strings.to_list(), strict=False) else "pos"


def _node_templates(templates: Sequence[Template]) -> list[Template]:
    left_out = [str(t) for t in templates if t.edge and t.atoms]
    if left_out:
        warnings.warn(
            f"empirical training scores label pairs alone; left out: {', '.join(left_out)}, by which the scores would "
            "depend on the observation",
            stacklevel=3,
        )
    return [t for t in templates if t.atoms and not t.edge]


def _layout(corpus: Corpus) -> list[str]:
    """The columns that rows of such data have, the label among them; none where it holds ready-made features only."""
    names = list(corpus.layout) or [c.name for c in corpus.columns]
    return names if "label" in names or not names else [*names, "label"]


def _ready(
    corpus: Corpus, function: FeatureFunction | None, bins: Bins | None = None, *, binned: bool = True
) -> tuple[Corpus, Bins | None]:
    """The corpus with the function's features; for methods that count, numbers are binned."""
    if function is not None:
        corpus = with_features(corpus, function)
    if corpus.attributes is None or not binned:
        return corpus, None
    bins = bins or Bins.of(corpus.attributes)
    return replace(corpus, attributes=bins.apply(corpus.attributes)), bins


def update(tagger: Tagger, corpus: Corpus) -> Tagger:
    """A tagger that has also counted another corpus; what was tuned before stays.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]])
    >>> more = Corpus.from_sentences([[("an", "DET"), ("emu", "NOUN")]])
    >>> update(train(corpus, "empirical"), more).record["sentences"]
    2
    """
    started = time.perf_counter()
    check_corpus(corpus)
    if tagger.method != "empirical":
        further = "train it further on the new text: corate train --init, or train(..., init=)"
        advice = "train it again on all the text" if tagger.model.locally_normalised else further
        raise ModelError(f"a model of the method {tagger.method!r} has no counts to add to; {advice}")
    if tagger.counts is None:
        raise ModelError(
            "this model was saved without its counts, so it cannot learn more; train it again and keep them"
        )
    ready, _ = _ready(corpus, tagger.function, tagger.bins)
    old = tagger.vocabulary
    if ready.attributes is None and old.attributes is not None:
        raise FeatureError("the model was trained on ready-made features; give them, or load it with features=")
    if old.attributes is None:
        ready = replace(ready, attributes=None)
    fresh, _ = Counts.of(ready, Vocabulary.of(old.templates, old.rungs), tagger.record.get("word"))
    counts = tagger.counts.merged(fresh)
    try:
        model = rebuild(tagger.model, counts, tagger.record)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelError(
            f"the record of this model does not say how to train it ({error!r}); train it again"
        ) from error
    counts = replace(counts, table=counts.table.padded(int(counts.vocabulary.bases[-1])))
    record = tagger.record | {
        "sentences": counts.sentences,
        "tokens": counts.tokens,
        "labels": len(counts.labels),
        "features": int((counts.table.offsets[1:] > counts.table.offsets[:-1]).sum()),
        "seconds": round(time.perf_counter() - started, 4),
        "updates": tagger.record.get("updates", 0) + 1,
    }
    return replace(tagger, vocabulary=counts.vocabulary, model=model, counts=counts, record=record)
