"""Data and evidence that cannot be used: each gives an error that says where and what to do, or a sensible answer."""

from __future__ import annotations

import numpy as np
import pytest

from corate.errors import ConfigError, CorateError, DataError
from corate.graphs import GraphModel

ROWS = {"A": ["x", "y", "x"], "B": [0, 1, 1]}


def test_an_unknown_state_or_variable_in_evidence() -> None:
    model = GraphModel.fit(ROWS, "A-B")
    with pytest.raises(DataError, match="A has no state 'z'; it has 'x', 'y'"):
        model.marginals({"A": "z"})
    with pytest.raises(DataError, match="B has no state 7"):
        model.marginals({"B": [0, 7]})
    with pytest.raises(DataError, match="'C', which is no variable"):
        model.marginals({"C": 1})
    with pytest.raises(CorateError, match="no node 'C'"):
        model.joint(["A", "C"])


def test_evidence_of_probability_zero_names_the_row() -> None:
    model = GraphModel.from_factors([(["A", "B"], [[1, 0], [0, 1]])])
    for ask in (model.marginals, model.most_likely, lambda e: model.joint(["A"], e)):
        with pytest.raises(DataError, match="row 1 of the evidence has the probability zero"):
            ask({"A": [0, 0], "B": [0, 1]})
    with pytest.raises(DataError, match="the evidence has the probability zero"):
        model.sample(5, {"A": 0, "B": 1})
    with pytest.raises(DataError, match="the evidence has the probability zero"):
        model.entropy({"A": 0, "B": 1})
    assert model.log_prob({"A": [0], "B": [1]}).tolist() == [-np.inf]


def test_a_variable_that_the_data_does_not_have() -> None:
    with pytest.raises(DataError, match=r"no column 'C' in the data \(columns: 'A', 'B'\)"):
        GraphModel.fit(ROWS, "A-B B-C")


def test_constant_columns_and_one_row() -> None:
    model = GraphModel.fit({"A": [1, 1], "B": [0, 1]}, "A-B")
    assert model.states["A"] == (1,)
    assert model.marginals()["B"].tolist() == [0.5, 0.5]
    one = GraphModel.fit({"A": ["a"], "B": ["b"]}, "A-B")
    assert one.most_likely() == {"A": "a", "B": "b"}
    assert one.entropy() == 0.0


def test_many_states() -> None:
    values = np.arange(10_000)
    model = GraphModel.fit({"A": values, "B": values % 2}, "A-B")
    assert model.marginals({"B": 1})["A"].shape == (10_000,)
    with pytest.raises(ConfigError, match="100,000,000 are in the clique of A, B"):
        GraphModel.fit({"A": values, "B": values}, "A-B", memory=1_000_000_000)


def test_a_clique_that_is_too_large() -> None:
    names = [f"V{i}" for i in range(60)]
    edges = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    with pytest.raises(ConfigError, match=r"treewidth 59.*Remove edges"):
        GraphModel.fit({name: [0, 1] for name in names}, edges)


@pytest.mark.parametrize("missing", [None, float("nan"), ""])
def test_missing_values_name_the_column_and_the_row(missing: object) -> None:
    with pytest.raises(DataError, match=r"column 'A', row 1: the value is missing.*missing='em'"):
        GraphModel.fit({"A": [1.0 if missing != "" else "a", missing], "B": [0, 1]}, "A-B")


def test_missing_evidence_is_not_observed() -> None:
    model = GraphModel.fit(ROWS, "A-B")
    found = model.marginals({"A": ["x", None], "B": [float("nan"), 1]})
    assert found["B"][0] == pytest.approx(model.marginals({"A": "x"})["B"])
    assert found["A"][1] == pytest.approx(model.marginals({"B": 1})["A"])


def test_duplicated_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1, 0]], columns=["A", "B", "A"])
    with pytest.raises(DataError, match="two columns have the name 'A'"):
        GraphModel.fit(frame, "A-B")
    with pytest.raises(DataError, match="two columns have the name '1'"):
        GraphModel.fit({1: [0], "1": [0]}, "A-B")


def test_ragged_empty_and_odd_data() -> None:
    with pytest.raises(DataError, match="different lengths: A 2, B 1"):
        GraphModel.fit({"A": [0, 1], "B": [0]}, "A-B")
    with pytest.raises(DataError, match=r"no values|no rows"):
        GraphModel.fit({"A": [], "B": []}, "A-B")
    with pytest.raises(DataError, match="cannot be a state"):
        GraphModel.fit({"A": [[1], [2]], "B": [0, 1]}, "A-B")
    with pytest.raises(DataError, match="has no named columns"):
        GraphModel.fit(5, "A-B")
    with pytest.raises(DataError, match="2 dimensions"):
        GraphModel.fit({"A": np.zeros((2, 2)), "B": [0, 1]}, "A-B")


def test_bad_factors() -> None:
    for factors, match in (
        ([], "no variable"),
        ([("A", [1, -1])], "negative"),
        ([("A", [1, float("nan")])], "not finite"),
        ([("A", [0, 0])], "zero everywhere"),
        ([(["A", "B"], [1, 1])], "an axis for each variable"),
        ([(["A", "A"], [[1, 1], [1, 1]])], "twice"),
        ([("A", [1, 1]), ("A", [1, 1, 1])], "3 states of A, which has 2 elsewhere"),
        ([("A", "text")], "not a table of numbers"),
        ([5], "must be a pair"),
    ):
        with pytest.raises(DataError, match=match):
            GraphModel.from_factors(factors)
    with pytest.raises(DataError, match="zero everywhere"):
        GraphModel.from_factors([("A", [1, 0]), ("A", [0, 1])]).log_z  # noqa: B018


def test_an_update_with_an_unknown_state() -> None:
    model = GraphModel.fit(ROWS, "A-B")
    with pytest.raises(DataError, match="A has no state 'z'"):
        model.update({"A": ["z"], "B": [0]})
    with pytest.raises(DataError, match="no counts"):
        GraphModel.from_factors([("A", [1, 1])]).update({"A": [0]})


def test_answers_that_do_not_fit_into_memory_are_refused() -> None:
    model = GraphModel.from_factors([("A", [1, 1]), ("B", [1, 1])], memory=2000)
    with pytest.raises(ConfigError, match="marginals of 100 rows, each with 4 numbers, need"):
        model.marginals({"A": [0] * 100})
    many = GraphModel.from_factors([(f"V{i}", np.ones(10)) for i in range(12)])
    with pytest.raises(ConfigError, match="of 1 row, each with 1,000,000,000,000 numbers"):
        many.joint(list(many.variables))


def test_numbered_columns_are_the_nodes_of_numbered_graphs() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).integers(0, 2, (50, 3)))
    model = GraphModel.fit(frame, [(0, 1), (1, 2)])
    assert model.variables == ("X0", "X1", "X2")
    assert model.record["rows"] == 50


def test_evidence_without_rows() -> None:
    model = GraphModel.fit(ROWS, "A-B")
    for evidence in ({"A": []}, [], pytest.importorskip("pandas").DataFrame({"A": []})):
        with pytest.raises(DataError, match=r"no rows|is empty"):
            model.marginals(evidence)
    assert model.marginals([{}, {}])["A"].shape == (2, 2)
