"""What long work reports while it goes on: one event at a time, to a function that the caller gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["OnProgress", "ProgressEvent", "ignore_progress"]


@dataclass(frozen=True)
class ProgressEvent:
    """One report of progress. Numbers are None where there are none.

    >>> print(ProgressEvent("polish", 0.5, loss=0.12345, held_out_accuracy=0.971))
    polish: loss 0.1235, held-out accuracy 0.9710
    >>> print(ProgressEvent("counting", method="polish", seed=1))
    polish, seed 1, counting
    """

    stage: str  #: What is being done, such as ``"counting"`` or ``"fitting the pairs"``.
    fraction: float | None = 0.0  #: How much of the stage is done, from 0 to 1; None where it is not known.
    loss: float | None = None  #: After a pass of stochastic steps: the mean loss of a sentence or token.
    objective: float | None = None  #: After an iteration of L-BFGS: the value that is minimised,
    gradient_norm: float | None = None  #: and the norm of its gradient.
    held_out_accuracy: float | None = None  #: The share of held-out tokens that are labelled correctly.
    method: str | None = None  #: Where several methods are compared: the one that is being trained,
    seed: int | None = None  #: and its seed, where there are several.

    @property
    def title(self) -> str:
        """The stage, with the method and the seed that it belongs to."""
        parts = [self.method, None if self.seed is None else f"seed {self.seed}", self.stage]
        return ", ".join(part for part in parts if part is not None and not (part is self.method == self.stage))

    @property
    def measurements(self) -> str:
        """The numbers as text, empty where there are none."""
        named = (
            ("loss", self.loss, ".4f"),
            ("objective", self.objective, ".1f"),
            ("gradient", self.gradient_norm, ".2g"),
            ("held-out accuracy", self.held_out_accuracy, ".4f"),
        )
        return ", ".join(f"{name} {value:{form}}" for name, value, form in named if value is not None)

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.title, self.measurements)))


#: Receives the events.
OnProgress = Callable[[ProgressEvent], None]


def ignore_progress(event: ProgressEvent) -> None:
    """Do nothing with an event."""
