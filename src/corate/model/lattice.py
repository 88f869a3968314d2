"""Lattices: scores of candidate labels at each position and between positions, and exact answers about labellings.

Whether a model has pruned or full lattices is chosen when it is trained, in ``training/choices.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_seed, check_whole
from corate.corpus import Column, Corpus
from corate.errors import ConfigError, DataError, ModelError
from corate.label_pairs import LabelPairs
from corate.memory import free_memory, shown_memory
from corate.rows import cuts, owners_of
from corate.spans import Span, SpanLabels, are_spans, detect, spans
from corate.types import F32, F64, Ids, Offsets

__all__ = ["Entity", "Lattice", "Limits", "pieces"]

#: The native graph of labellings keeps at most this many groups of labels to one block.
MOST_BLOCKS = 6
#: Lattices of a large corpus are made for about this many tokens at a time.
_TOKENS_AT_ONCE = 1 << 15
#: The most memory for the label pairs of two neighbouring tokens, and the least for which free memory is looked at.
MOST_BYTES, FEW_BYTES = 500_000_000, 50_000_000
#: Of each pair: its score.
PAIR_BYTES = 4


@dataclass(frozen=True)
class Entity:
    """A span of the best labelling: its type, its tokens ``start`` to ``stop`` (exclusive) and their text.

    ``probability`` is the sum of the probabilities of all labellings that contain exactly this span. If raw text was
    given, ``start_char`` and ``stop_char`` are the position of the span in it: ``text == raw[start_char:stop_char]``.
    """

    type: str
    start: int
    stop: int
    text: str
    probability: float
    start_char: int | None = None
    stop_char: int | None = None


@dataclass(frozen=True, eq=False)
class Limits:
    """Which labellings of a lattice are allowed; None allows all.

    ``allowed`` is by candidate and ``forbidden`` by label pair (`LabelPairs`). ``blocks`` are the labels that
    may form one span only; see `corate.spans.SpanLabels`.
    """

    allowed: NDArray[np.uint8] | None = None
    forbidden: NDArray[np.uint8] | None = None
    blocks: _native.SpanLabels | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """Sentences ready to decode.

    ``sentences`` are (S + 1,) offsets of tokens, and ``offsets`` are (n + 1,) offsets of candidates. Each candidate has
    one of the ``labels``, ascending within a token, and one of the float32 log-``scores``. ``extra`` are the edge
    features, if edges depend on the observation: offsets and ids by token, and the weights of features.
    In models with pairs of words, they are the rows of pairs; see ``native/chain/lattice.h``.
    ``names`` are the labels by id, and ``words`` the words of the tokens, if there are any. All answers are about the
    labellings within the ``limits``.

    >>> edges = _native.Edges.dense(np.zeros((3, 3), np.float32))
    >>> scores = np.log(np.array([0.9, 0.1, 0.2, 0.8], np.float32))
    >>> labels = np.array([0, 1, 0, 1], np.int32)
    >>> lattice = Lattice(np.array([0, 2]), np.array([0, 2, 4]), labels, scores, edges)
    >>> lattice.best()[0].tolist(), [round(float(p), 2) for p in lattice.marginals()[1]]
    ([0, 1], [0.9, 0.1, 0.2, 0.8])
    >>> lattice
    Lattice(sentences=1, tokens=2, candidates_per_token=2.0)
    """

    sentences: NDArray[np.int64]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    scores: NDArray[np.float32]
    edges: _native.Edges
    extra: _native.EdgeFeatures | None = None
    names: Sequence[str] = ()
    words: Column | None = None
    limits: Limits = field(default_factory=Limits)
    threads: int = 1

    def __repr__(self) -> str:
        sentences, tokens = len(self.sentences) - 1, len(self.offsets) - 1
        width = len(self.labels) / max(1, tokens)
        return f"Lattice(sentences={sentences}, tokens={tokens}, candidates_per_token={width:.1f})"

    @cached_property
    def _limited(self) -> bool:
        limits = self.limits
        return any(part is not None for part in (limits.allowed, limits.forbidden, limits.blocks))

    @property
    def _arrays(self) -> tuple[Offsets, Offsets, Ids, F32, _native.Edges, _native.EdgeFeatures | None]:
        return self.sentences, self.offsets, self.labels, self.scores, self.edges, self.extra

    @cached_property
    def _paths(self) -> _native.Paths:
        limits = self.limits
        check_pair_memory(self.sentences, self.offsets, self.threads)
        return _native.Paths(*self._arrays, limits.allowed, limits.forbidden, limits.blocks, self.threads)

    @property
    def _summed_paths(self) -> _native.Paths:
        """The paths for questions that need more than the best labelling."""
        blocks = 0 if self.limits.blocks is None else int(self.limits.blocks[0].max()) + 1
        if blocks > MOST_BLOCKS:
            raise ConfigError(
                f"one_block: with {blocks} labels only the best labels can be asked for; for probabilities, samples "
                f"and n-best labellings, name {MOST_BLOCKS} at most",
                option="one_block",
            )
        return self._paths

    @property
    def _limited_edges(self) -> _native.Edges | None:
        """Edges that rule out what the limits forbid; None if the best labels need the graph of labellings."""
        limits = self.limits
        if limits.blocks is not None:
            return None
        nothing = np.zeros(len(LabelPairs(self.edges.n_labels)), np.uint8)
        return self.edges.without(nothing if limits.forbidden is None else limits.forbidden)

    @property
    def _allowed_scores(self) -> F32:
        allowed = self.limits.allowed
        return self.scores if allowed is None else np.where(allowed, self.scores, np.float32(-np.inf))

    @cached_property
    def _best_within_limits(self) -> tuple[Ids, F64]:
        limited = self._limited_edges
        if limited is not None:
            ids, scores = _native.viterbi(*self._arrays[:3], self._allowed_scores, limited, self.extra, self.threads)
            return ids, scores.astype(np.float64)
        labels, totals = self._paths.best()
        if np.isnan(totals).any():
            raise DataError(
                f"one_block: no labelling was found for sentence {int(np.isnan(totals).argmax())}, as too many labels "
                f"are repeated; name fewer of them"
            )
        return labels, totals

    def without_labelling(self) -> NDArray[np.int64]:
        """The sentences that have no labelling within the limits."""
        return np.flatnonzero(np.isneginf(self._best_within_limits[1]))

    def _check(self, totals: NDArray[np.floating]) -> None:
        """Refuse sentences without a labelling: log Z, or the score of the best labelling, is minus infinity."""
        if np.isneginf(totals).any():
            raise DataError(f"no labelling of sentence {int(np.argmin(totals))} satisfies the constraints; relax them")

    # -- arrays --------------------------------------------------------------------------------------------------

    def best(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The best label of each token (Viterbi), and the score of each sentence's best path."""
        if not self._limited:
            return _native.viterbi(*self._arrays, self.threads)
        labels, totals = self._best_within_limits
        self._check(totals)
        return labels, totals.astype(np.float32)

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """log Z of each sentence, and the probability of each candidate (forward-backward)."""
        return self._marginals(with_pairs=False)[:2]

    def _marginals(self, *, with_pairs: bool) -> tuple[F64, NDArray[np.float32], NDArray[np.float32]]:
        if not self._limited:
            check_pair_memory(self.sentences, self.offsets, self.threads)
            return _native.forward_backward(*self._arrays, with_pairs, self.threads)
        log_z, marginals, pairs = self._summed_paths.marginals(with_pairs)
        self._check(log_z)
        return log_z, marginals.astype(np.float32), pairs.astype(np.float32)

    def label_marginals(self) -> NDArray[np.float64]:
        """The probability of each label at each token, (n, K); 0 for labels that are not candidates.

        >>> edges = _native.Edges.dense(np.zeros((4, 4), np.float32))
        >>> labels, scores = np.array([0, 2, 1], np.int32), np.log(np.array([0.75, 0.25, 1.0], np.float32))
        >>> Lattice(np.array([0, 2]), np.array([0, 2, 3]), labels, scores, edges).label_marginals().tolist()
        [[0.75, 0.0, 0.25], [0.0, 1.0, 0.0]]
        """
        shape = len(self.offsets) - 1, self.edges.n_labels
        if len(self.labels) == shape[0] * shape[1]:  # all labels are candidates
            return self.marginals()[1].reshape(shape).astype(np.float64)
        dense = np.zeros(shape)
        dense[owners_of(self.offsets), self.labels] = self.marginals()[1]
        return dense

    def pair_marginals(self) -> list[NDArray[np.float32]]:
        """P(y, y') of each token but the first of a sentence, in order.

        Rows are the candidates of the previous token, columns those of the token.

        >>> edges = _native.Edges.dense(np.zeros((3, 3), np.float32))
        >>> labels, scores = np.array([0, 1, 0], np.int32), np.log(np.array([0.9, 0.1, 1.0], np.float32))
        >>> Lattice(np.array([0, 2]), np.array([0, 2, 3]), labels, scores, edges).pair_marginals()[0].round(2).tolist()
        [[0.8999999761581421], [0.10000000149011612]]
        """
        _, _, flat = self._marginals(with_pairs=True)
        widths = np.diff(self.offsets)
        inner = np.ones(len(widths), dtype=bool)
        inner[self.sentences[:-1][np.diff(self.sentences) > 0]] = False
        shapes = [(int(widths[t - 1]), int(widths[t])) for t in np.flatnonzero(inner)]
        parts = np.split(flat, np.cumsum([m * n for m, n in shapes])[:-1]) if shapes else []
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    # -- answers by sentence -------------------------------------------------------------------------------------

    def _by_sentence(self, values: Sequence[str]) -> list[list[str]]:
        return [list(values[a:b]) for a, b in pairwise(self.sentences.tolist())]

    def tag(self, decode: str | None = None) -> list[list[str]]:
        """The labels of each sentence: the ``"best"`` labelling, or ``"posterior"``: the most probable of each token.

        The most probable label of each token minimises the expected number of errors. The sequence may be invalid.
        """
        if decode not in (None, "best", "posterior"):
            raise ConfigError(f"decode must be 'best' or 'posterior', not {decode!r}", option="decode")
        ids = self.best()[0] if decode != "posterior" else self.label_marginals().argmax(axis=1)
        return self._by_sentence([self.names[y] for y in ids.tolist()])

    def nbest(self, n: int) -> list[list[tuple[list[str], float]]]:
        """The ``n`` best labellings of each sentence with their probabilities, best first; fewer if there are fewer."""
        found, log_z = self._summed_paths.n_best(check_whole("n", n, 1), list(self.names))
        self._check(log_z)
        return found

    def confidence(self) -> list[float]:
        """The probability of each sentence's best labelling."""
        return [best[0][1] for best in self.nbest(1)]

    def entropy(self) -> list[float]:
        """The entropy of the labellings of each sentence, in nats: 0 if only one labelling is possible."""
        log_z, entropy = self._summed_paths.sums()
        self._check(log_z)
        return [float(value) for value in entropy]

    def sample(self, n: int, seed: int = 0) -> list[list[list[str]]]:
        """``n`` labellings of each sentence, drawn at random from their distribution. A seed always gives the same."""
        n = check_whole("n", n, 1)
        flat = self._summed_paths.sample(n, check_seed(seed))
        if len(flat) and flat.min() < 0:
            self._check(self._best_within_limits[1])
        names, found, at = [self.names[y] for y in flat.tolist()], [], 0
        for length in np.diff(self.sentences).tolist():
            found.append([names[at + i * length : at + (i + 1) * length] for i in range(n)])
            at += n * length
        return found

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        """The token and the label of each candidate as one number, ascending."""
        return owners_of(self.offsets) * self.edges.n_labels + self.labels

    def places(self, tokens: NDArray[np.int64], labels: Ids) -> NDArray[np.int64]:
        """The candidates of some tokens with these labels."""
        return np.searchsorted(self._keys, tokens * self.edges.n_labels + labels)

    def shares(self, labels: Ids, marginals: F32, first: int = 0) -> F64:
        """The probability of one label per token from ``first``, from the `marginals` of the candidates."""
        places = self.places(np.arange(first, first + len(labels)), labels)
        return np.minimum(marginals[places].astype(np.float64), 1.0)

    def entities(self) -> list[list[Entity]]:
        """The spans of each sentence's best labelling, with their probabilities.

        Raises ModelError if the labels mark no spans; see `corate.spans`.
        """
        if detect([self.names]) is None and not are_spans(self.names, strict=False):
            raise ModelError(
                f"the labels of this model ({', '.join(list(self.names)[:4])}, ...) mark no spans, so there are no "
                "entities; use marginals"
            )
        found = [spans(labels) for labels in self.tag()]
        probabilities = self.span_probabilities(found)
        words = [] if self.words is None else self.words.values()

        return [
            [
                Entity(span.type, span.start, span.stop, " ".join(words[first + span.start : first + span.stop]), p)
                for span, p in zip(own, shares, strict=True)
            ]
            for first, own, shares in zip(self.sentences.tolist(), found, probabilities, strict=False)
        ]

    def span_probabilities(self, wanted: Sequence[Sequence[Span]]) -> list[list[float]]:
        """The probability of each of the ``wanted`` spans of each sentence.

        It is the sum of the probabilities of all labellings that contain exactly this span, with the same type and
        boundaries. A span of a type that no label has is impossible.
        """
        labels = SpanLabels.of(self.names)
        types = {name: i for i, name in enumerate(labels.types)}
        every = [span for own in wanted for span in own]
        found = self._summed_paths.span_probabilities(
            np.cumsum([0, *map(len, wanted)], dtype=np.int64),
            np.array([span.start for span in every], np.int64),
            np.array([span.stop for span in every], np.int64),
            np.array([types.get(span.type, -2) for span in every], np.int32),
            labels.arrays(),
        )
        return [found[a:b].tolist() for a, b in pairwise(np.cumsum([0, *map(len, wanted)]).tolist())]

    def through(self) -> F64:
        """The score of the best labelling with each candidate; minus infinity if there is none within the limits."""
        return self._summed_paths.through()

    def traces(
        self, sentences: NDArray[np.int64], positions: NDArray[np.int64], candidates: NDArray[np.int64]
    ) -> tuple[Ids, F64]:
        """The best labellings with some candidates, each of a token of a sentence; sentences ascend.

        Returns the labels of all labellings, one after the other, and the scores of their arcs, of which there is one
        more than tokens. The score of an arc is that of a token and of the edge to it; the last arc leads to the end.
        """
        places = np.searchsorted(sentences, np.arange(len(self.sentences)))
        return self._summed_paths.traces(places, positions, candidates)

    # -- one labelling -------------------------------------------------------------------------------------------

    def path_score(self, sentence: int, labels: NDArray[np.int32]) -> float:
        """The score of one labelling of one sentence; minus infinity if a label is not a candidate."""
        start = int(self.sentences[sentence])
        boundary = self.edges.n_labels
        total, before, previous, earlier = 0.0, 0.0, boundary, boundary
        for i, y in enumerate(labels.tolist()):
            a, b = int(self.offsets[start + i]), int(self.offsets[start + i + 1])
            place = a + int(np.searchsorted(self.labels[a:b], y))
            if place == b or self.labels[place] != y:
                return float("-inf")
            node = float(self.scores[place])
            total += node + self.edge_score(start + i, previous, y, before + node)
            total += self.edges.triple(earlier, previous, y)
            total -= self.normaliser(start + i, previous) if self.edges.local else 0.0
            before, previous, earlier = node, y, previous
        if not len(labels):
            return 0.0
        last = self.edge_score(start + len(labels) - 1, previous, boundary, before)
        return total + last + self.edges.triple(earlier, previous, boundary)

    def normaliser(self, token: int, previous: int) -> float:
        """log sum_y exp(node(y) + edge(previous, y)) over the candidates y of a token."""
        a, b = int(self.offsets[token]), int(self.offsets[token + 1])
        terms = [
            float(score) + self.edge_score(token, previous, y)
            for y, score in zip(self.labels[a:b].tolist(), self.scores[a:b].tolist(), strict=True)
        ]
        return float(np.logaddexp.reduce(terms))

    def edge_score(self, token: int, previous: int, label: int, nodes: float = 0.0) -> float:
        """The score of the edge to a token, or from it to the end, given the sum of the scores of both ``nodes``."""
        score = self.edges.at(previous, label)
        if self.extra is None:
            return score
        offsets, ids, weights = self.extra
        pairs = LabelPairs(self.edges.n_labels)
        pair, at_end = int(pairs.ids(previous, label)), label == pairs.boundary
        features = ids[offsets[token] : offsets[token + 1]].tolist()
        if weights.forbidden is not None:  # pairs of words
            row = features[1 if at_end else 0]
            return score if row < 0 or score <= weights.forbidden else weights.at(row, pair) - nodes
        known = (feature for feature in features if feature >= 0 and not at_end)
        return score + sum(weights.at(feature, pair) for feature in known)


def check_pair_memory(sentences: Offsets, offsets: Offsets, threads: int = 1) -> None:
    """Raise ModelError if answers about label pairs need more than `MOST_BYTES`, or more than the memory that is free.

    The sentences are offsets of tokens, and ``offsets`` are those of candidates. Each thread has the pairs of two
    neighbouring tokens of a sentence.

    >>> check_pair_memory(np.array([0, 2]), np.array([0, 15_000, 30_000]))
    Traceback (most recent call last):
    corate.errors.ModelError: with 15,000 candidate labels for a token, probabilities need about 900 MB of memory...
    """
    widths = np.diff(offsets).astype(np.int64)
    if len(widths) == 0 or PAIR_BYTES * threads * int(widths.max()) ** 2 <= FEW_BYTES:
        return
    pairs = widths[:-1] * widths[1:]
    firsts = sentences[(sentences > 0) & (sentences < len(widths))]
    pairs[firsts - 1] = 0  # of the last token of a sentence and the first of the next
    most = int(pairs.max(initial=0))
    need = PAIR_BYTES * most * min(threads, len(sentences) - 1)
    limit = min(MOST_BYTES, free_memory() or MOST_BYTES)
    if need > limit:
        raise ModelError(
            f"with {int(widths.max()):,} candidate labels for a token, probabilities need about {shown_memory(need)} "
            f"of memory for the label pairs of two tokens, more than {shown_memory(limit)}; ask for the best labels "
            "only, use fewer threads, or train with fewer labels or without all_labels"
        )


def pieces(corpus: Corpus, tokens: int | None = None) -> Iterator[Corpus]:
    """The corpus in pieces of whole sentences, of about ``tokens`` tokens.

    By default, lattices of the pieces do not take much memory.
    """
    return (corpus[a:b] for a, b in cuts(corpus.offsets, tokens or _TOKENS_AT_ONCE))
