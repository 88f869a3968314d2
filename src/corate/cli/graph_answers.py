"""What ``corate graph`` prints: answers of a model as a table on the terminal, as CSV, or as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from corate.cli.terminal import print_json, show_table
from corate.io.streams import open_output

if TYPE_CHECKING:
    from corate.graphs import GraphModel

__all__ = ["answers", "show", "show_best", "show_cells", "write_csv"]


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


def show(found: Mapping[str, Any], json: bool, output: str | None, header: Sequence[str]) -> None:
    """States, or probabilities of states, of variables."""
    if json:
        print_json(found)
        return
    rows: list[list[str]] = []
    for name, answer in found.items():
        if isinstance(answer, Mapping):
            rows += [[name, state, f"{p:.6f}"] for state, p in answer.items()]
        else:
            rows.append([name, str(answer)])
    if output is not None:
        write_csv(output, header, rows)
    else:
        show_table(rows, header)


def show_best(
    chosen: Sequence[str], best: Sequence[tuple[Mapping[str, Any], float]], json: bool, output: str | None
) -> None:
    """Joint states with their probabilities."""
    if json:
        listed = [{"states": {name: states[name] for name in chosen}, "probability": p} for states, p in best]
        print_json({"nbest": listed})
        return
    rows = [[*(str(states[name]) for name in chosen), f"{p:.6f}"] for states, p in best]
    if output is not None:
        write_csv(output, [*chosen, "probability"], rows)
    else:
        show_table(rows, [*chosen, "probability"])


def show_cells(model: GraphModel, chosen: Sequence[str], cells: Any, json: bool, output: str | None) -> None:
    """The joint probabilities of some variables."""
    import numpy as np

    rows = [
        [*(str(model.states[name][i]) for name, i in zip(chosen, at, strict=True)), f"{cells[at]:.6f}"]
        for at in np.ndindex(cells.shape)
    ]
    header = [*chosen, "probability"]
    if json:
        print_json({"variables": list(chosen), "cells": [[*row[:-1], float(row[-1])] for row in rows]})
    elif output is not None:
        write_csv(output, header, rows)
    else:
        show_table(rows, header)
