"""Random fields with features on graphs: nodes, then edges given the nodes, and both together where this helps.

    log P(y | x) = sum_v node(y_v | x) + sum over edges (u, v) of types t of edge_t(y_u, y_v | x) - log Z(x)

`separate` estimates the factors on their own (:mod:`corate.training.graph_nodes`, :mod:`corate.training.graph_edges`).
On loops, each type of edges has an exponent, chosen by the likelihood of nodes that the node model has not seen. Where
most nodes of a graph are not labelled, nodes are fitted again to their probabilities, if held-out nodes gain.

`polish` goes on from there (:mod:`corate.training.graph_joint`): L-BFGS on the likelihood of all nodes together, for as
many iterations as held-out nodes gain, and for none if they do not gain. `standard` does so from zero to convergence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import portable_math
from corate.corpus import Corpus
from corate.edges import EdgeSet
from corate.errors import ConfigError, DataError
from corate.features.templates import Template
from corate.features.vocabulary import Vocabulary, template_rows
from corate.inference.fields import FieldPlan
from corate.model.chain import ChainModel
from corate.model.graph_scores import EdgeTable, GraphField, GraphScores, NodeFeatures, given_scores, joined_features
from corate.optimize.penalty import L2
from corate.rows import SparseRows, offsets_of, take_rows
from corate.training.graph_edges import (
    TypedEdges,
    chosen_edge_c2,
    chosen_exponents,
    fit_edges,
    with_exponents,
)
from corate.training.graph_joint import STEP, Joint, identity
from corate.training.graph_nodes import FEW_NODES, MANY_NODES, NodeModel, folds_of, loss_of
from corate.training.source import FittedModel, MemorySource, RunContext, TrainingData
from corate.types import F32, F64, Ids, Offsets

__all__ = ["GraphTraining", "Separated", "fit"]

#: The most nodes that exponents and polishing are tried on.
TRIAL_NODES = 20_000
#: The most bytes of the clique tree of a component in training; larger ones pass messages.
MEMORY = 1 << 20
#: With fewer labels of nodes and pairs of labels of edges, starting threads costs more than they save.
LEAST_CELLS = 1_000_000
#: How often nodes are fitted again where most labels are not known, and how much an unlabelled node counts.
ROUNDS, SHARE = 2, 0.1
#: The priors that are tried where most labels are not known.
FEW_PRIORS = (16.0, 4.0, 1.0, 0.25)
#: The least factor of the prior in joint training, and by how much it gets weaker at a time.
LEAST_PRIOR, PRIOR_STEP = 1e-3, 16.0
#: Probabilities to these powers are compared when rounds are: the labels count, and not how sure they are.
TEMPERATURES = (0.25, 0.4, 0.6, 0.8, 1.0)


def fit(method: Any, data: TrainingData, context: RunContext) -> FittedModel:
    """Train a model of graphs."""
    source = data.source
    assert isinstance(source, MemorySource)
    corpus, n_labels = source.corpus, len(source.names)
    if not n_labels:
        raise DataError("no node has a known label, so there is nothing to learn from")
    vocabulary, features = _features(corpus, data.templates, source.names.to_list())
    given = corpus.node_log_probs is not None
    cells = corpus.n_tokens * n_labels + sum(len(own.left) for own in corpus.edges or ()) * n_labels**2
    if cells < LEAST_CELLS:
        context = replace(context, threads=1)
    training = GraphTraining(
        corpus.offsets, corpus.edges or (), features, source.ids.astype(np.int32), n_labels, context, given
    )
    c2 = _strength(method)
    if method.name == "standard":
        weights, tables, record = training.standard(1.0 if c2 is None else c2, method.iterations)
    else:
        _warn_of_unlabelled(training.types)
        found = training.separate(c2)
        weights, tables, record = found.weights, found.tables, found.record(training)
        if method.name == "polish":
            try:
                weights, tables, record["polish"] = training.in_unit(found).polished(found)
            except KeyboardInterrupt:  # the separate factors are complete
                record |= {"polish": {"iterations": 0}, "interrupted": True}
    model = _model(source, features, weights, tables, given=given)
    facts = {"nodes": "given" if given else "features", "types": [own.type for own in tables]}
    return FittedModel(vocabulary, model, {**facts, **record}, len(weights) // n_labels)


def _warn_of_unlabelled(types: Sequence[TypedEdges]) -> None:
    """Warn of types of which no edge has known labels at both ends: their scores cannot be estimated on their own."""
    for own in types:
        if len(own.ends) and not len(own.labelled):
            learned = "only a rate of equal labels" if own.plain else "nothing"
            warnings.warn(
                f"no edge of the type {own.edges.type!r} has known labels at both ends, so {learned} is learned for "
                "it; label more neighbours, or use the method 'standard'",
                stacklevel=6,
            )


def _strength(method: Any) -> float | None:
    """What the option c2 or sigma2 says of the prior, as on sentences: its second derivative. None if it is unset."""
    if method.has("c2"):
        return None if method.c2 is None else L2(2.0 * method.c2).strength
    return None if method.sigma2 is None else L2(variance=method.sigma2).strength


def _features(corpus: Corpus, templates: Sequence[Template], names: Sequence[str]) -> tuple[Vocabulary, NodeFeatures]:
    """The vocabulary of the corpus, and the features of its nodes; log-probabilities, if they are given."""
    if corpus.node_log_probs is not None:
        return Vocabulary.of([]), NodeFeatures.given(given_scores(corpus, names))
    if any(template.edge for template in templates):
        raise ConfigError(
            "edge templates are features of neighbouring tokens, which graphs do not have; give features of edges to "
            "Corpus.from_graphs",
            option="features",
        )
    vocabulary, parts, ready = Vocabulary.of(templates), [], corpus.attributes
    if ready is not None:
        vocabulary = replace(vocabulary, attributes=ready.names, key_lengths=ready.key_lengths)
        parts.append(((ready.offsets, ready.ids), ready.values))
    if templates:
        parts.append((template_rows(vocabulary, vocabulary.fit(corpus)[0]), None))
    if not parts and corpus.vectors is None:
        raise DataError("the nodes have no features; give columns, features, vectors or node_log_probs")
    nothing = (np.zeros(corpus.n_tokens + 1, np.int64), np.zeros(0, np.int32))
    rows, values = joined_features(parts, corpus.n_tokens) if parts else (nothing, None)
    return vocabulary, NodeFeatures(rows, values, int(vocabulary.bases[-1]), corpus.vectors)


def _model(
    source: MemorySource, features: NodeFeatures, weights: F64, tables: Sequence[EdgeTable], *, given: bool
) -> ChainModel:
    shaped = weights.reshape(-1, len(source.names)).astype(np.float32)
    named, bias = shaped[: features.n_names], shaped[-1]
    kept = named != 0
    rows = SparseRows(offsets_of(kept.sum(axis=1)), np.nonzero(kept)[1].astype(np.int32), named[kept])
    graph = GraphScores(tuple(tables), np.ascontiguousarray(shaped[features.n_names : -1]), given)
    return ChainModel.of_graphs(source.names, rows, bias, graph)


@dataclass(frozen=True, eq=False)
class Separated:
    """Factors that were estimated on their own, and what was chosen.

    Attributes:
        weights: of nodes, fitted to all labels.
        tables: the scores of edges, to the power of their exponents.
        without: the weights of nodes that are fitted to all folds but one, for each fold.
        out_of_fold: log P(label) of each node by a model that has not seen its fold.
        loss: that of held-out nodes, if exponents were chosen by it.
        rounds: how often nodes were fitted again.
        one_unit: whether the columns of vectors have one unit; see `NodeModel`.
    """

    weights: F64
    tables: list[EdgeTable]
    without: list[F64]
    out_of_fold: F32
    c2: float
    edge_c2: float
    exponents: list[float]
    loss: float = 0.0
    rounds: int = 0
    one_unit: bool = False

    def record(self, training: GraphTraining) -> dict[str, Any]:
        """What was chosen, for the record of a model; c2 as the option is, half of the second derivative."""
        featured = {"edge_c2": self.edge_c2 / 2} if any(not own.plain for own in training.types) else {}
        exponents = dict(zip((own.type for own in training.edges), self.exponents, strict=True))
        return {"c2": self.c2 / 2, **featured, "exponents": exponents, "rounds": self.rounds}


@dataclass(frozen=True, eq=False)
class GraphTraining:
    """The training of a model of graphs.

    Attributes:
        offsets: the offsets of the graphs, in nodes.
        edges: the edges of each type.
        features: the features of nodes; log-probabilities of labels if they are ``given``.
        labels: the labels, -1 where one is not known.
        n_labels: K.
    """

    offsets: Offsets
    edges: tuple[EdgeSet, ...]
    features: NodeFeatures
    labels: Ids
    n_labels: int
    context: RunContext
    given: bool = False
    one_unit: bool = False

    @cached_property
    def nodes(self) -> NodeModel:
        """The regression of nodes."""
        return NodeModel(self.features, self.labels, self.n_labels, self.context, one_unit=self.one_unit)

    @cached_property
    def types(self) -> list[TypedEdges]:
        """The edges by type."""
        return TypedEdges.of(self.edges, self.offsets, self.labels, self.n_labels)

    @cached_property
    def plan(self) -> FieldPlan:
        """How the graphs are answered."""
        ends = np.concatenate([np.zeros((0, 2), np.int32), *(own.ends for own in self.types)])
        return FieldPlan(len(self.labels), self.n_labels, ends, memory=MEMORY, approximate=True)

    @cached_property
    def _folded(self) -> tuple[Ids, bool]:
        return folds_of(self.offsets, self.labels, self.context.seed)

    @property
    def folds(self) -> Ids:
        """The fold of each node."""
        return self._folded[0]

    @property
    def folds_of_graphs(self) -> bool:
        """Whether folds consist of whole graphs, and not of labelled nodes."""
        return self._folded[1]

    # -- parts -------------------------------------------------------------------------------------------------------

    def of_graphs(self, graphs: NDArray[np.int64]) -> GraphTraining:
        """The training on some graphs."""
        offsets, nodes = take_rows(self.offsets, graphs)
        edges = tuple(own.take(graphs) for own in self.edges)
        return replace(
            self, offsets=offsets, edges=edges, features=self.features.take(nodes), labels=self.labels[nodes]
        )

    def of_nodes(self, nodes: NDArray[np.int64]) -> GraphTraining:
        """The training on some nodes of one graph, and the edges between them."""
        place = np.full(len(self.labels), -1, np.int32)
        place[nodes] = np.arange(len(nodes))
        edges = []
        for own in self.edges:
            left, right = place[own.left], place[own.right]
            part = own.where((left >= 0) & (right >= 0))
            edges.append(replace(part, left=place[part.left], right=place[part.right]))
        offsets = np.array([0, len(nodes)], np.int64)
        features = self.features.take(nodes)
        return replace(self, offsets=offsets, edges=tuple(edges), features=features, labels=self.labels[nodes])

    def sampled(self) -> NDArray[np.int64]:
        """The nodes to try choices on: all, or those of some graphs, or the surroundings of some nodes, ascending."""
        n, graphs = len(self.labels), len(self.offsets) - 1
        rng = np.random.default_rng(self.context.seed)
        if n <= TRIAL_NODES:
            return np.arange(n)
        if graphs > 1:
            order = rng.permutation(graphs)
            most = max(1, int(np.searchsorted(np.cumsum(np.diff(self.offsets)[order]), TRIAL_NODES)))
            return take_rows(self.offsets, np.sort(order[:most]))[1]
        chosen = np.zeros(n, np.bool_)
        chosen[rng.permutation(n)[: TRIAL_NODES // 100]] = True
        while chosen.sum() < TRIAL_NODES:
            before = int(chosen.sum())
            for own in self.types:
                near = own.ends[chosen[own.ends].any(axis=1)]
                chosen[near.ravel()[: 2 * TRIAL_NODES]] = True
            if int(chosen.sum()) == before:
                break
        return np.flatnonzero(chosen)

    # -- separate training -------------------------------------------------------------------------------------------

    def separate(self, c2: float | None) -> Separated:
        """Estimate the factors on their own.

        Where most labels are not known, the prior of nodes is chosen together with the exponents.
        """
        if not self._mostly_unlabelled():
            return self._estimated(c2)
        if c2 is not None:
            return self._with_unlabelled(self._estimated(c2))
        one_unit = self.nodes.with_chosen_prior(self.folds)[0].one_unit
        training = self if one_unit == self.one_unit else replace(self, one_unit=one_unit)
        found = min((training._estimated(own) for own in FEW_PRIORS), key=lambda own: own.loss)
        return training._with_unlabelled(found)

    def _estimated(self, c2: float | None) -> Separated:
        """Factors without the further labels that unlabelled nodes give."""
        known, nodes = self.labels >= 0, self.nodes
        if self.given:
            assert self.features.vectors is not None
            c2 = 1.0 if c2 is None else c2
            weights = identity(self.n_labels)
            every, scores = [weights], [self.features.vectors.astype(np.float32)]
        else:
            if nodes.in_passes:
                nodes, c2 = nodes.with_chosen_passes(self.folds, c2)
            elif c2 is None:
                nodes, c2 = nodes.with_chosen_prior(self.folds)
            every = nodes.fold_weights(self.folds, c2)
            weights = nodes.fit(known, c2, "fitting nodes", every[0])
            scores = [nodes.log_probs(own) for own in every]
        out_of_fold = scores[0].copy()
        for fold in range(1, len(scores)):
            out_of_fold[self.folds == fold] = scores[fold][self.folds == fold]
        edge_c2 = chosen_edge_c2(self.types, out_of_fold, self.folds, self.context)
        tables = fit_edges(self.types, out_of_fold, edge_c2, self.context)
        exponents, loss = [1.0] * len(tables), 0.0
        if tables and not (self.plan.is_forest and self._all_free(tables)):
            few = int(known.sum()) <= FEW_NODES
            each = [out_of_fold] if self.folds_of_graphs or self.given else scores if few else scores[:2]
            if self.folds_of_graphs and any(not own.plain for own in self.types):
                exponents, loss = self._exponents_of_features(out_of_fold, edge_c2)
            else:
                exponents, loss = self._exponents(tables, each)
        tables = with_exponents(tables, exponents)
        return Separated(weights, tables, every, out_of_fold, c2, edge_c2, exponents, loss, one_unit=nodes.one_unit)

    def in_unit(self, found: Separated) -> GraphTraining:
        """The training with the unit of vectors that was chosen."""
        return self if found.one_unit == self.one_unit else replace(self, one_unit=found.one_unit)

    def _all_free(self, tables: Sequence[EdgeTable]) -> bool:
        """Whether no table has only the number of equal labels."""
        return not any(np.array_equal(own.table, np.eye(self.n_labels)) for own in tables)

    def _without_first(self) -> GraphTraining:
        """The training without the labels of the first fold."""
        return replace(self, labels=np.where(self.folds == 0, -1, self.labels).astype(np.int32))

    def _exponents_of_features(self, out_of_fold: F32, edge_c2: float) -> tuple[list[float], float]:
        """Exponents on graphs whose edges were not seen, as features of edges have many weights."""
        tables = fit_edges(self._without_first().types, out_of_fold, edge_c2, self.context)
        nodes = self.sampled()
        first = nodes[(self.folds == 0)[nodes]]
        part = self.of_graphs(np.unique(np.searchsorted(self.offsets, first, side="right") - 1))
        scores = [out_of_fold[first]]
        return chosen_exponents(tables, lambda tried: part.loss(tried, scores, np.zeros(len(first), np.int32)))

    def _exponents(self, tables: list[EdgeTable], scores: Sequence[F32]) -> tuple[list[float], float]:
        nodes = self.sampled()
        part, own, folds = self, list(scores), self.folds
        if len(nodes) < len(self.labels):
            graphs = np.unique(np.searchsorted(self.offsets, nodes, side="right") - 1)
            part = self.of_graphs(graphs) if len(self.offsets) > 2 else self.of_nodes(nodes)
            own, folds = [each[nodes] for each in scores], folds[nodes]
        return chosen_exponents(tables, lambda tried: part.loss(tried, own, folds))

    def loss(self, tables: Sequence[EdgeTable], scores: Sequence[F32], folds: Ids, power: float = 1.0) -> float:
        """The mean of -log P(label) of nodes by the marginals, each given scores that have not seen its label.

        With scores for each fold, the labels of the other folds are known.
        """
        total = count = 0.0
        for nodes, held_out in self._held_out(scores, folds):
            found = self.marginals(nodes, tables)
            logs = power * portable_math.log(np.maximum(found, 1e-12))
            if power != 1.0:
                logs -= portable_math.log(portable_math.exp(logs).sum(axis=1, keepdims=True))
            total += loss_of(logs, self.labels, held_out) * len(held_out)
            count += len(held_out)
        return total / max(count, 1.0)

    def _held_out(self, scores: Sequence[F32], folds: Ids) -> Iterator[tuple[F64, NDArray[np.int64]]]:
        """The scores of nodes with known labels clamped, and the held-out nodes, of each fold that has scores."""
        known = self.labels >= 0
        if len(scores) == 1:
            yield scores[0].astype(np.float64), np.flatnonzero(known)
            return
        for fold, own in enumerate(scores):
            held_out = known & (folds == fold)
            yield self.clamped(own.astype(np.float64), known & ~held_out), np.flatnonzero(held_out)

    def clamped(self, nodes: F64, known: NDArray[np.bool_]) -> F64:
        """Scores of nodes with minus infinity for the labels that known ones exclude."""
        found = np.where(known[:, None], -np.inf, nodes)
        places = np.flatnonzero(known)
        found[places, self.labels[places]] = nodes[places, self.labels[places]]
        return found

    def marginals(self, nodes: F64, tables: Sequence[EdgeTable]) -> F64:
        """The probabilities of labels, roughly where there are loops."""
        scores = [own.of_edges(edges) for own, edges in zip(tables, self.edges, strict=True)]
        return self.answered(GraphField.of(self.offsets, self.edges, nodes, scores))

    def answered(self, field: GraphField) -> F64:
        """The probabilities of labels of a field of these graphs."""
        return self.plan.expectations(
            field.nodes,
            field.kinds,
            field.tables,
            sums=True,
            tolerance=1e-2,
            sweeps=30,
            threads=self.context.threads,
        ).nodes

    # -- unlabelled nodes --------------------------------------------------------------------------------------------

    def _mostly_unlabelled(self) -> bool:
        known = int((self.labels >= 0).sum())
        return not self.folds_of_graphs and not self.given and 2 * known < len(self.labels) <= MANY_NODES

    def _with_unlabelled(self, found: Separated) -> Separated:
        """Nodes fitted again to the probabilities of unlabelled ones, if held-out nodes gain."""
        if not any(found.exponents):
            return found
        known = self.labels >= 0
        refitted = [
            self.nodes.log_probs(self._refitted(own, found, known & (self.folds != fold)))
            for fold, own in enumerate(found.without)
        ]
        before = [self.nodes.log_probs(own) for own in found.without]

        def loss(scores: Sequence[F32]) -> float:
            return min(self.loss(found.tables, scores, self.folds, power) for power in TEMPERATURES)

        if loss(refitted) >= loss(before):
            return found
        return replace(found, weights=self._refitted(found.weights, found, known), rounds=ROUNDS)

    def _refitted(self, weights: F64, found: Separated, known: NDArray[np.bool_]) -> F64:
        counts = np.where(known, 1.0, SHARE)
        for _ in range(ROUNDS):
            nodes = self.nodes.log_probs(weights).astype(np.float64)
            targets = self.marginals(self.clamped(nodes, known), found.tables)
            weights = self.nodes.refitted(targets, counts, found.c2, weights)
        return weights

    # -- joint training ----------------------------------------------------------------------------------------------

    def standard(self, c2: float, iterations: int) -> tuple[F64, list[EdgeTable], dict[str, Any]]:
        """Joint training from zero. As on sentences, the prior is that of all weights."""
        joint = Joint(self, c2, c2, bias_c2=c2)
        start = np.zeros(len(joint.scale))
        found = joint.minimised(start, "training", iterations, to_the_end=True)
        weights, tables = joint.parts(found.weights)
        return weights, tables, {"interrupted": found.stopped == "interrupted", "c2": c2 / 2, "stopped": found.stopped}

    def polished(self, found: Separated) -> tuple[F64, list[EdgeTable], dict[str, Any]]:
        """Joint training from separate factors, for as many iterations as held-out nodes gain."""
        learn, losses_of = (None, None) if self.nodes.in_passes else self._trial(found)
        if learn is None or losses_of is None:
            return found.weights, found.tables, {"iterations": 0}
        tables = fit_edges(self._without_first().types, found.out_of_fold, found.edge_c2, self.context)
        before = with_exponents(tables, found.exponents)
        reached, record = _gained(learn, found, before, losses_of)
        if reached is None:
            return found.weights, found.tables, record
        joint = Joint(self, found.c2 * record["prior"], found.edge_c2 * record["prior"])
        final = joint.minimised(joint.vector(*reached), "polishing", max(STEP, record["iterations"]))
        return (*joint.parts(final.weights), record)

    def _trial(self, found: Separated) -> tuple[GraphTraining | None, Callable[[Sequence[F64]], F64] | None]:
        """A training without the labels of the first fold, and the loss of weights on nodes of that fold."""
        nodes = self.sampled()
        known, first = self.labels >= 0, self.folds == 0
        if not (known & first)[nodes].any() or not (known & ~first)[nodes].any():
            return None, None
        if self.folds_of_graphs:
            owner = np.searchsorted(self.offsets, nodes, side="right") - 1
            learn, test = (self.of_graphs(np.unique(owner[(known & own)[nodes]])) for own in (~first, first))
        else:
            whole = self if len(nodes) == len(self.labels) else self.of_nodes(nodes)
            hidden = np.where(first[nodes], -1, whole.labels).astype(np.int32)
            learn, test = replace(whole, labels=hidden), whole
        held_out = np.flatnonzero(test.labels >= 0 if self.folds_of_graphs else (known & first)[nodes])
        probe = Joint(test, found.c2, found.edge_c2)

        def losses(weights: Sequence[F64]) -> F64:
            field = probe.field(weights)
            if not self.folds_of_graphs:
                field = replace(field, nodes=learn.clamped(field.nodes, learn.labels >= 0))
            found = test.answered(field)[held_out, test.labels[held_out]]
            return -portable_math.log(np.maximum(found, 1e-12))

        return learn, losses


def _gained(
    learn: GraphTraining, found: Separated, tables: list[EdgeTable], losses_of: Callable[[Sequence[F64]], F64]
) -> tuple[tuple[F64, list[EdgeTable]] | None, dict[str, Any]]:
    """The factors of joint training with the smallest loss, None if none gains, and a record.

    The prior gets weaker as long as that helps, and is tried weaker at least once. Each training begins with the best
    factors so far. A gain counts if it exceeds its standard error twice, as the smallest of several losses is small by
    chance, too.
    """
    factors, prior = (found.without[0], tables), 1.0
    best: float | None = None
    first = gains = np.zeros(0)
    record: dict[str, Any] = {"iterations": 0}
    while prior >= LEAST_PRIOR:
        joint = Joint(learn, found.c2 * prior, found.edge_c2 * prior)
        begin = joint.vector(*factors)
        losses, vector = joint.measured(begin, lambda weights: float(losses_of(weights).mean()))
        if best is None:
            best, first = losses[0], losses_of(joint.split(begin / joint.scale))
            record["held_out"] = {"before": best}
        if min(losses) < best:
            best, factors = min(losses), joint.parts(vector)
            gains = first - losses_of(joint.split(vector / joint.scale))
            record |= {"iterations": int(np.argmin(losses)) * STEP, "prior": prior}
            record["held_out"]["after"] = best
        elif prior < 1.0:
            break
        prior /= PRIOR_STEP
    certain = len(gains) > 1 and float(gains.mean()) > 2 * float(gains.std()) / len(gains) ** 0.5
    return (factors, record) if certain else (None, {"iterations": 0, "held_out": record["held_out"]})
