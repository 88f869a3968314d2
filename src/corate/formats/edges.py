"""Edges between the tokens of a text: neighbours, equal values, and the relations of a dependency tree.

The argument ``edges`` of ``corate.read`` names them: ``tree``, ``chain``, ``skip:COLUMN``, or several with ``+``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.edges import EdgeSet
from corate.errors import Argument, DataError
from corate.rows import owners_of
from corate.types import Offsets

__all__ = [
    *("EdgeSource", "chain_edges", "edge_set", "edge_source", "heads_and_relations"),
    *("joined_parts", "skip_edges", "tree_edges", "with_edges"),
]

Tokens = NDArray[np.int64]

#: The type of the edges of a chain, and the values that mean none, which no edge joins.
_NEXT, _NONE = "next", ("", "_")


@dataclass(frozen=True)
class EdgeSource:
    """Where edges come from: a tree, neighbours, and columns with equal values.

    >>> str(edge_source("skip:lemma + tree"))
    'tree+skip:lemma'
    """

    tree: bool = False
    chain: bool = False
    skips: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = ["tree"] * self.tree + ["chain"] * self.chain + [f"skip:{column}" for column in self.skips]
        return "+".join(parts)


def edge_source(text: str) -> EdgeSource:
    """The meaning of the argument ``edges``. Raises DataError if it has none.

    >>> edge_source("tree+chain")
    EdgeSource(tree=True, chain=True, skips=())
    """
    if not isinstance(text, str):
        raise DataError(f"{Argument('edges')} must be a text such as 'tree', not a {type(text).__name__}")
    parts = [part.strip() for part in text.split("+")]
    skips = [part.removeprefix("skip:").strip() for part in parts if part.startswith("skip:")]
    wrong = [part for part in parts if part not in ("tree", "chain") and not part.startswith("skip:")]
    if wrong or "" in skips:
        raise DataError(
            f"{(wrong or ['skip:'])[0]!r} does not name edges",
            f"choose tree, chain, skip:COLUMN such as skip:lemma, or several with + with {Argument('edges')}",
        )
    return EdgeSource("tree" in parts, "chain" in parts, tuple(dict.fromkeys(skips)))


def edge_set(left: Tokens, right: Tokens, graphs: Offsets, type: str, *, symmetric: bool = False) -> EdgeSet:
    """The edges of a type from their ends, counted over all graphs, in the order of the graphs.

    >>> edges = edge_set(np.array([0, 3]), np.array([1, 2]), np.array([0, 2, 4]), "next")
    >>> edges.offsets.tolist(), edges.left.tolist(), edges.right.tolist()
    ([0, 1, 2], [0, 1], [1, 0])
    """
    starts = graphs[:-1][owners_of(graphs)[right]]
    first, second = ((ends - starts).astype(np.int32) for ends in (left, right))
    offsets = np.searchsorted(right, graphs).astype(np.int64)
    return EdgeSet(offsets, first, second, type=type, symmetric=symmetric)


def chain_edges(sentences: Offsets, graphs: Offsets) -> EdgeSet:
    """An edge from each token to the next one of its sentence.

    >>> chain_edges(np.array([0, 3, 5]), np.array([0, 3, 5])).right.tolist()
    [1, 2, 1]
    """
    first = np.ones(int(sentences[-1]), bool)
    first[sentences[:-1]] = False
    right = np.flatnonzero(first)
    return edge_set(right - 1, right, graphs, _NEXT)


def skip_edges(column: Column, graphs: Offsets, name: str) -> EdgeSet:
    """An edge from each token to the next one of its graph with the same value. Empty values are not joined.

    >>> words = Column.of("word", ["a", "b", "a", "_", "a", "_"])
    >>> edges = skip_edges(words, np.array([0, 6]), "word")
    >>> edges, edges.left.tolist(), edges.right.tolist()
    (EdgeSet('skip:word', 2 edges in 1 graphs), [0, 2], [2, 4])
    """
    none = np.array([text in _NONE for text in column.strings.to_list()], bool)
    tokens = np.flatnonzero(~none[column.ids])
    keys = owners_of(graphs)[tokens] * len(none) + column.ids[tokens]
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    left, right = tokens[order[:-1][same]], tokens[order[1:][same]]
    order = np.argsort(right)
    return edge_set(left[order], right[order], graphs, f"skip:{name}", symmetric=True)


def tree_edges(heads: Tokens, relations: Column, graphs: Offsets) -> tuple[EdgeSet, ...]:
    """An edge from each head to its dependent; a relation is two types: before and after the head. Roots have none.

    ``heads`` are the tokens of the heads, counted over all graphs, and -1 for a root.

    >>> relations = Column.of("deprel", ["nsubj", "root", "obj"])
    >>> edges = tree_edges(np.array([1, -1, 1]), relations, np.array([0, 3]))
    >>> [(own.type, own.left.tolist(), own.right.tolist()) for own in edges]
    [('nsubj before head', [1], [0]), ('obj after head', [1], [2])]
    """
    dependents = np.flatnonzero(heads >= 0)
    of_head = heads[dependents]
    keys = relations.ids[dependents] * 2 + (dependents > of_head)
    order = np.argsort(keys, kind="stable")
    kinds, starts = np.unique(keys[order], return_index=True)
    found = []
    for kind, (a, b) in zip(kinds.tolist(), pairwise([*starts.tolist(), len(order)]), strict=True):
        chosen = order[a:b]
        name = f"{relations.strings[kind // 2]} {'after' if kind % 2 else 'before'} head"
        found.append(edge_set(of_head[chosen], dependents[chosen], graphs, name))
    return tuple(sorted(found, key=lambda edges: edges.type))


def heads_and_relations(corpus: Corpus) -> tuple[list[str], list[str]]:
    """HEAD and DEPREL of all tokens of a corpus with the edges of `tree_edges`. Without a head, they are 0 and root."""
    heads, relations = ["0"] * corpus.n_tokens, ["root"] * corpus.n_tokens
    for edges in corpus.edges or ():
        relation, found, _ = re.sub(" (before|after) head$", "\t", edges.type).partition("\t")
        if found:
            for token, head in zip(edges.ends(corpus.offsets)[:, 1].tolist(), edges.left.tolist(), strict=True):
                heads[token], relations[token] = str(head + 1), relation
    return heads, relations


def with_edges(corpus: Corpus, source: EdgeSource, file: str) -> Corpus:
    """A corpus of any format with edges within its sentences. Raises DataError for a tree, which only CoNLL-U has."""
    if source.tree:
        raise DataError(
            "the heads of a tree are in the columns HEAD and DEPREL of CoNLL-U",
            f"use {Argument('format', 'conllu')} if this is CoNLL-U, or {Argument('edges', 'chain')}",
            file=file,
        )
    columns: Sequence[Column] = [corpus.column(name) for name in source.skips]
    edges = joined_parts(source, (), columns, corpus.offsets, corpus.offsets)
    return replace(corpus, edges=edges, edge_source=str(source))


def joined_parts(
    source: EdgeSource, tree: tuple[EdgeSet, ...], columns: Sequence[Column], sentences: Offsets, graphs: Offsets
) -> tuple[EdgeSet, ...]:
    """All edges of a source: those of the tree, of neighbours, and of equal values in ``columns``."""
    chain = (chain_edges(sentences, graphs),) if source.chain else ()
    skips = (skip_edges(column, graphs, name) for name, column in zip(source.skips, columns, strict=True))
    return (*tree, *chain, *skips)
