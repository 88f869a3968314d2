"""Soft evidence, the n most likely states, mutual information and BIC, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corate.errors import DataError
from corate.graphs import GraphModel
from corate.rate import Counts
from reference.graphs import enumerated, random_factors


def a_model(seed: int, cutset: bool = False):
    names, sizes, factors = random_factors(seed, most=6)
    states = {name: range(size) for name, size in sizes.items()}
    chosen = names[:2] if cutset else None
    model = GraphModel.from_factors(factors, states, graph=" ".join(names), cutset=chosen)
    return names, sizes, factors, model


@pytest.mark.parametrize("cutset", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_soft_evidence_is_a_factor(seed: int, cutset: bool) -> None:
    names, sizes, factors, model = a_model(seed, cutset)
    rng = np.random.default_rng(seed)
    name = names[-1]
    likelihood = rng.uniform(0.1, 0.9, sizes[name])
    exact = enumerated(tuple(names), sizes, [*factors, ((name,), likelihood)])
    for soft in (likelihood.tolist(), likelihood, dict(enumerate(likelihood.tolist()))):
        found = model.marginals({name: soft})
        for other in names:
            assert found[other] == pytest.approx(exact.joint([other], {}), abs=1e-9)
    hard = {names[0]: 0} if len(names) > 1 and exact.joint([names[0]], {})[0] > 0 else {}
    evidence = {name: likelihood.tolist()} | hard
    assert model.joint([name], evidence) == pytest.approx(exact.joint([name], hard), abs=1e-9)
    assert model.entropy(evidence) == pytest.approx(exact.entropy(hard), abs=1e-8)
    best = model.most_likely(evidence)
    assert exact.given(hard)[tuple(best[n] for n in names)] == pytest.approx(exact.given(hard).max())
    assert model.log_z == pytest.approx(enumerated(tuple(names), sizes, factors).log_sum({}))


def test_soft_evidence_about_many_rows_and_what_is_not_soft() -> None:
    model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])])
    both = model.marginals({"A": [0.7, 0.3], "B": [0, 1, None]})["A"]
    assert both[2] == pytest.approx(model.marginals({"A": [0.7, 0.3]})["A"])
    assert model.marginals({"A": [1, 0]})["B"].shape == (2, 2), "a list of states is many rows"
    assert model.marginals({"A": {0: 1, 1: 0}})["B"] == pytest.approx(model.marginals({"A": 0})["B"])
    with pytest.raises(DataError, match="soft evidence about A needs a number for each of its states: 0, 1"):
        model.marginals({"A": {0: 1.0}})
    with pytest.raises(DataError, match="not negative, and not all zero"):
        model.marginals({"A": [0.5, -0.5]})
    with pytest.raises(DataError, match="soft evidence has no probability"):
        model.log_prob({"A": [0.7, 0.3]})


@pytest.mark.parametrize("cutset", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_n_best_are_those_of_a_sorted_list(seed: int, cutset: bool) -> None:
    names, sizes, factors, model = a_model(seed, cutset)
    exact = enumerated(tuple(names), sizes, factors)
    evidence = {names[0]: 0} if exact.joint([names[0]], {})[0] > 0 else {}
    probabilities = exact.probabilities(evidence)
    wanted = np.sort(probabilities[exact.given(evidence) > -np.inf])[::-1]
    for n in (1, 5, 40):
        found = model.nbest(n, evidence)
        assert [p for _, p in found] == pytest.approx(wanted[:n].tolist(), abs=1e-12)
        assert len({tuple(states.items()) for states, _ in found}) == len(found)
        for states, p in found:
            assert probabilities[tuple(states[name] for name in names)] == pytest.approx(p, abs=1e-12)
    assert model.nbest(1, evidence)[0][0] == model.most_likely(evidence)


def test_mutual_information_is_the_expected_log_rate() -> None:
    names, _, _, model = a_model(3)
    a, b, *rest = names
    joint, rates = model.joint([a, b]), model.rates(a, b)
    wanted = float(np.nansum(np.where(joint > 0, joint * np.log(np.where(rates > 0, rates, 1.0)), 0.0)))
    assert model.mutual_information(a, b) == pytest.approx(wanted, abs=1e-12)
    assert model.mutual_information(a, [b, *rest]) >= wanted - 1e-12
    with pytest.raises(DataError):
        model.mutual_information(a, [])
    with pytest.raises(DataError, match="none twice"):
        model.mutual_information(a, a)


def test_bic_counts_parameters_and_rows() -> None:
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, size, 80) for name, size in zip("ABCD", (2, 3, 2, 2), strict=True)}
    for graph, parameters in (("A-B-C D", 1 + 2 + 1 + 1 + 2 + 2), ("A-B-C-D-A", 5 + 2 + 2 + 1 + 1), ("A B C D", 5)):
        model = GraphModel.fit(rows, graph)
        likelihood = float(model.log_prob(rows).sum())
        assert model.bic(rows) == pytest.approx(parameters * math.log(80) - 2 * likelihood)
        assert model.bic(Counts.of_frame(rows)) == pytest.approx(model.bic(rows))
    twice = {name: np.tile(values, 2) for name, values in rows.items()}
    assert model.bic(rows, weights=[2] * 80) == pytest.approx(model.bic(twice))
    equal = GraphModel.fit({"A": [0, 1], "B": [0, 1]}, "A-B", prior=0)
    both = {"A": [0, 0, 1], "B": [0, 1, 1]}
    assert equal.bic(both, weights=[1, 0, 1]) == pytest.approx(3 * math.log(2) + 4 * math.log(2))
    assert equal.bic(both) == math.inf


def test_weighted_rows_are_repeated_rows() -> None:
    rng = np.random.default_rng(1)
    rows = {name: rng.integers(0, 2, 30) for name in "ABC"}
    weights = rng.integers(0, 4, 30)
    repeated = {name: np.repeat(values, weights) for name, values in rows.items()}
    states = {name: [0, 1] for name in "ABC"}
    for graph, method in (("A-B-C", "auto"), ("A-B-C-A", "ipf"), ("A-B-C", "composite")):
        wanted = GraphModel.fit(repeated, graph, states=states, method=method)
        for data, given in ((rows, weights), (rows | {"w": weights}, "w"), (rows, weights.tolist())):
            model = GraphModel.fit(data, graph, states=states, method=method, weights=given)
            assert model.log_prob(rows) == pytest.approx(wanted.log_prob(rows), abs=1e-8)
        assert model.update(rows, weights=weights).record["rows"] == 2 * weights.sum()


@pytest.mark.parametrize(
    ("weights", "in_words"),
    [([1], "2 weights, one for each row"), ([1, -1], "row 1 has -1.0"), ([0, 0], "all of them are zero"), ("w", "'w'")],
)
def test_weights_that_cannot_be_used(weights, in_words) -> None:
    with pytest.raises(DataError, match=in_words):
        GraphModel.fit({"A": [0, 1], "B": [0, 1]}, "A-B", weights=weights)
