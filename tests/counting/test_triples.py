"""Label triples: those seen often enough, against a plain loop, and those that are numbered anew."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.counting.counts import Tokens
from corate.counting.triples import relabelled, seen_triples
from corate.rows import SparseRows

Triple = tuple[int, int, int]


def tokens_of(sentences: list[list[int]]) -> Tokens:
    labels = np.array([y for s in sentences for y in s], np.int32)
    return Tokens(np.zeros((0, len(labels)), np.int32), None, labels, np.cumsum([0, *map(len, sentences)]))


def read(rows: SparseRows, n_labels: int) -> dict[Triple, float]:
    """What rows say, which must be well formed: a row for each label and the boundary, pairs rising in each."""
    size = n_labels + 1
    assert len(rows) == size
    assert (rows.offsets[0], rows.offsets[-1]) == (0, len(rows.labels))
    assert len(rows.scores) == len(rows.labels)
    assert (rows.offsets.dtype, rows.labels.dtype, rows.scores.dtype) == (np.int64, np.int32, np.float32)
    found = {}
    for y, (a, b) in enumerate(itertools.pairwise(rows.offsets.tolist())):
        pairs = rows.labels[a:b].tolist()
        assert pairs == sorted(set(pairs))
        found |= {(y, *divmod(pair, size)): score for pair, score in zip(pairs, rows.scores[a:b].tolist(), strict=True)}
    return found


def counted(sentences: list[list[int]], n_labels: int) -> Counter[Triple]:
    """How often each three stand in a row, two boundaries before a sentence and one after it; -1 is not known."""
    found: Counter[Triple] = Counter()
    for sentence in sentences:
        if sentence:
            around = [n_labels, n_labels, *sentence, n_labels]
            found.update(zip(around, around[1:], around[2:], strict=False))
    return Counter({three: n for three, n in found.items() if -1 not in three})


some_sentences = st.integers(1, 4).flatmap(
    lambda k: st.tuples(st.just(k), st.lists(st.lists(st.integers(-1, k - 1), max_size=6), max_size=8))
)


@given(some_sentences, st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=300)
def test_triples_seen_often_enough_are_those_that_a_plain_loop_counts(
    drawn: tuple[int, list[list[int]]], least: int, boundaries: bool
) -> None:
    n_labels, sentences = drawn
    found = read(seen_triples(tokens_of(sentences), n_labels, least, boundaries=boundaries), n_labels)
    expected = {three for three, n in counted(sentences, n_labels).items() if n >= least}
    if not boundaries:
        expected = {three for three in expected if n_labels not in three}
    assert found.keys() == expected
    assert not any(found.values())


def test_the_usual_is_every_triple_with_boundaries() -> None:
    found = read(seen_triples(tokens_of([[], [1], [0, 1, 0], []]), 2), 2)
    assert found.keys() == {(2, 2, 1), (2, 1, 2), (2, 2, 0), (2, 0, 1), (0, 1, 0), (1, 0, 2)}


def test_where_there_are_no_sentences_there_are_no_triples() -> None:
    for sentences in ([], [[]], [[], [], []], [[-1]], [[-1, -1, -1]]):
        assert read(seen_triples(tokens_of(sentences), 3), 3) == {}


def test_labels_may_be_so_many_that_keys_of_triples_need_more_than_32_bits() -> None:
    n = 40_000
    found = read(seen_triples(tokens_of([[n - 1, n - 2, n - 3]]), n), n)
    assert found.keys() == {(n, n, n - 1), (n, n - 1, n - 2), (n - 1, n - 2, n - 3), (n - 2, n - 3, n)}


@st.composite
def renumbered(draw: st.DrawFn) -> tuple[dict[Triple, float], list[int], int]:
    """Triples with scores, where each label and the boundary now stands, and how many labels there are now."""
    old = draw(st.integers(1, 4))
    new = old + draw(st.integers(0, 3))
    labels = st.integers(0, old)
    scores = draw(st.dictionaries(st.tuples(labels, labels, labels), st.floats(-9, 9, width=32), max_size=25))
    places = draw(st.permutations(range(new)))[:old]
    return scores, [*places, new], new


@given(renumbered())
@settings(deadline=None, max_examples=300)
def test_a_score_found_by_old_labels_is_found_by_new_ones(drawn: tuple[dict[Triple, float], list[int], int]) -> None:
    scores, places, n_labels = drawn
    size = len(places)
    keys = sorted(scores)
    rows = SparseRows(
        np.searchsorted([y for y, _, _ in keys], np.arange(size + 1)).astype(np.int64),
        np.array([z * size + w for _, z, w in keys], np.int32),
        np.array([scores[three] for three in keys], np.float32),
    )
    assert read(rows, size - 1) == scores
    found = read(relabelled(rows, np.array(places), n_labels), n_labels)
    assert found == {(places[y], places[z], places[w]): score for (y, z, w), score in scores.items()}
