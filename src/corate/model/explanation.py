"""Why a token has its label: the difference between two labellings of a sentence, as a sum of contributions.

The first labelling is the best of those with one label at the token, the second the best of those with another label
there. Their scores differ by the scores of the token itself (its counted row, a bias, and each of its features), by the
scores of the edges to its neighbours, and by what changes elsewhere in the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Corpus
from corate.display import counted
from corate.errors import DataError
from corate.model.constraints import Constraints
from corate.model.lattice import Lattice
from corate.rows import distinct, offsets_of, owners_of, take_rows
from corate.types import F64

if TYPE_CHECKING:
    from corate.model.chain import ChainModel
    from corate.model.inputs import Inputs, TokenFeatures

__all__ = ["Contribution", "Explanation", "Question", "asked_labels", "explain"]

Int64 = NDArray[np.int64]

#: What a contribution comes from: a feature, the counted row of the word, the bias of the labels, the edges to the
#: neighbouring tokens, or changes elsewhere in the sentence. In graphs also: log-probabilities given for a node.
Source = Literal["feature", "counts", "bias", "edges", "elsewhere", "given"]
_SOURCES: tuple[Source, ...] = ("feature", "counts", "bias", "edges", "elsewhere")
_NAMES = {"bias": "the labels themselves", "edges": "the labels before and after", "elsewhere": "the other tokens"}


class Contribution(NamedTuple):
    """One term of the difference between two labellings."""

    source: Source
    name: str
    score: float


@dataclass(frozen=True)
class Explanation:
    """The difference between two labellings, in favour of ``label``, and its terms in descending size.

    ``difference`` is that of the scores, so it is the logarithm of the ratio of the labellings' probabilities. If no
    other label is possible, ``against`` is None and there are no contributions. ``others`` is the number of smaller
    contributions that were left out. ``unit`` is what is explained: ``"token"`` or ``"node"``.
    """

    position: int
    label: str
    against: str | None
    difference: float
    contributions: list[Contribution]
    labels: list[str] = field(repr=False)
    labels_against: list[str] = field(repr=False)
    others: int = 0
    unit: str = field(default="token", repr=False)

    def __str__(self) -> str:
        if self.against is None:
            what = "word" if self.unit == "token" else self.unit
            return f"{self.unit} {self.position}: {self.label}; the model knows no other label for this {what}"
        head = f"{self.unit} {self.position}: {self.label} and not {self.against}, difference {self.difference:+.3f}"
        return "\n".join([head, *(f"{c.score:+10.3f}  {c.source:<9}  {c.name}" for c in self.contributions)])


class Question(NamedTuple):
    """Why does a token have ``label`` and not the label ``against``? By default, these are the two best."""

    sentence: int
    position: int
    label: str | None = None
    against: str | None = None


def explain(
    model: ChainModel,
    inputs: Inputs,
    lattice_of: Callable[..., Lattice],
    sentences: Corpus | Sequence[Any],
    questions: Sequence[Question],
    most: int | None = None,
) -> list[Explanation]:
    """Answer questions about some tokens of sentences; see :meth:`corate.Tagger.explanations`."""
    lattice = lattice_of(sentences)
    known: list[int] = []
    wider: dict[int, set[str]] = {}
    names = set(model.labels.to_list())
    for i, question in enumerate(questions):
        candidates = _candidates(lattice, question)
        missing = asked_labels(question, names) - candidates
        if missing:
            wider[i] = candidates | missing
        else:
            known.append(i)
    first = _answers(model, inputs, lattice, sentences, [questions[i] for i in known], most)
    found = dict(zip(known, first, strict=True))
    if wider:  # each in a copy of its sentence, because a further label at one token can change the best of others
        chosen = [questions[i].sentence for i in wider]
        copies = sentences.take(chosen) if isinstance(sentences, Corpus) else [sentences[s] for s in chosen]
        limits = [Constraints(labels={questions[i].position: every}) for i, every in wider.items()]
        asked = [questions[i]._replace(sentence=s) for s, i in enumerate(wider)]
        more = _answers(model, inputs, lattice_of(copies, constraints=limits), copies, asked, most)
        found.update(zip(wider, more, strict=True))
    return [found[i] for i in range(len(questions))]


def _candidates(lattice: Lattice, question: Question) -> set[str]:
    """The candidate labels of a token; raises DataError if there is no such token."""
    start, stop = lattice.sentences[question.sentence : question.sentence + 2].tolist()
    if not 0 <= question.position < stop - start:
        raise DataError(
            f"there is no token {question.position}; the sentence has {counted(stop - start, 'token')}, from 0"
        )
    token = start + question.position
    return {lattice.names[y] for y in lattice.labels[lattice.offsets[token] : lattice.offsets[token + 1]].tolist()}


def asked_labels(question: Question, names: set[str]) -> set[str]:
    """The labels that a question names; raises DataError if the model does not have them."""
    asked = [name for name in (question.label, question.against) if name is not None]
    for name in asked:
        if name not in names:
            raise DataError(f"the model has no label {name!r}; it has {', '.join(sorted(names)[:20])}")
    if len(asked) == 2 and asked[0] == asked[1]:
        raise DataError(f"label and against are both {asked[0]!r}; give two labels, or only one")
    return set(asked)


def _answers(
    model: ChainModel,
    inputs: Inputs,
    lattice: Lattice,
    sentences: Any,
    questions: Sequence[Question],
    most: int | None,
) -> list[Explanation]:
    """The answers of questions about candidates of the lattice."""
    if not questions:
        return []
    order = sorted(range(len(questions)), key=lambda i: questions[i].sentence)
    asked = [questions[i] for i in order]
    sentence, position = (np.array(values, np.int64) for values in list(zip(*asked, strict=True))[:2])
    tokens = lattice.sentences[sentence] + position
    labels, against, places = _pairs(lattice, asked, tokens)
    lengths = lattice.sentences[sentence + 1] - lattice.sentences[sentence]
    paths, arcs = zip(*(lattice.traces(sentence, position, own) for own in places), strict=True)
    features = inputs.token_features(sentences, tokens, model.word_column)
    differences = _differences(lattice, model.order, tokens, position, lengths, paths, arcs)
    contributions, counts = _contributions(model, inputs, features, labels, against, differences, most)
    names = model.labels.to_list()
    texts = [[names[y] for y in path.tolist()] for path in paths]
    bounds = offsets_of(lengths).tolist()
    answers: dict[int, Explanation] = {}
    for q, (y, z, total) in enumerate(zip(labels.tolist(), against.tolist(), differences[2].tolist(), strict=True)):
        first, second = (text[bounds[q] : bounds[q + 1]] for text in texts)
        at, own = asked[q].position, contributions[q]
        if z < 0:
            answers[order[q]] = Explanation(at, names[y], None, float("inf"), [], first, first)
        else:
            others = counts[q] - len(own)
            answers[order[q]] = Explanation(at, names[y], names[z], total, own, first, second, others)
    return [answers[i] for i in range(len(questions))]


def _pairs(lattice: Lattice, questions: Sequence[Question], tokens: Int64) -> tuple[Int64, Int64, tuple[Int64, Int64]]:
    """The two labels that each question compares, and their places among the candidates of the token.

    The best label is that of the best labelling. If there is no second one, its label is -1, and its place the first's.
    """
    ids = {name: y for y, name in enumerate(lattice.names)}
    asked = [np.array([ids.get(name, -1) for name in names]) for names in list(zip(*questions, strict=True))[2:]]
    starts, where = take_rows(lattice.offsets, tokens)
    owner = owners_of(starts)
    scores, labels = lattice.through()[where], lattice.labels[where]

    def best_without(excluded: Int64) -> Int64:
        """The label of each token with the best labelling, without one label; -1 if there is no other."""
        left = np.where(labels == excluded[owner], -np.inf, scores)
        at = np.flatnonzero((left == np.maximum.reduceat(left, starts[:-1])[owner]) & (left > -np.inf))[::-1]
        found = np.full(len(tokens), -1)
        found[owner[at]] = labels[at]  # the first of equally good ones
        return found

    def place(wanted: Int64) -> Int64:
        at = np.flatnonzero(labels == wanted[owner])
        found = np.zeros(len(tokens), np.int64)
        found[owner[at]] = at - starts[owner[at]]
        return found

    first = np.where(asked[0] >= 0, asked[0], best_without(asked[1]))
    second = np.where(asked[1] >= 0, asked[1], best_without(first))
    return first, second, (place(first), place(np.where(second < 0, first, second)))


def _differences(
    lattice: Lattice,
    order: int,
    tokens: Int64,
    position: Int64,
    lengths: Int64,
    paths: Sequence[NDArray[np.int32]],
    arcs: Sequence[F64],
) -> tuple[F64, F64, F64]:
    """What the token itself, the edges near it and all terms together contribute to the difference of two paths.

    An arc has the score of an edge and of the token it leads to.
    """
    starts = offsets_of(lengths)[:-1]
    first_arcs = starts + np.arange(len(starts))
    total = np.add.reduceat(arcs[0], first_arcs) - np.add.reduceat(arcs[1], first_arcs)
    own, edges = np.zeros(len(tokens)), np.zeros(len(tokens))
    for after in range(order + 1):
        inside, there = position + after < lengths, position + after <= lengths
        node = np.zeros(len(tokens))
        for sign, path in zip((1, -1), paths, strict=True):
            at = lattice.places((tokens + after)[inside], path[(starts + position + after)[inside]])
            node[inside] += sign * lattice.scores[at].astype(np.float64)
        arc = (first_arcs + position + after)[there]
        edges[there] += arcs[0][arc] - arcs[1][arc]
        edges -= node
        own = node if after == 0 else own
    return own, edges, total


def _contributions(
    model: ChainModel,
    inputs: Inputs,
    features: TokenFeatures,
    labels: Int64,
    against: Int64,
    differences: tuple[F64, F64, F64],
    most: int | None,
) -> tuple[list[list[Contribution]], list[int]]:
    """The ``most`` largest contributions to each difference, the largest first, and how many are not zero."""
    own, edges, total = differences
    m, owners = len(own), features.owners
    of_features = _feature_scores(model, features, labels, against)
    parts: list[tuple[Source, F64]] = []
    left = own - np.bincount(owners, of_features, m)
    if len(model.bias):
        parts.append(("bias", model.bias[labels].astype(np.float64) - model.bias[against]))
        left = left - parts[0][1]
    if len(model.rows):
        parts.append(("counts", _counted(model, features.word_ids, labels, against, left)))
    parts += [("edges", edges), ("elsewhere", total - own - edges)]
    owner = np.concatenate([owners, *(np.arange(m) for _ in parts)])
    kinds = [np.zeros(len(owners), np.int64), *(np.full(m, _SOURCES.index(name)) for name, _ in parts)]
    source, ids = np.concatenate(kinds), np.concatenate([features.ids, np.full(m * len(parts), -1)])
    score = np.concatenate([of_features, *(values for _, values in parts)])
    kept = np.flatnonzero((score != 0) & (against[owner] >= 0))
    kept = kept[np.lexsort((-np.abs(score[kept]), owner[kept]))]
    counts = np.bincount(owner[kept], minlength=m)
    if most is not None:
        kept = kept[np.arange(len(kept)) - offsets_of(counts)[owner[kept]] < most]
    shown = distinct(ids[kept][ids[kept] >= 0]).tolist()
    names = dict(zip(shown, inputs.vocabulary.names(shown), strict=True))
    known = _has_row(model, features.word_ids).tolist() if len(model.rows) else [False] * m
    found: list[list[Contribution]] = [[] for _ in range(m)]
    for q, kind, feature, value in zip(*(values[kept].tolist() for values in (owner, source, ids, score)), strict=True):
        spelling = "" if known[q] else "spelling of the unknown "
        word = f"the {spelling}word {features.words[q]!r}"
        name = names[feature] if feature >= 0 else _NAMES.get(_SOURCES[kind], word)
        found[q].append(Contribution(_SOURCES[kind], name, value))
    return found, counts.tolist()


def _feature_scores(model: ChainModel, features: TokenFeatures, labels: Int64, against: Int64) -> F64:
    """What each feature of each token says for a label and against another one: its value times its weights."""
    rows = model.weights.take(features.ids)
    entry = rows.owners
    token = features.owners[entry]
    sign = (rows.labels == labels[token]).astype(np.int64) - (rows.labels == against[token])
    if model.parts is not None:  # the columns after those of whole labels are parts of labels
        parts = model.parts
        member = np.zeros((len(model.labels), len(parts.names)), np.int64)
        member[owners_of(parts.offsets), parts.ids] = 1
        shared = np.flatnonzero(rows.labels >= len(model.labels))
        part = rows.labels[shared] - len(model.labels)
        sign[shared] = member[labels[token[shared]], part] - member[against[token[shared]], part]
    return features.values * np.bincount(entry, sign * rows.scores.astype(np.float64), len(features.ids))


def _has_row(model: ChainModel, words: Int64) -> NDArray[np.bool_]:
    """Whether words are known and have a counted row."""
    at = np.maximum(words, 0)
    return np.asarray((words >= 0) & (model.rows.offsets[at + 1] > model.rows.offsets[at]))


def _counted(model: ChainModel, words: Int64, labels: Int64, against: Int64, rest: F64) -> F64:
    """What the counted rows of words say. That of an unknown word comes from its spelling; it is the ``rest``."""
    known = np.flatnonzero(_has_row(model, words))
    rows = model.rows.take(words[known])
    entry = rows.owners
    scores = []
    for wanted in (labels, against):
        at = np.flatnonzero(rows.labels == wanted[known][entry])
        found = np.full(len(known), model.floor)
        found[entry[at]] = rows.scores[at]
        scores.append(found)
    counted: F64 = rest.copy()
    counted[known] = scores[0] - scores[1]
    return counted
