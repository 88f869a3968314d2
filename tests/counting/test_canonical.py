"""Counts in canonical order are the same bytes for any order of sentences and pieces; so is a sample by hashes."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import corate
from corate.corpus import Corpus
from corate.counting.canonical import canonical
from corate.counting.counts import Counts
from corate.counting.held_out import first_slices
from corate.counting.sample import SentenceSample, sentence_hashes
from corate.features.templates import parse
from corate.features.vocabulary import Vocabulary
from small_corpora import Labelled, corpus_of, random_sentences, some_sentences

TEMPLATES = ("word[0]", "suffix(word[0], 2)", "word[-1]|word[0]", "word[-2]|lower(word[-1])|letter_class(word[0])")


def count(labelled: Labelled) -> Counts:
    return Counts.of(corpus_of(labelled), Vocabulary.of([parse(t) for t in TEMPLATES]), "word")[0]


def by_name(counts: Counts) -> dict[Any, int]:
    """The counts as a dictionary: what they mean, whatever the ids are."""
    names, labels = counts.vocabulary.names(range(len(counts.table))), counts.labels.to_list()
    entries = zip(counts.table.owners.tolist(), counts.table.labels.tolist(), counts.table.counts, strict=True)
    found: dict[Any, int] = {(names[c], labels[y]): int(n) for c, y, n in entries if n}
    ends = [*labels, "|"]
    pairs = zip(counts.pairs.origin.tolist(), counts.pairs.to.tolist(), counts.pairs.counts.tolist(), strict=True)
    return found | {(ends[a], ends[b]): n for a, b, n in pairs}


def content(counts: Counts) -> list[tuple[str, bytes]]:
    """The type and the bytes of every array."""
    strings, values, keys = counts.vocabulary.__reduce__()[1][2]
    arrays = [array for pairs in (strings, values, keys) for pair in pairs for array in pair]
    arrays += [counts.labels.data, counts.labels.offsets, *counts.table.arrays(), *vars(counts.pairs).values()]
    return [(str(array.dtype), array.tobytes()) for array in arrays]


@given(labelled=some_sentences, data=st.data())
@settings(max_examples=60)
def test_counts_are_the_same_bytes_for_any_order_and_any_pieces(labelled: Labelled, data: st.DataObject) -> None:
    whole = canonical(count(labelled))
    assert by_name(whole) == by_name(count(labelled))
    mixed = data.draw(st.permutations(labelled))
    cuts = sorted(data.draw(st.lists(st.integers(1, len(mixed)), max_size=3)))
    pieces = [count(mixed[a:b]) for a, b in zip([0, *cuts], [*cuts, len(mixed)], strict=True) if a < b]
    merged = pieces[0]
    for piece in pieces[1:]:
        merged = merged.merged(pickle.loads(pickle.dumps(piece)))
    assert content(canonical(merged)) == content(whole)
    assert content(canonical(whole)) == content(whole)


def test_a_canonical_vocabulary_finds_the_features_that_were_counted() -> None:
    labelled = random_sentences(50)
    counts = canonical(count(labelled))
    features, _ = counts.vocabulary.transform(corpus_of(labelled))
    again = Counts.of(corpus_of(labelled), Vocabulary.of(counts.vocabulary.templates), "word")[0]
    old, _ = again.vocabulary.transform(corpus_of(labelled))
    for t in range(len(TEMPLATES)):
        there = old[t] >= 0
        assert (there == (features[t] >= 0)).all()
        ours = counts.vocabulary.names((features[t][there] + counts.vocabulary.bases[t]).tolist())
        assert ours == again.vocabulary.names((old[t][there] + again.vocabulary.bases[t]).tolist())


def test_counts_may_exceed_32_bits(tmp_path: Path) -> None:
    tagger = corate.train(corpus_of([[("a", "X")]]), "empirical")
    counts = tagger.counts
    assert counts is not None
    many = replace(counts.table, counts=np.full_like(counts.table.counts, 3_000_000_000))
    merged = replace(counts, table=many).merged(counts)
    assert merged.table.counts.tolist() == [3_000_000_001] * len(many.counts)
    replace(tagger, counts=merged).save(tmp_path / "big.corate")
    loaded = corate.load(tmp_path / "big.corate").counts
    assert loaded is not None
    assert loaded.table.counts.tolist() == merged.table.counts.tolist()


@given(labelled=some_sentences, data=st.data(), tokens=st.integers(1, 30), seed=st.integers(0, 3))
@settings(max_examples=60)
def test_a_sample_does_not_depend_on_the_order_or_the_pieces(
    labelled: Labelled, data: st.DataObject, tokens: int, seed: int
) -> None:
    whole = SentenceSample.of(corpus_of(labelled), tokens, seed)
    mixed = data.draw(st.permutations(labelled))
    merged = SentenceSample.of(corpus_of(mixed[:1]), tokens, seed)
    for sentence in mixed[1:]:
        merged = SentenceSample.of(corpus_of([sentence]), tokens, seed).merged(merged)
    assert merged.sentences == whole.sentences
    lengths = [len(labels) for _, _, labels in whole.sentences]
    assert sum(lengths[:-1]) < tokens
    assert sum(lengths) >= min(tokens, sum(map(len, labelled)))


def test_hashes_differ_by_tokens_order_and_seed() -> None:
    corpus = Corpus.from_sentences([["a", "b"], ["b", "a"], ["ab"], ["a", "b"]])
    a, b, c, again = sentence_hashes(corpus).tolist()
    assert a == again
    assert len({a, b, c, *sentence_hashes(corpus, seed=1).tolist()[:3]}) == 6


def test_folds_of_a_sample_do_not_overlap() -> None:
    folds = first_slices(np.arange(0, 75_001, 15), tokens=20_000, sentences=1500)
    every = np.concatenate(folds)
    assert len(every) == len(set(every.tolist()))
    assert 15 * len(every) <= 12_000
    assert all(15 * len(fold) < 2_000 + 15 for fold in folds)
    assert first_slices(np.arange(0, 100, 10), tokens=99, sentences=10) == []
