"""Arrays of lattices that do not fit together are refused."""

from __future__ import annotations

import numpy as np
import pytest

from corate import _native
from corate.model.lattice import Lattice


def test_features_of_edges_that_do_not_fit_are_refused() -> None:
    native = _native.Edges.dense(np.zeros((3, 3), np.float32))
    good = [
        np.array([0, 1, 1]),
        np.zeros(1, np.int32),
        np.array([0, 1]),
        np.zeros(1, np.int32),
        np.zeros(1, np.float32),
    ]

    def decode(offsets: np.ndarray, ids: np.ndarray, *weights: np.ndarray) -> None:
        _native.viterbi(*GOOD.values(), native, (offsets, ids, _native.EdgeFeatureWeights(*weights)))

    decode(*good)
    for i, bad in (
        (0, np.array([0, 1])),
        (0, np.array([0, 2, 1])),
        (0, np.array([-1, 0, 1])),
        (1, np.ones(1, np.int32)),
        (2, np.zeros(0, np.int64)),
        (2, np.array([0, 9, 1])),
        (2, np.array([5, 1])),
        (4, np.zeros(2, np.float32)),
    ):
        with pytest.raises(ValueError, match="edge feature"):
            decode(*(bad if j == i else a for j, a in enumerate(good)))


GOOD = {
    "sentences": np.array([0, 1, 2]),
    "offsets": np.array([0, 1, 3]),
    "labels": np.array([0, 0, 1], np.int32),
    "scores": np.zeros(3, np.float32),
}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("sentences", np.zeros(0, np.int64)),
        ("sentences", np.array([0, 2, 1, 2])),
        ("sentences", np.array([-1, 2])),
        ("sentences", np.array([1, 2])),
        ("sentences", np.array([0, 3])),
        ("sentences", np.array([0, 2**62, 2])),
        ("offsets", np.zeros(0, np.int64)),
        ("offsets", np.array([0, 3, 3])),
        ("offsets", np.array([0, 4, 3])),
        ("offsets", np.array([-1, 1, 3])),
        ("offsets", np.array([1, 2, 3])),
        ("labels", np.array([0, 1, 0], np.int32)),
        ("labels", np.array([0, 1, 1], np.int32)),
        ("labels", np.array([0, 0, 2], np.int32)),
        ("labels", np.array([-1, 0, 1], np.int32)),
        ("labels", np.array([0, 0], np.int32)),
        ("scores", np.zeros(4, np.float32)),
    ],
)
def test_lattices_that_do_not_fit_together_are_refused(name: str, bad: np.ndarray) -> None:
    native = _native.Edges.dense(np.zeros((3, 3), np.float32))
    good = Lattice(**GOOD, edges=native)
    assert good.best()[0].tolist() == [0, 0]
    broken = Lattice(**{**GOOD, name: bad}, edges=native)
    with pytest.raises(ValueError, match=r"disagree|candidate"):
        broken.best()
    with pytest.raises(ValueError, match=r"disagree|candidate"):
        broken.marginals()


@pytest.mark.parametrize(
    ("offsets", "to"),
    [([0, 1, 1], [0]), ([0, 1, 0, 1], [0]), ([0, 1, 1, 2], [0, 3]), ([0, 2, 2, 2], [1, 0]), ([0, 0, 0, 1], [-1])],
)
def test_edges_that_do_not_fit_together_are_refused(offsets: list[int], to: list[int]) -> None:
    three = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="edge"):
        _native.Edges.sparse(
            np.array(offsets), np.array(to, np.int32), np.zeros(len(to), np.float32), three, three, 1.0
        )
    with pytest.raises(ValueError, match="dense"):
        _native.Edges.dense(np.zeros((2, 3), np.float32))
    with pytest.raises(IndexError):
        _native.Edges.dense(np.zeros((3, 3), np.float32)).at(3, 0)


THREES = (np.array([0, 2, 2, 3]), np.array([1, 8, 0], np.int32), np.zeros(3, np.float32))


@pytest.mark.parametrize(
    ("part", "bad", "match"),
    [
        (1, np.array([1, 9, 0], np.int32), "out of range"),
        (1, np.array([-1, 8, 0], np.int32), "out of range"),
        (1, np.array([1, 8, 2**31 - 1], np.int32), "out of range"),
        (1, np.array([8, 1, 0], np.int32), "out of order"),
        (1, np.array([8, 8, 0], np.int32), "out of order"),
        (1, np.array([1, 8], np.int32), "label triples and their scores disagree"),
        (2, np.zeros(2, np.float32), "label triples and their scores disagree"),
        (2, np.zeros(4, np.float32), "label triples and their scores disagree"),
        (0, np.array([0, 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 2, 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 2, 2]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 2, 4]), "label triples disagree with the labels"),
        (0, np.array([1, 2, 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2, 1, 3]), "label triples disagree with the labels"),
        (0, np.array([0, -(2**62), 2, 3]), "label triples disagree with the labels"),
        (0, np.array([0, 2**62, 2, 3]), "label triples disagree with the labels"),
        (0, np.zeros(0, np.int64), "label triples disagree with the labels"),
    ],
)
def test_triples_that_do_not_fit_are_refused(part: int, bad: np.ndarray, match: str) -> None:
    table, two = np.zeros((3, 3), np.float32), np.zeros(3, np.float32)
    sparse = (np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), two, two, 1.0)
    broken = tuple(bad if i == part else array for i, array in enumerate(THREES))
    for make in (
        lambda three, local=False: _native.Edges.dense(table, local, three),
        lambda three, local=False: _native.Edges.sparse(*sparse, local, three),
    ):
        make(THREES)
        with pytest.raises(ValueError, match=match):
            make(broken)
        with pytest.raises(ValueError, match="normalised locally cannot have scores of label triples"):
            make(THREES, local=True)
