"""The features that CRFsuite generates for a corpus, and the sentences to train their weights on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.corpus import Attributes, Corpus, StringTable
from corate.errors import DataError
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import EdgeScores, LabelPairs
from corate.model.chain import ChainModel
from corate.model.tagger import Tagger
from corate.rows import LabelRows, SparseRows, offsets_of
from corate.types import F32, Csr, Ids

__all__ = ["CrfsuiteProblem", "GeneratedFeatures"]


@dataclass(frozen=True)
class GeneratedFeatures:
    """The size of a model before it is trained. ``features`` counts the weights of attributes and of label pairs."""

    attributes: int
    labels: int
    features: int
    seconds: float


@dataclass(frozen=True, eq=False)
class CrfsuiteProblem:
    """The weights of a model, and the sentences to train them on."""

    names: StringTable
    labels: StringTable
    slots: Csr  # the labels of each attribute that have a weight
    free: NDArray[np.uint8]  # the label pairs that have a weight, (K + 1) x (K + 1)
    sentences: NDArray[np.int64]  # those that have tokens
    offsets: NDArray[np.int64]
    features: Csr
    chains: _native.Chains
    threads: int

    @classmethod
    def of(cls, corpus: Corpus, loss: str, p: Mapping[str, Any], threads: int) -> CrfsuiteProblem:
        """The features that CRFsuite generates for a corpus."""
        attributes, column = corpus.attributes, corpus.require_labels()
        assert attributes is not None
        k, gold = len(column.strings), column.ids
        slots = _slots(attributes, gold, k, p["feature.minfreq"], all_labels=p["feature.possible_states"])
        free = _free_pairs(corpus.offsets, gold, k, p["feature.minfreq"], all_pairs=p["feature.possible_transitions"])
        if not len(slots[1]) and not free.any():
            raise DataError("no feature is left to train; give features, or lower feature.minfreq")
        features, values = _without_zeros(attributes)
        chains = _chains(loss, k, corpus.offsets, slots, features, values, gold, free)
        sentences = np.flatnonzero(np.diff(corpus.offsets) > 0)
        return cls(attributes.names, column.strings, slots, free, sentences, corpus.offsets, features, chains, threads)

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.labels)

    def generated(self, seconds: float) -> GeneratedFeatures:
        """The numbers of attributes, labels and weights."""
        weights = len(self.slots[1]) + int(np.count_nonzero(self.free))
        return GeneratedFeatures(len(self.names), self.n_labels, weights, seconds)

    def visits(self) -> NDArray[np.int64]:
        """How many times tokens have each attribute."""
        return _native.occurrences(self.features[1], len(self.names))

    def labeller(self, corpus: Corpus) -> Callable[[F32], Ids]:
        """A function that returns the best labels of another corpus."""
        ready = corpus.attributes
        if ready is None:
            raise DataError("the held-out corpus has no ready-made features; make it with Corpus.from_features")
        if ready.names is not self.names:
            ready = _renamed(ready, self.names)
        features, values = _without_zeros(ready)
        gold = np.zeros(corpus.n_tokens, np.int32)
        chains = _chains("perceptron", self.n_labels, corpus.offsets, self.slots, features, values, gold, self.free)
        return lambda weights: chains.best(weights, self.threads)

    def tagger(self, weights: F32, record: dict[str, Any]) -> Tagger:
        """The tagger of trained weights, without weights of zero and attributes without weights."""
        table, node = np.split(weights, [self.free.size])
        rows = SparseRows(*self.slots, np.ascontiguousarray(node)).compacted()
        used = np.flatnonzero(rows.lengths)
        vocabulary = replace(Vocabulary.of([]), attributes=self.names.take(used))
        edges = EdgeScores.of_dense(table.reshape(self.free.shape))
        model = ChainModel(self.labels, edges, rows.take(used), np.zeros(self.n_labels, np.float32), all_labels=True)
        record["features"] = len(used)
        return Tagger(vocabulary, model, record, ())


def _chains(
    loss: str,
    k: int,
    offsets: NDArray[np.int64],
    slots: Csr,
    features: Csr,
    values: F32 | None,
    gold: Ids,
    free: NDArray[np.uint8],
) -> _native.Chains:
    return _native.Chains(loss, k, offsets, (slots, features), values, None, None, gold, None, None, free.ravel())


def _slots(attributes: Attributes, gold: Ids, k: int, least: float, *, all_labels: bool) -> Csr:
    """The labels of each attribute that have a weight: those whose summed values reach ``least``."""
    n, of_tokens = len(attributes.names), np.repeat(gold, attributes.lengths)
    offsets, labels, counts = _native.count_table(attributes.ids, of_tokens, n, k)
    slots = LabelRows(offsets, labels)
    sums, values = counts.astype(np.float64), attributes.values
    if values is not None and (least > 0 or (values < 0).any()):
        places = np.searchsorted(slots.keys(k), attributes.ids.astype(np.int64) * k + of_tokens)
        sums = np.bincount(places, values, minlength=len(labels)).astype(np.float64)
    if all_labels and least <= 0:
        complete = np.ones((n, k), bool)
        complete[slots.lengths == 0] = False
        complete[slots.owners, labels] = sums >= least
        return offsets_of(complete.sum(axis=1)), np.nonzero(complete)[1].astype(np.int32)
    return slots.where(sums >= least).csr


def _free_pairs(offsets: NDArray[np.int64], gold: Ids, k: int, least: float, *, all_pairs: bool) -> NDArray[np.uint8]:
    """Which label pairs have a weight: those seen at least ``least`` times, (K + 1) x (K + 1)."""
    inside = np.ones(len(gold), bool)
    inside[offsets[:-1][offsets[:-1] < len(gold)]] = False
    after = np.flatnonzero(inside)
    counts = np.bincount(gold[after - 1].astype(np.int64) * k + gold[after], minlength=k * k).reshape(k, k)
    free = np.zeros(LabelPairs(k).shape, np.uint8)
    free[:k, :k] = (counts >= least) & (all_pairs | (counts > 0))
    return free


def _without_zeros(attributes: Attributes) -> tuple[Csr, F32 | None]:
    """The attributes of tokens whose value is not zero, and their values; None if all are 1."""
    values = attributes.values
    if values is not None and not values.all():
        attributes = attributes.where(values != 0)
        values = attributes.values
    return (attributes.offsets, attributes.ids), None if values is None or (values == 1).all() else values


def _renamed(attributes: Attributes, names: StringTable) -> Attributes:
    """The attributes by their ids in another table, without those that it does not contain."""
    ids = names.find(attributes.names)[attributes.ids]
    return replace(attributes, ids=ids, names=names).where(ids >= 0)
