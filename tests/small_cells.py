"""Small splits, and cells on them."""

from __future__ import annotations

from corate.demo import addresses
from corate_reproduction.cells import Cell
from corate_reproduction.corpora import Splits
from corate_reproduction.experiments import training_options


def splits() -> Splits:
    lines = [[(token, label) for token, label in line] for line in addresses(90, 3)]
    return {"tiny.train": lines[:60], "tiny.test": lines[60:]}


def cell(method: str, **more: object) -> Cell:
    options = training_options(method, "paper", "paper")
    return Cell("tiny", "addresses", method, "tiny.train", "tiny.test", options=options, **more)  # type: ignore[arg-type]
