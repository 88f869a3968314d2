"""``corate derive``: the factorisation of the probability of a graph's variables, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import argument, command, option
from corate.cli.exits import UNUSABLE, complain
from corate.cli.plot import refuse_picture
from corate.cli.shared_options import shared
from corate.cli.terminal import counted, json_text
from corate.io.streams import open_output

if TYPE_CHECKING:
    from corate.rate import Check, Factorisation
    from corate.rate.terms import Value

__all__ = ["derive"]

#: A copy of the library's names: importing them would slow down the start.
_FORMS = ("auto", "chain", "joint-over-interior", "tree", "junction-tree", "mrf", "conditioning")

_EXAMPLES = """\
Examples:

\b
  corate derive "A-B B-C C-D"
  corate derive "Y1-Y2-Y3" --given X --latex
  corate derive "A-B B-C C-D D-A" --form junction-tree --check
  corate derive "A-B B-C" --form mrf --html > mrf.html
  corate derive "sky-ground" --form mrf --configuration sky=sun,ground=dry
  corate derive "A-B B-C" --check --json | jq .factors
"""


@command("derive", _EXAMPLES)
@argument("GRAPH", "Edges, such as 'A-B B-C', and single nodes.")
@option(
    "--form",
    "chain, tree: rates of neighbours. joint-over-interior: joint probabilities divided by those of interior nodes. "
    "junction-tree: cliques divided by separators. mrf: potentials. conditioning: loops are cut by conditioning. auto: "
    "a chain, a tree or a junction tree.",
    default="auto",
    choices=_FORMS,
)
@option("--given NAMES", "Variables to condition on in all terms, such as X or A,B.")
@option(
    "--configuration VALUES",
    "For the form mrf: the global configuration, such as A=1,B=x. Other variables are fixed to 0.",
)
@option("--latex", "Print LaTeX.")
@option("--html", "Print an HTML page.")
@option("--check", "Also check every step numerically on random distributions of the graph.")
@shared("seed", "json")
@option("--output,-o FILE", "Where to write. Default: standard output.")
def derive(
    graph: str,
    form: str,
    given: str | None,
    configuration: str | None,
    latex: bool,
    html: bool,
    check: bool,
    seed: int,
    json: bool,
    output: str | None,
) -> None:
    """Factorise a graph by co-occurrence rates, with every step and its theorem.

    The product of the factors is the probability of all variables. Steps that need an independence are checked on the
    graph; --check also checks them numerically.
    """
    from corate import rate
    from corate.rate.parsing import parse_values

    if latex + html + json > 1:
        raise click.BadParameter("use only one of --latex, --html and --json")
    refuse_picture(output, "--output", "a derivation is text, LaTeX (--latex), JSON (--json) or a page (--html)")
    names = [] if given is None else given.replace(",", " ").split()
    values = None if configuration is None else parse_values(configuration, rate.Graph.of(graph).nodes)
    found = rate.factorise(graph, form, given=names, configuration=values)
    checked = found.derivation.check_random(seed) if check else None
    text = json_text(_facts(found, names, values, checked)) if json else _text(found, checked, latex=latex, html=html)
    with open_output(output) as stream:
        stream.write(f"{text}\n".encode())
    if checked is not None and not checked:
        complain(
            f"errors in {len(checked.failed)} of {counted(len(checked.steps), 'step')}; this is a bug in corate, "
            "please report it"
        )
        raise click.exceptions.Exit(UNUSABLE)


def _text(found: Factorisation, checked: Check | None, *, latex: bool, html: bool) -> str:
    """The derivation, with notes: comments in LaTeX, paragraphs in a page."""
    derivation = found.derivation
    notes = [f"triangulated with {', '.join('-'.join(edge) for edge in found.added)}"] if found.added else []
    if checked is not None:
        notes.append(str(checked))
    if html:
        return derivation.html(notes)
    shown = derivation.latex() if latex else str(derivation)
    return "\n".join([shown, *(f"{'% ' if latex else ''}{line}" for note in notes for line in note.split("\n"))])


def _facts(
    found: Factorisation, given: list[str], configuration: dict[str, Value] | None, checked: Check | None
) -> dict[str, Any]:
    """The derivation for JSON; expressions are texts that ``corate.rate.parse`` reads."""
    lines = [(str(whole), step) for whole, step in found.derivation.lines()]
    check = None
    if checked is not None:
        failed = [checked.steps.index(step) for step in checked.failed]
        check = {"holds": checked.holds, "largest_difference": checked.largest, "failed_steps": failed}
    return {
        "form": found.form,
        "given": given,
        "configuration": configuration,
        "start": str(found.derivation.start),
        "steps": [
            {"theorem": step.theorem, "using": step.using, "result": whole} for whole, step in lines if step is not None
        ],
        "factors": [str(factor) for factor in found.factors],
        "added_edges": found.added,
        "check": check,
    }
