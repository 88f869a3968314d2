"""Stochastic passes, one after another: judged on held-out tokens, kept in a checkpoint, ended early by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate.counting.tuning import clearly_better
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.stochastic import AdaGrad, Perceptron
from corate.types import F32

__all__ = ["Made", "make_passes"]

#: Passes end where one is so many standard errors worse than the one before it,
WORSE = 2.0
#: and after so many of which none was better than the best before them.
PATIENCE_PASSES = 3


@dataclass(frozen=True, eq=False)
class Made:
    """The weights that passes ended with, their accuracy on held-out tokens, and whether Ctrl-C ended them."""

    weights: F32
    accuracy: float | None
    stopped: bool


def make_passes(
    run: AdaGrad | Perceptron,
    passes: int,
    one_pass: Callable[[], float],
    tell: Callable[[str, float], None],
    *,
    right: Callable[[F32], NDArray[np.bool_]] | None = None,
    store: Checkpoint | None = None,
    keep: bool = True,
) -> Made:
    """Passes until all are made, or held-out tokens say that it is enough.

    That is where a pass labels clearly fewer of them right than the one before it, whose weights are then kept, or
    where for some passes none was better than the best. One that merely seems worse is followed: what differs by no
    more than chance would make it says nothing, and weights of more passes are better as a rule.

    ``one_pass`` makes one and returns its loss, ``right`` says which held-out tokens some weights label right. With
    ``keep`` Ctrl-C ends the passes once one is done; without, it is raised.
    """
    kept, top, waited, stopped = None, -1.0, 0, False
    if store is not None:
        top, waited = store.restore(run, passes)
        kept = right(run.weights) if right is not None and run.passes > 0 else None
    best = run.weights
    try:
        while run.passes < passes and waited < PATIENCE_PASSES:
            told = f"loss {one_pass():.4f}"
            if kept is None:
                best = run.weights
            if right is not None:
                found = right(run.weights)
                told += f", held-out accuracy {found.mean():.4f}"
                if kept is not None and clearly_better(kept, found, WORSE):
                    tell(told, run.passes / passes)
                    break
                best, kept = run.weights, found
                waited = 0 if found.mean() > top else waited + 1
                top = max(top, float(found.mean()))
            tell(told, run.passes / passes)
            if store is not None:
                store.save(run, top, waited)
    except KeyboardInterrupt:
        if not keep or run.passes == 0:
            raise
        stopped = True
    return Made(best, None if kept is None else float(kept.mean()), stopped)
