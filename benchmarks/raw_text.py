"""What is text without labels worth, and how fast are word classes learned?

`python -m benchmarks.raw_text [--seeds 0,1,2] [--only TEXT] [--threads 1]`

Training on small splits of Brown, without raw text, with it, and with the text of the test file among it, which is
called transductive. The raw text is what comes after the first 6,000 of the shuffled sentences, so it has no sentence
of these test files. Accuracy is the mean over seeds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.tables import Row, Table, data_folder, joined, parser

RAW, ALL_TEXT = "brown-raw.txt", "brown-32k-1000.train.txt"
CLASSES = 256
MOST_SECONDS = 4.0
#: The small splits, and the accuracy that is wanted with raw text.
SPLITS = {"1000-4000": 95.1, "4000-1000": None}


def write_text(sentences: Sequence[corpora.Sentence], path: Path) -> None:
    """Write the words, one sentence per line."""
    path.write_text("".join(" ".join(row[0] for row in sentence) + "\n" for sentence in sentences), "utf-8")


def write_raw(data: Path) -> None:
    """Write the raw texts: without the small splits, the test files of these, and the text for measuring speed."""
    most, last = (corpora.load(data / f"brown-32k-1000.{part}") for part in ("train", "test"))
    corpora.require("sentences of raw text", len(most[5000:] + last), 28_536)
    write_text(most[5000:] + last, data / RAW)
    write_text(most, data / ALL_TEXT)
    for split in SPLITS:
        write_text(corpora.load(data / f"brown-{split}.test"), data / f"brown-{split}.test.txt")


def accuracy_row(split: str, kind: str, raw: Sequence[str], data: Path, seeds: Sequence[int], threads: int) -> Row:
    """The mean accuracy on one split."""
    model, test = data / "models" / f"brown-{split}-{kind}.corate", data / f"brown-{split}.test"
    scores, oov, seconds, commands = [], [], [], []
    for seed in seeds:
        asked = [word for text in raw for word in ("--raw", str(data / text))]
        files = [str(data / f"brown-{split}.train"), "-o", str(model), *asked]
        run = measure.run(["corate", "train", *files, "--seed", str(seed), "--threads", str(threads), "--json"])
        evaluated = measure.run(["corate", "eval", str(model), str(test), "--json"])
        report = evaluated.json()
        scores.append(100 * report["accuracy"])
        oov.append(100 * report["accuracy_oov"])
        seconds.append(run.wall)
        commands.append(joined([run.command, evaluated.command]))
    deviation = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return Row(
        f"brown {split}, {kind}, accuracy",
        statistics.mean(scores),
        "%",
        at_least=SPLITS[split] if kind == "raw text" else None,
        note=f"OOV {statistics.mean(oov):.2f}; sd {deviation:.2f} of {len(scores)} seeds; whole process "
        f"{statistics.median(seconds):.2f} s; model {(measure.ROOT / model).stat().st_size / 1e6:.1f} MB",
        command=commands[0],
        error=deviation / math.sqrt(len(scores)),
    )


def speed_row(data: Path, threads: int) -> Row:
    """The seconds of `corate classes` on the large training file."""
    files = [str(data / ALL_TEXT), "-o", str(data / "models" / "classes.tsv")]
    command = ["corate", "classes", *files, "--classes", str(CLASSES), "--threads", str(threads), "--json"]
    runs = measure.repeat(command, 3)
    facts = runs[0].json()
    best, median = measure.best_and_median(runs)
    return Row(
        f"word classes: {facts['tokens']:,} tokens, {facts['words']:,} words, {CLASSES} classes, {threads} thread"
        + "s" * (threads > 1),
        median,
        "s",
        at_most=MOST_SECONDS if threads == 1 else None,
        note=f"whole process; best {best:.2f} s, {runs[0].cpu:.2f} s of processors, {runs[0].peak_mb:.0f} MB",
        command=runs[0].command,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train with and without raw text; time the clustering."""
    options = parser("raw_text", "The worth of text without labels, and the speed of word classes.")
    options.add_argument("--seeds", default="0,1,2", help="comma-separated numbers (default: 0,1,2)")
    options.add_argument("--only", default="", help="only the rows whose name contains this text")
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    write_raw(measure.ROOT / data)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    table = Table("raw_text", f"What is text without labels worth (means over seeds {given.seeds})?")
    for split in SPLITS:
        kinds = {"no raw text": [], "raw text": [RAW], "transductive": [RAW, f"brown-{split}.test.txt"]}
        for kind, raw in kinds.items():
            if given.only in f"brown {split}, {kind}, accuracy":
                table.add(accuracy_row(split, kind, raw, data, seeds, given.threads))
    for threads in (1, 2):
        if given.only in "word classes":
            table.add(speed_row(data, threads))
    table.finish()


if __name__ == "__main__":
    main()
