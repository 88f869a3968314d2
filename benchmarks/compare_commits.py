"""Do two commits train the same models, as quickly? `python -m benchmarks.compare_commits BASE [HEAD]`

For changes that only move code: models, labels and times must not change. The default HEAD is the working tree, with
uncommitted and new files. Each commit is exported and installed, as users install it, into its own environment under
`build/compare/`, which is kept for the next run. The script uses only the command line (`corate train`, `corate tag`),
which does not change when modules move.

Models: every method and some variants are trained on every corpus. Tensors are compared by name, dtype, shape and
bytes, headers by value (except seconds and versions), and the output of `corate tag` line by line.

Times: the wall seconds of whole processes. The commits take turns (base, head, head, base, ...), so that a machine that
slows down affects both. Two consecutive runs make a pair. A commit counts as slower if three figures exceed the limit:
the ratio of medians, the ratio of minima, and the geometric mean of the pairs' ratios minus two standard errors.

The exit code is 1 if a model or a label differs, and with `--check` also if the head is slower. Without the
corpora (see `benchmarks/corpora.py`) only the made-up addresses of `corate demo` are compared.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.commits import FOLDER, Commit, install, lock
from benchmarks.model_differences import RECORD, differences, label_differences
from benchmarks.tables import Row, Table, parser

LIMIT = 1.03  # for training and tagging
START_UP_LIMIT = 1.0
FEWEST_PAIRS = 3  # fewer give no useful standard error


# --- Times ----------------------------------------------------------------------------------------------------------


def turns(repeats: int) -> list[int]:
    """The order of runs, 0 for the base and 1 for the head: 0, 1, 1, 0, 0, 1, ..."""
    return [side for i in range(repeats) for side in ((0, 1) if i % 2 == 0 else (1, 0))]


@dataclass(frozen=True)
class Times:
    """Seconds of both commits; values with the same index ran one after the other."""

    base: Sequence[float]
    head: Sequence[float]

    @property
    def of_medians(self) -> float:
        """The head's median divided by the base's."""
        return statistics.median(self.head) / statistics.median(self.base)

    @property
    def of_minima(self) -> float:
        """The head's minimum divided by the base's; a busy machine can only add time."""
        return min(self.head) / min(self.base)

    @property
    def logarithms(self) -> list[float]:
        """The logarithm of each pair's ratio."""
        return [math.log(head / base) for base, head in zip(self.base, self.head, strict=True)]

    @property
    def mean(self) -> float:
        """Geometric mean of the pairs' ratios."""
        return math.exp(statistics.mean(self.logarithms))

    @property
    def error(self) -> float:
        """Standard error of the mean's logarithm; infinite if there are too few pairs."""
        pairs = self.logarithms
        return statistics.stdev(pairs) / math.sqrt(len(pairs)) if len(pairs) >= FEWEST_PAIRS else math.inf

    def slower(self, limit: float) -> bool:
        """Whether the head takes more than `limit` times as long, beyond noise."""
        surely = math.exp(math.log(self.mean) - 2 * self.error)
        return min(self.of_medians, self.of_minima, surely) > limit


def summary(times: Sequence[Times]) -> tuple[float, float]:
    """Geometric mean of the ratios of medians, and the standard error of its logarithm, from the parts' errors."""
    mean = math.exp(statistics.mean(math.log(one.of_medians) for one in times))
    return mean, math.sqrt(sum(one.error**2 for one in times)) / len(times)


# --- Cases ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """A corpus: the file to train on, the file to tag, and their columns."""

    name: str
    train: Path
    test: Path
    columns: str


@dataclass(frozen=True)
class Case:
    """One training; `items` gives CRFsuite's ready-made features instead of words."""

    name: str
    options: tuple[str, ...] = ()
    items: bool = False

    @property
    def method(self) -> str:
        """The first word of the name."""
        return self.name.split(",")[0]


FEW = ("--set", "iterations=10")
CASES = [
    Case("empirical"),
    Case("empirical, pooled", ("--ladder", "pooled", "--features", "pos")),
    Case("empirical, paper", ("--ladder", "paper")),
    Case("empirical, items", items=True),
    Case("separate"),
    Case("separate, joint", ("--features", "paper", "--base", "none", "--coupling", "joint")),
    Case("polish"),
    Case("polish, order 2", ("--order", "2", "--set", "passes=2")),
    Case("polish, half", ("--half", "--set", "passes=2")),
    # Without words every label is a candidate everywhere; the second order would take minutes on brown.
    Case("polish, items", ("--order", "1", "--set", "passes=1"), items=True),
    Case("standard", FEW),
    Case("standard, seen", ("--transitions", "seen", "--no-boundaries", "--set", "c1=1", *FEW)),
    Case("piecewise", FEW),
    Case("memm", FEW),
    Case("perceptron"),
]
METHODS = list(dict.fromkeys(case.method for case in CASES))
#: The splits to train on and to tag, and how many sentences to train on.
SPLITS = {
    "conll2000": ("conll2000.train", "conll2000.test", 2_000),
    "brown": ("brown-1000-4000.train", "brown-1000-4000.test", 1_000),
    "ned": ("ned.train", "ned.testb", 4_000),
}


def items(sentences: Iterable[corpora.Sentence]) -> str:
    """CRFsuite's layout: the label, the columns around each token, the end of the word, and a number."""

    def line(sentence: corpora.Sentence, i: int) -> str:
        found = [
            f"{column}[{offset}]={value}"
            for offset in (-1, 0, 1)
            if 0 <= i + offset < len(sentence)
            for column, value in enumerate(sentence[i + offset][:-1])
        ]
        word = sentence[i][0]
        names = [name.replace("\\", "\\\\").replace(":", "\\:") for name in [*found, f"end={word[-3:]}"]]
        return "\t".join([sentence[i][-1], *names, f"length:{len(word)}"])

    return "\n".join("".join(line(one, i) + "\n" for i in range(len(one))) for one in sentences)


def with_items(text: Text) -> Text:
    """The same text, also written as items beside the files."""
    for path in (text.train, text.test):
        path.with_name(path.name + ".items").write_text(items(corpora.load(path)), "utf-8")
    return text


def texts(data: Path | None, names: Sequence[str], base: Commit) -> list[Text]:
    """The corpora, cut to a small size; if there are none, the base's demo addresses, with a warning."""
    folder = FOLDER / "texts"
    folder.mkdir(exist_ok=True)
    try:
        source = corpora.ensure(data.resolve() if data else None)
    except corpora.CorporaMissing as missing:
        print(f"WARNING: {missing}\nWARNING: only the made-up addresses of `corate demo` are compared", flush=True)
        measure.run([base.corate, "demo", "--write", str(folder)])
        return [with_items(Text("demo", folder / "train.tsv", folder / "test.tsv", "word,label"))]
    found = []
    for name in names:
        train, test, sentences = SPLITS[name]
        text = Text(name, folder / f"{name}.train", folder / f"{name}.test", corpora.COLUMNS[name])
        corpora.write(corpora.load(source / train)[:sentences], text.train)
        corpora.write(corpora.load(source / test), text.test)
        found.append(with_items(text))
    return found


# --- The comparison -------------------------------------------------------------------------------------------------


def commands(commit: Commit, case: Case, text: Text, threads: int) -> tuple[list[str], list[str], Path, Path]:
    """The commands to train and to tag, and the files of the model and of the tagged text."""
    end, layout = (".items", ("--format", "items")) if case.items else ("", ("--columns", text.columns))
    train, test = (str(measure.from_root(path.with_name(path.name + end))) for path in (text.train, text.test))
    output = commit.folder / "output"
    output.mkdir(exist_ok=True)
    name = f"{text.name}-{case.name.replace(', ', '-').replace(' ', '-')}"
    model, tagged = output / f"{name}.corate", output / f"{name}.tagged"
    shared = [*layout, "--threads", str(threads)]
    training = ["train", train, "-o", str(measure.from_root(model)), "--method", case.method, "--seed", "0"]
    tagging = ["tag", str(measure.from_root(model)), test, "-o", str(measure.from_root(tagged))]
    full = [[commit.corate, *training, *shared, *case.options, "--json"], [commit.corate, *tagging, *shared]]
    return full[0], full[1], model, tagged


def compare_case(
    table: Table, commits: tuple[Commit, Commit], case: Case, text: Text, threads: int, repeats: int
) -> tuple[Times, Times, list[str]] | None:
    """Times of training and tagging, and the differences; None, after adding a row, if a commit cannot train it."""
    plans = [commands(commit, case, text, threads) for commit in commits]
    training: tuple[list[float], list[float]] = ([], [])
    tagging: tuple[list[float], list[float]] = ([], [])
    try:
        for side in turns(repeats):
            train, tag, _, _ = plans[side]
            training[side].append(measure.run(train).wall)
            tagging[side].append(measure.run(tag).wall)
    except SystemExit as failed:
        note = f"{commits[side].name}: {' '.join(str(failed).split())}"
        table.add(Row(f"{text.name}, {case.name}: commands that fail", 1, at_most=0, digits=0, note=note))
        return None
    found = differences(plans[0][2], plans[1][2]) + label_differences(plans[0][3], plans[1][3])
    return Times(*training), Times(*tagging), found


def time_row(name: str, times: Times, commits: tuple[Commit, Commit], limit: float, command: str = "") -> Row:
    """Medians side by side; the note has the other figures that decide."""
    spread = f"pairs {times.mean:.3f}" + (f" ± {times.error * times.mean:.3f}" if times.error < math.inf else "")
    note = f"minima {times.of_minima:.3f}, {spread}" + (f", SLOWER than {limit:.2f}" if times.slower(limit) else "")
    medians = [statistics.median(side) for side in (times.base, times.head)]
    return Row(name, medians[1], "s", peer=medians[0], peer_name=commits[0].name, note=note, command=command, digits=3)


def start_up(commits: tuple[Commit, Commit], repeats: int) -> Times:
    """Times of `corate --version`, after one run of each to fill the disk cache."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for side in (0, 1):
        measure.run([commits[side].corate, "--version"])
    for side in turns(repeats):
        seconds[side].append(measure.run([commits[side].corate, "--version"]).wall)
    return Times(*seconds)


def names_of(known: Sequence[str], given: str | None, what: str) -> list[str]:
    """The names in a comma-separated list; all known names if it is None."""
    chosen = given.split(",") if given else list(known)
    if unknown := [name for name in chosen if name not in known]:
        raise SystemExit(f"unknown {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen


def compare(given: argparse.Namespace, methods: Sequence[str], chosen: Sequence[str], repeats: int) -> int:
    """Install, run and print everything; returns the exit code."""
    commits = (install(given.base), install(given.head))
    packages = [commit.packages() for commit in commits]
    if unlike := sorted(dict(packages[0].items() ^ packages[1].items())):
        print(f"WARNING: the environments differ in {', '.join(unlike)}; remove {measure.from_root(FOLDER)}")
    named = " and ".join(commit.name for commit in commits)
    table = Table("compare_commits", f"Do {named} train the same models, as quickly?")
    table.machine |= {"corate": named, "numpy": packages[1].get("numpy", "?")}

    slower: list[str] = []
    trainings: list[Times] = []
    taggings: list[Times] = []
    for text in texts(given.data, chosen, commits[0]) if given.only != "startup" else ():
        for case in (case for case in CASES if case.method in methods):
            compared = compare_case(table, commits, case, text, given.threads, repeats)
            if compared is None:
                continue
            training, tagging, found = compared
            name = f"{text.name}, {case.name}"
            if given.only != "times":
                for line in found:
                    print(f"  {name}: {line}", flush=True)
                wrong = [line for line in found if not line.startswith(RECORD)]
                table.add(Row(f"{name}: differences", len(wrong), at_most=0, digits=0, note="; ".join(wrong)))
            if given.only != "tensors":
                trainings.append(training)
                taggings.append(tagging)
                for what, times in (("training", training), ("tagging", tagging)):
                    table.add(time_row(f"{name}: {what}", times, commits, LIMIT))
                    slower += [f"{name}: {what}"] if times.slower(LIMIT) else []
    for what, all_times in (("training", trainings), ("tagging", taggings)):
        if all_times:
            mean, error = summary(all_times)
            known = error < math.inf
            note = f"standard error {error:.3f}" if known else "too few repeats to measure noise"
            table.add(Row(f"{what}: geometric mean of ratios", mean, digits=3, note=note))
            slower += [f"{what}: geometric mean"] if known and mean * math.exp(-2 * error) > LIMIT else []
    if given.only in (None, "startup"):
        times = start_up(commits, given.starts)
        table.add(time_row("start-up", times, commits, START_UP_LIMIT, "corate --version"))
        slower += ["start-up"] if times.slower(START_UP_LIMIT) else []
    table.finish()

    differ = [row.measure for row in table.rows if row.passed is False]
    if differ or given.only in (None, "tensors"):
        print(f"models and labels: {'DIFFER in ' + '; '.join(differ) if differ else 'the same'}")
    if given.only != "tensors":
        print(f"slower beyond noise: {'; '.join(slower) or 'nothing'}")
    return 1 if differ or (given.check and slower) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two commits; returns 1 if they differ, or with --check if the second is slower."""
    command = parser("compare_commits", "Compare the models and the times of two commits.")
    command.add_argument("base", metavar="BASE", help="the commit before the change")
    command.add_argument("head", metavar="HEAD", nargs="?", help="the commit after it (default: the working tree)")
    command.add_argument("--only", choices=("tensors", "times", "startup"), help="compare only this (default: all)")
    command.add_argument("--methods", help=f"some of {','.join(METHODS)} (default: all)")
    command.add_argument("--corpora", help=f"some of {','.join(SPLITS)} (default: all)")
    command.add_argument("--repeats", type=int, default=5, help="how often training and tagging are timed (default: 5)")
    command.add_argument("--starts", type=int, default=30, help="how often start-up is timed (default: 30)")
    command.add_argument("--threads", type=int, default=1, help="threads of training and tagging (default: 1)")
    command.add_argument("--check", action="store_true", help="exit with 1 also if HEAD is slower beyond noise")
    given = command.parse_args(arguments)
    methods = names_of(METHODS, given.methods, "method")
    chosen = names_of(list(SPLITS), given.corpora, "corpus")
    repeats = 1 if given.only == "tensors" else given.repeats
    timed = () if given.only == "tensors" else (repeats,) if given.only == "times" else (repeats, given.starts)
    if min(repeats, given.starts) < 1:
        command.error("--repeats and --starts must be at least 1")
    if given.check and timed and min(timed) < FEWEST_PAIRS:
        command.error(f"--check needs --repeats and --starts of at least {FEWEST_PAIRS} to measure noise")
    os.environ.pop("PYTHONPATH", None)  # each environment must use only its own Corate
    with lock():
        return compare(given, methods, chosen, repeats)


if __name__ == "__main__":
    sys.exit(main())
