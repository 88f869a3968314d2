"""Smaller models: without the weights of rare features, and without features that have no weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate.features.vocabulary import Vocabulary
from corate.model.chain import ChainModel

__all__ = ["without_idle", "without_rare"]


def without_rare(model: ChainModel, totals: NDArray[np.int64], cutoff: int) -> ChainModel:
    """A model without the fitted and counted weights of features seen less than ``cutoff`` times."""
    rare = np.zeros(len(model.weights), bool)
    rare[: len(totals)] = (totals > 0) & (totals < cutoff)
    scores = np.where(np.repeat(rare, np.diff(model.weights.offsets)), np.float32(0), model.weights.scores)
    return replace(model, weights=replace(model.weights, scores=scores).compacted())


def without_idle(vocabulary: Vocabulary, model: ChainModel) -> tuple[Vocabulary, ChainModel]:
    """A vocabulary and a model without the conjunctions that have no weights."""
    idle = model.weights.offsets[1:] == model.weights.offsets[:-1]
    if len(model.edge_weights):
        idle = idle & (model.edge_weights.offsets[1:] == model.edge_weights.offsets[:-1])
    smaller, rows = vocabulary.pruned(~idle)
    edge_weights = model.edge_weights.take(rows) if len(model.edge_weights) else model.edge_weights
    return smaller, replace(model, weights=model.weights.take(rows), edge_weights=edge_weights)
