"""Pooling: scores of any features, by counting alone. Each template is an expert with a weight.

The formulas are in ``native/counting/pooling.cpp``. One weight per expert and one bias per label are fitted by a small
convex problem on some tokens. Each token is left out of the counts. The word back-off, if there is one, is an expert
like the others. Then the edges are fitted given the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from corate import _native, portable_math
from corate.corpus import Attributes
from corate.counting.counts import Counts, PairCounts, Table, Tokens
from corate.features.ready_made import groups_of
from corate.features.vocabulary import Vocabulary
from corate.optimize.newton import newton
from corate.rows import LabelRows, Ragged, SparseRows, offsets_of, owners_of
from corate.types import F32, F64, Csr, Ids

__all__ = [
    *(
        "Candidates",
        "Features",
        "PooledExperts",
        "countable_features",
        "experts",
        "fit_edges",
        "fit_weights",
        "label_prior",
    ),
    *("unrecovered_labels", "with_evidence"),
]


#: Weight of the label prior that smooths every expert, in tokens.
SMOOTHING = 1.0
#: Gaussian prior of the weights: its strength, in tokens, and its mean.
RIDGE = 1.0
PRIOR_MEAN = 0.2
#: The weights are fitted on tokens whose label at least so many tokens of other sentences have. A label is judged by at
#: least so many of its tokens.
LEAST_EVIDENCE = 3
#: The least weight of the back-off. If few words recur, leave-one-out scores make the back-off look useless.
LEAST_BACKOFF = 0.1


@dataclass(frozen=True, eq=False)
class Features(Ragged):
    """The features of tokens; token ``t`` has ``ids[offsets[t]:offsets[t + 1]]``."""

    ids: Ids
    values: F32 | None = None  # None: all are 1

    ENTRIES: ClassVar[tuple[str, ...]] = ("ids", "values")

    @classmethod
    def of(
        cls,
        tokens: Tokens,
        bases: NDArray[np.int64],
        wanted: NDArray[np.bool_] | None = None,
        *,
        kept: NDArray[np.bool_] | None = None,
        last: int = -1,
    ) -> Features:
        """The attributes of tokens, then their features by the ``wanted`` templates (default: all).

        A feature of -1, or beyond the size of its template, is skipped. ``kept`` marks the ids that are used (default:
        all). ``last``, unless negative, is a feature that every token has; it comes last.
        """
        every = np.ones(len(tokens.features), bool) if wanted is None else wanted
        ready = tokens.attributes
        attributes = None if ready is None else (ready.offsets, ready.ids, ready.values)
        return cls(*_native.list_features(tokens.features, bases, every, attributes, kept, last))

    def arrays(self) -> tuple[NDArray[np.int64], Ids]:
        """The arrays that the native code takes."""
        return self.offsets, self.ids


@dataclass(frozen=True, eq=False)
class Candidates(LabelRows):
    """The possible labels of each token, in ascending order, and the back-off's score of each (0 without a
    back-off)."""

    backoff: F32
    pruned_gold: NDArray[np.int64] | None = None  # labels that pruning lost, and all: of all words, and of unseen words

    ENTRIES: ClassVar[tuple[str, ...]] = ("labels", "backoff")

    @classmethod
    def all_labels(cls, tokens: int, n_labels: int) -> Candidates:
        """Every label at every token."""
        labels = np.tile(np.arange(n_labels, dtype=np.int32), tokens)
        return cls(np.arange(tokens + 1, dtype=np.int64) * n_labels, labels, np.zeros(len(labels), np.float32))

    @classmethod
    def seen_with(cls, features: Csr, slots: Csr, n_labels: int) -> Candidates:
        """The labels that some feature of each token was seen with; all labels if it has no such feature.

        ``slots`` has the labels of each feature. Features beyond its rows are left out.
        """
        offsets, labels = _native.seen_labels(slots, features, n_labels)
        return cls(offsets, labels, np.zeros(len(labels), np.float32))

    def spread(self, n_labels: int, floor: float) -> Candidates:
        """All labels as candidates; new ones get the score ``floor``."""
        every = np.full((len(self), n_labels), np.float32(floor))
        every[self.owners, self.labels] = self.backoff
        return replace(self.all_labels(len(self), n_labels), backoff=every.ravel())

    def including(self, labels: Ids, floor: float) -> Candidates:
        """The candidates, with each token's own label added if it is known; a label that is added scores ``floor``."""
        missing = (self.find(labels) < 0) & (labels >= 0)
        if not missing.any():
            return self
        ends = offsets_of(missing)
        own = SparseRows(ends, labels[missing], np.full(ends[-1], floor, np.float32))
        return Candidates(*SparseRows(self.offsets, self.labels, self.backoff).plus(own).arrays())

    def arrays(self) -> tuple[NDArray[np.int64], Ids]:
        """The arrays that the native code takes."""
        return self.offsets, self.labels

    def find(self, labels: Ids) -> NDArray[np.int64]:
        """The position of each token's label among the candidates, -1 if it is not one of them."""
        return _native.find_in_rows(self.offsets, self.labels, labels)

    def softmax(self, scores: F64) -> F64:
        """P(label) at each token from scores of its candidates."""
        tops = np.maximum.reduceat(scores, self.offsets[:-1])
        exp = portable_math.exp(scores - np.repeat(tops, self.lengths))
        return np.asarray(exp / np.repeat(np.add.reduceat(exp, self.offsets[:-1]), self.lengths))


@dataclass(frozen=True, eq=False)
class PooledExperts:
    """The weights of the experts and of the back-off, and a bias per label.

    ``unexplained`` is the log loss of the tokens that the weights were fitted on, each left out of the counts, as a
    share of the entropy of their labels: 0 if the counts predict every label, 1 if they are no better than frequencies.
    ``doubtful`` are labels whose evidence counts about half.
    """

    experts: F64
    backoff: float
    bias: F64
    unexplained: float = 1.0
    doubtful: Ids = field(default_factory=lambda: np.zeros(0, np.int32))

    def scores(
        self,
        table: Table,
        prior: F64,
        features: Features,
        expert_of: Ids,
        candidates: Candidates,
        left_out: Ids | None,
        threads: int = 1,
    ) -> F32:
        """Node scores of the candidates of some tokens."""
        weight = self.experts.astype(np.float32)[expert_of]
        prior = self._prior(prior)
        tokens = (table.arrays(), features.arrays(), candidates.arrays(), prior, SMOOTHING, left_out)
        pooled = _native.pooled_scores(tokens, weight, threads)
        scores = (
            pooled + np.float32(self.backoff) * candidates.backoff + self.bias.astype(np.float32)[candidates.labels]
        )
        return np.asarray(scores, dtype=np.float32)

    def compiled(self, table: Table, prior: F64, expert_of: Ids) -> SparseRows:
        """The experts' evidence as weights of a chain model, one row per feature."""
        rows = np.repeat(expert_of, table.lengths)
        evidence = portable_math.log1p(table.counts / (SMOOTHING * self._prior(prior)[table.labels]))
        return SparseRows(table.offsets, table.labels, (self.experts[rows] * evidence).astype(np.float32))

    def _prior(self, prior: F64) -> F64:
        """The prior that evidence is relative to. Its root about halves the evidence of doubtful labels."""
        found: F64 = prior.copy()
        found[self.doubtful] = np.sqrt(prior[self.doubtful])
        return found


def fit_weights(
    table: Table,
    prior: F64,
    features: Features,
    expert_of: Ids,
    candidates: Candidates,
    labels: Ids,
    scored: Ids,
    *,
    has_backoff: bool,
    progress: Callable[[float], None],
) -> PooledExperts:
    """Maximise the likelihood of tokens, each left out of the counts, over the weights of the experts and biases.

    L(w, b) = sum_t log softmax(sum_e w_e x_te + w_L backoff_t + b)(label_t) - ridge/2 (|w - mean|^2 + |b - log P|^2)

    The sum is over the tokens whose label in ``scored`` is not negative. ``labels`` are left out of the counts.
    """
    n_experts = int(expert_of.max(initial=-1)) + 1
    tokens = (table.arrays(), features.arrays(), candidates.arrays(), prior, SMOOTHING, labels)
    x = _native.expert_evidence(tokens, expert_of, n_experts)
    x = np.column_stack([x, candidates.backoff]) if has_backoff else x
    gold = np.where(scored < 0, -1, candidates.find(labels))
    centre = np.concatenate([np.full(x.shape[1], PRIOR_MEAN), portable_math.log(prior)])

    def loss(theta: F64) -> tuple[float, F64, F64]:
        value, gradient, hessian = _native.conditional_logit(x, candidates.arrays(), gold, theta, len(prior))
        pull = theta - centre
        hessian[np.diag_indices_from(hessian)] += RIDGE
        return value + 0.5 * RIDGE * portable_math.dot(pull, pull), gradient + RIDGE * pull, hessian

    found = newton(loss, centre, RIDGE, progress)
    backoff = max(LEAST_BACKOFF, float(found[n_experts])) if has_backoff else 0.0
    value = _native.conditional_logit(x, candidates.arrays(), gold, found, len(prior))[0]
    return PooledExperts(found[:n_experts], backoff, found[x.shape[1] :], _share_of_entropy(value, labels[gold >= 0]))


def _share_of_entropy(loss: float, labels: Ids) -> float:
    """A log loss, as a share of that of the labels if each is predicted by its frequency among them."""
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    entropy = -portable_math.dot(counts.astype(np.float64), portable_math.log(counts / max(1, len(labels))))
    return 1.0 if entropy <= 0.0 else float(loss / entropy)


def with_evidence(tokens: Tokens, counts: Counts) -> Ids:
    """The labels of sentences of a corpus, but -1 where other sentences have the label less than LEAST_EVIDENCE times.

    If such a token is left out of the counts, hardly anything speaks for its label. One such loss could set all
    weights.
    """
    owner = owners_of(tokens.offsets)
    known = tokens.labels >= 0
    pairs, place, times = np.unique(
        np.column_stack([owner[known], tokens.labels[known]]), axis=0, return_inverse=True, return_counts=True
    )
    totals = counts.pairs.label_totals(len(counts.labels))
    found: Ids = tokens.labels.copy()
    found[np.flatnonzero(known)[(totals[pairs[:, 1]] - times < LEAST_EVIDENCE)[place.ravel()]]] = -1
    return found


def unrecovered_labels(scores: F32, candidates: Candidates, labels: Ids, counts: Counts) -> Ids:
    """The labels of which no token is recovered: another label scores more at each, left out of the counts.

    A label is judged by LEAST_EVIDENCE of the tokens, or by all that the corpus has. Typing errors in labels are such
    labels: they occur where the right label does. As they are rare, a feature that was seen with one once speaks for it
    as strongly as many counts do for a frequent label.
    """
    place = candidates.find(labels)
    best = np.maximum.reduceat(scores, candidates.offsets[:-1])
    recovered = (place >= 0) & (scores[place] == best)
    totals = counts.pairs.label_totals(len(counts.labels))
    seen, right = (np.bincount(labels[kept], minlength=len(totals)) for kept in (labels >= 0, recovered))
    judged = (seen > 0) & (seen >= np.minimum(totals, LEAST_EVIDENCE))
    return np.flatnonzero(judged & (right == 0)).astype(np.int32)


def fit_edges(
    pairs: PairCounts, sentences: NDArray[np.int64], candidates: Candidates, posteriors: F32, k: float, rounds: int
) -> F32:
    """Edge scores given the nodes, (K + 1, K + 1): observed against expected label pairs of some sentences.

    Iterative scaling from zero. ``k`` is added to both counts and pulls rates of rare pairs towards 1.
    """
    size = int(max(pairs.origin.max(initial=0), pairs.to.max(initial=0))) + 1
    observed = np.zeros((size, size))
    observed[pairs.origin, pairs.to] = pairs.counts
    edges = np.zeros((size, size))
    for _ in range(rounds):
        expected = _native.pair_expectations(sentences, candidates.arrays(), posteriors, edges)
        edges += portable_math.log((observed + k) / (expected + k))
    return edges.astype(np.float32)


def label_prior(counts: Counts) -> NDArray[np.float64]:
    """P(y) of each label, smoothed by a tenth of a token."""
    totals = counts.pairs.label_totals(len(counts.labels)) + 0.1
    return np.asarray(totals / totals.sum())


def countable_features(attributes: Attributes | None, features: int) -> NDArray[np.bool_]:
    """Which of the ``features`` are names and not numbers: those whose value is always 1."""
    countable = np.ones(features, bool)
    if attributes is not None and attributes.values is not None:
        countable[attributes.ids[attributes.values != 1.0]] = False
    return countable


def experts(vocabulary: Vocabulary) -> tuple[Ids, list[str]]:
    """The expert of each feature id, and the experts' names: groups of attributes, then templates."""
    ids, names = np.zeros(0, np.int32), list[str]()
    if vocabulary.attributes is not None:
        ids, names = groups_of(vocabulary.attributes, vocabulary.key_lengths)
    sizes = vocabulary.map.sizes()
    templates = np.repeat(np.arange(len(sizes), dtype=np.int32) + len(names), sizes)
    return np.concatenate([ids, templates]).astype(np.int32), [*names, *(str(t) for t in vocabulary.templates)]
