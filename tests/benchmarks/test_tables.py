"""What a table says about a target, and that every script has its place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as benchmarks  # noqa: E402 - not installed, they stand beside the tests
from benchmarks import tables  # noqa: E402


@pytest.mark.parametrize(
    ("value", "error", "met"),
    [
        (94.1, 0.0, "yes"),
        (93.9, 0.0, "**no**"),
        (93.95, 0.06, "within one standard error"),
        (93.9, 0.06, "**no**"),
        (94.0, 0.06, "yes"),
    ],
)
def test_a_mean_within_its_standard_error_counts_and_is_told_apart(value: float, error: float, met: str) -> None:
    row = tables.Row("F1", value, "%", at_least=94.0, error=error)
    table = tables.Table("name", "question", [row], machine={}).as_json()
    assert tables.cells(table["rows"][0])[3] == met
    assert row.passed is (met != "**no**")


def test_a_standard_error_counts_below_an_upper_bound_too() -> None:
    assert tables.Row("loss", 1.05, at_most=1.0, error=0.1).narrowly
    assert tables.Row("loss", 1.2, at_most=1.0, error=0.1).passed is False


def test_a_row_without_a_target_is_neither_met_nor_missed() -> None:
    row = tables.Row("seconds", 1.0, error=0.1)
    assert row.passed is None
    assert not row.narrowly


def test_the_summary_marks_what_only_the_standard_error_lets_pass() -> None:
    rows = [tables.Row("a", 1.0, at_least=1.0), tables.Row("b", 0.9, at_least=1.0, error=0.2)]
    rows.append(tables.Row("c", 0.5, at_least=1.0))
    lines = benchmarks.summary([tables.Table("name", "question", rows, machine={}).as_json()]).splitlines()
    assert [line[:6] for line in lines[:3]] == ["met   ", "met +-", "MISSED"]
    assert lines[-1] == "2 of 3 targets met"


@pytest.mark.parametrize("name", benchmarks.SCRIPTS)
def test_every_script_is_there_and_has_a_place_for_its_table(name: str) -> None:
    assert (ROOT / "benchmarks" / f"{name}.py").is_file()
    text = tables.README.read_text("utf-8")
    assert f"| `{name}.py` |" in text
    assert text.index(f"<!-- {name}: begin -->") < text.index(f"<!-- {name}: end -->")
