"""From counts and chosen settings to a chain model: the last step of empirical training, and of learning more data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.counting.counts import Counts
from corate.counting.ladder import DEFAULT, PRESETS, LadderParameters, LadderPreset, LadderTables
from corate.counting.pooling import Pool
from corate.counting.rates import edge_scores
from corate.errors import DataError, ModelError
from corate.features.ready import groups_of
from corate.features.vocabulary import Vocabulary
from corate.model.chain import ChainModel
from corate.scores import EdgeScores, SparseRows
from corate.training.settings import named_settings
from corate.types import Ids

__all__ = [
    "FLOOR",
    "POOLED_FULL_LABELS",
    "experts",
    "label_prior",
    "ladder_model",
    "ladder_tables",
    "pooled_model",
    "rebuild",
]

#: With at most so many labels, a pooled model keeps them all as candidates everywhere.
POOLED_FULL_LABELS = 64
#: What the ladder says of a label it does not hold possible: log of one in a million.
FLOOR = float(np.log(1e-6))
_LARGEST_POOL_WEIGHT = 1e6


def label_prior(counts: Counts) -> NDArray[np.float64]:
    """P(y) of each label, a tenth of a token added to each."""
    totals = np.bincount(counts.pairs.to, weights=counts.pairs.counts, minlength=len(counts.labels) + 1)[:-1] + 0.1
    return np.asarray(totals / totals.sum())


def experts(vocabulary: Vocabulary) -> tuple[Ids, list[str]]:
    """The expert of each feature id, and the experts' names: groups of attributes, then templates."""
    ids, names = np.zeros(0, np.int32), list[str]()
    if vocabulary.attributes is not None:
        ids, names = groups_of(vocabulary.attributes)
    sizes = vocabulary.map.sizes()
    templates = np.repeat(np.arange(len(sizes), dtype=np.int32) + len(names), sizes)
    return np.concatenate([ids, templates]).astype(np.int32), [*names, *(str(t) for t in vocabulary.templates)]


def ladder_tables(
    counts: Counts, preset: LadderPreset, word: str, vocabulary: Vocabulary | None = None
) -> LadderTables:
    """What a ladder reads of the counts; ``vocabulary`` may have grown by strings that were not counted."""
    bases = counts.vocabulary.bases
    wanted = [counts.vocabulary.templates.index(t) for t in preset.templates(word)]
    tables = {i: counts.table.rows(int(bases[t]), int(bases[t + 1])) for i, t in enumerate(wanted)}
    return LadderTables(vocabulary or counts.vocabulary, preset, word, tables, len(counts.labels))


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


def _parameters(settings: dict[str, Any]) -> LadderParameters:
    try:
        return LadderParameters(**named_settings(LadderParameters(), settings))
    except DataError as error:
        raise ModelError(f"the model's settings are not what they should be ({error}); train it again") from None


def _grown(edges: EdgeScores, n_labels: int) -> EdgeScores:
    """Edge scores with room for new labels; those score zero with all others."""
    old = edges.n_labels
    dense = np.zeros((n_labels + 1, n_labels + 1), np.float32)
    places = np.append(np.arange(old), n_labels)
    dense[np.ix_(places, places)] = edges.dense()
    return EdgeScores.of_dense(dense)
