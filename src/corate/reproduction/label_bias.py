"""The paper's simulated data (section "Modeling Label Bias") and its optimal decision rule.

There are two label sequences, R1 I B and R2 O B. Each label emits its own symbol (R1 and R2: r, I: i, O: o, B: b) with
probability 29/32 and each of the other three with probability 1/32. A round draws 1,000 training and 250 test sentences
of each sequence.

**The optimal rule.** Both sequences are equally likely, R1 and R2 have the same emissions, and B is always last. Only
the second symbol distinguishes them: P(o | O) = 29/32, P(o | I) = 1/32, and the same for i. If it is r or b, both are
equally likely and any choice is correct half of the time. B is always correct. The first two labels are correct
together, with probability 29/32 + (2/32) / 2 = 30/32. The expected accuracy is (1 + 2 * 30/32) / 3 = 95.83 %.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from corate.reproduction.corpora import Sentence

__all__ = ["EXPECTED", "SEQUENCES", "SYMBOLS", "TEST", "TRAIN", "drawn", "optimal", "sample"]

SEQUENCES = (("R1", "I", "B"), ("R2", "O", "B"))
SYMBOLS = {"R1": "r", "R2": "r", "I": "i", "O": "o", "B": "b"}
TRAIN, TEST = 1000, 250  # sentences of each sequence
#: The expected accuracy of the optimal rule, in percent.
EXPECTED = 100 * (1 + 2 * 30 / 32) / 3


def _emitted(label: str, chance: random.Random) -> str:
    """The label's symbol, or one of the other three."""
    own = SYMBOLS[label]
    return own if chance.random() < 29 / 32 else chance.choice([symbol for symbol in "riob" if symbol != own])


def drawn(each: int, chance: random.Random) -> list[Sentence]:
    """Draw ``each`` sentences of each sequence.

    >>> [label for _, label in drawn(1, random.Random(0))[1]]
    ['R2', 'O', 'B']
    """
    return [[(_emitted(label, chance), label) for label in labels] for labels in SEQUENCES for _ in range(each)]


def sample(seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """The training and the test sentences of one round."""
    chance = random.Random(seed)
    return drawn(TRAIN, chance), drawn(TEST, chance)


def optimal(sentences: Sequence[Sentence]) -> float:
    """The accuracy of the optimal rule, in percent; a tie counts half.

    >>> optimal([[("r", "R2"), ("o", "O"), ("b", "B")]]), round(optimal([[("r", "R2"), ("r", "O"), ("b", "B")]]), 1)
    (100.0, 66.7)
    """
    correct = 0.0
    for sentence in sentences:
        symbol, label = sentence[1][0], sentence[1][1]
        correct += 1.0 + 2.0 * (1.0 if symbol == SYMBOLS[label] else 0.0 if symbol in "io" else 0.5)
    return 100 * correct / sum(map(len, sentences))
