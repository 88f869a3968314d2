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
from corate.cli.methods import POLISHED_BASES, check_options, label_weights, panel_of, settings_of, told_for
from corate.cli.options import Docstart, Format, Reading, one_of
from corate.cli.terminal import Progress, count, percent, print_json, size, told
from corate.io.atomic import check_writable
from corate.training import METHODS
from corate.training.chains import LATTICES, ORDERS, TRANSITIONS
from corate.training.empirical import LADDERS
from corate.training.separate import COUPLINGS, OPTIMIZERS

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
  corate train train.tsv -o model.corate --method separate --set passes=5 --set sigma2=0.5
  corate train train.tsv -o model.corate --method separate --features paper --base none --coupling joint
  corate train train.tsv -o model.corate --method standard --set c2=0.1 --transitions seen --no-boundaries
  corate train train.tsv -o small.corate --method standard --set c1=1 --half

\b
  corate compare train.tsv --test test.tsv          which method is for this text?
"""

_COUNTING = panel_of("Counting", "ladder")
_FITTING = panel_of("Fitting weights", "optimizer")
_SENTENCES = panel_of("Training on whole sentences", "lattice")
_FILE = "Model file"


def _choice(argument: str, names: Sequence[str], help: str, panel: str) -> Any:
    return one_of(names, told_for(argument, help, panel), panel)


def _text(argument: str, metavar: str, help: str, panel: str) -> Any:
    return typer.Option(metavar=metavar, help=told_for(argument, help, panel), rich_help_panel=panel)


def train(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Labelled text; - is standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="Where the model is written.")],
    method: Annotated[
        str,
        one_of(
            METHODS,
            "polish: counts, then a few passes over whole sentences. empirical: counts only. separate: fits each "
            "factor by itself. standard: a CRF, trained to its optimum. piecewise, memm, perceptron: other losses.",
        ),
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
        typer.Option(metavar="FILE", help="Tune on this file and stop by it, never train on it."),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Measure the new model on this file as corate eval does.")
    ] = None,
    all_labels: Annotated[
        bool, typer.Option("--all-labels", help="Let every word take every label, not only those likely for it.")
    ] = False,
    many_labels: options.ManyLabels = False,
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
        str | None,
        _choice("ladder", LADDERS, "What node scores are counted from. Unset, held-out data decides.", _COUNTING),
    ] = None,
    base: Annotated[
        str | None,
        _choice(
            "base",
            POLISHED_BASES,
            "What nodes start from: an empirical ladder, nothing, or (polish only) a separate model that is trained "
            "first.",
            _FITTING,
        ),
    ] = None,
    coupling: Annotated[
        str | None,
        _choice("coupling", COUPLINGS, "How pairs are fitted: given the nodes, or apart as in the paper.", _FITTING),
    ] = None,
    optimizer: Annotated[
        str | None,
        _choice(
            "optimizer",
            OPTIMIZERS,
            "Stochastic steps or L-BFGS. Unset, the method's own; polish has adagrad only.",
            _FITTING,
        ),
    ] = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help=told_for("tune", "Search for the priors, the weight of the base and the cut-off, too.", _FITTING),
            rich_help_panel=_FITTING,
        ),
    ] = False,
    checkpoint: Annotated[
        str | None,
        _text(
            "checkpoint", "FILE", "Write this file after every stochastic pass; go on from it if it is there.", _FITTING
        ),
    ] = None,
    label_weight: Annotated[
        list[str] | None,
        _text(
            "label_weights",
            "LABEL=WEIGHT",
            "How much tokens of a label count, 1 if not said; may be repeated.",
            _FITTING,
        ),
    ] = None,
    init: Annotated[
        str | None,
        _text(
            "init",
            "MODEL",
            "Train this model further: its features are kept, its weights are where to start.",
            _SENTENCES,
        ),
    ] = None,
    unknown: Annotated[
        str | None,
        _text("unknown", "LABEL", "The label of tokens whose label is not known; they may then have any.", _SENTENCES),
    ] = None,
    lattice: Annotated[
        str | None,
        _choice(
            "lattice",
            LATTICES,
            "Sum over every label everywhere, or over those likely for a word. Unset, the method's own.",
            _SENTENCES,
        ),
    ] = None,
    transitions: Annotated[
        str | None,
        _choice(
            "transitions", TRANSITIONS, "Which label pairs have a weight: all, or those seen. Unset, all.", _SENTENCES
        ),
    ] = None,
    no_boundaries: Annotated[
        bool,
        typer.Option(
            "--no-boundaries",
            help=told_for(
                "boundaries", "Give the start and the end of a sentence no weights, as CRFsuite does.", _SENTENCES
            ),
            rich_help_panel=_SENTENCES,
        ),
    ] = False,
    order: Annotated[
        int | None,
        typer.Option(
            min=min(ORDERS),
            max=max(ORDERS),
            metavar="N",
            help=told_for(
                "order",
                "2: three labels in a row have a weight, too; 1: pairs alone. Unset, 2 for polish with many labels.",
                _SENTENCES,
            ),
            rich_help_panel=_SENTENCES,
        ),
    ] = None,
    drop_rare: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Leave out word pairs and other conjunctions seen less than N times: smaller. For empirical; with the "
            "others, --set cutoff=N.",
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

    Ctrl-C, once a pass or an iteration is done, ends training early and writes the model reached so far (polish,
    separate and the other methods that fit weights).
    """
    own: dict[str, Any] = {
        "features": features,
        "ladder": ladder,
        "base": base,
        "coupling": coupling,
        "optimizer": optimizer,
        "settings": settings_of(method, settings or []),
        "tune": tune or None,
        "checkpoint": checkpoint,
        "label_weights": label_weights(label_weight or []),
        "init": init,
        "unknown": unknown,
        "lattice": lattice,
        "transitions": transitions,
        "boundaries": False if no_boundaries else None,
        "order": order,
        "all_labels": all_labels or None,
        "many_labels": many_labels or None,
    }
    given = {name: value for name, value in own.items() if value is not None}
    check_options(method, given)
    if drop_rare > 1 and method != "empirical":
        raise typer.BadParameter(
            f"it is for --method empirical, not for {method}; use --set cutoff={drop_rare}", param_hint="--drop-rare"
        )
    _check_files(file, output, given)
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
        tagger = corate.train(
            corpus,
            method,
            held_out=held_out_corpus,
            threads=threads,
            seed=seed,
            progress=progress,
            **given,
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
        _show(result, chosen=tune or bool(settings), judged=held_out is not None)


def _check_files(file: str, output: str, given: dict[str, Any]) -> None:
    """Refuse files that would overwrite each other; a model may be trained further in its place."""
    if _same(file, output):
        raise typer.BadParameter(f"{output} is the training file itself", param_hint="--output")
    checkpoint = given.get("checkpoint")
    if checkpoint is None:
        return
    others = {"training file": file, "model file": output, "model to start from": given.get("init", "-")}
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
