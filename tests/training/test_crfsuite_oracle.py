"""The standard method against CRFsuite: with the same features, prior and transitions they reach the same optimum.

CRFsuite has no weights for the start and the end of a sentence, none for label pairs it has not seen, and no bias of
its own; its penalty is c2 times the squared norm, plus c1 times the sum of absolute weights.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest

import corate
from corate.corpus import Corpus
from corate.demo import write_files
from corate.model.tagger import Tagger
from corate.optimize import passes
from corate.optimize.lbfgs import lbfgs
from real_corpora import real_file

Features = list[list[list[str]]]
Labels = list[list[str]]


@cache
def chunks() -> tuple[Corpus, Corpus]:
    data = real_file("conll2000.zip", "conll2000/train.txt")
    corpus = corate.read(data[: data.index(b"\n\n", 300_000) + 2])
    return corpus[:150], corpus[150:450]


def addresses(folder: Path) -> tuple[Corpus, Corpus]:
    write_files(folder)
    return corate.read(folder / "train.tsv")[:250], corate.read(folder / "test.tsv")


def features_of(corpus: Corpus) -> Features:
    """Words and their neighbours, endings, and whatever other columns there are; corate has a bias by itself."""
    found = []
    for sentence in corpus:
        columns = list(zip(*sentence, strict=True))[: len(corpus.columns)]
        made = []
        for i in range(len(sentence)):
            own = [f"suffix={columns[0][i][-3:]}", f"first={columns[0][i][:1]}"]
            for c, column in enumerate(columns):
                padded = ["<", *column, ">"]
                own += [f"{c},{d}={padded[i + 1 + d]}" for d in (-1, 0, 1)]
            made.append(own)
        found.append(made)
    return found


def labels_of(corpus: Corpus) -> Labels:
    return [corpus.labels_of(s) for s in range(len(corpus))]


def by_crfsuite(x: Features, y: Labels, path: Path, **parameters: float) -> tuple[float, pycrfsuite.Tagger]:
    """The loss it reaches, and its tagger."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for features, labels in zip(x, y, strict=True):
        trainer.append([["bias", *token] for token in features], labels)
    trainer.select("lbfgs")
    trainer.set_params({"max_iterations": 1000, "epsilon": 1e-8, "delta": 1e-8, **parameters})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return float(trainer.logparser.last_iteration["loss"]), tagger


def by_corate(x: Features, y: Labels, **settings: float) -> Tagger:
    return corate.train(
        Corpus.from_features(x, y),
        "standard",
        transitions="seen",
        boundaries=False,
        **{"iterations": 1000, "c2": 0.0, **settings},
    )


def objective(tagger: Tagger, x: Features, y: Labels, c1: float = 0.0, c2: float = 0.0) -> float:
    """-sum log P + c1 |w| + c2 |w|^2."""
    m = tagger.model
    weights = np.concatenate([m.weights.scores, m.bias, m.edges.scores]).astype(np.float64)
    loss = -sum(tagger.score(features, labels) for features, labels in zip(x, y, strict=True))
    return loss + c1 * float(np.abs(weights).sum()) + c2 * float(weights @ weights)


def agreement(tagger: Tagger, oracle: pycrfsuite.Tagger, x: Features) -> float:
    found = tagger.tag_all(x)
    expected = [oracle.tag([["bias", *token] for token in sentence]) for sentence in x]
    return float(np.mean([a == b for s, t in zip(found, expected, strict=True) for a, b in zip(s, t, strict=True)]))


@pytest.mark.parametrize("penalty", [{"c2": 0.5}, {"c1": 0.5, "c2": 0.05}], ids=["L2", "L1 and L2"])
@pytest.mark.parametrize("data", ["chunks", "addresses"])
def test_the_optimum_is_that_of_crfsuite(
    data: str, penalty: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Addresses have labels that are nearly as likely as others: there, both must come close to it."""
    if data == "addresses":
        monkeypatch.setattr(passes, "lbfgs", partial(lbfgs, tolerance=1e-8))
    training, test = chunks() if data == "chunks" else addresses(tmp_path)
    x, y = features_of(training), labels_of(training)
    loss, oracle = by_crfsuite(x, y, tmp_path / "oracle", **penalty)
    tagger = by_corate(x, y, **penalty)
    assert objective(tagger, x, y, **penalty) == pytest.approx(loss, rel=1e-4)
    assert agreement(tagger, oracle, features_of(test)) >= 0.999
    assert agreement(tagger, oracle, x) >= 0.999


def test_probabilities_are_those_of_crfsuite(tmp_path: Path) -> None:
    training, test = chunks()
    x, y = features_of(training[:100]), labels_of(training[:100])
    _, oracle = by_crfsuite(x, y, tmp_path / "oracle", c1=0.0, c2=0.5)
    tagger = by_corate(x, y, c2=0.5)
    for features in features_of(test[:20]):
        oracle.set([["bias", *token] for token in features])
        labels = oracle.tag()
        assert np.exp(tagger.score(features, labels)) == pytest.approx(oracle.probability(labels), abs=0.02)
