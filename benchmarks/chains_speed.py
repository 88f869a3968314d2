"""How fast is `polish`, the default method?

`python -m benchmarks.chains_speed [--runs 3] [--only TEXT]`

Three kinds of rows:

- Training on conll2000, in one process: Corate from the corpus in memory, including feature extraction; CRFsuite
  (lbfgs, until it stops) from ready-made item sequences with the same features, numbered by Corate.
- ned from file to model on disk, as whole processes: Corate's command line with its held-out file; python-crfsuite with
  the same templates, built in Python as its users do (`peers.py`, features `ner`), 100 iterations of lbfgs or 10 passes
  of ap. Start-up, reading and feature extraction count on both sides.
- brown 32k from file to model on disk with two threads: seconds and megabytes of the whole process.

CRFsuite has one thread. Ratios with a target use one Corate thread; ratios with two threads are shown too. Corate runs
before and after CRFsuite, and the median counts. Seconds are wall seconds; the notes have CPU seconds, which other work
on the machine does not affect.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpora, measure, peers
from benchmarks.chains_accuracy import setting, train_command
from benchmarks.corpora import COLUMNS
from benchmarks.separate_speed import Timed, attributes, crfsuite_f1, timed
from benchmarks.tables import Row, Table, data_folder, joined, parser

CONLL2000, NED, BROWN = "conll2000, chunking features", "ned, ner features", "brown 32k-1000, pos features"
MOST_SECONDS, MOST_MB = 10.0, 3000


@dataclass(frozen=True)
class FileRace:
    """CRFsuite's training from file to model, and the required speed ratio."""

    algorithm: str
    passes: int
    at_least: float


FILE_RACES = [FileRace("lbfgs", 100, 10.0), FileRace("ap", 10, 4.0)]


def median(done: Sequence[Timed] | Sequence[measure.Run], key: str) -> float:
    """Median of the wall or the CPU seconds."""
    return statistics.median(getattr(one, key) for one in done)


def memory_rows(data: Path, runs: int) -> Iterator[Row]:
    """Training on conll2000 from memory: one thread, then two."""
    import corate

    chosen = setting(CONLL2000)
    folder = corpora.ROOT / data
    train, test = (corate.read(folder / name, columns=COLUMNS[chosen.corpus]) for name in (chosen.train, chosen.test))
    options = {"method": "polish", "features": chosen.features}
    before = {n: [timed(corate.train, train, **options, threads=n) for _ in range(max(1, runs - 1))] for n in (1, 2)}
    print("  CRFsuite: conll2000 ...", flush=True)
    items, test_items = attributes(chosen.features, train, test)
    labels = [[row[-1] for row in sentence] for sentence in corpora.load(folder / chosen.train)]
    model = folder / "models" / "conll2000-chains-speed.crfsuite"
    theirs = timed(peers.fit, items, labels, model, "lbfgs", None)
    their_f1 = crfsuite_f1(model, test_items, folder / chosen.test)
    for threads, done in before.items():
        ours = [*done, timed(corate.train, train, **options, threads=threads)]
        wall = median(ours, "wall")
        f1 = 100 * corate.evaluate(ours[0].result, test).f1
        yield Row(
            f"{CONLL2000}: training, CRFsuite lbfgs (1 thread) / polish ({threads})",
            theirs.wall / wall,
            "times",
            at_least=15.0 if threads == 1 else None,
            note=f"Corate {wall:.2f} s (processors {median(ours, 'cpu'):.2f}), F1 {f1:.2f}; CRFsuite "
            f"{theirs.wall:.1f} s (processor {theirs.cpu:.1f}), {len(theirs.result)} iterations, F1 {their_f1:.2f}; "
            f"{theirs.cpu / median(ours, 'cpu'):.1f} times by processors",
            command="python -m benchmarks.chains_speed --only conll2000",
            digits=1,
        )


def peer_command(race: FileRace, data: Path) -> list[str]:
    """The command line of python-crfsuite, from file to model."""
    chosen = setting(NED)
    files = [str(data / chosen.train), str(data / "models" / f"ned-chains-{race.algorithm}.crfsuite")]
    options = ["--features", "ner", "--algorithm", race.algorithm, "--passes", str(race.passes)]
    return ["python", "-m", "benchmarks.peers", *files, *options]


def file_rows(data: Path, runs: int) -> Iterator[Row]:
    """ned from file to model, whole processes."""
    chosen = setting(NED)
    commands = {threads: train_command(chosen, ("polish",), data, threads) for threads in (1, 2)}
    ours = {threads: measure.repeat(command, max(1, runs - 1)) for threads, command in commands.items()}
    theirs = {}
    for race in FILE_RACES:
        print(f"  CRFsuite: ned, {race.algorithm} ...", flush=True)
        theirs[race] = measure.run(peer_command(race, data))
    for threads, command in commands.items():
        ours[threads].append(measure.run(command))
    evaluated = measure.run(["corate", "eval", commands[1][4], str(data / chosen.test), "--json"])
    f1 = 100 * evaluated.json()["f1"]
    folder = corpora.ROOT / data
    for race, run in theirs.items():
        model = corpora.ROOT / peer_command(race, data)[4]
        their_f1 = 100 * (peers.evaluate(model, "ner", folder / chosen.train, folder / chosen.test).f1 or 0.0)
        parts = run.json()
        for threads, done in ours.items():
            wall = median(done, "wall")
            yield Row(
                f"{NED}: file to model, CRFsuite {race.algorithm} {race.passes} (1 thread) / polish ({threads})",
                run.wall / wall,
                "times",
                at_least=race.at_least if threads == 1 else None,
                note=f"Corate {wall:.2f} s (processors {median(done, 'cpu'):.2f}; training "
                f"{statistics.median(one.json()['seconds'] for one in done):.2f}), F1 {f1:.2f}; CRFsuite {run.wall:.1f}"
                f" s (reading {parts['read_seconds']:.1f}, features {parts['feature_seconds']:.1f}, training "
                f"{parts['seconds']:.1f}), F1 {their_f1:.2f}; {run.cpu / median(done, 'cpu'):.1f} times by processors",
                command=joined([done[0].command, run.command]),
                digits=1,
            )


def whole_rows(data: Path, runs: int) -> Iterator[Row]:
    """brown 32k on two threads: seconds and memory of the whole process."""
    done = measure.repeat(train_command(setting(BROWN), ("polish",), data, threads=2), runs)
    best, wall = measure.best_and_median(done)
    seconds = statistics.median(run.json()["seconds"] for run in done)
    note = f"best {best:.2f} s of {runs}; training {seconds:.2f} s; {median(done, 'cpu'):.2f} s of processors"
    command = done[0].command
    name = f"{BROWN}: file to model, polish (2 threads)"
    yield Row(name, wall, "s", at_most=MOST_SECONDS, note=note + "; MarMoT 342 s", command=command)
    peak = max(run.peak_mb for run in done)
    yield Row(f"{name}, peak memory", peak, "MB", at_most=MOST_MB, command=command, digits=0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare with CRFsuite, then train on the largest file."""
    options = parser("chains_speed", "Time and memory of polish.")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="", help="only rows whose name contains this text: conll2000, ned, brown")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("chains_speed", "How fast is polish, and how much memory does it take?")
    kinds: dict[str, Callable[[Path, int], Iterator[Row]]] = {
        CONLL2000: memory_rows,
        NED: file_rows,
        BROWN: whole_rows,
    }
    for name, rows in kinds.items():
        if given.only in name:
            for row in rows(data, given.runs):
                table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
