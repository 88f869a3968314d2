"""Densities from data: Gaussians and histograms, their marginals and conditionals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corate.errors import DataError
from corate.rate import ExpressionError, Gaussian, Histogram, P, Sum, Table, random_gaussian

RNG = np.random.default_rng(0)
POINTS = RNG.multivariate_normal([1.0, -2.0, 0.0], [[2.0, 0.6, 0.0], [0.6, 1.0, 0.3], [0.0, 0.3, 0.5]], size=500)
FRAME = {name: POINTS[:, i] for i, name in enumerate("ABC")}


def test_a_gaussian_has_the_moments_of_the_data() -> None:
    pandas = pytest.importorskip("pandas")
    for frame in (FRAME, {name: values.tolist() for name, values in FRAME.items()}, pandas.DataFrame(FRAME)):
        found = Gaussian.fit(frame, "CA")
        assert found.variables == ("C", "A")
        assert found.mean == pytest.approx(POINTS[:, [2, 0]].mean(axis=0))
        assert found.covariance == pytest.approx(np.cov(POINTS[:, [2, 0]].T, bias=True))
    assert Gaussian.fit(FRAME).variables == ("A", "B", "C")
    assert Gaussian.fit({"X": [1.0, 3.0]}).covariance.tolist() == [[1.0]]


def test_the_marginal_and_the_conditional_have_the_densities_of_the_whole() -> None:
    whole = random_gaussian("A-B-C-D-A", 3)
    at = {"A": 0.3, "B": -1.0, "C": 0.2, "D": 2.0}
    part = whole.marginal("CA")
    assert part.log_value("P(A, C)", {"A": 0.3, "C": 0.2}) == pytest.approx(
        whole.log_value("P(A, C)", {"A": 0.3, "C": 0.2})
    )
    given = whole.conditional({"D": 2.0, "B": -1.0})
    assert given.variables == ("A", "C")
    want = whole.log_value("P(A, C | B, D)", at)
    assert given.log_value("P(A, C)", {"A": 0.3, "C": 0.2}) == pytest.approx(want)
    rate = whole.log_value("CR(A; C | B, D)", at)
    assert given.log_value("CR(A; C)", {"A": 0.3, "C": 0.2}) == pytest.approx(rate, abs=1e-9)
    assert whole.conditional({}).covariance == pytest.approx(whole.covariance)
    with pytest.raises(DataError, match="all variables have a value"):
        whole.conditional(at)
    with pytest.raises(ExpressionError, match="no variable 'Z'"):
        whole.conditional({"Z": 1.0})


@pytest.mark.parametrize("cls", [Gaussian, Histogram])
@pytest.mark.parametrize(
    ("frame", "in_words"),
    [
        ({"A": [1.0, np.nan]}, "column 'A', row 1: the number is missing"),
        ({"A": [1.0, "warm"]}, "A: 'warm' is not a number"),
        ({"A": [1.0, 2.0], "B": [1.0]}, "equally many numbers"),
        ({"A": []}, "at least one"),
        ({}, "no columns"),
    ],
)
def test_frames_that_have_no_numbers_are_refused(cls: Any, frame: Any, in_words: str) -> None:
    with pytest.raises(DataError, match=in_words):
        cls.fit(frame)


def test_columns_that_depend_on_each_other_have_no_density() -> None:
    with pytest.raises(
        DataError, match="no density, as there are too few rows, or a column is constant or depends on others"
    ):
        Gaussian.fit({"A": [1.0, 2.0, 3.0], "B": [2.0, 4.0, 6.0]})


# -- histograms -------------------------------------------------------------------------------------------------------


def test_a_histogram_is_the_density_of_its_bins() -> None:
    edges = {"A": [-6.0, 0.0, 1.0, 1.5, 8.0], "B": [-7.0, -2.0, 2.0]}
    found = Histogram.fit(FRAME, "AB", bins=edges)
    want, _, _ = np.histogram2d(POINTS[:, 0], POINTS[:, 1], bins=[edges["A"], edges["B"]], density=True)
    for a, i in ((-1.0, 0), (0.0, 1), (0.99, 1), (1.2, 2), (8.0, 3)):
        for b, j in ((-7.0, 0), (-2.0, 1), (2.0, 1)):
            assert found.value("P(A, B)", {"A": a, "B": b}) == pytest.approx(want[i, j])
    single, _ = np.histogram(POINTS[:, 0], bins=edges["A"], density=True)
    assert found.marginal("A").value("P(A=1.2)") == pytest.approx(single[2])
    assert found.value("P(A=1.2)") == pytest.approx(single[2])


def test_its_rates_are_those_of_the_table_of_bins_and_its_sums_are_integrals() -> None:
    found = Histogram.fit(FRAME, bins=3)
    table = Table(np.histogramdd(POINTS, bins=3)[0], "ABC")
    assert found.log_table("CR(A; B)")[1] == pytest.approx(table.log_table("CR(A; B)")[1])
    assert found.value(Sum("A", Sum("B", P("A, B")))) == pytest.approx(1.0)
    assert found.total("P(A, B, C)") == pytest.approx(1.0)
    assert found.difference("sum_B [P(A, B)]", "P(A)") < 1e-12
    assert found.difference("sum_B [CR(A; B) P(B)]", "1") < 1e-12
    area = found.edges["C"][-1] - found.edges["C"][0]
    assert found.value("sum_C [P(A)]", {"A": 1.0}) == pytest.approx(area * found.value("P(A)", {"A": 1.0}))
    assert found.mutual_information("A", "B") == pytest.approx(table.mutual_information("A", "B"))


def test_a_fine_histogram_has_the_entropy_of_the_density() -> None:
    points = np.random.default_rng(1).normal(size=200_000)
    found = Histogram.fit({"X": points}, bins=80)
    assert found.entropy() == pytest.approx(0.5 * np.log(2 * np.pi * np.e), abs=0.02)


def test_histograms_that_cannot_be_made() -> None:
    with pytest.raises(DataError, match="must be at least two numbers that ascend"):
        Histogram([1.0, 2.0], "A", {"A": [0, 2, 1]})
    with pytest.raises(DataError, match="edges are needed for A"):
        Histogram([1.0, 2.0], "A", {"B": [0, 1, 2]})
    with pytest.raises(DataError, match="outside of the edges"):
        Histogram.fit({"A": [0.5, 3.0]}, bins={"A": [0, 1, 2]})
    with pytest.raises(DataError, match=r"bins of A must be a whole number, 1 or more, .* not 0"):
        Histogram.fit(FRAME, bins=0)
    with pytest.raises(DataError, match="cells"):
        Histogram.fit(FRAME, bins=1000)
    found = Histogram.fit(FRAME, bins=4)
    with pytest.raises(ExpressionError, match=r"A=99 is outside of the histogram"):
        found.value("P(A=99)")
    with pytest.raises(ExpressionError, match="A must be a number"):
        found.value("P(A=warm)")
