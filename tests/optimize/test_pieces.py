"""The order of passes over large corpora."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate.optimize import pieces
from corate.optimize.pieces import LARGE_TOKENS, PiecesInMemory, cut_into_pieces
from corate.optimize.stochastic import AdaGrad, AveragedPerceptron

Numbers = NDArray[np.int64]


class Recorder:
    """Makes no steps, and records the items that are visited."""

    size = 1

    def __init__(self) -> None:
        self.visited: list[int] = []

    def pass_over(self, state: Any, order: Numbers, *_: Any) -> float:
        self.visited += order.tolist()
        return float(order.sum())

    def perceptron(self, state: Any, order: Numbers, *_: Any) -> Any:
        self.visited += order.tolist()
        return np.ones(len(order), np.float32)


@given(sentences=st.integers(1, 3000), tokens=st.integers(LARGE_TOKENS + 1, 10**8), seed=st.integers(0, 100))
def test_pieces_share_the_sentences_evenly(sentences: int, tokens: int, seed: int) -> None:
    items = 3 * np.arange(sentences)
    lengths = np.full(sentences, tokens // sentences)
    lengths[0] += tokens - lengths.sum()
    found = cut_into_pieces(items, lengths, seed)
    assert found is not None
    assert sorted(np.concatenate(found)) == items.tolist()
    assert all((np.diff(piece) > 0).all() for piece in found)
    sizes = [len(piece) for piece in found]
    assert max(sizes) - min(sizes) < 2 * pieces.RUN_SENTENCES
    assert len(found) == min(sentences, max(pieces.FEWEST_PIECES, round(tokens / pieces.PIECE_TOKENS)))


def test_pieces_are_made_of_runs_from_all_over_the_corpus() -> None:
    found = cut_into_pieces(np.arange(500_000), np.full(500_000, 20), seed=0)
    assert found is not None
    assert len(found) == 20
    for piece in found:
        breaks = np.flatnonzero(np.diff(piece) != 1)
        assert 300 < len(breaks) < 400
        assert ((piece[:: pieces.RUN_SENTENCES] % pieces.RUN_SENTENCES) == 0).all()
        assert np.bincount(piece // 50_000, minlength=10).min() > 500


def test_the_seed_cuts_the_corpus() -> None:
    first, again, other = (cut_into_pieces(np.arange(9000), np.full(9000, 300), seed) for seed in (1, 1, 2))
    assert first is not None
    assert again is not None
    assert other is not None
    assert all(map(np.array_equal, first, again))
    assert not all(map(np.array_equal, first, other))


@pytest.mark.parametrize("method", ["adagrad", "perceptron"])
def test_a_pass_visits_every_item_once_piece_by_piece(method: str) -> None:
    items = np.arange(5, 1005)
    cut = [items[k::7] for k in range(7)]
    steps, done = Recorder(), list[float]()
    run: AdaGrad | AveragedPerceptron
    if method == "adagrad":
        run = AdaGrad.of(steps, np.zeros(1, np.float32), items, averaging=True, pieces=PiecesInMemory(steps, cut))
    else:
        start = np.zeros(1, np.float32)
        run = AveragedPerceptron.of(steps.perceptron, items, start, 0, pieces=PiecesInMemory(steps.perceptron, cut))
    passes = []
    for _ in range(2):
        steps.visited = []
        run.pass_once(done.append)
        passes.append(steps.visited)
        assert sorted(steps.visited) == items.tolist()
        of_items = [(item - 5) % 7 for item in steps.visited]
        assert sum(a != b for a, b in pairwise(of_items)) == len(cut) - 1
    assert passes[0] != passes[1]
    assert done == sorted(done[:28]) + sorted(done[28:])
    assert done[-1] == pytest.approx(1.0)
    if isinstance(run, AdaGrad):
        assert run.moments == 2 * AdaGrad.MOMENTS


def test_the_latest_loss_is_that_of_the_last_quarter() -> None:
    items, steps = np.arange(1000), Recorder()
    cut = [items[k::10] for k in range(10)]
    run = AdaGrad.of(steps, np.zeros(1, np.float32), items, pieces=PiecesInMemory(steps, cut))
    run.pass_once()
    assert run.latest == pytest.approx(np.mean(steps.visited[750:]))
