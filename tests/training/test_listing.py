"""Listing: the features of each token against plain Python, and inputs that do not fit together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from reference import listing as reference

sizes_of_templates = st.lists(st.integers(0, 4), max_size=4)


@given(st.integers(0, 600), sizes_of_templates, st.booleans(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_tokens_list_their_attributes_then_what_the_wanted_templates_find(
    n: int, sizes: list[int], ready: bool, cut: bool, biased: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    local = rng.integers(-1, 6, size=(len(sizes), n)).astype(np.int32)
    wanted = rng.random(len(sizes)) < 0.7
    lengths = rng.integers(0, 3, size=n) if ready else np.zeros(n, np.int64)
    ids = rng.integers(-1, 5, size=lengths.sum()).astype(np.int32)
    values = rng.normal(size=len(ids)).astype(np.float32)
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    first = int(ids.max(initial=-1)) + 1
    bases = first + np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kept = rng.random(int(bases[-1])) < 0.6 if cut else None
    last = int(bases[-1]) if biased else -1

    attributes = (ends, ids, values) if ready else None
    offsets, found, weights = _native.list_features(local, bases, wanted, attributes, kept, last)

    of_tokens = [list(zip(ids[a:b].tolist(), values[a:b].tolist(), strict=True)) for a, b in pairwise(ends)]
    known = None if kept is None else set(np.flatnonzero(kept).tolist())
    assert (weights is not None) == ready
    for t in range(n):
        expected = reference.features_of(
            t, local.tolist(), sizes, wanted.tolist(), of_tokens if ready else [], known, last
        )
        a, b = offsets[t], offsets[t + 1]
        assert found[a:b].tolist() == [f for f, _ in expected]
        if weights is not None:
            assert weights[a:b].tolist() == [value for _, value in expected]


def test_features_that_do_not_fit_together_are_refused() -> None:
    local, bases, wanted = np.zeros((2, 3), np.int32), np.array([0, 1, 2]), np.ones(2, bool)
    with pytest.raises(ValueError, match="disagree"):
        _native.list_features(local, bases[:-1], wanted, None, None, -1)
    with pytest.raises(ValueError, match="disagree"):
        _native.list_features(local, bases, wanted[:-1], None, None, -1)
    two_tokens = np.array([0, 1, 2]), np.zeros(2, np.int32), None
    with pytest.raises(ValueError, match="attributes and tokens disagree"):
        _native.list_features(local, bases, wanted, two_tokens, None, -1)
