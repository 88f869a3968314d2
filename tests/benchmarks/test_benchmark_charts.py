"""The charts in docs/images show what the tables in benchmarks/README.md say."""

from __future__ import annotations

import doctest
import re

import pytest

from benchmarks import charts, tables

TEXT = tables.README.read_text("utf-8")


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(charts) == (0, 3)


def shown(svg: str) -> list[str]:
    """The texts and tooltips of a chart."""
    return re.findall(r">([^<>\n]+)</(?:text|title)>", svg)


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_chart_is_up_to_date(name: str) -> None:
    made = shown(charts.CHARTS[name](TEXT))
    assert len(made) > 5
    assert shown((charts.IMAGES / f"{name}.svg").read_text("utf-8")) == made, "run python -m benchmarks.charts"


def test_bars_are_as_long_as_their_values() -> None:
    svg = charts.bars("t", [], [charts.Group("a", "", (charts.Bar(4, "four"), charts.Bar(1, "one <b>")))])
    longest, shortest = (float(width) for width in re.findall(r'width="([\d.]+)" height="14"', svg))
    assert longest == pytest.approx(4 * shortest, abs=0.2)
    assert "one &lt;b&gt;" in svg


def test_a_missing_table_is_an_error() -> None:
    with pytest.raises(SystemExit, match="has no table nothing"):
        list(charts.rows("nothing", TEXT))


@pytest.mark.parametrize("document", ["README.md", "docs/index.md"])
def test_the_numbers_on_the_first_screen_are_those_of_the_table(document: str) -> None:
    text = (tables.README.parents[1] / document).read_text("utf-8")
    row = next(row for row in charts.rows("battery", TEXT) if row["set"] == "ned")
    (ours, theirs), (f1, peer) = charts.numbers(row["seconds"]), charts.numbers(row["F1"])
    assert f"{ours:.2f} s against {theirs:.2f} s" in text
    assert f"{f1 - peer:.1f} points more accurate**: F1 {f1:.2f} against {peer:.2f}" in text
    assert f"{row['times faster']} times faster" in text
