"""Settings of every method: each has a range, and training works or refuses clearly at both ends of it."""

from __future__ import annotations

import contextlib
import re
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import corate
from corate.counting.ladder import LadderParameters
from corate.errors import CorateError, DataError
from corate.training import METHODS
from corate.training.chains import ChainParameters
from corate.training.separate import SeparateParameters
from corate.training.settings import RANGES
from small_corpora import corpus_of, random_sentences

CORPUS = corpus_of(random_sentences(12))


def usual(method: str) -> dict[str, Any]:
    parameters: Any = {"empirical": LadderParameters, "separate": SeparateParameters}.get(method, ChainParameters)
    return asdict(parameters())


SETTINGS = [(method, name) for method in METHODS for name in usual(method)]


@pytest.mark.parametrize(("method", "name"), SETTINGS)
def test_values_out_of_range_are_refused_by_name(method: str, name: str) -> None:
    least, most = RANGES[name]
    absurd = [float("nan"), float("inf"), -1, 1e30, 10**400, "1", None]
    if isinstance(usual(method)[name], int):
        absurd += [1.5]
    for value in absurd:
        said = re.escape(f"from {least:.10g} to {most:.10g}, not {value!r}")
        with pytest.raises(DataError, match=f"the setting '{name}' must be a (whole )?number {said}"):
            corate.train(CORPUS, method, settings={name: value})


@pytest.mark.parametrize("method", METHODS)
def test_settings_without_names_are_refused(method: str) -> None:
    for settings in ("rate=0.1", ["rate"], 0.1):
        with pytest.raises(DataError, match="by name"):
            corate.train(CORPUS, method, settings=settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "name"), SETTINGS)
def test_both_ends_of_a_range_train_or_are_refused(method: str, name: str) -> None:
    takes_long = {"passes", "half_passes", "pair_passes", "iterations"}
    for value in RANGES[name][: 1 if name in takes_long else 2]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the loss rose to")
            with contextlib.suppress(CorateError):
                tagger = corate.train(CORPUS, method, settings={name: value})
                assert np.isfinite(tagger.score(["the", "dogs"]))
