"""Charts are static, safe and the same every time, whatever the names in them; points lie where their values say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from corate.pages.charts import (
    COLOURS,
    Axis,
    Link,
    Node,
    Scale,
    Series,
    calibration,
    chart,
    heat_map,
    network,
    standalone,
)
from corate.pages.page import render, visible
from hostile_strings import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"
TIME, PERCENT = Axis("training seconds", log=True), Axis("accuracy, %", most=100.0)


def points() -> Markup:
    series = [
        Series(name, [(0.5 * 3**k, 90 + k / 5, f"{name}: tip")], COLOURS[k % 12], mark, line=k % 2 == 0, spread=[0.3])
        for k, (name, mark) in enumerate(zip(HOSTILE, 4 * ["full", "square", "hollow", "stopped", "full"], strict=True))
    ]
    return chart(HOSTILE[0], Axis(HOSTILE[1], log=True), Axis(HOSTILE[2]), series)


def rates() -> Markup:
    logs = np.random.default_rng(0).normal(size=(len(HOSTILE), len(HOSTILE) + 1))
    return heat_map(HOSTILE[0], HOSTILE, [*HOSTILE, "</s>"], logs)


def probabilities() -> Markup:
    return calibration(HOSTILE[0], {name: [(0.3, 0.4, 10), (0.9, 0.95, 1000)] for name in HOSTILE})


def links() -> Markup:
    nodes = [Node(name, k / 9, k % 3, f"{name}: tip") for k, name in enumerate(HOSTILE)]
    return network(HOSTILE[0], nodes, [Link(0, k, k - 3.0, 2.0, name) for k, name in enumerate(HOSTILE) if k])


EVERY = pytest.mark.parametrize("draw", [points, rates, probabilities, links])


def words(svg: str) -> str:
    return "\n".join(ET.fromstring(svg).itertext())


@EVERY
def test_the_same_input_gives_the_same_bytes(draw: Callable[[], Markup]) -> None:
    assert draw() == draw()


@EVERY
def test_everything_lies_within_the_picture(draw: Callable[[], Markup], open_page: Callable[..., Any]) -> None:
    opened = open_page(standalone(draw()), suffix=".svg").page
    picture, *others = opened.evaluate(
        "[...document.querySelectorAll('svg, path, text')].map(e => e.getBoundingClientRect())"
        ".map(r => [r.left, r.top, -r.right, -r.bottom])"
    )
    assert len(others) > 5
    for box in others:
        assert all(inner >= outer - 0.5 for inner, outer in zip(box, picture, strict=True)), (box, picture)


@EVERY
def test_nothing_but_places_looks_and_text_is_in_a_chart(draw: Callable[[], Markup]) -> None:
    for svg in (str(draw()), standalone(draw())):
        for element in ET.fromstring(svg).iter():
            assert element.tag.removeprefix(SVG) in {"svg", "title", "desc", "path", "text", "style"}
            for name, value in element.attrib.items():
                assert not name.lower().startswith(("on", "style", "href", "{"))
                assert name == "aria-label" or "url(" not in value
    assert "<style" not in draw()


@EVERY
def test_hostile_names_are_text(draw: Callable[[], Markup]) -> None:
    said = words(draw())
    for name in HOSTILE:
        assert visible(name) in said


@settings(max_examples=25)
@given(st.text(min_size=1))
def test_any_name_gives_a_well_formed_chart(name: str) -> None:
    said = words(heat_map(name, [name], ["O"], np.zeros((1, 1))))
    assert said.count(", then O: 1") >= 1


@pytest.mark.parametrize("name", ["\ufffe", "a\uffffb", "\U0001fffe", "\r\n\t", "日本語", "😀"])
def test_rare_characters_give_a_well_formed_chart(name: str) -> None:
    assert "O" in words(heat_map(name, [name], ["O"], np.zeros((1, 1)))).split("\n")


def test_a_long_name_is_cut_but_whole_in_the_tooltip() -> None:
    long = "B-" + "very" * 200
    svg = heat_map("rates", [long], ["O"], np.zeros((1, 1)))
    root = ET.fromstring(svg)
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert max(map(len, filter(None, shown))) == 40
    assert float(root.attrib["width"]) < 500
    assert f"{long}, then O: 1" in words(svg)


def test_every_cell_of_a_heat_map_says_its_rate() -> None:
    rows, columns = ["A", "B"], ["A", "B", "</s>"]
    svg = heat_map("rates", rows, columns, np.log([[0.5, 2.0, 1.0], [20.0, 0.01, 1e-300]]))
    cells = [path for path in ET.fromstring(svg).iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]
    said = [path.findtext(f"{SVG}title") for path in cells]
    assert said == [
        *("A, then A: 0.5", "A, then B: 2", "A, then </s>: 1"),
        *("B, then A: 20", "B, then B: 0.01", "B, then </s>: 1e-300"),
    ]
    assert cells[2].attrib["fill"] == "#f7f7f7"
    assert cells[3].attrib["fill"] == "#b2182b"
    assert cells[5].attrib["fill"] == "#2166ac"
    corners = [tuple(map(float, path.attrib["d"].split()[1:3])) for path in cells]
    assert [y for _, y in corners[:3]] == [corners[0][1]] * 3
    assert corners[0][0] < corners[1][0] < corners[2][0]
    assert corners[0][1] < corners[3][1]


def places(svg: str) -> list[tuple[float, float]]:
    """Where the points are from the upper left corner of the picture, by tooltip."""
    root = ET.fromstring(svg)
    left, top = map(float, root.attrib["viewBox"].split()[:2])
    moves = [p.attrib["transform"] for p in root.iter(f"{SVG}path") if p.find(f"{SVG}title") is not None]
    found = [re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\)", move) for move in moves]
    return [(float(match[1]) - left, float(match[2]) - top) for match in found if match]


def test_points_lie_where_their_values_say() -> None:
    some = [(1.0, 90.0, "a"), (10.0, 92.0, "b"), (100.0, 94.0, "c")]
    svg = chart("t", TIME, PERCENT, [Series("polish", some)])
    (x0, y0), (x1, y1), (x2, y2) = places(svg)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.03)  # each ten times the one before
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.03)
    assert 0 < x0 < x1 < x2 < float(ET.fromstring(svg).attrib["width"])
    assert y0 > y1 > y2


def test_a_stopped_point_lies_on_the_axis_and_moves_no_other_point() -> None:
    done = Series("polish", [(1.0, 90.0, "a"), (10.0, 92.0, "b")])
    stopped = Series("standard", [(5.0, 0.0, "c")], mark="stopped")
    alone, both = (places(chart("t", TIME, PERCENT, series)) for series in ([done], [done, stopped]))
    assert both[:2] == alone
    assert both[2][1] > max(y for _, y in alone)


def test_a_single_point_is_in_the_middle_and_no_axis_goes_beyond_its_end() -> None:
    svg = chart("t", TIME, PERCENT, [Series("polish", [(0.3, 99.9, "a")], spread=[0.05])])
    ((x, _),) = places(svg)
    assert x == pytest.approx(float(ET.fromstring(svg).attrib["width"]) / 2, rel=0.15)
    assert not re.search(r">10[0-9]\.\d", svg)


def test_series_of_one_name_have_one_entry_in_the_legend() -> None:
    rings = [Series("the paper", [(k, k, "tip")], COLOURS[k], "hollow") for k in (1, 2, 3)]
    texts = [text.text for text in ET.fromstring(chart("t", Axis("x"), Axis("y"), rings)).iter(f"{SVG}text")]
    assert texts.count("the paper") == 1


def _luminance(code: str) -> float:
    parts = [int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("code", COLOURS)
def test_colours_have_contrast_on_light_and_on_dark_ground(code: str) -> None:
    for ground in ("#ffffff", "#14181c"):
        low, high = sorted([_luminance(code), _luminance(ground)])
        assert (high + 0.05) / (low + 0.05) >= 3


def test_ticks_are_round_and_at_least_two_and_within_the_axis() -> None:
    for low, high, log in [
        (0.0, 1.0, False),
        (94.3, 97.1, False),
        (-3.0, 12.5, False),
        (-0.2, 0.1, True),
        (-3, 14, True),
    ]:
        ticks = Scale(low, high, log).ticks()
        places = [np.log10(tick) if log else tick for tick in ticks]
        assert 2 <= len(ticks) <= 12
        assert low - 1e-9 <= min(places)
        assert max(places) <= high + 1e-9
        assert all(len(f"{tick:.15g}".strip("0").replace(".", "")) <= 4 for tick in ticks)


@EVERY
def test_nothing_runs_in_a_page_or_in_a_file(draw: Callable[[], Markup], open_page: Callable[..., object]) -> None:
    page = render("base.html", title="charts").replace("<main>", f"<main>{draw()}{draw()}")
    opened = open_page(page).page
    assert opened.locator("svg").count() == 2
    assert opened.locator("svg *").count() == 2 * len(list(ET.fromstring(draw()).iter())) - 2
    in_a_file = open_page(standalone(draw()), suffix=".svg").page
    assert in_a_file.locator("svg script, svg img, svg foreignObject").count() == 0


def boxes(svg: Markup) -> dict[str, tuple[float, float, float, float]]:
    """The left, right, upper and lower ends of the nodes of a network, by tooltip."""
    found = {}
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        tip, place = path.find(f"{SVG}title"), re.match(r"translate\((\S+) (\S+)\)", path.get("transform", ""))
        if tip is not None and place is not None:
            x, y = map(float, place.groups())
            half = float(path.get("d", "").split()[4]) + 13
            found[str(tip.text)] = (x - half, x + half, y - 13, y + 13)
    return found


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_nodes_of_a_network_do_not_overlap(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [Node(f"node {k}", *rng.random(2).tolist(), f"tip {k}") for k in range(n)]
    drawn = boxes(network("t", nodes, [Link(k - 1, k, 0.0, 2.0, "") for k in range(1, n)]))
    assert len(drawn) == n
    every = list(drawn.values())
    for i, (left, right, top, bottom) in enumerate(every):
        for other in every[:i]:
            assert left >= other[1] or right <= other[0] or top >= other[3] - 0.1 or bottom <= other[2] + 0.1


def test_nodes_without_lines_stand_below_and_leave_room_to_the_others() -> None:
    joined = [Node("A", 0, 0, "a"), Node("B", 1, 1, "b")]
    far = [Node(f"alone {k}", 1000.0, -1000.0, f"far {k}") for k in range(9)]
    without, drawn = (boxes(network("t", nodes, [Link(0, 1, 1.0, 2.0, "")])) for nodes in (joined, joined + far))
    assert (drawn["a"], drawn["b"]) == (without["a"], without["b"])
    lowest = max(drawn["a"][3], drawn["b"][3])
    assert all(drawn[f"far {k}"][2] > lowest for k in range(9))


def test_a_network_has_a_legend() -> None:
    nodes, links = [Node("A", 0, 0, "a"), Node("B", 1, 1, "b")], [Link(0, 1, 1.0, 2.0, "")]
    assert "strong ones" in words(network("t", nodes, links, [("strong ones", 1.0, 9.0)]))
