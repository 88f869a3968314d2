"""Scores of labelled sequences. Those that begin with ``flat_`` are scikit-learn's, for the items of all sequences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn import metrics

from corate.compat.sklearn_crfsuite.utils import flatten

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]

Labels = Iterable[Iterable[str]]


def flat_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """The share of items with the right label.

    >>> flat_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]]) == 2 / 3
    True
    """
    return float(metrics.accuracy_score(flatten(y_true), flatten(y_pred)))


def flat_precision_score(y_true: Labels, y_pred: Labels, **kwargs: Any) -> Any:
    """The precision of the labels of items."""
    return metrics.precision_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_recall_score(y_true: Labels, y_pred: Labels, **kwargs: Any) -> Any:
    """The recall of the labels of items."""
    return metrics.recall_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_f1_score(y_true: Labels, y_pred: Labels, **kwargs: Any) -> Any:
    """The F1 of the labels of items."""
    return metrics.f1_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_fbeta_score(y_true: Labels, y_pred: Labels, beta: float, **kwargs: Any) -> Any:
    """The F-beta of the labels of items."""
    return metrics.fbeta_score(flatten(y_true), flatten(y_pred), beta=beta, **kwargs)


def flat_classification_report(y_true: Labels, y_pred: Labels, labels: Any = None, **kwargs: Any) -> Any:
    """Precision, recall and F1 of each label: scikit-learn's report, as text or as a dict."""
    return metrics.classification_report(flatten(y_true), flatten(y_pred), labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """The share of sequences whose labels are all right; 0 if there are no sequences.

    >>> sequence_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    0.5
    """
    right = [list(true) == list(predicted) for true, predicted in zip(y_true, y_pred, strict=True)]
    return sum(right) / max(len(right), 1)
