"""Cells (one method on one split), their measured outcomes, and the folder that stores the outcomes."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from corate.io.atomic import write_text
from corate_reproduction import paper

__all__ = ["Cell", "Outcome", "Store", "fingerprint", "record"]


@dataclass(frozen=True)
class Cell:
    """What to measure. ``train``, ``test`` and ``held_out`` name splits; ``options`` are the options of the method."""

    experiment: str
    split: str
    method: str
    train: str
    test: str
    held_out: str = ""
    columns: str = "word,label"
    options: Mapping[str, Any] = field(default_factory=dict)
    library: str = ""  # the package of a peer; empty for our methods
    seed: int = 0
    threads: int = 1
    most_seconds: float = float("inf")  # a budget for this cell, if smaller than the general one
    prior: str = ""  # the corpus on whose held-out sentences the prior is chosen; empty: the options have the prior

    @property
    def name(self) -> str:
        """The name that progress shows."""
        return f"{self.experiment} {self.split} {self.method}"

    @property
    def files(self) -> list[str]:
        """The splits that the cell needs."""
        return [name for name in (self.train, self.test, self.held_out) if name]


@dataclass(frozen=True)
class Outcome:
    """What was measured: scores are fractions; ``seconds`` is the time of training alone.

    If ``estimated``, training did not end within the budget: there are no scores, and ``seconds`` is the estimated time
    for all iterations, or None if no iteration ended.
    """

    seconds: float | None
    estimated: bool = False
    accuracy: float | None = None
    accuracy_known: float | None = None
    accuracy_oov: float | None = None
    f1: float | None = None
    iterations: int | None = None
    seconds_per_iteration: float | None = None
    sentences: int | None = None
    tokens: int | None = None
    labels: int | None = None
    budget: float | None = None


def fingerprint(cell: Cell, digests: Mapping[str, str], version: str) -> str:
    """A hash of the cell, its data and the version of the library.

    >>> cell = Cell("pos", "1000-4000", "standard", "a", "b")
    >>> fingerprint(cell, {"a": "1", "b": "2"}, "0.1") == fingerprint(cell, {"a": "1", "b": "2"}, "0.1")
    True
    >>> fingerprint(cell, {"a": "1", "b": "2"}, "0.1") == fingerprint(cell, {"a": "1", "b": "3"}, "0.1")
    False
    """
    content: dict[str, Any] = {key: value for key, value in asdict(cell).items() if key != "most_seconds"}
    content |= {"version": version, "data": [digests[name] for name in cell.files]}
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def record(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    """A cell with its outcome and the paper's figures (fractions and seconds), ready for JSON."""
    published = paper.figures(cell.experiment, cell.split, cell.method)
    shown: dict[str, Any] = {"experiment": cell.experiment, "split": cell.split, "method": cell.method}
    measured = asdict(outcome)
    first = ("accuracy", "accuracy_known", "accuracy_oov", "f1", "seconds", "estimated")
    shown |= {key: measured.pop(key) for key in first}
    for key in ("accuracy", "accuracy_known", "accuracy_oov"):
        value = getattr(published, key, None)
        shown[f"paper_{key}"] = None if value is None else round(value / 100, 6)
    shown["paper_seconds"] = getattr(published, "seconds", None)
    more = {"library": cell.library, "options": dict(cell.options), "seed": cell.seed, "threads": cell.threads}
    return shown | measured | more


def _place(kept: Mapping[str, Any]) -> tuple[str, ...]:
    return kept["experiment"], kept["split"], kept["method"]


class Store:
    """A folder with one JSON file per cell, written atomically."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, cell: Cell, print_: str) -> Path:
        """The file of a cell: a readable name, followed by the fingerprint."""
        name = re.sub(r"[^\w.-]+", "-", cell.name)
        return self.folder / f"{name}-{print_[:12]}.json"

    def find(self, cell: Cell, print_: str, budget: float) -> Outcome | None:
        """The stored outcome; None if there is none, or if it was estimated and the budget is now larger."""
        try:
            kept = json.loads(self.path(cell, print_).read_text("utf-8"))
            names = {one.name for one in fields(Outcome)}
            outcome = Outcome(**{key: value for key, value in kept["outcome"].items() if key in names})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # missing or unreadable: measure again and replace it
        if kept.get("fingerprint") != print_:
            return None
        return None if outcome.estimated and budget > (outcome.budget or 0.0) else outcome

    def others(self, records: Sequence[Mapping[str, Any]], version: str) -> list[dict[str, Any]]:
        """The newest records of other cells that this version measured before; ``records`` are left out."""
        paths = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        for path in paths:
            try:
                kept = json.loads(path.read_text("utf-8"))
                if kept["version"] == version:
                    found[_place(kept["cell"])] = kept["cell"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
        here = {_place(one) for one in records}
        return [one for place, one in found.items() if place not in here]

    def save(self, cell: Cell, print_: str, outcome: Outcome) -> None:
        """Store an outcome."""
        from corate import __version__

        self.folder.mkdir(parents=True, exist_ok=True)
        head = {"fingerprint": print_, "version": __version__, "outcome": asdict(outcome)}
        write_text(self.path(cell, print_), json.dumps({**head, "cell": record(cell, outcome)}, indent=1) + "\n")
