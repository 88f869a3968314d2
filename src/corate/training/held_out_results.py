"""Held-out results of predicted labels, for tuning and early stopping: see :mod:`corate.optimize.tuning`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corate.counting.counts import Tokens
from corate.evaluation.tally import matched_entities
from corate.optimize.tuning import Results
from corate.rows import owners_of
from corate.types import Ids

__all__ = ["held_out_results"]


def held_out_results(tokens: Tokens, predicted: Ids, labels: Sequence[str]) -> Results:
    """Which tokens are correct or, if the labels mark spans, the counts of each sentence times its weight.

    ``predicted`` are ids into ``labels``. A token whose label is not known is wrong, and no part of a span.
    """
    correct = np.asarray(predicted == tokens.labels)
    outside = len(labels)
    truth = np.where(tokens.labels < 0, outside, tokens.labels).astype(np.int64)
    found = matched_entities([*labels, "O"], truth, predicted.astype(np.int64), tokens.offsets)
    if found is None:
        return correct
    n = len(tokens.offsets) - 1
    sentence = owners_of(tokens.offsets)
    right, gold, guess = (np.bincount(sentence[starts], minlength=n) for starts in found)
    columns = [np.bincount(sentence[correct], minlength=n), np.diff(tokens.offsets), 2 * right, gold + guess]
    counts = np.column_stack(columns).astype(np.float64)
    return counts if tokens.sentence_weights is None else counts * tokens.sentence_weights[:, None]
