"""A worked example of label bias: what each method computes for the two labellings of the sentence r o b."""

from __future__ import annotations

import math
from dataclasses import dataclass

from corate_reproduction import label_bias
from corate_reproduction.experiments import training_options
from corate_reproduction.report.writing import Table

__all__ = ["Worked", "all_methods", "memm_factors", "rate_factors", "worked"]

WORDS = ("r", "o", "b")
METHODS = ("empirical", "sp1", "sp2", "separate", "standard", "piecewise", "memm", "polish")
_WRONG, _RIGHT = label_bias.SEQUENCES


@dataclass(frozen=True)
class Worked:
    """The numbers of one round, for the paths R1 I B and R2 O B.

    ``local``: P(y_1 | r), P(y_2 | y_1, o), P(y_3 | y_2, b) of the trained MEMM, for each path. ``counted``: P(y_1, y_2
    | r, o) counted in the training sample, for each path. ``scores`` and ``probabilities``: for each method and path.
    ``chosen``: the predicted labels of each method.
    """

    local: tuple[tuple[float, ...], tuple[float, ...]]
    counted: tuple[float, float]
    rates: tuple[float, float]
    nodes: tuple[float, float]
    scores: dict[str, tuple[float, float]]
    probabilities: dict[str, tuple[float, float]]
    chosen: dict[str, list[str]]


def worked(seed: int) -> Worked:
    """Train every method on the sample of a round, and compute the example r o b."""
    import warnings

    import numpy as np

    import corate

    sentences, _ = label_bias.sample(seed)
    corpus = corate.Corpus.from_sentences(sentences)
    scores, probabilities, chosen = {}, {}, {}
    taggers = {}
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            tagger = corate.train(corpus, seed=seed, **training_options(method, ["word[0]"], "paper"))
        taggers[method] = tagger
        known = {name: i for i, name in enumerate(tagger.labels)}
        lattice = tagger.lattice([list(WORDS)])
        ids = [np.array([known[label] for label in path], np.int32) for path in label_bias.SEQUENCES]
        scores[method] = (lattice.path_score(0, ids[0]), lattice.path_score(0, ids[1]))
        probabilities[method] = (
            math.exp(tagger.score(WORDS, _WRONG)),
            math.exp(tagger.score(WORDS, _RIGHT)),
        )
        chosen[method] = tagger.tag(WORDS)
    memm = taggers["memm"]
    local = [
        [
            math.exp(memm.score(WORDS[:n], path[:n]) - (memm.score(WORDS[: n - 1], path[: n - 1]) if n > 1 else 0.0))
            for n in (1, 2, 3)
        ]
        for path in label_bias.SEQUENCES
    ]
    return Worked(
        (tuple(local[0]), tuple(local[1])),
        *_counted(sentences),
        scores=scores,
        probabilities=probabilities,
        chosen=chosen,
    )


def _counted(
    sentences: list[list[tuple[str, ...]]],
) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
    """P(y_1, y_2 | r, o), CR(y_1; y_2) and P(y_1 | r) P(y_2 | o) for both paths, by counting."""
    pairs = [(s[i], s[i + 1]) for s in sentences for i in (0, 1)]
    seen = [(a[1], b[1]) for a, b in pairs if (a[0], b[0]) == ("r", "o")]
    tokens = [token for s in sentences for token in s]
    joint, rates, nodes = [], [], []
    for path in label_bias.SEQUENCES:
        joint.append(seen.count(path[:2]) / max(1, len(seen)))
        both = sum((a[1], b[1]) == path[:2] for a, b in pairs) / len(pairs)
        left = sum(a[1] == path[0] for a, _ in pairs) / len(pairs)
        right = sum(b[1] == path[1] for _, b in pairs) / len(pairs)
        rates.append(both / (left * right))
        shares = []
        for word, label in zip(WORDS, path, strict=False):
            labels = [y for x, y in tokens if x == word]
            shares.append(labels.count(label) / len(labels))
        nodes.append(shares[0] * shares[1])
    return (joint[0], joint[1]), (rates[0], rates[1]), (nodes[0], nodes[1])


def memm_factors(found: Worked) -> Table:
    """The factors of the MEMM for both paths."""
    first, second = found.local
    step = ["P(y₁ | r)", "P(y₂ | y₁, o)", "P(y₃ | y₂, b)"]
    rows = [[name, f"{a:.4f}", f"{b:.4f}"] for name, a, b in zip(step, first, second, strict=True)]
    rows.append(["product", f"**{math.prod(first):.4f}**", f"**{math.prod(second):.4f}**"])
    return Table(["factors of the MEMM", "R1 I B", "R2 O B"], rows)


def rate_factors(found: Worked) -> Table:
    """The counted factors with co-occurrence rates for both paths."""
    rows = [
        ["P(y₁ | r) P(y₂ | o), counted", *(f"{value:.4f}" for value in found.nodes)],
        ["CR(y₁; y₂), counted", *(f"{value:.2f}" for value in found.rates)],
        ["product", *(f"**{a * b:.4f}**" for a, b in zip(found.nodes, found.rates, strict=True))],
        ["P(y₁, y₂ | r, o), counted", *(f"{value:.4f}" for value in found.counted)],
    ]
    return Table(["factors with co-occurrence rates", "R1 I", "R2 O"], rows)


def all_methods(found: Worked) -> Table:
    """What each method computes, and the labels that it chooses."""
    rows = []
    for method in METHODS:
        (a, b), (p, q) = found.scores[method], found.probabilities[method]
        verdict = " ".join(found.chosen[method])
        mark = "" if found.chosen[method] == list(_RIGHT) else "\nwrong"
        rows.append([method, f"{a:.2f}", f"{b:.2f}", f"{100 * p:.2f} %", f"{100 * q:.2f} %", verdict + mark])
    return Table(["method", "score R1 I B", "score R2 O B", "P(R1 I B)", "P(R2 O B)", "labels"], rows)
