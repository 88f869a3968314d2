"""Is it worth choosing which sentences to label? Active learning on Brown, against random choice.

`python -m benchmarks.active [--seeds 0,1,2] [--pool 8000] [--step 200] [--most 2000] [--only TEXT]`

The first sentences are chosen at random. Then, step by step, a tagger is trained on what is labelled so far and chooses
the next sentences of the pool. Accuracy is that on 4,000 other sentences, mean over seeds. A chosen sentence costs as
much as its tokens, so the notes have the number of labelled tokens, and what random choice reaches with as many.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import measure
from benchmarks.tables import Row, Table, data_folder, parser

if TYPE_CHECKING:
    from corate import Corpus

TEST_SENTENCES = 4000
WAYS = ("random", "confidence", "entropy", "diverse")


@dataclass(frozen=True)
class Step:
    """A tagger after some sentences were labelled; accuracy in percent."""

    sentences: int
    tokens: int
    accuracy: float


def curve(way: str, seed: int, pool: Corpus, test: Corpus, step: int, most: int) -> list[Step]:
    """Accuracy after each step of one way of choosing."""
    import corate
    from corate.evaluation.active import most_informative

    rng = np.random.default_rng(seed)
    order = rng.permutation(len(pool))
    labelled = order[:step]
    steps = []
    while True:
        corpus = pool.take(np.sort(labelled))
        tagger = corate.train(corpus, seed=seed)
        steps.append(Step(len(corpus), corpus.n_tokens, 100 * corate.evaluate(tagger, test).accuracy))
        if len(labelled) >= most:
            return steps
        rest = np.setdiff1d(order, labelled)
        if way == "random":
            chosen = order[len(labelled) : len(labelled) + step]
        else:
            chosen = rest[most_informative(tagger, pool.take(rest), step, way)]
        labelled = np.concatenate([labelled, chosen])


def with_tokens(tokens: float, random: Sequence[Step]) -> float:
    """The accuracy of random choice with as many labelled tokens, between its steps or at its last one."""
    return float(np.interp(tokens, [s.tokens for s in random], [s.accuracy for s in random]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Choose, train, compare with random choice."""
    import corate

    options = parser("active", "Active learning on Brown against random choice.")
    options.add_argument("--seeds", default="0,1,2", help="comma-separated numbers (default: 0,1,2)")
    options.add_argument("--pool", type=int, default=8000, help="how many sentences there are to choose from")
    options.add_argument("--step", type=int, default=200, help="how many sentences are chosen at a time")
    options.add_argument("--most", type=int, default=2000, help="how many sentences are labelled in the end")
    options.add_argument("--only", default="", help="only the ways of choosing whose name contains this text")
    given = options.parse_args(arguments)
    data = measure.ROOT / data_folder(given.data)
    pool = corate.read(str(data / "brown-17k-16k.train"))[: given.pool]
    test = corate.read(str(data / "brown-17k-16k.test"))[:TEST_SENTENCES]
    seeds = [int(seed) for seed in given.seeds.split(",")]
    command = "python -m benchmarks.active"
    table = Table("active", f"Active learning on Brown, accuracy on {TEST_SENTENCES:,} sentences (seeds {given.seeds})")
    random = [curve("random", seed, pool, test, given.step, given.most) for seed in seeds]
    for way in (way for way in WAYS if way == "random" or given.only in way):
        curves = random if way == "random" else [curve(way, s, pool, test, given.step, given.most) for s in seeds]
        for steps, baselines in zip(zip(*curves, strict=True), zip(*random, strict=True), strict=True):
            mean, base = (statistics.mean(s.accuracy for s in group) for group in (steps, baselines))
            spread = statistics.stdev(s.accuracy for s in steps) if len(steps) > 1 else 0.0
            tokens = statistics.mean(s.tokens for s in steps)
            same = statistics.mean(with_tokens(s.tokens, r) for s, r in zip(steps, random, strict=True))
            against = "" if way == "random" else f"; {mean - base:+.2f} points, {mean - same:+.2f} by tokens"
            note = f"{tokens:,.0f} tokens; sd {spread:.2f}{against}"
            error = spread / math.sqrt(len(steps))
            table.add(
                Row(f"{way}, {steps[0].sentences:,} sentences", mean, "%", note=note, command=command, error=error)
            )
    table.finish()


if __name__ == "__main__":
    main()
