"""Counts on disk are those in memory: entries against dictionaries, runs, and tables of pairs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from corate.counting.stored_pairs import PairCounter, columns_of, table_of
from corate.io.runs import Runs

tokens = st.lists(st.tuples(st.integers(0, 5) | st.integers(2**40, 2**40 + 2), st.integers(-1, 3)), max_size=40)


def arrays(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([k for k, _ in pairs], np.uint64), np.array([y for _, y in pairs], np.int32)


def expected(pairs: list[tuple[int, int]]) -> tuple[dict[tuple[int, int], int], dict[int, int]]:
    """The count of each (key, label), and the first place of each key with a label."""
    first: dict[int, int] = {}
    for place, (key, label) in enumerate(pairs):
        if label >= 0:
            first.setdefault(key, place)
    return Counter(pair for pair in pairs if pair[1] >= 0), first


@given(pieces=st.lists(tokens, max_size=5), most=st.integers(1, 30), threads=st.integers(1, 2))
def test_pieces_add_up_to_the_whole(
    pieces: list[list[tuple[int, int]]], most: int, threads: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    counter, start = PairCounter(folder, "pairs"), 0
    for piece in pieces:
        counter.add(counter.count(*arrays(piece), start))
        start += len(piece)
    counts, first = expected([pair for piece in pieces for pair in piece])
    stored = counter.stored(most, 7, start, threads, lambda done: None)
    rows = {}
    order: list[int] = []
    for _, keys, table in stored.chunks(3):
        order += keys.tolist()
        for key, a, b in zip(keys.tolist(), table.offsets[:-1], table.offsets[1:], strict=True):
            assert table.labels[a:b].tolist() == sorted(table.labels[a:b].tolist())
            rows |= {(key, int(y)): int(n) for y, n in zip(table.labels[a:b], table.counts[a:b], strict=True)}
    assert rows == counts
    assert order == sorted(first, key=first.__getitem__)  # the order of the first places, as in memory
    assert sorted(path.name for path in folder.iterdir() if "runs" in path.name or "placed" in path.name) == []


@given(pieces=st.lists(tokens, max_size=5), most=st.integers(1, 30))
def test_entries_by_key(
    pieces: list[list[tuple[int, int]]], most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    counter, start = PairCounter(tmp_path_factory.mktemp("words"), "words"), 0
    for piece in pieces:
        counter.add(counter.count(*arrays(piece), start))
        start += len(piece)
    keys, table = table_of(counter.by_key(most))
    found = {
        (int(key), int(y)): int(n) for key, y, n in zip(keys[table.owners], table.labels, table.counts, strict=True)
    }
    counts, _ = expected([pair for piece in pieces for pair in piece])
    assert found == counts
    assert keys.tolist() == sorted({key for key, _ in counts})


def test_wanted_rows_are_found(tmp_path: Path) -> None:
    counter = PairCounter(tmp_path, "pairs")
    counter.add(counter.count(*arrays([(7, 0), (3, 1), (7, 0), (7, 2), (5, 1)]), 0))
    stored = counter.stored(2, 10, 5, 1, lambda done: None)
    rows, table = stored.find(np.array([5, 7], np.uint64), rows=2)
    assert rows.tolist() == [2, 0]
    assert [a.tolist() for a in table.arrays()] == [[0, 1, 3], [1, 0, 2], [1, 2, 1]]


def test_counts_beyond_32_bits_are_added() -> None:
    entry = np.array([[9, 0, 3 << 40 | 3_000_000_000]], np.uint64)
    merged = _native.merge_entries(np.concatenate([entry, entry]), False)
    labels, counts = columns_of(merged)
    assert (labels.tolist(), counts.tolist()) == ([3], [6_000_000_000])
    full = np.array([[9, 0, (1 << 40) - 1]], np.uint64)
    with pytest.raises(ValueError, match="2\\^40"):
        _native.merge_entries(np.concatenate([full, full]), False)


@pytest.mark.parametrize("bits", [0, 21])
def test_impossible_groups_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 20"):
        _native.count_entries(np.zeros(1, np.uint64), np.zeros(1, np.int32), 0, bits)
    with pytest.raises(ValueError, match="differ in number"):
        _native.count_entries(np.zeros(1, np.uint64), np.zeros(2, np.int32), 0, 4)


@given(
    runs=st.lists(st.lists(st.lists(st.integers(0, 99), max_size=4), min_size=3, max_size=3), max_size=4),
    most=st.integers(1, 20),
)
def test_runs_give_back_whole_groups(
    runs: list[list[list[int]]], most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stored = Runs(tmp_path_factory.mktemp("runs") / "file")
    for groups in runs:
        flat = [[value, g, 0] for g, group in enumerate(groups) for value in group]
        sizes = np.array([len(group) for group in groups])
        stored.append(np.array(flat, np.uint64).reshape(-1, 3), sizes)
    read = list(stored.groups(most))
    everything = np.concatenate([np.zeros((0, 3), np.uint64), *read])
    assert Counter(map(tuple, everything.tolist())) == Counter(
        (value, g, 0) for groups in runs for g, group in enumerate(groups) for value in group
    )
    parts_of_group = [set(part[:, 1].tolist()) for part in read]
    assert all(not a & b for i, a in enumerate(parts_of_group) for b in parts_of_group[:i])  # no group is split
