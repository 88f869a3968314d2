"""Stochastic passes: when they end, which weights are kept, and that a run taken up again ends as it would have."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corate.io.tensor_file import TensorFile
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.passes import PATIENCE_PASSES, Fitted, make_passes
from corate.optimize.stochastic import AdaGrad
from corate.optimize.tuning import clearly_better
from corate.progress import ProgressEvent

TOKENS = 1000


class Steps:
    """A pass adds one to the only weight."""

    size = 1

    def pass_over(self, state: Any, order: Any, decay: Any, rate: float, batch: int, threads: int) -> float:
        state[0] += np.float32(1 / AdaGrad.PARTS)
        return 0.0


class Interrupted(AdaGrad):
    """A run that Ctrl-C ends amid some passes."""

    at: Sequence[int] = ()

    def pass_once(self, progress: Callable[[float], None] = lambda done: None) -> float:
        if self.passes in self.at:
            raise KeyboardInterrupt
        return super().pass_once()


@dataclass
class Run:
    """Passes after which so many held-out tokens are right, the first ones; below 0 is Ctrl-C amid that pass."""

    counts: Sequence[int]
    in_words: list[ProgressEvent] = field(default_factory=list)

    def made(self, passes: int | None = None, store: Checkpoint | None = None, *, keep: bool = True) -> Fitted:
        run = Interrupted.of(Steps(), np.zeros(1, np.float32), np.arange(100, dtype=np.int64))
        run.at = [k for k, count in enumerate(self.counts) if count < 0]

        def right(weights: NDArray[np.float32]) -> NDArray[np.bool_]:
            return np.arange(TOKENS) < self.counts[round(float(weights[0])) - 1]

        wanted = len(self.counts) if passes is None else passes
        return make_passes(run, wanted, "fitting", self.in_words.append, correct_tokens=right, store=store, keep=keep)


def kept(made: Fitted) -> int:
    """After which pass the weights were those that are kept."""
    return round(float(made.weights[0]))


def test_a_fall_that_chance_may_make_is_followed() -> None:
    """One token less: no coin would be called unfair for it."""
    assert kept(Run([900, 899, 901]).made()) == 3
    assert kept(Run([900, 897]).made()) == 2


def test_a_clear_fall_ends_the_passes_and_is_not_kept() -> None:
    run = Run([890, 900, 880, 990])
    made = run.made()
    assert (kept(made), made.accuracy, made.stopped) == (2, 0.9, False)
    assert [event.fraction for event in run.in_words] == [0.25, 0.5, 0.75]
    assert run.in_words[-1].held_out_accuracy == 0.88


def test_passes_of_which_none_is_better_end_in_time() -> None:
    run = Run([890, 900] + [899] * 20)
    made = run.made()
    assert len(run.in_words) == kept(made) == 2 + PATIENCE_PASSES
    assert made.accuracy == 0.899


def test_nobody_looking_all_passes_are_made() -> None:
    run = AdaGrad.of(Steps(), np.zeros(1, np.float32), np.arange(100, dtype=np.int64))
    made = make_passes(run, 7, "fitting")
    assert (kept(made), made.accuracy) == (7, None)


@pytest.mark.parametrize("counts", [[900, -1], [900, 899, -1], [880, 900, -1]], ids=str)
def test_ctrl_c_keeps_the_last_pass_that_was_made(counts: list[int]) -> None:
    made = Run(counts).made()
    assert (kept(made), made.stopped) == (len(counts) - 1, True)
    with pytest.raises(KeyboardInterrupt):
        Run(counts).made(keep=False)


def test_ctrl_c_before_a_pass_is_done_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):
        Run([-1]).made()


@given(st.lists(st.integers(700, 900), min_size=1, max_size=12))
def test_what_is_kept_is_never_clearly_worse_than_the_pass_before(counts: list[int]) -> None:
    """Nor is the next pass kept from us but for a reason: it was clearly worse, or patience was at its end."""
    made = Run(counts).made()
    right = [np.arange(TOKENS) < count for count in counts]
    end = kept(made)
    for before, after in itertools.pairwise(right[:end]):
        assert not clearly_better(before, after, 2.0)
    if end < len(counts):
        waiting = counts[max(0, end - PATIENCE_PASSES) : end]
        tired = end > PATIENCE_PASSES and max(waiting) <= max(counts[: end - PATIENCE_PASSES])
        assert tired or clearly_better(right[end - 1], right[end], 2.0)


@pytest.mark.parametrize("first", range(1, 6))
@pytest.mark.parametrize(
    "counts", [[890, 900, 899, 898, 899, 905, 890], [880, 890, 900, 860, 900, 900], [900] * 9], ids=str
)
def test_a_run_that_is_taken_up_ends_as_if_it_had_not_been_stopped(
    counts: list[int], first: int, tmp_path: Path
) -> None:
    whole = Run(counts).made()
    store = Checkpoint(TensorFile(tmp_path / "run"), {})
    Run([*counts[:first], -1]).made(len(counts), store)
    resumed = Run(counts).made(store=Checkpoint(TensorFile(tmp_path / "run"), {}))
    assert (kept(resumed), resumed.accuracy) == (kept(whole), whole.accuracy)
