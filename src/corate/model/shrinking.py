"""Smaller models: without the weights of rare features, without small weights, and without idle features.

This is about models. Whether the lattices of a model are pruned or full is chosen in ``training/choices.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate.errors import ConfigError, ModelError
from corate.features.vocabulary import Vocabulary
from corate.model.chain import ChainModel
from corate.rows import SparseRows

if TYPE_CHECKING:
    from corate.model.tagger import Tagger

__all__ = ["shrunk", "without_idle", "without_rare"]


def without_rare(model: ChainModel, totals: NDArray[np.int64], cutoff: int) -> ChainModel:
    """A model without the fitted and counted weights of features seen less than ``cutoff`` times."""
    rare = np.zeros(len(model.weights), bool)
    rare[: len(totals)] = (totals > 0) & (totals < cutoff)
    return replace(model, weights=model.weights.only(~rare).compacted())


def without_idle(vocabulary: Vocabulary, model: ChainModel) -> tuple[Vocabulary, ChainModel]:
    """A vocabulary and a model without the conjunctions that have no weights."""
    return _taken(model, *vocabulary.pruned(~_idle(model)))


def _idle(model: ChainModel) -> NDArray[np.bool_]:
    """Which features have no weights."""
    idle: NDArray[np.bool_] = model.weights.lengths == 0
    if len(model.edge_weights):
        idle = idle & (model.edge_weights.lengths == 0)
    return idle


def _taken(model: ChainModel, smaller: Vocabulary, rows: NDArray[np.int64]) -> tuple[Vocabulary, ChainModel]:
    edge_weights = model.edge_weights.take(rows) if len(model.edge_weights) else model.edge_weights
    return smaller, replace(model, weights=model.weights.take(rows), edge_weights=edge_weights)


def _without_rare_conjunctions(tagger: Tagger, rare: int) -> Tagger:
    """A tagger without the conjunctions seen less than ``rare`` times in training."""
    if tagger.counts is None:
        if not tagger.counted:
            raise ModelError(
                f"only models of the method 'empirical' can be pruned, not {tagger.method!r}; train with a cutoff"
            )
        raise ModelError("this model has no counts, so rare features are not known; train it again and prune then")
    totals = tagger.counts.table.totals()
    vocabulary, rows = tagger.vocabulary.pruned((totals >= rare) | (totals == 0))  # derived features have no counts
    return _with_rows(tagger, tagger.model, vocabulary, rows)


def shrunk(tagger: Tagger, drop_below: float, rare: int, counts: bool) -> Tagger:
    """A smaller tagger; see `Tagger.shrunk`."""
    if not 0 <= drop_below < np.inf:
        raise ConfigError(f"drop_below must be a number from 0, not {drop_below!r}", option="drop_below")
    tagger = tagger if rare < 2 else _without_rare_conjunctions(tagger, rare)
    about: dict[str, Any] = {} if rare < 2 else {"drop_rare": rare}
    if not counts:
        tagger = replace(tagger, counts=None)
    if drop_below > 0:
        about["drop_below"] = drop_below
        if tagger.model.by_features:
            raise ConfigError(
                "this model has the space 'features': its weights say which labels a token can have, so none can be "
                "dropped; leave drop_below at 0",
                option="drop_below",
            )
        model = _without_small(tagger.model, drop_below)
        kept = ~_idle(model)
        if tagger.counts is not None:  # an update needs the counts of features without weights
            kept |= tagger.counts.table.totals() > 0
        tagger = _with_rows(tagger, model, *_without_attributes(*tagger.vocabulary.pruned(kept), kept))
    record = tagger.record
    if about:
        record = record | {"shrunk": about}
    features = int((tagger.model.weights.lengths > 0).sum())
    return replace(tagger, record=record | {"features": features} if drop_below > 0 else record)


def _without_small(model: ChainModel, limit: float) -> ChainModel:
    """A model without the weights of features, and the scores of label triples, that are closer to 0 than ``limit``."""

    def large(rows: SparseRows) -> SparseRows:
        return replace(rows, scores=np.where(np.abs(rows.scores) < limit, np.float32(0), rows.scores)).compacted()

    edges = model.edges
    if len(edges.triples):
        edges = replace(edges, triples=large(edges.triples))
    edge_weights = large(model.edge_weights) if len(model.edge_weights) else model.edge_weights
    return replace(model, weights=large(model.weights), edge_weights=edge_weights, edges=edges)


def _without_attributes(
    vocabulary: Vocabulary, rows: NDArray[np.int64], kept: NDArray[np.bool_]
) -> tuple[Vocabulary, NDArray[np.int64]]:
    """A pruned vocabulary and its rows without the ready-made features that are not kept."""
    n = vocabulary.n_attributes
    names = np.flatnonzero(kept[:n])
    if vocabulary.attributes is None or len(names) == n:
        return vocabulary, rows
    key_lengths = None if vocabulary.key_lengths is None else vocabulary.key_lengths[names]
    smaller = replace(vocabulary, attributes=vocabulary.attributes.take(names), key_lengths=key_lengths)
    return smaller, np.concatenate([names, rows[n:]])


def _with_rows(tagger: Tagger, model: ChainModel, vocabulary: Vocabulary, rows: NDArray[np.int64]) -> Tagger:
    """A tagger with only these features of the given model."""
    vocabulary, model = _taken(model, vocabulary, rows)
    counts = tagger.counts
    if counts is not None:
        counts = replace(counts, vocabulary=vocabulary, table=counts.table.take(rows))
    return replace(tagger, vocabulary=vocabulary, model=model, counts=counts)
