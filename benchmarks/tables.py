"""Rows with targets, printed as Markdown tables and written as JSON."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure

WITHIN_ERROR = "within one standard error"
RESULTS = Path(__file__).resolve().parent / "results"
README = RESULTS.with_name("README.md")


@dataclass(frozen=True)
class Row:
    """One measured value; `at_least` or `at_most` is its target, `peer` is the peer's value in the same run.

    `error` is the standard error of a mean; a value within one standard error of its target counts as met, and the
    table marks it.
    """

    measure: str
    value: float
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    peer: float | None = None
    peer_name: str = ""
    note: str = ""
    command: str = ""
    digits: int = 2
    error: float = 0.0

    @property
    def passed(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.at_least is None and self.at_most is None:
            return None
        enough = self.at_least is None or self.value + self.error >= self.at_least
        return enough and (self.at_most is None or self.value - self.error <= self.at_most)

    @property
    def narrowly(self) -> bool:
        """Whether the target is met only within the standard error."""
        return bool(self.passed) and not replace(self, error=0.0).passed

    @property
    def ratio(self) -> float | None:
        """The value divided by the peer's."""
        return self.value / self.peer if self.peer else None


@dataclass
class Table:
    """The answer to one question."""

    name: str
    question: str
    rows: list[Row] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=measure.machine)
    started: str = field(default_factory=lambda: time.strftime("%Y-%m-%d %H:%M"))

    def add(self, row: Row) -> None:
        """Add a row and print it at once: some take minutes."""
        self.rows.append(row)
        print(f"  {row.measure}: {number(row.value, row.digits)} {row.unit}{verdict(row)}", flush=True)

    def finish(self) -> None:
        """Print the table and write benchmarks/results/NAME.json."""
        print("\n" + markdown(self.as_json()) + "\n", flush=True)
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{self.name}.json").write_text(json.dumps(self.as_json(), indent=2) + "\n")

    def as_json(self) -> dict[str, Any]:
        """The table with verdicts and ratios, ready for JSON."""
        found = ("passed", "narrowly", "ratio")
        rows = [asdict(row) | {name: getattr(row, name) for name in found} for row in self.rows]
        return {
            "name": self.name,
            "question": self.question,
            "started": self.started,
            "machine": self.machine,
            "rows": rows,
        }


def number(value: float | None, digits: int = 2) -> str:
    """A number with thousands separators; empty for None."""
    return "" if value is None else f"{value:,.{digits}f}"


def verdict(row: Row) -> str:
    """The verdict, for a line of progress."""
    if row.passed is None:
        return ""
    return f" (met{', ' + WITHIN_ERROR if row.narrowly else ''})" if row.passed else " (MISSED)"


def target(row: dict[str, Any]) -> str:
    """`>= 97.15`, `<= 1.00` or nothing."""
    least, most = row["at_least"], row["at_most"]
    parts = [f">= {number(least, row['digits'])}"] if least is not None else []
    return " and ".join(parts + ([f"<= {number(most, row['digits'])}"] if most is not None else []))


def cells(row: dict[str, Any]) -> list[str]:
    """The columns of one row."""
    value = f"{number(row['value'], row['digits'])} {row['unit']}".strip()
    peer = f"{number(row['peer'], row['digits'])} ({row['peer_name']})" if row["peer"] is not None else ""
    ratio = f"{row['ratio']:.3g}" if row["ratio"] is not None else ""
    met = {None: "", True: "yes", False: "**no**"}[row["passed"]]
    if row.get("narrowly"):
        met = WITHIN_ERROR
    return [row["measure"], value, target(row), met, peer, ratio, row["note"]]


def markdown(table: dict[str, Any], commands: bool = False) -> str:
    """A table as read from its JSON; with `commands`, each row is followed by its command."""
    head = ["measure", "Corate", "target", "met", "peer", "ratio", "note"]
    body = [cells(row) for row in table["rows"]]
    used = [i for i in range(len(head)) if i < 2 or any(row[i] for row in body)]
    lines = [head, ["---"] * len(head), *body]
    text = [f"**{table['question']}**", ""]
    text += ["| " + " | ".join(line[i].replace("|", "\\|") for i in used) + " |" for line in lines]
    about = ", ".join(f"{key} {value}" for key, value in table["machine"].items())
    text += ["", f"Run of {table['started']}: {about}."]
    if commands:
        shown = dict.fromkeys(line for row in table["rows"] for line in row["command"].split("\n") if line)
        text += ["", "```sh", *shown, "```"] if shown else []
    return "\n".join(text)


def write_block(name: str, text: str) -> None:
    """Insert a text between its marks in README.md."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = README.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{README.name}: the marks {begin} ... {end} of the table {name} are missing")
    README.write_text(f"{before}{begin}\n{text}\n{end}{after}", "utf-8")


def parser(module: str, description: str) -> argparse.ArgumentParser:
    """The arguments that every script takes."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{module}", description=description)
    made.add_argument("--data", type=Path, default=None, help="folder of the splits (default: data/, made if missing)")
    return made


def data_folder(given: Path | None) -> Path:
    """The folder of the splits, relative to the root of the checkout, where commands run."""
    folder = corpora.ensure(given.resolve() if given else None)
    (folder / "models").mkdir(exist_ok=True)
    return measure.from_root(folder)


def joined(commands: Sequence[str]) -> str:
    """Join several commands of one row."""
    return "\n".join(commands)
