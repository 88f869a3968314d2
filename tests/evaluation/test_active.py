"""Choosing sentences to label: the least sure, the most uncertain, and those with new words."""

from __future__ import annotations

import numpy as np
import pytest

import corate
from corate.corpus import Corpus
from corate.errors import ConfigError
from corate.evaluation.active import most_informative
from small_corpora import corpus_of, random_sentences, words_of

TAGGER = corate.train(corpus_of(random_sentences(80, noise=0.2)))
POOL = Corpus.from_sentences([*words_of(random_sentences(40, seed=8)), [], ["gnu", "emu"], ["gnu", "emu", "ibis"]])


def test_confidence_is_that_of_the_best_labelling_for_each_token() -> None:
    chosen = most_informative(TAGGER, POOL, 10)
    sentences = [POOL.tokens(s) for s in range(len(POOL))]
    worth = {s: -TAGGER.score(tokens) / len(tokens) for s, tokens in enumerate(sentences) if tokens}
    least = min(worth[s] for s in chosen.tolist())
    assert len(set(chosen.tolist())) == 10
    assert all(worth[s] <= least + 1e-5 for s in worth if s not in chosen)
    assert all(worth[a] >= worth[b] - 1e-5 for a, b in zip(chosen.tolist(), chosen.tolist()[1:], strict=False))


def test_entropy_is_the_mean_of_tokens() -> None:
    chosen = most_informative(TAGGER, POOL, 10, "entropy").tolist()
    worth = {}
    for s in range(len(POOL)):
        if POOL.tokens(s):
            p = TAGGER.lattice([POOL.tokens(s)]).label_marginals()
            worth[s] = float(-(p * np.log(np.maximum(p, 1e-30))).sum(axis=1).mean())
    least = min(worth[s] for s in chosen)
    assert all(worth[s] <= least + 1e-4 for s in worth if s not in chosen)


def test_diverse_sentences_come_before_those_with_the_same_new_words() -> None:
    pool = Corpus.from_sentences(
        [["gnu", "emu"], ["emu", "gnu"], ["gnu", "emu", "ibis"], ["yak", "zho"], ["the", "dog"]]
    )
    by_confidence = most_informative(TAGGER, pool, 5).tolist()
    chosen = most_informative(TAGGER, pool, 5, "diverse").tolist()
    assert sorted(chosen) == [0, 1, 2, 3, 4]
    first = [s for s in by_confidence if s in (0, 1, 2)]
    # one of the first three is chosen, and the others follow only after all that have other words
    assert next(s for s in chosen if s in (0, 1, 2)) == first[0]
    assert set(chosen[:3]) == {first[0], 3, 4}
    assert most_informative(TAGGER, pool, 2, "diverse").tolist() == chosen[:2]


def test_there_are_never_more_than_asked_for_and_never_empty_ones() -> None:
    for by in ("confidence", "entropy", "diverse"):
        assert len(most_informative(TAGGER, POOL, 3, by)) == 3
        assert sorted(most_informative(TAGGER, POOL, 99, by).tolist()) == [s for s in range(len(POOL)) if s != 40]


def test_what_cannot_be_chosen() -> None:
    with pytest.raises(ConfigError, match="there are confidence, entropy, diverse"):
        most_informative(TAGGER, POOL, 3, "best")
    with pytest.raises(ConfigError, match="n must be"):
        most_informative(TAGGER, POOL, 0)
    ready = corate.train(Corpus.from_features([[{"w": "a"}, {"w": "b"}]] * 2, [["X", "Y"]] * 2))
    with pytest.raises(ConfigError, match="needs words"):
        most_informative(ready, Corpus.from_features([[{"w": "a"}]]), 1, "diverse")
