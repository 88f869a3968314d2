"""Strategies that draw sentences with candidate labels, and edges of the first or the second order."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from corate import _native
from corate.label_pairs import EdgeScores
from corate.model.lattice import Lattice
from reference import lattice as reference

scores = st.floats(-4, 4, width=32)
rates = st.floats(0, 4, width=32)


@st.composite
def triples(draw: st.DrawFn, n_labels: int) -> reference.Triples:
    """Scores of some labels three in a row, of all, or of none."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    share = draw(st.sampled_from([0.0, 0.2, 1.0]))
    found = np.argwhere(rng.random([n_labels + 1] * 3) < share).tolist()
    drawn = rng.uniform(-4, 4, len(found)).astype(np.float32).tolist()
    return {(y, z, w): score for (y, z, w), score in zip(found, drawn, strict=True)}


@st.composite
def edges(draw: st.DrawFn, n_labels: int, local: bool = False) -> tuple[_native.Edges, np.ndarray, reference.Triples]:
    """Edge scores, stored whole or as some pairs, the table they stand for, and scores of three labels in a row."""
    size = n_labels + 1
    three = {} if local else draw(st.one_of(st.just({}), triples(n_labels)))
    rows = reference.triple_rows(three, size) if three or (not local and draw(st.booleans())) else None
    if draw(st.booleans()):
        dense = np.array(draw(st.lists(scores, min_size=size * size, max_size=size * size)), np.float32)
        table = dense.reshape(size, size)
        return _native.Edges.dense(table, local, rows), table.astype(np.float64), three
    pairs = st.tuples(st.integers(0, n_labels), st.integers(0, n_labels))
    stored = draw(st.dictionaries(pairs, scores, max_size=size * size))
    row, col = (draw(st.lists(rates, min_size=size, max_size=size)) for _ in range(2))
    weight = draw(st.floats(0.25, 2, width=32))
    found = sorted(stored)
    sparse = EdgeScores(
        np.searchsorted([y for y, _ in found], np.arange(size + 1)).astype(np.int64),
        np.array([z for _, z in found], np.int32),
        np.array([stored[pair] for pair in found], np.float32),
        np.array(row, np.float32),
        np.array(col, np.float32),
        weight,
    )
    expected = reference.sparse_edges(stored, row, col, weight)
    np.testing.assert_allclose(sparse.dense(), expected, rtol=1e-5, atol=1e-5)
    arrays = (getattr(sparse, n) for n in ("offsets", "to", "scores", "row", "col", "weight"))
    return _native.Edges.sparse(*arrays, local, rows), expected, three


@st.composite
def chains(
    draw: st.DrawFn, local: bool = False
) -> tuple[list[list[dict[int, float]]], _native.Edges, np.ndarray, reference.Triples]:
    """Sentences of positions with some or all labels as candidates, and edges, of the first or the second order."""
    n_labels = draw(st.integers(1, 4))
    every = st.just(list(range(n_labels)))
    some = st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True).map(sorted)
    candidates = draw(st.sampled_from([every, some, st.one_of(every, some)]))
    position = candidates.flatmap(
        lambda ys: st.tuples(*[scores] * len(ys)).map(lambda xs: dict(zip(ys, xs, strict=True)))
    )
    sentences = draw(st.lists(st.lists(position, max_size=4), max_size=3))
    return sentences, *draw(edges(n_labels, local))


def lattice_of(sentences: list[list[dict[int, float]]], native: _native.Edges) -> Lattice:
    positions = [position for sentence in sentences for position in sentence]
    flat = [(y, score) for position in positions for y, score in position.items()]
    return Lattice(
        np.cumsum([0, *map(len, sentences)]),
        np.cumsum([0, *map(len, positions)]),
        np.array([y for y, _ in flat], np.int32),
        np.array([score for _, score in flat], np.float32),
        native,
    )
