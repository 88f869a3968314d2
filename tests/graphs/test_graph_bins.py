"""Columns of numbers: refused as states, divided into ranges with equally many rows."""

from __future__ import annotations

import numpy as np
import pytest

from corate.errors import ConfigError, DataError
from corate.graphs import GraphModel, Tree
from corate.rate import Counts

RNG = np.random.default_rng(0)
X = RNG.normal(size=400)
Y = X + RNG.normal(size=400)
ROWS = {"x": X, "y": Y, "z": (X > 0).astype(int)}


@pytest.mark.parametrize("kind", ["array", "list", "texts", "pandas", "polars", "arrow"])
def test_a_column_of_numbers_is_refused_and_can_be_divided(kind: str) -> None:
    rows = {
        "array": lambda: ROWS,
        "list": lambda: {name: values.tolist() for name, values in ROWS.items()},
        "texts": lambda: {name: [str(value) for value in values.tolist()] for name, values in ROWS.items()},
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(ROWS),
        "polars": lambda: pytest.importorskip("polars").DataFrame(ROWS),
        "arrow": lambda: pytest.importorskip("pyarrow").table(ROWS),
    }[kind]()
    with pytest.raises(DataError, match=r"column 'x' has 400 different numbers, .* with bins="):
        GraphModel.fit(rows, "x-y y-z")
    model = GraphModel.fit(rows, "x-y y-z", bins=4)
    assert [len(model.states[name]) for name in "xyz"] == [4, 4, 2]
    assert model.marginals()["x"] == pytest.approx([0.25] * 4, abs=0.01)
    wanted = GraphModel.fit(ROWS, "x-y y-z", bins={"x": 4, "y": 4})
    assert model.states["x"] == wanted.states["x"]
    assert model.joint(["x", "y"]) == pytest.approx(wanted.joint(["x", "y"]))


def test_integers_few_numbers_and_given_states_are_states() -> None:
    ids = np.arange(400)
    few = RNG.integers(0, 50, 400) / 4
    model = GraphModel.fit({"x": ids, "y": few}, "x-y")
    assert len(model.states["x"]) == 400
    assert len(GraphModel.fit({"x": X}, "x", states={"x": sorted(X)}).states["x"]) == 400


def test_evidence_and_further_data_are_numbers_or_ranges(tmp_path) -> None:
    model = GraphModel.fit(ROWS, "x-y y-z", bins=4)
    model.save(tmp_path / "m")
    for one in (model, GraphModel.load(tmp_path / "m")):
        low, middle = one.states["x"][:2]
        edge = one.record["bins"]["x"][0]
        for value, state in ((edge - 1e-9, low), (edge, middle), (-50.0, low), (str(edge), middle)):
            assert one.marginals({"x": value})["y"] == pytest.approx(one.marginals({"x": state})["y"])
        many = one.marginals({"x": [edge - 1, middle, None]})["y"]
        assert many[0] == pytest.approx(one.marginals({"x": low})["y"])
        assert many[1] == pytest.approx(one.marginals({"x": middle})["y"])
        assert many[2] == pytest.approx(one.marginals()["y"])
        assert one.log_prob(ROWS).shape == (400,)
        assert one.update(ROWS).record["rows"] == 800
        assert one.bic(ROWS) < GraphModel.fit(ROWS, "x y z", bins=4).bic(ROWS)
        assert one.marginals(one.sample(3, seed=0))["y"].shape == (3, 4)
        with pytest.raises(DataError, match="x: 'warm' is not a number"):
            one.marginals({"x": "warm"})


def test_equal_numbers_are_in_one_range_and_missing_ones_in_none() -> None:
    values = np.array([0.0] * 90 + [1.5] * 10)
    model = GraphModel.fit({"x": values}, "x", bins={"x": 4}, prior=0)
    assert model.states["x"] == ("any number",)
    holes = np.where(np.arange(400) % 5 == 0, np.nan, X)
    with pytest.raises(DataError, match="column 'x', row 0: the value is missing"):
        GraphModel.fit(ROWS | {"x": holes}, "x-y", bins=4)
    assert GraphModel.fit(ROWS | {"x": holes}, "x-y", bins=4, missing="em").record["iterations"] > 1


def test_structures_are_learned_from_ranges() -> None:
    model = GraphModel.fit(ROWS | {"w": np.ones(400)}, structure=Tree(), bins=4, weights="w")
    assert model.variables == ("x", "y", "z")
    assert {frozenset(edge) for edge in model.graph.edges} == {frozenset("xy"), frozenset("xz")}


def test_bins_that_cannot_be_used() -> None:
    for bins in ("four", 0, {"x": 0}):
        with pytest.raises(ConfigError, match="bins"):
            GraphModel.fit(ROWS, "x-y", bins=bins)
    with pytest.raises(ConfigError, match="bins names 'moon'"):
        GraphModel.fit(ROWS, "x-y", bins={"moon": 3})
    with pytest.raises(ConfigError, match="Counts cannot be divided"):
        GraphModel.fit(Counts.of_frame({"x": [1.5, 2.5]}), "x", bins=2)
