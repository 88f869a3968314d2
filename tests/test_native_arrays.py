"""Native functions refuse arrays that do not fit together: an exception, never a read outside of them."""

from __future__ import annotations

import numpy as np
import pytest

from corate import _native

BLOB = np.frombuffer(b"abcd", np.uint8)
GOOD = np.array([0, 2, 4])
NO_ROWS = (np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
#: Offsets of four things that would lead outside: none, too far, falling, not from 0, beyond and back.
BAD = [[], [0, 5], [0, 3], [0, 3, 2, 4], [1, 4], [-1, 4], [0, 10**6, 4], [0, 2**62, 4], [0, -(2**62), 4]]


def feature_map() -> _native.FeatureMap:
    return _native.FeatureMap(1, [(0, 0, 0, "", None, False)], [[(0, 0)], [(0, -1), (0, 0)]])


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def rows_of(offsets: np.ndarray) -> int:
    return max(0, len(offsets) - 1)


def f32(size: int) -> np.ndarray:
    return np.zeros(size, np.float32)


CALLS = {
    "match_strings, known": lambda o: _native.match_strings((BLOB, o), (BLOB, GOOD)),
    "match_strings, query": lambda o: _native.match_strings((BLOB, GOOD), (BLOB, o)),
    "FeatureMap.restore": lambda o: feature_map().restore([(BLOB, o)], [(BLOB[:0], GOOD[:1])], [(u64(), u64())] * 2),
    "FeatureMap.fit, strings": lambda o: feature_map().fit([(i32(0), BLOB, o)], np.array([0, 1])),
    "FeatureMap.fit, sentences": lambda o: feature_map().fit([(i32(0, 1, 0, 1), BLOB, GOOD)], o),
    "Edges.sparse": lambda o: _native.Edges.sparse(o, i32(0, 1, 0, 1), f32(4), f32(rows_of(o)), f32(rows_of(o)), 1.0),
    "Engine": lambda o: _native.Engine(
        feature_map(), _native.Edges.dense(np.zeros((3, 3), np.float32)), f32(2), 0, (o, i32(0, 1, 0, 1), f32(4)), [],
        [0], (np.zeros(40, np.int64), i32(), f32(0)), NO_ROWS, 0, False, False, -9.0, None, None, None, ["A", "B"],
        None,
    ),
    "count_pairs": lambda o: _native.count_pairs(i32(0, 1, 0, 1), o, 2),
    "Backoff": lambda o: _native.Backoff(o, i32(0, 1, 0, 1), i32(1, 1, 1, 1), np.zeros((1, rows_of(o)), np.int32), 2),
    "viterbi": lambda o: _native.viterbi(
        o, np.arange(5), i32(0, 1, 0, 1), f32(4), _native.Edges.dense(np.zeros((3, 3), np.float32))
    ),
    "Paths": lambda o: _native.Paths(
        o, np.arange(5), i32(0, 1, 0, 1), f32(4), _native.Edges.dense(np.zeros((3, 3), np.float32)), None, None, None,
        None, 1,
    ),
}  # fmt: skip


def u64() -> np.ndarray:
    return np.zeros(0, np.uint64)


@pytest.mark.parametrize("offsets", BAD, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_offsets_that_lead_outside_are_refused(name: str, offsets: list[int]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        CALLS[name](np.array(offsets, np.int64))


@pytest.mark.parametrize(
    ("first", "second"), [([16], []), ([16], [16, 16]), ([-1], [16]), ([16], [99]), ([2**31 - 1], [0])]
)
def test_pairs_are_of_values_that_there_are(first: list[int], second: list[int]) -> None:
    words = feature_map()
    words.fit([(i32(0, 1), BLOB, GOOD)], np.array([0, 2]))
    with pytest.raises(ValueError, match="value"):
        words.intern_pairs(1, i32(*first), i32(*second))


def test_only_maps_of_the_same_templates_are_joined() -> None:
    other = _native.FeatureMap(1, [(0, 0, 0, "", None, False)], [[(0, 0)], [(0, -1), (0, 1), (0, 0)]])
    with pytest.raises(ValueError, match="same templates"):
        feature_map().absorb(other)


def test_a_level_has_no_more_contexts_than_words() -> None:
    with pytest.raises(ValueError, match="level"):
        _native.Backoff(np.array([0, 1]), i32(0), i32(1), np.array([[2**31 - 1]], np.int32), 1)


def test_tokens_without_columns_and_features_are_refused() -> None:
    nothing = _native.FeatureMap(0, [], [])
    edges = _native.Edges.dense(np.zeros((2, 2), np.float32))
    engine = _native.Engine(
        nothing,
        edges,
        f32(1),
        0,
        NO_ROWS,
        [],
        [],
        NO_ROWS,
        NO_ROWS,
        0,
        True,
        False,
        -9.0,
        None,
        None,
        None,
        ["A"],
        None,
    )
    with pytest.raises(ValueError, match="without columns"):
        engine.tag_columns([], np.array([0, 2**40]), None, 1)
