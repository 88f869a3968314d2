"""How fast is an iteration of `standard`, the usual training of a conditional random field?

`python -m benchmarks.standard_speed [--only TEXT] [--iterations 0]`

Corate and CRFsuite (lbfgs) minimise the same function with one thread: the same features, numbered by Corate, and a
bias for every label; a weight for each observed (feature, label) and label pair; other pairs score 0 and stay possible
(the full lattice); no weights at sentence boundaries; and c2 times the sum of squared weights. The values at the
optimum show that the functions are the same and that both converge. Corate's value is computed from the finished
tagger, independently of training: log P of the labels, and squared weights.

Seconds are CPU seconds, as in CRFsuite's log, from the first iteration to the last. An iteration may evaluate the
function more than once, so evaluations have their own row. `--iterations 20` stops both early for a quick look at the
speed: the values then differ and have no target.
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
ENOUGH = 1000  # iterations; both converge earlier
MOST_DIFFERENCE = 1e-4  # both stop if ten iterations gain less than 1e-5 of the value


@dataclass(frozen=True)
class Race:
    """A file, its features, and the required speed ratio."""

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
    """A run of an optimiser: seconds per iteration and per evaluation, their numbers, and the final value."""

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
    """-log P of the corpus' labels plus c2 times the squared weights, from a finished tagger."""
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
    """Measures the time of each evaluation of the function while `corate.train` runs."""

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
        """The function, with its time recorded."""

        def evaluated(weights: Any) -> Any:
            begin = time.process_time()
            found = function(weights)
            self.seconds.append(time.process_time() - begin)
            return found

        return evaluated


def ours(race: Race, corpus: Any, iterations: int) -> Descent:
    """Corate's training; progress events mark the iterations."""
    import corate

    ends: list[float] = []

    def note(event: corate.ProgressEvent) -> None:
        if event.objective is not None:
            ends.append(time.process_time())

    settings = {"c2": C2, "iterations": iterations or ENOUGH}
    same = {"transitions": "seen", "boundaries": False, "lattice": "full"}
    with Watched() as watched:
        tagger = corate.train(corpus, "standard", features=race.features, **settings, threads=1, progress=note, **same)
    between = (ends[-1] - ends[0]) / (len(ends) - 1)
    each = watched.seconds
    return Descent(between, sum(each) / len(each), len(ends), len(each), objective(tagger, corpus))


def theirs(items: Sequence[Any], labels: Sequence[Sequence[str]], model: Path, iterations: int) -> Descent:
    """CRFsuite's training, from its log."""
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
    """The ratios of seconds per iteration and per evaluation, and the difference of the values."""
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
    """Run both libraries on each file."""
    options = parser("standard_speed", "Seconds per iteration of the usual training.")
    options.add_argument("--only", default="", help="only files whose name contains this text: conll2000, brown")
    options.add_argument("--iterations", type=int, default=0, help="the most iterations (default: until convergence)")
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
