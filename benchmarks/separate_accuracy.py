"""How accurate is separate training? `corate train --method separate`, then `corate eval`, means over seeds.

`python -m benchmarks.separate_accuracy [--seeds 0,1,2] [--only TEXT] [--threads 2]`

One row per measure. The main training, which has the targets, uses the default coupling (given the nodes). The note has
the results of the same features without base scores (`--base none`) and with the paper's own coupling (`--coupling
joint`: independent node and pair models). With the paper's features the main training uses the paper's ladder (`--base
paper`: word, then spelling), so that it uses only these features; otherwise it uses the default base.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure
from benchmarks.accuracy import WORDS
from benchmarks.corpora import BROWN_SPLITS, COLUMNS
from benchmarks.tables import Row, Table, data_folder, joined, parser


@dataclass(frozen=True)
class Setting:
    """Files and features; `least` has the target percentages, `others` the results of others, for the note."""

    name: str
    corpus: str
    train: str
    held_out: str
    test: str
    features: str
    least: dict[str, float]
    others: dict[str, str]

    @property
    def main_options(self) -> tuple[str, ...]:
        """The options of the main training, which has to reach the targets."""
        return ("--base", "paper") if self.features == "paper" else ()

    def variants(self) -> dict[str, tuple[str, ...]]:
        """The options of the other trainings. With few labels and rich features they too consider every label."""
        every = ("--all-labels",) if self.features in ("ner", "chunking") else ()
        return {"base none": ("--base", "none", *every), "joint": ("--coupling", "joint", *every)}


# The paper's SP2 column: all, unknown and known words. Known words may be 0.3 below it.
PAPER = {
    "1000-4000": (86.8, 56.3, 94.9),
    "2500-2500": (90.2, 58.6, 95.6),
    "4000-1000": (91.9, 61.4, 96.2),
    "17k-16k": (94.2, 61.0, 96.4),
    "32k-1000": (95.6, 70.4, 96.8),
}
# Targets above the paper, which a peer reaches.
HIGHER = {"1000-4000": 92.5}


def brown_paper(split: str) -> Setting:
    """One of the five splits with the paper's features."""
    every, oov, known = PAPER[split]
    least = {
        "accuracy": HIGHER.get(split, every),
        "accuracy_oov": oov,
        "accuracy_known": round(known - 0.3, 2),
    }
    others = {
        "accuracy": f"paper SP2 {every}" + ("; CRFsuite 91.6, Wapiti 92.1" if split in HIGHER else ""),
        "accuracy_oov": f"paper SP2 {oov}",
        "accuracy_known": f"paper SP2 {known}",
    }
    files = ("brown", f"brown-{split}.train", "brown.held-out", f"brown-{split}.test")
    return Setting(f"brown {split}, paper features", *files, "paper", least, others)


NED = ("ned", "ned.train", "ned.testa", "ned.testb")
NED_OTHERS = {
    "accuracy": "paper SP2 96.14; CRF++ 96.6",
    "accuracy_oov": "paper SP2 72.7; CRF++ 80.0",
}
SETTINGS = [
    Setting("ned, paper features", *NED, "paper", {"accuracy": 96.6, "accuracy_oov": 80.0}, NED_OTHERS),
    *(brown_paper(split) for split in BROWN_SPLITS),
    Setting("ned, ner features", *NED, "ner", {"f1": 77.0}, {"f1": "CRFsuite, rich window 77.1"}),
    Setting(
        "conll2000, chunking features",
        "conll2000",
        "conll2000.train",
        "",
        "conll2000.test",
        "chunking",
        {"f1": 93.4},
        {"f1": "CRFsuite 93.6"},
    ),
    Setting(
        "brown 32k-1000, pos features",
        "brown",
        "brown-32k-1000.train",
        "brown.held-out",
        "brown-32k-1000.test",
        "pos",
        {"accuracy": 97.2},
        {"accuracy": "CRFsuite ap 97.15, MarMoT 97.39"},
    ),
]


@dataclass(frozen=True)
class Outcome:
    """The scores of one variant, a list over seeds for each; `command` is from the first seed."""

    scores: dict[str, list[float]]
    seconds: list[float]
    run: measure.Run
    command: str

    def text(self, key: str) -> str:
        """Mean and spread of a score."""
        values = self.scores[key]
        return f"{statistics.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def train_command(setting: Setting, options: Sequence[str], data: Path, threads: int, seed: int = 0) -> list[str]:
    """The command that trains on a split; the held-out file is only for tuning."""
    name = "-".join([setting.train, "separate", setting.features, *options]).replace("--", "")
    held_out = ["--held-out", str(data / setting.held_out)] if setting.held_out else []
    always = ["--columns", COLUMNS[setting.corpus], *held_out, "--threads", str(threads), "--json"]
    files = [str(data / setting.train), "-o", str(data / "models" / f"{name}.corate")]
    chosen = ["--method", "separate", "--features", setting.features, *options, "--seed", str(seed)]
    return ["corate", "train", *files, *chosen, *always]


def trained(setting: Setting, options: Sequence[str], data: Path, seeds: Sequence[int], threads: int) -> Outcome:
    """Train and evaluate with every seed."""
    runs, reports, commands = [], [], []
    for seed in seeds:
        command = train_command(setting, options, data, threads, seed)
        run = measure.run(command)
        evaluated = measure.run(["corate", "eval", command[4], str(data / setting.test), "--json"])
        runs.append(run)
        reports.append(evaluated.json())
        commands.append(joined([run.command, evaluated.command]))
    scores = {key: [100 * report[key] for report in reports] for key in WORDS if reports[0].get(key) is not None}
    return Outcome(scores, [run.json()["seconds"] for run in runs], runs[0], commands[0])


def rows(setting: Setting, data: Path, seeds: Sequence[int], threads: int) -> list[Row]:
    """The measures with a target, then training seconds."""
    main_outcome = trained(setting, setting.main_options, data, seeds, threads)
    others = {name: trained(setting, options, data, seeds, threads) for name, options in setting.variants().items()}
    command = joined([main_outcome.command, *(one.command for one in others.values())])
    found = []
    for key, least in setting.least.items():
        values = main_outcome.scores[key]
        beside = "; ".join(f"{name} {one.text(key)}" for name, one in others.items())
        note = f"seeds {min(values):.2f} to {max(values):.2f}; {beside}; {setting.others[key]}"
        name = f"{setting.name}: {WORDS[key]}"
        found.append(Row(name, statistics.mean(values), "%", at_least=least, note=note, command=command))
    beside = "; ".join(f"{name} {statistics.median(one.seconds):.2f} s" for name, one in others.items())
    run = main_outcome.run
    note = f"whole process {run.wall:.2f} s, {run.cpu:.2f} s of processors, {run.peak_mb:.0f} MB; {beside}"
    seconds = statistics.median(main_outcome.seconds)
    return [*found, Row(f"{setting.name}: training", seconds, "s", note=note, command=command)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, evaluate, compare."""
    options = parser("separate_accuracy", "Accuracy and F1 of separate training, with targets.")
    options.add_argument("--seeds", default="0,1,2", help="comma-separated numbers (default: 0,1,2)")
    options.add_argument("--only", default="", help="only the settings whose name contains this text")
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    question = f"How accurate is separate training (means over seeds {given.seeds}; {given.threads} threads)?"
    table = Table("separate_accuracy", question)
    for setting in SETTINGS:
        if given.only in setting.name:
            for row in rows(setting, data, seeds, given.threads):
                table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
