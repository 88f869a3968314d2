"""What training makes of weights, numbers and merged contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import DataError, FeatureError
from corate.features.templates import parse
from corate.training import items
from corate.training.chains import ChainTraining
from corate.training.methods import METHODS, ChainMethod, Separate
from corate.training.separate import SeparateTraining
from small_corpora import chain_methods, corpus_of, for_method, random_sentences, start_of

SENTENCES = random_sentences(80, seed=11)


def trained(corpus: Corpus, **more: object) -> corate.Tagger:
    return corate.train(corpus, "separate", features=["word[0]"], **more)  # type: ignore[arg-type]


def test_a_sentence_of_weight_two_counts_as_two_sentences_in_the_objective() -> None:
    templates = [parse("word[0]")]
    start = start_of(corpus_of([*SENTENCES[:20], *SENTENCES[:20]]), templates)
    twice = SeparateTraining.of(Separate(base="none"), start)
    start = start_of(corpus_of(SENTENCES[:20]), templates)
    weighed = SeparateTraining.of(Separate(base="none", sentence_weights=[2.0] * 20), start)
    problems = [s.arrays(s.tokens, None, training=True) for s in (twice, weighed)]
    weights = np.random.default_rng(0).normal(size=problems[0].nodes.size)
    values = [p.nodes.objective(weights, 0.0, 1)[0] for p in problems]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_sentences_of_weight_zero_teach_the_nodes_nothing() -> None:
    turned = [[(w, "N" if y != "N" else "V") for w, y in s] for s in SENTENCES]
    weights = [1.0] * len(SENTENCES) + [0.0] * len(turned)
    tagger = trained(corpus_of([*SENTENCES, *turned]), base="none", sentence_weights=weights)
    plain = trained(corpus_of(SENTENCES), base="none")
    test = corpus_of(SENTENCES)
    assert corate.evaluate(tagger, test).accuracy > 0.9 * corate.evaluate(plain, test).accuracy


def test_sentences_that_hardly_count_hardly_change_the_held_out_accuracy() -> None:
    turned = [[(w, "N" if y != "N" else "V") for w, y in s] for s in SENTENCES]
    mixed = [s for pair in zip(SENTENCES, turned, strict=True) for s in pair]
    tagger = trained(corpus_of(mixed), base="none", sentence_weights=[1.0, 1e-6] * len(SENTENCES))
    plain = trained(corpus_of(SENTENCES), base="none").record["held_out"]["accuracy"]
    assert tagger.record["held_out"]["accuracy"] == pytest.approx(plain, abs=0.05)


def chains(method: str, weights: list[float] | None) -> ChainTraining:
    start = start_of(corpus_of(SENTENCES), [parse("word[0]")])
    options = METHODS[method](**for_method(method, sentence_weights=weights, iterations=3, passes=1))
    assert isinstance(options, ChainMethod)
    return ChainTraining.of(options, start)


@pytest.mark.parametrize("method", chain_methods())
def test_half_of_the_sentences_to_tune_on_keep_their_weights(method: str) -> None:
    losses = []
    for weights in (None, [3.0] * len(SENTENCES)):
        run = chains(method, weights)
        half = run.items(run.tokens.take(np.arange(0, len(SENTENCES), 2)), run.start.tables(), training=True)
        losses.append(half.chains.objective(np.full(half.chains.size, 0.1), 0.0, 1)[0])
    assert losses[1] == pytest.approx(3.0 * losses[0], rel=1e-6)


@pytest.mark.parametrize("method", ["separate", *chain_methods()])
def test_tuning_weighs_the_tokens_it_judges_by_as_their_sentences(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other sentence of some that count is judged; label weights do not matter to what is right."""
    weights = np.linspace(0.5, 2.0, len(SENTENCES))
    judged = []

    def spy(judge: Any, start: Any, steps: Any, progress: Any = None, weights: Any = None, change: Any = None) -> Any:
        right = judge(start)
        judged.append((right, weights))
        return start, right

    monkeypatch.setattr(items, "coordinate_search", spy)
    options: dict[str, Any] = {"sentence_weights": weights.tolist(), "label_weights": {"N": 2.0}, "tune": True}
    corate.train(corpus_of(SENTENCES), method, features=["word[0]"], **options)
    lengths = [len(s) for s in SENTENCES]
    np.testing.assert_allclose(judged[0][1], np.repeat(weights[1::2], lengths[1::2]), rtol=1e-6)
    assert all(len(right) == len(found) for right, found in judged)


@pytest.mark.parametrize(
    "weights",
    [
        {"label_weights": {"PLANET": 2.0}},
        {"label_weights": {"N": -1.0}},
        {"label_weights": {"N": float("nan")}},
        {"sentence_weights": [1.0]},
        {"sentence_weights": [0.0] * len(SENTENCES)},
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: dict[str, object]) -> None:
    with pytest.raises(DataError, match=r"weigh"):
        trained(corpus_of(SENTENCES), **weights)


def test_merged_contexts_have_the_same_objective() -> None:
    templates = [parse("word[0]"), parse("suffix(word[0], 2)")]
    for base in ("none", "paper"):
        separate = SeparateTraining.of(Separate(base=base), start_of(corpus_of(SENTENCES), templates, base))
        problem = separate.arrays(separate.tokens, separate.start.tables(), training=True)
        parts = [
            separate.arrays(separate.tokens.take(np.array([i])), separate.start.tables(), training=True).nodes
            for i in range(len(SENTENCES))
        ]
        weights = np.random.default_rng(1).normal(size=problem.nodes.size)
        assert problem.nodes.n_merged < sum(np.diff(problem.candidates.offsets) > 1)
        value, gradient = problem.nodes.objective(weights, 0.0, 1)
        alone = [part.objective(weights, 0.0, 1) for part in parts]
        assert value == pytest.approx(sum(v for v, _ in alone))
        np.testing.assert_allclose(gradient, np.sum([g for _, g in alone], axis=0), rtol=1e-6, atol=1e-9)
        assert all(np.array_equal(problem.nodes.objective(weights, 0.0, t)[1], gradient) for t in (2, 3, 7))


def numbers(n: int) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    random = np.random.default_rng(n)
    drawn = random.normal(size=(n, 3))
    return [[{"x": float(x)} for x in row] for row in drawn], [
        ["HIGH" if x > 0 else "LOW" for x in row] for row in drawn
    ]


def test_numbers_are_used_as_they_are(tmp_path) -> None:  # type: ignore[no-untyped-def]
    x, y = numbers(200)
    tagger = corate.train(Corpus.from_features(x, y), "separate")
    new, right = numbers(100)
    found = tagger.tag_all(new)
    assert np.mean([a == b for f, r in zip(found, right, strict=True) for a, b in zip(f, r, strict=True)]) > 0.95
    assert tagger.vocabulary.n_attributes == 1
    tagger.save(tmp_path / "model")
    assert corate.load(tmp_path / "model").tag_all(new) == found


def test_joint_coupling_says_that_it_takes_no_numbers() -> None:
    x, y = numbers(20)
    with pytest.raises(FeatureError, match="numeric features"):
        corate.train(Corpus.from_features(x, y), "separate", coupling="joint")
