"""``corate train``: labelled text in, a model file out."""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.cli import options
from corate.cli.evaluate import measure, one_line
from corate.cli.exits import hush
from corate.cli.methods import chosen_method, name_methods, with_method_options
from corate.cli.options import Docstart, Format, Reading, one_of
from corate.cli.terminal import ProgressBar, count, percent, print_json, size, told
from corate.io.atomic import check_writable
from corate.training.options import METHODS

if TYPE_CHECKING:
    from corate import Tagger

__all__ = ["EXAMPLES", "described", "train"]

EXAMPLES = """\
Examples:

\b
  corate train train.tsv -o model.corate
  corate train train.tsv -o model.corate --test test.tsv --json > scores.json
  corate train ned.train.gz -o ned.corate --columns word,pos,label --features ner --docstart drop
  corate train train.tsv -o model.corate --features 'word[0], word[-1]|word[0], suffix(word[0], 3)'
  cat part-*.tsv | corate train - -o model.corate --quiet

\b
  corate train train.tsv -o model.corate --held-out dev.tsv --tune --threads 2
  corate train more.tsv -o model2.corate --init model.corate
  corate train partly.tsv -o model.corate --unknown '?'
  corate train large.tsv -o model.corate --checkpoint large.checkpoint
  corate train train.tsv -o model.corate --order 2          three labels in a row have weights, too

\b
  corate train brown.txt -o brown.corate --method empirical --ladder paper --format slashed
  corate train train.tsv -o model.corate --method separate --passes 5 --sigma2 0.5
  corate train train.tsv -o model.corate --method separate --features paper --base none --coupling joint
  corate train train.tsv -o model.corate --method standard --c2 0.1 --transitions seen --no-boundaries
  corate train train.tsv -o small.corate --method standard --c1 1 --half

\b
  corate compare train.tsv --test test.tsv          which method is for this text?
"""

_FILE = "Model file"
_INIT_METHODS = [name for name, method in METHODS.items() if method.takes_init]


@with_method_options
def train(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Labelled text; - is standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="Where the model is written.")],
    method: Annotated[
        str,
        one_of(
            tuple(METHODS),
            "polish: counts, then a few passes over whole sentences. empirical: counts only. separate: fits each "
            "factor by itself. standard: a CRF, trained to its optimum. piecewise, memm, perceptron: other losses.",
        ),
    ] = next(iter(METHODS)),
    features: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE|TEMPLATES",
            help="paper, pos, ner or chunking; a file of templates, CRF++'s too; or templates with commas between. "
            "Unset, the method's own.",
        ),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tune on this file and stop by it, never train on it."),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Measure the new model on this file as corate eval does.")
    ] = None,
    init: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help=f"Train this model further, with its features. For {name_methods(_INIT_METHODS)}.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Deprecated: --set passes=5 is --passes 5.", hidden=True),
    ] = None,
    threads: options.Threads = 1,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    drop_rare: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Leave out word pairs and other conjunctions seen less than N times: smaller. For empirical; with the "
            "others, --cutoff N.",
            rich_help_panel=_FILE,
        ),
    ] = 0,
    no_counts: Annotated[
        bool,
        typer.Option("--no-counts", help="Leave out what only later updates need: smaller.", rich_help_panel=_FILE),
    ] = False,
    half: Annotated[
        bool, typer.Option("--half", help="Store weights in 16 bits: smaller.", rich_help_panel=_FILE)
    ] = False,
    format: options.FormatOption = Format.auto,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    separator: options.Separator = None,
    comment: options.Comment = None,
    docstart: options.DocstartOption = Docstart.keep,
    skip_bad: options.SkipBad = False,
    **given: Any,
) -> None:
    """Train on labelled text and write a model file.

    Ctrl-C, once a pass or an iteration is done, ends training early and writes the model reached so far (polish,
    separate and the other methods that fit weights).
    """
    chosen = chosen_method(method, given, settings or [], features=features, init=init)
    checkpoint = given["checkpoint"]
    if drop_rare > 1 and method != "empirical":
        raise typer.BadParameter(
            f"it is for --method empirical, not for {method}; use --cutoff {drop_rare}", param_hint="--drop-rare"
        )
    _check_files(file, output, checkpoint, init)
    for name, other in (("held-out", held_out), ("test", test)):
        if other is not None and _same(other, output):
            raise typer.BadParameter(f"{output} is the {name} file itself", param_hint="--output")
    import corate

    if quiet:
        hush()
    start = time.perf_counter()
    check_writable(output)
    if checkpoint is not None:
        check_writable(checkpoint)
    reading = Reading(format, columns, encoding, separator, comment, docstart, skip_bad)
    with ProgressBar(quiet) as progress:
        progress("reading")
        corpus = reading.read(file)
        held_out_corpus = None if held_out is None else reading.read(held_out, corpus.layout)
        test_corpus = None if test is None else reading.read(test, corpus.layout)
        read = time.perf_counter()
        tagger = corate.train(
            corpus,
            chosen,
            features=features,
            held_out=held_out_corpus,
            init=init,
            threads=threads,
            seed=seed,
            progress=progress.show,
        )
        progress("saving")
        tagger.save(output, counts=not no_counts, half=half, rare=drop_rare)
        result = described(tagger, output)
        if test_corpus is not None:
            progress("testing")
            result["test"], _ = measure(tagger, test_corpus, threads)
    if no_counts and tagger.counts is None:
        warnings.warn(f"--no-counts changes nothing: a model of {method} holds no counts", stacklevel=2)
    if result.get("interrupted"):
        warnings.warn(f"interrupted: {output} holds the model reached so far", stacklevel=2)
    result["seconds_reading"] = read - start
    result["seconds_total"] = time.perf_counter() - start
    if json:
        print_json(result)
    elif not quiet:
        _show(result, chosen=chosen != METHODS[method](), judged=held_out is not None)


def _check_files(file: str, output: str, checkpoint: str | None, init: str | None) -> None:
    """Refuse files that would overwrite each other; a model may be trained further in its place."""
    if _same(file, output):
        raise typer.BadParameter(f"{output} is the training file itself", param_hint="--output")
    if checkpoint is None:
        return
    others = {"training file": file, "model file": output, "model to start from": init or "-"}
    for called, other in others.items():
        if _same(checkpoint, other):
            raise typer.BadParameter(f"{checkpoint} is the {called} itself", param_hint="--checkpoint")


def _same(a: str, b: str) -> bool:
    """Whether two arguments name one file, be it there or not."""
    if "-" in (a, b):
        return False
    if os.path.exists(a) and os.path.exists(b):
        return os.path.samefile(a, b)
    return os.path.realpath(a) == os.path.realpath(b)


def described(tagger: Tagger, output: str) -> dict[str, Any]:
    """What ``--json`` prints of a tagger that was written to a file: its record, and the file's size."""
    result = dict(tagger.record)
    n_bytes = os.stat(output).st_size
    return {**result, "model": output, "bytes": n_bytes, "bytes_per_token": n_bytes / max(1, result["tokens"])}


def _show(result: dict[str, Any], *, chosen: bool, judged: bool) -> None:
    """The few lines that people get: settings where some were chosen, held-out accuracy where a file was given."""
    print(
        f"{result['method']}: {count(result['sentences'])} sentences, {count(result['tokens'])} tokens, "
        f"{count(result['labels'])} labels, trained in {result['seconds']:.2f} s, "
        f"{result['seconds_total']:.2f} s in all"
    )
    print(f"model: {result['model']}, {size(result['bytes'])}, {result['bytes_per_token']:.1f} bytes a token")
    if chosen:
        print(f"settings: {told(result['settings'])}")
    held_out = result["held_out"].get("accuracy")
    if judged and held_out is not None:
        print(f"held-out: accuracy {percent(held_out)}")
    if "test" in result:
        print(f"test: {one_line(result['test'])}")
