"""Do probabilities match accuracy? Predictions with a probability of 0.8 should be correct in 80% of the cases.

Predictions are put into bins of equal width by their probability. The expected calibration error is the mean distance
between probability and accuracy:

    ECE = sum_b n_b / n * | accuracy_b - confidence_b |

``n_b`` is the number of predictions in bin b, and ``confidence_b`` their mean probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from corate.arguments import check_seed, check_whole
from corate.corpus import Column, Corpus
from corate.errors import DataError
from corate.evaluation.predictions import Predictions, predict
from corate.evaluation.tally import common_ids, known_or_outside, paired_entities
from corate.model.tagger import Tagger
from corate.pages import charts
from corate.rows import offsets_of, owners_of
from corate.spans import are_spans
from corate.types import F64

__all__ = [
    "GROUPS",
    "Bin",
    "Calibration",
    "calibration",
    "calibration_chart",
    "calibration_of",
    "calibration_of_predictions",
    "correct_spans",
]

Bools = NDArray[np.bool_]

#: The groups of predictions with their names in tables.
GROUPS = {"tokens": "all tokens", "inside": "tokens predicted other than O", "spans": "predicted spans"}


@dataclass(frozen=True)
class Bin:
    """The predictions whose probability is at least ``low`` and below ``high`` (at most, in the last bin)."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Probabilities and accuracy of some predictions.

    ``confidence`` is the mean probability, ``error`` the expected calibration error, and ``low`` and ``high`` its 95%
    interval: it is computed again on sentences that are drawn with replacement. Empty bins are left out.
    """

    count: int
    confidence: float
    accuracy: float
    error: float
    low: float
    high: float
    bins: tuple[Bin, ...]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return asdict(self)


def calibration(
    tagger: Tagger, corpus: Corpus, *, bins: int = 10, samples: int = 1000, seed: int = 0
) -> dict[str, Calibration]:
    """Compare the probabilities of a tagger with its accuracy on a labelled corpus.

    Returns a calibration for ``"tokens"`` and, if labels are spans, for ``"inside"`` (the tokens with a predicted label
    other than O) and ``"spans"``. Groups without predictions are left out. ``bins`` is the number of bins of equal
    width, ``samples`` that of bootstrap samples.

    >>> from corate import train
    >>> corpus = Corpus.from_sentences([[("Ann", "B-PER"), ("sleeps", "O")], [("Bob", "B-PER"), ("sings", "O")]])
    >>> found = calibration(train(corpus), corpus)
    >>> {name: (group.count, group.accuracy) for name, group in found.items()}
    {'tokens': (4, 1.0), 'inside': (2, 1.0), 'spans': (2, 1.0)}
    """
    _require_tokens(corpus)
    found = predict(tagger, corpus, spans=True)
    return calibration_of_predictions(corpus, found, bins=bins, samples=samples, seed=seed)


def calibration_chart(groups: Mapping[str, Calibration], fewest: int = 1) -> Markup:
    """The bins with at least so many predictions as a chart; empty if there are none."""
    drawn = {
        GROUPS[name]: [(b.confidence, b.accuracy, b.count) for b in group.bins if b.count >= fewest]
        for name, group in groups.items()
    }
    return charts.calibration("Probability and accuracy", drawn) if any(drawn.values()) else Markup()


def _require_tokens(corpus: Corpus) -> Column:
    """The labels of the corpus; raises DataError if there are none."""
    labels = corpus.require_labels()
    if not corpus.n_tokens:
        raise DataError("the data has no tokens; give some to evaluate on")
    return labels


def calibration_of_predictions(
    corpus: Corpus, found: Predictions, *, bins: int = 10, samples: int = 1000, seed: int = 0
) -> dict[str, Calibration]:
    """The same for predictions that were made before, with spans.

    Tokens whose gold label is unknown are left out, and so are the spans that contain one.
    """
    gold = _require_tokens(corpus)
    sentence, known = owners_of(corpus.offsets), gold.ids >= 0
    names, truth, guess = common_ids(known_or_outside(gold), found.labels)
    groups = {"tokens": (found.probabilities[known], (truth == guess)[known], sentence[known])}
    if are_spans(found.labels.strings.to_list()):
        inside = np.array([name != "O" for name in names])[guess] & known
        groups["inside"] = (found.probabilities[inside], (truth == guess)[inside], sentence[inside])
    if found.starts is not None and found.stops is not None and found.span_probabilities is not None:
        right, unknown = correct_spans(corpus, found.labels), offsets_of(~known)
        clear = unknown[found.starts] == unknown[found.stops]
        groups["spans"] = (found.span_probabilities[clear], right[clear], sentence[found.starts][clear])
    return {
        name: calibration_of(p, right, of, bins=bins, samples=samples, seed=seed)
        for name, (p, right, of) in groups.items()
        if len(p)
    }


def calibration_of(
    probabilities: F64,
    correct: Bools,
    sentences: NDArray[np.int64] | None = None,
    *,
    bins: int = 10,
    samples: int = 1000,
    seed: int = 0,
) -> Calibration:
    """The calibration of any predictions: (n,) probabilities, whether each is correct, and the sentence of each.

    Without sentences, predictions are drawn one by one for the interval.

    >>> found = calibration_of(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False]))
    >>> round(found.error, 3), [(round(b.confidence, 2), b.accuracy) for b in found.bins]
    (0.1, [(0.6, 0.5), (0.9, 1.0)])
    """
    bins, samples = check_whole("bins", bins, 1), check_whole("samples", samples, 1)
    rng = np.random.default_rng(check_seed(seed))
    n = len(probabilities)
    if not n or len(correct) != n or (sentences is not None and len(sentences) != n):
        raise DataError(f"calibration needs one or more predictions of the same number, not {n} and {len(correct)}")
    place = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts, sure, right = (np.bincount(place, w, bins) for w in (np.ones(n), probabilities, correct.astype(float)))
    kept = np.flatnonzero(counts)
    redrawn = _redrawn_errors(probabilities - correct, place, sentences, bins, samples, rng)
    low, high = np.quantile(redrawn, [0.025, 0.975])
    return Calibration(
        n,
        float(probabilities.mean()),
        float(correct.mean()),
        float(np.abs(sure - right).sum() / n),
        float(low),
        float(high),
        tuple(
            Bin(b / bins, (b + 1) / bins, int(counts[b]), float(sure[b] / counts[b]), float(right[b] / counts[b]))
            for b in kept.tolist()
        ),
    )


def _redrawn_errors(
    differences: F64,
    place: NDArray[np.int64],
    sentences: NDArray[np.int64] | None,
    bins: int,
    samples: int,
    rng: np.random.Generator,
) -> F64:
    """``(samples,)`` calibration errors on sentences drawn with replacement."""
    row = np.arange(len(place)) if sentences is None else np.unique(sentences, return_inverse=True)[1]
    n_rows = int(row.max()) + 1
    sums = np.bincount(row * bins + place, differences, n_rows * bins).reshape(n_rows, bins)
    table = np.column_stack([sums, np.bincount(row, minlength=n_rows)])
    errors = []
    for _ in range(samples):
        drawn = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows) @ table
        errors.append(np.abs(drawn[:-1]).sum() / drawn[-1])
    return np.array(errors)


def correct_spans(corpus: Corpus, predicted: Column) -> Bools:
    """Whether each predicted span, from left to right, is a span of the gold labels, with the same type.

    >>> corpus = Corpus.from_sentences([[("Ann", "B-PER"), ("Lee", "I-PER"), ("Delft", "B-LOC")]])
    >>> correct_spans(corpus, Column.of("label", ["B-PER", "O", "B-LOC"])).tolist()
    [False, True]
    """
    names, gold, guess = common_ids(known_or_outside(corpus.require_labels()), predicted)
    return paired_entities(names, guess, gold, corpus.offsets)[2]
