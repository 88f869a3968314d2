"""How a notebook shows a tagger, and a sentence with its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corate.display import counted
from corate.errors import ModelError
from corate.model.lattice import Lattice
from corate.pages.colours import hues
from corate.pages.tables import Table, tables_html
from corate.spans import parse

if TYPE_CHECKING:
    from corate.model.tagger import Tagger

__all__ = [
    "LabelledText",
    "Part",
    "edge_texts",
    "labelled_text",
    "node_text",
    "tagger_html",
    "tagger_text",
    "trained_on",
]

_LABELS_SHOWN = 40


@dataclass(frozen=True)
class Part:
    """Some words with their label and its probability; words without a label have the colour -1."""

    text: str
    label: str = ""
    probability: float = 0.0
    hue: int = -1


@dataclass(frozen=True, repr=False)
class LabelledText:
    """A sentence with its entities or labels and their probabilities. A notebook shows it in colour.

    >>> LabelledText((Part("Ann Lee", "PER", 0.987, 0), Part("sings")))
    [Ann Lee: PER 98.7%] sings
    """

    parts: tuple[Part, ...]

    def __repr__(self) -> str:
        return " ".join(f"[{p.text}: {p.label} {p.probability:.1%}]" if p.label else p.text for p in self.parts)

    def _repr_html_(self) -> str:
        from corate.pages.page import fragment, visible

        return fragment("labelled_text.html", parts=self.parts, visible=visible)


def labelled_text(lattice: Lattice) -> LabelledText:
    """The first sentence of a lattice with its entities, or with the label of each token if labels mark no spans."""
    length = int(lattice.sentences[1])
    texts = [f"token {i}" for i in range(length)] if lattice.words is None else lattice.words.values()[:length]
    hue = hues(lattice.names)
    try:
        entities = lattice.entities()[0]
    except ModelError:  # there are no spans
        ids, probabilities = lattice.best()[0].tolist(), lattice.label_marginals()
        labelled = zip(texts, ids, probabilities, strict=False)
        return LabelledText(tuple(Part(text, lattice.names[y], float(p[y]), hue[y]) for text, y, p in labelled))
    hue_of_type = {parse(name)[1]: own for name, own in zip(lattice.names, hue, strict=True)}
    parts: list[Part] = []
    at = 0
    for found in entities:
        parts += map(Part, texts[at : found.start])
        text = " ".join(texts[found.start : found.stop])
        parts.append(Part(text, found.type or "span", found.probability, hue_of_type[found.type]))
        at = found.stop
    return LabelledText((*parts, *map(Part, texts[at:])))


def tagger_text(tagger: Tagger) -> str:
    """A tagger in a line."""
    words = f"{counted(len(tagger.words), 'word')}, " if len(tagger.words) else ""
    sentences = tagger.record["sentences"]  # 0 if the file did not say
    trained = f"trained on {trained_on(tagger)}" if sentences else counted(tagger.record["features"], "feature")
    types = tagger.model.graph.edges if tagger.model.graph is not None else ()
    edges = f"{counted(len(types), 'edge type')}, " if types else ""
    return f"Tagger({tagger.method}, {counted(len(tagger.labels), 'label')}, {words}{edges}{trained})"


def trained_on(tagger: Tagger) -> str:
    """How many sentences, or graphs and nodes, a tagger was trained on."""
    sentences, tokens = tagger.record["sentences"], tagger.record["tokens"]
    if tagger.model.graph is None:
        return counted(sentences, "sentence")
    return f"{counted(sentences, 'graph')} with {counted(tokens, 'node')}"


def edge_texts(tagger: Tagger) -> list[str]:
    """The types of edges of a model of graphs, with what it knows of each."""
    edges, found = () if tagger.model.graph is None else tagger.model.graph.edges, []
    exponents, polish = tagger.record.get("exponents"), tagger.record.get("polish")
    when = " before polish" if isinstance(polish, dict) and polish.get("iterations") else ""
    for own in edges:
        exponent = exponents.get(own.type) if isinstance(exponents, dict) else None
        facts = [
            *(["symmetric"] if own.symmetric else []),
            *([counted(len(own.weights), "feature")] if len(own.weights) else []),
            *([f"exponent {exponent:.4g}{when}"] if isinstance(exponent, float | int) else []),
        ]
        found.append(f"{own.type} ({', '.join(facts)})" if facts else own.type)
    return found


def node_text(tagger: Tagger) -> str:
    """What a model of graphs scores nodes by; empty for models of sentences."""
    graph = tagger.model.graph
    if graph is None:
        return ""
    if graph.given:
        return "log-probabilities of labels that another model gives (node_log_probs)"
    features, columns = len(tagger.model.weights), len(graph.vectors)
    parts = [counted(features, "feature")] if features or not columns else []
    return " and ".join([*parts, *([counted(columns, "column") + " of vectors"] if columns else [])])


def tagger_html(tagger: Tagger) -> str:
    """A tagger for a notebook: the line, its labels and its templates."""
    more = f" and {len(tagger.labels) - _LABELS_SHOWN} more" if len(tagger.labels) > _LABELS_SHOWN else ""
    facts = [("labels", " ".join(tagger.labels[:_LABELS_SHOWN]) + more), ("columns", " ".join(tagger.columns))]
    facts += [("templates", ", ".join(tagger.features)), ("nodes", node_text(tagger))]
    facts.append(("edges", "; ".join(edge_texts(tagger)[:_LABELS_SHOWN])))
    return tables_html([Table([fact for fact in facts if fact[1]])], tagger_text(tagger))
