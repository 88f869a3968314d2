"""Training as CRFsuite trains: its model, its objectives, its algorithms and their parameters.

    score(y | x) = sum_j sum over attributes a of token j of value * W(a, y_j) + sum_i T(y_i, y_i+1)

There are weights W for the pairs of an attribute and a label that are seen, and T for the pairs of labels that are
seen. Labels by themselves and the ends of a sentence have none, so a CRFsuite file can hold the model. The algorithms:

    lbfgs                 sum of log Z(x) - score(y), + c1 |w|_1 + c2 |w|^2, to its minimum
    l2sgd                 the same with c1 = 0, by stochastic gradient descent
    averaged-perceptron   for each wrong sentence, w += f(gold) - f(best); the result is the average of all w
    passive-aggressive    the same, with a step size that depends on the loss (Crammer et al. 2006)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from corate.arguments import check_seed, check_threads
from corate.corpus import Corpus, check_corpus
from corate.errors import DataError
from corate.features.ready_made import refuse_too_large_values
from corate.model.tagger import Tagger
from corate.training.choices import refuse_too_many_labels
from corate.training.crfsuite_fits import FITS, Iteration, Report
from corate.training.crfsuite_options import algorithm_named, checked
from corate.training.crfsuite_problem import CrfsuiteProblem, GeneratedFeatures
from corate.training.source import MemorySource

__all__ = ["GeneratedFeatures", "Iteration", "train_as_crfsuite"]


def train_as_crfsuite(
    corpus: Corpus,
    algorithm: str = "lbfgs",
    params: Mapping[str, Any] | None = None,
    *,
    held_out: Corpus | None = None,
    on_features: Callable[[GeneratedFeatures], None] | None = None,
    on_iteration: Callable[[Iteration], None] | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Tagger:
    """Train a model as CRFsuite does, on a corpus of ready-made features.

    Args:
        corpus: ready-made features and labels. All labels of its table are labels of the model, also unseen ones.
        algorithm: ``lbfgs``, ``l2sgd``, ``ap`` (or ``averaged-perceptron``), ``pa`` (or ``passive-aggressive``).
        params: parameters of the algorithm, by CRFsuite's names. Those not given have CRFsuite's defaults.
        held_out: sentences that are labelled after every iteration, for ``on_iteration``.
        on_features: called before the first iteration.
        on_iteration: called after every iteration.
        seed: for the order of sentences. ``lbfgs`` does not need it.
        threads: number of threads of ``lbfgs`` and ``l2sgd``.

    Ctrl-C ends training after the last complete iteration; before the first one it raises KeyboardInterrupt. The record
    of the tagger says why training ended, in ``stopped``: ``convergence`` (of the gradient), ``criterion`` (the gain
    or the loss is small enough), ``iterations`` (the maximum), ``search`` (no better step was found) or
    ``interrupted``. Raises ConfigError, DataError.

    >>> corpus = Corpus.from_features([[{"w": "the"}, {"w": "dog"}]], [["DET", "NOUN"]])
    >>> tagger = train_as_crfsuite(corpus, "lbfgs", {"c2": 0.1})
    >>> tagger.tag([{"w": "dog"}]), tagger.record["stopped"]
    (['NOUN'], 'convergence')
    """
    started = time.perf_counter()
    name = algorithm_named(algorithm)
    p = checked(name, params or {})
    seed, threads = check_seed(seed), check_threads(threads)
    _check(corpus)
    loss = "likelihood" if name in ("lbfgs", "l2sgd") else "perceptron"
    problem = CrfsuiteProblem.of(corpus, loss, p, threads)
    if on_features is not None:
        on_features(problem.generated(time.perf_counter() - started))
    labels_of = None if held_out is None or on_iteration is None else problem.labeller(held_out)
    report = Report(on_iteration, labels_of)
    weights, stopped = FITS[name](problem, p, seed, report)
    record = {
        "method": "crfsuite",
        "algorithm": name,
        "settings": p,
        "sentences": len(corpus),
        "tokens": corpus.n_tokens,
        "labels": problem.n_labels,
        "loss": report.loss,
        "iterations": report.number,
        "stopped": stopped,
        "interrupted": stopped == "interrupted",
        "seed": seed,
    }
    tagger = problem.tagger(weights, record)
    record["seconds"] = round(time.perf_counter() - started, 4)
    return tagger


def _check(corpus: Corpus) -> None:
    check_corpus(corpus)
    if corpus.attributes is None or corpus.columns:
        raise DataError("training as CRFsuite needs ready-made features; make the corpus with Corpus.from_features")
    refuse_too_many_labels(MemorySource(corpus), "crfsuite", many_labels=True)
    refuse_too_large_values(corpus)
    if corpus.n_tokens == 0:
        raise DataError("the corpus has no tokens to train on")
