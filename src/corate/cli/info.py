"""``corate info``: the contents of a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corate.cli import shared_options as options
from corate.cli.terminal import count, print_json, show_table, size, told

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
_LABELS_SHOWN = 40


def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    json: options.Json = False,
) -> None:
    """Show the contents of a model.

    The labels, the templates, the settings, how the model was trained, and the features with the largest weights for a
    label (above 0) and against it (below 0). Label pairs have a co-occurrence rate: how many times more often they are
    neighbours than by chance, or than their words predict. In a model trained on whole sentences, it is the factor of
    the pair. Labels with a rate above 1 attract each other; labels with a rate below 1 avoid each other.
    """
    import corate

    tagger = corate.load(model)
    facts = _facts(tagger, model)
    if json:
        print_json(facts)
    else:
        _show(facts)


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


def _show(facts: dict[str, Any]) -> None:
    labels = facts["labels"]
    more = f" and {len(labels) - _LABELS_SHOWN} more" if len(labels) > _LABELS_SHOWN else ""
    unknown = () if facts["record"]["sentences"] else ("sentences", "tokens")  # a CRFsuite file does not say
    rows = [
        ["model", f"{facts['model']}, {size(facts['bytes'])}"],
        ["method", facts["method"]],
        *([["normalised", "at every position: P(label | label before, words)"]] if facts["locally_normalised"] else []),
        ["columns", " ".join(facts["columns"])],
        ["words", count(facts["words"])],
        ["labels", f"{count(len(labels))}: {' '.join(labels[:_LABELS_SHOWN])}{more}"],
        ["templates", "\n".join(facts["templates"])],
        *([key, told(value)] for key, value in facts["record"].items() if key not in facts and key not in unknown),
    ]
    show_table(rows)
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
