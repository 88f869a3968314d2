"""How does training time grow with the number of labels K?

`python -m benchmarks.label_growth [--peer-passes 1]`

The labels of brown 4000-1000 are cut to their first 1, 2 and 3 characters, used whole, and used with the last letter
and the last two letters of the word (28 to 1,531 labels). Both libraries train on the same features (`pos`) with one
thread: Corate from the corpus in memory to the tagger, including feature extraction; CRFsuite (lbfgs) for one pass from
ready-made items, because full training would take hours. The slope is the least-squares slope of log seconds over log
K. No step from one label set to the next may be steeper than linear either.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks import corpora, peers
from benchmarks.corpora import Sentence
from benchmarks.growth import slope
from benchmarks.separate_speed import attributes, timed
from benchmarks.tables import Row, Table, data_folder, parser

FEATURES = "pos"
COMMAND = "python -m benchmarks.label_growth"
LABELS: dict[str, Callable[[str, str], str]] = {
    "first character": lambda word, label: label[:1],
    "first 2 characters": lambda word, label: label[:2],
    "first 3 characters": lambda word, label: label[:3],
    "whole labels": lambda word, label: label,
    "and the word's last letter": lambda word, label: f"{label}_{word[-1]}",
    "and the word's last 2 letters": lambda word, label: f"{label}_{word[-2:]}",
}
MOST_FOR_PEER = 1000  # labels; with more, CRFsuite takes ten minutes per pass


def relabelled(sentences: Sequence[Sentence], rule: Callable[[str, str], str]) -> list[Sentence]:
    """The same words with other labels."""
    return [[(word, rule(word, label)) for word, label in sentence] for sentence in sentences]


@dataclass
class Costs:
    """Seconds by number of labels."""

    labels: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, labels: int, seconds: float) -> float:
        """Add a measurement; returns the seconds."""
        self.labels.append(labels)
        self.seconds.append(seconds)
        return seconds

    def slope(self) -> float:
        """The slope of log seconds over log labels."""
        return slope(self.labels, self.seconds)

    def steps(self) -> list[float]:
        """The slope from each number of labels to the next."""
        pairs = [slice(i, i + 2) for i in range(len(self.labels) - 1)]
        return [slope(self.labels[pair], self.seconds[pair]) for pair in pairs]


def trained(sentences: Sequence[Sentence], runs: int) -> tuple[float, str]:
    """Median seconds of separate training, and a note."""
    import corate

    corpus = corate.Corpus.from_sentences(sentences)
    done = [timed(corate.train, corpus, "separate", features=FEATURES, threads=1) for _ in range(runs)]
    seconds, processor = (statistics.median(getattr(one, key) for one in done) for key in ("wall", "cpu"))
    accuracy = 100 * done[0].result.record["held_out"]["accuracy"]
    return seconds, f"processor {processor:.2f} s; {accuracy:.2f} % of held-out tokens correct"


def slope_rows(ours: Costs, theirs: Costs) -> list[Row]:
    """The slope over all label sets, and of the steepest step, which one overall slope may hide."""
    note = "step by step " + ", ".join(f"{step:.2f}" for step in ours.steps())
    peer: list[float | None] = [None, None]
    if len(theirs.labels) > 1:
        note += "; CRFsuite's " + ", ".join(f"{step:.2f}" for step in theirs.steps())
        peer = [theirs.slope(), max(theirs.steps())]
    steepest = max(range(len(ours.steps())), key=ours.steps().__getitem__)
    where = f"from {ours.labels[steepest]:,} to {ours.labels[steepest + 1]:,} labels"
    named = {"peer_name": "CRFsuite", "command": COMMAND}
    return [
        Row("slope over all label sets", ours.slope(), at_most=1.0, peer=peer[0], note=note, **named),
        Row("slope of the steepest step", ours.steps()[steepest], at_most=1.0, peer=peer[1], note=where, **named),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both on every label set, fit the slopes."""
    import corate

    options = parser("label_growth", "Training time as the number of labels grows.")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--peer-passes", type=int, default=1, help="CRFsuite's timed passes; 0 omits it")
    given = options.parse_args(arguments)
    data = corpora.ROOT / data_folder(given.data)
    sentences = corpora.load(data / "brown-4000-1000.train")
    items = attributes(FEATURES, corate.Corpus.from_sentences(sentences))[0] if given.peer_passes else []
    table = Table("label_growth", "How does training time grow with the number of labels, one thread?")
    ours, theirs = Costs(), Costs()
    for name, rule in LABELS.items():
        changed = relabelled(sentences, rule)
        size = len(corpora.labels(changed))
        seconds, note = trained(changed, given.runs)
        ours.add(size, seconds)
        row = Row(f"{name}: {size:,} labels", seconds, "s", note=note, command=COMMAND)
        if items and size <= MOST_FOR_PEER:
            labels = [[row[-1] for row in sentence] for sentence in changed]
            passes = peers.fit(items, labels, data / "models" / "label-growth.crfsuite", "lbfgs", given.peer_passes)
            row = replace(row, peer=theirs.add(size, statistics.mean(passes)), peer_name="CRFsuite, one pass")
        table.add(row)
    for row in slope_rows(ours, theirs):
        table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
