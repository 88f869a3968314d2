"""How long does one call of `tagger.tag` take on a sentence of ten tokens, from Python?

`python -m benchmarks.python_call`

All test sentences of exactly ten tokens are tagged in turn, so that the processor's caches see real text; the
result is the median over rounds. CRFsuite builds its features in Python and tags the same sentences.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure, peers
from benchmarks.corpora import COLUMNS
from benchmarks.tables import Row, Table, data_folder, joined, parser

LENGTH = 10
CASES = {
    "brown 32k": ("brown", "brown-32k-1000.train", "brown-32k-1000.test"),
    "ned": ("ned", "ned.train", "ned.testb"),
}


def rounds(call: Callable[[Any], object], sentences: Sequence[Any], seconds: float) -> tuple[float, float]:
    """Best and median microseconds per call, over rounds through all sentences for about `seconds`."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        for sentence in sentences:
            call(sentence)
        times.append((time.perf_counter() - begin) / len(sentences) * 1e6)
    return min(times), statistics.median(times)


def peer_call(name: str, data: Path, sentences: Sequence[corpora.Sentence], seconds: float) -> float | None:
    """CRFsuite's median, if a model exists or is quick to train."""
    model = corpora.ROOT / data / "models" / f"{name.replace(' ', '-')}.crfsuite"
    if not model.is_file():
        if name != "ned":
            return None
        peers.train(corpora.ROOT / data / "ned.train", model, "simple", "ap", 10)
    return rounds(peers.Tagger(model, "simple").tag, sentences, seconds)[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, load, call."""
    options = parser("python_call", "Microseconds of a call on ten tokens.")
    options.add_argument("--seconds", type=float, default=3.0, help="measuring time of each model")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("python_call", "How long does `tagger.tag` take on a ten-token sentence, from Python?")
    import corate

    for name, (corpus, train, test) in CASES.items():
        model = data / "models" / f"call-{train}.corate"
        always = ["--method", "empirical", "--columns", COLUMNS[corpus], "--threads", "1", "--json"]
        trained = measure.run(["corate", "train", str(data / train), "-o", str(model), *always])
        tagger = corate.load(corpora.ROOT / model)
        gold = [sentence for sentence in corpora.load(corpora.ROOT / data / test) if len(sentence) == LENGTH]
        words = [[row[0] for row in sentence] for sentence in gold]
        best, median = rounds(tagger.tag, words, given.seconds)
        peer = peer_call(name, data, gold, given.seconds)
        row = Row(
            f"{name}, list of words",
            median,
            "us",
            at_most=40.0,
            peer=peer,
            peer_name="CRFsuite, features built in Python",
            note=f"best {best:.1f}; {len(words)} sentences in turn",
            command=joined([trained.command, "python -m benchmarks.python_call"]),
            digits=1,
        )
        table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
