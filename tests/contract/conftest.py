"""All ways of training; each must pass the same suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import corate
from corate.corpus import Corpus
from corate.model.tagger import Tagger
from corate.training.methods import METHODS, Empirical, options_of

TEMPLATES = ["word[0]", "suffix(word[0], 2)", "word[-1]|word[0]"]

#: Arguments of `corate.train`, without the corpus.
WAYS: dict[str, dict[str, Any]] = {}
for _method in METHODS:
    WAYS[_method] = {"method": _method}
    WAYS[f"{_method}, templates"] = {"method": _method, "features": TEMPLATES}
    if _method == "empirical":
        for _backoff in options_of(Empirical)["backoff"].choices:
            features = TEMPLATES if _backoff == "pooled" else None
            WAYS[f"{_method}, {_backoff}"] = {"method": _method, "backoff": _backoff, "features": features}
        WAYS[f"{_method}, pairs of words"] = {"method": _method, "pairs": "words"}
        WAYS[f"{_method}, all labels"] = {"method": _method, "backoff": "default", "all_labels": True}
    if _method == "standard":
        WAYS[f"{_method}, AdaGrad"] = {"method": _method, "features": TEMPLATES, "optimizer": "adagrad"}
        WAYS[f"{_method}, L1"] = {"method": _method, "features": TEMPLATES, "c1": 0.1}
        WAYS[f"{_method}, as CRFsuite"] = {
            "method": _method, "features": TEMPLATES, "transitions": "seen", "boundaries": False,
        }  # fmt: skip
        WAYS[f"{_method}, second order"] = {"method": _method, "features": TEMPLATES, "order": 2}
        WAYS[f"{_method}, second order, AdaGrad"] = {
            "method": _method, "features": TEMPLATES, "order": 2, "optimizer": "adagrad",
        }  # fmt: skip
        WAYS[f"{_method}, pruned"] = {"method": _method, "features": TEMPLATES, "lattice": "pruned"}
    if _method == "polish":
        WAYS[f"{_method}, from separate"] = {"method": _method, "features": TEMPLATES, "base": "separate"}
        WAYS[f"{_method}, second order"] = {"method": _method, "features": TEMPLATES, "order": 2}
        WAYS[f"{_method}, edges"] = {"method": _method, "features": [*TEMPLATES, "edge: word[0]"]}
    if _method == "separate":
        WAYS[f"{_method}, paper base"] = {"method": _method, "features": TEMPLATES, "base": "paper"}
        WAYS[f"{_method}, no base"] = {"method": _method, "features": TEMPLATES, "base": "none"}
        WAYS[f"{_method}, joint"] = {"method": _method, "features": TEMPLATES, "coupling": "joint"}
        WAYS[f"{_method}, space of features"] = {
            "method": _method, "features": TEMPLATES, "coupling": "joint", "space": "features",
        }  # fmt: skip
        WAYS[f"{_method}, L-BFGS"] = {"method": _method, "features": TEMPLATES, "optimizer": "lbfgs"}


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    return WAYS[request.param]


@pytest.fixture
def train(way: dict[str, Any]) -> Callable[..., Tagger]:
    """Train on a corpus in the current way."""

    def trained(corpus: Corpus, **more: Any) -> Tagger:
        return corate.train(corpus, **(way | more))

    return trained
