"""Scorers for scikit-learn's ``cross_val_score``, ``GridSearchCV`` and the like."""

from __future__ import annotations

from sklearn.metrics import make_scorer

from corate.compat.sklearn_crfsuite.metrics import flat_accuracy_score, sequence_accuracy_score

__all__ = ["flat_accuracy", "sequence_accuracy"]

flat_accuracy = make_scorer(flat_accuracy_score)
sequence_accuracy = make_scorer(sequence_accuracy_score)
