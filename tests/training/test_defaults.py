"""Defaults that depend on the corpus."""

from __future__ import annotations

import random
import re

import pytest

import corate
from corate import Corpus, Polish, Separate
from corate.training.choices import (
    CLOSED_TEXT,
    FEW_TOKENS,
    MANY_TOKENS,
    OPEN_TEXT,
    chain_parameters,
    choose_preset,
    separate_parameters,
)
from corate.training.methods import options_of
from corate.training.source import MemorySource


def test_a_large_corpus_has_one_pass_less_from_the_default_base_and_larger_steps() -> None:
    small, usual, large = (chain_parameters(Polish(), n, "default") for n in (100, MANY_TOKENS, MANY_TOKENS + 1))
    assert small == usual
    assert (usual.passes, large.passes) == (3, 2)
    assert large.rate > usual.rate
    assert chain_parameters(Polish(rate=0.2, passes=7), MANY_TOKENS + 1, "default").rate == 0.2


def test_a_large_corpus_has_independent_passes_from_the_pooled_base_unless_their_number_is_given() -> None:
    small, usual, large = (chain_parameters(Polish(), n, "pooled") for n in (100, MANY_TOKENS, MANY_TOKENS + 1))
    assert small == usual
    assert not usual.independent
    assert large.independent
    assert large.base_weight < usual.base_weight
    given = chain_parameters(Polish(passes=7, base_weight=0.9), MANY_TOKENS + 1, "pooled")
    assert (given.passes, given.independent, given.base_weight) == (7, False, 0.9)
    assert not chain_parameters(Polish(), MANY_TOKENS + 1, "pooled", words=False).independent


def test_the_pooled_base_weighs_less_the_more_of_the_labels_it_explains() -> None:
    shares = (0.0, CLOSED_TEXT, 0.03, 0.05, 0.07, OPEN_TEXT, 0.5, 1.0)
    chosen = [chain_parameters(Polish(), 5000, "pooled", unexplained=share) for share in shares]
    tempers = [p.base_weight for p in chosen]
    assert tempers == sorted(tempers)
    assert tempers[0] == tempers[1] < tempers[2] < tempers[3] < tempers[4] < tempers[5] == tempers[-1]
    assert chosen[0].passes > chosen[-1].passes
    assert chain_parameters(Polish(base_weight=0.7), 5000, "pooled", unexplained=0.0).base_weight == 0.7


def test_few_templates_leave_little_unexplained_and_the_record_says_so() -> None:
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefgh", k=5)) for _ in range(30)]
    closed = [
        [("buy", "O"), (rng.choice(words), "ITEM"), ("in", "O"), (rng.choice(words[:9]), "SHOP")] for _ in range(99)
    ]
    unclear = [[(rng.choice(words), rng.choice(["X", "Y"])) for _ in range(4)] for _ in range(99)]
    first, second = (corate.train(Corpus.from_sentences(text), base="pooled").record for text in (closed, unclear))
    assert first["unexplained"] < OPEN_TEXT < second["unexplained"]
    assert first["settings"]["temper"] < second["settings"]["temper"]


def test_without_words_steps_are_larger_the_base_counts_less_and_large_corpora_have_as_many_passes() -> None:
    small, large = (chain_parameters(Polish(), n, "pooled", words=False) for n in (100, MANY_TOKENS + 1))
    assert small == large
    with_words = chain_parameters(Polish(), 100, "pooled")
    assert small.rate > with_words.rate
    assert small.base_weight < with_words.base_weight
    assert chain_parameters(Polish(base_weight=0.9), 100, "pooled", words=False).base_weight == 0.9


@pytest.mark.parametrize("base", ["paper", "none"])
def test_a_small_corpus_without_a_rich_base_has_more_passes(base: str) -> None:
    small, large = (chain_parameters(Polish(), tokens, base) for tokens in (100, FEW_TOKENS))
    assert (small.passes, large.passes) == (9, 3)
    assert small.rate == large.rate


@pytest.mark.parametrize("base", ["default", "pooled", "paper", "none"])
@pytest.mark.parametrize("tokens", [MANY_TOKENS, MANY_TOKENS + 1])
def test_the_help_text_of_an_option_names_the_defaults_that_depend_on_the_base(base: str, tokens: int) -> None:
    polish = chain_parameters(Polish(), tokens, base), chain_parameters(Polish(), tokens, base, parts=True)
    for name in ("c2", "rate", "base_weight"):
        text = options_of(Polish)[name].unset
        named, ranges = re.findall(r"[0-9.]+", text), re.findall(r"([0-9.]+) to ([0-9.]+)", text)
        for value in (getattr(found, name) for found in polish):
            between = any(float(least) <= value <= float(most) for least, most in ranges)
            assert not value or between or f"{value:g}" in named
    temper = separate_parameters(Separate(), tokens, base).base_weight
    assert not temper or f"{temper:g}" in re.findall(r"[0-9.]+", options_of(Separate)["base_weight"].unset)


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
    tagger = corate.train(Corpus.from_sentences(sentences), "empirical", backoff="default", seed=1)
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
    assert record["settings"]["passes"] == (9 if pruned or base == "separate" else 3)
    assert record["order"] == (2 if pruned else 1)


def test_one_tag_with_the_prefix_of_a_span_does_not_make_tags_spans() -> None:
    """The Greek New Testament has 588 tags, and that of interjections is `I-`: accuracy fell by 0.6 points."""
    tags = ["I-|---", *(f"N-|{i}" for i in range(79))]
    sentences = [[(f"w{i}", tags[i % 80])] for i in range(400)] * 2
    record = corate.train(Corpus.from_sentences(sentences)).record
    assert (record["lattice"], record["base"]) == ("pruned", "default")
    assert choose_preset(MemorySource(Corpus.from_sentences(sentences))) == "pos"
    entities = [[(f"w{i}", f"{'BI'[i % 2]}-{i % 80}")] for i in range(400)] * 2
    odd = [[("w0", "-1"), ("w1", "B1")]]
    record = corate.train(Corpus.from_sentences(entities + odd)).record
    assert (record["lattice"], record["base"]) == ("pruned", "pooled")
    assert choose_preset(MemorySource(Corpus.from_sentences(entities + odd))) == "ner"
