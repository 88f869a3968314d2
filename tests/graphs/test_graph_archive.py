"""Graph models in the model file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import corate
from corate.errors import CorateError, ModelError
from corate.graphs import GraphModel
from corate.io import tensor_file
from reference.graphs import random_factors

GOLDEN = Path(__file__).parent / "golden"
ROWS = {"A": ["x", "y", "x", "z"], "B": [0, 1, 1, 0], "C": [True, False, True, True], "D": [0.5, 1.5, 0.5, 0.5]}


@pytest.mark.parametrize("graph", ["A-B B-C C-D", "A-B B-C C-D D-A", "A B-C D"])
def test_a_fitted_model_comes_back_as_it_was(graph: str, tmp_path) -> None:
    model = GraphModel.fit(ROWS, graph)
    size = model.save(tmp_path / "m.corate")
    again = GraphModel.load(tmp_path / "m.corate")
    assert size == (tmp_path / "m.corate").stat().st_size
    assert (again.graph, again.states, again.record) == (model.graph, model.states, model.record)
    assert again.log_prob(ROWS) == pytest.approx(model.log_prob(ROWS), abs=1e-12)
    assert again.update(ROWS).log_prob(ROWS) == pytest.approx(model.update(ROWS).log_prob(ROWS), abs=1e-12)
    again.save(tmp_path / "again.corate")
    assert (tmp_path / "again.corate").read_bytes() == (tmp_path / "m.corate").read_bytes()


def test_factors_come_back(tmp_path) -> None:
    for seed in range(6):
        names, sizes, factors = random_factors(seed)
        model = GraphModel.from_factors(
            factors, {name: range(size) for name, size in sizes.items()}, graph=" ".join(names)
        )
        model.save(tmp_path / "m")
        again = GraphModel.load(tmp_path / "m")
        assert again.log_z == pytest.approx(model.log_z, abs=1e-9)
        for name in names:
            assert again.marginals()[name] == pytest.approx(model.marginals()[name], abs=1e-12)


def test_ranges_that_do_not_fit_the_states_are_refused(tmp_path) -> None:
    GraphModel.fit({"x": np.arange(99) / 7}, "x", bins=3).save(tmp_path / "m")
    tensors, header = tensor_file.read(tmp_path / "m")
    assert GraphModel.load(tmp_path / "m").record["bins"] == header["record"]["bins"]
    for edges in ([1.0], [2.0, 1.0], [1.0, "x"]):
        tensor_file.write(tmp_path / "m", tensors, header | {"record": header["record"] | {"bins": {"x": edges}}})
        with pytest.raises(ModelError):
            GraphModel.load(tmp_path / "m")


def test_taggers_and_graph_models_are_told_apart(tmp_path) -> None:
    GraphModel.fit(ROWS, "A-B").save(tmp_path / "graph")
    with pytest.raises(ModelError, match=r"graph model, not a tagger; load it with corate\.GraphModel\.load"):
        corate.load(tmp_path / "graph")
    corate.train(corate.Corpus.from_sentences([[("a", "X"), ("b", "Y")]])).save(tmp_path / "tagger")
    with pytest.raises(ModelError, match="not a graph model"):
        GraphModel.load(tmp_path / "tagger")


def test_states_that_json_does_not_know_are_refused(tmp_path) -> None:
    model = GraphModel.fit({"A": [(1, 2), (3, 4)], "B": [0, 1]}, "A-B")
    with pytest.raises(ModelError, match=r"state \(1, 2\) of A cannot be saved"):
        model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_damaged_models_are_refused_or_still_models(tmp_path) -> None:
    """Every change of a header or a tensor gives an error of ours, or a model that answers."""
    GraphModel.fit(ROWS, "A-B B-C C-D").save(tmp_path / "m")
    tensors, header = tensor_file.read(tmp_path / "m")
    values = [None, -1, 10**9, "x", [], {}, [[0, 0]], [[0, 99]], [["A"]], float("1e308"), True]
    for member in header:
        for value in values:
            check_damage(tmp_path, tensors, header | {member: value})
        check_damage(tmp_path, tensors, {key: of for key, of in header.items() if key != member})
    for bins in (*values, {"A": [1.0]}, {"A": "x"}, {"Z": []}):
        check_damage(tmp_path, tensors, header | {"record": header["record"] | {"bins": bins}})
    for name, tensor in tensors.items():
        for changed in (tensor[:-1], -tensor, tensor * np.nan, tensor.astype(np.float32), tensor * 0, tensor[None]):
            check_damage(tmp_path, tensors | {name: changed}, header)
    check_damage(tmp_path, tensors | {"more": np.zeros(1)}, header)


def check_damage(folder, tensors, header) -> None:
    tensor_file.write(folder / "damaged", tensors, header)
    try:
        model = GraphModel.load(folder / "damaged")
    except CorateError:
        return
    found = model.marginals()
    assert all(p.sum() == pytest.approx(1) for p in found.values())


@pytest.mark.parametrize("name", ["v1-fitted", "v1-loop", "v1-factors"])
def test_models_of_earlier_versions_load(name: str) -> None:
    """The files were made by `golden_models` with the first version that wrote them, and are never changed."""
    model = GraphModel.load(GOLDEN / f"{name}.corate")
    wanted = golden_models()[name]
    assert (model.graph, model.states) == (wanted.graph, wanted.states)
    assert model.marginals({"B": 1})["A"] == pytest.approx(wanted.marginals({"B": 1})["A"], abs=1e-9)
    if name != "v1-factors":
        assert model.update(ROWS).log_prob(ROWS) == pytest.approx(wanted.update(ROWS).log_prob(ROWS), abs=1e-9)


def golden_models() -> dict[str, GraphModel]:
    return {
        "v1-fitted": GraphModel.fit(ROWS, "A-B B-C C-D"),
        "v1-loop": GraphModel.fit(ROWS, "A-B B-C C-D D-A"),
        "v1-factors": GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]]), (["B", "C"], np.ones((2, 3)))]),
    }
