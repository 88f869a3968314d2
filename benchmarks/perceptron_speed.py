"""Is the averaged perceptron faster than CRFsuite's, and as accurate?

`python -m benchmarks.perceptron_speed [--passes 10] [--seeds 0,1,2,3,4]`

ned with the features `ner`, ten passes of each library with one thread, in one process: Corate from the corpus in
memory, including feature extraction; CRFsuite (ap) from ready-made item sequences with the same features, numbered by
Corate. The order of sentences is random: Corate's F1 is the mean over seeds; CRFsuite's order cannot be chosen. Corate
trains before and after CRFsuite, and the median time counts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchmarks import corpora, peers
from benchmarks.corpora import COLUMNS
from benchmarks.separate_speed import attributes, crfsuite_f1, timed
from benchmarks.tables import Row, Table, data_folder, parser

TRAIN, TEST, FEATURES = "ned.train", "ned.testb", "ner"
AT_LEAST = 3.0
COMMAND = "python -m benchmarks.perceptron_speed"


def main(arguments: Sequence[str] | None = None) -> None:
    """Half of the seeds, CRFsuite, the other half."""
    import corate

    options = parser("perceptron_speed", "Ten passes of the averaged perceptron.")
    options.add_argument("--passes", type=int, default=10)
    options.add_argument("--seeds", default="0,1,2,3,4", help="comma-separated numbers (default: 0,1,2,3,4)")
    given = options.parse_args(arguments)
    data = corpora.ROOT / data_folder(given.data)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    train, test = (corate.read(data / name, columns=COLUMNS["ned"]) for name in (TRAIN, TEST))
    asked = {"method": "perceptron", "features": FEATURES, "passes": given.passes, "threads": 1}
    half = (len(seeds) + 1) // 2
    ours = [timed(corate.train, train, **asked, seed=seed) for seed in seeds[:half]]
    print("  CRFsuite: ned, ap ...", flush=True)
    items, test_items = attributes(FEATURES, train, test, bias=True)
    labels = [[row[-1] for row in sentence] for sentence in corpora.load(data / TRAIN)]
    model = data / "models" / "ned-perceptron-speed.crfsuite"
    theirs = timed(peers.fit, items, labels, model, "ap", given.passes)
    ours += [timed(corate.train, train, **asked, seed=seed) for seed in seeds[half:]]
    wall, cpu = (statistics.median(getattr(one, key) for one in ours) for key in ("wall", "cpu"))
    table = Table("perceptron_speed", f"Is the perceptron faster, {given.passes} passes, one thread each?")
    table.add(
        Row(
            "ned, ner features: training, CRFsuite ap / perceptron",
            theirs.wall / wall,
            "times",
            at_least=AT_LEAST,
            note=f"Corate {wall:.2f} s (processor {cpu:.2f}); CRFsuite {theirs.wall:.2f} s (processor "
            f"{theirs.cpu:.2f}), {len(theirs.result)} passes; {theirs.cpu / cpu:.1f} times by processor",
            command=COMMAND,
            digits=1,
        )
    )
    scores = [100 * corate.evaluate(one.result, test).f1 for one in ours]
    deviation = statistics.stdev(scores) if len(scores) > 1 else 0.0
    their_f1 = crfsuite_f1(model, test_items, data / TEST)
    table.add(
        Row(
            "ned, ner features: F1 (target: CRFsuite's)",
            statistics.mean(scores),
            "%",
            at_least=their_f1,
            peer=their_f1,
            peer_name="CRFsuite ap",
            note=f"sd {deviation:.2f} of {len(scores)} seeds ({min(scores):.2f} to {max(scores):.2f})",
            command=COMMAND,
            error=deviation / math.sqrt(len(scores)),
        )
    )
    table.finish()


if __name__ == "__main__":
    main()
