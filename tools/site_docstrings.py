"""Writes docstrings as Markdown for the API pages of the site; an extension of griffe, which mkdocstrings uses.

Examples become fenced blocks, and Sphinx roles become links to the names that the pages have, else code.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from griffe import Extension, Object

import corate

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([\w.]+)`")
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


def _show_defaults(options: Object) -> None:
    """In the signature of a class of options, show the default of each, without its range and its help text."""
    known = inspect.signature(getattr(corate, options.name)).parameters if options.name in corate.__all__ else {}
    constructor = options.members.get("__init__")
    for parameter in getattr(constructor, "parameters", ()):
        if parameter.name in known:
            parameter.default = repr(known[parameter.name].default)


class MarkdownDocstrings(Extension):
    """Converts the docstring of every object that is loaded."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Convert the docstring of one object, and leave out its overloads."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
        if obj.is_class and obj.path.startswith("corate.training.methods."):
            _show_defaults(obj)
        if obj.is_function:
            obj.overloads = None  # type: ignore[attr-defined]  # one signature is enough to read
