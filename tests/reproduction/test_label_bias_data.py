"""The simulated data of the paper, and its optimal decision rule."""

from __future__ import annotations

import random
from itertools import product

import pytest

from corate.reproduction import label_bias


def probability(symbols: tuple[str, ...], labels: tuple[str, ...]) -> float:
    """Of the symbols, given the labels."""
    result = 1.0
    for symbol, label in zip(symbols, labels, strict=True):
        result *= 29 / 32 if symbol == label_bias.SYMBOLS[label] else 1 / 32
    return result


def test_the_rule_has_the_expected_accuracy_of_the_best_choice() -> None:
    expected = best = 0.0
    for symbols in product("riob", repeat=3):
        likely = [probability(symbols, labels) for labels in label_bias.SEQUENCES]
        best += (max(likely) * 3 + min(likely)) / 3 / 2  # B is right in either case
        for labels, p in zip(label_bias.SEQUENCES, likely, strict=True):
            expected += p / 2 * label_bias.PAPER.optimal([list(zip(symbols, labels, strict=True))]) / 100
    assert expected == pytest.approx(best)
    assert expected == pytest.approx(0.958333, abs=1e-6)


def test_a_sample_holds_as_many_sentences_of_each_sequence_and_the_symbols_in_their_proportions() -> None:
    sample = label_bias.drawn(2000, random.Random(0))
    sequences = [tuple(label for _, label in sentence) for sentence in sample]
    assert [sequences.count(labels) for labels in label_bias.SEQUENCES] == [2000, 2000]
    own = sum(symbol == label_bias.SYMBOLS[label] for sentence in sample for symbol, label in sentence)
    assert own / (3 * len(sample)) == pytest.approx(29 / 32, abs=0.01)
