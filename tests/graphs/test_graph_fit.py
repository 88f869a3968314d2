"""Estimates of graph models against counts and dense tables."""

from __future__ import annotations

import numpy as np
import pytest

from corate.errors import ConfigError, DataError
from corate.graphs import GraphModel
from corate.rate import Counts
from reference.graphs import enumerated


def some_rows(n: int = 400, seed: int = 0) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.7, a % 2, rng.integers(0, 2, n))
    c = np.where(rng.random(n) < 0.6, b, 1 - b)
    d = (a + c + (rng.random(n) < 0.3)) % 3
    return {"A": a.tolist(), "B": b.tolist(), "C": c.tolist(), "D": d.tolist()}


def frequencies(rows: dict[str, list[int]], names: list[str]) -> np.ndarray:
    shape = [max(rows[name]) + 1 for name in names]
    found = np.zeros(shape)
    np.add.at(found, tuple(np.array(rows[name]) for name in names), 1.0)
    return found


def test_a_triangulated_graph_has_the_margins_of_the_data() -> None:
    rows = some_rows()
    model = GraphModel.fit(rows, "A-B B-C A-C C-D", prior=0)
    assert model.log_z == pytest.approx(0, abs=1e-12)
    for clique in (["A", "B", "C"], ["C", "D"]):
        assert model.joint(clique) == pytest.approx(frequencies(rows, clique) / 400, abs=1e-12)
    # A and D are independent given C
    joint = model.joint(["A", "C", "D"])
    both, left, right = joint.sum((0, 2)), joint.sum(2), joint.sum(0)
    assert joint == pytest.approx(left[:, :, None] * right[None] / both[None, :, None], abs=1e-12)


def test_the_prior_is_rows_spread_over_the_joint_table() -> None:
    rows, names, prior = some_rows(30), ["A", "B", "C", "D"], 7.0
    model = GraphModel.fit(rows, "A-B B-C C-D", prior=prior)
    smoothed = frequencies(rows, names) + prior / (3 * 2 * 2 * 3)
    smoothed /= smoothed.sum()
    for pair, rest in ((["A", "B"], (2, 3)), (["B", "C"], (0, 3)), (["C", "D"], (0, 1))):
        assert model.joint(pair) == pytest.approx(smoothed.sum(rest), abs=1e-12)
    assert model.marginals()["B"] == pytest.approx(smoothed.sum((0, 2, 3)), abs=1e-12)


def test_counts_add_up() -> None:
    rows = some_rows()
    halves = [{name: values[part] for name, values in rows.items()} for part in (slice(150), slice(150, None))]
    for graph in ("A-B B-C C-D", "A-B B-C C-D D-A"):
        whole = GraphModel.fit(rows, graph)
        states = whole.states
        parts = GraphModel.fit(halves[0], graph, states=states).update(halves[1])
        assert parts.record["rows"] == 400
        assert parts.log_prob(rows) == pytest.approx(whole.log_prob(rows), abs=1e-9)


@pytest.mark.parametrize(
    "kind", ["lists", "int8", "int64", "pandas", "polars", "arrow", "categorical", "csv", "parquet", "counts"]
)
def test_every_kind_of_data_gives_the_same_model(kind: str, tmp_path) -> None:
    rows = some_rows()
    data = {
        "lists": lambda: rows,
        "int8": lambda: {name: np.array(v, dtype=np.int8) for name, v in rows.items()},
        "int64": lambda: {name: np.array(v) for name, v in rows.items()},
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(rows),
        "polars": lambda: pytest.importorskip("polars").DataFrame(rows),
        "arrow": lambda: pytest.importorskip("pyarrow").table(rows),
        "categorical": lambda: pytest.importorskip("pandas").DataFrame(rows).astype("category"),
        "csv": lambda: written_csv(rows, tmp_path / "rows.csv"),
        "parquet": lambda: written_parquet(rows, tmp_path / "rows.parquet"),
        "counts": lambda: Counts.of_frame(rows),
    }[kind]()
    states = {"A": [0, 1, 2], "B": [0, 1], "C": [0, 1], "D": [0, 1, 2]} if kind == "counts" else None
    model = GraphModel.fit(data, "A-B B-C C-D", states=states)
    wanted = GraphModel.fit(rows, "A-B B-C C-D")
    assert model.log_prob(rows) == pytest.approx(wanted.log_prob(rows), abs=1e-12)
    assert model.states["A"] == (("0", "1", "2") if kind == "csv" else (0, 1, 2))


def written_csv(rows, path):
    lines = [",".join(rows), *(",".join(map(str, values)) for values in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def written_parquet(rows, path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(rows), path)
    return str(path)


def test_proportional_fitting_gives_the_dense_fit() -> None:
    import networkx as nx

    rng = np.random.default_rng(3)
    grid = nx.grid_2d_graph(3, 3)
    names = [f"X{a}_{b}" for a, b in grid.nodes]
    rows = dict(zip(names, rng.integers(0, 2, (9, 200)).tolist(), strict=True))
    model = GraphModel.fit(rows, grid, prior=2.0)
    assert model.record["method"] == "ipf"
    smoothed = frequencies(rows, names) + 2.0 / 512
    smoothed /= smoothed.sum()
    dense = np.full([2] * 9, 1 / 512)
    edges = [(names.index(a), names.index(b)) for a, b in model.graph.edges]
    for _ in range(500):
        for edge in edges:
            rest = tuple(k for k in range(9) if k not in edge)
            dense *= smoothed.sum(rest, keepdims=True) / dense.sum(rest, keepdims=True)
    exact = enumerated(tuple(names), dict.fromkeys(names, 2), [(tuple(names), dense)])
    assert model.joint(names) == pytest.approx(exact.joint(names, {}), abs=1e-8)
    for edge in model.graph.edges:
        rest = tuple(k for k, name in enumerate(names) if name not in edge)
        assert model.joint(sorted(edge, key=names.index)) == pytest.approx(smoothed.sum(rest), abs=1e-8)


def test_unseen_separators_have_equal_conditional_probabilities_and_probability_zero() -> None:
    model = GraphModel.fit({"A": [0, 1], "B": [0, 0], "C": [0, 1]}, "A-B B-C", prior=0, states={"B": [0, 1]})
    assert model.log_z == pytest.approx(0)
    assert model.marginals()["B"].tolist() == [1.0, 0.0]
    with pytest.raises(DataError, match="probability zero"):
        model.marginals({"B": 1})
    assert model.log_prob({"B": [0, 1]}).tolist() == [0.0, -np.inf]


def test_em_recovers_a_tree_with_missing_values_and_never_falls() -> None:
    rng = np.random.default_rng(5)
    n, size = 4000, 12
    edges = [(int(rng.integers(0, i)), i) for i in range(1, size)]
    names = [f"V{i}" for i in range(size)]
    truth = GraphModel.from_factors(
        [((names[a], names[b]), np.eye(3) * 2 + rng.random((3, 3)) + 0.3) for a, b in edges]
    )
    rows = {name: values.astype(float) for name, values in truth.sample(n, seed=1).items()}
    for values in rows.values():
        values[rng.random(n) < 0.2] = np.nan
    graph = " ".join(f"{names[a]}-{names[b]}" for a, b in edges)
    model = GraphModel.fit(rows, graph, missing="em")
    steps = np.diff(model.record["objective"])
    assert (steps > -1e-6).all()
    for a, b in edges:
        found, wanted = model.joint([names[a], names[b]]), truth.joint([names[a], names[b]])
        assert (np.abs(found - wanted) < 5 * np.sqrt(wanted / (0.6 * n))).all()


def test_em_finds_a_hidden_cause() -> None:
    rng = np.random.default_rng(6)
    cause = rng.integers(0, 2, 3000)
    seen = {f"S{i}": np.where(rng.random(3000) < 0.85, cause, 1 - cause) for i in range(5)}
    model = GraphModel.fit(seen, " ".join(f"H-S{i}" for i in range(5)), hidden={"H": 2}, restarts=3)
    assert model.marginals()["H"] == pytest.approx([0.5, 0.5], abs=0.05)
    hit = max(model.joint(["H", "S0"])[0, k] / model.marginals()["H"][0] for k in (0, 1))
    assert hit == pytest.approx(0.85, abs=0.03)
    independent = GraphModel.fit(seen, " ".join(seen))
    assert model.log_prob(seen).sum() > independent.log_prob(seen).sum() + 1000


def test_em_on_complete_data_is_the_closed_form() -> None:
    rows = some_rows()
    holed = {name: [*values, None] for name, values in rows.items()}
    closed, found = GraphModel.fit(rows, "A-B B-C C-D"), GraphModel.fit(holed, "A-B B-C C-D", missing="em")
    assert found.log_prob(rows) == pytest.approx(closed.log_prob(rows), abs=1e-2)


def test_bad_options_are_refused() -> None:
    rows = some_rows(20)
    for options, match in (
        ({"prior": -1}, "prior must be"),
        ({"prior": float("nan")}, "prior must be"),
        ({"method": "magic"}, "unknown method"),
        ({"missing": "drop"}, "missing must be"),
        ({"hidden": {"A": 2}}, "column of the data"),
        ({"hidden": {"Z": 2}}, "no node 'Z'"),
        ({"memory": 100}, "budget of 100 bytes"),
    ):
        with pytest.raises((ConfigError, DataError), match=match):
            GraphModel.fit(rows, "A-B B-C C-D", **options)
    with pytest.raises(ConfigError, match="either a graph"):
        GraphModel.fit(rows)
    with pytest.raises(ConfigError, match="lacks 1 edge"):
        GraphModel.fit(rows, "A-B B-C C-D D-A", method="closed")


def test_composite_likelihood_recovers_the_factors_of_a_loop() -> None:
    rng = np.random.default_rng(8)
    names = ["A", "B", "C", "D", "E"]
    pairs = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("D", "E")]
    truth = GraphModel.from_factors([(pair, np.exp(rng.normal(size=(2, 2)))) for pair in pairs])
    rows = truth.sample(40_000, seed=2)
    graph = " ".join("-".join(pair) for pair in pairs)
    found = GraphModel.fit(rows, graph, method="composite")
    best = GraphModel.fit(rows, graph, method="ipf")
    assert found.joint(names) == pytest.approx(truth.joint(names), abs=0.01)
    assert 0 <= best.log_prob(rows).mean() - found.log_prob(rows).mean() < 1e-3
    more = found.update(rows)
    assert more.record["rows"] == 80_000
    assert more.joint(names) == pytest.approx(found.joint(names), abs=1e-3)


def test_composite_likelihood_is_exact_where_every_neighbourhood_is_the_graph() -> None:
    rows = some_rows()
    for graph in ("A-B B-C", "A-B B-C C-A"):
        composite, closed = (GraphModel.fit(rows, graph, method=method) for method in ("composite", "closed"))
        kept = {name: rows[name] for name in "ABC"}
        assert composite.log_prob(kept) == pytest.approx(closed.log_prob(kept), abs=1e-6)
    with pytest.raises(ConfigError, match="prior above 0"):
        GraphModel.fit(rows, "A-B", method="composite", prior=0)
    with pytest.raises(ConfigError, match="complete data"):
        GraphModel.fit({"A": [1, None], "B": [0, 1]}, "A-B", method="composite", missing="em")
    with pytest.raises(ConfigError, match="joint states"):
        GraphModel.fit(
            {f"V{i}": [0, 1] for i in range(30)}, " ".join(f"V0-V{i}" for i in range(1, 30)), method="composite"
        )
