"""Do two commits train the same models, as quickly? `python -m benchmarks.compare_commits BASE [HEAD]`

For changes that only move code: models, labels and times must not change. The default HEAD is the working tree, with
uncommitted and new files. Each commit is exported and installed, as users install it, into its own environment under
`build/compare/`, which is kept for the next run. The script uses only the command line (`corate train`, `corate tag`)
and public Python (`benchmarks/compare_side.py`), which do not change when modules move.

Models: every method and some variants (CASES) are trained on every corpus, and many other ways to train and to tag
(WAYS) on a small text. Tensors are compared by name, dtype, shape and bytes, headers by value (except seconds and
versions), and the output of `corate tag` line by line. Python runs once on the small text with each commit: other
programs' interfaces, training further, answers. Its models are compared in the same way, numbers to 1e-6.

Times: the wall seconds of whole processes. The commits take turns (base, head, head, base, ...), so that a machine that
slows down affects both. Two consecutive runs make a pair. A commit counts as slower if three figures exceed the limit:
the ratio of medians, the ratio of minima, and the geometric mean of the pairs' ratios minus two standard errors.

The exit code is 1 if a model or a label differs, and with `--check` also if the head is slower. Without the
corpora (see `benchmarks/corpora.py`) only the made-up addresses of `corate demo` are compared.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import shutil
import statistics
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import corpora, measure
from benchmarks.commits import FOLDER, Commit, install, lock
from benchmarks.compare_side import PARTS
from benchmarks.model_differences import RECORD, differences, folder_differences, label_differences
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
    """One training and the tagging with its model.

    `items` gives CRFsuite's ready-made features instead of words. `first` are options of a training before it, which
    leaves a checkpoint. `tagging` are options of `corate tag`. In options, `{test}` is the labelled text to tag,
    `{raw}` text without labels, `{label}` the rarest label, `{checkpoint}` a file that the case has for itself, and
    `{model}` what the case named like the method has trained.
    """

    name: str
    options: tuple[str, ...] = ()
    items: bool = False
    first: tuple[str, ...] | None = None
    tagging: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """The first word of the name."""
        return self.name.split(",")[0]

    @property
    def disk(self) -> bool:
        """Whether the text is trained on from disk, in small pieces."""
        return "--memory" in self.options


FEW = ("--set", "iterations=10")
EDGES = "word[0], suffix(word[0], 2), edge: word[0], edge: shape(word[-1])|shape(word[0])"
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
PYTHON = "python"  # beside the methods: what Python runs
METHODS = list(dict.fromkeys(case.method for case in CASES))
ADAGRAD = ("--optimizer", "adagrad", "--passes", "2")
#: With a limit, compressed text goes to disk, whatever its size.
DISK = ("--memory", "1G")
PASSES = ("--passes", "2")
#: Other ways to train and to tag, on the small text, without times.
WAYS = [
    Case("empirical", tagging=("--scores",)),
    Case("empirical, disk", DISK),
    Case("empirical, disk, paper", ("--ladder", "paper", *DISK)),
    Case("empirical, held out", ("--held-out", "{test}")),
    Case("empirical, word pairs", ("--pairs", "words")),
    Case("empirical, constrained", ("--constrain", "auto", "--calibrate"), tagging=("--nbest", "3")),
    Case("empirical, small file", ("--no-counts", "--half", "--drop-rare", "2")),
    Case("separate", PASSES, tagging=("--scores",)),
    Case("separate, disk", (*PASSES, *DISK)),
    Case("separate, held out", ("--held-out", "{test}")),
    Case("separate, calibrated", (*PASSES, "--calibrate"), tagging=("--scores",)),
    Case("separate, label weights", ("--label-weight", "{label}=0.5", *PASSES)),
    Case("separate, L-BFGS", ("--optimizer", "lbfgs", *FEW)),
    Case("separate, joint, space", ("--coupling", "joint", "--base", "none", "--space", "features", *FEW)),
    Case("separate, resumed", (*PASSES, "--checkpoint", "{checkpoint}"), first=("--passes", "1")),
    Case("polish", PASSES, tagging=("--nbest", "3")),
    Case("polish, disk", DISK, tagging=("--scores",)),
    Case("polish, disk, full", ("--lattice", "full", "--order", "2", *PASSES, *DISK)),
    Case("polish, disk, held out", ("--held-out", "{test}", *DISK)),
    Case("polish, init", ("--init", "{model}", *PASSES)),
    Case("polish, held out", ("--held-out", "{test}")),
    Case("polish, tune", ("--tune", *PASSES)),
    Case("polish, calibrated", ("--calibrate", *PASSES), tagging=("--scores",)),
    Case("polish, constrained", ("--constrain", "auto", *PASSES), tagging=("--nbest", "3", "--constrain", "auto")),
    Case("polish, unknown", ("--unknown", "{label}", "--order", "1", *PASSES)),
    Case("polish, order 2, full", ("--order", "2", "--lattice", "full", *PASSES), tagging=("--scores",)),
    Case("polish, edge templates", ("--features", EDGES, *PASSES), tagging=("--scores",)),
    Case("polish, parts", ("--parts", *PASSES)),
    Case("polish, label weights", ("--label-weight", "{label}=0.5", *PASSES)),
    Case("polish, cutoff", ("--cutoff", "2", "--all-labels", *PASSES)),
    Case("polish, base separate", ("--base", "separate", *PASSES)),
    Case("polish, base paper", ("--base", "paper", *PASSES)),
    Case("polish, word classes", ("--raw", "{raw}", "--raw-classes", "8", *PASSES)),
    Case("polish, resumed", (*PASSES, "--checkpoint", "{checkpoint}"), first=("--passes", "1")),
    Case("polish, disk, resumed", (*PASSES, *DISK, "--checkpoint", "{checkpoint}"), first=("--passes", "1")),
    Case("standard", FEW, tagging=("--only-sure", "0.9")),
    Case("standard, disk", (*ADAGRAD, *DISK)),
    Case("standard, init", ("--init", "{model}", *FEW)),
    Case("standard, tune", ("--tune", *FEW)),
    Case("standard, unknown", ("--unknown", "{label}", *FEW)),
    Case("standard, order 2, pruned", ("--order", "2", "--lattice", "pruned", *FEW)),
    Case("standard, edge templates", ("--features", EDGES, *FEW), tagging=("--nbest", "3")),
    Case("standard, parts", ("--parts", *FEW)),
    Case("standard, label weights", ("--label-weight", "{label}=0.5", *FEW)),
    Case("piecewise, disk", (*ADAGRAD, *DISK)),
    Case("piecewise, label weights", ("--label-weight", "{label}=0.5", *FEW)),
    Case("piecewise, held out", (*ADAGRAD, "--held-out", "{test}")),
    Case("memm, disk", (*ADAGRAD, *DISK), tagging=("--scores",)),
    Case("memm, AdaGrad", ADAGRAD),
    Case("memm, label weights", ("--label-weight", "{label}=0.5", *FEW)),
    Case("perceptron", PASSES),
    Case("perceptron, disk", (*PASSES, *DISK)),
    Case("perceptron, label weights", ("--label-weight", "{label}=0.5", *PASSES)),
    Case("perceptron, init", ("--init", "{model}", *PASSES)),
    Case("perceptron, resumed", (*PASSES, "--checkpoint", "{checkpoint}"), first=("--passes", "1")),
]
SMALL = "small"
#: The corpus, the splits to train on and to tag, and how many sentences of each (None: all).
SPLITS: dict[str, tuple[str, str, str, int, int | None]] = {
    "conll2000": ("conll2000", "conll2000.train", "conll2000.test", 2_000, None),
    "brown": ("brown", "brown-1000-4000.train", "brown-1000-4000.test", 1_000, None),
    "ned": ("ned", "ned.train", "ned.testb", 4_000, None),
    SMALL: ("ned", "ned.train", "ned.testb", 400, 200),
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


def beside(path: Path, end: str) -> Path:
    """The file of the same name with another end."""
    return path.with_name(path.name + end)


def with_others(text: Text) -> Text:
    """The same text, also written beside the files: as items, compressed, and as words alone."""
    for path in (text.train, text.test):
        sentences = corpora.load(path)
        beside(path, ".items").write_text(items(sentences), "utf-8")
        beside(path, ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        beside(path, ".raw").write_text("".join(" ".join(row[0] for row in one) + "\n" for one in sentences), "utf-8")
    return text


def rarest_label(path: Path) -> str:
    """The label that the fewest tokens of a text have."""
    labels = Counter(row[-1] for sentence in corpora.load(path) for row in sentence)
    return min(sorted(labels), key=labels.__getitem__)


def texts(data: Path | None, names: Sequence[str], base: Commit) -> list[Text]:
    """The corpora, cut to a small size; if there are none, the base's demo addresses, with a warning."""
    folder = FOLDER / "texts"
    folder.mkdir(exist_ok=True)
    try:
        source = corpora.ensure(data.resolve() if data else None)
    except corpora.CorporaMissing as missing:
        print(f"WARNING: {missing}\nWARNING: only the made-up addresses of `corate demo` are compared", flush=True)
        measure.run([base.corate, "demo", "--write", str(folder)])
        files = folder / "train.tsv", folder / "test.tsv"
        return [with_others(Text(name, *files, "word,label")) for name in ("demo", SMALL)]
    found = []
    for name in names:
        corpus, train, test, *sentences = SPLITS[name]
        text = Text(name, folder / f"{name}.train", folder / f"{name}.test", corpora.COLUMNS[corpus])
        for split, path, most in zip((train, test), (text.train, text.test), sentences, strict=True):
            corpora.write(corpora.load(source / split)[:most], path)
        found.append(with_others(text))
    return found


# --- The comparison -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """What a commit runs for a case, and the files of the model and of the tagged text."""

    train: list[list[str]]
    tag: list[str]
    model: Path
    tagged: Path
    checkpoint: Path

    def run(self) -> tuple[float, float]:
        """Train and tag; the wall seconds of both."""
        self.checkpoint.unlink(missing_ok=True)
        return sum(measure.run(command).wall for command in self.train), measure.run(self.tag).wall


def output_folder(commit: Commit) -> Path:
    """The folder for what a commit writes."""
    folder = commit.folder / commit.output
    folder.mkdir(exist_ok=True)
    return folder


def plan(commit: Commit, case: Case, text: Text, threads: int) -> Plan:
    """The commands of a case."""
    end, layout = (".items", ("--format", "items")) if case.items else ("", ("--columns", text.columns))
    test = str(measure.from_root(beside(text.test, end)))
    train = str(measure.from_root(beside(text.train, ".gz" if case.disk else end)))
    output = measure.from_root(output_folder(commit))
    stem = f"{text.name}-{case.name.replace(', ', '-').replace(' ', '-')}"
    model, tagged, checkpoint = (output / f"{stem}.{kind}" for kind in ("corate", "tagged", "checkpoint"))
    known = {"test": test, "raw": str(measure.from_root(beside(text.train, ".raw"))), "checkpoint": str(checkpoint)}
    known |= {"model": str(output / f"{text.name}-{case.method}.corate"), "label": rarest_label(text.train)}
    shared = [*layout, "--threads", str(threads)]
    program = [commit.python, "-m", "benchmarks.compare_side", "pieces"] if case.disk else [commit.corate]
    training = [*program, "train", train, "-o", str(model), "--method", case.method, "--seed", "0", *shared]
    given = [option.format(**known) for option in case.options]
    trainings = [[*training, *given, *case.first, "--json"]] if case.first is not None else []
    trainings.append([*training, *given, "--json"])
    tag = [commit.corate, "tag", str(model), test, "-o", str(tagged), *shared, *case.tagging]
    return Plan(trainings, tag, *(corpora.ROOT / path for path in (model, tagged, checkpoint)))


def failed(table: Table, name: str, commit: Commit, problem: SystemExit) -> None:
    """Add the row of a command that fails."""
    note = f"{commit.name}: {' '.join(str(problem).split())}"
    table.add(Row(f"{name}: commands that fail", 1, at_most=0, digits=0, note=note))


def compare_case(
    table: Table, commits: tuple[Commit, Commit], case: Case, text: Text, threads: int, repeats: int
) -> tuple[Times, Times, list[str]] | None:
    """Times of training and tagging, and the differences; None, after adding a row, if a commit cannot train it."""
    plans = [plan(commit, case, text, threads) for commit in commits]
    training: tuple[list[float], list[float]] = ([], [])
    tagging: tuple[list[float], list[float]] = ([], [])
    try:
        for side in turns(repeats):
            for seconds, taken in zip((training, tagging), plans[side].run(), strict=True):
                seconds[side].append(taken)
    except SystemExit as problem:
        failed(table, f"{text.name}, {case.name}", commits[side], problem)
        return None
    base, head = plans
    found = differences(base.model, head.model) + label_differences(base.tagged, head.tagged)
    return Times(*training), Times(*tagging), found


def difference_row(table: Table, name: str, found: Sequence[str]) -> None:
    """Print all differences, and add the row with those that count."""
    for line in found:
        print(f"  {name}: {line}", flush=True)
    wrong = [line for line in found if not line.startswith(RECORD)]
    table.add(Row(f"{name}: differences", len(wrong), at_most=0, digits=0, note="; ".join(wrong)))


def compare_python(table: Table, commits: tuple[Commit, Commit], part: str, text: Text) -> None:
    """Run a part of `compare_side.py` with both commits, and compare what it writes."""
    name, outputs = f"Python, {part}", []
    for commit in commits:
        output = output_folder(commit) / part.replace(" ", "-")
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir()
        files = [str(measure.from_root(path)) for path in (output, text.train, text.test)]
        packages = sysconfig.get_path("purelib")  # other packages are those of the Python that runs this script
        try:
            run = measure.run([commit.python, "-m", "benchmarks.compare_side", part, *files, text.columns, packages])
        except SystemExit as problem:
            return failed(table, name, commit, problem)
        if run.stdout.strip():
            return print(f"{name}: SKIPPED: {run.stdout.strip()}", flush=True)
        outputs.append(output)
    difference_row(table, name, folder_differences(*outputs))


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
    # A commit can be compared with itself: the folders must differ.
    commits = (install(given.base), replace(install(given.head), output="output-head"))
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
        small = text.name == SMALL
        if small and given.only == "times":
            continue
        for case in (case for case in (WAYS if small else CASES) if case.method in methods):
            compared = compare_case(table, commits, case, text, given.threads, 1 if small else repeats)
            if compared is None:
                continue
            training, tagging, found = compared
            name = f"{text.name}, {case.name}"
            if given.only != "times":
                difference_row(table, name, found)
            if given.only != "tensors" and not small:
                trainings.append(training)
                taggings.append(tagging)
                for what, times in (("training", training), ("tagging", tagging)):
                    table.add(time_row(f"{name}: {what}", times, commits, LIMIT))
                    slower += [f"{name}: {what}"] if times.slower(LIMIT) else []
        for part in PARTS if small and PYTHON in methods else ():
            compare_python(table, commits, part, text)
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
    command.add_argument("--methods", help=f"some of {','.join([*METHODS, PYTHON])} (default: all)")
    command.add_argument("--corpora", help=f"some of {','.join(SPLITS)} (default: all)")
    command.add_argument("--repeats", type=int, default=5, help="how often training and tagging are timed (default: 5)")
    command.add_argument("--starts", type=int, default=30, help="how often start-up is timed (default: 30)")
    command.add_argument("--threads", type=int, default=1, help="threads of training and tagging (default: 1)")
    command.add_argument("--check", action="store_true", help="exit with 1 also if HEAD is slower beyond noise")
    given = command.parse_args(arguments)
    methods = names_of([*METHODS, PYTHON], given.methods, "method")
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
