"""The section about simulated data other than the paper's: which methods have label bias, with which priors."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from corate_reproduction import label_bias
from corate_reproduction.experiments import PRIOR_VALUES
from corate_reproduction.report.blocks import Block, Heading, Paragraph, Table
from corate_reproduction.report.summary import HEADERS, Record, number

__all__ = ["others"]

_SETTINGS = (*(f"c2 = {value:g}" for value in PRIOR_VALUES), "default")
_ABOUT = {
    "uneven branching": "R1 I B occurs as often as the four sequences R2 O0 B to R2 O3 B together. Each of I, O0 to O3 "
    "and B has a symbol of its own, R1 and R2 share theirs. One label can follow R1, four can follow R2.",
    "last of four": "A1 B1 C1 D1 and A2 B2 C2 D2 are equally likely. Only D1 and D2 have different symbols, so the "
    "last symbol decides all four labels.",
    "last of eight": "The same with sequences of eight labels.",
}


def others(records: Sequence[Record]) -> list[Block]:
    """A table for each data set: methods by priors, as means of the rounds and differences from the optimal rule."""
    blocks: list[Block] = []
    for name in label_bias.OTHERS:
        own = [
            one for one in records if one["experiment"] == "label-bias-others" and one["split"].startswith(f"{name}, ")
        ]
        if not own:
            continue
        rule = _rule(name, sorted({one["seed"] for one in own}))
        methods = list(dict.fromkeys(one["method"] for one in own))
        rows = [[HEADERS[method], *(_cell(own, method, setting, rule) for setting in _SETTINGS)] for method in methods]
        blocks += [
            Paragraph(_ABOUT[name]),
            Table(["", *_SETTINGS], rows, f"{name.capitalize()}; the optimal rule has {rule:.2f}"),
        ]
    intro = Paragraph(
        "Simulated data that are not in the paper. Each label emits its own symbol with probability 29/32, and the "
        "other symbols of the data are equally likely. The tables have means of the rounds in percent, and differences "
        "from the rule that chooses the most likely label at each token. For sp2 and separate, sigma2 = 1 / (2 c2). "
        "empirical has no prior, and polish keeps its own."
    )
    return [Heading("Uneven branching, and a last symbol that decides", 3), intro, *blocks] if blocks else []


def _rule(name: str, seeds: Sequence[int]) -> float:
    """The mean accuracy of the optimal rule on the test samples, in percent."""
    simulation = label_bias.OTHERS[name]
    return statistics.mean(simulation.optimal(label_bias.sample(seed, simulation)[1]) for seed in seeds)


def _cell(records: Sequence[Record], method: str, setting: str, rule: float) -> str:
    found = [
        one["accuracy"]
        for one in records
        if one["method"] == method and f", {setting}, " in one["split"] and one["accuracy"] is not None
    ]
    if not found:
        return "-"
    mean = statistics.mean(found)
    return f"{number(mean)}\n{100 * mean - rule:+.2f}"
