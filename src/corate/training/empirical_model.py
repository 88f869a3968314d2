"""Chain models from counts and chosen settings: the last step of empirical training and of ``Tagger.update``."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from corate import portable
from corate.counting.backoff import (
    DEFAULT,
    FLOOR,
    PRESETS,
    BackoffParameters,
    BackoffPreset,
    BackoffTables,
    backoff_tables,
)
from corate.counting.counts import Counts
from corate.counting.pooling import PooledExperts, experts, label_prior
from corate.counting.rates import edge_scores
from corate.errors import DataError, ModelError
from corate.label_pairs import EdgeScores, LabelPairs
from corate.model.chain import ChainModel, UnseenRule, WordPairs
from corate.rows import SparseRows
from corate.training.options import Method
from corate.training.resolve import resolve_method

__all__ = ["POOLED_FULL_LABELS", "backoff_model", "given_parameters", "pooled_model", "rebuild"]

#: With at most this many labels, all labels are candidates everywhere in a pooled model.
POOLED_FULL_LABELS = 64
_LARGEST_POOL_WEIGHT = 1e6


def backoff_model(
    counts: Counts,
    preset: BackoffPreset,
    p: BackoffParameters,
    word: str,
    all_labels: bool,
    tables: BackoffTables | None = None,
) -> ChainModel:
    """The chain model of a back-off with chosen settings. Adds features of unseen words to the vocabulary of the
    counts.

    ``tables`` are the tables of the back-off, if they were made before.
    """
    vocabulary = counts.vocabulary
    tables = tables or backoff_tables(counts, preset, word)
    rows, bases, weights = tables.compiled(p)
    parts = [SparseRows.empty(vocabulary.n_attributes)]
    parts += [weights.get(t, SparseRows.empty(size)) for t, size in enumerate(vocabulary.map.sizes().tolist())]
    return ChainModel(
        counts.labels,
        edge_scores(counts.pairs, len(counts.labels), p.edge_k, p.edge),
        SparseRows.joined(parts),
        np.zeros(len(counts.labels), np.float32),
        rows,
        tuple(tables.level_functions),
        tuple(bases),
        vocabulary.columns.index(word),
        all_labels,
        unseen=UnseenRule(
            tuple(p.ks(tables.preset)),
            p.oov,
            float(portable.log(p.oov_constant)),
            p.threshold,
            min(p.cap, len(counts.labels)),
        ),
        word_pairs=None if counts.word_pairs is None else WordPairs(counts.word_pairs),
    )


def pooled_model(
    counts: Counts,
    pool: PooledExperts,
    edges: EdgeScores,
    p: BackoffParameters | None,
    word: str | None,
    all_labels: bool,
) -> ChainModel:
    """The chain model of a pool: the evidence of every expert as weights, plus the weighted back-off."""
    n_labels = len(counts.labels)
    expert_of, _ = experts(counts.vocabulary)
    weights = pool.compiled(counts.table, label_prior(counts), expert_of)
    every = all_labels or n_labels <= POOLED_FULL_LABELS
    bias = pool.bias.astype(np.float32)
    if p is None or word is None:
        return ChainModel(counts.labels, edges, weights, bias, all_labels=every)
    if n_labels <= POOLED_FULL_LABELS:
        p = replace(p, threshold=1e-6, cap=POOLED_FULL_LABELS)
    backoff = backoff_model(counts, DEFAULT, p, word, every)
    return replace(
        backoff.with_row_weight(pool.backoff),
        edges=edges,
        bias=bias,
        weights=weights.padded(int(counts.vocabulary.bases[-1])).plus(backoff.weights.scaled(pool.backoff)),
        floor=FLOOR * pool.backoff,
    )


def rebuild(old: ChainModel, counts: Counts, record: dict[str, Any]) -> ChainModel:
    """The model of larger counts, with the settings of the old model.

    A pool keeps its weights, biases and edges. New labels get their prior as bias, and no edges.
    """
    word = record["word"]
    settings = dict(record["settings"])
    all_labels = bool(record.get("all_labels", False))
    if record["ladder"] in PRESETS:
        return backoff_model(counts, PRESETS[record["ladder"]], _parameters(settings), word, all_labels)
    if record["ladder"] != "pooled":
        raise ModelError(f"the model was trained with an unknown ladder {record['ladder']!r}; train it again")
    _, names = experts(counts.vocabulary)
    weights = np.array([settings["weights"].get(name, 0.0) for name in names])
    if not (np.abs([*weights, settings["ladder_weight"]]) < _LARGEST_POOL_WEIGHT).all():
        raise ModelError("the model's weights of experts are out of range; train it again")
    bias = portable.log(label_prior(counts))
    bias[: len(old.bias)] = old.bias
    parameters_or_none = _parameters(settings["ladder"]) if "ladder" in settings else None
    pool = PooledExperts(weights, settings["ladder_weight"], bias)
    edges = _grown(old.edges, len(counts.labels))
    return pooled_model(counts, pool, edges, parameters_or_none, word, all_labels)


def given_parameters(method: Method) -> dict[str, Any]:
    """The parameters of a back-off that are given as options."""
    given = method.given()
    return {f.name: given[f.name] for f in fields(BackoffParameters) if given[f.name] is not None}


def _parameters(settings: dict[str, Any]) -> BackoffParameters:
    try:
        return BackoffParameters(**given_parameters(resolve_method("empirical", {"expert": settings})))
    except DataError as error:
        raise ModelError(f"the model's settings are not valid ({error}); train it again") from None


def _grown(edges: EdgeScores, n_labels: int) -> EdgeScores:
    """Edge scores with new labels added; their pairs score zero."""
    return EdgeScores.of_dense(LabelPairs(edges.n_labels).grown(edges.dense(), n_labels))
