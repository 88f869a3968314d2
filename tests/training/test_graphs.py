"""Joint training on graphs, and what it may read: against enumeration, finite differences, and training on chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.model.graph_scores import EdgeTable, NodeFeatures
from corate.training.graph_joint import Joint
from corate.training.graphs import GraphTraining
from corate.training.source import RunContext
from reference.labelled_graphs import Enumerated, Graph, Type, random_graph, random_types
from reference.log_linear import Regression, differences

WIDTH = 2


# -- the likelihood ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """Graphs with labels, -1 where one is not known, and the negative log-likelihood of all of them together."""

    graphs: list[Graph]
    types: list[Type]
    training: GraphTraining
    k: int

    @classmethod
    def random(cls, seed: int, *, share: float, given: bool = False) -> Problem:
        """A problem of which a share of the labels is known."""
        rng = np.random.default_rng([5, seed])
        types, k = random_types(rng), int(rng.integers(2, 4))
        graphs = [random_graph(rng, types, loops=bool(g % 2), nodes=(2, 5)) for g in range(4)]
        n = sum(graph.n for graph in graphs)
        labels = np.where(rng.random(n) < share, rng.integers(k, size=n), -1).astype(np.int32)
        log_probs = rng.normal(size=(n, k))
        log_probs -= np.logaddexp.reduce(log_probs, axis=1, keepdims=True)
        stops = np.cumsum([graph.n for graph in graphs])[:-1]
        corpus = Corpus.from_graphs(
            np.split(rng.normal(size=(n, WIDTH)), stops),
            edges=[graph.pairs for graph in graphs],
            edge_features=[graph.features for graph in graphs],
            symmetric={own.name for own in types if own.symmetric},
            node_log_probs=np.split(log_probs, stops) if given else None,
        )
        rows = np.arange(n + 1, dtype=np.int64), rng.integers(3, size=n).astype(np.int32)
        features = NodeFeatures(rows, None, 3, corpus.vectors)
        if given:
            features = NodeFeatures((np.zeros(n + 1, np.int64), rows[1][:0]), None, 0, log_probs.astype(np.float32))
        training = GraphTraining(corpus.offsets, corpus.edges, features, labels, k, RunContext(), given)
        return cls(graphs, types, training, k)

    @cached_property
    def nodes(self) -> Regression:
        own = self.training.features
        return Regression.of(own.rows, own.values, own.n_names, own.vectors, np.arange(self.k), None)

    def split(self, weights: NDArray) -> tuple[NDArray, dict[str, NDArray]]:
        """The scores of nodes, and for each type ``(d + 1, k, k)``: U and T."""
        size = self.nodes.design.shape[1] * self.k
        nodes, rest, tables = self.nodes.scores(weights[:size]), weights[size:], {}
        for own in self.types:
            rows = (own.width or 0) + 1
            pairs = self.k * (self.k + 1) // 2 if own.symmetric else self.k**2
            flat, rest = rest[: rows * pairs].reshape(rows, pairs), rest[rows * pairs :]
            table = np.zeros((rows, self.k, self.k))
            if own.symmetric:
                a, b = np.triu_indices(self.k)
                table[:, a, b] = table[:, b, a] = flat
            else:
                table[:] = flat.reshape(rows, self.k, self.k)
            tables[own.name] = table
        assert not len(rest)
        return nodes, tables

    def loss(self, weights: NDArray) -> float:
        """-log P(known labels), by enumeration."""
        nodes, tables = self.split(weights)
        total, start = 0.0, 0
        for graph in self.graphs:
            edges = []
            for own in self.types:
                z = graph.features.get(own.name, np.zeros((len(graph.pairs[own.name]), 0)))
                for pair, features in zip(graph.pairs[own.name].tolist(), z, strict=True):
                    left, right = sorted(pair) if own.symmetric else pair
                    edges.append((left, right, np.tensordot(np.append(features, 1.0), tables[own.name], 1)))
            here = slice(start, start + graph.n)
            labels = self.training.labels[here]
            allowed = (labels[:, None] < 0) | (labels[:, None] == np.arange(self.k))
            total += Enumerated.of(nodes[here], edges).log_z - Enumerated.of(nodes[here], edges, allowed).log_z
            start += graph.n
        return total


def penalty(problem: Problem, c2: float, edge_c2: float, bias_c2: float) -> NDArray:
    """The prior's weight of each weight, by its definition: c2 times the mean square where a feature is not 0."""
    design = problem.nodes.design
    squares = (design**2).sum(axis=0) / np.maximum((design != 0).sum(axis=0), 1)
    precision = [np.repeat(np.append(c2 * squares[:-1], bias_c2), problem.k)]
    for own, edges in zip(problem.types, problem.training.edges, strict=True):
        z = np.zeros((0, 0)) if edges.attributes is None else edges.attributes.astype(np.float64)
        squares = (z**2).sum(axis=0) / np.maximum((z != 0).sum(axis=0), 1)
        pairs = problem.k * (problem.k + 1) // 2 if own.symmetric else problem.k**2
        precision.append(np.repeat(np.append(edge_c2 * squares, edge_c2), pairs))
    return np.concatenate(precision)


@pytest.mark.parametrize("given", [False, True], ids=["features", "given"])
@pytest.mark.parametrize("share", [1.0, 0.6], ids=["all known", "some unknown"])
@pytest.mark.parametrize("seed", range(8))
def test_the_joint_likelihood_and_its_gradient_equal_enumeration(seed: int, share: float, given: bool) -> None:
    problem = Problem.random(seed, share=share, given=given)
    joint = Joint(problem.training, 0.7, 0.4, bias_c2=0.2)
    rng = np.random.default_rng([6, seed])
    weights = rng.normal(0, 0.7, len(joint.scale))
    precision, center = penalty(problem, 0.7, 0.4, 0.2), np.zeros(len(weights))
    center[: len(joint.center)] = joint.center

    def value(free: NDArray) -> float:
        own = free / joint.scale
        return problem.loss(own) + 0.5 * float((precision * (own - center) ** 2).sum())

    found, gradient = joint.objective(weights * joint.scale)
    np.testing.assert_allclose(found, value(weights * joint.scale), rtol=1e-5, atol=1e-5)
    slopes = differences(value, weights * joint.scale)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=2e-5)
    again, same = joint.objective(weights * joint.scale)  # messages begin where they were
    np.testing.assert_allclose(again, found, rtol=1e-9)
    np.testing.assert_allclose(same, gradient, rtol=1e-5, atol=1e-6)


def test_weights_and_tables_are_the_same_after_a_round_trip() -> None:
    for seed in range(6):
        problem = Problem.random(seed, share=0.8)
        joint = Joint(problem.training, 1.0, 1.0)
        weights = np.random.default_rng(seed).normal(size=len(joint.scale)).astype(np.float32).astype(np.float64)
        nodes, tables = joint.parts(weights * joint.scale)
        np.testing.assert_allclose(joint.vector(nodes, tables), weights * joint.scale, rtol=1e-6)
        scores = problem.split(weights)[1]
        for own in tables:
            assert isinstance(own, EdgeTable)
            np.testing.assert_allclose(own.table, scores[own.type][-1], rtol=1e-6)
            np.testing.assert_allclose(own.weights, scores[own.type][:-1], rtol=1e-6)
