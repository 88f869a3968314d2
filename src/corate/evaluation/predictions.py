"""The best labels of a corpus with their probabilities: of tokens, of spans and of whole sentences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.model.lattice import pieces
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.spans import are_spans
from corate.types import F64

__all__ = ["Predictions", "pieces", "predict"]

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Predictions:
    """The best labelling of each sentence, with probabilities.

    ``labels`` has the n labels. ``probabilities`` are the (n,) marginal probabilities of these labels, ``entropies``
    the (n,) entropies of the labels of a token in nats, and ``log_probabilities`` the (S,) logarithms of P(labelling |
    sentence). ``starts`` and ``stops`` are the tokens of the predicted spans, and ``span_probabilities`` their
    probabilities. These three are None if labels are not spans, or if they were not asked for. If a graph
    is answered by messages, which are approximate, all ``log_probabilities`` are NaN.
    """

    labels: Column
    probabilities: F64
    entropies: F64
    log_probabilities: F64
    starts: Int64 | None = None
    stops: Int64 | None = None
    span_probabilities: F64 | None = None


def predict(
    tagger: Tagger, corpus: Corpus, *, spans: bool = False, progress: OnProgress = ignore_progress
) -> Predictions:
    """Tag a corpus, with probabilities; those of spans only if asked for.

    >>> from corate import train
    >>> tagger = train(Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("sleeps", "O")]] * 3))
    >>> found = predict(tagger, Corpus.from_sentences([["Ann", "Lee"]]), spans=True)
    >>> found.labels.values(), found.starts.tolist(), found.stops.tolist()
    (['B-PER', 'I-PER'], [0], [2])
    >>> bool(found.span_probabilities[0] <= found.probabilities.min() + 1e-6)
    True
    """
    spans = spans and are_spans(tagger.labels) and tagger.model.graph is None
    ids, marginals, entropies, whole = list[Any](), list[Any](), list[Any](), list[Any]()
    starts, stops, of_spans = [], [], []
    done = 0
    for piece in pieces(corpus):
        progress(ProgressEvent("tagging", done / corpus.n_tokens))
        if tagger.model.graph is not None:
            for parts, own in zip((ids, marginals, entropies, whole), _of_graphs(tagger, piece), strict=True):
                parts.append(own)
            done += piece.n_tokens
            continue
        lattice = tagger.lattice(piece)
        best, scores = lattice.best()
        log_z, p = lattice.marginals()
        ids.append(best)
        marginals.append(lattice.shares(best, p))
        entropies.append(_entropies(lattice.offsets, p))
        whole.append(np.minimum(scores - log_z, 0.0))
        if spans:
            entities = lattice.entities()
            firsts = np.repeat(lattice.sentences[:-1] + done, [len(own) for own in entities])
            found = [entity for own in entities for entity in own]
            starts.append(firsts + [entity.start for entity in found])
            stops.append(firsts + [entity.stop for entity in found])
            of_spans.append([entity.probability for entity in found])
        done += piece.n_tokens
    return Predictions(
        Column("label", _joined(ids, np.int32), tagger.model.labels),
        _joined(marginals, np.float64),
        _joined(entropies, np.float64),
        _joined(whole, np.float64),
        *((_joined(starts, np.int64), _joined(stops, np.int64), _joined(of_spans, np.float64)) if spans else ()),
    )


def _of_graphs(tagger: Tagger, graphs: Corpus) -> tuple[Any, F64, F64, F64]:
    """The labels of graphs, their probabilities and entropies by node, and the log-probability of each graph's."""
    lattice = tagger.graph_lattice(graphs)
    ids, p = lattice.label_ids(), lattice.label_marginals()
    entropies = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
    whole = np.full(len(graphs), np.nan)
    if lattice.plan.exact.all():
        bounds = pairwise(lattice.sentences.tolist())
        scores = [lattice.path_score(g, ids[a:b]) for g, (a, b) in enumerate(bounds)]
        whole = np.minimum(np.array(scores) - lattice.log_z(), 0.0)
    return ids, np.minimum(p[np.arange(len(ids)), ids], 1.0), entropies, whole


def _entropies(offsets: Int64, p: NDArray[np.float32]) -> F64:
    """The entropy of the candidates of each token, in nats."""
    exact = p.astype(np.float64)
    terms = -exact * np.log(np.maximum(exact, 1e-300))
    return np.add.reduceat(terms, offsets[:-1]) if len(offsets) > 1 else np.zeros(0)


def _joined(parts: list[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)
