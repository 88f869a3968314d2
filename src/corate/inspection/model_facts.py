"""What a model is: its record, the rates of its label pairs, and its strongest features by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.display import count, in_words
from corate.model.tagger import Tagger
from corate.model.weights import feature_names, feature_weights, rate_scale
from corate.pages.colours import hues
from corate.pages.page import visible
from corate.types import F64

__all__ = ["LabelRates", "description", "feature_data", "label_rates"]

_LABELS_LISTED = 40
#: What entries of a record are called for models of graphs.
_ON_GRAPHS = {"sentences": "graphs", "tokens": "nodes", "nodes": "scores of nodes", "types": "types of edges"}
_LATTICES = {"full": "all labels of each token", "pruned": "the labels that are likely for each word"}
#: A heat map with more labels than this is not legible.
_LABELS_DRAWN = 40
#: Features in all, for and against all labels; and of one label at most and at least.
_FEATURES, _MOST, _LEAST = 40_000, 200, 5


def description(tagger: Tagger) -> list[tuple[str, str]]:
    """Names and values that say what a model is and how it was trained.

    >>> import corate
    >>> tagger = corate.train(corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]]))
    >>> dict(description(tagger))["labels"]
    '2: DET NOUN'
    """
    labels, record = tagger.labels, tagger.record
    more = f" and {len(labels) - _LABELS_LISTED} more" if len(labels) > _LABELS_LISTED else ""
    unknown = () if record["sentences"] else ("sentences", "tokens")  # a CRFsuite file does not say
    rows = [
        ("method", tagger.method),
        ("columns", " ".join(tagger.columns)),
        ("words", count(len(tagger.words))),
        ("labels", f"{count(len(labels))}: {' '.join(labels[:_LABELS_LISTED])}{more}"),
        ("templates", "\n".join(tagger.features)),
    ]
    if tagger.model.locally_normalised:
        rows.insert(1, ("normalised", "at every position: P(label | label before, words)"))
    shown = {"function_sample", *(name for name, _ in rows)}
    empty = {
        key
        for key, value in record.items()
        if isinstance(value, dict) and not any(v is not None for v in value.values())
    }
    named = {} if tagger.model.graph is None else _ON_GRAPHS
    more_rows = (
        (named.get(key, key), _told(key, value))
        for key, value in record.items()
        if key not in shown.union(unknown, empty)
    )
    return [*rows, *more_rows]


def _told(key: str, value: Any) -> str:
    """A value of a record as text. The lattice is the one that was used, which need not be the one of the option."""
    return f"{value}: {_LATTICES[value]}" if key == "lattice" and value in _LATTICES else in_words(value)


@dataclass(frozen=True, eq=False)
class LabelRates:
    """Natural logarithms of the rates of label pairs, (rows, columns), or of their factors if ``counted`` is False."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    logs: F64
    counted: bool
    n_labels: int


def label_rates(tagger: Tagger) -> LabelRates:
    """The rates of a model's label pairs. Of many labels, those with the largest scores are chosen.

    >>> import corate
    >>> tagger = corate.train(corate.Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")]] * 3), "empirical")
    >>> rates = label_rates(tagger)
    >>> rates.rows, rates.columns, rates.logs.shape, bool(rates.logs[0, 1] > 0 > rates.logs[0, 0])
    (('DET', 'NOUN', '<s>'), ('DET', 'NOUN', '</s>'), (3, 3), True)
    """
    n, scale = len(tagger.labels), rate_scale(tagger.record)
    table = tagger.model.edges.dense().astype(np.float64) / (1.0 if scale is None else scale)
    table[n, n] = 0.0  # no sentence is empty
    sizes = np.abs(table).sum(axis=0) + np.abs(table).sum(axis=1)
    chosen = np.append(np.sort(np.argsort(-sizes[:n], kind="stable")[:_LABELS_DRAWN]), n)
    names = [tagger.labels[y] for y in chosen[:-1].tolist()]
    return LabelRates((*names, "<s>"), (*names, "</s>"), table[np.ix_(chosen, chosen)], scale is not None, n)


def feature_data(tagger: Tagger) -> dict[str, Any]:
    """The strongest features for and against each label: parallel lists of feature names, label ids and weights.

    The label ids are into ``"labels"``: the labels of the model, and then the parts of labels that have weights.
    """
    weights, parts = feature_weights(tagger.model), tagger.model.parts
    columns = [*tagger.labels, *([] if parts is None else parts.names.to_list())]
    most = min(_MOST, max(_LEAST, _FEATURES // (2 * max(len(columns), 1))))
    places = _extremes_by_label(weights.labels, weights.scores, most)
    features = np.searchsorted(weights.offsets, places, side="right") - 1
    return {
        "labels": [visible(name) for name in columns],
        "hues": [*hues(tagger.labels), *[-1] * (len(columns) - len(tagger.labels))],
        "most": most,
        "name": [visible(name) for name in feature_names(tagger.vocabulary, features.tolist())],
        "label": weights.labels[places].tolist(),
        "weight": [round(weight, 4) for weight in weights.scores[places].tolist()],
    }


def _extremes_by_label(labels: NDArray[np.int32], scores: NDArray[np.float32], n: int) -> NDArray[np.int64]:
    """The places of the ``n`` highest and the ``n`` lowest scores of each label, in descending size; none are zero.

    >>> labels = np.array([0, 0, 0, 1], np.int32)
    >>> _extremes_by_label(labels, np.array([0.5, 2.0, -1.0, 1.0], np.float32), 1).tolist()
    [1, 2, 3]
    """
    kept = []
    for sign in (1, -1):
        here = np.flatnonzero(sign * scores > 0)
        order = here[np.lexsort((here, -sign * scores[here], labels[here]))]
        starts = np.flatnonzero(np.append(True, labels[order][1:] != labels[order][:-1])[: len(order)])
        lengths = np.diff(np.append(starts, len(order)))
        kept.append(order[np.arange(len(order)) - np.repeat(starts, lengths) < n])
    every = np.concatenate(kept)
    return every[np.lexsort((every, -np.abs(scores[every])))]
