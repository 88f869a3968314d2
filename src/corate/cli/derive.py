"""``corate derive``: the factorisation of the probability of a graph's variables, step by step."""

from __future__ import annotations

from typing import Annotated

import typer

from corate.cli import shared_options as options
from corate.cli.exits import UNUSABLE, complain
from corate.io.streams import open_output

__all__ = ["EXAMPLES", "derive"]

#: A copy of the library's names: importing them would slow down the start.
_FORMS = ("auto", "chain", "joint-over-interior", "tree", "junction-tree", "mrf", "conditioning")

EXAMPLES = """\
Examples:

\b
  corate derive "A-B B-C C-D"
  corate derive "Y1-Y2-Y3" --given X --latex
  corate derive "A-B B-C C-D D-A" --form junction-tree --check
  corate derive "A-B B-C" --form mrf --html > mrf.html
"""


def derive(
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="Edges, such as 'A-B B-C', and single nodes.")],
    form: Annotated[
        str,
        options.one_of(
            _FORMS,
            "chain, tree: rates of neighbours. joint-over-interior: joint probabilities divided by those of interior "
            "nodes. junction-tree: cliques divided by separators. mrf: potentials. conditioning: loops are cut by "
            "conditioning. auto: a chain, a tree or a junction tree.",
        ),
    ] = "auto",
    given: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Variables to condition on in all terms, such as X or A,B.")
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print an HTML page.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Also check every step numerically on random distributions of the graph.")
    ] = False,
    seed: options.Seed = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write. Default: standard output.")
    ] = None,
) -> None:
    """Factorise a graph by co-occurrence rates, with every step and its theorem.

    The product of the factors is the probability of all variables. Steps that need an independence are checked on the
    graph; --check also checks them numerically.
    """
    from corate import rate

    if latex and html:
        raise typer.BadParameter("use either --latex or --html, not both")
    names = [] if given is None else given.replace(",", " ").split()
    found = rate.factorise(graph, form, given=names)
    derivation = found.derivation
    shown = derivation.latex() if latex else derivation.html() if html else str(derivation)
    notes = [f"triangulated with {', '.join('-'.join(edge) for edge in found.added)}"] if found.added else []
    checked = derivation.check_random(seed) if check else None
    if checked is not None:
        notes.append(str(checked))
    before, after = ("<!-- ", " -->") if html else ("% ", "") if latex else ("", "")
    text = "\n".join([shown, *(f"{before}{line}{after}" for note in notes for line in note.split("\n"))])
    with open_output(output) as stream:
        stream.write(f"{text}\n".encode())
    if checked is not None and not checked:
        complain(
            f"{len(checked.failed)} of {len(checked.steps)} steps are wrong; this is a bug in corate, please report it"
        )
        raise typer.Exit(UNUSABLE)
