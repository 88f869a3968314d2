"""The numbers of label pairs against loops over labels, and the order of a chain's weights in one vector."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corate.label_pairs import ChainWeights, LabelPairs
from corate.rows import SparseRows


@given(st.integers(1, 70_000), st.data())
def test_pairs_come_back_from_their_numbers(n_labels: int, data: st.DataObject) -> None:
    pairs = LabelPairs(n_labels)
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, n_labels)] * 2), min_size=1, max_size=5))
    left, right = np.array(ends, np.int32).T  # their numbers may need 64 bits
    ids = pairs.ids(left, right)
    assert ids.tolist() == [y * (n_labels + 1) + z for y, z in ends]
    assert [own.tolist() for own in pairs.split(ids)] == [left.tolist(), right.tolist()]
    assert ids.max() < len(pairs)


@given(st.lists(st.lists(st.integers(-1, 3), max_size=4), min_size=1))
def test_pairs_along_sentences(sentences: list[list[int]]) -> None:
    pairs = LabelPairs(4)
    labels = np.array([y for sentence in sentences for y in sentence], np.int32)
    offsets = np.cumsum([0, *map(len, sentences)])
    steps = [step for sentence in sentences for step in pairwise([pairs.boundary, *sentence])]
    assert pairs.along(labels, offsets).tolist() == [-1 if min(step) < 0 else int(pairs.ids(*step)) for step in steps]


def test_a_table_keeps_its_scores_if_labels_are_added() -> None:
    pairs = LabelPairs(2)
    table = np.arange(9, dtype=np.float32).reshape(pairs.shape)
    grown = pairs.grown(table, 4)
    places = pairs.places(4)
    assert places.tolist() == [0, 1, 4]
    assert (grown[np.ix_(places, places)] == table).all()
    assert grown.sum() == table.sum()


def test_weights_in_one_vector_come_back() -> None:
    def rows(*scores: float) -> SparseRows:
        n = len(scores)
        return SparseRows(np.array([0, n]), np.arange(n, dtype=np.int32), np.array(scores, np.float32))

    layout = ChainWeights(np.ones((3, 3), np.float32), rows(2, 3), np.array([4, 5, 6], np.float32), rows(7))
    assert layout.vector().tolist() == [1.0] * 9 + [2, 3, 4, 5, 6, 7]
    other = layout.of(10 * layout.vector())
    assert other.vector().tolist() == (10 * layout.vector()).tolist()
    assert other.edges.shape == (3, 3)
    assert other.extra.labels.tolist() == [0, 1]
