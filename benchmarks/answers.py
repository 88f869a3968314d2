"""What do exact answers cost beyond the best labels? And what do constraints do?

`python -m benchmarks.answers`

Ten best labellings and the best one alone, of a Brown model of the default method. Constrained (`scheme="auto"`) and
plain tagging of ned, from words to labels, with F1 and the number of sentences whose labels are invalid. Marginals of
all labels at all tokens of ned: Corate and python-crfsuite with the same model file and the same features. One thread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks import corpora, peers
from benchmarks.compat import span_f1
from benchmarks.tables import Row, Table, data_folder, parser

COMMAND = "python -m benchmarks.answers"


def seconds(*calls: Callable[[], object], rounds: int) -> list[float]:
    """The median time of each call; the calls take turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, found in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            found.append(time.perf_counter() - begin)
    return [statistics.median(found) for found in times]


def n_best_rows(table: Table, data: Path, rounds: int) -> None:
    """Ten labellings against one, with and without probabilities."""
    import corate

    columns = corpora.COLUMNS["brown"]
    tagger = corate.train(corate.read(data / "brown-32k-1000.train", columns=columns))
    test = corate.read(data / "brown-32k-1000.test", columns=columns)
    sentences = [test.tokens(s) for s in range(len(test))]
    lattice = tagger.lattice(sentences)
    note = f"{test.n_tokens} tokens, {len(lattice.labels) / test.n_tokens:.1f} candidates each"
    one, ten = seconds(lambda: tagger.tag_all(sentences), lambda: tagger.lattice(sentences).nbest(10), rounds=rounds)
    measure = "brown 32k, 10 best labellings with probabilities / the best, from words to labels"
    table.add(Row(measure, ten / one, "x", at_most=1.5, note=note, command=COMMAND))
    best, ten = seconds(lattice.best, lambda: lattice._paths.n_best(10, tagger.labels), rounds=rounds)
    table.add(Row("the same, lattices at hand", ten / best, "x", note=note))
    few = sentences[:200]
    one, ten = seconds(
        lambda: [tagger.tag(own) for own in few], lambda: [tagger.nbest(own, 10) for own in few], rounds=rounds
    )
    table.add(Row("the same, one sentence a call", ten / one, "x", note=f"{1e6 * ten / len(few):.0f} us a sentence"))


def constraint_rows(table: Table, data: Path, method: str, rounds: int) -> None:
    """Valid labellings only, against any."""
    import corate
    from corate.spans import convert, detect

    columns = corpora.COLUMNS["ned"]
    tagger = corate.train(corate.read(data / "ned.train", columns=columns), method)
    test = corate.read(data / "ned.testb", columns=columns)
    gold = [test.labels_of(s) for s in range(len(test))]
    scheme = detect(gold) or "IOB2"
    limits = corate.Constraints(scheme="auto")
    plain, limited = seconds(
        lambda: tagger.tag_all(test), lambda: tagger.lattice(test, constraints=limits).tag(), rounds=rounds
    )
    row = Row(
        f"ned, `{method}`, constrained / plain tagging",
        limited / plain,
        "x",
        at_most=1.3 if method == "polish" else None,
        note="words to labels",
        command=COMMAND,
    )
    table.add(row)
    for name, labels in (
        ("plain", tagger.tag_all(test)),
        ("constrained", tagger.lattice(test, constraints=limits).tag()),
    ):
        invalid = sum(convert(own, scheme) != own for own in labels)
        note = f"{invalid} of {len(labels)} sequences are invalid"
        table.add(Row(f"ned testb, `{method}`, {name}, F1", span_f1(gold, labels), "%", note=note))


def marginal_rows(table: Table, data: Path, rounds: int) -> None:
    """All marginals from one model file."""
    import pycrfsuite

    import corate

    model = data / "models" / "ned.crfsuite"
    if not model.is_file():
        peers.train(data / "ned.train", model, "simple", "ap", 10)
    features = [peers.FEATURES["simple"](sentence) for sentence in corpora.load(data / "ned.testb")]
    ours, theirs = corate.load(model), pycrfsuite.Tagger()
    theirs.open(str(model))
    labels = ours.labels

    def all_of_theirs() -> list[list[float]]:
        found = []
        for sentence in features:
            theirs.set(sentence)
            found += [[theirs.marginal(label, t) for label in labels] for t in range(len(sentence))]
        return found

    def all_of_ours() -> np.ndarray:
        return ours.lattice(features).label_marginals()

    mine, other = seconds(all_of_ours, all_of_theirs, rounds=rounds)
    worst = float(np.abs(all_of_ours() - np.array(all_of_theirs())).max())
    note = f"{sum(map(len, features))} tokens, {len(labels)} labels; largest difference {worst:.1e}"
    row = Row(
        "ned, marginals of all labels", mine, "s", peer=other, peer_name="python-crfsuite", note=note, command=COMMAND
    )
    table.add(row)


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer the three questions."""
    options = parser("answers", "What answers beyond the best labels cost.")
    options.add_argument("--rounds", type=int, default=5, help="how often to measure each (default: 5)")
    given = options.parse_args(arguments)
    data = corpora.ROOT / data_folder(given.data)
    table = Table("answers", "What do exact answers cost beyond the best labels?")
    n_best_rows(table, data, given.rounds)
    for method in ("polish", "empirical"):
        constraint_rows(table, data, method, given.rounds)
    marginal_rows(table, data, given.rounds)
    table.finish()


if __name__ == "__main__":
    main()
