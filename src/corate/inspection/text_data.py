"""How a model labels a text: sentences in order of doubt, with gold and predicted labels and with explanations."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.corpus import Column, Corpus
from corate.evaluation.predictions import Predictions
from corate.model.explanation import Explanation, Question
from corate.model.tagger import Tagger
from corate.pages.colours import hues
from corate.pages.page import visible
from corate.progress import OnProgress, ProgressEvent
from corate.rows import owners_of

__all__ = ["label_names", "text_data"]

Int64 = NDArray[np.int64]

#: About so many tokens are explained at a time, and so many terms of an explanation are shown.
_AT_ONCE, _TERMS = 3000, 8


def label_names(tagger: Tagger, corpus: Corpus | None) -> list[str]:
    """The labels of a tagger, and after them the gold labels that it does not have. Ids in the page are into them."""
    gold = [] if corpus is None or corpus.labels is None else corpus.labels.strings.to_list()
    return tagger.labels + sorted(set(gold) - set(tagger.labels))


def text_data(
    tagger: Tagger,
    corpus: Corpus,
    found: Predictions,
    *,
    sentences: int,
    explained: int,
    on_progress: OnProgress,
) -> dict[str, Any]:
    """Everything that the page has about a text, ready for JSON, with the most doubtful sentence first.

    The doubt about a sentence is 1 - P(best labelling). Of a longer text, the ``sentences`` with most doubt are kept.
    Explained are all tokens of the first ``explained`` sentences, and all wrong tokens: they are compared with their
    gold label, the others with the label that is second best.
    """
    order = np.argsort(found.log_probabilities, kind="stable")[:sentences]
    kept = corpus.take(order)
    tokens = np.concatenate([np.zeros(0, np.int64), *(np.arange(*corpus.offsets[s : s + 2]) for s in order.tolist())])
    names = label_names(tagger, corpus)
    predicted = found.labels.ids[tokens]
    gold = None if corpus.labels is None else _ids(corpus.labels.take(tokens), names)
    if gold is not None:
        gold = np.where(gold < 0, predicted, gold)  # an unknown label is no error
    words, word_ids = _words(kept)
    questions = _questions(kept, names, predicted, gold, explained, len(tagger.labels))
    data = {
        "labels": [visible(name) for name in names],
        "hues": hues(names),
        "words": words,
        "number": (order + 1).tolist(),
        "start": kept.offsets.tolist(),
        "confidence": _rounded(np.exp(found.log_probabilities[order]), 5),
        "word": word_ids,
        "gold": None if gold is None else gold.tolist(),
        "predicted": predicted.tolist(),
        "probability": _rounded(found.probabilities[tokens], 3),
    }
    return {**data, "explanations": _explanations(tagger, kept, questions, names, on_progress)}


def _ids(column: Column, names: list[str]) -> Int64:
    """The ids of a column into other names, -1 for an unknown label."""
    place = {name: y for y, name in enumerate(names)}
    return column.renumbered(np.array([place[name] for name in column.strings.to_list()], np.int64))


def _words(corpus: Corpus) -> tuple[list[str], list[int]]:
    """The distinct words of a corpus, and the ids of its tokens. Tokens of ready-made features are numbered from 1."""
    if corpus.word is None:
        places = np.arange(corpus.n_tokens) - np.repeat(corpus.offsets[:-1], np.diff(corpus.offsets))
        return [str(i + 1) for i in range(int(places.max(initial=-1)) + 1)], places.tolist()
    used, ids = np.unique(corpus.word.ids, return_inverse=True)
    return [visible(corpus.word.strings[i]) for i in used.tolist()], ids.tolist()


def _rounded(values: NDArray[np.floating], digits: int) -> list[float]:
    rounded: list[float] = np.round(values.astype(np.float64), digits).tolist()
    return rounded


def _questions(
    corpus: Corpus, names: list[str], predicted: NDArray[np.int32], gold: Int64 | None, explained: int, known: int
) -> list[Question]:
    """What to explain: the label of each token of the first sentences, and of each wrong token."""
    sentence = owners_of(corpus.offsets)
    wrong = np.zeros(len(predicted), bool) if gold is None else gold != predicted
    asked = np.flatnonzero((sentence < explained) | wrong)
    position = asked - corpus.offsets[sentence[asked]]
    against = [names[gold[t]] if gold is not None and wrong[t] and gold[t] < known else None for t in asked.tolist()]
    labels = [names[y] for y in predicted[asked].tolist()]
    return list(map(Question, sentence[asked].tolist(), position.tolist(), labels, against))


def _explanations(
    tagger: Tagger, corpus: Corpus, questions: list[Question], names: list[str], on_progress: OnProgress
) -> dict[str, Any]:
    """Answers to the questions: parallel lists, with the terms as [name, score, name, score, ...]."""
    place = {name: y for y, name in enumerate(names)}
    terms: dict[str, int] = {}
    data: dict[str, Any] = {"token": [], "against": [], "difference": [], "count": [], "terms": []}
    done = 0
    while done < len(questions):
        on_progress(ProgressEvent("explaining", done / len(questions)))
        first, last = questions[done].sentence, questions[min(done + _AT_ONCE, len(questions)) - 1].sentence
        stop = bisect_right(questions, last, key=lambda question: question.sentence)
        asked = questions[done:stop]
        piece = [question._replace(sentence=question.sentence - first) for question in asked]
        for question, answer in zip(asked, tagger.explanations(corpus[first : last + 1], piece, _TERMS), strict=True):
            data["token"].append(int(corpus.offsets[question.sentence]) + question.position)
            data["against"].append(-1 if answer.against is None else place[answer.against])
            data["difference"].append(0.0 if answer.against is None else round(answer.difference, 3))
            data["count"].append(len(answer.contributions) + answer.others)
            data["terms"].append(_terms(answer, terms))
        done = stop
    return {**data, "names": [visible(name) for name in terms]}


def _terms(answer: Explanation, numbers: dict[str, int]) -> list[float]:
    """The largest contributions: the number of the name of each, and its score."""
    flat: list[float] = []
    for term in answer.contributions:
        flat += [numbers.setdefault(term.name, len(numbers)), round(term.score, 3)]
    return flat
