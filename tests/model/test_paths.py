"""Exact answers about labellings, with and without limits, against plain enumeration of all labellings."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from corate import _native
from corate.errors import ConfigError, DataError, ModelError
from corate.model.constraints import Constraints, _blocks
from corate.model.lattice import Lattice, Limits
from corate.spans import Span, spans
from reference.paths import Chain, n_blocks, random_chain

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


def lattice_of_blocks(nodes: np.ndarray, edges: np.ndarray, names: list[str], one_block: list[str]) -> Lattice:
    """The lattice of a sentence with all labels at each token, and at most one block of some of them."""
    n, size = nodes.shape
    return Lattice(
        np.array([0, n]),
        size * np.arange(n + 1),
        np.tile(np.arange(size, dtype=np.int32), n),
        nodes.astype(np.float32).ravel(),
        _native.Edges.dense(edges.astype(np.float32)),
        names=names,
        limits=Limits(blocks=_blocks(Constraints(one_block=one_block), names)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_best_labels_with_one_block_of_each_of_many_labels(seed: int) -> None:
    """More labels than the graph has bits for: the best labels are still the best of all that keep to the rule."""
    rng = np.random.default_rng(seed)
    names = ["O", "B-X", "I-X", *"abcdef"]
    one_block = ["X", *"abcdef"]
    likely = np.isin(np.arange(len(names)), rng.integers(1, len(names), 3))
    nodes = rng.normal(0, 1.5, (4, len(names))) + 2.5 * likely
    edges = rng.normal(0, [0.3, 3.0][seed % 2], (len(names) + 1,) * 2)
    edges[np.arange(len(names)), np.arange(len(names))] -= 2  # blocks of one token, so that there are several
    lattice = lattice_of_blocks(nodes, edges, names, one_block)
    free = replace(lattice, limits=Limits())
    allowed = [
        (labels, p)
        for labels, p in free.nbest(len(names) ** 4)[0]
        if all(n_blocks(labels, name) <= 1 for name in one_block)
    ]
    assert lattice.tag()[0] == allowed[0][0]
    assert lattice.without_labelling().tolist() == []
    with pytest.raises(ConfigError, match="with 7 labels only the best labels can be asked for"):
        lattice.nbest(2)


def test_many_labels_that_all_repeat() -> None:
    """The search tries paths one by one when more labels repeat than the graph keeps to one block, and gives up."""
    names = [*"Oabcdefgh"]
    nodes = np.zeros((40, len(names)))
    nodes[:, 0] = -50.0
    lattice = lattice_of_blocks(nodes, np.zeros((10, 10)) - 20 * np.eye(10), names, names[1:])
    with pytest.raises(DataError, match="one_block: no labelling was found for sentence 0"):
        lattice.tag()
    varied = nodes[:14] + np.random.default_rng(1).normal(0, 4, (14, len(names)))
    found = lattice_of_blocks(varied, np.zeros((10, 10)), names, names[1:]).tag()[0]
    assert all(n_blocks(found, name) <= 1 for name in names[1:])


def test_a_long_sentence_needs_no_deep_stack() -> None:
    n, names = 30_000, ["O", "B-X", "I-X"]
    nodes = np.random.default_rng(1).normal(size=3 * n).astype(np.float32)
    chain = random_chain(0, limits=False).lattice
    labels = np.tile(np.arange(3, dtype=np.int32), n)
    lattice = Lattice(np.array([0, n]), 3 * np.arange(n + 1), labels, nodes, chain.edges, names=names)
    best, second, third = (labels for labels, _ in lattice.nbest(3)[0])
    ids = (np.array([names.index(label) for label in labels], np.int32) for labels in (best, second, third))
    scores = [lattice.path_score(0, labels) for labels in ids]
    assert lattice.marginals()[0][0] > scores[0] >= scores[1] >= scores[2]
    assert scores[0] == pytest.approx(float(lattice.best()[1][0]), rel=1e-3)
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
