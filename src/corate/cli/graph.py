"""``corate graph``: fit, query, sample, learn and draw models of discrete variables on a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import Command, argument, chosen, group, option
from corate.cli.graph_answers import answers, show, show_best, show_cells, write_csv
from corate.cli.plot import check_suffix
from corate.cli.shared_options import names_in, shared
from corate.cli.terminal import ProgressBar, counted, print_json, show_table, size
from corate.io.streams import open_output
from corate.memory import parse_memory

if TYPE_CHECKING:
    from corate.graphs import GraphModel

__all__ = ["graph"]

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
_OPTIONS: dict[str, Callable[..., Any]] = {
    "data": argument("DATA", "A CSV file with a header row, or a Parquet file."),
    "model": argument("MODEL", "A model of corate, or a .bif, .uai or .xdsl file."),
    "width": option(
        "--width N",
        "Width of a chordal graph: the size of its largest clique, minus one.",
        default=3,
        number=int,
        least=1,
    ),
    "given": option("--given STATES", "Observed states, such as sky=rain,wind=low; quote special characters."),
    "output": option("--output,-o FILE", "Where to write. Default: standard output."),
    "bins": option(
        "--bins NUMBERS",
        "Divide columns of numbers into ranges with equally many rows: a number for all, such as 8, or for some, such "
        "as age=8,income=5.",
    ),
    "weights": option("--weights NAME", "The column with the weight of each row."),
    "columns": option("--columns NAMES", "Use only these columns, such as sky,wind."),
    "no_progress": option("--quiet,-q", "Show no progress."),
    "memory": option(
        "--memory SIZE", "Maximum memory, such as 500M or 2G. A model that needs more is an error.", default="4G"
    ),
}


@group("graph", _EXAMPLES)
def graph() -> None:
    """Fit and query undirected graphical models of the columns of a table, and learn their graphs."""


def _command(name: str, *shown: str) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command of the group, with the options of several commands that are named."""
    return lambda function: graph.command(name, cls=Command)(chosen(_OPTIONS, *shown)(function))


@_command("fit", "data")
@option("--output,-o FILE", "The model file to write.", required=True)
@argument("[GRAPH]", "Edges, such as 'A-B B-C', between columns.", "edges", required=False)
@option("--structure", _STRUCTURE, choices=_STRUCTURES)
@chosen(_OPTIONS, "width", "columns")
@option("--prior X", "Equivalent sample size of the prior, in rows.", default=1.0, number=float, least=0)
@option(
    "--method",
    "The estimate. closed: from counts, for triangulated graphs. ipf: iterative proportional fitting. composite: each "
    "clique separately. conditioning: from counts, after a smallest set of variables that cuts all loops is connected "
    "to all others. auto: closed if possible, else ipf.",
    default="auto",
    choices=("auto", "closed", "ipf", "composite", "conditioning"),
)
@chosen(_OPTIONS, "bins", "weights")
@option(
    "--missing", "Missing values are an error, or the model is fitted by EM.", default="error", choices=("error", "em")
)
@option("--hidden NAMES", "Hidden variables and their number of states, such as H=3.")
@chosen(_OPTIONS, "memory")
@shared("seed", "threads", "json", "quiet")
def fit(
    data: str,
    output: str,
    edges: str | None,
    structure: str | None,
    width: int,
    columns: str | None,
    bins: str | None,
    weights: str | None,
    hidden: str | None,
    memory: str,
    json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Fit a model to a table, for a given graph or for one that is learned. Give either GRAPH or --structure."""
    from corate.graphs import GraphModel

    if (edges is None) == (structure is None):
        raise click.BadParameter("give either a graph such as 'A-B B-C', or --structure")
    limit = parse_memory(memory)
    variables = {name: int(n) if n.isdigit() else 0 for name, n in (_states(hidden) if hidden else {}).items()}
    with ProgressBar(quiet) as progress:
        progress("reading")
        table = _table(data, columns, weights)
        progress("fitting" if structure is None else "learning the graph and fitting")
        model = GraphModel.fit(
            table,
            edges,
            structure=_structure(structure, width),
            bins=_bins(bins),
            weights=weights,
            hidden=variables,
            memory=limit,
            **given,
        )
        written = model.save(output)
    plan = model.costs()
    facts: dict[str, Any] = {
        "model": output,
        "bytes": written,
        "variables": len(model.variables),
        "edges": len(model.graph.edges),
        "treewidth": plan.treewidth,
        "cells": plan.cells,
        "record": {key: value for key, value in model.record.items() if key != "objective"},
    }
    if json:
        print_json(facts)
    elif not quiet:
        print(f"{counted(len(model.variables), 'variable')}, {counted(len(model.graph.edges), 'edge')}, ", end="")
        print(f"treewidth {plan.treewidth}")
        print(f"model: {output}, {size(written)}")


@_command("learn", "data")
@option("--structure", _STRUCTURE, default="tree", choices=_STRUCTURES)
@chosen(_OPTIONS, "width", "columns", "bins", "weights")
@shared("threads", "json")
@chosen(_OPTIONS, "no_progress")
def learn(
    data: str,
    structure: str | None,
    width: int,
    columns: str | None,
    bins: str | None,
    weights: str | None,
    threads: int,
    json: bool,
    quiet: bool,
) -> None:
    """Learn a graph, and show which columns depend on each other, the strongest dependence first."""
    from corate.graphs import GraphModel

    with ProgressBar(quiet) as progress:
        progress("reading")
        table = _table(data, columns, weights)
        progress("learning the graph")
        learned = _structure(structure, width)
        model = GraphModel.fit(table, structure=learned, bins=_bins(bins), weights=weights, threads=threads)
        found = model.to_networkx()
    listed = sorted(((found.edges[edge]["mutual_information"], *edge) for edge in model.graph.edges), reverse=True)
    text = repr(model.graph).removeprefix('Graph("').removesuffix('")')
    if json:
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


@_command("query", "model")
@argument("[EVIDENCE]", "A table of evidence. Empty cells are not observed.", required=False)
@chosen(_OPTIONS, "given")
@option("--soft STATES", "Soft evidence: the likelihood of each state of a variable, such as sky=rain=0.7,sky=sun=0.3.")
@option("--variables NAMES", "Show only these variables.")
@option("--joint", "Show the joint probabilities of --variables.")
@option("--most-likely", "Show the most likely states of all variables together.")
@option("--nbest N", "Show the N most likely joint states of all variables.", number=int, least=1)
@chosen(_OPTIONS, "output", "memory")
@shared("threads", "json")
@chosen(_OPTIONS, "no_progress")
def query(
    model: str,
    evidence: str | None,
    given: str | None,
    soft: str | None,
    variables: str | None,
    joint: bool,
    most_likely: bool,
    nbest: int | None,
    output: str | None,
    memory: str,
    threads: int,
    json: bool,
    quiet: bool,
) -> None:
    """Show the probabilities of all states, or the most likely states, given evidence.

    With a table of evidence, the answer is a CSV table with a row for each of its rows.
    """
    read = _model(model, memory)
    if evidence is not None and (given is not None or soft is not None):
        raise click.BadParameter("give either a table of evidence, or --given and --soft", param_hint="--given")
    if nbest is not None and (evidence is not None or joint or most_likely):
        raise click.BadParameter("omit --joint, --most-likely and a table of evidence", param_hint="--nbest")
    chosen = list(read.variables) if variables is None else names_in(variables)
    read.graph.require(chosen)
    if joint and (evidence is not None or variables is None or most_likely):
        raise click.BadParameter("this needs --variables, and no table of evidence", param_hint="--joint")
    if evidence is not None:
        from corate.formats.tables import read_columns

        with ProgressBar(quiet) as progress:
            progress("reading")
            rows = read_columns(evidence)
            progress("answering")
            header, table = answers(read, rows, chosen, most_likely, threads)
            write_csv(output, header, table)
        return
    known: dict[str, Any] = dict(_states(given)) if given else {}
    known |= _likelihoods(read, soft) if soft else {}
    if nbest is not None:
        show_best(chosen, read.nbest(nbest, known, threads=threads), json, output)
    elif most_likely:
        best = read.most_likely(known)
        show({name: best[name] for name in chosen}, json, output, ["variable", "state"])
    elif joint:
        cells = read.joint(chosen, known)
        show_cells(read, chosen, cells, json, output)
    else:
        found = read.marginals(known)
        show(
            {name: dict(zip(map(str, read.states[name]), found[name].tolist(), strict=True)) for name in chosen},
            json,
            output,
            ["variable", "state", "probability"],
        )


@_command("sample", "model")
@option("-n N", "The number of rows.", default=10, number=int, least=1)
@chosen(_OPTIONS, "given")
@shared("seed")
@chosen(_OPTIONS, "output", "memory", "no_progress")
def sample(model: str, n: int, given: str | None, seed: int, output: str | None, memory: str, quiet: bool) -> None:
    """Draw rows at random from a model, and write them as a CSV table."""
    with ProgressBar(quiet) as progress:
        progress("sampling")
        read = _model(model, memory)
        draws = read.sample(n, _states(given) if given else None, seed=seed)
        write_csv(output, list(read.variables), zip(*(draws[name].tolist() for name in read.variables), strict=True))


@_command("draw", "model", "output")
@shared("seed")
@chosen(_OPTIONS, "memory")
def draw(model: str, output: str | None, seed: int, memory: str) -> None:
    """Draw the graph as SVG, on standard output or in a file with the suffix .svg.

    Wide edges are strong dependences. An edge is red if states of the same rank (the first with the first, the last
    with the last) attract each other, and blue if they avoid each other.
    """
    check_suffix(output, "--output", ".svg")
    read = _model(model, memory)
    with open_output(output) as stream:
        stream.write(read.draw(seed=seed).encode())


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
