"""From counts and chosen settings to a chain model: the last step of empirical training, and of learning more data."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from corate.counting.counts import Counts
from corate.counting.ladder import DEFAULT, FLOOR, PRESETS, LadderParameters, LadderPreset, LadderTables, ladder_tables
from corate.counting.pooling import Pool, experts, label_prior
from corate.counting.rates import edge_scores
from corate.errors import DataError, ModelError
from corate.label_scores import EdgeScores, SparseRows
from corate.model.chain import ChainModel
from corate.training.options import Empirical, resolve_method

__all__ = ["POOLED_FULL_LABELS", "given_parameters", "ladder_model", "pooled_model", "rebuild"]

#: With at most so many labels, a pooled model keeps them all as candidates everywhere.
POOLED_FULL_LABELS = 64
_LARGEST_POOL_WEIGHT = 1e6


def ladder_model(
    counts: Counts,
    preset: LadderPreset,
    p: LadderParameters,
    word: str,
    all_labels: bool,
    tables: LadderTables | None = None,
) -> ChainModel:
    """The chain model of a ladder with chosen settings; adds features of unseen words to the counts' vocabulary.

    ``tables`` are what the ladder reads of these counts, where they are there already.
    """
    vocabulary = counts.vocabulary
    tables = tables or ladder_tables(counts, preset, word)
    rows, bases, weights = tables.compiled(p)
    parts = [SparseRows.empty(vocabulary.n_attributes)]
    parts += [weights.get(t, SparseRows.empty(size)) for t, size in enumerate(vocabulary.map.sizes().tolist())]
    return ChainModel(
        counts.labels,
        edge_scores(counts.pairs, len(counts.labels), p.edge_k, p.edge),
        SparseRows.joined(parts),
        np.zeros(len(counts.labels), np.float32),
        rows,
        tuple(tables.rung_functions),
        tuple(bases),
        vocabulary.columns.index(word),
        all_labels,
    )


def pooled_model(
    counts: Counts, pool: Pool, edges: EdgeScores, p: LadderParameters | None, word: str | None, all_labels: bool
) -> ChainModel:
    """The chain model of a pool: every expert's evidence as weights, and the ladder's rows and weights with its own."""
    n_labels = len(counts.labels)
    expert_of, _ = experts(counts.vocabulary)
    weights = pool.compiled(counts.table, label_prior(counts), expert_of)
    every = all_labels or n_labels <= POOLED_FULL_LABELS
    bias = pool.bias.astype(np.float32)
    if p is None or word is None:
        return ChainModel(counts.labels, edges, weights, bias, all_labels=every)
    if n_labels <= POOLED_FULL_LABELS:
        p = replace(p, threshold=1e-6, cap=POOLED_FULL_LABELS)
    ladder = ladder_model(counts, DEFAULT, p, word, every)
    return replace(
        ladder,
        edges=edges,
        bias=bias,
        weights=weights.padded(int(counts.vocabulary.bases[-1])).plus(ladder.weights.scaled(pool.ladder)),
        rows=ladder.rows.scaled(pool.ladder),
        floor=FLOOR * pool.ladder,
    )


def rebuild(old: ChainModel, counts: Counts, record: dict[str, Any]) -> ChainModel:
    """The model of grown counts with the settings that were chosen before.

    A pool keeps its weights, biases and edges; labels that are new get their prior as bias and no edges.
    """
    word = record["word"]
    settings = dict(record["settings"])
    all_labels = bool(record.get("all_labels", False))
    if record["ladder"] in PRESETS:
        return ladder_model(counts, PRESETS[record["ladder"]], _parameters(settings), word, all_labels)
    if record["ladder"] != "pooled":
        raise ModelError(f"the model was trained with an unknown ladder {record['ladder']!r}; train it again")
    _, names = experts(counts.vocabulary)
    weights = np.array([settings["weights"].get(name, 0.0) for name in names])
    if not (np.abs([*weights, settings["ladder_weight"]]) < _LARGEST_POOL_WEIGHT).all():
        raise ModelError("the model's weights of experts are out of range; train it again")
    bias = np.log(label_prior(counts))
    bias[: len(old.bias)] = old.bias
    parameters_or_none = _parameters(settings["ladder"]) if "ladder" in settings else None
    pool = Pool(weights, settings["ladder_weight"], bias)
    edges = _grown(old.edges, len(counts.labels))
    return pooled_model(counts, pool, edges, parameters_or_none, word, all_labels)


def given_parameters(method: Empirical) -> dict[str, Any]:
    """The parameters of a ladder that the options of empirical training set."""
    values = {f.name: getattr(method, f.name) for f in fields(LadderParameters)}
    return {name: value for name, value in values.items() if value is not None}


def _parameters(settings: dict[str, Any]) -> LadderParameters:
    try:
        method = resolve_method("empirical", settings)
        assert isinstance(method, Empirical)
        return LadderParameters(**given_parameters(method))
    except DataError as error:
        raise ModelError(f"the model's settings are not what they should be ({error}); train it again") from None


def _grown(edges: EdgeScores, n_labels: int) -> EdgeScores:
    """Edge scores with room for new labels; those score zero with all others."""
    old = edges.n_labels
    dense = np.zeros((n_labels + 1, n_labels + 1), np.float32)
    places = np.append(np.arange(old), n_labels)
    dense[np.ix_(places, places)] = edges.dense()
    return EdgeScores.of_dense(dense)
