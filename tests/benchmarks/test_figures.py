"""Every measured figure in README.md and docs/ is in a table of benchmarks/, or in an example on the same page.

A figure is a number with a unit, or a number with a decimal point that is at least 10 or in a table. Small numbers do
not count in rows that begin with code, because such rows describe options. Numbers in code are no figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import pytest

from benchmarks import charts, tables
from corate.counting.stored_counts import FREQUENT_SHARE
from corate.features import lexicons
from corate.graphs import triangulation
from corate.model import graph_lattice
from corate.training import choices, disk

ROOT = tables.README.parents[1]
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]

#: The tables that a page may quote: names of scripts in benchmarks/. A text after the name means: only the rows whose
#: first cell contains it.
SOURCES = {
    "README.md": ("battery: ned", "chains_speed: lbfgs", "effects: words alone"),
    "docs/benchmarks.md": (
        *("battery: sv_talbanken upos", "chains_speed: lbfgs", "effects: words alone"),
        "tag_speed: brown 32k",
    ),
    "docs/comparison.md": ("battery",),
    "docs/entities.md": ("battery: ned",),
    "docs/frames.md": ("frames",),
    "docs/graphs.md": ("graphs: grid, 5,000 rows",),
    "docs/index.md": ("battery: ned",),
    "docs/label-bias.md": ("label_bias",),
    "docs/measuring.md": ("active", "effects: calibration"),
    "docs/methods.md": ("demo_models", "growth: 10,000,000", "method_times"),
    "docs/model-file.md": ("demo_models",),
    "docs/pos-tagging.md": (
        *(f"battery: {name}" for name in ("masc", "brown 32k", "brown 1000", "en_ewt upos", "sblgnt")),
        "raw_text: brown 1000-4000",
    ),
    "docs/raw-text.md": ("raw_text",),
    "docs/scale.md": ("context_growth", "disk", "memory: accuracy", "spark: polish"),
    "docs/sentences.md": ("effects: parts of labels", "label_bias: optimal"),
    "docs/sklearn.md": ("demo_models: in batches",),
}

#: Values by which the program decides, as the pages write them.
PROGRAM = {
    "docs/features.md": {f"{lexicons.MOST_BYTES / 1e6:.0f} MB"},
    "docs/graphs-with-features.md": {f"{graph_lattice.MEMORY >> 20} MiB"},
    "docs/graphs.md": {f"{triangulation.MEMORY >> 30} GiB"},
    "docs/scale.md": {
        f"{disk.STORED_TEXT[0] / 1e6:.0f} MB",
        f"{disk.STORED_TEXT[1]} bytes",
        f"{disk.STORED_EMPIRICAL[0] / 1e6:.0f} MB",
        f"{disk.STORED_EMPIRICAL[1]} bytes",
        f"{disk.PROGRAM_BYTES / 1e6:.0f} MB",
        f"{disk.TOKEN_BYTES} bytes",
        f"{100 * FREQUENT_SHARE:.0f} %",
    },
    "docs/sentences.md": {
        f"{choices.FULL_MAY_COST} times",
        f"{choices.FULL_MAY_COST_IN_ALL} times",
    },
}

FLAIR = "published by the authors of Flair; the page links to their paper"
LEVEL = "the level of an interval"
ODDS = "the exponential function of the difference"
CRFSUITE = "the layout of CRFsuite's model file"
WEIGHTS = "the type of the numbers that are sent"
#: Figures that nobody measured here, with the reason.
NOT_MEASURED = {
    "README.md": {"95.2": FLAIR},
    "docs/answers.md": {"2.7 times": ODDS, "20 times": ODDS},
    "docs/api.md": {"95 %": LEVEL},
    "docs/coming-from.md": {"0.00001": "the target of benchmarks/crfsuite_models.py, which its table meets"},
    "docs/commands.md": {"95 %": LEVEL, "2.7 times": ODDS, "300.0": "the default of an option"},
    "docs/comparison.md": {
        "95.2": FLAIR,
        **dict.fromkeys(("12.8 MB", "457 MB"), "sizes of files of spaCy, on the pages that are linked"),
        **dict.fromkeys(("502 MB", "2.24 GB"), "sizes of files of Flair, on the pages that are linked"),
    },
    "docs/entities.md": {"0.9": "the value of an option"},
    "docs/evaluation.md": {"95 %": LEVEL},
    "docs/measuring.md": {"95 %": LEVEL, "80 %": "explains what calibration is"},
    "docs/model-file.md": {"4 GiB": CRFSUITE, "48 bytes": CRFSUITE, "20 bytes": CRFSUITE},
    "docs/scale.md": {
        "2,000,000,000 bytes": "the meaning of 2G",
        "8 bytes": WEIGHTS,
        "12 bytes": WEIGHTS,
        "2 GB": "a limit of Spark",
        "1 GB": "a default of Spark, whose documentation is linked",
    },
}

#: Pages whose figures are made by another command, which they name.
OTHER_COMMANDS = {"docs/paper.md": "corate reproduce"}

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
SHORT = {"tokens/s": "tokens a second", "seconds": "s", "minutes": "min", "hours": "h"}
UNIT = r"%|(?:points|bytes|times|tokens a second|tokens/s|seconds|minutes|hours|[mu]?s|min|h|[kMG]i?B)\b"
#: The units of columns of the battery.
COLUMNS = {"accuracy": "%", "OOV": "%", "F1": "%", "difference": "points", "seconds": "s", "processor": "s"} | {
    "tokens/s": "tokens a second",
    "MB": "MB",
    "times faster": "times",
}
FIGURE = re.compile(rf"(?<![\w.,/=-])({NUMBER})(?:\s+to\s+({NUMBER}))?(?:\s?({UNIT}))?(?![\w.]*\d)")
BLOCK = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`]+`|\]\([^)]*\)|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """A number as it is written, with the unit after it; the number is rounded to a multiple of `step`."""

    line: int
    number: str
    unit: str

    @property
    def text(self) -> str:
        return f"{self.number} {self.unit}".strip()

    @property
    def value(self) -> float:
        return float(self.number.replace(",", ""))

    @property
    def step(self) -> float:
        digits = self.number.replace(",", "")
        if "," in self.number:
            return 10.0 ** (len(digits) - len(digits.rstrip("0")))
        return 10.0 ** -len(digits.partition(".")[2])

    def shows(self, other: Figure) -> bool:
        """Whether it is the other figure, rounded. A number in a table need not have its unit beside it."""
        near = abs(self.value - other.value) <= self.step / 2 + 1e-9
        return near and (self.unit == other.unit or not self.unit or not other.unit)


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def numbers(text: str) -> list[Figure]:
    """All numbers of a text with their units. In `1.1 to 1.2 points`, both numbers have the unit."""
    found = []
    for match in FIGURE.finditer(text):
        for group in (1, 2):
            if match[group]:
                line = text.count("\n", 0, match.start(group)) + 1
                found.append(Figure(line, match[group], SHORT.get(match[3], match[3] or "")))
    return found


def figures(page: str) -> list[Figure]:
    """The numbers of a page that need a source."""
    lines = page.split("\n")

    def counts(figure: Figure) -> bool:
        in_table = re.match(r"\| (?!`)", lines[figure.line - 1])
        return bool(figure.unit) or ("." in figure.number and bool(in_table or figure.value >= 10))

    return list(filter(counts, numbers(CODE.sub(blank, BLOCK.sub(blank, page)))))


@cache
def table(source: str) -> list[Figure]:
    """The numbers of a table, except its targets."""
    name, _, text = source.partition(": ")
    found = [row for row in charts.rows(name, read("benchmarks/README.md")) if text in next(iter(row.values()))]
    cells = [(column, cell) for row in found for column, cell in row.items() if column != "target"]
    return [
        replace(figure, unit=figure.unit or COLUMNS.get(column, ""))
        for column, cell in cells
        for figure in numbers(cell)
    ]


def examples(page: str) -> list[Figure]:
    """The numbers in the examples of a page, which are run as tests."""
    return numbers("\n".join(match[0] for match in BLOCK.finditer(page)))


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OTHER_COMMANDS])
def test_every_figure_has_a_source(page: str) -> None:
    text, names = read(page), SOURCES.get(page, ())
    known = [figure for name in names for figure in table(name)] + examples(text)
    listed = PROGRAM.get(page, set()) | set(NOT_MEASURED.get(page, {}))
    unknown = [
        f"{page}, line {figure.line}: {figure.text!r}"
        for figure in figures(text)
        if figure.text not in listed and not any(figure.shows(other) for other in known)
    ]
    assert not unknown, (
        f"\n  not in {', '.join(names) or 'any table'} (benchmarks/README.md), nor in an example on the page:\n  "
        + "\n  ".join(unknown)
        + "\n  Write the figure of the table, or name its table in SOURCES. If no table has it, remove the figure, or"
        "\n  add a row to a benchmark. If it is not a measurement, add it to NOT_MEASURED with the reason."
    )


@pytest.mark.parametrize("page", SOURCES)
def test_a_page_quotes_every_table_that_is_named_for_it(page: str) -> None:
    found = figures(read(page))
    unused = [name for name in SOURCES[page] if not any(a.shows(b) for a in found for b in table(name))]
    assert not unused, f"{page} has no figure of {', '.join(unused)}; remove the name from SOURCES"


@pytest.mark.parametrize("page", sorted({*PROGRAM, *NOT_MEASURED}))
def test_a_page_has_every_figure_that_is_listed_for_it(page: str) -> None:
    left = PROGRAM.get(page, set()) | set(NOT_MEASURED.get(page, {}))
    left -= {figure.text for figure in figures(read(page))}
    assert not left, f"{page} does not have {', '.join(sorted(left))}: correct the page, or the list in this test"


@pytest.mark.parametrize(("page", "command"), OTHER_COMMANDS.items())
def test_a_page_names_the_command_that_makes_its_figures(page: str, command: str) -> None:
    assert f"`{command}" in read(page)


# -- how figures are found ---------------------------------------------------------------------------------------------

PAGE = """\
Training takes 1.5 s and 20 MB, with `--rate 0.15`, version 3.10, or 94.8 to
95.4 %. See [a](b-2.5.md).

| `rate` | 0.15 | 3 s |
| brown | 0.15 | 12 |

```console
$ corate train
trained in 0.65 s
```
"""


def test_figures_are_numbers_with_units_and_numbers_in_tables() -> None:
    found = [(figure.line, figure.text) for figure in figures(PAGE)]
    assert found == [(1, "1.5 s"), (1, "20 MB"), (1, "94.8 %"), (2, "95.4 %"), (4, "3 s"), (5, "0.15")]
    assert [figure.text for figure in examples(PAGE)] == ["0.65 s"]


@pytest.mark.parametrize(
    ("figure", "measured", "same"),
    [
        ("7.5 times", "7.5", True),
        ("7.6 times", "7.5", False),
        ("80.9", "80.86 %", True),
        ("80.8", "80.86 %", False),
        ("66.5 %", "66.45 %", True),
        ("1.5 MB", "1.5 s", False),
        ("57,000 tokens a second", "57,348", True),
        ("58,000 tokens a second", "57,348", False),
        ("663,482", "663,481", False),
    ],
)
def test_a_figure_is_compared_to_the_digits_shown(figure: str, measured: str, same: bool) -> None:
    (shown,), (other,) = numbers(figure), numbers(measured)
    assert shown.shows(other) == same
