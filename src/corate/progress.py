"""Progress of long operations: events that are passed to a function of the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["OnProgress", "ProgressEvent", "ignore_progress"]


@dataclass(frozen=True)
class ProgressEvent:
    """One report of progress. Numbers that do not apply are None.

    >>> print(ProgressEvent("polish", 0.5, loss=0.12345, held_out_accuracy=0.971))
    polish: loss 0.1235, held-out accuracy 0.9710
    >>> print(ProgressEvent("counting", method="polish", seed=1))
    polish, seed 1, counting
    >>> print(ProgressEvent("polish", 0.25, loss=0.5, step=3, steps=12))
    polish: pass 3 of 12, loss 0.5000
    """

    stage: str  #: The current stage, such as ``"counting"`` or ``"fitting the pairs"``.
    fraction: float | None = 0.0  #: How much of the stage is done, from 0 to 1; None if unknown.
    loss: float | None = None  #: After a stochastic pass: the mean loss of a sentence or token.
    objective: float | None = None  #: After an iteration of L-BFGS: the objective.
    gradient_norm: float | None = None  #: After an iteration of L-BFGS: the norm of the gradient.
    held_out_accuracy: float | None = None  #: The share of held-out tokens that are labelled correctly.
    method: str | None = None  #: When methods are compared: the method that is being trained.
    seed: int | None = None  #: When methods are compared with several seeds: the seed.
    held_out_f1: float | None = None  #: F1 on held-out sentences, if labels mark spans.
    step: int | None = None  #: The number of passes or iterations that are done, after each of them.
    steps: int | None = None  #: The most passes or iterations.
    resumed: bool = False  #: Whether training continues from a checkpoint, in which ``step`` passes are done.

    @property
    def title(self) -> str:
        """The stage, after its method and seed if there are any."""
        parts = [self.method, None if self.seed is None else f"seed {self.seed}", self.stage]
        return ", ".join(part for part in parts if part is not None and not (part is self.method == self.stage))

    @property
    def measurements(self) -> str:
        """The numbers as text, empty if there are none."""
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
