"""``corate rates``: co-occurrence rates of neighbouring labels in a model or a text, or of the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from corate.cli.column_rates import show_column_rates
from corate.cli.commands import Run, argument, command, option
from corate.cli.graph_files import refuse_graphs
from corate.cli.plot import check_suffix
from corate.cli.shared_options import JSON, Reading, is_model_file, reading_options
from corate.cli.terminal import counted, escaped, is_terminal, print_json, print_table
from corate.io.streams import bare_suffix, open_output
from corate.pages.charts import standalone
from corate.pages.tables import Table

if TYPE_CHECKING:
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

_KINDS = ("attractive", "repulsive")
#: Label pairs by kind, as ``--json`` prints them.
_Listed: TypeAlias = dict[str, list[dict[str, Any]]]
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
        listed, heat = self._of_model() if is_model_file(self.source) else self._of_text()
        if self.svg is not None:
            with open_output(self.svg) as stream:
                stream.write(standalone(heat.first(_PICTURE_LABELS).chart()).encode())
        if self.json:
            print_json({"source": self.source, **listed})
        else:
            for table in pair_tables(listed):
                print_table(table)
                print()
            _show_map(heat)

    def _of_model(self) -> tuple[_Listed, HeatMap]:
        """The pairs of a model, beside the rates of the text of ``--data``, and all weights."""
        import corate
        from corate.rate.heatmap import HeatMap

        corpus = None if self.data is None else self.reading.read_labelled(self.data)
        tagger = corate.load(self.source)
        refuse_graphs(tagger, "corate info --weights, which shows the rates of each type of edges")
        listed = {
            name: [pair._asdict() for pair in pairs]
            for name, pairs in zip(_KINDS, tagger.rates(self.pairs), strict=True)
        }
        if corpus is not None:
            from corate.rate.label_rates import LabelRates

            counted = {pair[:2]: pair[3] for pair in LabelRates.of(corpus, self.smooth).ordered()}
            for pair in (pair for some in listed.values() for pair in some):
                pair["data_rate"] = counted.get((pair["left"], pair["right"]))
        return listed, HeatMap.of_labels(tagger.labels, tagger.model.edges.dense())

    def _of_text(self) -> tuple[_Listed, HeatMap]:
        """The pairs of a text, and all rates."""
        from corate.rate.label_rates import LabelRates

        if self.data is not None:
            raise click.BadParameter(f"{self.source} is text itself; --data is for models", param_hint="--data")
        found = LabelRates.of(self.reading.read_labelled(self.source), self.smooth)
        pairs: list[dict[str, Any]]
        pairs = [dict(zip(("left", "right", "weight", "rate"), pair, strict=True)) for pair in found.ordered()]
        attractive = [pair for pair in pairs[: self.pairs] if pair["weight"] > 0]
        repulsive = [pair for pair in pairs[::-1][: self.pairs] if pair["weight"] < 0]
        return {"attractive": attractive, "repulsive": repulsive}, found.heat


def _check_for_table(data: str | None, svg: str | None) -> None:
    for name, value in (("--data", data), ("--svg", svg)):
        if value is not None:
            raise click.BadParameter("this is for labels, not for the columns of a table", param_hint=name)


def pair_tables(listed: Mapping[str, Any]) -> Iterator[Table]:
    """The label pairs that attract each other, and those that avoid each other, from what ``--json`` prints."""
    for title, kind in zip(("attract", "avoid"), _KINDS, strict=True):
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
