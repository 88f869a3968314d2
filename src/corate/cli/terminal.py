"""Tables, numbers and progress for people. Plain text if the output is not a terminal."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from corate.display import count, percent, size, told
from corate.progress import ProgressEvent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = [
    "ProgressBar",
    "count",
    "escaped",
    "is_terminal",
    "json_text",
    "percent",
    "print_json",
    "show_table",
    "size",
    "time_left",
    "told",
]

#: Work shorter than this shows no bar.
_BAR_DELAY_SECONDS = 0.5

#: Control characters, except tabs and line feeds, and characters that change the writing direction.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def escaped(text: str, escape: str = "") -> str:
    r"""Text that is safe to print on a terminal: control characters are written as escape sequences.

    The sequences are those of Python, or have the form ``escape``: ``\\u{:04x}`` for JSON.

    >>> print(escaped("\x1b[31mred\x07 \u202eback"))
    \x1b[31mred\x07 \u202eback
    """

    def escape_sequence(match: re.Match[str]) -> str:
        code = ord(match[0])
        return (escape or (r"\x{:02x}" if code < 0x100 else r"\u{:04x}")).format(code)

    return _CONTROLS.sub(escape_sequence, text)


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object, with null for NaN and infinity; in ASCII unless standard output is UTF-8."""
    text = json_text(values, ascii_only=(sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8"))
    print(escaped(text, r"\u{:04x}") if is_terminal() else text)


def json_text(values: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """One JSON object, with null for NaN and infinity."""
    return json.dumps(_plain(values), indent=2, ensure_ascii=ascii_only, allow_nan=False)


def _plain(value: Any) -> Any:
    """Convert values for JSON: arrays to lists, NumPy's numbers to numbers, NaN and infinity to null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def show_table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), *, title: str = "") -> None:
    """Print a table: with borders and `escaped` on a terminal, otherwise as plain aligned text.

    Columns of numbers are aligned to the right.

    >>> show_table([["accuracy", "97.15%"], ["tokens", "51,533"]])
    accuracy  97.15%
    tokens    51,533
    """
    width = max(map(len, (header, *rows)))
    numeric = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(width)]
    if title:
        print(title)
    if is_terminal():
        _show_drawn(rows, header, numeric)
        return
    lines = [line for row in ([header, *rows] if header else rows) for line in _split(row)]
    widths = [max(len(line[i]) for line in lines) for i in range(width)]
    for line in lines:
        cells = [
            cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(line, widths, numeric, strict=True)
        ]
        print("  ".join(cells).rstrip())


def _split(row: Sequence[str]) -> list[list[str]]:
    """Split a row with multi-line cells into several rows."""
    cells = [cell.split("\n") for cell in row]
    return [[cell[i] if i < len(cell) else "" for cell in cells] for i in range(max(map(len, cells)))]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?[\d,.]*(e[-+]?\d+)?%?", cell) is not None


def _show_drawn(rows: Sequence[Sequence[str]], header: Sequence[str], numeric: Sequence[bool]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=bool(header), box=box.ROUNDED)
    for i, right in enumerate(numeric):
        table.add_column(header[i] if header else "", justify="right" if right else "left")
    for row in rows:
        table.add_row(*(Text(escaped(cell)) for cell in row))
    Console().print(table)


class ProgressBar:
    """A bar on standard error for long work, if that is a terminal and ``quiet`` is False.

    The last measurements stay visible until there are new ones. rich is imported when the bar first appears, so short
    work does not wait for the import.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._wanted = not quiet and sys.stderr.isatty()
        self._start = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._title = ""
        self._shown = ""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, fraction: float | None = None) -> None:
        """Show a stage, and the completed fraction if it is known."""
        self.show(ProgressEvent(stage, fraction))

    def show(self, event: ProgressEvent) -> None:
        """Show an event."""
        if not self._wanted or time.monotonic() - self._start < _BAR_DELAY_SECONDS:
            return
        if self._bar is None:
            self._bar = _start_bar()
        if self._task is None or event.title != self._title:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(event.title, total=None if event.fraction is None else 1.0)
            self._title = self._shown = event.title
        if event.measurements:
            self._shown = str(event)
        self._bar.update(self._task, description=self._shown, completed=event.fraction or 0.0)


def _start_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(time_left(task.time_remaining))

    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TimeLeft(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar


def time_left(seconds: float | None) -> str:
    """The remaining time of a stage in words; empty if it is unknown.

    >>> time_left(4.4), time_left(190), time_left(None)
    ('4 s left', '3 min left', '')
    """
    if seconds is None:
        return ""
    return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"
