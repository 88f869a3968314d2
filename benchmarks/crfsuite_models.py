"""Do Corate and CRFsuite give the same answers from the same model file, and train models that are as good?

`python -m benchmarks.crfsuite_models`

Files: the models that usaddress and probablepeople ship, and one of each algorithm of python-crfsuite. Both tag made-up
addresses or names; Corate also writes each model, and python-crfsuite tags with that file. What is not installed is
skipped: `pip install usaddress probablepeople`.

Training: the tutorial features of sklearn-crfsuite, and two numbers, on the first sentences of conll2000's training
file; the sentences after them are held out. CRFsuite has no seed, so it takes the sentences in another order.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite

from benchmarks import corpora
from benchmarks.compat import missing, same, span_f1
from benchmarks.compat_side import Labels, chunks, lines, names
from benchmarks.tables import Row, Table, data_folder, parser
from benchmarks.us_addresses import addresses, columns

COMMAND = "python -m benchmarks.crfsuite_models"
#: python-crfsuite's algorithms, with parameters for quick training.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "lbfgs": {"c1": 0.1, "c2": 0.1, "max_iterations": 60},
    "l2sgd": {"max_iterations": 30},
    "ap": {"max_iterations": 30},
    "pa": {"max_iterations": 30},
    "arow": {"max_iterations": 30},
}
TRAINED, HELD_OUT = 1500, 400


def fitted(path: Path, x: Sequence[Any], y: Labels, algorithm: str, **params: Any) -> tuple[pycrfsuite.Tagger, float]:
    """A model trained by python-crfsuite, and its last loss."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=params, verbose=False)
    for sentence, labels in zip(x, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sentence), labels)
    trainer.train(str(path))
    last = trainer.logparser.last_iteration or {}
    return opened(path), last.get("loss", float("nan"))


def opened(path: Path) -> pycrfsuite.Tagger:
    """A model file, opened by python-crfsuite."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


# -- files ------------------------------------------------------------------------------------------------------------


def shipped(n: int) -> Iterator[tuple[str, Path, list[Any]]]:
    """Name, path and sequences of features of the models in other packages."""
    if not missing("usaddress"):
        import usaddress

        features = [usaddress.tokens2features(tokens) for tokens in map(usaddress.tokenize, lines(n)) if tokens]
        yield "usaddress's model", Path(usaddress.MODEL_PATH), features
    if not missing("probablepeople"):
        import probablepeople

        found = [tokens for tokens in map(probablepeople.tokenize, names(2 * n)) if tokens][:n]
        features = [probablepeople.tokens2features(tokens) for tokens in found]
        for kind in ("generic", "person", "company"):
            path = Path(probablepeople.__file__).parent / f"{kind}_learned_settings.crfsuite"
            yield f"probablepeople's model, {kind}", path, features


def trained(folder: Path, n: int) -> Iterator[tuple[str, Path, list[Any]]]:
    """The same of models of each algorithm."""
    (x, y), (features, _) = columns(addresses(TRAINED)), columns(addresses(n, seed=1))
    for algorithm, params in ALGORITHMS.items():
        path = folder / f"{algorithm}.crfsuite"
        fitted(path, x, y, algorithm, **params)
        yield f"a model of `{algorithm}`", path, features


def file_rows(table: Table, name: str, path: Path, features: list[Any], folder: Path) -> float:
    """Add a row; returns the largest difference of marginals."""
    import corate

    tagger, theirs = corate.load(path), opened(path)
    tagger.save(folder / "back.crfsuite")
    back = opened(folder / "back.crfsuite")
    ours = tagger.tag_all(features)
    _, probabilities = tagger.lattice(features).marginals()
    rows = iter(probabilities.reshape(-1, len(tagger.labels)))
    equal = equal_back = 0
    worst = 0.0
    for sentence, labels in zip(features, ours, strict=True):
        items = pycrfsuite.ItemSequence(sentence)
        theirs.set(items)
        best = theirs.tag()
        equal += best == labels
        equal_back += best == back.tag(items)
        for position in range(len(sentence)):
            expected = [theirs.marginal(label, position) for label in tagger.labels]
            worst = max(worst, float(np.abs(next(rows) - expected).max()))
    note = f"marginals within {worst:.1e}; {equal_back / len(features):.2%} with the file that Corate writes"
    share = 100 * min(equal, equal_back) / len(features)
    unit = f"% of {len(features):,} sequences"
    table.add(Row(f"{name}, same labels", share, unit, at_least=100.0, note=note, command=COMMAND))
    return worst


# -- training ---------------------------------------------------------------------------------------------------------


def with_numbers(sentences: Sequence[Any]) -> list[Any]:
    """Features with a length and a negative number in place of the word."""
    found = []
    for sentence in sentences:
        tokens = [dict(token) for token in sentence]
        for token in tokens:
            token["length"], token["negative"] = len(token.pop("word.lower()")) / 5, -0.5 * len(token["postag"])
        found.append(tokens)
    return found


def training_rows(table: Table, data: Path, seeds: int) -> None:
    """Algorithms of both on the same sentences."""
    features, labels = chunks(str(corpora.ROOT / data / "conll2000.train"), TRAINED + HELD_OUT)
    for what, made in (("words", features), ("numbers", with_numbers(features))):
        for algorithm in ("lbfgs", "l2sgd", "ap", "pa"):
            params = {"c1": 0.1, "c2": 0.1} if algorithm == "lbfgs" else {}
            training_row(table, f"conll2000, {what}", made, labels, algorithm, params, 1 if params else seeds)


def training_row(
    table: Table, what: str, x: list[Any], y: Labels, algorithm: str, params: dict[str, float], seeds: int
) -> None:
    """L-BFGS has the same objective and labels; the others, which shuffle, the same F1 in the mean."""
    import corate.compat.pycrfsuite as ours

    scores: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "model.crfsuite")
        for seed in range(seeds):
            order = random.Random(seed).sample(range(TRAINED), TRAINED)
            a, b = [x[i] for i in order], [y[i] for i in order]
            other, loss = fitted(path, a, b, algorithm, **params)
            trainer = ours.Trainer(algorithm=algorithm, params=params, verbose=False)
            for sentence, labels in zip(a, b, strict=True):
                trainer.append(sentence, labels)
            trainer.train(path.with_suffix(".ours"))
            predicted = [[t.tag(s) for s in x[TRAINED:]] for t in (other, opened(path.with_suffix(".ours")))]
            for found, made in zip(scores, predicted, strict=True):
                found.append(span_f1(y[TRAINED:], made))
    note = f"F1 {statistics.mean(scores[1]):.2f}, CRFsuite {statistics.mean(scores[0]):.2f}; {seeds} seeds"
    if algorithm == "lbfgs":
        assert trainer.logparser is not None
        difference = abs(trainer.logparser.last_iteration["loss"] / loss - 1)
        measure = f"{what}, `lbfgs` with c1 and c2, difference of the objectives"
        table.add(Row(measure, difference, at_most=1e-4, digits=7, note=note, command=COMMAND))
        table.add(Row(f"{what}, `lbfgs`, same labels", same(*predicted), "%", at_least=99.9, note=note))
        return
    difference = abs(statistics.mean(scores[1]) - statistics.mean(scores[0]))
    table.add(Row(f"{what}, `{algorithm}`, difference of F1", difference, at_most=0.3, note=note, command=COMMAND))


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare files, then training."""
    options = parser("crfsuite_models", "Model files and training algorithms of CRFsuite.")
    options.add_argument("--sequences", type=int, default=20_000, help="how many sequences to tag (default: 20,000)")
    options.add_argument("--seeds", type=int, default=5, help="seeds of algorithms that shuffle (default: 5)")
    given = options.parse_args(arguments)
    data = data_folder(given.data)
    table = Table("crfsuite_models", "Does Corate read, write and train models as CRFsuite does?")
    with tempfile.TemporaryDirectory() as name:
        folder, worst = Path(name), 0.0
        for found in (shipped(given.sequences), trained(folder, given.sequences)):
            for model, path, features in found:
                worst = max(worst, file_rows(table, model, path, features, folder))
    measure = "largest difference of a marginal probability"
    table.add(Row(measure, worst, at_most=1e-5, digits=7, note="all models above", command=COMMAND))
    training_rows(table, data, given.seeds)
    table.finish()


if __name__ == "__main__":
    main()
