"""The data of a training run: the corpora with ready-made features, and the templates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus, StringTable
from corate.corpus.attributes import JOINER
from corate.counting.counts import label_ids
from corate.features import FeatureSource, resolve
from corate.features.ready_made import Bins, FeatureFunction, refuse_too_large_values, with_features
from corate.features.related_words import learn_lexicons
from corate.features.templates import Template
from corate.model.tagger import Tagger
from corate.training.defaults import choose_preset
from corate.training.options import Empirical, Method, Polish
from corate.training.scaling import Scaling

__all__ = ["Prepared", "corpus_summary", "default_features", "prepare", "ready_made"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The data of a training run: corpora with ready-made features, and templates."""

    corpus: Corpus
    held_out: Corpus | None
    templates: list[Template]
    bins: Bins | None
    function: FeatureFunction | None
    scaling: Scaling | None = None


def prepare(
    method: Method, corpus: Corpus, features: FeatureSource, held_out: Corpus | None, origin: Tagger | None
) -> Prepared:
    """Resolve the features, or use those of the model to train further, and apply them to both corpora."""
    empirical = isinstance(method, Empirical)
    features = None if origin is not None else default_features(method, features, corpus)
    templates, function = resolve(features, [c.name for c in corpus.columns])
    templates = learn_lexicons(templates, corpus, *label_ids(corpus, getattr(method, "unknown", None)))
    bins, joiner = None, JOINER
    if origin is not None:
        function, bins, joiner = origin.function, origin.bins, origin.vocabulary.joiner
    binned = empirical or bins is not None
    ready, bins = ready_made(corpus, function, joiner, bins, binned=binned)
    held_out_ready = None if held_out is None else ready_made(held_out, function, joiner, bins, binned=binned)[0]
    if not binned:
        for given in (ready, held_out_ready):
            if given is not None:
                refuse_too_large_values(given, ", or use 'empirical', which bins them")
    scaling = None
    if isinstance(method, Polish) and origin is None and ready.attributes is not None:
        scaling = Scaling.of(ready.attributes)
        ready = _scaled(ready, scaling)
        held_out_ready = None if held_out_ready is None else _scaled(held_out_ready, scaling)
    used = _node_templates(templates) if empirical else [t for t in templates if t.atoms]
    return Prepared(ready, held_out_ready, used, bins, function, scaling)


def _scaled(corpus: Corpus, scaling: Scaling) -> Corpus:
    return replace(corpus, attributes=None if corpus.attributes is None else scaling.apply(corpus.attributes))


def _node_templates(templates: Sequence[Template]) -> list[Template]:
    left_out = [str(t) for t in templates if t.edge and t.atoms]
    if left_out:
        warnings.warn(
            f"empirical training has no features of label pairs; these edge templates are left out: "
            f"{', '.join(left_out)}",
            stacklevel=5,
        )
    return [t for t in templates if t.atoms and not t.edge]


def ready_made(
    corpus: Corpus, function: FeatureFunction | None, joiner: str, bins: Bins | None = None, *, binned: bool = True
) -> tuple[Corpus, Bins | None]:
    """The corpus with the function's features, joined by ``joiner``; if ``binned``, numeric features are binned."""
    if function is not None:
        corpus = with_features(corpus, function, joiner)
    if corpus.attributes is None:
        return corpus, None
    attributes = corpus.attributes.joined_by(joiner)
    if binned:
        bins = bins or Bins.of(attributes)
        attributes = bins.apply(attributes)
    return replace(corpus, attributes=attributes), bins if binned else None


def default_features(method: Method, features: FeatureSource, corpus: Corpus) -> FeatureSource:
    """The features, or a preset if there are none and the method needs templates."""
    if features is None and not isinstance(method, Empirical) and corpus.columns:
        return choose_preset(corpus)
    return features


def corpus_summary(strings: Mapping[str, StringTable], labels: StringTable, counts: NDArray[np.int64]) -> Corpus:
    """A corpus with the strings of each column and so many tokens of each label, in no true order.

    Defaults that depend on the corpus can be chosen from it, if the corpus is not in memory.
    """
    n = int(counts.sum())
    columns = []
    for name, table in strings.items():
        ids = np.zeros(n, np.int32)
        ids[: len(table)] = np.arange(len(table))
        columns.append(Column(name, ids, table))
    of_labels = Column("label", np.repeat(np.arange(len(counts), dtype=np.int32), counts), labels)
    return Corpus(tuple(columns), np.array([0, n], np.int64), of_labels)
