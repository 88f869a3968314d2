"""Stochastic passes and iterations of L-BFGS, with early stopping on held-out sentences, progress and Ctrl-C.

Early stopping goes by accuracy, or by F1 if labels mark spans: see `corate.optimize.tuning.score_of`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from corate.optimize.checkpoint import Checkpoint
from corate.optimize.lbfgs import Objective, Step, lbfgs
from corate.optimize.stochastic import Run
from corate.optimize.tuning import Results, accuracy_of, clearly_better, f1_of, score_of
from corate.progress import OnProgress, ProgressEvent, ignore_progress
from corate.types import F32, F64

__all__ = ["CorrectTokens", "Fitted", "make_iterations", "make_passes"]

#: Stop if a pass is worse than the previous one by this many standard errors.
WORSE = 2.0
#: Stop after this many passes without a better held-out score.
PATIENCE_PASSES = 3
#: Stop after this many iterations of L-BFGS without a better held-out score.
PATIENCE_ITERATIONS = 10

#: Takes weights, and returns which held-out tokens they label correctly, or the counts of held-out sentences.
CorrectTokens = Callable[[F32], Results]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted weights, their accuracy and F1 on held-out tokens (None without any), and whether Ctrl-C ended the fit.

    ``exhausted``: the maximum number of iterations ended it, before it converged.
    """

    weights: F32
    accuracy: float | None
    stopped: bool
    f1: float | None = None
    exhausted: bool = False


def make_passes(
    run: Run,
    passes: int,
    stage: str,
    progress: OnProgress = ignore_progress,
    *,
    correct_tokens: CorrectTokens | None = None,
    store: Checkpoint | None = None,
    keep: bool = True,
    slack: float | None = None,
    enough: Callable[[float], bool] = lambda loss: False,
) -> Fitted:
    """Make stochastic passes, with early stopping on held-out tokens.

    Passes stop if one is clearly worse than the previous pass, whose weights are then kept, or if the score has not
    risen for ``PATIENCE_PASSES`` passes. A pass that is slightly worse, perhaps by chance, is kept: more passes usually
    give better weights.

    Passes also stop if ``enough`` is true of the mean loss of one.

    With ``slack``, a pass that diverges is repeated (see `AdaGrad.pass_within`). With ``keep``, Ctrl-C stops
    early if at least one pass is done. Otherwise it raises KeyboardInterrupt.
    """

    def one_pass() -> float:
        done = run.passes

        def report(part: float) -> None:
            progress(ProgressEvent(stage, (done + part) / passes))

        return run.pass_once(report) if slack is None else run.pass_within(slack, report)

    kept, top, waited, stopped = None, -1.0, 0, False
    if store is not None:
        top, waited = store.restore(run, passes)
        kept = correct_tokens(run.weights) if correct_tokens is not None and run.passes > 0 else None
        if run.passes > 0:
            progress(ProgressEvent(stage, run.passes / passes, step=run.passes, steps=passes, resumed=True))
    best = run.weights
    try:
        while run.passes < passes and waited < PATIENCE_PASSES:
            loss, accuracy, f1, worse = one_pass(), None, None, False
            if kept is None:
                best = run.weights
            if correct_tokens is not None:
                correct = correct_tokens(run.weights)
                score, accuracy, f1 = score_of(correct), accuracy_of(correct), f1_of(correct)
                worse = kept is not None and clearly_better(kept, correct, WORSE)
                if not worse:
                    best, kept = run.weights, correct
                    waited = 0 if score > top else waited + 1
                    top = max(top, score)
            event = ProgressEvent(stage, run.passes / passes, loss=loss, step=run.passes, steps=passes)
            progress(replace(event, held_out_accuracy=accuracy, held_out_f1=f1))
            if worse:
                break
            if store is not None:
                store.save(run, top, waited)
            if enough(loss):
                break
    except KeyboardInterrupt:
        if not keep or run.passes == 0:
            raise
        stopped = True
    if kept is None:
        return Fitted(best, None, stopped)
    return Fitted(best, accuracy_of(kept), stopped, f1_of(kept))


def make_iterations(
    objective: Objective,
    start: F64,
    stage: str,
    progress: OnProgress = ignore_progress,
    *,
    c1: float = 0.0,
    iterations: int = 100,
    correct_tokens: CorrectTokens | None = None,
    keep: bool = True,
) -> Fitted:
    """Minimise an objective by L-BFGS. With held-out tokens, the weights that are best on them are kept.

    With ``keep``, Ctrl-C stops early if at least one iteration is done. Otherwise it raises KeyboardInterrupt.
    """
    best: Fitted | None = None
    top, waited = -1.0, 0

    def report(step: Step) -> bool:
        nonlocal best, top, waited
        accuracy = f1 = None
        if correct_tokens is not None:
            single = step.weights.astype(np.float32)
            correct = correct_tokens(single)
            accuracy, f1 = accuracy_of(correct), f1_of(correct)
            waited = 0 if score_of(correct) > top else waited + 1
            if waited == 0:
                best, top = Fitted(single, accuracy, False, f1), score_of(correct)
        event = ProgressEvent(stage, min(1.0, step.number / iterations), step=step.number, steps=iterations)
        event = replace(event, objective=step.value, gradient_norm=step.gradient_norm)
        progress(replace(event, held_out_accuracy=accuracy, held_out_f1=f1))
        return waited < PATIENCE_ITERATIONS

    found = lbfgs(objective, start, c1=c1, iterations=iterations, progress=report)
    stopped = found.stopped == "interrupted"
    if stopped and not keep:
        raise KeyboardInterrupt
    if best is not None:
        return replace(best, stopped=stopped)
    return Fitted(found.weights.astype(np.float32), None, stopped, exhausted=found.stopped == "iterations")
