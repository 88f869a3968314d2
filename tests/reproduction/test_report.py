"""The report: every cell is in it, nothing is fetched, pictures are well-formed, and what it says is what is."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

pytest.importorskip("corate_reproduction")

from corate_reproduction import label_bias, paper
from corate_reproduction.cells import Outcome, record
from corate_reproduction.experiments import EXPERIMENTS, METHODS, OTHER_ROUNDS, plan
from corate_reproduction.peers import PEERS
from corate_reproduction.report import page, tables, worked
from corate_reproduction.report.figures import COLOUR
from corate_reproduction.report.summary import NAMES, by_table, number
from corate_reproduction.report.writing import Table, written

#: Figures that the report leaves out.
OMITTED = {
    "label-bias": ("accuracy_known", "accuracy_oov", "f1"),
    "priors": ("accuracy_known", "accuracy_oov", "f1"),
    "mu": ("accuracy_known",),
}


def outcome(i: int, method: str, split: str) -> Outcome:
    """Figures that are all different; some trainings were stopped."""
    if method == "standard" and split == "32k-1000":
        return Outcome(4321.0, estimated=True, iterations=7, seconds_per_iteration=43.25, budget=300.0)
    if method == "piecewise" and split == "32k-1000":
        return Outcome(None, estimated=True, budget=300.0)
    base = 0.5 + i / 1000
    scores = {"accuracy": base, "accuracy_known": base + 0.0003, "accuracy_oov": base - 0.0003}
    f1 = base - 0.2 if split in ("ned", "conll2000") else None
    return Outcome(0.1 + i, **scores, f1=f1, sentences=1000 + i, tokens=20_000, labels=10 + i, budget=300.0)


@pytest.fixture(scope="module")
def records():
    cells = plan(EXPERIMENTS, peers=list(PEERS))
    return [record(cell, outcome(i % 450, cell.method, cell.split)) for i, cell in enumerate(cells)]


@pytest.fixture(scope="module")
def report(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    page.write(records, folder, budget=300.0, seed=0)
    return folder


class Words(HTMLParser):
    """The text of a page, its open elements, and every address it would fetch from."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self) -> None:
        super().__init__()
        self.text, self.open, self.fetched, self.anchors, self.links = [], [], [], set(), []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.fetched += [value for name, value in attributes if name in ("src", "srcset", "data", "action")]
        if tag == "a":
            self.links.append(given["href"])
        elif "href" in given or tag in ("script", "iframe", "link", "img"):
            self.fetched.append(tag)
        self.anchors |= {given["id"]} if "id" in given else set()
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def words(report):
    parser = Words()
    parser.feed((report / "report.html").read_text("utf-8"))
    return parser


def test_every_cell_of_every_table_is_in_both(records, report, words):
    text, marked = " ".join(words.text), (report / "report.md").read_text("utf-8")
    for (experiment, _), table in by_table(records).items():
        if experiment in ("label-bias-others", "label-growth", "memm-priors"):
            continue  # drawn, or listed as means
        for cell in table.values():
            for key in ("accuracy", "accuracy_known", "accuracy_oov", "f1"):
                if cell[key] is not None and key not in OMITTED.get(experiment, ()):
                    assert number(cell[key]) in text
                    assert number(cell[key]) in marked
    for figures in [one for table in paper.TABLES.values() for one in table.values()]:
        assert f"paper {figures.accuracy:.2f}" in text or f"paper {figures.accuracy}" in text


def test_the_means_of_other_simulated_data_are_in_both(records, report, words):
    rounds = {}
    for one in records:
        if one["experiment"] == "label-bias-others":
            rounds.setdefault((one["split"].rpartition(", ")[0], one["method"]), []).append(one["accuracy"])
    assert {len(found) for found in rounds.values()} == {OTHER_ROUNDS}
    text, marked = " ".join(words.text), (report / "report.md").read_text("utf-8")
    for found in rounds.values():
        assert number(sum(found) / len(found)) in text
        assert number(sum(found) / len(found)) in marked


def test_the_page_fetches_nothing(report, words):
    assert words.fetched == []
    assert words.open == []
    text = (report / "report.html").read_text("utf-8")
    assert set(re.findall(r"\w+://[^\s\"'<]+", text)) <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "url(" not in text
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text


def test_links_lead_to_headings(words):
    assert words.links
    assert {link.removeprefix("#") for link in words.links} <= words.anchors


def test_pictures_are_well_formed_and_those_of_markdown_are_there(report):
    text, marked = ((report / name).read_text("utf-8") for name in ("report.html", "report.md"))
    drawn = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawn) > 10
    for svg in drawn:
        ET.fromstring(svg)
    named = re.findall(r"\]\((figures/[^)]+)\)", marked)
    assert len(named) == len(set(named)) >= 10
    for name in named:
        assert "prefers-color-scheme:dark" in (report / name).read_text("utf-8")
        ET.parse(report / name)


def test_stopped_trainings_are_marked_and_have_no_accuracy(words):
    text = " ".join(words.text)
    assert "~4,321 est." in text
    assert "43.2 per iteration" in text or "43.3 per iteration" in text
    assert "over 300" in text


def test_a_shortfall_is_told_to_the_hundredth_and_reached_figures_are_not():
    cells = {cell.method: cell for cell in plan(["ner"], methods=["empirical", "separate"])}
    good = Outcome(1.0, accuracy=0.97, accuracy_known=0.99, accuracy_oov=0.8)
    short = Outcome(1.0, accuracy=0.97, accuracy_known=0.98555, accuracy_oov=0.726)
    in_words = tables.shortfalls(
        {"empirical": record(cells["empirical"], short), "separate": record(cells["separate"], good)}
    )
    assert in_words == "**Below the paper:** empirical (SP1, our variant) on known words by 0.24 points."
    assert "reach or exceed every figure" in tables.shortfalls({"separate": record(cells["separate"], good)})


def test_the_ratio_of_times_stands_beside_the_papers():
    cells = {cell.method: cell for cell in plan(["ner"])}
    times = {"empirical": 0.5, "sp2": 2.0, "standard": 100.0}
    table = {m: record(cells[m], Outcome(s, accuracy=0.9)) for m, s in times.items()}
    in_words = tables.ratio_text(("ner", "ned"), table)
    assert "**1 : 4.0 : 200**; in the paper 1 : 33 : 669." in in_words
    table["standard"]["estimated"] = True
    assert "200 (estimated)**" in tables.ratio_text(("ner", "ned"), table)


def test_implied_shares_of_oov_words_say_which_sentences_were_split():
    """All = (1 - r) known + r OOV. The rounding of the paper's figures allows an interval around r."""
    rate, low, high = paper.implied_oov_rate(paper.Figures(80.0, 50.0, 90.0))
    assert (rate, low) == (25.0, pytest.approx(100 * (89.95 - 80.05) / (89.95 - 49.95)))
    assert high == pytest.approx(100 * (90.05 - 79.95) / (90.05 - 50.05))
    for method in ("empirical", "sp2"):
        for split, counted in {"1000-4000": 21.16, "2500-2500": 14.77, "17k-16k": 6.31}.items():
            _, low, high = paper.implied_oov_rate(paper.TABLES["pos", split][method])
            assert low <= counted <= high
            assert not low <= counted - 2.0 <= high
    _, _, high = paper.implied_oov_rate(paper.TABLES["pos", "32k-1000"]["standard"])
    assert high < 4.67  # the paper's CRF++ column of this table cannot be right


def test_a_report_of_few_cells_is_whole(tmp_path):
    (cell,) = plan(["chunking"], methods=["empirical"])
    page.write([record(cell, Outcome(None, estimated=True, budget=1.0))], tmp_path, budget=1.0, seed=0)
    parser = Words()
    parser.feed((tmp_path / "report.html").read_text("utf-8"))
    assert parser.open == []


# -- the worked example ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def example():
    return worked.worked(0)


def test_the_memm_all_but_ignores_the_second_symbol(example):
    for path in example.local:
        assert path[0] == pytest.approx(0.5, abs=0.05)
        assert min(path[1:]) > 0.97
    for path, score in zip(example.local, example.scores["memm"], strict=True):
        assert math.log(math.prod(path)) == pytest.approx(score, abs=1e-4)


def test_all_other_methods_follow_the_second_symbol(example):
    for method in set(worked.METHODS) - {"memm"}:
        assert example.chosen[method] == ["R2", "O", "B"]
        assert example.probabilities[method][1] > 0.9
        assert sum(example.probabilities[method]) <= 1 + 1e-6


def test_counted_pairs_are_near_what_the_generator_says(example):
    assert example.counted[1] == pytest.approx(29 / 30, abs=0.03)
    assert sum(example.counted) == pytest.approx(1, abs=0.03)
    assert example.rates == pytest.approx((4.0, 4.0), abs=0.2)


def test_the_expected_accuracy_is_on_the_page(words):
    assert pytest.approx(95.8333, abs=1e-4) == label_bias.EXPECTED
    assert "95.83 %" in " ".join(words.text)


# -- writing ---------------------------------------------------------------------------------------------------------


def test_text_is_escaped_and_marked_up():
    text = """{{ to.contents(headings) }}
{% call to.paragraph() %}{{ said }}{% endcall %}
{% call to.items() %}
{{ tag }}

2 * 3
{% endcall %}
{{ to.heading("What? Now, then") }}"""
    shown, _ = written(text, "a < b", said="a < b & `x < *y*` **bold** *soft*", tag="<s>")
    assert "<h1>a &lt; b</h1>" in shown
    assert "a &lt; b &amp; <code>x &lt; *y*</code> <strong>bold</strong> <em>soft</em>" in shown
    assert "<li>&lt;s&gt;</li><li>2 * 3</li>" in shown
    assert 'id="what-now-then"' in shown
    assert '<a href="#what-now-then">' in shown


def test_tables_in_markdown_keep_bars_and_lines_apart():
    _, text = written("{{ to.table(one) }}", "T", one=Table(["", "a|b"], [["row", "1\npaper 2"]]))
    assert text == "# T\n\n|  | a\\|b |\n| --- | ---: |\n| row | 1<br>paper 2 |\n"


def test_formulas_are_escaped_and_keep_their_spaces():
    shown, text = written("{% call to.formula() %}\na < b\n  = {{ c }}\n{% endcall %}", "T", c="<c>")
    assert "<pre>a &lt; b\n  = &lt;c&gt;</pre>" in shown
    assert text == "# T\n\n    a < b\n      = <c>\n"


def test_every_method_has_a_name_and_a_colour_of_its_own():
    assert set(METHODS) | set(PEERS) == set(NAMES) == set(COLOUR)
    assert len(set(COLOUR.values())) == len(COLOUR)
