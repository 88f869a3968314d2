"""The data sets of the battery, and their files for training and testing."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import corpora, peers
from benchmarks.corpora import Sentence
from corate.demo.addresses import addresses
from corate_reproduction import corpora as splitting

Pair = tuple[list[Sentence], list[Sentence]]

#: Sentences of the demo: for training, and for testing.
ADDRESSES = (4000, 1000)


@dataclass(frozen=True)
class DataSet:
    """Labelled sentences to train on and to test on, from the folder with the corpora.

    `features` are those that CRFsuite is given. `default` are the features of Corate's default; `rich` and `chunking`
    are in `peers.py`; `items` are read from the file; `dicts` are made by :func:`address_features`. With one of the
    last two, Corate is given the same.
    """

    name: str
    build: Callable[[Path], Pair]
    features: tuple[str, ...] = ("default", "rich")

    @property
    def ready_made(self) -> bool:
        """Whether Corate too is given features instead of words."""
        return self.features[0] in ("items", "dicts")


@dataclass(frozen=True)
class Files:
    """The files of a data set: columns, and for ready-made items the same sentences as items."""

    train: Path
    test: Path

    def given(self, features: str) -> Files:
        """The files that are read for these features."""
        if features != "items":
            return self
        return Files(*(path.with_name(path.name + ".items") for path in (self.train, self.test)))


@functools.lru_cache(maxsize=1)
def _splits(corpus: str, folder: Path) -> corpora.Splits:
    return splitting.build(corpus, [folder])


def _split(corpus: str, train: str, test: str) -> Callable[[Path], Pair]:
    def build(folder: Path) -> Pair:
        splits = _splits(corpus, folder)
        return splits[train], splits[test]

    return build


def _demo(folder: Path) -> Pair:
    lines = addresses(sum(ADDRESSES))
    train, test = (list(islice(lines, n)) for n in ADDRESSES)
    return [[*line] for line in train], [[*line] for line in test]


def _treebank(name: str, label: str) -> Callable[[Path], Pair]:
    return lambda folder: corpora.treebank(folder, name, label)


_CONLL2000 = _split("conll2000", "conll2000.train", "conll2000.test")
#: The quick ones first.
SETS = [
    *(
        DataSet(f"{name} {label}", _treebank(name, label))
        for label in ("upos", "upos+feats")
        for name in ("sv_talbanken", "de_gsd", "en_ewt", "fi_tdt")
    ),
    DataSet("addresses as dicts", _demo, ("dicts",)),
    DataSet("ned", _split("ned", "ned.train", "ned.testb")),
    DataSet("conll2000", _CONLL2000, ("default", "chunking")),
    DataSet("conll2000 as items", _CONLL2000, ("items",)),
    DataSet("masc", corpora.masc),
    *(
        DataSet(f"brown {split}", _split("brown", f"brown-{split}.train", f"brown-{split}.test"))
        for split in ("1000-4000", "4000-1000")
    ),
    DataSet("sblgnt", _split("sblgnt", "sblgnt.train", "sblgnt.test")),
    DataSet("brown 32k-1000", _split("brown", "brown-32k-1000.train", "brown-32k-1000.test")),
    DataSet("brown, all", corpora.all_brown),
]


def chosen_sets(names: list[str]) -> list[DataSet]:
    """The sets of these names. A text that is no name stands for all names that contain it; nothing, for all sets."""
    all_names = [one.name for one in SETS]
    found = set()
    for name in names:
        matching = [name] if name in all_names else [one for one in all_names if name in one]
        if not matching:
            raise SystemExit(f"no data set is named {name!r}; there are {', '.join(all_names)}")
        found.update(matching)
    return [one for one in SETS if not names or one.name in found]


def write_files(data_set: DataSet, part: str, source: Path, target: Path) -> tuple[Files, Pair]:
    """Write the files of a part, `held-out` or `test`; returns their paths and sentences."""
    train, test = data_set.build(source)
    if part == "held-out":
        train, test = corpora.held_out(train)
    start = f"{data_set.name.replace(', ', '-').replace(' ', '-')}.{part}"
    files = Files(target / f"{start}.train", target / f"{start}.test")
    target.mkdir(parents=True, exist_ok=True)
    for sentences, path in ((train, files.train), (test, files.test)):
        corpora.write(sentences, path)
        if "items" in data_set.features:
            path.with_name(path.name + ".items").write_text("".join(map(item_lines, sentences)), "utf-8")
    return files, (train, test)


def item_lines(sentence: Sentence) -> str:
    """A sentence with the usual features of chunking, as CRFsuite's items."""
    lines = [
        "\t".join([row[-1], *(name.replace("\\", "\\\\").replace(":", "\\:") for name in names)]) + "\n"
        for row, names in zip(sentence, peers.chunking(sentence), strict=True)
    ]
    return "".join(lines) + "\n"


def read_items(path: Path) -> list[list[list[str]]]:
    """The names of the attributes of each token in a file of items without numbers."""
    return [
        [[re.sub(r"\\(.)", r"\1", name) for name in row[1:]] for row in sentence] for sentence in corpora.load(path)
    ]


def address_features(words: list[str]) -> list[dict[str, Any]]:
    """The features of each token as users of python-crfsuite write them: texts, numbers and booleans."""
    found = []
    for i, word in enumerate(words):
        token: dict[str, Any] = {
            "bias": 1.0,
            "lower": word.lower(),
            "end": word[-3:],
            "shape": peers.shape(word),
            "length": len(word),
            "place": i / len(words),
            "digits": sum(c.isdigit() for c in word) / len(word),
            "upper": word.isupper(),
            "title": word.istitle(),
            "number": word.isdigit(),
            "first": i == 0,
            "last": i == len(words) - 1,
        }
        for offset in (-1, 1):
            if 0 <= i + offset < len(words):
                other = words[i + offset]
                token |= {
                    f"{offset}:lower": other.lower(),
                    f"{offset}:shape": peers.shape(other),
                    f"{offset}:title": other.istitle(),
                    f"{offset}:length": len(other),
                }
        found.append(token)
    return found
