"""The estimator of graphs: `GraphTagger`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from corate.corpus import Corpus
from corate.corpus.graph_edges import UNTYPED, is_many
from corate.errors import ConfigError, DataError
from corate.model.constraints import Constraints
from corate.model.graph_lattice import GraphLattice
from corate.model.tagger import Tagger
from corate.training.methods import resolve_method
from corate.training.train import train

__all__ = ["GraphTagger"]


class GraphTagger(BaseEstimator):
    """A scikit-learn estimator that labels the nodes of graphs.

    Graphs are given as for :meth:`corate.Corpus.from_graphs`: ``x`` has the features of nodes, and ``y`` their labels,
    of which some may be unknown (None, -1 or NaN). So ``x`` may hold a whole graph of which few nodes have labels. If
    ``edges`` is a list or a tuple, there are many graphs, and ``x``, ``y`` and the results are lists, too.

    Args:
        nodes: a classifier of scikit-learn that scores nodes without their edges; the estimator fits copies of it. By
            default, a regression on the features of nodes.
        method: the training method: ``"polish"``, ``"separate"`` or ``"standard"``.
        symmetric: the types of edges that have no direction.
        threads: the number of threads. The result does not depend on it.
        seed: the random seed: which nodes are held out.
        options: options of the method by name, such as ``{"c2": 0.1}``. None means the defaults.

    Attributes:
        tagger_: the trained :class:`corate.Tagger`.
        classes_: an array of the labels, sorted: whole numbers if ``y`` has whole numbers, otherwise texts.

    >>> edges = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
    >>> x = np.array([[0.9], [1.1], [0.2], [-1.0], [-0.8], [0.1]])
    >>> estimator = GraphTagger(method="separate").fit(x, [1, 1, None, 0, 0, None], edges=edges)
    >>> estimator.classes_, estimator.predict(x, edges=edges).tolist()
    (array([0, 1]), [1, 1, 1, 0, 0, 0])
    >>> estimator.predict_proba(x, edges=edges).shape
    (6, 2)
    """

    tagger_: Tagger
    classes_: NDArray[Any]

    def __init__(
        self,
        nodes: Any = None,
        method: str = "polish",
        *,
        symmetric: Iterable[str] = (),
        threads: int = 1,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.nodes = nodes
        self.method = method
        self.symmetric = symmetric
        self.threads = threads
        self.seed = seed
        self.options = options

    def fit(self, x: Any, y: Any, *, edges: Any, edge_features: Any = None) -> GraphTagger:
        """Train on nodes with their edges; returns the estimator."""
        if not isinstance(self.method, str):
            raise ConfigError(
                f"method must be the name of a method, such as 'polish', not {self.method!r}; its options are in "
                "options=",
                option="method",
            )
        if y is None:
            raise DataError("y is missing; give a label for each node, None for unknown ones")
        method = resolve_method(self.method, dict(self.options or {}))
        corpus = self._corpus(x, y, edges, edge_features, training=True)
        names = {str(value): value for value in _values(y, is_many(edges))}
        self.tagger_ = train(corpus, method, nodes=self.nodes, threads=self.threads, seed=self.seed)
        labels = [names.get(label, label) for label in self.tagger_.labels]
        whole = all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels)
        self._labels = np.array(labels, dtype=np.int64) if whole else np.array(self.tagger_.labels, dtype=object)
        self._order = np.argsort(self._labels, kind="stable")
        self.classes_ = self._labels[self._order]
        return self

    def predict(self, x: Any, *, edges: Any, edge_features: Any = None, known: Any = None) -> Any:
        """The label of each node: an array, or a list of arrays for many graphs. ``known`` is as in `predict_proba`."""
        lattice = self._lattice(x, edges, edge_features, known)
        return _by_graph(self._labels[lattice.label_ids()], lattice, edges)

    def predict_proba(self, x: Any, *, edges: Any, edge_features: Any = None, known: Any = None) -> Any:
        """The probability of each label at each node: ``(nodes, labels)``, or a list of such arrays for many graphs.

        The columns are in the order of ``classes_``. ``known`` has the labels that are known, in the form of ``y``; the
        probabilities are those given these labels.
        """
        lattice = self._lattice(x, edges, edge_features, known)
        return _by_graph(lattice.label_marginals()[:, self._order], lattice, edges)

    def score(self, x: Any, y: Any, *, edges: Any, edge_features: Any = None) -> float:
        """The accuracy: the fraction of nodes whose label is right. Nodes whose label is unknown are left out."""
        tagger = self._fitted()
        gold = self._corpus(x, y, edges, edge_features).require_labels().values()
        predicted = [tagger.labels[i] for i in self._lattice(x, edges, edge_features, None).label_ids().tolist()]
        right = [ours == label for label, ours in zip(gold, predicted, strict=True) if label is not None]
        if not right:
            raise DataError("y has no known label; give some to evaluate on")
        return float(np.mean(right))

    def _lattice(self, x: Any, edges: Any, edge_features: Any, known: Any) -> GraphLattice:
        tagger = self._fitted()
        corpus = self._corpus(x, known, edges, edge_features)
        constraints = None
        if known is not None and corpus.labels is not None:
            labels = corpus.labels.values()
            graphs = (labels[a:b] for a, b in pairwise(corpus.offsets.tolist()))
            constraints = [
                Constraints(labels={v: {label} for v, label in enumerate(own) if label is not None}) for own in graphs
            ]
        return tagger.graph_lattice(corpus, threads=self.threads, constraints=constraints)

    def _corpus(self, x: Any, y: Any, edges: Any, edge_features: Any, *, training: bool = False) -> Corpus:
        """A corpus. Graphs to label need not have all symmetric types."""
        symmetric = {self.symmetric} if isinstance(self.symmetric, str) else set(self.symmetric)
        if not training:
            each = edges if is_many(edges) else [edges]
            symmetric &= {name for own in each for name in (own if isinstance(own, Mapping) else (UNTYPED,))}
        return Corpus.from_graphs(x, y, edges=edges, edge_features=edge_features, symmetric=symmetric)

    def _fitted(self) -> Tagger:
        check_is_fitted(self, "tagger_")
        return self.tagger_

    # A pickle of a tagger has no classifier, as its bytes are those of the model file.
    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        tagger: Tagger | None = state.get("tagger_")
        if tagger is not None:
            state |= {"tagger_": replace(tagger, classifier=None), "_classifier": tagger.classifier}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = {name: value for name, value in state.items() if name != "_classifier"}
        super().__setstate__(kept)
        if state.get("_classifier") is not None:
            self.tagger_ = replace(self.tagger_, classifier=state["_classifier"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        return tags


def _values(y: Any, many: bool) -> Iterable[Any]:
    """The known labels as they are written, of one graph or of many. Whole numbers beside NaN are whole."""
    for own in y if many else [y]:
        for value in [] if own is None else np.asarray(own).tolist() if hasattr(own, "__array__") else own:
            if isinstance(value, float | np.floating):
                yield int(value) if float(value).is_integer() else None
            else:
                yield value


def _by_graph(rows: NDArray[Any], lattice: GraphLattice, edges: Any) -> Any:
    """The rows of the one graph, or a list with those of each graph."""
    return np.split(rows, lattice.sentences[1:-1]) if is_many(edges) else rows
