"""What a model contains: its labels, attributes and weights, as dicts and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from corate.corpus import StringTable
from corate.errors import ModelError
from corate.model import archive, crfsuite
from corate.model.crfsuite import file as crfsuite_file
from corate.model.crfsuite.file import CrfsuiteModel, Weights
from corate.model.tagger import Tagger

__all__ = ["ParsedDump", "dump_lines", "parsed_dump"]


class ParsedDump:
    """The labels, attributes and weights of a model. ``Tagger.info`` returns it.

    ``labels`` and ``attributes`` have the number of each name, as text. ``transitions`` has the weights of label pairs,
    and ``state_features`` those of attributes with labels or parts of labels.
    ``header`` has the fields of the file's header, as text.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}


def parsed_dump(tagger: Tagger, header: dict[str, str] | None = None) -> ParsedDump:
    """The content of a model. Without the header of its file, it is that of the file that would be written."""
    model, found = _content(tagger), ParsedDump()
    labels, attributes = model.labels.to_list(), model.attributes.to_list()
    parts = tagger.model.parts
    columns = [*labels, *([] if parts is None else parts.names.to_list())]
    found.header = _header(tagger, model) if header is None else dict(header)
    found.labels = {name: str(i) for i, name in enumerate(labels)}
    found.attributes = {name: str(i) for i, name in enumerate(attributes)}
    found.transitions = {(a, b): weight for a, b, weight in _named(model.transitions, labels, labels)}
    found.state_features = {(a, b): weight for a, b, weight in _named(model.states, attributes, columns)}
    return found


def dump_lines(found: ParsedDump) -> Iterator[str]:
    """The content of a model as text, in the form of the command ``crfsuite dump``."""
    yield from _block("FILEHEADER", (f"  {name}: {value}" for name, value in found.header.items()))
    yield from _block("LABELS", (f"  {number:>5}: {name}" for name, number in found.labels.items()))
    yield from _block("ATTRIBUTES", (f"  {number:>5}: {name}" for name, number in found.attributes.items()))
    yield from _block("TRANSITIONS", _weight_lines(1, found.transitions))
    yield from _block("STATE_FEATURES", _weight_lines(0, found.state_features))


def _block(name: str, lines: Iterable[str]) -> Iterator[str]:
    return (f"{line}\n" for line in chain([f"{name} = {{"], lines, ["}", ""]))


def _weight_lines(kind: int, weights: dict[tuple[str, str], float]) -> Iterator[str]:
    return (f"  ({kind}) {source} --> {label}: {weight:.6f}" for (source, label), weight in weights.items())


def _named(weights: Weights, sources: list[str], labels: list[str]) -> Iterator[tuple[str, str, float]]:
    columns = (weights.sources.tolist(), weights.labels.tolist(), weights.weights.tolist())
    return ((sources[a], labels[b], weight) for a, b, weight in zip(*columns, strict=True))


def _content(tagger: Tagger) -> CrfsuiteModel:
    """The weights of features and of label pairs, also of a model that has more than these."""
    try:
        return crfsuite.model_of(tagger)
    except ModelError:
        weights, edges = tagger.model.weights.compacted(), tagger.model.edges
    names, _ = StringTable.intern(tagger.vocabulary.names(range(len(weights))))
    features = weights.owners
    origin = edges.owners
    inner = np.flatnonzero((np.maximum(origin, edges.to) < edges.n_labels) & (edges.scores != 0))
    return CrfsuiteModel(
        tagger.model.labels,
        names,
        Weights(features, weights.labels.astype(np.int64), weights.scores.astype(np.float64)),
        Weights(origin[inner], edges.to[inner].astype(np.int64), edges.scores[inner].astype(np.float64)),
    )


def _header(tagger: Tagger, model: CrfsuiteModel) -> dict[str, str]:
    try:
        crfsuite.model_of(tagger)
    except ModelError:
        size = len(archive.to_bytes(tagger))
        counts = {"num_labels": str(len(model.labels)), "num_attrs": str(len(model.attributes))}
        return {"magic": "corate", "size": str(size), "type": tagger.method, **counts}
    return crfsuite_file.header_of(crfsuite_file.encode(model)[0])
