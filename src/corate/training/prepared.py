"""The data of a training run: the source and held-out sentences with ready-made features, and the templates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from corate.corpus import Corpus
from corate.corpus.attributes import JOINER
from corate.features import FeatureSource, resolve
from corate.features.ready_made import Bins, FeatureFunction
from corate.features.templates import Template
from corate.model.tagger import Tagger
from corate.training.defaults import choose_preset
from corate.training.options import Method
from corate.training.scaling import Scaling
from corate.training.source import Source, ready_made

__all__ = ["Prepared", "default_features", "prepare"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The data of a training run: a source and held-out sentences with ready-made features, and templates."""

    source: Source
    held_out: Corpus | None
    templates: list[Template]
    bins: Bins | None
    function: FeatureFunction | None
    scaling: Scaling | None = None


def prepare(
    method: Method, source: Source, features: FeatureSource, held_out: Corpus | None, origin: Tagger | None
) -> Prepared:
    """Resolve the features, or use those of the model to train further, and apply them to both corpora."""
    empirical = method.counts_only
    features = None if origin is not None else default_features(method, features, source)
    templates, function = resolve(features, source.columns)
    lexicons = source.lexicons(atom for t in templates for atom in t.atoms)
    templates = tuple(t.with_lexicons(lexicons) for t in templates)
    bins, joiner = None, JOINER
    if origin is not None:
        function, bins, joiner = origin.function, origin.bins, origin.vocabulary.joiner
    binned = empirical or bins is not None
    ready, bins = source.with_features(function, joiner, bins, binned=binned)
    held = None if held_out is None else ready_made(held_out, function, joiner, bins, binned=binned)[0]
    scaling = None
    if method.refines_counts and origin is None and ready.attributes is not None:
        scaling = Scaling.of(ready.attributes)
        ready = ready.with_attributes(scaling.apply(ready.attributes))
        if held is not None and held.attributes is not None:
            held = replace(held, attributes=scaling.apply(held.attributes))
    used = _node_templates(templates) if empirical else [t for t in templates if t.atoms]
    return Prepared(ready, held, used, bins, function, scaling)


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
