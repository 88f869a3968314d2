"""``corate tag``: add labels to text, one chunk at a time."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from corate.arguments import MOST_TOKENS
from corate.cli import shared_options as options
from corate.cli.shared_options import Reading
from corate.cli.tag_answers import (
    Asked,
    Constrain,
    Fixed,
    NBest,
    OnlySure,
    Scores,
    tag_corpus,
    tag_rows,
    tag_spans,
)
from corate.cli.terminal import ProgressBar, escaped, is_terminal
from corate.errors import DataError
from corate.formats.registry import FORMATS
from corate.formats.rows import FIELD, RowFormat, first_row
from corate.io.chunks import cut_at_blank_lines, cut_at_lines, open_blocks, refuse_nul
from corate.io.encodings import check_encoding, encoded, utf8
from corate.io.streams import NamedBytes, bare_suffix, name_of, open_output

if TYPE_CHECKING:
    from corate import Tagger

__all__ = ["EVERYDAY", "EXAMPLES", "tag"]

EXAMPLES = """\
Examples:

\b
  corate tag model.corate new.tsv > tagged.tsv
  corate tag model.corate huge.tsv.gz -o tagged.tsv.gz --threads 4
  echo 'Ann Lee , 12 Oak St , Boston' | corate tag model.corate --format text
  echo 'Ann Lee lives in Boston.' | corate tag model.corate --format raw      splits off the punctuation
  corate tag model.corate new.conllu --label upos -o tagged.conllu
  corate tag model.corate tasks.json -o pre-annotated.json                    tasks of Label Studio
  tail -f stream.tsv | corate tag model.corate
  corate tag model.corate new.tsv --nbest 5
  corate tag model.corate new.tsv --constrain auto --scores
  corate tag model.corate new.tsv --only-sure 0.9
  corate tag model.corate half-done.tsv --fixed label
"""

#: The options that ``--help`` shows.
EVERYDAY = (
    *("output", "format", "to", "columns"),
    *("scores", "nbest", "only_sure", "constrain", "threads", "quiet"),
)


_HEAD_BYTES = 1 << 16

#: The formats that have a place for labels.
_WRITTEN = ("auto", *(name for name, entry in FORMATS.items() if entry.labelled))


def tag(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Text to tag; - is standard input.")] = "-",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="Where to write. Default: standard output.")
    ] = None,
    format: Annotated[
        str,
        options.one_of(
            ("auto", *FORMATS),
            "The format. text: one sentence per line, with spaces between tokens. raw: a tokeniser splits each "
            "line. auto: detect it, except raw.",
            flags=("--format", "-f"),
        ),
    ] = "auto",
    to: Annotated[
        str,
        options.one_of(
            _WRITTEN, "The output format. auto: columns for columns, text and raw, otherwise the input format."
        ),
    ] = "auto",
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    separator: options.Separator = None,
    comment: options.Comment = None,
    label: options.Label = None,
    label_names: options.LabelNames = None,
    nbest: NBest = None,
    scores: Scores = False,
    constrain: Constrain = None,
    only_sure: OnlySure = None,
    fixed: Fixed = None,
    max_sentence: options.MaxSentence = MOST_TOKENS,
    threads: options.Threads = 1,
    quiet: options.Quiet = False,
) -> None:
    """Label text.

    Columns are copied, and the label is added as the last column. In CoNLL-U, labels are replaced. Columns, CoNLL-U and
    plain text are tagged in chunks. So files may be larger than memory, and the output of a pipe appears without delay.
    Other formats are read completely first.
    """
    if output is not None and os.path.exists(output) and os.path.exists(model) and os.path.samefile(model, output):
        raise typer.BadParameter(f"{output} is the model itself", param_hint="--output")

    from corate.formats.sentence_limit import limited

    is_utf8 = check_encoding(encoding) == "utf-8"
    if file == "-" and sys.stdin is not None and sys.stdin.isatty() and not quiet:
        print("corate: reading from the keyboard; end with a blank line and Ctrl-D", file=sys.stderr)
    tagger = options.load_model(model, file)
    if file != "-" and not os.path.exists(file):
        raise DataError(f"no such file: {file}; to tag words, pipe them in: echo WORDS | corate tag {model}")
    name = name_of(file)
    shown = output in (None, "-") and is_terminal()  # a bar would disturb the text
    bar = ProgressBar(quiet or shown, waits=file == "-")
    with bar as progress, open_blocks(file) as read_blocks, open_output(output) as sink:

        def with_progress() -> Iterator[bytes]:
            tagged_share = 0.0
            for block, read_share in read_blocks:
                progress("tagging", None if read_share is None else tagged_share)
                yield block
                tagged_share = read_share or 0.0

        blocks = refuse_nul(utf8(with_progress(), encoding, name), name)
        read_already, first = _first_lines(blocks, interactive=file == "-")
        reading = Reading(
            "auto",
            columns,
            "utf-8",
            separator,
            comment,
            label=label,
            label_names=label_names,
            max_sentence=max_sentence,
        )
        layout = _layout(format, file, first, reading)
        written = _output_layout(layout, to)
        _check_label(reading, layout, written)
        asked = Asked(nbest, scores, constrain, only_sure, fixed)
        _check_asked(asked, layout, written)
        blocks = limited(chain(read_already, blocks), name, layout, max_sentence, comment)
        if layout == written == "conllu":
            tagged = _tag_conllu(tagger, blocks, label, name, threads)
        elif written != "columns" or layout not in ("columns", "text", "raw"):
            text = NamedBytes(b"".join(blocks), name)
            progress("tagging the whole text")
            tagged = _tag_whole(tagger, text, layout, written, reading, asked, threads)
        elif layout in ("text", "raw"):
            words_of = _raw_words if layout == "raw" else _words
            tagged = _tag_text(tagger, _rows_of_words(blocks, words_of, comment), asked, name, threads)
        else:
            tagged = _tag_columns(tagger, blocks, first, reading, asked, name, threads)
        if shown:
            tagged = (escaped(piece.decode().replace("\r\n", "\n")).encode() for piece in tagged)
        for piece in tagged if is_utf8 else encoded(map(bytes.decode, tagged), encoding, name):
            sink.write(piece)
            if file == "-":
                sink.flush()


def _first_lines(blocks: Iterator[bytes], *, interactive: bool) -> tuple[list[bytes], bytes]:
    """The first blocks, and their lines, to detect the format. ``interactive`` input needs only the first sentence."""
    read_already: list[bytes] = []
    seen = b""
    cut = -1
    for block in blocks:
        read_already.append(block)
        seen += block
        if len(seen) > _HEAD_BYTES or (interactive and (b"\n\n" in seen or b"\n\r\n" in seen)):
            cut = seen.rfind(b"\n", 0, _HEAD_BYTES)  # ignore an incomplete line
            break
    return read_already, seen[: cut + 1] if cut >= 0 else seen


def _layout(format: str, file: str, first: bytes, reading: Reading) -> str:
    """The given format, else the one of the file's suffix or its first lines. Plain text has one column only."""
    found = format
    if found == "auto":
        from corate.formats import detection

        known = detection.by_suffix(bare_suffix(file))
        found = known or detection.detect(first, name_of(file), comment=reading.comment, kind="unlabelled")
    if found in ("text", "raw") and len(reading.column_names() or ()) > 1:
        raise typer.BadParameter(
            f"{name_of(file)} is plain text, which has one column; omit this option, or say --format columns",
            param_hint="--columns",
        )
    return found


def _output_layout(layout: str, to: str) -> str:
    if to != "auto":
        return to
    return "columns" if layout in ("text", "raw") else layout


def _check_label(reading: Reading, layout: str, written: str) -> None:
    """Refuse options about labels that neither format has a use for."""
    from corate.formats.registry import takers

    if reading.label is not None and not takers("label").keys() & {layout, written}:
        raise typer.BadParameter(
            f"this option is for {' and '.join(takers('label').values())}; name the format with --format or --to",
            param_hint="--label",
        )
    if reading.label_names is not None and written != "jsonl":
        raise typer.BadParameter(
            "this option is for JSON lines; name the format with --to jsonl", param_hint="--label-names"
        )


def _check_asked(asked: Asked, layout: str, written: str) -> None:
    """Refuse options that the format has no place for."""
    option = asked.rows_only()
    if option is not None and (written != "columns" or layout not in ("columns", "text", "raw")):
        raise typer.BadParameter(
            f"this option is for columns and plain text, written as columns, not for {layout} written as "
            f"{written}; omit it, or give the text as columns",
            param_hint=option,
        )
    if asked and written == "conllu":
        raise typer.BadParameter(
            "CoNLL-U is written with the best labels only; omit this option, or write another format, such as jsonl, "
            "with --to",
            param_hint="--constrain" if asked.scheme else "--only-sure",
        )


def _tag_columns(
    tagger: Tagger, blocks: Iterable[bytes], first: bytes, reading: Reading, asked: Asked, name: str, threads: int
) -> Iterator[bytes]:
    from corate.formats.columns import check_rows, separator_of, width_of
    from corate.formats.format import Options

    width = 0
    separator = reading.separator_text()
    if separator is None:
        separator = separator_of(first, Options(comment=reading.comment, labelled=False))
        row = first_row(first, reading.comment)
        width = width_of(row, separator) if b"\t" in row else 0  # without tabs, the separator is certain
    columns = reading.column_names() or _columns(tagger, first, separator, reading.comment, name)

    def pieces() -> Iterator[tuple[bytes, int]]:
        line = 1
        for piece in cut_at_blank_lines(blocks):
            if width and b" " in piece:
                check_rows(piece, separator, width, reading.comment, name, line)
            yield piece, line
            line += piece.count(b"\n")

    if asked:
        rows = RowFormat(columns or tagger.layout, separator, reading.comment or "")
        yield from tag_rows(tagger, pieces(), rows, asked, name, threads)
        return
    for piece, line in pieces():
        try:
            tagged, _ = tagger.tag_text(
                piece,
                columns=columns,
                separator=separator,
                comment=reading.comment,
                first_line=line,
                threads=threads,
            )
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        yield tagged


def _tag_conllu(tagger: Tagger, blocks: Iterable[bytes], label: str | None, name: str, threads: int) -> Iterator[bytes]:
    line = 1
    for piece in cut_at_blank_lines(blocks):
        try:
            tagged, _ = tagger.tag_conllu(piece, label=label, first_line=line, threads=threads)
        except DataError as error:
            raise DataError(f"{name}, {error}" if str(error).startswith("line ") else f"{name}: {error}") from None
        yield tagged
        line += piece.count(b"\n")


def _columns(
    tagger: Tagger, first: bytes, separator: str | None, comment: str | None, name: str
) -> tuple[str, ...] | None:
    """The columns of the text, from its first row."""
    try:
        return tagger.text_columns(first, separator, comment)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _words(line: bytes) -> list[bytes]:
    return FIELD.findall(line)


def _raw_words(line: bytes) -> list[bytes]:
    from corate.formats.lines import words_of

    return [word.encode() for word in words_of(line.decode())]


def _rows_of_words(
    blocks: Iterable[bytes], words_of: Callable[[bytes], list[bytes]], comment: str | None
) -> Iterator[bytes]:
    """Text with one sentence a line, as rows of one word."""
    skipped = comment.encode() if comment else b"\n"
    for piece in cut_at_lines(blocks):
        sentences = (words_of(line) for line in piece.split(b"\n") if not line.startswith(skipped))
        yield b"".join(b"\n".join(words) + b"\n\n" for words in sentences if words)


def _tag_text(tagger: Tagger, pieces: Iterable[bytes], asked: Asked, name: str, threads: int) -> Iterator[bytes]:
    from corate.formats.reading import word_of

    columns = [word_of(tagger.layout)]
    if asked:
        yield from tag_rows(tagger, ((text, 1) for text in pieces), RowFormat(columns, "\t", ""), asked, name, threads)
        return
    for text in filter(None, pieces):
        yield tagger.tag_text(text, columns=columns, threads=threads)[0]


def _tag_whole(
    tagger: Tagger,
    source: NamedBytes,
    layout: str,
    written: str,
    reading: Reading,
    asked: Asked,
    threads: int,
) -> Iterator[bytes]:
    from corate import formats
    from corate.formats.label_names import names_or_file
    from corate.formats.registry import format_of
    from corate.formats.writing import check_labels

    unwritable = format_of(written).unwritable
    if unwritable is not None:
        check_labels(tagger.labels, unwritable, written)
    corpus = formats.read(
        source,
        format=layout,
        columns=reading.columns,
        separator=reading.separator_text(),
        comment=reading.comment,
        labelled=False,
        layout=tagger.layout,
        label=reading.label if layout == "jsonl" else None,
        max_sentence=reading.max_sentence,
    )
    out = io.BytesIO()
    scores = None
    if "scores" in format_of(written).takes:
        labels, scores = tag_spans(tagger, corpus, asked, threads)
    else:
        labels = tag_corpus(tagger, corpus, asked, threads) if asked else tagger.tag_all(corpus, threads=threads)
    label = reading.label or (tagger.label_source if written == "conllu" else "") or None
    names = None if reading.label_names is None else names_or_file(reading.label_names)
    formats.write(corpus, out, format=written, labels=labels, label=label, label_names=names, scores=scores)
    yield out.getvalue()
