"""Why a node of a graph has its label: the difference between two labellings of the graph, as a sum of contributions.

As for sentences, the first labelling is the best of those with one label at the node, and the second the best of those
with another label there:

    score(y) - score(y') = terms of the node's features + terms of its edges + what changes at the other nodes

On components that are answered by messages, the labellings are the best that messages find. The sum holds there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.display import counted
from corate.errors import DataError
from corate.inference.fields import FieldPlan
from corate.model.explanation import Contribution, Explanation, Question, asked_labels
from corate.model.graph_lattice import GraphLattice
from corate.model.graph_scores import GraphField, check_graphs
from corate.model.weights import feature_names, feature_weights
from corate.types import F64

if TYPE_CHECKING:
    from corate.model.chain import ChainModel
    from corate.model.inputs import Inputs

__all__ = ["explain_nodes"]

Labels = NDArray[np.int32]


def explain_nodes(
    model: ChainModel,
    inputs: Inputs,
    lattice_of: Callable[[Corpus], GraphLattice],
    graphs: Any,
    questions: Sequence[Question],
    most: int | None = None,
) -> list[Explanation]:
    """Answer questions about some nodes of graphs; see :meth:`corate.Tagger.explanations`."""
    corpus, found = check_graphs(graphs), dict[int, _Graph]()
    answers = []
    for question in questions:
        if question.sentence not in found:
            own = corpus[question.sentence]
            found[question.sentence] = _Graph(model, inputs, own, lattice_of(own))
        answers.append(found[question.sentence].answer(question, most))
    return answers


@dataclass(frozen=True, eq=False)
class _Graph:
    """A graph whose nodes are explained."""

    model: ChainModel
    inputs: Inputs
    corpus: Corpus
    lattice: GraphLattice

    @cached_property
    def usual(self) -> Labels:
        """The labels that ``tag`` gives."""
        return self.lattice.label_ids()

    def answer(self, question: Question, most: int | None) -> Explanation:
        """Why the node has the label, and not the other one."""
        names, node, n = self.lattice.names, question.position, len(self.lattice.field.nodes)
        asked_labels(question, set(names))
        if not 0 <= node < n:
            raise DataError(f"there is no node {node}; the graph has {counted(n, 'node')}, from 0")
        best = _BestWith(self.lattice, node, self.usual)
        label, against = self._pair(question, best)
        first = best.labels(label)
        texts = [names[y] for y in first.tolist()]
        if against is None:
            return Explanation(node, names[label], None, float("inf"), [], texts, texts, unit="node")
        second = best.labels(against)
        total = self.lattice.field.score(first) - self.lattice.field.score(second)
        every = [c for c in self._contributions(node, first, second, total) if c.score]
        every.sort(key=lambda c: -abs(c.score))
        shown, other = every[:most], [names[y] for y in second.tolist()]
        others = len(every) - len(shown)
        return Explanation(node, names[label], names[against], total, shown, texts, other, others, unit="node")

    def _pair(self, question: Question, best: _BestWith) -> tuple[int, int | None]:
        """The two labels that are compared. By default, the first is the one that ``tag`` gives."""
        ids = {name: y for y, name in enumerate(self.lattice.names)}
        usual = int(self.usual[question.position])
        against = None if question.against is None else ids[question.against]
        label: int | None = usual if question.label is None else ids[question.label]
        if label == against:
            label = best.other_than(usual)
        assert label is not None  # two labels, as `against` is one
        return label, best.other_than(label) if against is None else against

    def _contributions(self, node: int, first: Labels, second: Labels, total: float) -> Iterator[Contribution]:
        field, names = self.lattice.field, self.lattice.names
        label, against = int(first[node]), int(second[node])
        yield from self._of_node(node, label, against)
        left, right = field.ends.T
        rest = total - float(field.nodes[node, label] - field.nodes[node, against])
        for edges, (name, start, stop) in zip(self.corpus.edges or (), field.types, strict=True):
            for e in (start + np.flatnonzero((left[start:stop] == node) | (right[start:stop] == node))).tolist():
                table, u, v = field.tables[field.kinds[e]], left[e], right[e]
                score = float(table[first[u], first[v]] - table[second[u], second[v]])
                other = int(v if u == node else u)
                way = "with" if edges.symmetric else "to" if u == node else "from"
                both = dict.fromkeys((names[first[other]], names[second[other]]))
                yield Contribution("edges", f"{name} {way} node {other}: {', against '.join(both)}", score)
                rest -= score
        if (first != second).sum() > 1:
            yield Contribution("elsewhere", "the other nodes", rest)

    def _of_node(self, node: int, label: int, against: int) -> Iterator[Contribution]:
        """What the features of the node say."""
        graph, bias = self.model.graph, self.model.bias.astype(np.float64)
        assert graph is not None
        if graph.given:
            nodes = self.lattice.field.nodes
            yield Contribution("given", "the log-probabilities given", float(nodes[node, label] - nodes[node, against]))
            return
        features = self.inputs.node_features(self.corpus).take(np.array([node]))
        ids, values = features.rows[1], features.values
        amounts = np.ones(len(ids)) if values is None else values.astype(np.float64)
        if features.vectors is not None:
            columns = np.arange(features.vectors.shape[1], dtype=np.int32)
            ids = np.concatenate([ids, columns + features.n_names])
            amounts = np.concatenate([amounts, features.vectors[0].astype(np.float64)])
        rows = feature_weights(self.model).take(ids)
        sign = (rows.labels == label).astype(np.float64) - (rows.labels == against)
        scores = amounts * np.bincount(rows.owners, sign * rows.scores, len(ids))
        texts = feature_names(self.inputs.vocabulary, ids.tolist())
        for text, score in zip(texts, scores.tolist(), strict=True):
            yield Contribution("feature", text, score)
        yield Contribution("bias", "the labels themselves", float(bias[label] - bias[against]))


class _BestWith:
    """The best labellings of a graph with a label at one node. Only the component of the node differs between them."""

    def __init__(self, lattice: GraphLattice, node: int, usual: Labels) -> None:
        field, component = lattice.field, lattice.plan.component
        self.usual = usual
        self.nodes = np.flatnonzero(component == component[node])
        self.place = int(np.searchsorted(self.nodes, node))
        edges = np.flatnonzero(component[field.ends[:, 0]] == component[node])
        used, kinds = np.unique(field.kinds[edges], return_inverse=True)
        ends = np.searchsorted(self.nodes, field.ends[edges]).astype(np.int32)
        offsets = np.array([0, len(self.nodes)], np.int64)
        scores, tables = field.nodes[self.nodes], field.tables[used]
        self.field = GraphField(offsets, scores, ends, kinds.astype(np.int32), tables)
        size = len(self.nodes), scores.shape[1]
        self.plan = FieldPlan(*size, ends, memory=lattice.memory, approximate=True)
        self.known = dict[int, Labels]()

    def labels(self, label: int) -> Labels:
        """The best labelling with a label, of all nodes of the graph."""
        found: Labels = self.usual.copy()
        found[self.nodes] = self._own(label)
        return found

    def other_than(self, label: int) -> int | None:
        """The label, other than one, with the best labelling; None if there is no other."""
        possible = np.flatnonzero(self.field.nodes[self.place] > -np.inf).tolist()
        return max((y for y in possible if y != label), key=self._score, default=None)

    def _own(self, label: int) -> Labels:
        if label not in self.known:
            nodes: F64 = self.field.nodes.copy()
            nodes[self.place] = np.where(np.arange(nodes.shape[1]) == label, nodes[self.place], -np.inf)
            self.known[label], _ = self.plan.best(nodes, self.field.kinds, self.field.tables)
        return self.known[label]

    def _score(self, label: int) -> float:
        return self.field.score(self._own(label))
