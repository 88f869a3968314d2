"""How does Corate do with ready-made features (dicts), as users of python-crfsuite have them?

`python -m benchmarks.ready_made`

Made-up addresses (benchmarks/us_addresses.py): 29 labels, 30 features a token in nested dicts. Three questions: how
fast is one sentence of ten tokens tagged, on one thread and on two; and how good and how quick is training with the
default method. Corate and python-crfsuite take turns, round by round; a ratio is that of the medians. The sentences of
words are those of the same addresses.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pycrfsuite

from benchmarks.tables import Row, Table, parser
from benchmarks.two_threads import two_threads
from benchmarks.us_addresses import addresses, columns

COMMAND = "python -m benchmarks.ready_made"
TRAINING, TEST, LENGTH = 3000, 3000, 10
#: The most iterations of L-BFGS, for both: the default of `standard`.
ITERATIONS = 100

Calls = dict[str, Callable[[], object]]


def in_turn(calls: Calls, seconds: float) -> dict[str, float]:
    """The median seconds of each call; they take turns for about this time."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def each(call: Callable[[Any], object], sentences: Sequence[Any]) -> Callable[[], None]:
    """A function that calls `call` for each sentence."""

    def all_of_them() -> None:
        for sentence in sentences:
            call(sentence)

    return all_of_them


def crfsuite_model(x: list[Any], y: list[list[str]], path: Path) -> None:
    """Train with L-BFGS on the objective of `standard`."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.5, "max_iterations": ITERATIONS, "feature.possible_transitions": True})
    for sentence, labels in zip(x, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(str(path))


def training(table: Table, x: list[Any], y: list[list[str]], test: list[Any], gold: list[list[str]], path: Path) -> Any:
    """Rows of training; returns the tagger of `standard`."""
    import corate

    def accuracy(labels: list[list[str]]) -> float:
        pairs = [(a, b) for s, t in zip(labels, gold, strict=True) for a, b in zip(s, t, strict=True)]
        return 100 * sum(a == b for a, b in pairs) / len(pairs)

    kept: dict[str, Any] = {}

    def train(method: str) -> None:
        kept[method] = corate.train(corate.Corpus.from_features(x, y), method)

    calls: Calls = {
        "polish": lambda: train("polish"),
        "standard": lambda: train("standard"),
        "CRFsuite": lambda: crfsuite_model(x, y, path),
    }
    seconds = in_turn(calls, 0)
    peer = pycrfsuite.Tagger()
    peer.open(str(path))
    found = {name: accuracy(kept[name].tag_all(test)) for name in ("polish", "standard")}
    theirs = accuracy([peer.tag(s) for s in test])
    chosen = ", ".join(f"{name} {kept['polish'].record[name]}" for name in ("base", "lattice", "order"))
    table.add(
        Row(
            "training by default, against `standard`",
            seconds["polish"] / seconds["standard"],
            "times its seconds",
            at_most=2.0,
            note=f"`polish` {seconds['polish']:.2f} s ({chosen}), `standard` {seconds['standard']:.2f} s, "
            f"CRFsuite lbfgs {seconds['CRFsuite']:.2f} s, {ITERATIONS} iterations at most; dicts to model",
            command=COMMAND,
        )
    )
    table.add(
        Row(
            "accuracy by default, less that of `standard`",
            found["polish"] - found["standard"],
            "points",
            at_least=0.0,
            peer=theirs - found["standard"],
            peer_name="CRFsuite lbfgs",
            note=f"`polish` {found['polish']:.2f} %, `standard` {found['standard']:.2f} %, CRFsuite {theirs:.2f} % of "
            f"{sum(map(len, gold)):,} tokens",
            error=100 * 0.5 / sum(map(len, gold)) ** 0.5,
            command=COMMAND,
        )
    )
    return kept["standard"]


def one_thread(table: Table, tagger: Any, peer: Any, sentences: list[Any], seconds: float) -> None:
    """Rows of tagging on one thread."""
    import corate

    ours, theirs = [corate.ItemSequence(s) for s in sentences], [pycrfsuite.ItemSequence(s) for s in sentences]
    tokens = sum(map(len, sentences))
    calls: Calls = {
        "dicts": each(tagger.tag, sentences),
        "dicts, CRFsuite": each(peer.tag, sentences),
        "read once": each(tagger.tag, ours),
        "read once, CRFsuite": each(peer.tag, theirs),
        "many": lambda: tagger.tag_all(sentences),
    }
    found = {name: 1e6 * t / tokens for name, t in in_turn(calls, seconds).items()}
    same = sum(a == b for s in sentences for a, b in zip(tagger.tag(s), peer.tag(s), strict=True))
    rows = {"dicts": ("`tag(dicts)`", 3.0), "read once": ("`tag(ItemSequence)`", None)}
    for name, (shown, least) in rows.items():
        table.add(
            Row(
                f"{shown}, one sentence of {LENGTH} tokens",
                found[f"{name}, CRFsuite"] / found[name],
                "times CRFsuite's speed",
                at_least=least,
                note=f"{found[name]:.2f} us a token, python-crfsuite {found[f'{name}, CRFsuite']:.2f}; "
                f"{100 * same / tokens:.2f} % of the labels are the same",
                command=COMMAND,
            )
        )
    table.add(
        Row(
            f"`tag_all(dicts)`, {len(sentences)} sentences",
            found["dicts, CRFsuite"] / found["many"],
            "times CRFsuite's speed",
            note=f"{found['many']:.2f} us a token",
            command=COMMAND,
        )
    )


def thread_row(table: Table, name: str, tagger: Any, sentences: list[Any], seconds: float) -> None:
    """A row of two threads that call one tagger."""
    found = two_threads(each(tagger.tag, sentences), seconds)
    table.add(
        Row(
            f"2 threads call `tag` with {name}",
            found.times,
            "times one thread",
            at_least=1.7,
            note=f"one thread: {1e6 * found.seconds / sum(map(len, sentences)):.2f} us a token; {found.note}",
            command=COMMAND,
        )
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, tag."""
    options = parser("ready_made", "Ready-made features: one sentence, two threads, the default.")
    options.add_argument("--seconds", type=float, default=8.0, help="measuring time of each table part")
    given = options.parse_args(arguments)
    table = Table("ready_made", "How fast are ready-made features tagged, and how good is the default with them?")
    import corate

    made, other = addresses(TRAINING), addresses(TEST, seed=1)
    (x, y), (test, gold) = columns(made), columns(other)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "peer.crfsuite")
        tagger = training(table, x, y, test, gold, path)
        peer = pycrfsuite.Tagger()
        peer.open(str(path))
        of_ten = [s for s in test if len(s) == LENGTH]
        one_thread(table, tagger, peer, of_ten, given.seconds)
    thread_row(table, f"dicts, {LENGTH} tokens", tagger, of_ten, given.seconds)
    prepared = [corate.ItemSequence(s) for s in of_ten]
    thread_row(table, f"an ItemSequence, {LENGTH} tokens", tagger, prepared, given.seconds)
    of_words = corate.train(corate.Corpus.from_sentences(made))
    words = [[w for w, _ in a] for a in other if len(a) == LENGTH]
    thread_row(table, f"words, {LENGTH} tokens", of_words, words, given.seconds)
    long = [[w for s in words[i : i + 5] for w in s] for i in range(0, len(words) - 5, 5)]
    thread_row(table, f"words, {5 * LENGTH} tokens", of_words, long, given.seconds)
    table.finish()


if __name__ == "__main__":
    main()
