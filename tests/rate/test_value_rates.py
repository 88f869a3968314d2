"""Rates of combinations of values are those of the definition, and the extreme ones are found."""

from __future__ import annotations

import numpy as np
import pytest

from corate.errors import DataError
from corate.rate import Counts, ExpressionError


def counted(seed: int) -> tuple[Counts, dict[str, list[int]]]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, 60)
    frame = {"A": a, "B": (a + rng.integers(0, 2, 60)) % 4, "C": rng.integers(0, 3, 60)}
    return Counts.of_frame(frame), {name: values.tolist() for name, values in frame.items()}


@pytest.mark.parametrize("given", [(), ("C",)])
@pytest.mark.parametrize("smooth", [0.0, 0.5])
def test_rates_are_counted_row_by_row(given: tuple[str, ...], smooth: float) -> None:
    counts, frame = counted(1)
    rows = list(zip(frame["A"], frame["B"], *(frame[name] for name in given), strict=True))
    want = {}
    for a in set(frame["A"]):
        for b in set(frame["B"]):
            for z in {row[2:] for row in rows}:
                here = [row for row in rows if row[2:] == z]
                with_a, with_b = sum(row[0] == a for row in here), sum(row[1] == b for row in here)
                if with_a and with_b:
                    expected = with_a * with_b / len(here)
                    want[(a, b), z] = (here.count((a, b, *z)) + smooth) / (expected + smooth)
    attractive, repulsive = counts.rates("AB", given, n=1000, smooth=smooth)
    found = {(rate.values, rate.given): rate.rate for rate in (*attractive, *repulsive)}
    assert found == pytest.approx({key: rate for key, rate in want.items() if abs(rate - 1) > 1e-9})
    assert [rate.rate for rate in attractive] == sorted((r for r in found.values() if r > 1), reverse=True)
    assert [rate.rate for rate in repulsive] == sorted(r for r in found.values() if r < 1)
    assert counts.rates("AB", given, n=2, smooth=smooth) == (attractive[:2], repulsive[:2])


def test_of_equal_rates_the_more_expected_ones_come_first() -> None:
    counts, _ = counted(2)
    _, repulsive = counts.rates("AB", smooth=0, n=1000)
    never = [rate.expected for rate in repulsive if rate.observed == 0]
    assert len(never) > 2
    assert never == sorted(never, reverse=True)


def test_rates_need_two_variables_that_are_there() -> None:
    counts, _ = counted(0)
    for between, given in (("A", ""), ("AA", ""), ("AB", "B")):
        with pytest.raises(DataError, match="at least two variables"):
            counts.rates(between, given)
    with pytest.raises(ExpressionError, match="no variable 'D'"):
        counts.rates("AD")
    with pytest.raises(DataError, match="smooth must not be negative"):
        counts.rates("AB", smooth=-1)
