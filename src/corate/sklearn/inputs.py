"""From what users of scikit-learn have (words, rows of columns, feature dicts, arrays) to a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus, listed
from corate.display import counted
from corate.errors import DataError

__all__ = ["read_labels", "read_like", "read_sentences"]


def read_labels(y: Iterable[Iterable[str]] | None, name: str = "y") -> Iterable[Iterable[str]]:
    """The labels; raises DataError if there are none."""
    if y is None:
        raise DataError(f"{name} is missing; give a list of labels for each sentence")
    sentences = listed(y, name, "lists of labels")
    return [labels.tolist() if isinstance(labels, np.ndarray) else labels for labels in sentences]


def read_sentences(
    X: Iterable[Any], y: Iterable[Iterable[str]] | None, columns: Sequence[str] | None, *, rows: bool
) -> tuple[Corpus, int | None]:
    """A corpus of the sentences, and the number of features of a token if the sentences are arrays of numbers.

    Words and tuples become columns, and so do lists and mappings if there are names of ``columns``, or if ``rows``.
    """
    sentences = [_tokens(sentence, i) for i, sentence in enumerate(listed(X, "X", "sentences"))]
    filled = [sentence for sentence in sentences if len(sentence)]
    if filled and isinstance(filled[0], np.ndarray):
        width = filled[0].shape[1]
        if any(not isinstance(array, np.ndarray) or array.shape[1] != width for array in filled):
            raise DataError("all sentences must be arrays with the same number of columns, or none an array")
        return Corpus.from_features(sentences, y), width
    if rows or columns is not None or (filled and isinstance(filled[0][0], str | tuple)):
        return Corpus.from_sentences(sentences, y, columns=columns), None
    return Corpus.from_features(sentences, y), None


def read_like(
    X: Iterable[Any], y: Iterable[Iterable[str]] | None, columns: Sequence[str], n_features: int | None
) -> Corpus:
    """Sentences of the same form as those that a tagger was trained on; raises DataError for another form."""
    corpus, found = read_sentences(X, y, columns or None, rows=bool(columns))
    if corpus.n_tokens and found != n_features:
        raise DataError(f"sentences must be {_form(n_features)}, as in training, not {_form(found)}")
    return corpus


def _form(n_features: int | None) -> str:
    return (
        "words, rows of columns or named features"
        if n_features is None
        else f"arrays with {counted(n_features, 'column')}"
    )


def _tokens(sentence: Any, index: int) -> list[Any] | NDArray[Any]:
    """The tokens of a sentence as a list, or as an array of shape (tokens, features) if they are numbers."""
    if isinstance(sentence, np.ndarray) and sentence.dtype.kind not in "biuf":
        return [tuple(token) if sentence.ndim > 1 else token for token in sentence.tolist()]
    tokens = sentence if isinstance(sentence, np.ndarray) else list(listed(sentence, f"sentence {index}", "tokens"))
    if not len(tokens):
        return []
    rows = isinstance(tokens[0], list | tuple | np.ndarray) and len(tokens[0]) and isinstance(tokens[0][0], Real)
    if not rows and not isinstance(tokens, np.ndarray):
        return tokens
    try:
        matrix = np.asarray(tokens, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2:
        raise DataError(
            "numeric features must be an array of shape (tokens, features), as many numbers for each token",
            sentence=index,
        )
    return matrix
