"""A document as blocks, written as HTML or as Markdown. Text may contain `code`, **bold** and *emphasis*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Block", "Figure", "Figures", "Formula", "Heading", "Items", "Paragraph", "Table", "html", "markdown"]


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
    """An SVG image with a name and a caption."""

    name: str
    title: str
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Figures:
    """Images, side by side if there is room."""

    figures: Sequence[Figure]
    legend: str = ""  # HTML: names with their colours


Block = Heading | Paragraph | Items | Formula | Table | Figure | Figures


def _inline(text: str) -> str:
    parts = re.split(r"(`[^`]+`)", text)
    found = []
    for part in parts:
        if part.startswith("`") and part.endswith("`") and len(part) > 1:
            found.append(f"<code>{escape(part[1:-1])}</code>")
            continue
        shown = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(part))
        found.append(re.sub(r"\*(.+?)\*", r"<em>\1</em>", shown))
    return "".join(found)


def html(blocks: Sequence[Block]) -> str:
    """The content of an HTML page."""
    return "\n".join(_as_html(block) for block in blocks)


def _as_html(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<h{block.level} id="{block.anchor}">{_inline(block.text)}</h{block.level}>'
    if isinstance(block, Paragraph):
        return f"<p{' class=note' if block.note else ''}>{_inline(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li>{_inline(text)}</li>" for text in block.texts) + "</ul>"
    if isinstance(block, Formula):
        return f"<pre>{escape(block.text)}</pre>"
    if isinstance(block, Table):
        return _table_html(block)
    if isinstance(block, Figure):
        return _figure_html(block)
    inside = "".join(_figure_html(figure) for figure in block.figures)
    return f'<div class="figures">{inside}</div>{block.legend}'


def _figure_html(figure: Figure) -> str:
    caption = f"<figcaption><strong>{_inline(figure.title)}</strong> {_inline(figure.caption)}</figcaption>"
    return f"<figure>{caption}<div class=drawn>{figure.svg}</div></figure>"


def _table_html(table: Table) -> str:
    head = "".join(f"<th scope=col>{_cell(cell)}</th>" for cell in table.header)
    body = []
    for row in table.rows:
        first, *rest = row
        cells = [f"<th scope=row>{_cell(first)}</th>", *(f"<td>{_cell(cell)}</td>" for cell in rest)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption><span>{_inline(table.caption)}</span></caption>" if table.caption else ""
    return (
        f"<div class=wide tabindex=0><table>{caption}<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    first, *rest = text.split("\n")
    return _inline(first) + "".join(f"<small>{_inline(line)}</small>" for line in rest)


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
    figures = [block] if isinstance(block, Figure) else block.figures
    return "\n\n".join(
        f"**{figure.title}** {figure.caption}".rstrip() + f"\n\n![{figure.title}]({folder}/{figure.name}.svg)"
        for figure in figures
    )


def _table_markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells) + " |"

    rules = "|" + "|".join([" --- ", *[" ---: "] * (len(table.header) - 1)]) + "|"
    caption = f"**{table.caption}**\n\n" if table.caption else ""
    return caption + "\n".join([line(table.header), rules, *map(line, table.rows)])
