"""Cutoffs, absolute weights and compaction, which make models of whole sentences smaller."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate.features.templates import parse
from corate.model.chain import ChainModel
from corate.model.shrinking import without_rare
from corate.model.tagger import Tagger
from corate.rows import SparseRows
from corate.training import chains
from corate.training.chains import ChainTraining
from corate.training.methods import Polish
from small_corpora import Labelled, corpus_of, start_of, words_of
from whole_sentences import FEATURES, TEST, TRAINING, accuracy, over, trained


def n_weights(tagger: Tagger) -> int:
    return len(tagger.model.weights.scores) + len(tagger.model.edges.scores)


RARE: Labelled = [*TRAINING, *[[(f"once{i}", "N"), ("the", "D")] for i in range(40)]]


@pytest.mark.parametrize("settings", [{"c1": 0.5}, {"c1": 3.0}, {"cutoff": 2}, {"cutoff": 3, "c1": 0.5}], ids=str)
def test_a_cut_off_and_absolute_weights_make_models_smaller(settings: dict[str, float], tmp_path: Path) -> None:
    usual, small = (trained(RARE, method="standard", **s) for s in ({}, settings))
    assert n_weights(small) < 0.8 * n_weights(usual)
    assert small.record["features"] < usual.record["features"]
    assert small.save(tmp_path / "small") < 0.9 * usual.save(tmp_path / "usual")
    assert accuracy(small, TEST) > 0.7
    assert corate.load(tmp_path / "small").tag_all(words_of(TEST)) == small.tag_all(words_of(TEST))


def test_dearer_weights_are_fewer() -> None:
    left = [n_weights(trained(method="standard", c1=c1)) for c1 in (0.0, 0.3, 3.0, 30.0)]
    assert left == sorted(left, reverse=True)
    assert len(set(left)) == 4


@pytest.mark.parametrize("method", ["standard", "polish", "perceptron"])
def test_a_rare_feature_is_cut_off(method: str) -> None:
    kept, cut = (trained(RARE, method=method, cutoff=c, features=["word[0]"]) for c in (1, 2))
    assert n_weights(cut) < n_weights(kept)
    assert accuracy(cut, TEST) > 0.8


@pytest.mark.parametrize("base", [None, "pooled", "default", "paper", "none", "separate"])
@pytest.mark.parametrize("cutoff", [2, 3])
def test_polish_leaves_out_rare_features_on_every_base(base: str | None, cutoff: int) -> None:
    """One feature is the pair of a word and its predecessor, which the back-off counts as well."""
    pair = "word[-1]|word[0]"
    whole, cut = (trained(RARE, base=base, features=["word[0]", pair], cutoff=c, passes=1) for c in (1, cutoff))
    assert cut.record["base"] == whole.record["base"]
    seen = Counter(itertools.chain.from_iterable(itertools.pairwise(["", *(w for w, _ in s)]) for s in RARE))
    for tagger, least in ((whole, 1), (cut, cutoff)):
        t = [str(template) for template in tagger.vocabulary.templates].index(pair)
        first, last = tagger.vocabulary.bases[t : t + 2]
        left = int((np.diff(tagger.model.weights.offsets[first : last + 1]) > 0).sum())
        assert 0 < left <= sum(n >= least for n in seen.values())
    assert accuracy(cut, TEST) > 0.8


@pytest.mark.parametrize("base", ["pooled", "default"])
@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_a_model_starts_from_the_base_that_training_looked_at(base: str, cutoff: int) -> None:
    """For tokens that stay in the counts; rare features and neighbour pairs have no effect on either."""
    corpus = corpus_of(TRAINING)
    start = start_of(corpus, [parse(feature) for feature in FEATURES], base)
    run = ChainTraining.of(Polish(cutoff=cutoff), start)
    options: dict[str, Any] = {"training": False, "full": run.full, "cutoff": cutoff}
    expected = start.candidates(start.tokens.in_memory(), start.tables(), run.p.base_weight, **options)
    model = without_rare(run.model(run.initial_vector()), start.totals, cutoff)
    lattice = Tagger(start.vocabulary, model, {"method": "polish"}, columns=("word",)).lattice(corpus)
    np.testing.assert_array_equal(lattice.labels, expected.labels)
    # Models omit the part of a score that all labels of a token share.
    found, base_scores = (scores.reshape(-1, start.n_labels) for scores in (lattice.scores, expected.backoff))
    np.testing.assert_allclose(found - found[:, :1], base_scores - base_scores[:, :1], atol=1e-4)


def with_zeros(model: ChainModel, totals: np.ndarray, cutoff: int) -> ChainModel:
    """As `without_rare`, but the weights of rare features stay, as zeros."""
    rare = np.zeros(len(model.weights), bool)
    rare[: len(totals)] = (totals > 0) & (totals < cutoff)
    scores = np.where(np.repeat(rare, model.weights.lengths), np.float32(0), model.weights.scores)
    return replace(model, weights=replace(model.weights, scores=scores))


@over(
    {
        "L1": {"method": "standard", "c1": 1.0},
        "cut-off": {"method": "polish", "cutoff": 2},
        "edges": {"method": "standard", "c1": 1.0, "features": [*FEATURES, "edge: word[0]"]},
        "second order": {"method": "standard", "c1": 1.0, "order": 2},
        "perceptron": {"method": "perceptron"},
    }
)
def test_compaction_changes_no_label(way: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = trained(RARE, **way)
    monkeypatch.setattr(SparseRows, "compacted", lambda rows: rows)
    monkeypatch.setattr(chains, "without_rare", with_zeros)
    monkeypatch.setattr(chains, "without_idle", lambda vocabulary, model: (vocabulary, model))
    whole = trained(RARE, **way)
    assert n_weights(small) < n_weights(whole)
    assert small.save(tmp_path / "small") < whole.save(tmp_path / "whole")
    unseen = [["once1", "the", "neverseen"], ["Zyx", "42"]]
    assert small.tag_all([*words_of(RARE), *unseen]) == whole.tag_all([*words_of(RARE), *unseen])
    for words in unseen:
        assert small.score(words) == pytest.approx(whole.score(words), abs=1e-5)
