"""The choice between full and pruned lattices."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import Corpus, _native
from corate.counting.backoff import BackoffParameters
from corate.counting.counts import Table
from corate.training.lattice_costs import MOST_TRIPLE_LABELS, SUPPORT, LatticeCosts, mean_candidates, recurring_labels
from corate.training.source import MemorySource

#: The words and labels of tokens.
tokens = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), min_size=1, max_size=300)
LABELS = 31


def table(found: list[tuple[int, int]]) -> Table:
    words, labels = np.array(found, dtype=np.int32).T
    return Table(*_native.count_table(np.ascontiguousarray(words), np.ascontiguousarray(labels), 21, LABELS))


def plain_mean_candidates(found: list[tuple[int, int]]) -> float:
    """The formula of `mean_candidates`, token by token."""
    ladder = BackoffParameters()
    words, pairs = Counter(word for word, _ in found), Counter(found)
    rare: Counter[int] = Counter()
    for (word, label), n in pairs.items():
        if words[word] <= ladder.rare:
            rare[label] += n / words[word]  # type: ignore[assignment]
    types = sum(rare.values()) or 1
    candidates = []
    for word, _ in found:
        others = words[word] - 1
        seen = [pairs[word, label] / words[word] for label in range(LABELS) if pairs[word, label]]
        best = max(seen) if others else max(rare.values()) / types
        least = SUPPORT["threshold"] * best * (others + ladder.word_k) / ladder.word_k
        likely = sum(share / types >= least for share in rare.values())
        candidates.append(max(min(likely, SUPPORT["cap"]), len(seen) if others else 1))
    return sum(candidates) / len(candidates)


@given(tokens)
def test_the_mean_number_of_candidates_is_that_of_the_formula(found: list[tuple[int, int]]) -> None:
    assert mean_candidates(table(found), LABELS) == pytest.approx(plain_mean_candidates(found))


@given(tokens, st.randoms(use_true_random=False))
def test_the_costs_do_not_depend_on_the_order_of_tokens_words_and_labels(
    found: list[tuple[int, int]], rng: random.Random
) -> None:
    names, words = rng.sample(range(LABELS), LABELS), rng.sample(range(21), 21)
    other = [(words[word], names[label]) for word, label in rng.sample(found, len(found))]
    costs, others = (LatticeCosts.of_words(table(one), LABELS) for one in (found, other))
    assert costs.full == others.full
    assert costs.pruned == pytest.approx(others.pruned)


@given(tokens, st.integers(LABELS, 500))
def test_labels_that_are_never_seen_only_make_a_full_lattice_cost_more(
    found: list[tuple[int, int]], labels: int
) -> None:
    fewer, more = (LatticeCosts.of_words(table(found), n) for n in (LABELS, labels))
    assert more.full >= fewer.full
    assert more.pruned == fewer.pruned
    assert fewer.choose_full or not more.choose_full


def corpus(labels: int, repeats: int, *, ambiguous: bool = False) -> Corpus:
    """A word for each label, or with all labels, in ``repeats`` sentences; and as many tokens of a frequent word."""
    words = [[(f"w{0 if ambiguous else i}", f"L{i}"), ("the", "L0")] for i in range(labels)]
    return Corpus.from_sentences(words * repeats)


def chosen(corpus: Corpus) -> bool:
    costs = MemorySource(corpus).costs()
    assert costs is not None
    return costs.choose_full


def test_the_words_decide_and_not_the_number_of_labels_alone() -> None:
    assert chosen(corpus(13, 1000))  # a pass costs as much, whatever the words are
    assert not chosen(corpus(20, 1000))  # every word has one label
    assert chosen(corpus(20, 1))  # all words are rare, and can have any label
    assert chosen(corpus(20, 1000, ambiguous=True))
    assert not chosen(corpus(200, 1))


@pytest.mark.parametrize("labels", [12, 40, 120])
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_stable_if_a_twentieth_of_the_sentences_is_left_out(labels: int, seed: int) -> None:
    rng = random.Random(seed)
    words = [int(rng.paretovariate(0.7)) for _ in range(6000)]
    tokens = [(f"w{w}", f"L{(w + (rng.random() < 0.1)) % labels}") for w in words]
    sentences = [tokens[i : i + 6] for i in range(0, 6000, 6)]
    every = MemorySource(Corpus.from_sentences(sentences)).costs()
    some = MemorySource(Corpus.from_sentences(rng.sample(sentences, 950))).costs()
    assert every is not None
    assert some is not None
    assert some.pruned == pytest.approx(every.pruned, rel=0.1)
    assert some.choose_full == every.choose_full == (labels == 12)


@given(tokens)
def test_a_label_recurs_if_a_word_has_it_twice_and_no_other_label_more_often(found: list[tuple[int, int]]) -> None:
    pairs, words = Counter(found), {word for word, _ in found}
    usual = {(word, max(pairs[word, label] for label in range(LABELS))) for word in words}
    expected = {label for (word, label), n in pairs.items() if n > 1 and (word, n) in usual}
    assert recurring_labels(table(found)) == len(expected)


def test_labels_that_do_not_recur_leave_the_choice_as_it_is_unless_there_are_very_many() -> None:
    sentences = [[(f"w{i}", f"L{i % 12}")] for i in range(120)] * 50
    assert chosen(Corpus.from_sentences(sentences))

    def with_odd(labels: int) -> Corpus:
        odd = [[(f"w{i}", f"odd{i}")] for i in range(labels)]
        return Corpus.from_sentences(sentences + odd)

    costs = MemorySource(with_odd(10)).costs()
    assert costs is not None
    assert costs.full > 1.25 * costs.pruned
    assert chosen(with_odd(10))
    assert not chosen(with_odd(100))


def test_a_full_lattice_is_not_chosen_if_it_would_be_refused() -> None:
    labels = MOST_TRIPLE_LABELS + 1
    assert chosen(corpus(labels, 1))
    costs = MemorySource(corpus(labels, 1)).costs(order=2)
    assert costs is not None
    assert not costs.choose_full
    assert corate.train(corpus(labels, 1), order=2).record["lattice"] == "pruned"


@pytest.mark.parametrize(
    ("labels", "repeats", "lattice", "base"), [(20, 1, "full", "pooled"), (20, 20, "pruned", "default")]
)
def test_the_model_records_the_costs_and_the_choice(labels: int, repeats: int, lattice: str, base: str) -> None:
    found = corpus(labels, repeats)
    record = corate.train(found).record
    costs = MemorySource(found).costs()
    assert costs is not None
    assert record["lattice_costs"] == costs.recorded()
    assert (record["lattice"], record["base"]) == (lattice, base)


def test_without_words_all_labels_are_candidates_and_there_are_no_costs() -> None:
    features = Corpus.from_features([[{"a": i, "b": "x"}] for i in range(30)], [[f"L{i}"] for i in range(30)])
    assert MemorySource(features).costs() is None
    record = corate.train(features).record
    assert record["lattice"] == "full"
    assert "lattice_costs" not in record
