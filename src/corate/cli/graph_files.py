"""Graphs in two CSV files, one of nodes and one of edges, as commands read them and label their nodes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from corate.errors import Argument, ConfigError, ModelError
from corate.io.streams import NamedBytes

if TYPE_CHECKING:
    from corate import Tagger
    from corate.cli.shared_options import Reading
    from corate.corpus import Corpus

__all__ = ["check_edges_given", "is_file_of_edges", "read_graphs", "refuse_graphs"]

#: Options that say how text is read, and have no meaning for CSV files.
_OF_TEXT = ("format", "comment", "docstart", "skip_bad", "label_names", "widen_spans")


def is_file_of_edges(edges: str | None) -> bool:
    """Whether ``--edges`` names a file, and not which tokens of a text edges join.

    >>> is_file_of_edges("tree+skip:lemma"), is_file_of_edges(__file__)
    (False, True)
    """
    parts = [] if edges is None else [part.strip() for part in edges.split("+")]
    if edges is None or all(part in ("tree", "chain") or part.startswith("skip:") for part in parts):
        return False
    if not os.path.exists(edges):
        raise ConfigError(
            f"there is no file {edges!r}, and it does not name edges",
            "give a CSV file with a row for each edge or, for text, choose tree, chain, skip:COLUMN, or several with +",
            option="edges",
        )
    return True


def check_edges_given(tagger: Tagger, edges: str | None) -> None:
    """Raise ConfigError if a file of edges is missing, or does not suit the model."""
    of_files = tagger.model.graph is not None and not tagger.edge_source
    if is_file_of_edges(edges) == of_files:
        return
    if of_files:
        raise ConfigError(
            "the model labels the nodes of graphs, so it needs their edges",
            f"give a CSV file with a row for each edge: {Argument('edges', 'edges.csv')}",
            option="edges",
        )
    trained = f"with {Argument('edges', tagger.edge_source)}" if tagger.edge_source else "without edges"
    raise ConfigError(
        f"the model was trained on text {trained}, so it cannot use the file {edges!r}",
        f"omit {Argument('edges', edges)}",
        option="edges",
    )


def refuse_graphs(tagger: Tagger, instead: str) -> None:
    """Raise ModelError for a model of graphs, in a command for text."""
    if tagger.model.graph is not None:
        raise ModelError("this command is for models of text, and this model labels graphs", f"use {instead}")


def read_graphs(
    reading: Reading,
    nodes: str | NamedBytes,
    like: Corpus | Tagger | None = None,
    *,
    labelled: bool = True,
    symmetric: Iterable[str] = (),
) -> Corpus:
    """The graphs of a file of nodes and of the file of edges that ``--edges`` names.

    Columns, the column of the labels and symmetric types are those of ``like``, if options do not say others.
    """
    import corate
    from corate.io.streams import load

    _check_options(reading)
    model: Any = getattr(like, "model", None)
    label = reading.label or (getattr(like, "label_source", "") or None)
    if labelled and label is None:
        raise ConfigError(
            "the file of nodes has no column of labels by default", f"name it with {Argument('label')}", option="label"
        )
    if model is not None and model.graph is not None:
        symmetric = [own.type for own in model.graph.edges if own.symmetric]
    edges: Any = reading.edges
    encoding = reading.encoding
    if isinstance(nodes, NamedBytes):  # it is UTF-8 already
        edges, encoding = NamedBytes(load(edges, encoding), edges), "utf-8"
    return corate.read_graph(
        nodes,
        edges=edges,
        label=label if labelled else None,
        columns=reading.column_names(),
        edge_numbers=reading.edge_number_names(),
        symmetric=symmetric,
        layout=() if like is None else like.layout,
        encoding=encoding,
        separator=reading.separator_text(),
    )


def _check_options(reading: Reading) -> None:
    """Raise ConfigError for an option that is for text."""
    usual = vars(type(reading)())
    for name in _OF_TEXT:
        if getattr(reading, name) != usual[name]:
            files = f"{Argument('edges', reading.edges)} names a file of graphs"
            raise ConfigError(f"{Argument(name)} is for text, and {files}; omit it", option=name)
