"""Pickles of version 0.2 name this module; see `corate.model.weights`."""

from corate.model.weights import FeatureWeight, LabelPair

__all__ = ["FeatureWeight", "LabelPair"]
