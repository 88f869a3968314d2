"""How fast is an iteration of `standard`, the conditional random field as it is usually trained?

`python -m benchmarks.standard_speed [--only TEXT] [--iterations 0]`

Corate and CRFsuite (lbfgs) minimise the same function on one thread each: the same features, numbered by Corate, and a
bias of every label; a weight for each feature with the labels it was seen with and for each pair of labels that was
seen, 0 for the other pairs, which stay possible (the whole lattice); no weights at the ends of sentences; and c2 times
the sum of squared weights. That it is the same function, and that both come to its end, is shown by its value there,
which for Corate is worked out afresh from the finished tagger, apart from training: log P of the labels, and squares.

Seconds are those of the processor, which is what CRFsuite's log has, from the first iteration to the last, without
what comes before and after. An iteration may evaluate the function more than once: the seconds of an evaluation have a
row of their own.
`--iterations 20` stops both early for a quick look at the speed: the values then differ, and have no target.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora
from benchmarks.corpora import COLUMNS
from benchmarks.separate_speed import attributes
from benchmarks.tables import Row, Table, data_folder, parser

C2 = 1.0
ENOUGH = 1000  # iterations; both stop earlier, by themselves
MOST_DIFFERENCE = 1e-4  # both stop where ten iterations together gain less than 1e-5 of the value


@dataclass(frozen=True)
class Race:
    """A file, its features, and how many times faster Corate has to be."""

    name: str
    corpus: str
    train: str
    features: str
    at_least: float


RACES = [
    Race("conll2000, chunking features", "conll2000", "conll2000.train", "chunking", 3.0),
    Race("brown 1000, pos features", "brown", "brown-1000-4000.train", "pos", 10.0),
]


@dataclass(frozen=True)
class Descent:
    """What an optimiser did: seconds of an iteration and of an evaluation, how many of them, and where it ended."""

    iteration: float
    evaluation: float
    iterations: int
    evaluations: int
    value: float

    def __str__(self) -> str:
        return (
            f"{self.iterations} iterations of {1e3 * self.iteration:.0f} ms, {self.evaluations} evaluations of "
            f"{1e3 * self.evaluation:.0f} ms, value {self.value:,.1f}"
        )


def objective(tagger: Any, corpus: Any) -> float:
    """-log P of the corpus' labels and c2 times the squared weights, from a finished tagger."""
    lattice = tagger.lattice(corpus)
    ids = {name: i for i, name in enumerate(tagger.labels)}
    labels = corpus.require_labels()
    gold = np.array([ids[name] for name in labels.strings.to_list()], dtype=np.int32)[labels.ids]
    log_z, _ = lattice.marginals()
    offsets = corpus.offsets.tolist()
    scores = [lattice.path_score(s, gold[offsets[s] : offsets[s + 1]]) for s in range(len(corpus))]
    model = tagger.model
    weights = (model.edges.dense(), model.weights.scores, model.bias)
    return float(np.sum(log_z) - sum(scores) + C2 * sum(np.square(w, dtype=np.float64).sum() for w in weights))


class Watched:
    """Counts the evaluations of the function, with the time of each, while `corate.train` runs."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __enter__(self) -> Watched:
        from corate.optimize import passes

        self.kept = passes.lbfgs

        def watching(function: Any, start: Any, **options: Any) -> Any:
            return self.kept(self.timed(function), start, **options)

        passes.lbfgs = watching
        return self

    def __exit__(self, *problem: object) -> None:
        from corate.optimize import passes

        passes.lbfgs = self.kept

    def timed(self, function: Any) -> Any:
        """The function, its time kept."""

        def evaluated(weights: Any) -> Any:
            begin = time.process_time()
            found = function(weights)
            self.seconds.append(time.process_time() - begin)
            return found

        return evaluated


def ours(race: Race, corpus: Any, iterations: int) -> Descent:
    """Corate's training; iterations are told by its progress."""
    import corate

    ends: list[float] = []

    def told(event: corate.ProgressEvent) -> None:
        if event.objective is not None:
            ends.append(time.process_time())

    settings = {"c2": C2, "iterations": iterations or ENOUGH}
    same = {"transitions": "seen", "boundaries": False, "lattice": "full"}
    with Watched() as watched:
        tagger = corate.train(corpus, "standard", features=race.features, **settings, threads=1, progress=told, **same)
    between = (ends[-1] - ends[0]) / (len(ends) - 1)
    each = watched.seconds
    return Descent(between, sum(each) / len(each), len(ends), len(each), objective(tagger, corpus))


def theirs(items: Sequence[Any], labels: Sequence[Sequence[str]], model: Path, iterations: int) -> Descent:
    """CRFsuite's training, as its log tells it."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for given, wanted in zip(items, labels, strict=True):
        trainer.append(given, wanted)
    trainer.set_params({"c2": C2, "max_iterations": iterations or ENOUGH})
    trainer.train(str(model))
    log = trainer.logparser.iterations
    seconds = sum(float(one["time"]) for one in log[1:])
    evaluations = sum(int(one.get("linesearch_trials", 1)) for one in log)
    after_first = sum(int(one.get("linesearch_trials", 1)) for one in log[1:])
    return Descent(
        seconds / (len(log) - 1), seconds / max(1, after_first), len(log), evaluations, float(log[-1]["loss"])
    )


def rows(race: Race, data: Path, iterations: int) -> Iterator[Row]:
    """Seconds an iteration, one over the other, and how far the values are apart."""
    import corate

    folder = corpora.ROOT / data
    corpus = corate.read(folder / race.train, columns=COLUMNS[race.corpus])
    first = ours(race, corpus, iterations)
    print(f"  CRFsuite: {race.name} ...", flush=True)
    items = attributes(race.features, corpus, bias=True)[0]
    labels = [[row[-1] for row in sentence] for sentence in corpora.load(folder / race.train)]
    model = folder / "models" / f"{race.train}-standard-speed.crfsuite"
    peer = theirs(items, labels, model, iterations)
    command = f"python -m benchmarks.standard_speed --only {race.corpus}"
    size = len({label for sentence in labels for label in sentence})
    yield Row(
        f"{race.name}, {size} labels: an iteration, CRFsuite / Corate, one thread each",
        peer.iteration / first.iteration,
        "times",
        at_least=race.at_least,
        note=f"Corate {first}; CRFsuite {peer}",
        command=command,
        digits=1,
    )
    yield Row(
        f"{race.name}: an evaluation, CRFsuite / Corate",
        peer.evaluation / first.evaluation,
        "times",
        note="the function and its gradient; CRFsuite's with the steps between",
        command=command,
        digits=1,
    )
    yield Row(
        f"{race.name}: values at the end, relative difference",
        abs(first.value - peer.value) / peer.value,
        at_most=MOST_DIFFERENCE if iterations == 0 else None,
        note=f"Corate {first.value:,.2f}, CRFsuite {peer.value:,.2f}; c2 = {C2:g}",
        command=command,
        digits=6,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Both on each file."""
    options = parser("standard_speed", "Seconds an iteration of the usual training.")
    options.add_argument("--only", default="", help="only the files with this text in their name: conll2000, brown")
    options.add_argument("--iterations", type=int, default=0, help="at most so many (default: to the end)")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("standard_speed", "How fast is an iteration of the usual training, the same function in both?")
    for race in RACES:
        if given.only in race.name:
            for row in rows(race, data, given.iterations):
                table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
