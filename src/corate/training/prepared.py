"""What a method gets and returns: the source and held-out sentences with ready-made features, templates; a model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.corpus.attributes import JOINER
from corate.counting.counts import Counts
from corate.features import FeatureSource, resolve
from corate.features.ready_made import Bins, FeatureFunction
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.training.defaults import choose_preset
from corate.training.options import Method
from corate.training.scaling import Scaling
from corate.training.source import Source, Streams, ready_made

__all__ = ["FittedModel", "TrainingData", "default_features", "filled_rows", "prepare"]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data of a training run: a source and held-out sentences with ready-made features, and templates.

    Attributes:
        origin: the tagger to train further, None to start from counts. If not ``further``, it was made for this run.
        fit: fits methods on whole sentences, in place of the usual passes and iterations: it gets the method, the start
            and the context, and returns the training, its model and the entries of its record.
    """

    source: Source
    held_out: Corpus | None
    templates: list[Template]
    bins: Bins | None
    function: FeatureFunction | None
    scaling: Scaling | None = None
    origin: Tagger | None = None
    further: bool = False
    fit: Callable[..., tuple[Any, ChainModel, dict[str, Any]]] | None = None


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The result of a method: a model, its vocabulary, and a record of what was chosen and measured."""

    vocabulary: Vocabulary
    model: ChainModel
    record: dict[str, Any]
    n_features: int
    counts: Counts | None = None
    streams: Streams | None = None


def filled_rows(offsets: NDArray[np.int64]) -> int:
    """The number of rows of a ragged array that are not empty."""
    return int((offsets[1:] > offsets[:-1]).sum())


def prepare(
    method: Method, source: Source, features: FeatureSource, held_out: Corpus | None, origin: Tagger | None
) -> TrainingData:
    """Resolve the features, or use those of the model to train further, and apply them to both corpora."""
    features = None if origin is not None else default_features(method, features, source)
    templates, function = resolve(features, source.columns)
    lexicons = source.lexicons(atom for t in templates for atom in t.atoms)
    templates = tuple(t.with_lexicons(lexicons) for t in templates)
    bins, joiner = None, JOINER
    if origin is not None:
        function, bins, joiner = origin.function, origin.bins, origin.vocabulary.joiner
    binned = method.counts_only or bins is not None
    ready, bins = source.with_features(function, joiner, bins, binned=binned)
    held = None if held_out is None else ready_made(held_out, function, joiner, bins, binned=binned)[0]
    scaling = None
    if method.refines_counts and origin is None and ready.attributes is not None:
        scaling = Scaling.of(ready.attributes)
        ready = ready.with_attributes(scaling.apply(ready.attributes))
        if held is not None and held.attributes is not None:
            held = replace(held, attributes=scaling.apply(held.attributes))
    used = _node_templates(templates) if method.counts_only else [t for t in templates if t.atoms]
    return TrainingData(ready, held, used, bins, function, scaling, origin)


def _node_templates(templates: Sequence[Template]) -> list[Template]:
    left_out = [str(t) for t in templates if t.edge and t.atoms]
    if left_out:
        warnings.warn(
            f"empirical training has no features of label pairs; these edge templates are left out: "
            f"{', '.join(left_out)}",
            stacklevel=5,
        )
    return [t for t in templates if t.atoms and not t.edge]


def default_features(method: Method, features: FeatureSource, source: Source) -> FeatureSource:
    """The features, or a preset if there are none and the method needs templates."""
    if features is None and not method.counts_only and source.columns:
        return choose_preset(source)
    return features
