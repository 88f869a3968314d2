"""The base class of estimators, under the name that sklearn-crfsuite has for it."""

from __future__ import annotations

from sklearn.base import BaseEstimator

__all__ = ["BaseEstimator"]
