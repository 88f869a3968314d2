"""CRF++ template files.

A line is ``U...`` (features of one label) or ``B...`` (features of a pair of labels), with macros ``%x[row,column]``:
the value ``row`` tokens away in that column, counted from 0. ``B`` alone means label pairs without observations.
This module only parses lines; :mod:`corate.features.templates` makes templates from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from corate.errors import Excerpt, FeatureError

__all__ = ["TemplateLine", "is_crfpp", "parse_line", "parse_lines"]

_MACRO = re.compile(r"%x\[\s*([+-]?\d{1,9})\s*,\s*(\d{1,9})\s*\]")
_WITH_MACRO = re.compile(r"[UB][^%]*%x\[")
_BARE = re.compile(r"[UB]\d*:?")


@dataclass(frozen=True)
class TemplateLine:
    """One line of a CRF++ template: its ``(row, column)`` cells, and whether it is a bigram line.

    ``text`` is the whole line. In CRF++, the identifier and the text between macros (such as ``/``) only make feature
    strings distinct. Here they have no effect: every line is a separate template with its own features.
    """

    text: str
    number: int
    bigram: bool
    cells: tuple[tuple[int, int], ...]


def parse_line(text: str, *, source: str = "template", number: int = 1) -> TemplateLine:
    """Parse one line; raises FeatureError with the source, the line and a caret at the error.

    >>> parse_line("U10:%x[-1,0]/%x[0,1]").cells
    ((-1, 0), (0, 1))
    >>> parse_line("B").bigram
    True
    """
    if text[:1] not in ("U", "B"):
        raise _error("a line begins with U (one label), B (a pair of labels) or # (comment)", text, 0, source, number)
    cells = []
    at = text.find("%")
    while at >= 0:
        macro = _MACRO.match(text, at)
        if macro is None:
            raise _error("a macro is written %x[row,column], as in %x[-1,0]", text, at, source, number)
        cells.append((int(macro[1]), int(macro[2])))
        at = text.find("%", macro.end())
    return TemplateLine(text, number, text[0] == "B", tuple(cells))


def parse_lines(lines: Iterable[str], *, source: str = "template") -> list[TemplateLine]:
    """Parse all lines except blank lines and comments.

    >>> [line.text for line in parse_lines(["# words", "U00:%x[0,0]", "", "B"])]
    ['U00:%x[0,0]', 'B']
    """
    stripped = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [
        parse_line(text, source=source, number=number) for number, text in stripped if text and not text.startswith("#")
    ]


def is_crfpp(lines: Iterable[str]) -> bool:
    """Whether these are lines of a CRF++ template: one has a macro, or all are bare ``U`` and ``B``.

    >>> is_crfpp(["# mine", "U00:%x[0,0]"]), is_crfpp(["word[0]"]), is_crfpp([])
    (True, False, False)
    """
    texts = [t for line in lines if (t := line.strip()) and not t.startswith("#")]
    return any(_WITH_MACRO.match(t) for t in texts) or (bool(texts) and all(_BARE.fullmatch(t) for t in texts))


def _error(message: str, text: str, at: int, source: str, number: int) -> FeatureError:
    return FeatureError(message, excerpt=Excerpt(text, at), file=source, line=number)
