"""Numeric features of any size: each method trains a model with finite scores, or names the value it refuses."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import corate
from corate.errors import DataError
from corate.training.checks import LARGEST_VALUE
from corate.training.options import METHODS

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 1e-45  # the smallest positive number in single precision


def features(values: list[float]) -> list[list[dict[str, float]]]:
    """Tokens that all have these values; every second token has half of each."""
    sizes = [1.0, 0.5]
    return [
        [
            {f"w={'abc'[(i + j) % 3]}": 1.0, **{f"v{k}": value * sizes[j % 2] for k, value in enumerate(values)}}
            for j in range(3)
        ]
        for i in range(9)
    ]


LABELS = [["XYZ"[(i + j) % 3] for j in range(3)] for i in range(9)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "values",
    [[LARGEST], [-LARGEST], [LARGEST, -LARGEST] * 15, [SMALLEST], [SMALLEST, 1.0, -SMALLEST], [LARGEST_VALUE] * 15],
    ids=["largest", "least", "many", "smallest", "mixed", "the largest taken"],
)
def test_extreme_values_train_or_are_refused(method: str, values: list[float], tmp_path: Path) -> None:
    corpus = corate.Corpus.from_features(features(values), LABELS)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the loss rose to")
            corate.train(corpus, method).save(tmp_path / "model")
    except DataError as error:
        refused = str(error)
    else:
        tagger, refused = corate.load(tmp_path / "model"), ""
        assert np.isfinite([tagger.score(sentence) for sentence in features(values)]).all()
    assert not refused or (method != "empirical" and not (tmp_path / "model").exists())
    assert not refused or refused.startswith(("the feature 'v0' has the value", "training diverges"))


@pytest.mark.parametrize("method", [method for method in METHODS if method != "empirical"])
def test_values_too_large_are_named_with_what_to_do(method: str) -> None:
    corpus = corate.Corpus.from_features(features([1.0, 3.4e38]), LABELS)
    with pytest.raises(DataError, match=r"'v1' has the value 3\.4e\+38; .* from -1e\+15 to 1e\+15: scale them"):
        corate.train(corpus, method)
