"""Prepare records for tables: means of rounds, display names, differences from the paper."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from corate.display import counted

__all__ = ["HEADERS", "NAMES", "PEER_COLUMNS", "Record", "averaged", "by_table", "number", "points", "rows", "seconds"]

Record = dict[str, Any]

#: The display names of methods.
NAMES = {
    "empirical": "empirical (SP1, our variant)",
    "sp1": "sp1 (SP1, pairs of words)",
    "sp2": "sp2 (SP2 as published)",
    "sp2-features": "sp2-features (SP2, space as printed)",
    "separate": "separate (SP2, our variant)",
    "standard": "standard (CRF++)",
    "piecewise": "piecewise (PW)",
    "memm": "memm (MEMMs)",
    "polish": "polish",
    "default": "default",
    "crfsuite-lbfgs": "python-crfsuite, L-BFGS",
    "crfsuite-ap": "python-crfsuite, perceptron",
    "sklearn-crfsuite": "sklearn-crfsuite, L-BFGS",
    "chaine": "chaine, perceptron",
}
#: The display names as column headers; lines after the first are shown smaller.
HEADERS = {method: re.sub(r"(, | \()(.*?)\)?$", r"\n\2", name) for method, name in NAMES.items()}
#: The paper's column in which a peer is shown: likelihood training with CRF++, the others in their own columns.
PEER_COLUMNS = {"crfsuite-lbfgs": "standard", "sklearn-crfsuite": "standard"}
_SCORES = ("accuracy", "accuracy_known", "accuracy_oov", "f1", "seconds")


def averaged(records: Sequence[Record]) -> list[Record]:
    """The label-bias rounds averaged to one record per method; other records unchanged.

    >>> rounds = [{"experiment": "label-bias", "split": f"round {i}", "method": "memm", "accuracy": 0.6 + i / 10,
    ...            "accuracy_known": None, "accuracy_oov": None, "f1": None, "seconds": 1.0} for i in (0, 1)]
    >>> [(one["split"], round(one["accuracy"], 2)) for one in averaged(rounds)]
    [('mean of 2 rounds', 0.65)]
    """
    rounds: dict[str, list[Record]] = {}
    rest = []
    for one in records:
        if one["experiment"] == "label-bias":
            rounds.setdefault(one["method"], []).append(one)
        else:
            rest.append(one)
    means = []
    for group in rounds.values():
        mean = {key: _mean([one[key] for one in group]) for key in _SCORES}
        means.append({**group[0], **mean, "split": f"mean of {counted(len(group), 'round')}"})
    return [*means, *rest]


def _mean(values: Iterable[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return statistics.mean(kept) if kept else None


def by_table(records: Sequence[Record]) -> dict[tuple[str, str], dict[str, Record]]:
    """By experiment and split, then by method, in the order given."""
    found: dict[tuple[str, str], dict[str, Record]] = {}
    for one in averaged(records):
        found.setdefault((one["experiment"], one["split"]), {})[one["method"]] = one
    return found


def number(fraction: float | None, digits: int = 2) -> str:
    """A fraction in percent, without the sign.

    >>> number(0.86512), number(None)
    ('86.51', '-')
    """
    return "-" if fraction is None else f"{100 * fraction:.{digits}f}"


def seconds(value: float | None, *, estimated: bool = False) -> str:
    """A time in seconds, as text.

    >>> seconds(0.0312), seconds(12.345), seconds(4571806.5), seconds(900.0, estimated=True), seconds(None)
    ('0.03', '12.3', '4,571,806', '~900 est.', 'over budget')
    """
    if value is None:
        return "over budget"
    shown = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
    return f"~{shown} est." if estimated else shown


def points(ours: float | None, paper: float | None) -> float | None:
    """The difference from the paper's figure, in percentage points; both are fractions."""
    return None if ours is None or paper is None else 100 * (ours - paper)


#: Experiments that only the report shows.
_DETAILS = ("label-bias-others", "memm-priors", "mu", "priors")


def rows(records: Sequence[Record]) -> list[list[str]]:
    """One line per cell, for a terminal; without priors and values of mu."""
    found = []
    for one in averaged([one for one in records if one["experiment"] not in _DETAILS]):
        time = "over budget" if one["estimated"] and one["seconds"] is None else seconds(one["seconds"])
        found.append(
            [
                f"{one['experiment']} {one['split']}",
                one["method"],
                *(number(one[key]) for key in ("accuracy", "accuracy_known", "accuracy_oov", "f1")),
                f"~{time} estimated" if one["estimated"] else time,
                number(one["paper_accuracy"]),
                "-" if one["paper_seconds"] is None else seconds(one["paper_seconds"]),
            ]
        )
    return found
