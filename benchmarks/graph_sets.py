"""Graphs with features and labels: handwriting, snakes, parse trees, citations, made-up grids and networks.

Each set is a list of tasks: graphs to train on and graphs to answer. In development mode, the answers asked for are
those of held-out training data, and no label of a test part is read. A test part that is read is named on stderr.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import corpora

Array = NDArray[Any]
#: A label that is not known.
UNKNOWN = -1
#: What parts of trees are called in the files.
TREEBANKS = {"german": "de_gsd", "finnish": "fi_tdt"}
COLOURS = 7  # those of pixels are 1 to 6; 0 is outside the image
FOLDS = 5
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Graph:
    """One graph.

    Attributes:
        x: features of nodes: an array, a sparse matrix, or a list of dicts.
        y: labels, ``(n,)``: integers, -1 for an unknown one, or strings.
        edges: the two ends of each edge by type, ``(m, 2)``.
        edge_features: features of edges by type, ``(m, d)``.
    """

    x: Any
    y: Array
    edges: Mapping[str, Array]
    edge_features: Mapping[str, Array] = field(default_factory=dict)

    def all_edges(self) -> Array:
        """The edges of all types."""
        return np.concatenate([np.zeros((0, 2), np.int64), *self.edges.values()])


@dataclass(frozen=True)
class Task:
    """Graphs to train on, and graphs to answer. A network has one graph, in which some labels are known.

    In a network, the labels to train on are those of `train[0]` that are known, and those asked for are those of
    `test[0]` that are known there. The two graphs differ only in their labels.
    """

    name: str
    train: Sequence[Graph]
    test: Sequence[Graph]
    symmetric: frozenset[str] = frozenset()
    network: bool = False

    def known(self) -> dict[int, Any]:
        """The labels that are known when a network is answered."""
        return {int(i): self.train[0].y[i] for i in np.flatnonzero(is_known(self.train[0].y))} if self.network else {}


def is_known(y: Array) -> NDArray[np.bool_]:
    """Which labels are known."""
    return np.ones(len(y), bool) if y.dtype.kind in "UO" else y != UNKNOWN


def say_test_part(name: str) -> None:
    """Log that a test part is read: each reading is reported."""
    print(f"test part read: {name}", file=sys.stderr, flush=True)


def archive(name: str) -> Mapping[str, Array]:
    """The arrays of a set in graphs.zip, each of which is only read when it is asked for."""
    with corpora.archive(corpora.source_folder(), "graphs.zip") as packed:
        found: Mapping[str, Array] = np.load(io.BytesIO(packed.read(f"graphs/{name}.npz")), allow_pickle=False)
    return found


def parts(data: Mapping[str, Array], graphs: Callable[[str], list[Graph]], name: str, development: bool) -> Task:
    """Graphs of the training and of the test part; in development, four fifths and one fifth of the training part."""
    train = graphs("train")
    if not development:
        say_test_part(name)
        return Task(name, train, graphs("test"))
    return held_out(name, train)


def held_out(name: str, graphs: Sequence[Graph]) -> Task:
    """A fifth of graphs, drawn at random, is held out."""
    chosen = np.random.default_rng(0).permutation(len(graphs))
    cut = len(graphs) // FOLDS
    rest, held = np.sort(chosen[cut:]), np.sort(chosen[:cut])
    return Task(name, [graphs[i] for i in rest], [graphs[i] for i in held])


# -- handwriting ---------------------------------------------------------------------------------------------------


def letters(development: bool, data: Mapping[str, Array] | None = None) -> Iterator[Task]:
    """Words of handwritten letters: a node is a letter with its pixels, and an edge joins it to the next one."""
    data = archive("letters") if data is None else data

    def words(part: str) -> list[Graph]:
        starts, labels = data[f"{part}_start"], data[f"{part}_label"].astype(np.int64)
        pixels = np.unpackbits(data[f"{part}_pixels"], axis=1).astype(np.float32)
        rows = [slice(a, b) for a, b in pairwise(starts.tolist())]
        return [Graph(pixels[row], labels[row], {"next": chain(row.stop - row.start)}) for row in rows]

    yield parts(data, words, "letters", development)


def chain(n: int) -> Array:
    """Edges from each node to the next one."""
    return np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)


# -- snakes --------------------------------------------------------------------------------------------------------


def snakes(development: bool, data: Mapping[str, Array] | None = None) -> Iterator[Task]:
    """Images with a snake, from tail to head: only the directions of edges tell which part a pixel is."""
    data = archive("snakes") if data is None else data

    def images(part: str) -> list[Graph]:
        shapes = data[f"{part}_shape"].astype(np.int64)
        stops = np.cumsum(shapes.prod(axis=1))[:-1]
        colours, labels = (np.split(data[f"{part}_{what}"], stops) for what in ("colour", "label"))
        return [
            snake(colour.reshape(shape), label)
            for colour, label, shape in zip(colours, labels, shapes.tolist(), strict=True)
        ]

    yield parts(data, images, "snakes", development)


def snake(colours: Array, labels: Array) -> Graph:
    """One image: pixels see the colours of the nine pixels around them; edges see the pixels of both ends."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(colours, 1), (3, 3)).reshape(-1, 9)
    x = np.eye(COLOURS, dtype=np.float32)[around].reshape(len(around), -1)
    edges = grid_edges(*colours.shape)
    seen = {kind: np.concatenate([x[ends[:, 0]], x[ends[:, 1]]], axis=1) for kind, ends in edges.items()}
    return Graph(x, labels.astype(np.int64), edges, seen)


def grid_edges(height: int, width: int) -> dict[str, Array]:
    """Edges to the right and down, between nodes row by row."""
    numbers = np.arange(height * width).reshape(height, width)
    right = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], axis=1)
    down = np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], axis=1)
    return {"right": right, "down": down}


# -- parse trees ---------------------------------------------------------------------------------------------------


def german(development: bool) -> Iterator[Task]:
    """Case on German trees: the dev file to train, the test file to test."""
    return trees("german", development)


def finnish(development: bool) -> Iterator[Task]:
    """Case on Finnish trees."""
    return trees("finnish", development)


def trees(name: str, development: bool) -> Iterator[Task]:
    """Parse trees of a treebank."""

    def sentences(part: str) -> list[Graph]:
        with corpora.archive(corpora.source_folder(), "ud-small.zip") as packed:
            return list(conllu(packed.read(f"{TREEBANKS[name]}-ud-{part}.conllu").decode("utf-8")))

    train = sentences("dev")
    if development:
        yield held_out(name, train)
    else:
        say_test_part(name)
        yield Task(name, train, sentences("test"))


def conllu(text: str) -> Iterator[Graph]:
    """The trees of a CoNLL-U file; multiword tokens and empty nodes are left out.

    An edge leads from the head to its dependent. Its type is the relation and the side of the dependent.
    """
    for block in text.split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        if not rows:
            continue
        ends: dict[str, list[tuple[int, int]]] = {}
        for i, row in enumerate(rows):
            head = int(row[6]) - 1
            if head >= 0:
                ends.setdefault(f"{row[7]}-{'left' if i < head else 'right'}", []).append((head, i))
        cases = [dict(part.split("=", 1) for part in row[5].split("|") if "=" in part).get("Case", "_") for row in rows]
        edges = {kind: np.array(pairs, np.int64) for kind, pairs in ends.items()}
        yield Graph(tree_features(rows), np.array(cases, dtype=object), edges)


def tree_features(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """What the nodes of a tree see: themselves, two words on either side, their relation, and their head."""
    words, tags = [row[1].lower() for row in rows], [row[3] for row in rows]
    found = []
    for i, row in enumerate(rows):
        seen = {"word": words[i], "pos": tags[i]}
        seen |= {f"end{n}": words[i][-n:] for n in range(1, 5) if len(words[i]) >= n}
        for step in (-2, -1, 1, 2):
            inside = 0 <= i + step < len(rows)
            seen[f"word{step:+}"] = words[i + step] if inside else "<none>"
            seen[f"pos{step:+}"] = tags[i + step] if inside else "<none>"
        head = int(row[6]) - 1
        seen["relation"] = row[7]
        seen["head"], seen["head-pos"] = (words[head], tags[head]) if head >= 0 else ("<root>", "<root>")
        found.append(seen)
    return found


def without_tree(graph: Graph) -> Graph:
    """The features that need no tree, and edges to the next word."""
    x = [{k: v for k, v in node.items() if k not in ("relation", "head", "head-pos")} for node in graph.x]
    return replace(graph, x=x, edges={"next": chain(len(x))})


# -- citations -----------------------------------------------------------------------------------------------------


def cora(development: bool, data: Mapping[str, Array] | None = None, hops: int = 0) -> Iterator[Task]:
    """Papers and their citations, the public split: 20 labels of each of 7 subjects are known."""
    data = archive("cora") if data is None else data
    known = data["public_train"]
    name = "cora" if hops == 0 else "cora-hops"
    if development:
        yield from (citations(name, data, *fold, hops=hops) for fold in folds(known))
    else:
        say_test_part(name)
        yield citations(name, data, known, data["public_test"], hops=hops)


def cora_hops(development: bool, data: Mapping[str, Array] | None = None) -> Iterator[Task]:
    """The public split; the features of a node are the means over its neighbours and theirs."""
    return cora(development, data, hops=2)


def cora_random(development: bool, data: Mapping[str, Array] | None = None) -> Iterator[Task]:
    """60 % of the labels are known, 20 % are left out, 20 % asked for; two-hop means; three splits."""
    data = archive("cora") if data is None else data
    n = len(data["offsets"]) - 1
    if not development:
        say_test_part("cora-random")
    for seed in SEEDS[:1] if development else SEEDS:
        order = np.random.default_rng(seed).permutation(n)
        known, asked = order[: n * 6 // 10], order[n * 8 // 10 :]
        pairs = folds(known) if development else [(known, asked)]
        yield from (citations("cora-random", data, *pair, hops=2) for pair in pairs)


def folds(known: Array) -> Iterator[tuple[Array, Array]]:
    """The nodes to train on and those to ask for, five times."""
    for held in np.array_split(np.random.default_rng(0).permutation(known), FOLDS):
        yield np.setdiff1d(known, held), np.sort(held)


def citations(name: str, data: Mapping[str, Array], known: Array, asked: Array, hops: int) -> Task:
    """The network of papers, in which only the labels of `known` are visible to training."""
    offsets, words, edges = (data[key].astype(np.int64) for key in ("offsets", "words", "edges"))
    shape = (len(offsets) - 1, int(words.max()) + 1)
    x = sparse.csr_matrix((np.ones(len(words), np.float32), words, offsets), shape=shape)
    features = hop_means(x, edges, hops) if hops else x
    return network(name, features, data["label"].astype(np.int64), {"cites": edges}, known, asked, {"cites"})


def network(
    name: str, x: Any, labels: Array, edges: Mapping[str, Array], known: Array, asked: Array, symmetric: set[str]
) -> Task:
    """One graph with some known labels."""
    given, wanted = np.full(len(labels), UNKNOWN), np.full(len(labels), UNKNOWN)
    given[known], wanted[asked] = labels[known], labels[asked]
    graphs = [Graph(x, y, edges) for y in (given, wanted)]
    return Task(name, graphs[:1], graphs[1:], frozenset(symmetric), network=True)


def hop_means(x: Any, edges: Array, hops: int) -> Array:
    """The means of features over a node and its neighbours, taken `hops` times; a dense array."""
    n = x.shape[0]
    both = np.concatenate([edges, edges[:, ::-1], np.stack([np.arange(n)] * 2, axis=1)])
    adjacent = sparse.csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n))
    means = sparse.diags_array(1 / np.asarray(adjacent.sum(axis=1)).ravel()) @ adjacent
    for _ in range(hops):
        x = means @ x
    dense = x.toarray() if sparse.issparse(x) else np.asarray(x)
    return np.ascontiguousarray(dense, dtype=np.float32)


# -- made up -------------------------------------------------------------------------------------------------------

SIDE = 16
SAME = 1.05
SWEEPS = 60
#: A square whose diagonals are 1: with this noise, the nearest of its corners is right for 54.5 % of the pixels.
CORNERS = np.array([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
NOISE = 0.554


def grids(development: bool, images: int = 60) -> Iterator[Task]:
    """16 x 16 pixels of four labels, samples of a random field; a pixel alone says little. Five samples.

    What can be gained differs by half a point or more between samples, so that one would say little.
    """
    if not development:
        say_test_part("grids")
    for seed in range(100, 105) if development else range(5):
        rng = np.random.default_rng(seed)
        labels = gibbs_samples(2 * images, rng)
        edges = {"beside": np.concatenate(list(grid_edges(SIDE, SIDE).values()))}
        graphs = []
        for field_ in labels.reshape(2 * images, -1):
            pixels = CORNERS[field_] + NOISE * rng.standard_normal((len(field_), 2))
            graphs.append(Graph(pixels.astype(np.float32), field_, edges))
        yield Task("grids", graphs[:images], graphs[images:], frozenset({"beside"}))


def gibbs_samples(n: int, rng: np.random.Generator) -> Array:
    """Fields ``(n, 16, 16)`` with score 1.05 for each pair of equal neighbours: 60 sweeps from random labels."""
    labels = rng.integers(0, 4, (n, SIDE, SIDE))
    for _ in range(SWEEPS):
        labels = swept(labels, np.zeros(4), rng)
    return labels


def swept(labels: Array, nodes: Array, rng: np.random.Generator) -> Array:
    """Draw every label again, given its neighbours and the scores of nodes.

    The black squares of a board depend only on the white ones, so all of one colour are drawn at once.
    """
    black = np.add.outer(np.arange(SIDE), np.arange(SIDE)) % 2 == 0
    for squares in (black, ~black):
        own = np.pad(np.eye(4)[labels], ((0, 0), (1, 1), (1, 1), (0, 0)))
        around = own[:, :-2, 1:-1] + own[:, 2:, 1:-1] + own[:, 1:-1, :-2] + own[:, 1:-1, 2:]
        scores = SAME * around + nodes
        labels = np.where(squares, (scores + rng.gumbel(size=scores.shape)).argmax(axis=-1), labels)
    return labels


LABELS = 10
WORDS = 10_000


def made_up(n: int, seed: int = 0) -> Task:
    """A network of `n` nodes with 10 labels, sparse features and 3 n edges; the labels of every other node are known.

    There are 2 n symmetric edges of the type `like`, mostly between equal labels, and n directed edges of the type
    `follows`, often from a label to the next one. A node has six words: some from the words of its label.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, LABELS, n)
    general = np.minimum((WORDS ** rng.random((n, 6))).astype(np.int64), WORDS - 1)
    own = WORDS + labels[:, None] * 100 + rng.integers(0, 100, (n, 6))
    words = np.sort(np.where(rng.random((n, 6)) < 0.15, own, general), axis=1)
    fresh = np.concatenate([np.ones((n, 1), bool), words[:, 1:] != words[:, :-1]], axis=1)
    offsets = np.concatenate([[0], np.cumsum(fresh.sum(axis=1))])
    values = np.ones(int(fresh.sum()), np.float32)
    x = sparse.csr_matrix((values, words[fresh], offsets), shape=(n, WORDS + 100 * LABELS))
    edges = {
        "like": drawn_edges(labels, 2 * n, 0, 0.5, rng, symmetric=True),
        "follows": drawn_edges(labels, n, 1, 0.4, rng, symmetric=False),
    }
    known, asked = np.arange(0, n, 2), np.arange(1, n, 2)
    return network(f"made up, {n:,} nodes", x, labels, edges, known, asked, {"like"})


def drawn_edges(labels: Array, m: int, step: int, share: float, rng: np.random.Generator, symmetric: bool) -> Array:
    """Different edges: a share of them lead to the label that is `step` after that of the left end."""
    n = len(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=LABELS))])
    left = rng.integers(0, n, m + m // 10 + 100)
    wanted = (labels[left] + step) % LABELS
    sizes = starts[wanted + 1] - starts[wanted]
    inside = order[starts[wanted] + (rng.random(len(left)) * sizes).astype(np.int64)]
    right = np.where(rng.random(len(left)) < share, inside, rng.integers(0, n, len(left)))
    if symmetric:
        left, right = np.minimum(left, right), np.maximum(left, right)
    keys = left * n + right
    _, first = np.unique(keys, return_index=True)
    first = np.sort(first[left[first] != right[first]])[:m]
    return np.stack([left[first], right[first]], axis=1)


#: The sets by name; each makes its tasks.
SETS: dict[str, Callable[[bool], Iterator[Task]]] = {
    "letters": letters,
    "snakes": snakes,
    "german": german,
    "finnish": finnish,
    "cora": cora,
    "cora-hops": cora_hops,
    "cora-random": cora_random,
    "grids": grids,
}
