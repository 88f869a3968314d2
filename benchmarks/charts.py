"""Draw the charts of the documentation from the tables in benchmarks/README.md: `python -m benchmarks.charts`.

`--readme` writes these tables from the JSON of a run, so a chart never shows anything else than its table. The charts
are SVG files in docs/images with light and dark colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks.tables import README
from corate.pages.charts import COLOURS, Axis, Series, chart, standalone

IMAGES = README.parents[1] / "docs" / "images"
PEER = "#8a9199"
WIDTH, LEFT, AFTER, BAR = 520, 12, 150, 18  # pixels; AFTER is for the text after the longest bar
STYLE = (
    "svg{color:#1d2329;background:#fff}"
    "@media(prefers-color-scheme:dark){svg{color:#e4e8ec;background:#14181c}}"
    "text{fill:currentColor}.small{opacity:.75}.head{font-weight:600}"
)


@dataclass(frozen=True)
class Bar:
    """One bar: its length, its colour, and the text after it."""

    value: float
    text: str
    colour: str = COLOURS[0]


@dataclass(frozen=True)
class Group:
    """Bars that belong together, with a name and what else to say about them."""

    name: str
    about: str
    bars: Sequence[Bar]


def rows(name: str, text: str) -> Iterator[dict[str, str]]:
    """The rows of a table in benchmarks/README.md, by column.

    >>> found = rows("a", "<!-- a: begin -->\\n| set | F1 |\\n| --- | --- |\\n| ned | 80 |\\n<!-- a: end -->")
    >>> list(found)
    [{'set': 'ned', 'F1': '80'}]
    """
    block = text.partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.split("\n") if line[:1] == "|"]
    if not lines:
        raise SystemExit(f"{README.name} has no table {name}")
    for line in lines[2:]:
        yield dict(zip(lines[0], line, strict=True))


def numbers(text: str) -> list[float]:
    """All numbers in a text.

    >>> numbers("**0.68 / 0.67**, 1,100,557 tokens/s")
    [0.68, 0.67, 1100557.0]
    """
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def bars(title: str, legend: Sequence[tuple[str, str]], groups: Sequence[Group]) -> str:
    """Horizontal bars in groups, as an SVG file that is legible on a phone. The longest bar has the full width."""
    most = max(bar.value for group in groups for bar in group.bars)
    parts, top = [f'<text class="head" x="{LEFT}" y="24" font-size="15">{escape(title)}</text>'], 44
    for name, colour in legend:
        parts.append(f'<rect x="{LEFT}" y="{top - 10}" width="12" height="12" rx="2" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 18}" y="{top}" font-size="13">{escape(name)}</text>')
        top += 19
    top += 14
    for group in groups:
        about = f'<tspan class="small" dx="8">{escape(group.about)}</tspan>' if group.about else ""
        parts.append(f'<text x="{LEFT}" y="{top}" font-size="13">{escape(group.name)}{about}</text>')
        top += 8
        for bar in group.bars:
            length = max(2.0, (WIDTH - LEFT - AFTER) * bar.value / most)
            parts.append(
                f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR - 4}" rx="2" fill="{bar.colour}"/>'
                f'<text x="{LEFT + length + 6:.1f}" y="{top + 11.5}" font-size="13">{escape(bar.text)}</text>'
            )
            top += BAR
        top += 22
    size = f'viewBox="0 0 {WIDTH} {top - 14}" width="{WIDTH}" height="{top - 14}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">'
    return f"{head}<title>{escape(title)}</title><style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"


def training(text: str) -> str:
    """From file to model on three corpora, beside python-crfsuite."""
    about = {
        "ned": ("Dutch entities", "CoNLL-2002", "F1"),
        "conll2000": ("English chunks", "CoNLL-2000", "F1"),
        "masc": ("English tags", "MASC, 59 tags", "accuracy"),
    }
    groups = []
    found = {row["set"]: row for row in rows("battery", text)}
    for key, (name, corpus, measure) in about.items():
        row = found[key]
        ours, theirs = numbers(row["seconds"])
        score, peer = numbers(row[measure])
        tokens = numbers(row["tokens"])[0]
        both = (
            Bar(ours, f"{ours:.1f} s, {measure} {score:.1f}"),
            Bar(theirs, f"{theirs:.1f} s, {measure} {peer:.1f}", PEER),
        )
        groups.append(Group(name, f"{corpus}, {round(tokens, -3):,.0f} tokens", both))
    legend = [("Corate, default", COLOURS[0]), ("python-crfsuite (ap), better of two feature sets", PEER)]
    return bars("Training time, from file to model, one thread", legend, groups)


def tagging(text: str) -> str:
    """Tokens a second with two models, beside python-crfsuite."""
    found = {row["measure"]: row for row in rows("tag_speed", text)}
    brown, ned = found["brown 32k"], found["ned"]
    polish = found["brown 32k, --method polish --features pos"]

    def bar(name: str, cell: str, colour: str = COLOURS[0]) -> Bar:
        speed = numbers(cell)[0]
        return Bar(speed, f"{name}: {speed:,.0f}", colour)

    groups = [
        Group(
            "English tags",
            "Brown, 235 tags",
            (bar("empirical", brown["Corate"]), bar("polish", polish["Corate"]), bar("CRFsuite", brown["peer"], PEER)),
        ),
        Group("Dutch entities", "9 labels", (bar("empirical", ned["Corate"]), bar("CRFsuite", ned["peer"], PEER))),
    ]
    legend = [("Corate, file to file", COLOURS[0]), ("python-crfsuite, from ready features", PEER)]
    return bars("Tagging speed, tokens a second, one thread", legend, groups)


def label_bias(text: str) -> str:
    """The accuracy of the methods on the paper's simulated data."""
    names = ("optimal decision rule", "standard", "separate, base none", "empirical, paper back-off", "polish")
    found = {row["measure"]: numbers(row["Corate"])[0] for row in rows("label_bias", text)}
    groups = [
        Group(name, "", (Bar(found[name], f"{found[name]:.1f} %", PEER if name == names[0] else COLOURS[0]),))
        for name in names
    ]
    memm = found["memm, c2 = 0.01, its own"]
    groups.append(Group("memm", "", (Bar(memm, f"{memm:.1f} %", COLOURS[1]),)))
    return bars("Label bias: accuracy on the paper's simulated data", [], groups)


def growth(text: str) -> str:
    """Seconds of training over tokens."""
    points = []
    for row in rows("growth", text):
        if row["measure"].endswith("000 tokens"):
            tokens, seconds = numbers(row["measure"])[0], numbers(row["Corate"])[0]
            points.append((tokens, seconds, f"{tokens:,.0f} tokens: {seconds:.2f} s"))
    across, up = Axis("tokens"), Axis("seconds, file to model")
    return standalone(
        chart("Training time of empirical", across, up, [Series("empirical, one thread", points, line=True)])
    )


def active(text: str) -> str:
    """Accuracy over labelled tokens, chosen at random and by confidence."""
    points: dict[str, list[tuple[float, float, str]]] = {"random": [], "confidence": []}
    for row in rows("active", text):
        how, _, sentences = row["measure"].partition(", ")
        if how in points:
            tokens, accuracy = numbers(row["note"])[0], numbers(row["Corate"])[0]
            points[how].append((tokens, accuracy, f"{how}, {sentences}, {tokens:,.0f} tokens: {accuracy:.2f} %"))
    series = [
        Series("chosen at random", points["random"], COLOURS[5], line=True),
        Series("least sure first", points["confidence"], line=True),
    ]
    return standalone(chart("Which sentences to label", Axis("labelled tokens"), Axis("accuracy, %"), series))


CHARTS = {"training": training, "tagging": tagging, "label-bias": label_bias, "growth": growth, "active": active}


def main(folder: Path = IMAGES) -> None:
    """Write all charts."""
    text = README.read_text("utf-8")
    folder.mkdir(exist_ok=True)
    for name, draw in CHARTS.items():
        (folder / f"{name}.svg").write_text(draw(text), "utf-8")
        print(f"{folder.name}/{name}.svg")


if __name__ == "__main__":
    main()
