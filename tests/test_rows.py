"""Sparse rows: sums and places of labels against dictionaries, and rows that do not fit together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from corate.counting.pooling import Candidates
from corate.rows import SparseRows, distinct, rows_of_keys
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
    assert unpacked(SparseRows(included.offsets, included.labels, included.backoff)) == expected


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


rows_of_any_length = st.lists(st.dictionaries(st.integers(0, 5), scores, max_size=4), min_size=1)


@given(rows_of_any_length, st.data())
def test_rows_are_taken_in_any_order_and_more_than_once(rows: list[dict[int, float]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    assert unpacked(packed(rows).take(np.array(chosen, np.int64))) == [rows[i] for i in chosen]


@given(rows_of_any_length, st.data())
def test_neighbouring_rows_and_marked_entries(rows: list[dict[int, float]], data: st.DataObject) -> None:
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 2)))
    assert unpacked(packed(rows).between(start, stop)) == rows[start:stop]
    found = packed(rows)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    assert unpacked(found.only(kept)) == [row if own else {} for row, own in zip(rows, kept, strict=True)]
    assert unpacked(found.where(found.scores > 0)) == [{y: x for y, x in row.items() if x > 0} for row in rows]


@given(st.lists(rows_of_any_length, min_size=1, max_size=4), st.integers(0, 3))
def test_parts_are_joined_and_padded(parts: list[list[dict[int, float]]], more: int) -> None:
    joined = SparseRows.joined([packed(part) for part in parts])
    every = [row for part in parts for row in part]
    assert unpacked(joined.padded(len(every) + more)) == every + [{}] * more
    assert joined.lengths.tolist() == [len(row) for row in every]
    assert joined.owners.tolist() == [i for i, row in enumerate(every) for _ in row]


@given(rows_of_any_length, st.integers(6, 9))
def test_rows_come_back_from_their_keys(rows: list[dict[int, float]], width: int) -> None:
    found = packed(rows)
    assert [array.tolist() for array in rows_of_keys(found.keys(width), len(rows), width)] == [
        array.tolist() for array in found.csr
    ]


@given(st.lists(st.integers(-3, 9)))
def test_distinct_values(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))
