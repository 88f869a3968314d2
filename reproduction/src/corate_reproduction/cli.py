"""``corate reproduce``: run the paper's experiments, and compare with its results and with other toolkits."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import argument, command, option
from corate.cli.exits import MISSING, UNUSABLE, complain
from corate.cli.shared_options import shared
from corate.cli.terminal import ProgressBar, counted, percent, show_table, time_left

if TYPE_CHECKING:
    from corate_reproduction.running import News

__all__ = ["reproduce"]

#: A copy of the library's names: importing them would slow down the start.
_EXPERIMENTS = ("label-bias", "pos", "ner", "chunking", "large-labels", "all")
_ORDERS = ("file", "shuffled", "both")

#: Experiments of many short cells, which get no line each.
_SHORT = ("label-bias", "label-bias-others", "memm-priors", "mu")

_EXAMPLES = """\
Examples:

\b
  corate reproduce label-bias                        needs no data
  corate reproduce all --quick --data ~/nltk_data    a few minutes
  corate reproduce all --data ~/nltk_data --peers    everything; can be stopped and resumed
  corate reproduce pos --methods empirical,sp2,separate --json > cells.json
  corate reproduce pos --split shuffled              not the paper's splits, but those of our benchmarks

\b
To get the corpora, with NLTK's downloader and with pip:
  python -m nltk.downloader brown conll2000 conll2002
  pip install ./reproduction                         in a clone; the Greek text and a peer, too
"""


@command("reproduce", _EXAMPLES)
@argument("EXPERIMENT", f"{', '.join(_EXPERIMENTS[:-1])}, or all.")
@option("--data FOLDER", "Folder of the corpora. Default: CORATE_DATA, else NLTK's folders.")
@option("--quick", "Only label bias, the smallest split of Brown, and NER with two methods.")
@option("--peers", "Also run python-crfsuite, sklearn-crfsuite and chaine, if installed.")
@option(
    "--budget SECONDS",
    "Maximum training time of a cell. A longer time is estimated.",
    default=300.0,
    number=float,
    least=0.001,
)
@option("--methods NAMES", "Only these methods, such as empirical,separate.")
@option(
    "--split",
    "How Brown is split: in file order, very likely as in the paper; shuffled; or both.",
    default="file",
    choices=_ORDERS,
)
@option("--output,-o FOLDER", "Folder for the cells and the report.", default="reproduced")
@option("--fresh", "Measure all cells again.")
@shared("seed", "threads")
@option("--json", "Print an array of cells and nothing else.")
@shared("quiet")
def reproduce(
    experiment: str,
    data: str | None,
    quick: bool,
    peers: bool,
    budget: float,
    methods: str | None,
    split: str,
    output: str,
    fresh: bool,
    seed: int,
    threads: int,
    json: bool,
    quiet: bool,
) -> None:
    """Run the paper's experiments, and write a report.

    Every cell (one method on one split) is saved as soon as it is measured, so after Ctrl-C the same command resumes.
    The report is written as HTML and as Markdown.
    """
    from corate_reproduction import reproduction
    from corate_reproduction.experiments import EXPERIMENTS, METHODS

    if experiment not in _EXPERIMENTS:
        raise click.BadParameter(f"{experiment!r} is not one of {', '.join(_EXPERIMENTS)}", param_hint="EXPERIMENT")
    chosen = METHODS if methods is None else tuple(methods.replace(",", " ").split())
    if unknown := [name for name in chosen if name not in METHODS]:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(METHODS)}", param_hint="--methods")
    with ProgressBar(quiet) as bar:
        found = reproduction.reproduce(
            EXPERIMENTS if experiment == "all" else (experiment,),
            data=data,
            methods=chosen,
            peers=peers,
            quick=quick,
            order=split,
            budget=budget,
            seed=seed,
            threads=threads,
            output=Path(output),
            fresh=fresh,
            in_words=_Progress(bar).show,
        )
    if json:
        print(json_text.dumps(found.records, indent=1))
    elif not quiet and found.records:
        _show(found.records)
        print(f"report: {found.html}, {found.markdown}")
    for missing in found.missing:
        complain(str(missing))
    for failure in found.failures:
        complain(failure)
    if found.missing or found.failures:
        raise click.exceptions.Exit(UNUSABLE if found.failures else MISSING)


class _Progress:
    """Shows the progress, where a run resumes and, if standard error is no terminal, each newly measured cell."""

    def __init__(self, bar: ProgressBar) -> None:
        self.bar = bar
        self.kept = 0
        self.measuring = False

    def show(self, news: News) -> None:
        """Show the state of a run."""
        self.kept += news.kept
        if not self.measuring and not news.kept:
            self.measuring = True
            if self.kept:
                self.bar.keep(f"resumed at cell {self.kept + 1} of {news.of}")
        if self.kept == news.of and not self.measuring:
            self.bar.keep(f"measured before: {counted(news.of, 'cell')}, nothing is left; --fresh measures again")
        short = news.cell.experiment in _SHORT
        if sys.stderr.isatty():
            self.bar(f"{news.cell.name}: {news.stage}" if news.stage else news.cell.name, news.share)
            return
        self.bar(news.cell.experiment if short else news.cell.name, news.share)
        if news.outcome is not None and not news.kept and not short:
            left = time_left(news.left)
            done = f"[{news.done}/{news.of}{', ' + left if left else ''}]"
            self.bar.keep(f"{done} {news.cell.name}: {_score(vars(news.outcome))}")


def _score(cell: dict[str, Any]) -> str:
    if cell["seconds"] is None:
        return "no iteration finished within the budget"
    if cell["estimated"]:
        each = cell["seconds_per_iteration"]
        return f"stopped; {each:.2f} s an iteration, an estimated {cell['seconds']:,.0f} s in all"
    f1 = "" if cell["f1"] is None else f", F1 {percent(cell['f1'])}"
    return f"{percent(cell['accuracy'])}{f1}, {cell['seconds']:.2f} s"


def _show(records: list[dict[str, Any]]) -> None:
    from corate_reproduction.report.summary import rows

    header = ["experiment", "method", "all", "known", "OOV", "F1", "seconds", "paper: all", "seconds"]
    show_table(rows(records), header)
