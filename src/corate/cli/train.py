"""``corate train``: train on labelled text and write a model file."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import argument, command, option
from corate.cli.method_options import EXPERT, chosen_method, method_options
from corate.cli.shared_options import SCHEMES, Reading, naming, reading_options, refuse_inputs, shared
from corate.cli.terminal import ProgressBar, counted, in_words, percent, print_json, print_line, size
from corate.io.atomic import check_writable, partial_of
from corate.training.options import METHODS

if TYPE_CHECKING:
    from corate.progress import ProgressEvent

__all__ = ["described", "train"]

_EXAMPLES = """\
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

_MORE_EXAMPLES = """
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

#: Sections of the help.
_FILE = "Smaller model files"
_LARGE = "Text larger than memory"


def _summaries() -> Iterable[tuple[str, str]]:
    """What the methods do: names, separated by commas, and a summary."""
    summaries = dict.fromkeys(method.summary for method in METHODS.values())
    return ((", ".join(name for name in METHODS if METHODS[name].summary == text), text) for text in summaries)


_INIT_METHODS = [name for name, method in METHODS.items() if "init" in method.places]


@command(
    "train",
    _EXAMPLES,
    everyday="output method features held_out test init columns format threads json quiet",
    more_examples=_MORE_EXAMPLES,
)
@argument("FILE", "Labelled text; - is standard input.")
@option("--output,-o MODEL", "The model file to write.", required=True)
@option(
    "--method",
    f"The training method. {' '.join(f'{names}: {summary}.' for names, summary in _summaries())}",
    default=next(iter(METHODS)),
    choices=tuple(METHODS),
)
@option(
    "--features PRESET|FILE|TEMPLATES",
    "A preset (paper, pos, ner or chunking), a template file (also of CRF++), or templates separated by commas or "
    "semicolons. A preset can be one of them: 'ner; word[2]'. Default: depends on the method and the labels.",
)
@option(
    "--raw FILE",
    "Text without labels, one sentence per line. Word classes are learned from it and used as additional features. Can "
    "be given several times.",
    multiple=True,
)
@option(
    "--raw-classes N",
    "The number of word classes that --raw learns; can be given several times. Default: 32, 64, 128 and 256.",
    number=int,
    least=2,
    multiple=True,
)
@option("--held-out FILE", "Labelled text for tuning and early stopping. It is not trained on.")
@option(
    "--calibrate",
    "Fit a temperature on held-out text, so that probabilities match accuracy. Labels do not change. Without "
    "--held-out, another model is trained without a tenth of the sentences, and the temperature is fitted on these, so "
    "training takes twice as long. Not for memm.",
)
@option(
    "--constrain",
    "Train a model that returns only label sequences that are valid in this scheme. auto: the scheme of the training "
    "text.",
    choices=("auto", *SCHEMES),
)
@option("--test FILE", "Evaluate the new model on this file, like corate eval.")
@option(
    "--init MODEL",
    "Train this model further, with its features. It may be of any method except memm. For --method "
    f"{', '.join(_INIT_METHODS)}.",
)
@option(
    "--set NAME=VALUE",
    f"Set an option that few users need: {', '.join(EXPERT)}. Can be given several times.",
    name="settings",
    multiple=True,
)
@shared("threads", "seed", "json", "quiet")
@option(
    "--keep-partial",
    "If Ctrl-C ends training early, write the model reached so far to MODEL, and continue with it. Exit code 0.",
)
@method_options
@option(
    "--drop-rare N",
    "Omit word pairs and other combined features seen fewer than N times. For empirical; for other methods, use "
    "--cutoff N.",
    default=0,
    number=int,
    least=0,
    panel=_FILE,
)
@option("--no-counts", "Omit the counts, which only corate update needs.", panel=_FILE)
@option("--half", "Store weights in 16 bits.", panel=_FILE)
@option(
    "--memory SIZE",
    "Use at most this much memory, such as 500M or 2G. Larger text is read in pieces and stored on disk. This is "
    "possible for polish, separate, empirical and perceptron, and for other methods with --optimizer adagrad. Default: "
    "half of the free memory.",
    panel=_LARGE,
)
@option(
    "--temporary FOLDER",
    "The folder for temporary files of large text. Default: the folder of the model.",
    panel=_LARGE,
)
@reading_options()
def train(
    reading: Reading,
    file: str,
    output: str,
    method: str,
    features: str | None,
    raw: Sequence[str],
    raw_classes: Sequence[int],
    held_out: str | None,
    calibrate: bool,
    constrain: str | None,
    test: str | None,
    init: str | None,
    settings: Sequence[str],
    threads: int,
    seed: int,
    json: bool,
    quiet: bool,
    keep_partial: bool,
    drop_rare: int,
    no_counts: bool,
    half: bool,
    memory: str | None,
    temporary: str | None,
    **given: Any,
) -> None:
    """Train on labelled text and write a model file.

    Ctrl-C after the first pass or iteration saves the model so far as MODEL.partial, with exit code 130. With
    --keep-partial, it writes MODEL.
    """
    chosen = chosen_method(method, given, settings, features=features, init=init, raw=raw or None)
    if raw_classes and not raw:
        raise click.BadParameter("this option is for --raw FILE", param_hint="--raw-classes")
    checkpoint = given["checkpoint"]
    if drop_rare > 1 and method != "empirical":
        raise click.BadParameter(
            f"this option is for --method empirical; for {method}, use --cutoff {drop_rare}", param_hint="--drop-rare"
        )
    texts = [("training", file), ("held-out", held_out), ("test", test), *(("raw", text) for text in raw)]
    _check_files(texts, output, checkpoint, init, keep_partial=keep_partial)
    import corate
    from corate.model.crfsuite import has_suffix
    from corate.training.checks import refuse_too_many_labels
    from corate.training.files import must_be_stored, save_trained
    from corate.training.source import MemorySource

    if has_suffix(output):  # some models cannot be saved so, which is known after training only
        raise click.BadParameter(
            f"train writes models of corate; use another suffix, then corate convert MODEL {output}",
            param_hint="--output",
        )
    start = time.perf_counter()
    check_writable(output)
    if checkpoint is not None:
        check_writable(checkpoint)
    resumed: list[ProgressEvent] = []
    in_memory = {"raw": raw or None, "init": init, "calibrate": calibrate, "rare": drop_rare > 1}
    stored = must_be_stored(file, chosen, memory, features=features, held_out=held_out, **in_memory)
    with ProgressBar(quiet) as progress:

        def show(event: ProgressEvent) -> None:
            if event.resumed:
                resumed.append(event)
            progress.show(event)

        progress("reading")
        corpus = None if stored else reading.read_labelled(file)
        if corpus is not None:
            with naming(file):
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
            save_trained(tagger.shrunk(rare=drop_rare), output, **saving)
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
        refuse_inputs(output, {f"the {role} file itself": file})
        refuse_inputs(partial, {f"the {role} file itself, which Ctrl-C would overwrite": file})
    others = [("training file", texts[0][1]), ("model file", output), ("model to start from", init)]
    for role, other in [*others, ("model file of an interrupted training", partial)]:
        refuse_inputs(checkpoint, {f"the {role} itself": other}, "--checkpoint")


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
        print(f"word classes: {in_words(result['raw'])}")
    if settings:
        print(f"settings: {in_words(result['settings'])}")
    accuracy = result["held_out"].get("accuracy")
    if held_out and accuracy is not None:
        f1 = result["held_out"].get("f1")
        print(f"held-out: accuracy {percent(accuracy)}" + ("" if f1 is None else f", F1 {percent(f1)}"))
    if "test" in result:
        from corate.cli.evaluate import one_line

        print(f"test: {one_line(result['test'])}")
