"""``corate info``: what a model is for, how it was trained, and what its file holds."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from corate.cli.commands import Run, argument, command, option
from corate.cli.shared_options import JSON
from corate.cli.terminal import count, counted, in_words, percent, print_json, print_table, show_table, size
from corate.pages.tables import Table

if TYPE_CHECKING:
    from corate import Tagger
    from corate.model.graph_scores import EdgeTable

__all__ = ["Info"]

_EXAMPLES = """\
Examples:

\b
  corate info model.corate
  corate info model.corate --templates
  corate info model.corate --weights          the strongest features, and which labels attract each other
  corate info model.corate --all
  corate info model.corate --json | jq .labels
  corate info                                 the versions of all packages, for reports of problems
"""

_PAIRS = 8
_WEIGHTS = 8
_LISTED = 40
#: What takes space in a model file, by the first part of the names of tensors.
_PARTS = {
    "weights": ("weights", "edge_weights", "triples", "bias", "parts", "label_parts", "vectors"),
    "words and features": ("strings", "values", "prefixes", "keys", "attributes", "lexicon"),
    "scores of words": ("rows",),
    "label pairs": ("edges", "labels", "word_pairs", "edge_types"),
    "counts for updates": ("counts", "pairs"),
}
#: Entries of a record that the first table shows in other words.
_SAID = (
    *("method", "sentences", "tokens", "labels", "columns", "words", "templates", "layout", "label_source"),
    "edge_source",
    *("version", "constrain", "shrunk", "features", "normalised"),
)
#: Those that it shows for models of graphs.
_SAID_OF_GRAPHS = ("graphs", "nodes", "scores of nodes", "types of edges", "exponents", "polish", "all_labels")


@command("info", _EXAMPLES)
class Info(Run):
    """Show what a model labels, what input it expects, how it was trained, and what takes the space in its file.

    With --weights: weights above 0 are for a label, and weights below 0 against it. Label pairs with a weight above 0
    attract each other; those with a weight below 0 avoid each other. In models of empirical, label pairs have a
    co-occurrence rate instead: how many times more often they are neighbours than by chance. Pairs with a rate above 1
    attract each other; those with a rate below 1 avoid each other. So do those of models of graphs, for each type of
    edges.
    """

    model: str | None = argument("[MODEL]", "The model file. Without it: the versions of all packages.", required=False)
    templates: bool = option("--templates", "Also list the templates of its features.")
    weights: bool = option(
        "--weights",
        "Also show the features with the largest weights, and the label pairs that attract or avoid each other.",
    )
    everything: bool = option("--all", "Show all of this.")
    json: bool = JSON

    def run(self) -> None:
        """Run the command."""
        import corate

        if self.model is None:
            self._show_versions()
            return
        tagger = corate.load(self.model)
        facts = _facts(tagger, self.model)
        if self.json:
            print_json(facts)
        else:
            _show(tagger, facts, templates=self.templates or self.everything, weights=self.weights or self.everything)

    def _show_versions(self) -> None:
        """What is installed, without a model."""
        from corate.versions import show_versions, versions

        asked = {"--templates": self.templates, "--weights": self.weights, "--all": self.everything}
        for name, given in asked.items():
            if given:
                raise click.BadParameter("this needs a model file", param_hint=name)
        if self.json:
            print_json(versions())
        else:
            show_versions()


def _facts(tagger: Tagger, path: str) -> dict[str, Any]:
    graph = tagger.model.graph
    attractive, repulsive = tagger.rates(_PAIRS) if graph is None else ([], [])
    favoured, opposed = tagger.strongest(_WEIGHTS)
    status = os.stat(path)
    return {
        "model": path,
        "bytes": status.st_size,
        "bytes_by_part": _bytes_by_part(path),
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.st_mtime)),
        "version": tagger.record.get("version"),
        "method": tagger.method,
        "columns": list(tagger.columns),
        "input": _input(tagger),
        "tag_with": _command(tagger, path),
        "templates": list(tagger.features),
        "labels": list(tagger.labels),
        "span_types": _span_types(tagger),
        "words": len(tagger.words),
        "locally_normalised": tagger.model.locally_normalised,
        "temperature": tagger.record.get("temperature"),
        "constrain": tagger.record.get("constrain"),
        "can_update": tagger.counts is not None,
        "record": tagger.record,
        "strongest": [weight._asdict() for weight in (*favoured, *opposed)],
        "attractive": [pair._asdict() for pair in attractive],
        "repulsive": [pair._asdict() for pair in repulsive],
        **({} if graph is None else {"edges": [_edge_facts(tagger, own) for own in graph.edges]}),
    }


def _edge_facts(tagger: Tagger, own: EdgeTable) -> dict[str, Any]:
    """A type of edges with the rates of the label pairs that attract or avoid each other most."""
    names, exponents = tagger.labels, tagger.record.get("exponents")
    rates: list[dict[str, Any]] = [
        {"left": a, "right": b, "rate": rate}
        for (a, b), rate in tagger.edge_rates(own.type).items()
        if not own.symmetric or names.index(a) <= names.index(b)
    ]
    ordered = sorted(rates, key=lambda pair: -pair["rate"])
    return {
        "type": own.type,
        "symmetric": own.symmetric,
        "features": len(own.weights),
        "exponent": exponents.get(own.type) if isinstance(exponents, dict) else None,
        "attractive": [pair for pair in ordered[:_PAIRS] if pair["rate"] > 1],
        "repulsive": [pair for pair in ordered[: -_PAIRS - 1 : -1] if pair["rate"] < 1],
    }


def _show(tagger: Tagger, facts: dict[str, Any], *, templates: bool = True, weights: bool = True) -> None:
    from corate.inspection.model_facts import description

    described = dict(description(tagger))
    on_graphs = tagger.model.graph is not None
    show_table((_summary_of_graphs if on_graphs else _summary)(facts, tagger, described))
    said = (*_SAID, *_SAID_OF_GRAPHS) if on_graphs else _SAID
    if rows := [[name, text] for name, text in described.items() if name not in said]:
        print()
        show_table(rows, title="training")
    if templates:
        print()
        show_table([[template] for template in facts["templates"]], title="templates")
    if weights:
        from corate.cli.rates import pair_tables

        for table in (*_weight_tables(facts), *pair_tables(facts), *_edge_tables(facts)):
            print()
            print_table(table)
    hidden = [name for name, shown in (("--templates", templates), ("--weights", weights)) if not shown]
    if hidden:
        print(f"\nmore with {' and '.join(hidden)}")


def _summary(facts: dict[str, Any], tagger: Tagger, described: dict[str, str]) -> list[list[str]]:
    """What people ask of a model, by name; ``described`` is its description."""
    record = facts["record"]
    rows = [
        ["model", f"{facts['model']}, {size(facts['bytes'])}, written {facts['written'][:10]}"],
        *([name, described[name]] for name in ("method", "normalised", "labels") if name in described),
    ]
    if facts["span_types"] is not None:
        rows.append(["spans", f"{counted(len(facts['span_types']), 'type')}: {_listed(facts['span_types'])}"])
    rows += [["input", facts["input"]], ["tag with", facts["tag_with"]]]
    if record["sentences"]:  # a CRFsuite file does not say
        by = f", by corate {facts['version']}" if facts["version"] else ""
        text = f"{counted(record['sentences'], 'sentence')}, {counted(record['tokens'], 'token')}"
        rows.append(["trained on", f"{text}{by}"])
    rows.append(["held-out", _held_out(record)])
    rows.append(["probabilities", _probabilities(facts)])
    rows.append(["constraints", f"valid in {facts['constrain']}" if facts["constrain"] else "none"])
    rows.append(["more text", _more_text(facts, tagger)])
    words = f"{counted(facts['words'], 'word')}, " if facts["words"] else ""
    rows.append(["holds", f"{words}{counted(record['features'], 'feature')}"])
    if facts["bytes_by_part"]:
        rows.append(["size", ", ".join(f"{name} {size(n)}" for name, n in facts["bytes_by_part"].items())])
    if "shrunk" in record:
        rows.append(["shrunk", in_words(record["shrunk"])])
    return [row for row in rows if row[1]]


def _summary_of_graphs(facts: dict[str, Any], tagger: Tagger, described: dict[str, str]) -> list[list[str]]:
    """What people ask of a model of graphs."""
    from corate.model.notebook import edge_texts, node_text, trained_on

    record, edges = facts["record"], edge_texts(tagger)
    more = f"; and {counted(len(edges) - _LISTED, 'more type')}" if len(edges) > _LISTED else ""
    by = f", by corate {facts['version']}" if facts["version"] else ""
    rows = [
        ["model", f"{facts['model']}, {size(facts['bytes'])}, written {facts['written'][:10]}"],
        *([name, described[name]] for name in ("method", "labels")),
        ["nodes", f"scored by {node_text(tagger)}"],
        ["edges", "; ".join(edges[:_LISTED]) + more if edges else "none"],
        ["input", facts["input"]],
        ["tag with", facts["tag_with"]],
        ["trained on", f"{trained_on(tagger)}{by}"],
        ["polish", _polish(record.get("polish"))],
        ["inference", "exact on forests, and on loops while a clique tree fits into memory; messages on others"],
        ["more data", "train it again on all graphs"],
        ["size", ", ".join(f"{name} {size(n)}" for name, n in facts["bytes_by_part"].items())],
        ["shrunk", in_words(record["shrunk"]) if "shrunk" in record else ""],
    ]
    return [row for row in rows if row[1]]


def _polish(found: Any) -> str:
    """What joint training after separate training did, by the record of a model of graphs."""
    if not isinstance(found, dict):
        return ""
    losses = found.get("held_out")
    before, after = (losses.get(name) if isinstance(losses, dict) else None for name in ("before", "after"))
    if not found.get("iterations"):
        return (
            "not tried, because no nodes could be held out" if before is None else "none: held-out nodes did not gain"
        )
    gain = f"; -log P(label) of held-out nodes {in_words(before)} before, {in_words(after)} after"
    return f"{in_words(found['iterations'])} iterations{'' if before is None else gain}"


def _edge_tables(facts: dict[str, Any]) -> Iterator[Table]:
    """The label pairs with the largest and smallest rates along each type of edges of a model of graphs."""
    for own in facts.get("edges", [])[:_LISTED]:
        for title, kind in (("attract", "attractive"), ("avoid", "repulsive")):
            if pairs := own[kind]:
                cells = [[pair["left"], pair["right"], f"{pair['rate']:.3g}"] for pair in pairs]
                header = ("label", "other label" if own["symmetric"] else "label of the second end", "rate")
                yield Table(cells, header, f"label pairs that {title} each other along {own['type']}")


def _listed(names: list[str]) -> str:
    more = f" and {count(len(names) - _LISTED)} more" if len(names) > _LISTED else ""
    return " ".join(names[:_LISTED]) + more


def _span_types(tagger: Tagger) -> list[str] | None:
    """The types of spans that the labels mark; None if they mark no spans."""
    from corate.spans import SpanLabels, are_spans

    if tagger.model.graph is not None or not are_spans(tagger.labels):
        return None
    return sorted(type_ or "(no type)" for type_ in SpanLabels.of(tagger.labels).types)


def _input(tagger: Tagger) -> str:
    """What text the model reads."""
    if tagger.model.graph is not None and not tagger.edge_source:
        if not tagger.label_source:
            return "graphs: a corpus of Corpus.from_graphs, or of corate.read with edges"
        read = [name.removesuffix(":number") for name in tagger.layout if name not in ("node", "label")]
        columns = f", with the columns {', '.join(read)}" if read else ""
        return f"CSV files of nodes{columns}, and of edges; the label is {tagger.label_source}"
    if not tagger.columns:
        return "ready-made features of each token, as in CRFsuite's files (--format items)"
    edges = f"; the edges are {tagger.edge_source}" if tagger.edge_source else ""
    if tagger.label_source:
        return f"CoNLL-U; the label is {tagger.label_source}{edges}"
    observed = [name for name in tagger.layout if name != "label"]
    if len(observed) == 1 and not edges:
        return "words: one token a line, or one sentence a line (--format text; raw for text that is not tokenised)"
    unread = [name for name in observed if name not in (*tagger.vocabulary.columns, "_")]
    also = f"; {', '.join(unread)} may be anything" if unread else ""
    return f"columns {', '.join(observed)}, one token a line{also}{edges}"


def _command(tagger: Tagger, path: str) -> str:
    """An example of how to tag with the model."""
    quoted = shlex.quote(path)
    if tagger.model.graph is not None and not tagger.edge_source:
        if tagger.label_source:
            return f"corate tag {quoted} nodes.csv --edges edges.csv -o tagged.csv"
        return f"corate.load({path!r}).tag_all(corpus), in Python"
    if not tagger.columns:
        return f"corate tag {quoted} new.items --format items"
    if tagger.label_source:
        return f"corate tag {quoted} new.conllu -o tagged.conllu"
    alone = len([name for name in tagger.layout if name != "label"]) == 1
    return (
        f"corate tag {quoted} new.txt --format text"
        if alone and not tagger.edge_source
        else f"corate tag {quoted} new.tsv -o tagged.tsv"
    )


def _held_out(record: dict[str, Any]) -> str:
    """Scores on held-out text, if the record has them."""
    found = record.get("held_out")
    if not isinstance(found, dict):
        return ""
    backoffs = found.get("ladders")
    scores = backoffs.get(record.get("ladder")) if isinstance(backoffs, dict) else found
    if not isinstance(scores, dict) or not isinstance(scores.get("accuracy"), float):
        return ""
    f1 = scores.get("f1")
    return f"accuracy {percent(scores['accuracy'])}" + (f", F1 {percent(f1)}" if isinstance(f1, float) else "")


def _probabilities(facts: dict[str, Any]) -> str:
    if isinstance(facts["temperature"], float):
        return f"calibrated on held-out text, with the temperature {facts['temperature']:.4g}"
    if facts["locally_normalised"]:
        return "yes"
    return "yes, not calibrated; corate train --calibrate does so"


def _more_text(facts: dict[str, Any], tagger: Tagger) -> str:
    """How the model can learn from more text."""
    if facts["can_update"]:
        return "corate update adds to its counts"
    if tagger.model.locally_normalised:
        return "train it again on all text"
    return "corate train --init trains it further"


def _bytes_by_part(path: str) -> dict[str, int]:
    """The bytes of the parts of a model file, the largest first; empty for a CRFsuite file."""
    from corate.io import tensor_file
    from corate.model import crfsuite

    if crfsuite.recognised(path):
        return {}
    tensors, _ = tensor_file.read(path, mmap=True)
    found = {
        part: sum(tensor.nbytes for name, tensor in tensors.items() if name.partition(".")[0] in names)
        for part, names in _PARTS.items()
    }
    found["header"] = os.stat(path).st_size - sum(found.values())
    return dict(sorted(((part, n) for part, n in found.items() if n), key=lambda item: -item[1]))


def _weight_tables(facts: dict[str, Any]) -> Iterator[Table]:
    """The features with the largest weights for and against a label."""
    for title, sign in (("for", 1), ("against", -1)):
        weights = [w for w in facts["strongest"] if sign * w["weight"] > 0]
        if weights:
            cells = [[w["feature"], w["label"], f"{w['weight']:.3g}"] for w in weights]
            yield Table(cells, ("feature", "label", "weight"), f"features {title} a label")
