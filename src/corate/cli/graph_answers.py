"""Answers of ``corate graph query``, each as data for JSON and as rows for a table or for CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from corate.io.streams import open_output

if TYPE_CHECKING:
    from corate.graphs import GraphModel

__all__ = ["Answer", "answers", "best_states", "joint", "marginals", "most_likely", "write_csv"]

#: What ``--json`` prints, and the header and the rows of the table.
Answer: TypeAlias = tuple[Mapping[str, Any], list[str], list[list[str]]]


def answers(
    model: GraphModel, rows: Any, chosen: Sequence[str], most_likely: bool, threads: int
) -> tuple[list[str], Iterable[Sequence[Any]]]:
    """The header and the rows of the answers to a table of evidence."""
    if most_likely:
        best = model.most_likely(rows, threads=threads)
        return list(chosen), zip(*(best[name].tolist() for name in chosen), strict=True)
    found = model.marginals(rows, threads=threads)
    header = [f"{name}={state}" for name in chosen for state in model.states[name]]
    columns = [column for name in chosen for column in found[name].T.tolist()]
    return header, zip(*columns, strict=True)


def write_csv(output: str | None, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV, to a file or to standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with open_output(output) as stream:
        stream.write(text.getvalue().encode())


def marginals(model: GraphModel, chosen: Sequence[str], known: Mapping[str, Any]) -> Answer:
    """The probabilities of all states of each variable."""
    found = model.marginals(known)
    facts = {name: dict(zip(map(str, model.states[name]), found[name].tolist(), strict=True)) for name in chosen}
    rows = [[name, state, f"{p:.6f}"] for name, states in facts.items() for state, p in states.items()]
    return facts, ["variable", "state", "probability"], rows


def most_likely(model: GraphModel, chosen: Sequence[str], known: Mapping[str, Any]) -> Answer:
    """The most likely joint states."""
    best = model.most_likely(known)
    return {name: best[name] for name in chosen}, ["variable", "state"], [[name, str(best[name])] for name in chosen]


def best_states(model: GraphModel, chosen: Sequence[str], known: Mapping[str, Any], n: int, threads: int) -> Answer:
    """The ``n`` most likely joint states with their probabilities."""
    best = [({name: states[name] for name in chosen}, p) for states, p in model.nbest(n, known, threads=threads)]
    rows = [[*map(str, states.values()), f"{p:.6f}"] for states, p in best]
    return {"nbest": [{"states": states, "probability": p} for states, p in best]}, [*chosen, "probability"], rows


def joint(model: GraphModel, chosen: Sequence[str], known: Mapping[str, Any]) -> Answer:
    """The joint probabilities of some variables."""
    import numpy as np

    cells = model.joint(chosen, known)
    rows = [
        [*(str(model.states[name][i]) for name, i in zip(chosen, at, strict=True)), f"{cells[at]:.6f}"]
        for at in np.ndindex(cells.shape)
    ]
    facts = {"variables": list(chosen), "cells": [[*row[:-1], float(row[-1])] for row in rows]}
    return facts, [*chosen, "probability"], rows
