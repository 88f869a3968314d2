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
from corate.errors import DataError
from corate.model.constraints import Constraints
from corate.model.lattice import Lattice
from corate.ragged import distinct, offsets_of
from corate.types import F64

if TYPE_CHECKING:
    from corate.model.chain import ChainModel
    from corate.model.inputs import Inputs, TokenFeatures

__all__ = ["Contribution", "Explanation", "Question", "explain"]

Int64 = NDArray[np.int64]

#: What a contribution comes from: a feature, the counted row of the word, the bias of the labels, the edges to the
#: neighbouring tokens, or changes elsewhere in the sentence.
Source = Literal["feature", "counts", "bias", "edges", "elsewhere"]


class Contribution(NamedTuple):
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


class Question(NamedTuple):
    """Why does a token have ``label`` and not the label ``against``? By default, these are the two best."""

    sentence: int
    position: int
    label: str | None = None
    against: str | None = None


class _Pair(NamedTuple):
    """The candidates of a token that a question compares, counted from its first one. None if there is no other."""

    first: int
    second: int | None


def explain(
    model: ChainModel,
    inputs: Inputs,
    lattice_of: Callable[..., Lattice],
    sentences: Corpus | Sequence[Any],
    questions: Sequence[Question],
) -> list[Explanation]:
    """Answer questions about some tokens of sentences; see :meth:`corate.Tagger.explanations`."""
    lattice = lattice_of(sentences)
    known: list[int] = []
    wider: dict[int, set[str]] = {}
    names = set(model.labels.to_list())
    for i, question in enumerate(questions):
        candidates = _candidates(lattice, question)
        missing = _asked(question, names) - candidates
        if missing:
            wider[i] = candidates | missing
        else:
            known.append(i)
    found = dict(zip(known, _answers(model, inputs, lattice, sentences, [questions[i] for i in known]), strict=True))
    if wider:  # each in a copy of its sentence, because a further label at one token can change the best of others
        chosen = [questions[i].sentence for i in wider]
        copies = sentences.take(chosen) if isinstance(sentences, Corpus) else [sentences[s] for s in chosen]
        limits = [Constraints(labels={questions[i].position: every}) for i, every in wider.items()]
        asked = [questions[i]._replace(sentence=s) for s, i in enumerate(wider)]
        more = _answers(model, inputs, lattice_of(copies, constraints=limits), copies, asked)
        found.update(zip(wider, more, strict=True))
    return [found[i] for i in range(len(questions))]


def _candidates(lattice: Lattice, question: Question) -> set[str]:
    """The candidate labels of a token; raises DataError if there is no such token."""
    start, stop = lattice.sentences[question.sentence : question.sentence + 2].tolist()
    if not 0 <= question.position < stop - start:
        raise DataError(f"there is no token {question.position}; the sentence has {stop - start} tokens, from 0")
    token = start + question.position
    return {lattice.names[y] for y in lattice.labels[lattice.offsets[token] : lattice.offsets[token + 1]].tolist()}


def _asked(question: Question, names: set[str]) -> set[str]:
    """The labels that a question names; raises DataError if the model does not have them."""
    asked = [name for name in (question.label, question.against) if name is not None]
    for name in asked:
        if name not in names:
            raise DataError(f"the model has no label {name!r}; it has {', '.join(sorted(names)[:20])}")
    if len(asked) == 2 and asked[0] == asked[1]:
        raise DataError(f"label and against are both {asked[0]!r}; give two labels, or only one")
    return set(asked)


def _answers(
    model: ChainModel, inputs: Inputs, lattice: Lattice, sentences: Any, questions: Sequence[Question]
) -> list[Explanation]:
    """The answers of questions about candidates of the lattice."""
    if not questions:
        return []
    order = sorted(range(len(questions)), key=lambda i: questions[i].sentence)
    asked = [questions[i] for i in order]
    sentence, position = (np.array(values, np.int64) for values in list(zip(*asked, strict=True))[:2])
    tokens = lattice.sentences[sentence] + position
    pairs = _pairs(lattice, asked, tokens)
    firsts = np.array([pair.first for pair in pairs])
    seconds = np.array([pair.first if pair.second is None else pair.second for pair in pairs])
    lengths = lattice.sentences[sentence + 1] - lattice.sentences[sentence]
    starts = offsets_of(lengths)
    paths, arcs = [], []
    for candidates in (firsts, seconds):
        labels, scores = lattice.traces(sentence, position, candidates)
        paths.append(labels)
        arcs.append(scores)
    own, edges, total = _differences(lattice, model.order, tokens, position, lengths, paths, arcs)
    named = [path[starts[:-1] + position] for path in paths]
    features = inputs.token_features(sentences, tokens, model.word_column)
    of_features = _feature_scores(model, features, *named)
    shown = distinct(features.ids[of_features != 0].astype(np.int64)).tolist()
    names = dict(zip(shown, inputs.vocabulary.names(shown), strict=True))
    labels_of = model.labels.to_list()
    texts = [[labels_of[y] for y in path.tolist()] for path in paths]
    bounds, rows = starts.tolist(), features.offsets.tolist()
    answers: list[Explanation] = []
    for q, pair in enumerate(pairs):
        first, second = (text[bounds[q] : bounds[q + 1]] for text in texts)
        here, y, z = asked[q].position, int(named[0][q]), int(named[1][q])
        if pair.second is None:
            answers.append(Explanation(here, labels_of[y], None, float("inf"), [], first, first))
            continue
        row = slice(rows[q], rows[q + 1])
        terms = [
            Contribution("feature", names[feature], score)
            for feature, score in zip(features.ids[row].tolist(), of_features[row].tolist(), strict=True)
            if score
        ]
        if len(model.bias):
            terms.append(Contribution("bias", "the labels themselves", float(model.bias[y]) - float(model.bias[z])))
        if len(model.rows):
            rest = float(own[q]) - sum(term.score for term in terms)
            terms.append(_counted(model, features.words[q], int(features.word_ids[q]), y, z, rest))
        terms.append(Contribution("edges", "the labels before and after", float(edges[q])))
        terms.append(Contribution("elsewhere", "the other tokens", float(total[q] - own[q] - edges[q])))
        terms = sorted([term for term in terms if term.score], key=_size, reverse=True)
        answers.append(Explanation(here, labels_of[y], labels_of[z], float(total[q]), terms, first, second))
    unsorted = dict(zip(order, answers, strict=True))
    return [unsorted[i] for i in range(len(questions))]


def _size(term: Contribution) -> float:
    return abs(term.score)


def _pairs(lattice: Lattice, questions: Sequence[Question], tokens: Int64) -> list[_Pair]:
    """The candidates that each question compares. The best one is that with the best labelling."""
    scores, labels = lattice.through(), lattice.labels
    found = []
    for question, token in zip(questions, tokens.tolist(), strict=True):
        a, b = int(lattice.offsets[token]), int(lattice.offsets[token + 1])
        of = {lattice.names[y]: score for y, score in zip(labels[a:b].tolist(), scores[a:b].tolist(), strict=True)}
        places = {name: i for i, name in enumerate(of)}
        ranked = sorted((name for name, score in of.items() if score > -np.inf), key=lambda name: -of[name])
        first, second = question.label, question.against
        if first is None:
            first = next(name for name in ranked if name != second)
        if second is None:
            second = next((name for name in ranked if name != first), None)
        found.append(_Pair(places[first], None if second is None else places[second]))
    return found


def _differences(
    lattice: Lattice,
    order: int,
    tokens: Int64,
    position: Int64,
    lengths: Int64,
    paths: list[NDArray[np.int32]],
    arcs: list[F64],
) -> tuple[F64, F64, F64]:
    """What the token itself, the edges near it and all terms together contribute to the difference of two paths.

    An arc has the score of an edge and of the token it leads to.
    """
    k = lattice.edges.n_labels
    starts = offsets_of(lengths)[:-1]
    keys = np.repeat(np.arange(len(lattice.offsets) - 1), np.diff(lattice.offsets)) * k + lattice.labels
    first_arcs = starts + np.arange(len(starts))
    total = np.add.reduceat(arcs[0], first_arcs) - np.add.reduceat(arcs[1], first_arcs)
    own, edges = np.zeros(len(tokens)), np.zeros(len(tokens))
    for after in range(order + 1):
        inside, there = position + after < lengths, position + after <= lengths
        node = np.zeros(len(tokens))
        for sign, path in zip((1, -1), paths, strict=True):
            at = np.searchsorted(keys, (tokens + after)[inside] * k + path[(starts + position + after)[inside]])
            node[inside] += sign * lattice.scores[at].astype(np.float64)
        arc = (first_arcs + position + after)[there]
        edges[there] += arcs[0][arc] - arcs[1][arc]
        edges -= node
        own = node if after == 0 else own
    return own, edges, total


def _feature_scores(
    model: ChainModel, features: TokenFeatures, labels: NDArray[np.int32], against: NDArray[np.int32]
) -> F64:
    """What each feature of each token says for a label and against another one: its value times its weights."""
    rows = model.weights.take(features.ids)
    entry = np.repeat(np.arange(len(features.ids)), np.diff(rows.offsets))
    token = np.repeat(np.arange(len(labels)), np.diff(features.offsets))[entry]
    sign = (rows.labels == labels[token]).astype(np.int64) - (rows.labels == against[token])
    if model.parts is not None:  # the columns after those of whole labels are parts of labels
        parts = model.parts
        member = np.zeros((len(model.labels), len(parts.names)), np.int64)
        member[np.repeat(np.arange(len(member)), np.diff(parts.offsets)), parts.ids] = 1
        shared = np.flatnonzero(rows.labels >= len(model.labels))
        part = rows.labels[shared] - len(model.labels)
        sign[shared] = member[labels[token[shared]], part] - member[against[token[shared]], part]
    return features.values * np.bincount(entry, sign * rows.scores.astype(np.float64), len(features.ids))


def _counted(model: ChainModel, word: str | None, word_id: int, label: int, other: int, rest: float) -> Contribution:
    """What the counted row of the word says. That of an unknown word comes from its spelling; it is the ``rest``."""
    a, b = (int(model.rows.offsets[word_id + i]) for i in (0, 1)) if word_id >= 0 else (0, 0)
    if a == b:
        return Contribution("counts", f"the spelling of the unknown word {word!r}", rest)
    row = dict(zip(model.rows.labels[a:b].tolist(), model.rows.scores[a:b].tolist(), strict=True))
    score = row.get(label, model.floor) - row.get(other, model.floor)
    return Contribution("counts", f"the word {word!r}", score)
