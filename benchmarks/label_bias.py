"""Is separate training free of label bias? The simulated data of the paper (section "Modeling Label Bias").

`python -m benchmarks.label_bias [--rounds 10]`

`corate.reproduction.label_bias` draws the data and has the optimal decision rule, which every method is compared with.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.tables import Row, Table, parser
from corate.reproduction.label_bias import optimal, sample

WITHIN = 0.3  # points below the optimal rule
METHODS: dict[str, dict[str, Any]] = {
    "separate, base none": {"method": "separate", "base": "none"},
    "separate, base paper": {"method": "separate", "base": "paper"},
    "separate, joint": {"method": "separate", "coupling": "joint"},
    "empirical, paper ladder": {"method": "empirical", "ladder": "paper"},
}
PAPER = {"separate": "paper: SP2 95.9, MEMM 66.6", "empirical": "paper: SP1 95.8"}


def accuracies(number: int) -> dict[str, float]:
    """One round: percent right of the rule and of every method, on the same sample."""
    import corate

    train, test = sample(number)
    corpus, gold = corate.Corpus.from_sentences(train), corate.Corpus.from_sentences(test)
    found = {"rule": optimal(test)}
    for name, options in METHODS.items():
        tagger = corate.train(corpus, features=["word[0]"], seed=number, **options)
        found[name] = 100 * corate.evaluate(tagger, gold).accuracy
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, train, compare with the rule."""
    options = parser("label_bias", "The paper's simulated data against the optimal decision rule.")
    options.add_argument("--rounds", type=int, default=10)
    given = options.parse_args(arguments)
    rounds = [accuracies(number) for number in range(given.rounds)]
    rule = statistics.mean(one["rule"] for one in rounds)
    table = Table("label_bias", f"Label bias: the paper's simulated data, mean of {given.rounds} rounds")
    command = "python -m benchmarks.label_bias"
    table.add(Row("optimal decision rule", rule, "%", note="expected 95.83", command=command))
    for name, chosen in METHODS.items():
        values = [one[name] for one in rounds]
        differences = [one[name] - one["rule"] for one in rounds]
        spread = f"rounds from {min(values):.2f} to {max(values):.2f}"
        note = f"{statistics.mean(differences):+.2f} points; {spread}; {PAPER[chosen['method']]}"
        target = rule - WITHIN if chosen["method"] == "separate" else None
        table.add(Row(name, statistics.mean(values), "%", at_least=target, note=note, command=command))
    table.finish()


if __name__ == "__main__":
    main()
