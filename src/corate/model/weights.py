"""Weights of a model as users see them: those of features and of label pairs, and what the latter mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FeatureWeight", "LabelPair", "extremes", "rate_scale"]


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
