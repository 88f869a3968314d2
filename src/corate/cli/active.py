"""``corate active``: the sentences of unlabelled text that are most worth labelling."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

from corate.cli.commands import Run, argument, command, option
from corate.cli.graph_files import refuse_graphs
from corate.cli.shared_options import MODEL, QUIET, Reading, load_model, reading_options, refuse_inputs
from corate.cli.terminal import ProgressBar, counted, escaped, is_terminal
from corate.errors import DataError
from corate.formats.registry import FORMATS
from corate.io.streams import save

if TYPE_CHECKING:
    from corate.formats.format import Format

__all__ = ["Active"]

_EXAMPLES = """\
Examples:

\b
  corate active model.corate unlabelled.txt -n 100 > to-label.txt
  corate active model.corate unlabelled.tsv -n 50 --by entropy -o to-label.tsv
  corate active model.corate notes.txt --format raw --by diverse
"""


@command("active", _EXAMPLES)
class Active(Run):
    """Choose the sentences of unlabelled text that are most worth labelling.

    They are copied as they are, the best first. Label them, add them to the training text, and train again.
    """

    model: str = MODEL
    file: str = argument("FILE", "Text without labels; - is standard input.")
    n: int = option("-n N", "How many sentences to choose.", default=100, least=1)
    by: str = option(
        "--by",
        "How to choose. confidence: the lowest probability of the best labels, relative to the length. entropy: the "
        "highest mean entropy of the labels of the tokens. diverse: like confidence, but a sentence is postponed if "
        "sentences that were chosen before have most of its unseen words.",
        default="confidence",
        choices=("confidence", "entropy", "diverse"),
    )
    output: str = option("--output,-o OUT", "Where to write; - is standard output.", default="-")
    reading: Reading = reading_options(
        "columns",
        "encoding",
        "separator",
        "comment",
        "max_sentence",
        format=option(
            "--format,-f",
            "The format, as for corate tag; auto detects all formats except raw.",
            default="auto",
            choices=("auto", *FORMATS),
        ),
    )
    quiet: bool = QUIET

    def run(self) -> None:
        """Run the command."""
        refuse_inputs(self.output, {"the model itself": self.model})
        from corate.evaluation.active import most_informative
        from corate.formats.format import Writing
        from corate.formats.registry import format_of

        with ProgressBar(self.quiet) as progress:
            progress("reading")
            tagger = load_model(self.model, self.file)
            refuse_graphs(tagger, "corate tag --scores, which shows how probable the label of each node is")
            text, format = self.reading.text_and_format(self.file)
            corpus = self.reading.read(text, tagger, labelled=False, format=format)
            chosen = most_informative(tagger, corpus, self.n, self.by, progress=progress.show)
            kind = format_of(format)
            if kind.whole and kind.write is not None:
                written = kind.write(corpus.take(chosen), None, Writing())
            else:
                pieces = _sentences(text.getvalue(), kind, self.reading.comment, len(corpus), text.name)
                end = "\n" if kind.blank_line is None else "\n\n"
                written = "".join(pieces[s].decode().rstrip("\r") + end for s in chosen.tolist())
        save(escaped(written) if self.output == "-" and is_terminal() else written, self.output, self.reading.encoding)
        if len(chosen) < self.n and not self.quiet:
            print(f"corate: the text has only {counted(len(chosen), 'sentence')}", file=sys.stderr)


def _sentences(data: bytes, format: Format, comment: str | None, n: int, name: str) -> list[bytes]:
    """The lines of each sentence, as they are in the text."""
    prefix = (comment or format.comment or "\n").encode()

    def has_tokens(line: bytes) -> bool:
        return bool(line.strip(b" \t\r") if format.words is None else format.words(line))

    groups = [list(lines) for filled, lines in groupby(data.split(b"\n"), has_tokens) if filled]
    if format.blank_line is None:
        groups = [[line] for lines in groups for line in lines]
    pieces = [b"\n".join(lines) for lines in groups if not all(line.startswith(prefix) for line in lines)]
    if format.name == "jsonl" and len(pieces) == n + 1:
        pieces = pieces[1:]  # a first line with the names of labels
    if len(pieces) != n:
        raise DataError(
            f"{name}: {counted(n, 'sentence')} in {counted(len(pieces), 'piece')} of text; "
            "give them in the format 'text'"
        )
    return pieces
