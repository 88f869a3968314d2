"""The back-off: against the formulas with dictionaries, against recounting, and as it is compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.corpus import Corpus
from corate.counting.backoff import (
    DEFAULT,
    PAPER,
    BackoffParameters,
    BackoffPreset,
    BackoffTables,
    NodeParts,
    backoff_tables,
)
from corate.counting.counts import Counts, Tokens
from corate.counting.held_out import held_out_tokens
from corate.features.lexicons import Lexicon
from corate.features.related_words import usual_labels
from corate.features.templates import Atom, Template
from corate.features.vocabulary import Vocabulary
from corate.training.empirical_model import backoff_model
from reference.backoff import Backoff
from reference.word_functions import apply
from small_corpora import LABELS, WORDS, Labelled, corpus_of, some_sentences

UNSEEN = ("THe", "Cats", "runs", "X-2", "44", "ü", ",", "Walking")
presets = st.sampled_from([DEFAULT, PAPER])


def settings_of(preset: BackoffPreset) -> BackoffParameters:
    return replace(BackoffParameters.of(preset), threshold=0.0, cap=100, rare=3, word_k=0.5, rung_k=2.0, lower_k=0.25)


def usual(labelled: Labelled) -> Lexicon:
    column = corpus_of(labelled).require_labels()
    return usual_labels(corpus_of(labelled).column("word"), column.strings, column.ids)


def function(atom: Atom, labelled: Labelled) -> Callable[[str], str | None]:
    table = usual(labelled)
    known = {word: str(table.get(word)) for word in table.keys.to_list()}
    return lambda word: apply(atom.function.name, word, atom.function.number, atom.function.text, known)


def twin(
    labelled: Labelled,
    preset: BackoffPreset,
    p: BackoffParameters,
    labels: list[str],
    not_counted: tuple[int, int] | None = None,
) -> Backoff:
    return Backoff(
        labelled,
        labels,
        [function(atom, labelled) for atom in preset.atoms("word")],
        [p.lower_k if "lower" in level else p.rung_k for level in preset.levels],
        [p.rare if only else 1e9 for only in preset.rare_only],
        p.word_k,
        not_counted=not_counted,
    )


def counted(labelled: Labelled, preset: BackoffPreset) -> tuple[Counts, Tokens]:
    templates = [*preset.templates("word"), *preset.derived("word")]
    table = usual(labelled)
    levels = [Template((atom,)).with_lexicons({table.name: table}).atoms[0] for atom in preset.atoms("word")]
    return Counts.of(corpus_of(labelled), Vocabulary.of(templates, levels), "word")


def tables_of(labelled: Labelled, preset: BackoffPreset) -> tuple[BackoffTables, Tokens, list[str]]:
    counts, tokens = counted(labelled, preset)
    return backoff_tables(counts, preset, "word"), tokens, counts.labels.to_list()


def row(parts: NodeParts, values: np.ndarray, t: int, n_labels: int, empty: float = -np.inf) -> np.ndarray:
    """The values of token t's candidates, spread over all labels."""
    spread = np.full(n_labels, empty)
    a, b = parts.offsets[t], parts.offsets[t + 1]
    spread[parts.labels[a:b]] = values[a:b]
    return spread


def normalised(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores - np.logaddexp.reduce(scores))


@given(some_sentences, presets)
@settings(deadline=None)
def test_the_distribution_of_each_word_is_that_of_the_formulas(labelled: Labelled, preset: BackoffPreset) -> None:
    p = settings_of(preset)
    tables, tokens, labels = tables_of(labelled, preset)
    p.derive(tables.backoff, preset)
    reference = twin(labelled, preset, p, labels)
    for word, t in dict(zip([w for s in labelled for w, _ in s], tokens.words.tolist(), strict=True)).items():
        found = tables.backoff.distribution(t)
        np.testing.assert_allclose(found, reference.distribution(word), rtol=1e-9, atol=1e-12)
        assert found.sum() == pytest.approx(1.0)


@given(some_sentences, presets, st.integers(0, 1000))
@settings(deadline=None)
def test_a_token_left_out_is_judged_as_if_it_had_not_been_counted(
    labelled: Labelled, preset: BackoffPreset, which: int
) -> None:
    """The oracle is counting again without the token: its word, levels, prior, neighbours and class all forget it."""
    p = settings_of(preset)
    places = [(s, i) for s, sentence in enumerate(labelled) for i in range(len(sentence))]
    s, i = places[which % len(places)]
    t = which % len(places)
    tables, tokens, labels = tables_of(labelled, preset)
    parts = tables.parts(p, tokens, tokens.labels)

    words = [w for w, _ in labelled[s]]
    word = words[i]
    recounted = twin(labelled, preset, p, labels, (s, i))
    np.testing.assert_allclose(
        tables.backoff.distribution(int(tokens.words[t]), int(tokens.labels[t])),
        recounted.distribution(word),
        rtol=1e-9,
        atol=1e-12,
    )
    assert parts.known[t] == recounted.known(word)
    spread = row(parts, parts.word, t, len(labels))
    np.testing.assert_allclose(np.exp(spread), recounted.distribution(word), rtol=1e-5, atol=1e-7)
    if preset is PAPER:
        return
    candidates = np.isfinite(spread)
    for step, values in ((-1, parts.left), (1, parts.right)):
        expected = recounted.neighbour(words, i, step, p.pair_k) if parts.known[t] else np.zeros(len(labels))
        found = row(parts, values, t, len(labels), 0.0)
        np.testing.assert_allclose(found[candidates], expected[candidates], rtol=1e-4, atol=1e-5)
    letter_class = function(preset.atoms("word")[-1], labelled)
    expected = np.zeros(len(labels))
    if not parts.known[t]:
        for step in (-1, 1):
            expected += recounted.unseen_neighbour(words, i, step, p.class_k, letter_class, p.rare)
    found = row(parts, parts.context, t, len(labels), 0.0)
    np.testing.assert_allclose(found[candidates], expected[candidates], rtol=1e-4, atol=1e-5)


@given(some_sentences, presets, st.lists(st.sampled_from(WORDS + UNSEEN), min_size=1, max_size=6))
@settings(deadline=None)
def test_scores_of_new_sentences_are_those_of_the_formulas(
    labelled: Labelled, preset: BackoffPreset, words: list[str]
) -> None:
    p = settings_of(preset)
    counts, _ = counted(labelled, preset)
    new = Corpus.from_sentences([words], [[LABELS[0]] * len(words)])
    tokens, vocabulary = held_out_tokens(counts, new, "word")
    parts = backoff_tables(counts, preset, "word", vocabulary).parts(p, tokens)
    labels = counts.labels.to_list()
    reference = twin(labelled, preset, p, labels)
    letter_class = function(preset.atoms("word")[-1], labelled)
    for i, word in enumerate(words):
        found = row(parts, parts.scores(p), i, len(labels))
        scores = np.log(reference.distribution(word)) * (1.0 if reference.known(word) else p.oov)
        if preset is DEFAULT and reference.known(word):
            scores += p.neighbour * sum(reference.neighbour(words, i, step, p.pair_k) for step in (-1, 1))
        elif preset is DEFAULT:
            scores += p.context * sum(
                reference.unseen_neighbour(words, i, step, p.class_k, letter_class, p.rare) for step in (-1, 1)
            )
        assert parts.known[i] == reference.known(word)
        np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-4)


@given(some_sentences, presets, st.lists(st.sampled_from(WORDS + UNSEEN), min_size=1, max_size=6), st.floats(0.5, 1.5))
@settings(deadline=None)
def test_a_compiled_backoff_gives_the_same_probabilities(
    labelled: Labelled, preset: BackoffPreset, words: list[str], mu: float
) -> None:
    """Tagging scores words, seen and unseen, as training does, up to a constant a token, and so decodes alike."""
    p = replace(settings_of(preset), oov=mu)
    counts, _ = counted(labelled, preset)
    new = Corpus.from_sentences([words], [[LABELS[0]] * len(words)])
    tokens, vocabulary = held_out_tokens(counts, new, "word")
    parts = backoff_tables(counts, preset, "word", vocabulary).parts(p, tokens)
    model = backoff_model(counts, preset, p, "word", all_labels=False)
    offsets, labels, scores, *_ = model.engine(counts.vocabulary).lattice(
        [(c.ids, c.strings.data, c.strings.offsets) for c in new.columns], new.offsets, None
    )
    np.testing.assert_array_equal(offsets, parts.offsets)
    np.testing.assert_array_equal(labels, parts.labels)
    before = parts.scores(p)
    for a, b in pairwise(offsets.tolist()):
        np.testing.assert_allclose(normalised(scores[a:b]), normalised(before[a:b]), rtol=1e-3, atol=1e-5)
    edges = model.edges.native()
    one, other = (_native.viterbi(new.offsets, offsets, labels, s.astype(np.float32), edges) for s in (scores, before))
    rescored = _native.viterbi(new.offsets, offsets, labels, before, edges)[1]
    assert one[0].tolist() == other[0].tolist() or rescored == pytest.approx(other[1], abs=1e-3)


@given(some_sentences, st.floats(1e-4, 0.5), st.integers(1, 3))
@settings(deadline=None)
def test_candidates_are_the_likely_labels_and_those_seen_with_the_word(
    labelled: Labelled, threshold: float, cap: int
) -> None:
    p = replace(settings_of(DEFAULT), threshold=threshold, cap=cap)
    tables, tokens, labels = tables_of(labelled, DEFAULT)
    parts = tables.parts(p, tokens)
    reference = twin(labelled, DEFAULT, p, labels)
    flat = [w for s in labelled for w, _ in s]
    for t, word in enumerate(flat):
        distribution = reference.distribution(word)
        found = parts.labels[parts.offsets[t] : parts.offsets[t + 1]].tolist()
        seen = {labels.index(y) for y in reference.counts[word]}
        likely = [y for y in range(len(labels)) if distribution[y] >= threshold * distribution.max() * (1 + 1e-9)]
        assert sorted(set(found)) == found
        assert seen <= set(found)
        assert int(distribution.argmax()) in found
        if len(likely) <= cap:
            assert set(likely) <= set(found)
        assert len(set(found) - seen) <= cap


def test_labels_of_one_word_add_up_over_its_levels_by_hand() -> None:
    """'cats' once as N; the other word in -s is 'dogs', once V; all by the formulas, with numbers to check by eye."""
    tables, tokens, labels = tables_of([[("cats", "N"), ("dogs", "V")]], DEFAULT)
    p = BackoffParameters(word_k=1.0, rung_k=1.0, lower_k=1.0)
    p.derive(tables.backoff, DEFAULT)
    n, v = labels.index("N"), labels.index("V")
    p_v = 0.5
    for _ in range(2):  # shared by both words: the class, and the ending in one letter
        p_v = (1 + p_v) / 2
    found = tables.backoff.distribution(int(tokens.words[0]))
    assert found[v] == pytest.approx(p_v / 2)
    assert found[n] == pytest.approx((1 + (1 - p_v)) / 2)


def test_a_backoff_asks_to_be_derived_and_checks_what_it_is_given() -> None:
    offsets, labels, counts = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32)
    levels = np.zeros((1, 1), np.int32)
    backoff = _native.Backoff(offsets, labels, counts, levels, 1)
    for call in (lambda: backoff.distribution(0), lambda: backoff.word_rows(0.1, 3), lambda: backoff.level_shares(0)):
        with pytest.raises(ValueError, match="derive"):
            call()
    with pytest.raises(ValueError, match="level"):
        backoff.derive([1.0, 1.0], [1, 1], 1.0, 0.1)
    backoff.derive([1.0], [1], 1.0, 0.1)
    assert backoff.distribution(0).tolist() == [1.0]
    with pytest.raises(IndexError):
        backoff.distribution(1)
    with pytest.raises(ValueError, match="label"):
        backoff.distribution(0, 5)
    for bad in (
        (np.array([0, 2]), labels, counts, levels, 1),
        (np.array([0, 5, 1]), labels, counts, np.zeros((1, 2), np.int32), 1),
        (offsets, np.array([1], np.int32), counts, levels, 1),
        (offsets, labels, np.ones(2, np.int32), levels, 1),
        (offsets, labels, counts, np.zeros((1, 2), np.int32), 1),
    ):
        with pytest.raises(ValueError, match=r"disagree|range"):
            _native.Backoff(*bad)


def test_levels_that_an_older_vocabulary_has_not_are_passed_over() -> None:
    old = Vocabulary.of(DEFAULT.templates("word"), [a for a in DEFAULT.atoms("word") if not a.function.learns])
    kept = DEFAULT.within(old, "word")
    assert [r for r in DEFAULT.levels if r not in kept.levels] == ["related_start(word[0])"]
    assert len(kept.rare_only) == len(kept.levels)


def test_an_unknown_word_is_like_all_of_its_kind_of_related_word() -> None:
    """Of two words with related words of one kind, one is N and one is P; a third is either, equally probably."""
    words = {"walk": "V", "mock": "V", "honk": "V", "walked": "N", "mocked": "P"}
    labelled: Labelled = [[pair] for pair in words.items()]
    counts, _ = counted(labelled, DEFAULT)
    model = backoff_model(counts, DEFAULT, settings_of(DEFAULT), "word", all_labels=False)
    new = Corpus.from_sentences([["honked"]])
    columns = [(c.ids, c.strings.data, c.strings.offsets) for c in new.columns]
    _, found, scores, *_ = model.engine(counts.vocabulary).lattice(columns, new.offsets, None)
    score = dict(zip([counts.labels[y] for y in found.tolist()], scores.tolist(), strict=True))
    assert score["N"] == pytest.approx(score["P"], abs=1e-5)
    assert score["N"] > score["V"]
