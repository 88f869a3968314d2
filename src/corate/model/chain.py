"""The chain model: a sum of scores, the same for all training methods.

    score(y | x) = start(y_1) + sum_j node_j(y_j) + sum_i edge(y_i, y_i+1) + end(y_n)

Models of the second order also have scores of three labels in a row. Models of graphs have typed edges in place of
those of neighbours; see :mod:`corate.model.graph_scores`.

A node score is the sum of a counted row, a bias per label, and sparse weights of features. The row belongs to the word;
for an unseen word it is a mixture of the levels of a back-off. Edge scores are sparse too. Methods differ in how
they estimate these scores; decoding and storage are the same for all.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace

import numpy as np

from corate import _native, portable_math
from corate.corpus import StringTable
from corate.counting.word_pairs import WordPairCounts
from corate.display import counted
from corate.errors import DataError, ModelError
from corate.features.vocabulary import Vocabulary
from corate.label_pairs import FORBIDDEN, EdgeScores
from corate.label_parts import LabelParts
from corate.model.graph_scores import GraphScores, NodeFeatures
from corate.rows import SparseRows
from corate.types import F32, F64

__all__ = ["ChainModel", "UnseenRule", "WordPairs"]


#: The log-probability of a label pair that a pair of words was not seen with.
PAIR_FLOOR = float(portable_math.log(1e-6))


@dataclass(frozen=True)
class UnseenRule:
    """How the row of an unseen word is mixed from label shares of its contexts; see ``native/decoding/engine.h``.

    ``k`` has the smoothing constant of each level. The scores are ``scale * log P(y) + shift``, for labels at least
    ``threshold`` times as probable as the best label, and at most ``cap`` of them.
    """

    k: tuple[float, ...]
    scale: float
    shift: float
    threshold: float
    cap: int


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Edges that depend on pairs of words: ``scale * log P(y, y' | x, x')`` minus the scores of both nodes.

    The probabilities come from the counts. A label pair that a pair of words was not seen with has ``PAIR_FLOOR``. See
    ``native/chain/lattice.h``.
    """

    counts: WordPairCounts
    scale: float = 1.0

    def native(self, vocabulary: Vocabulary, level: int, n_labels: int) -> _native.EdgeFeatureWeights:
        """The scores of the pairs of words, whose classes are the values of the function ``level``."""
        pairs = self.counts.native(vocabulary.map.values_of(level), n_labels)
        # Half of FORBIDDEN: sums of scores round, and no edge score comes close to it.
        return _native.EdgeFeatureWeights(pairs, self.scale, PAIR_FLOOR, FORBIDDEN / 2 * self.scale)


@dataclass(frozen=True, eq=False)
class ChainModel:
    """The scores of a chain model, by the ids of a vocabulary.

    ``rows`` has a row for each known word, then for each context of each level (starting at ``level_bases``), and
    finally the prior. The rows of contexts and of the prior hold label shares, from which ``unseen`` makes the rows of
    unseen words. In models of corate 0.1 they hold scores, and ``unseen`` is None: the row of the most specific context
    counts. Without rows, every label is a candidate everywhere or, with ``by_features``, every label that a feature of
    the token has a weight for (all of them if there is none). ``weights`` has a row for each feature. So has
    ``edge_weights`` if edges depend on the observation; its labels are `LabelPairs`. With ``parts``,
    ``weights`` also has scores of parts of labels: its label K + p is part p. With ``word_pairs``, edges depend on the
    words. Then the first level gives the classes of words, and ``edges`` are for pairs of words without a probability.
    With ``graph``, the model is for graphs: it has typed edges, and those of sentences score zero.
    """

    labels: StringTable
    edges: EdgeScores
    weights: SparseRows
    bias: F32
    rows: SparseRows = field(default_factory=SparseRows)
    levels: tuple[int, ...] = ()
    level_bases: tuple[int, ...] = ()
    word_column: int = 0
    all_labels: bool = False
    floor: float = -12.0
    edge_weights: SparseRows = field(default_factory=SparseRows)
    unseen: UnseenRule | None = None
    parts: LabelParts | None = None
    by_features: bool = False
    word_pairs: WordPairs | None = None
    graph: GraphScores | None = None

    @classmethod
    def of_graphs(cls, labels: StringTable, weights: SparseRows, bias: F32, graph: GraphScores) -> ChainModel:
        """A model of graphs."""
        size = len(labels) + 1
        return cls(labels, EdgeScores.of_dense(np.zeros((size, size), np.float32)), weights, bias, graph=graph)

    def check_graph(self, vocabulary: Vocabulary) -> None:
        """Raise ModelError if the parts of a model of graphs do not fit together."""
        graph, k = self.graph, len(self.labels)
        assert graph is not None
        weights, tables = self.weights, [own.table for own in graph.edges]
        places = weights.owners * k + weights.labels
        fits = (
            k > 0
            and len(weights) == int(vocabulary.bases[-1])
            and self.bias.shape == (k,)
            and graph.vectors.shape[1:] == (k,)
            and (not graph.given or (len(weights), len(graph.vectors)) == (0, k))
            and int(weights.labels.max(initial=0)) < k
            and bool((places[1:] > places[:-1]).all())
            and all(own.table.shape == own.weights.shape[1:] == (k, k) for own in graph.edges)
            and len({own.type for own in graph.edges}) == len(tables)
        )
        if not fits:
            raise ModelError("the model's labels, features and edges do not fit together; train it again")
        finite = (self.bias, weights.scores, graph.vectors, *tables, *(own.weights for own in graph.edges))
        if not all(np.isfinite(values).all() for values in finite):
            raise ModelError("the model has scores that are not finite; train it again")

    def node_scores(self, features: NodeFeatures, threads: int = 1) -> F64:
        """log P(label) of each node of graphs by its features, ``(nodes, labels)``."""
        assert self.graph is not None
        k, width = len(self.labels), len(self.graph.vectors)
        given = 0 if features.vectors is None else features.vectors.shape[1]
        if given != width:
            raise DataError(
                f"nodes have {counted(given, 'vector column')}, but {width} in training",
                "give the same vectors as in training",
            )
        weights = np.zeros((features.n_names + width + 1, k))
        weights[self.weights.owners, self.weights.labels] = self.weights.scores
        weights[features.n_names :] = np.concatenate([self.graph.vectors.reshape(width, k), self.bias[None]])
        scores = features.model(k).scores(weights.ravel(), True, threads).astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
        if len(wrong):
            raise DataError(
                f"the scores of node {int(wrong[0])} are too large for 32 bits",
                "give its features and vectors in the units of the training data",
            )
        return scores

    @property
    def locally_normalised(self) -> bool:
        """Whether the model is a maximum entropy Markov model, with scores log P(y' | y, x)."""
        return self.edges.local

    @property
    def order(self) -> int:
        """The number of previous labels that the score of a label depends on."""
        return 2 if len(self.edges.triples) else 1

    def with_row_weight(self, weight: float) -> ChainModel:
        """The model with the scores of its rows multiplied."""
        if self.unseen is None:
            return replace(self, rows=self.rows.scaled(weight))
        scores = self.rows.scores.copy()
        scores[: self.rows.offsets[self.level_bases[0]]] *= np.float32(weight)
        rule = replace(self.unseen, scale=weight * self.unseen.scale, shift=weight * self.unseen.shift)
        return replace(self, rows=replace(self.rows, scores=scores), unseen=rule)

    def scaled(self, factor: float) -> ChainModel:
        """The model with all its scores multiplied. The best labellings stay the same, unless they are tied."""
        return replace(
            self.with_row_weight(factor),
            edges=self.edges.scaled(factor),
            weights=self.weights.scaled(factor),
            bias=self.bias * np.float32(factor),
            edge_weights=self.edge_weights.scaled(factor),
            floor=self.floor * factor,
            word_pairs=None
            if self.word_pairs is None
            else replace(self.word_pairs, scale=factor * self.word_pairs.scale),
        )

    def edge_features(self, vocabulary: Vocabulary) -> _native.EdgeFeatureWeights | None:
        """The scores of edge features, or of pairs of words; None if edges depend on labels only.

        Raises ModelError if the pairs of words do not fit the model.
        """
        if self.word_pairs is None:
            return _native.EdgeFeatureWeights(*self.edge_weights.arrays()) if len(self.edge_weights) else None
        try:
            return self.word_pairs.native(vocabulary, self.levels[0], len(self.labels))
        except (ValueError, IndexError) as error:
            raise ModelError(f"the model's pairs of words do not fit together: {error}; train it again") from None

    def engine(
        self,
        vocabulary: Vocabulary,
        names: _native.AttributeNames | None = None,
        edge_features: _native.EdgeFeatureWeights | None = None,
    ) -> _native.Engine:
        """The native tagging engine of the model and its edge features; raises ModelError if parts do not fit."""
        scored = (self.rows, self.weights, self.edge_weights, self.edges, self.edges.triples)
        finite = (self.bias, self.edges.row, self.edges.col, *(own.scores for own in scored))
        if not all(np.isfinite(values).all() for values in finite):
            raise ModelError("the model has scores that are not finite; train it again")
        row, col = self.edges.row.astype(np.float64), self.edges.col.astype(np.float64)
        highest = row.max(initial=0) * col.max(initial=0)
        if min(row.min(initial=0), col.min(initial=0)) < 0 or highest > float(np.finfo(np.float32).max):
            raise ModelError("the model's rates of label pairs are out of range; train it again")
        features = int(vocabulary.bases[-1])
        if len(self.weights) != features or len(self.edge_weights) not in (0, features):
            raise ModelError("the model's weights do not fit its features; train it again")
        if not vocabulary.columns and vocabulary.attributes is None:
            raise ModelError("the model uses no columns and no ready-made features; train it again")
        if self.edges.n_labels != len(self.labels) or not (np.abs([self.floor, self.edges.weight]) < 1e9).all():
            raise ModelError("the model's labels and edge scores do not fit together; train it again")
        try:
            return _native.Engine(
                vocabulary.map,
                self.edges.native(),
                self.bias,
                self.word_column,
                self.rows.arrays(),
                list(self.levels),
                list(self.level_bases),
                self.weights.arrays(),
                self.edge_weights.arrays(),
                vocabulary.n_attributes,
                self.all_labels,
                self.by_features,
                self.floor,
                None if self.unseen is None else astuple(self.unseen),
                None if self.parts is None else self.parts.arrays(),
                names,
                self.labels.to_list(),
                None if self.word_pairs is None else edge_features,
            )
        except (ValueError, IndexError) as error:
            raise ModelError(f"the model's parts do not fit together: {error}; train it again") from None
