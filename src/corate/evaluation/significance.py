"""Is one tagger better than another? Paired tests over the sentences of one test corpus.

Accuracy and F1 are ratios of sums over sentences s:

    score = sum_s numerator(s) / sum_s denominator(s)      accuracy: correct tokens / tokens
                                                           F1: 2 * correct entities / (gold + predicted entities)

The p-value is that of a permutation test: if two taggers are equally good, exchanging their results on any sentence
makes no difference, so the observed difference is compared with those after random exchanges. The interval is that of
a bootstrap: the scores are computed again on sentences that are drawn with replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_seed, check_whole
from corate.corpus import Column, Corpus
from corate.errors import DataError
from corate.evaluation.report import common_ids, matched_entities
from corate.evaluation.tally import with_known_labels
from corate.rows import owners_of

__all__ = ["Difference", "paired_test", "sentence_counts"]

#: ``(sentences, 2)``: the numerator and the denominator of a score for each sentence.
SentenceCounts = NDArray[np.float64]

#: About this many random numbers are drawn at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Difference:
    """The difference of two scores, with a 95% bootstrap interval and the p-value of a permutation test (two-sided)."""

    difference: float
    low: float
    high: float
    p_value: float
    sentences: int

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return vars(self).copy()


def sentence_counts(gold: Corpus, predicted: Column) -> dict[str, SentenceCounts]:
    """The counts of each sentence for ``"accuracy"`` and, if the labels mark spans, for ``"f1"``.

    Tokens whose gold label is unknown are left out, with the sentences that have no others.

    >>> gold = Corpus.from_sentences([[("Ann", "B-PER"), ("left", "O")], [("Rome", "B-LOC")]])
    >>> counts = sentence_counts(gold, Column.of("label", ["B-PER", "O", "O"]))
    >>> counts["accuracy"].tolist(), counts["f1"].tolist()
    ([[2.0, 2.0], [0.0, 1.0]], [[2.0, 2.0], [0.0, 1.0]])
    """
    gold, predicted = with_known_labels(gold, predicted)
    labels, truth, guess = common_ids(gold.require_labels(), predicted)
    sentence = owners_of(gold.offsets)

    def per_sentence(tokens: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(sentence[tokens], minlength=len(gold))

    correct = per_sentence(np.flatnonzero(truth == guess))
    counts = {"accuracy": np.column_stack([correct, np.diff(gold.offsets)]).astype(np.float64)}
    entities = matched_entities(labels, truth, guess, gold.offsets)
    if entities is not None:
        right, there, found = (per_sentence(starts) for starts in entities)
        counts["f1"] = np.column_stack([2 * right, there + found]).astype(np.float64)
    return counts


def paired_test(first: SentenceCounts, second: SentenceCounts, *, samples: int = 10_000, seed: int = 0) -> Difference:
    """The score of the first minus that of the second. Both have counts of the same sentences, in the same order.

    >>> worse, better = np.array([[0.0, 1.0]] * 20 + [[1.0, 1.0]] * 80), np.array([[1.0, 1.0]] * 100)
    >>> result = paired_test(better, worse)
    >>> round(result.difference, 4), result.low > 0, result.p_value < 0.001
    (0.2, True, True)
    >>> paired_test(better, better).p_value
    1.0
    """
    if first.shape != second.shape or first.ndim != 2 or first.shape[1] != 2 or not len(first):
        raise DataError(f"paired counts must have one shape (sentences, 2), not {first.shape} and {second.shape}")
    samples, rng = check_whole("samples", samples, 1), np.random.default_rng(check_seed(seed))
    observed = float(_difference(np.hstack([first, second]).sum(axis=0)))
    extreme = int(np.count_nonzero(np.abs(_exchanged(first, second, samples, rng)) >= abs(observed) - 1e-12))
    low, high = np.quantile(_redrawn(first, second, samples, rng), [0.025, 0.975])
    return Difference(observed, float(low), float(high), (1 + extreme) / (1 + samples), len(first))


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The difference of the scores from sums of numerators and denominators, in the last axis. A score 0 / 0 is 0."""
    numerators, denominators = sums[..., 0::2], sums[..., 1::2]
    scores = np.divide(numerators, denominators, out=np.zeros_like(numerators), where=denominators > 0)
    return np.asarray(scores[..., 0] - scores[..., 1])


def _exchanged(
    first: SentenceCounts, second: SentenceCounts, samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """``(samples,)`` differences after the two results on each sentence were exchanged at random."""
    differing = np.flatnonzero((first != second).any(axis=1))  # exchanging equal results changes nothing
    middle, half = (first + second).sum(axis=0) / 2, (first - second)[differing] / 2
    differences = []
    for count in _blocks(samples, len(differing)):
        bits = rng.integers(0, 256, size=(count, -(-len(differing) // 8)), dtype=np.uint8)
        signs = np.unpackbits(bits, axis=1, count=len(differing)).astype(np.float64) * 2 - 1
        moved = signs @ half
        differences.append(_difference(np.hstack([middle + moved, middle - moved])))
    return np.concatenate(differences)


def _redrawn(
    first: SentenceCounts, second: SentenceCounts, samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """``(samples,)`` differences on sentences drawn with replacement; those with equal counts together."""
    rows, repeats = np.unique(np.hstack([first, second]), axis=0, return_counts=True)
    differences = []
    for count in _blocks(samples, len(rows)):
        drawn = rng.multinomial(len(first), repeats / len(first), size=count)
        differences.append(_difference(drawn @ rows))
    return np.concatenate(differences)


def _blocks(samples: int, width: int) -> list[int]:
    """How many samples to make at a time, so that a block of this width is small."""
    most = max(1, _BLOCK // max(width, 1))
    return [min(most, samples - done) for done in range(0, samples, most)]
