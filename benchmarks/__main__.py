"""Run all benchmarks one by one, and print a summary: `python -m benchmarks [--readme] [--strict] [NAME ...]`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora
from benchmarks.tables import RESULTS, markdown, number, target, write_block

SCRIPTS = (
    "accuracy",
    "train_speed",
    "method_times",
    "demo_models",
    "tag_speed",
    "python_call",
    "frames",
    "ready_made",
    "compat",
    "crfsuite_models",
    "answers",
    "inspect_page",
    "growth",
    "memory",
    "disk",
    "context_growth",
    "label_bias",
    "paper",
    "separate_accuracy",
    "separate_speed",
    "label_growth",
    "rate_speed",
    "chains_accuracy",
    "chains_speed",
    "standard_speed",
    "perceptron_speed",
    "raw_text",
    "effects",
    "robustness",
    "active",
    "graphs",
    "graphs_with_features",
    "spark",
)


def results(names: Sequence[str]) -> list[dict[str, Any]]:
    """The tables in benchmarks/results/."""
    paths = [RESULTS / f"{name}.json" for name in names]
    return [json.loads(path.read_text()) for path in paths if path.is_file()]


def summary(tables: Sequence[dict[str, Any]]) -> str:
    """One line for every row with a target; +- means that it is met within one standard error."""
    rows = [(table["name"], row) for table in tables for row in table["rows"] if row["passed"] is not None]
    words = {(True, False): "met   ", (True, True): "met +-", (False, False): "MISSED"}
    lines = [
        f"{words[row['passed'], row.get('narrowly', False)]} {name:18} {row['measure']:66} "
        f"{number(row['value'], row['digits']):>12} {row['unit']:9} {target(row)}"
        for name, row in rows
    ]
    met = sum(bool(row["passed"]) for _, row in rows)
    return "\n".join([*lines, "", f"{met} of {len(rows)} targets met"])


def write_readme(tables: Sequence[dict[str, Any]]) -> None:
    """Insert the tables between their marks in README.md."""
    for table in tables:
        write_block(table["name"], markdown(table, commands=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each script in its own process, so that memory is measured separately; returns 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCRIPTS)} (default: all)")
    parser.add_argument("--data", default=None, help="folder of the splits (default: data/)")
    parser.add_argument("--readme", action="store_true", help="write the results into benchmarks/README.md")
    parser.add_argument("--no-run", action="store_true", help="only show the results in benchmarks/results/")
    parser.add_argument("--full", action="store_true", help="run all CRFsuite trainings to the end (half an hour)")
    parser.add_argument("--strict", action="store_true", help="exit with 2 if a target is missed")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(SCRIPTS):
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}")
    names = given.names or SCRIPTS
    extra = {"accuracy": ["--peers", "all"], "train_speed": ["--full"]} if given.full else {}
    data = ["--data", given.data] if given.data else []
    broken = []
    if not given.no_run:
        corpora.ensure(Path(given.data).resolve() if given.data else None)
        for name in names:
            print(f"== {name}", flush=True)
            command = [sys.executable, "-m", f"benchmarks.{name}", *data, *extra.get(name, [])]
            if subprocess.run(command, cwd=corpora.ROOT).returncode:
                broken.append(name)
    tables = results([name for name in names if name not in broken])
    print(summary(tables))
    if given.readme:
        write_readme(tables)
    if broken:
        print(f"failed: {', '.join(broken)}", file=sys.stderr)
        return 1
    missed = any(row["passed"] is False for table in tables for row in table["rows"])
    return 2 if given.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
