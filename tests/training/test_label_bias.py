"""The label bias data of the paper (section "Modeling Label Bias"), against the optimal decision on the same sample."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus

SEQUENCES = (("R1", "I", "B"), ("R2", "O", "B"))
SYMBOLS = ("r", "i", "o", "b")
DESIGNATED = {"R1": "r", "R2": "r", "I": "i", "O": "o", "B": "b"}

WAYS: dict[str, dict[str, Any]] = {
    "empirical, paper": {"method": "empirical", "backoff": "paper"},
    "empirical, pairs of words": {"method": "empirical", "pairs": "words"},
    "separate": {"method": "separate", "features": ["word[0]"]},
    "separate, paper base": {"method": "separate", "features": ["word[0]"], "base": "paper"},
    "separate, no base": {"method": "separate", "features": ["word[0]"], "base": "none"},
    "separate, joint": {"method": "separate", "features": ["word[0]"], "coupling": "joint"},
    "standard": {"method": "standard", "features": ["word[0]"]},
    "piecewise": {"method": "piecewise", "features": ["word[0]"]},
    "polish": {"method": "polish", "features": ["word[0]"]},
}
every_way = pytest.mark.parametrize("way", list(WAYS.values()), ids=list(WAYS))

Sample = tuple[list[list[str]], list[list[str]]]


def emission(label: str, symbol: str) -> float:
    return 29 / 32 if DESIGNATED[label] == symbol else 1 / 32


def sample(rng: np.random.Generator, n: int) -> Sample:
    """So many sentences of each label sequence."""
    labels = [list(sequence) for sequence in SEQUENCES for _ in range(n)]
    emitted = {y: rng.choice(SYMBOLS, size=2 * n, p=[emission(y, x) for x in SYMBOLS]).tolist() for y in DESIGNATED}
    return [[emitted[y].pop() for y in sentence] for sentence in labels], labels


@cache
def round_of(seed: int) -> tuple[Sample, Sample]:
    rng = np.random.default_rng(seed)
    return sample(rng, 1000), sample(rng, 250)


def agreement(found: list[str] | tuple[str, ...], labels: list[str]) -> float:
    return float(np.mean([y == z for y, z in zip(found, labels, strict=True)]))


def optimal_accuracy(test: Sample) -> float:
    """Of the two sequences, equally likely, the one more likely to emit the symbols; half of each where both are."""
    total = []
    for symbols, labels in zip(*test, strict=True):
        likelihoods = [np.prod([emission(y, x) for y, x in zip(s, symbols, strict=True)]) for s in SEQUENCES]
        right = [agreement(s, labels) for s in SEQUENCES]
        tie = np.isclose(*likelihoods)
        total.append(np.mean(right) if tie else right[int(np.argmax(likelihoods))])
    return float(np.mean(total))


def accuracy(training: Sample, test: Sample, way: dict[str, Any], seed: int) -> float:
    tagger = corate.train(Corpus.from_sentences(*training), seed=seed, **way)
    found = tagger.tag_all(test[0])
    return float(np.mean([agreement(f, y) for f, y in zip(found, test[1], strict=True)]))


def expected_accuracy(decide: Callable[[list[str]], list[str]]) -> float:
    """Of a decision for each of the 64 observations, over all that the two sequences could emit."""
    total = 0.0
    for x in itertools.product(SYMBOLS, repeat=3):
        found = decide(list(x))
        for sequence in SEQUENCES:
            mass = 0.5 * np.prod([emission(y, s) for y, s in zip(sequence, x, strict=True)])
            total += mass * agreement(found, list(sequence))
    return total


def test_the_optimal_rule_is_as_good_as_the_paper_says() -> None:
    decisions = {}
    for x in itertools.product(SYMBOLS, repeat=3):
        likelihoods = [np.prod([emission(y, s) for y, s in zip(sequence, x, strict=True)]) for sequence in SEQUENCES]
        decisions[x] = list(SEQUENCES[int(np.argmax(likelihoods))])
    assert expected_accuracy(lambda x: decisions[tuple(x)]) == pytest.approx(0.9583, abs=5e-5)


@every_way
@pytest.mark.parametrize("seed", range(3))
def test_the_decision_is_optimal_on_all_that_could_be_observed(way: dict[str, Any], seed: int) -> None:
    """Without the luck of a sample: nothing is lost but to emissions that no rule can tell apart."""
    tagger = corate.train(Corpus.from_sentences(*round_of(seed)[0]), seed=seed, **way)
    assert expected_accuracy(tagger.tag) == pytest.approx(0.9583, abs=1e-3)


@every_way
def test_one_round_is_within_a_point_of_the_optimal_rule(way: dict[str, Any]) -> None:
    training, test = round_of(0)
    assert accuracy(training, test, way, 0) > optimal_accuracy(test) - 0.01


@every_way
def test_ten_rounds_are_within_a_third_of_a_point_of_the_optimal_rule(way: dict[str, Any]) -> None:
    """On average. Where both sequences are equally likely a tagger may be lucky: it can also do better."""
    lost = []
    for seed in range(10):
        training, test = round_of(seed)
        lost.append(optimal_accuracy(test) - accuracy(training, test, way, seed))
    assert abs(np.mean(lost)) < 0.003


@every_way
def test_the_observation_in_the_middle_decides(way: dict[str, Any]) -> None:
    """The paper's example: R1 and R2 are equally likely after r, and o or i alone tells them apart."""
    tagger = corate.train(Corpus.from_sentences(*round_of(0)[0]), **way)
    assert tagger.tag(["r", "o", "b"]) == ["R2", "O", "B"]
    assert tagger.tag(["r", "i", "b"]) == ["R1", "I", "B"]
    assert tagger.tag(["r", "b", "b"]) in [list(s) for s in SEQUENCES]


@pytest.mark.parametrize("seed", range(3))
def test_a_memm_has_label_bias_and_a_strong_prior_hides_some_of_it(seed: int) -> None:
    """P(I | R1) and P(O | R2) are 1 whatever is observed, so the second symbol decides nothing."""
    training, test = round_of(seed)
    biased, held = (
        accuracy(training, test, {"method": "memm", "features": ["word[0]"], "c2": c2}, seed) for c2 in (1e-6, 30.0)
    )
    assert biased < 0.75
    assert held > biased + 0.02
