"""A tagger without rare conjunctions: smaller, and what it knows of unseen words stays."""

from __future__ import annotations

import numpy as np
import pytest

import corate
from corate.errors import ModelError
from small_corpora import corpus_of, random_sentences


def test_pruning_drops_rare_pairs_and_keeps_what_is_derived_for_unseen_words() -> None:
    once = [[("the", "D"), (f"thing{i}", "N"), (".", "P")] for i in range(30)]
    tagger = corate.train(corpus_of([*random_sentences(120, seed=3), *once]), "empirical", ladder="default")
    pruned = tagger.pruned(3)
    before, after = (dict(zip(t.features, np.diff(t.vocabulary.bases), strict=True)) for t in (tagger, pruned))
    for template, size in before.items():
        if "|" in template and "unseen" not in template:
            assert after[template] < size
        else:
            assert after[template] == size
    assert sum(size for template, size in after.items() if "unseen" in template) > 0
    kept = pruned.counts.table.totals()  # type: ignore[union-attr]
    assert not np.any((kept > 0) & (kept < 3) & (np.arange(len(kept)) >= pruned.vocabulary.bases[1]))
    assert pruned.tag(["the", "gnu", "."]) == tagger.tag(["the", "gnu", "."])


def test_a_model_without_counts_cannot_tell_what_is_rare() -> None:
    corpus = corpus_of(random_sentences(40, seed=3))
    with pytest.raises(ModelError, match="separate"):
        corate.train(corpus, "separate", features=["word[0]"]).pruned(2)
