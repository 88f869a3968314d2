"""The factors that training fits are those that the algebra derives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.optimize.stochastic import AdaGrad
from corate.rate import Counts, factorise
from corate.rate.expressions import Probability
from corate.training.separate import SeparateTraining
from small_corpora import corpus_of, random_sentences

START, END = "Y0", "Y4"
LABELLED = random_sentences(60, seed=5, words=("the", "dog", "Dogs", "walking", "42"), noise=0.4)
SENTENCES = [["the", "dog", "walking"], ["42", "42", "the"], ["Dogs", "the", "dog"]]


class Trained:
    """A model with joint coupling, and the weights of its node model (W) and pair model (T, A and B) apart."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runs: list[AdaGrad] = []
        parts: dict[str, Any] = {}
        make, fit = AdaGrad.of.__func__, SeparateTraining.joint_pairs  # type: ignore[attr-defined]

        def recorded(cls: type[AdaGrad], *args: Any, **options: Any) -> AdaGrad:
            runs.append(make(cls, *args, **options))
            return runs[-1]

        def joint(self: SeparateTraining, problem: Any, slots: Any, nodes: Any) -> Any:
            parts.update(problem=problem, slots=slots, nodes=nodes)
            return fit(self, problem, slots, nodes)

        monkeypatch.setattr(AdaGrad, "of", classmethod(recorded))
        monkeypatch.setattr(SeparateTraining, "joint_pairs", joint)
        # What each sentence to be labelled looks like is learned from training: it is one of the sentences.
        labelled = [*LABELLED, *([(w, y) for w, y in zip(s, "DNV", strict=True)] for s in SENTENCES)]
        self.corpus = corpus_of(labelled)
        options: dict[str, Any] = {"coupling": "joint", "features": ["word[0]", "suffix(word[0], 2)", "word[-1]"]}
        self.tagger = corate.train(self.corpus, "separate", all_labels=True, **options)
        self.problem, self.slots, self.w = parts["problem"], parts["slots"], parts["nodes"].astype(float)
        self.k = len(self.tagger.labels)
        size = (self.k + 1) ** 2
        t, self.a, self.b = np.split(runs[-1].weights.astype(float), [size, size + len(self.w)])
        self.t = t.reshape(self.k + 1, self.k + 1)

    def scores(self, token: int, weights: np.ndarray) -> np.ndarray:
        """What the features of a token of the training corpus score for each label."""
        offsets, ids = self.problem.features
        found = np.zeros(self.k)
        for feature in ids[offsets[token] : offsets[token + 1]]:
            slots = slice(self.slots.offsets[feature], self.slots.offsets[feature + 1])
            np.add.at(found, self.slots.labels[slots], weights[slots])
        return found

    def node_factor(self, token: int) -> np.ndarray:
        """log P(Y | x) of the node model."""
        return log_softmax(self.scores(token, self.w))

    def pair_factor(self, left: int | None, right: int | None) -> np.ndarray:
        """log P(Y, Y' | x) of the pair model; None is the end of the sentence, whose only label is the boundary."""
        a = np.zeros(1) if left is None else self.scores(left, self.a)
        b = np.zeros(1) if right is None else self.scores(right, self.b)
        rows = slice(self.k, None) if left is None else slice(self.k)
        columns = slice(self.k, None) if right is None else slice(self.k)
        return log_softmax(a[:, None] + b + self.t[rows, columns])


def log_softmax(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=None))


@pytest.mark.parametrize("which", range(len(SENTENCES)))
def test_joint_coupling_trains_the_factors_of_the_chain(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each factor of the derived product, taken from the model trained for it, gives the tagger's probabilities."""
    trained = Trained(monkeypatch)
    words = SENTENCES[which]
    first = int(trained.corpus.offsets[len(LABELLED) + which])
    assert trained.corpus.tokens(len(LABELLED) + which) == words
    token = {START: None, "Y1": first, "Y2": first + 1, "Y3": first + 2, END: None}
    chain = factorise("Y0-Y1 Y1-Y2 Y2-Y3 Y3-Y4", "joint-over-interior", given=["X"])
    assert len(chain.factors) == 4 + 3  # four pairs over the three nodes between them

    labels = trained.tagger.labels
    labellings = list(product(range(trained.k), repeat=3))
    logs = np.zeros(len(labellings))
    for factor, exponent in chain.expression.powers().items():
        assert isinstance(factor, Probability)
        names = [term.name for term in factor.block]
        assert [term.name for term in factor.given] == ["X"]
        if len(names) == 2:
            table = trained.pair_factor(token[names[0]], token[names[1]])
        else:
            table = trained.node_factor(token[names[0]])
        for i, labelling in enumerate(labellings):
            at = {START: 0, "Y1": labelling[0], "Y2": labelling[1], "Y3": labelling[2], END: 0}
            logs[i] += exponent * table[tuple(at[name] for name in names)]
    wanted = log_softmax(logs)
    found = [trained.tagger.score(words, [labels[y] for y in labelling]) for labelling in labellings]
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert np.ptp(wanted) > 1.0  # labellings do differ


def test_empirical_edges_are_the_rates_of_counted_label_pairs() -> None:
    """With nothing added, the edge score of a pair that was seen is the logarithm of its co-occurrence rate."""
    from corate import _native
    from corate.counting.counts import PairCounts, label_ids
    from corate.counting.rates import edge_scores

    corpus: Corpus = corpus_of(LABELLED)
    table, ids = label_ids(corpus)
    pairs = PairCounts(*_native.count_pairs(ids, corpus.offsets, len(table)))
    edges = edge_scores(pairs, len(table), k=1e-9)
    logs = Counts.label_pairs(corpus).log_table("CR(label; next)")[1]
    origin = np.repeat(np.arange(len(edges.row)), np.diff(edges.offsets))
    np.testing.assert_allclose(edges.scores, logs[origin, edges.to], atol=1e-5)
