"""Corate trains conditional random fields in seconds, one factor at a time."""

from corate.corpus import Corpus
from corate.errors import CorateError, DataError, FeatureError, ModelError

__all__ = ["CorateError", "Corpus", "DataError", "FeatureError", "ModelError"]
__version__ = "0.1.0"
