"""Writes docstrings as Markdown for the API pages of the site; an extension of griffe, which mkdocstrings uses.

Examples become fenced blocks, and Sphinx roles become links to the names that the pages have, else code.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

import corate

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([\w.]+)`")
_OPTION = re.compile(r"_(?:choice|number|integer|flag|other)\(([^,()]+|\(\))", re.DOTALL)
_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


def markdown(text: str) -> str:
    """A docstring as Markdown."""
    text = _ROLE.sub(_link, text)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


def _link(role: re.Match[str]) -> str:
    name = role[1]
    public = name.startswith("corate.") and name.removeprefix("corate.") in corate.__all__
    return f"[`{name}`][{name}]" if public else f"`{name}`"


class MarkdownDocstrings(Extension):
    """Converts the docstring of every object that is loaded."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Convert the docstring of one object, and leave out its overloads."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
        if obj.is_attribute and (found := _OPTION.match(str(obj.value))):  # type: ignore[attr-defined]
            obj.value = found[1]  # type: ignore[attr-defined]  # the default of an option, without its range and help
        if obj.is_function:
            obj.overloads = None  # type: ignore[attr-defined]  # one signature is enough to read
