"""Why a token has its label: the difference between two labellings of a sentence, as a sum of contributions.

The first labelling is the best of those with one label at the token, the second the best of those with another label
there. Their scores differ by the scores of the token itself (its counted row, a bias, and each of its features), by the
scores of the edges to its neighbours, and by what changes elsewhere in the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from corate.errors import DataError
from corate.model.lattice import Lattice

if TYPE_CHECKING:
    from corate.model.chain import ChainModel
    from corate.model.inputs import Inputs, Sentence, TokenFeatures

__all__ = ["Contribution", "Explanation", "candidates", "explain"]

#: What a contribution comes from: a feature, the counted row of the word, the bias of the labels, the edges to the
#: neighbouring tokens, or changes elsewhere in the sentence.
Source = Literal["feature", "counts", "bias", "edges", "elsewhere"]


@dataclass(frozen=True)
class Contribution:
    """One term of the difference between two labellings."""

    source: Source
    name: str
    score: float


@dataclass(frozen=True)
class Explanation:
    """The difference between two labellings, in favour of ``label``, and its terms in descending size.

    ``difference`` is that of the scores, so it is the logarithm of the ratio of the labellings' probabilities. If no
    other label is possible, ``against`` is None and there are no contributions.
    """

    position: int
    label: str
    against: str | None
    difference: float
    contributions: list[Contribution]
    labels: list[str] = field(repr=False)
    labels_against: list[str] = field(repr=False)

    def __str__(self) -> str:
        if self.against is None:
            return f"token {self.position}: {self.label}; the model knows no other label for this word"
        head = f"token {self.position}: {self.label} and not {self.against}, difference {self.difference:+.3f}"
        return "\n".join([head, *(f"{c.score:+10.3f}  {c.source:<9}  {c.name}" for c in self.contributions)])


def candidates(lattice: Lattice, position: int) -> list[str]:
    """The candidate labels of a token; raises DataError if there is no such token."""
    n = len(lattice.offsets) - 1
    if not 0 <= position < n:
        raise DataError(f"there is no token {position}; the sentence has {n} tokens, from 0")
    return [lattice.names[y] for y in _ids(lattice, position).tolist()]


def explain(
    model: ChainModel,
    inputs: Inputs,
    sentence: Sentence,
    lattice: Lattice,
    position: int,
    label: str | None,
    against: str | None,
) -> Explanation:
    """Explain the label of one token of a sentence; see :meth:`corate.Tagger.explain`."""
    names = model.labels.to_list()
    first, second = (None if name is None else _id_of(name, names) for name in (label, against))
    if first is not None and first == second:
        raise DataError(f"label and against are both {label!r}; give two labels, or only one")
    paths = {y: _best_with(lattice, position, y) for y in _ids(lattice, position).tolist()}
    ranked = sorted(paths, key=lambda y: -paths[y][1])
    first = next(y for y in ranked if y != second) if first is None else first
    others = [y for y in ranked if y != first]
    if not others:
        best = [names[y] for y in paths[first][0]]
        return Explanation(position, names[first], None, float("inf"), [], best, best)
    second = others[0] if second is None else second
    token = inputs.features_at(sentence, position, model.word_column)
    (path, score), (other, worse) = paths[first], paths[second]
    return Explanation(
        position,
        names[first],
        names[second],
        score - worse,
        _contributions(model, token, lattice, position, path, other),
        [names[y] for y in path],
        [names[y] for y in other],
    )


def _ids(lattice: Lattice, token: int) -> NDArray[np.int32]:
    return lattice.labels[lattice.offsets[token] : lattice.offsets[token + 1]]


def _id_of(name: str, names: list[str]) -> int:
    if name not in names:
        raise DataError(f"the model has no label {name!r}; it has {', '.join(names[:20])}")
    return names.index(name)


def _best_with(lattice: Lattice, token: int, label: int) -> tuple[list[int], float]:
    """The best labelling of the sentence with this label at the token, and its score."""
    a, b = int(lattice.offsets[token]), int(lattice.offsets[token + 1])
    kept = np.ones(len(lattice.labels), dtype=bool)
    kept[a:b] = lattice.labels[a:b] == label
    offsets = lattice.offsets.copy()
    offsets[token + 1 :] -= b - a - 1
    limited = Lattice(
        lattice.sentences, offsets, lattice.labels[kept], lattice.scores[kept], lattice.edges, lattice.extra
    )
    path = limited.best()[0]
    return path.tolist(), lattice.path_score(0, path)


def _contributions(
    model: ChainModel, token: TokenFeatures, lattice: Lattice, position: int, path: list[int], other: list[int]
) -> list[Contribution]:
    """The terms of score(path) - score(other), in descending size."""
    of_nodes = [[_node_score(lattice, j, y) for j, y in enumerate(labels)] for labels in (path, other)]
    of_edges = [list(_edge_scores(lattice, labels)) for labels in (path, other)]
    near = range(position, position + 1 + model.order)
    elsewhere = sum(a - b for j, (a, b) in enumerate(zip(*of_nodes, strict=True)) if j != position)
    elsewhere += sum(a - b for j, (a, b) in enumerate(zip(*of_edges, strict=True)) if j not in near)
    edges = sum(a - b for j, (a, b) in enumerate(zip(*of_edges, strict=True)) if j in near)
    own = list(_node_terms(model, token, path[position], other[position]))
    terms = [
        *own,
        Contribution("edges", "the labels before and after", edges),
        Contribution("elsewhere", "the other tokens", elsewhere),
    ]
    if len(model.rows):
        node = of_nodes[0][position] - of_nodes[1][position]
        terms.append(_counted(model, token, path[position], other[position], node - sum(term.score for term in own)))
    return sorted((term for term in terms if term.score != 0.0), key=lambda term: -abs(term.score))


def _node_score(lattice: Lattice, token: int, label: int) -> float:
    a = int(lattice.offsets[token])
    return float(lattice.scores[a + int(np.searchsorted(_ids(lattice, token), label))])


def _edge_scores(lattice: Lattice, path: list[int]) -> Iterator[float]:
    """The score of the edge to each token, and of the edge to the end of the sentence."""
    boundary = lattice.edges.n_labels
    labels = [boundary, boundary, *path, boundary]
    for j in range(len(path) + 1):
        earlier, previous, y = labels[j : j + 3]
        score = lattice.edges.at(previous, y) + lattice.edges.triple(earlier, previous, y)
        if j < len(path):
            score += lattice.edge_feature_score(j, previous, y)
            score -= lattice.normaliser(j, previous) if lattice.edges.local else 0.0
        yield score


def _node_terms(model: ChainModel, token: TokenFeatures, label: int, other: int) -> Iterator[Contribution]:
    """What the bias and the features of a token say for a label and against another one."""
    if len(model.bias):
        yield Contribution("bias", "the labels themselves", float(model.bias[label]) - float(model.bias[other]))
    columns = [_columns(model, y) for y in (label, other)]
    for feature, value, name in zip(token.ids, token.values, token.names, strict=True):
        row = slice(int(model.weights.offsets[feature]), int(model.weights.offsets[feature + 1]))
        weights = dict(zip(model.weights.labels[row].tolist(), model.weights.scores[row].tolist(), strict=True))
        own, others = (sum(weights.get(column, 0.0) for column in of_label) for of_label in columns)
        yield Contribution("feature", name, value * (own - others))


def _counted(model: ChainModel, token: TokenFeatures, label: int, other: int, rest: float) -> Contribution:
    """What the counted row of the word says. That of an unknown word comes from its spelling; it is the ``rest``."""
    word = token.word_id
    a, b = (int(model.rows.offsets[word + i]) for i in (0, 1)) if word >= 0 else (0, 0)
    if a == b:
        return Contribution("counts", f"the spelling of the unknown word {token.word!r}", rest)
    row = dict(zip(model.rows.labels[a:b].tolist(), model.rows.scores[a:b].tolist(), strict=True))
    score = row.get(label, model.floor) - row.get(other, model.floor)
    return Contribution("counts", f"the word {token.word!r}", score)


def _columns(model: ChainModel, label: int) -> list[int]:
    """The columns of weights that count for a label: its own and those of its parts."""
    parts = model.parts
    if parts is None:
        return [label]
    return [label, *(parts.n_labels + p for p in parts.ids[parts.offsets[label] : parts.offsets[label + 1]].tolist())]
