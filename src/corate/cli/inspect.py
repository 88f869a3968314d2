"""``corate inspect``: a web page about a model and how it labels a text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from corate.cli.commands import Run, argument, command, option
from corate.cli.graph_files import refuse_graphs
from corate.cli.plot import check_suffix
from corate.cli.shared_options import MODEL, QUIET, READING, Reading, load_model, reading_options, refuse_inputs
from corate.cli.terminal import ProgressBar, counted, size
from corate.errors import DataError
from corate.formats.registry import FORMATS
from corate.io.atomic import check_writable, write_text
from corate.io.streams import name_of

if TYPE_CHECKING:
    from corate import Tagger
    from corate.corpus import Corpus

__all__ = ["Inspect"]

_EXAMPLES = """\
Examples:

\b
  corate inspect model.corate -o model.html                     the model alone
  corate inspect model.corate test.tsv -o errors.html           with errors, confusions and calibration
  corate inspect model.corate notes.txt --format raw -o notes.html
  corate inspect model.corate new.jsonl --unlabelled -o new.html
"""


@command("inspect", _EXAMPLES, everyday="output sentences format unlabelled columns quiet")
class Inspect(Run):
    """Make a web page about a model, and about how it labels a text.

    It shows facts about the model, which labels follow which, and the strongest features of each label. For labelled
    text, it also shows scores, the confusion matrix with the sentences of each cell, and the calibration. Sentences are
    sorted by doubt (1 minus the probability of the best labels), and tokens are explained. The page is one file, and
    needs no network.
    """

    model: str = MODEL
    output: str = option("--output,-o PAGE", "Where to write the page (HTML).", required=True)
    file: str | None = argument("[FILE]", "Text, with labels or without; - is standard input.", required=False)
    sentences: int = option("--sentences N", "Include the N sentences with the most doubt.", default=5000, least=1)
    explained: int = option(
        "--explained N",
        "Explain all wrong tokens, and all tokens of the N sentences with the most doubt.",
        default=500,
        least=0,
    )
    unlabelled: bool = option(
        "--unlabelled",
        "Ignore the labels of the text. This is not needed for plain and raw text, and for column files without the "
        "label column of the training text.",
        panel=READING,
    )
    reading: Reading = reading_options(
        format=option(
            "--format,-f",
            "The format, as for corate tag; auto detects all except raw.",
            default="auto",
            choices=("auto", *FORMATS),
            panel=READING,
        ),
    )
    quiet: bool = QUIET

    def run(self) -> None:
        """Run the command."""
        from corate.inspection.page import inspect_page

        if self.output == "-":
            raise click.BadParameter("give a file; the page is not written to standard output", param_hint="--output")
        for path in (self.model, self.file):
            refuse_inputs(self.output, {"an input of the command": path})
        check_writable(self.output)
        check_suffix(self.output, "--output", ".html", ".htm")
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            tagger = load_model(self.model, self.file)
            refuse_graphs(tagger, "corate info --weights, corate eval and corate explain")
            corpus = None if self.file is None else _read(self.file, tagger, self.reading, not self.unlabelled)
            page = inspect_page(
                tagger,
                corpus,
                model=os.path.basename(self.model),
                text="" if self.file is None else os.path.basename(name_of(self.file)),
                size=os.stat(self.model).st_size,
                sentences=self.sentences,
                explained=self.explained,
                on_progress=progress.show,
            )
        write_text(self.output, page)
        if not self.quiet:
            about = "" if corpus is None else f", {counted(len(corpus), 'sentence')}"
            print(f"page: {self.output}, {size(len(page.encode()))}{about}")


def _read(file: str, tagger: Tagger, reading: Reading, labelled: bool) -> Corpus:
    """Read the text; without labels if it has none."""
    text, format = reading.text_and_format(file, labelled=labelled)
    labelled = labelled and FORMATS[format].labelled
    if labelled and format == "columns":
        labelled = _has_label_column(text.getvalue(), tagger, reading)
    try:
        return reading.read(text, tagger, labelled=labelled, format=format)
    except DataError as error:
        if error.option == "labelled":
            error.remedy = "if it has none, use --unlabelled"
        raise


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
