"""``corate eval``: the accuracy of a model on labelled text."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from corate.cli.commands import argument, command, option
from corate.cli.evaluation_details import details, drawing, plain_details, show_details
from corate.cli.plot import check_picture, prepare_picture
from corate.cli.shared_options import MODEL, THREADS, Reading, Reporting, load_model, reading_options
from corate.cli.terminal import ProgressBar, count, percent, print_table, show_table
from corate.errors import Argument, ConfigError
from corate.io.atomic import write_text

if TYPE_CHECKING:
    from corate import Tagger
    from corate.corpus import Column, Corpus
    from corate.evaluation.report import Report

__all__ = ["Evaluate", "measure", "one_line"]

_MOST_CONFUSED = 30
#: Text is tagged in at most about this many pieces, each of at least this many tokens.
_PIECES, _TOKENS_AT_ONCE = 50, 100_000

_EXAMPLES = """\
Examples:

\b
  corate eval model.corate test.tsv
  corate eval model.corate test.tsv --confusion
  corate eval model.corate test.tsv --calibration              do probabilities match accuracy?
  corate eval model.corate test.tsv --errors 20 --least-sure 20
  corate eval model.corate test.tsv --plot confusions.svg
  corate eval model.corate test.tsv --calibration --plot scores.html
  corate eval model.corate test.tsv --json | jq .accuracy_oov
  corate eval model.corate nodes.csv --edges edges.csv         graphs
"""


@command("eval", _EXAMPLES, everyday="confusion calibration errors least_sure plot columns format threads json quiet")
class Evaluate(Reporting):
    """Evaluate a model on labelled text.

    Shows the accuracy on all words, known words and OOV words (words that are not in the training text). If the labels
    mark spans, it also shows precision, recall and F1 of the spans. For graphs, it shows them for each label. Nodes and
    tokens whose label is unknown are left out.
    """

    model: str = MODEL
    file: str = argument("FILE", "Labelled text; - is standard input.")
    confusion: bool = option("--confusion", "Show the most frequent confusions of labels.")
    calibration: bool = option(
        "--calibration", "Compare probabilities with accuracy, in bins, and show the expected calibration error."
    )
    errors: int = option(
        "--errors N",
        "Show the first N sentences with errors, and the kinds of span errors.",
        default=0,
        least=0,
    )
    least_sure: int = option(
        "--least-sure N", "Show the N sentences whose predicted labels are least probable.", default=0, least=0
    )
    plot: str | None = option(
        "--plot FILE",
        "Draw the confusion matrix (or with --calibration, the calibration) as a picture (.svg), or draw both with the "
        "scores as a page (.html).",
        check=check_picture,
    )
    threads: int = THREADS
    reading: Reading = reading_options()

    def run(self) -> None:
        """Run the command."""
        prepare_picture(self.plot, [self.model, self.file])
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            tagger = load_model(self.model, self.file)
            corpus = self.reading.read_labelled(self.file, tagger)
            self._check_units(corpus)
            scores, report = measure(tagger, corpus, self.threads, progress)
            found = details(tagger, corpus, self.calibration, self.errors, self.least_sure, progress.show)
            if self.plot is not None:
                progress("drawing")
                text = drawing(
                    report,
                    found.get("calibration"),
                    page=self.plot.endswith(".html"),
                    title=os.path.basename(self.model),
                )
                write_text(self.plot, text)
        self.report({**scores, **plain_details(found)}, lambda: self._show(report, scores["tokens_per_second"], found))

    def _check_units(self, corpus: Corpus) -> None:
        """Refuse to show sentences of graphs."""
        for name, given in (("errors", self.errors), ("least_sure", self.least_sure)):
            if given and corpus.edges is not None:
                remedy = "omit it; corate tag --scores shows the probability of each label"
                raise ConfigError(f"{Argument(name)} shows sentences, and the model labels graphs", remedy, option=name)

    def _show(self, report: Report, speed: float, found: Mapping[str, Any]) -> None:
        for table in report.tables():
            print_table(table)
            print()
        one = report.units[1]
        print(f"{count(speed)} {one}s a second")
        if self.confusion:
            errors = report.confusion.most_confused(_MOST_CONFUSED)
            print()
            show_table([[gold, guess, count(n)] for gold, guess, n in errors], ["label", "predicted as", f"{one}s"])
        show_details(found)


def measure(
    tagger: Tagger, corpus: Corpus, threads: int = 1, progress: ProgressBar | None = None
) -> tuple[dict[str, Any], Report]:
    """Tag a labelled corpus and compare the labels. Returns the scores that ``--json`` prints, and the report."""
    from corate.evaluation.report import compare_labels

    corpus.require_labels()
    start = time.perf_counter()
    predicted = _tagged(tagger, corpus, threads, progress or ProgressBar(quiet=True))
    seconds = time.perf_counter() - start
    report = compare_labels(corpus, predicted, tagger.words if len(tagger.words) or corpus.edges is None else None)
    speed = corpus.n_tokens / max(seconds, 1e-9)
    return {**report.to_dict(), "seconds": seconds, "tokens_per_second": speed}, report


def _tagged(tagger: Tagger, corpus: Corpus, threads: int, progress: ProgressBar) -> Column:
    """The labels of a corpus, which is tagged in pieces if it is large."""
    import numpy as np

    from corate.corpus import Column
    from corate.model.lattice import pieces

    ids, done = [np.zeros(0, np.int32)], 0
    for piece in pieces(corpus, max(_TOKENS_AT_ONCE, corpus.n_tokens // _PIECES)):
        progress("tagging", done / corpus.n_tokens)
        ids.append(tagger.tag_corpus(piece, threads=threads).ids)
        done += piece.n_tokens
    return Column("label", np.concatenate(ids), tagger.model.labels)


def one_line(scores: Mapping[str, Any]) -> str:
    """The most important scores, in one line.

    >>> one_line({"accuracy": 0.97, "accuracy_known": 0.98, "accuracy_oov": None, "f1": 0.75})
    'accuracy 97.00%, known words 98.00%, F1 75.00%'
    """
    names = {"accuracy": "accuracy", "accuracy_known": "known words", "accuracy_oov": "OOV words", "f1": "F1"}
    return ", ".join(f"{name} {percent(scores[key])}" for key, name in names.items() if scores[key] is not None)
