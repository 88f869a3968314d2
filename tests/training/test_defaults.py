"""Defaults that depend on the corpus."""

from __future__ import annotations

import random
import re

import pytest

import corate
from corate import Corpus, Polish, Separate
from corate.training.defaults import FEW_TOKENS, MANY_TOKENS, ChainParameters, SeparateParameters
from corate.training.options import options_of


@pytest.mark.parametrize(("base", "passes"), [("default", 3), ("pooled", 2)])
def test_a_large_corpus_has_one_pass_less_from_a_rich_base_and_larger_steps(base: str, passes: int) -> None:
    small, usual, large = (ChainParameters.choose(Polish(), n, base) for n in (100, MANY_TOKENS, MANY_TOKENS + 1))
    assert small == usual
    assert (usual.passes, large.passes) == (passes, passes - 1)
    assert large.rate > usual.rate
    assert ChainParameters.choose(Polish(rate=0.2, passes=7), MANY_TOKENS + 1, base).rate == 0.2


def test_without_words_steps_are_larger_the_base_counts_less_and_large_corpora_have_as_many_passes() -> None:
    small, large = (ChainParameters.choose(Polish(), n, "pooled", words=False) for n in (100, MANY_TOKENS + 1))
    assert small == large
    with_words = ChainParameters.choose(Polish(), 100, "pooled")
    assert small.rate > with_words.rate
    assert small.temper < with_words.temper
    assert ChainParameters.choose(Polish(temper=0.9), 100, "pooled", words=False).temper == 0.9


@pytest.mark.parametrize("base", ["paper", "none"])
def test_a_small_corpus_without_a_rich_base_has_more_passes(base: str) -> None:
    small, large = (ChainParameters.choose(Polish(), tokens, base) for tokens in (100, FEW_TOKENS))
    assert (small.passes, large.passes) == (9, 3)
    assert small.rate == large.rate


@pytest.mark.parametrize("base", ["default", "pooled", "paper", "none"])
@pytest.mark.parametrize("tokens", [MANY_TOKENS, MANY_TOKENS + 1])
def test_the_help_text_of_an_option_names_the_defaults_that_depend_on_the_base(base: str, tokens: int) -> None:
    polish = ChainParameters.choose(Polish(), tokens, base), ChainParameters.choose(Polish(), tokens, base, parts=True)
    for name in ("c2", "rate", "temper"):
        named = re.findall(r"[0-9.]+", options_of(Polish)[name].unset)
        assert all(not getattr(found, name) or f"{getattr(found, name):g}" in named for found in polish)
    temper = SeparateParameters.choose(Separate(), tokens, base).temper
    assert not temper or f"{temper:g}" in re.findall(r"[0-9.]+", options_of(Separate)["temper"].unset)


def lower_k(names: bool) -> float:
    """What is tuned on words that begin a sentence, or on names that are spelled as nouns are."""
    rng = random.Random(1)
    nouns = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(900)]
    sentences = []
    for i, noun in enumerate(nouns):
        upper = (noun.capitalize(), "NAME" if names else "NOUN")
        other = nouns[(7 * i) % len(nouns)]
        sentences.append([("the", "DET"), (noun, "NOUN"), (rng.choice(["sees", "has"]), "VERB"), (other, "NOUN")])
        sentences.append([("to", "ADP"), upper] if names else [upper, ("falls", "VERB")])
    rng.shuffle(sentences)
    tagger = corate.train(Corpus.from_sentences(sentences), "empirical", ladder="default", seed=1)
    return float(tagger.record["settings"]["lower_k"])


def test_the_lower_case_form_counts_less_where_capitals_mean_another_label() -> None:
    assert lower_k(names=False) == 0.25
    assert lower_k(names=True) > 0.25


def test_the_record_says_which_share_of_labels_pruning_loses() -> None:
    """Words of two tokens have one label each. Words of one token have labels that their spelling does not tell."""
    seen = [[(f"w{i}", f"L{i % 80}")] for i in range(400)] * 2
    odd = [[("".join(random.Random(i).choices("xyz", k=9)), f"L{7 * i % 80}")] for i in range(120)]
    for sentences, lost in ((seen, False), (seen + odd, True)):
        record = corate.train(Corpus.from_sentences(sentences)).record
        assert (record["pruned_labels"]["unseen_words"] > 0) == lost
        assert (record["pruned_labels"]["all"] > 0) == lost
        assert record["pruned_labels"]["all"] < 120 / 920
    assert "pruned_labels" not in corate.train(Corpus.from_sentences(seen), lattice="full", order=1).record


@pytest.mark.parametrize("base", [None, "default", "pooled", "paper", "none", "separate"])
def test_few_labels_have_a_full_lattice_unless_the_base_has_few_candidates(base: str | None) -> None:
    sentences = [[("the", "DET"), ("dog", "NOUN"), ("ran", "VERB")], [("a", "DET"), ("cat", "NOUN")]] * 3
    record = corate.train(Corpus.from_sentences(sentences), base=base).record
    pruned = base in ("paper", "none")
    assert record["lattice"] == ("pruned" if pruned else "full")
    assert record["settings"]["passes"] == (9 if pruned or base == "separate" else 3 if base == "default" else 2)
    assert record["order"] == (2 if pruned else 1)
