"""Sums over chains of arrays: exact for any range of scores, and the same for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corate.inference.chains import best_labels, chain_expectations
from reference.chain_sums import ChainProblem, enumerated, labelling_score, random_chains, summed

KINDS = ["all", "sentence", "position"]
TOLERANCES = {np.float32: 5e-6, np.float64: 1e-12}


def close(found: NDArray[Any], expected: NDArray[Any], dtype: type, scale: float = 1.0) -> bool:
    return np.allclose(found, expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype] * scale)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize(("scale", "forbid"), [(1, 0), (0.01, 0), (1, 0.2), (2, 0.5), (30, 0), (500, 0.1)])
def test_enumeration(by: Any, dtype: type, scale: float, forbid: float) -> None:
    """Scores of any size, forbidden labels and pairs, empty sentences: products, float64 and logarithms agree."""
    for seed in range(15):
        rng = np.random.default_rng([7, seed])
        problem = random_chains(rng, by, dtype, scale=scale, forbid=forbid)
        log_z, nodes, edges, best = enumerated(problem)
        given = problem.nodes, problem.edges, problem.offsets
        found = chain_expectations(*given, by=by)
        assert close(found.log_z, log_z, dtype, max(1, scale)), seed
        assert close(found.nodes, nodes, dtype, max(1, scale)), seed
        assert close(found.edges, summed(problem, edges), dtype, max(1, scale)), seed
        assert found.nodes.dtype == found.edges.dtype == dtype
        assert close(chain_expectations(*given, by=by, by_position=True).edges, edges, dtype, max(1, scale)), seed
        labels, scores = best_labels(*given, by=by)
        assert close(scores, best, dtype, max(1, scale)), seed
        for s, score in enumerate(best.tolist()):
            own = tuple(labels[problem.offsets[s] : problem.offsets[s + 1]].tolist())
            reached = labelling_score(problem, problem.blocks(), int(problem.offsets[s]), own)
            assert score == -np.inf or close(np.array(reached), np.array(score), dtype, max(1, scale))


@pytest.mark.parametrize("by", KINDS)
def test_marginals_are_the_gradient_of_log_z(by: Any) -> None:
    rng = np.random.default_rng(3)
    problem = random_chains(rng, by, np.float64)
    weights, step = rng.random(len(problem.offsets) - 1), 1e-6

    def total(nodes: NDArray[Any], edges: NDArray[Any]) -> float:
        return float(weights @ chain_expectations(nodes, edges, problem.offsets, by=by).log_z)

    found = chain_expectations(problem.nodes, problem.edges, problem.offsets, by=by, weights=weights)
    for scores, gradient in ((problem.nodes, found.nodes), (problem.edges, found.edges)):
        for at in np.ndindex(scores.shape):
            value = scores[at]
            scores[at] = value + step
            up = total(problem.nodes, problem.edges)
            scores[at] = value - step
            down = total(problem.nodes, problem.edges)
            scores[at] = value
            assert gradient[at] == pytest.approx((up - down) / (2 * step), abs=1e-8)


def large(rng: np.random.Generator, by: str, c: int, sentences: int, dtype: type) -> ChainProblem:
    lengths = rng.integers(0, 30, sentences)
    blocks = {"all": (), "sentence": (sentences,), "position": (int(lengths.sum()),)}[by]
    nodes = rng.normal(0, 2, (lengths.sum(), c)).astype(dtype)
    edges = rng.normal(0, 2, (*blocks, c, c)).astype(dtype)
    nodes[: lengths[0], 0] += np.where(np.arange(lengths[0]) % 2, 0, 200)  # beyond the range of float32
    edges[..., 0, 0] = -np.inf
    return ChainProblem(nodes, edges, np.concatenate([[0], np.cumsum(lengths)]), by)


@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_threads_change_nothing(by: Any, dtype: type) -> None:
    problem = large(np.random.default_rng(4), by, 5, 300, dtype)
    given = problem.nodes, problem.edges, problem.offsets
    for ask in (chain_expectations, best_labels):
        for one, three in zip(ask(*given, by=by), ask(*given, by=by, threads=3), strict=True):
            assert one.tobytes() == three.tobytes()


@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize("c", [1, 3, 9, 33, 70])
def test_single_precision_is_near_double_precision(by: Any, c: int) -> None:
    problem = large(np.random.default_rng(c), by, c, 40, np.float32)
    found = chain_expectations(problem.nodes, problem.edges, problem.offsets, by=by, by_position=True)
    exact = chain_expectations(
        problem.nodes.astype(np.float64), problem.edges.astype(np.float64), problem.offsets, by=by, by_position=True
    )
    assert np.allclose(found.log_z, exact.log_z, rtol=1e-6, atol=1e-4)
    assert np.allclose(found.nodes, exact.nodes, atol=2e-5)
    assert np.allclose(found.edges, exact.edges, atol=2e-5)
    sums = chain_expectations(problem.nodes, problem.edges, problem.offsets, by=by)
    assert np.allclose(sums.edges, summed(problem, exact.edges), atol=2e-5 * len(problem.nodes))


def test_a_long_sentence_keeps_its_digits() -> None:
    rng, n = np.random.default_rng(5), 20_000
    nodes, edges = rng.normal(5, 2, (n, 5)).astype(np.float32), rng.normal(size=(5, 5)).astype(np.float32)
    single, double = ((nodes, edges), (nodes.astype(np.float64), edges.astype(np.float64)))
    assert best_labels(*single, [0, n])[0].tolist() == best_labels(*double, [0, n])[0].tolist()
    found, exact = (chain_expectations(*scores, [0, n]) for scores in (single, double))
    assert found.log_z[0] == pytest.approx(exact.log_z[0], rel=1e-7)
    assert np.allclose(found.nodes, exact.nodes, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": np.zeros(3)}, "nodes must be"),
        ({"edges": np.zeros((3, 3))}, r"edges must be \(2, 2\)"),
        ({"edges": np.zeros((2, 2, 2)), "by": "all"}, "edges must be"),
        ({"offsets": [0, 2]}, "offsets and nodes disagree"),
        ({"nodes": [[np.nan, 0], [0, 0], [0, 0]]}, "a node score is NaN"),
        ({"edges": [[np.inf, 0], [0, 0]]}, "an edge score is NaN or infinity"),
        ({"weights": [1.0]}, "weights and sentences disagree"),
        ({"offsets": [0, 1, 2, 3], "edges": np.zeros((3, 2, 2))}, "say by="),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_scores_are_refused(changes: dict[str, Any], message: str) -> None:
    given = {"nodes": np.zeros((3, 2)), "edges": np.zeros((2, 2)), "offsets": [0, 1, 3]}
    with pytest.raises(ValueError, match=message):
        chain_expectations(**{**given, **changes})
