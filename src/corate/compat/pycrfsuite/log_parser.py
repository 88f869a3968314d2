"""Reads the log of a training: what has happened so far, and the numbers of each iteration."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = ["NUMBERS", "LabelScore", "TrainLogParser"]


class LabelScore(NamedTuple):
    """How often a label is right on held-out data; the ratios are None if no held-out item has the label."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)"
_ITERATION = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_ENTRY = re.compile(rf"([^:]+): ({_NUMBER})\s*\n")
_AVERAGES = re.compile(rf"Macro-average precision, recall, F1: \(({_NUMBER}), ({_NUMBER}), ({_NUMBER})\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(r" {4}(.+): \((\d+), (\d+), (\d+)\) \((\S+), (\S+), (\S+)\)\n", re.DOTALL)
_STEPS = {".", *map(str, range(11))}

#: The lines of an iteration that have one number: their titles, the attributes of `Iteration`, and their forms.
NUMBERS = (
    ("Loss", "loss", ".6f"),
    ("Improvement ratio", "improvement", ".6f"),
    ("Feature norm", "feature_norm", ".6f"),
    ("Error norm", "error_norm", ".6f"),
    ("Active features", "active_features", "d"),
    ("Line search trials", "linesearch_trials", "d"),
    ("Line search step", "linesearch_step", ".6f"),
    ("Learning rate (eta)", "learning_rate", ".6f"),
    ("Total number of feature updates", "updates", "d"),
    ("Seconds required for this iteration", "seconds", ".3f"),
)
#: As in python-crfsuite, the parser does not know those of stochastic descent, and calls one otherwise.
_ENTRIES = {
    title: ({"seconds": "time"}.get(name, name), int if form == "d" else float)
    for title, name, form in NUMBERS
    if name not in ("improvement", "learning_rate", "updates")
}


class TrainLogParser:
    r"""Takes the lines of a log one by one.

    ``events`` has a tuple for each part of the log that is complete: its name, the number of its first line in ``log``,
    and that of the line after its last.

    >>> parser = TrainLogParser()
    >>> lines = ["Feature generation\n", "Seconds required: 0.001\n", "***** Iteration #1 *****\n", "Loss: 5.5\n", "\n"]
    >>> [parser.feed(line) for line in lines]
    ['start', 'featgen_end', 'prepared', None, 'iteration']
    >>> parser.last_iteration
    {'num': 1, 'scores': {}, 'loss': 5.5}
    """

    def __init__(self) -> None:
        self.state: str | None = None  #: The part of the log that is being read.
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    @property
    def last_log(self) -> str:
        """The text of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def feed(self, line: str) -> str | None:
        """Take a line; returns the name of the event that it completes, if any."""
        self.log.append(line)
        if self.state is None:
            self.state = "features"
            return self._completed("start")
        readers = {
            "features": self._read_features,
            "preparation": self._read_preparation,
            "iteration": self._read_iteration,
            "between": self._read_between,
            "storing": self._read_storing,
        }
        return readers[self.state](line)

    def _completed(self, event: str, following: int = 0) -> str:
        """Record an event; the last ``following`` lines of the log are not a part of it."""
        start = self.events[-1][2] if self.events else 0
        self.events.append((event, start, len(self.log) - following))
        return event

    def _read_features(self, line: str) -> str | None:
        if line in _STEPS:
            self.featgen_percent += 2
            return self._completed("featgen_progress")
        name, value = _entry(line)
        if name == "Number of features":
            self.featgen_num_features = int(value)
        elif name == "Seconds required":
            self.featgen_seconds = float(value)
            self.state = "preparation"
            return self._completed("featgen_end")
        return self._read_preparation(line)

    def _read_preparation(self, line: str) -> str | None:
        if self._begin_iteration(line):
            return self._completed("prepared", following=1)
        if "terminated with error" in line:
            self.state = "between"
            return self._completed("prepare_error")
        return self._read_between(line)

    def _read_between(self, line: str) -> str | None:
        if self._begin_iteration(line):
            return None
        name, value = _entry(line)
        if name == "Total seconds required for training":
            self.training_seconds = float(value)
        elif line.startswith("Storing the model"):
            self.state = "storing"
            return self._completed("optimization_end", following=1)
        return None

    def _read_storing(self, line: str) -> str | None:
        name, value = _entry(line)
        if name == "Seconds required":
            self.storing_seconds = float(value)
        return self._completed("end") if line == "\n" else None

    # -- iterations ----------------------------------------------------------------------------------------------

    def _begin_iteration(self, line: str) -> bool:
        head = _ITERATION.match(line)
        if head is None:
            return False
        self.state = "iteration"
        self.last_iteration = {"num": int(head[1]), "scores": {}}
        self.iterations.append(self.last_iteration)
        return True

    def _read_iteration(self, line: str) -> str | None:
        if line == "\n":
            self.state = "between"
            return self._completed("iteration")
        assert self.last_iteration is not None
        self.last_iteration.update(_measurements(line))
        label = _LABEL.fullmatch(line)
        if label is not None:
            counts = map(int, label.group(2, 3, 4))
            ratios = (None if set(ratio) == {"*"} else float(ratio) for ratio in label.group(5, 6, 7))
            self.last_iteration["scores"][label[1]] = LabelScore(*counts, *ratios)
        return None


def _entry(line: str) -> tuple[str, str]:
    """The name and the number of a line that has one of each."""
    found = _ENTRY.fullmatch(line)
    return ("", "") if found is None else (found[1], found[2])


def _measurements(line: str) -> dict[str, Any]:
    """The numbers in a line of an iteration by their names."""
    name, value = _entry(line)
    if name in _ENTRIES:
        key, kind = _ENTRIES[name]
        return {key: kind(value)}
    averages = _AVERAGES.match(line)
    if averages is not None:
        names = ("avg_precision", "avg_recall", "avg_f1")
        return dict(zip(names, map(float, averages.groups()), strict=True))
    accuracy = _ACCURACY.match(line)
    if accuracy is not None and int(accuracy[3]):
        key = f"{accuracy[1].lower()}_accuracy"
        share = Fraction(int(accuracy[2]), int(accuracy[3]))
        return {key: share, f"{key}_float": float(share)}
    return {}
