"""Sparse rows: sums and places of labels against dictionaries, and rows that do not fit together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from corate.counting.pooling import Candidates
from corate.rows import SparseRows
from reference import rows as reference

#: Scores whose sums are exact.
scores = st.integers(-8, 8).map(lambda n: n / 4)
pairs_of_rows = st.lists(st.tuples(*(st.dictionaries(st.integers(0, 5), scores, max_size=4) for _ in range(2))))


def packed(rows: list[dict[int, float]]) -> SparseRows:
    in_order = [sorted(row.items()) for row in rows]
    ends = np.cumsum([0, *map(len, in_order)]).astype(np.int64)
    flat = [entry for row in in_order for entry in row]
    return SparseRows(ends, np.array([y for y, _ in flat], np.int32), np.array([x for _, x in flat], np.float32))


def unpacked(rows: SparseRows) -> list[dict[int, float]]:
    entries = list(zip(rows.labels.tolist(), rows.scores.tolist(), strict=True))
    assert all(x[0] < y[0] for a, b in pairwise(rows.offsets) for x, y in pairwise(entries[a:b]))
    return [dict(entries[a:b]) for a, b in pairwise(rows.offsets)]


@given(pairs_of_rows)
def test_rows_add_up_label_by_label(pairs: list[tuple[dict[int, float], dict[int, float]]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assert unpacked(packed(a).plus(packed(b))) == reference.summed(a, b)


@given(pairs_of_rows, st.integers(0, 99))
def test_a_label_is_found_where_it_stands_and_included_where_it_is_not(
    pairs: list[tuple[dict[int, float], dict[int, float]]], seed: int
) -> None:
    rows = [x for x, _ in pairs]
    made = packed(rows)
    labels = np.random.default_rng(seed).integers(-1, 6, size=len(rows)).astype(np.int32)
    candidates = Candidates(*made.arrays())
    places = candidates.find(labels)
    for r, (row, label, place) in enumerate(zip(rows, labels.tolist(), places.tolist(), strict=True)):
        assert (place >= 0) == (label in row)
        if place >= 0:
            assert made.offsets[r] <= place < made.offsets[r + 1]
            assert made.labels[place] == label
    included = candidates.including(labels, -9.0)
    expected = [row if y < 0 or y in row else {**row, y: -9.0} for row, y in zip(rows, labels.tolist(), strict=True)]
    assert unpacked(SparseRows(included.offsets, included.labels, included.ladder)) == expected


def test_rows_that_do_not_fit_together_are_refused() -> None:
    one, two = packed([{0: 1.0}]), packed([{0: 1.0}, {}])
    with pytest.raises(ValueError, match="sets of rows disagree"):
        one.plus(two)
    with pytest.raises(ValueError, match="labels and scores disagree"):
        _native.add_sparse_rows((one.offsets, one.labels, one.scores[:0]), one.arrays())
    with pytest.raises(ValueError, match="offsets and labels disagree"):
        _native.find_in_rows(one.offsets, one.labels[:0], np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="labels and rows disagree"):
        _native.find_in_rows(one.offsets, one.labels, np.zeros(2, np.int32))
