"""Reading and writing corpora: one module a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from corate.corpus import Corpus
from corate.errors import DataError
from corate.formats import columns as column_files
from corate.formats import detection, items, jsonl, lines
from corate.formats.reading import Options, SkippedWarning
from corate.formats.writing import labels_to_write
from corate.io.streams import Source, Target, bare_suffix, load, name_of, save

__all__ = ["SkippedWarning", "read", "write"]

_READERS: dict[str, Callable[[bytes, str, Options], Corpus]] = {
    "columns": column_files.read,
    "slashed": lines.read_slashed,
    "items": items.read,
    "jsonl": jsonl.read,
    "text": lines.read_text,
}


def read(
    source: Source,
    *,
    format: str = "auto",
    columns: str | Sequence[str] | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    docstart: str = "keep",
    skip_bad: bool = False,
    labelled: bool = True,
    layout: Sequence[str] = (),
) -> Corpus:
    """Read a corpus; :class:`~corate.errors.DataError` names the file, the line and the remedy if it cannot be read.

    Args:
        source: a path, ``"-"`` for standard input, bytes, or an open file; .gz, .bz2, .xz and .zst are unpacked.
        format: ``"columns"`` (a token a line, blank lines between sentences), ``"slashed"`` (``word/label`` tokens, a
            sentence a line), ``"items"`` (CRFsuite), ``"jsonl"`` (a JSON object or list a sentence), ``"text"``
            (words, a sentence a line) or ``"auto"``: by the suffix, else by the first lines.
        columns: their names, as a list or between commas: ``"word,pos,label"``. ``label`` is the label wherever it
            stands, ``_`` leaves a column out. Without names: word, pos, column2... and, last, the label.
        encoding: of the text.
        separator: between columns; without one, tabs where they fit all rows, else any run of spaces and tabs.
        comment: lines that begin with it are passed over, and end no sentence.
        docstart: ``"drop"`` leaves the ``-DOCSTART-`` rows of a column file out, ``"keep"`` reads them as tokens.
        skip_bad: leave out what does not fit (rows of another width, tokens without a label, broken JSON lines) and
            warn once with a :class:`SkippedWarning` that has the count, where otherwise the first is an error.
        labelled: False if the data has no labels, so that without names all columns are observed.
        layout: the columns of the data that a model was trained on (``tagger.layout``). Columns without names take
            those of the layout if there are as many.

    >>> read(b"Ann B-PER\\nsleeps O\\n\\nBob B-PER\\n")
    Corpus(2 sentences, 3 tokens, columns: word, 2 labels)
    >>> read(b"Ann sleeps\\nBob sings too\\n", format="text").tokens(1)
    ['Bob', 'sings', 'too']
    """
    if format != "auto" and format not in _READERS:
        raise DataError(f"unknown format {format!r}; there are auto, {', '.join(_READERS)}")
    if docstart not in ("keep", "drop"):
        raise DataError(f"docstart must be 'keep' or 'drop', not {docstart!r}")
    if separator:
        _check_separator(separator)
    options = Options(_names(columns), separator, comment, docstart == "drop", skip_bad, labelled, tuple(layout))
    name = name_of(source)
    data = load(source, encoding)
    if format == "auto":
        found = detection.by_suffix(bare_suffix(source))
        format = found or detection.detect(data, name, comment=comment, labelled=labelled)
    return _READERS[format](data, name, options)


def write(
    corpus: Corpus,
    target: Target,
    *,
    format: str = "columns",
    labels: Sequence[Sequence[str]] | None = None,
    separator: str = "\t",
    encoding: str = "utf-8",
) -> None:
    """Write a corpus in one of the formats that :func:`read` reads.

    A path is written under a temporary name and then renamed, and packed as its suffix says; ``"-"`` is standard
    output. What a format cannot hold (a tab in a word of a column file, say) is an error, never something else when
    read again; sentences without tokens are left out.

    Args:
        corpus: what to write.
        target: a path, ``"-"`` or an open file.
        format: ``"columns"``, ``"slashed"``, ``"items"``, ``"jsonl"`` or ``"text"``.
        labels: a list of labels per sentence, to write in place of those of the corpus.
        separator: between the columns of a column file.
        encoding: of the text.

    >>> import io
    >>> file = io.StringIO()
    >>> write(Corpus.from_sentences([["Ann", "sleeps"]]), file, format="slashed", labels=[["NAME", "VERB"]])
    >>> file.getvalue()
    'Ann/NAME sleeps/VERB\\n'
    """
    _check_separator(separator)
    column = labels_to_write(corpus, labels)
    if format == "columns":
        text = column_files.write(corpus, column, separator)
    elif format == "slashed":
        text = lines.write_slashed(corpus, column)
    elif format == "items":
        text = items.write(corpus, column)
    elif format == "jsonl":
        text = jsonl.write(corpus, column)
    elif format == "text":
        text = lines.write_text(corpus)
    else:
        raise DataError(f"unknown format {format!r}; there are {', '.join(_READERS)}")
    save(text, target, encoding)


def _check_separator(separator: str) -> None:
    if len(separator) != 1 or not separator.isascii() or separator in "\r\n\0":
        raise DataError(f"the separator must be one ASCII character, such as a tab, not {separator!r}")


def _names(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = tuple(name.strip() for name in (columns.split(",") if isinstance(columns, str) else columns))
    kept = [name for name in names if name != "_"]
    given = ", ".join(names)
    if not kept or "" in names:
        raise DataError(f"the column names ({given}) must name a column each, or _ for one to leave out")
    if kept == ["label"]:
        raise DataError(f"the column names ({given}) name a label and nothing to tell it from; name a word column too")
    if len(set(kept)) < len(kept):
        raise DataError(f"two columns have the same name ({given}); name those to leave out _")
    return names
