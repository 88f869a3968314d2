"""``corate active``: the sentences of unlabelled text that are most worth labelling."""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from corate.arguments import MOST_TOKENS
from corate.cli import shared_options as options
from corate.cli.exits import silence_warnings
from corate.cli.shared_options import Reading, one_of
from corate.cli.terminal import ProgressBar, counted, escaped, is_terminal
from corate.errors import DataError
from corate.formats.registry import FORMATS
from corate.io.streams import NamedBytes, bare_suffix, joined, name_of, save, text_blocks

if TYPE_CHECKING:
    from corate.formats.format import Format

__all__ = ["EXAMPLES", "active"]

EXAMPLES = """\
Examples:

\b
  corate active model.corate unlabelled.txt -n 100 > to-label.txt
  corate active model.corate unlabelled.tsv -n 50 --by entropy -o to-label.tsv
  corate active model.corate notes.txt --format raw --by diverse
"""


def active(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Text without labels; - is standard input.")],
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many sentences to choose.")] = 100,
    by: Annotated[
        str,
        one_of(
            ("confidence", "entropy", "diverse"),
            "How to choose. confidence: the lowest probability of the best labels, relative to the length. entropy: "
            "the highest mean entropy of the labels of the tokens. diverse: like confidence, but a sentence is "
            "postponed if sentences that were chosen before have most of its unseen words.",
        ),
    ] = "confidence",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Where to write; - is standard output.")
    ] = "-",
    format: Annotated[
        str,
        one_of(
            ("auto", *FORMATS),
            "The format, as for corate tag; auto detects all formats except raw.",
            flags=("--format", "-f"),
        ),
    ] = "auto",
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    separator: options.Separator = None,
    comment: options.Comment = None,
    max_sentence: options.MaxSentence = MOST_TOKENS,
    quiet: options.Quiet = False,
) -> None:
    """Choose the sentences of unlabelled text that are most worth labelling.

    They are copied as they are, the best first. Label them, add them to the training text, and train again.
    """
    if os.path.exists(output) and os.path.exists(model) and os.path.samefile(model, output):
        raise typer.BadParameter(f"{output} is the model itself", param_hint="--output")
    from corate import formats
    from corate.evaluation.active import most_informative
    from corate.formats.detection import recognised
    from corate.formats.format import Writing
    from corate.formats.registry import format_of
    from corate.formats.sentence_limit import limited

    if quiet:
        silence_warnings()
    reading = Reading(columns=columns, encoding=encoding, separator=separator, comment=comment)
    with ProgressBar(quiet) as progress:
        progress("reading")
        tagger = options.load_model(model, file)
        name, blocks, found = name_of(file), text_blocks(file, encoding), format
        if format == "auto":
            found, blocks = recognised(blocks, name, bare_suffix(file), "unlabelled", comment)
        data = joined(limited(blocks, name, found, max_sentence, comment))
        corpus = formats.read(
            NamedBytes(data, name),
            format=found,
            columns=columns,
            separator=reading.separator_text(),
            comment=comment,
            labelled=False,
            layout=tagger.layout,
            max_sentence=max_sentence,
        )
        chosen = most_informative(tagger, corpus, n, by, progress=progress.show)
        kind = format_of(found)
        if kind.whole and kind.write is not None:
            text = kind.write(corpus.take(chosen), None, Writing())
        else:
            pieces = _sentences(data, kind, comment, len(corpus), name)
            end = "\n" if kind.blank_line is None else "\n\n"
            text = "".join(pieces[s].decode().rstrip("\r") + end for s in chosen.tolist())
    save(escaped(text) if output == "-" and is_terminal() else text, output, encoding)
    if len(chosen) < n and not quiet:
        typer.echo(f"corate: the text has only {counted(len(chosen), 'sentence')}", err=True)


def _sentences(data: bytes, format: Format, comment: str | None, n: int, name: str) -> list[bytes]:
    """The lines of each sentence, as they are in the text."""
    from corate.formats.lines import words_of

    prefix = (comment or format.comment or "\n").encode()

    def has_tokens(line: bytes) -> bool:
        return bool(words_of(line.decode()) if format.name == "raw" else line.strip(b" \t\r"))

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
