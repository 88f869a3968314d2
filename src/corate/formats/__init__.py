"""Reading and writing corpora. Each format is one object in one module, and :mod:`.registry` lists them.

The functions are imported when they are used, so that the command line, which lists the formats, starts quickly.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from corate.formats.files import read, read_pieces, read_unlabelled, write
    from corate.formats.graph_tables import read_graph
    from corate.formats.reading import SkippedWarning

__all__ = ["SkippedWarning", "read", "read_graph", "read_pieces", "read_unlabelled", "write"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from corate.formats import files, graph_tables, reading

    modules = {"SkippedWarning": reading, "read_graph": graph_tables}
    return getattr(modules.get(name, files), name)
