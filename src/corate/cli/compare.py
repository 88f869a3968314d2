"""``corate compare``: accuracy and training time of several methods on the same text."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import Run, argument, command, option
from corate.cli.plot import Point, check_picture, in_characters, page, picture, prepare_picture
from corate.cli.shared_options import JSON, MANY_LABELS, QUIET, THREADS, Reading, reading_options
from corate.cli.terminal import ProgressBar, count, counted, percent, print_json, size
from corate.errors import CorateError
from corate.io.streams import open_output
from corate.pages.charts import standalone
from corate.training.options import METHODS

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.evaluation.comparison import MethodDifference, Row
    from corate.progress import ProgressEvent

__all__ = ["Compare"]

_EXAMPLES = """\
Examples:

\b
  corate compare train.tsv --test test.tsv
  corate compare train.tsv --test test.tsv --methods empirical,polish,separate --seeds 5
  corate compare train.tsv --test test.tsv --features ner --held-out dev.tsv --threads 2
  corate compare train.tsv --folds 5 --methods polish,standard
  corate compare train.tsv --test test.tsv --plot methods.svg --json > methods.json
"""

_WIDTHS = (10, 15, 8, 8, 15, 9, 7, 9)


def _methods(text: str) -> str:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(METHODS)}")
    if not names:
        raise click.BadParameter(f"name some of {', '.join(METHODS)}")
    return ",".join(names)


@command("compare", _EXAMPLES, everyday="test folds methods features held_out seeds plot columns threads json quiet")
class Compare(Run):
    """Compare the accuracy and training time of several methods.

    Fast methods run first, and each result is shown as soon as it is available. Ctrl-C ends the comparison and keeps
    the results so far. Training time is the time from text in memory to a tagger; size is the size of the model file.
    At the end, each method is compared with the best one: the difference, its 95% interval and the p-value of a paired
    permutation test over the test sentences.
    """

    file: str = argument("FILE", "Labelled text to train on; - is standard input.")
    test: str | None = option("--test FILE", "Labelled text to evaluate on.")
    folds: int | None = option(
        "--folds N", "Cross-validation with N parts of FILE. Give either --test or --folds.", least=2
    )
    methods: str = option(
        "--methods NAMES", "The methods, separated by commas.", default=",".join(METHODS), check=_methods
    )
    features: str | None = option(
        "--features PRESET|FILE|TEMPLATES", "Features of all methods, as for corate train. Default: each method's own."
    )
    held_out: str | None = option(
        "--held-out FILE", "Labelled text for tuning and early stopping. It is not trained on."
    )
    seeds: int = option(
        "--seeds N", "Train each method N times; show means and standard deviations.", default=1, least=1
    )
    plot: str | None = option(
        "--plot FILE",
        "Plot accuracy against time, as a picture (.svg) or as a page with the table (.html).",
        check=check_picture,
    )
    many_labels: bool = MANY_LABELS
    threads: int = THREADS
    json: bool = JSON
    quiet: bool = QUIET
    reading: Reading = reading_options()

    def run(self) -> None:
        """Run the command."""
        if (self.test is None) == (self.folds is None):
            raise click.BadParameter("give either --test FILE or --folds N", param_hint="--test or --folds")
        _check_files(self.file, self.test, self.held_out, self.plot)
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            corpus = self.reading.read_labelled(self.file)
            test_corpus = None if self.test is None else self.reading.read_labelled(self.test, corpus)
            held_out_corpus = None if self.held_out is None else self.reading.read_labelled(self.held_out, corpus)
        table = _Table(self.seeds, self.folds, printed=not (self.json or self.quiet), plotted=self.plot is not None)
        stopped: BaseException | None = None
        try:
            chosen = {method: {"many_labels": self.many_labels} for method in self.methods.split(",")}
            _run(table, corpus, test_corpus, chosen, self.features, held_out_corpus, self.threads, self.quiet)
        except (KeyboardInterrupt, CorateError) as error:
            stopped = error
        if table.rows:
            _finish(table, corpus, test_corpus, self.plot, stopped, json=self.json)
        if stopped is not None:
            raise stopped


def _check_files(file: str, test: str | None, held_out: str | None, plot: str | None) -> None:
    named = {"FILE": file, "--test": test, "--held-out": held_out}
    if sum(name == "-" for name in named.values()) > 1:
        raise click.BadParameter("only one file can be standard input", param_hint="--test")
    prepare_picture(plot, list(named.values()))


def _run(
    table: _Table,
    corpus: Corpus,
    test: Corpus | None,
    methods: Mapping[str, Mapping[str, Any]],
    features: str | None,
    held_out: Corpus | None,
    threads: int,
    quiet: bool,
) -> None:
    """Train the methods, with their options, and fill the table. The progress bar is closed before each line."""
    from corate.evaluation.comparison import compare as compare_methods

    bar: list[ProgressBar] = []

    def progress(event: ProgressEvent) -> None:
        if not bar:
            bar.append(ProgressBar(quiet))
        bar[0].show(event)

    rows = compare_methods(
        corpus,
        test,
        list(methods),
        features=features,
        held_out=held_out,
        folds=table.folds,
        seeds=table.seeds,
        threads=threads,
        options=methods,
        progress=progress,
    )
    try:
        for row in rows:
            _close(bar)
            table.add(row)
    finally:
        _close(bar)


def _close(bar: list[ProgressBar]) -> None:
    while bar:
        bar.pop().__exit__(None, None, None)


class _Table:
    """A table with columns of fixed width. Each line is printed when its method has finished.

    If it is also plotted, an error in printing is raised by `finish` only, after the plot has been written.
    """

    def __init__(self, seeds: int, folds: int | None, *, printed: bool, plotted: bool) -> None:
        self.rows: list[Row] = []
        self.seeds, self.folds, self.printed, self.plotted, self.shown_fastest = seeds, folds, printed, plotted, 0.0
        self.unprintable: OSError | None = None

    @property
    def fastest(self) -> float:
        return min(row.seconds for row in self.rows)

    @property
    def header(self) -> list[str]:
        return ["method", "accuracy", "known", "OOV", "F1", "training", "ratio", "size"]

    def add(self, row: Row) -> None:
        """Add a method, and print its line."""
        self.rows.append(row)
        if not self.printed or self.unprintable is not None:
            return
        try:
            if len(self.rows) == 1:
                self.shown_fastest = row.seconds
                print(self._line(self.header))
            print(self._line(self.cells(row)))
            sys.stdout.flush()
        except OSError as error:
            if not self.plotted:
                raise
            self.unprintable = error

    def cells(self, row: Row) -> list[str]:
        """The cells of a method's line."""
        return [
            row.method,
            self._with_spread(row, "accuracy"),
            percent(row.mean("accuracy_known")),
            percent(row.mean("accuracy_oov")),
            self._with_spread(row, "f1"),
            f"{row.seconds:.2f} s",
            f"{row.seconds / max(self.fastest, 1e-9):.1f}x",
            size(row.bytes),
        ]

    def finish(self) -> None:
        """Print the lines again if a later method is the fastest, because then the ratios change."""
        if self.unprintable is not None:
            raise self.unprintable
        if self.printed and self.fastest != self.shown_fastest:
            print("\nratios to the fastest:\n" + self._line(self.header))
            for row in self.rows:
                print(self._line(self.cells(row)))

    def _with_spread(self, row: Row, score: str) -> str:
        spread = row.spread(score) if self.seeds > 1 else None
        return percent(row.mean(score)) + ("" if spread is None else f" ±{100 * spread:.2f}")

    def _line(self, cells: Sequence[str]) -> str:
        widths = [w if self.seeds > 1 or k not in (1, 4) else 8 for k, w in enumerate(_WIDTHS)]
        first = cells[0].ljust(widths[0])
        return "  ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))])


def _show_differences(compared: Sequence[MethodDifference]) -> None:
    """Print how each method differs from the best one, in percentage points."""
    if not compared:
        return
    best, result = compared[0].best, compared[0].result
    score = {"f1": "F1"}.get(compared[0].score, compared[0].score)
    print(f"\n{score} compared with {best}, over {counted(result.sentences, 'sentence')}:")
    print(f"{'method':10}  {'difference':>10}  {'95% interval':>18}  {'p-value':>8}")
    for d in compared:
        interval = f"{100 * d.result.low:+.2f} to {100 * d.result.high:+.2f}"
        print(f"{d.method:10}  {100 * d.result.difference:>+10.2f}  {interval:>18}  {d.result.p_value:>8.4f}")


def _finish(
    table: _Table, corpus: Corpus, test: Corpus | None, plot: str | None, stopped: BaseException | None, *, json: bool
) -> None:
    """Write the plot to a file, and print the JSON, or the final ratios, the differences and the plot."""
    from corate.evaluation.comparison import differences

    rows = table.rows
    tested_on = corpus if test is None else test
    points = [Point(r.method, r.seconds, r.mean("accuracy") or 0.0, r.spread("accuracy")) for r in rows]
    if plot is not None:
        tested = f"{table.folds} folds" if test is None else f"{count(len(test))} to test"
        trained = f"{counted(len(corpus), 'sentence')} ({counted(corpus.n_tokens, 'token')})"
        summary = f"{trained} to train on, {tested}"
        if plot.endswith(".html"):
            text = page(points, table.header, [table.cells(r) for r in rows], summary)
        else:
            text = standalone(picture(points))
        with open_output(plot) as stream:
            stream.write(text.encode())
    compared = differences(rows)
    if json:
        result: dict[str, Any] = {
            "sentences": len(corpus),
            "tokens": corpus.n_tokens,
            "test_sentences": len(tested_on),
            "test_tokens": tested_on.n_tokens,
            "seeds": table.seeds,
            "folds": table.folds,
            "methods": [{**r.to_dict(), "ratio": r.seconds / max(table.fastest, 1e-9)} for r in rows],
            "differences": [d.to_dict() for d in compared],
            "interrupted": isinstance(stopped, KeyboardInterrupt),
        }
        print_json(result)
    elif table.printed:
        table.finish()
        _show_differences(compared)
        if len(points) > 1:
            print("\n" + "\n".join(in_characters(points)))
