"""Labelled sentences in columns: interned ids, string tables and sentence offsets.

A corpus has no Python object per token. Every column is an ``int32`` array of ids into a table of distinct strings, so
slicing, shuffling and splitting only copy integers.
"""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_seed
from corate.corpus import frames, graph_inputs, graph_sources
from corate.corpus.attributes import Attributes, FeatureSentence, ItemSequence
from corate.corpus.texts import Texts
from corate.display import counted
from corate.edges import EdgeSet, joined_edges
from corate.errors import Argument, DataError
from corate.rows import offsets_of, take_rows
from corate.spans import convert
from corate.strings import StringTable
from corate.types import F32, F64, Ids, Offsets

__all__ = ["Attributes", "Column", "Corpus", "StringTable", "check_corpus", "word_column"]

#: A token in Python: a word, a tuple of columns, or a mapping from column name to value. A label may be None.
Token = str | Sequence[str | Any] | Mapping[str, str | Any]

Item = TypeVar("Item")
Number = TypeVar("Number", np.int8, np.int32, np.int64)

#: The most types of edges that a corpus prints one by one.
_MOST_TYPES = 4


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a corpus: a name, ``(n,)`` int32 ids and their strings. An unknown label has the id -1."""

    name: str
    ids: Ids
    strings: StringTable

    @classmethod
    def of(cls, name: str, values: Iterable[str | None]) -> Column:
        """Intern one value per token. Raises DataError if a value is not a string.

        A label may be None, or NaN as in data frames. It is then unknown.

        >>> Column.of("label", ["X", None, "Y"]).ids.tolist()
        [0, -1, 1]
        """
        given = list(values)
        try:
            table, ids = StringTable.intern(given)  # type: ignore[arg-type]
        except TypeError as error:
            if name == "label":
                return cls._of_labels(given)
            raise DataError(f"column {name!r}: {error}; every token must be a string") from None
        return cls(name, ids, table)

    @classmethod
    def _of_labels(cls, given: Sequence[Any]) -> Column:
        """The column of labels of which some are unknown."""
        known = np.array([not is_missing(value) for value in given], dtype=bool)
        try:
            StringTable.intern([value if there else "" for value, there in zip(given, known.tolist(), strict=True)])
        except TypeError as error:
            raise DataError(
                f"column 'label': {error}; every label must be a string, or None if it is unknown"
            ) from None
        table, found = StringTable.intern(itertools.compress(given, known))
        ids = np.full(len(given), -1, np.int32)
        ids[known] = found
        return cls("label", ids, table)

    @cached_property
    def complete(self) -> bool:
        """Whether every token has a value. Only labels may be unknown."""
        return not len(self.ids) or int(self.ids.min()) >= 0

    def values(self, start: int = 0, stop: int | None = None) -> list[str | Any]:
        """The strings of tokens ``start`` to ``stop``, None for an unknown label.

        >>> Column.of("label", ["X", None, "Y"]).values(1)
        [None, 'Y']
        """
        strings, ids = self.strings.to_list(), self.ids[start:stop].tolist()
        return [strings[i] for i in ids] if self.complete else [strings[i] if i >= 0 else None for i in ids]

    def renumbered(self, places: NDArray[Number]) -> NDArray[Number]:
        """``places[i]`` for each token with the id ``i``, and -1 for each unknown label."""
        return places[self.ids] if self.complete else np.append(places, places.dtype.type(-1))[self.ids]

    def take(self, tokens: NDArray[np.int64]) -> Column:
        """The column for the given tokens. It shares the strings."""
        return replace(self, ids=self.ids[tokens])


@dataclass(frozen=True, eq=False)
class Corpus:
    """A sequence of sentences. Tokens have named columns and, if known, a label.

    Made by :func:`corate.read` and the methods ``from_...``, not by the constructor. ``len(corpus)`` is the number of
    sentences. ``corpus[i]`` and ``corpus[i:j]`` are corpora of these sentences. Iterating yields the :meth:`rows` of
    each sentence.

    Attributes:
        columns: the columns without the labels. A column ``c`` has ``c.name``, and ``c.values()`` is the list of its
            strings, one for each token of the corpus.
        offsets: array of int64; sentence ``i`` consists of the tokens ``offsets[i]`` to ``offsets[i + 1] - 1``.
        labels: the column of the labels; None if there are none. An unknown label has the id -1, and its value is None.
        attributes: the ready-made features; None if there are none.
        layout: the names of all columns of the file that it was read from, in order, with ``label``, and with ``_`` for
            omitted columns. Empty if it is not known.
        label_source: where the labels were in a CoNLL-U file, such as ``"upos"``, or the name of their column in a CSV
            file of nodes. Empty for other formats.
        texts: the raw texts of the sentences and the positions of the tokens in them, if the format has them, else
            None.
        edges: the typed edges of graphs, a tuple with a set for each type. None for sentences, whose edges join
            neighbours. An empty tuple for graphs without edges.
        vectors: numeric features of nodes, ``(n, d)`` float32; None without any.
        node_log_probs: log-probabilities of the labels of nodes by another model, ``(n, labels)``, in the order of the
            labels; None without any.
        edge_source: what the edges of a file are, such as ``"tree"``. Empty for other edges.

    >>> corpus = Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", "VERB")], [("Bob", "NAME")]])
    >>> corpus
    Corpus(2 sentences, 3 tokens, columns: word, 2 labels)
    >>> corpus.tokens(0), corpus.labels_of(1)
    (['Ann', 'sleeps'], ['NAME'])
    >>> list(corpus), corpus[1].tokens(0)
    ([[('Ann',), ('sleeps',)], [('Bob',)]], ['Bob'])
    """

    columns: tuple[Column, ...]
    offsets: Offsets
    labels: Column | None = None
    attributes: Attributes | None = None
    layout: tuple[str, ...] = ()
    label_source: str = ""
    texts: Texts | None = None
    edges: tuple[EdgeSet, ...] | None = None
    vectors: F32 | None = None
    node_log_probs: F64 | None = None
    edge_source: str = ""

    def __post_init__(self) -> None:
        n = self.n_tokens
        for column in (*self.columns, *(() if self.labels is None else (self.labels,))):
            if len(column.ids) != n:
                raise DataError(
                    f"column {column.name!r} has {counted(len(column.ids), 'token')}, but the offsets imply {n}"
                )
        if self.attributes is not None and len(self.attributes.offsets) != n + 1:
            raise DataError(
                f"attributes of {counted(len(self.attributes.offsets) - 1, 'token')}, but the offsets imply {n}"
            )
        if self.texts is not None and (len(self.texts.texts), len(self.texts.starts)) != (len(self), n):
            raise DataError(
                f"texts of {counted(len(self.texts.texts), 'sentence')} and {counted(len(self.texts.starts), 'token')} "
                "do not fit"
            )
        for name, rows in (("vectors", self.vectors), ("node_log_probs", self.node_log_probs)):
            if rows is not None and (rows.ndim != 2 or len(rows) != n):
                raise DataError(f"{name} must have a row for each of {counted(n, 'node')}, not the shape {rows.shape}")
        for edges in self.edges or ():
            if len(edges) != len(self):
                raise DataError(
                    f"the type {edges.type!r} has edges of {counted(len(edges), 'graph')}, but there are {len(self)}"
                )

    # -- building ------------------------------------------------------------------------------------------------

    @classmethod
    def from_sentences(
        cls,
        sentences: Iterable[Iterable[Token]],
        labels: Iterable[Iterable[str | None]] | None = None,
        *,
        columns: Sequence[str] | None = None,
    ) -> Corpus:
        """Build a corpus from Python lists.

        Args:
            sentences: a list of tokens for each sentence. A token is a word, a tuple of columns, or a mapping from
                column names to values. By default, the last item of a tuple is the label. In a mapping, the label is
                the value of ``"label"``. A label that is None is unknown.
            labels: a list of labels for each sentence. The tokens then contain no labels.
            columns: the names of the columns, such as ``["word", "pos", "label"]``. Without ``"label"``, the tokens
                contain no labels. By default, the columns of tuples have the names that :func:`corate.read` uses.

        Raises DataError if tokens have different columns, or if the numbers of tokens and labels differ.

        >>> Corpus.from_sentences([["a", "b"], ["c"]], [["X", "Y"], ["X"]])
        Corpus(2 sentences, 3 tokens, columns: word, 2 labels)
        >>> Corpus.from_sentences([[{"word": "a", "pos": "DT", "label": "O"}]])
        Corpus(1 sentence, 1 token, columns: word pos, 1 label)
        >>> Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", None)]]).labels_of(0)
        ['NAME', None]
        """
        given = listed(sentences, "the sentences", "lists of tokens")
        built, offsets = _read_columns(given, None if columns is None else list(columns), labelled=labels is None)
        label = next((c for c in built if c.name == "label"), None)
        if labels is not None:
            label = _label_column(labels, offsets.tolist())
        observed = tuple(c for c in built if c.name != "label")
        return cls(observed, offsets, label, layout=tuple(columns or ()))

    @classmethod
    def from_features(
        cls,
        sentences: Iterable[FeatureSentence],
        labels: Iterable[Iterable[str | None]] | None = None,
        *,
        keep_false: bool = False,
    ) -> Corpus:
        """Build a corpus from ready-made features, in the form that python-crfsuite and sklearn-crfsuite use.

        Args:
            sentences: each sentence is a list of tokens, a :class:`~corate.ItemSequence`, or an array of numbers with a
                row for each token. A token is a dict of features, a list of names of features, or an array of numbers.
                In a dict, a string value is joined to its key (``{"w": "the"}`` is the feature ``w:the``), a number is
                the value of the feature, and True is 1.
            labels: a list of labels for each sentence. A label that is None is unknown.
            keep_false: whether a feature that is False is stored, with the value 0, as in CRFsuite. By default, it is
                omitted.

        Raises FeatureError, which names the sentence and the token, for features that cannot be used.

        >>> Corpus.from_features([[{"w": "a"}, {"w": "b"}]], [["X", "Y"]])
        Corpus(1 sentence, 2 tokens, 2 attributes, 2 labels)
        """
        offsets, attributes = Attributes.of_sentences(feature_lists(sentences), keep_false=keep_false)
        label = None if labels is None else _label_column(labels, offsets.tolist())
        return cls((), offsets, label, attributes)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        token: str,
        sentence: str | Sequence[str] | None = None,
        label: str | None = None,
        columns: Sequence[str] | Mapping[str, str] = (),
    ) -> Corpus:
        """Build a corpus from a data frame of pandas or polars, or from an Arrow table.

        Requires ``pip install corate[frames]``.

        Args:
            frame: a frame with a row for each token. If ``sentence`` is None, a frame with a row for each sentence,
                whose columns contain lists.
            token: the name of the column of the tokens. In the corpus, this column has the name ``word``.
            sentence: the name of the column that identifies the sentence, or a list of names of columns that do so
                together. The rows of a sentence must be consecutive.
            label: the name of the column of the labels; None if there are none. A missing label is unknown.
            columns: the names of other columns that features use, or a mapping from their names in the corpus to their
                names in the frame.

        Raises DataError for a missing column, a missing value other than a label, values that are not strings, and a
        sentence whose rows are not consecutive. The message names the column and the row, counted from 0.

        >>> import pandas
        >>> frame = pandas.DataFrame({"id": [1, 1, 2], "form": ["Ann", "sings", "Bob"], "tag": ["N", "V", "N"]})
        >>> Corpus.from_frame(frame, sentence="id", token="form", label="tag")
        Corpus(2 sentences, 3 tokens, columns: word, 2 labels)
        """
        names = columns if isinstance(columns, Mapping) else {name: name for name in columns}
        taken = next((name for name in names if name in ("word", "label")), None)
        if taken is not None:
            raise DataError(
                f"{Argument('columns')} names a column {taken!r} of the corpus",
                f"name it with token= or {Argument('label')}",
            )
        wanted = {"word": token, **names, **({} if label is None else {"label": label})}
        read, offsets = frames.read(frame, wanted, sentence)
        built = {name: Column(name, ids, table) for name, (table, ids) in read.items()}
        labels = built.pop("label", None)
        return cls(tuple(built.values()), offsets, labels)

    @classmethod
    def from_graphs(
        cls,
        x: Any,
        y: Any = None,
        *,
        edges: Any,
        edge_features: Any = None,
        symmetric: Iterable[str] = (),
        node_log_probs: Any = None,
        labels: Sequence[str | int] | None = None,
    ) -> Corpus:
        """Build a corpus of graphs: nodes with features, joined by typed edges.

        If ``edges`` is a list or a tuple, it has the edges of many graphs. Then ``x`` and, if given, ``y``,
        ``edge_features`` and ``node_log_probs`` are lists of the same length. Otherwise, there is one graph.

        Args:
            x: the features of the nodes of a graph. A list has a dict of features, a list of names or an array for
                each node, as a sentence of `from_features`. An array of numbers, ``(n, d)``, becomes ``vectors``. A
                sparse matrix of SciPy becomes features with the names ``"0"``, ``"1"``, and so on. A dict with some of
                the keys ``"features"``, ``"vectors"`` and ``"columns"`` has several of them; columns are lists of texts
                by name. None if the nodes have no features.
            y: the label of each node: a text or a whole number, which becomes text. None, -1 and NaN stand for an
                unknown label. None if no label is known.
            edges: the edges of a graph: an ``(m, 2)`` array of nodes, counted from 0, or a dict from types to such
                arrays. The type of an array alone is ``"edge"``. An edge that is given twice counts once.
            edge_features: numeric features of edges: an ``(m, d)`` array, or a dict from types to such arrays.
            symmetric: the types whose edges have no direction.
            node_log_probs: log-probabilities of the labels of each node by another model, ``(n, labels)``. The columns
                are in the order of ``labels``.
            labels: all labels, in the order of the columns of ``node_log_probs``, such as ``classifier.classes_``. By
                default, the labels in ``y`` in sorted order, numbers by their value.

        Raises DataError, which names the graph, the node, or the type and the edge, for data that cannot be used, and
        FeatureError for names and values of features that cannot be used.

        >>> edges = np.array([[0, 1], [1, 2]])
        >>> corpus = Corpus.from_graphs([["red"], ["blue"], ["red"]], ["A", "B", None], edges=edges)
        >>> corpus, corpus.labels_of(0)
        (Corpus(1 graph, 3 nodes, 2 'edge' edges, 2 attributes, 2 labels (1 unknown)), ['A', 'B', None])
        >>> Corpus.from_graphs([np.eye(2), np.eye(3, 2)], edges=[{"next": [(0, 1)]}, {}])
        Corpus(2 graphs, 5 nodes, 1 'next' edge, 2 vector columns)
        """
        return cls._of_arrays(
            graph_inputs.arrays_of_graphs(x, y, edges, edge_features, symmetric, node_log_probs, labels)
        )

    @classmethod
    def from_networkx(
        cls,
        graphs: Any,
        *,
        features: str | Sequence[str] | None = "x",
        label: str | None = "y",
        type: str | None = "kind",
        edge_features: str | None = None,
        symmetric: Iterable[str] = (),
    ) -> Corpus:
        """Build a corpus from a graph of NetworkX, or from a list of graphs.

        The nodes are in the order of ``graph.nodes``, and the column ``node`` has their names.

        Args:
            graphs: a graph, or a list of graphs. All edges of an undirected graph are symmetric.
            features: the attribute of nodes with their features: a dict, a list of names, a text, or numbers, which
                become ``vectors``. A list names several attributes, which become features with their names. None if
                the nodes have no features.
            label: the attribute of nodes with the label. It is unknown for nodes without this attribute.
            type: the attribute of edges with the type. If no edge has this attribute, the type is ``"edge"``.
            edge_features: the attribute of edges with numeric features: a number, a list or an array.
            symmetric: the types of directed graphs whose edges have no direction.

        >>> import networkx
        >>> graph = networkx.Graph([("a", "b"), ("b", "c")])
        >>> networkx.set_node_attributes(graph, {"a": ["red"], "b": ["red"], "c": ["blue"]}, "x")
        >>> networkx.set_node_attributes(graph, {"a": "R", "c": "B"}, "y")
        >>> corpus = Corpus.from_networkx(graph)
        >>> corpus.column("node").values(), corpus.labels_of(0)
        (['a', 'b', 'c'], ['R', None, 'B'])
        """
        return cls.from_graphs(**graph_sources.of_networkx(graphs, features, label, type, edge_features, symmetric))

    @classmethod
    def from_pyg(cls, data: Any, *, mask: Any = "train_mask", symmetric: bool | None = None) -> Corpus:
        """Build a corpus from a ``Data`` object of PyTorch Geometric, or from a list of them.

        It has ``x``, ``edge_index``, ``edge_attr``, ``y`` and ``edge_type``, as far as they are there.

        Args:
            data: an object, or a list of objects. They are read by their attributes.
            mask: the attribute with the mask of known labels, or the mask itself. Labels outside of it are unknown.
                Data without ``train_mask`` keeps all labels. None keeps all labels.
            symmetric: whether edges have no direction. By default, the edges of a type have none if each is there in
                both directions, with the same features. They are merged.

        >>> from types import SimpleNamespace
        >>> ends = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> mask = np.array([True, False, True])
        >>> data = SimpleNamespace(x=np.eye(3), edge_index=ends, y=np.array([0, 1, 1]), train_mask=mask)
        >>> corpus = Corpus.from_pyg(data)
        >>> corpus, corpus.labels_of(0)
        (Corpus(1 graph, 3 nodes, 2 'edge' edges, 3 vector columns, 2 labels (1 unknown)), ['0', None, '1'])
        """
        return cls.from_graphs(**graph_sources.of_pyg(data, mask, symmetric))

    @classmethod
    def from_images(cls, images: Any, labels: Any = None, *, neighbours: int = 4) -> Corpus:
        """Build a corpus from images: a graph for each, whose nodes are the pixels, row by row.

        Args:
            images: a list or an array of images. Each has the shape ``(height, width)`` or ``(height, width,
                channels)``. The values become ``vectors``. Sizes may differ. A single image is given as ``[image]``.
            labels: the labels of the pixels of each image, ``(height, width)``: whole numbers or texts, -1 or None
                where they are unknown.
            neighbours: 4 for edges of the types ``"right"`` and ``"down"``, or 8 for those, ``"down-right"`` and
                ``"down-left"``. Edges go from a pixel to the neighbour in this direction.

        >>> image = np.array([[0.1, 0.9, 0.8], [0.2, 0.1, 0.9]])
        >>> Corpus.from_images([image], [image > 0.5])
        Corpus(1 graph, 6 nodes, 4 'right' edges, 3 'down' edges, 1 vector column, 2 labels)
        """
        return cls.from_graphs(**graph_sources.of_images(images, labels, neighbours))

    @classmethod
    def _of_arrays(cls, given: graph_inputs.GraphArrays) -> Corpus:
        return cls(
            tuple(Column(name, ids, strings) for name, (ids, strings) in given.columns.items()),
            given.offsets,
            None if given.labels is None else Column("label", *given.labels),
            given.attributes,
            edges=given.edges,
            vectors=given.vectors,
            node_log_probs=given.node_log_probs,
        )

    @classmethod
    def joined(cls, pieces: Sequence[Corpus]) -> Corpus:
        """The sentences of several corpora in one corpus.

        Labels and ready-made features are kept. Raw texts are kept if all corpora have them. ``layout``,
        ``label_source`` and ``edge_source`` are those of the first corpus.

        Raises DataError if the corpora have different columns, or if only some of them have labels or ready-made
        features.

        >>> Corpus.joined([Corpus.from_sentences([["a", "b"]]), Corpus.from_sentences([["b"]])])
        Corpus(2 sentences, 3 tokens, columns: word)
        """
        if not pieces:
            raise DataError("there are no corpora to join")
        first = pieces[0]
        if len(pieces) == 1:
            return first
        _check_alike(pieces)
        columns = [_joined([piece.columns[c] for piece in pieces]) for c in range(len(first.columns))]
        labels = [piece.labels for piece in pieces if piece.labels is not None]
        attributes = [piece.attributes for piece in pieces if piece.attributes is not None]
        texts = [piece.texts for piece in pieces if piece.texts is not None]
        return cls(
            tuple(columns),
            offsets_of(np.concatenate([np.diff(piece.offsets) for piece in pieces])),
            _joined(labels) if labels else None,
            Attributes.joined(attributes) if attributes else None,
            first.layout,
            first.label_source,
            Texts.joined(texts) if len(texts) == len(pieces) else None,
            None if first.edges is None else joined_edges([(piece.edges or (), len(piece)) for piece in pieces]),
            vectors=_stacked([piece.vectors for piece in pieces], "vectors"),
            node_log_probs=_stacked(_log_probs_alike(pieces), "node_log_probs"),
            edge_source=first.edge_source,
        )

    # -- looking -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """The number of tokens in all sentences."""
        return int(self.offsets[-1])

    def __repr__(self) -> str:
        units = ("sentence", "token") if self.edges is None else ("graph", "node")
        parts = [counted(len(self), units[0]), counted(self.n_tokens, units[1])]
        types = self.edges or ()
        if len(types) > _MOST_TYPES:
            parts.append(f"{counted(sum(len(edges.left) for edges in types), 'edge')} of {len(types)} types")
        else:
            parts.extend(counted(len(edges.left), f"{edges.type!r} edge") for edges in types)
        if self.vectors is not None:
            parts.append(counted(self.vectors.shape[1], "vector column"))
        if self.columns:
            parts.append("columns: " + " ".join(c.name for c in self.columns))
        if self.attributes is not None:
            parts.append(counted(len(self.attributes.names), "attribute"))
        if self.labels is not None:
            unknown = int(np.count_nonzero(self.labels.ids < 0))
            parts.append(counted(len(self.labels.strings), "label") + f" ({unknown:,} unknown)" * (unknown > 0))
        return f"Corpus({', '.join(parts)})"

    def column(self, name: str) -> Column:
        """The column with this name. Raises DataError if there is none.

        >>> Corpus.from_sentences([["Ann", "sleeps"], ["Bob"]]).column("word").values()
        ['Ann', 'sleeps', 'Bob']
        """
        for column in self.columns:
            if column.name == name:
                return column
        have = ", ".join(c.name for c in self.columns) or "none"
        raise DataError(
            f"no column {name!r} in the data (columns: {have})",
            f"name them with {Argument('columns')}, or train a model that does not read it",
        )

    @property
    def word(self) -> Column | None:
        """The column of the words: the one with the name ``word``, else the first one; None if there are no columns."""
        return self.column(word_column([c.name for c in self.columns])) if self.columns else None

    def tokens(self, sentence: int) -> list[str]:
        """The words of the sentence with this index, counted from 0. The index -1 is the last sentence.

        Raises DataError if the corpus has only ready-made features, and IndexError if there is no such sentence.

        >>> Corpus.from_sentences([["Ann", "sleeps"], ["Bob"]]).tokens(0)
        ['Ann', 'sleeps']
        """
        column = self.word
        if column is None:
            raise DataError("this corpus contains ready-made features and no words")
        return column.values(*self._bounds(sentence))

    def rows(self, sentence: int) -> list[tuple[str, ...]]:
        """The tokens of one sentence: a tuple of the values of all columns, without the label, for each token.

        >>> Corpus.from_sentences([[("the", "DT", "O"), ("dog", "NN", "B")]]).rows(0)
        [('the', 'DT'), ('dog', 'NN')]
        """
        start, stop = self._bounds(sentence)
        return list(zip(*(c.values(start, stop) for c in self.columns), strict=True))

    def labels_of(self, sentence: int) -> list[str | Any]:
        """The labels of one sentence, None for an unknown one. Raises DataError if the corpus has no labels.

        >>> Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", "VERB")]]).labels_of(0)
        ['NAME', 'VERB']
        """
        return self.require_labels().values(*self._bounds(sentence))

    def _bounds(self, sentence: int) -> tuple[int, int]:
        """The first token of a sentence, and the token after its last. Negative indices count from the end."""
        i, n = operator.index(sentence), len(self)
        if not -n <= i < n:
            raise IndexError(self._no_sentence(i))
        i %= n
        return int(self.offsets[i]), int(self.offsets[i + 1])

    def _no_sentence(self, index: int) -> str:
        return f"there is no sentence {index} (counted from 0); the number of sentences is {len(self)}"

    def require_labels(self) -> Column:
        """The column of the labels. Raises DataError, which says what to do, if there is none."""
        if self.labels is None:
            if not len(self):
                raise DataError(f"the corpus has no {'sentences' if self.edges is None else 'graphs'}")
            if self.edges is not None:
                raise DataError(
                    "the nodes have no labels", "give them to Corpus.from_graphs as y, or name their column"
                )
            hint = f"; are the columns separated by something other than tabs and spaces ({Argument('separator')})?"
            remedy = f"name the label column with {Argument('columns')}" + hint * (len(self.columns) == 1)
            raise DataError("the data has no labels", remedy)
        return self.labels

    def require_every_label(self, what: str) -> Column:
        """The column of the labels. Raises DataError, which names the first unknown label, if there is one.

        >>> Corpus.from_sentences([[("Ann", "NAME"), ("sleeps", None)]]).require_every_label("counting")
        Traceback (most recent call last):
        corate.errors.DataError: sentence 0: the label of token 1 is unknown (None), but counting needs every label; ...
        """
        labels = self.require_labels()
        if not labels.complete:
            raise unknown_label_error(*first_token(labels.ids, self.offsets, -1), what)
        return labels

    def __iter__(self) -> Iterator[list[tuple[str, ...]]]:
        return (self.rows(i) for i in range(len(self)))

    # -- slicing -------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: slice) -> Corpus: ...
    @overload
    def __getitem__(self, key: int) -> Corpus: ...
    def __getitem__(self, key: slice | int) -> Corpus:
        """A slice of sentences, or one sentence, as a corpus. It shares the string tables."""
        if isinstance(key, slice):
            return self.take(np.arange(len(self))[key])
        return self.take([operator.index(key)])

    def take(self, sentences: NDArray[np.integer[Any]] | Sequence[int]) -> Corpus:
        """The sentences with these indices, in this order. Negative indices count from the end: -1 is the last one.

        Raises IndexError if there is no such sentence.

        >>> Corpus.from_sentences([["a"], ["b"], ["c"]]).take([2, 0]).tokens(0)
        ['c']
        """
        chosen = np.asarray(sentences, dtype=np.int64)
        wrong = chosen[(chosen < -len(self)) | (chosen >= len(self))]
        if len(wrong):
            raise IndexError(self._no_sentence(int(wrong[0])))
        chosen = np.where(chosen < 0, chosen + len(self), chosen)
        offsets, tokens = take_rows(self.offsets, chosen)
        return Corpus(
            tuple(c.take(tokens) for c in self.columns),
            offsets,
            None if self.labels is None else self.labels.take(tokens),
            None if self.attributes is None else self.attributes.take(tokens),
            self.layout,
            self.label_source,
            None if self.texts is None else self.texts.take(chosen, tokens),
            None if self.edges is None else tuple(edges.take(chosen) for edges in self.edges),
            None if self.vectors is None else self.vectors[tokens],
            None if self.node_log_probs is None else self.node_log_probs[tokens],
            edge_source=self.edge_source,
        )

    def with_scheme(self, scheme: str) -> Corpus:
        """The corpus with its labels in another scheme.

        ``scheme`` is ``"IOB1"``, ``"IOB2"``, ``"IOBES"``, ``"BILOU"``, ``"BMEWO"`` or ``"BMES"``.

        Raises DataError if the labels do not mark spans, or if the scheme is unknown.

        >>> Corpus.from_sentences([[("Ann", "I-PER"), ("sleeps", "O")]]).with_scheme("IOBES").labels_of(0)
        ['S-PER', 'O']
        """
        labels = self.require_every_label("another scheme")
        converted = (convert(self.labels_of(s), scheme) for s in range(len(self)))
        return replace(self, labels=Column.of(labels.name, itertools.chain.from_iterable(converted)))

    def shuffle(self, seed: int = 0) -> Corpus:
        """The sentences in a random order. The same seed gives the same order.

        >>> len(Corpus.from_sentences([["a"], ["b"], ["c"]]).shuffle(seed=1))
        3
        """
        return self.take(np.random.default_rng(check_seed(seed)).permutation(len(self)))

    def split(self, fraction: float, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Split at random into two corpora: the rest, and a ``fraction`` of the sentences, between 0 and 1.

        Both keep the order of the sentences. The same seed gives the same split.

        >>> rest, held_out = Corpus.from_sentences([["a"]] * 10).split(0.2)
        >>> len(rest), len(held_out)
        (8, 2)
        """
        if not 0 < fraction < 1:
            raise DataError(f"the fraction to split off must be between 0 and 1, not {fraction}")
        order = np.random.default_rng(check_seed(seed)).permutation(len(self))
        cut = round(fraction * len(self))
        return self.take(np.sort(order[cut:])), self.take(np.sort(order[:cut]))


def word_column(names: Sequence[str]) -> str:
    """The name of the column of the words: ``word`` if there is such a column, else the first one.

    >>> word_column(["pos", "word"]), word_column(["form", "pos"])
    ('word', 'form')
    """
    return "word" if "word" in names else names[0]


def _check_alike(pieces: Sequence[Corpus]) -> None:
    """Raise DataError if the corpora have different columns, or if only some have labels or ready-made features."""
    names = [" ".join(column.name for column in piece.columns) or "(none)" for piece in pieces]
    for i, own in enumerate(names):
        if own != names[0]:
            raise DataError(
                f"the corpora have different columns: corpus 0 has {names[0]}, corpus {i} has {own}",
                f"read them with the same {Argument('columns')}",
            )
    optional = ("labels", "ready-made features", "edges", "vectors", "node_log_probs")
    for what in optional:
        attribute = "attributes" if what == "ready-made features" else what
        have = [getattr(piece, attribute) is not None for piece in pieces]
        if any(have) and not all(have):
            raise DataError(
                f"corpus {have.index(True)} has {what}, and corpus {have.index(False)} has none; to join the corpora "
                f"without {what}, use dataclasses.replace(corpus, {attribute}=None)"
            )


def _stacked(arrays: Sequence[NDArray[Any] | None], name: str) -> NDArray[Any] | None:
    """The rows of all arrays, one array after another; None if there are none."""
    widths = {array.shape[1] for array in arrays if array is not None}
    if len(widths) > 1:
        raise DataError(
            f"{name} of the corpora have different numbers of columns: {', '.join(map(str, sorted(widths)))}"
        )
    return np.concatenate([array for array in arrays if array is not None]) if widths else None


def _log_probs_alike(pieces: Sequence[Corpus]) -> list[F64 | None]:
    """The log-probabilities of the corpora, with their columns in the order of the labels of the first one."""
    first = pieces[0].labels
    alike = []
    for i, piece in enumerate(pieces):
        rows = piece.node_log_probs
        if rows is not None and first is not None and piece.labels is not None:
            order = piece.labels.strings.find(first.strings)
            if len(piece.labels.strings) != len(first.strings) or (order < 0).any():
                own, others = (", ".join(map(repr, c.strings.to_list())) for c in (piece.labels, first))
                raise DataError(
                    f"corpus {i} has the labels {own}, and corpus 0 has {others}; node_log_probs of both need the same",
                    f"name all labels with {Argument('labels')}",
                )
            rows = rows[:, order]
        alike.append(rows)
    return alike


def _joined(columns: Sequence[Column]) -> Column:
    strings, places = StringTable.joined([column.strings for column in columns])
    ids = [column.renumbered(place) for place, column in zip(places, columns, strict=True)]
    return Column(columns[0].name, np.concatenate(ids), strings)


def listed(values: Iterable[Item], what: str, of: str) -> Iterable[Item]:
    """The values. Raises DataError for text, a table, or a corpus in place of a sentence.

    Iterating over them gives characters, the names of columns, or sentences.

    >>> listed("Jan slaapt", "sentence 0", "tokens")
    Traceback (most recent call last):
    corate.errors.DataError: sentence 0 must be a list of tokens, not the text 'Jan slaapt'; split it first, ...
    """
    if isinstance(values, list | tuple) or (isinstance(values, Corpus) and of == "lists of tokens"):
        return values
    if isinstance(values, Corpus):
        raise DataError(
            f"{what} must be a list of {of}, not a Corpus; corpus.rows(0) is the list of the first sentence, and "
            "tagger.tag_all(corpus) and tagger.lattice(corpus) accept a whole corpus"
        )
    if isinstance(values, str | bytes):
        raise DataError(
            f"{what} must be a list of {of}, not the text {values[:40]!r}; split it first, for example with .split()"
        )
    if isinstance(values, Mapping):
        raise DataError(
            f"{what} must be a list of {of}, not a mapping ({', '.join(map(repr, list(values)[:5]))}); pass its "
            f"lists, as in from_sentences(data['tokens'], data['labels'])"
        )
    if hasattr(values, "columns"):  # such as a DataFrame
        names = list(map(str, values.columns))[:5]
        raise DataError(
            f"{what} must be a list of {of}, not a table ({type(values).__name__} with the columns {', '.join(names)})",
            f"use Corpus.from_frame(frame, sentence=..., token=..., {Argument('label')}...)",
        )
    return values


def feature_lists(sentences: Iterable[FeatureSentence]) -> list[Any]:
    """The sentences for the native code. Raises DataError if one is no list of tokens."""
    return [
        sentence.features if isinstance(sentence, ItemSequence) else listed(sentence, f"sentence {s}", "tokens")
        for s, sentence in enumerate(listed(sentences, "the sentences", "lists of tokens"))
    ]


def _read_columns(
    sentences: Iterable[Iterable[Token]], names: list[str] | None, *, labelled: bool
) -> tuple[list[Column], Offsets]:
    """The columns of sentences and the offsets of sentences; without names, the first token decides."""
    read = _native.intern_sentences(sentences, len(names)) if names and isinstance(sentences, list) else None
    if names and read is not None:  # lists of words or tuples, the usual case
        ends, arrays = read
        found = zip(names, arrays, strict=True)
        return [Column(name, ids, StringTable(data, offsets)) for name, (ids, data, offsets) in found], ends
    data: list[list[str]] = []
    stops = [0]
    for s, sentence in enumerate(sentences):
        tokens = list(listed(sentence, f"sentence {s}", "tokens"))
        if tokens and names is None:
            row, keys = _row_of(tokens[0], None, s)
            names = keys if keys is not None else default_names(len(row), labelled=labelled)
        if tokens and not data:
            data = [[] for _ in names or ()]
        for column, values in zip(data, _columns_of(tokens, names or [], s), strict=False):
            column.extend(values)
        stops.append(stops[-1] + len(tokens))
    names = names or ["word"]
    data = data or [[] for _ in names]
    built = [Column.of(name, values) for name, values in zip(names, data, strict=True)]
    return built, np.asarray(stops, dtype=np.int64)


def _columns_of(tokens: list[Token], names: list[str], sentence: int) -> Iterable[Iterable[str]]:
    """The columns of the tokens of a sentence."""
    kinds = set(map(type, tokens))
    if kinds == {str} and len(names) == 1:
        return [tokens]  # type: ignore[list-item]
    rows = tokens if kinds == {tuple} else [_row_of(token, names, sentence)[0] for token in tokens]
    if set(map(len, rows)) - {len(names)}:
        i, row = next((i, row) for i, row in enumerate(rows) if len(row) != len(names))
        raise DataError(
            f"sentence {sentence}, token {i}: {counted(len(row), 'column')} ({row!r}), expected {len(names)} "
            f"({', '.join(names)})"
        )
    return zip(*rows, strict=True)


def _row_of(token: Token, names: list[str] | None, sentence: int) -> tuple[Sequence[str], list[str] | None]:
    if isinstance(token, str):
        return (token,), None
    if isinstance(token, Mapping):
        keys = names if names is not None else list(token)
        try:
            return [token[k] for k in keys], keys
        except KeyError as missing:
            raise DataError(f"a token has no {missing} ({dict(token)!r})", sentence=sentence) from None
    if not isinstance(token, Sequence):
        raise DataError(f"a token must be a word, a tuple or a mapping, not {token!r}", sentence=sentence)
    return token, None


def default_names(width: int, *, labelled: bool) -> list[str]:
    if width == 1:
        return ["word"]
    observed = width - 1 if labelled else width
    names = ["word", "pos"][:observed] + [f"column{i}" for i in range(2, observed)]
    return [*names, "label"] if labelled else names


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, or NA of pandas."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def first_token(ids: Ids, offsets: Offsets, wanted: int) -> tuple[int, int]:
    """The sentence of the first token with an id that occurs, and its place in the sentence, both from 0."""
    first = int(np.argmax(ids == wanted))
    sentence = int(np.searchsorted(offsets, first, side="right")) - 1
    return sentence, first - int(offsets[sentence])


def unknown_label_error(sentence: int, token: int, what: str) -> DataError:
    """The error for an unknown label where every label is needed."""
    return DataError(
        f"the label of token {token} is unknown (None), but {what} needs every label",
        "the methods 'polish' and 'standard' learn from sentences with unknown labels",
        sentence=sentence,
    )


def _label_column(labels: Iterable[Iterable[str | None]], offsets: list[int]) -> Column:
    flat: list[str | None] = []
    s = -1
    for s, sentence in enumerate(listed(labels, "the labels", "lists of labels")):
        flat.extend(listed(sentence, f"the labels of sentence {s}", "labels"))
        if s + 1 >= len(offsets) or len(flat) != offsets[s + 1]:
            want = offsets[s + 1] - offsets[s] if s + 1 < len(offsets) else 0
            raise DataError(f"{counted(want, 'token')} but {counted(len(flat) - offsets[s], 'label')}", sentence=s)
    if s + 2 != len(offsets):
        raise DataError(f"{counted(len(offsets) - 1, 'sentence')} but labels for {s + 1}")
    return Column.of("label", flat)


def check_corpus(corpus: object) -> None:
    """Raise DataError, with the remedy, if this is not a corpus."""
    if not isinstance(corpus, Corpus):
        path = isinstance(corpus, str | os.PathLike)
        how = "read the file with corate.read" if path else "make one with Corpus.from_sentences or Corpus.from_frame"
        raise DataError(f"a corpus is needed, not a {type(corpus).__name__}; {how}")
