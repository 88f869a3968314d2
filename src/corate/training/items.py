"""Sentences as training items: the arrays of the native ``Chains``, and what stochastic passes need to know of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.counting.counts import Tokens
from corate.optimize.checkpoint import digest_of
from corate.optimize.pieces import Pieces, PiecesInMemory, cut_into_pieces
from corate.types import F32, Csr, Ids, Offsets

if TYPE_CHECKING:
    from corate.training.chains import ChainTraining
    from corate.training.problem import NodeItems
    from corate.training.separate import Sample, SeparateTraining

__all__ = ["IN_MEMORY", "InMemory", "ItemArrays", "ItemStore", "Items", "StepsOf", "Storage"]

Numbers = NDArray[np.int64]
#: The function of the native items that makes the steps of a pass, or the items themselves.
StepsOf = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class ItemArrays:
    """Sentences as arrays: offsets, features, candidates with base scores, gold labels, and edge features of tokens."""

    offsets: Offsets
    features: Csr
    values: F32 | None
    candidates: Csr | None
    base: F32 | None
    gold: Ids
    edges: Csr | None
    sentence_weights: F32 | None = None
    pruned_gold: Numbers | None = None  # labels that pruning lost, as in `Candidates`


class ItemStore(Protocol):
    """What a stochastic run needs of its training items."""

    @property
    def chains(self) -> Any:
        """Makes steps for sentences from anywhere in the corpus."""
        ...

    @property
    def sentences(self) -> Numbers:
        """The numbers of the sentences to visit."""
        ...

    @property
    def pruned_gold(self) -> Numbers | None:
        """The labels that pruning lost, as in `Candidates`; None without pruning."""
        ...

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs."""
        ...

    def edge_visits(self, features: int) -> Numbers:
        """How often each of the edge features occurs."""
        ...

    def in_pieces(self, seed: int, steps_of: StepsOf) -> Pieces | None:
        """The pieces of a large corpus; None for a small one."""
        ...

    def digest(self, initial: F32) -> str:
        """A hash of the items and the initial weights."""
        ...


@dataclass(frozen=True, eq=False)
class Items:
    """Sentences as training items in memory."""

    chains: _native.Chains
    tokens: Tokens
    arrays: ItemArrays

    @property
    def sentences(self) -> Numbers:
        """The sentences that are not empty, and whose tokens do not all have weight 0."""
        found = np.flatnonzero(np.diff(self.tokens.offsets) > 0)
        if self.tokens.weights is not None:
            sums = np.add.reduceat(self.tokens.weights, self.tokens.offsets[:-1][found])
            found = found[sums > 0]
        return found

    @property
    def pruned_gold(self) -> Numbers | None:
        """The labels that pruning lost, as in `Candidates`; None without pruning."""
        return self.arrays.pruned_gold

    def visits(self, features: int) -> Numbers:
        """How often each of the features occurs."""
        return _native.occurrences(self.arrays.features[1], features)

    def edge_visits(self, features: int) -> Numbers:
        """How often each of the edge features occurs."""
        assert self.arrays.edges is not None
        return _native.occurrences(self.arrays.edges[1], features)

    def in_pieces(self, seed: int, steps_of: StepsOf) -> Pieces | None:
        """The pieces of a large corpus; None for a small one."""
        sentences = self.sentences
        pieces = cut_into_pieces(sentences, np.diff(self.tokens.offsets)[sentences], seed)
        return None if pieces is None else PiecesInMemory(steps_of(self.chains), pieces)

    def digest(self, initial: F32) -> str:
        """A hash of the items and the initial weights."""
        tokens, arrays = self.tokens, self.arrays
        return digest_of((*arrays.features, tokens.labels, tokens.offsets, tokens.weights, initial, arrays.base))


class Storage(Protocol):
    """Where the items of a training are: in memory, or on disk (`corate.training.disk.OnDisk`)."""

    def chains(self, training: ChainTraining) -> tuple[ChainTraining, ItemStore]:
        """All sentences as items, and the training on them, which may have no weights of rare features."""
        ...

    def nodes(self, training: SeparateTraining) -> tuple[SeparateTraining, NodeItems, Callable[[], Sample]]:
        """The same for the node model of all tokens; and what returns the sample that pairs are fitted on."""
        ...


class InMemory:
    """Items in memory."""

    def chains(self, training: ChainTraining) -> tuple[ChainTraining, ItemStore]:
        """All sentences as items, and the training on them."""
        return training, training.items(training.tokens.in_memory(), training.start.tables(), training=True)

    def nodes(self, training: SeparateTraining) -> tuple[SeparateTraining, NodeItems, Callable[[], Sample]]:
        """The node model of all tokens, and what returns the sample that pairs are fitted on."""
        problem = training.problem(training.tokens.in_memory(), training.start.tables(), training=True)
        return training, problem, lambda: training.sample(problem)


IN_MEMORY = InMemory()
