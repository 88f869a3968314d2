"""``corate train``: labelled text in, a model file out."""

from __future__ import annotations

import os
import time
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.cli import options
from corate.cli.evaluate import measure, one_line
from corate.cli.exits import hush
from corate.cli.files import check_writable, named
from corate.cli.options import Docstart, Format, Reading
from corate.cli.terminal import Progress, count, print_json, size

if TYPE_CHECKING:
    from corate import Tagger

__all__ = ["EXAMPLES", "described", "train"]

EXAMPLES = """\
Examples:

\b
  corate train train.tsv -o model.corate
  corate train train.tsv -o model.corate --test test.tsv --json > scores.json
  corate train ned.train.gz -o ned.corate --columns word,pos,label --features ner --docstart drop
  corate train brown.txt -o brown.corate --format slashed --ladder paper
  corate train train.tsv -o model.corate --features 'word[0], word[-1]|word[0], suffix(word[0], 3)'
  cat part-*.tsv | corate train - -o model.corate --quiet
"""


class Method(str, Enum):
    """The ways to train."""

    empirical = "empirical"


class Ladder(str, Enum):
    """What stands behind a word never seen."""

    paper = "paper"
    default = "default"
    pooled = "pooled"


def train(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Labelled text; - is standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="Where the model is written.")],
    method: Annotated[Method, typer.Option(help="How to train.")] = Method.empirical,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE|TEMPLATES",
            help="paper, pos, ner or chunking; a file of templates, CRF++'s too; or templates with commas between.",
        ),
    ] = None,
    ladder: Annotated[
        Ladder | None, typer.Option(help="What node scores are counted from. Unset, held-out data decides.")
    ] = None,
    format: options.FormatOption = Format.auto,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    separator: options.Separator = None,
    comment: options.Comment = None,
    docstart: options.DocstartOption = Docstart.keep,
    skip_bad: options.SkipBad = False,
    held_out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tune on this file, never count it. Unset, a slice of FILE is set aside."),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Measure the new model on this file as corate eval does.")
    ] = None,
    no_counts: Annotated[
        bool, typer.Option("--no-counts", help="Leave out what only later updates need: a smaller model.")
    ] = False,
    half: Annotated[bool, typer.Option("--half", help="Store weights in 16 bits: a smaller model.")] = False,
    all_labels: Annotated[
        bool, typer.Option("--all-labels", help="Let every word take every label, not only those likely for it.")
    ] = False,
    threads: options.Threads = 1,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train on labelled text and write a model file."""
    if file != "-" and os.path.exists(output) and os.path.exists(file) and os.path.samefile(file, output):
        raise typer.BadParameter(f"{output} is the training file itself", param_hint="--output")
    import corate

    if quiet:
        hush()
    start = time.perf_counter()
    check_writable(output)
    reading = Reading(format, columns, encoding, separator, comment, docstart, skip_bad)
    with Progress(quiet) as progress:
        progress("reading")
        corpus = reading.read(file)
        held_out_corpus = None if held_out is None else reading.read(held_out, corpus.layout)
        test_corpus = None if test is None else reading.read(test, corpus.layout)
        read = time.perf_counter()
        more: dict[str, Any] = {"all_labels": True} if all_labels else {}
        tagger = corate.train(
            corpus,
            method.value,
            features=features,
            held_out=held_out_corpus,
            ladder=None if ladder is None else ladder.value,
            threads=threads,
            seed=seed,
            progress=progress,
            **more,
        )
        progress("saving")
        with named(output):
            tagger.save(output, counts=not no_counts, half=half)
        result = described(tagger, output)
        if test_corpus is not None:
            progress("testing")
            result["test"], _ = measure(tagger, test_corpus, threads)
    result["seconds_reading"] = read - start
    result["seconds_total"] = time.perf_counter() - start
    if json:
        print_json(result)
    elif not quiet:
        _show(result)


def described(tagger: Tagger, output: str) -> dict[str, Any]:
    """What ``--json`` prints of a tagger that was written to a file: its record, and the file's size."""
    result = dict(tagger.record)
    n_bytes = os.stat(output).st_size
    return {**result, "model": output, "bytes": n_bytes, "bytes_per_token": n_bytes / max(1, result["tokens"])}


def _show(result: dict[str, Any]) -> None:
    print(
        f"{result['method']}: {count(result['sentences'])} sentences, {count(result['tokens'])} tokens, "
        f"{count(result['labels'])} labels, trained in {result['seconds']:.2f} s, "
        f"{result['seconds_total']:.2f} s in all"
    )
    print(f"model: {result['model']}, {size(result['bytes'])}, {result['bytes_per_token']:.1f} bytes a token")
    if "test" in result:
        print(f"test: {one_line(result['test'])}")
