"""How accurate and how large are models of the addresses of `corate demo`? `python -m benchmarks.demo_models`

The rows are: each method by default, smaller models, and models that are trained in batches. All values are the same
in every run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import corate
from benchmarks.tables import Row, Table, parser
from corate.demo import write_files
from corate.sklearn import SequenceTagger
from corate.training.methods import METHODS

COMMAND = "python -m benchmarks.demo_models"
#: Methods of smaller models, and below which size weights are dropped.
SHRUNK = (
    ("polish", 0.0),
    ("polish", 0.3),
    ("separate", 0.3),
    ("standard", 0.01),
    ("standard", 0.05),
    ("empirical", 0.0),
)
#: Methods that are trained in batches, with their options.
IN_BATCHES = (("empirical", {}), ("perceptron", {}), ("polish", {}), ("standard", {"optimizer": "adagrad"}))
#: Sentences of a batch, of all batches, and for testing.
BATCH, ALL, TESTED = 100, 600, 300


def size(tagger: corate.Tagger, half: bool = False) -> str:
    """The size of the model file, in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.corate")
        tagger.save(path, half=half)
        return f"{path.stat().st_size / 1e6:.1f} MB"


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return "" if share is None else f"{100 * share:.2f} %"


def method_row(method: str, tagger: corate.Tagger, test: corate.Corpus) -> Row:
    """The scores of a method and the size of its model."""
    found = corate.evaluate(tagger, test)
    parts = {"known words": found.accuracy_known, "OOV words": found.accuracy_oov, "F1": found.f1}
    note = ", ".join(f"{name} {percent(share)}" for name, share in parts.items())
    note = f"{note}; model {size(tagger)}"
    return Row(f"`{method}`, accuracy", 100 * found.accuracy, "%", note=note, command=COMMAND)


def smaller_row(name: str, before: corate.Tagger, after: corate.Tagger, test: corate.Corpus) -> Row:
    """The accuracy of a smaller model, stored in 16 bits, and both sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.corate")
        after.save(path, half=True)
        accuracy = 100 * corate.evaluate(corate.load(path), test).accuracy
    note = f"{size(after, half=True)}; before {size(before)}, {percent(corate.evaluate(before, test).accuracy)}"
    return Row(f"{name}, accuracy", accuracy, "%", note=note, command=COMMAND)


def batch_row(method: str, options: dict[str, Any], train: corate.Corpus, test: corate.Corpus) -> Row:
    """The accuracy after batches of sentences, after the first batch, and after all sentences at once."""
    given = ([train.tokens(i) for i in range(ALL)], [train.labels_of(i) for i in range(ALL)])
    new = ([test.tokens(i) for i in range(TESTED)], [test.labels_of(i) for i in range(TESTED)])
    tagger, scores = SequenceTagger(method, **options), []
    for start in range(0, ALL, BATCH):
        tagger = tagger.partial_fit(*(part[start : start + BATCH] for part in given))
        scores.append(100 * tagger.score(*new))
    once = 100 * SequenceTagger(method, **options).fit(*given).score(*new)
    name = ", ".join(f"`{word}`" for word in (method, *options.values()))
    note = f"{BATCH} sentences {scores[0]:.1f} %; {ALL} at once {once:.1f} %"
    name = f"{name}, {ALL} sentences in batches of {BATCH}, accuracy"
    return Row(name, scores[-1], "%", digits=1, note=note, command=COMMAND)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, shrink, evaluate."""
    parser("demo_models", "Accuracy and size of models of the demonstration.").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        train, test = (corate.read(Path(folder, name)) for name in ("train.tsv", "test.tsv"))
    table = Table("demo_models", "How accurate and how large are models of the addresses of `corate demo`?")
    taggers = {method: corate.train(train, method) for method in METHODS}
    for method, tagger in taggers.items():
        table.add(method_row(method, tagger, test))
    for method, least in SHRUNK:
        name = f"`{method}`, `--half --no-counts" + (f" --drop-below {least:g}`" if least else "`")
        smaller = taggers[method].shrunk(drop_below=least, counts=False)
        table.add(smaller_row(name, taggers[method], smaller, test))
    trained = corate.train(train, cutoff=2)
    table.add(smaller_row("`polish`, trained with `--cutoff 2 --half`", taggers["polish"], trained, test))
    for method, options in IN_BATCHES:
        table.add(batch_row(method, options, train, test))
    table.finish()


if __name__ == "__main__":
    main()
