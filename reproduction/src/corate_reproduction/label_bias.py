"""Simulated data that show label bias, and their optimal decision rules.

**The paper's data** (section "Modeling Label Bias"). There are two label sequences, R1 I B and R2 O B. Each label emits
its own symbol (R1 and R2: r, I: i, O: o, B: b) with probability 29/32 and each of the other three with probability
1/32. A round draws 1,000 training and 250 test sentences of each sequence.

**The optimal rule.** Both sequences are equally likely, R1 and R2 have the same emissions, and B is always last. Only
the second symbol distinguishes them: P(o | O) = 29/32, P(o | I) = 1/32, and the same for i. If it is r or b, both are
equally likely and any choice is correct half of the time. B is always correct. The first two labels are correct
together, with probability 29/32 + (2/32) / 2 = 30/32. The expected accuracy is (1 + 2 * 30/32) / 3 = 95.83 %.

**Other data** (not in the paper). In ``"uneven branching"``, one label can follow R1 and four labels can follow R2. In
``"last of four"`` and ``"last of eight"``, all symbols of the two sequences except the last are the same. Each label
emits its own symbol with probability 29/32, and the other symbols of the data are equally likely. A round has as many
training sentences as in the paper, and ten times as many test sentences, because here a tie may decide eight tokens.
The rule chooses the label with the highest probability at each token, given all symbols.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corate_reproduction.corpora import Sentence

__all__ = ["EXPECTED", "OTHERS", "PAPER", "SEQUENCES", "SYMBOLS", "TEST", "TRAIN", "Simulation", "drawn", "sample"]


@dataclass(frozen=True)
class Simulation:
    """Label sequences, how often each occurs relative to the others, and the symbol of each label."""

    sequences: Mapping[tuple[str, ...], int]
    symbols: Mapping[str, str]

    def emission(self, label: str, symbol: str) -> float:
        """P(symbol | label)."""
        return 29 / 32 if self.symbols[label] == symbol else 3 / 32 / (len(set(self.symbols.values())) - 1)

    def optimal(self, sentences: Sequence[Sentence]) -> float:
        """The accuracy of the optimal rule, in percent; a tie of n labels counts 1 / n.

        >>> PAPER.optimal([[("r", "R2"), ("o", "O"), ("b", "B")]])
        100.0
        >>> round(PAPER.optimal([[("r", "R2"), ("r", "O"), ("b", "B")]]), 1)
        66.7
        """
        correct = 0.0
        for sentence in sentences:
            likely = {
                labels: weight * math.prod(self.emission(y, x) for y, (x, _) in zip(labels, sentence, strict=True))
                for labels, weight in self.sequences.items()
            }
            for j, (_, label) in enumerate(sentence):
                shares: dict[str, float] = {}
                for labels, probability in likely.items():
                    shares[labels[j]] = shares.get(labels[j], 0.0) + probability
                best = [y for y, share in shares.items() if math.isclose(share, max(shares.values()))]
                correct += (label in best) / len(best)
        return 100 * correct / sum(map(len, sentences))


SYMBOLS = {"R1": "r", "R2": "r", "I": "i", "O": "o", "B": "b"}
SEQUENCES = (("R1", "I", "B"), ("R2", "O", "B"))
PAPER = Simulation(dict.fromkeys(SEQUENCES, 1), SYMBOLS)


def _last_of(length: int) -> Simulation:
    """Two sequences of so many labels, all different. Only the last symbols of the two differ."""
    first, second = (tuple(f"{chr(ord('A') + j)}{i}" for j in range(length)) for i in (1, 2))
    shared = {label: label[0].lower() for label in (*first[:-1], *second[:-1])}
    return Simulation({first: 1, second: 1}, {**shared, first[-1]: "x", second[-1]: "y"})


#: The other data, by name.
OTHERS = {
    "uneven branching": Simulation(
        {("R1", "I", "B"): 4, **{("R2", f"O{k}", "B"): 1 for k in range(4)}},
        {"R1": "r", "R2": "r", "I": "i", **{f"O{k}": f"o{k}" for k in range(4)}, "B": "b"},
    ),
    "last of four": _last_of(4),
    "last of eight": _last_of(8),
}
TRAIN, TEST = 1000, 250  # half of the sentences of a round
#: The test sentences of the other data for each of the paper's.
MORE = 10
#: The expected accuracy of the optimal rule on the paper's data, in percent.
EXPECTED = 100 * (1 + 2 * 30 / 32) / 3


def _emitted(label: str, chance: random.Random, simulation: Simulation) -> str:
    """The label's symbol, or one of the others."""
    own = simulation.symbols[label]
    others = [symbol for symbol in dict.fromkeys(simulation.symbols.values()) if symbol != own]
    return own if chance.random() < 29 / 32 else chance.choice(others)


def drawn(half: int, chance: random.Random, simulation: Simulation = PAPER) -> list[Sentence]:
    """Draw about 2 ``half`` sentences: of each sequence, as many as its weight says.

    >>> [label for _, label in drawn(1, random.Random(0))[1]]
    ['R2', 'O', 'B']
    """
    each = 2 * half // sum(simulation.sequences.values())
    return [
        [(_emitted(label, chance, simulation), label) for label in labels]
        for labels, weight in simulation.sequences.items()
        for _ in range(weight * each)
    ]


def sample(seed: int, simulation: Simulation = PAPER) -> tuple[list[Sentence], list[Sentence]]:
    """The training and the test sentences of one round."""
    chance = random.Random(seed)
    test = TEST if simulation is PAPER else MORE * TEST
    return drawn(TRAIN, chance, simulation), drawn(test, chance, simulation)
