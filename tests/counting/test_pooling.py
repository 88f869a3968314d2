"""Pooling: evidence, weights and edges against plain Python, and against counting again without a token."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.corpus import Attributes
from corate.counting.counts import Counts, PairCounts, Tokens
from corate.counting.pooling import (
    LEAST_BACKOFF,
    LEAST_EVIDENCE,
    PRIOR_MEAN,
    SMOOTHING,
    Candidates,
    Features,
    PooledExperts,
    experts,
    fit_edges,
    fit_weights,
    label_prior,
    unrecovered_labels,
    with_evidence,
)
from corate.features.templates import parse
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import EdgeScores
from corate.training.empirical import pooled_model
from reference import pooling as reference
from small_corpora import Labelled, corpus_of, random_sentences, some_sentences

TEMPLATES = [parse(t) for t in ("word[0]", "word[-1]", "suffix(word[0], 2)", "word[-1]|word[0]")]


@dataclass
class Problem:
    """Counted sentences, and everything pooling looks at."""

    counts: Counts
    tokens: Tokens
    features: Features
    expert_of: np.ndarray
    prior: np.ndarray
    candidates: Candidates

    @property
    def n_experts(self) -> int:
        return int(self.expert_of.max()) + 1

    def features_of(self, t: int) -> list[int]:
        return self.features.ids[self.features.offsets[t] : self.features.offsets[t + 1]].tolist()

    def candidates_of(self, t: int) -> list[int]:
        return self.candidates.labels[self.candidates.offsets[t] : self.candidates.offsets[t + 1]].tolist()

    def feature_counts(self, without: int | None = None) -> Counter[tuple[int, int]]:
        """n(feature, label), counted again token by token."""
        return Counter(
            (f, y) for t, y in enumerate(self.tokens.labels.tolist()) if t != without for f in self.features_of(t)
        )


def problem_of(labelled: Labelled, attributes: bool = False, seed: int = 0) -> Problem:
    corpus = corpus_of(labelled)
    if attributes:
        named = [[f"w={w}", "short"][: 1 + (len(w) < 4)] for s in labelled for w, _ in s]
        corpus = replace(corpus, attributes=Attributes.of(named))
    counts, tokens = Counts.of(corpus, Vocabulary.of(TEMPLATES), "word")
    rng = np.random.default_rng(seed)
    n_labels = len(counts.labels)
    keep = rng.random((counts.tokens, n_labels)) < 0.7
    keep[np.arange(counts.tokens), rng.integers(n_labels, size=counts.tokens)] = True
    offsets = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.int64)
    labels = np.nonzero(keep)[1].astype(np.int32)
    gold = np.repeat(tokens.labels, keep.sum(axis=1)) == labels
    backoff = (rng.normal(size=len(labels)) + gold).astype(np.float32)
    return Problem(
        counts,
        tokens,
        Features.of(tokens, counts.vocabulary.bases),
        experts(counts.vocabulary)[0],
        label_prior(counts),
        Candidates(offsets, labels, backoff),
    )


@given(some_sentences, st.data())
@settings(deadline=None, max_examples=60)
def test_a_label_is_scored_only_if_other_sentences_of_the_corpus_have_it_often_enough(
    labelled: Labelled, data: st.DataObject
) -> None:
    counts, tokens = Counts.of(corpus_of(labelled), Vocabulary.of(TEMPLATES), "word")
    chosen = data.draw(st.lists(st.integers(0, len(labelled) - 1), unique=True, min_size=1).map(sorted))
    sample = tokens.take(np.array(chosen, dtype=np.int64))
    expected = [
        sum(label == other for k, sentence in enumerate(labelled) if k != s for _, other in sentence) >= LEAST_EVIDENCE
        for s in chosen
        for _, label in labelled[s]
    ]
    np.testing.assert_array_equal(with_evidence(sample, counts), np.where(expected, sample.labels, -1))


@given(some_sentences, st.data(), st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_a_label_is_unrecovered_if_no_token_that_it_is_judged_by_has_it_as_its_best_label(
    labelled: Labelled, data: st.DataObject, seed: int
) -> None:
    p = problem_of(labelled, seed=seed)
    names = range(len(p.prior))
    known = [data.draw(st.sampled_from([y, -1])) for y in p.tokens.labels.tolist()]
    totals = Counter(p.tokens.labels.tolist())
    scores = np.random.default_rng(seed).normal(size=len(p.candidates.labels)).astype(np.float32)
    best, starts = [], p.candidates.offsets
    for t in range(p.counts.tokens):
        of_token = scores[starts[t] : starts[t + 1]]
        best.append(p.candidates_of(t)[int(of_token.argmax())])
    judged = [y for y in names if 0 < known.count(y) >= min(totals[y], LEAST_EVIDENCE)]
    expected = [y for y in judged if (y, y) not in zip(known, best, strict=True)]
    found = unrecovered_labels(scores, p.candidates, np.array(known, np.int32), p.counts)
    assert found.tolist() == expected


@given(some_sentences, st.booleans(), st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_the_evidence_of_a_doubtful_label_is_relative_to_the_root_of_its_rate(
    labelled: Labelled, left_out: bool, seed: int
) -> None:
    p = problem_of(labelled, seed=seed)
    doubtful = np.array([seed % len(p.prior)], np.int32)
    pool = PooledExperts(np.random.default_rng(seed).normal(size=p.n_experts), 0.5, np.arange(len(p.prior)) * 0.1)
    found = replace(pool, doubtful=doubtful)
    prior = p.prior.copy()
    prior[doubtful] **= 0.5
    inputs = p.features, p.expert_of, p.candidates, p.tokens.labels if left_out else None
    scores = found.scores(p.counts.table, p.prior, *inputs)
    np.testing.assert_allclose(scores, pool.scores(p.counts.table, prior, *inputs), rtol=1e-6, atol=1e-6)
    weights = found.compiled(p.counts.table, p.prior, p.expert_of).scores
    np.testing.assert_allclose(weights, pool.compiled(p.counts.table, prior, p.expert_of).scores, rtol=1e-6)


@given(some_sentences, st.booleans(), st.booleans(), st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_evidence_is_that_of_the_formula_and_a_token_left_out_is_not_counted(
    labelled: Labelled, attributes: bool, left_out: bool, seed: int
) -> None:
    p = problem_of(labelled, attributes, seed)
    out = p.tokens.labels if left_out else None
    table, features, candidates = p.counts.table.arrays(), p.features.arrays(), p.candidates.arrays()
    found = _native.expert_evidence((table, features, candidates, p.prior, SMOOTHING, out), p.expert_of, p.n_experts)
    weights = np.random.default_rng(seed).normal(size=p.n_experts)
    pool = PooledExperts(weights, 0.5, np.arange(len(p.prior)) * 0.1)
    scores = pool.scores(p.counts.table, p.prior, p.features, p.expert_of, p.candidates, out)
    at = 0
    for t in range(p.counts.tokens):
        counted = p.feature_counts(without=t if left_out else None)
        for y in p.candidates_of(t):
            said = reference.by_expert(
                counted, p.features_of(t), p.expert_of.tolist(), p.n_experts, y, p.prior, SMOOTHING, None
            )
            np.testing.assert_allclose(found[at], said, rtol=1e-5, atol=1e-6)
            expected = said @ weights + 0.5 * p.candidates.backoff[at] + 0.1 * y
            assert scores[at] == pytest.approx(expected, rel=1e-4, abs=1e-4)
            at += 1
    assert at == len(found)


@given(some_sentences, st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_expected_pairs_are_those_of_every_edge_by_itself(labelled: Labelled, seed: int) -> None:
    p = problem_of(labelled, seed=seed)
    rng = np.random.default_rng(seed)
    posteriors = p.candidates.softmax(rng.normal(size=len(p.candidates.labels)))
    scores = rng.normal(size=(len(p.prior) + 1,) * 2)
    found = _native.pair_expectations(p.tokens.offsets, p.candidates.arrays(), posteriors.astype(np.float32), scores)
    made, at = [], 0
    for start, stop in zip(p.tokens.offsets, p.tokens.offsets[1:], strict=False):
        sentence = []
        for t in range(start, stop):
            ys = p.candidates_of(t)
            sentence.append(dict(zip(ys, posteriors[at : at + len(ys)], strict=True)))
            at += len(ys)
        made.append(sentence)
    np.testing.assert_allclose(found, reference.pair_expectations(made, scores), rtol=1e-5, atol=1e-9)
    assert found.sum() == pytest.approx(p.counts.tokens + p.counts.sentences)


@pytest.mark.parametrize("has_backoff", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_fitted_weights_are_an_optimum(seed: int, has_backoff: bool) -> None:
    """No weight or bias can be moved to lower the loss, recomputed here in float64 from evidence counted again."""
    p = problem_of(random_sentences(12, seed), attributes=seed % 2 == 1, seed=seed)
    labels = p.tokens.labels
    pool = fit_weights(
        p.counts.table,
        p.prior,
        p.features,
        p.expert_of,
        p.candidates,
        labels,
        labels,
        has_backoff=has_backoff,
        progress=lambda done: None,
    )
    evidence = np.array(
        [
            reference.by_expert(
                counted, p.features_of(t), p.expert_of.tolist(), p.n_experts, y, p.prior, SMOOTHING, None
            )
            for t in range(p.counts.tokens)
            for counted in [p.feature_counts(without=t)]
            for y in p.candidates_of(t)
        ]
    )
    weights = pool.experts
    if has_backoff:
        evidence, weights = np.column_stack([evidence, p.candidates.backoff]), np.append(weights, pool.backoff)
    else:
        assert pool.backoff == 0.0
    candidates = [p.candidates_of(t) for t in range(p.counts.tokens)]

    def loss(w: np.ndarray, bias: np.ndarray) -> float:
        fit = reference.loss(evidence, candidates, labels.tolist(), w, bias)
        return fit + reference.ridge(w, bias, p.prior, PRIOR_MEAN)

    best = loss(weights, pool.bias)
    slack = 1e-3 * best  # the fit stops where a step promises less
    rng = np.random.default_rng(seed)
    assert loss(np.full_like(weights, PRIOR_MEAN), np.log(p.prior)) > best + slack
    for step in (0.3, 0.03):
        for i in range(len(weights)):
            for sign in (-1, 1):
                assert loss(weights + sign * step * np.eye(len(weights))[i], pool.bias) > best - slack
        for _ in range(10):
            direction = rng.normal(size=len(weights) + len(p.prior)) * step
            assert loss(weights + direction[: len(weights)], pool.bias + direction[len(weights) :]) > best - slack
    for i in range(len(weights)):  # a slope that is left would lower it in one direction far more than the other
        up, down = (loss(weights + s * 0.05 * np.eye(len(weights))[i], pool.bias) for s in (1, -1))
        assert abs(up - down) <= 0.2 * slack + 0.5 * (up + down - 2 * best)


def test_experts_are_believed_a_little_where_nothing_recurs() -> None:
    """Left out, every word is new and the others teach the wrong label: no reason to say the opposite of the counts."""
    p = problem_of([[("yes", "Y")], [("no", "N")]])
    every = Candidates.all_labels(2, 2)
    wrong = replace(every, backoff=np.where(every.labels == np.repeat(p.tokens.labels, 2), -2, 0).astype(np.float32))
    pool = fit_weights(
        p.counts.table,
        p.prior,
        p.features,
        p.expert_of,
        wrong,
        p.tokens.labels,
        p.tokens.labels,
        has_backoff=True,
        progress=print,
    )
    assert pool.backoff == LEAST_BACKOFF
    assert pool.experts[0] == pytest.approx(PRIOR_MEAN, abs=1e-3)


def test_loss_gradient_and_hessian_agree_with_each_other_and_with_plain_numpy() -> None:
    p = problem_of(random_sentences(6, 3), seed=3)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(len(p.candidates.labels), 3)).astype(np.float32)
    gold = p.candidates.find(p.tokens.labels)
    theta = rng.normal(size=3 + len(p.prior))

    def at(point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        return _native.conditional_logit(x, p.candidates.arrays(), gold, point, len(p.prior))

    value, gradient, hessian = at(theta)
    candidates = [p.candidates_of(t) for t in range(p.counts.tokens)]
    plain = reference.loss(x.astype(float), candidates, p.tokens.labels.tolist(), theta[:3], theta[3:])
    assert value == pytest.approx(plain)
    for i, direction in enumerate(np.eye(len(theta)) * 1e-5):
        up, down = at(theta + direction), at(theta - direction)
        assert gradient[i] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-4)
        np.testing.assert_allclose(hessian[i], (up[1] - down[1]) / 2e-5, atol=1e-3)


def test_edges_that_were_fitted_expect_the_pairs_that_were_seen() -> None:
    p = problem_of(random_sentences(40, 5), seed=5)
    every = Candidates.all_labels(p.counts.tokens, len(p.prior))
    posteriors = every.softmax(np.random.default_rng(1).normal(size=len(every.labels))).astype(np.float32)
    edges = fit_edges(p.counts.pairs, p.tokens.offsets, every, posteriors, k=0.5, rounds=100)
    expected = _native.pair_expectations(p.tokens.offsets, every.arrays(), posteriors, edges.astype(np.float64))
    observed = np.zeros_like(expected)
    observed[p.counts.pairs.origin, p.counts.pairs.to] = p.counts.pairs.counts
    assert abs(expected - observed).max() < 0.1 * observed.max()
    few = fit_edges(p.counts.pairs, p.tokens.offsets, every, posteriors, k=0.5, rounds=1)
    first = _native.pair_expectations(p.tokens.offsets, every.arrays(), posteriors, np.zeros_like(expected))
    np.testing.assert_allclose(few, np.log((observed + 0.5) / (first + 0.5)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("attributes", [False, True])
def test_a_compiled_pool_scores_as_the_pool_does(attributes: bool) -> None:
    labelled = random_sentences(20, 2)
    p = problem_of(labelled, attributes)
    rng = np.random.default_rng(0)
    pool = PooledExperts(rng.normal(size=p.n_experts), 0.0, rng.normal(size=len(p.prior)))
    every = Candidates.all_labels(p.counts.tokens, len(p.prior))
    scores = pool.scores(p.counts.table, p.prior, p.features, p.expert_of, every, None)
    edges = np.zeros((len(p.prior) + 1,) * 2, np.float32)
    model = pooled_model(p.counts, pool, EdgeScores.of_dense(edges), None, None, all_labels=False)
    corpus = corpus_of(labelled)
    ready = None if p.tokens.attributes is None else (p.tokens.attributes.offsets, p.tokens.attributes.ids, None)
    columns = [(c.ids, c.strings.data, c.strings.offsets) for c in corpus.columns]
    offsets, labels, found, *_ = model.engine(p.counts.vocabulary).lattice(columns, corpus.offsets, ready)
    np.testing.assert_array_equal(offsets, every.offsets)
    np.testing.assert_array_equal(labels, every.labels)
    np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-4)


def test_candidates_spread_over_all_labels_keep_their_scores() -> None:
    some = Candidates(np.array([0, 1, 3]), np.array([2, 0, 1], np.int32), np.array([0.5, 1.0, 2.0], np.float32))
    spread = some.spread(3, -9.0)
    assert spread.offsets.tolist() == [0, 3, 6]
    assert spread.labels.tolist() == [0, 1, 2, 0, 1, 2]
    assert spread.backoff.tolist() == [-9.0, -9.0, 0.5, 1.0, 2.0, -9.0]
    assert some.find(np.array([2, 2], np.int32)).tolist() == [0, -1]
    assert some.softmax(np.array([3.0, 0.0, 0.0])).tolist() == [1.0, 0.5, 0.5]


def test_arrays_that_do_not_fit_are_refused() -> None:
    table = (np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32))
    one = (np.array([0, 1]), np.zeros(1, np.int32))
    expert, prior, weight = np.zeros(1, np.int32), np.ones(1), np.ones(1, np.float32)
    two = (np.array([0, 1, 1]), np.zeros(1, np.int32))
    for changed in (
        ((table, two, one, prior, 1.0, None), expert),
        ((table, (np.array([0, 1]), np.ones(1, np.int32)), one, prior, 1.0, None), expert),
        ((table, one, one, prior, 1.0, None), np.ones(1, np.int32)),
        ((table, one, one, prior, 1.0, None), np.zeros(0, np.int32)),
        ((table, one, (np.array([0, 1]), np.ones(1, np.int32)), prior, 1.0, None), expert),
        ((table, one, (np.array([0, 7]), np.zeros(1, np.int32)), prior, 1.0, None), expert),
        ((table, one, one, prior, 1.0, np.zeros(2, np.int32)), expert),
        (((np.array([0, 5]), *table[1:]), one, one, prior, 1.0, None), expert),
    ):
        with pytest.raises(ValueError, match=r"disagree|range|needed|different|left out"):
            _native.expert_evidence(*changed, 1)
    with pytest.raises(ValueError, match="weight"):
        _native.pooled_scores((table, one, one, prior, 1.0, None), weight[:0])
    with pytest.raises(ValueError, match=r"disagree|own|range"):
        _native.conditional_logit(np.zeros((1, 1), np.float32), one, np.array([5]), np.zeros(2), 1)
    for sentences, scores in ((np.array([0, 2]), np.zeros((2, 2))), (np.array([0, 1]), np.zeros((1, 1)))):
        with pytest.raises(ValueError, match="disagree"):
            _native.pair_expectations(sentences, one, weight, scores)


def test_pairs_of_one_label_and_one_token() -> None:
    pairs = PairCounts(np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([1, 1]))
    every = Candidates.all_labels(1, 1)
    assert fit_edges(pairs, np.array([0, 1]), every, np.ones(1, np.float32), 0.5, 3).shape == (2, 2)
