"""How accurate are the methods that train on whole sentences? `corate train`, then `corate eval`, means over seeds.

`python -m benchmarks.chains_accuracy [--seeds 0,1,2,3,4] [--only TEXT] [--threads 2]`

Each setting has one row for its score and one for its training seconds. The note has the standard deviation over seeds.
A mean within one standard error below its target counts as met, and the table marks it. `standard` is deterministic
(L-BFGS from zero weights), so it uses one seed. If several trainings compete for a target, the most accurate one on the
held-out file counts, and the note has the others.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure
from benchmarks.accuracy import WORDS
from benchmarks.corpora import COLUMNS
from benchmarks.tables import Row, Table, data_folder, joined, parser

DETERMINISTIC = ("standard",)
POLISH = (("polish",),)
#: The second order, which is the default for many labels, and the first.
BOTH_ORDERS = (("polish",), ("polish", "--order", "1"))


@dataclass(frozen=True)
class Setting:
    """Files, features, and the competing trainings, each a method and its options."""

    name: str
    corpus: str
    train: str
    held_out: str
    test: str
    features: str
    measure: str
    least: float
    others: str
    contenders: tuple[tuple[str, ...], ...] = POLISH
    most_seconds: float | None = None


CONLL2000 = ("conll2000", "conll2000.train", "", "conll2000.test", "chunking", "f1")


def brown(split: str, features: str, least: float, others: str, contenders: tuple[tuple[str, ...], ...]) -> Setting:
    """One of the splits of Brown."""
    files = ("brown", f"brown-{split}.train", "brown.held-out", f"brown-{split}.test")
    return Setting(f"brown {split}, {features} features", *files, features, "accuracy", least, others, contenders)


SETTINGS = [
    Setting("conll2000 to the optimum, chunking features", *CONLL2000, 93.6, "CRFsuite 93.61", (("standard",),)),
    Setting("conll2000, chunking features", *CONLL2000, 94.0, "CRFsuite 93.61"),
    Setting(
        "ned, ner features",
        *("ned", "ned.train", "ned.testa", "ned.testb", "ner", "f1"),
        79.5,
        "CRFsuite, rich window: lbfgs 77.1, ap 77.6",
    ),
    Setting(
        "ned, ner features, the second order",
        *("ned", "ned.train", "ned.testa", "ned.testb", "ner", "f1"),
        79.5,
        "CRFsuite, rich window: lbfgs 77.1, ap 77.6",
        (("polish", "--order", "2"),),
    ),
    brown("1000-4000", "pos", 94.1, "MarMoT 93.46", BOTH_ORDERS),
    brown("4000-1000", "pos", 96.4, "MarMoT 95.97", BOTH_ORDERS),
    brown("32k-1000", "pos", 97.55, "MarMoT 97.39", BOTH_ORDERS),
    brown(
        "1000-4000",
        "paper",
        92.8,
        "CRFsuite's best 91.6, Wapiti's 92.1",
        (("polish", "--base", "paper"), ("separate", "--base", "paper")),
    ),
    Setting(
        "sblgnt, 602 labels, pos features",
        *("sblgnt", "sblgnt.train", "", "sblgnt.test", "pos", "accuracy"),
        94.0,
        "MarMoT 93.80, 124 s",
        most_seconds=8.0,
    ),
]


def setting(name: str) -> Setting:
    """A setting by its name."""
    return next(one for one in SETTINGS if one.name == name)


@dataclass(frozen=True)
class Outcome:
    """One contender: percentages over seeds on the test and the held-out file, seconds, and the first run."""

    contender: str
    scores: list[float]
    held_out: list[float]
    seconds: list[float]
    run: measure.Run
    command: str

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return statistics.mean(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores; 0 for a single one."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(len(self.scores))

    def spread(self) -> str:
        """The spread of the scores, for a note."""
        if len(self.scores) == 1:
            return "one seed"
        ends = f"{min(self.scores):.2f} to {max(self.scores):.2f}"
        return f"sd {self.deviation:.2f} of {len(self.scores)} seeds ({ends}), standard error {self.error:.3f}"


def train_command(chosen: Setting, contender: Sequence[str], data: Path, threads: int, seed: int = 0) -> list[str]:
    """The command that trains on a split; the held-out file is not training data."""
    method, *options = contender
    name = "-".join([chosen.train, method, chosen.features, *options]).replace("--", "")
    held_out = ["--held-out", str(data / chosen.held_out)] if chosen.held_out else []
    files = [str(data / chosen.train), "-o", str(data / "models" / f"{name}.corate")]
    asked = ["--method", method, "--features", chosen.features, *options, "--seed", str(seed)]
    always = ["--columns", COLUMNS[chosen.corpus], *held_out, "--threads", str(threads), "--json"]
    return ["corate", "train", *files, *asked, *always]


def trained(chosen: Setting, contender: Sequence[str], data: Path, seeds: Sequence[int], threads: int) -> Outcome:
    """Train and evaluate with every seed."""
    runs, reports, commands = [], [], []
    for seed in seeds[:1] if contender[0] in DETERMINISTIC else seeds:
        command = train_command(chosen, contender, data, threads, seed)
        runs.append(measure.run(command))
        evaluated = measure.run(["corate", "eval", command[4], str(data / chosen.test), "--json"])
        reports.append(evaluated.json())
        commands.append(joined([runs[-1].command, evaluated.command]))
    records = [run.json() for run in runs]
    held_out = [(record.get("held_out") or {}).get("accuracy") for record in records]
    return Outcome(
        " ".join(contender),
        [100 * report[chosen.measure] for report in reports],
        [100 * value for value in held_out if value is not None],
        [record["seconds"] for record in records],
        runs[0],
        commands[0],
    )


def rows(chosen: Setting, data: Path, seeds: Sequence[int], threads: int) -> list[Row]:
    """The score of the contender that the held-out file prefers, and its training seconds."""
    outcomes = [trained(chosen, contender, data, seeds, threads) for contender in chosen.contenders]
    best = max(outcomes, key=lambda one: statistics.mean(one.held_out)) if len(outcomes) > 1 else outcomes[0]
    notes = [best.spread()]
    if len(outcomes) > 1:
        notes[0] += f", {statistics.mean(best.held_out):.2f} held out"
        notes += [
            f"{one.contender} {one.mean:.2f} (sd {one.deviation:.2f}), {statistics.mean(one.held_out):.2f} held out"
            for one in outcomes
            if one is not best
        ]
    command = joined([one.command for one in outcomes])
    name = f"{chosen.name}: {best.contender}"
    score = Row(
        f"{name}, {WORDS[chosen.measure]}",
        best.mean,
        "%",
        at_least=chosen.least,
        note="; ".join([*notes, chosen.others]),
        command=command,
        error=best.error,
    )
    run = best.run
    note = f"whole process {run.wall:.2f} s, {run.cpu:.2f} s of processors, {run.peak_mb:.0f} MB"
    seconds = statistics.median(best.seconds)
    return [score, Row(f"{name}, training", seconds, "s", at_most=chosen.most_seconds, note=note, command=command)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, evaluate, compare."""
    options = parser("chains_accuracy", "Accuracy and F1 of the methods on whole sentences, with targets.")
    options.add_argument("--seeds", default="0,1,2,3,4", help="comma-separated numbers (default: 0,1,2,3,4)")
    options.add_argument("--only", default="", help="only the settings whose name contains this text")
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    question = f"How accurate is training on whole sentences (means over seeds {given.seeds}; {given.threads} threads)?"
    table = Table("chains_accuracy", question)
    for one in SETTINGS:
        if given.only in one.name:
            for row in rows(one, data, seeds, given.threads):
                table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
