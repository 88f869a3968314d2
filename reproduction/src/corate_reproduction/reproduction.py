"""Run experiments, and write their cells and the report."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corate.io.atomic import write_text
from corate.pages.charts import check_installed
from corate_reproduction import corpora, peers
from corate_reproduction.cells import Cell, Store
from corate_reproduction.corpora import CorporaMissingError, Splits
from corate_reproduction.experiments import EXPERIMENTS, METHODS, corpora_of, generated, grown, plan, samples
from corate_reproduction.running import Data, News, run

__all__ = ["Reproduction", "reproduce"]


@dataclass
class Reproduction:
    """The result: a record of each cell, the report files, the missing corpora and the failed cells."""

    html: Path
    markdown: Path
    records: list[dict[str, Any]] = field(default_factory=list)
    missing: list[CorporaMissingError] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def reproduce(
    experiments: Sequence[str] = EXPERIMENTS,
    *,
    output: Path,
    data: str | os.PathLike[str] | None = None,
    methods: Sequence[str] = METHODS,
    peers: bool = False,
    quick: bool = False,
    order: str = "file",
    budget: float = 300.0,
    seed: int = 0,
    threads: int = 1,
    fresh: bool = False,
    in_words: Callable[[News], None] = lambda news: None,
) -> Reproduction:
    """Run the experiments whose corpora are found; the report in ``output`` shows all cells stored in that folder.

    ``order`` says how the sentences of Brown are split: ``"file"``, ``"shuffled"`` or ``"both"``.
    """
    from corate import __version__
    from corate_reproduction.report import figures, page

    check_installed()
    if quick and tuple(experiments) == EXPERIMENTS:
        experiments = EXPERIMENTS[:3]
    splits, missing = _splits(experiments, order, data)
    here = [name for name in experiments if not missing.keys() & set(corpora_of(name, order))]
    others = _peers() if peers else ()
    cells = plan(here, methods=methods, peers=others, quick=quick, order=order, seed=seed, threads=threads)
    store = Store(output / "cells")
    found = Reproduction(output / "report.html", output / "report.md", missing=_distinct(missing.values()))

    def note(news: News) -> None:
        if news.failure:
            found.failures.append(news.failure)
        in_words(news)

    if cells:
        output.mkdir(parents=True, exist_ok=True)
        with Data.of(_needed(cells, splits)) as written:
            found.records = run(cells, written, store, budget=budget, fresh=fresh, report=note)
        figures.keep_rates(splits, output)
        write_text(output / "cells.json", json.dumps(found.records, indent=1) + "\n")
        page.write(
            _in_order(found.records + store.others(found.records, __version__)), output, budget=budget, seed=seed
        )
    return found


def _in_order(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort records in the order of a full run."""
    full = plan(EXPERIMENTS, peers=list(peers.PEERS), order="both")
    places = {(cell.experiment, cell.split, cell.method): i for i, cell in enumerate(full)}
    return sorted(records, key=lambda one: places.get((one["experiment"], one["split"], one["method"]), len(places)))


def _peers() -> list[str]:
    found = peers.installed()
    if not found:
        warnings.warn("no peer is installed; get python-crfsuite with pip install python-crfsuite", stacklevel=3)
    return found


def _splits(
    experiments: Sequence[str], order: str, data: str | os.PathLike[str] | None
) -> tuple[Splits, dict[str, CorporaMissingError]]:
    """The splits of all corpora that are found, and an error for each missing corpus."""
    places = corpora.folders(data)
    splits: Splits = {}
    missing = {}
    for corpus in dict.fromkeys(name for experiment in experiments for name in corpora_of(experiment, order)):
        try:
            splits |= corpora.build(corpus, places)
        except CorporaMissingError as error:
            missing[corpus] = error
    return splits, missing


def _distinct(errors: Iterable[CorporaMissingError]) -> list[CorporaMissingError]:
    """One error for each source: both orders of Brown are read from the same files."""
    return list({error.corpus: error for error in errors}.values())


def _needed(cells: Sequence[Cell], splits: Splits) -> Splits:
    """The splits that some cells need, including generated ones."""
    have = splits | generated(cells) | samples(splits)
    if any(cell.experiment == "label-growth" for cell in cells):
        have |= grown(splits)
    return {name: have[name] for cell in cells for name in cell.files}
