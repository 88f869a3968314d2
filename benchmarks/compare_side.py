"""What `benchmarks.compare_commits` runs with the Python of each commit. It uses the public interface of Corate.

`python -m benchmarks.compare_side PART FOLDER TRAIN TEST COLUMNS PACKAGES` writes the models (`.corate`) and the
answers (`answers.json`) of a part into a folder. Packages that the commit lacks, such as scikit-learn, come from the
folder PACKAGES; if they are not there either, the part prints why it is skipped.
`python -m benchmarks.compare_side pieces ARGUMENTS` is `corate ARGUMENTS` with small pieces of text.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corate import Tagger

#: The sizes of the pieces in which text is read from disk, counted and trained on, wherever a module has one.
PIECES = {"BLOCK_BYTES": 4_000, "PIECE_TOKENS": 900, "LARGE_TOKENS": 1_000}


def constants() -> Iterator[tuple[Any, str]]:
    """The modules of Corate that have a constant of PIECES, and its name."""
    import corate

    for found in pkgutil.walk_packages(corate.__path__, "corate."):
        if found.name.endswith("__main__"):
            continue
        with contextlib.suppress(ImportError):  # without the packages of an extra
            module = importlib.import_module(found.name)
            yield from ((module, name) for name in PIECES if hasattr(module, name))


def small_pieces(arguments: list[str]) -> None:
    """The command line with small pieces of text."""
    places = list(constants())
    if missing := PIECES.keys() - {name for _, name in places}:
        raise SystemExit(f"no module has {', '.join(missing)}; name what replaced it in PIECES of {__file__}")
    for module, name in places:
        setattr(module, name, PIECES[name])
    sys.argv = ["corate", *arguments]
    importlib.import_module("corate.cli").main()


# --- Parts ----------------------------------------------------------------------------------------------------------


class SkippedError(Exception):
    """A part cannot run here."""


def token_features(rows: list[tuple[str, ...]], i: int) -> dict[str, Any]:
    """Features as users of CRFsuite write them: strings, numbers, nested dicts. The word is the first column."""
    word = rows[i][0]
    before = {"word": rows[i - 1][0].lower()} if i else "start"
    return {"lower": word.lower(), "title": word.istitle(), "length": len(word) / 4, "before": before}


class Text:
    """A labelled text: as a corpus, and as feature dicts with labels."""

    def __init__(self, path: str, columns: str) -> None:
        import corate

        self.corpus = corate.read(path, columns=columns)
        blocks = Path(path).read_text("utf-8").strip().split("\n\n")
        rows = [[tuple(line.split("\t")) for line in block.split("\n")] for block in blocks]
        self.features = [[token_features(sentence, i) for i in range(len(sentence))] for sentence in rows]
        self.labels = [[row[-1] for row in sentence] for sentence in rows]
        self.words = [[row[0] for row in sentence] for sentence in rows]


@dataclass(frozen=True)
class Texts:
    """What to train on, and what to tag."""

    train: Text
    test: Text


def answers(tagger: Tagger, sentences: Any) -> dict[str, Any]:
    """All that a tagger says of sentences."""
    lattice = tagger.lattice(sentences)
    said: dict[str, Any] = {"labels": tagger.tag_all(sentences), "posterior": lattice.tag("posterior")}
    said |= {"marginals": lattice.label_marginals().tolist(), "confidence": lattice.confidence()}
    said |= {"entropy": lattice.entropy(), "nbest": lattice.nbest(3), "samples": lattice.sample(2, seed=1)}
    pairs = lattice.pair_marginals()
    return said | {"pairs": [pairs[i].tolist() for i in range(0, len(pairs), 10)]}


def train(method: str, texts: Texts, **options: Any) -> dict[str, Any]:
    """A tagger and its answers; also when it is smaller, and within constraints."""
    import corate

    tagger = corate.train(texts.train.corpus, method, **options)
    limited = tagger.lattice(texts.test.corpus, constraints=corate.Constraints(first=tagger.labels[0]))
    constrained = {"labels": limited.tag(), "confidence": limited.confidence()}
    found = {"tagger": tagger, "small": tagger.shrunk(drop_below=0.01), "constrained": constrained}
    return found | {"all": answers(tagger, texts.test.corpus), "strongest": repr(tagger.strongest())}


def ready_made(method: str, texts: Texts, **options: Any) -> dict[str, Any]:
    """A tagger of feature dicts."""
    import corate

    tagger = corate.train(corate.Corpus.from_features(texts.train.features, texts.train.labels), method, **options)
    return {"tagger": tagger, "all": answers(tagger, texts.test.features)}


def update(texts: Texts, backoff: str | None = None, **options: Any) -> dict[str, Any]:
    """Counting of more text."""
    import corate

    if backoff is not None:  # earlier commits call the option ladder
        options["backoff" if hasattr(corate.Empirical(), "backoff") else "ladder"] = backoff
    tagger = corate.train(texts.train.corpus, "empirical", **options).update(texts.test.corpus)
    return {"tagger": tagger, "pruned": tagger.shrunk(rare=2), "all": answers(tagger, texts.test.corpus)}


def pycrfsuite(algorithm: str, texts: Texts, folder: Path, **parameters: Any) -> dict[str, Any]:
    """python-crfsuite's interface: the model file, and what its tagger says."""
    import corate
    from corate.compat import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm, parameters, verbose=False)
    trainer.extend(texts.train.features, texts.train.labels)
    path = folder / "model.crfsuite"
    trainer.train(os.fspath(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(os.fspath(path))
    said = []
    for sentence in texts.test.features:
        labels = tagger.tag(sentence)
        marginals = [tagger.marginal(label, i) for i, label in enumerate(labels)]
        said.append([labels, tagger.probability(labels), marginals])
    log = [{k: v for k, v in one.items() if k != "time"} for one in trainer.logparser.iterations]
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    path.rename(path.with_suffix(".model"))
    found = {"tagger": corate.load(path.with_suffix(".model")), "sha256": content, "said": said, "log": log}
    path.with_suffix(".model").unlink()
    return found


def sklearn_crfsuite(algorithm: str, texts: Texts, **parameters: Any) -> dict[str, Any]:
    """sklearn-crfsuite's interface."""
    needs("sklearn")
    from corate.compat.sklearn_crfsuite import CRF

    estimator = CRF(algorithm=algorithm, **parameters).fit(texts.train.features, texts.train.labels)
    asked = texts.test.features
    said = [list(map(list, answer)) for answer in (estimator.predict(asked), estimator.predict_marginals(asked))]
    return {"tagger": estimator.tagger_.model, "all": said}  # answers are arrays, or lists in earlier commits


def sklearn(method: str, texts: Texts, further: bool = True, weighted: bool = False, **options: Any) -> dict[str, Any]:
    """The scikit-learn estimator: fitted, with held-out sentences, and fitted further."""
    needs("sklearn")
    from corate.sklearn import SequenceTagger

    asked, known = texts.test.features, texts.test.labels
    weights = [float(i % 3) for i in range(len(texts.train.labels))] if weighted else None
    estimator = SequenceTagger(method, **options).fit(
        texts.train.features, texts.train.labels, weights, X_dev=asked, y_dev=known
    )
    found = {"fitted": estimator.tagger_, "all": [estimator.predict(asked), estimator.predict_marginals(asked)]}
    found |= {"score": estimator.score(asked, known)}
    if further:
        estimator.partial_fit(asked, known)
        found |= {"further": estimator.tagger_, "then": estimator.predict(asked)}
    return found


def spark(method: str, texts: Texts, folder: Path, **options: Any) -> dict[str, Any]:
    """Training and tagging on Spark, with two workers."""
    needs("pyspark", "pyarrow")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise SkippedError("there is no Java: install Java 17")
    from pyspark.sql import SparkSession

    import corate.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if "packages" in path)  # of the workers
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2"}
    settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.sql.warehouse.dir": os.fspath(folder / "warehouse")}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        rows = list(zip(texts.train.words, texts.train.labels, strict=True))
        frame = session.createDataFrame(rows, "tokens array<string>, labels array<string>").repartition(3, "tokens")
        tagger = corate.spark.train(frame, method, tokens="tokens", labels="labels", **options)
    finally:
        session.stop()
    shutil.rmtree(folder / "warehouse", ignore_errors=True)
    return {"tagger": tagger, "labels": tagger.tag_all(texts.test.words)}


def needs(*packages: str) -> None:
    """Raise SkippedError if a package is missing."""
    for name in packages:
        if importlib.util.find_spec(name) is None:
            raise SkippedError(f"{name} is not installed beside the Python that runs compare_commits")


#: What each part runs. It returns taggers, which are saved, and answers.
PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "empirical": partial(train, "empirical"),
    "empirical word pairs": partial(train, "empirical", pairs="words"),
    "separate": partial(train, "separate", passes=2),
    "polish": partial(train, "polish", passes=2),
    "polish order 1": partial(train, "polish", passes=2, order=1, calibrate=True, constrain="auto"),
    "standard edges": partial(train, "standard", iterations=10, features="word[0], edge: word[0]"),
    "standard order 2": partial(train, "standard", iterations=5, order=2),
    "memm": partial(train, "memm", iterations=10),
    "perceptron": partial(train, "perceptron", passes=2),
    "ready-made empirical": partial(ready_made, "empirical"),
    "ready-made separate": partial(ready_made, "separate", passes=2),
    "ready-made polish": partial(ready_made, "polish", passes=1),
    "ready-made standard": partial(ready_made, "standard", iterations=10),
    "feature function": partial(train, "polish", passes=1, features=token_features),
    "update": update,
    "update pooled": partial(update, backoff="pooled", features="ner"),
    "pycrfsuite lbfgs": partial(pycrfsuite, "lbfgs"),
    "pycrfsuite lbfgs c1": partial(pycrfsuite, "lbfgs", max_iterations=20, c1=0.5),
    "pycrfsuite l2sgd": partial(pycrfsuite, "l2sgd", max_iterations=5),
    "pycrfsuite ap": partial(pycrfsuite, "ap", max_iterations=5),
    "pycrfsuite pa": partial(pycrfsuite, "pa", max_iterations=5),
    "pycrfsuite polish": partial(pycrfsuite, "polish", passes=1),
    "sklearn-crfsuite lbfgs": partial(sklearn_crfsuite, "lbfgs", max_iterations=10),
    "sklearn-crfsuite polish": partial(sklearn_crfsuite, "polish"),
    "scikit-learn empirical": partial(sklearn, "empirical"),
    "scikit-learn separate": partial(sklearn, "separate", further=False, passes=2),
    "scikit-learn polish": partial(sklearn, "polish", passes=1),
    "scikit-learn perceptron": partial(sklearn, "perceptron", passes=2),
    "scikit-learn weights": partial(sklearn, "polish", weighted=True, passes=1),
    "scikit-learn standard": partial(sklearn, "standard", optimizer="adagrad", passes=2),
    "spark empirical": partial(spark, "empirical"),
    "spark standard": partial(spark, "standard", iterations=10),
}


def main(part: str, *arguments: str) -> None:
    """Run one part, and write what it returns."""
    if part == "pieces":
        return small_pieces(list(arguments))
    folder, train, test, columns, packages = arguments
    sys.path.append(packages)
    import corate

    if not Path(corate.__file__).is_relative_to(sys.prefix):
        raise SystemExit(f"{corate.__file__} is not the Corate of {sys.prefix}")
    run, texts = PARTS[part], Texts(Text(train, columns), Text(test, columns))
    function = getattr(run, "func", run)
    try:
        found = run(texts=texts, folder=Path(folder)) if function in (pycrfsuite, spark) else run(texts=texts)
    except SkippedError as skipped:
        print(skipped)
        return None
    said = {}
    for name, value in found.items():
        if isinstance(value, corate.Tagger):
            value.save(Path(folder, f"{name}.corate"))
        else:
            said[name] = value
    Path(folder, "answers.json").write_text(json.dumps(said), "utf-8")
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
