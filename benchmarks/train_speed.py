"""How fast is training, from file to model on disk, in seconds and megabytes of the whole process?

`python -m benchmarks.train_speed [--runs 5] [--peer-passes 1] [--full]`

python-crfsuite trains on the same file with word and spelling features in the same run. Ten of its passes take minutes,
so by default one is timed, and ten are estimated (time outside passes plus ten times the mean pass); --full runs ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import measure
from benchmarks.corpora import COLUMNS
from benchmarks.tables import Row, Table, data_folder, parser

PASSES = 10


def corate_commands(data: Path) -> dict[str, list[str]]:
    """The commands; the first, plain one has the targets."""
    file = str(data / "brown-32k-1000.train")
    base = ["corate", "train", file, "-o", str(data / "models" / "brown-32k.corate"), "--method", "empirical"]
    common = ["--columns", COLUMNS["brown"], "--threads", "1", "--json"]
    held_out = ["--held-out", str(data / "brown.held-out")]
    return {
        "plain": [*base, *common],
        "--ladder default": [*base, "--ladder", "default", *common],
        "--ladder default, held-out file": [*base, "--ladder", "default", *held_out, *common],
        "--ladder paper, held-out file": [*base, "--ladder", "paper", *held_out, *common],
    }


def peer_command(data: Path, passes: int) -> list[str]:
    """The command of CRFsuite; its model is kept for the tagging benchmark."""
    files = [str(data / "brown-32k-1000.train"), str(data / "models" / "brown-32k.crfsuite")]
    options = ["--features", "simple", "--algorithm", "ap", "--passes", str(passes)]
    return ["python", "-m", "benchmarks.peers", *files, *options]


def add_corate(table: Table, data: Path, runs: int) -> float:
    """Add all rows of Corate; returns the median wall seconds of the plain command."""
    median_of_plain = 0.0
    for name, command in corate_commands(data).items():
        done = measure.repeat(command, runs)
        best, median = measure.best_and_median(done)
        plain = name == "plain"
        inside = min(one.json()["seconds"] for one in done)
        note = f"best {best:.2f} s of {runs}; training alone {inside:.2f} s"
        shown = done[0].command
        table.add(Row(f"{name}: median", median, "s", at_most=1.0 if plain else None, note=note, command=shown))
        peak = max(one.peak_mb for one in done)
        table.add(Row(f"{name}: peak memory", peak, "MB", at_most=400 if plain else None, command=shown, digits=0))
        median_of_plain = median_of_plain or median
    return median_of_plain


def add_peer(table: Table, data: Path, passes: int, corate_seconds: float) -> None:
    """Add CRFsuite's time of ten passes, measured or estimated, and its ratio to Corate's."""
    print(f"  CRFsuite: {passes} pass(es) ...", flush=True)
    run = measure.run(peer_command(data, passes))
    found = run.json()
    real = found["passes"] >= PASSES
    seconds = found["seconds"] if real else found["estimated_10_passes"]
    how = f"{found['passes']} passes, measured" if real else f"ESTIMATED from {found['passes']} pass(es)"
    reading = found["read_seconds"] + found["feature_seconds"]
    note = f"{how}; reading and features ({reading:.1f} s) left out; peak {run.peak_mb:.0f} MB"
    table.add(Row("CRFsuite ap, 10 passes, training alone", seconds, "s", note=note, command=run.command, digits=1))
    times = Row(
        "CRFsuite's training / Corate's whole process",
        seconds / corate_seconds,
        "times",
        at_least=300,
        note=how,
        digits=0,
    )
    table.add(times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both on the same file."""
    options = parser("train_speed", "Time and memory of training on the largest Brown split.")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--peer-passes", type=int, default=1, help="CRFsuite's timed passes; 0 omits it")
    options.add_argument("--full", action="store_true", help="time all ten passes of CRFsuite")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("train_speed", "How fast is training on brown 32k, whole process, file to model on disk?")
    median = add_corate(table, data, given.runs)
    passes = PASSES if given.full else given.peer_passes
    if passes:
        add_peer(table, data, passes, median)
    table.finish()


if __name__ == "__main__":
    main()
