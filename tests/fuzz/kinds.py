"""The kinds of cases: where each is, its share of the time, and how long one case may take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A kind of cases; ``cases`` is the module and the class that makes them."""

    cases: str
    weight: float  # share of the time, beside those of the other kinds
    limit: float  # seconds that one case may take; a sanitizer has four times as many
    short: int  # cases in the short form that `make test` runs


KINDS = {
    "models": Kind("fuzz.models:Cases", 12, 30, 200),
    "inputs": Kind("fuzz.inputs:Cases", 26, 30, 200),
    "templates": Kind("fuzz.templates:Cases", 5, 30, 200),
    "tagging": Kind("fuzz.tagging:Cases", 9, 30, 60),
    "checkpoints": Kind("fuzz.checkpoints:Cases", 4, 30, 40),
    "settings": Kind("fuzz.settings:Cases", 7, 60, 60),
    "streams": Kind("fuzz.streams:Cases", 3, 60, 4),
    "kills": Kind("fuzz.signals:Kills", 17, 60, 4),
    "interrupts": Kind("fuzz.signals:Interrupts", 17, 60, 4),
}
