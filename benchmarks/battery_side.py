"""One training of the battery as a process of its own: CRFsuite, or Corate where features are made in Python.

`python -m benchmarks.battery_side crfsuite TRAIN TEST MODEL --features rich --algorithm ap --passes 10`
`python -m benchmarks.battery_side corate TRAIN MODEL --seed 0`

CRFsuite's seconds are those of reading, of making features and of training. Then it tags the test file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, peers
from benchmarks.battery_sets import Files, address_features, read_items

#: Tagging is repeated for at least this long.
TAGGING_SECONDS = 0.5


def words_of(sentence: corpora.Sentence) -> list[str]:
    """The words of a sentence."""
    return [row[0] for row in sentence]


class Source:
    """How CRFsuite gets its input: reading a file, and making item sequences of what was read."""

    def __init__(self, features: str) -> None:
        import pycrfsuite

        sequence: Callable[[Any], Any] = pycrfsuite.ItemSequence
        self.read: Callable[[Path], Any] = corpora.load
        if features == "default":
            import corate
            from benchmarks.preset_items import PresetItems
            from corate.training.defaults import choose_preset

            def fit(corpus: corate.Corpus) -> list[Any]:
                preset = PresetItems(choose_preset(corpus), bias=True)
                self.items = preset.transform
                return preset.fit(corpus)

            self.read, self.fit = corate.read, fit
            return
        if features == "items":
            self.read = read_items
            self.items: Callable[[Any], list[Any]] = lambda given: [sequence(one) for one in given]
        elif features == "dicts":
            self.items = lambda given: [sequence(address_features(words_of(one))) for one in given]
        else:
            self.items = lambda given: [sequence(peers.FEATURES[features](one)) for one in given]
        self.fit: Callable[[Any], list[Any]] = self.items


def rate(tag: Callable[[], Any], tokens: int) -> float:
    """Tokens per second of the fastest call, because other work on the machine only makes calls slower."""
    begin, times = time.perf_counter(), []
    while len(times) < 2 or time.perf_counter() - begin < TAGGING_SECONDS:
        start = time.perf_counter()
        tag()
        times.append(time.perf_counter() - start)
    return tokens / min(times)


def crfsuite(files: Files, model: Path, features: str, algorithm: str, passes: int | None) -> dict[str, Any]:
    """Train and tag; the seconds of each part, the scores, the speed of tagging and the size of the model."""
    import pycrfsuite

    source, given = Source(features), files.given(features)
    gold = corpora.load(files.train)
    labels = [[row[-1] for row in sentence] for sentence in gold]
    begin, cpu = time.perf_counter(), time.process_time()
    sentences = source.read(given.train)
    read = time.perf_counter()
    items = source.fit(sentences)
    ready = time.perf_counter()
    passes_done = len(peers.fit(items, labels, model, algorithm, passes))
    done, cpu = time.perf_counter(), time.process_time() - cpu
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    known = {row[0] for sentence in gold for row in sentence}
    test, unlabelled = corpora.load(files.test), source.read(given.test)
    predicted = [tagger.tag(one) for one in source.items(unlabelled)]

    def tag() -> None:
        for one in source.items(unlabelled):
            tagger.tag(one)

    return {
        **vars(peers.score(test, predicted, known)),
        "seconds": done - begin,
        "cpu": cpu,
        "seconds_reading": read - begin,
        "seconds_features": ready - read,
        "passes": passes_done,
        "tokens_per_second": rate(tag, sum(map(len, test))),
        "bytes": model.stat().st_size,
    }


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
