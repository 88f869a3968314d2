"""Does the default hold on text that nobody tuned it for? Corate without options and CRFsuite on many data sets.

`python -m benchmarks.battery [--sets NAME ...] [--seeds N] [--part held-out|test] [--lbfgs] [--ours-only] [--readme]`

On each set, Corate gets the training file and no option, and CRFsuite (ap, 10 passes) the features of Corate's default,
and a rich window. Everything runs on one thread. By default the test files are not used: training is on the first nine
tenths of each training file, and the scores are those of the rest of it.

The seconds of both are those of a whole process from file to model, start-up of Python included. Tagging is timed from
sentences in memory to labels, features included.

Rows are written to `benchmarks/results/battery-PART.json` one by one, where they replace earlier rows of the same set.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure
from benchmarks.battery_sets import DataSet, Files, Pair, chosen_sets, write_files
from benchmarks.battery_side import corate_scores
from benchmarks.tables import RESULTS, number, parser, write_block
from corate.errors import DataError

PASSES = 10
HELD_OUT, TEST = "held-out", "test"
#: What is told about a set, whether more is better, and its digits. Scores are in percent in the table.
MEASURES = {
    "accuracy": (True, 2),
    "accuracy_oov": (True, 1),
    "f1": (True, 2),
    "seconds": (False, 2),
    "cpu": (False, 2),
    "tokens_per_second": (True, 0),
    "bytes": (False, 1),
}
TIMED = ("seconds", "cpu", "tokens_per_second")
SCALES = {"accuracy": 100.0, "accuracy_oov": 100.0, "f1": 100.0, "bytes": 1e-6}
HEADS = ("accuracy", "OOV", "F1", "seconds", "processor", "tokens/s", "MB")
NAMES = {
    HELD_OUT: "trained on the first nine tenths of each training file, evaluated on the rest of it",
    TEST: "trained on the training files, evaluated on the TEST FILES",
}

Row = dict[str, Any]


def ours(data_set: DataSet, files: Files, seeds: int) -> dict[str, Any]:
    """Train the default with each seed. Scores and speed are means, seconds the median."""
    model = files.train.with_suffix(".corate")
    runs, found = [], []
    features = data_set.features[0] if data_set.ready_made else "words"
    for seed in range(seeds):
        train, chosen = str(measure.from_root(files.given(features).train)), ["--seed", str(seed)] if seed else []
        if features == "dicts":
            command = ["python", "-m", "benchmarks.battery_side", "corate", train, str(model), *chosen]
        else:
            command = ["corate", "train", train, "-o", str(measure.from_root(model)), *chosen, "--json"]
        runs.append(measure.run(command))
        found.append(corate_scores(files, model, features))
    record = runs[0].json()
    main = "f1" if found[0]["f1"] is not None else "accuracy"
    means = {
        name: None if found[0][name] is None else statistics.mean(one[name] for one in found)
        for name in (*MEASURES, "accuracy_known")
        if name not in ("seconds", "cpu")
    }
    return means | {
        "seconds": statistics.median(run.wall for run in runs),
        "cpu": statistics.median(run.cpu for run in runs),
        "seconds_training": statistics.median(run.json()["seconds"] for run in runs),
        "peak_mb": max(run.peak_mb for run in runs),
        "seeds": seeds,
        "deviation": statistics.stdev(one[main] for one in found) if seeds > 1 else None,
        "chosen": {name: record.get(name) for name in ("base", "lattice", "order", "settings")},
        "command": runs[0].command,
    }


def peer(files: Files, features: str, algorithm: str, limit: float) -> dict[str, Any]:
    """CRFsuite's results, or only the time limit if it is over."""
    model = files.train.with_suffix(f".{features}-{algorithm}.crfsuite")
    paths = [str(measure.from_root(path)) for path in (files.train, files.test, model)]
    passes = ["--passes", str(PASSES)] if algorithm == "ap" else []
    options = ["--features", features, "--algorithm", algorithm, *passes]
    try:
        run = measure.run(["python", "-m", "benchmarks.battery_side", "crfsuite", *paths, *options], limit=limit)
    except measure.OverLimitError:
        return {"over": limit}
    report = run.json()
    apart = report.pop("not_training")
    return report | {"seconds": run.wall - apart["seconds"], "cpu": run.cpu - apart["cpu"], "command": run.command}


def about(sentences: Pair) -> dict[str, int]:
    """Counts of the training and test sentences; OOV are the test tokens whose word is not in training."""
    train, test = sentences
    known = {row[0] for sentence in train for row in sentence}
    tokens, tested = (sum(map(len, part)) for part in sentences)
    oov = sum(row[0] not in known for sentence in test for row in sentence)
    return {"tokens": tokens, "test_tokens": tested, "oov_tokens": oov, "labels": len(corpora.labels(train))}


def main_measure(row: Row) -> str:
    """F1 if the labels mark spans, else accuracy."""
    return "accuracy" if row["ours"]["f1"] is None else "f1"


def best(row: Row, name: str) -> float | None:
    """The best value of any peer; None without one."""
    values = [one[name] for one in row["peers"].values() if one.get(name) is not None]
    return (max if MEASURES[name][0] else min)(values, default=None)


def difference(row: Row) -> float | None:
    """F1 or accuracy less that of the best peer, in points; None without a peer."""
    name = main_measure(row)
    theirs = best(row, name)
    return None if theirs is None else 100 * (row["ours"][name] - theirs)


def worst_first(rows: Sequence[Row]) -> list[Row]:
    """By the difference to the best peer; rows without a peer are last."""
    differences = [(difference(row), row) for row in rows]
    return [row for _, row in sorted(differences, key=lambda one: math.inf if one[0] is None else one[0])]


def same_run(row: Row) -> bool:
    """Whether all peers ran together with Corate. Otherwise times are not compared: the machine may have changed."""
    return all(one["started"] == row["started"] for one in row["peers"].values())


def behind(row: Row, name: str) -> bool:
    """Whether a peer is better; for OOV, by more than one standard error of the peer's share."""
    mine, theirs = row["ours"][name], best(row, name)
    if mine is None or theirs is None or (name in TIMED and not same_run(row)):
        return False
    error = math.sqrt(theirs * (1 - theirs) / max(row["oov_tokens"], 1)) if name == "accuracy_oov" else 0.0
    return bool(mine + error < theirs if MEASURES[name][0] else mine > theirs)


def cell(row: Row, name: str) -> str:
    """Our value and the best of the peers, in bold if the peer's is better."""
    scale, digits = SCALES.get(name, 1.0), MEASURES[name][1]
    if row["ours"][name] is None:
        return ""
    values = [row["ours"][name], best(row, name)]
    shown = " / ".join(number(value * scale, digits) for value in values if value is not None)
    return f"**{shown}**" if behind(row, name) else shown


def peers_note(row: Row) -> str:
    """Which peers there are, which of them were stopped, and which are of an earlier run."""

    def in_words(name: str, one: dict[str, Any]) -> str:
        over = f" over {one['over']:g} s" if "over" in one else ""
        return name + over + (f" ({one['started']})" if one["started"] != row["started"] else "")

    return ", ".join(in_words(name, one) for name, one in row["peers"].items())


def cells(row: Row) -> list[str]:
    """The columns of one row."""
    points, quickest = difference(row), best(row, "seconds")
    return [
        row["set"],
        f"{row['tokens']:,} + {row['test_tokens']:,}",
        str(row["labels"]),
        "" if points is None else f"{points:+.2f}",
        *(cell(row, name) for name in MEASURES),
        "" if quickest is None or not same_run(row) else f"{quickest / row['ours']['seconds']:.1f}",
        peers_note(row),
    ]


def markdown(result: dict[str, Any]) -> str:
    """The table, worst row first."""
    head = ["set", "tokens", "labels", "difference", *HEADS, "times faster", "CRFsuite"]
    lines = [head, ["---"] * len(head), *map(cells, worst_first(result["rows"]))]
    text = [f"**Does the default hold on text that nobody tuned it for?** ({NAMES[result['part']]})", ""]
    text += ["| " + " | ".join(line) + " |" for line in lines]
    machine = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
    dates = sorted(row["started"] for row in result["rows"])
    seeds = sorted({row["ours"]["seeds"] for row in result["rows"]})
    text += [
        "",
        "Tokens: the number to train on + the number to evaluate on. Values: Corate / the best result of CRFsuite. A "
        "value is in bold if CRFsuite is better (OOV: by more than one standard error). The difference is in points of "
        "F1, or of accuracy if there is no F1. *Times faster* compares wall seconds from file to model. "
        "*processor* shows processor seconds. A date marks a result of CRFsuite from an earlier run; times are not "
        f"compared with it. Values are means over {' or '.join(map(str, seeds))} seed(s).",
        "",
        f"Rows of {dates[0]} to {dates[-1]}: {machine}." if dates else "",
    ]
    return "\n".join(text)


def earlier(path: Path) -> dict[str, Row]:
    """The rows of earlier runs by the name of their set."""
    return {row["set"]: row for row in json.loads(path.read_text())["rows"]} if path.is_file() else {}


def kept_peers(old: Row | None, counts: dict[str, int]) -> dict[str, Any]:
    """The peers of an earlier row, if it was of the same sentences."""
    same = old is not None and all(old[name] == value for name, value in counts.items())
    return dict(old["peers"]) if old is not None and same else {}


def commit() -> str:
    """The commit that is measured, with a + if files have changed since."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, cwd=corpora.ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def measured(data_set: DataSet, given: Any, source: Path, old: Row | None) -> Row:
    """One row: Corate, then the peers that are asked for. Earlier results of other peers are kept."""
    started = time.strftime("%Y-%m-%d %H:%M")
    target = given.data.resolve() if given.data else corpora.target_folder()
    files, sentences = write_files(data_set, given.part, source, target / "battery")
    counts = about(sentences)
    del sentences
    mine = ours(data_set, files, given.seeds)
    peers = kept_peers(old, counts)
    for algorithm in ("ap", "lbfgs") if given.lbfgs else ("ap",):
        for features in () if given.ours_only else data_set.features:
            print(f"    CRFsuite {algorithm}, {features} features ...", flush=True)
            peers[f"{algorithm} {features}"] = peer(files, features, algorithm, given.limit) | {"started": started}
    return {
        "set": data_set.name,
        "part": given.part,
        "started": started,
        "commit": commit(),
        **counts,
        "ours": mine,
        "peers": peers,
    }


def run_sets(given: Any, path: Path) -> dict[str, Any]:
    """Measure each set and write the results after each; Ctrl-C keeps what is done."""
    source, rows, done = corpora.source_folder(), earlier(path), []
    machine = measure.machine()
    try:
        for data_set in chosen_sets(given.sets):
            print(f"  {data_set.name} ...", flush=True)
            try:
                row = measured(data_set, given, source, rows.get(data_set.name))
            except (DataError, corpora.CorporaMissing) as problem:
                print(f"  SKIPPED {data_set.name}: {problem}", file=sys.stderr, flush=True)
                continue
            rows[data_set.name] = row
            done.append(data_set.name)
            print("    " + " | ".join(filter(None, cells(row))), flush=True)
            RESULTS.mkdir(exist_ok=True)
            result = {"name": "battery", "part": given.part, "machine": machine, "rows": [*rows.values()]}
            path.write_text(json.dumps(result, indent=2) + "\n")
    except KeyboardInterrupt:
        print("interrupted: the rows so far are kept", file=sys.stderr)
    return {"part": given.part, "machine": machine, "rows": [rows[name] for name in done]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sets and print one table."""
    options = parser("battery", "The default and CRFsuite on many data sets.")
    options.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="names of sets, or parts of names")
    options.add_argument("--seeds", type=int, default=1, help="means over this many seeds of Corate (default: 1)")
    options.add_argument("--part", choices=(HELD_OUT, TEST), default=HELD_OUT, help="where the scores come from")
    options.add_argument("--lbfgs", action="store_true", help="CRFsuite's lbfgs too, which takes hours")
    options.add_argument("--ours-only", action="store_true", help="keep CRFsuite's results of an earlier run")
    options.add_argument("--limit", type=float, default=600.0, help="the most seconds of a CRFsuite (default: 600)")
    options.add_argument("--no-run", action="store_true", help="only show the results of earlier runs")
    options.add_argument("--readme", action="store_true", help="write all rows into benchmarks/README.md")
    given = options.parse_args(arguments)
    path = RESULTS / f"battery-{given.part}.json"
    if not given.no_run:
        if given.part == TEST:
            print("This run evaluates on the TEST FILES. Decide nothing by it; list it where runs are listed.")
        print("\n" + markdown(run_sets(given, path)) + "\n", flush=True)
    elif not path.is_file():
        raise SystemExit(f"{path} is missing; run without --no-run first")
    if given.no_run or given.readme:
        table = markdown(json.loads(path.read_text()))
        if given.no_run:
            print(table)
        if given.readme:
            write_block("battery", table)


if __name__ == "__main__":
    main()
