"""``corate derive``: the factorisation of the probability of a graph's variables, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import Run, argument, command, option
from corate.cli.exits import UNUSABLE, complain
from corate.cli.plot import refuse_picture
from corate.cli.shared_options import JSON, SEED
from corate.cli.terminal import counted, json_text
from corate.io.streams import open_output

if TYPE_CHECKING:
    from corate.rate import Check, Factorisation
    from corate.rate.terms import Value

__all__ = ["Derive"]

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
class Derive(Run):
    """Factorise a graph by co-occurrence rates, with every step and its theorem.

    The product of the factors is the probability of all variables. Steps that need an independence are checked on the
    graph; --check also checks them numerically.
    """

    graph: str = argument("GRAPH", "Edges, such as 'A-B B-C', and single nodes.")
    form: str = option(
        "--form",
        "chain, tree: rates of neighbours. joint-over-interior: joint probabilities divided by those of interior "
        "nodes. junction-tree: cliques divided by separators. mrf: potentials. conditioning: loops are cut by "
        "conditioning. auto: a chain, a tree or a junction tree.",
        default="auto",
        choices=_FORMS,
    )
    given: str | None = option("--given NAMES", "Variables to condition on in all terms, such as X or A,B.")
    configuration: str | None = option(
        "--configuration VALUES",
        "For the form mrf: the global configuration, such as A=1,B=x. Other variables are fixed to 0.",
    )
    latex: bool = option("--latex", "Print LaTeX.")
    html: bool = option("--html", "Print an HTML page.")
    check: bool = option("--check", "Also check every step numerically on random distributions of the graph.")
    seed: int = SEED
    json: bool = JSON
    output: str | None = option("--output,-o FILE", "Where to write. Default: standard output.")

    def run(self) -> None:
        """Run the command."""
        from corate import rate
        from corate.rate.parsing import parse_values

        if self.latex + self.html + self.json > 1:
            raise click.BadParameter("use only one of --latex, --html and --json")
        refuse_picture(
            self.output, "--output", "a derivation is text, LaTeX (--latex), JSON (--json) or a page (--html)"
        )
        names = [] if self.given is None else self.given.replace(",", " ").split()
        values = (
            None if self.configuration is None else parse_values(self.configuration, rate.Graph.of(self.graph).nodes)
        )
        found = rate.factorise(self.graph, self.form, given=names, configuration=values)
        checked = found.derivation.check_random(self.seed) if self.check else None
        text = (
            json_text(_facts(found, names, values, checked))
            if self.json
            else _text(found, checked, latex=self.latex, html=self.html)
        )
        with open_output(self.output) as stream:
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
