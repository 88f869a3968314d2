"""Base scores and initial weights of a training run: the interface of its two implementations.

    node_j(y) = base_j(y) + W f_j        edge(y, y') = T(y, y') + U g(y, y')

:class:`~corate.training.start_from_counts.InitialScoresFromCounts` counts a corpus. Its base scores are empirical
scores, or zero. :class:`~corate.training.start_from_model.InitialScoresFromModel` trains a saved model further: its
base scores are the counted rows of the model, and its initial weights are the weights of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corate.corpus import StringTable
from corate.counting.backoff import BackoffTables
from corate.counting.counts import PairCounts, Tokens, TokenStore
from corate.counting.pooling import Candidates, Features
from corate.errors import DataError
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import ChainWeights
from corate.label_parts import LabelParts
from corate.model.chain import ChainModel
from corate.progress import OnProgress, ignore_progress
from corate.rows import LabelRows, SparseRows, distinct
from corate.training.lattice_costs import LatticeCosts
from corate.types import F32, Csr

__all__ = ["HeldOutSet", "InitialScores", "RunContext", "with_bias"]


@dataclass(frozen=True)
class RunContext:
    """What all training runs have: threads, a seed, and a function that receives progress events."""

    threads: int = 1
    seed: int = 0
    progress: OnProgress = ignore_progress


@dataclass(frozen=True, eq=False)
class HeldOutSet:
    """Held-out tokens, and the tables for their candidates."""

    tokens: Tokens
    tables: BackoffTables | None


class InitialScores(ABC):
    """Base scores and initial weights, from a counted corpus or from a model."""

    fresh: bool  # whether weights are trained from counts, and not those of a model further
    base: str  # the kind of the base scores, "none" for a model
    unexplained: float = 1.0  # the share of the entropy of left-out labels that the base pooled does not explain
    full: bool  # whether all labels are candidates everywhere
    costs: LatticeCosts | None = None  # the costs that this was chosen by, if it was
    word: str | None  # the column that holds the words
    labels: StringTable
    vocabulary: Vocabulary
    tokens: TokenStore
    pairs: PairCounts
    totals: NDArray[np.int64]  # how often each feature was seen
    node_templates: NDArray[np.bool_]
    edge_templates: NDArray[np.bool_]

    parts: LabelParts | None  # the parts of labels that have weights

    @property
    @abstractmethod
    def slots(self) -> LabelRows:
        """The (feature, column) pairs that have a weight; the last row is the bias, with one for every column."""

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """The number of columns of weights: labels, then parts."""
        return self.n_labels + (0 if self.parts is None else len(self.parts))

    def node_and_bias(self, weights: SparseRows) -> tuple[SparseRows, F32]:
        """The weights of features, and the bias of each label, from the weights of slots."""
        n = len(weights.labels) - self.n_columns
        bias = weights.scores[n:]
        node = SparseRows(weights.offsets[:-1], weights.labels[:n], weights.scores[:n])
        return node, bias if self.parts is None else self.parts.folded(bias)

    def features(self, tokens: Tokens, cutoff: int = 1) -> tuple[Csr, F32 | None]:
        """Node features of tokens that were seen at least ``cutoff`` times, and the bias."""
        bias = len(self.totals)  # the last row of the slots
        found = Features.of(tokens, self.vocabulary.bases, self.node_templates, kept=self.kept(cutoff), last=bias)
        return found.arrays(), found.values

    def kept(self, cutoff: int) -> NDArray[np.bool_] | None:
        """Which features were seen at least ``cutoff`` times; None for all."""
        return self.totals >= cutoff if cutoff > 1 else None

    def weighted(
        self, label_weights: Mapping[str, float] | None, sentence_weights: Sequence[float] | None
    ) -> TokenStore:
        """The tokens with weights: the weight of a token is that of its sentence times that of its label."""
        if label_weights is None and sentence_weights is None:
            return self.tokens
        assert isinstance(self.tokens, Tokens)  # tokens on disk have no weights
        of_labels = self.label_weights(label_weights)
        lengths, labels = np.diff(self.tokens.offsets), self.tokens.labels
        of_sentences = np.ones(len(lengths)) if sentence_weights is None else np.asarray(sentence_weights, dtype=float)
        if of_sentences.shape != lengths.shape:
            raise DataError(f"{len(lengths)} sentences but {of_sentences.size} sentence weights")
        found = np.where(labels < 0, 1.0, of_labels[labels]) * np.repeat(of_sentences, lengths)
        if not np.isfinite(found).all() or (found < 0).any() or not (found > 0).any():
            raise DataError("weights of labels and sentences must be finite and not negative, and at least one above 0")
        given = None if sentence_weights is None else of_sentences.astype(np.float32)
        return replace(self.tokens, weights=found.astype(np.float32), sentence_weights=given)

    def label_weights(self, given: Mapping[str, float] | None) -> NDArray[np.float64]:
        """The weight of each label, 1 for those not named."""
        weights = np.ones(self.n_labels)
        names = {name: i for i, name in enumerate(self.labels.to_list())}
        for label, weight in (given or {}).items():
            if label not in names:
                raise DataError(f"there is no label {label!r} to weight; there are {', '.join(list(names)[:20])}")
            weights[names[label]] = weight
        return weights

    def sample(self, tokens: TokenStore, size: int) -> NDArray[np.int64]:
        """Sentences of about ``size`` tokens, in blocks spread over the corpus, without sentences of weight 0."""
        every = tokens.filled()
        want = size / max(1, int(tokens.offsets[-1])) * (len(tokens.offsets) - 1)
        if want >= len(every):
            return every
        blocks = 100
        starts = (np.arange(blocks) / blocks * len(every)).astype(np.int64)
        return every[distinct((starts[:, None] + np.arange(max(1, round(want / blocks)))) % len(every))]

    @abstractmethod
    def tables(self) -> BackoffTables | None:
        """The tables for the base scores."""

    def forget_tables(self) -> None:
        """Free the memory of the tables, which are made again if they are needed."""
        return

    @abstractmethod
    def held_out_set(self) -> HeldOutSet | None:
        """The held-out sentences that the user gave, None without any."""

    @abstractmethod
    def candidates(
        self,
        tokens: Tokens,
        tables: BackoffTables | None,
        temper: float,
        *,
        training: bool,
        full: bool = False,
        cutoff: int = 1,
    ) -> Candidates:
        """The candidate labels of tokens with their base scores times ``temper``.

        In ``training`` a token is left out of its own counts, and its label is a candidate. Features seen less than
        ``cutoff`` times are left out.
        """

    @abstractmethod
    def initial_weights(self, temper: float, edge: float) -> ChainWeights:
        """The weights that training starts from."""

    @abstractmethod
    def model(
        self, temper: float, weights: SparseRows, edges: F32, extra: SparseRows, *, full: bool = False
    ) -> ChainModel:
        """The chain model of trained weights, including the base scores. ``weights`` has those of the slots."""


def with_bias(rows: Csr, n_columns: int) -> LabelRows:
    """Slots for rows of columns, and one for each column for the bias, which is the last feature."""
    bias = LabelRows(np.array([0, n_columns]), np.arange(n_columns, dtype=np.int32))
    return LabelRows.joined([LabelRows(*rows), bias])
