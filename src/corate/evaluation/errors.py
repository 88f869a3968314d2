"""Which sentences have errors, what kinds of errors spans have, and of which sentences a tagger is least sure."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from corate.corpus import Column, Corpus
from corate.evaluation.predictions import Predictions
from corate.evaluation.tally import with_known_labels
from corate.spans import Span, spans

__all__ = ["LabelledSentence", "SpanErrors", "least_sure", "span_errors", "wrong_sentences"]


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence with its gold and predicted labels, and the probability of the predicted labelling.

    A gold label that is unknown is None.
    """

    sentence: int
    tokens: tuple[str, ...]
    gold: tuple[str | None, ...]
    predicted: tuple[str, ...]
    probability: float

    @property
    def errors(self) -> int:
        """The number of tokens with a wrong label."""
        return sum(
            gold is not None and gold != predicted for gold, predicted in zip(self.gold, self.predicted, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """All values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class SpanErrors:
    """Numbers of spans by what is wrong with them.

    Each gold span is paired with at most one predicted span. ``boundary`` errors are pairs that overlap and have the
    same type, ``type`` errors are pairs with the same boundaries, and ``both`` are pairs that overlap and have neither.
    Gold spans without a partner are ``missed``, predicted ones are ``spurious``.
    """

    correct: int
    boundary: int
    type: int
    both: int
    missed: int
    spurious: int

    def named(self) -> list[tuple[str, int]]:
        """All numbers with their names in tables."""
        names = ("correct", "wrong boundary", "wrong type", "wrong boundary and type", "missed", "spurious")
        return list(zip(names, astuple(self), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return asdict(self)


def span_errors(corpus: Corpus, predicted: Column) -> SpanErrors:
    """Count the errors of predicted spans on a labelled corpus, by kind. Tokens of unknown label are left out.

    >>> gold = Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("in", "O"), ("Delft", "B-LOC")]])
    >>> span_errors(gold, Column.of("label", ["B-PER", "O", "B-ORG", "B-PER"]))
    SpanErrors(correct=0, boundary=1, type=1, both=0, missed=0, spurious=1)
    """
    counts = dict.fromkeys(("correct", "boundary", "type", "both", "missed", "spurious"), 0)
    corpus, predicted = with_known_labels(corpus, predicted)
    for start, stop in pairwise(corpus.offsets.tolist()):
        gold = spans(corpus.require_labels().values(start, stop))
        guess = spans(predicted.values(start, stop))
        for kind, number in _paired(gold, guess).items():
            counts[kind] += number
    return SpanErrors(**counts)


def _paired(gold: list[Span], guess: list[Span]) -> dict[str, int]:
    """Pair spans, the best kind of pair first and from left to right, and count the pairs and the rest."""
    counts = {}
    for kind in ("correct", "type", "boundary", "both"):
        pairs = 0
        for span in list(gold):
            partner = next((other for other in guess if _kind(span, other) == kind), None)
            if partner is not None:
                gold.remove(span)
                guess.remove(partner)
                pairs += 1
        counts[kind] = pairs
    return {**counts, "missed": len(gold), "spurious": len(guess)}


def _kind(gold: Span, guess: Span) -> str:
    """What is wrong with a predicted span; empty if the two do not overlap."""
    if gold == guess:
        return "correct"
    if (gold.start, gold.stop) == (guess.start, guess.stop):
        return "type"
    if gold.start < guess.stop and guess.start < gold.stop:
        return "boundary" if gold.type == guess.type else "both"
    return ""


def wrong_sentences(corpus: Corpus, predicted: Predictions, n: int) -> list[LabelledSentence]:
    """The first ``n`` sentences with an error, in the order of the text."""
    found: list[LabelledSentence] = []
    for s in range(len(corpus)):
        if len(found) >= n:
            break
        sentence = _sentence(corpus, predicted, s)
        if sentence.errors:
            found.append(sentence)
    return found


def least_sure(corpus: Corpus, predicted: Predictions, n: int) -> list[LabelledSentence]:
    """The ``n`` sentences whose best labelling is least probable, the least probable first."""
    order = np.argsort(predicted.log_probabilities, kind="stable")[: max(n, 0)]
    return [_sentence(corpus, predicted, s) for s in order.tolist()]


def _sentence(corpus: Corpus, predicted: Predictions, s: int) -> LabelledSentence:
    """One sentence. Tokens of ready-made features are shown by their number, from 1."""
    start, stop = int(corpus.offsets[s]), int(corpus.offsets[s + 1])
    tokens = corpus.tokens(s) if corpus.word is not None else [str(i + 1) for i in range(stop - start)]
    return LabelledSentence(
        s,
        tuple(tokens),
        tuple(corpus.labels_of(s)),
        tuple(predicted.labels.values(start, stop)),
        float(np.exp(predicted.log_probabilities[s])),
    )
