"""Reading and writing corpora: one module a format."""

from __future__ import annotations

from collections.abc import Sequence

from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import columns as column_files
from corate.formats.parsed import Options, SkippedWarning
from corate.formats.streams import Source, Target, load, name_of, save
from corate.formats.written import labels_to_write

__all__ = ["SkippedWarning", "read", "write"]


def read(
    source: Source,
    *,
    format: str = "columns",
    columns: str | Sequence[str] | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    docstart: str = "keep",
    skip_bad: bool = False,
    labelled: bool = True,
) -> Corpus:
    """Read a corpus."""
    if docstart not in ("keep", "drop"):
        raise DataError(f"docstart must be 'keep' or 'drop', not {docstart!r}")
    options = Options(_names(columns), separator, comment, docstart == "drop", skip_bad, labelled)
    return column_files.read(load(source, encoding), name_of(source), options)


def _names(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = tuple(name.strip() for name in (columns.split(",") if isinstance(columns, str) else columns))
    kept = [name for name in names if name != "_"]
    given = ", ".join(names)
    if not kept or "" in names:
        raise DataError(f"the column names ({given}) must name a column each, or _ for one to leave out")
    if len(set(kept)) < len(kept):
        raise DataError(f"two columns have the same name ({given}); name those to leave out _")
    return names
