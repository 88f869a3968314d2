"""``corate compare``: accuracy and training time of several methods on the same text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import Run, argument, command, option
from corate.cli.plot import Point, check_picture, in_characters, page, picture, prepare_picture
from corate.cli.shared_options import JSON, MANY_LABELS, QUIET, THREADS, Reading, reading_options
from corate.cli.terminal import ProgressBar, count, counted, print_json
from corate.errors import CorateError
from corate.io.streams import open_output
from corate.pages.charts import standalone
from corate.training.methods import METHODS

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.evaluation.comparison import Row

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

#: The widths of columns; of those with a score and its standard deviation, if there is one.
_SPREAD = 15
_WIDTHS = (10, _SPREAD, 8, 8, _SPREAD, 9, 7, 9)


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
        from corate.evaluation.comparison import compare

        if (self.test is None) == (self.folds is None):
            raise click.BadParameter("give either --test FILE or --folds N", param_hint="--test or --folds")
        named = [self.file, self.test, self.held_out]
        if named.count("-") > 1:
            raise click.BadParameter("only one file can be standard input", param_hint="--test")
        prepare_picture(self.plot, named)
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            corpus = self.reading.read_labelled(self.file)
            test, held_out = (None if path is None else self.reading.read_labelled(path, corpus) for path in named[1:])
        lines = _Lines(self.seeds > 1, printed=not (self.json or self.quiet), plotted=self.plot is not None)
        options: dict[str, Any] = {name: getattr(self, name) for name in ("features", "folds", "seeds", "threads")}
        methods = {method: {"many_labels": self.many_labels} for method in self.methods.split(",")}
        stopped: BaseException | None = None
        try:
            rows = compare(
                corpus,
                test,
                [*methods],
                held_out=held_out,
                options=methods,
                progress=lambda event: bar.show(event),
                **options,
            )
            while True:
                with ProgressBar(self.quiet) as bar:  # closed before the line is printed
                    row = next(rows, None)
                if row is None:
                    break
                lines.add(row)
        except (KeyboardInterrupt, CorateError) as error:
            stopped = error
        if lines.rows:
            self._finish(lines, corpus, test, stopped)
        if stopped is not None:
            raise stopped

    def _finish(self, lines: _Lines, corpus: Corpus, test: Corpus | None, stopped: BaseException | None) -> None:
        """Write the plot to a file, and print the JSON, or the final ratios, the differences and the plot."""
        from corate.evaluation.comparison import HEADER, difference_table, differences

        rows, fastest = lines.rows, lines.fastest
        tested_on = corpus if test is None else test
        points = [Point(r.method, r.seconds, r.mean("accuracy") or 0.0, r.spread("accuracy")) for r in rows]
        if self.plot is not None:
            tested = f"{self.folds} folds" if test is None else f"{count(len(test))} to test"
            trained = f"{counted(len(corpus), 'sentence')} ({counted(corpus.n_tokens, 'token')})"
            if self.plot.endswith(".html"):
                cells = [row.cells(fastest) for row in rows]
                text = page(points, HEADER, cells, f"{trained} to train on, {tested}")
            else:
                text = standalone(picture(points))
            with open_output(self.plot) as stream:
                stream.write(text.encode())
        compared = differences(rows)
        if self.json:
            print_json(
                {
                    "sentences": len(corpus),
                    "tokens": corpus.n_tokens,
                    "test_sentences": len(tested_on),
                    "test_tokens": tested_on.n_tokens,
                    "seeds": self.seeds,
                    "folds": self.folds,
                    "methods": [{**r.to_dict(), "ratio": r.seconds / max(fastest, 1e-9)} for r in rows],
                    "differences": [d.to_dict() for d in compared],
                    "interrupted": isinstance(stopped, KeyboardInterrupt),
                }
            )
        elif lines.printed:
            lines.finish()
            if compared:
                print(f"\n{difference_table(compared)}")
            if len(points) > 1:
                print("\n" + "\n".join(in_characters(points)))


class _Lines:
    """The lines of a table with columns of fixed width. Each is printed when its method has finished.

    If they are also plotted, an error in printing is raised by `finish` only, after the plot has been written.
    """

    def __init__(self, spread: bool, *, printed: bool, plotted: bool) -> None:
        self.rows: list[Row] = []
        self.printed, self.plotted, self.shown_fastest = printed, plotted, 0.0
        self.unprintable: OSError | None = None
        self.widths = _WIDTHS if spread else tuple(8 if w == _SPREAD else w for w in _WIDTHS)

    @property
    def fastest(self) -> float:
        """The least training time of a method, in seconds."""
        return min(row.seconds for row in self.rows)

    def add(self, row: Row) -> None:
        """Add a method, and print its line."""
        from corate.evaluation.comparison import HEADER

        self.rows.append(row)
        if not self.printed or self.unprintable is not None:
            return
        try:
            if len(self.rows) == 1:
                self.shown_fastest = row.seconds
                self._print(HEADER)
            self._print(row.cells(self.fastest))
            sys.stdout.flush()
        except OSError as error:
            if not self.plotted:
                raise
            self.unprintable = error

    def finish(self) -> None:
        """Print the lines again if a later method is the fastest, because then the ratios change."""
        from corate.evaluation.comparison import HEADER

        if self.unprintable is not None:
            raise self.unprintable
        if self.fastest != self.shown_fastest:
            print("\nratios to the fastest:")
            for cells in (HEADER, *(row.cells(self.fastest) for row in self.rows)):
                self._print(cells)

    def _print(self, cells: Sequence[str]) -> None:
        first, *others = zip(cells, self.widths, strict=True)
        print("  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]))
