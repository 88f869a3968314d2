"""Tables: described once, and shown as plain text, on a terminal or in a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corate.display import escaped

if TYPE_CHECKING:
    from rich.table import Table as Drawn

__all__ = ["Table", "tables_html"]


@dataclass(frozen=True)
class Table:
    """Rows of text, which may have several lines, below a title and a header. Columns of numbers are to the right.

    >>> print(Table([["accuracy", "97.15%"], ["tokens", "51,533"]]))
    accuracy  97.15%
    tokens    51,533
    """

    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()
    title: str = ""

    def _numeric(self) -> list[bool]:
        """Which columns are numbers."""
        width = max(map(len, (self.header, *self.rows)))
        return [bool(self.rows) and all(_is_number(row[i]) for row in self.rows) for i in range(width)]

    def __str__(self) -> str:
        numeric = self._numeric()
        lines = [line for row in ([self.header] if self.header else []) + [*self.rows] for line in _split(row)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(numeric))]
        shown = [self.title] if self.title else []
        for line in lines:
            cells = zip(line, widths, numeric, strict=True)
            shown.append("  ".join(cell.rjust(w) if right else cell.ljust(w) for cell, w, right in cells).rstrip())
        return "\n".join(shown)

    def __rich__(self) -> Drawn:
        """The table with borders, for the package rich. Control characters are escaped."""
        from rich import box
        from rich.table import Table as Drawn
        from rich.text import Text

        title = Text(escaped(self.title)) if self.title else None
        drawn = Drawn(show_header=bool(self.header), box=box.ROUNDED, title=title, title_justify="left", title_style="")
        for i, right in enumerate(self._numeric()):
            drawn.add_column(self.header[i] if self.header else "", justify="right" if right else "left")
        for row in self.rows:
            drawn.add_row(*(Text(escaped(cell)) for cell in row))  # as Text, because a label may look like markup
        return drawn


def tables_html(tables: Iterable[Table], title: str = "") -> str:
    """Tables for a notebook, each with its title, below one for all."""
    from corate.pages.page import fragment

    return fragment("tables.html", title=title, tables=tables)


def _split(row: Sequence[str]) -> list[list[str]]:
    """Split a row with multi-line cells into several rows."""
    cells = [cell.split("\n") for cell in row]
    return [[cell[i] if i < len(cell) else "" for cell in cells] for i in range(max(map(len, cells)))]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?[\d,.]*(e[-+]?\d+)?%?", cell) is not None
