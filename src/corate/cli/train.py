"""``corate train``: labelled text in, a model file out."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.cli import options
from corate.cli.evaluate import measure, one_line
from corate.cli.exits import hush
from corate.cli.files import check_writable, named
from corate.cli.options import Docstart, Format, Reading, one_of
from corate.cli.terminal import Progress, count, print_json, size
from corate.errors import DataError
from corate.training import METHODS
from corate.training.empirical import LADDERS
from corate.training.ladder import LadderParameters
from corate.training.separate import BASES, COUPLINGS, OPTIMIZERS, SeparateParameters
from corate.training.tuning import named_settings

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

\b
  corate train train.tsv -o model.corate --method separate --threads 2
  corate train train.tsv -o model.corate --method separate --held-out dev.tsv --tune
  corate train train.tsv -o model.corate --method separate --set passes=5 --set sigma2=0.5
  corate train train.tsv -o model.corate --method separate --features paper --base none --coupling joint
  corate train large.tsv -o model.corate --method separate --checkpoint large.checkpoint
"""

_EMPIRICAL, _SEPARATE, _FILE = "Empirical training", "Separate training", "Model file"


def train(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Labelled text; - is standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="Where the model is written.")],
    method: Annotated[
        str, one_of(METHODS, "empirical counts, in a second; separate fits maximum entropy factors, in seconds.")
    ] = METHODS[0],
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
        typer.Option(metavar="FILE", help="Tune on this file, never train on it. Unset, parts of FILE are held out."),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Measure the new model on this file as corate eval does.")
    ] = None,
    all_labels: Annotated[
        bool, typer.Option("--all-labels", help="Let every word take every label, not only those likely for it.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change one of the settings that corate info shows; may be repeated."
        ),
    ] = None,
    threads: options.Threads = 1,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    ladder: Annotated[
        str | None, one_of(LADDERS, "What node scores are counted from. Unset, held-out data decides.", _EMPIRICAL)
    ] = None,
    base: Annotated[
        str | None, one_of(BASES, "The empirical ladder that node scores start from. Unset, default.", _SEPARATE)
    ] = None,
    coupling: Annotated[
        str | None,
        one_of(COUPLINGS, "How pairs are fitted: given the nodes, or apart as in the paper.", _SEPARATE),
    ] = None,
    optimizer: Annotated[
        str | None, one_of(OPTIMIZERS, "Stochastic steps (adagrad, the default), or L-BFGS.", _SEPARATE)
    ] = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Search for sigma2, edge_sigma2, temper and cutoff, too.", rich_help_panel=_SEPARATE
        ),
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write this file after every pass; go on from it if it is there.",
            rich_help_panel=_SEPARATE,
        ),
    ] = None,
    label_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=WEIGHT",
            help="How much tokens of a label count, 1 if not said; may be repeated.",
            rich_help_panel=_SEPARATE,
        ),
    ] = None,
    drop_rare: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Leave out word pairs and other conjunctions seen less than N times: smaller.",
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
) -> None:
    """Train on labelled text and write a model file.

    Ctrl-C during separate training, once a pass is done, ends it early and writes the model reached so far.
    """
    own: dict[str, Any] = {
        "ladder": ladder,
        "base": base,
        "coupling": coupling,
        "optimizer": optimizer,
        "settings": _settings(method, settings or []),
        "tune": tune or None,
        "checkpoint": checkpoint,
        "label_weights": _label_weights(label_weight or []),
    }
    given = {name: value for name, value in own.items() if value is not None}
    _check_usage(file, output, method, given)
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
    with Progress(quiet) as progress:
        progress("reading")
        corpus = reading.read(file)
        held_out_corpus = None if held_out is None else reading.read(held_out, corpus.layout)
        test_corpus = None if test is None else reading.read(test, corpus.layout)
        read = time.perf_counter()
        more: dict[str, Any] = {"all_labels": True} if all_labels else {}
        tagger = corate.train(
            corpus,
            method,
            features=features,
            held_out=held_out_corpus,
            threads=threads,
            seed=seed,
            progress=progress,
            **given,
            **more,
        )
        progress("saving")
        with named(output):
            tagger.save(output, counts=not no_counts, half=half, rare=drop_rare)
        result = described(tagger, output)
        if test_corpus is not None:
            progress("testing")
            result["test"], _ = measure(tagger, test_corpus, threads)
    if result.get("interrupted"):
        warnings.warn(f"interrupted: {output} holds the model reached so far", stacklevel=2)
    result["seconds_reading"] = read - start
    result["seconds_total"] = time.perf_counter() - start
    if json:
        print_json(result)
    elif not quiet:
        _show(result)


def _check_usage(file: str, output: str, method: str, given: dict[str, Any]) -> None:
    """Refuse options of another method, and files that would overwrite each other."""
    for name in given:
        owner = "empirical" if name == "ladder" else "separate"
        if method != owner and name != "settings":
            option = "--label-weight" if name == "label_weights" else f"--{name}"
            raise typer.BadParameter(f"it is for --method {owner}, not for {method}", param_hint=option)
    if _same(file, output):
        raise typer.BadParameter(f"{output} is the training file itself", param_hint="--output")
    checkpoint = given.get("checkpoint")
    if checkpoint is None:
        return
    if given.get("optimizer") == "lbfgs":
        raise typer.BadParameter("it is for --optimizer adagrad, not for lbfgs", param_hint="--checkpoint")
    for other, called in ((file, "training file"), (output, "model file")):
        if _same(checkpoint, other):
            raise typer.BadParameter(f"{checkpoint} is the {called} itself", param_hint="--checkpoint")


def _same(a: str, b: str) -> bool:
    """Whether two arguments name one file, be it there or not."""
    if "-" in (a, b):
        return False
    if os.path.exists(a) and os.path.exists(b):
        return os.path.samefile(a, b)
    return os.path.realpath(a) == os.path.realpath(b)


def _settings(method: str, texts: Sequence[str]) -> dict[str, float] | None:
    """The settings given with ``--set``, None without any.

    >>> _settings("separate", ["sigma2=0.5", "passes = 5"])
    {'sigma2': 0.5, 'passes': 5}
    """
    usual: Any = SeparateParameters() if method == "separate" else LadderParameters()
    found: dict[str, float] = {}
    for text in texts:
        name, _, written = (part.strip() for part in text.partition("="))
        try:
            value = float(written)
            whole = isinstance(getattr(usual, name, None), int)
            if whole and not value.is_integer():
                raise DataError(f"{name} is a whole number, not {written}")
            found |= named_settings(usual, {name: value})
        except DataError as error:
            raise typer.BadParameter(str(error), param_hint="--set") from None
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is no NAME=VALUE with a number, such as sigma2=0.5", param_hint="--set"
            ) from None
    return found or None


def _label_weights(texts: Sequence[str]) -> dict[str, float] | None:
    """The weights given with ``--label-weight``, None without any; a label may hold a "=" itself.

    >>> _label_weights(["O=0.5", "B-X=2"])
    {'O': 0.5, 'B-X': 2.0}
    """
    found: dict[str, float] = {}
    for text in texts:
        label, _, written = text.rpartition("=")
        try:
            found[label] = float(written)
        except ValueError:
            label = ""
        if not label:
            raise typer.BadParameter(f"{text!r} is no LABEL=WEIGHT, such as O=0.5", param_hint="--label-weight")
    return found or None


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
