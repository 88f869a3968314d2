"""Build the report from records, and write it as a web page and as Markdown. The text is ``templates/report.j2``."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corate.display import counted
from corate.io.atomic import write_text
from corate.pages.charts import standalone
from corate_reproduction import label_bias, paper
from corate_reproduction.peers import PEERS, version
from corate_reproduction.report import figures, tables, worked
from corate_reproduction.report.summary import NAMES, Record, by_table, number, points, seconds
from corate_reproduction.report.writing import TEMPLATES, Figure, Table, written

__all__ = ["write"]

_OWN = ("chunking", "large-labels")
_EXAMPLE = (worked.memm_factors, worked.rate_factors, worked.all_methods)


def write(records: Sequence[Record], folder: Path, *, budget: float, seed: int) -> None:
    """Write ``report.html``, ``report.md`` and the images of ``report.md``."""
    found = by_table(records)
    drawn = _figures(found, folder)
    values = _values(records, found, seed) | {"drawn": drawn, "measured": _measured(records, budget, seed)}
    text = (TEMPLATES / "report.j2").read_text(encoding="utf-8")
    html, markdown = written(text, "Separate training, reproduced", **values)
    write_text(folder / "report.html", html)
    write_text(folder / "report.md", markdown)
    (folder / "figures").mkdir(exist_ok=True)
    for figure in [one for section in drawn.values() for one in section]:
        write_text(folder / "figures" / f"{figure.name}.svg", standalone(figure.svg))


def _figures(found: tables.Tables, folder: Path) -> dict[str, list[Figure]]:
    return {
        "time": figures.accuracy_over_time(found),
        "curves": figures.learning_curves(found),
        "growth": figures.growth(found),
        "rates": figures.rate_maps(folder),
    }


def _values(records: Sequence[Record], found: tables.Tables, seed: int) -> dict[str, Any]:
    """What the template shows besides figures."""
    shuffled = [name for name in found if name[0] == "pos" and "shuffled" in name[1]]
    of = {
        experiment: [_with_notes(name, found[name]) for name in found if name[0] == experiment and name not in shuffled]
        for experiment in ("pos", "ner", *_OWN)
    }
    rounds = [one for one in records if one["experiment"] == "label-bias"]
    example = worked.worked(seed) if rounds else None
    return {
        "in_short": _in_short(found),
        "tables": of | {"shuffled": [_with_notes(name, found[name]) for name in shuffled]},
        "rounds": tables.label_bias_rounds(rounds) if rounds else None,
        "memm_priors": tables.memm_priors(records),
        "example": [table(example) for table in _EXAMPLE] if example else [],
        "others": tables.others(records) if rounds else {},
        "oov_rates": tables.oov_rates(found),
        "ablation": tables.ablation(found) if of["pos"] or shuffled else None,
        "mu": tables.mu(found),
        "priors": tables.priors(found),
        "expected": f"{label_bias.EXPECTED:.2f}",
    }


def _with_notes(name: tuple[str, str], table: Mapping[str, Record]) -> tuple[Table, list[str]]:
    """A table, and the sentences below it."""
    notes = [tables.ratio_text(name, table), tables.shortfalls(table) if name in paper.TABLES else ""]
    return tables.paper_table(name, table), [note for note in notes if note]


def _in_short(found: tables.Tables) -> list[str]:
    """The main results."""
    texts = []
    for simulated in [table for (experiment, _), table in found.items() if experiment == "label-bias"]:
        shown = [method for method in paper.COLUMNS if method in simulated]
        scores = ", ".join(f"{method} {number(simulated[method]['accuracy'])}" for method in shown)
        texts.append(f"**Label bias**, expected best {label_bias.EXPECTED:.2f}: {scores}.")
    compared = [cells for name, cells in found.items() if name in paper.TABLES and name[0] in ("pos", "ner")]
    for method in tables.SEPARATE_METHODS:
        cells = [table[method] for table in compared if method in table and not table[method]["estimated"]]
        if cells:
            ends = {key: [points(cell[key], cell[f"paper_{key}"]) for cell in cells] for key in tables.SHORT}
            reached = {key: sum(p is not None and p > -0.005 for p in those) for key, those in ends.items()}
            texts.append(
                f"**{NAMES[method]}** reaches or exceeds the paper's accuracy on {reached['accuracy']} of "
                f"{counted(len(cells), 'table')}, on OOV words on {reached['accuracy_oov']}, on known words on "
                f"{reached['accuracy_known']}."
            )
    texts += [_against_peers(name, table) for name, table in found.items()]
    texts += [tables.ratio_text(name, table) for name, table in found.items() if name[0] in ("pos", "ner")]
    return [text for text in texts if text]


def _against_peers(name: tuple[str, str], table: Mapping[str, Record]) -> str:
    """Our best method and the best peer with the same features; empty if one is missing."""
    key = "f1" if name[0] == "chunking" else "accuracy"
    done = [cell for cell in table.values() if cell[key] is not None and cell["method"] != "default"]
    ours, theirs = [c for c in done if not c["library"]], [c for c in done if c["library"]]
    if name[0] not in ("pos", "ner", *_OWN) or not ours or not theirs:
        return ""
    best, peer = (max(cells, key=lambda cell: cell[key]) for cells in (ours, theirs))
    results = [f"{NAMES[cell['method']]} {number(cell[key])} in {seconds(cell['seconds'])} s" for cell in (best, peer)]
    return f"On {' '.join(name)}, the same features: **{results[0]}**; {results[1]}."


def _measured(records: Sequence[Record], budget: float, seed: int) -> Table:
    """The versions, the machine and the settings."""
    from corate import __version__

    libraries = sorted({one["library"] for one in records if one["library"]})
    rows = {
        "Corate": __version__,
        "peers": ", ".join(f"{name} {version(name)}" for name in libraries) or "none",
        "Python": f"{platform.python_version()}, {platform.system()}",
        "processor": f"{_processor()}, {counted(os.cpu_count() or 1, 'core')}",
        "threads": ", ".join(sorted({str(one["threads"]) for one in records})),
        "seed": str(seed),
        "budget": f"{budget:g} s per cell",
        "cells": str(len(records)),
    }
    return Table(["", ""], [list(row) for row in rows.items()])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


assert set(PEERS) <= set(NAMES)
