"""``corate graph``: fit, query, sample, learn and draw models of discrete variables on a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from corate.cli import graph_answers
from corate.cli.commands import Run, argument, command, group, option
from corate.cli.graph_answers import write_csv
from corate.cli.plot import check_suffix
from corate.cli.shared_options import JSON, SEED, THREADS, Reporting, names_in
from corate.cli.terminal import ProgressBar, counted, print_json, show_table, size
from corate.io.streams import open_output
from corate.memory import parse_memory

if TYPE_CHECKING:
    from corate.graphs import GraphModel

__all__ = ["Graph"]

_EXAMPLES = """\
Examples:

\b
  corate graph learn data.csv --structure tree            which columns depend on each other
  corate graph fit data.csv "sky-ground sky-wind" -o m.corate
  corate graph fit data.parquet --structure chordal --width 2 -o m.corate
  corate graph fit data.csv "age-income" --bins 8 -o m.corate      divide numbers into 8 ranges
  corate graph query m.corate --given sky=rain            the probabilities of all states
  corate graph query m.corate --nbest 5 --given sky=rain  the five most likely joint states
  corate graph query m.corate new.csv -o answers.csv      a row of answers for each row of evidence
  corate graph query m.corate new.csv --most-likely
  corate graph sample m.corate -n 1000 --given sky=rain -o rows.csv
  corate graph draw m.corate -o m.svg
"""

_STRUCTURES = ("tree", "forest", "chordal")
_STRUCTURE = (
    "Learn the graph. tree: the most likely tree. forest: the best forest by the criterion BIC. chordal: a chordal "
    "graph of limited width."
)
#: Options of several commands.
_DATA: Any = argument("DATA", "A CSV file with a header row, or a Parquet file.")
_MODEL: Any = argument("MODEL", "A model of corate, or a .bif, .uai or .xdsl file.")
_WIDTH: Any = option(
    "--width N", "Width of a chordal graph: the size of its largest clique, minus one.", default=3, least=1
)
_GIVEN: Any = option("--given STATES", "Observed states, such as sky=rain,wind=low; quote special characters.")
_OUTPUT: Any = option("--output,-o FILE", "Where to write. Default: standard output.")
_BINS: Any = option(
    "--bins NUMBERS",
    "Divide columns of numbers into ranges with equally many rows: a number for all, such as 8, or for some, such "
    "as age=8,income=5.",
)
_WEIGHTS: Any = option("--weights NAME", "The column with the weight of each row.")
_COLUMNS: Any = option("--columns NAMES", "Use only these columns, such as sky,wind.")
_NO_PROGRESS: Any = option("--quiet,-q", "Show no progress.")
_MEMORY: Any = option(
    "--memory SIZE", "Maximum memory, such as 500M or 2G. A model that needs more is an error.", default="4G"
)


@group("graph", _EXAMPLES)
def Graph() -> None:  # noqa: N802  # a command like the classes below
    """Fit and query undirected graphical models of the columns of a table, and learn their graphs."""


@command("fit", group=Graph)
class Fit(Reporting):
    """Fit a model to a table, for a given graph or for one that is learned. Give either GRAPH or --structure."""

    data: str = _DATA
    output: str = option("--output,-o FILE", "The model file to write.", required=True)
    edges: str | None = argument("[GRAPH]", "Edges, such as 'A-B B-C', between columns.", required=False)
    structure: str | None = option("--structure", _STRUCTURE, choices=_STRUCTURES)
    width: int = _WIDTH
    columns: str | None = _COLUMNS
    prior: float = option("--prior X", "Equivalent sample size of the prior, in rows.", default=1.0, least=0)
    method: str = option(
        "--method",
        "The estimate. closed: from counts, for triangulated graphs. ipf: iterative proportional fitting. composite: "
        "each clique separately. conditioning: from counts, after a smallest set of variables that cuts all loops is "
        "connected to all others. auto: closed if possible, else ipf.",
        default="auto",
        choices=("auto", "closed", "ipf", "composite", "conditioning"),
    )
    bins: str | None = _BINS
    weights: str | None = _WEIGHTS
    missing: str = option(
        "--missing",
        "Missing values are an error, or the model is fitted by EM.",
        default="error",
        choices=("error", "em"),
    )
    hidden: str | None = option("--hidden NAMES", "Hidden variables and their number of states, such as H=3.")
    memory: str = _MEMORY
    seed: int = SEED
    threads: int = THREADS

    def run(self) -> None:
        """Run the command."""
        from corate.graphs import GraphModel

        if (self.edges is None) == (self.structure is None):
            raise click.BadParameter("give either a graph such as 'A-B B-C', or --structure")
        limit = parse_memory(self.memory)
        variables = {
            name: int(n) if n.isdigit() else 0 for name, n in (_states(self.hidden) if self.hidden else {}).items()
        }
        with ProgressBar(self.quiet) as progress:
            progress("reading")
            table = _table(self.data, self.columns, self.weights)
            progress("fitting" if self.structure is None else "learning the graph and fitting")
            model = GraphModel.fit(
                table,
                self.edges,
                structure=_structure(self.structure, self.width),
                bins=_bins(self.bins),
                weights=self.weights,
                hidden=variables,
                prior=self.prior,
                method=self.method,
                missing=self.missing,
                memory=limit,
                seed=self.seed,
                threads=self.threads,
            )
            written = model.save(self.output)
        plan = model.costs()
        facts: dict[str, Any] = {
            "model": self.output,
            "bytes": written,
            "variables": len(model.variables),
            "edges": len(model.graph.edges),
            "treewidth": plan.treewidth,
            "cells": plan.cells,
            "record": {key: value for key, value in model.record.items() if key != "objective"},
        }
        sizes = f"{counted(len(model.variables), 'variable')}, {counted(len(model.graph.edges), 'edge')}"
        shown = f"{sizes}, treewidth {plan.treewidth}\nmodel: {self.output}, {size(written)}"
        self.report(facts, lambda: print(shown))


@command("learn", group=Graph)
class Learn(Run):
    """Learn a graph, and show which columns depend on each other, the strongest dependence first."""

    data: str = _DATA
    structure: str | None = option("--structure", _STRUCTURE, default="tree", choices=_STRUCTURES)
    width: int = _WIDTH
    columns: str | None = _COLUMNS
    bins: str | None = _BINS
    weights: str | None = _WEIGHTS
    threads: int = THREADS
    json: bool = JSON
    quiet: bool = _NO_PROGRESS

    def run(self) -> None:
        """Run the command."""
        from corate.graphs import GraphModel

        with ProgressBar(self.quiet) as progress:
            progress("reading")
            table = _table(self.data, self.columns, self.weights)
            progress("learning the graph")
            learned = _structure(self.structure, self.width)
            model = GraphModel.fit(
                table, structure=learned, bins=_bins(self.bins), weights=self.weights, threads=self.threads
            )
            found = model.to_networkx()
        listed = sorted(((found.edges[edge]["mutual_information"], *edge) for edge in model.graph.edges), reverse=True)
        text = repr(model.graph).removeprefix('Graph("').removesuffix('")')
        if self.json:
            print_json(
                {
                    "graph": text,
                    "variables": list(model.variables),
                    "edges": [{"left": a, "right": b, "mutual_information": bits} for bits, a, b in listed],
                }
            )
            return
        show_table([[a, b, f"{value:.4f}"] for value, a, b in listed], ["variable", "variable", "nats"])
        print(f"graph: {text}")


@command("query", group=Graph)
class Query(Run):
    """Show the probabilities of all states, or the most likely states, given evidence.

    With a table of evidence, the answer is a CSV table with a row for each of its rows.
    """

    model: str = _MODEL
    evidence: str | None = argument("[EVIDENCE]", "A table of evidence. Empty cells are not observed.", required=False)
    given: str | None = _GIVEN
    soft: str | None = option(
        "--soft STATES", "Soft evidence: the likelihood of each state of a variable, such as sky=rain=0.7,sky=sun=0.3."
    )
    variables: str | None = option("--variables NAMES", "Show only these variables.")
    joint: bool = option("--joint", "Show the joint probabilities of --variables.")
    most_likely: bool = option("--most-likely", "Show the most likely states of all variables together.")
    nbest: int | None = option("--nbest N", "Show the N most likely joint states of all variables.", least=1)
    output: str | None = _OUTPUT
    memory: str = _MEMORY
    threads: int = THREADS
    json: bool = JSON
    quiet: bool = _NO_PROGRESS

    def run(self) -> None:
        """Run the command."""
        read = _model(self.model, self.memory)
        if self.evidence is not None and (self.given is not None or self.soft is not None):
            raise click.BadParameter("give either a table of evidence, or --given and --soft", param_hint="--given")
        if self.nbest is not None and (self.evidence is not None or self.joint or self.most_likely):
            raise click.BadParameter("omit --joint, --most-likely and a table of evidence", param_hint="--nbest")
        chosen = list(read.variables) if self.variables is None else names_in(self.variables)
        read.graph.require(chosen)
        if self.joint and (self.evidence is not None or self.variables is None or self.most_likely):
            raise click.BadParameter("this needs --variables, and no table of evidence", param_hint="--joint")
        if self.evidence is not None:
            from corate.formats.tables import read_columns

            with ProgressBar(self.quiet) as progress:
                progress("reading")
                rows = read_columns(self.evidence)
                progress("answering")
                header, table = graph_answers.answers(read, rows, chosen, self.most_likely, self.threads)
                write_csv(self.output, header, table)
            return
        known: dict[str, Any] = dict(_states(self.given)) if self.given else {}
        known |= _likelihoods(read, self.soft) if self.soft else {}
        if self.nbest is not None:
            facts, header, cells = graph_answers.best_states(read, chosen, known, self.nbest, self.threads)
        elif self.most_likely:
            facts, header, cells = graph_answers.most_likely(read, chosen, known)
        elif self.joint:
            facts, header, cells = graph_answers.joint(read, chosen, known)
        else:
            facts, header, cells = graph_answers.marginals(read, chosen, known)
        if self.json:
            print_json(facts)
        elif self.output is not None:
            write_csv(self.output, header, cells)
        else:
            show_table(cells, header)


@command("sample", group=Graph)
class Sample(Run):
    """Draw rows at random from a model, and write them as a CSV table."""

    model: str = _MODEL
    n: int = option("-n N", "The number of rows.", default=10, least=1)
    given: str | None = _GIVEN
    seed: int = SEED
    output: str | None = _OUTPUT
    memory: str = _MEMORY
    quiet: bool = _NO_PROGRESS

    def run(self) -> None:
        """Run the command."""
        with ProgressBar(self.quiet) as progress:
            progress("sampling")
            read = _model(self.model, self.memory)
            draws = read.sample(self.n, _states(self.given) if self.given else None, seed=self.seed)
            write_csv(
                self.output, list(read.variables), zip(*(draws[name].tolist() for name in read.variables), strict=True)
            )


@command("draw", group=Graph)
class Draw(Run):
    """Draw the graph as SVG, on standard output or in a file with the suffix .svg.

    Wide edges are strong dependences. An edge is red if states of the same rank (the first with the first, the last
    with the last) attract each other, and blue if they avoid each other.
    """

    model: str = _MODEL
    output: str | None = _OUTPUT
    seed: int = SEED
    memory: str = _MEMORY

    def run(self) -> None:
        """Run the command."""
        check_suffix(self.output, "--output", ".svg")
        read = _model(self.model, self.memory)
        with open_output(self.output) as stream:
            stream.write(read.draw(seed=self.seed).encode())


def _model(path: str, memory: str) -> GraphModel:
    from corate.graphs import GraphModel
    from corate.graphs.files import FORMATS
    from corate.io.streams import bare_suffix

    budget = parse_memory(memory)
    if bare_suffix(path).removeprefix(".") in FORMATS:
        return GraphModel.read(path, memory=budget)
    return GraphModel.load(path, memory=budget)


def _table(path: str, columns: str | None, weights: str | None) -> Any:
    from corate.formats.tables import read_columns

    if columns is None:
        return read_columns(path)
    return read_columns(path, list(dict.fromkeys([*names_in(columns), *([] if weights is None else [weights])])))


def _structure(name: str | None, width: int) -> Any:
    from corate.graphs import Chordal, Tree

    return None if name is None else Chordal(width) if name == "chordal" else Tree(forest=name == "forest")


def _states(text: str) -> dict[str, str]:
    """The states in an option.

    >>> _states('sky=rain, "wind=in, out"')
    {'sky': 'rain', 'wind': 'in, out'}
    """
    found: dict[str, str] = {}
    for part in names_in(text):
        name, mark, state = part.partition("=")
        if not mark or not name.strip() or name.strip() in found:
            raise click.BadParameter(f"{part!r} is not a variable with one state, such as sky=rain")
        found[name.strip()] = state.strip()
    return found


def _bins(text: str | None) -> int | dict[str, int] | None:
    """The numbers of ranges in an option.

    >>> _bins("8"), _bins("age=8, income=5")
    (8, {'age': 8, 'income': 5})
    """
    if text is None or text.strip().isdigit():
        return text if text is None else int(text)
    found = _states(text)
    if wrong := next((name for name, n in found.items() if not n.isdigit()), None):
        raise click.BadParameter(f"{wrong}={found[wrong]} is not a column with a number", param_hint="--bins")
    return {name: int(n) for name, n in found.items()}


def _likelihoods(model: GraphModel, text: str) -> dict[str, dict[Any, float]]:
    """The likelihoods in an option, by the states of the model."""
    found: dict[str, dict[Any, float]] = {}
    for part in names_in(text):
        name, mark, rest = part.partition("=")
        state, also, number = (piece.strip() for piece in rest.rpartition("="))
        own = {str(one): one for one in model.states.get(name.strip(), ())}
        try:
            if not mark or not also or state not in own:
                raise ValueError
            found.setdefault(name.strip(), {})[own[state]] = float(number)
        except ValueError:
            raise click.BadParameter(
                f"{part!r} is not a variable with one of its states and a number, such as sky=rain=0.7",
                param_hint="--soft",
            ) from None
    return found
