"""The kinds of cases: their modules, their shares of the time, and the time limit of a case."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A kind of cases; ``cases`` is the module and the class that makes them."""

    cases: str
    weight: float  # share of the time, relative to other kinds
    limit: float  # seconds that one case may take; four times more with a sanitizer
    short: int  # cases in the short form that `make test` runs


KINDS = {
    "models": Kind("fuzz.models:Cases", 11, 30, 150),
    "crfsuite": Kind("fuzz.crfsuite:Cases", 5, 30, 150),
    "inputs": Kind("fuzz.inputs:Cases", 20, 30, 200),
    "templates": Kind("fuzz.templates:Cases", 4, 30, 150),
    "tagging": Kind("fuzz.tagging:Cases", 8, 30, 60),
    "questions": Kind("fuzz.questions:Cases", 6, 30, 30),
    "threads": Kind("fuzz.threads:Cases", 6, 60, 20),
    "checkpoints": Kind("fuzz.checkpoints:Cases", 3, 30, 40),
    "settings": Kind("fuzz.settings:Cases", 8, 60, 50),
    "streams": Kind("fuzz.streams:Cases", 4, 60, 4),
    "kills": Kind("fuzz.signals:Kills", 21, 60, 4),
    "interrupts": Kind("fuzz.signals:Interrupts", 21, 60, 4),
}
