"""Classifiers of scikit-learn, or others with the same methods, as the node factors of graphs.

The corpus gets the classifier's log-probabilities of each node, by a copy of it that has not seen the node's label, and
the tagger gets a classifier that is fitted to all labels. It is not stored with the model: it is code.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.display import counted
from corate.errors import Argument, ConfigError, DataError
from corate.rows import distinct, offsets_of
from corate.strings import StringTable
from corate.training.graph_nodes import floored, folds_of
from corate.types import F64

__all__ = ["ClassifierNodes", "with_classifier"]


def with_classifier(corpus: Corpus, nodes: Any, seed: int) -> tuple[Corpus, ClassifierNodes | None]:
    """The corpus with log-probabilities of nodes, and the fitted classifier; None where they are given.

    ``nodes`` is None, ``"given"`` or a classifier.
    """
    if corpus.edges is None:
        raise ConfigError(
            "nodes is for graphs, and the corpus has no edges",
            "make it with Corpus.from_graphs, or read it with edges='chain'",
            option="nodes",
        )
    if isinstance(nodes, str):
        if nodes != "given":
            raise ConfigError(f"nodes must be a classifier or 'given', not {nodes!r}", option="nodes")
        if corpus.node_log_probs is None:
            raise DataError("the corpus has no log-probabilities of nodes", "give node_log_probs to Corpus.from_graphs")
        return corpus, None
    for method in ("fit", "predict_proba"):
        if not callable(getattr(nodes, method, None)):
            raise ConfigError(
                f"nodes needs a classifier with fit and predict_proba, and {type(nodes).__name__} has no {method}",
                "choose another classifier, or wrap it in sklearn.calibration.CalibratedClassifierCV",
                option="nodes",
            )
    column = corpus.require_labels()
    names, labels = column.strings.to_list(), column.ids
    features = None if corpus.attributes is None else corpus.attributes.names
    known, matrix = labels >= 0, matrix_of(corpus, features)
    final = replace(ClassifierNodes.fitted(nodes, matrix, labels, known, names), features=features)
    found = final.scores(matrix, names)
    folds, _ = folds_of(corpus.offsets, labels, seed)
    for fold in distinct(folds[known].astype(np.int64)).tolist():
        rest, held_out = known & (folds != fold), known & (folds == fold)
        if rest.any():
            own = ClassifierNodes.fitted(nodes, matrix, labels, rest, names)
            found[held_out] = own.scores(matrix[np.flatnonzero(held_out)], names)
    return replace(corpus, node_log_probs=found), final


def matrix_of(corpus: Corpus, features: StringTable | None) -> Any:
    """The features of nodes as the matrix that classifiers take: dense, or sparse where nodes have named features.

    ``features`` are the names of the columns of named features; others are left out.
    """
    if (corpus.attributes is None) != (features is None):
        have, needs = ("no", "has") if corpus.attributes is None else ("", "has no")
        raise DataError(
            f"the nodes have {have} named features, and the training data {needs} some".replace("  ", " "),
            "give the same features as in training",
        )
    if corpus.attributes is None or features is None:
        if corpus.vectors is None:
            raise DataError(
                "a classifier needs vectors or features of nodes",
                f"give x to Corpus.from_graphs, or leave {Argument('nodes')} unset, so that columns are features",
            )
        return corpus.vectors
    try:
        from scipy import sparse
    except ImportError:
        raise ConfigError("a classifier of named features needs SciPy; install scipy", option="nodes") from None
    attributes = corpus.attributes
    values = np.ones(len(attributes.ids), np.float32) if attributes.values is None else attributes.values
    columns = features.find(attributes.names)[attributes.ids]
    known = columns >= 0
    offsets = offsets_of(known)[attributes.offsets]
    shape = (corpus.n_tokens, len(features))
    names = sparse.csr_matrix((values[known], columns[known], offsets), shape=shape)
    return names if corpus.vectors is None else sparse.hstack([names, corpus.vectors]).tocsr()


@dataclass(frozen=True, eq=False)
class ClassifierNodes:
    """A fitted classifier, the label of each of its classes, and the names of its columns, if they have any."""

    classifier: Any
    classes: tuple[str, ...]
    width: int
    features: StringTable | None = None

    @classmethod
    def fitted(
        cls, classifier: Any, matrix: Any, labels: NDArray[Any], nodes: NDArray[np.bool_], names: Sequence[str]
    ) -> ClassifierNodes:
        """A copy of the classifier, fitted to some nodes."""
        chosen = np.flatnonzero(nodes)
        own = deepcopy(classifier)
        own.fit(matrix[chosen], np.array([names[y] for y in labels[chosen].tolist()]))
        classes = tuple(str(label) for label in getattr(own, "classes_", ()))
        if not set(classes) <= set(names) or not classes:
            raise ConfigError(
                f"the classes_ of the classifier are {', '.join(map(repr, classes[:5])) or 'missing'}, and not labels "
                "of the corpus",
                option="nodes",
            )
        return cls(own, classes, matrix.shape[1])

    def scores(self, matrix: Any, names: Sequence[str]) -> F64:
        """Log-probabilities of labels, ``(nodes, labels)``, in the order of ``names``."""
        if matrix.shape[1] != self.width:
            raise DataError(
                f"nodes have {counted(matrix.shape[1], 'feature')}, but {self.width} in training",
                "give the same features as in training",
            )
        found = np.zeros((matrix.shape[0], len(names)))
        given = np.asarray(self.classifier.predict_proba(matrix), np.float64)
        if given.shape != (matrix.shape[0], len(self.classes)) or not np.isfinite(given).all():
            raise DataError(
                f"predict_proba of the classifier returned an array of shape {given.shape}, or numbers that are not "
                f"finite; {(matrix.shape[0], len(self.classes))} is needed"
            )
        found[:, [list(names).index(label) for label in self.classes]] = given
        return floored(found)

    def with_scores(self, corpus: Corpus, names: Sequence[str]) -> F64:
        """The log-probabilities of the nodes of a corpus."""
        return self.scores(matrix_of(corpus, self.features), names)
