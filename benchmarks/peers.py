"""A wrapper of python-crfsuite: the same files, the features below, training and tagging timed without reading.

As a separate process (to measure its memory too):
`python -m benchmarks.peers data/ned.train MODEL --features simple --algorithm ap --passes 10`
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.corpora import Sentence, load
from corate.spans import are_spans, spans

Attributes = list[list[str]]  # one list of attributes per token
SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")


def spelling(word: str) -> list[str]:
    """The paper's spelling features."""
    found = [f"-{suffix}" for suffix in SUFFIXES if word.endswith(suffix)]
    if word[:1].isdigit():
        found.append("number")
    if word[:1].isupper():
        found.append("upper")
    if "-" in word:
        found.append("hyphen")
    return found


def simple(sentence: Sentence) -> Attributes:
    """Word and spelling; CRFsuite adds the label pairs."""
    return [[f"w={row[0]}", *spelling(row[0])] for row in sentence]


def shape(word: str) -> str:
    """X for upper-case letters, x for lower-case letters, d for digits; runs are shortened to one character."""
    kinds = ["X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word]
    return "".join(kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind)


def window(values: Sequence[str], name: str, offsets: Iterable[int], i: int) -> list[str]:
    """The values around position i."""
    return [f"{name}[{o}]={values[i + o]}" if 0 <= i + o < len(values) else f"{name}[{o}]" for o in offsets]


def joint(values: Sequence[str], name: str, offsets: Sequence[int], i: int) -> str:
    """Several values around position i as one attribute."""
    inside = [values[i + o] if 0 <= i + o < len(values) else "" for o in offsets]
    return f"{name}{list(offsets)}=" + "|".join(inside)


def rich(sentence: Sentence) -> Attributes:
    """A window of two words, affixes of up to 4 characters, shape, word pairs, spelling."""
    words = [row[0] for row in sentence]
    shapes = [shape(word) for word in words]
    found = []
    for i, word in enumerate(words):
        affixes = [f"{side}={part}" for n in (1, 2, 3, 4) for side, part in (("p", word[:n]), ("s", word[-n:]))]
        pairs = [joint(words, "w", pair, i) for pair in ((-1, 0), (0, 1))]
        around = window(words, "w", range(-2, 3), i) + window(shapes, "shape", range(-1, 2), i)
        found.append([*around, *affixes, *pairs, f"lower={word.lower()}", *spelling(word)])
    return found


def chunking(sentence: Sentence) -> Attributes:
    """The usual chunking window: words and parts of speech to distance 2, their pairs, triples of parts of speech."""
    words, tags = [row[0] for row in sentence], [row[1] for row in sentence]
    word_pairs, tag_pairs = ((-1, 0), (0, 1)), ((-2, -1), (-1, 0), (0, 1), (1, 2))
    triples = ((-2, -1, 0), (-1, 0, 1), (0, 1, 2))
    return [
        [
            *window(words, "w", range(-2, 3), i),
            *window(tags, "t", range(-2, 3), i),
            *(joint(words, "w", pair, i) for pair in word_pairs),
            *(joint(tags, "t", places, i) for places in (*tag_pairs, *triples)),
        ]
        for i in range(len(sentence))
    ]


def long_shape(word: str) -> str:
    """X for upper-case letters, x for lower-case letters, a for other letters, d for digits; not shortened."""
    return "".join(
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else "a" if c.isalpha() else c for c in word
    )


def short_shape(word: str) -> str:
    """`long_shape` with runs shortened to one character."""
    return "".join(kind for kind, _ in groupby(long_shape(word)))


def ner(sentence: Sentence) -> Attributes:
    """The features of Corate's preset `ner`, written as users of python-crfsuite write them."""
    words = ["<2", "<1", *(row[0] for row in sentence), ">1", ">2"]
    tags = ["<2", "<1", *(row[1] for row in sentence), ">1", ">2"]
    shapes = [short_shape(word) for word in words]
    found = []
    for i in range(2, len(words) - 2):
        word = words[i]
        features = [
            "bias",
            f"w-2={words[i - 2]}",
            f"w-1={words[i - 1]}",
            f"w={word}",
            f"w+1={words[i + 1]}",
            f"w+2={words[i + 2]}",
            f"w-1w={words[i - 1]}|{word}",
            f"ww+1={word}|{words[i + 1]}",
            f"lower={word.lower()}",
            f"shape={long_shape(word)}",
            f"short-1={shapes[i - 1]}",
            f"short={shapes[i]}",
            f"short+1={shapes[i + 1]}",
            f"t-2={tags[i - 2]}",
            f"t-1={tags[i - 1]}",
            f"t={tags[i]}",
            f"t+1={tags[i + 1]}",
            f"t+2={tags[i + 2]}",
            f"t-1t={tags[i - 1]}|{tags[i]}",
            f"tt+1={tags[i]}|{tags[i + 1]}",
        ]
        for n in range(1, min(4, len(word)) + 1):
            features += [f"p{n}={word[:n]}", f"s{n}={word[-n:]}"]
        if word[0].isupper():
            features.append("upper")
        if word.isupper():
            features.append("all upper")
        if any(c.isdigit() for c in word):
            features.append("digit")
        if "-" in word:
            features.append("hyphen")
        found.append(features)
    return found


FEATURES: dict[str, Callable[[Sentence], Attributes]] = {
    "simple": simple,
    "rich": rich,
    "chunking": chunking,
    "ner": ner,
}


@dataclass(frozen=True)
class Training:
    """Seconds of each part; `seconds` is CRFsuite's training alone, from ready features to the model on disk."""

    sentences: int
    tokens: int
    passes: int
    read_seconds: float
    feature_seconds: float
    seconds: float
    pass_seconds: list[float]

    def estimated(self, passes: int) -> float:
        """Estimated training seconds: the mean pass times `passes`, plus the time outside passes."""
        done = sum(self.pass_seconds)
        return self.seconds - done + passes * done / len(self.pass_seconds)


def train(data: Path, model: Path, features: str, algorithm: str, passes: int | None) -> Training:
    """Train on a column file; with `passes` None, CRFsuite's own limit applies."""
    import pycrfsuite

    begin = time.perf_counter()
    sentences = load(data)
    read = time.perf_counter()
    attributes = [pycrfsuite.ItemSequence(FEATURES[features](sentence)) for sentence in sentences]
    ready = time.perf_counter()
    labels = [[row[-1] for row in sentence] for sentence in sentences]
    times = fit(attributes, labels, model, algorithm, passes)
    done = time.perf_counter()
    tokens = sum(map(len, sentences))
    return Training(len(sentences), tokens, len(times), read - begin, ready - read, done - ready, times)


def fit(
    attributes: Sequence[object],
    labels: Sequence[Sequence[str]],
    model: Path,
    algorithm: str,
    passes: int | None,
) -> list[float]:
    """Train on ready-made item sequences; returns the seconds of each pass."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    for items, given in zip(attributes, labels, strict=True):
        trainer.append(items, given)
    if passes is not None:
        trainer.set("max_iterations", passes)
    trainer.train(str(model))
    return [float(one["time"]) for one in trainer.logparser.iterations]


@dataclass(frozen=True)
class Rates:
    """Tokens per second: with features built in Python, from ready-made lists, and from CRFsuite's item sequences."""

    built: float
    lists: float
    sequences: float


class Tagger:
    """A CRFsuite model with the features it was trained on."""

    def __init__(self, model: Path, features: str) -> None:
        import pycrfsuite

        self.sequence = pycrfsuite.ItemSequence
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open(str(model))
        self.features = FEATURES[features]

    def tag(self, sentence: Sentence) -> list[str]:
        """Build the features of a sentence, and tag it."""
        labels: list[str] = self.tagger.tag(self.features(sentence))
        return labels

    def tokens_per_second(self, sentences: Sequence[Sentence]) -> Rates:
        """The speed in all three ways."""
        tokens = sum(map(len, sentences))
        begin = time.perf_counter()
        lists = [self.features(sentence) for sentence in sentences]
        built = time.perf_counter()
        for attributes in lists:
            self.tagger.tag(attributes)
        tagged = time.perf_counter()
        sequences = [self.sequence(attributes) for attributes in lists]
        ready = time.perf_counter()
        for items in sequences:
            self.tagger.tag(items)
        done = time.perf_counter()
        return Rates(tokens / (tagged - begin), tokens / (tagged - built), tokens / (done - ready))


@dataclass(frozen=True)
class Scores:
    """Fractions; f1 is None if no label is part of a span."""

    accuracy: float
    accuracy_known: float
    accuracy_oov: float
    f1: float | None


def score(gold: Sequence[Sentence], predicted: Sequence[Sequence[str]], known: set[str]) -> Scores:
    """Token accuracy for all, known and unknown words, and F1 of spans."""
    right, total = {True: 0, False: 0}, {True: 0, False: 0}
    counts = [0, 0, 0]  # spans in gold, predicted, both
    for sentence, labels in zip(gold, predicted, strict=True):
        for row, label in zip(sentence, labels, strict=True):
            total[row[0] in known] += 1
            right[row[0] in known] += row[-1] == label
        wanted, got = set(spans([row[-1] for row in sentence])), set(spans(labels))
        counts = [n + len(s) for n, s in zip(counts, (wanted, got, wanted & got), strict=True)]
    schemed = are_spans({row[-1] for sentence in gold for row in sentence})
    return Scores(
        accuracy=sum(right.values()) / sum(total.values()),
        accuracy_known=right[True] / max(total[True], 1),
        accuracy_oov=right[False] / max(total[False], 1),
        f1=2 * counts[2] / max(counts[0] + counts[1], 1) if schemed else None,
    )


def evaluate(model: Path, features: str, train_file: Path, test_file: Path) -> Scores:
    """Scores of a CRFsuite model on a test file."""
    tagger, gold = Tagger(model, features), load(test_file)
    known = {row[0] for sentence in load(train_file) for row in sentence}
    return score(gold, [tagger.tag(sentence) for sentence in gold], known)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and print the times as JSON, with scores if a test file is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Train python-crfsuite.")
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--features", choices=FEATURES, default="simple")
    parser.add_argument("--algorithm", default="ap")
    parser.add_argument("--passes", type=int, default=None, help="the most passes (default: CRFsuite's own limit)")
    parser.add_argument("--test", type=Path, default=None)
    given = parser.parse_args(arguments)
    done = train(given.data, given.model, given.features, given.algorithm, given.passes)
    report = asdict(done) | {"estimated_10_passes": done.estimated(10)}
    if given.test:
        report |= asdict(evaluate(given.model, given.features, given.data, given.test))
    print(json.dumps(report))


if __name__ == "__main__":
    main()
