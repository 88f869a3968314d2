"""Paired tests: against counting by hand, all exchanges by brute force, and a plain loop over bootstrap samples."""

import itertools

import numpy as np
import pytest

from corate import Corpus, DataError, evaluate
from corate.corpus import Column
from corate.evaluation.significance import paired_test, sentence_counts


def score(counts):
    return counts[:, 0].sum() / counts[:, 1].sum()


def random_counts(rng, n):
    tokens = rng.integers(1, 12, n)
    return [np.column_stack([rng.binomial(tokens, p), tokens]).astype(float) for p in (0.9, 0.8)]


def test_counts_of_sentences_add_up_to_the_report():
    rng = np.random.default_rng(1)
    labels = ["O", "O", "B-PER", "I-PER", "B-LOC"]
    lengths = rng.integers(1, 9, 30)
    draw = [[labels[i] for i in rng.integers(0, 5, n)] for n in lengths]
    guess = [[y if rng.random() < 0.7 else labels[rng.integers(5)] for y in s] for s in draw]
    gold = Corpus.from_sentences([["w"] * n for n in lengths], draw)
    report = evaluate(guess, gold)
    counts = sentence_counts(gold, Column.of("label", itertools.chain.from_iterable(guess)))
    assert score(counts["accuracy"]) == pytest.approx(report.accuracy)
    assert score(counts["f1"]) == pytest.approx(report.f1)
    for s in range(30):
        one = evaluate([guess[s]], gold[s])
        assert counts["accuracy"][s].tolist() == [one.accuracy * one.tokens, one.tokens]


def test_plain_tags_have_no_f1():
    gold = Corpus.from_sentences([[("a", "DET")]])
    assert list(sentence_counts(gold, Column.of("label", ["NOUN"]))) == ["accuracy"]


def test_the_p_value_is_that_of_all_exchanges():
    first, second = random_counts(np.random.default_rng(3), 10)
    second[:, 1] += np.arange(10) % 3  # as for F1, the denominators differ
    observed = abs(score(first) - score(second))
    extreme = 0
    for swaps in itertools.product([False, True], repeat=10):
        mask = np.array(swaps)[:, None]
        a, b = np.where(mask, second, first), np.where(mask, first, second)
        extreme += abs(score(a) - score(b)) >= observed - 1e-12
    assert paired_test(first, second, samples=40_000).p_value == pytest.approx(extreme / 1024, abs=0.01)


def test_the_interval_is_that_of_sentences_drawn_with_replacement():
    rng = np.random.default_rng(5)
    first, second = random_counts(rng, 60)
    drawn = [rng.integers(0, 60, 60) for _ in range(4000)]
    plain = np.quantile([score(first[i]) - score(second[i]) for i in drawn], [0.025, 0.975])
    result = paired_test(first, second)
    assert [result.low, result.high] == pytest.approx(plain.tolist(), abs=0.006)
    assert result.low < result.difference < result.high
    assert result.difference == pytest.approx(score(first) - score(second))


def test_p_values_of_equal_taggers_are_spread_evenly():
    rng = np.random.default_rng(7)
    values = []
    for _ in range(200):
        tokens = rng.integers(1, 20, 80)
        pair = [np.column_stack([rng.binomial(tokens, 0.9), tokens]).astype(float) for _ in range(2)]
        values.append(paired_test(*pair, samples=400).p_value)
    assert np.mean(np.array(values) < 0.1) == pytest.approx(0.1, abs=0.07)
    assert np.mean(values) == pytest.approx(0.5, abs=0.08)


def test_the_result_depends_on_the_seed_only():
    first, second = random_counts(np.random.default_rng(9), 40)
    assert paired_test(first, second, seed=2) == paired_test(first, second, seed=2)
    opposite = paired_test(second, first)
    assert opposite.difference == -paired_test(first, second).difference
    with pytest.raises(DataError, match="one shape"):
        paired_test(first, second[1:])
