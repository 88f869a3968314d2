"""What do exact answers cost beyond the best labels? And what do constraints do?

`python -m benchmarks.answers`

Ten best labellings and the best one alone, of a Brown model of the default method. Constrained (`scheme="auto"`) and
plain tagging of ned, from words to labels, with F1 and the number of sentences whose labels are invalid. Marginals of
all labels at all tokens of ned: Corate and python-crfsuite with the same model file and the same features. One thread.
The calibration error of probabilities after `--calibrate`.
"""

from __future__ import annotations

import pickle
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks import corpora, peers
from benchmarks.compat import span_f1
from benchmarks.tables import Row, Table, data_folder, parser
from corate.evaluation.calibration import GROUPS, calibration

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


def crfsuite_marginals(
    data: Path, features: str
) -> tuple[Path, Callable[[Sequence[peers.Attributes]], list[list[float]]]]:
    """A model of python-crfsuite for ned, and the function that gives its marginals of all labels at all tokens."""
    import pycrfsuite

    model = data / "models" / f"ned-{features}.crfsuite"
    if not model.is_file():
        model.parent.mkdir(exist_ok=True)
        peers.train(data / "ned.train", model, features, "ap", 10)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    labels = tagger.labels()

    def marginals(sentences: Sequence[peers.Attributes]) -> list[list[float]]:
        found = []
        for sentence in sentences:
            tagger.set(sentence)
            found += [[tagger.marginal(label, t) for label in labels] for t in range(len(sentence))]
        return found

    return model, marginals


def marginal_rows(table: Table, data: Path, rounds: int) -> None:
    """All marginals: from one model file and the same features, and from words with models of the same features."""
    import corate

    test = corpora.load(data / "ned.testb")
    features = [peers.FEATURES["simple"](sentence) for sentence in test]
    model, theirs = crfsuite_marginals(data, "simple")
    ours = corate.load(model)
    mine, other = seconds(lambda: ours.lattice(features).label_marginals(), lambda: theirs(features), rounds=rounds)
    worst = float(np.abs(ours.lattice(features).label_marginals() - np.array(theirs(features))).max())
    about = f"{sum(map(len, features))} tokens, {len(ours.labels)} labels"
    shared = {"peer_name": "python-crfsuite", "command": COMMAND}
    note = f"{about}; largest difference {worst:.1e}"
    table.add(Row("ned, marginals of all labels, from features", mine, "s", peer=other, note=note, **shared))

    _, theirs = crfsuite_marginals(data, "ner")
    columns = corpora.COLUMNS["ned"]
    tagger = corate.train(corate.read(data / "ned.train", columns=columns), features="ner")
    rows = [[(word, pos) for word, pos, *_ in sentence] for sentence in test]
    mine, other = seconds(
        lambda: tagger.lattice(rows).label_marginals(),
        lambda: theirs([peers.ner(sentence) for sentence in test]),
        rounds=rounds,
    )
    note = f"{about}; its features are built in Python, ours by the preset `ner`"
    table.add(Row("ned, marginals of all labels, from words", mine, "s", peer=other, note=note, **shared))
    stored = pickle.dumps(tagger)
    new = iter([pickle.loads(stored) for _ in range(rounds)])
    (first,) = seconds(lambda: next(new).lattice(rows).label_marginals(), rounds=rounds)
    note = "a tagger keeps what it computed for words; here each tagger is asked once"
    table.add(Row("the same, the first call of a tagger", first, "s", peer=other, note=note, **shared))


def calibration_rows(table: Table, data: Path, seeds: int) -> None:
    """The calibration error on ned.testb after `--calibrate`: the means of some seeds.

    The temperature is fitted on a tenth of the training text, as by default, or on ned.testa.
    """
    import corate

    train, dev, test = (
        corate.read(data / f"ned.{name}", columns=corpora.COLUMNS["ned"]) for name in ("train", "testa", "testb")
    )
    for held_out, where in ((None, "a tenth of ned.train"), (dev, "ned.testa")):
        taggers = [corate.train(train, held_out=held_out, calibrate=True, seed=seed) for seed in range(seeds)]
        errors = [calibration(tagger, test) for tagger in taggers]
        temperatures = ", ".join(f"{tagger.record['temperature']:.2f}" for tagger in taggers)
        for group, most in (("spans", 2.0), ("inside", 1.5), ("tokens", 0.53)):
            each = [100 * found[group].error for found in errors]
            note = f"{min(each):.2f} to {max(each):.2f} in {seeds} seeds; temperatures {temperatures}"
            name = f"ned.testb, calibration error of {GROUPS[group]}, temperature from {where}"
            table.add(Row(name, statistics.mean(each), "%", at_most=most, note=note, command=COMMAND))


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer the three questions."""
    options = parser("answers", "What answers beyond the best labels cost.")
    options.add_argument("--rounds", type=int, default=5, help="how often to measure each (default: 5)")
    options.add_argument("--seeds", type=int, default=3, help="seeds of the calibration (default: 3)")
    given = options.parse_args(arguments)
    data = corpora.ROOT / data_folder(given.data)
    table = Table("answers", "What do exact answers cost beyond the best labels?")
    n_best_rows(table, data, given.rounds)
    for method in ("polish", "empirical"):
        constraint_rows(table, data, method, given.rounds)
    marginal_rows(table, data, given.rounds)
    calibration_rows(table, data, given.seeds)
    table.finish()


if __name__ == "__main__":
    main()
