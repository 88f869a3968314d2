"""Held-out tokens: which sentences are taken out, and what is left of the counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.corpus import Attributes, Corpus
from corate.counting.counts import Counts
from corate.counting.held_out import FEWEST_SENTENCES, MOST_FOLDS, SHARE, TOKENS, held_out_tokens, slices, take, without
from corate.features.templates import parse
from corate.features.vocabulary import Vocabulary
from small_corpora import Labelled, corpus_of, some_sentences

TEMPLATES = [parse(t) for t in ("word[0]", "word[-1]|word[0]", "starts_upper(word[0])")]


@given(st.integers(0, 3000), st.integers(1, 40), st.integers(0, 5))
@settings(deadline=None)
def test_folds_do_not_overlap_and_leave_most_sentences_counted(sentences: int, length: int, seed: int) -> None:
    offsets = np.arange(sentences + 1) * length
    folds = slices(offsets, seed)
    assert [f.tolist() for f in folds] == [f.tolist() for f in slices(offsets, seed)]
    assert bool(folds) == (sentences >= FEWEST_SENTENCES)
    assert len(folds) <= MOST_FOLDS
    every = np.concatenate([*folds, []])
    assert len(np.unique(every)) == len(every)
    assert len(every) * length <= 1.5 * TOKENS
    for fold in folds:
        assert 1 <= len(fold) <= 1.5 * SHARE * sentences
        assert fold.min() >= 0
        assert fold.max() < sentences


def test_another_seed_holds_out_other_sentences() -> None:
    offsets = np.arange(1001) * 10
    assert len({tuple(slices(offsets, seed)[0].tolist()) for seed in range(10)}) > 1


def test_no_tokens_give_no_folds() -> None:
    assert slices(np.zeros(101, np.int64), 0) == []


def annotated(labelled: Labelled) -> Corpus:
    corpus = corpus_of(labelled)
    return replace(corpus, attributes=Attributes.of([[f"w={w}"] for s in labelled for w, _ in s]))


@given(some_sentences, st.data())
@settings(deadline=None)
def test_what_is_left_are_the_counts_of_the_other_sentences(labelled: Labelled, data: st.DataObject) -> None:
    counts, tokens = Counts.of(annotated(labelled), Vocabulary.of(TEMPLATES), "word")
    out = data.draw(st.lists(st.integers(0, len(labelled) - 1), unique=True).map(sorted))
    part = take(tokens, np.array(out, np.int64))
    assert part.offsets.tolist() == np.cumsum([0, *(len(labelled[s]) for s in out)]).tolist()
    table = without(counts, part)
    rest = [sentence for s, sentence in enumerate(labelled) if s not in out]
    recounted, _ = Counts.of(annotated(rest), Vocabulary.of(TEMPLATES), "word")

    def named(whose: Counts, of: object) -> Counter[tuple[str, str]]:
        labels = whose.labels.to_list()
        entries = zip(of.owners.tolist(), of.labels.tolist(), of.counts.tolist(), strict=True)
        return Counter({(whose.vocabulary.name(c), labels[y]): n for c, y, n in entries if n})

    assert named(counts, table) == named(recounted, recounted.table)
    assert counts.table.counts.sum() == table.counts.sum() + sum((part.features >= 0).sum(axis=1).tolist()) + len(
        part.labels
    )


@given(some_sentences, some_sentences)
@settings(deadline=None)
def test_a_held_out_corpus_is_numbered_and_not_counted(labelled: Labelled, other: Labelled) -> None:
    counts, _ = Counts.of(annotated(labelled), Vocabulary.of(TEMPLATES), "word")
    sizes = counts.vocabulary.map.sizes().tolist()
    tokens, grown = held_out_tokens(counts, annotated(other), "word")
    assert counts.vocabulary.map.sizes().tolist() == sizes
    words = grown.strings("word").to_list()
    flat = [token for sentence in other for token in sentence]
    assert [words[i] for i in tokens.words] == [w for w, _ in flat]
    labels = counts.labels.to_list()
    assert [labels[i] if i >= 0 else None for i in tokens.labels] == [y if y in labels else None for _, y in flat]
    names = counts.vocabulary.attributes.to_list()
    known = [names[i] if i >= 0 else None for i in tokens.attributes.ids]
    assert known == [f"w={w}" if f"w={w}" in names else None for w, _ in flat]
