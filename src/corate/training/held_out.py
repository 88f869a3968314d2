"""What held-out text is for: early stopping, tuning, and a temperature for the scores.

`held_out_results` says what is correct. With it, :mod:`corate.optimize.passes` stops early, and
:mod:`corate.optimize.tuning` searches. Which sentences counting leaves out to tune on is chosen in
:mod:`corate.counting.held_out`. The rest of this module fits one temperature for all scores of a model, so that
its probabilities match its accuracy:

    P_T(y | x) = exp(score(y | x) / T) / sum_y' exp(score(y' | x) / T)

The best labelling does not depend on T. If labels are spans, T minimises the Brier score of the predictions that matter
on held-out text: of the predicted spans and, with the same weight, of the labels of their tokens:

    mean over predictions of (P_T(prediction) - correct)^2,  where correct is 1 or 0

Else it minimises the negative log-likelihood of the labels of held-out tokens, by their marginal probabilities. The
scores that a model stores are divided by T, so its file needs no new part.

Why both? One temperature does not fit tokens and spans alike. On Dutch names (CoNLL 2002, a tenth of the training
text), spans want T = 1.10, which makes the error of the labels of their tokens 2.4%; those want 1.20, which makes the
error of spans 1.8%. The labels of all tokens want more, which would make that of spans 4.8%.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corate import portable_math
from corate.corpus import Column, Corpus
from corate.counting.counts import Tokens
from corate.errors import Argument, ConfigError, DataError
from corate.evaluation.calibration import correct_spans
from corate.evaluation.tally import matched_entities
from corate.model.lattice import Lattice
from corate.model.tagger import Tagger
from corate.optimize.tuning import Results
from corate.progress import ProgressEvent
from corate.rows import offsets_of, owners_of
from corate.spans import are_spans, spans
from corate.training.methods import MEMM, Method
from corate.training.source import RunContext
from corate.types import Ids

__all__ = ["calibrated", "check_calibrates", "fit_temperature", "held_out_results", "with_temperature"]


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


#: The share of the training text that is held out if no other text is given.
_HELD_OUT_SHARE = 0.1

#: Temperatures are searched between these two.
_LOWEST, _HIGHEST = 0.05, 20.0

#: At so many temperatures first, as there may be several minima, and then around the best of them.
_GRID = 13

#: The search ends when the logarithm of the temperature is known to this precision.
_PRECISION = 0.01


def check_calibrates(method: str) -> None:
    """Raise ConfigError for the method whose models are normalised at every position."""
    if method == MEMM.name:
        raise ConfigError(
            f"a model of the method {method!r} is normalised at every position, so a temperature "
            "would change its labels",
            f"omit {Argument('calibrate', True)}, or train with another method",
            option="calibrate",
        )


def calibrated(
    tagger: Tagger,
    method: Method,
    corpus: Corpus,
    held_out: Corpus | None,
    train_again: Callable[[Corpus, Method], Tagger],
    context: RunContext,
) -> Tagger:
    """The tagger with a temperature, fitted on held-out text, or on a part of the corpus with another tagger.

    If Ctrl-C ends this or ended the training of the tagger, the tagger stays as it is, and its record tells.
    """
    if tagger.record.get("interrupted"):
        return tagger
    measured = tagger
    try:
        if held_out is None:
            kept, left_out = _split(len(corpus), context.seed)
            weights = method.sentence_weights
            weights = None if weights is None else np.asarray(weights, dtype=float)[kept].tolist()
            again = method.changed(checkpoint=None, sentence_weights=weights)
            measured, held_out = train_again(corpus.take(kept), again), corpus.take(left_out)
        context.progress(ProgressEvent("calibrating"))
        temperature = fit_temperature(measured, held_out, method.unknown)
    except KeyboardInterrupt:
        return replace(tagger, record={**tagger.record, "interrupted": True})
    return with_temperature(tagger, temperature)


def with_temperature(tagger: Tagger, temperature: float) -> Tagger:
    """A tagger with all scores divided by the temperature, which its record tells.

    >>> from corate import train
    >>> tagger = train(Corpus.from_sentences([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]]))
    >>> softer = with_temperature(tagger, 2.0)
    >>> softer.tag(["the", "dog"]) == tagger.tag(["the", "dog"]), softer.score(["dog"]) < tagger.score(["dog"])
    (True, True)
    """
    record = {**tagger.record, "temperature": temperature * tagger.record.get("temperature", 1.0)}
    return replace(tagger, model=tagger.model.scaled(1 / temperature), record=record)


def fit_temperature(tagger: Tagger, held_out: Corpus, unknown: str | None = None) -> float:
    """The temperature that fits held-out text best, except labels that are ``unknown``."""
    lattice = tagger.lattice(held_out)
    losses = _span_losses(tagger, held_out, lattice, unknown) or _token_losses(tagger, held_out, lattice, unknown)

    def loss(log_t: float) -> float:
        return losses(_at_temperature(tagger, lattice, float(portable_math.exp(log_t))))

    grid = np.linspace(float(portable_math.log(_LOWEST)), float(portable_math.log(_HIGHEST)), _GRID)
    best = int(np.argmin([loss(x) for x in grid]))
    low, high = grid[max(0, best - 1)], grid[min(_GRID - 1, best + 1)]
    ratio = (np.sqrt(5) - 1) / 2  # golden section: each step needs one new value
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [loss(x) for x in inner]
    while high - low > _PRECISION:
        if values[0] < values[1]:
            high, inner = inner[1], [inner[1] - ratio * (inner[1] - low), inner[0]]
            values = [loss(inner[0]), values[0]]
        else:
            low, inner = inner[0], [inner[1], inner[0] + ratio * (high - inner[0])]
            values = [values[1], loss(inner[1])]
    return float(portable_math.exp((low + high) / 2))


def _token_losses(
    tagger: Tagger, held_out: Corpus, lattice: Lattice, unknown: str | None
) -> Callable[[Lattice], float]:
    """The negative log-likelihood of the labels of tokens, by their marginal probabilities."""
    gold = _gold_candidates(tagger, held_out, lattice, unknown)
    if not len(gold):
        raise DataError(
            "there are no held-out tokens to calibrate on", f"give some, or omit {Argument('calibrate', True)}"
        )
    return lambda at: -float(portable_math.log(np.maximum(at.marginals()[1][gold], 1e-30)).sum())


def _span_losses(
    tagger: Tagger, held_out: Corpus, lattice: Lattice, unknown: str | None
) -> Callable[[Lattice], float] | None:
    """The Brier score of predicted spans, plus that of the labels of their tokens; None without spans.

    Sentences with unknown labels are left out.
    """
    if not are_spans(tagger.labels):
        return None
    best, _ = lattice.best()
    right = correct_spans(held_out, Column("label", best, tagger.model.labels))
    labels = held_out.require_labels()
    unclear = labels.renumbered(np.array([-(name == unknown) for name in labels.strings.to_list()], np.int8)) < 0
    clear = np.diff(offsets_of(unclear)[held_out.offsets]) == 0
    found = [spans(own) for own in lattice.tag()]
    right = right[np.repeat(clear, [len(own) for own in found])]
    wanted = [own if kept else [] for own, kept in zip(found, clear.tolist(), strict=True)]
    if not len(right):
        return None

    inside = np.array([name != "O" for name in tagger.labels])[best] & np.repeat(clear, np.diff(held_out.offsets))
    owner = owners_of(lattice.offsets)
    chosen = np.flatnonzero((lattice.labels == best[owner]) & inside[owner])
    correct = np.isin(chosen, _gold_candidates(tagger, held_out, lattice, unknown))

    def losses(at: Lattice) -> float:
        p = np.array([p for own in at.span_probabilities(wanted) for p in own])
        return float(np.mean((p - right) ** 2) + np.mean((at.marginals()[1][chosen] - correct) ** 2))

    return losses


def _split(sentences: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sentences to train on and those to fit a temperature on, at random; both ascending."""
    if sentences < 2:
        raise DataError("calibrating needs two sentences or more", f"give held-out text with {Argument('held_out')}")
    order = np.random.default_rng(seed).permutation(sentences)
    cut = max(1, round(_HELD_OUT_SHARE * sentences))
    return np.sort(order[cut:]), np.sort(order[:cut])


def _gold_candidates(tagger: Tagger, corpus: Corpus, lattice: Lattice, unknown: str | None) -> NDArray[np.int64]:
    """The candidates that are the labels of tokens. Labels that the model excludes have no candidate."""
    labels = corpus.require_labels()
    known = tagger.model.labels.find(labels.strings)
    known[[name == unknown for name in labels.strings.to_list()]] = -1
    gold = labels.renumbered(known)
    owner = owners_of(lattice.offsets)
    return np.flatnonzero(lattice.labels == gold[owner])


def _at_temperature(tagger: Tagger, lattice: Lattice, temperature: float) -> Lattice:
    """The lattice of the same sentences for the model with another temperature."""
    extra = lattice.extra
    if extra is not None:
        extra = (*extra[:2], extra[2].scaled(1 / temperature))
    edges = tagger.model.edges.scaled(1 / temperature).native()
    return replace(lattice, scores=lattice.scores / np.float32(temperature), edges=edges, extra=extra)
