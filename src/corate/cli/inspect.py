"""``corate inspect``: a web page about a model and how it labels a text."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from corate.cli import shared_options as options
from corate.cli.exits import silence_warnings
from corate.cli.plot import check_suffix
from corate.cli.shared_options import Reading, with_reading_options
from corate.cli.terminal import ProgressBar, counted, size
from corate.errors import DataError
from corate.formats.registry import FORMATS
from corate.io.atomic import check_writable, write_text
from corate.io.streams import NamedBytes, bare_suffix, joined, name_of, text_blocks

if TYPE_CHECKING:
    from corate import Tagger
    from corate.corpus import Corpus

__all__ = ["EVERYDAY", "EXAMPLES", "inspect"]

_READING = "Reading"

EXAMPLES = """\
Examples:

\b
  corate inspect model.corate -o model.html                     the model alone
  corate inspect model.corate test.tsv -o errors.html           with errors, confusions and calibration
  corate inspect model.corate notes.txt --format raw -o notes.html
  corate inspect model.corate new.jsonl --unlabelled -o new.html
"""

#: The options that ``--help`` shows.
EVERYDAY = ("output", "sentences", "format", "unlabelled", "columns", "quiet")


@with_reading_options
def inspect(
    reading: Reading,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="PAGE", help="Where to write the page (HTML).")],
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Text, with labels or without; - is standard input.")
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Include the N sentences with the most doubt.")
    ] = 5000,
    explained: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Explain all wrong tokens, and all tokens of the N sentences with the most doubt."
        ),
    ] = 500,
    format: Annotated[
        str,
        options.one_of(
            ("auto", *FORMATS),
            "The format, as for corate tag; auto detects all except raw.",
            _READING,
            flags=("--format", "-f"),
        ),
    ] = "auto",
    unlabelled: Annotated[
        bool,
        typer.Option(
            "--unlabelled",
            help="Ignore the labels of the text. This is not needed for plain and raw text, and for column files "
            "without the label column of the training text.",
            rich_help_panel=_READING,
        ),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a web page about a model, and about how it labels a text.

    It shows facts about the model, which labels follow which, and the strongest features of each label. For labelled
    text, it also shows scores, the confusion matrix with the sentences of each cell, and the calibration. Sentences are
    sorted by doubt (1 minus the probability of the best labels), and tokens are explained. The page is one file, and
    needs no network.
    """
    from corate.inspection.page import inspect_page
    from corate.pages.charts import check_installed

    _check_output(output, model, file)
    check_suffix(output, "--output", ".html", ".htm")
    check_installed()
    if quiet:
        silence_warnings()
    with ProgressBar(quiet) as progress:
        progress("reading")
        tagger = options.load_model(model, file)
        corpus = None if file is None else _read(file, tagger, reading, format, not unlabelled)
        page = inspect_page(
            tagger,
            corpus,
            model=os.path.basename(model),
            text="" if file is None else os.path.basename(name_of(file)),
            size=os.stat(model).st_size,
            sentences=sentences,
            explained=explained,
            on_progress=progress.show,
        )
    write_text(output, page)
    if not quiet:
        about = "" if corpus is None else f", {counted(len(corpus), 'sentence')}"
        typer.echo(f"page: {output}, {size(len(page.encode()))}{about}")


def _check_output(output: str, *inputs: str | None) -> None:
    """Refuse to overwrite an input, and paths that cannot be written."""
    if output == "-":
        raise typer.BadParameter("give a file; the page is not written to standard output", param_hint="--output")
    for path in inputs:
        if path is not None and os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise typer.BadParameter(f"{output} is an input of the command", param_hint="--output")
    check_writable(output)


def _read(file: str, tagger: Tagger, reading: Reading, format: str, labelled: bool) -> Corpus:
    """Read the text; without labels if it has none."""
    from corate.formats import detection
    from corate.formats.sentence_limit import limited

    name, (head, blocks) = name_of(file), detection.head_of(text_blocks(file, reading.encoding))
    if format == "auto":
        format = detection.by_suffix(bare_suffix(file)) or _detected(head, name, reading.comment, labelled)
    data = joined(limited(blocks, name, format, reading.max_sentence, reading.comment))
    labelled = labelled and FORMATS[format].labelled
    if labelled and format == "columns":
        labelled = _has_label_column(data, tagger, reading)
    source = NamedBytes(data, name)
    try:
        return replace(reading, encoding="utf-8").read(source, tagger, labelled=labelled, format=format)
    except DataError as error:
        raise DataError(str(error).replace("labelled=False", "--unlabelled")) from None


def _detected(data: bytes, name: str, comment: str | None, labelled: bool) -> str:
    """The format of text that may have labels."""
    from corate.formats import detection

    if labelled:
        with suppress(DataError):
            return detection.detect(data, name, comment=comment)
    return detection.detect(data, name, comment=comment, kind="unlabelled")


def _has_label_column(data: bytes, tagger: Tagger, reading: Reading) -> bool:
    """Whether column text has labels: not if it has the columns of the training text except the label."""
    from corate.formats.columns import width_of
    from corate.formats.rows import first_row

    names = reading.column_names()
    if names is not None:
        return "label" in names
    observed = [name for name in tagger.layout if name != "label"]
    width = width_of(first_row(data, reading.comment), reading.separator_text())
    return not (len(observed) < len(tagger.layout) and width == len(observed))
