"""The best labels of a corpus with their probabilities: of tokens, of spans and of whole sentences.

    P(span | x) = Z_restricted / Z

Z is the sum over all labellings of a sentence. The restricted sum is over those that have the span: its tokens have
its labels, the token after it does not continue it, and the token before it is not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.evaluation.chunks import chunks, roles
from corate.model.lattice import Lattice
from corate.model.tagger import Tagger
from corate.ragged import offsets_of, take_rows
from corate.spans import are_spans
from corate.types import F64

__all__ = ["Predictions", "predict", "span_probabilities"]

Int64 = NDArray[np.int64]

#: Lattices of about this many tokens are made at a time.
_TOKENS_AT_ONCE = 1 << 15


@dataclass(frozen=True, eq=False)
class Predictions:
    """The best labelling of each sentence, with probabilities.

    ``labels`` has the n labels. ``probabilities`` are the (n,) marginal probabilities of these labels, ``entropies``
    the (n,) entropies of the labels of a token in nats, and ``log_probabilities`` the (S,) logarithms of P(labelling |
    sentence). ``starts`` and ``stops`` are the tokens of the predicted spans, and ``span_probabilities`` their
    probabilities. These three are None if labels are not spans, or if the model is normalised at every position.
    """

    labels: Column
    probabilities: F64
    entropies: F64
    log_probabilities: F64
    starts: Int64 | None = None
    stops: Int64 | None = None
    span_probabilities: F64 | None = None


def predict(tagger: Tagger, corpus: Corpus, *, spans: bool = False) -> Predictions:
    """Tag a corpus, with probabilities; those of spans only if asked for.

    >>> from corate import train
    >>> tagger = train(Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("sleeps", "O")]] * 3))
    >>> found = predict(tagger, Corpus.from_sentences([["Ann", "Lee"]]), spans=True)
    >>> found.labels.values(), found.starts.tolist(), found.stops.tolist()
    (['B-PER', 'I-PER'], [0], [2])
    >>> bool(found.span_probabilities[0] <= found.probabilities.min() + 1e-6)
    True
    """
    names = tagger.labels
    spans = spans and are_spans(names) and not tagger.model.locally_normalised
    ids, marginals, entropies, whole = [], [], [], []
    starts, stops, of_spans = [], [], []
    done = 0
    for piece in _pieces(corpus):
        lattice = tagger.lattice(piece)
        best, scores = lattice.best()
        log_z, p = lattice.marginals()
        places = _places(lattice, best)
        ids.append(best)
        marginals.append(np.minimum(p[places].astype(np.float64), 1.0))
        entropies.append(_entropies(lattice.offsets, p))
        whole.append(np.minimum(scores - log_z, 0.0))
        if spans:
            start, stop, _ = chunks(best, names, piece.offsets)
            of_spans.append(span_probabilities(lattice, names, best, log_z, start, stop))
            starts.append(start + done)
            stops.append(stop + done)
        done += piece.n_tokens
    return Predictions(
        Column("label", _joined(ids, np.int32), tagger.model.labels),
        _joined(marginals, np.float64),
        _joined(entropies, np.float64),
        _joined(whole, np.float64),
        *((_joined(starts, np.int64), _joined(stops, np.int64), _joined(of_spans, np.float64)) if spans else ()),
    )


def span_probabilities(
    lattice: Lattice, names: Sequence[str], best: NDArray[np.int32], log_z: F64, starts: Int64, stops: Int64
) -> F64:
    """The probabilities of spans of the best labelling, with the labels that it gives them.

    ``names`` are the labels by id, ``best`` the (n,) ids of the best labelling, and ``log_z`` the (S,) logarithms of Z.
    ``starts`` and ``stops`` are the first tokens of the spans and the tokens after them. The edges of the lattice must
    not be locally normalised.
    """
    sentence = np.searchsorted(lattice.sentences, starts, side="right") - 1
    ends = np.cumsum(np.diff(lattice.sentences)[sentence])
    found = [np.zeros(0)]
    first = 0
    while first < len(starts):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _TOKENS_AT_ONCE)))
        these = slice(first, last)
        copies = _restricted(lattice, names, best, sentence[these], starts[these], stops[these])
        found.append(np.exp(np.minimum(copies.marginals()[0] - log_z[sentence[these]], 0.0)))
        first = last
    return np.concatenate(found)


def _restricted(
    lattice: Lattice, names: Sequence[str], best: NDArray[np.int32], sentence: Int64, starts: Int64, stops: Int64
) -> Lattice:
    """A copy of the sentence of each span, with only the candidates of labellings that have the span."""
    role, kind = roles(names)
    sentences, tokens = take_rows(lattice.sentences, sentence)
    offsets, candidates = take_rows(lattice.offsets, tokens)
    span = np.repeat(np.repeat(np.arange(len(starts)), np.diff(sentences)), np.diff(offsets))  # of each candidate
    token = np.repeat(tokens, np.diff(offsets))
    labels = lattice.labels[candidates]
    first, last = best[starts], best[stops - 1]
    same_type = kind[labels] == kind[first][span]
    open_ended, continuing = np.isin(role, [ord("B"), ord("I")]), np.isin(role, [ord("I"), ord("E")])
    inside = (token >= starts[span]) & (token < stops[span])
    joined_before = (token == starts[span] - 1) & same_type & open_ended[labels] & continuing[first][span]
    joined_after = (token == stops[span]) & same_type & continuing[labels] & open_ended[last][span]
    keep = np.where(inside, labels == best[token], ~(joined_before | joined_after))
    extra = lattice.extra
    if extra is not None:
        places, ids, rows, pairs, scores = extra
        taken, values = take_rows(places, tokens)
        extra = (taken, ids[values], rows, pairs, scores)
    kept = candidates[keep]
    return Lattice(
        sentences, offsets_of(keep)[offsets], lattice.labels[kept], lattice.scores[kept], lattice.edges, extra
    )


def _pieces(corpus: Corpus) -> Iterator[Corpus]:
    """The corpus in pieces of whole sentences and of limited length."""
    first = 0
    while first < len(corpus):
        limit = int(corpus.offsets[first]) + _TOKENS_AT_ONCE
        last = max(first + 1, int(np.searchsorted(corpus.offsets, limit, side="right")) - 1)
        yield corpus[first:last]
        first = last


def _places(lattice: Lattice, labels: NDArray[np.int32]) -> Int64:
    """The candidates that have the given labels, one per token."""
    k = lattice.edges.n_labels
    keys = np.repeat(np.arange(len(labels)), np.diff(lattice.offsets)) * k + lattice.labels
    return np.searchsorted(keys, np.arange(len(labels)) * k + labels)


def _entropies(offsets: Int64, p: NDArray[np.float32]) -> F64:
    """The entropy of the candidates of each token, in nats."""
    exact = p.astype(np.float64)
    terms = -exact * np.log(np.maximum(exact, 1e-300))
    return np.add.reduceat(terms, offsets[:-1]) if len(offsets) > 1 else np.zeros(0)


def _joined(parts: list[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts])
