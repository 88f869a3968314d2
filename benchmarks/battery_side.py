"""One training of the battery as a process of its own: CRFsuite, or Corate where features are made in Python.

`python -m benchmarks.battery_side crfsuite TRAIN TEST MODEL --features rich --algorithm ap --passes 10`
`python -m benchmarks.battery_side corate TRAIN MODEL --seed 0`

CRFsuite trains, and then tags the test file. It reports the seconds of everything that is not from file to model.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from benchmarks import corpora, peers
from benchmarks.battery_sets import Files, address_features, read_items

#: Tagging is repeated for at least this long.
TAGGING_SECONDS = 0.5


def words_of(sentence: corpora.Sentence) -> list[str]:
    """The words of a sentence."""
    return [row[0] for row in sentence]


class MadeItems:
    """The item sequences of what a function makes of each sentence. Training and test sentences are treated alike."""

    def __init__(self, features: Callable[[Any], Any]) -> None:
        self.features = features

    def fit(self, sentences: Sequence[Any]) -> list[Any]:
        """The items of the training sentences."""
        return self.transform(sentences)

    def transform(self, sentences: Sequence[Any]) -> list[Any]:
        """The items of other sentences."""
        import pycrfsuite

        return [pycrfsuite.ItemSequence(self.features(sentence)) for sentence in sentences]


def source(features: str) -> tuple[Callable[[Path], Any], Any]:
    """How CRFsuite gets its input: a function that reads a file, and what makes items of what was read."""
    if features == "default":
        import corate
        from benchmarks.preset_items import PresetItems

        return corate.read, PresetItems(None, bias=True)
    if features == "items":
        return read_items, MadeItems(lambda names: names)
    if features == "dicts":
        return corpora.load, MadeItems(lambda sentence: address_features(words_of(sentence)))
    return corpora.load, MadeItems(peers.FEATURES[features])


class Clock:
    """Measures wall and processor seconds from its creation on."""

    NOTHING: ClassVar[dict[str, float]] = {"seconds": 0.0, "cpu": 0.0}

    def __init__(self) -> None:
        self.begin = time.perf_counter(), time.process_time()

    def elapsed(self) -> dict[str, float]:
        """The seconds since then."""
        return {"seconds": time.perf_counter() - self.begin[0], "cpu": time.process_time() - self.begin[1]}


def rate(tag: Callable[[], Any], tokens: int) -> float:
    """Tokens per second of the fastest call, because other work on the machine only makes calls slower."""
    begin = time.perf_counter()
    times: list[float] = []
    while len(times) < 2 or time.perf_counter() - begin < TAGGING_SECONDS:
        start = time.perf_counter()
        tag()
        times.append(time.perf_counter() - start)
    return tokens / min(times)


def crfsuite(files: Files, model: Path, features: str, algorithm: str, passes: int | None) -> dict[str, Any]:
    """Train and tag; the scores, the speed of tagging, the size of the model, and the seconds of parts of it all."""
    import pycrfsuite

    (read_file, maker), given = source(features), files.given(features)
    load = Clock()
    gold = corpora.load(files.train)
    labels = [[row[-1] for row in sentence] for sentence in gold]
    apart = load.elapsed() if read_file is not corpora.load else Clock.NOTHING
    sentences = gold if read_file is corpora.load else read_file(given.train)
    read = time.perf_counter()
    items = maker.fit(sentences)
    ready = time.perf_counter()
    passes_done = len(peers.fit(items, labels, model, algorithm, passes))
    done, after = time.perf_counter(), Clock()
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    known = {row[0] for sentence in gold for row in sentence}
    test, unlabelled = corpora.load(files.test), read_file(given.test)
    predicted = [tagger.tag(one) for one in maker.transform(unlabelled)]

    def tag() -> None:
        for one in maker.transform(unlabelled):
            tagger.tag(one)

    report = {
        **vars(peers.score(test, predicted, known)),
        "seconds_features": ready - read,
        "seconds_training": done - ready,
        "passes": passes_done,
        "tokens_per_second": rate(tag, sum(map(len, test))),
        "bytes": model.stat().st_size,
    }
    tagging = after.elapsed()
    return report | {"not_training": {name: apart[name] + tagging[name] for name in tagging}}


def corate_from_dicts(train: Path, model: Path, seed: int) -> dict[str, Any]:
    """Train the default with features from a Python function."""
    import corate

    sentences = corpora.load(train)
    x = [address_features(words_of(sentence)) for sentence in sentences]
    y = [[row[-1] for row in sentence] for sentence in sentences]
    tagger = corate.train(corate.Corpus.from_features(x, y), seed=seed)
    tagger.save(model)
    return dict(tagger.record)


def corate_scores(files: Files, model: Path, features: str) -> dict[str, Any]:
    """The scores of a model of Corate, its size, and its speed from sentences in memory to labels."""
    import corate

    tagger, test, given = corate.load(model), corpora.load(files.test), files.given(features)
    known = {row[0] for sentence in corpora.load(files.train) for row in sentence}
    if features == "items":
        inputs: list[Any] = read_items(given.test)
    elif features == "dicts" or len(test[0][0]) == 2:
        inputs = [words_of(sentence) for sentence in test]
    else:
        inputs = [[row[:-1] for row in sentence] for sentence in test]

    def tag() -> list[list[str]]:
        return tagger.tag_all([address_features(words) for words in inputs] if features == "dicts" else inputs)

    return {
        **vars(peers.score(test, tag(), known)),
        "tokens_per_second": rate(tag, sum(map(len, test))),
        "bytes": model.stat().st_size,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.battery_side", description="One training.")
    sides = parser.add_subparsers(dest="side", required=True)
    theirs = sides.add_parser("crfsuite")
    for name in ("train", "test", "model"):
        theirs.add_argument(name, type=Path)
    theirs.add_argument("--features", default="rich")
    theirs.add_argument("--algorithm", default="ap")
    theirs.add_argument("--passes", type=int, default=None, help="the most passes (default: CRFsuite's own limit)")
    ours = sides.add_parser("corate")
    for name in ("train", "model"):
        ours.add_argument(name, type=Path)
    ours.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.side == "corate":
        report = corate_from_dicts(given.train, given.model, given.seed)
    else:
        files = Files(given.train, given.test)
        report = crfsuite(files, given.model, given.features, given.algorithm, given.passes)
    print(json.dumps(report, default=str))


if __name__ == "__main__":
    main()
