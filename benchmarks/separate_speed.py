"""How fast is separate training, and how much memory does it take?

`python -m benchmarks.separate_speed [--runs 3] [--peers none|all]`

First, whole trainings from the command line with two threads. Then, with one thread and in one process, Corate from the
corpus in memory and CRFsuite (lbfgs) from ready-made item sequences with the same features, numbered by Corate.
Corate's time includes feature extraction and tuning on held-out data; CRFsuite's time does not include feature
extraction. CRFsuite makes 100 passes on ned, where it is far from convergence, and stops by itself on conll2000. Corate
trains before and after CRFsuite, and the median counts. Seconds are wall seconds; the notes have CPU seconds, which
other work on the machine does not affect.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure, peers
from benchmarks.corpora import COLUMNS
from benchmarks.preset_items import PresetItems
from benchmarks.separate_accuracy import SETTINGS, Setting, train_command
from benchmarks.tables import Row, Table, data_folder, parser


def setting(name: str) -> Setting:
    """One of the settings of the accuracy benchmark."""
    return next(one for one in SETTINGS if one.name == name)


@dataclass(frozen=True)
class Whole:
    """A training from the command line, with the most seconds of training and megabytes of the process."""

    name: str
    most_seconds: float | None
    most_mb: float | None


@dataclass(frozen=True)
class Race:
    """A training of both libraries, and the required speed ratio."""

    name: str
    passes: int | None
    at_least: float


WHOLE = [
    Whole("brown 32k-1000, paper features", 5.0, None),
    Whole("conll2000, chunking features", None, 1500),
    Whole("brown 32k-1000, pos features", None, 4000),
]
RACES = [Race("ned, ner features", 100, 8.0), Race("conll2000, chunking features", None, 10.0)]


def whole_rows(whole: Whole, data: Path, runs: int) -> list[Row]:
    """Seconds of training with two threads, and peak memory."""
    command = train_command(setting(whole.name), setting(whole.name).main_options, data, threads=2)
    done = measure.repeat(command, runs)
    seconds = [run.json()["seconds"] for run in done]
    wall, cpu = (min(getattr(run, key) for run in done) for key in ("wall", "cpu"))
    note = f"best {min(seconds):.2f} s of {runs}; best whole process {wall:.2f} s, {cpu:.2f} s of processors"
    peak = max(run.peak_mb for run in done)
    name, shown = whole.name, done[0].command
    time_row = Row(
        f"{name}: training", statistics.median(seconds), "s", at_most=whole.most_seconds, note=note, command=shown
    )
    return [time_row, Row(f"{name}: peak memory", peak, "MB", at_most=whole.most_mb, command=shown, digits=0)]


@dataclass(frozen=True)
class Timed:
    """Wall seconds, CPU seconds, and the result."""

    wall: float
    cpu: float
    result: Any


def timed(function: Any, *arguments: Any, **options: Any) -> Timed:
    """Call a function and measure its time."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function(*arguments, **options)
    return Timed(time.perf_counter() - wall, time.process_time() - cpu, result)


def attributes(features: str, train: Any, *others: Any, bias: bool = False) -> list[list[Any]]:
    """The items of a training corpus and of others with the features of a preset, and optionally a bias."""
    preset = PresetItems(features, bias=bias)
    return [preset.fit(train), *map(preset.transform, others)]


def crfsuite_f1(model: Path, items: Sequence[Any], test: Path) -> float:
    """F1 in percent, on sentences with ready-made items."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    scores = peers.score(corpora.load(test), [tagger.tag(one) for one in items], set())
    return 100 * (scores.f1 or 0.0)


def race_rows(race: Race, data: Path) -> list[Row]:
    """Both with one thread, Corate before and after CRFsuite."""
    import corate

    chosen = setting(race.name)
    folder = corpora.ROOT / data
    columns = COLUMNS[chosen.corpus]
    train, test = (corate.read(folder / name, columns=columns) for name in (chosen.train, chosen.test))
    held_out = corate.read(folder / chosen.held_out, columns=columns) if chosen.held_out else None
    options = {"method": "separate", "features": chosen.features, "held_out": held_out, "threads": 1}
    ours = [timed(corate.train, train, **options) for _ in range(2)]
    print(f"  CRFsuite: {race.name} ...", flush=True)
    items, test_items = attributes(chosen.features, train, test)
    labels = [[row[-1] for row in sentence] for sentence in corpora.load(folder / chosen.train)]
    model = folder / "models" / f"{chosen.train}-separate-speed.crfsuite"
    theirs = timed(peers.fit, items, labels, model, "lbfgs", race.passes)
    ours.append(timed(corate.train, train, **options))
    wall, cpu = (statistics.median(getattr(one, key) for one in ours) for key in ("wall", "cpu"))
    f1 = 100 * corate.evaluate(ours[0].result, test).f1, crfsuite_f1(model, test_items, folder / chosen.test)
    note = (
        f"Corate {wall:.2f} s (processor {cpu:.2f}), F1 {f1[0]:.2f}; CRFsuite {theirs.wall:.1f} s (processor "
        f"{theirs.cpu:.1f}), {len(theirs.result)} passes, F1 {f1[1]:.2f}; {theirs.cpu / cpu:.1f} times by processor"
    )
    name = f"{race.name}: CRFsuite lbfgs / Corate, one thread each"
    command = "python -m benchmarks.separate_speed"
    return [Row(name, theirs.wall / wall, "times", at_least=race.at_least, note=note, command=command, digits=1)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Whole trainings, then the comparisons with CRFsuite."""
    options = parser("separate_speed", "Time and memory of separate training.")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--peers", choices=("none", "all"), default="all", help="CRFsuite trainings (two minutes)")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("separate_speed", "How fast is separate training, and how much memory does it take?")
    for whole in WHOLE:
        for row in whole_rows(whole, data, given.runs):
            table.add(row)
    if given.peers == "all":
        for race in RACES:
            for row in race_rows(race, data):
                table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
