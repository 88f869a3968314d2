"""Every page and picture that commands write is safe in a browser, whatever the names in it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("corate_reproduction")

import corate
from command_line import run
from corate.cli.plot import Point, page, picture
from corate.pages.charts import standalone
from corate.pages.page import visible
from corate.rate import Graph, factorise
from corate.rate.heatmap import HeatMap
from corate_reproduction.report import figures
from corate_reproduction.report.writing import Figure, Table, written
from hostile_strings import HOSTILE

POINTS = [Point(name, 0.1 * 1.5**k, 0.9 + k / 500, 0.001) for k, name in enumerate(HOSTILE)]
#: Every part of a report.
REPORT = """
{{ to.contents(headings) }}
{% call to.paragraph() %}{{ told|join(" ") }}{% endcall %}
{% call to.note() %}{{ told|join(" ") }}{% endcall %}
{% for name in told %}{{ to.heading(name) }}{% endfor %}
{% call to.items() %}{% for name in told %}{{ name }}

{% endfor %}{% endcall %}
{% call to.formula() %}{{ told|join("\n") }}{% endcall %}
{{ to.table(table) }}
{{ to.figures(drawn) }}
"""
#: What no page of ours has.
FOREIGN = (
    "script, img, iframe, object, embed, foreignObject, link, form, [onload], [onerror], [onfocus], [href^=javascript]"
)


def rates() -> HeatMap:
    logs = np.random.default_rng(0).normal(size=(len(HOSTILE), len(HOSTILE)))
    logs[0, 0] = -np.inf
    return HeatMap(HOSTILE, HOSTILE, logs)


def comparison() -> str:
    return page(POINTS, HOSTILE, [HOSTILE, HOSTILE], " ".join(HOSTILE))


def reproduction() -> str:
    told = [text.replace("*", "x") for text in HOSTILE]
    table = Table(told, [told, ["\n".join(told)] * len(told)], " ".join(told))
    drawn = [Figure("rates", told[0], rates().chart()), Figure("rates", told[1], rates().chart())]
    return written(REPORT, HOSTILE[0], told=told, table=table, drawn=drawn)[0]


def derivation_with_names() -> str:
    names = [name.strip() for name in HOSTILE if not set("={}'") & set(name)]  # what may be a name
    return factorise(Graph(names, list(pairwise(names)))).derivation.html(HOSTILE)


def derivation_with_values() -> str:
    values = dict(zip("ABC", HOSTILE, strict=False))
    return factorise("A-B B-C", "mrf", configuration=values).derivation.html(HOSTILE)


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def shown(name: str) -> str:
    """How a page shows a name: either with its invisible characters by their codes, or as it is."""
    return words(visible(name))


@pytest.mark.parametrize("write", [comparison, reproduction, derivation_with_names, derivation_with_values])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_in_a_page(write: Callable[[], str], scheme: str, open_page: Callable[..., Any]) -> None:
    for width in (1280, 390):
        opened = open_page(write(), width=width, scheme=scheme).page
        assert opened.locator(FOREIGN).count() == 0
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        said = words(visible(opened.evaluate("document.body.innerText")))
        for name in HOSTILE[:10]:
            assert shown(name.replace("*", "x")) in said or shown(name) in said


@pytest.mark.parametrize("draw", [lambda: picture(POINTS), lambda: rates().chart()], ids=["comparison", "rates"])
def test_nothing_runs_in_a_picture(draw: Callable[[], Any], open_page: Callable[..., Any]) -> None:
    opened = open_page(standalone(draw()), suffix=".svg").page
    assert opened.locator(FOREIGN).count() == 0
    assert opened.locator("text").count() > len(HOSTILE)
    said = words(opened.evaluate("document.documentElement.textContent"))
    for name in HOSTILE:
        assert shown(name)[:30] in said


def test_the_picture_of_a_text_with_hostile_labels(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    in_words = [name for name in HOSTILE if name != "\ud800"]
    lines = [json.dumps({"tokens": in_words, "labels": in_words})] * 3
    (tmp_path / "text.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("rates", tmp_path / "text.jsonl", "--svg", tmp_path / "rates.svg", "--json")
    assert (result.code, result.err) == (0, "")
    opened = open_page((tmp_path / "rates.svg").read_text("utf-8"), suffix=".svg").page
    assert opened.locator(FOREIGN).count() == 0
    assert opened.locator("path title").count() == (len(in_words) + 1) ** 2


@pytest.mark.parametrize("name", ["-->", "--><script>alert(1)</script>", "</title>"])
def test_a_name_does_not_end_the_notes_of_a_derivation(name: str, open_page: Callable[..., Any]) -> None:
    square = f"A-{{{name}}} {{{name}}}-C C-D D-A"
    result = run("derive", square, "--html", "--check")
    assert (result.code, result.err) == (0, "")
    opened = open_page(result.text).page
    assert opened.locator(FOREIGN).count() == 0
    assert "triangulated with" in opened.evaluate("document.body.innerText")


def test_rates_of_the_reproduction_are_kept_and_drawn(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    figures.keep_rates({"ned.train": [[("a", name) for name in HOSTILE if name != "\ud800"]]}, tmp_path)
    drawn = figures.rate_maps(tmp_path)
    opened = open_page(written("{{ to.figures(drawn) }}", "rates", drawn=drawn)[0]).page
    assert opened.locator(FOREIGN).count() == 0
    assert opened.locator("path title").count() == len(HOSTILE) ** 2


def test_importing_the_library_imports_neither_templates_nor_charts() -> None:
    import subprocess

    code = "import corate, sys; print(sorted({'jinja2', 'markupsafe', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert corate.__version__
