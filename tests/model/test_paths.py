"""Exact answers about labellings, with and without limits, against plain enumeration of all labellings."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from corate.errors import ConfigError, DataError, ModelError
from corate.model.lattice import Lattice
from corate.spans import Span, spans
from reference.paths import Chain, random_chain

#: How many random chains to check. CORATE_CHAINS=2000 checks more.
N_CHAINS = int(os.environ.get("CORATE_CHAINS", "350"))
PARTS = 5


def some_chains(part: int) -> list[tuple[int, Chain]]:
    """The random chains of one part that have a labelling."""
    chains = ((seed, random_chain(seed, limits=seed % 3 > 0)) for seed in range(part, N_CHAINS, PARTS))
    return [(seed, chain) for seed, chain in chains if chain.every]


@pytest.mark.parametrize("part", range(PARTS))
def test_the_n_best_labellings_are_the_best_of_all(part: int) -> None:
    for seed, chain in some_chains(part):
        n = int(np.random.default_rng(seed).integers(1, len(chain.every) + 3))
        found = chain.lattice.nbest(n)[0]
        exact = {tuple(chain.named(path)): p for path, p in chain.probabilities().items()}
        assert len(found) == min(n, len(exact))
        assert len({tuple(labels) for labels, _ in found}) == len(found)
        for labels, probability in found:
            assert probability == pytest.approx(exact[tuple(labels)], abs=1e-5)
        top = sorted(exact.values(), reverse=True)[: len(found)]
        assert [p for _, p in found] == pytest.approx(top, abs=1e-5)
        assert chain.lattice.confidence()[0] == pytest.approx(top[0], abs=1e-5)
        best = tuple(chain.lattice.tag()[0])
        assert exact[best] == pytest.approx(top[0], abs=1e-5)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_best_labelling_with_a_label_is_the_best_of_all_with_it(part: int) -> None:
    for _, chain in some_chains(part):
        lattice, n = chain.lattice, len(chain.lattice.offsets) - 1
        scores = lattice.through()
        for t in range(n):
            for c in range(int(lattice.offsets[t]), int(lattice.offsets[t + 1])):
                having = {path: score for path, score in chain.every.items() if path[t] == lattice.labels[c]}
                best = max(having.values(), default=-np.inf)
                assert scores[c] == pytest.approx(best, abs=1e-5)
                place = np.array([c - lattice.offsets[t]])
                labels, arcs = lattice.traces(np.zeros(1, np.int64), np.array([t]), place)
                assert len(labels) == n
                assert arcs.sum() == pytest.approx(best, abs=1e-5)
                assert chain.every.get(tuple(labels.tolist()), -np.inf) == pytest.approx(best, abs=1e-5)


def test_traces_refuse_what_is_not_in_the_lattice() -> None:
    chain = next(c for _, c in some_chains(0) if len(c.lattice.offsets) > 2)
    first, zero = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for position, candidate in ((-1, 0), (99, 0), (0, -1), (0, 99)):
        with pytest.raises(ValueError, match="no such"):
            chain.lattice.traces(first, np.array([position]), np.array([candidate]))
    with pytest.raises(ValueError, match="disagree"):
        chain.lattice.traces(first, np.zeros(2, np.int64), zero)


@pytest.mark.parametrize("part", range(PARTS))
def test_sums_are_sums_over_all_labellings(part: int) -> None:
    for _, chain in some_chains(part):
        lattice, exact = chain.lattice, chain.probabilities()
        for one in (lattice, replace(lattice, threads=2)):
            log_z, marginals = one.marginals()
            assert log_z[0] == pytest.approx(chain.log_z(), abs=1e-5)
            for t in range(len(lattice.offsets) - 1):
                for c in range(int(lattice.offsets[t]), int(lattice.offsets[t + 1])):
                    expected = sum(p for path, p in exact.items() if path[t] == lattice.labels[c])
                    assert marginals[c] == pytest.approx(expected, abs=1e-5)
            for t, pairs in enumerate(one.pair_marginals(), 1):
                left, right = (lattice.labels[lattice.offsets[i] : lattice.offsets[i + 1]].tolist() for i in (t - 1, t))
                expected = [
                    [sum(p for q, p in exact.items() if q[t - 1 : t + 1] == (y, z)) for z in right] for y in left
                ]
                np.testing.assert_allclose(pairs, expected, atol=1e-5)
        expected = -sum(p * np.log(p) for p in exact.values() if p > 0)
        assert lattice.entropy()[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_span_has_the_probability_of_all_labellings_with_it(part: int) -> None:
    seen = 0
    for _, chain in some_chains(part):
        exact = chain.probabilities()
        by_path = {path: spans(chain.named(path)) for path in exact}
        every = sorted({span for found in by_path.values() for span in found})
        expected = [sum(p for path, p in exact.items() if span in by_path[path]) for span in every]
        assert chain.lattice.span_probabilities([every])[0] == pytest.approx(expected, abs=1e-5)
        seen += len(every)
    assert seen > 20


@pytest.mark.parametrize("part", range(PARTS))
def test_a_lattice_without_a_labelling_is_refused(part: int) -> None:
    chains = (random_chain(seed) for seed in range(part, N_CHAINS, PARTS))
    for chain in (chain for chain in chains if not chain.every):
        assert chain.lattice.without_labelling().tolist() == [0]
        for question in (
            chain.lattice.best, chain.lattice.marginals, chain.lattice.entropy, lambda c=chain: c.lattice.nbest(2),
            chain.lattice.pair_marginals, lambda c=chain: c.lattice.sample(2),
        ):  # fmt: skip
            with pytest.raises(DataError, match="no labelling of sentence 0"):
                question()


def test_samples_follow_the_distribution() -> None:
    """One chi-square test over many chains. Labellings that are expected less than 5 times count as one."""
    statistic, freedom, n = 0.0, 0, 2000
    for seed in range(60):
        chain = random_chain(seed, most_tokens=4, limits=seed % 2 > 0)
        if not chain.every:
            continue
        exact = {tuple(chain.named(path)): p for path, p in chain.probabilities().items()}
        drawn = Counter(map(tuple, chain.lattice.sample(n, seed=seed)[0]))
        assert drawn.keys() <= exact.keys()
        often = [path for path, p in exact.items() if n * p >= 5]
        groups = [(drawn[path], n * exact[path]) for path in often]
        rest = n - sum(expected for _, expected in groups)
        if rest >= 5:
            groups.append((n - sum(count for count, _ in groups), rest))
        statistic += sum((count - expected) ** 2 / expected for count, expected in groups)
        freedom += len(groups) - 1
    assert freedom > 150
    assert 0.001 < chi2.sf(statistic, freedom) < 0.999


def joined(chains: list[Chain], threads: int) -> Lattice:
    """Chains with the same labels and edges in one lattice."""
    first = chains[0].lattice
    return replace(
        first,
        sentences=np.cumsum([0, *(len(c.lattice.offsets) - 1 for c in chains)]),
        offsets=np.cumsum([0, *(int(w) for c in chains for w in np.diff(c.lattice.offsets))]),
        labels=np.concatenate([c.lattice.labels for c in chains]),
        scores=np.concatenate([c.lattice.scores for c in chains]),
        extra=None,
        threads=threads,
    )


def test_threads_and_neighbours_do_not_change_answers() -> None:
    several = [c for seed in range(0, 70, 7) for c in [random_chain(seed, limits=False)]]
    one, three = joined(several, 1), joined(several, 3)
    assert one.nbest(4) == three.nbest(4)
    assert one.sample(5, seed=3) == three.sample(5, seed=3) != one.sample(5, seed=4)
    assert one.entropy() == three.entropy()
    wanted = [spans(labels) for labels in one.tag()]
    assert one.span_probabilities(wanted) == three.span_probabilities(wanted)
    assert [len(labellings) for labellings in one.sample(2)] == [2] * len(several)
    for s, chain in enumerate(several):
        alone = replace(chain.lattice, edges=one.edges, extra=None)
        assert one.nbest(3)[s] == alone.nbest(3)[0]


def test_a_long_sentence_needs_no_deep_stack() -> None:
    n, names = 30_000, ["O", "B-X", "I-X"]
    nodes = np.random.default_rng(1).normal(size=3 * n).astype(np.float32)
    chain = random_chain(0, limits=False).lattice
    labels = np.tile(np.arange(3, dtype=np.int32), n)
    lattice = Lattice(np.array([0, n]), 3 * np.arange(n + 1), labels, nodes, chain.edges, names=names)
    _, _, scores, log_z = lattice._paths.n_best(3)
    assert log_z[0] > scores[0] >= scores[1] >= scores[2]
    assert scores[0] == pytest.approx(float(lattice.best()[1][0]), rel=1e-3)
    (best, _), (second, _), _ = lattice.nbest(3)[0]
    assert 0 < sum(a != b for a, b in zip(best, second, strict=True)) < 10


def test_wrong_questions_are_refused() -> None:
    lattice = random_chain(3, limits=False).lattice
    with pytest.raises(ConfigError, match="n must be a whole number"):
        lattice.nbest(0)
    with pytest.raises(ConfigError, match="decode must be 'best' or 'posterior'"):
        lattice.tag("viterbi")
    with pytest.raises(ModelError, match="mark no spans"):
        lattice.entities()
    with pytest.raises(ValueError, match="span is out of range"):
        lattice.span_probabilities([[Span(0, 99, "X")]])
    for bad in ({"allowed": np.zeros(99, np.uint8)}, {"forbidden": np.zeros(3, np.uint8)}):
        with pytest.raises(ValueError, match="disagree"):
            replace(lattice, limits=replace(lattice.limits, **bad)).best()
