"""What a feature function returned in training, for a few tokens, so that another function is noticed.

A model file contains no code, so `corate.load` is given the function again, and a pickle finds it by its name. If the
function has changed since the training, the labels would be wrong in silence.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from corate.corpus import Corpus
from corate.corpus.attributes import Attributes
from corate.display import counted
from corate.errors import FeatureError, ModelError
from corate.features.ready_made import FeatureFunction, features_of

__all__ = ["function_sample", "refuse_other_function"]

#: Of the sample: sentences, their tokens and characters, tokens of each sentence with features, their features, and the
#: characters of a name.
MOST_SENTENCES, MOST_TOKENS, MOST_CHARACTERS, MOST_POSITIONS, MOST_FEATURES, LONGEST_NAME = 8, 20, 1000, 4, 30, 60
#: Embeddings that another machine computes may differ by this share of the value, plus this share of the largest value.
TOLERANCE, TOLERANCE_OF_LARGEST = 0.01, 0.0001
#: In a message: features of each side, and characters of the sentence.
SHOWN, LONGEST_SENTENCE = 5, 200

#: A position, the number of its features, and the first of them in alphabetical order, with values.
Answer = tuple[int, int, list[tuple[str, float]]]


def function_sample(corpus: Corpus, function: FeatureFunction) -> list[dict[str, Any]] | None:
    """The features of some tokens of a corpus, as JSON. None if there are none, or if they vary from call to call.

    >>> corpus = Corpus.from_sentences([["to", "be"]])
    >>> function_sample(corpus, lambda words, i: {"lower": words[i], "long": False})
    [{'tokens': ['to', 'be'], 'features': [[0, 1, [['lower:to', 1.0]]], [1, 1, [['lower:be', 1.0]]]]}]
    """
    sample = []
    for tokens in _sentences(corpus):
        positions = sorted({int(i) for i in np.linspace(0, len(tokens) - 1, MOST_POSITIONS)})
        try:
            first, second = (_answers(tokens, function, positions) for _ in range(2))
        except FeatureError:  # the sentence was cut, or the function knows only some sentences
            continue
        for before, now in zip(first, second, strict=True):
            if _differ(before, now):
                warnings.warn(
                    f"the feature function is not deterministic: {_difference(tokens, before, now)}; labels will "
                    "vary, and corate.load cannot check the function: let it depend on its arguments only",
                    stacklevel=3,
                )
                return None
        rows = [list(token) if isinstance(token, tuple) else token for token in tokens]
        answers = [[i, n, [list(feature) for feature in features]] for i, n, features in first]
        sample.append({"tokens": rows, "features": answers})
    return sample or None


def refuse_other_function(sample: Any, function: FeatureFunction) -> None:
    """Raise ModelError if a function returns other features than in training.

    A function that fails on a sentence of the sample is accepted: it would not tag in silence either.
    """
    for entry in sample:
        tokens = [tuple(token) if isinstance(token, list) else token for token in entry["tokens"]]
        answers: list[Answer] = [
            (int(i), int(n), [(str(name), float(value)) for name, value in features])
            for i, n, features in entry["features"]
        ]
        try:
            found = _answers(tokens, function, [i for i, _, _ in answers])
        except FeatureError:
            continue
        for before, now in zip(answers, found, strict=True):
            if _differ(before, now):
                raise ModelError(
                    f"the feature function is not the one of the training: {_difference(tokens, before, now)}; load "
                    "the model with the function that it was trained with, or train it again"
                )


def _sentences(corpus: Corpus) -> list[list[Any]]:
    """Some short sentences from all over the corpus; if all are long, their first tokens."""
    lengths = np.diff(corpus.offsets)
    chosen = np.flatnonzero((lengths > 0) & (lengths <= MOST_TOKENS))
    if not len(chosen):
        chosen = np.flatnonzero(lengths)
    places = sorted({int(i) for i in np.linspace(0, len(chosen) - 1, MOST_SENTENCES)}) if len(chosen) else []
    found = []
    for s in chosen[places].tolist():
        tokens: Sequence[Any] = corpus.rows(s) if len(corpus.columns) > 1 else corpus.tokens(s)
        tokens = list(tokens[:MOST_TOKENS])
        if sum(len(token) if isinstance(token, str) else sum(map(len, token)) for token in tokens) <= MOST_CHARACTERS:
            found.append(tokens)
    return found


def _answers(tokens: list[Any], function: FeatureFunction, positions: list[int]) -> list[Answer]:
    """What the function returns for these positions, as names and values."""
    features = Attributes.of(features_of(tokens, function, positions=positions))
    values = np.ones(len(features.ids), np.float32) if features.values is None else features.values
    answers = []
    for t, i in enumerate(positions):
        here = slice(int(features.offsets[t]), int(features.offsets[t + 1]))
        names = [features.names[j][:LONGEST_NAME] for j in features.ids[here].tolist()]
        pairs = sorted(zip(names, values[here].tolist(), strict=True))
        answers.append((i, len(pairs), pairs[:MOST_FEATURES]))
    return answers


def _differ(before: Answer, now: Answer) -> bool:
    if before[1] != now[1] or [name for name, _ in before[2]] != [name for name, _ in now[2]]:
        return True
    a, b = (np.array([value for _, value in answer[2]]) for answer in (before, now))
    return bool((np.abs(a - b) > TOLERANCE * np.abs(a) + TOLERANCE_OF_LARGEST * np.abs(a).max(initial=0.0)).any())


def _difference(tokens: list[Any], before: Answer, now: Answer) -> str:
    """The token, and the features of each answer that the other one does not have."""

    def own(answer: Answer, other: Answer) -> str:
        found = [f"{name} = {value:g}" for name, value in answer[2] if (name, value) not in other[2]]
        shown = ", ".join([*found[:SHOWN], *(["..."] if len(found) > SHOWN else [])])
        return f"{shown or 'nothing else'} ({counted(answer[1], 'feature')} in all)"

    sentence = repr(tokens)
    sentence = sentence if len(sentence) <= LONGEST_SENTENCE else f"{sentence[:LONGEST_SENTENCE]}..."
    return f"token {before[0]} of {sentence} had {own(before, now)}, and now has {own(now, before)}"
