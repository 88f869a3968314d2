"""Exchange clustering: every move raises the objective, and the sums that are kept equal those computed anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from reference.exchange import objective, objectives_of_moves, word_pairs

#: Native code proposes moves in 32 bits, and makes those that gain at least 0.001.
CLOSE = 0.01
#: Up to this many words, each is moved before the next is looked at.
ONE_BY_ONE = 16

Sentences = list[list[int]]


def texts(n_words: int) -> st.SearchStrategy[Sentences]:
    return st.lists(st.lists(st.integers(0, n_words - 1), max_size=8), min_size=1, max_size=12)


def neighbours(sentences: Sequence[Sequence[int]], n_words: int) -> tuple[_native.Table, _native.Table]:
    ids = np.array([w for s in sentences for w in s], np.int32)
    return _native.count_neighbours(ids, np.cumsum([0, *map(len, sentences)]), n_words)


def random_text(n_words: int, n_sentences: int, seed: int = 0) -> Sentences:
    """Words of three kinds that alternate, so that there is something to find."""
    random = np.random.default_rng(seed)
    kinds = np.arange(30) % 3
    return [[int(k + 3 * (random.integers(n_words // 3) ** 2 // n_words)) for k in kinds] for _ in range(n_sentences)]


@given(texts(5))
def test_neighbours_are_those_of_the_text(sentences):
    before, after = neighbours(sentences, 5)
    pairs = word_pairs(sentences, 5)
    for (offsets, words, counts), side in ((before, 1), (after, 0)):
        found = {
            (w, int(words[i])): int(counts[i]) for w in range(5) for i in range(int(offsets[w]), int(offsets[w + 1]))
        }
        assert found == {(pair[side], pair[1 - side]): n for pair, n in pairs.items() if pair[side] < 5}


@given(texts(ONE_BY_ONE), st.integers(2, 5), st.integers(0, 99))
def test_a_pass_moves_each_word_to_the_best_class(sentences, n_classes, seed):
    start = np.random.default_rng(seed).integers(-1, n_classes, ONE_BY_ONE).astype(np.int32)
    moved = start.copy()
    _native.exchange_classes(*neighbours(sentences, ONE_BY_ONE), moved, n_classes)
    now = start.tolist()
    for word in range(ONE_BY_ONE):
        found = objectives_of_moves(sentences, now, word, n_classes)
        assert found[moved[word]] >= max(found) - CLOSE
        now[word] = int(moved[word])


@given(texts(40), st.integers(2, 6), st.integers(0, 99))
def test_the_sum_of_the_gains_is_the_change_of_the_objective(sentences, n_classes, seed):
    classes = np.random.default_rng(seed).integers(0, n_classes, 40).astype(np.int32)
    sides = neighbours(sentences, 40)
    value = objective(sentences, classes.tolist())
    for _ in range(3):
        moves, gain, reported = _native.exchange_classes(*sides, classes, n_classes)
        after = objective(sentences, classes.tolist())
        assert reported == pytest.approx(after, abs=1e-6)
        assert gain == pytest.approx(after - value, abs=1e-6)
        assert gain >= 0.001 * moves
        value = after


def test_passes_end_where_no_move_raises_the_objective():
    sentences = random_text(60, 20)
    sides = neighbours(sentences, 60)
    classes = np.where(np.arange(60) < 4, np.arange(60), -1).astype(np.int32)
    moves = [_native.exchange_classes(*sides, classes, 4)[0] for _ in range(30)]
    assert moves[0] == 56
    assert moves[-1] == 0
    best = objective(sentences, classes.tolist())
    for word in range(60):
        assert max(objectives_of_moves(sentences, classes.tolist(), word, 4)) <= best + CLOSE
    used = {w for s in sentences for w in s}
    assert len({(int(classes[w]), w % 3) for w in used}) == 4  # each class has words of one kind


def test_classes_do_not_depend_on_threads():
    sentences = random_text(3000, 200)
    sides = neighbours(sentences, 3000)
    found = []
    for threads in (1, 2, 5):
        classes = np.where(np.arange(3000) < 40, np.arange(3000), -1).astype(np.int32)
        results = [_native.exchange_classes(*sides, classes, 40, threads) for _ in range(3)]
        found.append((classes.tolist(), results))
    assert found[0] == found[1] == found[2]


def test_arrays_that_do_not_fit_are_refused():
    before, after = neighbours([[0, 1], [1]], 2)
    classes = np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="out of range"):
        _native.count_neighbours(np.array([2], np.int32), np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="number of words"):
        _native.exchange_classes(before, after, np.zeros(3, np.int32), 2)
    with pytest.raises(ValueError, match="class is out of range"):
        _native.exchange_classes(before, after, np.full(2, 2, np.int32), 2)
    with pytest.raises(ValueError, match="a class and a thread"):
        _native.exchange_classes(before, after, classes, 0)
    with pytest.raises(ValueError, match="not a word"):
        _native.exchange_classes(before, (after[0], after[1] + 7, after[2]), classes, 2)
    with pytest.raises(ValueError, match="too many tokens"):
        _native.exchange_classes(before, (after[0], after[1], after[2] * 10**9), classes, 2)
