"""Probabilities of very many labels are refused by the memory that they need, and best labels are not."""

import numpy as np
import pytest

import corate
from corate import _native
from corate.errors import ModelError
from corate.model import lattice as lattices
from corate.model.lattice import Lattice


def lattice(n_labels, lengths=(2,), threads=1):
    zeros = np.zeros(n_labels + 1, np.float32)
    none = np.zeros(0, np.int32), np.zeros(0, np.float32)
    edges = _native.Edges.sparse(np.zeros(n_labels + 2, np.int64), *none, zeros, zeros, 1.0)
    n = sum(lengths)
    sentences = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.tile(np.arange(n_labels, dtype=np.int32), n)
    scores = np.zeros(n * n_labels, np.float32)
    return Lattice(sentences, np.arange(n + 1) * n_labels, labels, scores, edges, threads=threads)


@pytest.mark.parametrize(
    "ask", [Lattice.marginals, Lattice.pair_marginals, Lattice.entropy, Lattice.confidence, lambda own: own.sample(1)]
)
def test_fifteen_thousand_labels_are_refused_with_the_memory(ask):
    with pytest.raises(
        ModelError, match=r"15,000 candidate labels .* about 900 MB .* more than \d+ MB; ask for the best"
    ):
        ask(lattice(15_000))


def test_the_bound_depends_on_bytes_threads_and_free_memory(monkeypatch):
    monkeypatch.setattr(lattices, "FEW_BYTES", 0)
    monkeypatch.setattr(lattices, "MOST_BYTES", 4 * 50**2)
    lattice(50, (2, 2)).marginals()
    with pytest.raises(ModelError, match="use fewer threads"):
        lattice(50, (2, 2), threads=2).marginals()
    lattice(50, (1, 1), threads=2).marginals()  # no pairs
    lattice(50, (3,), threads=8).marginals()  # one sentence, so one thread
    with pytest.raises(ModelError, match="51 candidate"):
        lattice(51).marginals()
    monkeypatch.setattr(lattices, "free_memory", lambda: 4 * 20**2)
    lattice(20).marginals()
    with pytest.raises(ModelError, match="21 candidate"):
        lattice(21).marginals()


def test_best_labels_need_no_pairs(monkeypatch):
    monkeypatch.setattr(lattices, "FEW_BYTES", 0)
    monkeypatch.setattr(lattices, "MOST_BYTES", 0)
    tagger = corate.train(corate.read(b"a\tX\nb\tY\n\nb\tX\n"), "empirical", all_labels=True)
    assert len(tagger.tag(["a", "b"])) == 2
    with pytest.raises(ModelError, match="2 candidate labels"):
        tagger.marginals(["a", "b"])
