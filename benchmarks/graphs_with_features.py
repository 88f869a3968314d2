"""How accurate and how fast are random fields with features on graphs? `python -m benchmarks.graphs_with_features`

Handwriting, snakes, case on parse trees, citations, made-up grids, and a made-up network of a million nodes; beside
chains, classifiers of nodes, label propagation and, with `--pystruct PYTHON`, pystruct in another environment. One
thread each; seconds are those of a processor, for training and answering together, from features in memory.

`--development` trains on a part of the training data, answers the rest of it, and reads no test part. Decide with it.
`--rivals` runs only the rivals.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks import measure
from benchmarks.graph_rivals import (
    Answer,
    accuracy,
    chained,
    classified,
    logistic,
    propagated,
    pystruct,
    spent_on_trees,
    trees,
    true_grids,
    with_hops,
)
from benchmarks.graph_sets import SETS, Task, made_up, without_tree
from benchmarks.graph_side import solved
from benchmarks.tables import Row, Table, parser

COMMAND = "python -m benchmarks.graphs_with_features"
Rival = Callable[[Task], Answer]


@dataclass(frozen=True)
class Target:
    """A method of Corate on a set, and what is asked of it."""

    method: str
    at_least: float | None = None
    at_most: float | None = None
    classifier: Callable[[int], Any] | None = None

    @property
    def name(self) -> str:
        """What the row is called."""
        return f"{self.method}, extra trees as nodes" if self.classifier else self.method


@dataclass(frozen=True)
class Setting:
    """A set, the methods of Corate on it, its rivals, and figures that others published or measured elsewhere."""

    name: str
    targets: tuple[Target, ...]
    rivals: dict[str, Rival]
    published: str = ""
    log_loss: bool = False


NODES = partial(classified, make=logistic)
HOPS = partial(classified, make=logistic, features=with_hops)
TREES = partial(classified, make=trees)
STANDARD = partial(chained, method="standard")
POLISH = partial(chained, method="polish")
WITHOUT_TREE = partial(chained, method="polish", features=lambda graph: without_tree(graph).x)


def case(name: str, least: float) -> Setting:
    """Case on gold trees."""
    rivals = {
        "logistic": NODES,
        "chain without the tree": WITHOUT_TREE,
        "chain, polish": POLISH,
        "chain, standard": STANDARD,
    }
    return Setting(name, (Target("polish", least, 2.0), Target("separate")), rivals)


SETTINGS = [
    Setting(
        "letters",
        (
            Target("separate", 86.3, 1.5),
            Target("polish"),
            Target("polish", 93.9, 1.0, classifier=trees),
        ),
        {"own chain standard": STANDARD, "logistic": NODES, "extra trees": TREES},
        "pystruct's chain, measured elsewhere: 85.64, 8.9 s",
    ),
    Setting(
        "snakes",
        (Target("polish", 99.8, 10.0), Target("separate")),
        {"logistic": NODES, "extra trees": TREES},
        "pystruct with edge features, published: 99.6 to 99.8, 680 s",
    ),
    case("german", 94.5),
    case("finnish", 97.4),
    Setting(
        "cora",
        (Target("separate", 79.5, 2.0), Target("polish", 79.5, 6.0)),
        {"label propagation": propagated, "logistic": NODES},
        "published: GCN 81.5, GMNN 83.7, Planetoid 75.7",
    ),
    Setting(
        "cora-hops",
        (Target("polish", 81.0, 3.0), Target("separate")),
        {"logistic": NODES, "label propagation": propagated},
        "published: GCN 81.5, GMNN 83.7",
    ),
    Setting(
        "cora-random",
        (Target("polish", 87.5, 3.0), Target("separate")),
        {"logistic": NODES, "label propagation": propagated},
    ),
    Setting(
        "grids",
        (Target("separate", at_most=0.5), Target("polish")),
        {"logistic": NODES, "logistic, with means": HOPS, "the true field": true_grids},
        log_loss=True,
    ),
]


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values)


def spread(values: Sequence[float]) -> str:
    """The range of several accuracies, for a note."""
    return f"{min(values):.2f} to {max(values):.2f} in {len(values)} parts" if len(values) > 1 else ""


@dataclass(frozen=True)
class Result:
    """The answers of one model to all tasks of a set."""

    accuracies: list[float]
    log_losses: list[float]
    seconds: list[float]
    train: list[float]
    note: str

    @classmethod
    def of(cls, tasks: Sequence[Task], answer: Rival) -> Result:
        """Answer every task."""
        found = [answer(task) for task in tasks]
        return cls(
            [accuracy(task, one.labels) for task, one in zip(tasks, found, strict=True)],
            [one.log_loss for one in found],
            [one.seconds for one in found],
            [one.train for one in found],
            found[0].note,
        )

    def said(self, name: str) -> str:
        """A rival, for a note."""
        loss = "" if mean(self.log_losses) != mean(self.log_losses) else f", {mean(self.log_losses):.3f} nats"
        return f"{name} {mean(self.accuracies):.2f}{loss}, {mean(self.seconds):.2f} s"


def compared(setting: Setting, development: bool, only_rivals: bool) -> Iterator[Row]:
    """The rows of a set: accuracy, seconds, and for grids the log-loss."""
    tasks = list(SETS[setting.name](development))
    rivals = {name: Result.of(tasks, rival) for name, rival in setting.rivals.items()}
    if only_rivals:
        for name, found in rivals.items():
            yield row(f"{setting.name}: {name}", mean(found.accuracies), "%", note=found.said(name))
        return
    best = max(rivals, key=lambda name: mean(rivals[name].accuracies))
    for target in setting.targets:
        found = Result.of(tasks, partial(ours, target))
        yield from rows(setting, target, found, rivals, best, development)


def ours(target: Target, task: Task) -> Answer:
    """Corate's answer to a task."""
    nodes = None if target.classifier is None else target.classifier(sum(len(graph.y) for graph in task.train))
    spent_on_trees.clear()
    answer = solved(task, target.method, nodes).answer
    if nodes is None:
        return answer
    note = f"{answer.note}, of which {sum(spent_on_trees):.2f} s are those of the classifier and do not count"
    return replace(answer, train=answer.train - sum(spent_on_trees), note=note)


def rows(
    setting: Setting, target: Target, found: Result, rivals: dict[str, Result], best: str, development: bool
) -> Iterator[Row]:
    """What is asked of one method."""
    name, peer = f"{setting.name}, {target.name}", rivals[best]
    others = [one.said(other) for other, one in rivals.items() if other != best]
    note = "; ".join(part for part in (spread(found.accuracies), *others, setting.published) if part)
    least = None if development else target.at_least
    more: dict[str, Any] = {"peer_name": best}
    yield row(f"{name}: accuracy", mean(found.accuracies), "%", least, peer=mean(peer.accuracies), note=note, **more)
    more |= {"peer": mean(peer.seconds), "note": found.note}
    yield row(f"{name}: seconds", mean(found.seconds), "s", None, target.at_most, **more)
    if setting.log_loss:
        alone = rivals["logistic"]
        gain = mean(found.accuracies) - mean(alone.accuracies)
        asked = target.at_most is not None
        yield row(f"{name}: points above the nodes alone", gain, "", 14.0 if asked else None)
        fewer = mean(alone.log_losses) - mean(found.log_losses)
        least = 0.25 if asked else None
        note = f"{mean(found.log_losses):.3f} against {mean(alone.log_losses):.3f}"
        yield row(f"{name}: mean of -log marginal, less than that of the nodes alone", fewer, "nats", least, note=note)


def row(
    measure_: str, value: float, unit: str, least: float | None = None, most: float | None = None, **more: Any
) -> Row:
    return Row(measure_, value, unit, at_least=least, at_most=most, command=COMMAND, **more)


LARGE_RIVALS: dict[str, Rival] = {"label propagation": propagated, "logistic": NODES}

# -- size and threads ----------------------------------------------------------------------------------------------


def side(name: str, method: str = "polish", threads: int = 1) -> tuple[dict[str, Any], measure.Run]:
    """Measure Corate on a set in a process of its own."""
    command = ["python", "-m", "benchmarks.graph_side", name, "--method", method, "--threads", str(threads)]
    run = measure.run(command)
    return run.json(), run


def large() -> Iterator[Row]:
    """A tenth of a million nodes and a million, three times as many edges; every other label is known."""
    edge_seconds = {}
    for n, seconds, memory in ((100_000, None, None), (1_000_000, 120.0, 4.0)):
        tasks = [made_up(n)]
        rivals = {name: Result.of(tasks, rival) for name, rival in LARGE_RIVALS.items()}
        del tasks
        best, said = rivals["logistic"], rivals["label propagation"].said("label propagation")
        for method in ("separate", "polish"):
            found, run = side(f"made-up:{n}", method)
            name = f"{n:,} nodes, {3 * n:,} edges of two types, {method}"
            total = found["train"] + found["tag"]
            edge_seconds[method, n] = total / (3 * n)
            more: dict[str, Any] = {"peer": mean(best.accuracies), "peer_name": "logistic", "note": said}
            yield row(f"{name}: accuracy", found["accuracy"], "%", **more)
            more |= {"peer": mean(best.seconds), "note": found["note"]}
            yield row(f"{name}: seconds", total, "s", None, seconds, **more)
            yield row(f"{name}: peak memory", run.peak_bytes / 1e9, "GB", None, memory, note="the data included")
    for method in ("separate", "polish"):
        times = edge_seconds[method, 1_000_000] / edge_seconds[method, 100_000]
        yield row(f"{method}: time of an edge, a million nodes / a tenth of it", times, "times", None, 1.5)


def threads() -> Iterator[Row]:
    """Two threads: the same bytes in less time. On held-out training data."""
    for name in ("cora", "cora-hops", "cora-random", "snakes"):
        found = [side(name, threads=count)[0] for count in (1, 2)]
        same = found[0]["digests"] == found[1]["digests"]
        walls = [one["wall"] for one in found]
        yield row(f"{name}: same bytes with two threads", float(same), "", 1.0, digits=0)
        note = f"{walls[0]:.2f} and {walls[1]:.2f} s of wall time"
        yield row(f"{name}: one thread / two threads", walls[0] / walls[1], "times", 1.5, note=note)


def main(arguments: Sequence[str] | None = None) -> None:
    """All sets, or some."""
    made = parser("graphs_with_features", "Random fields with features on graphs, beside other methods.")
    names = [setting.name for setting in SETTINGS]
    made.add_argument("--only", default="", help=f"comma-separated: {', '.join(names)}, large, threads (default: all)")
    made.add_argument("--development", action="store_true", help="on held-out training data; reads no test part")
    made.add_argument("--rivals", action="store_true", help="only the rivals")
    made.add_argument("--pystruct", metavar="PYTHON", help="an interpreter that has pystruct, for letters")
    given = made.parse_args(arguments)
    wanted = given.only.split(",") if given.only else [*names, "large", "threads"]
    if unknown := set(wanted) - {*names, "large", "threads"}:
        made.error(f"unknown set: {', '.join(sorted(unknown))}")
    name = "graphs_with_features" + ("-development" if given.development else "")
    part = " (held-out training data)" if given.development else ""
    table = Table(name, f"How accurate and how fast are random fields with features on graphs{part}, one thread?")
    for setting in SETTINGS:
        if setting.name in wanted:
            if setting.name == "letters" and given.pystruct:
                more = {"pystruct's chain": partial(pystruct, python=given.pystruct)}
                setting = replace(setting, rivals=setting.rivals | more, published="")
            for one in compared(setting, given.development, given.rivals):
                table.add(one)
    if not given.rivals:
        for kind, part_rows in (("large", large), ("threads", threads)):
            if kind in wanted:
                for one in part_rows():
                    table.add(one)
    table.finish()


if __name__ == "__main__":
    main()
