"""Counts: against dictionaries, and adding up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import _native
from corate.corpus import Attributes, Corpus
from corate.counting.counts import Counts, label_ids
from corate.features.templates import parse
from corate.features.vocabulary import Vocabulary
from reference.counting import label_counts, pair_counts
from reference.feature_map import feature
from small_corpora import Labelled, corpus_of, sentences

TEMPLATES = [
    parse(t) for t in ("word[0]", "word[-1]|word[0]", "suffix(word[0], 3)", "lower(word[-2])|word[0]|spelling(word[1])")
]
LEVELS = [parse("ending(word[0], 2)").atoms[0]]
BOUNDARY = "#"
I32 = np.int32


def count(labelled: Labelled, attributes: bool = False) -> Counts:
    corpus = corpus_of(labelled)
    if attributes:
        named = [[f"w={w}", f"length={len(w)}"][: 1 + len(w) % 2] for s in labelled for w, _ in s]
        corpus = replace(corpus, attributes=Attributes.of(named))
    return Counts.of(corpus, Vocabulary.of(TEMPLATES, LEVELS), "word")[0]


def by_name(counts: Counts) -> Counter[tuple[str, str]]:
    """The counts of features, by the names of the feature and the label."""
    labels = counts.labels.to_list()
    table = counts.table
    found: Counter[tuple[str, str]] = Counter()
    for c, y, n in zip(table.owners.tolist(), table.labels.tolist(), table.counts.tolist(), strict=True):
        assert n > 0
        found[counts.vocabulary.name(c), labels[y]] += n
    return found


def pairs_by_name(counts: Counts) -> Counter[tuple[str, str]]:
    labels = [*counts.labels.to_list(), BOUNDARY]
    pairs = counts.pairs
    keys = [(labels[a], labels[b]) for a, b in zip(pairs.origin, pairs.to, strict=True)]
    assert len(set(keys)) == len(keys)
    return Counter(dict(zip(keys, pairs.counts.tolist(), strict=True)))


@given(sentences)
@settings(deadline=None)
def test_counts_are_what_a_dictionary_counts(labelled: Labelled) -> None:
    counts = count(labelled)
    expected: Counter[tuple[str, str]] = Counter()
    for template in TEMPLATES:
        for s in labelled:
            rows = [{"word": w} for w, _ in s]
            expected += label_counts([feature(template, rows, i) for i in range(len(s))], [y for _, y in s])
    assert by_name(counts) == expected
    assert pairs_by_name(counts) == pair_counts([[y for _, y in s] for s in labelled], BOUNDARY)
    assert (counts.sentences, counts.tokens) == (len(labelled), sum(map(len, labelled)))


@given(
    st.integers(0, 50),
    st.lists(st.sampled_from([1, 3, 20_000]), max_size=4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 99),
)
@settings(deadline=None, max_examples=50)
def test_many_kinds_of_contexts_are_counted_as_each_by_itself_by_any_number_of_threads(
    n: int, sizes: list[int], n_labels: int, threads: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    contexts = np.array([rng.integers(-1, size, size=n) for size in sizes], I32).reshape(len(sizes), n)
    labels = rng.integers(-1, n_labels, size=n).astype(I32)
    offsets, found, counts = _native.count_tables(contexts, labels, np.array(sizes, np.int64), n_labels, threads)
    known = labels >= 0
    bases = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    expected: Counter[tuple[int, int]] = Counter()
    for base, row in zip(bases, contexts, strict=False):
        ids = [None if c < 0 else int(base + c) for c in row[known]]
        expected += label_counts(ids, labels[known].tolist())
    rows = np.repeat(np.arange(bases[-1]), np.diff(offsets)).tolist()
    in_order = list(zip(rows, found.tolist(), strict=True))
    assert in_order == sorted(expected)
    assert counts.tolist() == [expected[key] for key in in_order]


@given(st.lists(st.integers(0, 6)))
def test_ids_occur_as_often_as_a_dictionary_counts(ids: list[int]) -> None:
    counted = Counter(ids)
    assert _native.occurrences(np.array(ids, I32), 7).tolist() == [counted[i] for i in range(7)]


@given(sentences, sentences, st.booleans())
@settings(deadline=None)
def test_counts_of_two_parts_add_up_to_the_counts_of_the_whole(
    first: Labelled, second: Labelled, attributes: bool
) -> None:
    whole = count([*first, *second], attributes)
    for a, b in ((first, second), (second, first)):
        merged = count(a, attributes).merged(count(b, attributes))
        assert by_name(merged) == by_name(whole)
        assert pairs_by_name(merged) == pairs_by_name(whole)
        assert (merged.sentences, merged.tokens) == (whole.sentences, whole.tokens)
        assert len(merged.table) == merged.vocabulary.bases[-1]
        for start, stop in zip(merged.table.offsets, merged.table.offsets[1:], strict=False):
            assert (np.diff(merged.table.labels[start:stop]) > 0).all()
    # What was there keeps its number, so that a model can grow.
    mine = count(first, attributes)
    merged = mine.merged(count(second, attributes))
    assert merged.labels.to_list()[: len(mine.labels)] == mine.labels.to_list()


@given(sentences, sentences, sentences)
@settings(deadline=None, max_examples=30)
def test_adding_counts_is_associative(a: Labelled, b: Labelled, c: Labelled) -> None:
    left = count(a).merged(count(b)).merged(count(c))
    right = count(a).merged(count(b).merged(count(c)))
    assert by_name(left) == by_name(right)
    assert pairs_by_name(left) == pairs_by_name(right)


@given(sentences, st.data())
@settings(deadline=None)
def test_tokens_are_taken_out_exactly(labelled: Labelled, data: st.DataObject) -> None:
    corpus = corpus_of(labelled)
    counts, tokens = Counts.of(corpus, Vocabulary.of(TEMPLATES), "word")
    out = np.array(data.draw(st.lists(st.booleans(), min_size=counts.tokens, max_size=counts.tokens)), bool)
    left = counts.table.counts.copy()
    bases = counts.vocabulary.bases
    for t, features in enumerate(tokens.features):
        gone = np.where(features[out] >= 0, features[out] + bases[t], -1).astype(np.int32)
        _native.adjust_table(counts.table.offsets, counts.table.labels, left, gone, tokens.labels[out], -1)
    for t, features in enumerate(tokens.features):
        kept = Counter(zip(features[~out].tolist(), tokens.labels[~out].tolist(), strict=True))
        table = counts.of_template(t)
        part = left[counts.table.offsets[bases[t]] : counts.table.offsets[bases[t + 1]]]
        found = dict(zip(zip(table.owners.tolist(), table.labels.tolist(), strict=True), part.tolist(), strict=True))
        assert {key: n for key, n in found.items() if n} == {key: n for key, n in kept.items() if key[0] >= 0}


def test_labels_that_no_token_has_are_not_counted() -> None:
    corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")], [("a", "Z")]])[1:]
    labels, ids = label_ids(corpus)
    assert (labels.to_list(), ids.tolist()) == (["Z"], [0])
    assert len(Counts.of(corpus, Vocabulary.of(TEMPLATES), "word")[0].labels) == 1


def test_rows_and_padding_keep_the_counts() -> None:
    table = count([[("a", "X"), ("b", "Y"), ("a", "Y")]]).of_template(0)
    assert table.totals().tolist()[16:] == [2, 1]
    assert table.between(17, 18).totals().tolist() == [1]
    padded = table.padded(20)
    assert (len(padded), padded.totals().tolist()[16:]) == (20, [2, 1, 0, 0])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("count_table", (np.array([0], I32), np.array([0, 0], I32), 1, 1)),
        ("count_table", (np.array([1], I32), np.array([0], I32), 1, 1)),
        ("count_table", (np.array([0], I32), np.array([1], I32), 1, 1)),
        ("count_tables", (np.zeros((1, 2), I32), np.array([0], I32), np.array([1]), 1)),
        ("count_tables", (np.zeros((1, 1), I32), np.array([0], I32), np.array([1, 1]), 1)),
        ("count_tables", (np.zeros((2, 1), I32), np.array([0], I32), np.array([1, 0]), 1)),
        ("count_tables", (np.zeros((1, 1), I32), np.array([1], I32), np.array([1]), 1)),
        ("occurrences", (np.array([1], I32), 1)),
        ("occurrences", (np.array([-1], I32), 1)),
        ("count_pairs", (np.array([0], I32), np.array([0, 2]), 1)),
        ("count_pairs", (np.array([0], I32), np.array([0, 9, 1]), 1)),
        ("count_pairs", (np.array([2], I32), np.array([0, 1]), 1)),
        (
            "adjust_table",
            (np.array([0, 1]), np.zeros(1, I32), np.ones(1, np.int64), np.array([1], I32), np.zeros(1, I32), 1),
        ),
        (
            "adjust_table",
            (np.array([0, 1]), np.zeros(1, I32), np.ones(1, np.int64), np.array([0], I32), np.ones(1, I32), 1),
        ),
        (
            "adjust_table",
            (np.array([0, 1]), np.zeros(1, I32), np.ones(0, np.int64), np.array([0], I32), np.zeros(1, I32), 1),
        ),
        (
            "adjust_table",
            (np.array([0, 1]), np.zeros(1, I32), np.ones(1, np.int64), np.array([0], I32), np.zeros(0, I32), 1),
        ),
        (
            "adjust_table",
            (np.array([0, 9]), np.zeros(1, I32), np.ones(1, np.int64), np.array([0], I32), np.zeros(1, I32), 1),
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(function: str, arguments: tuple) -> None:
    with pytest.raises(ValueError, match=r"range|needed|disagree|never counted"):
        getattr(_native, function)(*arguments)


def test_counts_that_would_be_changed_in_a_copy_are_refused() -> None:
    table, counts = (np.array([0, 2]), np.arange(2, dtype=I32)), np.ones(4, np.int64)
    for copied in (counts.astype(I32)[:2], counts[::2]):
        with pytest.raises(TypeError):
            _native.adjust_table(*table, copied, np.array([0], I32), np.zeros(1, I32), 1)
    _native.adjust_table(*table, counts[:2], np.array([0], I32), np.zeros(1, I32), 1)
    assert counts.tolist() == [2, 1, 1, 1]
