"""The search over settings: it moves only for clear reasons, and says what it found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.optimize.tuning import clearly_better, coordinate_search, f1_of, score_of


@dataclass(frozen=True)
class Point:
    x: float = 1.0
    y: float = 1.0


outcomes = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


@given(outcomes)
def test_better_means_more_won_than_lost_beyond_chance(pairs: list[tuple[bool, bool]]) -> None:
    new, old = (np.array([p[i] for p in pairs], bool) for i in (0, 1))
    won, lost = pairs.count((True, False)), pairs.count((False, True))
    assert clearly_better(new, old) == (won - lost > (won + lost) ** 0.5)
    assert not (clearly_better(new, old) and clearly_better(old, new))
    assert not clearly_better(new, new)


@given(outcomes, st.data())
def test_a_token_of_weight_three_counts_for_more_than_two_others(
    pairs: list[tuple[bool, bool]], data: st.DataObject
) -> None:
    new, old = (np.array([p[i] for p in pairs], bool) for i in (0, 1))
    weights = np.array([data.draw(st.sampled_from([0.0, 0.5, 3.0])) for _ in pairs], np.float32)
    gain = ((new.astype(int) - old) * weights).sum()
    assert clearly_better(new, old, weights=weights) == (gain > ((new != old) * weights**2).sum() ** 0.5)
    assert clearly_better(new, old, weights=np.full(len(pairs), 0.25, np.float32)) == clearly_better(new, old)


def test_the_search_goes_where_the_weights_are() -> None:
    """Twice as many tokens are right where x is larger, but those that weigh more are right where it is smaller."""

    def correct_tokens(p: Point) -> np.ndarray:
        return np.concatenate([np.arange(60) < 20 * p.x, np.arange(30) < 20 / p.x])

    assert coordinate_search(correct_tokens, Point(), {"x": 2.0})[0].x > 1.0
    weights = np.repeat(np.array([1.0, 9.0], np.float32), [60, 30])
    assert coordinate_search(correct_tokens, Point(), {"x": 2.0}, weights=weights)[0].x < 1.0


@given(st.integers(-6, 6), st.integers(-6, 6))
def test_the_search_ends_at_the_top_of_a_hill(a: int, b: int) -> None:
    def correct_tokens(p: Point) -> np.ndarray:
        return np.arange(400) >= 20 * (abs(np.log2(p.x) - a) + abs(np.log2(p.y) - b))

    best, right = coordinate_search(correct_tokens, Point(), {"x": 2.0, "y": 2.0})
    assert (best.x, best.y) == (2.0**a, 2.0**b)
    assert right.all()


def test_noise_moves_nothing() -> None:
    even = np.arange(1000) % 2 == 0

    def correct_tokens(p: Point) -> np.ndarray:
        changed = np.zeros(1000, bool)
        changed[1:17:2] = changed[0:12:2] = p != Point()  # eight mended, six broken
        return even ^ changed

    assert coordinate_search(correct_tokens, Point(), {"x": 2.0, "y": 1.1})[0] == Point()


def test_settings_without_a_step_stay_and_progress_is_told() -> None:
    in_words: list[float] = []
    best, _ = coordinate_search(
        lambda p: np.arange(100) < 10 * p.y, Point(x=3.0), {"y": 2.0, "x": 2.0}, in_words.append
    )
    assert best.x == 3.0
    assert best.y > 1.0
    assert in_words == [0.0, 0.5]


def test_each_setting_is_judged_from_the_best_so_far() -> None:
    """y helps only where x has moved before."""

    def correct_tokens(p: Point) -> np.ndarray:
        return np.arange(100) < (50 if p.x >= 2 and p.y >= 2 else 25 if p.x >= 2 else 0)

    assert coordinate_search(correct_tokens, Point(), {"x": 2.0, "y": 2.0})[0] == Point(2.0, 2.0)


# -- spans -----------------------------------------------------------------------------------------------------------

SENTENCE = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))  # correct, gold and predicted spans


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=30))
def test_spans_are_judged_by_f1(pairs) -> None:
    def counts(sentences) -> np.ndarray:
        return np.array([(0, 1, 2 * min(c, g, p), g + p) for c, g, p in sentences], dtype=float)

    new, old = (counts([pair[k] for pair in pairs]) for k in (0, 1))
    f1 = [sum(c[:, 2]) / sum(c[:, 3]) if sum(c[:, 3]) else 0.0 for c in (new, old)]
    assert [f1_of(new), f1_of(old)] == pytest.approx(f1)
    assert clearly_better(new, old, 0.0) == (f1[0] > f1[1] + 1e-12) or abs(f1[0] - f1[1]) < 1e-9
    if clearly_better(new, old):
        assert f1[0] > f1[1]
        assert not clearly_better(old, new)
    assert score_of(new) == f1_of(new)
    assert f1_of(np.array([True])) is None
