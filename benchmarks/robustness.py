"""How much does the default depend on luck: on the seed, on odd and wrong labels, on text of few templates?

`python -m benchmarks.robustness [--domains development|final] [--only TEXT] [--seeds 5]`

- Seeds: ten seeds on Dutch entities, mean and standard deviation of F1.
- Templated text (`templated.py`): the default against the best of all methods. In *closed* text, the training sentences
  have only phrases of the lists; the test sentences always have made-up phrases too.
- Odd labels: one token, or five, get a label that nothing else has.
- Wrong labels: a share of the tokens gets another label, at random or by a missing letter. The row is the loss of the
  default against clean text; the note has the losses of `standard` and of CRFsuite `ap` with the same features.

The settings of the default were chosen on the domains of `DEVELOPMENT`.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, peers
from benchmarks.tables import Row, Table, data_folder, parser
from benchmarks.templated import DEVELOPMENT, FINAL, Domain, Sentence, with_odd_labels, with_wrong_labels

METHODS = ("empirical", "separate", "standard", "piecewise", "memm", "perceptron")
SIZES = (50, 240, 1000, 5000)
TEST_SENTENCES, TEST_SEED = 1500, 999
SHARES = (0.01, 0.02, 0.05)
COMMAND = "python -m benchmarks.robustness"


def score(train: Any, test: Any, method: str = "polish", seed: int = 0, **options: Any) -> float:
    """F1 in percent, or accuracy if labels are no spans."""
    import corate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # L-BFGS at its limit of iterations
        found = corate.evaluate(corate.train(train, method, seed=seed, **options), test)
    return 100 * (found.accuracy if found.f1 is None else found.f1)


def corpus(sentences: Sequence[Sequence[Sequence[str]]]) -> Any:
    """Sentences of words and labels as a corpus."""
    import corate

    return corate.Corpus.from_sentences([[(row[0], row[-1]) for row in one] for one in sentences])


def crfsuite(train: Any, test: Any) -> float:
    """The score of CRFsuite's averaged perceptron in ten passes, with the features of Corate's default."""
    import pycrfsuite

    import corate
    from benchmarks.preset_items import PresetItems

    items = PresetItems(None, bias=True)
    labels = [train.labels_of(s) for s in range(len(train))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        peers.fit(items.fit(train), labels, path, "ap", 10)
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        predicted = [tagger.tag(one) for one in items.transform(test)]
    gold = [list(zip(test.tokens(s), test.labels_of(s), strict=True)) for s in range(len(test))]
    found = peers.score(gold, predicted, set())
    schemed = corate.evaluate(corate.train(train, "empirical"), test).f1 is not None
    return 100 * (found.f1 if schemed and found.f1 is not None else found.accuracy)


def error_of(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def add_seeds(table: Table, folder: Path) -> None:
    """Dutch entities: mean and standard deviation of F1 over ten seeds."""
    import corate

    paths = [folder / f"ned.{part}" for part in ("train", "testb")]
    inputs = {
        "words": (80.5, [corpus(corpora.load(path)) for path in paths]),
        "words and parts of speech": (81.6, [corate.read(path) for path in paths]),
    }
    for name, (least, (train, test)) in inputs.items():
        values = [score(train, test, seed=seed) for seed in range(10)]
        note = f"ten seeds, {min(values):.2f} to {max(values):.2f}"
        mean, spread = statistics.mean(values), statistics.stdev(values)
        table.add(Row(f"ned.testb, {name}: mean F1", mean, "%", at_least=least, note=note, command=COMMAND))
        table.add(Row(f"ned.testb, {name}: standard deviation of F1", spread, "points", at_most=0.25, command=COMMAND))


def add_methods(table: Table, name: str, domain: Domain, seeds: int) -> None:
    """Templated text: the default against the best method."""
    test = corpus(domain.sentences(TEST_SENTENCES, TEST_SEED))
    for closed in (False, True):
        for size in SIZES:
            texts = [corpus(domain.sentences(size, seed + 1, closed=closed)) for seed in range(seeds)]
            found = {method: [score(text, test, method) for text in texts] for method in METHODS}
            default = [score(text, test, seed=seed) for seed, text in enumerate(texts)]
            best = max(METHODS, key=lambda method: statistics.mean(found[method]))
            gaps = [mine - other for mine, other in zip(default, found[best], strict=True)]
            note = f"{statistics.mean(default):.2f}; {best} {statistics.mean(found[best]):.2f}"
            table.add(
                Row(
                    f"{name}, {size} sentences{', closed' if closed else ''}: default less the best other method",
                    statistics.mean(gaps),
                    "points",
                    at_least=-0.5,
                    error=2 * error_of(gaps),
                    note=note,
                    command=COMMAND,
                )
            )


def add_odd_labels(table: Table, name: str, domain: Domain, seeds: int) -> None:
    """Templated text in which some tokens have a label of their own."""
    test = corpus(domain.sentences(TEST_SENTENCES, TEST_SEED))
    for closed in (False, True):
        clean = domain.sentences(240, 1, closed=closed)
        usual = statistics.mean(score(corpus(clean), test, seed=seed) for seed in range(seeds))
        for n in (1, 5):
            values = [score(corpus(with_odd_labels(clean, n, seed)), test, seed=seed) for seed in range(seeds)]
            change = statistics.mean(values) - usual
            measure = f"{name}, 240 sentences{', closed' if closed else ''}: change by {n} odd label{'s' * (n > 1)}"
            note = f"{usual:.2f} to {statistics.mean(values):.2f}"
            table.add(Row(measure, change, "points", at_least=-0.7, note=note, command=COMMAND))


def add_wrong_labels(table: Table, name: str, clean: Sequence[Sentence], test: Any, seeds: int) -> None:
    """Text in which a share of the labels is wrong: the loss of the default, of `standard` and of CRFsuite."""
    trainers: dict[str, Callable[[Any], float]] = {
        "default": lambda text: score(text, test),
        "standard": lambda text: score(text, test, "standard"),
        "CRFsuite": lambda text: crfsuite(text, test),
    }
    usual = {method: train(corpus(clean)) for method, train in trainers.items()}
    for typos in (False, True):
        for share in SHARES:
            texts = [corpus(with_wrong_labels(clean, share, seed, typos=typos)) for seed in range(seeds)]
            lost = {method: [usual[method] - train(text) for text in texts] for method, train in trainers.items()}
            means = {method: statistics.mean(values) for method, values in lost.items()}
            other = min(("standard", "CRFsuite"), key=lambda method: means[method])
            gaps = [mine - theirs for mine, theirs in zip(lost["default"], lost[other], strict=True)]
            kind = "typing errors in labels" if typos else "wrong labels"
            note = ", ".join(f"{method} {value:.2f}" for method, value in means.items() if method != "default")
            table.add(
                Row(
                    f"{name}, {share:.0%} {kind}: loss",
                    means["default"],
                    "points",
                    at_most=means[other],
                    error=2 * error_of(gaps),
                    note=note,
                    command=COMMAND,
                )
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all, or the questions whose name contains a text."""
    options = parser("robustness", "How much does the default depend on luck?")
    options.add_argument("--domains", choices=("development", "final"), default="final")
    options.add_argument("--only", default="", help="only these questions: seeds, methods, odd, wrong")
    options.add_argument("--seeds", type=int, default=5)
    given = options.parse_args(arguments)
    domains = DEVELOPMENT if given.domains == "development" else FINAL
    table = Table("robustness", f"The default: seeds, odd and wrong labels, text of few templates ({given.domains})")
    folder = data_folder(given.data)
    if given.only in "seeds":
        add_seeds(table, folder)
    for name, domain in domains.items():
        if given.only in "methods":
            add_methods(table, name, domain, given.seeds)
        if given.only in "odd":
            add_odd_labels(table, name, domain, given.seeds)
        if given.only in "wrong":
            test = corpus(domain.sentences(TEST_SENTENCES, TEST_SEED))
            add_wrong_labels(table, f"{name}, 240 sentences", domain.sentences(240, 1), test, given.seeds)
    if given.only in "wrong":
        for name, file in (("brown, 900 sentences", "brown-1000-4000.train"), ("ned, 4,000 sentences", "ned.train")):
            parts = corpora.held_out(corpora.load(folder / file))
            train, test = ([[(row[0], row[-1]) for row in one] for one in part] for part in parts)
            add_wrong_labels(table, name, train[:4000], corpus(test), min(given.seeds, 3))
    table.finish()


if __name__ == "__main__":
    main()
