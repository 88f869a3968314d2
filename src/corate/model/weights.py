"""Weights of a model as users see them: those of features and of label pairs, and what the latter mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate.rows import SparseRows, offsets_of

if TYPE_CHECKING:
    from corate.features.vocabulary import Vocabulary
    from corate.model.chain import ChainModel

__all__ = ["FeatureWeight", "LabelPair", "extremes", "feature_names", "feature_weights", "rate_scale"]


class LabelPair(NamedTuple):
    """Two neighbouring labels with the weight of the pair in a model.

    ``rate`` is the co-occurrence rate: how many times more often than by chance the second label follows the first. It
    is None in models whose weights are fitted, because words explain a part of it there.
    """

    left: str
    right: str
    weight: float
    rate: float | None = None


class FeatureWeight(NamedTuple):
    """A feature, a label, and the weight of the feature for the label."""

    feature: str
    label: str
    weight: float


def feature_weights(model: ChainModel) -> SparseRows:
    """The weights of all features: of named ones and, in models of graphs, then of the columns of vectors."""
    graph, weights = model.graph, model.weights
    if graph is None or graph.given or not len(graph.vectors):
        return weights
    d, k = graph.vectors.shape
    labels = np.tile(np.arange(k, dtype=np.int32), d)
    return SparseRows.joined([weights, SparseRows(offsets_of(np.full(d, k)), labels, graph.vectors.ravel())])


def feature_names(vocabulary: Vocabulary, features: list[int]) -> list[str]:
    """The names of some features; ``vector[i]`` is column i of the vectors."""
    n = int(vocabulary.bases[-1])
    named = iter(vocabulary.names([feature for feature in features if feature < n]))
    return [next(named) if feature < n else f"vector[{feature - n}]" for feature in features]


def extremes(values: NDArray[np.float32], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the ``n`` highest positive and the ``n`` lowest negative values, the most extreme first.

    >>> [found.tolist() for found in extremes(np.array([0.5, -1, 0, 2, 1], np.float32), 2)]
    [[3, 4], [1]]
    """

    def lowest(of: NDArray[np.float32]) -> NDArray[np.int64]:
        some = np.argpartition(of, n)[:n] if n < len(of) else np.arange(len(of))
        some = some[of[some] < 0]
        return np.asarray(some[np.lexsort((some, of[some]))], dtype=np.int64)

    return lowest(-values), lowest(values)


def rate_scale(record: Mapping[str, Any]) -> float | None:
    """What the logarithms of counted rates were multiplied by to give a model's edge scores; None if they were fitted.

    ``record`` is the record of the model.

    >>> rate_scale({"method": "empirical", "settings": {"edge": 0.5}}), rate_scale({"method": "polish"})
    (0.5, None)
    """
    settings = record.get("settings")
    if record["method"] != "empirical" or record.get("ladder") == "pooled" or not isinstance(settings, dict):
        return None
    scale = settings.get("edge")
    temperature = record.get("temperature", 1.0)
    return float(scale) / temperature if isinstance(scale, int | float) and 0 < scale < np.inf else None
