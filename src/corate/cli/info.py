"""``corate info``: the contents of a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.cli import shared_options as options
from corate.cli.terminal import print_json, show_table, size

if TYPE_CHECKING:
    from corate import Tagger

__all__ = ["EXAMPLES", "info"]

EXAMPLES = """\
Examples:

\b
  corate info model.corate
  corate info model.corate --json | jq .labels
"""

_PAIRS = 8
_WEIGHTS = 8


def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    json: options.Json = False,
) -> None:
    """Show the contents of a model.

    Shows the labels, the templates, the settings, how the model was trained, and the features with the largest weights
    for a label (above 0) and against it (below 0). The co-occurrence rate of a label pair is how many times more often
    the labels are adjacent than by chance, or than their words predict. In a model trained on whole sentences, it is
    the factor of the pair. Labels with a rate above 1 attract each other; labels with a rate below 1 avoid each other.
    """
    import corate

    tagger = corate.load(model)
    facts = _facts(tagger, model)
    if json:
        print_json(facts)
    else:
        _show(tagger, facts)


def _facts(tagger: Tagger, path: str) -> dict[str, Any]:
    attractive, repulsive = tagger.rates(_PAIRS)
    favoured, opposed = tagger.strongest(_WEIGHTS)
    return {
        "model": path,
        "bytes": os.stat(path).st_size,
        "method": tagger.method,
        "columns": list(tagger.columns),
        "templates": list(tagger.features),
        "labels": list(tagger.labels),
        "words": len(tagger.words),
        "locally_normalised": tagger.model.locally_normalised,
        "record": tagger.record,
        "strongest": [weight._asdict() for weight in (*favoured, *opposed)],
        "attractive": [pair._asdict() for pair in attractive],
        "repulsive": [pair._asdict() for pair in repulsive],
    }


def _show(tagger: Tagger, facts: dict[str, Any]) -> None:
    from corate.inspection.model_facts import description

    show_table([["model", f"{facts['model']}, {size(facts['bytes'])}"], *map(list, description(tagger))])
    for title, sign in (("for", 1), ("against", -1)):
        weights = [w for w in facts["strongest"] if sign * w["weight"] > 0]
        if weights:
            print()
            cells = [[w["feature"], w["label"], f"{w['weight']:.3g}"] for w in weights]
            show_table(cells, ["feature", "label", "weight"], title=f"features {title} a label")
    for title, pairs in (("attract", facts["attractive"]), ("avoid", facts["repulsive"])):
        if pairs:
            print()
            kind = "weight" if pairs[0]["rate"] is None else "rate"
            cells = [[pair["left"], pair["right"], f"{pair[kind]:.3g}"] for pair in pairs]
            show_table(cells, ["label", "next label", kind], title=f"label pairs that {title} each other")
