"""Progress of long operations: events that are passed to a function of the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["OnProgress", "ProgressEvent", "ignore_progress"]


@dataclass(frozen=True)
class ProgressEvent:
    """One report of progress. Numbers that do not apply are None. ``str(event)`` is a line of text.

    Attributes:
        stage: the current stage, such as ``"counting"`` or ``"fitting the pairs"``.
        fraction: how much of the stage is done, from 0 to 1; None if unknown.
        loss: after a stochastic pass, the mean loss of a sentence or token.
        objective: after an iteration of L-BFGS, the objective.
        gradient_norm: after an iteration of L-BFGS, the norm of the gradient.
        held_out_accuracy: the fraction of held-out tokens that are labelled correctly.
        method: when methods are compared, the method that is being trained.
        seed: when methods are compared with several seeds, the seed.
        held_out_f1: the F1 score of the spans in held-out sentences, if labels mark spans.
        step: after a pass or an iteration, the number of those that are done.
        steps: the maximum number of passes or iterations.
        resumed: whether training continues from a checkpoint after ``step`` passes.

    >>> print(ProgressEvent("polish", 0.5, loss=0.12345, held_out_accuracy=0.971))
    polish: loss 0.1235, held-out accuracy 0.9710
    >>> print(ProgressEvent("counting", method="polish", seed=1))
    polish, seed 1, counting
    >>> print(ProgressEvent("polish", method="polish", seed=1))
    polish, seed 1
    >>> print(ProgressEvent("polish", 0.25, loss=0.5, step=3, steps=12))
    polish: pass 3 of 12, loss 0.5000
    """

    stage: str
    fraction: float | None = 0.0
    loss: float | None = None
    objective: float | None = None
    gradient_norm: float | None = None
    held_out_accuracy: float | None = None
    method: str | None = None
    seed: int | None = None
    held_out_f1: float | None = None
    step: int | None = None
    steps: int | None = None
    resumed: bool = False

    @property
    def title(self) -> str:
        """The text before the colon: the method and the seed, if there are any, and the stage.

        A stage with the name of the method is not repeated.
        """
        stage = None if self.stage == self.method else self.stage
        parts = [self.method, None if self.seed is None else f"seed {self.seed}", stage]
        return ", ".join(part for part in parts if part is not None)

    @property
    def measurements(self) -> str:
        """The text after the colon: the numbers; empty if there are none."""
        step = [] if self.step is None else [self._step]
        named = (
            ("loss", self.loss, ".4f"),
            ("objective", self.objective, ".1f"),
            ("gradient", self.gradient_norm, ".2g"),
            ("held-out accuracy", self.held_out_accuracy, ".4f"),
            ("F1", self.held_out_f1, ".4f"),
        )
        return ", ".join([*step, *(f"{name} {value:{form}}" for name, value, form in named if value is not None)])

    @property
    def _step(self) -> str:
        if not self.resumed:
            return f"{'pass' if self.objective is None else 'iteration'} {self.step} of {self.steps}"
        assert self.step is not None
        assert self.steps is not None
        if self.step >= self.steps:
            return f"resumed after pass {self.step} of {self.steps}"
        return f"resumed at pass {self.step + 1} of {self.steps}"

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.title, self.measurements)))


#: A function that receives the events.
OnProgress = Callable[[ProgressEvent], None]


def ignore_progress(event: ProgressEvent) -> None:
    """Ignore an event."""
