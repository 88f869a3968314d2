"""How long does each method take to train on the addresses of `corate demo`?

`python -m benchmarks.method_times`

The time is from text in memory to a tagger, on one thread, as in the column "training" of `corate compare`. It is
measured in processor seconds, the best of three.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.tables import Row, Table, parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Train every method three times, in turn."""
    options = parser("method_times", "Seconds of training on the addresses of the demonstration.")
    options.add_argument("--times", type=int, default=3, help="trainings of each method, of which the fastest counts")
    given = options.parse_args(arguments)
    import corate
    from corate.demo import write_files
    from corate.training.methods import METHODS

    table = Table("method_times", "How long does each method take to train on the addresses of `corate demo`?")
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        text = Path(folder, "train.tsv").read_bytes()
    best = dict.fromkeys(METHODS, float("inf"))
    for _ in range(given.times):
        for method in METHODS:
            begin = time.process_time()
            corate.train(corate.read(text, format="columns"), method)
            best[method] = min(best[method], time.process_time() - begin)
    for method, seconds in best.items():
        table.add(Row(f"`{method}`", seconds, "s", command="python -m benchmarks.method_times"))
    table.finish()


if __name__ == "__main__":
    main()
