"""``corate update``: add labelled text to a model without training it again."""

from __future__ import annotations

import os
import time
from typing import Annotated, Any

import typer

from corate.cli import shared_options as options
from corate.cli.exits import silence_warnings
from corate.cli.shared_options import Reading, with_reading_options
from corate.cli.terminal import ProgressBar, counted, print_json, size
from corate.cli.train import described
from corate.io.atomic import check_writable

__all__ = ["EVERYDAY", "EXAMPLES", "update"]

EXAMPLES = """\
Examples:

\b
  corate update model.corate more.tsv
  corate update model.corate more.tsv -o larger.corate --json
  zcat today.tsv.gz | corate update model.corate - --quiet
"""

#: The options that ``--help`` shows.
EVERYDAY = ("output", "half", "columns", "format", "json", "quiet")


@with_reading_options
def update(
    reading: Reading,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="More labelled text; - is standard input.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="MODEL2", help="The model file to write. Default: replace MODEL."),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store weights in 16 bits, for a smaller model.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Update a model with more labelled text.

    The counts of the new text are added to those in the model; tuned settings do not change. Words and labels may be
    new. Only models of empirical can be updated, unless they were written with --no-counts. To train other models
    further, except those of memm, use corate train --init.
    """
    target = model if output is None else output
    if file != "-" and os.path.exists(target) and os.path.exists(file) and os.path.samefile(file, target):
        raise typer.BadParameter(f"{target} is the text file itself", param_hint="--output")

    if quiet:
        silence_warnings()
    start = time.perf_counter()
    check_writable(target)
    with ProgressBar(quiet) as progress:
        progress("reading")
        old = options.load_model(model, file)
        corpus = reading.read_labelled(file, old)
        progress("learning")
        tagger = old.update(corpus)
        progress("saving")
        tagger.save(target, half=half)
    result = described(tagger.record, target)
    result["added"] = {key: result[key] - old.record[key] for key in ("sentences", "tokens", "labels", "features")}
    result["seconds_total"] = time.perf_counter() - start
    if json:
        print_json(result)
    elif not quiet:
        _show(result)


def _show(result: dict[str, Any]) -> None:
    added = result["added"]
    print(
        f"{counted(added['sentences'], 'sentence')}, {counted(added['tokens'], 'token')} and "
        f"{counted(added['labels'], 'label')} more, {counted(result['tokens'], 'token')} in all, "
        f"in {result['seconds_total']:.2f} s"
    )
    print(f"model: {result['model']}, {size(result['bytes'])}, {result['bytes_per_token']:.1f} bytes a token")
