"""The answers about graphs: best labels, probabilities, n-best labellings and samples of all nodes of a graph.

Answers are exact on forests, and on other graphs while the clique tree of a component fits into memory. Elsewhere
messages give approximate probabilities, and a warning says where they did not converge.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_seed, check_whole
from corate.display import counted, size
from corate.errors import Argument, ConfigError, DataError
from corate.inference.best import n_best
from corate.inference.fields import FieldPlan, FieldResult
from corate.inference.trees import NOTHING, Distribution
from corate.model.constraints import Constraints
from corate.model.graph_scores import GraphField
from corate.rows import owners_of
from corate.types import F64

__all__ = ["GraphLattice", "Inference", "within"]

#: The bytes that the tables of a component may need for exact answers.
MEMORY = 64 << 20
#: The largest change of a probability with which messages on loops count as converged.
TOLERANCE = 1e-4


class Inference(NamedTuple):
    """How the answers about a graph are computed.

    Attributes:
        exact: whether all answers are exact.
        treewidth: the largest treewidth of a component for which a clique tree was searched.
        sweeps: the largest number of sweeps of messages; 1 on trees, 0 if clique trees answer everything.
        residual: the largest change of a probability in the last sweep; 0 where answers are exact.
        converged: whether all messages converged.
        coupling: how much of a message comes back on loops; above 1, probabilities may be far from the truth.
    """

    exact: bool
    treewidth: int
    sweeps: int
    residual: float
    converged: bool
    coupling: float


@dataclass(frozen=True, eq=False, repr=False)
class GraphLattice:
    """Graphs ready to answer questions. Its methods return a list with an answer for each graph.

    >>> nodes = np.log([[0.9, 0.1], [0.5, 0.5]])
    >>> same = np.log([[[3.0, 1.0], [1.0, 3.0]]])
    >>> field = GraphField(np.array([0, 2]), nodes, np.array([[0, 1]]), np.array([0]), same)
    >>> lattice = GraphLattice(field, ["X", "Y"])
    >>> lattice, lattice.tag(), lattice.label_marginals().round(2).tolist()
    (GraphLattice(graphs=1, nodes=2, edges=1), [['X', 'X']], [[0.9, 0.1], [0.7, 0.3]])
    """

    field: GraphField
    names: Sequence[str]
    memory: int = MEMORY
    threads: int = 1

    def __repr__(self) -> str:
        graphs, nodes = len(self.field.offsets) - 1, len(self.field.nodes)
        return f"GraphLattice(graphs={graphs}, nodes={nodes}, edges={len(self.field.ends)})"

    @property
    def sentences(self) -> NDArray[np.int64]:
        """The offsets of the graphs, in nodes."""
        return self.field.offsets

    @cached_property
    def plan(self) -> FieldPlan:
        """How the graphs are answered."""
        nodes, labels = self.field.nodes.shape
        return FieldPlan(nodes, labels, self.field.ends, memory=self.memory, approximate=True)

    @property
    def is_forest(self) -> bool:
        """Whether no graph has a loop."""
        return self.plan.is_forest

    # -- best labels and probabilities -------------------------------------------------------------------------------

    @cached_property
    def found(self) -> FieldResult:
        """The probabilities of labels, with a warning where messages did not converge."""
        field = self.field
        found = self.plan.expectations(
            field.nodes, field.kinds, field.tables, sums=True, tolerance=TOLERANCE, threads=self.threads
        )
        self._warn(found)
        return found

    def _warn(self, found: FieldResult) -> None:
        messages = found.messages
        if messages is None or messages.converged.all():
            return
        wrong = counted(int((~messages.converged).sum()), "component")
        warnings.warn(
            f"messages did not converge in {wrong} of the graph: a probability still changed by "
            f"{float(messages.change.max()):.2g}; take its probabilities as rough",
            stacklevel=4,
        )

    def best(self) -> tuple[NDArray[np.int32], F64]:
        """The labels of the most probable labelling, and the scores of components."""
        field = self.field
        return self.plan.best(field.nodes, field.kinds, field.tables, threads=self.threads)

    def label_marginals(self) -> F64:
        """The probabilities of all labels at each node, ``(nodes, labels)``."""
        return self.found.nodes

    def tag(self, decode: str | None = None) -> list[list[str]]:
        """The labels of each graph: the ``"best"`` labelling, or ``"posterior"``: the most probable of each node.

        By default, the best labelling of graphs without loops, and the most probable labels of those with loops.
        """
        ids = self.label_ids(decode).tolist()
        return self._by_graph([self.names[y] for y in ids])

    def label_ids(self, decode: str | None = None) -> NDArray[np.int32]:
        """The ids of the labels that `tag` returns."""
        if decode not in (None, "best", "posterior"):
            raise ConfigError(f"decode must be 'best' or 'posterior', not {decode!r}", option="decode")
        if decode == "best" or (decode is None and self.is_forest):
            return self.best()[0]
        labels = self.label_marginals().argmax(axis=1).astype(np.int32)
        return labels if decode else self._with_best_of_forests(labels)

    def _with_best_of_forests(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Labels with the best labelling in place of those of graphs without loops."""
        field, plan = self.field, self.plan
        graph = owners_of(field.offsets)
        looped = np.bincount(graph, ~plan.is_tree[plan.component], minlength=1) > 0
        free = ~looped[graph]
        nodes, edges = np.flatnonzero(free), np.flatnonzero(free[field.ends[:, 0]])
        ends = (np.cumsum(free) - 1)[field.ends[edges]]
        forest = FieldPlan(len(nodes), field.nodes.shape[1], ends)
        labels[nodes] = forest.best(field.nodes[nodes], field.kinds[edges], field.tables, threads=self.threads)[0]
        return labels

    def _by_graph(self, values: Sequence[str]) -> list[list[str]]:
        return [list(values[a:b]) for a, b in pairwise(self.field.offsets.tolist())]

    def edge_marginals(self, type: str) -> F64:
        """The probabilities of pairs of labels of the edges of a type, ``(edges, labels, labels)``."""
        for name, start, stop in self.field.types:
            if name == type:
                kinds = self.field.kinds
                every = self.plan.expectations(
                    self.field.nodes, kinds, self.field.tables, tolerance=TOLERANCE, threads=self.threads
                )
                self._warn(every)
                return np.asarray(every.edges[start:stop])
        known = ", ".join(repr(name) for name, _, _ in self.field.types) or "none"
        raise DataError(f"the graph has no edges of the type {type!r}; its types are {known}")

    def draw(self, graph: int = 0, *, names: Sequence[str] | None = None, seed: int = 0) -> str:
        """A graph with its labels as the text of an SVG image, of at most 400 nodes.

        The colour of a node is its label. An edge is red if the labels of its ends attract each other, blue if they
        avoid each other, and wide if they do so strongly. Tooltips have the probabilities of labels.

        Args:
            graph: the index of the graph.
            names: a text for each node. By default, its number and its label.
            seed: determines the layout.

        >>> same = np.log([[[3.0, 1.0], [1.0, 3.0]]])
        >>> field = GraphField(np.array([0, 2]), np.zeros((2, 2)), np.array([[0, 1]]), np.array([0]), same)
        >>> "0: X" in GraphLattice(field, ["X", "Y"]).draw()
        True
        """
        from corate.model.graph_drawing import draw

        return draw(self, check_whole("graph", graph, 0), names, check_seed(seed))

    def inference(self) -> Inference:
        """How the answers are computed, over all graphs."""
        messages, exact = self.found.messages, bool(self.plan.exact.all())
        sweeps = 0 if messages is None else int(messages.sweeps.max(initial=0))
        residual = 0.0 if messages is None else float(messages.change.max(initial=0.0))
        converged = messages is None or bool(messages.converged.all())
        coupling = 0.0 if messages is None else messages.coupling
        return Inference(exact, self.plan.treewidth, sweeps, residual, converged, coupling)

    # -- answers that need exact inference ---------------------------------------------------------------------------

    def _exact(self, what: str) -> None:
        if not self.plan.exact.all():
            raise ConfigError(
                f"{what} needs exact inference, but the clique tree of a component has treewidth "
                f"{self.plan.treewidth} or more, and needs more than {size(self.memory)}; allow more with "
                f"{Argument('memory')} of lattice, remove edges, or ask for marginals and labels",
                option="memory",
            )

    def _distributions(self, what: str) -> list[tuple[GraphField, Distribution]]:
        self._exact(what)
        graphs = [self.field.graph(g) for g in range(len(self.field.offsets) - 1)]
        labels = self.field.nodes.shape[1]
        plans = (FieldPlan(len(own.nodes), labels, own.ends, memory=self.memory, approximate=True) for own in graphs)
        pairs = zip(graphs, plans, strict=True)
        return [(own, plan.distribution(own.nodes, own.kinds, own.tables)) for own, plan in pairs]

    def log_z(self) -> F64:
        """log Z of each graph."""
        self._exact("log Z")
        field = self.field
        owner = np.searchsorted(field.offsets, np.arange(len(field.nodes)), side="right") - 1
        graph = np.zeros(len(self.plan.exact), np.int64)
        graph[self.plan.component] = owner
        return np.asarray(np.bincount(graph, self.found.log_z, minlength=len(field.offsets) - 1), np.float64)

    def marginals(self) -> tuple[F64, F64]:
        """log Z of each graph, and the probabilities of all labels, node by node."""
        return self.log_z(), self.label_marginals().ravel()

    def path_score(self, graph: int, labels: NDArray[np.int32]) -> float:
        """The score of a labelling of one graph, before normalising; minus infinity for an unknown label."""
        return -np.inf if len(labels) and labels.min() < 0 else self.field.graph(graph).score(labels)

    def nbest(self, n: int) -> list[list[tuple[list[str], float]]]:
        """The ``n`` best labellings of each graph with their probabilities, best first; fewer if there are fewer."""
        n, found = check_whole("n", n, 1), []
        for (_, distribution), log_z in zip(self._distributions("n-best"), self.log_z().tolist(), strict=True):
            best = n_best(distribution, NOTHING, n, self.threads)
            named = [([self.names[y] for y in states.tolist()], float(np.exp(score - log_z))) for states, score in best]
            found.append(named)
        return found

    def confidence(self) -> list[float]:
        """The probability of each graph's best labelling."""
        self._exact("the confidence")
        labels, log_z = self.best()[0], self.log_z().tolist()
        graphs = pairwise(self.field.offsets.tolist())
        scores = [self.field.graph(g).score(labels[a:b]) for g, (a, b) in enumerate(graphs)]
        return [float(np.exp(score - z)) for score, z in zip(scores, log_z, strict=True)]

    def entropy(self) -> list[float]:
        """The entropy of the labellings of each graph, in nats."""
        return [max(0.0, distribution.entropy(NOTHING)) for _, distribution in self._distributions("the entropy")]

    def sample(self, n: int, seed: int = 0) -> list[list[list[str]]]:
        """``n`` labellings of each graph, drawn at random. A seed always gives the same."""
        n, seed, found = check_whole("n", n, 1), check_seed(seed), []
        for g, (_, distribution) in enumerate(self._distributions("sampling")):
            states = distribution.draw(NOTHING, n, seed + g)[1]
            found.append([[self.names[y] for y in row] for row in states.tolist()])
        return found


# -- constraints -----------------------------------------------------------------------------------------------------


def within(
    nodes: F64,
    offsets: NDArray[np.int64],
    words: Sequence[str] | None,
    names: Sequence[str],
    constraints: Constraints | Sequence[Constraints],
) -> F64:
    """The scores of nodes with minus infinity for the labels that constraints exclude.

    Raises ConfigError for constraints that are for sentences only, and DataError if they leave a node without labels.
    """
    graphs = len(offsets) - 1
    each = [constraints] * graphs if isinstance(constraints, Constraints) else list(constraints)
    if len(each) != graphs or not all(isinstance(one, Constraints) for one in each):
        raise ConfigError(
            f"constraints must be one corate.Constraints for each of {counted(graphs, 'graph')}", option="constraints"
        )
    ids = {name: y for y, name in enumerate(names)}
    limited: F64 = nodes.copy()
    for g, own in enumerate(each):
        _refuse_sequences(own)
        a, b = int(offsets[g]), int(offsets[g + 1])
        for node, allowed in own.labels.items():
            if node >= b - a:
                raise DataError(f"constraints name node {node}, but the graph has {counted(b - a, 'node')}")
            _limit(limited, a + node, _ids(ids, allowed))
        if own.words and words is not None:
            for i in range(a, b):
                if words[i] in own.words:
                    _limit(limited, i, _ids(ids, own.words[words[i]]))
    empty = np.flatnonzero(np.isneginf(limited.max(axis=1, initial=-np.inf)))
    if len(empty):
        node = int(empty[0])
        g = int(np.searchsorted(offsets, node, side="right")) - 1
        raise DataError(f"the constraints leave node {node - int(offsets[g])} of graph {g} without a label; relax them")
    return limited


def _limit(nodes: F64, node: int, allowed: list[int]) -> None:
    kept = nodes[node, allowed].copy()
    nodes[node] = -np.inf
    nodes[node, allowed] = kept


def _ids(ids: Mapping[str, int], names: Any) -> list[int]:
    unknown = sorted(name for name in names if name not in ids)
    if unknown:
        some = ", ".join(list(ids)[:10])
        raise ConfigError(f"the model has no label {unknown[0]!r}; its labels are {some}", option="labels")
    return sorted(ids[name] for name in names)


def _refuse_sequences(constraints: Constraints) -> None:
    for option in ("forbidden", "scheme", "one_block", "first", "last"):
        if getattr(constraints, option):
            raise ConfigError(
                f"{option} is a constraint on sentences; graphs take labels and words",
                f"leave {Argument(option)} unset",
                option=option,
            )
