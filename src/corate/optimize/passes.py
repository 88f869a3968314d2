"""Stochastic passes and iterations of L-BFGS: judged on held-out tokens, reported, and ended early by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corate.counting.tuning import clearly_better
from corate.optimize.checkpoint import Checkpoint
from corate.optimize.lbfgs import Objective, lbfgs
from corate.optimize.stochastic import AdaGrad, AveragedPerceptron
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.types import F32, F64

__all__ = ["Fitted", "Judge", "make_iterations", "make_passes"]

#: Passes end where one is this many standard errors worse than the one before it,
WORSE = 2.0
#: and after this many of which none was better than the best before them.
PATIENCE_PASSES = 3
#: The held-out accuracy may fail to rise for this many iterations of L-BFGS.
PATIENCE_ITERATIONS = 10

#: Says which held-out tokens some weights label correctly.
Judge = Callable[[F32], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted weights, their accuracy on held-out tokens (None without any), and whether Ctrl-C ended the fit."""

    weights: F32
    accuracy: float | None
    stopped: bool


def make_passes(
    run: AdaGrad | AveragedPerceptron,
    passes: int,
    one_pass: Callable[[], float],
    stage: str,
    progress: OnProgress = ignore_progress,
    *,
    judge: Judge | None = None,
    store: Checkpoint | None = None,
    keep: bool = True,
) -> Fitted:
    """Make stochastic passes until all are made, or until the held-out tokens say that it is enough.

    That is where a pass labels clearly fewer of them correctly than the one before it, whose weights are then kept, or
    where for some passes none was better than the best. A pass that is worse by no more than chance is kept: weights of
    more passes are better as a rule.

    ``one_pass`` makes a pass and returns its loss. With ``keep``, Ctrl-C ends the passes once one is done; without, it
    raises KeyboardInterrupt.
    """
    kept, top, waited, stopped = None, -1.0, 0, False
    if store is not None:
        top, waited = store.restore(run, passes)
        kept = judge(run.weights) if judge is not None and run.passes > 0 else None
    best = run.weights
    try:
        while run.passes < passes and waited < PATIENCE_PASSES:
            loss, accuracy, worse = one_pass(), None, False
            if kept is None:
                best = run.weights
            if judge is not None:
                found = judge(run.weights)
                accuracy = float(found.mean())
                worse = kept is not None and clearly_better(kept, found, WORSE)
                if not worse:
                    best, kept = run.weights, found
                    waited = 0 if accuracy > top else waited + 1
                    top = max(top, accuracy)
            progress(ProgressEvent(stage, run.passes / passes, loss=loss, held_out_accuracy=accuracy))
            if worse:
                break
            if store is not None:
                store.save(run, top, waited)
    except KeyboardInterrupt:
        if not keep or run.passes == 0:
            raise
        stopped = True
    return Fitted(best, None if kept is None else float(kept.mean()), stopped)


def make_iterations(
    objective: Objective,
    start: F64,
    stage: str,
    progress: OnProgress = ignore_progress,
    *,
    c1: float = 0.0,
    iterations: int = 100,
    judge: Judge | None = None,
    keep: bool = True,
) -> Fitted:
    """Minimise an objective by L-BFGS; where ``judge`` looks at held-out tokens, the best weights on them are kept.

    With ``keep``, Ctrl-C ends the fit once an iteration is done; without, it raises KeyboardInterrupt.
    """
    best: Fitted | None = None
    waited, stopped = 0, False

    def report(step: int, value: float, norm: float, weights: F64) -> bool:
        nonlocal best, waited
        accuracy = None
        if judge is not None:
            single = weights.astype(np.float32)
            accuracy = float(judge(single).mean())
            waited = 0 if best is None or accuracy > (best.accuracy or 0.0) else waited + 1
            if waited == 0:
                best = Fitted(single, accuracy, False)
        fraction = min(1.0, step / iterations)
        progress(ProgressEvent(stage, fraction, objective=value, gradient_norm=norm, held_out_accuracy=accuracy))
        return waited < PATIENCE_ITERATIONS

    def interrupted() -> None:
        nonlocal stopped
        if not keep:
            raise KeyboardInterrupt
        stopped = True

    found = lbfgs(objective, start, c1=c1, iterations=iterations, progress=report, interrupted=interrupted)
    if best is not None:
        return Fitted(best.weights, best.accuracy, stopped)
    return Fitted(found.astype(np.float32), None, stopped)
