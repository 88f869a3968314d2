"""scikit-learn estimators of sequences and of graphs. They need scikit-learn 1.3 or newer (the extra ``sklearn``)."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "corate.sklearn needs scikit-learn; install it with: pip install 'corate[sklearn]'", name=error.name
    ) from error

from corate.sklearn.estimator import LabelLists, SequenceTagger
from corate.sklearn.graph_estimator import GraphTagger

__all__ = ["GraphTagger", "LabelLists", "SequenceTagger"]
