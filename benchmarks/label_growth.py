"""How does training time grow with the number of labels K?

`python -m benchmarks.label_growth [--peer-passes 1]`

The labels of brown 4000-1000 are cut to their first 1, 2 and 3 characters, taken whole, and taken whole with the last
letter of the word. Both train on the same features (`pos`) on one thread: Corate from the corpus in memory to the
tagger, its features included; CRFsuite (lbfgs) a pass or two from ready items, of which the mean pass counts, because
a full training would take hours. The slope is that of log seconds over log K by least squares.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

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
    "whole, with the word's last letter": lambda word, label: f"{label}_{word[-1].lower()}",
}


def relabelled(sentences: Sequence[Sentence], rule: Callable[[str, str], str]) -> list[Sentence]:
    """The same words with other labels."""
    return [[(word, rule(word, label)) for word, label in sentence] for sentence in sentences]


def last_step(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope between the two largest label sets."""
    return slope(sizes[-2:], seconds[-2:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both on every label set, fit the slopes."""
    import corate

    options = parser("label_growth", "Training time as the number of labels grows.")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--peer-passes", type=int, default=1, help="CRFsuite's timed passes; 0 leaves it out")
    given = options.parse_args(arguments)
    data = corpora.ROOT / data_folder(given.data)
    sentences = corpora.load(data / "brown-4000-1000.train")
    items = attributes(FEATURES, corate.Corpus.from_sentences(sentences))[0] if given.peer_passes else []
    table = Table("label_growth", "How does training time grow with the number of labels, one thread?")
    sizes: list[float] = []
    ours: list[float] = []
    theirs: list[float] = []
    for name, rule in LABELS.items():
        changed = relabelled(sentences, rule)
        corpus = corate.Corpus.from_sentences(changed)
        done = [timed(corate.train, corpus, "separate", features=FEATURES, threads=1) for _ in range(given.runs)]
        sizes.append(len(corpora.labels(changed)))
        ours.append(statistics.median(one.wall for one in done))
        note = f"processor {statistics.median(one.cpu for one in done):.2f} s; held-out {done[0].result.record['held_out']['accuracy']:.4f}"
        peer = None
        if given.peer_passes:
            labels = [[row[-1] for row in sentence] for sentence in changed]
            times = peers.fit(items, labels, data / "models" / "label-growth.crfsuite", "lbfgs", given.peer_passes)
            peer = statistics.mean(times)
            theirs.append(peer)
        table.add(
            Row(
                f"{name}: {sizes[-1]:,} labels",
                ours[-1],
                "s",
                peer=peer,
                peer_name="CRFsuite, one pass",
                note=note,
                command=COMMAND,
            )
        )
    note = f"last step {last_step(sizes, ours):.2f}"
    fitted = slope(sizes, theirs) if theirs else None
    if theirs:
        note += f"; CRFsuite's last step {last_step(sizes, theirs):.2f}"
    table.add(
        Row("slope over labels", slope(sizes, ours), at_most=1.0, peer=fitted, peer_name="CRFsuite", note=note, command=COMMAND)
    )
    table.finish()


if __name__ == "__main__":
    main()
