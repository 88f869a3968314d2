"""One text written as a web page and as Markdown: a template with the macros of ``html.j2`` or of ``markdown.j2``.

Text may contain `code`, **bold** and *emphasis*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from corate.pages.page import render

__all__ = ["TEMPLATES", "Figure", "Table", "written"]

_HERE = Path(__file__).parent
TEMPLATES = _HERE / "templates"
#: The marks of text and the elements that they stand for.
_MARKS = {"`": "code", "**": "strong", "*": "em"}


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


def written(text: str, title: str, **values: object) -> tuple[str, str]:
    """The web page and the Markdown of a template, which calls macros as ``to.heading``.

    >>> page, markdown = written("{{ to.heading('A < B') }}{% call to.paragraph() %}**{{ n }}**{% endcall %}", "T", n=1)
    >>> markdown
    '# T\\n\\n## A < B\\n\\n**1**\\n'
    >>> '<h2 id="a--b">A &lt; B</h2>' in page, "<strong>1</strong>" in page
    (True, True)
    """
    said = _rendered("markdown", text, {**values, "headings": []})
    headings = re.findall(r"^## (.+)$", said, re.MULTILINE)
    body = Markup(_rendered("html", text, {**values, "headings": headings}))
    page = render("report.html", style="report.css", folder=_HERE, title=title, body=body)
    return page, f"# {title}\n\n" + re.sub(r"\n{3,}", "\n\n", said).strip("\n") + "\n"


def _rendered(syntax: str, text: str, values: dict[str, object]) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=syntax == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"anchor": _anchor, "marked": _marked, "paragraphs": _paragraphs, "plain": _plain}
    environment.globals["to"] = environment.get_template(f"{syntax}.j2").module
    return environment.from_string(text).render(values)


def _anchor(heading: str) -> str:
    """The anchor for links, in GitHub's format."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _plain(text: str) -> str:
    """What a caller wrote, without the escapes of its values."""
    return text.unescape() if isinstance(text, Markup) else text


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each in one line."""
    return [re.sub(r"\s*\n\s*", " ", part) for part in _plain(text).strip().split("\n\n")]


def _marked(text: str) -> Markup:
    """Text with its marks as elements.

    >>> _marked("a **bold** `x`")
    Markup('a <strong>bold</strong> <code>x</code>')
    """
    found = []
    for k, part in enumerate(re.split(r"(`[^`]+`|\*\*.+?\*\*|\*.+?\*)", text)):
        mark = next(mark for mark in _MARKS if part.startswith(mark)) if k % 2 else ""
        inside = escape(part[len(mark) : len(part) - len(mark)])
        found.append(Markup("<{0}>{1}</{0}>").format(_MARKS[mark], inside) if mark else inside)
    return Markup("").join(found)
