"""Confusions of some labels are those of all labels, cut to them."""

import numpy as np
import pytest

from corate.evaluation.tally import Confusion


@pytest.mark.parametrize("n", [0, 1, 3, 5, 9])
def test_the_labels_with_most_errors_keep_their_cells(n):
    matrix = np.random.default_rng(n).integers(0, 4, (5, 5))
    gold, predicted = np.nonzero(matrix)
    confusion = Confusion(tuple("ABCDE"), gold, predicted, matrix[gold, predicted])
    wrong = matrix * (1 - np.eye(5, dtype=int))
    errors = wrong.sum(axis=0) + wrong.sum(axis=1)
    found = confusion.most_wrong(n)
    kept = ["ABCDE".index(label) for label in found.labels]
    assert kept == sorted(kept)
    assert len(kept) == min(n, 5)
    assert min(errors[kept], default=99) >= max(np.delete(errors, kept), default=0)
    assert (found.matrix() == matrix[np.ix_(kept, kept)]).all()
