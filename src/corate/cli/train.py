"""``corate train``: train on labelled text and write a model file."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import argument, command, option
from corate.cli.evaluate import measure, one_line
from corate.cli.graph_files import is_file_of_edges
from corate.cli.method_options import EXPERT, METHOD_OPTIONS, chosen_method
from corate.cli.shared_options import (
    SCHEMES,
    SEED,
    THREADS,
    Reading,
    Reporting,
    names_in,
    naming,
    reading_options,
    refuse_inputs,
)
from corate.cli.terminal import ProgressBar, counted, in_words, percent, print_line, size
from corate.io.atomic import check_writable, partial_of
from corate.progress import ProgressEvent
from corate.training.methods import METHODS, Method

if TYPE_CHECKING:
    from corate import Tagger
    from corate.corpus import Corpus
    from corate.progress import OnProgress

__all__ = ["Train", "described"]

_EXAMPLES = """\
Examples:

\b
  corate train train.tsv -o model.corate
  corate train train.tsv -o model.corate --test test.tsv --json > scores.json
  corate train ned.train.gz -o ned.corate --columns word,pos,label --features ner --docstart drop
  corate train train.tsv -o model.corate --features 'word[0], word[-1]|word[0], suffix(word[0], 3)'
  corate train en-train.conllu -o en.corate --label upos+feats --test en-test.conllu
  corate train nodes.csv --edges edges.csv --label topic -o m.corate      nodes of graphs
  corate compare train.tsv --test test.tsv          which method suits this text?
"""

_MORE_EXAMPLES = """
\b
  corate train train.tsv -o model.corate --held-out dev.tsv --tune --threads 2
  corate train train.tsv -o model.corate --held-out dev.tsv --calibrate      probabilities that match accuracy
  cat part-*.tsv | corate train - -o model.corate --quiet
  corate train more.tsv -o model2.corate --init model.corate
  corate train train.tsv -o model.corate --raw news.txt.gz --raw books.txt      word classes from text without labels
  corate train partly.tsv -o model.corate --unknown '?'
  corate train large.tsv -o model.corate --checkpoint large.checkpoint
  corate train train.tsv -o model.corate --order 2          also weights for label triples
  corate train de.conllu -o de.corate --label feats:Case --edges tree      labels on trees
  corate train nodes.csv --edges edges.csv --label topic --symmetric cites,author -o m.corate

\b
  corate train brown.txt -o brown.corate --method empirical --backoff paper --format slashed
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
class Train(Reporting):
    """Train on labelled text and write a model file.

    Ctrl-C after the first pass or iteration saves the model so far as MODEL.partial, with exit code 130. With
    --keep-partial, it writes MODEL.
    """

    file: str = argument("FILE", "Labelled text; - is standard input.")
    output: str = option("--output,-o MODEL", "The model file to write.", required=True)
    method: str = option(
        "--method",
        f"The training method. {' '.join(f'{names}: {summary}.' for names, summary in _summaries())}",
        default=next(iter(METHODS)),
        choices=tuple(METHODS),
    )
    features: str | None = option(
        "--features PRESET|FILE|TEMPLATES",
        "A preset (paper, pos, ner or chunking), a template file (also of CRF++), or templates separated by commas or "
        "semicolons. A preset can be one of them: 'ner; word[2]'. Default: depends on the method and the labels.",
    )
    raw: Sequence[str] = option(
        "--raw FILE",
        "Text without labels, one sentence per line. Word classes are learned from it and used as additional features. "
        "Can be given several times.",
    )
    raw_classes: Sequence[int] = option(
        "--raw-classes N",
        "The number of word classes that --raw learns; can be given several times. Default: 32, 64, 128 and 256.",
        least=2,
    )
    held_out: str | None = option(
        "--held-out FILE", "Labelled text for tuning and early stopping. It is not trained on."
    )
    calibrate: bool = option(
        "--calibrate",
        "Fit a temperature on held-out text, so that probabilities match accuracy. Labels do not change. Without "
        "--held-out, another model is trained without a tenth of the sentences, and the temperature is fitted on "
        "these, so training takes twice as long. Not for memm.",
    )
    constrain: str | None = option(
        "--constrain",
        "Train a model that returns only label sequences that are valid in this scheme. auto: the scheme of the "
        "training text.",
        choices=("auto", *SCHEMES),
    )
    test: str | None = option("--test FILE", "Evaluate the new model on this file, like corate eval.")
    init: str | None = option(
        "--init MODEL",
        "Train this model further, with its features. It may be of any method except memm. For --method "
        f"{', '.join(_INIT_METHODS)}.",
    )
    settings: Sequence[str] = option(
        "--set NAME=VALUE",
        f"Set an option that few users need: {', '.join(EXPERT)}. Can be given several times.",
    )
    symmetric: str | None = option(
        "--symmetric TYPES", "The types of edges in a CSV file that have no direction, separated by commas."
    )
    threads: int = THREADS
    seed: int = SEED
    keep_partial: bool = option(
        "--keep-partial",
        "If Ctrl-C ends training early, write the model reached so far to MODEL, and continue with it. Exit code 0.",
    )
    method_options: dict[str, Any] = METHOD_OPTIONS
    drop_rare: int = option(
        "--drop-rare N",
        "Omit word pairs and other combined features seen fewer than N times. For empirical; for other methods, use "
        "--cutoff N.",
        default=0,
        least=0,
        panel=_FILE,
    )
    no_counts: bool = option("--no-counts", "Omit the counts, which only corate update needs.", panel=_FILE)
    half: bool = option("--half", "Store weights in 16 bits.", panel=_FILE)
    memory: str | None = option(
        "--memory SIZE",
        "Use at most this much memory, such as 500M or 2G. Larger text is read in pieces and stored on disk. This is "
        "possible for polish, separate, empirical and perceptron, and for other methods with --optimizer adagrad. "
        "Default: half of the free memory.",
        panel=_LARGE,
    )
    temporary: str | None = option(
        "--temporary FOLDER",
        "The folder for temporary files of large text. Default: the folder of the model.",
        panel=_LARGE,
    )
    reading: Reading = reading_options()

    def run(self) -> None:
        """Run the command."""
        chosen = self._checked()
        from corate.training.disk import limit_passed

        start = time.perf_counter()
        in_memory = {
            "raw": self.raw or None,
            "init": self.init,
            "calibrate": self.calibrate,
            "rare": self.drop_rare > 1,
            "edges": self.reading.edges,
        }
        shared: dict[str, Any] = {"features": self.features, "held_out": self.held_out, **in_memory}
        stored = limit_passed(self.file, chosen, self.memory, **shared)
        resumed: list[ProgressEvent] = []
        with ProgressBar(self.quiet) as progress:

            def show(event: ProgressEvent) -> None:
                if event.resumed:
                    resumed.append(event)
                progress.show(event)

            progress("reading")
            corpus = None if stored is not None else self._read(chosen)
            held_out, test = (
                None if path is None else self.reading.read_labelled(path, corpus)
                for path in (self.held_out, self.test)
            )
            read = time.perf_counter()
            tagger, record = self._trained(chosen, corpus, held_out, show)
            result = described(record, self.output)
            if test is not None:
                result["test"], _ = measure(tagger(), test, self.threads, progress)
        if self.no_counts and self.method != "empirical":
            warnings.warn(f"--no-counts has no effect: a model of {self.method} contains no counts", stacklevel=2)
        if resumed:
            result["resumed_after_passes"] = resumed[0].step
        result["seconds_reading"] = read - start
        result["seconds_total"] = time.perf_counter() - start
        units = ("sentence", "token") if corpus is None or corpus.edges is None else ("graph", "node")
        asked = {"settings": chosen != METHODS[self.method](), "held_out": self.held_out is not None}
        self.report(result, lambda: _show(result, units, **asked))

    def _checked(self) -> Method:
        """The method with its options, after checks of all options and files, before any work."""
        given, output = self.method_options, self.output
        raw = self.raw or None
        chosen = chosen_method(self.method, given, self.settings, features=self.features, init=self.init, raw=raw)
        if self.raw_classes and not raw:
            raise click.BadParameter("this option is for --raw FILE", param_hint="--raw-classes")
        if self.drop_rare > 1 and self.method != "empirical":
            problem = f"this option is for --method empirical; for {self.method}, use --cutoff {self.drop_rare}"
            raise click.BadParameter(problem, param_hint="--drop-rare")
        texts = [("training", self.file), ("held-out", self.held_out), ("test", self.test)]
        texts += [("raw", text) for text in self.raw]
        if is_file_of_edges(self.reading.edges):
            self._check_graphs()
            texts.append(("edges", self.reading.edges))
        elif self.symmetric is not None:
            raise click.BadParameter("this option is for a CSV file of edges, with --edges", param_hint="--symmetric")
        _check_files(texts, output, given["checkpoint"], self.init, keep_partial=self.keep_partial)
        from corate.model.crfsuite import has_suffix

        if has_suffix(output):  # some models cannot be saved so, which is known after training only
            problem = f"train writes models of corate; use another suffix, then corate convert MODEL {output}"
            raise click.BadParameter(problem, param_hint="--output")
        for path in (output, given["checkpoint"]):
            if path is not None:
                check_writable(path)
        return chosen

    def _check_graphs(self) -> None:
        """Refuse options for text that graphs in files cannot have."""
        evaluated = "evaluate with: corate eval MODEL NODES --edges EDGES"
        options = {"held_out": "omit it; parts of the graphs are held out where training needs it", "test": evaluated}
        for name, remedy in options.items():
            if getattr(self, name) is not None:
                problem = f"this option is for text, and --edges names a file of graphs; {remedy}"
                raise click.BadParameter(problem, param_hint=f"--{name.replace('_', '-')}")

    def _read(self, method: Method) -> Corpus:
        """The training text, on whose labels the method can be trained."""
        from corate.training.choices import refuse_labels
        from corate.training.source import MemorySource

        corpus = self.reading.read_labelled(self.file, symmetric=names_in(self.symmetric or ""))
        with naming(self.file):
            refuse_labels(MemorySource(corpus, method.unknown), method)
        return corpus

    def _trained(
        self, method: Method, corpus: Corpus | None, held_out: Corpus | None, progress: OnProgress
    ) -> tuple[Callable[[], Tagger], dict[str, Any]]:
        """Train on the corpus, else on the file, and write the model. Returns what gives the model, and its record."""
        import corate
        from corate.training.train import save_trained

        shared: dict[str, Any] = {name: getattr(self, name) for name in ("features", "constrain", "threads", "seed")}
        shared |= {"held_out": held_out, "progress": progress}
        saving: dict[str, Any] = {"counts": not self.no_counts, "half": self.half, "keep_partial": self.keep_partial}
        tagger: Callable[[], Tagger] = partial(corate.load, self.output)
        if corpus is None:
            where: dict[str, Any] = {"memory": self.memory, "temporary": self.temporary}
            reading = self.reading.arguments()
            record = corate.train_file(self.file, self.output, method, **shared, **saving, **where, reading=reading)
        else:
            more: dict[str, Any] = {"raw": self.raw or None, "raw_classes": self.raw_classes or None}
            trained = corate.train(corpus, method, **shared, **more, init=self.init, calibrate=self.calibrate)
            progress(ProgressEvent("saving"))
            save_trained(trained.shrunk(rare=self.drop_rare), self.output, **saving)
            record, tagger = trained.record, lambda: trained
        if record.get("interrupted"):
            what = ", which is not calibrated" if self.calibrate else ""
            print_line(f"warning: interrupted: {self.output} contains the model reached so far{what}")
        return tagger, record


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


def _show(result: dict[str, Any], units: tuple[str, str], *, settings: bool, held_out: bool) -> None:
    """Print the result, with the settings or the held-out accuracy if asked for. ``units`` are counted."""
    many, one = units
    print(
        f"{result['method']}: {counted(result['sentences'], many)}, {counted(result['tokens'], one)}, "
        f"{counted(result['labels'], 'label')}, trained in {result['seconds']:.2f} s, "
        f"{result['seconds_total']:.2f} s in all"
    )
    print(f"model: {result['model']}, {size(result['bytes'])}, {result['bytes_per_token']:.1f} bytes a {one}")
    if "temperature" in result:
        print(f"temperature: {result['temperature']:.4g}")
    if "raw" in result:
        print(f"word classes: {in_words(result['raw'])}")
    if settings:
        print(f"settings: {in_words(result['settings'])}")
    accuracy = result.get("held_out", {}).get("accuracy")
    if held_out and accuracy is not None:
        f1 = result["held_out"].get("f1")
        print(f"held-out: accuracy {percent(accuracy)}" + ("" if f1 is None else f", F1 {percent(f1)}"))
    if "test" in result:
        print(f"test: {one_line(result['test'])}")
