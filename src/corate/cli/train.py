"""``corate train``: train on labelled text and write a model file."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.cli import shared_options as options
from corate.cli.exits import silence_warnings
from corate.cli.method_options import EXPERT, chosen_method, with_method_options
from corate.cli.shared_options import Reading, one_of, with_reading_options
from corate.cli.terminal import ProgressBar, counted, percent, print_json, print_line, size, told
from corate.io.atomic import check_writable, partial_of
from corate.spans import SCHEMES
from corate.training.options import METHODS

if TYPE_CHECKING:
    from corate.progress import ProgressEvent

__all__ = ["EVERYDAY", "EXAMPLES", "MORE_EXAMPLES", "described", "train"]

EXAMPLES = """\
Examples:

\b
  corate train train.tsv -o model.corate
  corate train train.tsv -o model.corate --test test.tsv --json > scores.json
  corate train ned.train.gz -o ned.corate --columns word,pos,label --features ner --docstart drop
  corate train train.tsv -o model.corate --features 'word[0], word[-1]|word[0], suffix(word[0], 3)'
  corate train en-train.conllu -o en.corate --label upos+feats --test en-test.conllu
  cat part-*.tsv | corate train - -o model.corate --quiet
  corate compare train.tsv --test test.tsv          which method suits this text?
"""

MORE_EXAMPLES = """
\b
  corate train train.tsv -o model.corate --held-out dev.tsv --tune --threads 2
  corate train train.tsv -o model.corate --held-out dev.tsv --calibrate      probabilities that match accuracy
  corate train more.tsv -o model2.corate --init model.corate
  corate train train.tsv -o model.corate --raw news.txt.gz --raw books.txt      word classes from text without labels
  corate train partly.tsv -o model.corate --unknown '?'
  corate train large.tsv -o model.corate --checkpoint large.checkpoint
  corate train train.tsv -o model.corate --order 2          also weights for label triples

\b
  corate train brown.txt -o brown.corate --method empirical --ladder paper --format slashed
  corate train train.tsv -o model.corate --method separate --passes 5 --sigma2 0.5
  corate train train.tsv -o model.corate --method separate --features paper --base none --coupling joint
  corate train train.tsv -o model.corate --method standard --c2 0.1 --transitions seen --no-boundaries
  corate train train.tsv -o small.corate --method standard --c1 1 --half
"""

#: The options that ``--help`` shows.
EVERYDAY = (
    *("output", "method", "features", "held_out", "test", "init"),
    *("columns", "format", "threads", "json", "quiet"),
)

_FILE = "Smaller model files"
_LARGE = "Text larger than memory"
_INIT_METHODS = [name for name, method in METHODS.items() if "init" in method.places]


@with_method_options
@with_reading_options
def train(
    reading: Reading,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Labelled text; - is standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    method: Annotated[
        str,
        one_of(
            tuple(METHODS),
            "The training method. polish: counts, then trains a CRF in a few passes. empirical: only counts. separate: "
            "fits each factor separately. standard: trains a CRF to convergence. piecewise, memm, perceptron: other "
            "losses.",
        ),
    ] = next(iter(METHODS)),
    features: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE|TEMPLATES",
            help="A preset (paper, pos, ner or chunking), a template file (also of CRF++), or templates separated by "
            "commas or semicolons. A preset can be one of them: 'ner; word[2]'. Default: depends on the method and the "
            "labels.",
        ),
    ] = None,
    raw: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Text without labels, one sentence per line. Word classes are learned from it and used as "
            "additional features. Can be given several times.",
        ),
    ] = None,
    raw_classes: Annotated[
        list[int] | None,
        typer.Option(
            min=2,
            metavar="N",
            help="The number of word classes that --raw learns; can be given several times. Default: 32, 64, 128 and "
            "256.",
        ),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Labelled text for tuning and early stopping. It is not trained on."),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Fit a temperature on held-out text, so that probabilities match accuracy. Labels do not change. "
            "Without --held-out, another model is trained without a tenth of the sentences, and the temperature is "
            "fitted on these, so training takes twice as long. Not for memm.",
        ),
    ] = False,
    constrain: Annotated[
        str | None,
        one_of(
            ("auto", *SCHEMES),
            "Train a model that returns only label sequences that are valid in this scheme. auto: the scheme of the "
            "training text.",
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Evaluate the new model on this file, like corate eval.")
    ] = None,
    init: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Train this model further, with its features. It may be of any method except memm. For --method "
            f"{', '.join(_INIT_METHODS)}.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=f"Set an option that few users need: {', '.join(EXPERT)}. Can be given several times.",
        ),
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
            help="Omit word pairs and other combined features seen fewer than N times. For empirical; for other "
            "methods, use --cutoff N.",
            rich_help_panel=_FILE,
        ),
    ] = 0,
    no_counts: Annotated[
        bool,
        typer.Option("--no-counts", help="Omit the counts, which only corate update needs.", rich_help_panel=_FILE),
    ] = False,
    half: Annotated[bool, typer.Option("--half", help="Store weights in 16 bits.", rich_help_panel=_FILE)] = False,
    keep_partial: Annotated[
        bool,
        typer.Option(
            "--keep-partial",
            help="If Ctrl-C ends training early, write the model reached so far to MODEL, and continue with it. Exit "
            "code 0.",
        ),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Use at most this much memory, such as 500M or 2G. Larger text is read in pieces and stored on disk. "
            "This is possible for polish, separate, empirical and perceptron, and for other methods with --optimizer "
            "adagrad. Default: half of the free memory.",
            rich_help_panel=_LARGE,
        ),
    ] = None,
    temporary: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder for temporary files of large text. Default: the folder of the model.",
            rich_help_panel=_LARGE,
        ),
    ] = None,
    **given: Any,
) -> None:
    """Train on labelled text and write a model file.

    Ctrl-C after the first pass or iteration saves the model so far as MODEL.partial, with exit code 130. With
    --keep-partial, it writes MODEL.
    """
    chosen = chosen_method(method, given, settings or [], features=features, init=init, raw=raw)
    if raw_classes and not raw:
        raise typer.BadParameter("this option is for --raw FILE", param_hint="--raw-classes")
    checkpoint = given["checkpoint"]
    if drop_rare > 1 and method != "empirical":
        raise typer.BadParameter(
            f"this option is for --method empirical; for {method}, use --cutoff {drop_rare}", param_hint="--drop-rare"
        )
    texts = [("training", file), ("held-out", held_out), ("test", test), *(("raw", text) for text in raw or ())]
    _check_files(texts, output, checkpoint, init, keep_partial=keep_partial)
    import corate
    from corate.model.crfsuite import has_suffix
    from corate.training.checks import refuse_too_many_labels
    from corate.training.files import must_be_stored, save_trained
    from corate.training.source import MemorySource

    if has_suffix(output):  # some models cannot be saved so, which is known after training only
        raise typer.BadParameter(
            f"train writes models of corate; use another suffix, then corate convert MODEL {output}",
            param_hint="--output",
        )
    if quiet:
        silence_warnings()
    start = time.perf_counter()
    check_writable(output)
    if checkpoint is not None:
        check_writable(checkpoint)
    resumed: list[ProgressEvent] = []
    in_memory = {"raw": raw, "init": init, "calibrate": calibrate, "rare": drop_rare > 1}
    stored = must_be_stored(file, chosen, memory, features=features, held_out=held_out, **in_memory)
    with ProgressBar(quiet) as progress:

        def show(event: ProgressEvent) -> None:
            if event.resumed:
                resumed.append(event)
            progress.show(event)

        progress("reading")
        corpus = None if stored else reading.read_labelled(file)
        if corpus is not None:
            with options.naming(file):
                refuse_too_many_labels(MemorySource(corpus), chosen.name, chosen.many_labels)
        held_out_corpus = None if held_out is None else reading.read_labelled(held_out, corpus)
        test_corpus = None if test is None else reading.read_labelled(test, corpus)
        read = time.perf_counter()
        shared: dict[str, Any] = {
            "features": features,
            "held_out": held_out_corpus,
            "constrain": constrain,
            "threads": threads,
            "seed": seed,
            "progress": show,
        }
        saving: dict[str, Any] = {"counts": not no_counts, "half": half, "keep_partial": keep_partial}
        if corpus is None:
            where: dict[str, Any] = {"memory": memory, "temporary": temporary}
            record = corate.train_file(file, output, chosen, **shared, **saving, **where, reading=reading.arguments())
        else:
            more: dict[str, Any] = {"raw": raw or None, "raw_classes": raw_classes or None}
            tagger = corate.train(corpus, chosen, **shared, **more, init=init, calibrate=calibrate)
            progress("saving")
            save_trained(tagger, output, **saving, rare=drop_rare)
            record = tagger.record
        if record.get("interrupted"):
            what = ", which is not calibrated" if calibrate else ""
            print_line(f"warning: interrupted: {output} contains the model reached so far{what}")
        result = described(record, output)
        if test_corpus is not None:
            from corate.cli.evaluate import measure

            tested = corate.load(output) if corpus is None else tagger
            result["test"], _ = measure(tested, test_corpus, threads, progress)
    if no_counts and method != "empirical":
        warnings.warn(f"--no-counts has no effect: a model of {method} contains no counts", stacklevel=2)
    if resumed:
        result["resumed_after_passes"] = resumed[0].step
    result["seconds_reading"] = read - start
    result["seconds_total"] = time.perf_counter() - start
    if json:
        print_json(result)
    elif not quiet:
        _show(result, settings=chosen != METHODS[method](), held_out=held_out is not None)


def _check_files(
    texts: Sequence[tuple[str, str | None]],
    output: str,
    checkpoint: str | None,
    init: str | None,
    *,
    keep_partial: bool,
) -> None:
    """Refuse an output file that is also an input file. Only the model of --init may be overwritten."""
    partial = output if keep_partial else partial_of(output)
    for role, file in texts:
        for path, name in ((output, output), (partial, f"{partial}, which Ctrl-C would write,")):
            if file is not None and _same(file, path):
                raise typer.BadParameter(f"{name} is the {role} file itself", param_hint="--output")
    others = [("training file", texts[0][1]), ("model file", output), ("model to start from", init)]
    for role, other in [*others, ("model file of an interrupted training", partial)]:
        if checkpoint is not None and other is not None and _same(checkpoint, other):
            raise typer.BadParameter(f"{checkpoint} is the {role} itself", param_hint="--checkpoint")


def _same(a: str, b: str) -> bool:
    """Whether two arguments are the same file, which need not exist."""
    if "-" in (a, b):
        return False
    if os.path.exists(a) and os.path.exists(b):
        return os.path.samefile(a, b)
    return os.path.realpath(a) == os.path.realpath(b)


def described(record: dict[str, Any], output: str) -> dict[str, Any]:
    """The result that ``--json`` prints: the record of a model, and the size of its file."""
    result = dict(record)
    n_bytes = os.stat(output).st_size
    return {**result, "model": output, "bytes": n_bytes, "bytes_per_token": n_bytes / max(1, result["tokens"])}


def _show(result: dict[str, Any], *, settings: bool, held_out: bool) -> None:
    """Print the result, with the settings or the held-out accuracy if asked for."""
    print(
        f"{result['method']}: {counted(result['sentences'], 'sentence')}, {counted(result['tokens'], 'token')}, "
        f"{counted(result['labels'], 'label')}, trained in {result['seconds']:.2f} s, "
        f"{result['seconds_total']:.2f} s in all"
    )
    print(f"model: {result['model']}, {size(result['bytes'])}, {result['bytes_per_token']:.1f} bytes a token")
    if "temperature" in result:
        print(f"temperature: {result['temperature']:.4g}")
    if "raw" in result:
        print(f"word classes: {told(result['raw'])}")
    if settings:
        print(f"settings: {told(result['settings'])}")
    accuracy = result["held_out"].get("accuracy")
    if held_out and accuracy is not None:
        f1 = result["held_out"].get("f1")
        print(f"held-out: accuracy {percent(accuracy)}" + ("" if f1 is None else f", F1 {percent(f1)}"))
    if "test" in result:
        from corate.cli.evaluate import one_line

        print(f"test: {one_line(result['test'])}")
