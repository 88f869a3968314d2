"""Training: one module a method. Each takes a corpus and templates and returns a tagger."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from corate.corpus import Corpus
from corate.counts import Counts
from corate.errors import DataError, FeatureError, ModelError
from corate.features import FeatureSource, resolve
from corate.features.ready import Bins, FeatureFunction, with_features
from corate.features.vocabulary import Vocabulary
from corate.tagger import Tagger
from corate.training.build import rebuild
from corate.training.empirical import Empirical

__all__ = ["METHODS", "train", "update"]

METHODS = ("empirical",)


def train(
    corpus: Corpus,
    method: str = "empirical",
    *,
    features: FeatureSource = None,
    held_out: Corpus | None = None,
    ladder: str | None = None,
    threads: int = 1,
    seed: int = 0,
    all_labels: bool = False,
    progress: Callable[[str, float], None] | None = None,
) -> Tagger:
    """Train a tagger on a labelled corpus.

    Args:
        corpus: sentences with labels.
        method: ``"empirical"``: every factor is estimated by counting.
        features: a preset (``"paper"``, ``"pos"``, ``"ner"``, ``"chunking"``), a template file, a list of templates, or
            a function of a sentence and a position; without any, the words and their neighbours.
        held_out: sentences to tune on, looked at and never counted; without them a slice of the corpus is held out for
            the tuning and counted afterwards.
        ladder: ``"default"``, ``"paper"`` or ``"pooled"``; without one the held-out sentences decide.
        threads: for methods that can share their work; ``"empirical"`` needs one. The result does not depend on it.
        seed: chooses the slice that is held out.
        all_labels: consider every label everywhere, not only those that a word's counts make likely.
        progress: called with a stage and the share of it that is done.

    >>> corpus = Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])
    >>> train(corpus, ladder="default").tag(["the", "cat"])
    ['DET', 'NOUN']
    """
    started = time.perf_counter()
    if method not in METHODS:
        raise DataError(f"unknown method {method!r}; there is {', '.join(METHODS)}")
    templates, function = resolve(features, [c.name for c in corpus.columns])
    left_out = [str(t) for t in templates if t.edge and t.atoms]
    if left_out:
        warnings.warn(
            f"{method} training scores label pairs alone; left out: {', '.join(left_out)}, by which the scores would "
            "depend on the observation",
            stacklevel=2,
        )
    ready, bins = _ready(corpus, function)
    looked_at = None if held_out is None else _ready(held_out, function, bins)[0]
    counted = Empirical(
        ready,
        [t for t in templates if t.atoms and not t.edge],
        ladder=ladder,
        held_out=looked_at,
        seed=seed,
        all_labels=all_labels,
        progress=progress or (lambda stage, done: None),
    )
    model, counts, chosen = counted.train()
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
    return Tagger(counts.vocabulary, model, record, columns, counts, bins, function)


def _layout(corpus: Corpus) -> list[str]:
    """The columns that rows of such data have, the label among them; none where it holds ready-made features only."""
    names = list(corpus.layout) or [c.name for c in corpus.columns]
    return names if "label" in names or not names else [*names, "label"]


def _ready(corpus: Corpus, function: FeatureFunction | None, bins: Bins | None = None) -> tuple[Corpus, Bins | None]:
    """The corpus with the function's features, numbers binned."""
    if function is not None:
        corpus = with_features(corpus, function)
    if corpus.attributes is None:
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
