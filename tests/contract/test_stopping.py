"""Training on whole sentences that is stopped, by Ctrl-C or by held-out sentences, and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError, ModelError
from small_corpora import corpus_of, for_method, random_sentences
from whole_sentences import (
    FEATURES,
    HELD_OUT,
    METHODS,
    STOCHASTIC,
    TRAINING,
    accuracy,
    arrays,
    method_of,
    over,
    trained,
)


class Stop:
    """Presses Ctrl-C once, at the start of a stage or after a share of it."""

    def __init__(self, stage: str, done: float) -> None:
        self.stage, self.done, self.pressed = stage, done, False

    def __call__(self, event: corate.ProgressEvent) -> None:
        if str(event).startswith(self.stage) and (event.fraction or 0.0) >= self.done and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt


@over(METHODS)
@pytest.mark.parametrize("held_out", [None, corpus_of(HELD_OUT)], ids=["", "held out"])
@pytest.mark.parametrize("where", ["within", "between"])
def test_ctrl_c_keeps_what_was_reached(way: dict[str, Any], held_out: Corpus | None, where: str) -> None:
    """Within a pass or right after the first; training never returns the initial weights."""
    exact = not method_of(way).in_passes
    between = where == "between"
    user = Stop(f"{way['method']}:" if between else way["method"], 0.0 if between and not exact else 0.3)
    options = for_method(way["method"], passes=5, iterations=30)
    with pytest.warns(UserWarning, match="training was interrupted, so the model is not complete"):
        tagger = trained(held_out=held_out, **options, progress=user, **way)
    assert user.pressed
    assert tagger.record["interrupted"] is True
    assert accuracy(tagger, TRAINING) > 0.6
    assert np.count_nonzero(tagger.model.weights.scores) > 20
    assert not trained(**for_method(way["method"], passes=1, iterations=3), **way).record["interrupted"]


@over(METHODS)
def test_ctrl_c_before_anything_was_reached_stops_the_training(way: dict[str, Any]) -> None:
    with pytest.raises(KeyboardInterrupt):
        trained(progress=Stop("", 0.0), **way)


@pytest.mark.filterwarnings("ignore::corate.errors.InterruptedWarning")
@over(STOCHASTIC)
@pytest.mark.parametrize("held_out", [None, corpus_of(HELD_OUT)], ids=["", "held out"])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(
    way: dict[str, Any], held_out: Corpus | None, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"passes": 4, "held_out": held_out, **way}
    whole = trained(**options)
    path = tmp_path / "run"
    for done in (0.3, 0.55, 0.8):
        user = Stop(way["method"], done)
        trained(**options, checkpoint=path, progress=user)
        resumed = trained(**options, checkpoint=path, threads=2)
        assert arrays(resumed) == arrays(whole)
        path.unlink()


@over(STOCHASTIC)
def test_more_passes_go_on_from_fewer(way: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    trained(passes=2, checkpoint=path, **way)
    more = trained(passes=3, checkpoint=path, **way)
    assert arrays(more) == arrays(trained(passes=3, **way))
    with pytest.raises(ModelError, match="has made 3 passes"):
        trained(passes=1, checkpoint=path, **way)


def test_a_run_whose_steps_were_halved_goes_on_with_the_halved_ones(tmp_path: Path) -> None:
    options: dict[str, Any] = {"method": "standard", "optimizer": "adagrad", "features": ["word[0]"]}
    settings = {"rate": 300.0, "passes": 3}
    with pytest.warns(UserWarning, match="the loss rose"):
        whole = trained(**settings, **options)
    with pytest.warns(UserWarning, match="the loss rose"):
        trained(**settings | {"passes": 1}, checkpoint=tmp_path / "run", **options)
    resumed = trained(**settings, checkpoint=tmp_path / "run", **options)
    assert arrays(resumed) == arrays(whole)


@pytest.mark.parametrize(
    "other",
    [
        {"labelled": TRAINING[1:]},
        {"features": FEATURES[1:]},
        {"passes": 2, "rate": 0.2},
        {"passes": 2, "cutoff": 2},
        {"seed": 1},
        {"method": "polish"},
        {"transitions": "seen"},
        {"boundaries": False},
        {"lattice": "pruned"},
        {"all_labels": True},
        {"order": 2},
        {"sentence_weights": [2.0] * len(TRAINING)},
        {"label_weights": {"N": 2.0}},
    ],
    ids=lambda other: " ".join(f"{k}" for k in other),
)
def test_a_checkpoint_of_another_run_is_refused(other: dict[str, Any], tmp_path: Path) -> None:
    usual: dict[str, Any] = {"method": "standard", "optimizer": "adagrad", "checkpoint": tmp_path / "run"}
    usual["passes"] = 2
    trained(**usual)
    if other.get("method") == "polish":
        usual.pop("optimizer")
    with pytest.raises(ModelError, match="other data or settings; name another file or remove it"):
        trained(**(usual | other))


def test_a_checkpoint_of_other_base_scores_is_refused(tmp_path: Path) -> None:
    same: dict[str, Any] = {"c2": 0.5, "rate": 0.1, "base_weight": 0.5, "checkpoint": tmp_path / "run"}
    trained(base="default", passes=1, **same)
    with pytest.raises(ModelError, match="other data or settings"):
        trained(base="pooled", passes=2, **same)


def test_a_checkpoint_needs_passes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="adagrad"):
        trained(method="standard", checkpoint=tmp_path / "run")


@over(METHODS)
def test_held_out_sentences_say_when_to_stop(way: dict[str, Any]) -> None:
    measured: list[float] = []
    tagger = trained(
        random_sentences(60, noise=0.4),
        held_out=corpus_of(HELD_OUT),
        **for_method(way["method"], passes=40, iterations=300, c2=0.0),
        progress=lambda event: None if event.held_out_accuracy is None else measured.append(event.held_out_accuracy),
        **way,
    )
    stochastic = method_of(way).in_passes
    assert 1 <= len(measured) < (40 if stochastic else 300)
    kept = tagger.record["held_out"]["accuracy"]
    # A stochastic run keeps its last pass, or the previous one if the last was clearly worse.
    assert any(kept == pytest.approx(x, abs=1e-4) for x in (measured[-2:] if stochastic else [max(measured)]))
    assert accuracy(tagger, HELD_OUT) == pytest.approx(kept, abs=1e-9)
