"""A document as blocks, written as a web page or as Markdown. Text may contain `code`, **bold** and *emphasis*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from corate.pages.page import render

__all__ = ["Block", "Figure", "Figures", "Formula", "Heading", "Items", "Paragraph", "Table", "markdown", "page"]

#: The marks of text and the elements that they stand for.
_MARKS = {"`": "code", "**": "strong", "*": "em"}


@dataclass(frozen=True)
class Heading:
    """A heading of level 2 or 3; level 2 is listed at the top."""

    text: str
    level: int = 2

    @property
    def anchor(self) -> str:
        """The anchor for links, in GitHub's format."""
        return re.sub(r"[^\w -]", "", self.text.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Paragraph:
    """Some sentences; a note is shown smaller."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Formula:
    """Formulas in plain text."""

    text: str


@dataclass(frozen=True)
class Table:
    """Cells of text; all lines of a cell except the first are shown smaller. The first column names the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with a name and a title."""

    name: str
    title: str
    svg: Markup


@dataclass(frozen=True)
class Figures:
    """Charts, side by side if there is room."""

    figures: Sequence[Figure]


Block = Heading | Paragraph | Items | Formula | Table | Figures


def marked(text: str) -> list[tuple[str, str]]:
    """The parts of a text with the names of their elements; plain parts have none.

    >>> marked("a **bold** `x`")
    [('', 'a '), ('strong', 'bold'), ('', ' '), ('code', 'x')]
    """
    found = []
    for k, part in enumerate(re.split(r"(`[^`]+`|\*\*.+?\*\*|\*.+?\*)", text)):
        mark = next(mark for mark in _MARKS if part.startswith(mark)) if k % 2 else ""
        found.append((_MARKS.get(mark, ""), part[len(mark) : len(part) - len(mark)]))
    return [(name, part) for name, part in found if part]


def page(title: str, blocks: Sequence[Block]) -> str:
    """A web page of blocks, with links to the headings of level 2 after the first block."""
    return render(
        "report.html",
        style="report.css",
        folder=Path(__file__).parent,
        title=title,
        blocks=[(type(block).__name__, block) for block in blocks],
        marked=marked,
    )


def markdown(blocks: Sequence[Block], folder: str) -> str:
    """The same in Markdown; images are in a folder beside it."""
    return "\n\n".join(_as_markdown(block, folder) for block in blocks) + "\n"


def _as_markdown(block: Block, folder: str) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Items):
        return "\n".join(f"- {text}" for text in block.texts)
    if isinstance(block, Formula):
        return "\n".join(f"    {line}".rstrip() for line in block.text.split("\n"))
    if isinstance(block, Table):
        return _table_markdown(block)
    return "\n\n".join(f"**{one.title}**\n\n![{one.title}]({folder}/{one.name}.svg)" for one in block.figures)


def _table_markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells) + " |"

    rules = "|" + "|".join([" --- ", *[" ---: "] * (len(table.header) - 1)]) + "|"
    caption = f"**{table.caption}**\n\n" if table.caption else ""
    return caption + "\n".join([line(table.header), rules, *map(line, table.rows)])
