"""How fast and how exact are graph models, beside pyAgrum and pgmpy? `python -m benchmarks.graphs [--only TEXT]`

One thread each. Networks are those of the pgmpy 1.0.0 wheel; pyAgrum gets the tables that we read (its own reader
keeps seven digits of each number), so parsing is excluded on both sides and shown in the notes. All posteriors of ours
include the search for an elimination order, building the tables, and all marginals; pyAgrum's are LazyPropagation.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks import networks
from benchmarks.tables import Row, Table, parser
from corate.graphs import GraphModel, Tree
from corate.graphs.bif import read_bif
from corate.graphs.files import from_network

T = TypeVar("T")
COMMAND = "python -m benchmarks.graphs"
MEMORY = 8 << 30
#: pyAgrum takes over 100 seconds for these.
SLOW = ("link", "munin1")
TIMED = ("pigs", "munin3", "munin")
#: Samples of grids, by their side: losses differ much between samples. The largest is slow to fit.
SAMPLES = {4: 5, 8: 5, 12: 3, 16: 1}


def timed(work: Callable[[], T], times: int = 5) -> tuple[float, T]:
    """The best of some times in seconds, and the result."""
    best = math.inf
    for _ in range(times):
        begin = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - begin)
    return best, found


def agrum() -> Any:
    """pyAgrum with one thread, None if it is not installed."""
    if importlib.util.find_spec("pyagrum") is None:
        return None
    import pyagrum

    pyagrum.setNumberOfThreads(1)
    return pyagrum


def posteriors(gum: Any, network: Any, evidence: dict[str, str]) -> dict[str, Any]:
    inference = gum.LazyPropagation(network)
    inference.setEvidence(evidence)
    inference.makeInference()
    return {name: inference.posterior(name).toarray().ravel() for name in network.names()}


def largest_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    return max(float(np.abs(ours[name] - theirs[name]).max()) for name in ours)


def compare_networks(wheel: Path | None, only: str) -> Iterator[Row]:
    """All posteriors of every network, with and without evidence on every tenth variable."""
    path, gum = networks.wheel(wheel), agrum()
    worst, compared, done = 0.0, [], []
    for name in networks.NAMES:
        if only not in ("", "networks", f"network {name}"):
            continue
        text = networks.text(path, name)
        parsing, network = timed(lambda text=text, name=name: read_bif(text, name), 1)
        times = 1 if name in SLOW else 3
        seconds, (model, found) = timed(lambda network=network: _all_posteriors(network), times)
        plan = model.costs()
        done.append(name)
        note = f"treewidth {plan.treewidth}, {plan.cells:,} cells, {plan.bytes / 1e9:.2f} GB; parsing {parsing:.2f} s"
        peer = None
        if gum is not None and name not in SLOW:
            theirs = model.to_pyagrum()
            peer, wanted = timed(lambda theirs=theirs: posteriors(gum, theirs, {}), times)
            draw = model.sample(1, seed=1)
            evidence = {v: str(draw[v][0]) for v in model.variables[::10]}
            given = model.marginals(evidence)
            difference = max(
                largest_difference(found, wanted), largest_difference(given, posteriors(gum, theirs, evidence))
            )
            worst = max(worst, difference)
            compared.append(name)
            note += f"; largest difference {difference:.0e}"
        if name in TIMED and peer is not None:
            yield _row(f"network {name}: all posteriors / pyAgrum", seconds / peer, "times", at_most=0.7, note=note)
        most = 60.0 if name in SLOW else None
        yield _row(
            f"network {name}: all posteriors", seconds, "s", at_most=most, peer=peer, peer_name="pyAgrum", note=note
        )
    if compared:
        yield _row(
            "networks: largest difference from pyAgrum",
            worst * 1e12,
            "1e-12",
            at_most=1e4,
            note=f"{len(compared)} of the {len(done)} networks that ran, with and without evidence",
        )


def _all_posteriors(network: Any) -> tuple[GraphModel, dict[str, Any]]:
    model = from_network(GraphModel, network, MEMORY)
    return model, model.marginals()


def _row(measure: str, value: float, unit: str, **more: Any) -> Row:
    return Row(measure, value, unit, command=COMMAND, digits=3, **more)


def random_tree(variables: int, states: int, rows: int, keep: float, seed: int) -> tuple[dict[str, Any], str]:
    """Rows of a random tree as int8 columns, and its graph."""
    rng = np.random.default_rng(seed)
    columns, edges = [rng.integers(0, states, rows).astype(np.int8)], []
    for i in range(1, variables):
        parent = int(rng.integers(0, i))
        other = rng.integers(0, states, rows)
        columns.append(np.where(rng.random(rows) < keep, columns[parent], other).astype(np.int8))
        edges.append(f"V{parent}-V{i}")
    return {f"V{i}": column for i, column in enumerate(columns)}, " ".join(edges)


def large_tree() -> Iterator[Row]:
    """A tree of 1,000 variables with three states, 100,000 rows."""
    data, graph = random_tree(1000, 3, 100_000, 0.6, 0)
    seconds, model = timed(lambda: GraphModel.fit(data, graph))
    yield _row("tree of 1,000 variables, 100,000 rows: fit from int8", seconds, "s", at_most=0.2)
    if importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        frame = pd.DataFrame(data).astype("category")
        yield _row("tree: fit from categorical", timed(lambda: GraphModel.fit(frame, graph))[0], "s", at_most=0.2)
        wide = pd.DataFrame({name: column.astype(np.int64) for name, column in data.items()})
        yield _row("tree: fit from an int64 frame", timed(lambda: GraphModel.fit(wide, graph))[0], "s", at_most=0.5)
        del wide, frame
    chosen = np.random.default_rng(1).choice(1000, 10, replace=False)
    evidence = {f"V{i}": int(data[f"V{i}"][0]) for i in chosen}
    seconds, found = timed(lambda: model.marginals(evidence))
    peer, note, gum = None, "", agrum()
    if gum is not None:
        theirs = model.to_pyagrum()
        given = {name: str(state) for name, state in evidence.items()}
        peer, wanted = timed(lambda: posteriors(gum, theirs, given))
        note = f"largest difference {largest_difference(found, wanted):.0e}"
    more = {"peer": peer, "peer_name": "pyAgrum", "note": note}
    yield _row("tree: all marginals, 10 observed", seconds, "s", at_most=0.02, **more)


def learned_tree() -> Iterator[Row]:
    """The tree of 200 variables with four states, 100,000 rows."""
    data, graph = random_tree(200, 4, 100_000, 0.5, 2)
    seconds, model = timed(lambda: GraphModel.fit(data, structure=Tree()))
    true = {frozenset(edge.split("-")) for edge in graph.split()}
    right = len(true & {frozenset(edge) for edge in model.graph.edges})
    peer = None
    if importlib.util.find_spec("pgmpy") is not None:
        import pandas as pd
        from pgmpy.estimators import TreeSearch

        frame = pd.DataFrame(data)
        peer = timed(lambda: TreeSearch(frame, root_node="V0", n_jobs=1).estimate("chow-liu", show_progress=False), 1)[
            0
        ]
    note = f"{right} of {len(true)} edges right"
    more = {"peer": peer, "peer_name": "pgmpy TreeSearch", "note": note}
    yield _row("tree learned and fitted, 200 variables", seconds, "s", at_most=0.7, **more)


def grid_factors(n: int, seed: int) -> list[tuple[list[str], Any]]:
    rng = np.random.default_rng(seed)
    across = [([f"X{i}_{j}", f"X{i}_{j + 1}"], np.exp(rng.normal(size=(2, 2)))) for i in range(n) for j in range(n - 1)]
    down = [([f"X{i}_{j}", f"X{i + 1}_{j}"], np.exp(rng.normal(size=(2, 2)))) for i in range(n - 1) for j in range(n)]
    return across + down


def transfer_log_z(n: int, factors: list[tuple[list[str], Any]]) -> float:
    """log Z of a grid, variable by variable with the states of the last n variables."""
    table = {tuple(scope): values for scope, values in factors}
    logs, total = np.zeros(1), 0.0
    frontier: list[str] = []
    weights = np.exp(logs)
    for i in range(n):
        for j in range(n):
            name = f"X{i}_{j}"
            weights = np.repeat(weights[..., None], 2, axis=-1) if frontier else np.ones(2)
            frontier.append(name)
            for other in (f"X{i}_{j - 1}", f"X{i - 1}_{j}"):
                if (other, name) in table:
                    shape = [1] * len(frontier)
                    shape[frontier.index(other)] = shape[-1] = 2
                    weights = weights * table[other, name].reshape(shape)
            if len(frontier) > n:
                weights, frontier = weights.sum(axis=0), frontier[1:]
            total += math.log(weights.max())
            weights = weights / weights.max()
    return total + math.log(weights.sum())


def grid() -> Iterator[Row]:
    """A 16 x 16 binary grid."""
    factors = grid_factors(16, 3)

    def all_questions() -> tuple[GraphModel, float]:
        model = GraphModel.from_factors(factors)
        model.marginals()
        model.most_likely()
        return model, model.log_z

    seconds, (model, log_z) = timed(all_questions)
    plan = model.costs()
    note = f"treewidth {plan.treewidth}, {plan.cells:,} cells, the search for the order included"
    yield _row("16 x 16 grid: log Z, all marginals, most likely state", seconds, "s", at_most=0.4, note=note)
    difference = abs(log_z - transfer_log_z(16, factors))
    yield _row("16 x 16 grid: log Z, difference from a transfer matrix", difference * 1e12, "1e-12", at_most=1e3)


def many_rows() -> Iterator[Row]:
    """10,000 rows of evidence on a chordal graph of 100 binary variables with treewidth 8."""
    rng = np.random.default_rng(4)
    cliques = [tuple(range(9))]
    for v in range(9, 100):
        base = list(cliques[int(rng.integers(len(cliques)))])
        base.pop(int(rng.integers(9)))
        cliques.append((*base, v))
    model = GraphModel.from_factors([([f"V{v}" for v in clique], rng.random([2] * 9) + 0.1) for clique in cliques])
    seen = [f"V{v}" for v in rng.choice(100, 10, replace=False)]
    rows = {name: rng.integers(0, 2, 10_000) for name in seen}
    seconds, found = timed(lambda: model.marginals(rows), 1)
    singly, _ = timed(lambda: [model.marginals({name: int(rows[name][i]) for name in seen}) for i in range(1000)], 1)
    different = len(np.unique(np.stack(list(rows.values())), axis=1).T)
    unique = {name: np.arange(10_000) >> k & 1 for k, name in enumerate([*seen, *(f"V{v}" for v in range(14))][:14])}
    distinct, _ = timed(lambda: model.marginals(unique), 1)
    note = f"{different:,} different rows; row by row {singly * 10:.1f} s"
    note += f"; 10,000 different rows of 14 variables {distinct:.1f} s"
    yield _row("10,000 rows of evidence, treewidth 8: all marginals", seconds, "s", at_most=2.0, note=note)
    assert len(found["V0"]) == 10_000


def estimates() -> Iterator[Row]:
    """What fitting a grid costs, and what it loses: means over samples of one grid of each size, and their range."""
    for n, samples in SAMPLES.items():
        truth = GraphModel.from_factors(grid_factors(n, 5))
        graph = truth.graph
        for name, options in (
            ("proportional fitting", {"graph": graph, "method": "ipf"}),
            ("composite likelihood", {"graph": graph, "method": "composite"}),
            ("conditioning on a smallest cutset", {"graph": graph, "method": "conditioning"} if n == 4 else {}),
            ("the best tree", {"structure": Tree()}),
        ):
            if not options:
                continue
            losses, times = [], []
            for seed in range(samples):
                rows, fresh = truth.sample(5000, seed=2 * seed), truth.sample(20_000, seed=2 * seed + 1)
                seconds, model = timed(lambda options=options, rows=rows: GraphModel.fit(rows, **options), 1)
                losses.append(float(truth.log_prob(fresh).mean() - model.log_prob(fresh).mean()))
                times.append(seconds)
            note = f"{min(times):.2f} s; {samples} sample{'s' * (samples > 1)}, {min(losses):.3f} to {max(losses):.3f}"
            yield _row(f"{n} x {n} grid, 5,000 rows, {name}: loss", float(np.mean(losses)), "nats", note=note)
    model, dense = dense_fit()
    yield _row(
        "4 x 4 grid: log-likelihood less than that of dense fitting", abs(model - dense) * 1e9, "1e-9", at_most=1e3
    )


def dense_fit() -> tuple[float, float]:
    """The log-likelihood of fitting on the junction tree, and of fitting the joint table of a 4 x 4 grid."""
    truth = GraphModel.from_factors(grid_factors(4, 6))
    names = list(truth.variables)
    rows = truth.sample(2000, seed=3)
    model = GraphModel.fit(rows, truth.graph, prior=1.0)
    counts = np.full([2] * 16, 1.0 / 2**16)
    np.add.at(counts, tuple(rows[name] for name in names), 1.0)
    counts /= counts.sum()
    dense = np.full([2] * 16, 1.0 / 2**16)
    edges = [(names.index(a), names.index(b)) for a, b in truth.graph.edges]
    for _ in range(200):
        for edge in edges:
            rest = tuple(k for k in range(16) if k not in edge)
            dense *= counts.sum(rest, keepdims=True) / dense.sum(rest, keepdims=True)
    ours = float(model.log_prob(rows).sum())
    return ours, float(np.log(dense[tuple(rows[name] for name in names)]).sum())


def missing_values() -> Iterator[Row]:
    """EM on a tree of 50 nodes with 20 % missing."""
    data, graph = random_tree(50, 3, 5000, 0.6, 7)
    holes = {name: column.astype(np.float64) for name, column in data.items()}
    rng = np.random.default_rng(8)
    for column in holes.values():
        column[rng.random(len(column)) < 0.2] = np.nan
    seconds, model = timed(lambda: GraphModel.fit(holes, graph, missing="em"), 1)
    steps = np.diff(model.record["objective"])
    same, other = (0.6 + 0.4 / 3) / 3, 0.4 / 9  # what random_tree draws from
    truth = np.where(np.eye(3, dtype=bool), same, other)
    error = np.sqrt(truth * (1 - truth) / (0.64 * 5000))  # of the rows that have both values
    distances = np.array([np.abs(model.joint([a, b]) - truth) / error for a, b in model.graph.edges])
    note = f"{len(steps)} steps, the least of them {steps.min():+.1e}"
    yield _row("EM, 50 nodes, 5,000 rows, 20 % missing", seconds, "s", note=note)
    yield _row("EM: steps down", float((steps < -1e-6).sum()), "", at_most=0)
    note = f"{distances.size} probabilities of neighbours, at most {distances.max():.1f} standard errors; 5 % by chance"
    yield _row("EM: more than two standard errors from the truth", 100 * float((distances > 2).mean()), "%", note=note)


def main(arguments: Sequence[str] | None = None) -> None:
    """All parts, or those whose name has a text."""
    made = parser("graphs", "Graph models beside pyAgrum.")
    made.add_argument("--only", default="", help="networks, 'network NAME', tree, learned, grid, rows, estimates or em")
    made.add_argument(
        "--wheel", type=Path, default=None, help=f"the file {networks.WHEEL} (default: data/, downloaded)"
    )
    given = made.parse_args(arguments)
    table = Table("graphs", "How fast and how exact are graph models, one thread?")
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "tree": large_tree,
        "learned": learned_tree,
        "grid": grid,
        "rows": many_rows,
        "estimates": estimates,
        "em": missing_values,
    }
    for name, part in parts.items():
        if given.only in ("", name):
            for row in part():
                table.add(row)
    if given.only not in parts:
        for row in compare_networks(given.wheel, given.only):
            table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
