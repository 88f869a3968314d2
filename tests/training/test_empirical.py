"""Empirical training: a hidden Markov model in disguise, what is chosen and recorded, ready-made features, updates."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corate
from corate import Corpus
from corate.counting.backoff import DEFAULT, MOST_CANDIDATES, PAPER, BackoffParameters
from corate.counting.counted_corpus import MOST_TUNING_COST
from corate.counting.counts import Counts
from corate.counting.rates import edge_scores
from corate.errors import DataError, FeatureError, ModelError
from corate.features.vocabulary import Vocabulary
from corate.model.tagger import Tagger
from corate.training.choices import MOST_WORD_LABELS
from corate.training.empirical import MOST_POOLED_LABELS, backoff_model
from corate.training.source import MemorySource, RunContext
from small_corpora import WORDS, Labelled, corpus_of, random_sentences, some_sentences, words_of

# -- the oracle: a bigram hidden Markov model ----------------------------------------------------------------------


def hmm_paths(labelled: Labelled, words: list[str]) -> dict[tuple[str, ...], float]:
    """log P(words, labels) of every labelling with positive probability, by relative frequencies alone."""
    emitted = Counter(token for sentence in labelled for token in sentence)
    labels = Counter(y for sentence in labelled for _, y in sentence)
    follows: Counter[tuple[str, str]] = Counter()
    for sentence in labelled:
        follows.update(itertools.pairwise(["<s>", *(y for _, y in sentence), "</s>"]))
    out_of = labels | Counter({"<s>": len(labelled)})
    found = {}
    for path in itertools.product(sorted(labels), repeat=len(words)):
        steps = [follows[a, b] / out_of[a] for a, b in itertools.pairwise(["<s>", *path, "</s>"])]
        emissions = [emitted[w, y] / labels[y] for w, y in zip(words, path, strict=True)]
        if all(steps) and all(emissions):
            found[path] = math.fsum(math.log(p) for p in [*steps, *emissions])
    return found


@given(some_sentences, st.data())
@settings(deadline=None)
def test_with_words_alone_and_plain_rates_it_is_a_bigram_hidden_markov_model(
    labelled: Labelled, data: st.DataObject
) -> None:
    """prod P(y|w) CR(y; y') is prod P(w|y) P(y'|y) read the other way round: the same posterior."""
    known = sorted({w for s in labelled for w, _ in s})
    words = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=4))
    probable = hmm_paths(labelled, words)
    counts, _ = Counts.of(corpus_of(labelled), Vocabulary.of(PAPER.templates("word"), PAPER.atoms("word")), "word")
    p = BackoffParameters(word_k=0.0, rung_k=0.0, oov=1.0, edge=1.0, edge_k=1e-9, threshold=0.0)
    tagger = Tagger(
        counts.vocabulary, backoff_model(counts, PAPER, p, "word", all_labels=False), {"method": "empirical"}
    )
    if not probable:  # the pairs that were never seen decide, by a floor the HMM does not have
        return
    best = max(probable.values())
    assert probable[tuple(tagger.tag(words))] == pytest.approx(best, abs=1e-4)
    total = np.logaddexp.reduce(list(probable.values()))
    for path, log_p in probable.items():
        assert tagger.score(words, list(path)) == pytest.approx(log_p - total, abs=1e-3)


# -- edges -----------------------------------------------------------------------------------------------------------


@given(some_sentences, st.floats(0.01, 5), st.floats(0.1, 2))
@settings(deadline=None)
def test_edge_scores_are_logarithms_of_smoothed_co_occurrence_rates(
    labelled: Labelled, k: float, weight: float
) -> None:
    counts, _ = Counts.of(corpus_of(labelled), Vocabulary.of(PAPER.templates("word")), "word")
    n_labels = len(counts.labels)
    observed = np.zeros((n_labels + 1, n_labels + 1))
    observed[counts.pairs.origin, counts.pairs.to] = counts.pairs.counts
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    wanted = weight * np.log((observed + k) / (expected + k))
    np.testing.assert_allclose(edge_scores(counts.pairs, n_labels, k, weight).dense(), wanted, rtol=1e-3, atol=1e-4)


# -- choosing and recording ------------------------------------------------------------------------------------------


def test_the_record_says_what_was_trained_on_and_chosen() -> None:
    corpus = corpus_of(random_sentences(60))
    in_words: list[tuple[str, float]] = []
    tagger = corate.train(
        corpus, "empirical", seed=3, progress=lambda event: in_words.append((event.stage, event.fraction or 0.0))
    )
    record = tagger.record
    assert record["method"] == "empirical"
    assert (record["sentences"], record["tokens"], record["labels"]) == (60, corpus.n_tokens, 4)
    assert record["features"] > len(tagger.words)
    assert record["ladder"] in ("default", "paper")
    assert record["seed"] == 3
    measured = record["held_out"]["ladders"]
    assert set(measured) == {"default", "paper"}
    assert record["ladder"] == min(measured, key=lambda name: measured[name]["log_loss"])
    assert all(0 <= m["accuracy"] <= 1 <= m["log_loss"] + 1 for m in measured.values())
    assert BackoffParameters(**record["settings"]).edge > 0
    assert record["seconds"] > 0
    assert all(0 <= done <= 1 for _, done in in_words)
    assert {"counting", "building the model"} <= {stage for stage, _ in in_words}


def test_the_backoff_that_is_asked_for_is_taken() -> None:
    corpus = corpus_of(random_sentences(40))
    for backoff in ("default", "paper"):
        assert corate.train(corpus, "empirical", backoff=backoff).record["ladder"] == backoff
    pooled = corate.train(corpus, "empirical", backoff="pooled", features="paper")
    assert pooled.record["ladder"] == "pooled"
    assert set(pooled.record["settings"]["weights"]) >= {"word[0]", "starts_upper(word[0])"}


def test_held_out_sentences_are_looked_at_and_never_counted() -> None:
    corpus = corpus_of(random_sentences(40))
    held_out = corpus_of([[("onlythere", "N"), ("the", "NEW")], *random_sentences(20, 9)])
    tagger = corate.train(corpus, "empirical", held_out=held_out)
    assert "onlythere" not in tagger.words.to_list()
    assert "NEW" not in tagger.labels
    assert tagger.record["held_out"]["tokens"] == held_out.n_tokens
    assert tagger.counts is not None
    assert tagger.counts.tokens == corpus.n_tokens


def test_few_sentences_are_all_counted_and_nothing_is_tuned() -> None:
    tagger = corate.train(corpus_of(random_sentences(5)), "empirical", backoff="default")
    assert tagger.record["held_out"] == {"tokens": 0, "ladders": {}}
    assert BackoffParameters(**tagger.record["settings"]) == BackoffParameters.of(DEFAULT)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"method": "magic"}, DataError, "magic"),
        ({"backoff": "rope"}, DataError, "rope"),
        ({"backoff": "pooled"}, FeatureError, "templates"),
        ({"features": "nosuch"}, FeatureError, "nosuch"),
        ({"features": ["pos[0]"]}, FeatureError, "pos"),
        ({"held_out": Corpus.from_sentences([["a"]])}, DataError, "labels"),
        ({"held_out": Corpus.from_sentences([], [])}, DataError, "held-out"),
    ],
)
def test_what_cannot_be_trained_is_said(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        corate.train(corpus_of(random_sentences(25)), **({"method": "empirical"} | arguments))


def test_edge_templates_are_left_out_with_a_warning() -> None:
    corpus = corpus_of(random_sentences(5))
    with pytest.warns(UserWarning, match=r"edge: word\[0\]"):
        corate.train(corpus, "empirical", features=["word[0]", "edge", "edge: word[0]"])


# -- ready-made features ---------------------------------------------------------------------------------------------


def features_of(words: list[str], i: int) -> dict[str, Any]:
    return {"w": words[i], "length": float(len(words[i])), "first": i == 0}


@pytest.mark.parametrize("n", [1, 6, 60])
def test_a_corpus_of_features_alone_trains_and_tags(n: int) -> None:
    labelled = random_sentences(n, noise=0.0)
    ready = [[features_of(s, i) for i in range(len(s))] for s in words_of(labelled)]
    tagger = corate.train(Corpus.from_features(ready, [[y for _, y in s] for s in labelled]), "empirical")
    assert tagger.record["ladder"] == "pooled"
    found = tagger.tag_all(ready)
    assert [tagger.tag(sentence) for sentence in ready] == found
    if n == 60:
        right = sum(y == z for s, t in zip(labelled, found, strict=True) for (_, y), z in zip(s, t, strict=True))
        assert right > 0.95 * sum(map(len, labelled))
    assert len(tagger.tag([{"w": "never", "length": 99.0}, ["alone"], []])) == 3
    with pytest.raises(FeatureError, match="words"):
        corate.train(Corpus.from_features(ready, [[y for _, y in s] for s in labelled]), "empirical", backoff="default")


def test_numbers_are_binned_by_what_training_has_seen() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=400)
    ready = [[{"x": float(x)}] for x in numbers]
    tagger = corate.train(Corpus.from_features(ready, [["HIGH" if x > 0 else "LOW"] for x in numbers]), "empirical")
    assert [tagger.tag([{"x": x}]) for x in (-50.0, -1.0, 1.0, 1e30)] == [["LOW"], ["LOW"], ["HIGH"], ["HIGH"]]
    assert tagger.bins is not None
    assert list(tagger.bins.edges) == ["x"]


def test_an_attribute_named_like_a_bin_is_itself() -> None:
    ready = [[{"x": 2.0}, {"x": 3.0}, {"x": "bin 0"}, {"x": 5.0}, {"y": "z"}]]
    tagger = corate.train(Corpus.from_features(ready, [["A", "B", "C", "A", "D"]]), "empirical")
    assert tagger.tag([{"y": "z"}]) == ["D"]


def test_a_function_gives_features_and_its_failures_name_the_token() -> None:
    corpus = corpus_of(random_sentences(30))
    tagger = corate.train(corpus, "empirical", features=features_of)
    assert tagger.tag(["the", "dogs"]) == tagger.tag_all([["the", "dogs"]])[0]
    with pytest.raises(ModelError, match="columns"):
        tagger.tag_text(b"the\n")

    def failing(words: list[str], i: int) -> list[str]:
        return [words[i], words[i + 1]]

    with pytest.raises(FeatureError, match=r"sentence 0, token \d+.*IndexError"):
        corate.train(corpus, "empirical", features=failing)
    for wrong in ("text", None, [1], 3, {"x": [1]}, {"x": float("nan")}, {"x": float("inf")}, {"x": 1e300}):
        with pytest.raises(FeatureError, match="token 0"):
            corate.train(corpus, "empirical", features=lambda words, i, wrong=wrong: wrong)


# -- learning more ---------------------------------------------------------------------------------------------------


def stored(counts: Counts) -> tuple[Counter, Counter]:
    labels = [*counts.labels.to_list(), "#"]
    table, pairs = counts.table, counts.pairs
    entries = zip(table.owners.tolist(), table.labels.tolist(), table.counts.tolist(), strict=True)
    return (
        Counter({(counts.vocabulary.name(c), labels[y]): n for c, y, n in entries}),
        Counter(
            {(labels[a], labels[b]): n for a, b, n in zip(pairs.origin, pairs.to, pairs.counts.tolist(), strict=True)}
        ),
    )


@pytest.mark.parametrize("backoff", ["default", "paper"])
@pytest.mark.parametrize("seed", range(3))
def test_an_update_is_training_on_all_the_data_with_the_same_settings(backoff: str, seed: int) -> None:
    """Few sentences, so that nothing is tuned and the settings are the same."""
    first = random_sentences(10, seed)
    second = random_sentences(9, seed + 100, words=(*WORDS[5:], "new", "NEW-1", "Cats"))
    second.append([("the", "NEWLABEL"), ("dogs", "N")])
    updated = (
        corate.train(corpus_of(first), "empirical", backoff=backoff)
        .update(corpus_of(second[:4]))
        .update(corpus_of(second[4:]))
    )
    whole = corate.train(corpus_of([*first, *second]), "empirical", backoff=backoff)
    assert updated.counts is not None
    assert whole.counts is not None
    assert stored(updated.counts) == stored(whole.counts)
    assert updated.record["settings"] == whole.record["settings"]
    assert {k: updated.record[k] for k in ("sentences", "tokens", "labels", "features")} == {
        k: whole.record[k] for k in ("sentences", "tokens", "labels", "features")
    }
    assert updated.record["updates"] == 2
    tests = [*words_of(first), *words_of(second), ["Unseen", "the", "X-77", "walking", "THe"]]
    if backoff == "default":  # which word was met first with a lower-case form is the same too
        assert updated.words.to_list() == whole.words.to_list()
    for words in tests:
        assert updated.tag(words) == whole.tag(words)
        assert updated.score(words) == pytest.approx(whole.score(words), abs=1e-4)


def test_an_update_of_a_pool_keeps_its_weights_and_learns_words_and_labels() -> None:
    first = random_sentences(40)
    tagger = corate.train(
        corpus_of(first), "empirical", backoff="pooled", features=["word[0]", "suffix(word[0], 2)", "word[-1]|word[0]"]
    )
    before = tagger.tag_all(words_of(first))
    more = [[("the", "D"), ("gnu", "BEAST"), ("the", "D"), ("gnu", "BEAST")]] * 30
    updated = tagger.update(corpus_of(more))
    assert updated.record["settings"] == tagger.record["settings"]
    assert updated.labels == [*tagger.labels, "BEAST"]
    np.testing.assert_array_equal(updated.model.bias[:4], tagger.model.bias)
    old, new = tagger.model.edges.dense(), updated.model.edges.dense()
    np.testing.assert_array_equal(np.delete(np.delete(new, 4, 0), 4, 1), old)
    assert not new[4].any()
    assert not new[:, 4].any()
    assert updated.tag(["gnu"]) == ["BEAST"]
    assert tagger.tag_all(words_of(first)) == before  # the old one is as it was


def test_an_update_of_ready_made_features_bins_as_before() -> None:
    labelled = random_sentences(30)
    ready = [[features_of(s, i) for i in range(len(s))] for s in words_of(labelled)]
    labels = [[y for _, y in s] for s in labelled]
    tagger = corate.train(Corpus.from_features(ready, labels), "empirical")
    updated = tagger.update(Corpus.from_features([[{"w": "gnu", "length": 3.0}]] * 20, [["BEAST"]] * 20))
    assert updated.bins == tagger.bins
    assert updated.tag([{"w": "gnu"}]) == ["BEAST"]
    with pytest.raises(FeatureError, match="ready-made"):
        tagger.update(corpus_of(labelled))


def test_updates_need_labels_and_counts() -> None:
    tagger = corate.train(corpus_of(random_sentences(5)), "empirical")
    with pytest.raises(DataError, match="labels"):
        tagger.update(Corpus.from_sentences([["a"]]))
    record = {**tagger.record, "settings": {"edge": "much"}}
    with pytest.raises(ModelError, match="settings"):
        Tagger(tagger.vocabulary, tagger.model, record, counts=tagger.counts).update(corpus_of(random_sentences(1)))
    with pytest.raises(ModelError, match="record"):
        Tagger(tagger.vocabulary, tagger.model, {"method": "empirical"}, counts=tagger.counts).update(
            corpus_of(random_sentences(1))
        )


# -- many labels ---------------------------------------------------------------------------------------------------


def one_word(labels: int) -> Corpus:
    """One word that has every label once."""
    return Corpus.from_sentences([[("w", f"L{i}")] for i in range(labels)])


def test_a_word_with_thousands_of_labels_keeps_as_many_candidates_as_can_be_decoded() -> None:
    labels = MOST_CANDIDATES + 100
    tagger = corate.train(one_word(labels), "empirical", many_labels=True)
    assert len(tagger.labels) == labels
    assert np.diff(tagger.lattice([["w", "w"]]).offsets).max() == MOST_CANDIDATES
    more = tagger.update(one_word(2))
    assert np.diff(more.lattice([["w", "w"]]).offsets).max() == MOST_CANDIDATES


def test_fewer_tokens_are_held_out_where_words_have_too_many_labels_to_decode_them_all() -> None:
    cost = MOST_CANDIDATES**2 + 2 * MOST_CANDIDATES
    counted = MemorySource(one_word(2 * MOST_CANDIDATES)).count((), (DEFAULT,), RunContext())
    tokens = [len(part.tokens.labels) for part in counted.held_out]
    assert len(tokens) == 5
    assert all(0 < n <= MOST_TUNING_COST / 5 / cost for n in tokens)
    usual = MemorySource(corpus_of([[(f"w{i}", f"L{i % 40}")] * 20 for i in range(600)])).count(
        (), (DEFAULT,), RunContext()
    )
    assert sum(len(part.tokens.labels) for part in usual.held_out) == 20 * 5 * 60


def test_more_labels_than_can_be_counted_with_are_refused_before_they_are_counted() -> None:
    n = math.isqrt(MOST_WORD_LABELS) + 1
    with pytest.raises(DataError, match=f"{n:,} labels times {n:,} words .* name the columns"):
        corate.train(corpus_of([[(f"w{i}", f"L{i}")] for i in range(n)]), "empirical", many_labels=True)


def test_more_labels_than_a_pool_takes_are_refused() -> None:
    with pytest.raises(DataError, match=r"5,001 labels are more than the 5,000 .* train without features"):
        corate.train(one_word(MOST_POOLED_LABELS + 1), "empirical", features=["word[0]"], many_labels=True)
