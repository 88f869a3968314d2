"""Training: one module a method. Each takes a corpus and templates and returns a tagger."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from corate.corpus import Corpus
from corate.counts import Counts
from corate.errors import DataError, FeatureError, ModelError
from corate.features import FeatureSource, resolve
from corate.features.ready import Bins, FeatureFunction, with_features
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.tagger import Tagger
from corate.training.build import rebuild
from corate.training.empirical import Empirical
from corate.training.separate import Separate

__all__ = ["METHODS", "train", "update"]

METHODS = ("empirical", "separate")

Progress = Callable[[str, float], None]


def train(
    corpus: Corpus,
    method: str = "empirical",
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
    label_weights: Mapping[str, float] | None = None,
    sentence_weights: Sequence[float] | None = None,
    threads: int = 1,
    seed: int = 0,
    all_labels: bool = False,
    progress: Progress | None = None,
) -> Tagger:
    """Train a tagger on a labelled corpus.

    Args:
        corpus: sentences with labels.
        method: ``"empirical"``: every factor is estimated by counting. ``"separate"``: every factor is a maximum
            entropy model, fitted on its own.
        features: a preset (``"paper"``, ``"pos"``, ``"ner"``, ``"chunking"``), a template file, a list of templates, or
            a function of a sentence and a position. Without any, ``"empirical"`` takes the words and their neighbours,
            and ``"separate"`` the preset ``"ner"`` where labels are spans, else ``"pos"``.
        held_out: sentences to tune on, looked at and never counted; without them a part of the corpus is held out for
            the tuning and counted afterwards.
        ladder: for ``"empirical"``: ``"default"``, ``"paper"`` or ``"pooled"``; without one held-out sentences decide.
        base: for ``"separate"``: the empirical scores that nodes start from, ``"default"``, ``"paper"`` or ``"none"``.
        coupling: for ``"separate"``: ``"given-nodes"`` (the default), or ``"joint"``, the paper's.
        optimizer: for ``"separate"``: ``"adagrad"`` (the default) or ``"lbfgs"``.
        settings: values by name, as ``corate info`` shows them, in place of the usual ones; what is given is not tuned.
        tune: for ``"separate"``: search for the variances of the priors, the weight of the base and the cut-off, too.
        checkpoint: for ``"separate"``: a file to write after every pass, and to take up again from.
        label_weights: for ``"separate"``: how much tokens of a label count, by label; 1 for those not named.
        sentence_weights: for ``"separate"``: how much each sentence of the corpus counts.
        threads: for methods that can share their work; ``"empirical"`` needs one. The result does not depend on it.
        seed: chooses what is held out, and the order of stochastic steps.
        all_labels: consider every label everywhere, not only those that a word's counts make likely.
        progress: called with a stage and the share of it that is done.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])
    >>> train(corpus, ladder="default").tag(["the", "cat"])
    ['DET', 'NOUN']
    """
    started = time.perf_counter()
    _check_corpus(corpus)
    if seed < 0:
        raise DataError(f"the seed must be 0 or more, not {seed}")
    if method not in METHODS:
        raise DataError(f"unknown method {method!r}; there are {', '.join(METHODS)}")
    _refuse_foreign(method, locals())
    if features is None and method == "separate" and corpus.columns:
        features = usual_preset(corpus)
    templates, function = resolve(features, [c.name for c in corpus.columns])
    binned = method == "empirical"
    ready, bins = _ready(corpus, function, binned=binned)
    looked_at = None if held_out is None else _ready(held_out, function, bins, binned=binned)[0]
    common: dict[str, Any] = {
        "held_out": looked_at,
        "seed": seed,
        "all_labels": all_labels,
        "progress": progress or (lambda stage, done: None),
    }
    if method == "separate":
        model, counts, chosen = Separate(
            ready,
            [t for t in templates if t.atoms],
            settings=settings,
            base=base or "default",
            coupling=coupling or "given-nodes",
            optimizer=optimizer or "adagrad",
            threads=threads,
            tune=tune,
            checkpoint=checkpoint,
            label_weights=label_weights,
            sentence_weights=sentence_weights,
            **common,
        ).train()
    else:
        model, counts, chosen = Empirical(
            ready, _node_templates(templates), ladder=ladder, settings=settings, **common
        ).train()
    record: dict[str, Any] = {
        "method": method,
        "sentences": len(corpus),
        "tokens": corpus.n_tokens,
        "labels": len(model.labels),
        "features": int((counts.table.offsets[1:] > counts.table.offsets[:-1]).sum()),
        "layout": _layout(corpus),
        "seed": seed,
        "all_labels": all_labels,
        **chosen,
        "seconds": round(time.perf_counter() - started, 4),
    }
    columns = tuple(c.name for c in corpus.columns)
    kept = counts if method == "empirical" else None
    return Tagger(counts.vocabulary, model, record, columns, kept, bins, function)


#: Arguments that belong to one method, and what they are where they were not given.
_OWN: dict[str, dict[str, Any]] = {
    "empirical": {"ladder": None},
    "separate": dict.fromkeys(("base", "coupling", "optimizer", "checkpoint", "label_weights", "sentence_weights"))
    | {"tune": False},
}


def _refuse_foreign(method: str, given: Mapping[str, Any]) -> None:
    """An argument that another method would use is a mistake, not something to pass over."""
    for other, names in _OWN.items():
        for name, unset in names.items():
            if other != method and given[name] is not unset:
                raise DataError(f"{name} is for the method {other!r}, not for {method!r}")


def usual_preset(corpus: Corpus) -> str:
    """The preset for a corpus: ``"ner"`` where its labels are spans, else ``"pos"``."""
    names = corpus.require_labels().strings.to_list()
    return "ner" if any(name.startswith(("B-", "I-")) for name in names) else "pos"


def _node_templates(templates: Sequence[Template]) -> list[Template]:
    left_out = [str(t) for t in templates if t.edge and t.atoms]
    if left_out:
        warnings.warn(
            f"empirical training scores label pairs alone; left out: {', '.join(left_out)}, by which the scores would "
            "depend on the observation",
            stacklevel=3,
        )
    return [t for t in templates if t.atoms and not t.edge]


def _check_corpus(corpus: Corpus) -> None:
    if not isinstance(corpus, Corpus):
        raise DataError(f"a corpus is needed, not a {type(corpus).__name__}; make one with Corpus.from_sentences")


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
    >>> update(train(corpus), more).record["sentences"]
    2
    """
    started = time.perf_counter()
    _check_corpus(corpus)
    if tagger.method != "empirical":
        raise ModelError(f"a model of the method {tagger.method!r} cannot learn more; train it again on all the data")
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
        "seconds": round(tagger.record["seconds"] + time.perf_counter() - started, 4),
        "updates": tagger.record.get("updates", 0) + 1,
    }
    return replace(tagger, vocabulary=counts.vocabulary, model=model, counts=counts, record=record)
