"""``corate rates``: co-occurrence rates of neighbouring labels in a model or a text, or of the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from corate.cli.column_rates import show_column_rates
from corate.cli.commands import Run, argument, command, option
from corate.cli.plot import check_suffix
from corate.cli.shared_options import JSON, Reading, is_model_file, reading_options
from corate.cli.terminal import counted, escaped, is_terminal, print_json, print_table
from corate.io.streams import bare_suffix, open_output
from corate.pages.charts import standalone
from corate.pages.tables import Table

if TYPE_CHECKING:
    from corate.corpus import Corpus
    from corate.model.tagger import LabelPair
    from corate.rate.heatmap import HeatMap

__all__ = ["Rates", "pair_tables"]

_EXAMPLES = """\
Examples:

\b
  corate rates model.corate
  corate rates train.tsv --pairs 20
  corate rates train.tsv --smooth 0                  no smoothing, as in the definition
  corate rates model.corate --data train.tsv         weights of a model beside the rates of a text
  corate rates model.corate --svg rates.svg --json > rates.json
  corate rates weather.csv --between sky,ground      values of two columns of a table
  corate rates weather.parquet --between sky,ground --given season
"""

_MAP_LABELS = 24
_PICTURE_LABELS = 120


@command("rates", _EXAMPLES, everyday="pairs data smooth svg between given columns format json")
class Rates(Run):
    """Show which neighbouring labels attract or avoid each other, or which values in the columns of a table.

    The co-occurrence rate of two labels is how many times more often the second follows the first than by chance.
    Labels with a rate above 1 attract each other, and labels with a rate below 1 avoid each other; 1 means
    independence. A model whose weights are fitted has no rates. Its weights are shown instead; they are above 0 for
    labels that attract each other more than the words predict. --data FILE also shows the rates of a text. <s> and </s>
    are the start and the end of a sentence.

    With --between, the rates are those of values in the same row of a table. They are shown with the number of such
    rows, the number expected by chance, and a test of the independence of the columns.
    """

    source: str = argument("MODEL|FILE", "A model file, labelled text, or a table; - is standard input.")
    pairs: int = option("--pairs,-n N", "Number of pairs of each kind to list.", default=10, least=0)
    data: str | None = option("--data FILE", "For a model: also show the rates of this labelled text.")
    smooth: float = option(
        "--smooth X",
        "For text and tables: number added to the observed and the expected count.",
        default=0.5,
        least=0.0,
    )
    svg: str | None = option("--svg FILE", "Also write the heat map as a picture.")
    between: str | None = option(
        "--between NAMES",
        "For a table, a CSV file with a header row or a Parquet file: show the rates of the values of these columns, "
        "such as sky,ground.",
    )
    given: str | None = option("--given NAMES", "With --between: columns that the rates are conditioned on.")
    json: bool = JSON
    reading: Reading = reading_options()

    def run(self) -> None:
        """Run the command."""
        check_suffix(self.svg, "--svg", ".svg")
        if self.between is not None:
            _check_for_table(self.data, self.svg)
            show_column_rates(
                self.source, self.reading, self.between, self.given, n=self.pairs, smooth=self.smooth, json=self.json
            )
            return
        if self.given is not None:
            raise click.BadParameter("this goes with --between", param_hint="--given")
        if bare_suffix(self.source) in (".csv", ".parquet") and self.reading.format == "auto":
            remedy = "name its columns with --between, or say --format columns for labelled text"
            raise click.BadParameter(f"{self.source} seems to be a table; {remedy}")
        data_rates: dict[tuple[str, str], float] = {}
        if is_model_file(self.source):
            corpus = None if self.data is None else self.reading.read_labelled(self.data)
            attractive, repulsive, heat = _of_model(self.source, self.pairs)
            if corpus is not None:
                data_rates = _counted_rates(corpus, self.smooth)
        elif self.data is not None:
            raise click.BadParameter(f"{self.source} is text itself; --data is for models", param_hint="--data")
        else:
            attractive, repulsive, heat = _of_corpus(self.reading.read_labelled(self.source), self.pairs, self.smooth)
        if self.svg is not None:
            with open_output(self.svg) as stream:
                stream.write(standalone(heat.first(_PICTURE_LABELS).chart()).encode())
        listed = {"attractive": _as_dicts(attractive, data_rates), "repulsive": _as_dicts(repulsive, data_rates)}
        if self.json:
            print_json({"source": self.source, **listed})
        else:
            for table in pair_tables(listed):
                print_table(table)
                print()
            _show_map(heat)


def _check_for_table(data: str | None, svg: str | None) -> None:
    for name, value in (("--data", data), ("--svg", svg)):
        if value is not None:
            raise click.BadParameter("this is for labels, not for the columns of a table", param_hint=name)


def _as_dicts(pairs: list[LabelPair], data_rates: dict[tuple[str, str], float]) -> list[dict[str, Any]]:
    """The pairs for JSON, with the rates of the text given with ``--data``."""
    beside = {"data_rate"} if data_rates else set()
    return [p._asdict() | dict.fromkeys(beside, data_rates.get((p.left, p.right))) for p in pairs]


def _of_model(path: str, n: int) -> tuple[list[LabelPair], list[LabelPair], HeatMap]:
    import corate

    tagger = corate.load(path)
    attractive, repulsive = tagger.rates(n)
    return attractive, repulsive, _heat_map(tagger.labels, tagger.model.edges.dense())


def _of_corpus(corpus: Corpus, n: int, smooth: float) -> tuple[list[LabelPair], list[LabelPair], HeatMap]:
    """The rates of all label pairs, including unseen ones."""
    import numpy as np

    from corate.model.tagger import LabelPair

    heat, chance = _counted_map(corpus, smooth)
    logs = heat.logs
    by_rate = np.lexsort((chance.ravel()[:-1], -logs.ravel()[:-1]))  # unseen pairs: likely ones last
    named = [(heat.rows[k // len(heat.columns)], heat.columns[k % len(heat.columns)], k) for k in by_rate.tolist()]
    found = [LabelPair(a, b, float(logs.flat[k]), float(np.exp(logs.flat[k]))) for a, b, k in named]
    attractive = [pair for pair in found[:n] if pair.weight > 0]
    repulsive = [pair for pair in reversed(found[len(found) - n :]) if pair.weight < 0]
    return attractive, repulsive, heat


def _counted_map(corpus: Corpus, smooth: float) -> tuple[HeatMap, Any]:
    """The logarithms of the rates of all label pairs, and of what they would be by chance."""
    import numpy as np

    from corate import _native
    from corate.counting.counts import PairCounts, label_ids
    from corate.counting.rates import edge_scores
    from corate.rate import Counts

    counts = Counts.label_pairs(corpus)
    chance = counts.log_table("P(label) P(next)")[1]
    if smooth > 0:
        table, ids = label_ids(corpus)
        counted = PairCounts(*_native.count_pairs(ids, corpus.offsets, len(table)))
        logs = edge_scores(counted, len(table), smooth).dense().astype(np.float64)
    else:
        logs = counts.log_table("CR(label; next)")[1]
    return _heat_map([str(label) for label in counts.states["label"][:-1]], logs), chance


def _counted_rates(corpus: Corpus, smooth: float) -> dict[tuple[str, str], float]:
    """The rate of every label pair of a text."""
    import numpy as np

    heat, _ = _counted_map(corpus, smooth)
    rates = np.exp(heat.logs).tolist()
    return {(a, b): rates[i][j] for i, a in enumerate(heat.rows) for j, b in enumerate(heat.columns)}


def _heat_map(labels: list[str], logs: Any) -> HeatMap:
    from corate.rate.heatmap import HeatMap

    return HeatMap((*labels, "<s>"), (*labels, "</s>"), logs)


def pair_tables(listed: Mapping[str, Any]) -> Iterator[Table]:
    """The label pairs that attract each other, and those that avoid each other, from what ``--json`` prints."""
    for title, kind in (("attract", "attractive"), ("avoid", "repulsive")):
        if pairs := listed[kind]:
            header = {"left": "label", "right": "next label"}
            header |= {"weight": "weight"} if pairs[0]["rate"] is None else {"rate": "rate"}
            header |= {"data_rate": "rate in the data"} if "data_rate" in pairs[0] else {}
            cells = [[_cell(pair[key]) for key in header] for pair in pairs]
            yield Table(cells, [*header.values()], f"label pairs that {title} each other")


def _cell(value: str | float | None) -> str:
    return value if isinstance(value, str) else "-" if value is None else f"{value:.3g}"


def _show_map(heat: HeatMap) -> None:
    shown = heat.first(_MAP_LABELS)
    more = len(heat.rows) - len(shown.rows)
    print("each label (row) before each label (column): + attract, - avoid, . neither")
    if more:
        print(f"({counted(more, 'label')} omitted; --svg shows more)")
    if is_terminal():
        rows, columns = (tuple(map(escaped, names)) for names in (shown.rows, shown.columns))
        _show_coloured(replace(shown, rows=rows, columns=columns))
    else:
        print(shown.text())


def _show_coloured(heat: HeatMap) -> None:
    from rich.console import Console
    from rich.text import Text

    from corate.pages.charts import colour
    from corate.rate.heatmap import sign

    lines = heat.text().split("\n")
    width = lines[0].index("1")
    console = Console()
    console.print(lines[0], highlight=False, markup=False)
    for i, line in enumerate(lines[1:]):
        drawn = Text(line[:width])
        for log in heat.logs[i].tolist():
            r, g, b = colour(log)
            drawn.append(f"{sign(log):^4}", style=f"#222222 on #{r:02x}{g:02x}{b:02x}")
        drawn.append(" " + line[width + 4 * len(heat.columns) :])
        console.print(drawn, no_wrap=True, crop=False, overflow="ignore", soft_wrap=True)
