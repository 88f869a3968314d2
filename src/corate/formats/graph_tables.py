"""Graphs in two tables: a CSV file with a row for each node, and one with a row for each edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.corpus.attributes import LARGEST_VALUE
from corate.corpus.graph_edges import UNTYPED
from corate.edges import EdgeSet
from corate.errors import Argument, CorateError, DataError
from corate.formats.tables import read_rows
from corate.io.streams import Source, name_of
from corate.rows import offsets_of
from corate.strings import StringTable
from corate.types import F64, Offsets

__all__ = ["read_graph"]

#: Columns of the corpus with a meaning of their own.
_ROLES = ("node", "graph", "label", "_")
#: What follows the name of a column of numbers in the layout of a corpus.
_NUMBER = ":number"


def read_graph(
    nodes: Source,
    *,
    edges: Source,
    label: str | None = None,
    node: str | None = None,
    graph: str | None = None,
    numbers: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    ends: tuple[str, str] | None = None,
    type: str | None = None,
    edge_numbers: Sequence[str] | None = None,
    symmetric: Iterable[str] = (),
    layout: Sequence[str] = (),
    encoding: str = "utf-8",
    separator: str | None = None,
) -> Corpus:
    """Read graphs from two CSV files with a header row: one of nodes, and one of edges.

    Columns of numbers in the file of nodes become ``vectors``. The other ones become columns of the corpus, which
    templates can read. The column ``node`` of the corpus has the names of the nodes, and ``graph`` those of the graphs.

    Args:
        nodes: the file with a row for each node: a path, ``"-"`` for standard input, bytes, or an open file.
        edges: the file with a row for each edge.
        label: the column of the labels in the file of nodes. An empty cell is an unknown label. None if there are none.
        node: the column of the names of the nodes. Default: the first one that is not ``graph``.
        graph: the column of the graph of each node. Its rows must be consecutive. If the file of edges has this column,
            too, the names of nodes need to be distinct only in each graph. Default: ``graph``, if there is such a
            column. Without it, all nodes are in one graph.
        numbers: the columns of numbers in the file of nodes. Default: those in which all values are numbers.
        columns: the columns of texts. Default: all that are not columns of numbers.
        ends: the two columns of the file of edges with the names of the nodes. Default: the first two.
        type: the column of the type of each edge. Default: ``type``, if there is such a column. Without it, the type is
            ``"edge"``.
        edge_numbers: the columns of the numeric features of edges, in this order. Default: all others, sorted by name.
            A type whose cells are all empty does not have the feature.
        symmetric: the types whose edges have no direction.
        layout: the columns of the training data of a model (``tagger.layout``): the same ones are read, in the same
            order. Then ``symmetric`` may name types that the file does not have.
        encoding: the encoding of both files.
        separator: the character between columns. Default: a comma, a semicolon or a tab, whichever the header row has
            most of.

    Raises DataError, which names the file and the line, for data that cannot be used.

    >>> nodes = b"id,subject,year,venue\\n7,Theory,1998,ICML\\n9,,1999,JMLR\\n"
    >>> corpus = read_graph(nodes, edges=b"from,to,type\\n9,7,cites\\n", label="subject")
    >>> corpus
    Corpus(1 graph, 2 nodes, 1 'cites' edge, 1 vector column, columns: node venue, 1 label (1 unknown))
    >>> corpus.column("node").values(), corpus.labels_of(0), corpus.vectors.tolist()
    (['7', '9'], ['Theory', None], [[1998.0], [1999.0]])
    """
    undirected = {symmetric} if isinstance(symmetric, str) else set(symmetric)
    table, given = (_Table.read(source, encoding, separator) for source in (nodes, edges))
    if graph is None and "graph" in table.header and len(table.header) > 1 and "graph" not in (node, label):
        graph = "graph"
    own = _Nodes.of(table, node, graph)
    roles = {own.column, graph, label}
    if layout:
        numbers = [name.removesuffix(_NUMBER) for name in layout if name.endswith(_NUMBER)]
        columns = [name for name in layout if name not in _ROLES and not name.endswith(_NUMBER)]
    texts, numeric = _chosen(table, [name for name in table.header if name not in roles], numbers, columns)
    x: dict[str, Any] = {"columns": {"node": own.names, **({} if graph is None else {"graph": table.column(graph)})}}
    x["columns"].update((name, table.column(name)) for name in texts)
    if numeric:
        x["vectors"] = np.stack([_filled(table, name) for name in numeric], axis=1)
    found = _Edges.of(given, own, ends, type)
    if layout:
        undirected &= found.rows.keys()
    try:
        corpus = Corpus.from_graphs(
            x,
            None if label is None else [value or None for value in table.column(label)],
            edges={name: found.pairs[rows] for name, rows in found.rows.items()},
            edge_features=found.features(edge_numbers),
            symmetric=undirected,
        )
    except CorateError as error:
        raise found.placed(error, undirected) from None
    named = ["node", *([] if graph is None else ["graph"]), *texts, *(name + _NUMBER for name in numeric)]
    return replace(
        corpus,
        layout=(*named, *([] if label is None else ["label"])),
        label_source=label or "",
        offsets=own.offsets,
        edges=tuple(_by_graph(edges, own.offsets) for edges in corpus.edges or ()),
    )


def _by_graph(edges: EdgeSet, nodes: Offsets) -> EdgeSet:
    """The edges of one large graph as those of several, whose nodes have these offsets."""
    owners = np.searchsorted(nodes, edges.left, side="right") - 1
    order = np.argsort(owners, kind="stable")
    starts = nodes[owners[order]]
    left, right = ((ends[order] - starts).astype(np.int32) for ends in (edges.left, edges.right))
    attributes = None if edges.attributes is None else edges.attributes[order]
    offsets = offsets_of(np.bincount(owners, minlength=len(nodes) - 1))
    return replace(edges, offsets=offsets, left=left, right=right, attributes=attributes)


@dataclass(frozen=True)
class _Table:
    """A table: the name of its file, its header row, and the line number and the values of each row, by column."""

    file: str
    header: list[str]
    lines: list[int]
    values: list[list[str]]

    @classmethod
    def read(cls, source: Source, encoding: str, separator: str | None) -> _Table:
        return cls(name_of(source), *read_rows(source, encoding=encoding, separator=separator))

    def column(self, name: str) -> list[str]:
        """The values of a column. Raises DataError if there is none of this name."""
        if name not in self.header:
            raise DataError(
                f"there is no column {name!r}; the columns are {', '.join(map(repr, self.header))}", file=self.file
            )
        return self.values[self.header.index(name)]

    def refused(self, row: int, problem: str, remedy: str = "") -> DataError:
        """The error about a row."""
        return DataError(problem, remedy, file=self.file, line=self.lines[row])

    def is_numeric(self, name: str) -> bool:
        """Whether the values of a column are numbers, as far as they are there."""
        values = self.column(name)
        return any(values) and all(_is_number(value) for value in values if value)

    def numbers(self, name: str, remedy: str) -> F64:
        """The numbers of a column, NaN for empty cells. Raises DataError if a value is none, or too large."""
        values = self.column(name)
        try:
            found = np.array([float(value or "nan") for value in values], np.float64)
        except ValueError:
            row = next(row for row, value in enumerate(values) if value and not _is_number(value))
            raise self.refused(row, f"column {name!r} has {values[row]!r}, which is not a number", remedy) from None
        filled = np.array(list(map(bool, values)), bool)
        wrong = np.flatnonzero(filled & ~(np.abs(found) <= LARGEST_VALUE))
        if len(wrong):
            row = int(wrong[0])
            limits = f"values go from {-LARGEST_VALUE:g} to {LARGEST_VALUE:g}"
            raise self.refused(row, f"column {name!r} has the value {values[row]}; {limits}")
        return found


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


# -- nodes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Nodes:
    """The file of nodes: the column with their names, the column with their graphs, and the offsets of the graphs."""

    table: _Table
    column: str
    graph: str | None
    names: list[str]
    offsets: Offsets

    @classmethod
    def of(cls, table: _Table, node: str | None, graph: str | None) -> _Nodes:
        if not table.lines:
            raise DataError("there are no nodes", file=table.file)
        column = next((name for name in table.header if name != graph), "") if node is None else node
        names = table.column(column)
        if "" in names:
            raise table.refused(names.index(""), f"column {column!r} has no value, so the node has no name")
        if graph is None:
            return cls(table, column, None, names, np.array([0, len(names)], np.int64))
        owners = table.column(graph)
        starts = [row for row, owner in enumerate(owners) if not row or owner != owners[row - 1]]
        seen = {""}
        for row in starts:
            if owners[row] in seen:
                problem = f"graph {owners[row]!r} comes back after others" if owners[row] else "the node has no graph"
                raise table.refused(row, problem, f"fill in column {graph!r}, and sort the rows by it")
            seen.add(owners[row])
        return cls(table, column, graph, names, np.array([*starts, len(names)], np.int64))

    def rows(self, by_graph: bool) -> dict[Any, int]:
        """The row of each node by its name, or by its graph and its name. Raises DataError if it is there twice."""
        keys: Any = zip(self.table.column(self.graph or ""), self.names, strict=True) if by_graph else self.names
        rows: dict[Any, int] = {}
        for row, key in enumerate(keys):
            if rows.setdefault(key, row) != row:
                remedy = "" if self.graph is None or by_graph else f"give the edges a column {self.graph!r}, too"
                first = self.table.lines[rows[key]]
                raise self.table.refused(row, f"the node {self.names[row]!r} is also in line {first}", remedy)
        return rows


def _chosen(
    table: _Table, others: list[str], numbers: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """The columns of texts and those of numbers, of all that have no role."""
    for name in (*(columns or ()), *(numbers or ())):
        table.column(name)
    if numbers is None:
        numbers = [name for name in others if name not in (columns or ()) and table.is_numeric(name)]
    texts = [name for name in others if name not in numbers] if columns is None else list(columns)
    wrong = next((name for name in texts if name in _ROLES), None)
    if wrong is not None:
        remedy = f"write {Argument('label', 'label')}" if wrong == "label" else "rename it"
        raise DataError(f"a column of texts cannot have the name {wrong!r}; {remedy}", file=table.file)
    return texts, list(numbers)


def _filled(table: _Table, name: str) -> F64:
    """The numbers of a column without empty cells."""
    found = table.numbers(name, f"name columns of texts with {Argument('columns')}")
    if np.isnan(found).any():
        row = int(np.argmax(np.isnan(found)))
        raise table.refused(row, f"column {name!r} has no value", "fill it in, or omit the column")
    return found


# -- edges -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Edges:
    """The file of edges: the rows of the two nodes of each edge, and the rows of each type."""

    table: _Table
    others: list[str]
    pairs: NDArray[np.int64]
    rows: dict[str, NDArray[np.int64]]

    @classmethod
    def of(cls, table: _Table, nodes: _Nodes, ends: tuple[str, str] | None, type: str | None) -> _Edges:
        graph = nodes.graph if nodes.graph in table.header else None
        kind = "type" if type is None and "type" in table.header and "type" not in (ends or ()) else type
        free = [name for name in table.header if name not in (graph, kind)]
        if ends is None and len(free) < 2:
            raise DataError("two columns with the names of the nodes of each edge are needed", file=table.file)
        left, right = ends or free[:2]
        graphs = None if graph is None else table.column(graph)
        rows = nodes.rows(by_graph=graphs is not None)
        pairs = np.stack([_rows_of(rows, table.column(name), graphs, nodes, table) for name in (left, right)], axis=1)
        loops = pairs[:, 0] == pairs[:, 1]
        if loops.any():
            row = int(np.argmax(loops))
            name = table.column(left)[row]
            raise table.refused(row, f"both ends are node {name!r}", "leave out edges from a node to itself")
        owners = np.searchsorted(nodes.offsets, pairs, side="right")
        crossing = owners[:, 0] != owners[:, 1]
        if crossing.any():
            row = int(np.argmax(crossing))
            names = [table.column(name)[row] for name in (left, right)]
            raise table.refused(row, f"the nodes {names[0]!r} and {names[1]!r} are in different graphs")
        others = [name for name in free if name not in (left, right)]
        return cls(table, others, pairs, _rows_by_type(table, kind))

    def features(self, chosen: Sequence[str] | None) -> dict[str, F64] | None:
        """The numeric features of the edges of each type, without those that are empty for the whole type."""
        names = sorted(self.others) if chosen is None else chosen
        remedy = f"features of edges are numbers: choose their columns with {Argument('edge_numbers')}"
        numbers = {name: self.table.numbers(name, remedy) for name in names}
        features = {}
        for type, rows in self.rows.items():
            kept = {name: own[rows] for name, own in numbers.items() if not np.isnan(own[rows]).all()}
            for name, own in kept.items():
                if np.isnan(own).any():
                    row = int(rows[np.argmax(np.isnan(own))])
                    problem = f"column {name!r} has no value, but other edges of the type {type!r} have one"
                    raise self.table.refused(row, problem, "fill it in, or omit the column")
            if kept:
                features[type] = np.stack(list(kept.values()), axis=1)
        return features or None

    def placed(self, error: CorateError, undirected: set[str]) -> CorateError:
        """The error about edges, with its file, and with the lines of an edge that is there twice."""
        if error.edge is None or error.type is None:
            return error.at(file=self.table.file)
        rows = self.rows[error.type]
        row = int(rows[error.edge])
        ends = np.sort(self.pairs, axis=1) if error.type in undirected else self.pairs
        first = self.table.lines[int(rows[np.argmax((ends[rows] == ends[row]).all(axis=1))])]
        return self.table.refused(
            row, f"the edge is also in line {first}, with other features", "leave one out, or give them two types"
        )


def _rows_of(
    rows: dict[Any, int], names: list[str], graphs: list[str] | None, nodes: _Nodes, edges: _Table
) -> NDArray[np.int64]:
    """The rows of the nodes with these names. Raises DataError if there is no such node."""
    found = list(map(rows.get, names if graphs is None else zip(graphs, names, strict=True)))
    if None in found:
        at = found.index(None)
        where = nodes.table.file if graphs is None else f"graph {graphs[at]!r} of {nodes.table.file}"
        raise edges.refused(at, f"there is no node {names[at]!r} in {where}")
    return np.array(found, np.int64)


def _rows_by_type(table: _Table, kind: str | None) -> dict[str, NDArray[np.int64]]:
    """The rows of each type, in the order in which the types appear."""
    if kind is None:
        return {UNTYPED: np.arange(len(table.lines))}
    values = table.column(kind)
    if not values:
        return {}
    if "" in values:
        raise table.refused(values.index(""), f"column {kind!r} has no value, so the edge has no type")
    names, ids = StringTable.intern(values)
    order = np.argsort(ids, kind="stable")
    ends = np.cumsum(np.bincount(ids, minlength=len(names)))
    return dict(zip(names.to_list(), np.split(order, ends[:-1]), strict=True))
