"""The simulated data of the paper, and its optimal decision rule."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from itertools import product

import pytest

pytest.importorskip("corate_reproduction")

from corate_reproduction import label_bias


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


@pytest.mark.parametrize("name", label_bias.OTHERS)
def test_the_rule_of_other_data_is_the_best_choice_at_each_token(name: str) -> None:
    """Against all decisions, for each observation of the symbols that tell the sequences apart."""
    simulation = label_bias.OTHERS[name]
    alphabet = sorted(set(simulation.symbols.values()))
    total = sum(simulation.sequences.values())
    expected = best = 0.0
    for symbol in alphabet:
        j = 1 if name == "uneven branching" else -1
        joint = {s: w / total * simulation.emission(s[j], symbol) for s, w in simulation.sequences.items()}
        for labels, p in joint.items():
            rest = simulation.symbols[labels[0]]  # any symbol: the other tokens do not tell
            sentence = [(rest, y) for y in labels]
            sentence[j] = (symbol, labels[j])
            expected += p * simulation.optimal([sentence]) / 100
        positions = zip(*simulation.sequences, strict=True)
        best += statistics.mean(
            max(sum(p for s, p in joint.items() if s[i] == y) for y in of_position)
            for i, of_position in enumerate(positions)
        )
    assert sum(simulation.emission("B" if name == "uneven branching" else "A1", x) for x in alphabet) == pytest.approx(
        1
    )
    assert expected == pytest.approx(best)


@pytest.mark.parametrize("name", label_bias.OTHERS)
def test_a_sample_of_other_data_has_each_sequence_as_often_as_its_weight_says(name: str) -> None:
    simulation = label_bias.OTHERS[name]
    train, test = label_bias.sample(3, simulation)
    found = Counter(tuple(label for _, label in sentence) for sentence in train)
    each = found[next(s for s, w in simulation.sequences.items() if w == 1)]
    assert found == {labels: weight * each for labels, weight in simulation.sequences.items()}
    assert len(train) == 2 * label_bias.TRAIN
    assert {symbol for sentence in test for symbol, _ in sentence} == set(simulation.symbols.values())


def test_a_sample_holds_as_many_sentences_of_each_sequence_and_the_symbols_in_their_proportions() -> None:
    sample = label_bias.drawn(2000, random.Random(0))
    sequences = [tuple(label for _, label in sentence) for sentence in sample]
    assert [sequences.count(labels) for labels in label_bias.SEQUENCES] == [2000, 2000]
    own = sum(symbol == label_bias.SYMBOLS[label] for sentence in sample for symbol, label in sentence)
    assert own / (3 * len(sample)) == pytest.approx(29 / 32, abs=0.01)
