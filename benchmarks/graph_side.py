"""Corate's answers to a task, and a process that measures them: `python -m benchmarks.graph_side SET [--threads 2]`.

A process of its own tells its peak memory, and is not disturbed by what ran before. It prints JSON: processor seconds
of training and answering, wall seconds, accuracy, and a digest of the model and of all marginals.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import corate
from benchmarks.graph_rivals import Answer, accuracy, asked, log_loss, timed
from benchmarks.graph_sets import SETS, Array, Graph, Task, made_up
from corate.io import tensor_file


def corpus_of(task: Task, graphs: Sequence[Graph], labels: bool) -> corate.Corpus:
    """Graphs as a corpus; one graph of a network, a list of graphs otherwise."""
    symmetric = set(task.symmetric)
    if task.network:
        (graph,) = graphs
        y = graph.y if labels else None
        return corate.Corpus.from_graphs(graph.x, y, edges=dict(graph.edges), symmetric=symmetric)
    features = {}
    if graphs[0].edge_features:
        features["edge_features"] = [dict(graph.edge_features) for graph in graphs]
    return corate.Corpus.from_graphs(
        [graph.x for graph in graphs],
        [graph.y for graph in graphs] if labels else None,
        edges=[dict(graph.edges) for graph in graphs],
        symmetric=symmetric,
        **features,
    )


@dataclass(frozen=True)
class Solved:
    """A trained tagger, its answer, and the marginals of all nodes."""

    tagger: Any
    answer: Answer
    marginals: Array


def solved(task: Task, method: str, nodes: Any = None, threads: int = 1) -> Solved:
    """Train on a task, and answer it; known labels of a network are given."""
    given = {} if nodes is None else {"nodes": nodes}
    warm_up()
    build, corpus = timed(lambda: corpus_of(task, task.train, labels=True))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train, tagger = timed(lambda: corate.train(corpus, method, threads=threads, **given))
        unseen = corpus_of(task, task.test, labels=False)
        known = {node: str(label) for node, label in task.known().items()}
        limits = [corate.Constraints(labels=known)] if known else None

        def answer() -> tuple[list[list[str]], Array]:
            lattice = tagger.lattice(unseen, constraints=limits, threads=threads)
            return lattice.tag(), lattice.label_marginals()

        tag, (found, marginals) = timed(answer)
    messages = sorted({str(one.message) for one in caught})
    messages = [*messages[:1], f"{len(messages) - 1} more warnings"] if len(messages) > 2 else messages
    starts = np.concatenate([[0], np.cumsum([len(graph.y) for graph in task.test])])
    places = np.concatenate([start + nodes_ for start, nodes_ in zip(starts, asked(task), strict=False)])
    labels = np.array([label for graph in found for label in graph], dtype=str)[places]
    loss = log_loss(task, tagger.labels, np.asarray(marginals)[places])
    note = "; ".join([f"corpus {build:.2f} s, training {train:.2f} s, answers {tag:.2f} s", *messages])
    return Solved(tagger, Answer(labels, loss, train, tag, note), np.asarray(marginals))


@cache
def warm_up() -> None:
    """Import what training imports when it is first needed."""
    edges = [np.array([[0, 1], [1, 2]])] * 12
    corpus = corate.Corpus.from_graphs([[["a"], ["b"], ["a"]]] * 12, [["A", "B", "A"]] * 12, edges=edges)
    tagger = corate.train(corpus, "separate")
    tagger.lattice(corpus).tag()


def digest(found: Solved) -> str:
    """SHA-256 of all tensors of the model and of the marginals."""
    total = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        found.tagger.save(path)
        tensors, _ = tensor_file.read(path)
        for name in sorted(tensors):
            total.update(
                name.encode() + str(tensors[name].dtype).encode() + np.ascontiguousarray(tensors[name]).tobytes()
            )
    total.update(found.marginals.tobytes())
    return total.hexdigest()


def tasks(name: str) -> list[Task]:
    """The development tasks of a set, or `made-up:NODES`."""
    kind, _, size = name.partition(":")
    return [made_up(int(size))] if kind == "made-up" else list(SETS[kind](True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and answer all tasks of a set, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph_side", description="Measure one process.")
    parser.add_argument("set", help=f"{', '.join(SETS)} (held-out training data), or made-up:NODES")
    parser.add_argument("--method", default="polish")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    chosen = tasks(given.set)
    begin = time.perf_counter()
    found = [solved(task, given.method, threads=given.threads) for task in chosen]
    wall = time.perf_counter() - begin
    labels = [one.answer.labels for one in found]
    record = {
        "train": sum(one.answer.train for one in found),
        "tag": sum(one.answer.tag for one in found),
        "wall": wall,
        "accuracy": float(np.mean([accuracy(task, one) for task, one in zip(chosen, labels, strict=True)])),
        "digests": [digest(one) for one in found],
        "note": found[0].answer.note,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
