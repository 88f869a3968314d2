"""Active learning: which sentences of unlabelled text are most worth labelling.

    confidence   log P(best labelling | x) / n, the lowest first; n is the number of tokens
    entropy      the mean entropy of the labels of a token, the highest first
    diverse      as confidence, but a sentence must add new words

A word is new if neither the training text nor a sentence that was chosen before has it. With ``diverse``, a sentence is
put off if the training text lacks some of its words, and sentences chosen before have more than half of those.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_whole
from corate.corpus import Corpus
from corate.errors import ConfigError
from corate.evaluation.predictions import predict
from corate.model.tagger import Tagger
from corate.progress import OnProgress, ignore_progress
from corate.rows import owners_of

__all__ = ["CRITERIA", "most_informative"]

#: The criteria by which sentences can be chosen.
CRITERIA = ("confidence", "entropy", "diverse")


def most_informative(
    tagger: Tagger, corpus: Corpus, n: int, by: str = "confidence", *, progress: OnProgress = ignore_progress
) -> NDArray[np.int64]:
    """The numbers of the ``n`` sentences most worth labelling, the best first; all if there are fewer.

    Sentences without tokens are left out.

    >>> from corate import train
    >>> tagger = train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("it", "PRON"), ("barks", "VERB")]]))
    >>> most_informative(tagger, Corpus.from_sentences([["the", "dog"], ["gnus", "sing"], ["it", "barks"]]), 1).tolist()
    [1]
    """
    if by not in CRITERIA:
        raise ConfigError(f"unknown criterion {by!r}; there are {', '.join(CRITERIA)}", option="by")
    n = check_whole("n", n, 1)
    found = predict(tagger, corpus, progress=progress)
    lengths = np.diff(corpus.offsets)
    if by == "entropy":
        sentence = owners_of(corpus.offsets)
        worth = np.bincount(sentence, found.entropies, len(corpus)) / np.maximum(lengths, 1)
    elif np.isnan(found.log_probabilities).any():
        raise ConfigError(
            "the probability of a whole graph needs exact inference, and a graph has too many loops; choose by entropy",
            option="by",
        )
    else:
        worth = -found.log_probabilities / np.maximum(lengths, 1)
    order = np.argsort(-worth, kind="stable")
    order = order[lengths[order] > 0]
    return (_diverse(tagger, corpus, order, n) if by == "diverse" else order)[:n]


def _diverse(tagger: Tagger, corpus: Corpus, order: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The sentences in order, except that those which add few new words come last."""
    column = corpus.word
    if column is None or not len(tagger.words):
        raise ConfigError("choosing diverse sentences needs words; choose by confidence or entropy", option="by")
    unseen = tagger.words.find(column.strings) < 0
    chosen: list[int] = []
    put_off: list[int] = []
    covered: set[int] = set()
    for s in order.tolist():
        words = column.ids[corpus.offsets[s] : corpus.offsets[s + 1]]
        rare = set(words[unseen[words]].tolist())
        if rare and 2 * len(rare & covered) > len(rare):
            put_off.append(s)
            continue
        chosen.append(s)
        covered |= rare
        if len(chosen) == n:
            break
    return np.array([*chosen, *put_off], dtype=np.int64)
