"""What holds when factors are estimated from a sample of a loop: totals, margins and independences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corate.errors import DataError
from corate.rate import Counts, ExpressionError, Table, UndefinedRateError, factorise, random_table

LOOP = "A-B B-C C-D D-A"
SEEDS = range(30)


def truth() -> Table:
    return random_table(LOOP, seed=0, states=2)


def probabilities(distribution: Table | Counts, text: str) -> np.ndarray:
    return np.exp(distribution.log_table(text)[1])


def plugged_in(sample: Counts, form: str) -> Table:
    """The product of the factors of a form, each counted from the sample."""
    names, logs = sample.log_table(factorise(LOOP, form).expression)
    return Table(logs, names, log=True)


# -- totals -----------------------------------------------------------------------------------------------------------


def test_a_total_is_the_plain_sum() -> None:
    weights = np.random.default_rng(0).gamma(1.0, size=(2, 3, 2))
    table, joint = Table(weights, "ABC"), weights / weights.sum()
    squares = joint.sum(axis=2) ** 2
    assert table.total("P(A, B)^2") == pytest.approx(squares.sum())
    assert table.total("P(A, B)^2", {"B": 1}) == pytest.approx(squares[:, 1].sum())
    assert table.total("P(A=1, B)^2") == pytest.approx(squares[1].sum())
    assert table.total("P(A, B)^2", {"A": 1, "B": 1}) == pytest.approx(squares[1, 1])
    with pytest.raises(ExpressionError, match="no variable 'D'"):
        table.total("P(D)")


@pytest.mark.parametrize("form", ["junction-tree", "conditioning", "mrf"])
def test_the_total_is_one_on_a_distribution_that_obeys_the_graph(form: str) -> None:
    assert truth().total(factorise(LOOP, form).expression) == pytest.approx(1, abs=1e-12)


def test_the_total_of_a_conditional_factorisation_is_one_for_each_condition() -> None:
    found = factorise("Y1-Y2 Y2-Y3", given=["X"])
    table = random_table(found.derivation.graph, seed=1)
    for x in table.states["X"]:
        assert table.total(found.expression, {"X": x}) == pytest.approx(1, abs=1e-12)  # type: ignore[dict-item]


def test_a_total_leaves_out_values_of_probability_zero_but_not_an_infinite_one() -> None:
    table = Table([[1, 1], [0, 0]], "AB")
    assert table.total("P(A) P(B | A)") == pytest.approx(1)
    with pytest.raises(UndefinedRateError, match=r"P\(A=1\) is zero"):
        table.total("P(B) / P(A)")


# -- samples ----------------------------------------------------------------------------------------------------------


def test_a_sample_has_the_frequencies_and_all_states_of_its_table() -> None:
    table = Table([[50, 30], [20, 0]], ["sky", "ground"], states={"sky": ["sun", "rain"]})
    sample = table.sample(100_000, seed=1)
    assert probabilities(sample, "P(sky, ground)") == pytest.approx(np.array([[0.5, 0.3], [0.2, 0.0]]), abs=0.01)
    assert sample.states == table.states
    assert table.sample(1).states == table.states
    assert table.sample(50, seed=2).value("P(sky=sun)") == table.sample(50, seed=2).value("P(sky=sun)")
    with pytest.raises(DataError, match="n must be at least 1"):
        table.sample(0)


# -- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_the_total_of_a_junction_tree_stays_one(n: int) -> None:
    expression = factorise(LOOP, "junction-tree").expression
    for seed in SEEDS:
        assert truth().sample(n, seed).total(expression) == pytest.approx(1, abs=1e-12)


def test_a_junction_tree_keeps_the_margins_of_its_cliques_and_the_independence_of_its_triangulation() -> None:
    sample = truth().sample(100, seed=3)
    estimate = plugged_in(sample, "junction-tree")
    for margin in ("P(A, B, C)", "P(A, C, D)"):
        assert probabilities(estimate, margin) == pytest.approx(probabilities(sample, margin), abs=1e-12)
    assert estimate.difference("P(B, D | A, C)", "P(B | A, C) P(D | A, C)") < 1e-9
    assert estimate.difference("P(A, C | B, D)", "P(A | B, D) P(C | B, D)") > 0.05


def test_the_total_of_the_conditioning_form_stays_one_while_all_pairs_that_it_divides_by_are_seen() -> None:
    expression = factorise(LOOP, "conditioning").expression
    lower = 0
    for seed in SEEDS:
        sample = truth().sample(30, seed)
        total = sample.total(expression)
        if probabilities(sample, "P(B, D)").all():
            assert total == pytest.approx(1, abs=1e-12)
        else:
            lower += total < 1 - 1e-6
            assert total <= 1 + 1e-12
    assert lower


def test_the_conditioning_form_loses_some_margins_and_one_independence_of_the_loop() -> None:
    sample = truth().sample(50, seed=4)
    estimate = plugged_in(sample, "conditioning")
    off = {
        margin: np.abs(probabilities(estimate, margin) - probabilities(sample, margin)).max()
        for margin in ("P(B, C)", "P(C, D)", "P(A, B)", "P(A, D)", "P(B, D)")
    }
    assert max(off["P(B, C)"], off["P(C, D)"]) < 1e-12
    assert min(off["P(A, B)"], off["P(A, D)"], off["P(B, D)"]) > 1e-3
    assert estimate.difference("P(A, C | B, D)", "P(A | B, D) P(C | B, D)") < 1e-9
    assert estimate.difference("P(B, D | A, C)", "P(B | A, C) P(D | A, C)") > 0.1


def test_the_total_of_a_random_field_drifts_from_one_as_the_sample_shrinks() -> None:
    field = factorise(LOOP, "mrf").expression
    spreads = []
    for n in (1_000, 10_000, 100_000):
        totals = [truth().sample(n, seed).table(add=0.5).total(field) for seed in SEEDS]
        spreads.append(math.sqrt(float(np.mean([(total - 1) ** 2 for total in totals]))))
    assert spreads[0] > 2 * spreads[1] > 4 * spreads[2] > 0.01


def test_a_random_field_is_undefined_on_a_sample_that_lacks_its_configuration() -> None:
    with pytest.raises(UndefinedRateError, match=r"is zero; choose another configuration, or add a constant"):
        truth().sample(30, seed=0).total(factorise(LOOP, "mrf").expression)
