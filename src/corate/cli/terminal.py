"""Tables, numbers and progress for people. Plain text if the output is not a terminal."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from corate.display import count, counted, in_words, percent, size
from corate.errors import shortened
from corate.progress import ProgressEvent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = [
    "ProgressBar",
    "count",
    "counted",
    "escaped",
    "in_words",
    "is_terminal",
    "json_text",
    "percent",
    "print_json",
    "print_line",
    "redirect_to_null",
    "show_table",
    "size",
    "time_left",
]

#: Work shorter than this shows no bar, or no lines.
_BAR_DELAY_SECONDS = 0.5
_LINE_DELAY_SECONDS = 2.0
#: The least time between two lines: after a pass, and otherwise. The latter grows to a share of the time so far.
_PASS_SECONDS, _LINE_SECONDS, _LINE_SHARE = 1.0, 5.0, 10
#: How often the last event is looked at again, and the longest wait for the thread that does so.
_BEAT_SECONDS, _LONGEST_STOP_SECONDS = 0.5, 2.0

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


def print_line(message: str) -> None:
    """Print a line to standard error if possible. It is not possible, for example, after the terminal has closed."""
    try:
        print("corate:", escaped(shortened(message)), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        redirect_to_null(sys.stderr)


def redirect_to_null(stream: Any) -> None:
    """Redirect a standard stream to the null device, so that the last flush of the interpreter does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


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
    """Progress of long work on standard error, unless ``quiet``: a bar on a terminal, otherwise a line now and then.

    Work that is over soon shows nothing. The last event is shown again while no new one arrives. With ``waits``, it is
    not, because the work may be waiting for input; nor is it if the system cannot start a thread. The environment
    variable ``CORATE_PROGRESS=0`` leaves only the lines that say that work is resumed.
    """

    def __init__(self, quiet: bool = False, *, waits: bool = False) -> None:
        self._display: _Bar | _Lines | None = None if quiet else _Bar() if sys.stderr.isatty() else _Lines()
        self._hidden = os.environ.get("CORATE_PROGRESS") == "0"
        self._waits = waits or self._hidden
        self._event: ProgressEvent | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._watch: threading.Thread | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._watch is not None:
            self._watch.join(_LONGEST_STOP_SECONDS)
        if self._display is not None:
            self._display.stop()

    def __call__(self, stage: str, fraction: float | None = None) -> None:
        """Show a stage, and the completed fraction if it is known."""
        self.show(ProgressEvent(stage, fraction))

    def show(self, event: ProgressEvent) -> None:
        """Show an event; one that says that work is resumed stays visible."""
        if self._display is None:
            return
        with self._lock:
            if event.resumed:
                self._display.keep(str(event))
                event = replace(event, resumed=False, step=None)
            self._event = event
            if not self._hidden:
                self._display.show(event)
        if self._watch is None and not self._waits:
            watch = threading.Thread(target=self._show_again, daemon=True)
            try:
                watch.start()
            except RuntimeError:  # the system cannot start a thread
                self._waits = True
            else:
                self._watch = watch

    def keep(self, text: str) -> None:
        """Show a line that stays visible."""
        if self._display is not None:
            with self._lock:
                self._display.keep(text)

    def _show_again(self) -> None:
        while not self._ended.wait(_BEAT_SECONDS):
            with self._lock:
                if self._event is not None and self._display is not None and not self._ended.is_set():
                    self._display.show(self._event, again=True)


class _Lines:
    """Lines for a log: one for each pass, and now and then between."""

    def __init__(self) -> None:
        self._start = self._stage_start = time.monotonic()
        self._latest = self._latest_pass = -math.inf
        self._title, self._first = "", 0.0

    def show(self, event: ProgressEvent, *, again: bool = False) -> None:
        """Print a line if it is time for one."""
        now = time.monotonic()
        begins = event.title != self._title
        if begins:
            self._title, self._first, self._stage_start = event.title, event.fraction or 0.0, now
        if event.loss is not None and not again:  # after a pass
            due = now - self._latest_pass >= _PASS_SECONDS
        else:
            wait = _LINE_DELAY_SECONDS if begins else max(_LINE_SECONDS, (now - self._start) / _LINE_SHARE)
            due = now - self._latest >= wait
        if not due or now - self._start < _LINE_DELAY_SECONDS:
            return
        self._latest = now
        if event.loss is not None:
            self._latest_pass = now
        in_words = str(event)
        if event.fraction and not event.measurements:
            in_words += f": {event.fraction:.0%}"
        spent = now - self._stage_start
        done = (event.fraction or 0.0) - self._first
        left = time_left(spent * (1 - (event.fraction or 0.0)) / done) if done > 0 and spent > 0 else ""
        self.keep(f"{in_words} ({now - self._start:.0f} s{', ' + left if left else ''})")

    def keep(self, text: str) -> None:
        """Print a line."""
        print_line(text)

    def stop(self) -> None:
        """Nothing is left to do."""


class _Bar:
    """A bar of rich. The last measurements stay visible until there are new ones.

    If the system cannot start a thread for the bar, it moves only when there is an event.

    rich is imported when the bar first appears, so short work does not wait for the import.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._title = self._shown = ""

    def show(self, event: ProgressEvent, *, again: bool = False) -> None:
        """Show an event; usually, the bar refreshes itself later."""
        if time.monotonic() - self._start < _BAR_DELAY_SECONDS or (again and self._bar is not None):
            return
        if self._bar is None:
            self._bar = _start_bar()
        if self._task is None or event.title != self._title:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(event.title, total=None)
            self._title = self._shown = event.title
        if event.measurements:
            self._shown = str(event)
        total = 1.0 if event.fraction else None  # a stage that reports no fractions pulses
        self._bar.update(self._task, description=self._shown, completed=event.fraction or 0.0, total=total)
        if not self._bar.live.auto_refresh:
            self._bar.refresh()

    def keep(self, text: str) -> None:
        """Print a line above the bar."""
        if self._bar is None:
            print_line(text)
        else:
            self._bar.console.print(f"corate: {escaped(text)}", markup=False, highlight=False)

    def stop(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


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
        speed_estimate_period=300,  # passes may take minutes
    )
    try:
        bar.start()
    except RuntimeError:  # the system cannot start a thread
        bar.stop()
        bar.live.auto_refresh = False
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
