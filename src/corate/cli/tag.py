"""``corate tag``: add labels to text, one chunk at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from corate.cli.commands import Run, argument, command, option
from corate.cli.exits import as_option
from corate.cli.graph_files import check_edges_given, is_file_of_edges
from corate.cli.shared_options import (
    LABELLED,
    MODEL,
    QUIET,
    SCHEMES,
    THREADS,
    Reading,
    load_model,
    reading_options,
    refuse_inputs,
)
from corate.cli.terminal import ProgressBar, escaped, is_terminal
from corate.errors import ConfigError, DataError
from corate.formats.registry import FORMATS
from corate.io.chunks import open_blocks, refuse_nul
from corate.io.encodings import check_encoding, encoded, utf8
from corate.io.streams import NamedBytes, name_of, open_output

if TYPE_CHECKING:
    from corate.model.tagged_text import Questions
    from corate.model.tagger import Tagger

__all__ = ["Tag"]

_EXAMPLES = """\
Examples:

\b
  corate tag model.corate new.tsv > tagged.tsv
  corate tag model.corate huge.tsv.gz -o tagged.tsv.gz --threads 4
  echo 'Ann Lee , 12 Oak St , Boston' | corate tag model.corate --format text
  echo 'Ann Lee lives in Boston.' | corate tag model.corate --format raw      splits off the punctuation
  corate tag model.corate new.conllu --label upos -o tagged.conllu
  corate tag model.corate tasks.json -o pre-annotated.json                    tasks of Label Studio
  corate tag model.corate new.tsv --nbest 5
  corate tag model.corate new.tsv --constrain auto --scores
  corate tag model.corate half-done.tsv --fixed label
  corate tag model.corate nodes.csv --edges edges.csv -o tagged.csv           nodes of graphs
"""

_MORE_EXAMPLES = """
\b
  tail -f stream.tsv | corate tag model.corate
  corate tag model.corate new.tsv --only-sure 0.9
  corate tag model.corate nodes.csv --edges edges.csv --fixed topic           labels in a column are kept
"""

_PANEL = "Probabilities and constraints"


@command(
    "tag",
    _EXAMPLES,
    everyday="output format to columns scores nbest only_sure constrain threads quiet",
    more_examples=_MORE_EXAMPLES,
)
class Tag(Run):
    """Label text.

    Columns are copied, and the label is added as the last column. In CoNLL-U, labels are replaced. Columns, CoNLL-U and
    plain text are tagged in chunks. So files may be larger than memory, and the output of a pipe appears without delay.
    Other formats are read completely first. Nodes in a CSV file get a column, predicted; labels in it are not read.
    """

    model: str = MODEL
    file: str = argument("[FILE]", "Text to tag; - is standard input, the default.", default="-")
    output: str | None = option("--output,-o OUT", "Where to write. Default: standard output.")
    reading: Reading = reading_options(
        "columns",
        "encoding",
        "separator",
        "comment",
        "label",
        "edges",
        "edge_numbers",
        "label_names",
        "max_sentence",
        format=option(
            "--format,-f",
            "The format. text: one sentence per line, with spaces between tokens. raw: a tokeniser splits each line. "
            "auto: detect it, except raw.",
            default="auto",
            choices=("auto", *FORMATS),
        ),
    )
    to: str = option(
        "--to",
        "The output format. auto: columns for columns, text and raw, otherwise the input format.",
        default="auto",
        choices=("auto", *LABELLED),
    )
    nbest: int | None = option(
        "--nbest N",
        "Write the N best labellings of each sentence. A line '# RANK PROBABILITY' precedes each labelling.",
        least=1,
        panel=_PANEL,
    )
    scores: bool = option("--scores", "Add the probability of each label as a column.", panel=_PANEL)
    constrain: str | None = option(
        "--constrain",
        "Allow only label sequences that are valid in this scheme. auto: the model's.",
        choices=("auto", *SCHEMES),
        panel=_PANEL,
    )
    only_sure: float | None = option(
        "--only-sure P",
        "Write _ for labels less probable than P; Label Studio: omit the span.",
        least=0,
        most=1,
        panel=_PANEL,
    )
    fixed: str | None = option(
        "--fixed COLUMN",
        "The name or number of a column with known labels, which are kept. Tokens with _ or nothing in this column are "
        "labelled by the model.",
        panel=_PANEL,
    )
    threads: int = THREADS
    quiet: bool = QUIET

    def run(self) -> None:
        """Run the command."""
        refuse_inputs(self.output, {"the model itself": self.model})
        from corate.model.tagged_text import Questions, TextOptions, tagged_blocks

        is_utf8, encoding, name = (
            check_encoding(self.reading.encoding) == "utf-8",
            self.reading.encoding,
            name_of(self.file),
        )
        if self.file == "-" and sys.stdin is not None and sys.stdin.isatty() and not self.quiet:
            print("corate: reading from the keyboard; end with a blank line and Ctrl-D", file=sys.stderr)
        tagger = load_model(self.model, self.file)
        check_edges_given(tagger, self.reading.edges)
        if self.file != "-" and not os.path.exists(self.file):
            raise DataError(
                f"no such file: {self.file}; to tag words, pipe them in: echo WORDS | corate tag {self.model}"
            )
        text = TextOptions(to=self.to, threads=self.threads, **self.reading.text_options(name))
        asked = Questions(self.nbest, self.scores, self.constrain, self.only_sure, self.fixed)
        shown = self.output in (None, "-") and is_terminal()  # a bar would disturb the text
        bar = ProgressBar(self.quiet or shown, waits=self.file == "-")
        with bar as progress, open_blocks(self.file) as read_blocks, open_output(self.output) as sink:
            blocks = refuse_nul(utf8(_with_progress(read_blocks, progress), encoding, name), name)
            try:
                if is_file_of_edges(self.reading.edges):
                    tagged = self._tagged_nodes(tagger, NamedBytes(b"".join(blocks), name), asked)
                else:
                    tagged = tagged_blocks(
                        tagger, blocks, text, asked, interactive=self.file == "-", progress=progress.show
                    )
            except ConfigError as error:
                hint = None if error.option is None else f"--{error.option.replace('_', '-')}"
                raise click.BadParameter(error.worded(as_option), param_hint=hint) from None
            if shown:
                tagged = (escaped(piece.decode().replace("\r\n", "\n")).encode() for piece in tagged)
            for piece in tagged if is_utf8 else encoded(map(bytes.decode, tagged), encoding, name):
                sink.write(piece)
                if self.file == "-":
                    sink.flush()

    def _tagged_nodes(self, tagger: Tagger, nodes: NamedBytes, asked: Questions) -> Iterator[bytes]:
        """The file of nodes with their labels."""
        from corate.model.tagged_graphs import tagged_nodes

        if self.to != "auto":
            raise ConfigError("files of nodes are written as CSV; omit this option", option="to")
        corpus = self.reading.read(NamedBytes(nodes.getvalue(), nodes.name), tagger, labelled=False)
        between = self.reading.separator_text()
        return iter([tagged_nodes(tagger, nodes, corpus, asked, separator=between, threads=self.threads)])


def _with_progress(blocks: Iterator[tuple[bytes, float | None]], progress: ProgressBar) -> Iterator[bytes]:
    tagged_share = 0.0
    for block, read_share in blocks:
        progress("tagging", None if read_share is None else tagged_share)
        yield block
        tagged_share = read_share or 0.0
