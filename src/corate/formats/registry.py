"""The formats by name. A line here adds a format; the module that it names says everything else about it.

The modules are imported when they are used, because the command line lists the formats and must start quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from corate.errors import Argument, DataError

if TYPE_CHECKING:
    from corate.formats.format import Format

__all__ = ["FORMATS", "check_options", "format_of", "takers"]


class Entry(NamedTuple):
    """A format: its module in ``corate.formats``, its title in texts, and whether it has a place for labels."""

    module: str
    title: str
    labelled: bool = True


#: Each format is the object in its module that has its name in capital letters. A text is in the first that it fits.
FORMATS = {
    "columns": Entry("columns", "columns"),
    "conllu": Entry("conllu", "CoNLL-U"),
    "labelstudio": Entry("labelstudio", "Label Studio"),
    "jsonl": Entry("jsonl", "JSON lines"),
    "slashed": Entry("lines", "word/label tokens"),
    "items": Entry("items", "CRFsuite items"),
    "text": Entry("lines", "plain text", labelled=False),
    "raw": Entry("lines", "raw text", labelled=False),
}

#: The arguments of ``read`` and ``write`` that only some formats take, and what to do instead in the other formats.
_INSTEAD = {
    "tokenize": "omit it",
    "widen_spans": "omit it",
    "label": f"in a column file, call the label column 'label' with {Argument('columns')}",
    "label_names": "omit it",
    "scores": "omit it",
}


def format_of(name: str) -> Format:
    """The format of a name. Raises DataError if there is none.

    >>> format_of("conllu").suffixes
    ('.conllu',)
    """
    if name not in FORMATS:
        raise DataError(f"unknown format {name!r}; choose one of auto, {', '.join(FORMATS)}")
    found: Format = getattr(import_module(f"corate.formats.{FORMATS[name].module}"), name.upper())
    return found


def takers(argument: str) -> dict[str, str]:
    """The formats that take an argument, with their titles.

    >>> takers("label")
    {'conllu': 'CoNLL-U', 'jsonl': 'JSON lines'}
    """
    return {name: entry.title for name, entry in FORMATS.items() if argument in format_of(name).takes}


def check_options(format: str, options: object) -> None:
    """Raise DataError if an option is for another format."""
    for argument, instead in _INSTEAD.items():
        given: Any = getattr(options, argument, None)
        if given is not None and given is not False and argument not in format_of(format).takes:
            others = " and ".join(takers(argument).values())
            raise DataError(f"{Argument(argument)} is for {others}, not for the format {format!r}", instead)
