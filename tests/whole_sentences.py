"""Ways of training on whole sentences, and a small corpus for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.model.tagger import Tagger
from corate.training import methods
from corate.training.methods import ChainMethod
from options_given import given
from small_corpora import Labelled, chain_methods, corpus_of, random_sentences

#: How many times the frequency of a label counts, by the loss; once in others. Each piece has two labels.
TIMES_COUNTED = {"piecewise": 2}
FEATURES = ["word[0]", "suffix(word[0], 2)", "word[-1]"]
TRAINING = random_sentences(60, noise=0.2)
HELD_OUT = random_sentences(40, seed=3, noise=0.2)
TEST = random_sentences(40, seed=7, noise=0.1)
METHODS: dict[str, dict[str, Any]] = {name: {"method": name} for name in chain_methods()}
METHODS["standard, AdaGrad"] = {"method": "standard", "optimizer": "adagrad"}
METHODS["standard, second order"] = {"method": "standard", "order": 2}
METHODS["polish, second order"] = {"method": "polish", "order": 2}


def method_of(way: dict[str, Any]) -> ChainMethod:
    """The method of a way of training, which says what it can do."""
    made = methods.METHODS[way["method"]](**{name: value for name, value in way.items() if name != "method"})
    assert isinstance(made, ChainMethod)
    return made


STOCHASTIC = {name: way for name, way in METHODS.items() if method_of(way).in_passes}


def over(ways: dict[str, dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", list(ways.values()), ids=list(ways))


def trained(labelled: Labelled | Corpus = TRAINING, **options: Any) -> Tagger:
    corpus = labelled if isinstance(labelled, Corpus) else corpus_of(labelled)
    return corate.train(corpus, **given(**{"features": FEATURES} | options))


def accuracy(tagger: Tagger, labelled: Labelled) -> float:
    return corate.evaluate(tagger, corpus_of(labelled)).accuracy


def arrays(tagger: Tagger) -> dict[str, bytes]:
    """The bytes of all arrays that a model scores with."""
    m = tagger.model
    named = {"bias": m.bias, "row": m.edges.row, "col": m.edges.col, "floor": np.array(m.floor)}
    rows = {"weights": m.weights, "rows": m.rows, "edge weights": m.edge_weights, "triples": m.edges.triples}
    named |= {f"{name} {i}": a for name, part in rows.items() for i, a in enumerate(part.arrays())}
    named |= {"edges 0": m.edges.offsets, "edges 1": m.edges.to, "edges 2": m.edges.scores}
    return {name: array.tobytes() for name, array in named.items()}
