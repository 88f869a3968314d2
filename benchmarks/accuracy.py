"""How accurate are the taggers? Accuracies come from the command line: `corate train`, then `corate eval`.

`python -m benchmarks.accuracy [--peers none|quick|all] [--only TEXT]`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.corpora import BROWN_SPLITS, COLUMNS
from benchmarks.tables import Row, Table, data_folder, joined, parser


@dataclass(frozen=True)
class Setting:
    """One training and test; `least` has the target accuracies and F1 in percent, `most` the most seconds."""

    name: str
    corpus: str
    train: str
    held_out: str
    test: str
    options: tuple[str, ...]
    least: dict[str, float]
    most_seconds: float | None = None
    peer: str = ""


@dataclass(frozen=True)
class Peer:
    """A CRFsuite training on the same files; `slow` ones take a minute or more and need --peers all."""

    name: str
    train: str
    test: str
    features: str
    algorithm: str
    passes: int | None = None
    slow: bool = False

    def command(self, data: Path) -> list[str]:
        """The command line of `python -m benchmarks.peers`."""
        model = data / "models" / f"{self.train}-{self.features}-{self.algorithm}.crfsuite"
        files = [str(data / self.train), str(model), "--test", str(data / self.test)]
        passes = ["--passes", str(self.passes)] if self.passes else []
        options = ["--features", self.features, "--algorithm", self.algorithm, *passes]
        return ["python", "-m", "benchmarks.peers", *files, *options]


def ned(name: str, options: str, least: dict[str, float], peer: str, most_seconds: float | None = None) -> Setting:
    """Dutch entities, tuned on testa, tested on testb."""
    files = ("ned", "ned.train", "ned.testa", "ned.testb")
    return Setting(f"ned testb, {name}", *files, tuple(options.split()), least, most_seconds, peer)


def brown(split: str, name: str, options: str, least: dict[str, float]) -> Setting:
    """One of the five splits, tuned on the thousand held-out sentences."""
    files = ("brown", f"brown-{split}.train", "brown.held-out", f"brown-{split}.test")
    peer = f"brown {split} simple" if split in ("1000-4000", "4000-1000", "32k-1000") else ""
    return Setting(f"brown {split}, {name}", *files, tuple(options.split()), least, None, peer)


DEFAULT_BACKOFF = {"1000-4000": 93.4, "2500-2500": 95.0, "4000-1000": 95.5, "17k-16k": 96.8, "32k-1000": 96.9}
# The paper's SP1 column: all, unknown and known words. Known words may be 0.3 below it.
PAPER = {
    "1000-4000": (86.7, 55.9, 94.9),
    "2500-2500": (90.0, 58.2, 95.5),
    "4000-1000": (91.7, 60.5, 96.1),
    "17k-16k": (94.18, 60.8, 96.4),
    "32k-1000": (95.6, 70.1, 96.9),
}


def paper_targets(split: str) -> dict[str, float]:
    """Accuracies in percent."""
    every, oov, known = PAPER[split]
    return {"accuracy": every, "accuracy_oov": oov, "accuracy_known": round(known - 0.3, 2)}


CHUNKING = Setting(
    "conll2000, chunking features, pooled",
    "conll2000",
    "conll2000.train",
    "",
    "conll2000.test",
    ("--features", "chunking", "--ladder", "pooled"),
    {"f1": 92.4},
    3.0,
    "conll2000 chunking",
)
SETTINGS = [
    ned("default back-off", "--ladder default", {"accuracy": 97.15, "f1": 71.5}, "ned simple"),
    ned("paper back-off", "--ladder paper", {"accuracy": 96.1}, "ned simple"),
    *(
        brown(split, "default back-off", "--ladder default", {"accuracy": DEFAULT_BACKOFF[split]})
        for split in BROWN_SPLITS
    ),
    *(brown(split, "paper back-off", "--ladder paper", paper_targets(split)) for split in BROWN_SPLITS),
    ned("ner features, pooled", "--features ner --ladder pooled", {"f1": 75.5}, "ned rich", 3.0),
    CHUNKING,
    ned("nothing chosen", "", {}, "ned simple"),
    brown("32k-1000", "nothing chosen", "", {}),
]
PEERS = [
    Peer("ned simple", "ned.train", "ned.testb", "simple", "ap"),
    Peer("ned rich", "ned.train", "ned.testb", "rich", "lbfgs", 100, slow=True),
    Peer("conll2000 chunking", "conll2000.train", "conll2000.test", "chunking", "lbfgs", slow=True),
    Peer("brown 1000-4000 simple", "brown-1000-4000.train", "brown-1000-4000.test", "simple", "ap"),
    Peer("brown 4000-1000 simple", "brown-4000-1000.train", "brown-4000-1000.test", "simple", "ap", slow=True),
    Peer("brown 32k-1000 simple", "brown-32k-1000.train", "brown-32k-1000.test", "simple", "ap", 10, slow=True),
]
WORDS = {"accuracy": "accuracy", "accuracy_oov": "accuracy OOV", "accuracy_known": "accuracy known", "f1": "F1"}


def commands(setting: Setting, data: Path) -> tuple[list[str], list[str]]:
    """The commands for training and evaluation."""
    model = data / "models" / f"{setting.train}-{'-'.join(setting.options).replace('--', '') or 'plain'}.corate"
    held_out = ["--held-out", str(data / setting.held_out)] if setting.held_out else []
    columns = ["--columns", COLUMNS[setting.corpus]]
    always = ["--method", "empirical", *setting.options, *columns, *held_out, "--threads", "1", "--json"]
    train = ["corate", "train", str(data / setting.train), "-o", str(model), *always]
    return train, ["corate", "eval", str(model), str(data / setting.test), "--json"]


def measured(setting: Setting, data: Path, peer: dict[str, Any] | None) -> list[Row]:
    """The rows of one setting: scores with a target (without targets: all scores), then training seconds."""
    train, evaluate = (measure.run(command) for command in commands(setting, data))
    trained, scores = train.json(), evaluate.json()
    command = joined([train.command, evaluate.command])
    wanted: dict[str, float | None] = {**setting.least} or {"accuracy": None, "f1": None}
    rows = [
        Row(
            f"{setting.name}: {WORDS[key]}",
            100 * scores[key],
            "%",
            at_least=least,
            peer=100 * peer[key] if peer and peer.get(key) is not None else None,
            peer_name=setting.peer,
            command=command,
        )
        for key, least in wanted.items()
        if scores.get(key) is not None
    ]
    seconds = Row(
        f"{setting.name}: training",
        trained["seconds"],
        "s",
        at_most=setting.most_seconds,
        peer=peer["seconds"] if peer else None,
        peer_name=setting.peer,
        note=f"whole process {train.wall:.2f} s, {train.peak_mb:.0f} MB",
        command=command,
    )
    return [*rows, seconds]


def peer_scores(data: Path, which: str, settings: Sequence[Setting]) -> dict[str, dict[str, Any]]:
    """CRFsuite's scores by name, for the peers of the chosen settings."""
    needed = {setting.peer for setting in settings}
    chosen = [peer for peer in PEERS if which == "all" or (which == "quick" and not peer.slow)]
    found = {}
    for peer in chosen:
        if peer.name in needed:
            print(f"  CRFsuite: {peer.name} ...", flush=True)
            found[peer.name] = measure.run(peer.command(data)).json()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, evaluate, compare."""
    options = parser("accuracy", "Accuracy and F1 of every split, with targets.")
    options.add_argument("--peers", choices=("none", "quick", "all"), default="quick", help="CRFsuite trainings")
    options.add_argument("--only", default="", help="only the rows whose name contains this text")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("accuracy", "How accurate are the taggers, and how long does training take?")
    settings = [setting for setting in SETTINGS if given.only in setting.name]
    peers = peer_scores(data, given.peers, settings)
    for setting in settings:
        for row in measured(setting, data, peers.get(setting.peer)):
            table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
