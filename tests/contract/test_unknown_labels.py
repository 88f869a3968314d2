"""Training on whole sentences where some labels are not known."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError
from corate.features.templates import parse
from corate.training.chains import ChainTraining
from corate.training.methods import METHODS, Standard
from corate.training.train import update
from small_corpora import Labelled, corpus_of, random_sentences, start_of
from whole_sentences import TEST, TRAINING, accuracy, arrays, trained


@pytest.mark.parametrize("method", ["standard", "polish"])
def test_where_all_labels_are_known_nothing_changes(method: str) -> None:
    assert arrays(trained(method=method, unknown="?")) == arrays(trained(method=method))


@pytest.mark.parametrize("method", ["piecewise", "memm", "perceptron"])
def test_other_methods_need_every_label(method: str) -> None:
    with pytest.raises(DataError, match="unknown is an option of"):
        trained(method=method, unknown="?")


def hidden(labelled: Labelled, share: float) -> Labelled:
    rng = np.random.default_rng(2)
    return [[(w, "?" if rng.random() < share else y) for w, y in s] for s in labelled]


@pytest.mark.parametrize("method", ["standard", "polish"])
def test_half_of_the_labels_teach_nearly_as_much(method: str) -> None:
    tagger = trained(hidden(random_sentences(150, noise=0.1), 0.5), method=method, unknown="?")
    assert "?" not in tagger.labels
    assert accuracy(tagger, TEST) > 0.8


@pytest.mark.parametrize("method", ["standard", "polish"])
@pytest.mark.parametrize("lattice", ["full", "pruned"])
def test_many_labels_may_be_unknown_too(method: str, lattice: str) -> None:
    """With this many labels, not all are candidates everywhere."""
    labelled = [[(f"w{i}", f"L{i % 30}") for i in range(s, s + 3)] for s in range(0, 90, 3)] * 4
    tagger = trained(hidden(labelled, 0.3), method=method, lattice=lattice, unknown="?")
    assert accuracy(tagger, labelled) > 0.9


def test_every_label_unknown_is_refused() -> None:
    with pytest.raises(DataError, match=r"every label is '\?'"):
        trained([[("a", "?")]], method="standard", unknown="?")


def test_the_objective_sums_over_what_is_not_known() -> None:
    """-log of the sum of P(labelling) over all labellings with the known labels, plus the penalty."""
    labelled = [s[:4] for s in hidden(TRAINING, 0.4)[:15]]
    start = start_of(corpus_of(labelled), [parse("word[0]")], unknown="?")
    run = ChainTraining.of(Standard(c2=0.5, iterations=30), start)
    items = run.items(run.tokens, start.tables(), training=True)
    weights = run.fit(items, "standard").weights
    value, _ = items.chains.objective(weights.astype(np.float64), 1.0, 1)
    tagger = trained(labelled, method="standard", unknown="?", features=["word[0]"], c2=0.5, iterations=30)
    m = tagger.model
    expected = 0.5 * float((m.weights.scores**2).sum() + (m.bias**2).sum() + (m.edges.scores**2).sum())
    for sentence in labelled:
        choices = [tagger.labels if y == "?" else [y] for _, y in sentence]
        scores = [tagger.score([w for w, _ in sentence], list(labels)) for labels in itertools.product(*choices)]
        expected -= float(np.logaddexp.reduce(scores))
    assert value == pytest.approx(expected, rel=1e-4)


def test_what_is_not_known_is_learned_from_what_is_around_it() -> None:
    """`q` is never labelled; its label follows from its neighbours' labels and the label pairs of other sentences."""
    labelled: Labelled = [[("a", "A"), ("b", "B"), ("c", "C")]] * 20 + [[("a", "A"), ("q", "?"), ("c", "C")]] * 20
    tagger = trained(labelled, method="standard", unknown="?", features=["word[0]"])
    assert tagger.tag(["a", "q", "c"]) == ["A", "B", "C"]


# -- labels that are None ---------------------------------------------------------------------------------------------


def none_for(labelled: Labelled) -> Corpus:
    return Corpus.from_sentences([[(w, None if y == "?" else y) for w, y in s] for s in labelled])


PARTLY = hidden(random_sentences(80, noise=0.1), 0.3)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "polish"},
        {"method": "polish", "features": None},
        {"method": "polish", "order": 2, "tune": True},
        {"method": "polish", "base": "pooled"},
        {"method": "polish", "calibrate": True},
        {"method": "standard"},
        {"method": "standard", "optimizer": "adagrad", "label_weights": {"N": 2.0}},
    ],
    ids=str,
)
def test_none_is_the_same_as_a_name_for_unknown_labels(options: dict[str, Any]) -> None:
    assert arrays(trained(none_for(PARTLY), **options)) == arrays(trained(PARTLY, unknown="?", **options))


@pytest.mark.parametrize("method", ["polish", "standard"])
def test_held_out_labels_may_be_none(method: str) -> None:
    named = trained(PARTLY, method=method, unknown="?", held_out=corpus_of(PARTLY[:20]), calibrate=True)
    assert arrays(trained(none_for(PARTLY), method=method, held_out=none_for(PARTLY[:20]), calibrate=True)) == arrays(
        named
    )


def test_both_ways_of_marking_can_be_used_together() -> None:
    both = Corpus.joined([none_for(PARTLY[:40]), corpus_of(PARTLY[40:])])
    assert arrays(trained(both, unknown="?")) == arrays(trained(PARTLY, unknown="?"))


@pytest.mark.parametrize("method", ["empirical", "separate", "piecewise", "memm", "perceptron"])
def test_methods_that_need_every_label_name_the_place_and_the_others(method: str) -> None:
    corpus = none_for([[("a", "A"), ("b", "B")], [("a", "A"), ("b", "?")]])
    with pytest.raises(
        DataError, match=f"label of token 1 is unknown .None.*'{method}'.*'polish' and 'standard'"
    ) as error:
        corate.train(corpus, method)
    assert error.value.sentence == 1


def test_counts_need_every_label() -> None:
    tagger = corate.train(none_for([[("a", "A"), ("b", "B")]] * 3), "empirical")
    with pytest.raises(DataError, match="label of token 0 is unknown"):
        update(tagger, none_for([[("a", "?"), ("b", "B")]]))


@pytest.mark.parametrize("method", list(METHODS))
def test_every_label_none_is_refused(method: str) -> None:
    with pytest.raises(DataError, match="every label is unknown"):
        corate.train(none_for([[("a", "?")]]), method)


@pytest.mark.parametrize("method", list(METHODS))
def test_an_empty_label_is_refused(method: str) -> None:
    with pytest.raises(DataError, match=r"label of token 1 is empty; .*None") as error:
        corate.train(Corpus.from_sentences([[("a", "A")], [("a", "A"), ("b", "")]]), method)
    assert error.value.sentence == 1


def test_an_empty_label_can_stand_for_unknown_labels() -> None:
    assert corate.train(Corpus.from_sentences([[("a", "A"), ("b", "")]] * 3), unknown="").labels == ["A"]
