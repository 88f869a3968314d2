"""Checkpoints: a run is taken up where it was left, and never by another run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.errors import CorateError, ModelError
from corate.io import tensor_file
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.stochastic import AdaGrad
from reference.damage import damaged_header, damaged_tensors
from small_corpora import corpus_of, random_sentences


class Steps:
    """Steps that add to each weight what depends on the order of the items."""

    size = 3

    def pass_over(self, state: Any, order: Any, decay: Any, rate: float, batch: int, threads: int) -> float:
        for item in order.tolist():
            state[::2] = state[::2] * np.float32(0.5) + np.float32(item)
            state[1::2] += np.float32(item)
        return 0.0


def fresh() -> AdaGrad:
    return AdaGrad.of(Steps(), np.zeros(1, np.float32), np.arange(30, dtype=np.int64), seed=4)


def test_a_run_goes_on_as_if_it_had_not_been_stopped(tmp_path: Path) -> None:
    whole = fresh()
    for _ in range(4):
        whole.pass_once()
    store = Checkpoint(tensor_file.TensorFile(tmp_path / "run"), {"seed": 4})
    assert store.restore(fresh(), 4) == (-1.0, 0)
    first = fresh()
    first.pass_once()
    store.save(first, 0.25, 2)
    second = fresh()
    assert Checkpoint(tensor_file.TensorFile(tmp_path / "run"), {"seed": 4}).restore(second, 4) == (0.25, 2)
    assert second.passes == 1
    for _ in range(3):
        second.pass_once()
    np.testing.assert_array_equal(second.state, whole.state)


def test_one_that_does_not_say_how_long_it_waited_is_taken_up(tmp_path: Path) -> None:
    run = fresh()
    run.pass_once()
    tensor_file.write(
        tmp_path / "run", run.tensors, {"kind": "checkpoint", "passes": 1, "accuracy": 0.5, "of": {"seed": 4}}
    )
    assert Checkpoint(tensor_file.TensorFile(tmp_path / "run"), {"seed": 4}).restore(fresh(), 4) == (0.5, 0)


def test_only_the_same_run_takes_it_up(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run = fresh()
    run.pass_once()
    run.pass_once()
    Checkpoint(tensor_file.TensorFile(path), {"seed": 4}).save(run)
    before = path.read_bytes()
    for other, passes, match in (({"seed": 5}, 9, "other data or settings"), ({"seed": 4}, 1, "has made 2 passes")):
        with pytest.raises(ModelError, match=match) as raised:
            Checkpoint(tensor_file.TensorFile(path), other).restore(fresh(), passes)
        assert str(path) in str(raised.value)
    tensor_file.write(path, {"state": run.state}, {"method": "separate"})
    with pytest.raises(ModelError, match="other data or settings"):
        Checkpoint(tensor_file.TensorFile(path), {"seed": 4}).restore(fresh(), 9)
    path.write_bytes(before[:-1])
    with pytest.raises(ModelError):
        Checkpoint(tensor_file.TensorFile(path), {"seed": 4}).restore(fresh(), 9)
    tensor_file.write(path, {"state": run.state[2:]}, {"kind": "checkpoint", "passes": 1, "of": {"seed": 4}})
    with pytest.raises(ModelError, match="does not fit"):
        Checkpoint(tensor_file.TensorFile(path), {"seed": 4}).restore(fresh(), 9)


def test_a_checkpoint_is_no_model(tmp_path: Path) -> None:
    run = fresh()
    Checkpoint(tensor_file.TensorFile(tmp_path / "run"), {}).save(run, -1.0)
    with pytest.raises(ModelError):
        corate.load(tmp_path / "run")


@pytest.mark.parametrize("method", ["polish", "separate", "perceptron"])
def test_a_forged_checkpoint_is_taken_up_or_refused(method: str, tmp_path: Path) -> None:
    """Its hash is right and its content is not: whatever it holds, training ends well or with one clear error."""
    corpus = corpus_of(random_sentences(10))
    corate.train(corpus, method, passes=1, checkpoint=tmp_path / "run")
    tensors, header = tensor_file.read(tmp_path / "run")
    tensors = {name: np.array(tensor) for name, tensor in tensors.items()}
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(60):
        forged = damaged_tensors(tensors, rng), header
        if rng.random() < 0.5:
            forged = tensors, {**damaged_header({**header, "of": None}, rng), "of": header["of"]}
        tensor_file.write(tmp_path / "run", *forged)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "the loss rose to")
                tagger = corate.train(corpus, method, passes=2, checkpoint=tmp_path / "run")
            assert np.isfinite(tagger.score(["the", "dogs"]))
        except CorateError:
            refused += 1
    assert 10 < refused < 60
