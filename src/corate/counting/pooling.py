"""Pooling: any features, by counting alone. Each template is an expert; a few weights say how far to believe it.

The formulas stand in ``native/counting/pooling.cpp``. One weight per expert and one bias per label are fitted by a
small convex problem on tokens that are each left out of the counts; the word ladder, where there is one, is an expert
like the others. Then the edges are fitted given the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Counts, PairCounts, Table, Tokens
from corate.features.ready_made import groups_of
from corate.features.vocabulary import Vocabulary
from corate.label_scores import SparseRows
from corate.ragged import offsets_of, take_rows
from corate.types import F32, F64, Ids

__all__ = ["Candidates", "Features", "Pool", "experts", "fit_edges", "fit_weights", "label_prior"]


#: How many tokens' worth of the label prior every expert is smoothed by.
SMOOTHING = 1.0
#: Gaussian prior of the weights, in tokens, and where it has its centre.
RIDGE = 1.0
BELIEF = 0.2
#: Where few words recur, leaving one out makes the ladder look worse than nothing; it is never believed less than this.
LEAST_LADDER = 0.1
#: Newton steps at most, and the share of the loss a step must promise to be worth taking.
MOST_STEPS = 20
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Features:
    """The features of tokens: of token ``t``, ``ids[offsets[t]:offsets[t + 1]]``."""

    offsets: NDArray[np.int64]
    ids: Ids
    values: F32 | None = None  # where some are not 1

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
        """The attributes of tokens, then their features by the ``wanted`` templates, all if none are named.

        Of a template -1 or past its size is no feature. Where ``kept`` is given it marks the ids that count. ``last``,
        unless it is below 0, is a feature that every token has, and comes last.
        """
        every = np.ones(len(tokens.features), bool) if wanted is None else wanted
        ready = tokens.attributes
        attributes = None if ready is None else (ready.offsets, ready.ids, ready.values)
        return cls(*_native.list_features(tokens.features, bases, every, attributes, kept, last))

    def take(self, tokens: NDArray[np.int64]) -> Features:
        """The features of some tokens, in the given order, without values."""
        offsets, places = take_rows(self.offsets, tokens)
        return Features(offsets, self.ids[places])

    def arrays(self) -> tuple[NDArray[np.int64], Ids]:
        """As the native code takes them."""
        return self.offsets, self.ids


@dataclass(frozen=True, eq=False)
class Candidates:
    """The labels that are possible at each token, rising, and what the ladder says of each (0 without one)."""

    offsets: NDArray[np.int64]
    labels: Ids
    ladder: F32

    @classmethod
    def all_labels(cls, tokens: int, n_labels: int) -> Candidates:
        """Every label at every token."""
        labels = np.tile(np.arange(n_labels, dtype=np.int32), tokens)
        return cls(np.arange(tokens + 1, dtype=np.int64) * n_labels, labels, np.zeros(len(labels), np.float32))

    def spread(self, n_labels: int, floor: float) -> Candidates:
        """All labels as candidates; those that were none before get the lowest score of the ladder."""
        tokens = len(self.offsets) - 1
        every = np.full((tokens, n_labels), np.float32(floor))
        every[np.repeat(np.arange(tokens), np.diff(self.offsets)), self.labels] = self.ladder
        return Candidates(
            np.arange(tokens + 1, dtype=np.int64) * n_labels,
            np.tile(np.arange(n_labels, dtype=np.int32), tokens),
            every.ravel(),
        )

    def including(self, labels: Ids, floor: float) -> Candidates:
        """With each token's own label, where it is known, among its candidates; one that was not scores ``floor``."""
        missing = (self.find(labels) < 0) & (labels >= 0)
        if not missing.any():
            return self
        ends = offsets_of(missing)
        own = SparseRows(ends, labels[missing], np.full(ends[-1], floor, np.float32))
        return Candidates(*SparseRows(self.offsets, self.labels, self.ladder).plus(own).arrays())

    def arrays(self) -> tuple[NDArray[np.int64], Ids]:
        """As the native code takes them."""
        return self.offsets, self.labels

    def find(self, labels: Ids) -> NDArray[np.int64]:
        """Where each token's label stands among the candidates, -1 where it does not."""
        return _native.find_in_rows(self.offsets, self.labels, labels)

    def softmax(self, scores: F64) -> F64:
        """P(label) at each token from scores of its candidates."""
        tops = np.maximum.reduceat(scores, self.offsets[:-1])
        widths = np.diff(self.offsets)
        exp = np.exp(scores - np.repeat(tops, widths))
        return np.asarray(exp / np.repeat(np.add.reduceat(exp, self.offsets[:-1]), widths))


@dataclass(frozen=True, eq=False)
class Pool:
    """The experts' weights: one each, one for the ladder, and a bias per label."""

    experts: F64
    ladder: float
    bias: F64

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
        pooled = _native.pooled_scores(
            table.arrays(), features.arrays(), weight, candidates.arrays(), prior, SMOOTHING, left_out, threads
        )
        scores = pooled + np.float32(self.ladder) * candidates.ladder + self.bias.astype(np.float32)[candidates.labels]
        return np.asarray(scores, dtype=np.float32)

    def compiled(self, table: Table, prior: F64, expert_of: Ids) -> SparseRows:
        """The experts' evidence as weights of a chain model, a row a feature."""
        rows = np.repeat(expert_of, np.diff(table.offsets))
        evidence = np.log1p(table.counts / (SMOOTHING * prior[table.labels]))
        return SparseRows(table.offsets, table.labels, (self.experts[rows] * evidence).astype(np.float32))


def fit_weights(
    table: Table,
    prior: F64,
    features: Features,
    expert_of: Ids,
    candidates: Candidates,
    labels: Ids,
    *,
    has_ladder: bool,
    progress: Callable[[float], None],
) -> Pool:
    """Maximise the likelihood of tokens, each left out of the counts, over the weights of the experts and biases.

    L(w, b) = sum_t log softmax(sum_e w_e x_te + w_L ladder_t + b)(label_t) - ridge/2 (|w - belief|^2 + |b - log P|^2)
    """
    n_experts = int(expert_of.max(initial=-1)) + 1
    x = _native.expert_evidence(
        table.arrays(), features.arrays(), expert_of, n_experts, candidates.arrays(), prior, SMOOTHING, labels
    )
    x = np.column_stack([x, candidates.ladder]) if has_ladder else x
    gold = candidates.find(labels)
    # Ridge toward experts that each say a little, until the tokens say otherwise, and toward biases that say the prior.
    centre = np.concatenate([np.full(x.shape[1], BELIEF), np.log(prior)])

    def loss(theta: F64) -> tuple[float, F64, F64]:
        value, gradient, hessian = _native.conditional_logit(x, candidates.arrays(), gold, theta, len(prior))
        pull = theta - centre
        hessian[np.diag_indices_from(hessian)] += RIDGE
        return value + 0.5 * RIDGE * float(pull @ pull), gradient + RIDGE * pull, hessian

    found = _newton(loss, centre, progress)
    ladder = max(LEAST_LADDER, float(found[n_experts])) if has_ladder else 0.0
    return Pool(found[:n_experts], ladder, found[x.shape[1] :])


def _newton(loss: Callable[[F64], tuple[float, F64, F64]], start: F64, progress: Callable[[float], None]) -> F64:
    """The minimum of a convex function of few variables, by Newton steps, halved while they do not help."""
    theta = start
    value, gradient, hessian = loss(theta)
    for step in range(MOST_STEPS):
        progress(step / MOST_STEPS)
        direction = np.linalg.solve(hessian, gradient)
        promised = 0.5 * float(gradient @ direction)
        if promised < TOLERANCE * max(1.0, abs(value)):
            break
        scale = 1.0
        while True:
            candidate = theta - scale * direction
            reached = loss(candidate)
            if reached[0] <= value or scale < 1e-4:
                break
            scale /= 2
        theta, (value, gradient, hessian) = candidate, reached
    return theta


def fit_edges(
    pairs: PairCounts, sentences: NDArray[np.int64], candidates: Candidates, posteriors: F32, k: float, rounds: int
) -> F32:
    """Edge scores given the nodes, (K + 1, K + 1): observed pairs of some sentences against those expected of them.

    Iterative scaling from zero; ``k`` added to both counts draws a rate to 1 where there is little to go by.
    """
    size = int(max(pairs.origin.max(initial=0), pairs.to.max(initial=0))) + 1
    observed = np.zeros((size, size))
    observed[pairs.origin, pairs.to] = pairs.counts
    edges = np.zeros((size, size))
    for _ in range(rounds):
        expected = _native.pair_expectations(sentences, candidates.arrays(), posteriors, edges)
        edges += np.log((observed + k) / (expected + k))
    return edges.astype(np.float32)


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
